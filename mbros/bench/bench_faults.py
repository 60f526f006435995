"""Faults of a bench on a robot: which signals, joints and bodies they are of, and the tables that the engine's devices work on."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.plant.keys import stream_key
from mbros_core.plant.faults.registry import BY_HAND, CONDITIONS, ENDLESS, TRIGGER_MEMORY, TRIGGER_NUMBERS, memory, parameters, room

from mbros.describe.devices.channel import first_in_message
from mbros.errors import unknown

if TYPE_CHECKING:
    from mbros import Joint, Model
    from mbros.describe.devices.fault import Fault
    from mbros.bench.layout import Layout


@dataclass(frozen=True)
class FaultRow:
    """A fault of a bench on a robot. signals: that it worsens; joints: that it acts on, or that these are of. pose (12,):
    R and p of the frame of a load on its body."""

    name: str
    kind: str
    signals: tuple[str, ...]
    joints: tuple[str, ...]
    fault: Fault = field(repr=False, compare=False)
    pose: np.ndarray | None = field(default=None, repr=False, compare=False)


def steps(seconds: float, dt: float) -> float:
    """Whole steps in which that many seconds have passed."""
    n = min(seconds / dt, ENDLESS)
    nearest = float(round(n))
    return nearest if abs(n - nearest) <= min(1e-9 * max(n, 1.0), 0.1) else float(ceil(n))     # 0.3 / 1e-3 is 299.99999999999994


def of_trigger(fault: Fault, dt: float) -> np.ndarray:
    """Its numbers, TRIGGER_NUMBERS of mbros_core.plant.faults.registry."""
    when, times = fault.when, fault.times
    kind = BY_HAND if fault.by_hand else 0.0
    if when is not None:
        kind = 1.0 + CONDITIONS.index(when.comparison) + (4.0 if when.absolute else 0.0)
    x = [steps(times["at"], dt) + 1.0, steps(fault.end, dt) + 1.0, steps(times["duration"], dt), max(steps(times["held"], dt), 1.0),
         kind, 0.0 if when is None else when.threshold, times["at"], times["until"], times["duration"], times["held"]]
    return np.minimum(x, ENDLESS)


def of_what(fault: Fault, dt: float, pose: np.ndarray | None) -> np.ndarray:
    """Its own numbers as a signal, a joint or a body has them."""
    if fault.row.target == "signal":
        return np.array(parameters(fault.row, {name: float(x[0]) for name, x in fault.values.items()}, dt), float)
    given = np.concatenate([np.zeros(0), *(fault.values[number.name] for number in fault.row.numbers)])
    return given if pose is None else np.concatenate([given, pose[:9].reshape(3, 3) @ fault.values["place"] + pose[9:]])


def numbers_of(out: Layout, k: int, fault: Fault) -> list[tuple[int, np.ndarray]]:
    """(where they begin among all numbers of the bench, numbers) of fault k: of its trigger, then of each of its signals, joints or bodies.
    fault: as it is, or with other numbers."""
    own = of_what(fault, out.dt, out.faults[k].pose)
    at = sum(map(len, out.numbers)) + len(TRIGGER_NUMBERS) * k
    found = [(at, of_trigger(fault, out.dt))]
    at += len(TRIGGER_NUMBERS) * (len(out.faults) - k)
    for row, numbers in zip((*out.signal_faults, *out.joint_faults), (*out.fault_numbers, *out.joint_fault_numbers)):
        if row[1] == k:
            found.append((at, own))
        at += len(numbers)
    return found


def trigger(out: Layout, fault: Fault) -> tuple[np.ndarray, int]:
    """Its numbers, and where among those of all signals its condition looks; -1: nowhere."""
    place = -1
    if fault.when is not None:
        rows = {row.name: row for row in out.rows}
        row = rows.get(fault.when.signal)
        if row is None:
            out.refuse(fault, f"when: {unknown('signal', fault.when.signal, 'this bench', rows).args[0]}",
                       "`mbros signals ROBOT --bench FILE` lists them.")
        elif fault.when.index >= row.size:
            out.refuse(fault, f"when: signal {row.name!r} has {row.size} numbers, and no [{fault.when.index}]", "They are counted from 0.")
        else:
            place = row.at + fault.when.index
    return of_trigger(fault, out.dt), place


def add_faults(out: Layout, model: Model, faults: list[Fault], seed: int, joints: dict[str, Joint], coordinates: Any) -> None:
    """The faults, each with its signals, joints and bodies."""
    stages: list[tuple[int, bool, int, Fault]] = []
    for k, fault in enumerate(faults):
        out.fault_triggers.append(trigger(out, fault))
        signals: tuple[str, ...] = ()
        pose = None
        if fault.row.target == "signal":
            at = _signals_of(out, fault)
            stages += [(i, fault.row.late, k, fault) for i in at]
            signals = tuple(out.rows[i].name for i in at)
            names = tuple(dict.fromkeys(out.rows[i].joint for i in at if out.rows[i].joint))
        elif fault.row.target == "joint":
            names = _joints_of(out, model, fault, joints)
            for name in names:
                _on_joint(out, fault, k, coordinates[name][1], -1, None)
        else:
            names = ()
            pose = _on_body(out, model, fault, k)
        out.faults.append(FaultRow(fault.name, fault.row.name, signals, names, fault, pose))
    for i, late, k, fault in sorted(stages, key=lambda each: each[:3]):
        values = {name: float(x[0]) for name, x in fault.values.items()}
        slots = room(fault.row, values, out.dt)
        out.signal_faults.append((fault.row.number, k, i, slots, late))
        name = out.rows[i].name
        first = first_in_message(fault.message, name, list(out.faults[k].signals)) if fault.row.late else name
        out.fault_keys.append(stream_key(seed, f"{fault.name}/{first}/{fault.row.name}"))
        out.fault_memories.append(memory(fault.row, slots, out.rows[i].size))
        out.fault_numbers.append(of_what(fault, out.dt, None))


def _signals_of(out: Layout, fault: Fault) -> list[int]:
    found = [i for i, row in enumerate(out.rows) if row.name == fault.target or fnmatchcase(row.name, fault.target)]
    if not found:
        out.refuse(fault, str(unknown("signal", fault.target, "this bench", [row.name for row in out.rows]).args[0]),
                   "`mbros signals ROBOT --bench FILE` lists them.")
    return found


def _joints_of(out: Layout, model: Model, fault: Fault, joints: dict[str, Joint]) -> tuple[str, ...]:
    names = tuple(name for name in joints if name == fault.target or fnmatchcase(name, fault.target))
    if not names:
        out.refuse(fault, str(unknown("joint", fault.target, f"model {model.name!r} with one coordinate", joints).args[0]),
                   f"Joints that can have one: {', '.join(list(joints)[:20])}.")
    return names


def _on_body(out: Layout, model: Model, fault: Fault, k: int) -> np.ndarray | None:
    """A load on the body that a frame is on, at its place there. Returns the frame's pose on it."""
    if fault.target not in model.spec.frame_names:
        out.refuse(fault, str(unknown("frame", fault.target, f"model {model.name!r}", model.spec.frame_names).args[0]),
                   "Give a frame or body of the robot.")
        return None
    frame = model._frame_index(fault.target)
    body, pose = int(model.spec.frame_body[frame]), np.asarray(model.spec.X_BF[frame], float)
    if body == 0:
        out.refuse(fault, f"frame {fault.target!r} does not move", "Give a frame or body that the robot carries.")
    _on_joint(out, fault, k, -1, body, pose)
    return pose


