"""Do a force element's forces, powers and energy fit each other? A check of one's own laws before they are used.

    for text in model.force_elements["spring"].check(state):
        print(text)

Two things must hold for an energy balance to close, at any velocity v:

    conservative power + non-conservative power = generalized force . v
    conservative power = -d(energy)/dt

Both are asked at the state's own velocity and at unit velocity along each coordinate of the model, with d(energy)/dt from central
differences of fourth order. Motions that the model's joints do not have are not asked.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros import Model
    from mbros.model.forces.element import Part
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array

STEP = 1e-3              # s, of the differences
TOLERANCE = 1e-6         # relative; the differences are good to 1e-9 where a law is smooth


def findings(element: Part, state: State) -> list[str]:
    """What is off, in sentences."""
    model, found = element.model, []
    for name, v in _velocities(model, state):
        at = state.copy()
        at.v[:] = v
        conservative, other = element.conservative_power(at), element.nonconservative_power(at)
        force, rate = element.generalized_force(at), _energy_rate(element, at)
        power = float(force @ v)
        size = max(float(np.abs(force).max() * np.abs(v).max()), abs(conservative), abs(other), 1e-6 * abs(element.potential_energy(at)))
        if abs(conservative + other - power) > TOLERANCE * size:
            found.append(f"{element._label}, {name}: it delivers {power:.9g} W, but its conservative power {conservative:.9g} W and its "
                         f"non-conservative power {other:.9g} W do not add up to that")
        if abs(conservative + rate) > TOLERANCE * size:
            found.append(f"{element._label}, {name}: its conservative power is {conservative:.9g} W, but its energy changes by "
                         f"{rate:.9g} W where {-conservative + 0.0:.9g} W was expected. Its energy is not that of its wrench at rest")
    return found


def _velocities(model: Model, state: State) -> Iterator[tuple[str, Array]]:
    """(how messages name it, v): the state's own, unit velocities."""
    if np.any(state.v):
        yield "at the state's velocity", np.array(state.v)
    for name, v in zip(model.velocity_names, np.eye(model.nv)):
        yield f"at unit velocity of {name!r}", v


def _energy_rate(element: Part, state: State) -> float:
    """d(energy)/dt at the state's velocity, W."""
    model, at = element.model, state.copy()

    def energy(t: float) -> float:
        at.set_q(model.integrate(state.q, t * state.v))
        return element.potential_energy(at)

    h = STEP / max(1.0, float(np.abs(state.v).max()))
    return (8.0 * (energy(h) - energy(-h)) - (energy(2.0 * h) - energy(-2.0 * h))) / (12.0 * h)
