"""mbros replay: run a recording again and say whether the same comes out, compare it with a model, or fit the model to it."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.cli import values
from mbros.cli.terminal import Progress, paint
from mbros.names import printable

if TYPE_CHECKING:
    import argparse

    from mbros import Model

EPILOG = """examples:
  mbros run arm7 --duration 5 --record run.mcap; mbros replay run.mcap --verify
  mbros replay run.mcap --verify --robot my_robot.xacro         where the attached URDF is not enough
  mbros replay robot.mcap --compare --robot panda --plot out.png       a real robot's joint_states and commands, beside the model
  mbros replay robot.mcap --compare --robot panda --bench servo         one that is commanded positions, through servos
  mbros replay robot.mcap --fit friction,damping,mass.link7,delay --robot arm7         and what the robot's numbers are
  mbros replay robot.mcap --robot panda --compare --fit friction,damping --report fit.html       all of it on a page

--verify: 0: bit-identical; 1: it differs, and the first step and signal are named."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("recording", help="a .mcap file of mbros, or the folder of such a bag")
    parser.add_argument("--verify", action="store_true", default=True,
                        help="compare every recorded number to the bit (what it does by default)")
    parser.add_argument("--compare", action="store_true",
                        help="a recording of a real robot: its commands through the model, residuals by joint")
    parser.add_argument("--fit", metavar="NAMES",
                        help="a recording of a real robot: the parameters with which the model moves as it did, such as "
                        "friction,mass.link7,delay; with --compare, residuals with these")
    parser.add_argument("--out", metavar="FILE", type=values.path,
                        help="--fit: the parameter file that is written (default: beside the recording)")
    parser.add_argument("--states", metavar="TOPIC", help="--compare, --fit: the robot's states (default: /joint_states)")
    parser.add_argument("--commands", metavar="TOPIC",
                        help="--compare, --fit: its commands (default: /joint_commands, /effort_commands, or the efforts that the states "
                        "report)")
    parser.add_argument("--window", metavar="S", type=values.positive, default=0.5,
                        help="--compare, --fit: begin at the measured state again every so many seconds (default: 0.5)")
    parser.add_argument("--delay", metavar="S", default="0", help="the same: commands act so much later; auto: find it (default: 0)")
    parser.add_argument("--plot", metavar="FILE", type=values.path, help="--compare: draw both into this file: .png, .svg, .pdf")
    parser.add_argument("--report", metavar="FILE", type=values.path,
                        help="--compare, --fit: write all of it, with curves, as one page of HTML")
    parser.add_argument("--robot", help="the robot, where it cannot be had from what is attached: a name of `mbros list`, or a file")
    values.add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.fit is not None:
        return fitted(arguments)
    return compared(arguments) if arguments.compare else verified(arguments)


def robot_and_delay(arguments: argparse.Namespace, option: str) -> tuple[Model, float | None]:
    """--robot, with the bench of its own file, else the robot that a recording of mbros holds; and --delay, None: it is to be found."""
    from mbros.errors import MbrosError

    try:
        delay = None if arguments.delay == "auto" else float(arguments.delay)
    except ValueError:
        raise MbrosError(f"replay --delay {arguments.delay!r}: expected seconds, or auto") from None
    if arguments.robot:
        return values.load_robot(arguments.robot, arguments, bench=True), delay
    from mbros.study.replay.recording_file import RecordingFile, ReplayError

    try:
        file = RecordingFile(arguments.recording)
    except ReplayError as e:
        raise MbrosError(f"replay {option}: give the model of the robot, --robot NAME, or a file; no other recording than those of mbros "
                         f"holds it, and {e}") from e
    try:
        return file.model(), delay
    finally:
        file.close()


def fitted(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from mbros.study.replay.compare import compare
    from mbros.study.identify.fit import fit

    model, delay = robot_and_delay(arguments, "--fit")
    check_report(arguments)
    of = {"states": arguments.states, "commands": arguments.commands, "window": arguments.window,
          "bench": values.bench_argument(arguments)}
    if delay is None:
        delay = compare(arguments.recording, model, **of, delay=None).delay
    found = fit(arguments.recording, model, [name.strip() for name in arguments.fit.split(",") if name.strip()], **of, delay=delay)
    print(found)
    recording = Path(arguments.recording)
    out = arguments.out or recording.with_name(f"{recording.stem}.parameters.yaml")
    found.write(out)
    print(printable(f"written to {out}: mbros run {arguments.robot or model.name} --parameters {out}"))
    parts: list[tuple[str, object]] = [("Parameters", found)]
    if arguments.compare or arguments.report:
        after = delay if found.delay is None else found.delay
        parts.append(("With these parameters", compare(arguments.recording, model, **of, delay=after, parameters=found.parameters)))
    if arguments.compare:
        print(parts[-1][1])
    if arguments.report:
        parts.append(("The model as it was", compare(arguments.recording, model, **of, delay=delay)))
        write_report(arguments, model, parts)
    return 0


def check_report(arguments: argparse.Namespace) -> None:
    """Before anything is computed."""
    if not arguments.report:
        return
    from mbros_core.support.files import check_target

    from mbros.model.figure import matplotlib

    check_target("--report", arguments.report)
    matplotlib()


def write_report(arguments: argparse.Namespace, model: Model, parts: list[tuple[str, object]]) -> None:
    from mbros_core.support.files import replace_file

    from mbros.study.replay.compare_page import page

    title = f"{arguments.recording} beside model {arguments.robot or model.name}"
    print(f"report: {printable(replace_file('--report', arguments.report, page(title, parts)))}")


def compared(arguments: argparse.Namespace) -> int:
    from mbros.study.replay.compare import compare

    model, delay = robot_and_delay(arguments, "--compare")
    check_report(arguments)
    found = compare(arguments.recording, model, states=arguments.states, commands=arguments.commands, window=arguments.window,
                    delay=delay, bench=values.bench_argument(arguments))
    if arguments.plot:
        found.plot(arguments.plot)
    print(found)
    if arguments.report:
        write_report(arguments, model, [("Residuals", found)])
    return 0


def verified(arguments: argparse.Namespace) -> int:
    from mbros.study.replay.replay import replay

    model = values.load_robot(arguments.robot, arguments) if arguments.robot else None
    progress = Progress()

    def show(steps: int) -> None:
        if progress.due:
            progress.show(f"{steps:,} steps, bit-identical so far")

    report = replay(arguments.recording, verify=True, model=model, bench=arguments.bench, progress=show)
    progress.clear()
    print(paint(str(report), "green" if report.identical else "red"))
    return 0 if report.identical else 1
