"""Recordings of a node with a bench, replayed to the bit: servos, delays, faults and sources by hand, samples of hardware."""
import math

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytest.importorskip("mcap", reason="needs mbros[record]")

import mbros  # noqa: E402
import mbros.study.replay.replay  # noqa: E402
from test_ros_sources import ask, feed  # noqa: E402

pytestmark = pytest.mark.usefixtures("plugin_nodes_ended")
BENCH = """
seed: 5
actuators:
  joint[4-7]: {type: position_servo, kp: 200, kd: 20, ki: 50}
sensors:
  joint*: {type: encoder, counts: 4096}
  wrist.imu: {type: imu, frame: flange, rate: 400, gyro_noise_density: 2.0e-3}
channels:
  - {name: bus, signal: "joint*.command.*", delay: 0.002}
faults:
  - {name: encoder hangs, kind: frozen, signal: "joint4.encoder.*"}
  - {name: bus down, kind: lost, signal: "joint[56].command.*", at: 0.03, duration: 0.02}
sources:
  joint[1-2]: {timeout: 0.02, safe: hold, blend: 0.05, jump: 0.5, bound: 5.0}
"""


def command(robot, **positions):
    """In force from the next step on."""
    from mbros_msgs.srv import Step
    from sensor_msgs.msg import JointState

    robot.sim.services.steps.step(Step.Request(steps=1, command=JointState(name=list(positions), position=list(positions.values()))))


def test_all_of_a_bench_is_replayed_to_the_bit(executor, mbros_node, tmp_path):
    from mbros_msgs.srv import SetFault
    from std_srvs.srv import Trigger

    file = tmp_path / "bench.yaml"
    file.write_text(BENCH)
    robot = mbros_node("arm7", bench=str(file))
    sim = robot.sim
    fault = sim.services.faults
    sim.recording.start(tmp_path / "run.mcap")
    for k in range(60):
        t = sim.loop.snapshot()[0].time
        swing, nan = (0.1 * math.sin(5.0 * t), 0.5 * math.cos(5.0 * t), 0.3), math.nan
        assert feed(robot, joint1=swing, joint2=(0.01 * k, nan, nan)) == "accepted"
        if k == 20:
            assert ask(robot, "real", "joint1")[0] == "real: joint1"
        if k in (30, 50):
            fault.set_fault(SetFault.Request(names=["encoder hangs"], start=k == 30))
        command(robot, joint4=0.01 * k, joint5=-0.3)
    robot.step(40)                                          # nothing comes: joint1 falls into its safe state
    assert ask(robot)[1].trips[0] == 1
    sim.services.reset(Trigger.Request())
    command(robot, joint6=0.2)
    robot.step(30)
    summary = sim.recording.stop()
    assert "left out" not in summary
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps == 131, report
    file.write_text(BENCH.replace("kp: 200", "kp: 201"))                # the recording has its own
    assert mbros.replay(tmp_path / "run.mcap").identical
    with pytest.raises(mbros.SaveError, match="another one"):
        mbros.replay(tmp_path / "run.mcap", bench=file)


def test_the_servos_of_a_node_need_no_file(executor, mbros_node, tmp_path):
    robot = mbros_node("arm7", bench="servo")
    robot.sim.recording.start(tmp_path / "run.mcap")
    command(robot, joint2=0.3, joint4=-0.2)
    robot.step(200)
    robot.sim.recording.stop()
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps == 201, report


def test_samples_that_came_in_a_pause_are_said(executor, mbros_node, tmp_path):
    """Two between two steps, of which the newest is recorded."""
    file = tmp_path / "bench.yaml"
    file.write_text(BENCH)
    robot = mbros_node("arm7", bench=str(file))
    robot.sim.recording.start(tmp_path / "run.mcap")
    robot.step(5)
    for _ in range(2):
        assert feed(robot, joint1=(0.0, 0.0)) == "accepted"
    robot.step(5)
    robot.sim.recording.stop()
    with pytest.raises(mbros.study.replay.replay.ReplayError, match="2 samples of hardware came between two steps"):
        mbros.replay(tmp_path / "run.mcap")
