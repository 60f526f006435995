"""What a joint's initial position is drawn from: one expression for each coordinate, rotations as a whole."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.describe.joints.kinds import row_of, unit_parts
from mbros.errors import MbrosError
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.joints.distributions import RandomExpression, UniformRotation
    from mbros_core.typing import ArrayLike

OTHER_NAMES = {"theta": ("qz", "q"), "angle": ("q",), "roll": ("qx",), "pitch": ("qy",), "yaw": ("qz",), "displacement": ("x", "z")}


class RandomPositions:
    """`coordinates` (nq): expressions, None where the default is kept. `rotation`: UniformRotation for the unit part, or an
    expression for the angle of a (cos, sin) pair, or None."""

    def __init__(self, kind: str, coordinates: Iterable[RandomExpression | None],
                 rotation: UniformRotation | RandomExpression | None = None) -> None:
        self.kind, self.coordinates, self.rotation = kind, tuple(coordinates), rotation

    @classmethod
    def by_name(cls, element: str, kind: str, given: Mapping[str, Any]) -> RandomPositions:
        """From {coordinate: expression}: names of the registry (x, qz, ...), theta, angle, roll, pitch, yaw, rotation."""
        from mbros.describe.joints.distributions import UniformRotation, expression      # start-up time: who does not use it does not pay

        names = row_of(kind).position_names
        parts = unit_parts(kind)
        unit = [k for part in parts for k in range(part.start, part.stop)]
        coordinates: list[RandomExpression | None] = [None] * len(names)
        rotation = None
        for name, value in given.items():
            own = [n for n in (name, *OTHER_NAMES.get(name, ())) if n in names]
            if parts and (name == "rotation" or (name in ("angle", "theta") and len(unit) == 2)):
                rotation = value if isinstance(value, UniformRotation) else _angle(element, value, len(unit))
            elif own and names.index(own[0]) not in unit:
                coordinates[names.index(own[0])] = expression(value)
            else:
                known = [n for k, n in enumerate(names) if k not in unit] + ["rotation"] * bool(parts)
                known += [other for other, own in OTHER_NAMES.items() if any(n in known for n in own)]
                raise MbrosError(f"{element}: it has no coordinate {name!r} to draw{hint(name, known)}")
        return cls(kind, coordinates, rotation)

    def draw(self, element: str, default: ArrayLike, drawn: dict[Any, Any], rng: np.random.Generator) -> np.ndarray:
        """q (nq,): one draw. element: how messages name the joint. `drawn`: the variables drawn so far in this sample, shared by all
        joints."""
        from mbros.describe.joints.distributions import UniformRotation      # start-up time: who does not use it does not pay

        q = np.array(default, float)
        for k, given in enumerate(self.coordinates):
            if given is not None:
                q[k] = _finite(element, row_of(self.kind).position_names[k], given, drawn, rng)
        for part in unit_parts(self.kind):
            if isinstance(self.rotation, UniformRotation):
                direction = rng.normal(size=part.stop - part.start)
                q[part] = direction / np.linalg.norm(direction)
            elif self.rotation is not None:
                angle = _finite(element, "angle", self.rotation, drawn, rng)
                q[part] = np.cos(angle), np.sin(angle)
        return q

    def __repr__(self) -> str:
        named = [f"{n}={e!r}" for n, e in zip(row_of(self.kind).position_names, self.coordinates) if e is not None]
        return f"RandomPositions({', '.join(named + [f'rotation={self.rotation!r}'] * (self.rotation is not None))})"


def _finite(element: str, name: str, given: RandomExpression, drawn: dict[Any, Any], rng: np.random.Generator) -> float:
    """The value of an expression in this draw."""
    value = given.value(drawn, rng)
    if not np.isfinite(value):
        raise MbrosError(f"{element}: its random {name} = {given!r} came out as {value:g}; expected a finite number in every draw")
    return value


def _angle(element: str, value: Any, size: int) -> RandomExpression:
    from mbros.describe.joints.distributions import expression      # start-up time: who does not use it does not pay

    if size != 2:
        raise MbrosError(f"{element}: rotation is {value!r}; expected mbros.UniformRotation()")
    return expression(value)
