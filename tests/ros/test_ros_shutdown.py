"""Ending and failing: every signal ends the node with 0, a node that cannot start says why."""
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros


@pytest.mark.parametrize("numbers", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT, signal.SIGTERM]],
                         ids=["SIGINT", "SIGTERM", "again and again"])
def test_signals_end_the_node_with_zero(executor, tmp_path, numbers):
    from ros_client import Process
    process = Process(tmp_path, "pendulum", "--ros-args", "-r", f"__ns:=/end{len(numbers)}")
    try:
        wait_for(process, "simulating")
        for number in numbers:
            process.send(number)
        code = process.wait()
        assert code == 0, process.text
        assert "Traceback" not in process.text and "terminate" not in process.text
    finally:
        process.kill()


def test_a_signal_ends_a_loaded_node(simulate):
    """Flooded with commands and calls, with a long step under way, on processors that others use too."""
    from mbros_msgs.srv import Step
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"])
            for _ in range(2)]
    try:
        sim = simulate("humanoid", "/load", start_paused="true", step_count=100000)
        client = sim.node.create_client(Step, f"{sim.name}/step")
        sim.until(client.service_is_ready)
        for _ in range(3):
            client.call_async(Step.Request())
        for k in range(300):
            sim.send(["nobody"], [1.0])
            if k == 200:
                sim.process.send(signal.SIGINT)
            if k == 210:
                sim.process.send(signal.SIGINT)
        assert sim.process.wait() == 0, sim.process.text
    finally:
        for child in busy:
            child.kill()
            child.wait()


def test_a_node_that_cannot_start_says_why(nursery, tmp_path):
    from ros_client import Process
    for arguments, words in ((["nosuch_robot"], "no robot 'nosuch_robot'"),
                             (["arm7", "--ros-args", "-p", "rate:=0.0"], "parameter rate must be 1 ... 20000 Hz, got 0"),
                             (["arm7", "--ros-args", "-p", "gravity:=[0.0]"], "gravity must have 3 numbers"),
                             (["arm7", "--ros-args", "-p", "initial_positions.joint1:=99.0"], "outside the limits"),
                             (["arm7", "--ros-args", "-p", "publish_tf:=5"], "publish_tf must be true or false, got 5"),
                             (["arm7", "--ros-args", "-r", "nonsense"], "nonsense")):
        process = Process(tmp_path, *arguments, nursery=nursery)
        try:
            assert process.wait() == 1, process.text
            assert words in process.text and "Traceback" not in process.text, process.text
        finally:
            process.kill()


def wait_for(process, words):
    for _ in range(6000):
        if words in process.text:
            return
        assert process.process.poll() is None, process.text
        time.sleep(0.01)
    pytest.fail(f"'{words}' was never said:\n{process.text}")
