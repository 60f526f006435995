"""Rates of Jacobians and of the centroidal map, and operational space: against the engine's accelerations, differences, Newton and
Euler's laws for the whole robot, and Pinocchio."""
import numpy as np
import pytest
import robots
from optional import needs

import mbros
from mbros import diff

ROBOTS = [("arm7", "fixed"), ("humanoid", "floating"), ("quadruped", "floating")]


def after(model, state, h):
    """The state a time h along its velocities."""
    moved = state.copy()
    moved.q[:] = model.integrate(state.q, h * state.v)
    return moved


def difference(model, state, of, h=1e-5):
    return (of(after(model, state, h)) - of(after(model, state, -h))) / (2 * h)


@pytest.mark.parametrize("axes", ["world", "local"])
@pytest.mark.parametrize("rows", ["angular_linear", "linear_angular"])
def test_jacobian_rate_of_every_joint(axes, rows, rng):
    model = robots.every_joint()
    state = model.random_state(rng)
    rate = diff.jacobian_rate(model, state, "tool", axes, rows)
    differences = difference(model, state, lambda s: model.jacobian(s, "tool", axes, rows=rows))
    assert np.abs(rate - differences).max() < 1e-7 * max(1.0, np.abs(rate).max())
    if axes == "world" and rows == "angular_linear":
        bias = model._frame_acceleration(state, model.frame("tool").index, np.zeros(model.nv))
        assert np.allclose(rate @ state.v, bias, rtol=0, atol=1e-12 * np.abs(bias).max())


@pytest.mark.parametrize("axes", ["world", "local"])
def test_jacobian_rate_with_followers(axes, rng):
    model = robots.loaded("panda", "fixed").model
    state = model.random_state(rng)
    frame = model.bodies[-1].name           # a finger that follows the other
    differences = difference(model, state, lambda s: model.jacobian(s, frame, axes))
    assert np.abs(diff.jacobian_rate(model, state, frame, axes) - differences).max() < 1e-8


@needs("pinocchio", "its rates")
@pytest.mark.parametrize("name, base", ROBOTS)
def test_as_pinocchio(name, base, rng):
    import pinocchio_peer
    pin = pinocchio_peer.pin
    robot = robots.loaded(name, base)
    model, peer = robot.model, pinocchio_peer.from_urdf(robot)
    state = model.random_state(rng)
    q, T = peer.q(state.q), peer.T(state.q)
    v = T @ state.v
    frame = model.bodies[-1].name
    k = peer._frame(frame)
    pin.computeJointJacobiansTimeVariation(peer.model, peer.data, q, v)
    pin.updateFramePlacements(peer.model, peer.data)
    for axes, theirs in (("world", pin.LOCAL_WORLD_ALIGNED), ("local", pin.LOCAL)):
        rate = pin.getFrameJacobianTimeVariation(peer.model, peer.data, k, theirs) @ T
        assert np.allclose(diff.jacobian_rate(model, state, frame, axes, "linear_angular"), rate, rtol=0, atol=1e-10)
    pin.dccrba(peer.model, peer.data, q, v)
    A, rate = diff.centroidal_map(model, state)
    assert np.allclose(np.vstack([A[3:], A[:3]]), peer.data.Ag @ T, rtol=0, atol=1e-10)
    assert np.allclose(np.vstack([rate[3:], rate[:3]]), peer.data.dAg @ T, rtol=0, atol=1e-9)


def test_momentum_changes_by_what_acts_from_outside(rng):
    model = robots.loaded("humanoid", "floating").model
    state = model.random_state(rng)
    force, torque = np.array([30.0, -20.0, 10.0]), np.array([1.0, 2.0, 3.0])
    model.apply_wrench(state, "left_hand", torque, force)
    vdot = model.forward_dynamics(state, np.zeros(model.nv))
    A, rate = diff.centroidal_map(model, state)
    at = model.pose(state, "left_hand").p - model.center_of_mass(state)
    outside = np.concatenate([torque + np.cross(at, force), force + model.total_mass(state) * state.gravity])
    assert np.allclose(A @ vdot + rate @ state.v, outside, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["every joint", "humanoid"])