def _on_joint(out: Layout, fault: Fault, k: int, iv: int, body: int, pose: np.ndarray | None) -> None:
    """A row of what acts on a coordinate, or on a body."""
    out.joint_faults.append((fault.row.number, k, iv, body))
    out.joint_fault_numbers.append(of_what(fault, out.dt, pose))


def fault_tables(out: Layout, memories: int, numbers: int) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """(tables, memory, numbers) of all faults, for pieces of the block that begin there."""
    triggers = memories
    own = triggers + len(TRIGGER_MEMORY) * len(out.faults) + np.cumsum([0, *out.fault_memories])
    parts = [[x for x, _ in out.fault_triggers], out.fault_numbers, out.joint_fault_numbers]
    at = numbers + np.cumsum([0, *(len(x) for part in parts for x in part)])
    n, m = len(out.faults), len(out.signal_faults)
    faults = [(at[k], triggers + len(TRIGGER_MEMORY) * k, place) for k, (_, place) in enumerate(out.fault_triggers)]
    signals = [(kind, fault, signal, at[n + j], own[j], slots) for j, (kind, fault, signal, slots, _) in enumerate(out.signal_faults)]
    joints = [(kind, fault, iv, body, at[n + m + j]) for j, (kind, fault, iv, body) in enumerate(out.joint_faults)]
    tables = dict(faults=faults, signal_faults=signals, joint_faults=joints, fault_keys=out.fault_keys)
    return tables, np.zeros(int(own[-1]) - memories), np.concatenate([np.empty(0), *(x for part in parts for x in part)])


def of_signals(out: Layout) -> list[tuple[int, int, int, int]]:
    """(first before its channels, how many, first behind them, how many) of every signal, among the faults of signals."""
    count = Counter((signal, late) for _, _, signal, _, late in out.signal_faults)
    found = []
    first = 0
    for i in range(len(out.rows)):
        early, late = count[i, False], count[i, True]
        found.append((first, early, first + early, late))
        first += early + late
    return found
