"""`mbros view --ros` and `mbros node --view`: a robot in another process, followed; its node, told what to do."""
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE, until
from tabs import new_tab
from test_browser import BAR, CAMERA, angle

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """start(words) -> (process, file of what it says); all are asked to end, and must, with 0."""
    running = []

    def run(*words):
        if words[0] == "node":
            words = (*words, "-r", "/clock:=clock")             # there is one on a graph, and several nodes here
        said = tmp_path_factory.mktemp("said") / "out.txt"
        with said.open("w") as out:
            process = subprocess.Popen([sys.executable, "-m", "mbros.cli", *words], stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                                       env=dict(os.environ, PYTHONUNBUFFERED="1"))
        running.append((process, said))
        return process, said

    yield run
    wrong = []
    for process, said in reversed(running):     # all of them, whatever one did: a node that is left is met by the tests that follow
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        if code != 0:
            wrong.append((code, process.args, said.read_text()))
    assert not wrong


@pytest.fixture(scope="module")
def motion(start):
    """Following a quadruped that falls, in another process."""
    from mbros.view.ros import follow

    start("node", "quadruped", "--ros-args", "-r", "__ns:=/seen", "-p", "initial_positions.base:=[0.3,0.2,1.0,1.0,0.0,0.0,0.0]")
    motion = follow("/seen")
    yield motion
    motion.close()


def test_it_is_where_the_robot_is(motion):
    """The base from tf, the joints from joint_states."""
    model = motion.model
    assert model.nq == 19 and model.joint("base").kind == "floating"
    until(lambda: motion.sample().playing, "the robot")
    motion.pause()
    until(lambda: not motion.sample().playing, "the pause")
    motion.reset()
    p = model.joint("base").q_slice.start
    until(lambda: np.allclose(motion.sample().q[p:p + 3], (0.3, 0.2, 1.0), atol=1e-6), "the start")
    motion.play()
    until(lambda: motion.sample().q[p + 2] < 0.5, "the fall")


def test_of_a_scene_it_is_the_robot_of_the_namespace():
    """All robots of a scene are in one tf, and two of them may be alike."""
    from types import SimpleNamespace as Like

    from mbros.view.ros import GraphMotion

    def prefix(*frames, own="right/"):
        bodies = [Like(name=name) for name in ("world", "base", "link1")]
        return GraphMotion._find_prefix(Like(_own=own, model=Like(bodies=bodies), graph=Like(links=dict.fromkeys(frames))))

    assert prefix("left/base", "left/link1", "right/link1", "right/base") == "right/"
    assert prefix("robot/base", "robot/link1") == "robot/" and prefix("base", "link1") == ""


def test_its_services_and_parameters(motion):
    assert {"play", "step", "reset", "parameters"} <= motion.can
    motion.pause()
    until(lambda: not motion.sample().playing, "the pause")
    motion.set_parameter("gravity", [0.0, 0.0, -1.0])
    assert motion.parameter("gravity") == [0.0, 0.0, -1.0]
    from mbros.errors import MbrosError
    with pytest.raises(MbrosError, match="mass.trunk|mass"):
        motion.set_parameter("mass.trunk", -1.0)
    before = motion.sample().q
    motion.step(5)
    until(lambda: np.abs(motion.sample().q - before).max() > 0.0, "five steps")
    for name, value in (("FL_hip_joint", 0.2), ("FR_hip_joint", -0.1)):         # the second starts from where the first has put the robot
        q = motion.sample().q
        q[motion.model.joint(name).q_slice] = value
        motion.place(q)
    at = [motion.model.joint(name).of(motion.sample().q).item() for name in ("FL_hip_joint", "FR_hip_joint")]
    assert np.allclose(at, (0.2, -0.1), atol=1e-9)


def test_trial_H1_a_robot_with_a_fixed_base_has_its_own_parameters(start, capsys):
    """The page loads it with a free base, and asked the node for that one's damping: IndexError."""
    from mbros.errors import MbrosError
    from mbros.view.ros import follow

    node, _ = start("node", "arm7", "--ros-args", "-r", "__ns:=/fixed")
    motion = follow("/fixed")
    try:
        assert "mbros: waiting for /fixed/robot_description" in capsys.readouterr().err
        names = motion.parameter_names()
        assert "damping.joint1" in names and set(names) < set(motion.model.parameter_names)
        assert all(motion.parameter(name) is not None for name in names)
        with pytest.raises(MbrosError, match="has no parameter 'nothing'"):
            motion.parameter("nothing")
        until(lambda: motion.sample().playing, "the robot")
        assert not motion.sample().fault
        node.send_signal(signal.SIGINT)
        assert node.wait(PATIENCE) == 0
        until(lambda: "has the robot's node ended?" in motion.sample().fault, "that nothing comes any more")
    finally:
        motion.close()


@pytest.mark.slow
def test_trial_H1_its_page_opens(start):
    start("node", "arm7", "--ros-args", "-r", "__ns:=/fixed2")
    process, said = start("view", "--ros", "--namespace", "/fixed2", "--port", "0")
    assert b"<html" in urllib.request.urlopen(page_of(process, said)).read(2000)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, said.read_text()


def page_of(process, said):
    """The URL that it prints."""
    until(lambda: re.search(r"http://\S+", said.read_text()) or process.poll() is not None, "the URL")
    assert process.poll() is None, said.read_text()
    return re.search(r"http://\S+", said.read_text())[0]


@pytest.mark.slow
def test_the_command_shows_it_and_ends_with_ctrl_c(start, chromium, pictures, tmp_path):
    """A red bar in another process: the page's slider is a service call to its node, and what the node publishes is what is drawn."""
    from mbros.view.ros import follow

    (tmp_path / "bar.urdf").write_text(BAR)
    start("node", tmp_path / "bar.urdf", "--ros-args", "-r", "__ns:=/bar", "-p", "start_paused:=true", "-p", "rate:=100.0")
    process, said = start("view", "--ros", "--namespace", "/bar", "--port", "0")
    motion = follow("/bar")
    try:
        with new_tab(chromium, pictures, "ros") as tab:
            tab.open(page_of(process, said) + CAMERA)
            tab.tab("Inspect")
            for wanted in (0.9, -1.2):
                tab.type_into("hinge", wanted)
                tab.until(lambda: abs(motion.sample().q[0] - wanted) < 1e-6, "the position")
                tab.until(lambda: abs(angle(tab.image()) - wanted) < 0.05, "the picture")
            tab.image(keep="turned")
            motion.reset()
            tab.until(lambda: abs(angle(tab.image())) < 0.05, "the picture of the start")
            tab.until(lambda: float(tab.field("hinge").input_value()) == 0.0, "the slider's number of the start")
    finally:
        motion.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, said.read_text()


def test_a_page_beside_the_node(start):
    process, said = start("node", "arm7", "--view", "--ros-args", "-r", "__ns:=/beside")
    assert b"<html" in urllib.request.urlopen(page_of(process, said)).read(2000)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, said.read_text()


def test_nobody_there_is_a_sentence(monkeypatch):
    from mbros.errors import MbrosError
    from mbros.view import ros

    monkeypatch.setattr(ros, "PATIENCE", 0.5)
    with pytest.raises(MbrosError, match="ROS_DOMAIN_ID"):
        ros.follow("/nowhere")
