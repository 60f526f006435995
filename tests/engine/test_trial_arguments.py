"""Whatever a caller hands to the engine is measured before a pointer is used, and nothing that is not finite leaves (trial A7, A8, A11,
A14)."""
import numpy as np
import pytest
import robots
import zoo

import mbros
import mbros_core
from fuzz.hostile import Mute, read_only, strided, unaligned
from mbros_core.errors import CoordinateIndexError, MbrosError, NonFiniteError, StateError, UnknownNameError

MODULES = {"double": lambda: mbros_core, "lanes": mbros_core.lanes}


class Robots:
    """A batch of robots, with a room of guarded memory around the results."""

    def __init__(self, module, rng, n=19):
        self.spec, self.n, self.steps = zoo.spec("floating_tree"), n, 3
        self.batch = module.Batch(module.Model(self.spec))
        self.nq, self.nv = 19, 18
        self.q = np.array([zoo.random_q(self.spec, rng) for _ in range(n)])
        self.v, self.x = rng.normal(size=(2, n, self.nv))
        self.tau = rng.normal(size=(n, self.steps, self.nv))

    def rollout(self, **changes):
        given = {"q0": self.q, "v0": self.v, "tau": self.tau, "dt": 1e-3, "integrator": 0,
                 "q": np.full((self.n, self.steps, self.nq), 7.0), "v": np.full((self.n, self.steps, self.nv), 7.0),
                 "fault": np.full(self.n, 7, np.longlong), **changes}
        return self.batch.rollout(**given), given


@pytest.fixture(params=MODULES)
def some(request, rng):
    return Robots(MODULES[request.param](), rng)


@pytest.mark.parametrize("call", ["forward_dynamics", "inverse_dynamics"])
@pytest.mark.parametrize("which", range(4))
def test_trial_A7_every_array_of_a_batch_fits_the_model_and_the_others(some, call, which):
    rows = [some.q, some.v, some.x, np.full((some.n, some.nv), 7.0)]
    name = ("q", "v", "tau" if call == "forward_dynamics" else "vdot", "out")[which]
    columns = (some.nq, some.nv, some.nv, some.nv)[which]
    wrongs = [np.zeros(columns), np.zeros((some.n, columns - 1)), np.zeros((some.n, columns + 1)), np.zeros((some.n - 1, columns)),
              np.zeros((some.n + 8, columns)), np.zeros((some.n, columns, 1)), None, "x", 3.0, object(), [[1.0], [2.0, 3.0]], Mute()]
    if which == 3:
        wrongs += [np.zeros((some.n, columns), np.float32), read_only(np.zeros((some.n, columns))), np.zeros((columns, some.n)).T,
                   unaligned(np.zeros((some.n, columns))), [[0.0] * columns] * some.n]
    for wrong in wrongs:
        given = rows.copy()
        given[which] = wrong
        with pytest.raises(MbrosError, match=r"Batch of model 'floating_tree': (q|v|tau|vdot|out): expected "):
            getattr(some.batch, call)(*given)
        assert (rows[3] == 7.0).all(), name
    assert getattr(some.batch, call)(*rows) == -1 and not (rows[3] == 7.0).any()


def test_trial_A7_every_array_of_a_rollout_fits_the_model_and_the_others(some):
    n, steps, nq, nv = some.n, some.steps, some.nq, some.nv
    shapes = {"q0": (n, nq), "v0": (n, nv), "tau": (n, steps, nv), "q": (n, steps, nq), "v": (n, steps, nv), "fault": (n,)}
    for name, shape in shapes.items():
        for wrong in (np.zeros(shape[:-1]), np.zeros((*shape[:-1], shape[-1] + 1)), np.zeros((shape[0] + 1, *shape[1:])), None, "x",
                      np.zeros((0,) * len(shape)), 1.5):
            if name == "tau" and np.shape(wrong) == (n + 1, steps, nv):
                continue                                        # then it is the others that are too short
            with pytest.raises(MbrosError, match="Batch of model 'floating_tree': .*: expected"):
                some.rollout(**{name: wrong})
    for dt in (0.0, -1e-3, 11.0, np.nan, np.inf, "x", None, [1, 2]):
        with pytest.raises(MbrosError, match="dt.*(expected a step above 0 and up to 10 s|expected (1 number|a finite number))"):
            some.rollout(dt=dt)
    for integrator in (-1, 3, 10**30, 0.5, "rk4", None, True):
        with pytest.raises(MbrosError, match="integrator: expected one of"):
            some.rollout(integrator=integrator)
    for fault in (np.zeros(n), np.zeros(n, np.int32), read_only(np.zeros(n))):
        with pytest.raises(MbrosError, match="fault: expected a writable C-contiguous int64 array"):
            some.rollout(fault=fault)
    assert some.rollout()[1]["fault"].tolist() == [-1] * n


