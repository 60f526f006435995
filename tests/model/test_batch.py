"""model.batch is the single calls, many at a time: every algorithm on every robot shipped, with parameters of their own, on any number
of threads; nothing is read before it is written."""
import copy
import pickle

import numpy as np
import pytest
import robots
import zoo
from tolerance import EPS, assert_close, condition

import mbros
import mbros_core

RELATIVE = 1e-13
NUMBER = 21                                # never a whole number of vectors

GIVEN = ("forward_dynamics", "inverse_dynamics")
PLAIN = ("mass_matrix", "gravity_torques", "bias_torques", "coriolis_torques", "passive_torques", "center_of_mass", "com_jacobian",
         "centroidal_momentum", "kinetic_energy", "potential_energy")


def poisoned(batch):
    """The same batch with workspaces full of NaN."""
    for engine in batch._ready():
        engine.state._poison()
    return batch


def states(model, n, rng):
    q = np.array([robots_q(model, rng) for _ in range(n)]).reshape(n, model.nq)
    return q, rng.normal(size=(n, model.nv))


def robots_q(model, rng):
    return model.normalize(model.random_configuration(rng))


def assert_equal(batch, what, many, one, x=None):
    """Each row of `many` is what `one(state)` gives for that robot."""
    for b in range(batch.n):
        state = batch.state(b)
        expected = np.asarray(one(state))
        loss = EPS * condition(batch.model.mass_matrix(state)) if what == "forward_dynamics" else 0.0
        bias = np.abs(batch.model.bias_torques(state)).max() if "torques" in what else 0.0
        assert_close(np.asarray(many[b]), expected, max(RELATIVE, loss), max(bias, 1e-3), f"{what}, robot {b}")


def compare(model, batch, rng):
    x = rng.normal(size=(batch.n, model.nv))
    for what in GIVEN:
        many = getattr(poisoned(batch), what)(x)
        rows = iter(x)
        assert_equal(batch, what, many, lambda state: getattr(model, what)(state, next(rows)))
    for what in PLAIN:
        assert_equal(batch, what, getattr(poisoned(batch), what)(), getattr(model, what))
    compare_frames(model, batch, x, rng)


def compare_frames(model, batch, x, rng):
    frame, other = (model.frames[k].name for k in rng.integers(len(model.frames), size=2))
    for relative_to in ("world", other):
        X = poisoned(batch).pose(frame, relative_to)
        assert (X.frame, X.relative_to) == (frame, model.frame(relative_to).name)
        assert_equal(batch, "R", X.R, lambda state: model.pose(state, frame, relative_to).R)
        assert_equal(batch, "p", X.p, lambda state: model.pose(state, frame, relative_to).p)
    assert_equal(batch, "velocity", poisoned(batch).velocity(frame), lambda state: model.velocity(state, frame))
    rows = iter(x)
    assert_equal(batch, "acceleration", poisoned(batch).acceleration(frame, x), lambda state: model.acceleration(state, frame, next(rows)))
    for axes in ("world", "local"):
        assert_equal(batch, "jacobian", poisoned(batch).jacobian(frame, axes), lambda state: model.jacobian(state, frame, axes))


@pytest.mark.parametrize("name, base", robots.FROM_FILES)
def test_every_algorithm_on_every_robot(name, base, rng):
    model = robots.loaded(name, base).model
    compare(model, model.batch(*states(model, NUMBER, rng), threads=2), rng)


