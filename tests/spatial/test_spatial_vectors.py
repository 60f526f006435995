"""Poses and spatial vectors say what they are of and in which axes: they turn and move, and what does not fit is refused."""
import numpy as np
import pytest
import seed_models
from tolerance import assert_close

import mbros
from mbros.conventions.convention import CONVENTIONS

seed = pytest.mark.seed


@pytest.fixture
def rig(rng):
    """A bushing between a and b, each on a floating joint, in a random state."""
    builder = mbros.ModelBuilder("rig")
    a, b = (seed_models.box(builder, name) for name in "ab")
    for body in (a, b):
        builder.add_joint(mbros.FloatingJoint(f"to_{body.name}", builder.world, body))
    tool = builder.add_frame("tool", b, p=(0.3, -0.2, 0.1), rpy=(0.3, 1.1, -2.0))
    builder.add_joint(mbros.RevoluteJoint("hinge", a, seed_models.box(builder, "c"), p=(0.1, 0, 0), rpy=(1, 0.5, 0)))
    builder.add_force_element(mbros.LinearBushingRollPitchYaw(a, tool, 10.0, 1.0, 200.0, 3.0, name="mount"))
    model = builder.build()
    state = model.random_state(rng)
    state.q[3:7], state.q[10:14] = (1, 0, 0, 0), (0.9, 0.1, 0.2, 0.3)
    state.set_q(state.q)
    return model, state, model.force_elements["mount"]


def test_poses_compose_where_they_meet(rig):
    model, state, _ = rig
    words = r"pose of 'a' in 'world' does not go with the pose of 'b' in 'world'.*model.pose\(state, 'b', 'a'\)"
    with pytest.raises(mbros.MbrosError, match=words):
        model.pose(state, "a") @ model.pose(state, "b")
    whole = model.pose(state, "a") @ model.pose(state, "b", "a")
    assert (whole.frame, whole.relative_to) == ("b", "world")
    assert_close(whole.matrix, model.pose(state, "b").matrix, 1e-14)
    unnamed = mbros.Pose.make((1, 2, 3))
    assert (model.pose(state, "a") @ unnamed).relative_to == "world" and (unnamed @ model.pose(state, "b")).frame == "b"


def test_a_wrench_turns_and_moves(rig, rng):
    """Power does not depend on the axes or on the point; torque and force are what the definitions say."""
    model, state, mount = rig
    wrench = mount.wrench(state)
    assert (wrench.frame, wrench.expressed_in) == ("tool", "a")
    turned = wrench.in_axes(state)
    R = model.pose(state, "a").R
    assert_close(turned.torque, R @ wrench.torque, 1e-14)
    assert_close(turned.force, R @ wrench.force, 1e-14)
    assert (turned.frame, turned.expressed_in) == ("tool", "world")
    moved = turned.moved_to(state, "b")
    p = model.pose(state, "b").p - model.pose(state, "tool").p
    assert_close(moved.torque, turned.torque - np.cross(p, turned.force), 1e-14)
    assert_close(wrench.moved_to(state, "b").in_axes(state), moved, 1e-13)
    V = model.velocity(state, "tool")
    assert_close(V.moved_to(state, "b"), model.velocity(state, "b"), 1e-13)
    power = np.asarray(turned) @ np.asarray(V)
    assert power == pytest.approx(np.asarray(moved) @ np.asarray(V.moved_to(state, "b")), rel=1e-12)
    assert power == pytest.approx(np.asarray(turned.in_axes(state, "c")) @ np.asarray(V.in_axes(state, "c")), rel=1e-12)
    vdot = rng.normal(size=model.nv)
    A = model.acceleration(state, "tool", vdot)
    assert_close(A.moved_to(state, "b", V.angular), model.acceleration(state, "b", vdot), 1e-13)
    for wrong in (None, 3, model):
        with pytest.raises(mbros.StateError):
            wrench.in_axes(wrong)
    with pytest.raises(mbros.MbrosError, match="does not say about which frame's origin"):
        mbros.SpatialForce(np.ones(6)).moved_to(state, "b")


