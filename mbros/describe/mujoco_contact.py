"""MuJoCo's numbers of touching as those of mbros: friction and condim, solref and solimp.

MuJoCo's contact asks for an acceleration -b v - k d r at a depth r, and lets through a share of it, the impedance d(r), which solimp
says. For what moves alone with a mass m, that is a force with the stiffness m k d^2 / (1 - d) and a damping that is b / (k d) times as
large:

    k = 1 / (dmax timeconst dampratio)^2, b = 2 / (dmax timeconst)       solref = timeconst dampratio
    k = stiffness / dmax^2, b = damping / dmax                           solref = -stiffness -damping

d is taken where m rests under its own weight, so that it sinks in as deep as in MuJoCo. Two shapes that touch are in series here: each
has twice the stiffness, and half of b / (k d) as its relaxation time.
"""
from __future__ import annotations

LEAST, MOST = 1e-4, 0.9999          # impedances, as MuJoCo has them
WEIGHT = 9.81                       # m/s^2


def friction_numbers(sliding: float, torsional: float, rolling: float, condim: float) -> dict[str, float | None]:
    """Of friction="sliding torsional rolling" of a geom; condim says what counts: 1 nothing, 3 sliding, 4 torsional, 6 rolling as well."""
    found: dict[str, float | None] = {"friction": sliding if condim > 1.0 else 0.0}
    if condim >= 4.0 and sliding > 0.0:
        found["torsional_radius"] = torsional / sliding
    if condim >= 6.0:
        found["rolling_radius"] = rolling
    return found


def impedance(solimp: tuple[float, ...], depth: float) -> float:
    """d(r) of solimp = dmin dmax width midpoint power."""
    low, high, width, midpoint, power = solimp
    low, high, midpoint = (min(max(x, LEAST), MOST) for x in (low, high, midpoint))
    x, power = (depth / width if width > 0.0 else 1.0), max(power, 1.0)
    if x >= 1.0 or low == high:
        return high
    share = midpoint * (x / midpoint) ** power if x <= midpoint else 1.0 - (1.0 - midpoint) * ((1.0 - x) / (1.0 - midpoint)) ** power
    return low + share * (high - low)


def compliance(solref: tuple[float, ...], solimp: tuple[float, ...], mass: float) -> dict[str, float | None]:
    """stiffness (where there is a mass, kg) and relaxation_time of a shape; nothing of what MuJoCo does not take."""
    first, second = solref
    most = min(max(solimp[1], LEAST), MOST)
    if first > 0.0 and second > 0.0:
        k, b = 1.0 / (most * first * second) ** 2, 2.0 / (most * first)
    elif first < 0.0 and second <= 0.0:
        k, b = -first / most**2, -second / most
    else:
        return {}
    low, high = 0.0, WEIGHT * (1.0 - LEAST) / (k * LEAST**2)            # of the depth at rest
    for _ in range(100):
        depth = 0.5 * (low + high)
        d = impedance(solimp, depth)
        low, high = (depth, high) if depth * k * d * d / (1.0 - d) < WEIGHT else (low, depth)
    found: dict[str, float | None] = {"relaxation_time": 0.5 * b / (k * d)}
    if mass > 0.0:
        found["stiffness"] = 2.0 * mass * k * d * d / (1.0 - d)
    return found
