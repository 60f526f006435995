"""What a robot is made of can be given to the node in each way that ROS has: arguments of xacro, robot_description, package folders."""
import signal

import pytest
from patience import until

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

STICK = """<robot name="stick" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="prefix" default="my_"/>
  <link name="$(arg prefix)base"/>
  <link name="$(arg prefix)arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="$(arg prefix)joint" type="continuous"><parent link="$(arg prefix)base"/><child link="$(arg prefix)arm"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""
PLAIN = STICK.replace("$(arg prefix)", "text_").replace('<xacro:arg name="prefix" default="my_"/>', "")


@pytest.fixture
def starts(nursery, tmp_path):
    """starts(words...) -> what the node says once it simulates, or has ended."""
    from ros_client import Process

    def run(*words):
        process = Process(tmp_path, *words, nursery=nursery)
        try:
            until(lambda: process.process.poll() is not None or (process.log.exists() and "simulating" in process.text), "the node")
            if process.process.poll() is None:
                process.send(signal.SIGINT)
                process.left_in_order()
        finally:
            process.kill()
        return process.text

    return run


@pytest.mark.parametrize("words", [("--xacro-arg", "prefix:=left_"), ("--xacro-arg", "prefix=left_"),
                                   ("--ros-args", "-p", "xacro_args:='prefix:=left_'")])
def test_trial_R13_arguments_of_xacro(simulate, tmp_path, words):
    pytest.importorskip("xacro", reason="needs xacro")
    path = tmp_path / "stick.urdf.xacro"
    path.write_text(STICK)
    sim = simulate(str(path), "/xacro", "--", *words)
    assert sim.state.name == ["left_joint"]


def test_trial_R13_robot_description_is_the_robot(starts, tmp_path):
    assert "simulating 'stick' (1 joint)" in starts("--ros-args", "-p", f"robot_description:={PLAIN}".replace("\n", " "))
    file = tmp_path / "given.yaml"
    file.write_text("/**:\n  ros__parameters:\n    robot_description: |\n" + "".join(f"      {line}\n" for line in PLAIN.splitlines()))
    assert "simulating 'stick' (1 joint)" in starts("--ros-args", "--params-file", str(file))


@pytest.mark.parametrize("words, said", [
    (("arm7", "--ros-args", "-p", f"robot_description:={PLAIN}".replace("\n", " ")), "robot and robot_description: each of them says"),
    (("--ros-args", "-p", "robot_description:=/robots/robot.urdf"), "robot_description: expected URDF text, which begins with <"),
    (("--ros-args", "-p", "xacro_args:=prefix"), "parameter xacro_args: expected name:=value name:=value ..., got 'prefix'")])
def test_trial_R13_what_cannot_be_used_is_refused(starts, words, said):
    text = starts(*words)
    assert said in text and "simulating" not in text


def test_trial_R13_every_way_to_start_takes_package_folders_and_xacro_arguments():
    """The node, the launch file, the demonstration and the other commands that read a robot."""
    import argparse

    from launch_file import table

    from mbros.cli import demo, values
    from mbros.cli.demonstration.controller import parser as controller
    from mbros.ros.process.arguments import overrides, parser
    given = ["--package-dir", "/a", "--package-dir", "/b c", "--xacro-arg", "n:=1", "--xacro-arg", "t:=x y"]
    assert {p.name: p.value for p in overrides(parser().parse_args(["arm7", *given]))} == {
        "robot": "arm7", "package_dirs": "/a:/b c", "xacro_args": "n:=1 't:=x y'"}
    from mbros.ros.robot import xacro_args
    assert xacro_args("n:=1 't:=x y'") == {"n": "1", "t": "x y"} and xacro_args("") is None
    assert {"package_dirs", "xacro_args"} <= {name for name, _, _ in table("ARGUMENTS")}
    for configure in (demo.configure, values.add_robot_options):
        made = argparse.ArgumentParser()
        configure(made)
        assert dict(made.parse_args(given).xacro_arg) == {"n": "1", "t": "x y"}
    assert dict(controller().parse_args(["arm7", *given]).xacro_arg) == {"n": "1", "t": "x y"}
