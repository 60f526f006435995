"""A node with two robots and an object: each robot with its topics in its namespace, one world, one time."""
import time

import mbros
import numpy as np
import pytest
from python_plane import in_use
from ros_client import PATIENCE, own_clock
from standard_client import TOPICS, nanoseconds

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

SCENE = """
ground: true
robots:
  left: {robot: arm7, p: [0, 0.5, 0], bench: arm7_servo, initial_positions: {joint2: 0.3}}
  right: {robot: arm7, p: [0, -0.5, 0]}
  dog: {robot: quadruped, p: [2, 0]}
objects:
  parcel: {shape: box, size: [0.1, 0.1, 0.1], mass: 0.5, p: [0.5, 0, 0.5]}
  table: {shape: box, size: [0.4, 0.4, 0.1], fixed: true, p: [-1, 0, 0.05]}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scene") / "cell.yaml"
    path.write_text(SCENE)
    return path


class World:
    """A paused node of the scene in this process, and a client of its topics."""

    def __init__(self, path, executor, plane="native", **parameters):
        import rclpy
        from mbros.ros.node import SimNode
        from rclpy.parameter import Parameter

        given = {"scene": str(path), "start_paused": True, "command_max_age": 0.0, **parameters}
        self.plane = plane
        with in_use(plane):
            self.sim = SimNode([Parameter(name, value=value) for name, value in given.items()], cli_args=own_clock())
        self.client, self.executor, self.heard = rclpy.create_node("scene_client"), executor, {}
        executor.add_node(self.client)
        executor.add_node(self.sim.node)
        self.sim.start()

    def hear(self, topic, kind, latched=False):
        from rclpy.qos import DurabilityPolicy, QoSProfile
        qos = QoSProfile(depth=100)
        if latched:
            qos.durability = DurabilityPolicy.TRANSIENT_LOCAL
        self.client.create_subscription(kind, topic, lambda message: self.heard.setdefault(topic, []).append(message), qos)

    def until(self, true, act=lambda: None):
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, "nothing came"
            act()
            self.executor.spin_once(timeout_sec=0.02)

    def steps(self, n):
        self.sim.loop.step_once(n)

    def close(self):
        self.sim.end()
        self.executor.remove_node(self.client)
        self.executor.remove_node(self.sim.node)
        self.sim.close()
        self.client.destroy_node()


@pytest.fixture(scope="module", params=["native", "python"])
def world(request, executor, path):
    world = World(path, executor, plane=request.param, watchdog_timeout=0.0)
    yield world
    world.close()


def joints(world, robot):
    """A state of a robot that is no older than this call."""
    from sensor_msgs.msg import JointState
    topic = f"/{robot}/joint_states"
    if topic not in world.heard:
        world.hear(topic, JointState)
    world.heard[topic] = []
    now = world.sim.plane.clock_of(*world.sim.loop.snapshot())
    world.until(lambda: world.heard[topic] and nanoseconds(world.heard[topic][-1].header.stamp) >= now, lambda: world.steps(1))
    return world.heard[topic][-1]


def test_each_robot_has_its_topics(world):
    from geometry_msgs.msg import PoseStamped
    from nav_msgs.msg import Odometry
    from std_msgs.msg import String
    for robot in ("left", "right"):
        assert list(joints(world, robot).name) == [f"joint{k}" for k in range(1, 8)]
    assert abs(joints(world, "left").position[1] - 0.3) < 0.1 and len(joints(world, "dog").name) == 12
    for topic, kind in (("/parcel/pose", PoseStamped), ("/dog/odom", Odometry)):
        world.hear(topic, kind)
    world.hear("/right/robot_description", String, latched=True)
    world.until(lambda: {"/parcel/pose", "/dog/odom", "/right/robot_description"} <= set(world.heard), lambda: world.steps(1))
    parcel, odom = world.heard["/parcel/pose"][-1], world.heard["/dog/odom"][-1]
    assert parcel.header.frame_id == odom.header.frame_id == "world" and odom.child_frame_id == "dog/trunk"
    assert abs(parcel.pose.position.x - 0.5) < 1e-6 and abs(odom.pose.pose.position.x - 2.0) < 0.1
    assert 'robot name="arm7"' in world.heard["/right/robot_description"][0].data


def test_frames_are_prefixed_and_hang_on_the_world(world):
    from tf2_msgs.msg import TFMessage
    world.hear("/tf", TFMessage)
    world.hear("/tf_static", TFMessage, latched=True)
    world.until(lambda: {"/tf", "/tf_static"} <= set(world.heard), lambda: world.steps(1))
    moving = {t.child_frame_id: t.header.frame_id for t in world.heard["/tf"][-1].transforms}
    fixed = {t.child_frame_id: t.header.frame_id for t in world.heard["/tf_static"][-1].transforms}
    assert moving["parcel"] == moving["dog/trunk"] == fixed["left/base_link"] == fixed["table"] == "world"
    assert moving["left/link1"] == "left/base_link" and not set(moving) & set(fixed)


def test_a_command_moves_the_robot_it_is_for(world):
    from sensor_msgs.msg import JointState
    before = {robot: np.array(joints(world, robot).position) for robot in ("left", "right")}
    out = world.client.create_publisher(JointState, "/right/joint_commands", 1)
    command = JointState(name=["joint4"], effort=[20.0])
    counts = world.sim.plane.counts

    def act():
        out.publish(command)
        world.steps(1)

    world.until(lambda: counts()["right/joint_commands"]["accepted"] > 0, act)
    world.steps(200)
    after = {robot: np.array(joints(world, robot).position) for robot in ("left", "right")}
    assert abs(after["right"] - before["right"])[3] > 0.05 > abs(after["left"] - before["left"]).max()
    assert sum(counts()["left/joint_commands"].values()) == 0
    refused = JointState(name=["right/joint4"], effort=[1.0])       # the robot's own names
    world.until(lambda: counts()["right/joint_commands"]["unknown_name"] > 0, lambda: (out.publish(refused), world.steps(1)))


def test_the_world_is_that_of_the_simulator(world, path):
    """What the node's plant does is what a Simulator of the scene does."""
    from types import SimpleNamespace
    world.sim.services.reset(SimpleNamespace())
    world.sim.loop.step_once(50)
    model = mbros.load(path)
    sim = mbros.Simulator(model)
    q, v = world.sim.robot.initial_state(world.sim.live.values)
    np.testing.assert_array_equal(q, sim.state.q)
    _, x = world.sim.loop.snapshot()
    at, size = world.sim.robot.plant.layout["q"]
    for _ in range(50):
        sim.step()
    parcel = model.tree.robots["parcel"].q_slice
    np.testing.assert_allclose(x[at:at + size][parcel], sim.state.q[parcel], atol=1e-12)


