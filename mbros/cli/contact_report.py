"""What `mbros run` says of contact at the end."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbros.cli.terminal import paint, table
from mbros.names import plural

if TYPE_CHECKING:
    from mbros import Simulator
    from mbros.model.contacts import Contact


def contact_lines(sim: Simulator) -> Iterator[str]:
    """What touches, and with what force: a line for each pair of bodies. Nothing of a robot without collision shapes."""
    from mbros.model.contacts import contact_part, counts_in       # the model's room is loaded when there is a robot

    part = contact_part(sim.plant, sim.plant.observe())
    if part is None:
        return
    counts, pairs = counts_in(part), _pairs(sim.model.contacts(sim.state))
    points = sum(map(len, pairs.values()))
    yield f"contacts {points} point{'s' if points != 1 else ''}" if points else "contacts none"
    if pairs:
        yield from table(["", "points", "normal force", "friction", ""], [_row(*pair, found) for pair, found in pairs.items()], left=(0, 4))
    if counts.unsolved:
        yield paint(f"         {plural(counts.unsolved, 'step')} ended at the bound on contact iterations", "yellow")
    if counts.lost:
        yield paint(f"         {counts.lost} contact points found no room and were left out", "yellow")


def _pairs(contacts: list[Contact]) -> dict[tuple[str, str], list[Contact]]:
    """Contacts by (body_b, body_a)."""
    pairs: dict[tuple[str, str], list[Contact]] = {}
    for c in contacts:
        pairs.setdefault((c.body_b, c.body_a), []).append(c)
    return pairs


def _row(b: str, a: str, found: list[Contact]) -> list[str]:
    """The normal forces add up, and so does the friction, as a vector."""
    normal = sum(c.normal_force for c in found)
    friction = math.hypot(*(sum(c.friction_force[k] for c in found) for k in range(3)))
    slides = not all(c.sticks for c in found)
    return [f"{b} on {a}", str(len(found)), f"{normal:.4g} N", f"{friction:.4g} N", "slides" if slides else ""]