@pytest.mark.parametrize("wrong", [np.zeros(2), np.zeros(10**5), np.zeros((3, 3)), [1, 2, np.nan], "down", object()])
def test_trial_A7_gravity_of_a_batch_is_three_numbers(wrong):
    for module in MODULES.values():
        with pytest.raises(MbrosError, match="gravity"):
            module().Batch(module().Model(zoo.spec("pendulum")), wrong)


def test_trial_A7_results_may_lie_where_is_read(some, rng):
    """`out` as one of the inputs, beside itself by a row, or in the workspace: the same numbers as with an array of its own."""
    expected = np.empty((some.n, some.nv))
    some.batch.forward_dynamics(some.q, some.v, some.x, expected)
    for shift in (0, 1, 2, 3, 4):
        memory = np.zeros((some.n + 4, some.nv))
        tau, out = memory[shift:shift + some.n], memory[2:2 + some.n]
        tau[...] = some.x
        assert some.batch.forward_dynamics(some.q, some.v, tau, out) == -1
        assert np.array_equal(out, expected)
    memory = np.zeros(some.n * some.nq + 4)
    q, out = memory[3:3 + some.n * some.nq].reshape(some.n, some.nq), memory[:some.n * some.nv].reshape(some.n, some.nv)
    q[...] = some.q
    assert some.batch.forward_dynamics(q, some.v, some.x, out) == -1 and np.array_equal(out, expected)


def test_trial_A7_results_of_a_rollout_share_no_memory(some):
    _, expected = some.rollout()
    v = np.full((some.n, some.steps, some.nv), 7.0)
    v[:, 0] = some.v
    _, given = some.rollout(v=v, v0=v[:, 0].copy(), tau=some.tau)
    assert np.array_equal(given["v"], expected["v"])
    tau = some.tau.copy()
    _, given = some.rollout(v=tau, tau=tau)                     # efforts in, velocities out
    assert np.array_equal(given["v"], expected["v"]) and np.array_equal(given["q"], expected["q"])
    memory = np.zeros(some.n * some.steps * some.nq + 1)
    q = memory[:-1].reshape(some.n, some.steps, some.nq)
    v = memory[1:1 + some.n * some.steps * some.nv].reshape(some.n, some.steps, some.nv)
    for changes in ({"q": q, "v": v}, {"v": v, "fault": memory[:some.n].view(np.longlong)}):
        with pytest.raises(MbrosError, match="two of the results q, v and fault share memory"):
            some.rollout(**changes)


def test_trial_A7_what_lies_in_the_workspace_is_read_before_it_is_written(model, state):
    """The numbers of the call before, handed in as the view that they are."""
    tau = np.linspace(-1.0, 1.0, model.nv)
    vdot = model.forward_dynamics(state, tau)
    expected = model.inverse_dynamics(state, vdot)
    model.forward_dynamics(state, tau)
    assert np.array_equal(model.inverse_dynamics(state, state.field("vdot")), expected)
    model.forward_dynamics(state, tau)
    state.field("tau")[:] = vdot
    assert np.array_equal(model.inverse_dynamics(state, state.field("tau")), expected)
    state.field("passive")[:] = tau
    assert np.array_equal(model.forward_dynamics(state, state.field("passive")), vdot)


@pytest.mark.parametrize("call, a, b, n", [("integrate", "nq", "nv", "nq"), ("difference", "nq", "nq", "nv")])
def test_trial_A7_out_may_overlap_by_a_part(model, rng, call, a, b, n):
    """And it is untouched by a call that fails."""
    q = zoo.random_q(model.spec, rng)
    second = rng.normal(size=model.nv) if b == "nv" else zoo.random_q(model.spec, rng)
    expected = getattr(model, call)(q, second)
    for shift in range(-6, 7):
        memory = np.zeros(60)
        x, out = memory[20:20 + len(q)], memory[20 + shift:20 + shift + len(expected)]
        x[:] = q
        assert np.array_equal(getattr(model, call)(x, second, out=out), expected), shift
    memory[20:20 + len(q)] = q
    before, second[3] = memory.copy(), np.nan
    with pytest.raises(NonFiniteError):
        getattr(model, call)(memory[20:20 + len(q)], second, out=memory[18:18 + len(expected)])
    assert np.array_equal(memory, before)


