"""MuJoCo's numbers of touching as those of mbros: friction and condim, solref and solimp.

MuJoCo's contact accelerates: a_ref = -b v - k r at a depth -r, of which the impedance d lets through a part. For what moves alone with a mass m
that is a force of stiffness m k d / (1 - d) with the damping b / k times as large:

    k = 1 / (d timeconst dampratio)^2, b = 2 / (d timeconst)       solref = timeconst dampratio, solimp = d0 d width ...
    k = stiffness / d^2, b = damping / d                           solref = -stiffness -damping

Two shapes that touch are in series here: each has twice the stiffness, and half of b / k as its relaxation time.
"""
from __future__ import annotations

MOST_IMPEDANCE = 0.9999         # as MuJoCo has it


def friction_numbers(sliding: float, torsional: float, rolling: float, condim: float) -> dict[str, float | None]:
    """friction="sliding torsional rolling" of a geom, of which condim says what counts: 1 nothing, 3 sliding, 4 and torsional, 6 and rolling."""
    found: dict[str, float | None] = {"friction": sliding if condim > 1.0 else 0.0}
    if condim >= 4.0 and sliding > 0.0:
        found["torsional_radius"] = torsional / sliding
    if condim >= 6.0:
        found["rolling_radius"] = rolling
    return found


def compliance(solref: tuple[float, ...], impedance: float, mass: float) -> dict[str, float | None]:
    """stiffness (where there is a mass, kg) and relaxation_time of a shape; nothing of what MuJoCo does not take."""
    d = min(max(impedance, 1.0 - MOST_IMPEDANCE), MOST_IMPEDANCE)
    first, second = solref
    if first > 0.0 and second > 0.0:
        k, ratio = 1.0 / (d * first * second) ** 2, 2.0 * d * first * second**2
    elif first < 0.0 and second <= 0.0:
        k, ratio = -first / d**2, second * d / first
    else:
        return {}
    found: dict[str, float | None] = {"relaxation_time": 0.5 * ratio}
    if mass > 0.0:
        found["stiffness"] = 2.0 * mass * k * d / (1.0 - d)
    return found
