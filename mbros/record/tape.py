"""A recording of a simulation, step for step: what it showed, what it was commanded, and all that is needed to run it again."""
from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import file_path
from mbros.errors import MbrosError, MbrosWarning, unknown, warn
from mbros.names import plural, printable
from mbros.bench.bench_sources import hardware_columns
from mbros.record.mcap_file import McapFile, layout_channel
from mbros.record.recorded import differences
from mbros.record.recorded_commands import RecordedCommands
from mbros.record.recorder import RecorderError, _reason
from mbros.record.ros_layouts import STRING, field_names, joint_state, put_stamps, signals, string

if TYPE_CHECKING:
    from mbros import Model
    from mbros.bench.layout import Layout
    from mbros_core.engine._engine import Plant
    from mbros_core.typing import Array, IntArray

JOINTS, COMMANDS, SIGNALS, EVENTS = "/joint_states", "/joint_commands", "/mbros/signals", "/mbros/events"
ROBOT = "/robot_description"            # once, with the first row: robot_state_publisher and Foxglove make link poses of it and JOINTS
START, URDF, SCENE, BENCH = "start.mbros", "robot.urdf", "scene.json", "bench.yaml"        # attachments
ABOUT = "mbros"                         # the note that says what is what
BATCH, WAITING = 200, 8                 # rows a batch, batches that wait for the disk at most
PUT_THERE = 16                          # flag of a row (mbros_core.realtime.RESET): no step led to it
LAST_TIME = 2.0 ** 31                   # s: stamps of ROS messages end there


@dataclass
class Columns:
    """The signals of a plant, and of its bench: names, units, and where they stand in a snapshot and among the bench's numbers."""

    names: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    in_snapshot: list[int] = field(default_factory=list)
    in_bench: list[int] = field(default_factory=list)

    def chosen(self, patterns: Sequence[str] | None) -> Columns:
        """Those whose names match one of the patterns; every pattern has to match one."""
        if patterns is None:
            return self
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in self.names):
                raise unknown("signal", pattern, "this simulation", self.names)
        keep = [k for k, name in enumerate(self.names) if any(fnmatchcase(name, pattern) for pattern in patterns)]
        n = len(self.in_snapshot)
        return Columns([self.names[k] for k in keep], [self.units[k] for k in keep], [self.in_snapshot[k] for k in keep if k < n],
                       [self.in_bench[k - n] for k in keep if k >= n])


def columns_of(model: Model, plant: Plant, bench: Layout | None) -> Columns:
    """Every signal there is: joints by coordinate, energy, and the bench's."""
    at, found = plant.layout, Columns()

    def add(name: str, unit: str, place: int) -> None:
        found.names.append(name)
        found.units.append(unit)
        found.in_snapshot.append(place)

    for k, name in enumerate(model.joint_state_names):
        unit = "m" if model.joint(name).kind == "prismatic" else "rad"
        for part, of in (("position", unit), ("velocity", f"{unit}/s"), ("effort", "N" if unit == "m" else "N m")):
            add(f"{name}.{part}", of, at["joint_" + part][0] + k)
    for joint in model.joints:
        if joint.nv > 1:
            for k in range(joint.q_slice.start, joint.q_slice.stop):
                add(model.position_names[k], "", at["q"][0] + k)
            for k in range(joint.v_slice.start, joint.v_slice.stop):
                add(model.velocity_names[k], "", at["v"][0] + k)
                add(f"{model.velocity_names[k]}.effort", "", at["effort"][0] + k)
    for k, name in enumerate(("energy.kinetic", "energy.potential")):
        add(name, "J", at["energy"][0] + k)
    known = set(found.names)
    for row in bench.rows if bench is not None else ():
        assert bench is not None
        if row.name in known:                   # what is true of a joint, which the snapshot has
            continue
        for k in range(row.size):
            found.names.append(row.name if row.size == 1 else f"{row.name}[{k}]")
            found.units.append(row.unit)
            found.in_bench.append(2 + bench.size + row.at + k)
    for name, place in bench.activity().items() if bench is not None else ():
        found.names.append(name)
        found.units.append("")
        found.in_bench.append(place)
    for source in bench.sources if bench is not None else ():
        for name, unit, place in hardware_columns(source):
            found.names.append(name)
            found.units.append(unit)
            found.in_bench.append(place)
    return found


