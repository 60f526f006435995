"""Analytic derivatives of the dynamics and of midpoint steps, against dual numbers on every tree of the zoo, and against Pinocchio."""
import copy
import pickle

import numpy as np
import pytest
import robots
import seed_models
import zoo

import mbros
import mbros_core
from mbros import diff
from mbros.diff.algorithms import by_dual_numbers
from mbros.diff.duals import Workspace

WITHIN = 1e-12
EPS = np.finfo(float).eps


def close(ours, exact, within=WITHIN, rounding=1e-300):
    """Relative to the largest entry; rounding: of what the entries were found from."""
    return np.abs(ours - exact).max(initial=0.0) <= within * np.abs(exact).max(initial=0.0) + rounding


class Oracle:
    """A zoo robot over dual numbers."""

    def __init__(self, model):
        dual = mbros_core.dual()
        compiled = dual.Model(model.spec)
        self.work, self.linear = Workspace(model, dual.Duals(compiled)), dual.Linearizer(compiled)

    def __call__(self, what, given, state, x):
        self.work.write(state, x)
        directions, parts, count = self.work.directions(state, given, x, ("q", "v", given))
        value, J = self.work.duals.sweep(what, directions, count)
        return [value, *(J[:, part] for part in parts.values())]


def parts(block, n):
    return [block[0], block[1:1 + n], block[1 + n:1 + 2 * n], block[1 + 2 * n:]]


def agree(model, state, x):
    oracle = Oracle(model)
    for ours, exact in zip(parts(model._inverse_dynamics_slopes(state, x), model.nv), oracle("inverse_dynamics", "vdot", state, x)):
        assert close(ours, exact)
    for ours, exact in zip(parts(model._forward_dynamics_slopes(state, x), model.nv), oracle("forward_dynamics", "tau", state, x)):
        assert close(ours, exact)


@pytest.mark.parametrize("wrenches", [False, True])
@pytest.mark.parametrize("name", zoo.NAMES)
def test_every_tree_of_the_zoo(name, wrenches, rng):
    case = robots.Case(name, rng, wrenches=wrenches)
    agree(case.model, case.state, case.tau)


@pytest.mark.parametrize("name", zoo.NAMES)
def test_locked_and_prescribed_joints(name, rng):
    case = robots.Case(name, rng)
    whole = [v for _, _, v in zoo.slices(case.spec)]
    for number, v in enumerate(whole[::2]):
        case.state.field("lock")[v] = 1 + number % 2
        case.state.field("a_given")[v] = rng.normal(size=v.stop - v.start) * (number % 2)
    agree(case.model, case.state, case.tau)


@pytest.mark.parametrize("turn", [0.0, 1e-9, 40.0])
def test_at_rest_and_fast(turn, rng):
    case = robots.Case("all_kinds", rng)
    case.state.v[:] = turn * case.v
    agree(case.model, case.state, case.tau)


def test_what_another_state_left_behind_counts_no_more(rng):
    """Wrenches in one call and none in the next, in one workspace."""
    case = robots.Case("all_kinds", rng, wrenches=True)
    before = case.model._forward_dynamics_slopes(case.state, case.tau)
    case.state.external_force[:] = 0.0
    agree(case.model, case.state, case.tau)
    case.state.external_force[:] = case.wrenches
    assert np.array_equal(case.model._forward_dynamics_slopes(case.state, case.tau), before)


@pytest.mark.parametrize("dt", [1e-3, 1e-5])
@pytest.mark.parametrize("name", [name for name in zoo.NAMES if name != "rough"])
def test_linear_dynamics_of_the_zoo(name, dt, rng):
    """Of motion and of steps; A of a step is compared beside the identity that it is for small dt, which takes the digits beyond EPS / dt:
    of each of the two, half a digit for the product and one for the sum."""
    case = robots.Case(name, rng, wrenches=True)
    case.state.field("a_prev")[:] = rng.normal(size=case.nv)
    n, linear, oracle = case.nv, mbros_core.LinearDynamics(case.model, mbros_core.dual().halves), Oracle(case.model).linear
    for what in ("forward_dynamics", "step"):
        ours, exact = [(np.empty((1, 2 * n, 2 * n)), np.empty((1, 2 * n, n))) for _ in range(2)]
        assert linear.linearize(what, case.state._inputs[None], case.tau[None], *ours, dt) == []
        assert oracle.linearize(what, case.state._inputs[None], case.tau[None], *exact, dt) == -1
        if what == "step":
            ours[0][0], exact[0][0] = (ours[0][0] - np.eye(2 * n)) / dt, (exact[0][0] - np.eye(2 * n)) / dt
        assert close(ours[0], exact[0], 1e-11, 3.0 * EPS / dt if what == "step" else 1e-300) and close(ours[1], exact[1])


