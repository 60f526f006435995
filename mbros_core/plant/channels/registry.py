"""The channels: one row per kind, in the order in which mbros.Channel puts them behind one another. Documentation and tests iterate
this table.

The mathematics of a kind is in the .pxd file of its name; the numbers here must be those of the enum in dispatch.pxd, the order of its
numbers that of the file. What ends in "dt" is the step, which nobody gives.
"""
from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from mbros_core.plant.rows import DeviceKind, Number

DT = Number("dt", "s", "the step of the simulation", 0.0)
DISTRIBUTIONS = ("uniform", "normal", "exponential")
WIDEST = (1.0, 4.0, 16.0)       # largest random number of each distribution
LONGEST = 100.0                 # s, of a delay: its line is in memory

ROWS = (
    DeviceKind("delay", 0, "later: constant or random, in order or not, some messages twice", (
        Number("delay", "s", "mean, or shortest of an exponential one", 0.0, 0.0, LONGEST),
        Number("jitter", "s", "half width (uniform), deviation (normal) or mean (exponential) of what is added", 0.0, 0.0, LONGEST),
        Number("distribution", "", "of the jitter: uniform, normal or exponential", 0.0, 0.0, 2.0),
        Number("reordering", "", "1: messages may overtake each other", 0.0, 0.0, 1.0, whole=True),
        Number("duplication", "1", "probability that a message comes twice", 0.0, 0.0, 1.0),
        DT), equation="y(k + ceil(d / dt)) = x(k), d = max(delay + jitter z, 0), z: random, of the distribution"),
    DeviceKind("loss", 1, "messages that never come, one by one or in bursts", (
        Number("loss", "1", "probability", 0.0, 0.0, 1.0),
        Number("burst", "messages", "mean length of a burst; 1: independent", 1.0, 1.0, 1e9)), memory=2,
        equation="good to bad: loss / (burst (1 - loss)), bad to good: 1 / burst; bad: no y"),
    DeviceKind("quantize", 2, "whole numbers of steps", (
        Number("quantum", "of the signal", "the step", None, 0.0, above=True),), memory=1,
        equation="y = quantum floor(x / quantum + 1/2)"),
    DeviceKind("saturate", 3, "within two bounds", (
        Number("lower", "of the signal", "bound", -1e300), Number("upper", "of the signal", "bound", 1e300)), memory=1,
        equation="y = min(max(x, lower), upper)"),
    DeviceKind("hold", 4, "sampled again at a rate of its own", (
        Number("hold_rate", "Hz", "of what comes out", None, 0.0, above=True),),
        equation="y(n / hold_rate) = the newest x"),
    DeviceKind("noise", 5, "white noise and a bias that walks", (
        Number("noise", "of the signal", "standard deviation", 0.0, 0.0),
        Number("walk", "of the signal/sqrt(s)", "of the bias", 0.0, 0.0), DT), equation="y = x + noise N(0, 1) + walk W(t)"),
)

BY_NAME = {row.name: row for row in ROWS}


def slots(numbers: Mapping[str, float], dt: float) -> int:
    """Messages that a delay line has room for: one for each step of the longest delay, twice where some come twice."""
    longest = numbers["delay"] + numbers["jitter"] * WIDEST[int(numbers["distribution"])]
    return (ceil(longest / dt) + 2) * (2 if numbers["duplication"] else 1)


def memory(kind: DeviceKind, numbers: Mapping[str, float], size: int, dt: float) -> int:
    """Doubles of a channel's own memory on a signal of that size."""
    if kind.name == "delay":
        return 3 + slots(numbers, dt) * (size + 2)
    return 2 + size if kind.name in ("hold", "noise") else kind.memory
