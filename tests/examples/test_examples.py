"""The ten numbered examples: short, in order, and printing what is pasted at their end."""
import ast
import importlib.util
import sys
import types

import pytest
import runs
from optional import needs

PLAIN = [path for path in runs.NUMBERED if path.name not in runs.ROS]


def test_they_are_in_order_each_on_one_page_with_its_idea_first():
    assert [path.name[:2] for path in runs.NUMBERED] == [f"{k:02d}" for k in range(1, len(runs.NUMBERED) + 1)] and len(runs.NUMBERED) > 11
    for path in runs.NUMBERED:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 100, f"{path.name} has {len(text.splitlines())} lines"
        assert max(map(len, text.splitlines())) <= 140, path.name
        assert path.name in ast.get_docstring(ast.parse(text)), f"{path.name} does not say how to run it"


def test_the_readme_lists_each_with_a_line():
    text = (runs.EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in runs.NUMBERED:
        assert f"]({path.name})" in text, path.name


@pytest.mark.parametrize("path", PLAIN, ids=[path.name[:-3] for path in PLAIN])
def test_it_prints_what_is_pasted_at_its_end(path):
    """Remedy, where the new output is right: python tests/examples/runs.py <its number>."""
    assert not runs.differences(runs.pasted(path), runs.run(path))


@needs("rclpy", "a ROS 2 controller")
@pytest.mark.ros
def test_the_ros_controller_brings_the_arm_to_its_goal(tmp_path):
    path = runs.EXAMPLES / "08_ros_controller.py"
    assert not runs.differences(runs.pasted(path), runs.controlled(tmp_path))


@needs("rclpy", "a ROS 2 controller")
@pytest.mark.ros
def test_without_a_robot_the_controller_says_what_to_start(tmp_path):
    import subprocess

    copy = tmp_path / "controller.py"
    copy.write_text((runs.EXAMPLES / "08_ros_controller.py").read_text().replace("timeout_sec=30.0", "timeout_sec=1.0"))
    done = subprocess.run([sys.executable, str(copy), "--ros-args", "-r", "__ns:=/nobody"], env=runs.environment(), capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 1 and "is `mbros node arm6` running" in done.stderr


def launched():
    """The nodes of the launch file: by the real launch package, or where there is none (it is not on PyPI) by reading what it makes."""
    path = runs.EXAMPLES / "09_two_robots.launch.py"
    made = []
    spec = importlib.util.spec_from_file_location("two_robots", path)
    module = importlib.util.module_from_spec(spec)
    missing = importlib.util.find_spec("launch_ros") is None
    if missing:
        for name, content in (("launch", {"LaunchDescription": list}), ("launch_ros", {}),
                              ("launch_ros.actions", {"Node": lambda **row: made.append(row) or row})):
            sys.modules[name] = types.SimpleNamespace(**content)
    try:
        spec.loader.exec_module(module)
        description = module.generate_launch_description()
    finally:
        if missing:
            for name in ("launch", "launch_ros", "launch_ros.actions"):
                del sys.modules[name]
    return made, description


@needs("rclpy", "two simulation nodes")
@pytest.mark.ros
def test_two_robots_stand_side_by_side_with_topics_and_frames_of_their_own(tmp_path):
    if importlib.util.find_spec("launch_ros") is not None:
        processes = by_launch()
    else:
        processes = by_processes(tmp_path)
    expected = runs.pasted(runs.EXAMPLES / "09_two_robots.launch.py").split()
    with processes:
        assert runs.topics(*expected) == expected
        assert frames("/left/joint_states", "/right/joint_states") == {"/left/joint_states": 6, "/right/joint_states": 4}


def by_launch():
    """The file as its docstring says to start it."""
    import contextlib
    import signal
    import subprocess

    @contextlib.contextmanager
    def started():
        process = subprocess.Popen(["ros2", "launch", str(runs.EXAMPLES / "09_two_robots.launch.py")], env=runs.environment())
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(runs.PATIENCE)

    return started()


def by_processes(folder):
    """The same two nodes, with the arguments the file gives them."""
    import contextlib

    rows, _ = launched()
    assert len(rows) == 2 and all((row["package"], row["executable"]) == ("mbros", "sim_node") for row in rows)
    stack = contextlib.ExitStack()
    for row in rows:
        words = [word for name, value in row["parameters"][0].items() for word in ("-p", f"{name}:={value}")]
        names = ["-r", f"__ns:=/{row['namespace']}", "-r", f"__node:={row['name']}"]
        stack.enter_context(runs.node(folder / f"{row['namespace']}.txt", *names, *words))
    return stack


def frames(*names):
    """{topic: number of joints} of the first message on each."""
    import time

    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    context, heard = rclpy.Context(), {}
    context.init()
    listener, executor = rclpy.create_node("example_listener", context=context), SingleThreadedExecutor(context=context)
    executor.add_node(listener)
    for name in names:
        listener.create_subscription(JointState, name, lambda message, name=name: heard.setdefault(name, len(message.name)),
                                     qos_profile_sensor_data)
    deadline = time.monotonic() + runs.PATIENCE
    while len(heard) < len(names) and time.monotonic() < deadline:
        executor.spin_once(timeout_sec=0.5)
    executor.shutdown()
    listener.destroy_node()
    context.shutdown()
    return heard


def test_a_difference_is_found():
    assert runs.alike("joint2 at 0.5000 rad", "joint2 at 0.5001 rad") and not runs.alike("joint2 at 0.5000 rad", "joint2 at 0.5200 rad")
    assert not runs.alike("it holds", "it falls") and runs.differences("a\n", "a\nb\n")