def test_entities_are_robots_links_and_objects(standard, path, executor):
    from mbros.ros.standard.server import Standard
    from simulation_interfaces.msg import EntityFilters, EntityState
    from simulation_interfaces.srv import GetEntities, GetEntityInfo, GetEntityState, SetEntityState
    world = World(path, executor, simulation_interfaces=False)
    try:
        standard_ = Standard(world.sim)

        def call(kind, request):
            service = world.client.create_client(kind, f"/mbros/{TOPICS[kind.__name__]}")
            world.until(service.service_is_ready)
            future = service.call_async(request)
            world.until(future.done)
            return future.result()

        names = call(GetEntities, GetEntities.Request(filters=EntityFilters())).entities
        assert {"left", "right", "dog", "parcel", "table", "left/link3", "dog/trunk"} <= set(names)
        assert call(GetEntityInfo, GetEntityInfo.Request(entity="parcel")).info.category.category == 4
        state = EntityState()
        state.pose.position.x, state.pose.position.z, state.pose.orientation.w = 1.0, 2.0, 1.0
        state.twist.linear.x = 0.5
        for entity in ("parcel", "dog"):
            answer = call(SetEntityState, SetEntityState.Request(entity=entity, state=state, set_pose=True, set_twist=True))
            assert answer.result.result == 1, answer.result.error_message
            there = call(GetEntityState, GetEntityState.Request(entity=entity)).state
            assert (there.pose.position.x, there.pose.position.z, there.twist.linear.x) == (1.0, 2.0, 0.5)
        for entity in ("left", "table", "dog/FL_calf"):
            answer = call(SetEntityState, SetEntityState.Request(entity=entity, state=state, set_pose=True))
            assert answer.result.result != 1 and answer.result.error_message
        standard_.close()
    finally:
        world.close()


def test_lockstep_waits_for_each_robot(path, executor):
    """Consumers of two robots in this process: each hears the states of its own, and answers by their stamps."""
    from sensor_msgs.msg import JointState
    world = World(path, executor, lockstep="left/joint_commands 1/2, right/joint_commands 1/1", simulation_interfaces=False)
    answered = {"left": 0, "right": 0}
    try:
        for robot in answered:
            out = world.client.create_publisher(JointState, f"/{robot}/joint_commands", 100)

            def answer(state, robot=robot, out=out):
                answered[robot] += 1
                assert len(state.name) == 7
                out.publish(JointState(header=state.header, name=["joint7"], effort=[0.1]))

            world.client.create_subscription(JointState, f"/{robot}/joint_commands/joint_states", answer, 100)
        world.sim.loop.resume()
        world.until(lambda: answered["right"] >= 40)
        assert abs(answered["right"] - 2 * answered["left"]) <= 4
    finally:
        world.close()


