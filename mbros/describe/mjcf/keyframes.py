"""<keyframe>: positions by name, which model.keyframes has."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.joints.kinds import unit_parts
from mbros.describe.mjcf.values import numbers
from mbros.describe.urdf.numbers import shorten

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading

MOST = 1000
UNUSED = ("time", "qvel", "act", "ctrl", "mpos", "mquat")


def read_keyframes(reading: MjcfReading) -> None:
    """qpos of each key, joint by joint, into the description."""
    nq, found = sum(joint.nq for joint in reading.order), reading.description.keyframes
    for section in reading.root.all("keyframe"):
        for element in section.all("key"):
            name = element.attributes.get("name") or f"key{len(found)}"
            label = f"key {shorten(name)}"
            for word in UNUSED:
                if word in element.attributes:
                    reading.note(("key", word), element, label, f"{word} is not used: a keyframe has positions here")
            if "qpos" not in element.attributes or len(found) >= MOST:
                reading.note("key", element, label,
                             "not used: it has no qpos" if len(found) < MOST else f"not used: there are {MOST} above")
                continue
            q = np.array(numbers(reading.context, element, "qpos", label))
            if len(q) != nq or name in found:
                if len(q) != nq:
                    reading.context.problem(element.line, label, f"qpos has {len(q)} numbers", f"The joints have {nq} positions.")
                else:
                    reading.context.problem(element.line, label, "there is another key of this name above", "Give every key a name of its "
                                                                                                            "own.")
                continue
            found[name] = {}
            start = 0
            for joint in reading.order:
                part = q[start:start + joint.nq].copy()
                start += joint.nq
                for unit in unit_parts(joint.kind):
                    length = float(np.linalg.norm(part[unit]))
                    if not length > 0.0:
                        reading.context.problem(element.line, label, f"the quaternion of joint {joint.name!r} in qpos is zero",
                                                "Give another.")
                        break
                    part[unit] /= length
                found[name][joint.name] = part
