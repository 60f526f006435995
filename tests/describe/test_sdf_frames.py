"""SDF: where frames are, and which link they move with; closed forms."""
import numpy as np
import pytest
from sdf_texts import joint, link, model, sdf, world

import mbros
from mbros.build.load import check
from mbros.spatial.placement import Placement, rotation_from_rpy


def X(x, y, z, roll=0.0, pitch=0.0, yaw=0.0):
    return Placement(rotation_from_rpy((roll, pitch, yaw)), np.array([x, y, z]))


def assert_at(model, name, wanted):
    found = model.pose(model.default_state(), name)
    np.testing.assert_allclose(found.R, wanted.R, atol=1e-14)
    np.testing.assert_allclose(found.p, wanted.p, atol=1e-14)


def problems(text, **options):
    return [str(problem) for problem in check(text, **options)[0]]


def test_poses_are_relative_to_links_joints_and_frames():
    """A chain of poses, each on another kind of thing: the products of the poses as they are written."""
    robot = mbros.load(sdf(model(
        "<pose>1 2 3 0 0 0.5</pose>",
        link("a", pose="<pose>0.1 0 0 0.3 0 0</pose>"),
        "<frame name='f' attached_to='a'><pose>0 0.2 0 0 0.4 0</pose></frame>",
        joint("j", "a", "b", pose="<pose relative_to='f'>0 0 0.3 0 0 0.6</pose>"),
        link("b", pose="<pose relative_to='j'>0.4 0 0 0 0 0</pose>"),
        "<frame name='g'><pose relative_to='b'>0 0.5 0 0 0 0</pose></frame>")))
    X_WM, X_MA = X(1, 2, 3, yaw=0.5), X(0.1, 0, 0, roll=0.3)
    X_MF = X_MA @ X(0, 0.2, 0, pitch=0.4)
    X_MB = X_MF @ X(0, 0, 0.3, yaw=0.6) @ X(0.4, 0, 0)
    assert_at(robot, "a", X_WM @ X_MA)
    assert_at(robot, "f", X_WM @ X_MF)
    assert_at(robot, "b", X_WM @ X_MB)
    assert_at(robot, "g", X_WM @ X_MB @ X(0, 0.5, 0))
    assert robot.description.frames[1].body.name == "a", "what is attached to nothing moves with the model's canonical link"
    assert robot.joint("j").child.name == "b" and robot.joint("j").axis.tolist() == [0, 0, 1]


def test_degrees_and_quaternions():
    turned = rotation_from_rpy(np.radians((10, 20, 30)))
    robot = mbros.load(sdf(model(link("a", pose="<pose degrees='true'>1 2 3 10 20 30</pose>"))))
    assert_at(robot, "a", Placement(turned, np.array([1.0, 2, 3])))
    half = float(np.sqrt(0.5))
    robot = mbros.load(sdf(model(link("a", pose=f"<pose rotation_format='quat_xyzw'>1 2 3  0 0 {half!r} {half!r}</pose>"))))
    assert_at(robot, "a", X(1, 2, 3, yaw=np.pi / 2))


def test_the_placement_frame_is_what_the_pose_is_of():
    inside = model(link("a", pose="<pose>0 0 1 0 0 0</pose>"), "<frame name='foot'><pose>0 0.5 -1 0.2 0 0</pose></frame>", name="n",
                   more="placement_frame='foot'")
    robot = mbros.load(sdf(model(link("base"), inside.replace("<link", "<pose>3 0 0 0 0 0</pose><link", 1),
                                 joint("w", "base", "n::a", "fixed", ""))))
    assert_at(robot, "n::foot", X(3, 0, 0))
    assert_at(robot, "n::a", X(3, 0, 0) @ X(0, 0.5, -1, roll=0.2).inverse() @ X(0, 0, 1))


def test_axes_are_expressed_in_the_frame_that_is_named():
    turn = "<pose>0 0 0 0 0 1.5707963267948966</pose>"
    parts = link("a"), link("b"), "<frame name='f' attached_to='b'><pose>0 0 0 1.5707963267948966 0 0</pose></frame>"
    def axis_of(said, **options):
        return mbros.load(sdf(model(*parts, joint("j", "a", "b", inside=f"<axis>{said}</axis>", pose=turn)), **options)).joint("j").axis

    np.testing.assert_allclose(axis_of("<xyz>1 0 0</xyz>"), [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(axis_of("<xyz expressed_in='__model__'>1 0 0</xyz>"), [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(axis_of("<xyz expressed_in='f'>0 1 0</xyz>"), [0, 0, 1], atol=1e-15)
    old = "<xyz>1 0 0</xyz><use_parent_model_frame>true</use_parent_model_frame>"
    np.testing.assert_allclose(axis_of(old, version="1.6"), [0, -1, 0], atol=1e-15)


@pytest.mark.parametrize("parts, said", [
    ("<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>", "relative_to leads in a circle"),
    ("<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>", "attached_to leads in a circle"),
    ("<frame name='f'><pose relative_to='aa'/></frame>", "there is no 'aa' in model 'm'"),
    ("<frame name='f' attached_to='a::b'/>", "'a' is a link, and nothing is inside it"),
    ("<frame name='__f__'/>", "is reserved"),
    ("<frame name='a'/>", "already taken by a link"),
])
def test_frames_that_lead_nowhere_are_refused(parts, said):
    found = problems(sdf(model(link("a"), parts)))
    assert any(said in problem for problem in found), found
    assert all(problem.startswith("<text>:1: ") for problem in found)


def test_a_long_chain_of_frames_is_read_in_a_bounded_time():
    """And a circle of as many is refused; a recursion would end at a thousand."""
    n = 5_000
    chain = "".join(f"<frame name='f{i}' attached_to='f{i + 1}'><pose>0 0 1e-3 0 0 0</pose></frame>" for i in range(n))
    robot = mbros.load(sdf(model(link("a"), chain, f"<frame name='f{n}' attached_to='a'/>")))
    np.testing.assert_allclose(robot.pose(robot.default_state(), "f0").p, [0, 0, n * 1e-3], rtol=1e-9)
    found = problems(sdf(model(link("a"), chain, f"<frame name='f{n}' attached_to='f0'/>")))
    assert "leads in a circle" in found[0] and len(found) < 5


def test_nested_models_have_scoped_names_and_may_be_connected():
    gripper = model(link("palm"), link("finger", pose="<pose>0 0 0.2 0 0 0</pose>"), joint("slide", "palm", "finger", "prismatic"),
                    name="grip")
    robot = mbros.load(sdf(model(link("arm"), gripper.replace("<link", "<pose>0 0 1 0 0 0</pose><link", 1),
                                 joint("mount", "arm", "grip::palm", "fixed", ""))))
    assert [body.name for body in robot.bodies[1:]] == ["arm", "grip::palm", "grip::finger"]
    assert [joint.name for joint in robot.joints] == ["base", "mount", "grip::slide"]
    assert_at(robot, "grip::finger", X(0, 0, 1.2))


def test_frames_of_a_world_place_its_models():
    robot = mbros.load(sdf(world("<frame name='table'><pose>1 0 0.7 0 0 0</pose></frame>",
                                 model("<pose relative_to='table'>0 0 0.1 0 0 0</pose>", link("a"), name="box"),
                                 "<frame name='lid' attached_to='box'><pose>0 0 0.2 0 0 0</pose></frame>")))
    assert_at(robot, "box/a", X(1, 0, 0.8))
    assert_at(robot, "lid", X(1, 0, 1.0))
