"""What a loop shows of itself beside numbers: the header of a snapshot, its flags, a fault."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from mbros_core.typing import Array

PAUSED, FAULT, STEPPED, WATCHDOG, RESET = 1, 2, 4, 8, 16      # flags of a snapshot, as in ports.hpp
MADE_UP = 1 << 16                                            # of a record: a step that was never published


class SnapshotHeader(NamedTuple):
    """What stands above a snapshot."""

    step: int               #: steps since the last reset
    time: float             #: simulated seconds since the last reset
    wall_ns: int            #: CLOCK_REALTIME at the slot of the step
    command_age_ns: int     #: age of the command in force, -1: there is none
    flags: int              #: PAUSED | FAULT | STEPPED | WATCHDOG | RESET
    parameters: int         #: parameter blocks applied so far


@dataclass(frozen=True)
class Fault:
    """Why the plant stands still: `text` says it in a sentence."""

    code: int       #: the plant's own, or -1: its snapshot was not finite
    index: int      #: offending velocity coordinate (or entry of the snapshot); -1: unknown
    step: int       #: the step that could not be taken
    text: str


def fault_of(plant: Any, figures: Mapping[str, Any], x: Array) -> Fault | None:
    """The fault a loop is in. plant: names and describes; x: the newest snapshot."""
    code, index, step = figures["fault_code"], figures["fault_index"], figures["fault_step"]
    if code == 0:
        return None
    layout = getattr(plant, "layout", {})
    if code < 0:
        cause = cause_of(plant)
        return Fault(code, index, step, f"step {step}: the plant's snapshot is not finite at {entry_name(layout, index)}"
                     + (f". {cause}" if cause else ""))
    if "fault" in layout:
        index = int(x[layout["fault"][0] + 1])
    if hasattr(plant, "fault_text"):
        return Fault(code, index, step, f"step {step}: {plant.fault_text(code, index)}")
    return Fault(code, index, step, f"step {step}: the plant reports fault {code}")


def cause_of(plant: Any) -> str:
    """The force element behind a snapshot that is not finite, in a sentence, or nothing. The plant stands still in a fault."""
    if not (hasattr(plant, "model") and hasattr(plant, "still_state")):
        return ""
    from ..forces.diagnosis import fault_cause

    return fault_cause(plant.model, plant.still_state(), plant.dt)


def entry_name(layout: Mapping[str, tuple[int, int]], index: int) -> str:
    """Name of a snapshot's entry, such as v[3]."""
    for name, (start, count) in layout.items():
        if start <= index < start + count:
            return f"{name}[{index - start}]"
    return f"entry {index}"
