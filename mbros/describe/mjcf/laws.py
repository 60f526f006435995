"""The law of an actuator: force = gain u + b0 + b1 l + b2 ldot, of its input u and the length l = gear q of what it acts on. All tags of
MuJoCo are words for such laws; what they say adds up, from the outermost default class to the element itself."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros_core.support.records import record

from mbros.describe.mjcf.defaults import merged
from mbros.describe.mjcf.values import number, several, word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbros.describe.mjcf.defaults import Attributes
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement

DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "pid", "user")
GAINS = ("fixed", "affine", "muscle", "dcmotor", "so3", "pid", "user")
BIASES = ("none", "affine", "muscle", "dcmotor", "so3", "user")
UNREAD = ("cylinder", "muscle", "adhesion", "pid", "orientation", "plugin")      # tags with laws that are not read


@record(eq=False)
class Law:
    """gain: of the input, and by what it grows with length and velocity. dampratio: instead of b2, of a servo. attributes: of all kinds,
    merged."""

    attributes: Attributes
    gain: tuple[float, ...] = (1.0, 0.0, 0.0)
    bias: tuple[float, ...] = (0.0, 0.0, 0.0)
    dynamics: str = "none"
    time_constant: float = 1.0
    gain_type: str = "fixed"
    bias_type: str = "none"
    inherit: float = 0.0

    @property
    def dampratio(self) -> float:
        """Of a servo whose damping is given by a ratio, or 0."""
        return self.bias[2] if self.bias_type == "affine" and self.bias[2] > 0.0 and self.gain[0] == -self.bias[1] else 0.0


def law_of(context: Context, elements: Iterable[XmlElement], label: str) -> Law:
    """Of the elements of its default classes and its own, in order."""
    law = Law({})
    for element in elements:
        law.attributes = merged(law.attributes, element.attributes)
        _READERS.get(element.tag, _none)(context, element, law, label)
    return law


def _none(context: Context, element: XmlElement, law: Law, label: str) -> None:
    law.gain_type = element.tag


def _general(context: Context, element: XmlElement, law: Law, label: str) -> None:
    law.dynamics = word(context, element, "dyntype", label, DYNAMICS, law.dynamics)
    law.gain_type = word(context, element, "gaintype", label, GAINS, law.gain_type)
    law.bias_type = word(context, element, "biastype", label, BIASES, law.bias_type)
    law.gain = _parameters(context, element, "gainprm", label, law.gain)
    law.bias = _parameters(context, element, "biasprm", label, law.bias)
    law.time_constant = _parameters(context, element, "dynprm", label, (law.time_constant, 0.0, 0.0))[0]


def _parameters(context: Context, element: XmlElement, name: str, label: str, usual: tuple[float, ...]) -> tuple[float, ...]:
    """The first three of up to ten, which are those of the laws that are read."""
    return several(context, element, name, label, (*usual, *(0.0,) * 7))[:3]


def _motor(context: Context, element: XmlElement, law: Law, label: str) -> None:
    law.gain, law.dynamics, law.gain_type, law.bias_type = (1.0, *law.gain[1:]), "none", "fixed", "none"


def _position(context: Context, element: XmlElement, law: Law, label: str) -> None:
    kp = number(context, element, "kp", label, law.gain[0])
    damping = law.bias[2]
    for name, sign in (("kv", -1.0), ("dampratio", 1.0)):
        if name in element.attributes:
            damping = sign * number(context, element, name, label, 0.0)
            if sign * damping < 0.0:
                context.problem(element.line, label, f"{name} is negative", "It must be zero or more.")
    if "kv" in element.attributes and "dampratio" in element.attributes:
        context.problem(element.line, label, "it has kv and dampratio", "Give one of them.")
    law.gain, law.bias, law.gain_type, law.bias_type = (kp, *law.gain[1:]), (law.bias[0], -kp, damping), "fixed", "affine"
    if element.tag == "intvelocity":
        law.dynamics = "integrator"
    elif "timeconst" in element.attributes:
        law.time_constant = number(context, element, "timeconst", label, 0.0)
        law.dynamics = "filterexact" if law.time_constant else "none"
    law.inherit = number(context, element, "inheritrange", label, law.inherit)


def _velocity(context: Context, element: XmlElement, law: Law, label: str) -> None:
    kv = number(context, element, "kv", label, law.gain[0])
    law.gain, law.bias, law.dynamics, law.gain_type, law.bias_type = (kv, *law.gain[1:]), (0.0, 0.0, -kv), "none", "fixed", "affine"


def _damper(context: Context, element: XmlElement, law: Law, label: str) -> None:
    kv = number(context, element, "kv", label, -law.gain[2] if law.gain_type == "affine" else 0.0)
    if kv < 0.0:
        context.problem(element.line, label, "kv is negative", "It must be zero or more.")
    law.gain, law.dynamics, law.gain_type, law.bias_type = (0.0, 0.0, -kv), "none", "affine", "none"
    law.attributes.setdefault("ctrllimited", "true")


_READERS = {"general": _general, "motor": _motor, "position": _position, "intvelocity": _position, "velocity": _velocity, "damper": _damper}
