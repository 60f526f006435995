"""The pytest plugin, used as its users do: in a pytest of its own, with a controller of theirs."""
import os
import subprocess
import sys

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")

USERS = r'''
import contextlib
import time
import pytest
from mbros.errors import LoopTimeoutError

def test_a_simulator(mbros_sim):
    sim = mbros_sim("arm7")
    sim.advance_to(0.1)
    assert sim.time == 0.1

def test_another_is_fresh(mbros_sim):
    assert mbros_sim("arm7").time == 0.0

class Holder:
    def __init__(self):
        import rclpy
        from sensor_msgs.msg import JointState
        self.node = rclpy.create_node("holder")
        self.out = self.node.create_publisher(JointState, "joint_commands", 10)
        self.node.create_subscription(JointState, "joint_commands/joint_states", self.answer, 10)

    def answer(self, state):
        from sensor_msgs.msg import JointState
        k = state.name.index("joint2")
        effort = -60.0 * state.position[k] - 12.0 * state.velocity[k]
        self.out.publish(JointState(header=state.header, name=["joint2"], effort=[effort]))

seen = []

@pytest.mark.parametrize("run", range(5))
def test_it_holds(mbros_node, run):
    robot = mbros_node("arm7", lockstep="joint_commands 1/4", initial_positions={"joint2": 0.3})
    with robot.running(Holder().node):
        begun = time.monotonic()
        states = robot.step(200)
        print("took", time.monotonic() - begun)
    assert robot.sim.loop.snapshot()[0].step == 200
    seen.append((states.position, states.velocity))
    assert seen[0] == seen[-1] and states.position["joint2"] != 0.3

def test_a_node_of_another_robot(mbros_node):
    robot = mbros_node("arm6")
    assert robot.step(10).stamp == 10**9 + 10 * 10**6
    robot.sim.live.change({"damping.joint1": 0.7})
    assert mbros_node("arm6").sim.live.values["damping.joint1"] != 0.7

class Wrong(Holder):
    def answer(self, state):
        raise ZeroDivisionError("the gain is divided by nothing")

def test_what_a_callback_raises_is_raised_in_the_test(mbros_node):
    robot = mbros_node("arm7", lockstep="joint_commands 1/4", initial_positions={"joint2": 0.3})
    with pytest.raises(ZeroDivisionError, match="the gain"), robot.running(Wrong().node):
        for _ in range(200):                    # on a busy computer the message may take its time
            with contextlib.suppress(LoopTimeoutError):
                robot.step(200, timeout=1.0)
    with robot.running(Holder().node):          # and that is all it does
        robot.step(200)

def test_who_does_not_answer(mbros_node):
    robot = mbros_node("arm6", lockstep="joint_commands 1/1")
    with pytest.raises(LoopTimeoutError, match=r"step: 0 of 1 steps done in 0.3 s; it waits for joint_commands \(nobody publishes there"):
        robot.step(1, timeout=0.3)
'''


@pytest.mark.ros
def test_tests_of_users(tmp_path):
    (tmp_path / "test_users.py").write_text(USERS)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "mbros.ros.testing", "-p", "no:cacheprovider", "--durations=0", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=600,
                          env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})       # installed, it loads itself
    assert done.returncode == 0 and "10 passed" in done.stdout, done.stdout + done.stderr
    print(done.stdout)
