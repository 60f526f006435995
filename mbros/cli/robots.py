"""mbros list: what `mbros run`, `check`, `node`, `demo` and mbros.load take for a robot's name, and for a bench's."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def run(arguments: argparse.Namespace) -> int:
    from mbros.build import benches
    from mbros.build.load import known_robots
    from mbros.build.robots import BUILT_IN

    others = [name for name in known_robots() if name not in BUILT_IN]
    if arguments.json:
        print(json.dumps({"built_in": list(BUILT_IN), "example_robot_data": others, "benches": list(benches.BUILT_IN)}))
        return 0
    print("shipped with mbros")
    width = max(map(len, BUILT_IN))
    for name, robot in BUILT_IN.items():
        base = "" if robot.base == "fixed" else f" ({robot.base} base)"
        print(f"  {name:<{width}}  {robot.doc}{base}")
    print(f"  {'chain(n)':<{width}}  in Python: mbros.chain(n), n links in a row")
    if others:
        print(f"\nfrom example-robot-data ({len(others)} names)")
        for line in columns(others):
            print("  " + line)
    else:
        print("\npanda, ur5, solo12, talos and many more come with: pip install 'mbros[robots]'")
    print("\nbenches shipped with mbros, for --bench and bench=")
    width = max(map(len, benches.BUILT_IN))
    for name, bench in benches.BUILT_IN.items():
        print(f"  {name:<{width}}  {bench.robot}: {bench.doc}")
    print("\nor give a path: robot.urdf, robot.urdf.xacro, robot.sdf; bench.yaml")
    return 0


def columns(names: list[str], width: int = 100) -> list[str]:
    """The names in as many columns as fit, read downwards."""
    wide = max(map(len, names)) + 2
    count = max(1, width // wide)
    rows = -(-len(names) // count)
    return ["".join(name.ljust(wide) for name in names[k::rows]).rstrip() for k in range(rows)]
