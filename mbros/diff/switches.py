"""What derivatives of a step say of contacts that are about to do something else."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros_core.constraints.touches import SWITCHES

from mbros.errors import Switch, SwitchWarning, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbros import Model

NAMED = 3               # contacts in the text of a warning


def report(model: Model, who: str, found: Sequence[tuple[int | None, int, int, int]]) -> None:
    """One SwitchWarning of all (point, shape a, shape b, bits of touches.SWITCHES)."""
    names = model.spec.shape_names
    switches = tuple(Switch(point, (names[a], names[b]), tuple(word for bit, word in SWITCHES.items() if bits & bit))
                     for point, a, b, bits in found)
    more = f", and {len(switches) - NAMED} more" if len(switches) > NAMED else ""
    warn(SwitchWarning(f"{who}: a step from here is on a switch, and its derivatives hold on this side of it: "
                       f"{'; '.join(map(_sentence, switches[:NAMED]))}{more}", switches), SwitchWarning)


def _sentence(switch: Switch) -> str:
    a, b = switch.shapes
    where = "" if switch.point is None else f"point {switch.point}: "
    return f"{where}the contact of {a!r} and {b!r} is about to {' or to '.join(switch.about_to)}"
