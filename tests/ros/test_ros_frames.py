"""Every frame that a message names is a frame that somebody publishes."""
import importlib
import importlib.util

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

BENCH = """
sensors:
  wrist.imu: {type: imu, frame: %(frame)s, rate: 200}
  truth: {type: ground_truth_pose, frame: %(frame)s, rate: 200}
"""
NAMED = """<robot name="crate" xmlns:mbros="https://mbros.dev">
  <link name="base"/>
  <link name="box"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="box"/><origin xyz="0 0 0.15"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
  <mbros:frame name="tip" link="box" xyz="0 0 0.1"/>
</robot>"""
SCENE = """
ground: true
robots:
  left: {robot: four_bar, p: [0, 0.5, 0.5]}
  dog: {robot: quadruped, p: [2, 0]}
objects:
  parcel: {shape: box, size: [0.1, 0.1, 0.1], mass: 0.5, p: [0.5, 0, 0.05]}
"""
# robot, parameters, frame of the bench's sensors; how many topics with frames there are at least
CASES = {
    "four_bar": ("four_bar", {}, None, 2),
    "four_bar with a prefix": ("four_bar", {"frame_prefix": "a/"}, None, 2),
    "quadruped": ("quadruped", {"ground": "true", "odom_frame": "q_odom", "frame_prefix": "b/"}, "trunk", 6),
    "quadruped on a fixed base": ("quadruped", {"ground": "true", "base": "fixed", "frame_prefix": "c/"}, "FL_foot", 5),
    "a named frame": (NAMED, {"ground": "true", "frame_prefix": "d/"}, "tip", 5),
    "mobile_arm": ("mobile_arm", {"odom_frame": "m_odom", "frame_prefix": "e/"}, None, 2),
    "scene": (SCENE, {"contacts_rate": 50.0}, None, 5),
}


def message_type(name):
    package, _, kind = name.partition("/msg/")
    return getattr(importlib.import_module(f"{package}.msg"), kind)


def frames_of(message):
    """Every frame that a message names."""
    if hasattr(message, "header"):
        yield message.header.frame_id
    for part in (*getattr(message, "markers", ()), *getattr(message, "transforms", ())):
        yield part.header.frame_id
    if getattr(message, "child_frame_id", ""):
        yield message.child_frame_id


@pytest.mark.skipif(importlib.util.find_spec("visualization_msgs") is None, reason="needs visualization_msgs")
@pytest.mark.parametrize("case", CASES)
def test_trial_R1_every_frame_is_published(case, simulate, tmp_path, standard):
    from standard_client import call, ok
    from tf2_msgs.msg import TFMessage
    robot, parameters, frame, least = CASES[case]
    if "\n" in robot:
        path = tmp_path / ("scene.yaml" if robot is SCENE else "robot.urdf")
        path.write_text(robot)
        robot = str(path)
    if frame:
        (tmp_path / "bench.yaml").write_text(BENCH % {"frame": frame})
        parameters = {**parameters, "bench": str(tmp_path / "bench.yaml")}
    own = ("-r", "/tf:=tf", "-r", "/tf_static:=tf_static")              # no frames but those of this node
    sim = simulate(robot, "/frames", *own, tf_rate=50.0, ready=robot.endswith(".yaml") is False, **parameters)
    transforms, fixed = (sim.collect(TFMessage, topic, latched)[0] for topic, latched in (("tf", False), ("tf_static", True)))
    sim.until(lambda: transforms and fixed or len(transforms) > 50, "for transforms")
    published = {name for message in (*transforms, *fixed) for t in message.transforms for name in (t.header.frame_id, t.child_frame_id)}
    topics = {topic: kinds[0] for topic, kinds in sim.node.get_topic_names_and_types() if topic.startswith("/frames/")}
    heard = {topic: sim.collect(message_type(kind), topic)[0] for topic, kind in topics.items()
             if kind.rpartition("/")[2] in ("MarkerArray", "Contacts", "Odometry", "Imu", "WrenchStamped", "PoseStamped")}
    sim.until(lambda: all(heard.values()), f"for {list(heard)}")
    named = {topic: set(frames_of(message)) for topic, messages in heard.items() for message in messages}
    named["entity"] = {ok(call(sim, "GetEntityState", entity=entity)).state.header.frame_id
                       for entity in ok(call(sim, "GetEntities")).entities[:3]}
    assert len(named) >= least, named
    wrong = {topic: frames - published for topic, frames in named.items() if not frames <= published}
    assert not wrong, f"nobody publishes {wrong}; published are {sorted(published)}"


def test_trial_R1_a_wrench_may_be_given_in_a_frame_of_tf(simulate):
    """The frame that stands still, and a link's with its prefix: what an answer would be told in."""
    from builtin_interfaces.msg import Duration
    from geometry_msgs.msg import Vector3, Wrench
    from mbros_msgs.srv import ApplyWrench
    sim = simulate("quadruped", "/pushed", start_paused="true", frame_prefix="a/", odom_frame="ground")

    def push(frame):
        return sim.call(ApplyWrench, "apply_wrench", ApplyWrench.Request(
            link_name="trunk", reference_frame=frame, wrench=Wrench(force=Vector3(x=1.0)), duration=Duration(nanosec=10**6)))

    for frame in ("", "world", "ground", "a/trunk", "trunk"):
        assert push(frame).success, frame
    refused = push("b/trunk")
    assert not refused.success and "b/trunk" in refused.message
