"""The command line of the node: its own arguments, each of which is a parameter as well, beside those of ROS."""
from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from mbros.names import sentences

if TYPE_CHECKING:
    from mbros.ros.typing import Parameter, Values

NO_PARAMETERS = ("end_with",)
CALLED = {"robot": "its argument", "start_paused": "--paused", "publish_tf": "--no-tf", "ground_height": "--ground",
          "package_dirs": "--package-dir", "xacro_args": "--xacro-arg"}


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are one sentence, like all others."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {sentences(message)} See: {self.prog} --help\n")


def parser() -> Parser:
    """Arguments of the node beside ROS's own (--ros-args ...)."""
    p = Parser(
        prog="mbros node", description="Simulate a robot in real time as a ROS 2 node.",
        epilog="Everything else is a parameter: --ros-args -p name:=value (docs: parameters). Topics can be remapped and the "
               "node put into a namespace as usual: --ros-args -r __ns:=/left -r /tf:=tf")
    p.add_argument("robot", nargs="?", type=text,
                   help="built-in name, path of a URDF, xacro or scene file (.yaml), or URDF text (default: arm7)")
    p.add_argument("--rate", type=float, help="steps per simulated second, Hz (default: 1000)")
    p.add_argument("--base", choices=("auto", "fixed", "floating", "planar"), help="how the root link stands in the world")
    p.add_argument("--ground", type=float, nargs="?", const=0.0, metavar="HEIGHT",
                   help="a ground at this height, m (default: 0), with the robot's collision shapes")
    p.add_argument("--package-dir", dest="package_dirs", metavar="DIR", type=text, action="append",
                   help="folder in which packages are looked for first (package://, $(find ...)), and meshes of other names")
    p.add_argument("--xacro-arg", dest="xacro_args", metavar="NAME:=VALUE", type=xacro_argument, action="append",
                   help="value of a xacro:arg, for .xacro files (they run code: only files you trust)")
    p.add_argument("--bench", type=text, help="path of a bench file, or servo: a position servo in every joint")
    p.add_argument("--integrator", type=text, help="how a step is taken")
    p.add_argument("--real-time-factor", type=float, help="simulated seconds per second (default: 1)")
    p.add_argument("--paused", dest="start_paused", action="store_true", default=None, help="start paused")
    p.add_argument("--no-tf", dest="publish_tf", action="store_false", default=None,
                   help="leave TF of the links to robot_state_publisher")
    p.add_argument("--frame-prefix", type=text, help="prefix of every link name in TF")
    p.add_argument("--record", metavar="FILE", type=text, help="record every step as ROS 2 messages: run.mcap, or a folder for a bag")
    p.add_argument("--end-with", type=process, metavar="PID", help="end when this process has ended (the launch file's, for example)")
    return p


def text(given: str) -> str:
    """A text that ROS can hold as well: UTF-8."""
    if any("\ud800" <= c <= "\udfff" for c in given):
        raise argparse.ArgumentTypeError(f"expected UTF-8, got {given!r}")
    return given


def xacro_argument(given: str) -> str:
    """name:=value; name=value will do."""
    name, equals, value = text(given).replace(":=", "=", 1).partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected name:=value, got {given!r}")
    return f"{name}:={value}"


def process(text: str) -> int:
    """The number of a process, 1 or more."""
    if not text.isdecimal() or not 1 <= int(text) < 2**31:
        raise argparse.ArgumentTypeError(f"expected the number of a process, 1 or more, got {text!r}")
    return int(text)


def _sorted_out(argv: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it is ROS's: those from --ros-args to -- (or the end), which rclpy.init reads."""
    ros = False
    for word in argv:
        ends = ros and word == "--"
        ros = (ros or word == "--ros-args") and not ends
        yield word, ros or ends


def own_arguments(argv: Sequence[str]) -> list[str]:
    """What is left without those of ROS. Where there are some, no -- is passed on."""
    return [word for word, ros in _sorted_out(argv) if not ros and not (word == "--" and "--ros-args" in argv)]


def overrides(arguments: argparse.Namespace) -> list[Parameter]:
    """The arguments that were given, as parameters."""
    from rclpy.parameter import Parameter

    return [Parameter(name, value=value) for name, value in _given(arguments).items()]


def _given(arguments: argparse.Namespace) -> Values:
    given = {name: value for name, value in vars(arguments).items() if value is not None and name not in NO_PARAMETERS}
    if "ground" in given:
        given.update(ground=True, ground_height=given["ground"])
    if "package_dirs" in given:
        given["package_dirs"] = os.pathsep.join(given["package_dirs"])
    if "xacro_args" in given:
        given["xacro_args"] = shlex.join(given["xacro_args"])
    return given


def check_given_once(argv: Sequence[str], arguments: argparse.Namespace) -> None:
    """A parameter that this command line gives twice, as an argument and by -p, is refused. (One of a file gives way to both.)"""
    from mbros.ros.errors import ParameterError     # with NumPy

    given = _given(arguments)
    for rule in _rules(argv):
        name = rule.partition(":=")[0].rpartition(":")[2]           # of any node, or of one that is named: mbros:rate:=500
        if name in given:
            argument = CALLED.get(name, f"--{name.replace('_', '-')}")
            raise ParameterError(f"{name} is given twice, by {argument} ({given[name]}) and by -p {rule}; leave one of them out")


def _rules(argv: Sequence[str]) -> Iterator[str]:
    """What stands behind -p or --param among ROS's arguments."""
    before = ""
    for word in (word for word, ros in _sorted_out(argv) if ros):
        if before in ("-p", "--param"):
            yield word
        before = word
