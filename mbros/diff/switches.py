"""What derivatives say of contacts and ropes that are about to do something else."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros_core.constraints.touches import SWITCHES

from mbros.errors import Switch, SwitchWarning, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbros import Model

NAMED = 3               # switches in the text of a warning


def report(model: Model, who: str, found: Sequence[tuple[int | None, int, int, int]]) -> None:
    """One SwitchWarning of all (point, shape a, shape b, bits of touches.SWITCHES); of ropes (point, -1, constraint, bits)."""
    names, ropes = model.spec.shape_names, model.spec.constraint_names
    switches = tuple(Switch(point, () if a < 0 else (names[a], names[b]), tuple(word for bit, word in SWITCHES.items() if bits & bit),
                            ropes[b] if a < 0 else None) for point, a, b, bits in found)
    more = f", and {len(switches) - NAMED} more" if len(switches) > NAMED else ""
    warn(SwitchWarning(f"{who}: a step from here is on a switch, and its derivatives hold on this side of it: "
                       f"{'; '.join(map(_sentence, switches[:NAMED]))}{more}", switches), SwitchWarning)


def _sentence(switch: Switch) -> str:
    where = "" if switch.point is None else f"point {switch.point}: "
    what = f"rope {switch.rope!r}" if switch.rope is not None else f"the contact of {' and '.join(map(repr, switch.shapes))}"
    return f"{where}{what} is about to {' or to '.join(switch.about_to)}"
