"""Row R22: messages are of one moment, and there is no second way for them."""
import subprocess
import sys
import time

import numpy as np
import pytest
from python_plane import in_use
from ros_client import PATIENCE, own_clock

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

WHEEL = """<robot name="wheel"><link name="base"/><link name="disk"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="spin" type="continuous"><parent link="base"/><child link="disk"/><axis xyz="0 0 1"/></joint></robot>"""
SPEED, START = 10.0, 1.0        # rad/s; s, the stamp of simulated time 0


@pytest.mark.parametrize("plane", ["native", "python"])
def test_trial_R22_what_a_message_says_is_of_one_step(executor, tmp_path, plane):
    """A wheel that turns evenly is where its stamp says: the stamp is of the loop's snapshot, the encoder's reading is in the memory of the
    devices, which is a step ahead between a step and its snapshot. That takes half of each slot here."""
    import rclpy
    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter
    from sensor_msgs.msg import JointState

    (tmp_path / "wheel.urdf").write_text(WHEEL)
    (tmp_path / "bench.yaml").write_text("sensors:\n  angle: {type: encoder, joint: spin}\n")
    given = {"robot": str(tmp_path / "wheel.urdf"), "bench": str(tmp_path / "bench.yaml"), "start_paused": True, "priority": 0,
             "rate": 500.0, "gravity": [0.0, 0.0, 0.0], "watchdog_timeout": 0.0}
    with in_use(plane):
        sim = SimNode([Parameter(name, value=value) for name, value in given.items()], cli_args=own_clock())
    client, seen = rclpy.create_node("wheel_client"), []
    executor.add_node(client)
    client.create_subscription(JointState, "joint_states", seen.append, 100)
    try:
        sim.start()
        sim.loop.set_state(np.zeros(1), np.array([SPEED]))
        sim.loop.inject_delay(step_ns=1_000_000, count=-1)
        sim.loop.resume()
        end = time.monotonic() + PATIENCE
        while len(seen) < 150 and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.02)
    finally:
        sim.end()
        executor.remove_node(client)
        sim.close()
        client.destroy_node()
    assert len(seen) >= 150
    states = [(m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec, m.position[0]) for m in seen if m.position[0] > 0.0]
    began = [t - at / SPEED for t, at in states]
    assert np.ptp(began) < 1e-6, f"{np.mean(np.abs(np.array(began) - np.median(began)) > 1e-6):.0%} of the messages are of two steps"


@pytest.mark.parametrize("given", [["-p", "data_plane:=python"], ["--params-file", "old.yaml"]])
def test_trial_R22_the_parameter_of_before_is_refused_in_a_sentence(simulate, tmp_path, given):
    (tmp_path / "old.yaml").write_text("/**:\n  ros__parameters:\n    data_plane: auto\n")
    words = [str(tmp_path / word) if word == "old.yaml" else word for word in given]
    sim = simulate("pendulum", "/old", *words, ready=False)
    assert sim.process.wait() == 1
    assert "mbros: parameter 'data_plane' has been removed: messages always go in and out in the loop's own thread; leave it out\n" in (
        sim.process.text)


def test_trial_R22_a_node_without_its_data_plane_does_not_start():
    program = ("import sys\nsys.modules['mbros.ros.wire._dataplane'] = None\nfrom mbros.ros.process.main import main\n"
               "sys.exit(main(['pendulum']))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "the data plane, which carries messages in and out, cannot be imported" in done.stderr, done


def test_trial_R22_a_request_that_is_read_in_python_has_the_same_rules(executor, monkeypatch):
    """Where this ROS lays requests of ~/step out in a way that is not known, the data plane reads their bytes: stamps, too."""
    from mbros.ros.errors import RequestError
    from mbros.ros.interfaces import ensure
    from mbros.ros.node import SimNode
    from mbros.ros.wire import _dataplane
    from rclpy.parameter import Parameter
    ensure("mbros_msgs")
    from mbros_msgs.srv import Step

    def unknown(service):
        raise _dataplane.DataPlaneError("this ROS lays out mbros_msgs/srv/Step in a way that is not known here")

    monkeypatch.setattr(_dataplane, "StepService", unknown)
    given = {"robot": "pendulum", "start_paused": True, "priority": 0}
    sim = SimNode([Parameter(name, value=value) for name, value in given.items()], cli_args=own_clock())
    try:
        sim.start()
        request = Step.Request(steps=2)
        request.command.name, request.command.effort = list(sim.robot.map.joints), [0.5]
        stamp = request.command.header.stamp
        stamp.sec, stamp.nanosec = divmod(time.time_ns(), 10**9)
        assert sim.services.steps.step(request).startswith("2 steps")
        with sim.loop.aside():
            assert sim.loop.commands_in_force()["held"] == [0.5]
        request.command.header.stamp.sec -= 1000
        with pytest.raises(RequestError, match=r"command: the stamp is older than parameter command_max_age.*\(100\d\.\d+ s old\)"):
            sim.services.steps.step(request)
        stamp.sec, stamp.nanosec, request.command.effort = 0, 0, [float("inf")]
        with pytest.raises(RequestError, match="command: a command is infinite"):
            sim.services.steps.step(request)
    finally:
        sim.end()
        sim.close()


def test_trial_R22_an_rcl_that_is_not_known_is_one_sentence():
    """In a process without rclpy there is none at all."""
    program = ("from mbros.ros.wire._dataplane import Output, StampClock\n"
               "Output('x', object(), bytes(16), [], [4], StampClock(1e-3))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr.splitlines()[-1] == (
        "mbros.ros.wire._dataplane.DataPlaneError: librcl.so, or a function in it, was not found in this process: this ROS 2 is none that "
        "mbros knows, or rclpy is not imported. `mbros doctor` says what is here")
