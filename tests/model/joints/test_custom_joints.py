"""PJ-37: joints written by users, in Python and in Cython; the examples are what the tests build and run.

The whole interface of such a joint: test_custom_mobilizer.py. Laws that give little: test_custom_laws.py. In the real-time loop:
tests/realtime/test_loop_user_joint.py.
"""
import copy
import pickle
from operator import attrgetter

import numpy as np
import pytest
import seed_models
from custom_laws import Plane, Sphere
from tolerance import EPS, assert_close

import mbros

seed = pytest.mark.seed


def pair(law, builtin):
    """The same robot with a joint of ours and with the built-in one."""
    models = []
    for make in (lambda *a, **o: mbros.CustomJoint(*a, law, **o), builtin):
        b = mbros.ModelBuilder("pair", (1, 2, -9.81))
        first = seed_models.box(b, "first")
        b.add_joint(mbros.RevoluteJoint("j1", b.world, first, (0, 1, 0)))
        F, body = b.add_frame("F", first, (0.1, 0.2, 0.3), (1, 2, 3)), seed_models.box(b, "second")
        b.add_joint(make("mine", F, body, damping=0.3, p=(0.1, 0, 0)))
        b.add_joint(mbros.RevoluteJoint("j3", body, seed_models.box(b, "third"), (1, 0, 0), p=(0.2, 0, 0)))
        models.append(b.build())
    return models


@seed("PJ-37")
@pytest.mark.parametrize("law, builtin", [(Plane(), mbros.PlanarJoint), (Sphere(), mbros.BallJoint)], ids=["planar", "ball"])
def test_a_users_joint_equals_the_built_in_one(law, builtin, rng):
    ours, theirs = pair(law, builtin)
    for _ in range(10):
        state, other = theirs.random_state(rng), ours.default_state()
        other.set_q(state.q), other.set_v(state.v)
        tau, vdot = rng.normal(size=(2, ours.nv))
        assert_close(ours.forward_dynamics(other, tau), theirs.forward_dynamics(state, tau), 1e-12)
        assert_close(ours.inverse_dynamics(other, vdot), theirs.inverse_dynamics(state, vdot), 1e-12)
        assert_close(ours.mass_matrix(other), theirs.mass_matrix(state), 1e-13)
        a, b = ours.joint("mine"), theirs.joint("mine")
        for what in ("transform", "spatial_velocity", "mobilizer.subspace", "mobilizer.subspace_bias",
                     "mobilizer.qdot_from_velocity_matrix",
                     "mobilizer.velocity_from_qdot_matrix", "mobilizer.velocity_to_qdot"):
            x, y = (np.asarray(attrgetter(what)(j)(s)) for j, s in ((a, other), (b, state)))
            assert_close(x, y, 64 * EPS, 1.0, what=what)
        assert_close(a.project_force(other, np.arange(6.0)), b.project_force(state, np.arange(6.0)), 64 * EPS, 1.0)
        q1 = theirs.random_configuration(rng)
        assert_close(ours.difference(state.q, q1), theirs.difference(state.q, q1), 1e-12)
    # a midpoint step moves the momenta of the built-in ones, which it does not know of a user's
    sims = [mbros.Simulator(m, dt=1e-3, integrator="semi_implicit_euler", state=s) for m, s in ((ours, other), (theirs, state))]
    for sim in sims:
        sim.advance_to(0.05)
    assert_close(other.q, state.q, 1e-10)
    joint = ours.joint("mine")
    assert joint.kind == joint.kind == "user" and (joint.nq, joint.nv) == (law.nq, law.nv)
    assert joint.defaults.positions.tolist() == theirs.joint("mine").defaults.positions.tolist()
    assert (joint.can_rotate, joint.can_translate) == (b.can_rotate, b.can_translate)
    X = theirs.joint("mine").transform(state)
    assert_close(joint.set_pose(other, X).transform(other).matrix, X.matrix, 1e-7)


@seed("PJ-37")
def test_copies_keep_the_law(rng):
    ours, _ = pair(Plane(), mbros.PlanarJoint)
    state = ours.random_state(rng)
    for twin in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), mbros.ModelBuilder(ours).build()):
        other = twin.default_state()
        other.set_q(state.q), other.set_v(state.v)
        assert np.array_equal(twin.forward_dynamics(other, np.zeros(5)), ours.forward_dynamics(state, np.zeros(5)))


