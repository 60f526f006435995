"""A model beside a recording of the robot it stands for: the same commands, the same starts, and what differs (docs/recording.md)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import DEFAULT_INTEGRATOR, INTEGRATORS
from mbros_core.support.given import number

from mbros.errors import MbrosError
from mbros.model.parameters import put_all
from mbros.names import plural, printable
from mbros.study.replay.robot_recording import RobotRecordingError, Series, series
from mbros.study.replay.trial import Trial

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.bench import BenchLike
    from mbros.study.replay.recording_file import RecordingFile
    from mbros_core.typing import Array

STATES, COMMANDS = ("/joint_states", "joint_states"), ("/joint_commands", "/effort_commands", "joint_commands", "effort_commands")
MOVES = {"position": "positions", "velocity": "velocities"}
DELAYS = 0.05           # s: commands that act later than this are looked for only where they are asked for
SHORTEST, LONGEST, STEP = 1e-6, 1.0, 1e-3       # s: steps; of a recording that has none


@dataclass(frozen=True)
class JointResidual:
    """Model less robot of one joint: root mean square and largest, rad or m and per second, and when it was largest, s. effort_rms: N m or
    N, of what a bench drives it with; NaN without a bench, and where the robot measures none."""

    joint: str
    position_rms: float
    position_max: float
    velocity_rms: float
    at: float
    effort_rms: float = np.nan


@dataclass
class Comparison:
    """What came out. times (n,), s from the first state; measured, simulated (n, joints): positions. delay, s: between a command and its
    acting, as given or found. commands: the topic whose commands the model was given; given: what of them. bench: whether through one.
    unknown: joints of the recording that the model does not have. units: of the joints' positions, rad or m. changed: times, s, at which
    somebody changed the state or parameters of a recording of mbros, which the model's do not follow. engine: of such a recording, which
    one made it and which one runs here, where those are two."""

    joints: list[JointResidual]
    times: Array
    measured: Array
    simulated: Array
    delay: float
    window: float
    commands: str
    given: str = "efforts"
    bench: bool = False
    unknown: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    changed: tuple[float, ...] = ()
    engine: str = ""

    def __str__(self) -> str:
        efforts = any(np.isfinite(r.effort_rms) for r in self.joints)
        lines = [f"{plural(len(self.times), 'state')} in {self.times[-1]:.3f} s, from the measured state again every {self.window:g} s; "
                 f"{self.given} of {self.commands}{', through the bench' * self.bench}, {1e3 * self.delay:.2f} ms later",
                 f"{'joint':24s} {'position rms':>13s} {'largest':>11s} {'at, s':>9s} {'velocity rms':>13s}"
                 + f" {'effort rms':>11s}" * efforts]
        lines += [f"{r.joint:24s} {r.position_rms:13.4g} {r.position_max:11.4g} {r.at:9.3f} {r.velocity_rms:13.4g}"
                  + f" {r.effort_rms:11.4g}" * efforts for r in self.joints]
        if self.unknown:
            lines.append(f"recorded, and no joints of the model: {', '.join(printable(name, 80) for name in self.unknown[:50])}"
                         + (f" and {len(self.unknown) - 50} more" if len(self.unknown) > 50 else ""))
        if self.changed:
            more = f" and {len(self.changed) - 5} times more" if len(self.changed) > 5 else ""
            lines.append("state or parameters were changed while it was recorded, which the model here does not follow, at "
                         f"{', '.join(f'{t:.3f} s' for t in self.changed[:5])}{more}: residuals from there on may be of that")
        if self.engine:
            lines.append(f"{self.engine}: last digits may differ")
        return "\n".join(lines)

    def plot(self, path: str | PathLike[str]) -> Any:
        """Positions, measured and simulated, and their difference, a row for each joint: a matplotlib Figure, and a file."""
        from mbros.model.figure import check_path      # start-up time: only who draws pays

        check_path(path)
        figure = self.figure()
        figure.savefig(path)
        return figure

    def figure(self) -> Any:
        """The Figure of plot, in no file."""
        from mbros.model.figure import FAINT, color, new_figure      # start-up time: only who draws pays

        figure, axes = new_figure(2 * len(self.joints), "model beside robot", 9.0, 2.6 * len(self.joints), sharex=True)
        for k, r in enumerate(self.joints):
            above, below = axes[2 * k], axes[2 * k + 1]
            above.plot(self.times, self.measured[:, k], label="robot", color=FAINT)
            above.plot(self.times, self.simulated[:, k], label="model", color=color(0), linewidth=1.0)
            below.plot(self.times, self.simulated[:, k] - self.measured[:, k], color=color(1), linewidth=1.0, label="model less robot")
            unit = f", {self.units[k]}" if self.units else ""
            above.set_ylabel(f"{r.joint}\nposition{unit}")
            below.set_ylabel(f"difference{unit}")
        axes[0].legend()
        axes[-1].set_xlabel("time, s")
        return figure


def compare(path: str | PathLike[str], model: Model, *, states: str | None = None, commands: str | None = None, window: float = 0.5,
            delay: float | None = 0.0, dt: float | None = None, parameters: Mapping[str, Any] | None = None,
            bench: BenchLike = True) -> Comparison:
    """The commands of a recording through a model.

    path: a .mcap file, or a bag's folder. model: with the joints of the recording. states, commands: topics, by default joint_states,
    and joint_commands or effort_commands, or, without either, the efforts that the states report. window: every so many seconds, s, the
    model begins at the measured state again, so that residuals are of the model and not of an unstable motion. delay: by how much
    commands act later than their stamps say, s; None: the one of 0 to 50 ms with the smallest residuals. dt: step, s; None: that of
    a recording of mbros, 1 ms for any other. parameters: {name: value} of the model that are others than its own. bench: a Bench, a file,
    a name, or "servo" for servos in every joint, through which the commands act, positions and velocities too; True: the one that a
    recording of mbros holds, else the one that the model carries, where positions or velocities are commanded; False: none, efforts act
    as they are.
    RobotRecordingError where the recording says too little, or positions are commanded and there is no bench.
    """
    run = trial("compare", path, model, states, commands, window, dt, bench)
    put_all(model, run.plant.state, parameters or {})
    if delay is None:
        tries = np.arange(0.0, DELAYS + run.dt / 2, max(run.dt, DELAYS / 25))
        delay = float(tries[np.argmin([run.cost(x) for x in tries])])
    else:
        delay = number("compare", "delay", delay, -1.0, 1.0, "s")
    return _compared(run, delay, recorded_changes(path))


def trial(who: str, path: str | PathLike[str], model: Model, states: str | None, commands: str | None, window: float, dt: float | None,
          bench: BenchLike = True) -> Trial:
    """What `compare` says of path, states, commands, window, dt and bench."""
    own = recording_of_mbros(path)
    header: dict[str, Any] = {"dt": STEP, "integrator": DEFAULT_INTEGRATOR} if own is None else own.start.header
    integrator = header["integrator"] if header["integrator"] in INTEGRATORS else DEFAULT_INTEGRATOR
    dt = float(header["dt"]) if dt is None else number(who, "dt", dt, SHORTEST, LONGEST, "s")
    window = number(who, "window", window, 2 * dt, 1e6, "s")
    names = tuple(joint.name for joint in model.joints if joint.nv == 1 and not joint.follows)
    if not names:
        raise RobotRecordingError(f"{who}: model {model.name!r} has no joint with one degree of freedom")
    for name in names:
        if model.joint(name).nq != 1:
            raise MbrosError(f"{who}: joint {name!r} has {model.joint(name).nq} position coordinates, and messages an angle; expected "
                             "one in each joint: build it without representation=\"cos_sin\"")
    found = series(path, [*([states] if states else STATES), *([commands] if commands else COMMANDS)], names)
    state = _first(found, [states] if states else STATES, f"{path} has no states of joints on {states or 'joint_states'}; name the topic: "
                   "states=, --states")
    if own is not None and state.back:
        raise RobotRecordingError(f"{path}: its time goes back, as at a reset, so that several motions are in it; record each by itself")
    try:
        command = _first(found, [commands] if commands else COMMANDS, "")
    except RobotRecordingError:
        command = state
    if bench is True and command.topic != state.topic:
        bench = True if own is None else own.bench(model) if header["bench"] else None
    through = _on_bench(who, model, state, command, bench)
    try:
        if not through:
            run = Trial(model, names, state, command, window, dt, integrator)
        else:
            from mbros.study.replay.compare_bench import BenchTrial      # few comparisons have one

            run = BenchTrial(model, names, state, command, window, dt, bench, integrator if integrator != "rk4" else DEFAULT_INTEGRATOR)
    except RobotRecordingError as e:
        raise RobotRecordingError(f"{fspath(path)}: {e}") from e            # which of its topics say too little
    run.engine = "" if own is None else own.start.another_engine(model)
    return run


def recording_of_mbros(path: str | PathLike[str]) -> RecordingFile | None:
    """What a recording of mbros is about and starts from, its file closed; None for any other recording."""
    from mbros.study.replay.recording_file import RecordingFile, ReplayError      # few comparisons are with one

    try:
        file = RecordingFile(path)
    except ReplayError:
        return None
    file.close()
    return file


def _on_bench(who: str, model: Model, state: Series, command: Series, bench: BenchLike) -> bool:
    """Whether commands go through a bench. Refuses positions without one, and one without commands."""
    asked = not (bench is None or isinstance(bench, bool))
    if command.topic == state.topic:                    # efforts that were measured
        if asked:
            raise RobotRecordingError(f"{who}: {state.topic} has what the robot measured, and a bench takes what it was commanded; name "
                                      "the topic of its commands: commands=, --commands; or leave the bench out")
        return False
    moves = [words for part, words in MOVES.items() if np.isfinite(command.values.get(part, np.nan)).any()]
    if bench is True and moves and model._description.bench is None:
        raise RobotRecordingError(f"{who}: {command.topic} commands {' and '.join(moves)}, which a bench makes efforts of, and model "
                                  f"{model.name!r} has none; give one: bench=\"servo\", --bench servo, or a bench file; or take the "
                                  f"efforts that the robot measured: commands=\"{state.topic}\", --commands {state.topic}")
    return asked or (bench is True and bool(moves))


def _first(found: dict[str, Series], topics: Sequence[str], otherwise: str) -> Series:
    for topic in topics:
        if topic in found:
            return found[topic]
    raise RobotRecordingError(otherwise)


def recorded_changes(path: str | PathLike[str]) -> list[int]:
    """When, ns, somebody changed what a recording of mbros is of; nothing of any other recording."""
    from mbros.study.replay.recording_file import RecordingFile, ReplayError      # few comparisons are with one

    try:
        file = RecordingFile(path)
    except ReplayError:
        return []
    try:
        return file.changes()
    finally:
        file.close()


def _compared(run: Trial, delay: float, changed: Sequence[int] = ()) -> Comparison:
    q, v, tau = run.simulated(delay)
    dq, dv, dtau = q - run.q, v - run.v, tau - run.efforts
    rows = [JointResidual(name, _rms(dq[:, k]), float(np.abs(dq[:, k]).max()), _rms(dv[:, k]),
                          float(run.times[np.abs(dq[:, k]).argmax()]), _rms(dtau[np.isfinite(dtau[:, k]), k]))
            for k, name in enumerate(run.names)]
    return Comparison(rows, run.times, run.q, q, delay, run.window, run.topic, run.given, run.through_bench, run.unknown,
                      tuple("rad" if run.model.joint(name).can_rotate else "m" for name in run.names),
                      tuple(t for t in (1e-9 * (stamp - run.begun) for stamp in changed) if 0.0 < t < run.times[-1]), run.engine)


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2))) if len(x) else float("nan")
