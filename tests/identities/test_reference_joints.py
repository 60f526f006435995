"""Each joint of the reference: everything follows from its pose X_FM(q), by complex step."""
import numpy as np
import pytest
from tolerance import EPS, assert_close
from zoo import quaternion

from mbros_core.joints.registry import ROWS
from reference import KINDS
from reference.spatial import motion_transform, unskew

STEP = 1e-100                      # a complex step has no subtraction: any tiny number will do


def make(name):
    """A joint of that kind, with ugly parameters."""
    return KINDS[name]((0.17, -0.23, 0.31, 0.42))


def ugly_q(kind, rng):
    """Anything goes, also quaternions that are not unit; the pitch of roll, pitch, yaw keeps away from 90 degrees."""
    return rng.uniform(-1.3, 1.3, kind.nq)


def test_every_registered_kind_is_here():
    for row in ROWS:
        kind = make(row.name)
        assert (kind.nq, kind.nv, kind.neutral) == (row.nq, row.nv, row.neutral)
        R, p = kind.pose(np.array(kind.neutral))
        assert np.array_equal(R, np.eye(3)) and not np.any(p)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_subspace_and_rate_follow_from_the_pose(name, rng):
    kind = make(name)
    for _ in range(5):
        q, v = ugly_q(kind, rng), rng.normal(size=kind.nv)
        R, p = kind.pose(q + 1j * STEP * kind.rate(q, v))
        R0, _ = kind.pose(q)
        w_M = unskew(R0.T @ np.imag(R)) / STEP
        v_M = R0.T @ np.imag(p) / STEP
        assert_close(kind.subspace(q) @ v, np.concatenate([w_M, v_M]), 8 * EPS, scale=1.0)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_bias_follows_from_the_subspace(name, rng):
    kind = make(name)
    for _ in range(5):
        q, v = ugly_q(kind, rng), rng.normal(size=kind.nv)
        S = kind.subspace(q + 1j * STEP * kind.rate(q, v))
        assert_close(kind.bias(q, v), np.imag(S) @ v / STEP, 8 * EPS, scale=1.0)


def test_quaternion_of_any_length_is_a_rotation(rng):
    R, _ = make("floating").pose(np.concatenate([np.zeros(3), 3.7 * quaternion(rng)]))
    assert_close(R @ R.T, np.eye(3), 8 * EPS)
    assert_close(np.linalg.det(R), 1.0, 8 * EPS)


def test_motion_transforms_compose(rng):
    joint = make("floating")
    (R, p), (S, r) = joint.pose(ugly_q(joint, rng)), joint.pose(ugly_q(joint, rng))
    product = motion_transform((S, r)) @ motion_transform((R, p))
    assert_close(motion_transform((R @ S, p + R @ r)), product, 16 * EPS)
