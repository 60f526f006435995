"""PJ-37: what mbros makes of laws that give little, end somewhere, or say wrong things about themselves."""
import numpy as np
import pytest
import seed_models
from custom_laws import Cam, Plane, Sphere, only
from tolerance import EPS, assert_close

import mbros
from mbros.describe.joints.kinds import UserKind, unit_parts
from mbros.describe.joints.kinematics import kinematics
from mbros.diff.custom_joints import differences
from mbros.model.joints.sampling import random_positions

seed = pytest.mark.seed


@seed("PJ-37")
def test_a_law_without_anything_more(rng):
    """A cam at its dead centre can move all the same; what only the law could know is not guessed."""
    joint = only(Cam())
    assert joint.can_rotate and joint.can_translate
    assert joint.mobilizer.linear_velocity_bound == joint.mobilizer.angular_velocity_bound == np.inf
    assert joint.topology.max_distance_to_parent == np.inf
    state = joint.model.default_state()
    joint.set_position(state, [0.6])
    assert_close(joint.mobilizer.subspace_gradient(state)[:, 0, 0], [0, 0, 2, 3.6, 0, 0], 1e-10)
    dq, dv = joint.mobilizer.subspace_bias_gradient(state, [1.5])
    assert_close(dq[:, 0], [0, 0, 0, 6 * 2.25, 0, 0], 1e-10)
    assert_close(dv[:, 0], [0, 0, 2 * 2 * 1.5, 6 * 0.6 * 3.0, 0, 0], 8 * EPS)
    assert not joint.mobilizer.qdot_from_velocity_gradient(state).any() and not joint.mobilizer.velocity_from_qdot_gradient(state).any()
    assert_close(joint.set_pose(state, joint.transform(state)).position(state), [0.6], 1e-7)
    drawn = [random_positions(joint, rng)[0] for _ in range(100)]
    assert -0.5 <= min(drawn) < -0.3 and 0.5 < max(drawn) <= 0.7
    assert unit_parts(UserKind(type("Ratio", (Cam,), {"position_units": ("",)})())) == ()       # a number without a unit is no unit part
    assert random_positions(only(Sphere()), 3).tolist() != random_positions(only(Sphere()), 4).tolist()
    assert np.linalg.norm(random_positions(only(Sphere()), 3)) == pytest.approx(1.0)


@seed("PJ-37")
@pytest.mark.parametrize("s", [0.0, 0.3, 0.39, -0.3999])
def test_near_the_end_of_what_a_law_is_defined_for(joint_in_python, s):
    """The cycloid of a = 0.1 m ends at s = +-0.4 m, nearer than the first step of the differences and the first start of a match."""
    joint = only(joint_in_python.Cycloid(0.1))
    state = joint.model.default_state()
    joint.set_position(state, [s])
    sine = s / 0.4
    cosine = np.sqrt(1 - sine**2)
    assert_close(joint.mobilizer.subspace_gradient(state)[3:, 0, 0], [-sine / cosine / 0.4, 0, 1 / 0.4], 1e-9)
    X = joint.transform(state)
    joint.set_position(state, [0.1])
    assert_close(joint.set_pose(state, X).transform(state).matrix, X.matrix, 1e-7)
    assert (joint.can_rotate, joint.can_translate) == (False, True)


@seed("PJ-37")
def test_derivatives_of_a_laws_own_are_checked():
    class Told(Cam):
        def subspace_gradient(self, q):
            return self.given

    law = Told()
    joint = only(law)
    state = joint.model.default_state()
    law.given = np.arange(6.0).reshape(6, 1, 1)
    assert joint.mobilizer.subspace_gradient(state).ravel().tolist() == [0, 1, 2, 3, 4, 5]
    for law.given in (np.zeros((6, 1)), np.full((6, 1, 1), np.nan)):
        with pytest.raises(ValueError, match=r"Told.subspace_gradient\(\) gave .*; expected finite numbers of shape \(6, 1, 1\)"):
            joint.mobilizer.subspace_gradient(state)
    with pytest.raises(ValueError, match="no derivative: the joint's law is not finite within 0.1 of this position"):
        differences(lambda q: joint._kinematics.pose(q * np.nan)[1], np.zeros(1))


def test_maps_of_its_own_with_as_many_positions_as_velocities():
    """Then v is not qdot: a JointLaw says so by itself, a capsule's object must."""
    class Rpy(Sphere):
        nq = nv = 3
        neutral = (0.0, 0.0, 0.0)

        def __init__(self):
            self.ball = kinematics("ball_rpy")

        def normalize(self, q):
            return q

    joint = only(Rpy())
    assert joint.space.name == "Rpy" and not Rpy().velocities_are_rates and Plane().velocities_are_rates
    state = joint.model.default_state()
    joint.set_position(state, [0.1, 0.2, 0.3])
    assert_close(joint.mobilizer.qdot_from_velocity_matrix(state), kinematics("ball_rpy").qdot_matrix([0.1, 0.2, 0.3]), 0.0)

    class AsACapsule:
        nq = nv = 3
        law = Rpy()
        capsule = law.capsule

    b = mbros.ModelBuilder("rig")
    with pytest.raises(ValueError, match="has velocities_are_rates True, and its capsule has maps of its own"):
        b.add_joint(mbros.CustomJoint("mine", b.world, seed_models.box(b, "B"), AsACapsule()))
