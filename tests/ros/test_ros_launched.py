"""The launch file under the real launch, where a sourced ROS 2 has it (it is not on PyPI)."""
import os
import signal
import subprocess
import sys
import time

import pytest
from launch_file import FILE, LAUNCH, table
from ros_client import PATIENCE, ROOT

launch = pytest.importorskip("launch", reason="launch is not on PyPI; a sourced ROS 2 has it")
pytest.importorskip("launch_ros.actions", reason="launch_ros is not on PyPI; a sourced ROS 2 has it")
pytestmark = pytest.mark.ros

# what `ros2 launch` does with a file and its arguments
COMMAND = """import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
file, *rest = sys.argv[1:]
service = LaunchService(argv=rest, noninteractive=True)
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    AnyLaunchDescriptionSource(file), launch_arguments=[tuple(word.split(":=", 1)) for word in rest])]))
sys.exit(service.run())
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An install prefix with this mbros, and with packages that exist in name only."""
    folder = tmp_path_factory.mktemp("prefix")
    for package in ("mbros", "rviz2", "robot_state_publisher", "ros2bag"):
        (folder / "share/ament_index/resource_index/packages").mkdir(parents=True, exist_ok=True)
        (folder / "share/ament_index/resource_index/packages" / package).touch()
    for path in ("lib/mbros", "bin", "only_mbros/share/ament_index/resource_index/packages", "only_mbros/lib/mbros", "only_mbros/bin"):
        (folder / path).mkdir(parents=True)
    (folder / "only_mbros/share/ament_index/resource_index/packages/mbros").touch()
    python = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    for path, text in (("only_mbros/bin/python3", python), ("bin/ros2", "#!/bin/sh\n")):
        (folder / path).write_text(text)
        (folder / path).chmod(0o755)
    (folder / "only_mbros/lib/mbros/sim_node").symlink_to(ROOT / "scripts/sim_node")
    return folder


# --- what would be started


@pytest.fixture
def launched(prefix, monkeypatch):
    """launched(name=value, ...) -> the actions that the real launch would execute."""
    from launch.launch_description_sources import get_launch_description_from_python_launch_file
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(prefix))
    monkeypatch.setenv("PATH", f"{prefix}/bin:{os.environ['PATH']}")

    def run(**given):
        context = launch.LaunchContext()
        description = get_launch_description_from_python_launch_file(str(FILE))
        declared = [e for e in description.entities if isinstance(e, launch.actions.DeclareLaunchArgument)]
        assert {d.name for d in declared} == {name for name, _, _ in table("ARGUMENTS")}
        context.launch_configurations.update(given)
        actions = []
        for entity in description.entities:
            actions += entity.execute(context) or []
        return context, actions

    return run


def test_one_node_by_default(launched):
    _, [node] = launched()
    assert (node.node_package, node.node_executable) == ("mbros", "sim_node")


def test_beside_robot_state_publisher_tf_is_left_alone(launched):
    context, actions = launched(robot_state_publisher="true", rviz="true", record="bag")
    assert [a.node_package for a in actions[:3]] == ["mbros", "robot_state_publisher", "rviz2"]
    assert parameters(context, actions[0])["publish_tf"] is False
    assert "<robot" in parameters(context, actions[1])["robot_description"]


def test_a_parameter_file_is_not_overruled(launched, tmp_path):
    from launch_ros.utilities import evaluate_parameters
    file = tmp_path / "p.yaml"
    file.write_text("/**:\n  ros__parameters: {robot: arm6}\n")
    context, [node] = launched(params_file=str(file))
    assert not any(isinstance(values, dict) for values in evaluate_parameters(context, node._Node__parameters))
    with pytest.raises(ValueError, match="give robot:=... beside"):
        launched(params_file=str(file), robot_state_publisher="true")


def test_two_robots_from_one_launch(launched):
    context, actions = launched(namespace="left,right", robot="arm6,scara", rate="500")
    assert [parameters(context, a) for a in actions] == [
        {"robot": "arm6", "frame_prefix": "left/", "rate": 500.0},
        {"robot": "scara", "frame_prefix": "right/", "rate": 500.0}]


def parameters(context, node):
    from launch_ros.utilities import evaluate_parameters
    [values] = evaluate_parameters(context, node._Node__parameters)
    return dict(values)


# --- what is started, and how it ends


class Launched:
    """`ros2 launch sim.launch.py` in a process of its own, with what it and the node print."""

    def __init__(self, folder, prefix, *arguments):
        self.log = folder / "launch.txt"
        env = os.environ | {"AMENT_PREFIX_PATH": str(prefix / "only_mbros"), "ROS_LOG_DIR": str(folder)}
        with self.log.open("w") as out:
            self.process = subprocess.Popen([sys.executable, "-c", COMMAND, str(FILE), *arguments], stdout=out, stderr=out, env=env)

    @property
    def text(self):
        return self.log.read_text()

    @property
    def nodes(self):
        """The simulators of this launch that still run."""
        found = subprocess.run(["pgrep", "-f", f"sim_node --end-with {self.process.pid} "], capture_output=True, text=True).stdout
        return [int(word) for word in found.split()]

    def wait(self):
        return self.process.wait(PATIENCE)

    def until(self, true):
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, self.text
            time.sleep(0.05)


@pytest.fixture
def start(prefix, tmp_path):
    started = []

    def run(*arguments):
        started.append(Launched(tmp_path, prefix, *arguments))
        return started[-1]

    yield run
    for one in started:
        for pid in [*one.nodes, one.process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        one.process.wait()


@pytest.mark.parametrize("argument, said", [("rviz:=true", "needs the package rviz2"), ("params_file:=/nowhere.yaml", "there is no file"),
                                            ("start_paused:=maybe", "must be true or false"), ("robto:=panda", "no argument 'robto'")])
def test_trial_C1_C4_what_is_wrong_with_the_arguments_starts_nothing(start, argument, said):
    run = start(argument)
    assert run.wait() == 1 and said in run.text
    assert "process started" not in run.text and not run.nodes


@pytest.mark.parametrize("argument, said", [("robot:=nosuch", "no robot 'nosuch'"), ("rate:=0.1", "rate must be 1 ... 20000 Hz")])
def test_trial_C4_a_node_that_refuses_makes_its_launch_fail(start, argument, said):
    run = start(argument)
    assert run.wait() == 1 and said in run.text, run.text
    assert "the simulator ended with exit code 1" in run.text


def test_a_launch_that_is_asked_to_end_ends_well(start):
    run = start()
    run.until(lambda: "simulating" in run.text)
    run.process.send_signal(signal.SIGINT)
    assert run.wait() == 0, run.text
    assert "process has finished cleanly" in run.text and not run.nodes


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_trial_C1_a_launch_that_was_killed_leaves_no_simulator(start, number):
    run = start()
    run.until(lambda: "simulating" in run.text)
    assert run.nodes
    run.process.send_signal(number)
    run.wait()
    run.until(lambda: not run.nodes)


def test_the_parameter_file_of_the_package_is_found(start):
    run = start(f"params_file:={LAUNCH}/config/mbros.yaml")
    run.until(lambda: "simulating 'arm7'" in run.text)