def test_centroidal_map_is_its_own_derivative(name, rng):
    model = robots.every_joint() if name == "every joint" else mbros.load(name)
    state = model.random_state(rng)
    A, rate = diff.centroidal_map(model, state)
    assert np.allclose(A @ state.v, model.centroidal_momentum(state), rtol=0, atol=1e-11 * np.abs(A).max())
    differences = difference(model, state, lambda s: diff.centroidal_map(model, s)[0])
    assert np.abs(rate - differences).max() < 1e-6 * np.abs(rate).max()


def test_operational_space(rng):
    model = mbros.load("arm7")
    state = model.random_state(rng)
    M = model.mass_matrix(state)
    for axes in ("world", "local"):
        task = diff.operational_space(model, state, "flange", expressed_in=axes)
        J = model.jacobian(state, "flange", axes)
        inverse = J @ np.linalg.solve(M, J.T)
        assert np.array_equal(task.jacobian, J) and np.allclose(task.inverse_inertia, inverse, rtol=0, atol=1e-11 * np.abs(inverse).max())
        assert np.allclose(task.inertia @ inverse, np.eye(6), rtol=0, atol=1e-7)
        assert np.allclose(J @ task.consistent_inverse, np.eye(6), rtol=0, atol=1e-8)
        # efforts of the null space leave the task alone
        assert np.allclose(J @ np.linalg.solve(M, task.nullspace.T @ rng.normal(size=7)), 0.0, rtol=0, atol=1e-7)
    point = diff.operational_space(model, state, model.jacobian(state, "flange")[3:])
    assert point.inertia.shape == (3, 3)
    # what a force at the flange accelerates there
    state.v[:] = 0.0
    before = model.acceleration(state, "flange", model.forward_dynamics(state, np.zeros(7))).linear
    model.apply_wrench(state, "flange", force=(1.0, 2.0, 3.0))
    after_ = model.acceleration(state, "flange", model.forward_dynamics(state, np.zeros(7))).linear
    assert np.allclose(point.inertia @ (after_ - before), [1.0, 2.0, 3.0], rtol=0, atol=1e-9)


def test_singular_poses():
    model = mbros.load("arm7")
    state = model.default_state()
    state.q[:] = 0.0                        # stretched out: two axes on one line
    with pytest.raises(mbros.MbrosError, match=r"singular pose: the task has 6 rows, of which the joints can accelerate \d"):
        diff.operational_space(model, state, "flange")
    task = diff.operational_space(model, state, "flange", damping=0.1)
    assert np.linalg.eigvalsh(task.inertia).max() <= 100.0 * (1 + 1e-9)
    for wrong in ({"damping": -1.0}, {"damping": "much"}):
        with pytest.raises(mbros.MbrosError, match="damping: expected"):
            diff.operational_space(model, state, "flange", **wrong)
    with pytest.raises(mbros.MbrosError, match=r"task: expected a frame, or a Jacobian \(n, 7\)"):
        diff.operational_space(model, state, np.zeros((3, 6)))


def test_rates_refuse_in_words():
    model = mbros.load("arm7")
    state = model.default_state()
    with pytest.raises(mbros.MbrosError, match="expressed_in 'world', 'local' or the frame 'flange' itself"):
        diff.jacobian_rate(model, state, "flange", "link1")
    with pytest.raises(mbros.MbrosError, match="rows"):
        diff.jacobian_rate(model, state, "flange", rows="upside down")
    lost = model.default_state()
    lost.q[2] = np.nan
    with pytest.raises(mbros.NonFiniteError, match=r"q\[2\] \(joint 'joint3'\) is nan"):
        diff.jacobian_rate(model, lost, "flange")
    with pytest.raises(mbros.StateError):
        diff.centroidal_map(model, mbros.load("arm6").default_state())
