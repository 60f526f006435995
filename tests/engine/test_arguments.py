"""What the engine does with wrong arguments: names them, says what was expected and given, and changes nothing."""
import copy
import pickle
import re

import numpy as np
import pytest
import robots
import zoo

import mbros_core
from mbros_core import NonFiniteError


VECTOR_CALLS = {"forward_dynamics": "tau", "inverse_dynamics": "vdot"}


@pytest.mark.parametrize("call, argument", VECTOR_CALLS.items())
@pytest.mark.parametrize("wrong, error", [(np.zeros(17), ValueError), (np.zeros((18, 1)), ValueError), (3.0, ValueError),
                                          ("torque", ValueError), (None, ValueError), ({}, ValueError),
                                          ([[1, 2], [3]], ValueError), (10**400, ValueError)])
def test_wrong_sizes_and_types(model, state, call, argument, wrong, error):
    before = state.q.copy(), state.v.copy()
    with pytest.raises(error) as caught:
        getattr(model, call)(state, wrong)
    if wrong is not None:
        assert re.search(rf"'floating_tree'.*{argument}.*expected 18 numbers", str(caught.value)), caught.value
    assert np.array_equal(state.q, before[0]) and np.array_equal(state.v, before[1])


@pytest.mark.parametrize("call, argument", VECTOR_CALLS.items())
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite_input_is_named_with_its_joint(model, state, call, argument, bad):
    x = np.zeros(18)
    x[9] = bad
    with pytest.raises(NonFiniteError, match=rf"{argument}\[9\] \(joint 'joint5'\) is -?(nan|inf)"):
        getattr(model, call)(state, x)


@pytest.mark.parametrize("call", ["mass_matrix", "gravity_torques", "center_of_mass", "potential_energy", "com_jacobian",
                                  "forward_dynamics", "kinetic_energy", "centroidal_momentum"])
def test_a_nan_in_the_state_is_found(model, state, call):
    state.q[8] = np.nan
    with pytest.raises(NonFiniteError, match=r"q\[8\]"):
        getattr(model, call)(state, *([np.zeros(18)] if call == "forward_dynamics" else []))


def test_an_error_leaves_buffers_alone(model, state):
    out, tau = np.full(18, 7.0), np.full(18, np.nan)
    with pytest.raises(NonFiniteError):
        model.forward_dynamics(state, tau, out=out)
    assert (out == 7.0).all()
    good = model.forward_dynamics(state, np.ones(18))
    assert np.array_equal(model.forward_dynamics(state, np.ones(18)), good)


def test_a_quaternion_of_zeros_is_refused(model, state):
    state.q[3:7] = 0
    with pytest.raises(NonFiniteError, match=r"the quaternion of joint 'joint1', q\[3:7\] = .* has no direction"):
        model.forward_dynamics(state, np.zeros(18))
    with pytest.raises(NonFiniteError):
        model.normalize(np.zeros(model.nq))


def test_a_plant_cannot_be_reset_to_a_quaternion_of_zeros(model):
    plant = mbros_core.Plant(model)
    q = model.spec.q_default.copy()
    q[3:7] = 0
    with pytest.raises(ValueError, match="quaternion"):
        plant.reset(q=q)
    assert np.isfinite(plant.state.q).all()


def test_a_body_without_mass_is_explained():
    spec = zoo.spec("pendulum")
    spec.inertia[1] = 0
    spec.rotor_inertia[:] = 0
    model = mbros_core.Model(spec)
    with pytest.raises(NonFiniteError, match="neither mass nor rotor inertia"):
        model.forward_dynamics(model.default_state(), [1.0])


