"""The node with a bench: commands of every kind move it, sensors speak, what is not taken is said."""
import math
import time

import numpy as np
import pytest

NAN = math.nan
BENCH = """
seed: 3
actuators:
  "joint[12]": {type: position_servo, kp: 4000, kd: 200}
  third.servo: {type: velocity_servo, joint: joint3, kd: 200}
  joint4: {type: effort_actuator}
sensors:
  joint1: {type: encoder, counts: 256}
  joint2: {type: torque, scale: 2.0}
  wrist.imu: {type: imu, frame: flange, rate: 100, latency: 0.005, gyro_noise_density: 0.001, accel_bias_instability: 0.02}
"""


@pytest.fixture(scope="module")
def servo(simulate):
    return simulate("arm7", "/bench_servo", bench="servo")


def trajectory(names, points, stamp_ns=0):
    """points: (time, positions, velocities, accelerations)."""
    from builtin_interfaces.msg import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    m = JointTrajectory(joint_names=list(names))
    m.header.stamp.sec, m.header.stamp.nanosec = divmod(stamp_ns, 10**9)
    for at, q, *rest in points:
        v, a = (*rest, [], [])[:2]
        m.points.append(JointTrajectoryPoint(positions=q, velocities=v, accelerations=a,
                                             time_from_start=Duration(sec=int(at), nanosec=round(at % 1 * 1e9))))
    return m


def arrive(client, joint, position, send, give=2e-3):
    client.until(lambda: abs(client.position(joint) - position) < give, f"for {joint} at {position}", every=send)


@pytest.mark.parametrize("robot", ["arm7", "panda"])
def test_what_topic_based_ros2_control_sends_moves_the_robot(simulate, robot):
    """Positions alone, then velocities alone, of every joint, a follower's beside its leader's; as its write() fills a JointState."""
    client = simulate(robot, f"/topic_based_{robot}", bench="servo", watchdog_timeout=0.0)
    names = list(client.state.name)
    start = dict(zip(names, client.state.position))
    target = {name: x + (0.0 if "finger" in name else 0.1) for name, x in start.items()}
    arrive(client, names[3], target[names[3]], lambda: client.send(names, [], [target[n] for n in names]))
    arrive(client, names[0], target[names[0]], lambda: client.send(names, [], [target[n] for n in names]))
    here = client.fresh().position[0]
    client.until(lambda: client.position(names[0]) > here + 0.05 and abs(client.state.velocity[0] - 0.2) < 0.01, "for a velocity",
                 every=lambda: client.send(names, [], [], [0.2 if name == names[0] else 0.0 for name in names]))
    assert client.fresh_status("commands")["joint_commands dropped"] == "0"


def test_effort_to_position_does_not_jump(servo):
    """Held by its own effort a joint is free; the first position commanded is what moves it."""
    name = "joint1"
    arrive(servo, name, 0.3, lambda: servo.send([name], [], [0.3]))
    servo.until(lambda: servo.effort(name) == 2.0, "for the effort alone", every=lambda: servo.send([name], [2.0]))
    at = servo.fresh().position[0]
    servo.until(lambda: servo.effort(name) != 2.0, "for the servo", every=lambda: servo.send([name], [], [at]))
    assert abs(servo.state.velocity[0]) < 5.0
    arrive(servo, name, 0.0, lambda: servo.send([name], [], [0.0]))


def test_numbers_of_devices_are_parameters_while_it_runs(servo):
    """A servo without stiffness lets go, over the services that `ros2 param` uses."""
    name, kp, ki = "joint6", "device.joint6.servo.kp", "device.joint6.servo.ki"
    before = servo.get(kp), servo.get(ki)
    arrive(servo, name, 0.2, lambda: servo.send([name], [], [0.2]))
    assert servo.set(device__joint6__servo__kp=0, device__joint6__servo__ki=0.0) == "" and servo.get(kp) == 0.0
    servo.until(lambda: abs(servo.position(name) - 0.2) > 0.05, "for the joint to sink", every=lambda: servo.send([name], [], [0.2]))
    assert "kp is -1; expected a finite number, 0 or more" in servo.set(device__joint6__servo__kp=-1.0)
    assert "did you mean 'device.joint6.servo.kp'?" in servo.set(device__joint6__servo__kpp=1.0)
    assert servo.set(device__joint6__servo__kp=before[0], device__joint6__servo__ki=before[1]) == ""
    arrive(servo, name, 0.0, lambda: servo.send([name], [], [0.0]))


