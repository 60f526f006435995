"""mbros demo: a robot on ROS 2, a controller that commands its torques from another process, a live table."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mbros.cli import values
from mbros.names import sentences

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Two processes are started: `mbros node ROBOT`, and a controller that takes it through a sequence of poses by torques\n"
        "on joint_commands (gravity compensation and PD from the library's own model of the robot). Exit code 0 only if the\n"
        "robot came to every pose. They meet in a ROS domain of their own on this computer; set ROS_DOMAIN_ID to share yours.")
    parser.add_argument("robot", nargs="?", default="arm7", help="a name of `mbros list`, or a .urdf or .sdf file (default: arm7)")
    parser.add_argument("--duration", metavar="S", type=values.positive, default=10.0, help="seconds of motion (default: 10)")
    parser.add_argument("--rate", metavar="HZ", type=values.positive, default=1000.0, help="steps per second (default: 1000)")
    parser.add_argument("--command-rate", metavar="HZ", type=values.positive, default=500.0, help="commands per second (default: 500)")
    parser.add_argument("--csv", metavar="FILE", type=values.path, help="record the joint states to this file")
    parser.add_argument("--xacro-arg", metavar="NAME:=VALUE", type=values.xacro_argument, action="append", default=[],
                        help="value of a xacro:arg, for .xacro files (they run code: only files you trust)")
    values.add_package_dir(parser)
    parser.add_argument("--no-ros", action="store_true", help="the same in one process, without ROS 2")


def run(arguments: argparse.Namespace) -> int:
    from mbros.build.load import load, load_description
    from mbros.cli.demonstration.poses import PoseSequence

    how: dict[str, Any] = {"xacro_args": dict(arguments.xacro_arg), "package_dirs": arguments.package_dir}
    own = load_description(arguments.robot, **how)
    if own.joints[0].kind in ("floating", "planar") and own.joints[0].parent is own.world:
        print(f"mbros: note: {own.name} has a moving base; the demonstration holds it still", file=sys.stderr)
    model = load(arguments.robot, base="fixed", **how)
    PoseSequence(model).plan(model.spec.q_default, arguments.duration)      # what cannot be shown is said before anything is started
    what = (model, arguments.robot, arguments.duration, arguments.rate, arguments.command_rate, arguments.csv)
    if arguments.no_ros:
        from mbros.cli.demonstration.alone import run as alone

        return alone(*what)
    from mbros.ros import RosNotFound, require_rclpy
    try:
        require_rclpy()
    except RosNotFound as error:
        raise RosNotFound(f"{sentences(str(error))} Without ROS: mbros demo {arguments.robot} --no-ros") from None
    from mbros.cli.demonstration.ros import run as show

    words = [word for name, value in arguments.xacro_arg for word in ("--xacro-arg", f"{name}:={value}")]
    return show(*what, [*words, *(word for folder in arguments.package_dir for word in ("--package-dir", str(folder)))])
