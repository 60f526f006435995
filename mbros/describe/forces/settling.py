"""When x'' + 2 zeta wn x' + wn^2 x = 0, released at rest from x(0) = 1, has settled: exactly, for every damping ratio.

Time is counted as tau = wn t, so everything depends on zeta and the settling ratio r alone:

    zeta < 1   x = e^(-zeta tau) (cos w tau + zeta/w sin w tau),  w = sqrt(1 - zeta^2); peaks (-1)^n e^(-zeta n pi / w) at n pi / w
    zeta = 1   x = e^(-tau) (1 + tau)
    zeta > 1   x = e^(-s1 tau) (1 + s1 (1 - e^(-2 sz tau)) / (2 sz)),  sz = sqrt(zeta^2 - 1), s2 = zeta + sz, s1 = 1 / s2

The settling time is the last at which |x| = r. It jumps where a peak passes r, so an underdamped system is solved between the
last peak above r and the next.
"""
from __future__ import annotations

from collections.abc import Callable
from math import cos, exp, expm1, floor, inf, log, log1p, pi, sin, sqrt


def response(zeta: float, tau: float) -> float:
    """x / x(0) at tau = wn t."""
    if zeta < 1.0:
        w = sqrt((1.0 - zeta) * (1.0 + zeta))
        return exp(-zeta * tau) * (cos(w * tau) + (zeta * sin(w * tau) / w if w * tau > 1e-8 else zeta * tau))
    sz = sqrt((zeta - 1.0) * (zeta + 1.0))
    s1 = 1.0 / (zeta + sz)
    return exp(-s1 * tau) * (1.0 + s1 * (-expm1(-2.0 * sz * tau) / (2.0 * sz) if sz * tau > 1e-8 else tau))


def _rate(zeta: float, tau: float) -> float:
    """dx/dtau for zeta >= 1."""
    sz = sqrt((zeta - 1.0) * (zeta + 1.0))
    s1 = 1.0 / (zeta + sz)
    return -exp(-s1 * tau) * (-expm1(-2.0 * sz * tau) / (2.0 * sz) if sz * tau > 1e-8 else tau)


def exact(zeta: float, r: float) -> float:
    """wn ts for zeta > 0 and 0 < r < 1."""
    if zeta >= 1.0:
        high = 1.0
        while response(zeta, high) > r:
            high *= 2.0
        return _root(lambda tau: _logarithm(response(zeta, tau), r), lambda tau: _rate(zeta, tau) / response(zeta, tau), 0.0, high)
    # from the last peak above r, d = tau - n pi / w later:  x = peak e^(-zeta d) (cos w d + zeta/w sin w d)
    w = sqrt((1.0 - zeta) * (1.0 + zeta))
    n = max(0, floor(-log(r) * w / (zeta * pi)))
    while n > 0 and n * pi * zeta / w >= -log(r):
        n -= max(1, n // 2**50)         # of floats beyond 2^53 one less is the same number
    peak = n * pi / w
    target = log(r) + zeta * peak

    def shape(d: float) -> float:
        return -2.0 * sin(0.5 * w * d) ** 2 + (zeta * sin(w * d) / w if w * d > 1e-8 else zeta * d)

    def excess(d: float) -> float:
        return log1p(shape(d)) - zeta * d - target if shape(d) > -1.0 else -inf

    def slope(d: float) -> float:
        return -(sin(w * d) / w if w * d > 1e-8 else d) / (1.0 + shape(d))

    return peak + _root(excess, slope, 0.0, pi / w)


def _logarithm(x: float, r: float) -> float:
    return log(x / r) if x > 0.0 else -inf


def _root(f: Callable[[float], float], slope: Callable[[float], float], low: float, high: float) -> float:
    """The zero of f, which falls from above zero at `low` to below it at `high`: Newton's steps, halved when they leave."""
    x = 0.5 * (low + high)
    for _ in range(300):
        y = f(x)
        low, high = (x, high) if y > 0.0 else (low, x)
        new = x - y / slope(x) if y > -inf else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - x) <= 1e-16 * x or not low < new < high or y == 0.0:
            return x if y == 0.0 else new
        x = new
    return x


def simple(zeta: float, r: float) -> float:
    """Drake's page: -ln(r) / zeta, 4.6 / zeta at 1 % and 3 / zeta at 5 %."""
    return -log(r) / zeta


def better(zeta: float, r: float) -> float:
    """Drake's page: -ln(r sqrt(1 - zeta^2)) / zeta, where the envelope of the vibration is at r."""
    return -log(r * sqrt((1.0 - zeta) * (1.0 + zeta))) / zeta


def critical(zeta: float, r: float) -> float:
    """Drake's page: the root of (1 + tau) e^(-tau) = r, for any zeta near 1."""
    return exact(1.0, r)


def dominant_pole(zeta: float, r: float) -> float:
    """Drake's page: -ln(2 r sz / s2) / s1, which leaves the fast pole away."""
    sz = sqrt((zeta - 1.0) * (zeta + 1.0))
    s2 = zeta + sz
    return -log(2.0 * r * sz / s2) * s2


def dominant_pole_errors(zeta: float, r: float) -> tuple[float, float]:
    """Relative errors, to full precision however small: of the settling time (in percent the table of Drake's page), and of |x| then.

    With tau the exact value, dominant_pole = tau - ln(1 - s1/s2 e^(-2 sz tau)) / s1; and |x| = r (1 - s1/s2 e^(-2 sz tau)) there.
    """
    sz = sqrt((zeta - 1.0) * (zeta + 1.0))
    s2 = zeta + sz
    tau = exact(zeta, r)
    return -log1p(-exp(-2.0 * sz * tau) / s2**2) * s2 / tau, exp(-2.0 * sz * dominant_pole(zeta, r)) / s2**2


# method: (formula, what zeta it is for, in words, and as a test)
METHODS: dict[str, tuple[Callable[[float, float], float], str, Callable[[float], bool]]] = {
    "exact": (exact, "zeta > 0", lambda z: z > 0.0),
    "simple": (simple, "0 < zeta < 1 (Drake's page: below 0.7)", lambda z: 0.0 < z < 1.0),
    "better": (better, "0 < zeta < 1 (Drake's page: below 0.7)", lambda z: 0.0 < z < 1.0),
    "critical": (critical, "0.9 <= zeta < 1.1 (Drake's page: near 1)", lambda z: 0.9 <= z < 1.1),
    "dominant_pole": (dominant_pole, "zeta > 1 (Drake's page: from 1.01)", lambda z: z > 1.0),
}
