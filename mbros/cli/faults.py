"""mbros faults: fault scripts, and the kinds of faults. Exit code 0: every limit was kept, 1: one was not, or a fault never began."""
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbros.cli import values
from mbros.cli.terminal import paint, table
from mbros.names import printable

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.script import Script
    from mbros.simulate.fault_report import Report
    from mbros.simulate.fault_runs import Controller, FaultTrial

EPILOG = """examples:
  mbros faults run arm7_faults.yaml --controller          a table of every case, and of what was covered; with the script's controller
  mbros faults run faults.yaml --report report.xml        for continuous integration (JUnit XML)
  mbros faults run faults.yaml --robot panda              on another robot
  mbros faults run faults.yaml --case "frozen*"           some of the cases
  mbros faults kinds                                      what there is, and what it does

docs/faults.md says what stands in a script."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", metavar="action", required=True)
    run = actions.add_parser("run", help="run a fault script")
    run.add_argument("script", help="a YAML file (docs/faults.md)")
    run.add_argument("--robot", help="instead of the script's: a name of `mbros list`, or a file")
    values.add_package_dir(run)
    run.add_argument("--report", "--junit", metavar="FILE", type=values.path, help="write the report as JUnit XML too")
    run.add_argument("--json", action="store_true", help="for programs")
    run.add_argument("--controller", action="store_true", help="run the controller that the script names: a program, with your rights")
    run.add_argument("--case", metavar="PATTERN", default="*", help="only the cases whose names are like this")
    actions.add_parser("kinds", help="the kinds of faults")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "kinds":
        for line in kinds():
            print(line)
        return 0
    from mbros_core.files import check_target, replace_file

    from mbros.simulate.fault_report import judge

    if arguments.report:
        check_target("--report", arguments.report)          # before anything is run
    trial = trial_of(arguments.script, arguments.case, arguments.robot, arguments.controller, arguments.package_dir)
    report = judge(trial, _progress if sys.stderr.isatty() else None)
    if arguments.report:
        replace_file("--report", arguments.report, report.junit().encode())
    for line in [json.dumps(report.as_dict(), indent=2)] if arguments.json else lines_of(report):
        print(line)
    return 0 if report.good else 1


def trial_of(path: str, pattern: str = "*", robot: str | None = None, programs: bool = False,
             package_dirs: Sequence[str] = ()) -> FaultTrial:
    """The script on its robot or another one, checked, with the cases of that pattern. programs: whether the controller that it names may
    be run."""
    from mbros.build.load import load
    from mbros.build.one_robot import named_by_data
    from mbros.describe.devices.script import read_script
    from mbros.errors import unknown
    from mbros.simulate.fault_runs import FaultTrial

    script = read_script(path, robot)
    model = load(robot or named_by_data(path, script.near(script.robot) if script.robot.endswith((".urdf", ".xacro")) else script.robot),
                 package_dirs=package_dirs)
    holder: list[FaultTrial] = []
    trial = FaultTrial(script, model, controller_of(script, lambda: holder[0], programs))
    holder.append(trial)
    names = [fault.name for fault in trial.faults]
    trial.faults = [fault for fault in trial.faults if fnmatchcase(fault.name, pattern)]
    if not trial.faults:
        raise unknown("case", pattern, script.file, names)
    return trial


def controller_of(script: Script, trial: Callable[[], FaultTrial], programs: bool) -> Callable[[Model], Controller]:
    """What makes a controller for each run."""
    from mbros.errors import MbrosError
    from mbros.simulate.fault_runs import CalledController, NoController

    if script.controller is None:
        return lambda model: NoController()
    if not programs:
        named = script.controller.get("python") or script.controller.get("ros")
        shown = printable(" ".join(map(str, named or [])), 100)
        raise MbrosError(f"{script.file} names a controller, which is a program ({shown}); a script may be somebody else's: read "
                         "it, and say --controller to run it")
    if "python" in script.controller:
        made = function_of(script, script.controller["python"][0])
        return lambda model: CalledController(made, model)
    words = script.controller["ros"]

    def start(model: Model) -> Controller:
        from mbros.ros.controller_process import LockstepController, folder_of, measured

        command = [sys.executable if word == "python3" and k == 0 else word for k, word in enumerate(words)]
        return LockstepController(command, folder_of(script.file), measured(trial().rows, trial().joints), script.timeout)

    return start


def function_of(script: Script, text: str) -> Any:
    """What "file.py:name" names; the file stands beside the script."""
    from mbros.errors import MbrosError, unknown
    from mbros.simulate.fault_runs import of_controller

    file, _, name = text.rpartition(":")
    path = script.near(file)
    if not os.path.isfile(path):
        raise MbrosError(f"controller, python: there is no file {path!r}; it is sought beside the script")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    of_controller("when it is read", spec.loader.exec_module, module)
    if not callable(getattr(module, name, None)):
        raise unknown("function or class", name, path, [word for word in vars(module) if callable(vars(module)[word])])
    return getattr(module, name)


def kinds() -> Iterator[str]:
    """A table of the kinds."""
    from mbros_core.injected.registry import ROWS

    yield from table(["kind", "of a", "does", "numbers"], [(row.name, row.target, row.equation, ", ".join(n.name for n in row.numbers))
                                                         for row in ROWS], left=(0, 1, 2, 3), indent="")


def lines_of(report: Report) -> Iterator[str]:
    """The report for a terminal."""
    yield f"faults of {report.robot}: {len(report.results)} cases of {report.duration:g} s"
    yield ""
    rows = [(result.name, _span(result.began), _span(result.ended), _span(result.reacted), _peaks(result.peaks), f"{result.deviation:.3g}",
             _span(result.settled), result.verdict) for result in [report.baseline, *report.results]]
    yield from table(["case", "began", "ended", "reacted after", "largest command", "deviation", "settled after", "limits"],
                     rows, left=(0, 4, 7))
    for result in (result for result in [report.baseline, *report.results] if not result.good):
        yield ""
        yield f"{paint(result.name, 'red')}: {result.verdict}" + (f": {result.blown}" if result.blown else "")
        yield from (f"  {broken}" for broken in result.broken)
    yield ""
    things, columns, found = report.coverage()
    yield from table(["coverage", *columns], [(thing, *(found.get((thing, kind), ".") for kind in columns)) for thing in things])
    yield ""
    good = sum(result.good for result in report.results)
    yield paint(f"{good} of {len(report.results)} cases kept their limits", "green" if report.good else "red")


def _span(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.4g} s"


def _peaks(peaks: dict[str, tuple[float, float]]) -> str:
    return ", ".join(f"{word} {a:.3g} -> {b:.3g}" for word, (a, b) in peaks.items()) or "-"


def _progress(done: int, count: int) -> None:
    print(f"\r{done} of {count} runs", end="" if done < count - 1 else "\r", file=sys.stderr, flush=True)