@seed("PJ-37")
def test_the_examples_period_does_not_depend_on_the_amplitude(joint_in_python, joint_in_cython):
    a, g = 0.5, 9.81
    period = 2 * np.pi * np.sqrt(4 * a / g)
    for law in (None, joint_in_cython.Cycloid(a)):
        model = joint_in_python.cart(a, law)
        for s in (0.05, 1.0, 1.9):
            state = model.default_state()
            state.set_q([s])
            mbros.Simulator(model, dt=period / 400, integrator="rk4", state=state).advance_to(period)
            assert abs(state.q[0] / s - 1) < 1e-6
        state.set_q([0.7])
        assert model.potential_energy(state) == pytest.approx(2.0 * g * 0.7**2 / (8 * a), rel=1e-14)
        assert model.joint("track").names.positions == ("track_s",)


@seed("PJ-37")
def test_the_compiled_one_is_the_same_and_runs_without_the_interpreter(joint_in_python, joint_in_cython, rng):
    python, native = joint_in_python.cart(0.5), joint_in_python.cart(0.5, joint_in_cython.Cycloid(0.5))
    for _ in range(10):
        states = [model.default_state() for model in (python, native)]
        q, v = rng.uniform(-1.5, 1.5, 1), rng.normal(size=1)
        for state in states:
            state.set_q(q), state.set_v(v)
        assert_close(native.forward_dynamics(states[1], [0.3]), python.forward_dynamics(states[0], [0.3]), 1e-13)
    assert python._needs_gil and not native._needs_gil


@seed("PJ-37")
def test_what_is_refused():
    b = mbros.ModelBuilder("rig")
    body = seed_models.box(b, "B")

    class Odd(Plane):
        def __init__(self, **what):
            self.__dict__.update(what)

    for law, words in ((3, "has nq None"), (Odd(nq=0, nv=0), "has nq 0 and nv 0"), (Odd(nq=8), "has nq 8"),
                       (Odd(pose=lambda q: (np.diag([1, 1, -1]), np.zeros(3))), "is not a rotation matrix"),
                       (Odd(pose=lambda q: 1 / 0), "raised ZeroDivisionError"),
                       (Odd(subspace=lambda q: np.eye(6)), "subspace at the neutral"),
                       (Odd(bias=lambda q, v: [np.nan] * 6), "bias at the neutral"),
                       (Odd(position_names=("a",)), "position_names has 1 entries"),
                       (Odd(position_units=("m", "m")), "position_units has 2 entries"),
                       (Odd(velocity_bounds=(1.0,)), "velocity_bounds has 1 entries"),
                       (Odd(qdot=lambda q, v: v), "it has no velocity, integrate, difference, normalize"), (mbros.JointLaw(), "has nq 0")):
        with pytest.raises(ValueError, match=words):
            b.add_joint(mbros.CustomJoint("mine", b.world, body, law))
    assert not b.description.joints
    late = Odd()
    b.add_joint(mbros.CustomJoint("mine", b.world, body, late))
    model = b.build()
    late.bias = lambda q, v: 1 / 0
    with pytest.raises(ValueError, match="joint 'mine' raised ZeroDivisionError") as caught:
        model.forward_dynamics(model.default_state(), np.zeros(3))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("says, words", [
    ({"nq": 2}, "has nq 2 and nv 1, and its capsule nq 1 and nv 1"), ({"capsule": None}, "has no capsule 'mbros_core.user_joint'"),
    ({"velocities_are_rates": False}, "has velocities_are_rates False, and its capsule has no maps")])
def test_an_object_that_contradicts_its_capsule_is_refused(joint_in_cython, says, words):
    """The engine goes by the struct: other sizes would read and write beyond its memory."""
    class Contradicting:
        nq = nv = 1
        law = joint_in_cython.Cycloid(0.5)
        capsule = law.capsule

    b = mbros.ModelBuilder("rig")
    with pytest.raises(ValueError, match=words):
        b.add_joint(mbros.CustomJoint("mine", b.world, seed_models.box(b, "B"), type("Other", (Contradicting,), says)()))