@pytest.mark.parametrize("name", zoo.NAMES)
def test_the_engines_batch_on_every_kind_of_joint(name, rng):
    """mbros_core.Batch on models that only a spec describes, poisoned, against the engine's single calls."""
    spec, model, module = zoo.spec(name), robots.model(name), mbros_core.lanes()
    engine, n = module.Batch(module.Model(spec)), 11
    q = np.array([zoo.random_q(spec, rng) for _ in range(n)])
    v, frame = rng.normal(size=(n, model.nv)), len(spec.frame_body) - 1
    sizes = {"mass_matrix": model.nv**2, "frame_pose": 12, "frame_jacobian": 6 * model.nv, "frame_velocity": 6, "kinetic_energy": 1,
             "potential_energy": 1, "center_of_mass": 3, "com_jacobian": 3 * model.nv, "centroidal_momentum": 6}
    for what in (*PLAIN, "frame_pose", "frame_jacobian", "frame_velocity"):
        out = np.full((n, sizes.get(what, model.nv)), np.nan)
        engine.state._poison()
        assert engine.compute(what, q, v, None, out, frame) == -1
        for b in range(n):
            state = model.default_state()
            state.q[:], state.v[:] = q[b], v[b]
            single = getattr(model, f"_{what}")(state, frame) if what.startswith("frame") else getattr(model, what)(state)
            scale = max(1e-3, np.abs(model.bias_torques(state)).max(initial=0.0)) if "torques" in what else 1e-3
            assert_close(out[b], np.ravel(single), 1e-12, scale, f"{what} of {name}, row {b}")


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 40])
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_any_number_of_robots_on_any_number_of_threads(n, threads, rng):
    model = mbros.load("arm7")
    q, v = states(model, n, rng)
    batch, tau = model.batch(q, v, threads=threads), rng.normal(size=(n, 7))
    assert batch.n == len(batch) == n
    assert np.array_equal(batch.forward_dynamics(tau), model.batch(q, v, threads=1).forward_dynamics(tau))
    assert batch.mass_matrix().shape == (n, 7, 7) and batch.kinetic_energy().shape == (n,) and batch.pose("flange").R.shape == (n, 3, 3)
    rows = iter(tau)
    assert_equal(batch, "forward_dynamics", batch.forward_dynamics(tau), lambda state: model.forward_dynamics(state, next(rows)))


def test_a_robot_without_joints_has_batches_too():
    b = mbros.ModelBuilder("rock")
    b.add_joint(mbros.WeldJoint("fixed", b.world, b.add_body("rock", 1.0, (0, 0, 0), (1, 1, 1))))
    batch = b.build().batch(np.zeros((3, 0)), np.zeros((3, 0)))
    assert batch.forward_dynamics(np.zeros((3, 0))).shape == (3, 0) and batch.mass_matrix().shape == (3, 0, 0)
    assert np.array_equal(batch.kinetic_energy(), np.zeros(3))


def test_one_row_stands_for_all_and_no_velocity_for_rest(rng):
    model = mbros.load("arm6")
    q, v = states(model, 5, rng)
    tau = rng.normal(size=6)
    assert np.array_equal(model.batch(q).v, np.zeros((5, 6)))
    assert np.array_equal(model.batch(q[0], v).q, np.tile(q[0], (5, 1)))
    assert np.array_equal(model.batch(q, v).forward_dynamics(tau), model.batch(q, v).forward_dynamics(np.tile(tau, (5, 1))))


def test_its_arrays_are_copies_that_may_be_written(rng):
    model = mbros.load("arm6")
    q, v = states(model, 9, rng)
    batch, kept = model.batch(q, v), q.copy()
    batch.q[:] += 0.1
    assert np.array_equal(q, kept)
    assert np.array_equal(batch.gravity_torques(), model.batch(kept + 0.1, v).gravity_torques())


def test_results_go_where_they_are_wanted(rng):
    model = mbros.load("arm7")
    batch = model.batch(*states(model, 13, rng))
    for call in (lambda out: batch.forward_dynamics(np.ones(7), out=out), lambda out: batch.inverse_dynamics(np.ones(7), out),
                 batch.mass_matrix, batch.bias_torques, batch.center_of_mass, batch.kinetic_energy,
                 lambda out: batch.jacobian("flange", out=out)):
        expected = call(None)
        out = np.full_like(expected, np.nan)
        assert call(out) is out and np.array_equal(out, expected)
    tau = rng.normal(size=(13, 7))
    expected = batch.forward_dynamics(tau)
    assert np.array_equal(batch.forward_dynamics(tau, out=tau), expected), "a result may be written over what was given"


# ------------------------------------------------------------------------------------------- parameters


def rig():
    """A carriage and an arm on springs: every kind of parameter a robot may have of its own."""
    b = mbros.ModelBuilder("rig")
    cart, arm = b.add_body("cart", 2.0, (0, 0, 0), (0.1, 0.1, 0.1)), b.add_body("arm", 1.0, (0, 0, 0.3), (0.1, 0.1, 0.02))
    b.add_joint(mbros.PlanarJoint("slide", b.world, cart, damping=(0.1, 0.2, 0.3), friction=(0.1, 0.1, 0.1)))
    b.add_joint(mbros.RevoluteJoint("hinge", cart, arm, axis=(0, 1, 0), damping=0.1, limits=mbros.JointLimits(position=(-1, 1))))
    b.add_force_element(mbros.LinearSpringDamper(b.world.frame, arm.frame, 50.0, 0.5, 1.0, name="spring"))
    b.add_force_element(mbros.Bushing(b.world, cart, 50.0, 2.0, 2e3, 30.0, name="mount"))
    return b.build()


