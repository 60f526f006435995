"""Recordings of the node: every step from the loop's ring to an MCAP file, and what was changed between two steps (docs/recording.md)."""
from __future__ import annotations

import base64
import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbros.errors import MbrosError
from mbros.record.recorded import differences
from mbros.record.tape import Tape, columns_of

from mbros.ros.wire.bench import NodeBench
from mbros.ros.errors import RequestError
from mbros.ros.serve.folder import file_in, folder_of, made

if TYPE_CHECKING:
    from mbros import Model
    from mbros.ros.node import SimNode
    from mbros.ros.robot import Robot
    from mbros.ros.serve.typing import RecordRequest, RecordResponse
    from mbros_core.typing import Array

PERIOD = 0.02           # s between two looks into the ring
STATES_APART = 1.0      # s: after a gap a state is recorded, from which a replay goes on; the loop stands aside meanwhile
MOST_WAITING = 4        # rings full of steps that wait beside the ring, where many changes meet a slow disk


def command_names(model: Model, bench: NodeBench | None) -> list[str]:
    """Of the numbers of a command, in their order."""
    parts = ("",) if bench is None else ("", ".position", ".velocity", ".what")
    return [f"{name}.command{part}" for part in parts for name in model.velocity_names]


def beside(robot: Robot) -> tuple[Array, list[int]] | None:
    """Of a bench, the numbers that a record holds behind the snapshot; for Loop(record_also=)."""
    bench: NodeBench | None = robot.bench
    return None if bench is None else (bench.memory, columns_of(robot.model, robot.plant, bench.layout).in_bench)


