"""Source: a joint whose motion may come from elsewhere, from real hardware for example, while the rest is simulated."""
from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from mbros_core.plant.rows import DeviceKind, Number

from mbros.arguments import check_name, choice, refuse
from mbros.describe.devices.device import joint_name, value_of
from mbros.errors import NOWHERE
from mbros.names import hint

NUMBERS = (
    Number("timeout", "s", "without a sample, after which the source is lost", 0.05, 0.0, above=True),
    Number("jump", "joint position", "largest distance of a sample from where the last ones lead; by default what the speed allows", inf,
           0.0, above=True),
    Number("speed", "joint velocity", "largest speed, which bounds jumps by twice what it goes in their time; by default the joint's", inf,
           0.0, above=True),
    Number("velocity_jump", "joint velocity", "the same of its velocity from the last one", inf, 0.0, above=True),
    Number("blend", "s", "over which the joint comes from its own motion to that of the source, or to rest", 0.2, 0.0, above=True),
    Number("filter", "s", "time constant of the estimated acceleration; 0: none", 0.01, 0.0),
    Number("bound", "joint effort", "largest residual: difference of predicted and measured effort", inf, 0.0, above=True),
    Number("observer", "s", "time constant of the residual, 1/K of a momentum observer; 0: none", 0.05, 0.0),
)
JUMP = 0.1                  # rad or m, of a joint without a velocity limit, and of a sample beyond the limits of its position
SAFE = ("lock", "sim", "hold")
ROW = DeviceKind("source", 0, "a joint whose motion may come from elsewhere", (
    *NUMBERS, Number("safe", "", "what a source becomes that is lost or jumps: lock, sim or hold", 0.0, 0.0, 2.0)))


class JointSource:
    """Lets a joint (or a pattern of joints) be simulated, real, prescribed or locked, while running: sim.sources["joint2"] = "real".

    safe: what a source that is lost or jumps becomes: "lock" (at rest at once), "sim" (moved by its forces) or "hold" (brought to rest
    within `blend`). timeout, jump, speed, velocity_jump, blend, filter, bound, observer: the numbers of the table in docs/sources.md. Its
    signals are <joint>.interface.effort, what the motion takes, and <joint>.interface.residual, that less the effort that was measured.
    """

    def __init__(self, name: str, *, joint: Any, safe: str = "lock", **numbers: Any) -> None:
        check_name("source", name)
        self.name, self.source = name, NOWHERE
        self.joint = joint_name(self._label, joint)
        self.safe = choice(self._label, "safe", safe, SAFE)
        self.values = {n.name: float(value_of(self._label, n, numbers.pop(n.name, None))[0]) for n in NUMBERS}
        for other in numbers:
            refuse(self._label, f"it has no number {other!r}{hint(other, [n.name for n in NUMBERS])}",
                   f"Numbers of a source: {', '.join(n.name for n in NUMBERS)}.")

    row = ROW

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        """The numbers that can be changed while it runs."""
        return cls.row.numbers

    def numbers(self) -> np.ndarray:
        """All of them, in the order of the row."""
        return np.array([*(self.values[n.name] for n in NUMBERS), float(SAFE.index(self.safe))])

    @staticmethod
    def worded(numbers: dict[str, Any]) -> dict[str, Any]:
        """Numbers as arguments: the safe state is a word."""
        safe: Any = numbers.get("safe")
        return {**numbers, "safe": SAFE[int(safe)]} if safe in range(len(SAFE)) else numbers

    def with_numbers(self, name: str, numbers: dict[str, Any]) -> JointSource:
        """The source with all its numbers given; refused as it would have been when it was made."""
        return JointSource(name, joint=self.joint, **self.worded(numbers))

    def of_joint(self, speed: float) -> dict[str, float]:
        """{number: what stands for it where it is not given} of a joint with that velocity limit. A given jump is the only bound."""
        given = min(self.values["jump"], self.values["speed"]) < inf
        return {} if given else {"speed": speed} if speed < inf else {"jump": JUMP}

    @property
    def _label(self) -> str:
        return f"source {self.name!r}"

    def __repr__(self) -> str:
        return f"<JointSource {self.name!r} of {self.joint}, {self.safe} where it is lost>"
