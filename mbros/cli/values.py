"""Arguments of the form name=value, and lists of numbers."""
from __future__ import annotations

import argparse
import math
from typing import Any

BENCHES: dict[str | None, bool] = {None: True, "none": False}       # what --bench says beside names and files


def numbers(text: str) -> list[float]:
    """Finite numbers separated by commas."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers separated by commas, got {text!r}") from None
    if not all(map(math.isfinite, values)):
        raise argparse.ArgumentTypeError(f"expected finite numbers, got {text!r}")
    return values


def positive(text: str) -> float:
    """A finite number above zero."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above zero, got {text!r}")
    return value


def path(text: str) -> str:
    """The path of a file or folder. An empty one is a variable of a script that was not set: nobody means it."""
    if not text:
        raise argparse.ArgumentTypeError("expected the path of a file or folder, got ''")
    return text


def count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more, got {text!r}")
    return int(text)


def port(text: str) -> int:
    """0 to 65535."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port, 0 to 65535, got {text!r}")
    return int(text)


def gravity(text: str) -> list[float]:
    """Three numbers."""
    value = numbers(text)
    if len(value) != 3:
        raise argparse.ArgumentTypeError(f"expected three numbers X,Y,Z in m/s^2, got {text!r}")
    return value


def assignment(text: str) -> tuple[str, list[float]]:
    """(name, numbers) of `name=1.5` or `name=1,2,3`."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected joint=value, got {text!r} (the robot stands before the options)")
    return name, numbers(value)


def xacro_argument(text: str) -> tuple[str, str]:
    """(name, value) of `name:=value` or `name=value`."""
    name, equals, value = text.replace(":=", "=", 1).partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"expected name:=value, got {text!r}")
    return name, value


def height(text: str) -> float:
    """A finite number."""
    try:
        value = numbers(text)
    except argparse.ArgumentTypeError:
        value = []
    if len(value) != 1:
        raise argparse.ArgumentTypeError(f"expected a height in metres, or nothing, got {text!r} (the robot stands before the options)")
    return value[0]


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """--base, --xacro-arg, --package-dir, --inertia, --limits, --ground, --srdf and --bench, for `load_robot`."""
    from mbros.arguments import LENIENCE

    parser.add_argument("--base", choices=("fixed", "floating", "planar"),
                        help="how the root link stands in the world (default: the robot's own way; files: fixed)")
    parser.add_argument("--xacro-arg", metavar="NAME:=VALUE", type=xacro_argument, action="append", default=[],
                        help="value of a xacro:arg, for .xacro files (they run code: only files you trust)")
    add_package_dir(parser)
    parser.add_argument("--inertia", choices=LENIENCE, default="check",
                        help="as_given: impossible inertias are warnings (default: check, they are errors)")
    parser.add_argument("--ground", metavar="HEIGHT", type=height, nargs="?", const=0.0,
                        help="a ground at this height, m (default: 0), with the robot's collision shapes; a floating base starts on it")
    parser.add_argument("--srdf", metavar="FILE", type=path, help="an SRDF file that says which links never touch")
    parser.add_argument("--bench", metavar="FILE", help="actuators, sensors and channels: a bench file, a name of `mbros list`, "
                        "servo (a position servo in every joint), or none (default: those in the robot's own file, if there are any; "
                        "docs/bench.md)")
    parser.add_argument("--limits", choices=LENIENCE, default="check",
                        help="as_given: a joint without the <limit> it needs has none, with a warning (default: check, an error)")


def add_package_dir(parser: argparse.ArgumentParser) -> None:
    """--package-dir, which may be given several times."""
    parser.add_argument("--package-dir", metavar="DIR", type=path, action="append", default=[],
                        help="folder in which packages are looked for first (package://, $(find ...)), and meshes of other names")


def load_robot(robot: str, arguments: argparse.Namespace, **more: Any) -> Any:
    """The model of a robot, with the options of add_robot_options; more: other arguments of mbros.load."""
    from mbros.build.load import load

    options = dict(base=arguments.base, xacro_args=dict(arguments.xacro_arg), inertia=arguments.inertia, limits=arguments.limits,
                   ground=arguments.ground, srdf=arguments.srdf, package_dirs=arguments.package_dir,
                   **{"bench": bench_argument(arguments), **more})
    if options["bench"] == "servo":
        from mbros.build.benches import servos

        options["bench"] = servos(load(robot, **{**options, "bench": False}))
    return load(robot, **options)


def bench_argument(arguments: argparse.Namespace) -> Any:
    """What --bench says, as mbros.load takes it."""
    return BENCHES.get(arguments.bench, arguments.bench)


def unpack(assignments: Any) -> dict[str, Any]:
    """{name: number or list} from --effort, --q, each of which may be given several times."""
    from mbros.errors import MbrosError

    found = {}
    for name, value in (pair for group in assignments for pair in group):
        if name in found:
            raise MbrosError(f"joint {name!r} is given twice")
        found[name] = value[0] if len(value) == 1 else value
    return found