def test_locked_joints_of_a_linear_step(rng):
    case = robots.Case("all_kinds", rng)
    for _, _, v in zoo.slices(case.spec)[::3]:
        case.state.field("lock")[v] = 1.0
    n, linear, oracle = case.nv, mbros_core.LinearDynamics(case.model, mbros_core.dual().halves), Oracle(case.model).linear
    ours, exact = [(np.empty((1, 2 * n, 2 * n)), np.empty((1, 2 * n, n))) for _ in range(2)]
    assert linear.linearize("step", case.state._inputs[None], case.tau[None], *ours) == []
    oracle.linearize("step", case.state._inputs[None], case.tau[None], *exact)
    assert close(ours[0], exact[0]) and close(ours[1], exact[1])


def arm(damping=0.3, friction=0.0, **options):
    b = mbros.ModelBuilder("arm")
    one, two = seed_models.box(b, "one"), seed_models.box(b, "two")
    hinge = b.add_joint(mbros.RevoluteJoint("hinge", b.world, one, (0, 1, 0), damping=damping, friction=friction, **options))
    b.add_joint(mbros.RevoluteJoint("wrist", one, two, (1, 0, 0), damping=0.1))
    return b, hinge


@pytest.mark.parametrize("q, v", [(0.3, 0.7), (1.4, 0.5), (1.4, -20.0), (-1.3, -0.2), (0.2, 1e-4)])
def test_friction_stops_and_elements_on_coordinates(q, v, rng):
    b, hinge = arm(friction=0.4, lower=-1.0, upper=1.0, stop_stiffness=80.0, stop_damping=2.0)
    b.add_force_element(mbros.TorsionSpring(hinge, 0.2, stiffness=5.0, damping=0.3))
    b.add_force_element(mbros.DoorHinge(hinge, spring_position=0.1, spring_stiffness=1.0, catch_torque=0.7, catch_width=0.4,
                                        dynamic_friction=0.3, static_friction=0.5, viscous_friction=0.05, motion_threshold=0.01))
    b.add_force_element(mbros.StribeckFriction(hinge, 0.3, 0.6, stribeck_speed=0.1, smoothing_speed=0.01, viscous=0.05))
    model = b.build()
    state = model.default_state()
    state.q[:], state.v[:] = [q, 0.5], [v, -0.4]
    x = rng.normal(size=2)
    for what, given, run in (("forward_dynamics", "tau", diff.forward_dynamics), ("inverse_dynamics", "vdot", diff.inverse_dynamics)):
        ours, exact = run(model, state, x), by_dual_numbers(model, what, state, x, ("q", "v", given))
        assert list(ours) == list(exact) == ["q", "v", given] and close(ours.value, exact.value)
        for name in ours:
            assert close(ours[name], exact[name])


@pytest.mark.parametrize("friction, damping, v, soft", [(0.4, 0.0, 0.7, True), (8.0, 0.0, 1e-4, True), (8.0, 0.0, 0.0, True),
                                                        (0.0, 0.0, 0.0, True), (0.4, 900.0, 0.7, False)])
def test_steps_that_slide_and_hold_and_stiff_ones_which_are_left_to_dual_numbers(friction, damping, v, soft, rng):
    b, hinge = arm(friction=friction, damping=damping, lower=-1.0, upper=1.0, stop_stiffness=80.0, stop_damping=2.0)
    b.add_force_element(mbros.TorsionSpring(hinge, 0.2, stiffness=5.0, damping=0.3))
    model = b.build()
    for q in (0.3, 1.1, -1.1):
        state = model.default_state()
        state.q[0], state.v[0] = q, v
        x = rng.normal(size=2)
        A, B = model.linearize(state, x, dt=2e-3)
        exact = by_dual_numbers(model, "step", state, x, ("q", "v", "tau"), dt=2e-3)
        assert close(A, np.hstack([exact["q"], exact["v"]])) and close(B, exact["tau"])
        linear = mbros_core.LinearDynamics(model, mbros_core.dual().halves)
        assert (linear.of_state(state, x, 2e-3) is not None) == soft


@pytest.mark.parametrize("name, base", [robot for robot in robots.FROM_FILES if robot[1] != "planar"])
def test_pinocchio_has_the_same(name, base, rng):
    peers = pytest.importorskip("pinocchio_peer", reason="needs Pinocchio (pip install pin)")
    loaded = robots.loaded(name, base, mimic=False)
    peer = peers.from_urdf(loaded, mimic=False)
    model, state = loaded.model, loaded.model.default_state()
    state.q[:] = loaded.random_q(rng)
    state.v[:], x = rng.normal(size=model.nv), rng.normal(size=model.nv)
    for field in ("damping", "friction", "stop_stiffness", "stop_damping"):
        state.field(field)[:] = 0.0
    T = peer.T(state.q)                                     # their v = T ours, constant along q for these joints
    back = np.linalg.inv(T)
    q, v = peer.q(state.q), T @ state.v
    ddq, ddv, inverse = peers.pin.computeABADerivatives(peer.model, peer.data, q, v, back.T @ x)
    d = diff.forward_dynamics(model, state, x)
    assert close(d["q"], back @ ddq @ T, 1e-10) and close(d["v"], back @ ddv @ T, 1e-10) and close(d["tau"], back @ inverse @ back.T, 1e-10)
    dq, dv, M = peers.pin.computeRNEADerivatives(peer.model, peer.data, q, v, T @ x)
    d = diff.inverse_dynamics(model, state, x)
    assert close(d["q"], T.T @ dq @ T, 1e-10) and close(d["v"], T.T @ dv @ T, 1e-10)
    assert close(d["vdot"], T.T @ (np.triu(M) + np.triu(M, 1).T) @ T, 1e-10)


