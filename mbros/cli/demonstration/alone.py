"""The demonstration without ROS: the same real-time loop and the same controller, in this process."""
from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from mbros.cli.demonstration.show import Screen, hertz, lateness

if TYPE_CHECKING:
    from mbros import Model


def run(model: Model, robot: str, duration: float, rate: float, command_rate: float, csv: str | None) -> int:
    """Exit code: 0 when every pose was reached. model: of `robot`, on a fixed base."""
    from mbros.cli.demonstration.controller import drive
    from mbros.cli.demonstration.poses import PoseSequence
    from mbros.errors import FaultError
    from mbros.record.recorder import Recorder
    from mbros.simulate.simulator import make_plant
    from mbros_core.realtime import Loop

    plant, sequence, screen = make_plant(model, dt=1.0 / rate), PoseSequence(model), Screen(robot, f"{rate:g} Hz, without ROS", duration)
    loop, recorder = Loop(plant, record=round(2 * rate) if csv else 0), Recorder(csv, plant) if csv else None
    (q, nq), (v, nv) = plant.layout["q"], plant.layout["v"]

    def take() -> tuple[float, Any, Any]:
        header, x = loop.snapshot()
        return header.time, x[q:q + nq], x[v:v + nv]

    def look() -> None:
        told, passed, screen.report = loop.statistics(), monotonic() - begun, sequence.report()
        screen.facts = {"steps": hertz(told.steps, passed), "commands": hertz(told.inputs[-1].accepted, passed),
                        "lateness": lateness(1e3 * told.lateness.p50, 1e3 * told.lateness.p99, told.overruns + told.missed)}
        screen.show()
        if recorder is not None:
            headers, rows, _ = loop.drain()
            recorder.snapshots(headers["time"], rows)

    loop.command(sequence.efforts(*take()))
    begun = monotonic()
    try:
        with loop:
            drive(sequence, take, loop.command, duration, command_rate, lambda: bool(loop.fault_code), look)
    finally:
        if recorder is not None:
            recorder.close()
        screen.end()
    if loop.fault is not None:
        raise FaultError(loop.fault.text)
    return 0 if screen.report["succeeded"] else 1
