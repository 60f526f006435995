"""A state carried over to a model with other robots and objects: what both have, by name, goes on to the bit."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.constraints.touches import COUNT, PAIR, points_in
from mbros_core.engine.fields import FIELDS
from mbros_core.plant.faults.registry import TRIGGER_MEMORY

from mbros.arguments import check_model
from mbros.errors import MbrosError
from mbros.bench.layout import HEAD
from mbros.bench.bench_faults import numbers_of

if TYPE_CHECKING:
    from mbros import Model, Simulator
    from mbros.describe.devices.bench import BenchLike
    from mbros.bench.layout import Layout
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array

    Places = tuple[Any, Any]                # rows of the one, and the same rows of the other: whole numbers

NO_FAULT = 0, -1        # of a plant
NAMES = {"nb": "body_names", "ne": "force_names", "ns": "shape_names", "nk": "constraint_names"}


def places(a: Model, b: Model) -> dict[str, Places]:
    """By the words of mbros_core.engine.fields: which rows of a state of `a` are which of one of `b`. Cost: linear in both."""
    found = {rows: _same(getattr(a.spec, names), getattr(b.spec, names)) for rows, names in NAMES.items()}
    theirs = {joint.name: joint for joint in b.joints}
    pairs = [(joint, theirs[joint.name]) for joint in a.joints if joint.name in theirs and not joint.follows
             and (joint.nq, joint.nv) == (theirs[joint.name].nq, theirs[joint.name].nv)]
    found["nq"] = _runs([(one.q_slice, other.q_slice) for one, other in pairs])
    found["nv"] = _runs([(one.v_slice, other.v_slice) for one, other in pairs])
    found["1"] = (np.arange(0), np.arange(0))
    return found


def carry(old: State, new: State, where: dict[str, Places]) -> None:
    """Copy into `new` all that decides the future of what both models have: positions, velocities, parameters, the contacts of the last
    step with their impulses. What only the new one has stays as it is. where: of `places`."""
    for row in FIELDS:
        if row.stage not in ("input", "parameter"):
            continue
        mine, theirs = old.field(row.name), new.field(row.name)
        if row.name == "contact_memory":
            _carry_contacts(mine, theirs, len(old.model.spec.shape_names), len(new.model.spec.shape_names), where["ns"])
        elif row.rows == "1":
            theirs[...] = mine
        else:
            a, b = where[row.rows]
            theirs[b] = mine[a]


def carry_plant(old: Any, new: Any, where: dict[str, Places]) -> None:
    """Between two plants: their states, and the efforts in force."""
    carry(old.state, new.state, where)
    a, b = where["nv"]
    effort = np.zeros(len(new.state.v))
    effort[b] = np.asarray(old.effort)[a]
    new._take_over(effort, old.clamped, *NO_FAULT)


def rebuilt(sim: Simulator, model: Model, bench: BenchLike) -> Simulator:
    """Simulator.rebuilt."""
    who = f"rebuilt: the simulation of model {sim.model.name!r}"
    check_model("rebuilt", model)
    reason = ("is in fault" if sim.plant.fault[0] else "is being recorded" if sim._tape is not None else
              "has motions of joints" if sim._motions else "has disturbances or payloads" if sim._disturbances else "")
    if reason:
        raise MbrosError(f"{who} {reason}, and cannot go on with another model; end that first")
    rtol, atol = sim.plant.tolerances
    other = type(sim)(model, sim.dt, sim.integrator, bench=bench, max_contact_iterations=sim.plant.max_contact_iterations,
                      rtol=rtol or None, atol=atol or None)
    where = places(sim.model, model)
    carry(sim.start, other.start, where)
    carry_plant(sim.plant, other.plant, where)
    if sim._bench is not None and other._bench is not None:
        other.plant.devices._take_over(carry_devices(sim._bench, sim._memory(), other._bench, other._memory(), where["nv"]))
    _let_go(sim, other)
    other._started, other._since = sim._started, sim._since
    return other


def _let_go(sim: Simulator, other: Simulator) -> None:
    """Joints that a source held, and that have none any more, are free."""
    from mbros.bench.source import SourceMemory      # start-up time: few benches have sources

    mine = [] if sim._bench is None else sim._bench.sources
    theirs = set() if other._bench is None else {row.joint for row in other._bench.sources}
    joints = {joint.name: joint for joint in other.model.joints}
    for row in mine:
        if row.joint in joints and row.joint not in theirs and SourceMemory(sim.plant.devices.block, row)["HELD"]:
            other.state.field("lock")[joints[row.joint].v_slice] = 0.0


def carry_devices(old: Layout, mine: Array, new: Layout, start: Array, where: Places | None = None) -> Array:
    """The memory of a bench's devices, (n,), with what those that both have know, of `mine`; the others as at their `start`. where:
    velocities that both robots have; None: all, of the same robot."""
    theirs = np.array(start)
    if old.accelerates and new.accelerates:
        (before, n), (after, m) = ((layout.memory_at - layout.recent, layout.recent // 2) for layout in (old, new))
        a, b = (np.arange(n), np.arange(n)) if where is None else where
        for k in range(2):                      # of the last step, and of that before
            theirs[after + k * m + b] = mine[before + k * n + a]
    theirs[:HEAD] = mine[:HEAD]
    at = {key: piece for key, piece in _pieces(new)}
    for key, piece in _pieces(old):
        if key in at and at[key].stop - at[key].start == piece.stop - piece.start:
            theirs[at[key]] = mine[piece]
    _carry_fault_numbers(old, mine, new, theirs)
    return theirs


def _carry_fault_numbers(old: Layout, mine: Array, new: Layout, theirs: Array) -> None:
    """Those in force, which may be others than those of the bench; all signals or joints of a fault have the same."""
    before = {(row.name, row.kind): k for k, row in enumerate(old.faults)}
    mine, theirs = mine[old.tables()["places"][4]:], theirs[new.tables()["places"][4]:]
    for k, row in enumerate(new.faults):
        j = before.get((row.name, row.kind))
        if j is None:
            continue
        (at, trigger), *own = numbers_of(old, j, old.faults[j].fault)
        (to, _), *places_of_own = numbers_of(new, k, row.fault)
        theirs[to:to + len(trigger)] = mine[at:at + len(trigger)]
        for (at, numbers), (to, room) in zip(own[:1] * len(places_of_own), places_of_own, strict=False):
            if len(numbers) == len(room):
                theirs[to:to + len(numbers)] = mine[at:at + len(numbers)]


def _pieces(layout: Layout) -> Iterator[tuple[tuple[Any, ...], slice]]:
    """What the memory consists of, by name (Layout.tables)."""
    tables = layout.tables()
    given, value, fresh, sampled, numbers, _ = tables["places"]
    for k, row in enumerate(layout.rows):
        for start in (given, value):
            yield (row.name, start == given), slice(start + row.at, start + row.at + row.size)
        for start in (fresh, sampled):
            yield (row.name, start == fresh, "step"), slice(start + k, start + k + 1)
    devices = len(layout.actuators) + len(layout.sensors)
    channels = devices + len(layout.sources)        # the first of them; the memory of sources is behind theirs
    of_signal = [row[1] for row in layout.channels]
    parts = range(len(layout.parts))
    remembering = [*parts[:devices], *parts[channels:], *parts[devices:channels]]
    for order, arrays, at, what in ((remembering, layout.memories, layout.memory_at, "memory"),
                                    (parts, layout.numbers, numbers, "numbers")):
        for k, array in zip(order, arrays, strict=True):
            of: tuple[Any, ...] = ()
            if k >= channels:                       # a stage of a channel: the how many-th of its signal
                signal = of_signal[k - channels]
                of = layout.rows[signal].name, k - channels - of_signal.index(signal)
            yield (layout.parts[k].name, layout.parts[k].row.name, what, *of), slice(at, at + len(array))
            at += len(array)
    yield from _of_faults(layout, tables)


def _of_faults(layout: Layout, tables: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], slice]]:
    """What faults remember: each of when it acts, and on each of its signals."""
    for row, (_, at, _) in zip(layout.faults, tables["faults"], strict=True):
        yield ("fault", row.name, row.kind), slice(at, at + len(TRIGGER_MEMORY))
    for (_, k, signal, _, at, _), size in zip(tables["signal_faults"], layout.fault_memories, strict=True):
        yield ("fault", layout.faults[k].name, layout.faults[k].kind, layout.rows[signal].name), slice(at, at + size)


def _same(a: list[str], b: list[str]) -> Places:
    at = {name: k for k, name in enumerate(b)}
    rows = [(k, at[name]) for k, name in enumerate(a) if name in at]
    return np.array([k for k, _ in rows], int), np.array([k for _, k in rows], int)


def _runs(slices: list[tuple[slice, slice]]) -> Places:
    def all_of(runs: list[slice]) -> np.ndarray:
        return np.concatenate([np.arange(0), *(np.arange(run.start, run.stop) for run in runs)])

    return all_of([one for one, _ in slices]), all_of([other for _, other in slices])


def _carry_contacts(mine: Array, theirs: Array, n: int, m: int, shapes: Places) -> None:
    """The points between shapes that both have. Rows of constraints are only looked at, and written anew by each step."""
    if not len(mine) or not len(theirs):
        return
    became: dict[int, int] = dict(zip(*(x.tolist() for x in shapes), strict=True))
    kept: list[Any] = []
    for row in points_in(mine, n):
        a, b = (became.get(k) for k in divmod(int(row[PAIR]), n))
        if a is not None and b is not None and len(kept) + 1 < len(theirs):
            kept.append(row.copy())
            kept[-1][PAIR] = a * m + b
    theirs[0] = mine[0]
    theirs[0, COUNT] = len(kept)
    for k, row in enumerate(kept):
        theirs[k + 1] = row


__all__ = ["carry", "carry_devices", "carry_plant", "places", "rebuilt"]
