"""What the memory of a bench may hold, where it comes out of a file: what is read from it as a count, or as one of several words."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbros_core.plant.faults.registry import TRIGGER_MEMORY

from mbros.describe.devices.source import SAFE
from mbros.bench.source import REASONS, SourceMemory

if TYPE_CHECKING:
    from mbros.bench.layout import Layout
    from mbros_core.typing import Array

MOST = 2**32 - 1            # of what is counted: ROS has as much room for it
OF_A_SOURCE = {"MODE": 2, "HELD": 2, "REASON": len(REASONS) - 1, "TRIPS": MOST, "IGNORED": MOST, "JUDGED": MOST, "FED": MOST}


def wrong_in(layout: Layout, block: Array) -> str:
    """What the devices of this layout cannot have left in a block of theirs, or ""."""
    for what, x, most in _whole_numbers(layout, block):
        if not (0.0 <= x <= most and x == int(x)):
            return f"{what} is {x:g}; expected a whole number, 0 to {most}"
    return ""


def _whole_numbers(layout: Layout, block: Array) -> Iterator[tuple[str, float, int]]:
    """(what it is, it, its bound)"""
    for k, fault in enumerate(layout.faults):
        yield f"the count of fault {fault.name!r}", float(block[layout.fault_memory(k) + TRIGGER_MEMORY.index("begun")]), MOST
    for row in layout.sources:
        memory, who = SourceMemory(block, row), f"of the source of joint {row.joint!r}"
        yield f"the safe state {who}", memory.number("safe"), len(SAFE) - 1
        for name, most in OF_A_SOURCE.items():
            yield f"{name} {who}", memory[name], most
