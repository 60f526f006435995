"""Trial R2, R18: messages of sensors say a frame that is published and along whose axes they are, an orientation, and covariances that can
be set, live."""
import time

import numpy as np
import pytest
from python_plane import in_use
from ros_client import PATIENCE, own_clock

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

CART = """
seed: 1
sensors:
  of.wheel: {type: force_torque, joint: left_wheel_joint}
  of.caster: {type: force_torque, joint: caster_joint}
  imu: {type: imu, frame: chassis, rate: 100, gyro_noise_density: 0.001, accel_bias_instability: 0.02,
        orientation_noise: [0.01, 0.01, 0.05]}
  raw: {type: imu, frame: chassis, static_covariance_orientation: [-1, 0, 0, 0, 0, 0, 0, 0, 0],
        static_covariance_linear_acceleration: [1, 0.5, 0, 0.5, 2, 0, 0, 0, 3]}
  wheels: {type: wheel_odometry, left: left_wheel_joint, right: right_wheel_joint, radius: 0.06, separation: 0.28, counts: 4096, rate: 50}
  truth: {type: ground_truth_pose, frame: chassis, pose_covariance_diagonal: [1, 2, 3, 4, 5, 6]}
"""
ARM = """
<robot name="arm" xmlns:mbros="urn:mbros">
  <link name="foot"/><link name="arm"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="foot"/><child link="arm"/><axis xyz="0 1 0"/></joint>
  <frame name="imu_link" link="arm" xyz="0.3 0 0.1" rpy="0 0 1.5"/>
  <mbros:sensor name="imu" type="imu" frame="imu_link"/>
  <mbros:sensor name="load" type="force_torque" joint="hinge"/>
  <mbros:sensor name="ground" type="imu" frame="foot"/>
</robot>
"""