def test_arrays_command_positions_and_velocities(servo):
    from std_msgs.msg import Float64MultiArray
    positions = servo.node.create_publisher(Float64MultiArray, "position_commands", 1)
    velocities = servo.node.create_publisher(Float64MultiArray, "velocity_commands", 1)
    goal = [NAN, NAN, 0.2, NAN, NAN, NAN, NAN]
    arrive(servo, "joint3", 0.2, lambda: positions.publish(Float64MultiArray(data=goal)))
    speed = [NAN, NAN, -0.3, NAN, NAN, NAN, NAN]
    servo.until(lambda: abs(servo.state.velocity[2] + 0.3) < 0.01, "for the velocity", every=lambda: velocities.publish(
        Float64MultiArray(data=speed)))
    arrive(servo, "joint3", 0.0, lambda: positions.publish(Float64MultiArray(data=[0.0 if x == x else NAN for x in goal])))


def test_a_trajectory_is_heard_whose_publisher_is_new(servo):
    """A publisher knows of the node's subscription before the node knows of the publisher: what is sent then is sent once more by the
    middleware, as joint_trajectory is reliable. With best effort one in ten was lost."""
    from trajectory_msgs.msg import JointTrajectory
    for k in range(30):
        publisher = servo.node.create_publisher(JointTrajectory, "joint_trajectory", 1)
        servo.until(publisher.get_subscription_count, "for the subscription")
        goal = 0.02 * (k % 2)
        publisher.publish(trajectory(["joint7"], [(0.05, [goal])]))
        servo.until(lambda: abs(servo.position("joint7") - goal) < 2e-3, f"for trajectory {k}")  # noqa: B023
        servo.node.destroy_publisher(publisher)
    servo.until(lambda: abs(servo.position("joint7")) > 1e-2, "for the last")


def test_a_trajectory_is_followed_and_one_that_leaves_the_limits_is_refused(servo):
    from trajectory_msgs.msg import JointTrajectory
    publisher = servo.node.create_publisher(JointTrajectory, "joint_trajectory", 1)
    servo.until(lambda: publisher.get_subscription_count() > 0, "for the subscription")
    arrive(servo, "joint1", 0.0, lambda: servo.send(["joint1", "joint5"], [], [0.0, 0.0]))
    publisher.publish(trajectory(["joint1", "joint5"], [(0.5, [0.2, -0.1], [0.3, 0.0]), (1.0, [0.4, 0.0], [0.0, 0.0])]))
    seen = []

    def arrived():
        stamp = servo.state.header.stamp
        seen.append((stamp.sec + 1e-9 * stamp.nanosec, servo.state.position[0]))
        return abs(servo.position("joint1") - 0.4) < 1e-3

    servo.until(arrived, "for the end of the trajectory")
    time_, angle = np.array(seen).T
    assert (np.abs(np.diff(angle)) < 0.05 + 2.0 * np.diff(time_)).all() and angle.max() < 0.41     # a busy machine's states are far apart
    servo.spin(0.3)
    assert abs(servo.fresh().position[0] - 0.4) < 1e-3                      # held, also when the watchdog has acted
    before = int(servo.fresh_status("commands")["joint_trajectory accepted"])
    publisher.publish(trajectory(["joint1"], [(1.0, [99.0])]))
    said = "dropped on joint_trajectory: 1 because a position is beyond the limits of its joint (of a trajectory: anywhere on its way) "
    servo.until(lambda: f"{said}(newest: joint 'joint1'" in servo.process.text, "for the refusal")
    publisher.publish(trajectory(["joint1"], [(0.01, [-0.4])]))
    servo.until(lambda: "a velocity is beyond the limit of its joint" in servo.process.text, "for the refusal")
    assert int(servo.fresh_status("commands")["joint_trajectory accepted"]) == before
    assert abs(servo.state.position[0] - 0.4) < 1e-3


@pytest.mark.parametrize("plane", ["native", "python"])
def test_sensors_speak_and_what_is_not_taken_is_said(simulate, tmp_path, plane):
    from geometry_msgs.msg import WrenchStamped  # noqa: F401  the kinds that are there say so themselves
    from sensor_msgs.msg import Imu
    path = tmp_path / "bench.yaml"
    path.write_text(BENCH)
    client = simulate("arm7", f"/bench_{plane}", bench=path, plane=plane, rate=500.0)
    imu, subscription = client.collect(Imu, "wrist/imu")
    client.until(lambda: len(imu) >= 20, "for the IMU")
    message = imu[-1]
    assert message.header.frame_id == "flange" and not message.orientation_covariance.any()          # it has no noise
    assert message.angular_velocity_covariance[0] == pytest.approx(1e-6 * 100.0)
    assert message.linear_acceleration_covariance[4] == pytest.approx(4e-4)

    def stamps():
        return np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in imu])

    assert time.time() - stamps()[-1] > 0.005                                # of its sample, not of its arrival
    if plane == "native":                                                    # a busy machine's steps are late: some are in time
        client.until(lambda: np.convolve(np.abs(np.diff(stamps()[-100:]) - 0.01) < 1e-3, np.ones(3)).max() == 3.0,
                     "for three samples a hundredth of a second apart")
    client.node.destroy_subscription(subscription)
    quantum = 2.0 * math.pi / 256
    assert abs(client.fresh().position[0] / quantum - round(client.state.position[0] / quantum)) < 1e-9
    for position, velocity, names in (([0.1], [], ["joint4"]), ([0.1], [], ["joint3"]), ([], [0.1], ["joint5"])):
        before = int(client.fresh_status("commands")["joint_commands dropped"])
        client.until(lambda: int(client.fresh_status("commands")["joint_commands dropped"]) > before, "for the count",
                     every=lambda: client.send(names, [], position, velocity))
    client.until(lambda: "a position or velocity for a joint whose actuator does not take it" in client.process.text, "for the log")