def test_states_belong_to_their_model(model, state):
    other = robots.model("branched")
    with pytest.raises(ValueError, match="a state of model 'floating_tree' was given where a state of model 'branched' was expected"):
        other.mass_matrix(state)
    twin = mbros_core.Model(zoo.spec("floating_tree"))
    with pytest.raises(ValueError, match="a state of another model of that name was given"):
        twin.mass_matrix(state)
    with pytest.raises(mbros_core.errors.StateError, match="None was given where a state of model"):
        model.mass_matrix(None)
    with pytest.raises(TypeError):
        model.mass_matrix(np.zeros(3))


@pytest.mark.parametrize("make", [lambda n: np.zeros(n - 1), lambda n: np.zeros(n, np.float32), lambda n: [0.0] * n,
                                  lambda n: np.zeros((n, 2))[:, 0], lambda n: np.zeros((1, n))])
def test_out_must_fit(model, state, make):
    with pytest.raises(ValueError, match="out: expected a writable C-contiguous float64 array of shape \\(18,\\)"):
        model.forward_dynamics(state, np.zeros(18), out=make(18))


def test_out_must_be_writable(model, state):
    out = np.zeros(18)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        model.forward_dynamics(state, np.zeros(18), out=out)
    assert (out == 0).all()


@pytest.mark.parametrize("call, arguments, shape", [
    ("forward_dynamics", 1, (18,)), ("inverse_dynamics", 1, (18,)), ("mass_matrix", 0, (18, 18)), ("bias_torques", 0, (18,)),
    ("gravity_torques", 0, (18,)), ("coriolis_torques", 0, (18,)), ("passive_torques", 0, (18,)),
    ("center_of_mass", 0, (3,)), ("com_jacobian", 0, (3, 18)), ("centroidal_momentum", 0, (6,))])
def test_out_is_filled_and_returned(model, state, rng, call, arguments, shape):
    x = [rng.normal(size=18)] * arguments
    out = np.full(shape, np.nan)
    assert getattr(model, call)(state, *x, out=out) is out
    fresh = getattr(model, call)(state, *x)
    assert fresh is not out and fresh.shape == shape
    assert np.array_equal(fresh, out)


def test_out_may_be_the_input(model, state, rng):
    tau, q, v = rng.normal(size=18), state.q.copy(), rng.normal(size=18)
    expected = model.forward_dynamics(state, tau)
    model.forward_dynamics(state, tau, out=tau)
    assert np.array_equal(tau, expected)
    moved = model.integrate(q, v)
    assert np.array_equal(model.integrate(q, v, out=q), moved)
    vdot = rng.normal(size=18)
    expected = model.inverse_dynamics(state, vdot)
    assert np.array_equal(model.inverse_dynamics(state, vdot, out=vdot), expected)


def test_anything_that_holds_the_numbers_will_do(model, state, rng):
    tau = rng.normal(size=18)
    expected = model.forward_dynamics(state, tau)
    strided, swapped = np.zeros((18, 3)), tau.astype(">f8")
    strided[:, 1] = tau
    offset = np.frombuffer(b"\0" + tau.tobytes(), np.uint8)[1:].view(np.float64)
    read_only = tau.copy()
    read_only.flags.writeable = False
    for same in (list(tau), tuple(tau), strided[:, 1], swapped, offset, read_only, tau[::-1][::-1]):
        assert np.array_equal(model.forward_dynamics(state, same), expected)
    whole = np.arange(18)
    assert np.array_equal(model.forward_dynamics(state, whole), model.forward_dynamics(state, whole.astype(float)))


def test_frames_are_counted(model, state):
    for k in (-1, len(model.spec.frame_body), 10**6):
        with pytest.raises(IndexError, match=f"frame index {k} is outside 0..{len(model.spec.frame_body) - 1}"):
            model._frame_pose(state, k)
        with pytest.raises(IndexError):
            model._frame_jacobian(state, k)


