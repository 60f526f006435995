"""LinearBushingRollPitchYaw: a flexible mount between two frames, and the joints it can stand for."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import floats, number, refuse
from mbros.describe.forces.element import Described
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, FrameDescription
    from mbros_core.typing import ArrayLike
    from typing_extensions import Self

LAWS = {"drake": "bushing", "energy_consistent": "bushing_energy_consistent", "quaternion": "bushing_quaternion"}


class LinearBushingRollPitchYaw(Described):
    """A massless flexible bushing between frame A of one body and frame C of another (Drake's class of this name).

    torque_stiffness k (N m/rad) and torque_damping d (N m s/rad) act on roll, pitch, yaw of C in A (radians):
    tau_i = -(k_i q_i + d_i qdot_i); force_stiffness (N/m) and force_damping (N s/m) act along the axes of the half-way frame
    B: f_j = -(kx_j x_j + dx_j xdot_j), [x y z] = p_AoCo in B. Each (3,), or one number for all three; none negative.

    law: "drake" is Drake's, in which B turns at half the rate of C in A. "energy_consistent" takes B's exact rate, so that the
    power is the derivative of the stored energy also for unequal force stiffnesses and a turning axis. "quaternion" does too, and
    takes twice the vector part of C's unit quaternion in A for q: the same for small angles, and without gimbal lock; about
    one axis the torque is -k sin(angle) - d cos(angle / 2)^2 anglerate.

    Of the first two: there is no angle wrapping, so torques jump where roll or yaw passes +-180 degrees; within 0.46 degrees of a
    pitch of +-90 degrees every evaluation raises GimbalLockError; as roll, pitch, yaw is a sequence, A and C are not
    interchangeable: swapping them gives another torque, except for rotations about one axis.
    """

    called = "bushing"

    def __init__(self, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription,
                 torque_stiffness: ArrayLike = 0.0, torque_damping: ArrayLike = 0.0, force_stiffness: ArrayLike = 0.0,
                 force_damping: ArrayLike = 0.0, *,
                 law: str = "drake", name: str | None = None) -> None:
        super().__init__(name)
        if not isinstance(law, str) or law not in LAWS:
            refuse(self._label, f"law is {short(law)}{hint(law, LAWS)}", f"Give one of {', '.join(map(repr, LAWS))}.")
        self.law, self.kind = law, LAWS[law]
        self._between(frame_A, frame_C)
        self._numbers(torque_stiffness=torque_stiffness, torque_damping=torque_damping, force_stiffness=force_stiffness,
                      force_damping=force_damping)

    @property
    def torque_stiffness(self) -> np.ndarray:
        """(3,) N m/rad."""
        return self.values["torque_stiffness"].copy()

    @property
    def torque_damping(self) -> np.ndarray:
        """(3,) N m s/rad."""
        return self.values["torque_damping"].copy()

    @property
    def force_stiffness(self) -> np.ndarray:
        """(3,) N/m."""
        return self.values["force_stiffness"].copy()

    @property
    def force_damping(self) -> np.ndarray:
        """(3,) N s/m."""
        return self.values["force_damping"].copy()

    # --------------------------------------------------------- joints with a flexible mount: which constants are zero

    @classmethod
    def revolute_z(cls, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription,
                   torque_stiffness: ArrayLike, torque_damping: ArrayLike, force_stiffness: ArrayLike, force_damping: ArrayLike, *,
                   free_damping: ArrayLike = 0.0,
                   law: str = "drake", name: str | None = None) -> Self:
        """Turns freely about z: torque constants are one number or (2,) for x and y; free_damping that about z."""
        k = _with_free("torque_stiffness", torque_stiffness, 2, 0.0)
        d = _with_free("torque_damping", torque_damping, 2, free_damping)
        return cls(frame_A, frame_C, k, d, force_stiffness, force_damping, law=law, name=name)

    @classmethod
    def prismatic_x(cls, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription,
                    torque_stiffness: ArrayLike, torque_damping: ArrayLike, force_stiffness: ArrayLike, force_damping: ArrayLike, *,
                    free_damping: ArrayLike = 0.0,
                    law: str = "drake", name: str | None = None) -> Self:
        """Slides freely along x: force constants are one number or (2,) for y and z; free_damping that along x."""
        k = _with_free("force_stiffness", force_stiffness, 0, 0.0)
        d = _with_free("force_damping", force_damping, 0, free_damping)
        return cls(frame_A, frame_C, torque_stiffness, torque_damping, k, d, law=law, name=name)

    @classmethod
    def ball(cls, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription, force_stiffness: ArrayLike,
             force_damping: ArrayLike, *, free_damping: ArrayLike = 0.0, law: str = "drake", name: str | None = None) -> Self:
        """Turns freely: no torque stiffness; free_damping: torque damping, one number or (3,)."""
        return cls(frame_A, frame_C, 0.0, free_damping, force_stiffness, force_damping, law=law, name=name)

    @classmethod
    def weld(cls, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription, torque_stiffness: ArrayLike,
             torque_damping: ArrayLike, force_stiffness: ArrayLike, force_damping: ArrayLike, *, law: str = "drake",
             name: str | None = None) -> Self:
        """Holds all six: the penalty form of a weld."""
        return cls(frame_A, frame_C, torque_stiffness, torque_damping, force_stiffness, force_damping, law=law, name=name)


def _with_free(what: str, held: ArrayLike, free_axis: int, free: Any) -> list[float]:
    """(3,) with `free` on the free axis and the one or two numbers `held` on the others."""
    numbers = floats(held)
    if numbers is None or numbers.shape not in ((), (1,), (2,)):
        refuse("bushing", f"{what} is {short(held)}", "Give one number, or one for each of the two axes that are held.")
    return np.insert(np.broadcast_to(numbers, (2,)), free_axis, number("bushing", "free_damping", free)).tolist()


Bushing = LinearBushingRollPitchYaw