class Node:
    """A paused node in this process, and a client of its topics."""

    def __init__(self, executor, plane="native", **parameters):
        import rclpy
        from mbros.ros.node import SimNode
        from rclpy.parameter import Parameter
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from tf2_msgs.msg import TFMessage

        given = {"start_paused": True, **parameters}
        with in_use(plane):
            self.sim = SimNode([Parameter(name, value=value) for name, value in given.items()], cli_args=own_clock())
        self.client, self.executor, self.heard, self.frames = rclpy.create_node("sensor_client"), executor, {}, set()
        executor.add_node(self.client)
        executor.add_node(self.sim.node)
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for topic, qos in (("/tf", 100), ("/tf_static", latched)):
            self.client.create_subscription(TFMessage, topic, lambda m: self.frames.update(
                *((t.header.frame_id, t.child_frame_id) for t in m.transforms)), qos)
        self.sim.start()

    def hear(self, kind, *topics):
        for topic in topics:
            self.client.create_subscription(kind, topic, lambda m, topic=topic: self.heard.__setitem__(topic, m), 10)

    def until(self, true):
        """Steps until that."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, f"nothing came; heard: {list(self.heard)}, frames {self.frames}"
            self.sim.loop.step_once(10)
            for _ in range(5):
                self.executor.spin_once(timeout_sec=0.01)

    def fresh(self, *topics):
        for topic in topics:
            self.heard.pop(topic, None)
        self.until(lambda: set(topics) <= set(self.heard))
        return [self.heard[topic] for topic in topics]

    def set(self, name, value):
        from rclpy.parameter import Parameter
        return self.sim.node.set_parameters([Parameter(name, value=value)])[0]

    def close(self):
        self.sim.end()
        self.executor.remove_node(self.client)
        self.executor.remove_node(self.sim.node)
        self.sim.close()
        self.client.destroy_node()


@pytest.fixture(scope="module", params=["native", "python"])
def cart(request, executor, tmp_path_factory):
    from geometry_msgs.msg import WrenchStamped
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import Imu
    path = tmp_path_factory.mktemp("cart") / "bench.yaml"
    path.write_text(CART)
    node = Node(executor, robot="diff_drive", ground=True, bench=str(path), plane=request.param, frame_prefix="x/",
                twist_covariance_diagonal=[6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    node.hear(Imu, "imu", "raw")
    node.hear(WrenchStamped, "of/wheel", "of/caster")
    node.hear(Odometry, "wheels", "truth", "odom")
    yield node
    node.close()


def test_trial_R2_the_frame_of_a_sensor_is_published_and_that_of_its_numbers(cart):
    wheel, caster, imu, wheels, truth = cart.fresh("of/wheel", "of/caster", "imu", "wheels", "truth")
    cart.until(lambda: {"x/left_wheel", "x/caster"} <= cart.frames)
    assert (wheel.header.frame_id, caster.header.frame_id, imu.header.frame_id) == ("x/left_wheel", "x/caster", "x/chassis")
    assert (wheels.header.frame_id, wheels.child_frame_id) == ("odom", "x/chassis") and truth.child_frame_id == "x/chassis"
    for message in (wheel, caster, imu, wheels, truth):
        assert message.header.frame_id in cart.frames and getattr(message, "child_frame_id", "odom") in cart.frames


@pytest.mark.parametrize("prefix, publish_tf", [("", True), ("left/", False)])
def test_trial_R2_frames_of_a_description_and_of_a_fixed_robot(executor, prefix, publish_tf):
    """A frame that is no link is in /tf_static though robot_state_publisher publishes the links; a wrench is along its axes."""
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import Imu
    node = Node(executor, robot=ARM, frame_prefix=prefix, publish_tf=publish_tf)
    try:
        node.hear(Imu, "imu", "ground")
        node.hear(WrenchStamped, "load")
        imu, ground, load = node.fresh("imu", "ground", "load")
        node.until(lambda: prefix + "imu_link" in node.frames)
        assert [m.header.frame_id for m in (imu, ground, load)] == [prefix + name for name in ("imu_link", "foot", "arm")]
        assert not publish_tf or {m.header.frame_id for m in (imu, ground, load)} <= node.frames
        model, x = node.sim.robot.model, node.sim.loop.snapshot()[1]
        state = model.default_state()
        state.q[0] = x[node.sim.robot.map.position]
        force = model.pose(state, "arm").R @ [load.wrench.force.x, load.wrench.force.y, load.wrench.force.z]
        assert abs(force[1]) < 1e-9 and 0.0 < force[2] < 9.81            # in the world's axes: it falls
    finally:
        node.close()


def test_trial_R18_an_imu_says_its_orientation_and_covariances(cart):
    imu, raw = cart.fresh("imu", "raw")
    quaternion = np.array([imu.orientation.x, imu.orientation.y, imu.orientation.z, imu.orientation.w])
    assert np.linalg.norm(quaternion) == pytest.approx(1.0) and 0.0 < 2.0 * np.linalg.norm(quaternion[:3]) < 0.5       # noise of 0.05 rad
    assert imu.orientation_covariance.reshape(3, 3) == pytest.approx(np.diag([1e-4, 1e-4, 25e-4]))
    assert imu.angular_velocity_covariance.reshape(3, 3) == pytest.approx(1e-6 * 100.0 * np.eye(3))
    assert imu.linear_acceleration_covariance.reshape(3, 3) == pytest.approx(4e-4 * np.eye(3))
    assert raw.orientation_covariance[0] == -1.0 and (raw.orientation.x, raw.orientation.w) == (0.0, 1.0)
    assert raw.linear_acceleration_covariance.tolist() == [1, 0.5, 0, 0.5, 2, 0, 0, 0, 3] and not raw.angular_velocity_covariance.any()


def test_trial_R18_covariances_of_odometry_and_poses(cart):
    wheels, truth, odom = cart.fresh("wheels", "truth", "odom")
    d = 0.06 * 2.0 * np.pi / 4096
    assert wheels.pose.covariance.reshape(6, 6) == pytest.approx(np.diag([d * d / 24, d * d / 24, 1e6, 1e6, 1e6, d * d / 6 / 0.28**2]))
    assert wheels.twist.covariance.reshape(6, 6) == pytest.approx(
        np.diag([d * d / 12 * 50**2, 1e6, 1e6, 1e6, 1e6, d * d / 3 / 0.28**2 * 50**2]))
    assert truth.pose.covariance.reshape(6, 6) == pytest.approx(np.diag([1, 2, 3, 4, 5, 6])) and not truth.twist.covariance.any()
    assert odom.twist.covariance.reshape(6, 6) == pytest.approx(np.diag([6, 5, 4, 3, 2, 1])) and not odom.pose.covariance.any()


def test_trial_R18_covariances_are_set_while_it_runs(cart):
    asked = {"device.imu.static_covariance_angular_velocity": [0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.3],
             "device.wheels.pose_covariance_diagonal": [9.0, 8.0, 7.0, 6.0, 5.0, 4.0]}
    for name, value in asked.items():
        assert cart.set(name, [float(x) for x in value]).successful
    cart.fresh("imu", "wheels")                                          # what was under way is of before
    cart.until(lambda: cart.heard["imu"].angular_velocity_covariance.tolist() == asked["device.imu.static_covariance_angular_velocity"])
    cart.until(lambda: cart.heard["wheels"].pose.covariance[::7].tolist() == asked["device.wheels.pose_covariance_diagonal"])
    said = cart.set("device.imu.static_covariance_angular_velocity", [1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    assert not said.successful and "no covariance" in said.reason
    imu, = cart.fresh("imu")
    assert imu.angular_velocity_covariance.tolist() == asked["device.imu.static_covariance_angular_velocity"]


def test_trial_R18_covariances_follow_noise_that_is_set_while_it_runs(cart):
    """In the message and in the parameter that says them."""
    want = (9e-4 * np.eye(3)).ravel()
    assert cart.set("device.imu.accel_bias_instability", 0.03).successful
    cart.until(lambda: np.allclose(cart.heard["imu"].linear_acceleration_covariance, want))
    assert np.allclose(cart.sim.node.get_parameter("device.imu.static_covariance_linear_acceleration").value, want)
    assert cart.set("device.imu.accel_bias_instability", 0.02).successful
