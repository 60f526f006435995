"""mbros signals: the signals of a bench on a robot, by name, with unit and size."""
from __future__ import annotations

import argparse
import json

from mbros.cli import values

EPILOG = """examples:
  mbros signals arm7 --bench arm7_servo.yaml
  mbros signals my_robot.urdf              position, velocity and effort of its joints: what every bench has"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("robot", help="a name of `mbros list`, a .urdf or .xacro file")
    parser.add_argument("--bench", metavar="FILE", help="bench file (docs/bench.md)")
    parser.add_argument("--json", action="store_true", help="for programs")
    values.add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from mbros.describe.devices.bench import Bench
    from mbros.simulate.bench import layout

    model = values.load_robot(arguments.robot, arguments)
    rows = layout(model, Bench.load(arguments.bench) if arguments.bench else Bench(), 1e-3).rows
    if arguments.json:
        print(json.dumps([dict(name=row.name, unit=row.unit, size=row.size, what=row.what) for row in rows]))
        return 0
    wide = max((len(row.name) for row in rows), default=0)
    for row in rows:
        print(f"{row.name:<{wide}}  {row.unit:<8} {row.size}  {row.what}")
    return 0