@pytest.mark.parametrize("name", CONVENTIONS)
def test_converters_take_vectors_in_world_axes_only(rig, name):
    model, state, mount = rig
    c, wrench, V = mbros.convention(name), mount.wrench(state), model.velocity(state, "tool")
    with pytest.raises(mbros.MbrosError, match=r"wrench: this SpatialForce of 'tool' is in the axes of 'a'.*in_axes\(state, 'world'\)"):
        c.to_wrench(wrench)
    right = wrench.in_axes(state)
    assert_close(c.from_wrench(c.to_wrench(right)), right, 0.0)
    assert_close(c.from_twist(c.to_twist(V)), V, 0.0)
    with pytest.raises(mbros.MbrosError, match="twist: this SpatialVelocity of 'tool' is in the axes of 'a'"):
        c.to_twist(V.in_axes(state, "a"))
    for wrong, call in ((V, c.to_wrench), (right, c.to_twist), (right, c.from_wrench), (V, c.from_twist)):
        with pytest.raises(mbros.MbrosError, match="expected .* got a Spatial"):
            call(wrong)


@seed("RM-11")
def test_a_joint_projects_wrenches_on_it_only(rig, rng):
    model, state, _ = rig
    joint = model.joint("hinge")
    F = mbros.SpatialForce(rng.normal(size=6), "c", "world")
    with pytest.raises(mbros.MbrosError, match=r"joint 'hinge'.*wrench: this SpatialForce of 'c' is in the axes of 'world'.*'hinge.F'"):
        joint.project_force(state, F)
    here = F.in_axes(state, "hinge.F")
    assert_close(joint.project_force(state, here), model.jacobian(state, "c")[:, joint.v_slice].T @ F.values, 1e-13, 1.0)
    far = mbros.SpatialForce(F.values, "a", "world").in_axes(state, "hinge.F")
    with pytest.raises(mbros.MbrosError, match=r"about the origin of 'a', expected that of 'hinge.M'.*moved_to\(state, 'hinge.M'\)"):
        joint.project_force(state, far)
    assert np.isfinite(joint.project_force(state, far.moved_to(state, "hinge.M"))).all()
    with pytest.raises(mbros.MbrosError, match="expected a SpatialForce or 6 numbers, got a SpatialVelocity"):
        joint.project_force(state, joint.spatial_velocity(state))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("R, p, said", [
    (np.eye(3) * np.nan, np.zeros(3), r"Pose: R\[0, 0\] is nan; expected a finite number"),
    (np.eye(3), [0.0, np.inf, 0.0], r"Pose: p\[1\] is inf; expected a finite number"),
    (np.zeros((3, 3)), np.zeros(3), "Pose: R .* is not a rotation matrix: R R\\^T is 1 away from the identity, and its determinant is 0"),
    (np.diag([1.0, 1.0, -1.0]), np.zeros(3), "its determinant is -1"),
    (1e200 * np.eye(3), np.zeros(3), r"it has the number 1e\+200"),
    (np.eye(3) + 1e-6, np.zeros(3), "right-handed, to 1e-09"),
])
def test_a_pose_is_a_rotation_and_a_place(R, p, said):
    for make in (lambda: mbros.Pose(R, p), lambda: mbros.Pose.from_row(np.concatenate([np.ravel(R), p]))):
        with pytest.raises(mbros.MbrosError, match=said):
            make()
    with pytest.raises(mbros.MbrosError):
        mbros.Pose.make(p, R=R)


def test_a_pose_of_rounded_numbers_is_one(rng):
    """What others computed, and poses of long products of poses."""
    R = mbros.spaces.SO3.exp(rng.normal(size=3))
    assert mbros.Pose(np.round(R, 10), [1, 2, 3]).p.dtype == float
    X = Y = mbros.Pose(R.tolist(), np.zeros(3))
    for _ in range(1000):
        X = X @ Y
    assert np.abs(mbros.Pose(X.R, X.p).inverse().R @ X.R - np.eye(3)).max() < 1e-12
