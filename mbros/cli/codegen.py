"""mbros codegen: standalone C99 of a robot's algorithms. Exit code 0: written."""
from __future__ import annotations

import argparse
from pathlib import Path

from mbros.cli.values import add_robot_options, load_robot, path
from mbros.names import printable

EPILOG = """examples:
  mbros codegen arm7 --out arm7_c                                    forward and inverse dynamics, mass matrix, kinematics
  mbros codegen robot.urdf --function inverse_dynamics --out c       one function
  mbros codegen arm7 --live gravity --out c                          gravity stays an argument

  cd arm7_c && cmake -B build && cmake --build build && ctest --test-dir build

No allocation, no library but libm; docs/specialize.md says what the functions read and write."""
STANDARD = "forward_dynamics,inverse_dynamics,mass_matrix,kinematics"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", help="a .urdf, .xacro, .sdf or MJCF file, or a name of `mbros list`")
    add_robot_options(parser)
    parser.add_argument("--function", metavar="NAMES", default=STANDARD,
                        help="with commas between them: forward_dynamics, inverse_dynamics, mass_matrix, kinematics, midpoint, "
                             "semi_implicit_euler, rk4, forward_dynamics_derivatives, inverse_dynamics_derivatives, pose.<frame>, "
                             "jacobian.<frame>, center_of_mass, com_jacobian "
                             f"(default: {STANDARD})")
    parser.add_argument("--live", metavar="NAMES", default="", help="parameters that stay arguments, with commas between them")
    parser.add_argument("--snap", metavar="DISTANCE", type=snap, default=1e-15,
                        help="entries of joint frames' rotations this close to 0, 1 and -1 become that, 0 to 1e-3 (default: 1e-15)")
    parser.add_argument("--out", metavar="DIR", type=path, required=True, help="the folder for the files")
    parser.epilog = EPILOG


def snap(text: str) -> float:
    """0 to 1e-3: more would turn joints."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1e-3:
        raise argparse.ArgumentTypeError(f"expected a number, 0 to 1e-3, got {text!r}")
    return value


def run(arguments: argparse.Namespace) -> int:
    from mbros.build.specialize.standalone import write

    model = load_robot(arguments.robot, arguments)
    for file in write(model, _words(arguments.function), Path(arguments.out), _words(arguments.live), arguments.snap):
        print(printable(file))
    return 0


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