@pytest.mark.parametrize("call, shape", [("mass_matrix", (18, 18)), ("com_jacobian", (3, 18)), ("_frame_jacobian", (6, 18))])
def test_trial_A8_a_failed_call_leaves_out_alone(model, state, call, shape):
    frame = (3,) if call == "_frame_jacobian" else ()
    out = np.full(shape, 7.0)
    state.q[4] = np.nan
    with pytest.raises(NonFiniteError):
        getattr(model, call)(state, *frame, out=out)
    assert (out == 7.0).all()
    state.q[4] = 0.3
    assert np.array_equal(getattr(model, call)(state, *frame, out=out), getattr(model, call)(state, *frame))


def test_trial_A8_a_batch_keeps_what_is_not_finite(some):
    some.x[2, 4], some.q[14, 8] = np.inf, np.nan
    others = [k for k in range(some.n) if k not in (2, 14)]
    for call in ("forward_dynamics", "inverse_dynamics"):
        out = np.full((some.n, some.nv), 7.0)
        assert getattr(some.batch, call)(some.q, some.v, some.x, out) == 2
        assert (out[[2, 14]] == 7.0).all() and np.isfinite(out).all() and not (out[others] == 7.0).any()
    for name in ("q0", "v0"):
        start = {"q0": some.q, "v0": some.v}[name].copy()
        start[1, 0] = np.nan
        with pytest.raises(NonFiniteError, match=rf"Batch of model 'floating_tree': {name}\[1, 0\] is nan"):
            some.rollout(**{"q0": np.nan_to_num(some.q), name: start})
    some.tau[1, 1, 5] = np.nan
    _, given = some.rollout(q0=np.nan_to_num(some.q))
    assert given["fault"].tolist() == [1 if k == 1 else -1 for k in range(some.n)]
    assert np.isfinite(given["q"]).all() and np.isfinite(given["v"]).all()


def test_trial_A8_masses_and_elements_that_are_not_finite(model, state):
    state.field("inertia")[3, 0] = np.nan
    for call in (model.total_mass, model.center_of_mass, model.com_jacobian, model.centroidal_momentum):
        with pytest.raises(NonFiniteError, match=r"inertia\[3, 0\] \(body 'body3'\) is nan"):
            call(state)


def test_trial_A8_a_force_element_gives_finite_numbers_or_the_reason():
    import mbros

    b = mbros.ModelBuilder("rig")
    body = b.add_body("body", 1.0, (0.1, 0.0, 0.0), np.eye(3))
    b.add_joint(mbros.BallJoint("ball", b.world, body))
    b.add_force_element(mbros.LinearBushingRollPitchYaw(b.world, body, 1.0, 0.1, 1.0, 0.1, name="mount"))
    model = b.build()
    state = model.default_state()
    assert all(np.isfinite(x).all() for x in model._force_element(state, 0))
    state.q[:] = np.array([1.0, 0.0, 1.0, 0.0]) / np.sqrt(2.0)              # a pitch of 90 degrees
    with pytest.raises(mbros.GimbalLockError, match="force element 'mount'.* is at gimbal lock"):
        model._force_element(state, 0)
    state.v[1] = np.nan
    with pytest.raises(mbros.NonFiniteError, match=r"force_element of model 'rig': v\[1\]"):
        model._force_element(state, 0)


def test_trial_A8_derivatives_that_are_not_finite_stay(model, state):
    module = mbros_core.dual()
    duals = module.Duals(module.Model(model.spec))
    duals.state._inputs[:] = 0.0
    duals.state._inputs[:, 0] = state._inputs
    before = duals.state._inputs.copy()
    assert np.isfinite(duals.compute("forward_dynamics")).all()
    duals.state.v[4, 1] = np.inf                                            # a derivative
    for call in (lambda: duals.compute("forward_dynamics"), lambda: duals.sweep("forward_dynamics", [], 0)):
        with pytest.raises(NonFiniteError, match="derivatives of model 'floating_tree': a value or a derivative is not finite"):
            call()
    duals.state._inputs[:] = before
    assert np.isfinite(duals.compute("step")).all()


@pytest.mark.parametrize("make", [unaligned, strided, read_only, lambda x: x.astype(">f8"), lambda x: x.astype(object), np.asfortranarray,
                                  lambda x: x.tolist()], ids=["unaligned", "strided", "read-only", "swapped", "objects", "columns", "list"])
