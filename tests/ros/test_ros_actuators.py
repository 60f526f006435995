"""What actuators read is on topics: the numbers of the simulation, in the order that the message says, and only for who listens."""
import mbros
import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros
BENCH = """
actuators:
  joint2: {type: motor, resistance: 0.6, inductance: 0.001, torque_constant: 0.05, gear_ratio: 100, voltage_limit: 48, current_limit: 20,
           rotor_inertia: 3.0e-5}
  "joint[45]": {type: position_servo, kp: 400, kd: 20}
  "joint 6, by hand": {type: position_servo, joint: joint6, kp: 400, kd: 20}
channels:
  - {name: bus, signal: joint2.motor.temperature, delay: 0.002}
"""
TOPICS = {"joint2/motor": "joint2.motor", "joint4/servo": "joint4.servo", "joint5/servo": "joint5.servo"}


@pytest.fixture
def bench(tmp_path):
    (tmp_path / "bench.yaml").write_text(BENCH)
    return tmp_path / "bench.yaml"


@pytest.mark.parametrize("plane", ["native", "python"])
def test_readings_are_those_of_the_simulation(simulate, bench, plane):
    from std_msgs.msg import Float64MultiArray
    client = simulate("arm7", f"/actuators_{plane}", bench=bench, plane=plane, start_paused=True, watchdog_timeout=0.0)
    got = {topic: client.collect(Float64MultiArray, topic)[0] for topic in TOPICS}
    client.until(lambda: all(got.values()), "for messages of a pause")
    assert all(np.isnan(messages[-1].data).all() for messages in got.values())
    client.take_steps(50, name=["joint2", "joint4"], effort=[40.0, np.nan], position=[np.nan, 0.3])
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench)
    sim.command(effort={"joint2": 40.0}, position={"joint4": 0.3})
    sim.advance_to(0.05)
    for topic, name in TOPICS.items():
        words = [signal.rpartition(".")[2] for signal in sim.signals if signal.rpartition(".")[0] == name]
        wanted = [float(sim.signals[f"{name}.{word}"].value) for word in words]
        client.until(lambda: list(got[topic][-1].data) == wanted, f"for {wanted} on {topic}")
        assert got[topic][-1].layout.dim[0].label == ", ".join(words) and got[topic][-1].layout.dim[0].size == len(words)
    assert sim.signals["joint2.motor.temperature"].value > 25.0 and "temperature" in got["joint2/motor"][-1].layout.dim[0].label
    assert "ROS has none of such a name: joint 6, by hand" in client.process.text


def test_nothing_is_made_for_nobody(mbros_node, bench, plugin_nodes_ended):
    robot = mbros_node("arm7", bench=str(bench))
    robot.step(20)
    outputs = {output.name: output for output in robot.sim.plane.outputs if getattr(output, "name", "") in TOPICS}
    assert outputs.keys() == TOPICS.keys() and not any(output.published for output in outputs.values())


def test_two_things_on_one_topic_are_refused(executor):
    from mbros.ros.errors import ParameterError
    from mbros.ros.wire.topics import _check_names, device_topic
    _check_names(["odom"], [("a sensor", "wrist/imu"), ("an actuator", "joint2/motor")])
    for names, whose in (([("an actuator", "odom")], "the node's"), ([("a sensor", "a/b"), ("an actuator", "a/b")], "another's")):
        with pytest.raises(ParameterError, match=f"an actuator would be on topic '.*', which is {whose} already"):
            _check_names(["odom"], names)
    assert device_topic("left/joint2.motor") == "left/joint2/motor" and device_topic("joint.2") is device_topic("joint-2") is None