def rig_parameters(model, n, rng):
    return {"gravity": rng.normal(size=(n, 3)), "mass.arm": rng.uniform(0.5, 2.0, n), "damping.slide": rng.uniform(0, 1, (n, 3)),
            "friction.hinge": rng.uniform(0, 1, (n, 1)), "rotor_inertia.hinge": rng.uniform(0, 1, n),
            "stop_stiffness.hinge": rng.uniform(0, 100, n), "stop_damping.hinge": rng.uniform(0, 1, n),
            "force.spring.stiffness": rng.uniform(1, 100, n),
            "force.mount.force_stiffness": rng.uniform(1, 1000, (n, 3)), "com.arm": rng.normal(size=(n, 3)),
            "inertia.arm": np.concatenate([rng.uniform(1.0, 1.5, (n, 3)), rng.uniform(-0.1, 0.1, (n, 3))], axis=1)}


def own_states(model, q, v, parameters):
    """A State for each robot, made by model.set_parameter."""
    for b in range(len(q)):
        state = model.default_state()
        state.q[:], state.v[:] = q[b], v[b]
        for name, values in parameters.items():
            model.set_parameter(state, name, values[b])
        yield state


@pytest.mark.parametrize("n", [1, 8, 11])
def test_every_kind_of_parameter_may_be_a_robots_own(n, rng):
    model = rig()
    parameters = rig_parameters(model, n, rng)
    named = {name.partition(".")[0] for name in model.parameter_names} - {"locked"}
    assert {name.partition(".")[0] for name in parameters} == named, "every kind there is"
    q, v = rng.normal(size=(2, n, 4))
    tau = rng.normal(size=(n, 4))
    batch = poisoned(model.batch(q, v, parameters=parameters, threads=2))
    forward, energy, M = batch.forward_dynamics(tau), batch.potential_energy(), batch.mass_matrix()
    plain = model.batch(q, v).forward_dynamics(tau)
    for b, state in enumerate(own_states(model, q, v, parameters)):
        assert_close(forward[b], model.forward_dynamics(state, tau[b]), 1e-12)
        assert_close(energy[b], model.potential_energy(state), 1e-12)
        assert_close(M[b], model.mass_matrix(state), 1e-13)
        assert np.abs(batch.state(b)._inputs - state._inputs).max() < 1e-12
        assert np.abs(plain[b] - forward[b]).max() > 1e-3, "it is felt"


def test_the_rest_is_a_states(rng):
    model = mbros.load("arm7")
    state = model.random_state(rng)
    state.gravity[:] = 1.0, 2.0, 3.0
    state.damping[:] = rng.uniform(0, 2, 7)
    model.joint("joint3").lock(state)
    model.apply_wrench(state, "link7", force=(0, 5, 0))
    q, v = states(model, 10, rng)
    batch, tau = model.batch(q, v, state=state, parameters={"mass.link7": np.linspace(1, 2, 10)}), rng.normal(size=7)
    kept = state._inputs.copy()
    result = batch.forward_dynamics(tau)
    state.gravity[:] = 0.0                        # it was copied
    for b in range(10):
        single = model.default_state()
        single._inputs[:] = kept
        model.set_parameter(single, "mass.link7", 1 + b / 9)
        single.q[:], single.v[:] = q[b], v[b]
        assert_close(result[b], model.forward_dynamics(single, tau), 1e-12)
        assert result[b, 2] == 0.0, "joint3 is locked"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))],
                         ids=["copy", "deep", "pickle"])
def test_a_copied_batch_has_its_parameters_and_goes_on_alone(again, rng):
    model = mbros.load("arm7")
    q, v = states(model, NUMBER, rng)
    batch = model.batch(q, v, parameters={"mass.link7": rng.uniform(0.5, 2.0, NUMBER)}, threads=2)
    tau = rng.normal(size=(NUMBER, model.nv))
    vdot = batch.forward_dynamics(tau)
    other = again(batch)
    assert (other.forward_dynamics(tau) == vdot).all()
    other.q[:] = 0.0
    assert (batch.q == q).all() and (batch.forward_dynamics(tau) == vdot).all()
