"""mbros faults: fault scripts, and the kinds of faults. Exit code 0: all that is required was kept, 1: not, or a fault never began."""
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbros.cli import values
from mbros.cli.terminal import paint, table
from mbros.names import plural

if TYPE_CHECKING:
    from mbros.study.faults.report import Report

EPILOG = """examples:
  mbros faults run arm7_faults.yaml --controller          a table of every case, and of what was covered; with the script's controller
  mbros faults run faults.yaml --report report.xml        for continuous integration (JUnit XML)
  mbros faults run faults.yaml --html report.html         as a page: every case with its requirements, margins and curves
  mbros faults run faults.yaml --workers 8 --checkpoint done     on eight processors; may be ended and called again: it goes on
  mbros faults run faults.yaml --robot panda              on another robot
  mbros faults run faults.yaml --case "frozen*"           some of the cases
  mbros faults kinds                                      what there is, and what it does

docs/fault_scripts.md says what stands in a script."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", metavar="action", required=True)
    run = actions.add_parser("run", help="run a fault script")
    run.add_argument("script", help="a YAML file (docs/fault_scripts.md)")
    run.add_argument("--robot", help="instead of the script's: a name of `mbros list`, or a file")
    values.add_package_dir(run)
    run.add_argument("--report", "--junit", metavar="FILE", type=values.path, help="write the report as JUnit XML too")
    run.add_argument("--html", metavar="FILE", type=values.path, help="write the report as a page of its own too")
    run.add_argument("--workers", metavar="N", type=values.count, default=1, help="how many processes (default: 1)")
    run.add_argument("--checkpoint", metavar="DIR", type=values.path, help="a folder that keeps what is done; called again it goes on")
    run.add_argument("--json", action="store_true", help="for programs")
    run.add_argument("--controller", action="store_true", help="run the controller that the script names: a program, with your rights")
    run.add_argument("--case", metavar="PATTERN", default="*", help="only the cases whose names are like this")
    actions.add_parser("kinds", help="the kinds of faults")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "kinds":
        for line in kinds():
            print(line)
        return 0
    from mbros_core.support.files import check_target, replace_file      # start-up time, as below

    for word in ("report", "html"):
        if getattr(arguments, word):
            check_target(f"--{word}", getattr(arguments, word))         # before anything is run
    from mbros.cli.fault_campaign import FaultCampaign

    campaign = FaultCampaign(arguments.script, arguments.case, arguments.robot, arguments.controller, arguments.package_dir)
    report = campaign.run(arguments.workers, arguments.checkpoint, _progress if sys.stderr.isatty() else None)
    if arguments.report:
        replace_file("--report", arguments.report, report.junit().encode())
    if arguments.html:
        from mbros.study.faults.page import page

        replace_file("--html", arguments.html, page(report, arguments.script))
    for line in [json.dumps(report.as_dict(), indent=2)] if arguments.json else lines_of(report):
        print(line)
    return 0 if report.good else 1


def kinds() -> Iterator[str]:
    """A table of the kinds."""
    from mbros_core.plant.faults.registry import ROWS

    yield from table(["kind", "of a", "does", "numbers"], [(row.name, row.target, row.equation, ", ".join(n.name for n in row.numbers))
                                                         for row in ROWS], left=(0, 1, 2, 3), indent="")


def lines_of(report: Report) -> Iterator[str]:
    """The report for a terminal."""
    times = "" if len(report.baselines) == 1 else f", each with {len(report.baselines)} seeds"
    yield f"faults of {report.robot}: {plural(len(report.results), 'case')} of {report.duration:g} s{times}"
    yield ""
    rows = [(report.label(result), _span(result.began), _span(result.ended), _span(result.reacted), _peaks(result.peaks),
             f"{result.deviation:.3g}", _span(result.settled), result.verdict) for result in report.all]
    yield from table(["case", "began", "ended", "reacted after", "largest command", "deviation", "settled after", "limits"],
                     rows, left=(0, 4, 7))
    for result in (result for result in report.all if not result.good):
        yield ""
        yield f"{paint(report.label(result), 'red')}: {result.verdict}" + (f": {result.blown}" if result.blown else "")
        yield from (f"  {broken}" for broken in result.broken)
    named = {name: of for name, of in report.of_requirements().items() if name != "limits"}
    if named:
        yield ""
        yield from table(["requirement", "kept", "broken", "nearest to its bound"], [
            (name, str(of["kept"]), str(of["broken"]), "no case was judged by it" if of["nearest"] is None else
             f"{of['case']}: {of['nearest']['text']}") for name, of in named.items()], left=(0, 3))
    yield ""
    things, columns, found = report.coverage()
    yield from table(["coverage", *columns], [(thing, *(found.get((thing, kind), ".") for kind in columns)) for thing in things])
    yield ""
    good = sum(result.good for result in report.results)
    what = "all that is required of them" if named else "their limits"
    yield paint(f"{good} of {plural(len(report.results), 'case')} kept {what}", "green" if report.good else "red")


def _span(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.4g} s"


def _peaks(peaks: dict[str, tuple[float, float]]) -> str:
    return ", ".join(f"{word} {a:.3g} -> {b:.3g}" for word, (a, b) in peaks.items()) or "-"


def _progress(done: int, count: int) -> None:
    print(f"\r{done} of {count} runs", end="" if done < count else "\r", file=sys.stderr, flush=True)