def test_trial_A11_the_engine_sees_aligned_numbers(model, state, rng, some, make):
    """However the numbers come, they are the same numbers: what is not as the C code needs it is copied."""
    tau, q = rng.normal(size=model.nv), zoo.random_q(model.spec, rng)
    assert np.array_equal(model.forward_dynamics(state, make(tau)), model.forward_dynamics(state, tau))
    assert np.array_equal(model.integrate(make(q), make(tau)), model.integrate(q, tau))
    assert np.array_equal(model.default_state().set_q(make(q)).q, model.default_state().set_q(q).q)
    plant = mbros_core.Plant(model)
    plant.reset(make(q), make(tau))
    plant.step(make(tau))
    expected, out = np.empty((2, some.n, some.nv))
    some.batch.forward_dynamics(some.q, some.v, some.x, expected)
    assert some.batch.forward_dynamics(make(some.q), make(some.v), make(some.x), out) == -1 and np.array_equal(out, expected)
    _, expected = some.rollout()
    _, given = some.rollout(q0=make(some.q), v0=make(some.v), tau=make(some.tau))
    assert np.array_equal(given["q"], expected["q"])


def test_results_are_written_to_aligned_memory_only(model, state):
    for out in (unaligned(np.zeros(18)), strided(np.zeros(18)), read_only(np.zeros(18)), np.zeros(18, ">f8")):
        with pytest.raises(MbrosError, match="out: expected a writable C-contiguous float64 array of shape"):
            model.forward_dynamics(state, np.zeros(18), out=out)


def test_trial_A14_words_for_whatever_is_no_argument(model, state):
    plant, other = mbros_core.Plant(model), object()
    calls = [
        (StateError, lambda: model.mass_matrix(other)), (StateError, lambda: model.mass_matrix(np.zeros(3))),
        (StateError, lambda: state.assign(other)),
        (StateError, lambda: mbros_core.lanes().Model(model.spec).default_state().set_q(np.zeros(19))),
        (CoordinateIndexError, lambda: model._frame_pose(state, 10**30)), (CoordinateIndexError, lambda: model._frame_pose(state, "world")),
        (CoordinateIndexError, lambda: model._frame_pose(state, 1.0)), (CoordinateIndexError, lambda: model._frame_pose(state, 1, -2)),
        (CoordinateIndexError, lambda: model._force_element(state, 0)), (UnknownNameError, lambda: state.field("Q")),
        (UnknownNameError, lambda: state.field(3)), (MbrosError, lambda: model._frame_jacobian(state, 1, "yes")),
        (MbrosError, lambda: model._frame_jacobian(state, 1, np.zeros(3))), (MbrosError, lambda: setattr(state, "time", "noon")),
        (MbrosError, lambda: setattr(state, "time", np.zeros((2, 2)))), (MbrosError, lambda: setattr(state, "time", np.nan)),
        (MbrosError, lambda: model.integrate(np.zeros((2, 19)), np.zeros(18))), (MbrosError, lambda: plant.step(np.zeros((18, 2)))),
        (MbrosError, lambda: model.forward_dynamics(state, np.zeros((18, 2)))), (MbrosError, lambda: model.forward_dynamics(state, Mute())),
        (MbrosError, lambda: model.forward_dynamics(state, [10**5000] * 18)),
        (MbrosError, lambda: model.forward_dynamics(state, ["1"] * 18)),
        (MbrosError, lambda: model._time_kernel("forward_dynamics", state, np.zeros(18), 0)),
        (MbrosError, lambda: model._time_kernel("aba", state, np.zeros(18), 1)), (MbrosError, lambda: mbros_core.State(3)),
        (MbrosError, lambda: mbros_core.Batch(None)), (MbrosError, lambda: mbros_core.dual().Duals(model)),
        (MbrosError, lambda: plant.check_parameters(np.zeros(3))), (MbrosError, lambda: plant.check_state(np.zeros((19, 1)), np.zeros(18))),
    ]
    before = state._inputs.copy()
    for k, (kind, call) in enumerate(calls):
        with pytest.raises(kind):
            call()
            pytest.fail(f"call {k} was not refused")
    assert np.array_equal(state._inputs, before)


@pytest.mark.parametrize("call", ["inverse_kinematics", "com_of", "derivatives"])
def test_trial_A14_memory_of_several_axes_is_no_list(call):
    """Python says that a memoryview can be gone through, and then does not."""
    model = mbros.load("arm7")
    state, wrong = model.default_state(), memoryview(np.zeros((3, 4)))
    calls = {"inverse_kinematics": lambda: model.inverse_kinematics(wrong, state), "com_of": lambda: model.com_of(state, wrong),
             "derivatives": lambda: mbros.diff.derivatives(model, "kinetic_energy", state, wrt=wrong)}
    with pytest.raises(MbrosError, match="<memory at"):
        calls[call]()


def test_trial_A14_memory_that_there_is_not():
    memory = type(robots.model("pendulum").default_state().q.base)
    for n in (-1, 2**60, 2**58 - 1):
        with pytest.raises(MemoryError, match="no memory for") as caught:
            memory(n)
        assert isinstance(caught.value, MbrosError)
