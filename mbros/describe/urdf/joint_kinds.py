"""Which joint types a file may name: URDF's in <joint>, Drake's in <drake:joint>, all of mbros' in <mbros:joint>.

    <drake:joint name="hip" type="ball"> ... </drake:joint>          ball (on roll, pitch, yaw), planar, screw, universal
    <mbros:joint name="hip" type="ball"> ... </mbros:joint>          any kind of mbros_core.joints.registry, and continuous, fixed

Both hold what <joint> holds. A screw needs <drake:screw_thread_pitch value="metres per revolution"/> or
<mbros:pitch value="metres per radian"/>. Every joint may hold <mbros:lock/> (it starts locked) and <mbros:default q="..."/>
(where it starts).
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.joints.kinds import KINDS
from mbros.describe.urdf.numbers import shorten
from mbros.names import did_you_mean

if TYPE_CHECKING:
    from mbros.describe.robot import JointDescription
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement
    from mbros_core.typing import Array

URDF = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "weld", "floating": "floating",
        "planar": "planar"}
DRAKE = {"ball": "ball_rpy", "planar": "planar", "screw": "screw", "universal": "universal"}
MBROS = {**{kind: kind for kind in KINDS}, "fixed": "weld"}
TYPES = {"joint": URDF, "drake:joint": DRAKE, "mbros:joint": MBROS}
SAID = {"joint": "URDF has revolute, continuous, prismatic, fixed, floating and planar.",
        "drake:joint": "Drake has ball, planar, screw and universal.",
        "mbros:joint": "mbros has " + ", ".join(MBROS) + "."}


def kind_of(context: Context, element: XmlElement, label: str) -> str | None:
    """The joint's kind, or None when its type is missing or unknown."""
    types = TYPES[element.tag]
    given = element.attributes.get("type")
    if given in types:
        return types[given]
    if given is None:
        reason = f"attribute 'type' is missing in <{element.tag}>"
    else:
        elsewhere = [tag for tag, others in TYPES.items() if given in others]
        near = did_you_mean(given, types)
        reason = f"type {shorten(given)} is unknown" + (f" in <{element.tag}>; write <{'> or <'.join(elsewhere)}>" if elsewhere
                                                        else f"; did you mean {near!r}?" if near else "")
    context.problem(element.line, label, reason, SAID[element.tag])
    return None


def read_parameters(context: Context, element: XmlElement, kind: str, label: str) -> tuple[float, ...] | None:
    """The kind's parameters; None when they are wrong or missing."""
    if kind != "screw":
        return ()
    tag, per = ("drake:screw_thread_pitch", 2.0 * math.pi) if element.tag == "drake:joint" else ("mbros:pitch", 1.0)
    holder = context.one(element, tag, label, required=True)
    pitch = None if holder is None else context.scalar(holder, "value", label)
    return None if pitch is None else (pitch / per,)


def read_start(context: Context, element: XmlElement, joint: JointDescription, label: str) -> None:
    """<mbros:lock/> and <mbros:default q>."""
    lock, default = context.one(element, "mbros:lock", label), context.one(element, "mbros:default", label)
    if lock is not None:
        if joint.nv == 0:
            context.notes.add("lock", lock.line, label, f"<mbros:lock> has no effect on a {joint.kind} joint")
        elif joint.mimic is not None:
            context.problem(lock.line, f"{label}, <mbros:lock>", f"it follows joint {joint.mimic.leader!r}",
                            f"Lock {joint.mimic.leader!r}.")
        else:
            joint.locked = True
    if default is not None and not joint.nq:
        context.notes.add("default", default.line, label, f"<mbros:default> has no effect on a {joint.kind} joint")
    elif default is not None:
        q = context.vector(default, "q", joint.nq, label)
        if q is not None:
            joint.default = np.array(q)


def tilt(axis: Iterable[float]) -> np.ndarray:
    """The smallest rotation that takes z to the unit vector `axis`; half a turn about x for -z. As Drake has it for planes."""
    x, y, z = (float(a) for a in axis)
    across = x * x + y * y
    if z < 0.0 and across == 0.0:
        return np.diag([1.0, -1.0, -1.0])
    # Rodrigues' formula for w = z x axis, whose length is the sine and whose cosine is axis_z; k = 1 / (1 + z)
    k = (1.0 - z) / across if z < 0.0 else 1.0 / (1.0 + z)
    return np.array([[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, 1.0 - k * (x * x + y * y)]]) + 0.0


def spread(context: Context, holder: XmlElement, attribute: str, n: int, label: str, least: float | None = None) -> Array | None:
    """(n,) from one number, used for all, or from n; None where absent or wrong."""
    text = holder.attributes.get(attribute)
    if text is None:
        return None
    size = n if n > 1 and len(text.split()) != 1 else 1
    values = context.vector(holder, attribute, size, label, least=least)
    return None if values is None else np.array(values * (n if size == 1 else 1), float)
