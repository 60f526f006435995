"""The demonstration without ROS: the same real-time loop and the same controller, in this process."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mbros.cli.demonstration.screen import Screen
from mbros.cli.demonstration.sequence import PoseSequence
from mbros.cli.demonstration.table import View, summary

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.realtime import Loop, SnapshotHeader


def run(model: Model, robot: str, duration: float, rate: float, command_rate: float, csv: str | None) -> int:
    """Exit code: 0 when every pose was reached. model: of `robot`, on a fixed base."""
    from mbros.cli.demonstration.controller import as_dict, wait_for_slot
    from mbros.errors import FaultError
    from mbros.record.recorder import Recorder
    from mbros.simulate.simulator import make_plant
    from mbros_core.realtime import Loop

    plant, sequence = make_plant(model, dt=1.0 / rate), PoseSequence(model)
    view, screen = View(robot, rate, "in this process, without ROS", duration=duration), Screen()
    recorder = Recorder(csv, plant) if csv else None
    loop = Loop(plant, record=round(2 * rate) if csv else 0)
    at = {name: slice(start, start + size) for name, (start, size) in plant.layout.items()}
    sequence.begin(0.0, model.spec.q_default, duration)
    sent, counted, next_look, x = 0, None, 0.0, loop.snapshot()[1]
    loop.command(sequence.efforts(0.0, x[at["q"]], x[at["v"]]))
    try:
        with loop:
            slot = begun = time.monotonic()
            while not sequence.done and not loop.fault_code:
                header, _ = loop.snapshot(x)
                loop.command(sequence.efforts(header.time, x[at["q"]], x[at["v"]]))
                sent += 1
                if time.monotonic() > next_look:
                    next_look = time.monotonic() + 0.1
                    view.elapsed, view.report, view.q = min(next_look - begun, duration), as_dict(sequence), x[at["q"]].tolist()
                    counted = look(view, loop, header, sent, counted)
                    screen.show(view)
                    if recorder is not None:
                        headers, rows, _ = loop.drain()
                        recorder.snapshots(headers["time"], rows)
                slot = wait_for_slot(slot, 1.0 / command_rate)
    finally:
        screen.clear()
        if recorder is not None:
            headers, rows, _ = loop.drain()
            recorder.snapshots(headers["time"], rows)
            recorder.close()
    view.report = as_dict(sequence)
    for line in summary(view):
        print(line)
    if loop.fault_code:
        fault = loop.fault
        raise FaultError(fault.text if fault is not None else "")
    return 0 if sequence.succeeded else 1


def look(view: View, loop: Loop, header: SnapshotHeader, sent: int, counted: Any) -> Any:
    """Fill the view from the loop's own counters. counted: (time, steps, commands) of about a second ago, or None."""
    statistics, now = loop.statistics(), time.monotonic()
    view.lateness = statistics.lateness.p50, statistics.lateness.p99
    view.late_steps = statistics.overruns + statistics.missed
    view.command_age = None if header.command_age_ns < 0 else 1e-9 * header.command_age_ns
    if counted is None:
        return now, header.step, sent
    then, steps, commands = counted
    if now - then < 1.0:
        return counted
    view.state_rate, view.command_rate = (header.step - steps) / (now - then), (sent - commands) / (now - then)
    return now, header.step, sent
