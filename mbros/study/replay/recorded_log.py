"""A recording in MCAP as a Log: where the robot was, and what its bench said, to be looked at."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from mbros.simulate.log import Log
from mbros.study.replay.reading import full_row
from mbros.record.recorded import no_part
from mbros.study.replay.recording_file import RecordingFile
from mbros.bench.signal_log import SignalColumns
from mbros.simulate.simulator import make_plant
from mbros.record.tape import columns_of

if TYPE_CHECKING:
    from mbros import Model

MOST = 20_000           # rows of a log, evenly chosen: a page cannot show more


def read_mcap(path: str | PathLike[str], model: Model | None = None) -> Log:
    """What Simulator.record() or the node wrote; the model is the one that is attached, where none is given. ReplayError where it cannot
    be read, has no joints, or is of another robot."""
    file = RecordingFile(path)
    try:
        model = file.model() if model is None else model
        head = file.start.header
        file.start.check_model(model)
        plant = make_plant(model)
        every = columns_of(model, plant, None)
        place = dict(zip(every.names, every.in_snapshot, strict=True))
        commands = 4 * model.nv if head["bench"] and not file.about.get("simulator") else model.nv
        recorded = list(file.fields.values())[commands:]
        missing = next((name for name in place if name not in recorded), None)
        if missing is not None:
            raise no_part(file.path, f"{missing} was not recorded, and without it the robot's motion is not known; record all signals")
        columns = [commands + recorded.index(name) for name in place]
        signals = of_bench(recorded, file.about.get("units"), file.fields, set(place))
        columns += [commands + k for k in signals.places]
        found = [(step * head["dt"], x[columns]) for kind, (step, _, x) in ((kind, what) for kind, what in file if kind == "row")]
    finally:
        file.close()
    chosen = found if len(found) <= MOST else [found[k] for k in np.linspace(0, len(found) - 1, MOST).astype(int)]
    log, n = Log(model, max(len(chosen), 1), signals if signals.size else None), len(place)
    for time, numbers in chosen:
        at, q, v, effort, kinetic, potential = full_row(plant, list(place.values()), time, numbers[:n])
        log.add(at, q, v, effort, kinetic, potential, numbers[n:])
    return log


def of_bench(names: Sequence[str], units: object, fields: Mapping[str, str], robot: Collection[str]) -> SignalColumns:
    """The columns of a log for what a bench said: signals with several numbers are written one by one, "imu.angular_velocity[2]".
    places: among the names."""
    unit = {fields.get(field): str(word)[:40] for field, word in units.items()} if isinstance(units, dict) else {}
    found: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        if name not in robot:
            found.setdefault(name.partition("[")[0], []).append(k)
    rows = {name: (unit.get(names[at[0]], ""), len(at)) for name, at in found.items()}
    return SignalColumns.of(rows, [k for at in found.values() for k in at])