def test_without_a_bench_the_remedy_is_said(simulate):
    client = simulate("arm7", "/no_bench")
    client.until(lambda: "bench:=servo has one for every joint" in client.process.text, "for the remedy",
                 every=lambda: client.send(["joint1"], [], [0.2]))


def test_a_bench_that_cannot_be_is_refused(tmp_path):
    from ros_client import Process
    path = tmp_path / "bad.yaml"
    path.write_text("actuators:\n  joint9: {type: position_servo, kp: 1}\n")
    process = Process(tmp_path, "arm7", "--bench", str(path))
    assert process.wait() == 1 and "joint9" in process.text and "line 2" in process.text.replace(":2", " line 2")


def test_every_message_has_the_readings_that_it_needs():
    """Of the kinds that there are; a heading becomes a quaternion in the template too."""
    from mbros.ros.wire.sensor_messages import KINDS
    from mbros_core.plant.sensors.registry import BY_NAME
    for name in KINDS.keys() & BY_NAME.keys():
        assert set(KINDS[name].needs) <= {reading.name for reading in BY_NAME[name].readings}
    assert "imu" in KINDS.keys() & BY_NAME.keys()


@pytest.mark.parametrize("name", ["imu", "force_torque", "odometry", "pose"])
def test_messages_of_sensors_are_patched_as_python_fills_them(name):
    from importlib import import_module

    from mbros.ros.wire.sensor_messages import KINDS
    from mbros.ros.wire.templates import make_template
    kind = KINDS[name]
    message = getattr(import_module(f"{kind.package}.msg"), kind.message)
    sizes = {"position": 2 if name == "odometry" else 3, "orientation": 4, "yaw": 1, "velocity": 1, "yaw_rate": 1,
             **dict.fromkeys(kind.covariances, 9 if name == "imu" else 6)}
    places, at = {}, 5
    for word in kind.needs + kind.covariances:
        places[word] = (at, sizes.get(word, 3))
        at += sizes.get(word, 3)

    def fill(x, stamp):
        m = message()
        m.header.stamp.sec, m.header.stamp.nanosec = divmod(stamp, 10**9)
        kind.fill(m, {word: x[a:a + n] for word, (a, n) in places.items()})
        return m

    template = make_template(fill, 3, memory=at - 3, yaw=places["yaw"][0] if "yaw" in places else None)     # which checks itself
    assert len(template.taps) == sum(n for _, n in places.values()) + ("yaw" in places) and not len(template.blocks)


def test_trial_R12_the_recipe_for_ros2_control_is_the_one_that_runs(tmp_path):
    """joint_state_topic_hardware_interface 1.1.0 throws where a state that it is sent is not declared; on /joint_states it hears itself."""
    import re
    import xml.etree.ElementTree as ET
    from pathlib import Path

    import mbros
    text = (Path(__file__).parents[2] / "docs" / "ros2_control.md").read_text(encoding="utf-8")
    xml, command = re.search(r"```xml\n(.*?)```", text, re.DOTALL)[1], re.search(r"```bash\n(.*?)```", text, re.DOTALL)[1]
    recipe = ET.fromstring(xml)
    for joint in recipe.iter("joint"):
        states = {state.get("name") for state in joint.iter("state_interface")}
        assert {"position", "velocity", "effort"} <= states and {c.get("name") for c in joint.iter("command_interface")} == {"effort"}
    topic = {param.get("name"): param.text for param in recipe.iter("param")}
    assert topic["joint_states_topic"] != "/joint_states" and topic["trigger_joint_command_threshold"] == "-1"
    assert f"-r joint_states:={topic['joint_states_topic']}" in command
    robot = tmp_path / "arm.urdf"
    robot.write_text(mbros.load("arm7").description.text.replace("</robot>", f"{xml}</robot>"), encoding="utf-8")
    assert mbros.load(str(robot)).nv == 7
