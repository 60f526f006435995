"""The faults: one row per kind. mbros.Fault, bench files, documentation and tests iterate these tables.

What a kind does is in on_signal.pxd and on_joint.pxd; the numbers here must be those of the enums there, the order of the numbers of a
kind that of the file. `at` of a load is along the axes of the frame it is given in.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mbros_core.plant.channels.registry import BY_NAME as CHANNELS, LONGEST, slots
from mbros_core.plant.rows import DeviceKind, Number

# What fault.pxd calls by these names, in its order.
TRIGGER_NUMBERS = ("from", "before", "lasting", "in_a_row", "condition", "threshold", "at", "until", "duration", "held")
TRIGGER_MEMORY = ("active", "since", "ended", "begun", "spent", "streak", "by_hand", "asked")
ENDLESS = 1e300             # steps: for ever
CONDITIONS = ("<", "<=", ">", ">=")
BY_HAND = 9.0               # of the number "condition"


@dataclass(frozen=True)
class FaultKind(DeviceKind):
    """target: "signal", "joint" or "frame", what it is given. late: it acts behind the channels of its signals. stage: the channel whose
    mathematics it is. verb: what it does, where that is another word."""

    target: str = "signal"
    late: bool = False
    stage: str = ""
    verb: str = ""


SIGNAL_ROWS = (
    FaultKind("frozen", 0, "a sensor that hangs: the first message while it acts, again and again", (), equation="y = x(k0)",
              verb="freeze"),
    FaultKind("offset", 1, "a reading that is off", (Number("offset", "of the signal", "what is added"),), equation="y = x + offset"),
    FaultKind("drift", 2, "a reading that wanders off", (Number("rate", "of the signal/s", "how fast"),),
              equation="y = x + rate (k - k0) dt"),
    FaultKind("noise", 3, "a burst of noise", (
        Number("noise", "of the signal", "standard deviation", 0.0, 0.0),
        Number("walk", "of the signal/sqrt(s)", "of a bias", 0.0, 0.0)), equation="y = x + noise N(0, 1) + walk W(t - t0)", stage="noise"),
    FaultKind("sign_flip", 4, "wires crossed", (), equation="y = -x"),
    FaultKind("not_a_number", 5, "no number; of a command: not commanded", (), equation="y = NaN"),
    FaultKind("out_of_range", 6, "a number that cannot be", (Number("value", "of the signal", "what is read"),), equation="y = value"),
    FaultKind("lost", 7, "a bus that is dead: of every signal of the pattern, no message", (), equation="no y", late=True),
    FaultKind("burst_loss", 8, "a bus with a loose contact", (
        Number("loss", "1", "probability, below 1 in bursts", None, 0.0, 1.0),
        Number("burst", "messages", "mean length of a burst; 1: independent", 1.0, 1.0, 1e9)),
              equation="good to bad: loss / (burst (1 - loss)), bad to good: 1 / burst; bad: no y", late=True, stage="loss"),
    FaultKind("late", 9, "a bus that is busy; what is on its way at the end is lost", (
        Number("delay", "s", "mean", None, 0.0, LONGEST),
        Number("jitter", "s", "half width of what is added, uniform", 0.0, 0.0, LONGEST)),
              equation="y(t) = x(t - delay - jitter)", late=True, stage="delay"),
)

JOINT_ROWS = (
    FaultKind("lost_effort", 0, "a drive that has lost some of its force", (
        Number("fraction", "1", "of the effort that is lost", None, 0.0, 1.0),), target="joint",
              equation="tau = (1 - fraction) (tau_actuator + tau_outside)"),
    FaultKind("free", 1, "a drive without effect: a broken shaft", (), target="joint", equation="tau = 0"),
    FaultKind("stuck", 2, "a joint that stands still at once, by an impulse that others feel", (), target="joint", equation="v = 0"),
    FaultKind("jammed_brake", 3, "a brake that does not open; it slips under more than its effort", (
        Number("effort", "joint effort", "of the brake", None, 0.0),), target="joint", equation="tau - effort sign(v)"),
    FaultKind("friction", 4, "a dry or worn bearing", (
        Number("coulomb", "joint effort", "Coulomb friction that is added", 0.0, 0.0),
        Number("viscous", "joint damping", "damping that is added", 0.0, 0.0)), target="joint",
              equation="tau - coulomb sign(v) - viscous v"),
    FaultKind("load", 5, "a point mass on a body", (
        Number("mass", "kg", "", None, 0.0), Number("place", "m", "where it is, in the frame", (0.0, 0.0, 0.0), size=3)), target="frame",
              equation="m + mass, I + mass (|p|^2 1 - p p^T)"),
)

ROWS = SIGNAL_ROWS + JOINT_ROWS
BY_NAME = {row.name: row for row in ROWS}
BY_VERB = {row.verb: row for row in ROWS if row.verb}


def parameters(kind: FaultKind, numbers: Mapping[str, float], dt: float) -> list[float]:
    """The numbers of a signal's fault as its file takes them: those of the channel, where it is one."""
    if not kind.stage:
        return [*(numbers[number.name] for number in kind.numbers), *([dt] if kind.name == "drift" else [])]
    given = {number.name: number.default for number in CHANNELS[kind.stage].numbers} | dict(numbers) | {"dt": dt}
    return [float(x) if isinstance(x, (int, float)) else 0.0 for x in (given[number.name] for number in CHANNELS[kind.stage].numbers)]


def size(kind: FaultKind) -> int:
    """Doubles of its numbers; of a load with its place on the body, behind them."""
    if kind.stage:
        return CHANNELS[kind.stage].size
    return kind.size + {"drift": 1, "load": 3}.get(kind.name, 0)


def room(kind: FaultKind, numbers: Mapping[str, float], dt: float) -> int:
    """Slots of a delay line, where it has one."""
    return slots({"distribution": 0.0, "duplication": 0.0, **numbers}, dt) if kind.stage == "delay" else 0


def memory(kind: FaultKind, slots: int, width: int) -> int:
    """Doubles of the memory of a fault on a signal of that width."""
    return 3 + slots * (width + 2) if kind.stage == "delay" else 2 + width