def test_copies_are_independent(model, state, rng):
    tau = rng.normal(size=18)
    before = model.forward_dynamics(state, tau)
    other = state.copy()
    assert np.array_equal(model.forward_dynamics(other, tau), before)
    for name in ("q", "v", "gravity", "inertia", "damping", "friction", "rotor_inertia", "external_force"):
        assert np.array_equal(other.field(name), state.field(name))
        assert not np.shares_memory(other.field(name), state.field(name))
        other.field(name)[...] += 0.125
    assert not np.array_equal(model.forward_dynamics(other, tau), before)
    assert np.array_equal(model.forward_dynamics(state, tau), before)
    other.assign(state)
    assert np.array_equal(model.forward_dynamics(other, tau), before)


def test_views_keep_the_memory_alive(rng):
    model = mbros_core.Model(zoo.spec("branched"))
    q = model.default_state().q
    q[:] = rng.normal(size=10)
    kept = q.copy()
    junk = [model.default_state() for _ in range(200)]
    assert np.array_equal(q, kept) and len(junk) == 200


def test_new_states_are_at_the_default(model):
    state = model.default_state()
    assert np.array_equal(state.q, model.spec.q_default)
    assert not state.v.any() and not state.external_force.any()
    assert np.array_equal(state.gravity, model.spec.gravity)
    assert np.array_equal(state.damping, model.spec.damping)


def test_models_can_be_pickled(model, state, rng):
    """For worker processes: a pickled model computes the same."""
    twin = pickle.loads(pickle.dumps(model))
    other = twin.default_state()
    other.q[:], other.v[:] = state.q, state.v
    tau = rng.normal(size=18)
    assert np.array_equal(twin.forward_dynamics(other, tau), model.forward_dynamics(state, tau))


@pytest.mark.parametrize("spoil, message", [
    (lambda s: s.joint_kind.__setitem__(2, "helical"), "joint 'joint2': unknown kind 'helical'; expected one of weld"),
    (lambda s: s.parent.__setitem__(3, 3), r"body 'body3' \(index 3\): parent index 3 is outside 0..2"),
    (lambda s: s.parent.__setitem__(3, -2), "body 'body3'"),
    (lambda s: s.parent.__setitem__(0, 0), "body 0 must be the world"),
    (lambda s: s.inertia.__setitem__((2, 4), np.nan), r"ModelSpec.inertia\[2, 4\] of 'branched': expected a finite number"),
    (lambda s: s.gravity.__setitem__(0, np.inf), r"ModelSpec.gravity\[0\]"),
    (lambda s: setattr(s, "damping", np.zeros(3)), r"ModelSpec.damping of 'branched': expected shape \(10,\), got \(3,\)"),
    (lambda s: setattr(s, "X_PF", np.zeros((11, 7))), r"expected shape \(11, 12\), got \(11, 7\)"),
    (lambda s: s.frame_body.__setitem__(12, 99), "frame 'frame1': body index 99 is outside 0..10"),
    (lambda s: s.leader.__setitem__(4, 4), "joint 'joint4' follows joint index 4"),
    (lambda s: s.body_names.pop(), "ModelSpec.body_names of 'branched': expected 11 entries, got 10"),
    (lambda s: s.q_upper.__setitem__(1, np.nan), r"ModelSpec.q_upper\[1\]"),
])
def test_malformed_specs_are_refused_by_name(spoil, message):
    spec = copy.deepcopy(zoo.spec("branched"))
    spoil(spec)
    with pytest.raises(ValueError, match=message):
        mbros_core.Model(spec)


def test_a_robot_with_nothing_to_move():
    """Welds only: no coordinates, no efforts, and every call still answers."""
    model = mbros_core.Model(zoo.build("statue", zoo.chain(["weld", "weld"])))
    state = model.default_state()
    assert (model.nq, model.nv) == (0, 0)
    assert model.forward_dynamics(state, np.zeros(0)).shape == (0,)
    assert model.mass_matrix(state).shape == (0, 0)
    assert model._frame_jacobian(state, 1).shape == (6, 0)
    assert model.kinetic_energy(state) == 0
    mbros_core.Plant(model).step(np.zeros(0))
