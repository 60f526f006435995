"""mbros signals: the signals of a bench on a robot, by name, with unit and size."""
from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mbros.cli import values

if TYPE_CHECKING:
    from mbros import Simulator

EPILOG = """examples:
  mbros signals arm7 --bench arm7_servo    one of the benches shipped with mbros
  mbros signals my_robot.urdf              those of the bench in its own file; without one, position, velocity and effort of its joints
  mbros signals arm7 --bench my.yaml --numbers    what can be changed while it runs, with its value"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("robot", help="a name of `mbros list`, a .urdf, .xacro, .sdf or MJCF file")
    parser.add_argument("--numbers", action="store_true", help="the numbers of devices and faults instead (docs/bench.md)")
    parser.add_argument("--json", action="store_true", help="for programs")
    values.add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from mbros.describe.devices.bench import Bench
    from mbros.bench.layout import SignalRow
    from mbros.simulate.simulator import Simulator

    model = values.load_robot(arguments.robot, arguments)
    sim = Simulator(model, bench=True if model.description.bench is not None else Bench())
    if arguments.numbers:
        return numbers(sim, arguments.json)
    assert sim._bench is not None
    rows = sim._bench.rows
    rows = [*rows, *(SignalRow(name, "", 1, 0, "1 where it acts, in logs and recordings") for name in sim._bench.activity())]
    if arguments.json:
        print(json.dumps([dict(name=row.name, unit=row.unit, size=row.size, what=row.what) for row in rows]))
        return 0
    wide = max((len(row.name) for row in rows), default=0)
    for row in rows:
        print(f"{row.name:<{wide}}  {row.unit:<8} {row.size}  {row.what}")
    return 0


def numbers(sim: Simulator, as_json: bool) -> int:
    """Every number that can be changed, with its value; those of faults under fault.<fault>, as in the node."""
    found = {name: sim.devices.parameter(name) for name in sim.devices.parameter_names}
    found.update({f"fault.{name}": sim.faults.parameter(name) for name in sim.faults.parameter_names})
    if as_json:
        print(json.dumps({name: value.tolist() if hasattr(value, "tolist") else value for name, value in found.items()}))
        return 0
    wide = max(map(len, found), default=0)
    for name, value in found.items():
        print(f"{name:<{wide}}  {f'{value:g}' if isinstance(value, float) else value}")
    return 0
