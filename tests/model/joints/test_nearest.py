"""Poses and twists that a joint cannot have: it takes the nearest it can, and the distance is the one that is left."""
import numpy as np
import pytest
from tolerance import EPS, assert_close

import mbros
from mbros.model.joints.nearest import take_pose, take_twist, why_not_at
from mbros.spatial.given import pose_of_any_length


def joint_of(make, **options):
    b = mbros.ModelBuilder("rig")
    body = b.add_body("body", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    b.add_joint(make("j", b.world, body, **options))
    model = b.build()
    return model.joint("j"), model.default_state()


def test_a_pose_it_can_have_is_taken_whole():
    joint, state = joint_of(mbros.FloatingJoint)
    X = mbros.Pose.make(p=(0.1, -0.2, 0.3), rpy=(0.4, -0.5, 0.6))
    off, angle = take_pose(joint, state, X)
    assert off <= 4 * EPS and angle < 1e-7
    assert_close(joint.transform(state).R, X.R, 8 * EPS)


def test_a_slide_and_a_tilt_are_left_over():
    """A hinge about z keeps the turn about z of (turn about z) (turn about x), and nothing of the shift."""
    joint, state = joint_of(mbros.RevoluteJoint, axis=(0, 0, 1))
    X = mbros.Pose.make(p=(0.0, 0.3, 0.4), R=mbros.Pose.make(rpy=(0, 0, 0.7)).R @ mbros.Pose.make(rpy=(0.2, 0, 0)).R)
    off, angle = take_pose(joint, state, X)
    assert off == pytest.approx(0.5, rel=1e-15) and angle == pytest.approx(0.2, abs=1e-8)
    assert joint.angle(state) == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize("make, options, left", [
    (mbros.FloatingJoint, {}, 0.0),
    (mbros.RevoluteJoint, {"axis": (0, 0, 1)}, 4.0),        # of (1, 2, 3, 1.5, -4, 2.5) it has the third
    (mbros.PlanarJoint, {}, 2.5)])                          # the third, fourth and fifth
def test_of_a_twist_it_takes_what_it_can(make, options, left):
    joint, state = joint_of(make, **options)
    V = np.array([1.0, 2.0, 3.0, 1.5, -4.0, 2.5])
    off = take_twist(joint, state, V)
    assert off == pytest.approx(left, abs=1e-14)
    residual = joint.mobilizer.subspace(state, "M") @ joint.velocity(state) - V
    assert_close(joint.mobilizer.subspace(state, "M").T @ residual, np.zeros(joint.nv), 64 * EPS, what="the residual stands across H")


def test_a_screws_twist_is_shared_by_least_squares():
    joint, state = joint_of(mbros.ScrewJoint, axis=(0, 0, 1), pitch_m_per_rad=2.0)
    take_twist(joint, state, (0, 0, 1.0, 0, 0, 0))
    assert joint.velocity(state)[0] == pytest.approx(1.0 / 5.0, rel=1e-15)      # H = (1, 2): v = H.V / H.H


def test_why_a_position_cannot_be():
    hinge, _ = joint_of(mbros.RevoluteJoint, axis=(0, 0, 1), lower=-1.0, upper=2.0)
    assert why_not_at(hinge, 2.0, "j") == why_not_at(hinge, [-1.0], "j") == why_not_at(hinge, 2.01, "j", give=0.02) == ""
    assert why_not_at(hinge, 2.01, "start of j") == "start of j = 2.01 is outside the limits -1 ... 2 of joint 'j'"
    assert "outside" in why_not_at(hinge, np.nan, "j")
    ball, _ = joint_of(mbros.BallJoint)
    assert why_not_at(ball, [0.6, 0.8, 0.0, 0.0], "j") == ""
    assert why_not_at(ball, [0.1, 0, 0, 0], "j") == "j must be [qw, qx, qy, qz] with a quaternion of length 1, got [0.1, 0.0, 0.0, 0.0]"


def test_quaternions_about_of_length_1_are_brought_there():
    X = pose_of_any_length((1, 2, 3), (1.2, 0.0, 0.0, 1.2))
    assert_close(X.R, mbros.Pose.make(rpy=(0, 0, np.pi / 2)).R, 4 * EPS)
    assert X.p.tolist() == [1, 2, 3]
    for p, quat in (((0, 0, np.nan), (1, 0, 0, 0)), ((0, 0, 0), (0, 0, 0, 0)), ((0, 0, 0), (np.nan, 0, 0, 1)), ((0, 0, 0), (3, 0, 0, 0))):
        assert pose_of_any_length(p, quat) is None
