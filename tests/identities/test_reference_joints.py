"""Each joint of the reference: everything follows from its pose X_FM(q), by complex step."""
import numpy as np
import pytest
from tolerance import EPS, assert_close
from zoo import quaternion

from mbros.reference import KINDS
from mbros.reference.spatial import motion_transform, unskew

STEP = 1e-100                      # a complex step has no subtraction: any tiny number will do


def ugly_q(kind, rng):
    q = rng.uniform(-2, 2, kind.nq)
    if kind.nq == 7:
        q[3:] = quaternion(rng)
    return q


@pytest.mark.parametrize("name", sorted(KINDS))
def test_subspace_and_rate_follow_from_the_pose(name, rng):
    kind = KINDS[name]
    for _ in range(5):
        q, v = ugly_q(kind, rng), rng.normal(size=kind.nv)
        R, p = kind.pose(q + 1j * STEP * kind.rate(q, v))
        R0, _ = kind.pose(q)
        w_M = unskew(R0.T @ np.imag(R)) / STEP
        v_M = R0.T @ np.imag(p) / STEP
        assert_close(kind.subspace(q) @ v, np.concatenate([w_M, v_M]), 8 * EPS, scale=1.0)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_bias_follows_from_the_subspace(name, rng):
    kind = KINDS[name]
    for _ in range(5):
        q, v = ugly_q(kind, rng), rng.normal(size=kind.nv)
        S = kind.subspace(q + 1j * STEP * kind.rate(q, v))
        assert_close(kind.bias(q, v), np.imag(S) @ v / STEP, 8 * EPS, scale=1.0)


def test_quaternion_of_any_length_is_a_rotation(rng):
    R, _ = KINDS["floating"].pose(np.concatenate([np.zeros(3), 3.7 * quaternion(rng)]))
    assert_close(R @ R.T, np.eye(3), 8 * EPS)
    assert_close(np.linalg.det(R), 1.0, 8 * EPS)


def test_motion_transforms_compose(rng):
    pose = KINDS["floating"].pose
    q1, q2 = ugly_q(KINDS["floating"], rng), ugly_q(KINDS["floating"], rng)
    (R, p), (S, r) = pose(q1), pose(q2)
    product = motion_transform((S, r)) @ motion_transform((R, p))
    assert_close(motion_transform((R @ S, p + R @ r)), product, 16 * EPS)
