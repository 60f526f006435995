"""Sources of a bench on a robot: their joints, signals, and memory in the block."""
from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import unknown

if TYPE_CHECKING:
    from mbros import Joint
    from mbros.describe.devices.source import JointSource
    from mbros.bench.layout import Layout


@dataclass
class SourceRow:
    """A source of a joint. place: its coordinates in q and v; signals: where what is sent of its effort and residual stands in the block;
    memory: where what it remembers begins, and start: with what; numbers: where its numbers begin, once there are tables."""

    joint: str
    place: tuple[int, int]
    signals: tuple[int, int]
    start: Any
    unit: str = "rad"
    memory: int = 0
    numbers: int = 0


def add_sources(out: Layout, sources: list[JointSource], joints: dict[str, Joint], coordinates: dict[str, tuple[int, int]],
                head: int) -> list[tuple[str, JointSource, dict[str, float]]]:
    """Their signals and rows. head: where the numbers of signals begin in the block. Returns the names that have their numbers, and what
    stands for those that are not given."""
    of: dict[str, str] = {}
    added = []
    for source in sources:
        found = [name for name in joints if name == source.joint or fnmatchcase(name, source.joint)]
        if not found:
            out.refuse(source, str(unknown("joint", source.joint, "this robot with one coordinate", joints).args[0]),
                       f"Joints that can have one: {', '.join(list(joints)[:20])}.")
        for name in found:
            if name in of:
                out.refuse(source, f"joint {name!r} has source {of[name]!r} already", "One source is of a joint.")
            of.setdefault(name, source.name)
            unit = "N m" if joints[name].can_rotate else "N"
            k = [out.signal(f"{name}.interface.{word}", unit, 1, what, name) for word, what in (
                ("effort", "what a real, prescribed or locked joint's motion took in the last step"),
                ("residual", "that less the effort that was measured, through the observer"))]
            from mbros_core.plant._devices import SOURCE_PLACES      # start-up time: few benches have sources

            start = np.zeros(SOURCE_PLACES["SIZE"])
            start[[SOURCE_PLACES[name] for name in ("TIME", "MEASURED", "OFF_Q", "OFF_V", "RESIDUAL")]] = np.nan
            signals = head + out.rows[k[0]].at, head + out.rows[k[1]].at
            out.sources.append(SourceRow(name, coordinates[name], signals, start, "rad" if joints[name].can_rotate else "m"))
            added.append((f"{name}.interface", source, source.of_joint(float(joints[name].limits.velocity.upper[0]))))
    return added


def place_sources(out: Layout, head: int) -> None:
    """Their memory, behind that of devices and channels."""
    at = out.memory_at + sum(map(len, out.memories))
    for row in out.sources:
        row.memory = at
        out.memories.append(row.start)
        at += len(row.start)


def hardware_columns(row: SourceRow) -> list[tuple[str, str, int]]:
    """(name, unit, place in the block) of what hardware said last, as it came: how many samples so far, and the newest."""
    from mbros_core.plant._devices import SOURCE_PLACES      # start-up time: few benches have sources

    unit = row.unit
    return [(f"{row.joint}.hardware.{word}", of, row.memory + SOURCE_PLACES[place]) for word, of, place in (
        ("samples", "", "FED"), ("time", "s", "FED_TIME"), ("position", unit, "FED_Q"), ("velocity", f"{unit}/s", "FED_V"),
        ("effort", "N" if unit == "m" else "N m", "FED_EFFORT"))]


def source_table(out: Layout, numbers: list[int]) -> list[tuple[int, ...]]:
    """For mbros_core.plant. numbers: where those of each begin in the block."""
    for row, at in zip(out.sources, numbers):
        row.numbers = int(at)
    return [(*row.place, row.memory, *row.signals, row.numbers) for row in out.sources]
