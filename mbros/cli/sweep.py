"""mbros sweep: many simulations of a robot, a case each, as one table."""
from __future__ import annotations

import argparse

from mbros.cli import values
from mbros.names import plural, printable

EPILOG = """examples:
  mbros sweep cases.yaml --out table.csv                    all cases on all processors
  mbros sweep cases.yaml --checkpoint done --out table.npz  may be ended and called again: it goes on

docs/sweeps.md says what is in the file. The table ends in .npz, .csv or .parquet."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("cases", metavar="FILE", help="sweep file: robot, duration, cases")
    values.add_package_dir(parser)
    parser.add_argument("--out", "-o", metavar="TABLE", type=values.path, help="write the table here: .npz, .csv, .parquet")
    parser.add_argument("--workers", metavar="N", type=values.count, help="how many processes (default: one for every processor)")
    parser.add_argument("--checkpoint", metavar="DIR", type=values.path, help="a folder that keeps what is done")


def run(arguments: argparse.Namespace) -> int:
    from mbros_core.support.files import check_target       # start-up time, as below
    from mbros.study.sweep.study import read_study
    from mbros.study.sweep.sweep import sweep
    from mbros.simulate.table_files import check_path

    if arguments.out:
        check_target("sweep", check_path("sweep", arguments.out))            # before anything is run
    cases, study, seed = read_study(arguments.cases, arguments.package_dir)
    table = sweep(cases, study, workers=arguments.workers, checkpoint=arguments.checkpoint, seed=seed)
    print(f"{plural(table.count, 'case')}, {len(table.errors)} failed")
    for name, column in table.items():
        if name not in table.parameters and column.dtype.kind in "bif" and column.ndim == 1 and table.count > len(table.errors):
            good = column[[index for index in range(table.count) if index not in table.errors]]
            print(f"  {printable(name):<40} {good.min():12.6g} to {good.max():12.6g}, mean {good.mean():.6g}")
    if arguments.out:
        print(f"written: {printable(table.save(arguments.out))}")
    return 1 if table.errors else 0
