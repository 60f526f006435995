"""Where joints stand that are placed by their pose in the world, and names that stand for one thing only."""
import numpy as np
import pytest
from tolerance import EPS, assert_close

import mbros
from mbros.model.body import NamedList


@pytest.fixture
def b():
    return mbros.ModelBuilder("rig")


def body(b, name):
    return b.add_body(name, 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))


class Shifted(mbros.JointLaw):
    """Neutral at s = 0.25, where X_FM is not 1."""

    nq = nv = 1
    neutral = (0.25,)

    def pose(self, q):
        return np.eye(3), np.array([1.0 + q[0], 0, 0])

    def subspace(self, q):
        return np.array([[0, 0, 0, 1.0, 0, 0]]).T

    def bias(self, q, v):
        return np.zeros(6)


@pytest.mark.seed("HJ-07", "HJ-10", "HJ-21")
@pytest.mark.parametrize("chain", ["follower", "follower of a follower", "law", "quaternion"])
def test_world_poses_behind_joints_that_do_not_start_at_one(b, chain):
    b.add_joint(mbros.RevoluteJoint("lead", b.world, body(b, "one"), (0, 1, 0), p=(0.1, 0.2, 0.3), mimic=None))
    last = b.body("one")
    if chain == "law":
        b.add_joint(mbros.CustomJoint("slide", last, body(b, "two"), Shifted(), rpy=(1, 2, 3)))
    elif chain == "quaternion":
        b.add_joint(mbros.BallJoint("ball", last, body(b, "two"), default=(0, 1, 0, 0)))
    else:
        b.add_joint(mbros.RevoluteJoint("two", last, body(b, "two"), (1, 0, 0), mimic=("lead", 2, 0.7)))
    last = b.body("two")
    if chain == "follower of a follower":
        b.add_joint(mbros.PrismaticJoint("three", last, body(b, "three"), (0, 0, 1), mimic=("two", -3.0, 0.2)))
        last = b.body("three")
    X = mbros.Pose(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]]), np.array([2.0, 3, 4]))
    placed = b.add_joint(mbros.RevoluteJoint("placed", last, body(b, "placed")), world_pose=X)
    placed.add_child(mbros.RevoluteJoint("child", None, body(b, "child"), p=(5, 6, 7)))
    model = b.build()
    assert_close(model.joint("placed").topology.neutral_pose.matrix, X.matrix, 32 * EPS, 5.0)
    assert_close(model.joint("child").topology.neutral_pose.p, (5, 6, 7), 32 * EPS, 10.0)


@pytest.mark.seed("HJ-07")
def test_world_poses_behind_what_is_not_there_yet(b):
    b.add_joint(mbros.RevoluteJoint("j", b.world, body(b, "one"), mimic="later"))
    with pytest.raises(ValueError, match="no joint 'later' in model 'rig'"):
        b.add_joint(mbros.RevoluteJoint("k", b.body("one"), body(b, "two")), world_pose=np.eye(4))
    alien = body(mbros.ModelBuilder("other"), "alien")
    with pytest.raises(ValueError, match="body 'alien': it belongs to another model"):
        b.add_joint(mbros.RevoluteJoint("k", alien, b.body("two")), world_pose=np.eye(4))
    b.joint("j").mimic.leader = "j"
    with pytest.raises(ValueError, match="joint 'j': mimic joints follow each other in a circle"):
        b.add_joint(mbros.RevoluteJoint("k", b.body("one"), b.body("two")), world_pose=np.eye(4))
    assert len(b.description.joints) == 1