class Recording:
    """The recording of a SimNode, if there is one: start(), stop(), and change() around whatever acts between two steps.

    The loop writes into a ring and never waits. A thread empties the ring into the file; when the disk is so slow that the ring is full,
    the steps that found no room are counted, and said.
    """

    def __init__(self, sim: SimNode):
        self.sim = sim
        self.tape: Tape | None = None
        self._lock = threading.Lock()           # of what waits for the thread; nobody writes to the disk under it
        self._waiting: deque[tuple[str, Any]] = deque()
        self._rows = 0                          # that wait
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._said = False
        self._dropped_before = self._room = 0
        self._gap, self._state_at = False, 0.0  # whether steps are missing since the last state; when that was

    # --- asked for

    def serve(self, request: RecordRequest) -> str:
        """~/record."""
        if not request.record:
            return self.stop()
        folder = folder_of(self.sim.live.values)
        name = request.file or time.strftime("%Y%m%d_%H%M%S.mcap")
        path = file_in(folder, name, ".mcap")
        made(folder)
        return self.start(path)

    def fill(self, response: RecordResponse) -> None:
        """The file of the recording that runs."""
        response.file = str(self.tape.path.absolute()) if self.tape is not None else ""

    def start(self, path: str | Path) -> str:
        """Record every step from now on."""
        sim = self.sim
        if self.tape is not None:
            raise RequestError(f"record: a recording runs, in {self.tape.path}; end it first (record: false)")
        if not sim.live.values["record_buffer"]:
            raise RequestError("record: the parameter record_buffer is 0, so that there is no room for steps; start the node with another")
        with sim.loop.aside():
            sim.loop.drain()                    # the last of a recording before
            self._waiting.clear()
            self._rows, self._dropped_before = 0, sim.loop.figures()["records_dropped"]
            blob = sim.saves.blob()
            sim.loop.recording = True
        try:
            plant, bench = sim.robot.plant, sim.robot.bench
            about = {"dt": plant.dt, "integrator": plant.integrator, "simulator": False, "node": sim.node.get_fully_qualified_name(),
                     **({} if bench is None else {"bench": sim.live.values["bench"]})}
            self.tape = Tape(path, sim.robot.model, plant, blob, about, bench=None if bench is None else bench.layout, gathered=True,
                             commands=command_names(sim.robot.model, bench))
        except BaseException:
            sim.loop.recording = False
            sim.loop.drain()
            raise
        self._room = round(sim.live.values["record_buffer"] * sim.live.values["rate"])
        self._said = self._gap = False
        self._over.clear()
        self._thread = threading.Thread(target=self._run, name="mbros-recording")
        self._thread.start()
        return f"recording to {self.tape.path.absolute()}"

    def stop(self) -> str:
        """End the recording."""
        if self.tape is None or self._thread is None:
            raise RequestError("record: no recording runs")
        self.sim.loop.recording = False
        self._over.set()
        self._thread.join()
        self._look()
        tape, self.tape = self.tape, None
        tape.close()
        return tape.summary()

    def close(self) -> None:
        """End a recording that runs, and say what became of it."""
        if self.tape is not None:
            text = self.stop()
            if self.sim.node.context.ok():
                self.sim.log.info(text)

    # --- events

    @contextlib.contextmanager
    def change(self, kind: str, **what: Array | bytes) -> Iterator[None]:
        """with change(...): what acts between two steps acts between those two steps in the recording too."""
        if self.tape is None:
            yield
            return
        with self.sim.loop.aside():
            self._collect()
            yield
            event = {"kind": kind, "step": self.sim.loop.commands_in_force()["step"],
                     **{key: base64.b64encode(x).decode() if isinstance(x, bytes) else x.tolist() for key, x in what.items()}}
            with self._lock:
                self._waiting.append(("event", (self.sim.plane.stamps.clock_ns, event)))

    @contextlib.contextmanager
    def touched(self) -> Iterator[None]:
        """with touched(): what is written into the devices' memory or the state between two steps, as a fault or a source by hand, is in
        the recording too."""
        if self.tape is None:
            yield
            return
        with self.sim.loop.aside():
            self._collect()
            plant, bench = self.sim.robot.plant, self.sim.robot.bench
            assert bench is not None            # whose faults and sources touch it
            now = {"state": plant.state._inputs, "devices": bench.memory}
            before = {name: x.copy() for name, x in now.items()}
            yield
            changed = {"state": differences(before["state"], now["state"]),
                       "devices": differences(before["devices"], now["devices"], bench.of_sources)}      # samples of a pause are in them
            event = {"kind": "change", "step": self.sim.loop.commands_in_force()["step"],
                     **{name: found for name, found in changed.items() if found}}
            with self._lock:
                self._waiting.append(("event", (self.sim.plane.stamps.clock_ns, event)))

    # --- the thread

    def _run(self) -> None:
        while not self._over.wait(PERIOD):
            self._write()
            self._look()
            self._go_on()
        self._write()

    def _collect(self) -> None:
        """What is in the ring, after what waits. No longer than a copy takes: the loop may stand aside for it."""
        loop, stamps = self.sim.loop, self.sim.plane.stamps
        with self._lock:
            headers, x, applied = loop.drain()
            if not len(headers) or self.tape is None:
                return
            if self._rows > MOST_WAITING * self._room:
                self.tape.left_out += len(headers)
                self._gap = True
                return
            told = headers["wall_ns"]
            if stamps.simulated:
                told = (headers["time"] * 1e9).round().astype("int64") + stamps.origin_ns
            n = self.sim.loop.sizes["snapshot"]             # behind them stands what is of a bench
            self._waiting.append(("rows", (told, headers["step"], headers["flags"], applied, x[:, :n], x[:, n:])))
            self._rows += len(headers)

    def _write(self) -> None:
        """What is there, to the file. Waits for a slow disk; the loop does not."""
        tape = self.tape
        self._collect()
        while self._waiting and tape is not None:
            with self._lock:
                kind, what = self._waiting.popleft()
                self._rows -= len(what[1]) if kind == "rows" else 0
            (tape.put if kind == "rows" else tape.event)(*what)

    def _go_on(self) -> None:
        """After a gap, once there is room again: all that decides what comes next, so that a replay goes on from there."""
        if not self._gap or self._rows > self._room or self.tape is None or time.monotonic() - self._state_at < STATES_APART:
            return
        with contextlib.suppress(MbrosError), self.sim.loop.aside():        # busy otherwise, or in a fault: later
            self._collect()
            self._look()                            # what was lost up to now is before this state
            blob, step = self.sim.saves.blob(), self.sim.loop.commands_in_force()["step"]
            with self._lock:
                self._waiting.append(("event", (self.sim.plane.stamps.clock_ns, {
                    "kind": "state", "step": step, "data": base64.b64encode(blob).decode()})))
            self._gap, self._state_at = False, time.monotonic()

    @property
    def left_out(self) -> int:
        """Steps that are not in the recording that runs, though they should be."""
        return 0 if self.tape is None else self.tape.left_out

    def _look(self) -> None:
        """Say once that steps are being lost."""
        tape = self.tape
        if tape is None:
            return
        dropped = self.sim.loop.figures()["records_dropped"]
        tape.left_out += dropped - self._dropped_before
        self._gap = self._gap or dropped > self._dropped_before
        self._dropped_before = dropped
        if not self._said and (tape.trouble or tape.left_out):
            self._said = True
            why = f"it ended early: {tape.trouble}" if tape.trouble else "the disk is too slow, and steps are left out and counted"
            self.sim.log.warning(f"recording {tape.path}: {why}; the simulation is not disturbed")