def attached(description: Any, bench: Any, text: str | None = None) -> list[tuple[str, str, bytes]]:
    """(name, kind, bytes) of the scene, and of the bench, where there are some: a replay opens no file that a recording names. bench: its
    file, or text: what is in one."""
    if not description.members and not bench and text is None:
        return []
    from mbros.record.recorded_files import file_text, scene_bytes      # start-up time: who does not use it does not pay

    scene, text = scene_bytes(description), file_text(bench) if text is None else text
    return [*([] if scene is None else [(SCENE, "application/json", scene)]),
            *([] if text is None else [(BENCH, "application/yaml", text.encode())])]


class Tape:
    """A recording that has begun. Rows and events come from one thread; another one writes, and never more than WAITING batches wait.

    about: words for the note, as JSON has them. start: a save of the simulation before the first row. wait: whether rows() waits for a
    slow disk; else what does not fit is left out and counted in `left_out`. commands: names of a command's numbers; gathered: the rows of
    the bench are those of its columns, and not all of its memory. bench_text: of a bench file with it.
    """

    def __init__(self, path: str | PathLike[str], model: Model, plant: Plant, start: bytes, about: dict[str, Any],
                 signals_of: Sequence[str] | None = None, bench: Layout | None = None, wait: bool = True,
                 commands: Sequence[str] = (), gathered: bool = False, bench_text: str | None = None) -> None:
        where = file_path("record", path)
        self.columns = columns_of(model, plant, bench).chosen(signals_of)
        self._in_bench = list(range(len(self.columns.in_bench))) if gathered else self.columns.in_bench
        self.folder = None if where.suffix == ".mcap" else where
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as e:
                raise RecorderError(f"{where}: the folder cannot be made: {_reason(e)}; give one that can, or a file run.mcap") from e
        self.wait, self.rows, self.left_out, self.trouble = wait, 0, 0, ""
        self._from_start = bool(about.get("simulator"))         # the first row is what is true before a step
        self._joints = [plant.layout["joint_" + part][0] for part in ("position", "velocity", "effort")]
        self._nj = plant.layout["joint_position"][1]
        commands = commands or [f"{name}.command" for name in model.velocity_names]
        fields = field_names([*commands, *self.columns.names])
        self._commands = RecordedCommands(model, bench, gathered, plant.dt)
        self.layouts = {JOINTS: joint_state(model.joint_state_names), COMMANDS: self._commands.layout, SIGNALS: signals(fields)}
        self.file = McapFile(where if self.folder is None else where / f"{where.name}_0.mcap")
        for topic, layout in self.layouts.items():
            layout_channel(self.file, topic, layout)
        self.file.channel(EVENTS, *STRING)
        description = model.description
        self._text = text = description.text
        if text is not None:
            self.file.channel(ROBOT, *STRING)
        try:
            self.file.note(ABOUT, {"about": json.dumps({
                **about, "robot": description.file, "base": description.default_base, "gravity": [float(x) for x in description.gravity],
                "fields": dict(zip(fields, [*commands, *self.columns.names], strict=True)),
                "units": dict(zip(fields[len(commands):], self.columns.units, strict=True))})})
            if text is not None:
                self.file.attach(URDF, "application/xml", text.encode())
            for name, kind, data in attached(description, about.get("bench"), bench_text):
                self.file.attach(name, kind, data)
            self.file.attach(START, "application/octet-stream", start)
        except OSError as e:
            self.file.close()
            raise RecorderError(f"{self.file.path}: nothing can be recorded there: {_reason(e)}") from e
        self._queue: Queue[Any] = Queue(WAITING)
        self._writer = threading.Thread(target=self._write, name="mbros-recorder", daemon=True)
        self._writer.start()

    # --- from the simulation's side

    def put(self, stamps: Any, steps: Any, flags: Any, commands: Array, x: Array, bench: Array | None = None) -> None:
        """Rows: stamps (n,), ns, steps (n,), flags (n,), commands as given (n, nv), snapshots (n, size), and the bench's memory (n, m)."""
        self._hand_over(("rows", stamps, steps, flags, commands, x, bench), len(steps))

    def event(self, stamp: int, what: dict[str, Any]) -> None:
        """Something that happened before the step after `what["step"]` steps."""
        self._hand_over(("event", stamp, what), 0)

    def _hand_over(self, piece: Any, rows: int) -> None:
        if self.trouble or (not self.wait and self._queue.full()):
            self.left_out += rows
            return
        self._queue.put(piece)

    @property
    def path(self) -> Path:
        return self.file.path

    def close(self) -> None:
        """Write what is left. Closing twice does no harm."""
        if self._writer.is_alive():
            self._queue.put(None)
            self._writer.join()
        if self.file.open:
            try:
                self.file.close()
                if self.folder is not None:
                    (self.folder / "metadata.yaml").write_text(self.file.bag(), encoding="utf-8")
            except OSError as e:
                self.trouble = self.trouble or _reason(e)

    def summary(self) -> str:
        """What became of it, in a sentence."""
        lost = f"; {self.left_out} steps were left out" if self.left_out else ""
        cut = f"; recording ended early: {self.trouble}. The file holds what came before: free some space" if self.trouble else ""
        return f"recorded {plural(self.rows, 'step')} of {plural(len(self.columns.names), 'signal')} in {printable(self.path)}{lost}{cut}"

    # --- the writer's

    def _write(self) -> None:
        while True:
            piece = self._queue.get()
            if piece is None:
                return
            if self.trouble:
                self.left_out += len(piece[2]) if piece[0] == "rows" else 0
                continue
            try:
                if piece[0] == "event":
                    self.file.add(EVENTS, [piece[1]], [string(json.dumps(piece[2]))])
                else:
                    self._write_rows(*piece[1:])
            except Exception as e:          # also of numbers that no message holds: a thread that ended would be waited for for ever
                self.trouble = _reason(e) if isinstance(e, OSError) else f"{type(e).__name__}: {e}"
                self.left_out += len(piece[2]) if piece[0] == "rows" else 0

    def _write_rows(self, stamps: IntArray, steps: Array, flags: IntArray, commands: Array, x: Array, bench: Array | None) -> None:
        n = len(steps)
        everything = self.layouts[SIGNALS].messages(n)
        put_stamps(everything, stamps)
        everything["step"], everything["flags"] = steps, flags
        numbers = [commands, x[:, self.columns.in_snapshot]]
        if self._in_bench:
            assert bench is not None
            numbers.append(bench[:, self._in_bench])
        everything["x"] = np.hstack(numbers)
        joints = self.layouts[JOINTS].messages(n)
        put_stamps(joints, stamps)
        for part, at in zip(("position", "velocity", "effort"), self._joints, strict=True):
            joints[part] = x[:, at:at + self._nj]
        if not self.rows and self._text is not None:
            self.file.add(ROBOT, [int(stamps[0])], [string(self._text)])
        self.file.add(SIGNALS, stamps, everything)
        self.file.add(JOINTS, stamps, joints)
        taken = (np.asarray(flags) & PUT_THERE) == 0
        taken[0] &= self.rows > 0 or not self._from_start
        self.file.add(COMMANDS, *self._commands.messages(stamps, taken, commands, bench))
        self.rows += n