def test_a_lockstep_topic_of_no_robot_is_refused(path, executor):
    with pytest.raises(ValueError, match="topic 'joint_commands' is of no robot of this scene; expected its name in front, such as left/"):
        World(path, executor, lockstep="joint_commands 1/1")


HALF_REAL = "sources:\n  joint[1-3]: {timeout: 0.05, safe: hold, jump: 1.0}\n"


def test_sources_are_of_a_robot(executor, tmp_path):
    """Hardware says its joints' own names, on a topic of its robot; what the interfaces take goes the same way."""
    from mbros_msgs.srv import SetSource
    from sensor_msgs.msg import JointState
    (tmp_path / "half.yaml").write_text(HALF_REAL)
    (tmp_path / "two.yaml").write_text("robots:\n  left: {robot: arm7, p: [0, 0.5, 0], bench: ./half.yaml}\n"
                                       "  right: {robot: arm7, p: [0, -0.5, 0], bench: ./half.yaml}\n  bare: {robot: scara}\n")
    world = World(tmp_path / "two.yaml", executor)
    try:
        counts, out = world.sim.plane.counts, world.client.create_publisher(JointState, "/right/hardware_states", 10)
        assert {name for name in counts() if name.endswith("hardware_states")} == {"left/hardware_states", "right/hardware_states"}
        message = JointState(name=["joint2", "joint1"], position=[0.25, 0.0], velocity=[0.0, 0.0])

        def act():
            out.publish(message)
            world.steps(1)

        world.until(lambda: counts()["right/hardware_states"]["accepted"] > 0, act)
        sources = world.sim.services.sources
        sources.set_source(SetSource.Request(joints=["right/joint2"], mode="real"))
        world.hear("/right/interface_efforts", JointState)
        world.until(lambda: "/right/interface_efforts" in world.heard, act)
        assert list(world.heard["/right/interface_efforts"][-1].name) == ["joint1", "joint2", "joint3"]
        assert sources.memory["right/joint2"].held == "real" and sources.memory["left/joint2"].held == "sim"
        assert np.isfinite(sources.memory["right/joint2"]["FED"]) and sources.memory["left/joint2"]["FED"] == 0.0
        with pytest.raises(ValueError, match="/left/hardware_states"):
            sources.set_source(SetSource.Request(joints=["left/joint2"], mode="real"))
    finally:
        world.close()


@pytest.mark.parametrize("bench, said", [
    ("sensors:\n  left-foot: {type: imu, frame: link3}\n", "sensor 'a/left-foot' would be on topic 'a/left-foot', a name that ROS"),
    ("sensors:\n  2nd: {type: imu, frame: link3}\n", "sensor 'a/2nd' would be on topic"),
    ("sensors:\n  joint_states: {type: imu, frame: link3}\n", "on topic 'a/joint_states', which is the node's already"),
    ("sensors:\n  w.imu: {type: imu, frame: link3}\n  w/imu: {type: imu, frame: link3}\n", "'a/w/imu', which is another's already"),
])
def test_a_sensor_that_can_have_no_topic_is_refused_in_words(executor, tmp_path, bench, said):
    (tmp_path / "odd.yaml").write_text(bench)
    (tmp_path / "one.yaml").write_text("robots:\n  a: {robot: arm7, bench: ./odd.yaml}\n")
    with pytest.raises(ValueError) as caught:
        World(tmp_path / "one.yaml", executor).close()
    assert said in str(caught.value)


def test_the_frame_of_a_sensor_has_its_prefix_once(executor, tmp_path):
    """An odometry has no frame of its own: it is of its robot's base."""
    from nav_msgs.msg import Odometry
    (tmp_path / "wheels.yaml").write_text("sensors:\n  wheels: {type: wheel_odometry, left: left_wheel_joint, right: right_wheel_joint, "
                                          "radius: 0.06, separation: 0.28}\n")
    (tmp_path / "one.yaml").write_text("ground: true\nrobots:\n  a: {robot: diff_drive, p: [0, 0, 0], bench: ./wheels.yaml}\n")
    world = World(tmp_path / "one.yaml", executor, frame_prefix="x/")
    try:
        for topic in ("/a/wheels", "/a/odom"):
            world.hear(topic, Odometry)
        world.until(lambda: {"/a/wheels", "/a/odom"} <= set(world.heard), lambda: world.steps(1))
        assert world.heard["/a/wheels"][-1].child_frame_id == world.heard["/a/odom"][-1].child_frame_id == "x/a/chassis"
    finally:
        world.close()
