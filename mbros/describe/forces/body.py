"""Forces on one body: a wrench, a gravity field of its own."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros_core.support.numbers import short

from mbros.arguments import refuse
from mbros.describe.forces.element import Described

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, FrameDescription
    from mbros_core.typing import ArrayLike


class BodyWrench(Described):
    """A constant wrench on a body (or at a frame on it): torque (3,) N m, force (3,) N through the frame's origin.

    expressed_in: "world" (the default: the wrench keeps its direction in space; its force has a potential) or "body" (it turns
    with the body, as a thruster does).
    """

    kind, called = "body_wrench", "body wrench"

    def __init__(self, body: BodyDescription | FrameDescription, torque: ArrayLike = (0.0, 0.0, 0.0), force: ArrayLike = (0.0, 0.0, 0.0), *,
                 expressed_in: str = "world", name: str | None = None) -> None:
        super().__init__(name)
        if not isinstance(expressed_in, str) or expressed_in not in ("world", "body"):
            refuse(self._label, f"expressed_in is {short(expressed_in)}", "Give 'world' or 'body'.")
        self._on_body(body)
        self._numbers(torque=torque, force=force, in_body=float(expressed_in == "body"))


class BodyGravity(Described):
    """A gravity field of one body's own, beside the model's: gravity (3,) m/s^2 in world axes.

    mass (kg) and com (3,) from the frame's origin in its axes (m): those of the body unless given. With the model's gravity
    reversed the body floats.
    """

    kind, called = "body_gravity", "body gravity"

    def __init__(self, body: BodyDescription | FrameDescription, gravity: ArrayLike, *, mass: float | None = None,
                 com: ArrayLike | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self._on_body(body)
        at = self.frame_c
        assert at is not None
        if mass is None:
            mass = at.body.mass
        if com is None:
            com = at.X_BF.R.T @ (at.body.com - at.X_BF.p)
        self._numbers(mass=mass, com=com, gravity=gravity)