def test_results_are_written_over(rng):
    model = mbros.load("quadruped")
    state, other = model.random_state(rng), model.random_state(rng)
    x = rng.normal(size=model.nv)
    for run in (diff.forward_dynamics, diff.inverse_dynamics):
        d = run(model, state, x)
        again = run(model, other, x)
        J, value = d["q"], d.value
        assert run(model, other, x, out=d) is d and np.array_equal(J, again["q"]) and np.array_equal(value, again.value)
        before = dict(d), np.array(J)
        other.v[3] = np.nan
        with pytest.raises(mbros.NonFiniteError, match=r"v\[3\]"):
            run(model, other, x, out=d)
        assert np.array_equal(J, before[1])                 # it keeps what it holds
        other.v[3] = 0.1
        made = diff.derivatives(model, run.__name__, state, x, ("q", "v", "tau" if run is diff.forward_dynamics else "vdot"))
        assert run(model, other, x, out=made) is made       # in arrays of its own
        assert np.array_equal(made["q"], run(model, other, x)["q"]) and np.array_equal(made.value, run(model, other, x).value)


@pytest.mark.parametrize("out", [3, "another model's", "another kind's"])
def test_other_rooms_are_refused(out, rng):
    model = mbros.load("arm7")
    state = model.random_state(rng)
    if out == "another model's":
        peer = mbros.load("arm6")
        out = diff.forward_dynamics(peer, peer.default_state(), np.zeros(6))
    elif out == "another kind's":
        out = diff.inverse_dynamics(model, state, np.zeros(7))
    with pytest.raises((mbros.MbrosError, TypeError), match="out: expected"):
        diff.forward_dynamics(model, state, np.zeros(7), out=out)


def test_values_are_those_of_the_algorithms(rng):
    model = mbros.load("humanoid")
    state, x = model.random_state(rng), rng.normal(size=model.nv)
    assert np.array_equal(diff.forward_dynamics(model, state, x).value, model.forward_dynamics(state, x))
    assert np.array_equal(diff.inverse_dynamics(model, state, x).value, model.inverse_dynamics(state, x))


def test_by_a_wrench_at_a_frame(rng):
    """d["tau"] J^T, against the difference of two results, which are linear in it."""
    model = mbros.load("quadruped")
    state, x, W = model.random_state(rng), rng.normal(size=model.nv), rng.normal(size=6)
    frame = model.bodies[3]
    d, before = diff.forward_dynamics(model, state, x), model.forward_dynamics(state, x)
    model.apply_wrench(state, frame, torque=W[:3], force=W[3:])
    assert close(d["tau"] @ model.jacobian(state, frame).T @ W, model.forward_dynamics(state, x) - before, 1e-11)


def test_far_from_the_origin_as_near(rng):
    """Nothing depends on where a free robot is, to the bit of what its place leaves."""
    model = mbros.load("quadruped")
    state, x = model.random_state(rng), rng.normal(size=model.nv)
    near = diff.forward_dynamics(model, state, x)
    state.q[:3] += [1e6, -2e6, 3e6]
    far = diff.forward_dynamics(model, state, x)
    assert all(np.array_equal(near[name], far[name]) for name in near)


def test_they_are_copied_and_pickled(rng):
    model = mbros.load("arm7")
    d = diff.forward_dynamics(model, model.random_state(rng), np.zeros(7))
    for twin in (copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert list(twin) == ["q", "v", "tau"] and np.array_equal(twin["tau"], d["tau"]) and np.array_equal(twin.value, d.value)


def test_many_points_some_of_which_are_stiff(rng):
    """Along a trajectory in one call: each as it is alone."""
    b, _ = arm(friction=8.0)
    model = b.build()
    states = [model.random_state(rng) for _ in range(40)]
    for k, state in enumerate(states):
        state.v[:] = rng.normal(size=2) * (1e-4 if k % 3 == 0 else 1.0)
    tau = rng.normal(size=(40, 2))
    for threads in (1, 3):
        A, B = model.linearize(states, tau, dt=2e-3, threads=threads)
        for k, state in enumerate(states):
            alone = model.linearize(state, tau[k], dt=2e-3)
            assert np.array_equal(A[k], alone[0]) and np.array_equal(B[k], alone[1])


def test_no_coordinates_at_all():
    b = mbros.ModelBuilder("rigid")
    b.add_joint(mbros.WeldJoint("j", b.world, seed_models.box(b, "B")))
    model = b.build()
    d = diff.forward_dynamics(model, model.default_state(), np.zeros(0))
    assert d.value.shape == (0,) and d["q"].shape == d["tau"].shape == (0, 0)
