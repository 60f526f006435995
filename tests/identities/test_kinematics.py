"""Where frames are and how they move: engine against textbook, velocities against differentiated poses."""
import numpy as np
import pytest
import zoo
from robots import Case, pose
from tolerance import EPS, assert_close

import reference as ref

STEP = 1e-100


@pytest.fixture(params=zoo.NAMES)
def case(request, rng):
    return Case(request.param, rng)


def test_frames_agree_with_the_textbook(case):
    c = case
    for k in range(len(c.model.spec.frame_body)):
        R, p = pose(c.model._frame_pose(c.state, k))
        R0, p0 = ref.frame_pose(c.tree, c.q, k)
        assert_close(R, R0, 64 * EPS, scale=1.0)
        assert_close(p, p0, 64 * EPS, scale=1.0)
        assert_close(c.model._frame_velocity(c.state, k), ref.frame_velocity(c.tree, c.q, c.v, k), 128 * EPS, scale=1.0)
        assert_close(c.model._frame_jacobian(c.state, k), ref.frame_jacobian(c.tree, c.q, k), 128 * EPS, scale=1.0)
        assert_close(c.model._frame_acceleration(c.state, k, c.vdot),
                     ref.frame_acceleration(c.tree, c.q, c.v, c.vdot, k), 512 * EPS, scale=1.0)


def test_jacobian_maps_velocities(case):
    c = case
    for k in range(len(c.model.spec.frame_body)):
        V = c.model._frame_velocity(c.state, k)
        R, _ = pose(c.model._frame_pose(c.state, k))
        assert_close(c.model._frame_jacobian(c.state, k) @ c.v, V, 128 * EPS, scale=1.0)
        inside = c.model._frame_jacobian(c.state, k, in_frame=True) @ c.v
        assert_close(inside, np.concatenate([R.T @ V[:3], R.T @ V[3:]]), 128 * EPS, scale=1.0)


def test_accelerations_are_jdot_v_and_j_vdot(case):
    """Jdot by complex step of the textbook's Jacobian."""
    c = case
    later = c.q + 1j * STEP * ref.qdot_from_velocity(c.tree, c.q, c.v)
    for k in range(len(c.model.spec.frame_body)):
        Jdot = np.imag(ref.frame_jacobian(c.tree, later, k)) / STEP
        expected = c.model._frame_jacobian(c.state, k) @ c.vdot + Jdot @ c.v
        assert_close(c.model._frame_acceleration(c.state, k, c.vdot), expected, 512 * EPS, scale=1.0)


def test_relative_poses_chain(case, rng):
    c = case
    n = len(c.model.spec.frame_body)
    for _ in range(5):
        a, b = (int(k) for k in rng.integers(0, n, 2))
        R, p = pose(c.model._frame_pose(c.state, b, relative_to=a))
        (Ra, pa), (Rb, pb) = (pose(c.model._frame_pose(c.state, k)) for k in (a, b))
        assert_close(Ra @ R, Rb, 32 * EPS, scale=1.0)
        assert_close(pa + Ra @ p, pb, 64 * EPS, scale=1.0)


def test_qdot_and_velocity_are_each_others_inverse(case, rng):
    c = case
    qdot = c.model.velocity_to_qdot(c.state, c.v)
    assert_close(qdot, ref.qdot_from_velocity(c.tree, c.q, c.v), 32 * EPS, scale=1.0)
    assert_close(c.model.qdot_to_velocity(c.state, qdot), c.v, 32 * EPS, scale=1.0)


def test_integrate_and_difference_are_each_others_inverse(case, rng):
    c = case
    for size in (1e-9, 1e-3, 0.3, 1.7):                   # three times 1.7 is a turn of less than pi
        step = size * rng.uniform(-1, 1, c.nv)
        q1 = c.model.integrate(c.q, step)
        # absolute errors: a difference of two configurations of size 1 has no more digits than they have
        back = c.model.difference(c.q, q1)
        assert np.abs(back - step).max() <= 64 * EPS * (1 + np.abs(c.q).max())
        R0, _ = ref.frame_pose(c.tree, q1, len(c.model.spec.frame_body) - 1)
        again, _ = ref.frame_pose(c.tree, c.model.integrate(c.q, back), len(c.model.spec.frame_body) - 1)
        assert_close(again, R0, 256 * EPS, scale=1.0)


def test_integrate_is_the_flow_of_qdot(case, rng):
    """d/ds integrate(q, s v) = N(q) v: to the order of the difference quotient, and a large step is many small ones."""
    c = case
    h = EPS ** (1 / 3)
    quotient = (c.model.integrate(c.q, h * c.v) - c.model.integrate(c.q, -h * c.v)) / (2 * h)
    assert_close(quotient, c.model.velocity_to_qdot(c.state, c.v), 8 * h * h, scale=1 + np.abs(c.v).max() ** 3)
    if any(row.group.endswith("as rpy") for row, _, _ in zoo.slices(c.spec)):
        return                                 # increments of roll, pitch, yaw are a chart's, not a flow
    q, n = c.q.copy(), 64
    for _ in range(n):
        q = c.model.integrate(q, c.v / n)
    assert_close(q, c.model.integrate(c.q, c.v), 64 * n * EPS, scale=1 + np.abs(c.q).max())


def test_far_from_the_origin(rng):
    """A robot 1e5 m away moves among its own parts as it does at home: only positions in the world lose digits."""
    c = Case("floating_tree", rng)
    away = c.q.copy()
    away[:3] += [1e5, -2e5, 3e5]
    far = c.new_state(q=away)
    a, b = 13, len(c.model.spec.frame_body) - 1
    home, there = (c.model._frame_jacobian(s, b) for s in (c.state, far))
    assert_close(there, home, 64 * EPS)
    assert_close(c.model.forward_dynamics(far, c.tau), c.model.forward_dynamics(c.state, c.tau), 64 * EPS)
    assert_close(c.model.mass_matrix(far), c.model.mass_matrix(c.state), 16 * EPS)
    assert_close(c.model._frame_pose(far, b, relative_to=a)[:9], c.model._frame_pose(c.state, b, relative_to=a)[:9], 64 * EPS)
    assert_close(c.model.com_jacobian(far), c.model.com_jacobian(c.state), 64 * EPS)
    assert_close(c.model.kinetic_energy(far), c.model.kinetic_energy(c.state), 64 * EPS)