def _bench_text(sim: Any) -> str | None:
    """The bench of a simulator as a bench file; None without one, and where no file says all of it."""
    if sim._bench is None or sim._bench.bench is None:
        return None
    from mbros.record.recorded_files import same_bench      # start-up time: who does not use it does not pay

    return same_bench(sim.model, sim._bench.bench, sim.dt, sim._bench_digest())


def no_stamp(time: float) -> str:
    """Why no message can have this simulated time, s; "" where one can."""
    return "" if 0.0 <= time < LAST_TIME else f"the simulated time is {time:g} s; expected 0 to 2^31 s, as stamps of ROS messages have it"


class SimulatorTape:
    """The recording of a Simulator: each step's row, and what was changed between two steps. A context manager."""

    def __init__(self, simulator: Any, path: str | PathLike[str], signals_of: Sequence[str] | None) -> None:
        sim = simulator
        if why := no_stamp(sim.time):
            raise MbrosError(f"record: {why}")
        about = {"dt": sim.dt, "integrator": sim.integrator, "simulator": True, "time": sim.time,
                 "seed": None if sim._bench is None else sim._bench_digest()}
        self.simulator = sim
        self.tape = Tape(path, sim.model, sim.plant, sim.save(), about, signals_of, sim._bench, bench_text=_bench_text(sim))
        self._last: dict[str, Array] = {}
        self._rows: list[tuple[Any, ...]] = []
        self._warned = False
        self.row(np.zeros(sim.model.nv))

    @property
    def step_number(self) -> int:
        return int(self.simulator.state.field("clock")[1])

    def _stamp(self) -> int:
        """Now, ns; where it is none the recording ends."""
        if why := no_stamp(self.simulator.time):
            self.tape.trouble = self.tape.trouble or why
        return 0 if why else round(self.simulator.time * 1e9)

    def step(self, tau: Any, progress: Any = None) -> None:
        """Take a step of the simulator's plant, and a row of it."""
        plant = self.simulator.plant
        self._changes()
        plant.step(tau, progress)
        self.row(np.zeros(self.simulator.model.nv) if tau is None else tau)

    def row(self, tau: Any) -> None:
        """What is true now, after a step under tau."""
        self._last = {name: numbers.copy() for name, numbers in self._numbers().items()}
        self._rows.append((self._stamp(), self.step_number, np.array(tau, float),
                           self.simulator.plant.observe(), self._last.get("devices")))
        if len(self._rows) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Hand over what was collected."""
        if self._rows:
            stamps, steps, taus, xs, blocks = map(list, zip(*self._rows, strict=True))
            self._rows = []
            n = len(steps)
            self.tape.put(np.array(stamps, np.int64), np.array(steps, np.uint64), np.zeros(n, np.uint32), np.array(taus), np.array(xs),
                          None if blocks[0] is None else np.array(blocks))
        if self.tape.trouble and not self._warned:
            self._warned = True
            warn(f"recording {self.tape.path} has ended at {self.simulator.time:g} s: {self.tape.trouble}; the simulation goes on",
                 MbrosWarning)

    def _numbers(self) -> dict[str, Array]:
        """All that a step begins with: inputs and parameters, the memory of devices, and what pushes the robot, once anything has."""
        plant, pushes = self.simulator.plant, self.simulator._disturbances
        numbers = {"state": plant.state._inputs, "devices": None if self.simulator._bench is None else plant.devices.block,
                   "disturbances": None if pushes is None else pushes.table.ravel()}
        return {name: x for name, x in numbers.items() if x is not None}

    def _changes(self) -> None:
        """Numbers that are not what the last step, or a change before one that failed, left: what the caller has set, commanded, reset or
        restored. What is not finite is left out: no step begins with it."""
        changed = {}
        for name, now in self._numbers().items():
            before = self._last.get(name, np.zeros(now.size))
            now = np.where(np.isfinite(now) | (name == "devices"), now, before)
            if found := differences(before, now):
                changed[name], self._last[name] = found, now
        if changed:
            self.flush()
            self.tape.event(self._stamp(), {"kind": "change", "step": self.step_number, **changed})

    def close(self) -> None:
        """End the recording. RecorderError where it had to end before."""
        if self.simulator._tape is self:
            self.simulator._tape = None
            self.flush()
            self.tape.close()
            if self.tape.trouble:
                raise RecorderError(f"{self.tape.path}: {self.tape.summary()}")

    def summary(self) -> str:
        """What became of it, in a sentence."""
        return self.tape.summary()

    def __enter__(self) -> SimulatorTape:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
