"""Force elements of one's own: in Python, or in C or Cython.

Python, for trying things out (each evaluation takes the interpreter, some tens of microseconds; no real-time loop):

    class MySpring(mbros.ForceElement):
        def __init__(self, frame_A, frame_C, k):
            super().__init__(frame_A, frame_C)
            self.k = k

        def wrench(self, pose, velocity):           # on C about Co, in A axes
            return np.zeros(3), -self.k * pose.p

        def energy(self, pose):
            return 0.5 * self.k * pose.p @ pose.p

    b.add_force_element(MySpring(b.world, plate, k=100.0))

C or Cython, at full speed and in the real-time loop: fill a `mbros_user_force` (mbros_core/user.hpp) with a function, put it
into a PyCapsule named "mbros_core.user_force", and give that:

    b.add_force_element(mbros.CompiledForceElement(b.world, plate, capsule))
"""
from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.engine import _callbacks
from mbros_core.support.numbers import short
from mbros_core.engine.user_code import CalledByEngine

from mbros.arguments import refuse
from mbros.describe.forces.element import Described
from mbros.spatial.vectors import Pose, SpatialVelocity

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, FrameDescription
    from mbros_core.typing import Array, ArrayLike, Capsule

class ForceElement(CalledByEngine, Described):
    """A force element written in Python, between frame A of one body and frame C of another.

    Subclasses give `wrench(pose, velocity)` and, if it stores energy, `energy(pose)`. The powers follow: with an energy, what
    the wrench at rest delivers is conservative and the rest is not; without one nothing is conservative. mbros applies the
    opposite wrench to A. Whether wrench and energy fit each other: model.force_elements[...].check(state).
    """

    kind, called = "user", "force element in Python"

    def __init__(self, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription, *,
                 name: str | None = None) -> None:
        super().__init__(name)
        self._between(frame_A, frame_C)

    def wrench(self, pose: Pose, velocity: SpatialVelocity) -> tuple[ArrayLike, ArrayLike]:
        """(torque (3,) N m about Co, force (3,) N) on C, in A axes.

        pose: C in A (.R, .p); velocity: of C in A (.angular, .linear of Co), in A axes.
        """
        raise NotImplementedError(f"{type(self).__name__} has no wrench(pose, velocity)")

    def energy(self, pose: Pose) -> float:
        """Stored energy, J. A subclass without this stores nothing: all its power is non-conservative."""
        return 0.0

    def evaluate(self, pose: Pose, velocity: SpatialVelocity) -> tuple[Array, float, float, float]:
        """(wrench (6,), energy, conservative power, nonconservative power)."""
        V = velocity.values
        F = self._six(self.wrench(pose, velocity))
        if type(self).energy is ForceElement.energy:
            return F, 0.0, 0.0, float(F @ V)
        at_rest = self._six(self.wrench(pose, SpatialVelocity(np.zeros(6)))) if V.any() else F
        conservative = float(at_rest @ V)
        return F, float(self.energy(pose)), conservative, float(F @ V) - conservative

    def _six(self, wrench: tuple[ArrayLike, ArrayLike]) -> np.ndarray:
        torque, force = wrench
        F = np.concatenate([np.asarray(torque, float), np.asarray(force, float)])
        if F.shape != (6,):
            raise ValueError(f"wrench() gave {F.size} numbers; expected torque (3,) and force (3,)")
        return F

    def evaluate_numbers(self, X: Array, V: Array) -> tuple[Array, list[float]]:
        """What the engine asks: (wrench (6,), [energy, conservative power, nonconservative power]) from the rows of X_AC and V_AC."""
        assert self.frame_a is not None and self.frame_c is not None
        F, *numbers = self.evaluate(Pose._of_engine(X, self.frame_c.name, self.frame_a.name),
                                    SpatialVelocity(V, self.frame_c.name, self.frame_a.name))
        return F, numbers

    def _make_callback(self) -> _callbacks.ForceCallback:
        return _callbacks.ForceCallback(self)


class CompiledForceElement(Described):
    """A force element from C or Cython. law: a PyCapsule "mbros_core.user_force", or an object with one as `.capsule`, which
    the model keeps alive."""

    kind, called = "user", "compiled force element"

    def __init__(self, frame_A: BodyDescription | FrameDescription, frame_C: BodyDescription | FrameDescription, law: Any, *,
                 name: str | None = None) -> None:
        super().__init__(name)
        self._between(frame_A, frame_C)
        self.law = law
        if not _callbacks.is_capsule(self.capsule, _callbacks.FORCE):
            refuse(self._label, f"law is {short(law)}", f"Give a PyCapsule named {_callbacks.FORCE!r}, or an object that has one as "
                   ".capsule.")

    @property
    def capsule(self) -> Capsule:
        """The plug for the engine."""
        return getattr(self.law, "capsule", self.law)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledForceElement:
        """A copy that shares the law."""
        other = copy.copy(self)
        memo[id(self)] = other
        other.frame_a, other.frame_c = copy.deepcopy(self.frame_a, memo), copy.deepcopy(self.frame_c, memo)
        return other
