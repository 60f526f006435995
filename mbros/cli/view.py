"""mbros view: a robot, a recorded run, or whatever is on the ROS graph, in the browser."""
from __future__ import annotations

import argparse
import signal
from pathlib import Path
from typing import Any

from mbros.cli import values
from mbros.cli.interrupt import Interrupt
from mbros.errors import MbrosError
from mbros.names import printable

EPILOG = """examples:
  mbros view panda                         drag it, play it, read its numbers
  mbros view my_robot.urdf --base floating
  mbros view quadruped --ground            on its feet
  mbros view cell.yaml                     a scene: several robots and objects
  mbros view run.csv                       what `mbros run ... --csv run.csv` recorded, with a time bar
  mbros view run.mcap                      what `mbros run --record`, the node or Simulator.record() recorded
  mbros view run.csv --robot my_robot.urdf --html run.html      the same as a file that plays offline
  mbros view --ros                         the robot on the ROS 2 graph, simulated or real

The page is for this machine only, unless --host says otherwise, and for those only who have its whole address, with the token in it
(--host 0.0.0.0: anyone who reaches this machine and has the address can move the robot; nothing is encrypted).
Ctrl-C ends it. Needs: pip install "mbros[viewer]"."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("shown", nargs="?", metavar="ROBOT or RUN.csv",
                        help="a name of `mbros list`, a .urdf, .xacro, .sdf, MJCF or scene file (.yaml), or a recording")
    parser.add_argument("--robot", help="whose recording it is (default: the robot of mbros that has these joints)")
    parser.add_argument("--ros", action="store_true", help="follow robot_description, joint_states and tf of the ROS 2 graph")
    parser.add_argument("--namespace", default="", help="with --ros: where its topics are, such as /left")
    parser.add_argument("--play", action="store_true", help="begin at once, not paused")
    parser.add_argument("--html", metavar="FILE", type=values.path, help="write a recording as an HTML file that plays offline, and end")
    parser.add_argument("--rate", type=values.positive, default=1000.0, help="steps per simulated second, Hz (default: 1000)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)")
    parser.add_argument("--port", type=values.port, help="port to listen on (default: 8080, or the next one that is free; 0: any)")
    values.add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.ros == (arguments.shown is not None):
        raise MbrosError("mbros view: name a robot or a recording, or give --ros. See: mbros view --help")
    if arguments.html:
        return _write(arguments)
    with Interrupt() as interrupt:          # what is imported meanwhile may swallow a KeyboardInterrupt
        motion = _motion(arguments)
        from mbros.view.page import Page        # start-up time: this brings a web server

        try:
            page = Page(motion, arguments.host, arguments.port)
        except BaseException:
            motion.close()
            raise
    if interrupt.asked:
        page.close()
        return 130
    try:
        signal.signal(signal.SIGTERM, lambda number, frame: page.end())
        for problem in [page.exposure] * bool(page.exposure) + page.scene.problems[:5]:
            print(f"mbros: note: {problem}")
        print(f"{page.model.name}: {page.url}    (Ctrl-C ends)", flush=True)
        if arguments.play:
            motion.play()
        page.wait()
    except KeyboardInterrupt:
        pass
    finally:
        page.close()
    return 0


def _motion(arguments: argparse.Namespace) -> Any:
    if arguments.ros:
        from mbros.view.ros import follow       # optional package: rclpy

        return follow(arguments.namespace, arguments.base, arguments.package_dir)
    if _is_recording(arguments.shown):
        from mbros.view.player import Player    # start-up time, as below

        return Player(_log(arguments), printable(Path(arguments.shown).name))
    from mbros.simulate.simulator import Simulator
    from mbros.view.show import drive_of

    return drive_of(Simulator(_load(arguments.shown, arguments), dt=1.0 / arguments.rate))


def _load(robot: str, arguments: argparse.Namespace) -> Any:
    return values.load_robot(robot, arguments)


def _is_recording(name: str) -> bool:
    return name.lower().endswith((".csv", ".mcap"))


def _log(arguments: argparse.Namespace) -> Any:
    """The recording, of the robot that was named or of the one of mbros whose columns it has."""
    if arguments.shown.lower().endswith(".mcap"):
        from mbros.study.replay.recorded_log import read_mcap      # start-up time, as below

        return read_mcap(arguments.shown, _load(arguments.robot, arguments) if arguments.robot else None)
    from mbros.build.load import load           # start-up time: the engine
    from mbros.build.robots import BUILT_IN
    from mbros.study.replay.reading import csv_columns, fits, read_csv

    if arguments.robot:
        return read_csv(arguments.shown, _load(arguments.robot, arguments))
    columns = csv_columns(arguments.shown)
    for name in BUILT_IN:
        model = load(name)
        if fits(model, columns):
            print(f"mbros: note: its joints are those of {name}; --robot says otherwise")
            return read_csv(arguments.shown, model)
    raise MbrosError(f"{arguments.shown}: no robot of mbros has these joints ({', '.join(columns[1:4])}, ...). Say whose they are: --robot")


def _write(arguments: argparse.Namespace) -> int:
    if not (arguments.shown and _is_recording(arguments.shown)):
        raise MbrosError("--html writes recordings: give a .csv or .mcap file (mbros run ... --csv run.csv)")
    path = _log(arguments).save_html(arguments.html)
    print(f"wrote {printable(path)} ({path.stat().st_size / 1e6:.1f} MB); any browser plays it, offline")
    return 0
