"""The demonstration: in one process, and on real ROS 2 with its two processes, also when one of them dies or Ctrl-C comes."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from shell import environment

NUMBER = re.compile(r"(\d+) of (\d+) poses reached")


def verdict(text):
    """(poses reached, poses) of the last line."""
    return tuple(map(int, NUMBER.search(text.splitlines()[-1]).groups()))


def test_without_ros(command):
    done = command("demo", "arm6", "--no-ros", "--duration", "3", "--csv", "out.csv")
    reached, poses = verdict(done.stdout)
    assert done.returncode == 0 and reached == poses >= 2, done.stdout + done.stderr
    assert "commands " in done.stdout and "lateness " in done.stdout
    lines = (command.folder / "out.csv").read_text().splitlines()
    assert lines[0].startswith("time,joint1/position,") and len(lines) > 2000


def test_a_moving_base_is_held_and_that_is_said(command):
    done = command("demo", "mobile_arm", "--no-ros", "--duration", "1.5")
    assert done.returncode == 0 and "mobile_arm has a moving base; the demonstration holds it still" in done.stderr


@pytest.fixture
def ros():
    """Skips without ROS; a domain of its own otherwise."""
    pytest.importorskip("rclpy")
    return {"ROS_DOMAIN_ID": str(1 + (int(os.environ["ROS_DOMAIN_ID"]) + 11) % 101)}


def children_of(pid):
    """Process ids of the children of a process."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(word) for word in listed.split()]


def wait_for_line(running, part):
    for line in running.stdout:
        if part in line:
            return
    raise AssertionError(f"it ended without {part!r}: {running.stderr.read()}")


@pytest.mark.ros
@pytest.mark.slow
def test_on_ros_another_process_moves_the_arm_to_its_poses(command, ros):
    done = command("demo", "arm7", "--duration", "5", "--csv", "out.csv", **ros)
    reached, poses = verdict(done.stdout)
    assert done.returncode == 0 and reached == poses >= 2, done.stdout + done.stderr
    assert "joint_states " in done.stdout and "/tf " in done.stdout and "lateness      p50 " in done.stdout
    header, *rows = (command.folder / "out.csv").read_text().splitlines()
    assert header.split(",")[:3] == ["time", "joint1/position", "joint1/velocity"] and len(rows) > 2000


@pytest.mark.ros
def test_ctrl_c_leaves_no_process_behind(command, ros):
    running = command.start("demo", "arm7", **ros)
    wait_for_line(running, "going to")
    children = children_of(running.pid)
    assert len(children) == 2
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 130 and "Traceback" not in err
    assert not any(os.path.exists(f"/proc/{pid}") for pid in children)
    assert "poses reached" in out


@pytest.mark.ros
@pytest.mark.skipif(sys.platform != "linux", reason="the children's parent-death signal is Linux")
def test_a_parent_that_is_killed_takes_its_children_along(command, ros):
    running = command.start("demo", "arm7", **ros)
    wait_for_line(running, "going to")
    children = children_of(running.pid)
    running.kill()
    running.communicate()
    deadline = time.monotonic() + 240
    while any(alive(pid) for pid in children):
        assert time.monotonic() < deadline, "a child goes on"
        time.sleep(0.05)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.ros
def test_a_node_that_dies_is_told(command, ros):
    running = command.start("demo", "arm7", **ros)
    wait_for_line(running, "going to")
    node = next(pid for pid in children_of(running.pid) if "node" in open(f"/proc/{pid}/cmdline").read().split("\0"))
    os.kill(node, signal.SIGKILL)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 1 and "the node ended early (exit code -9)" in err


@pytest.mark.ros
def test_the_controller_alone_says_when_the_robot_is_gone(tmp_path, ros):
    """No robot there: it waits, and ends cleanly with code 1 when told to."""
    running = subprocess.Popen([sys.executable, "-m", "mbros.cli.demonstration.controller", "arm7", "--json"], env=environment(**ros),
                               cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert [json.loads(running.stdout.readline())["done"] for _ in range(5)] == [False] * 5       # ten a second
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=600)
    assert running.returncode == 1 and "Traceback" not in err