@pytest.mark.seed("HJ-21")
def test_a_joint_with_a_parent_keeps_its_pose_in_the_world_too(b):
    """As hpp::model::Joint::addChildJoint: with computePositionInParent the joint stays where it was built."""
    root = b.add_joint(mbros.RevoluteJoint("root", b.world, body(b, "one"), p=(1, 0, 0)))
    far = b.add_joint(mbros.RevoluteJoint("far", b.world, body(b, "two"), p=(0, 2, 0)))
    moved = root.add_child(mbros.RevoluteJoint("moved", b.world, body(b, "three"), p=(5, 0, 0)))
    assert moved.placement.p.tolist() == [4, 0, 0]
    again = root.add_child(mbros.RevoluteJoint("again", far.child, body(b, "four"), p=(5, 0, 0)))
    assert again.placement.p.tolist() == [4, 2, 0]
    kept = root.add_child(mbros.RevoluteJoint("kept", b.world, body(b, "five"), p=(5, 0, 0)), keep_placement=True)
    assert kept.placement.p.tolist() == [5, 0, 0]
    model = b.build()
    assert model.joint("moved").topology.neutral_pose.p.tolist() == [5, 0, 0]
    assert model.joint("again").topology.neutral_pose.p.tolist() == [5, 2, 0]


@pytest.mark.seed("HJ-21")
def test_a_joint_is_added_once(b):
    root = b.add_joint(mbros.RevoluteJoint("root", b.world, body(b, "one")))
    for add in (lambda: root.add_child(root), lambda: b.add_joint(root), lambda: mbros.ModelBuilder("other").add_joint(root)):
        with pytest.raises(ValueError, match="joint 'root': it is in model 'rig' already"):
            add()
    with pytest.raises(ValueError, match=r"'rig': add_child\(\) was given 'x'"):
        root.add_child("x")
    assert root.parent is b.world and b.description.joints == [root]


@pytest.mark.seed("HJ-42")
def test_one_name_is_one_thing(b):
    x = body(b, "x")
    b.add_joint(mbros.RevoluteJoint("h", b.world, x, p=(5, 0, 0)))
    world = b.add_frame("world", x, p=(1, 2, 3))
    with pytest.raises(ValueError, match="frame 'world': this name is already taken by body 'world'"):
        b.build()
    world.name = "h.M"
    with pytest.raises(ValueError, match="frame 'h.M': this name is already taken by joint 'h'"):
        b.build()
    world.name = "tip"
    x.name = "h.M"
    with pytest.raises(ValueError, match="joint 'h': its frame 'h.M' has the name of body 'h.M'. Rename"):
        b.build()
    x.name = "x"
    model = b.build()
    assert model.pose(model.default_state(), "x").p.tolist() == [5, 0, 0]
    with pytest.raises(AssertionError, match="every body needs a name of its own"):
        NamedList("body", "rig", [x, x])


@pytest.mark.seed("HJ-42")
def test_a_urdf_frame_is_not_the_world():
    text = ('<robot name="r"><link name="plate"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>{}</robot>')
    with pytest.raises(ValueError, match="frame 'world'.* already taken by"):
        mbros.load(text.format('<frame name="world" link="plate"/>'))
    assert mbros.load(text.format('<frame name="tip" link="plate"/>')).frame("tip").body_name == "plate"


def test_a_refused_stop_changes_nothing(b):
    h = b.add_joint(mbros.RevoluteJoint("h", b.world, body(b, "one"), upper=1.0))
    other = mbros.ModelBuilder("other")
    other.add_joint(mbros.RevoluteJoint("o", other.world, body(other, "two")))
    for make, words in ((lambda: mbros.JointStop(h, 10, lower=-0.3, upper="x"), "stop of joint 'h': upper is 'x'"),
                        (lambda: mbros.JointStop(h, 10, lower=2.0), "stop of joint 'h'.*above its upper limit 1"),
                        (lambda: mbros.JointStop(other.joint("o"), 10, lower=-0.3), "'o': the joint belongs to another model"),
                        (lambda: mbros.JointStop(h, 10, -1.0), "stop of joint 'h': damping is -1")):
        with pytest.raises(ValueError, match=words):
            b.add_force_element(make())
    for joint, upper in ((h, 1.0), (other.joint("o"), np.inf)):
        assert joint.limits.position.lower[0] == -np.inf and joint.limits.position.upper[0] == upper and joint.stop_stiffness is None
