"""Joints of one's own: in Python, or in C or Cython.

Python, for trying things out (each evaluation takes the interpreter, some tens of microseconds; no real-time loop):

    class Slope(mbros.JointLaw):
        nq = nv = 1
        position_names, velocity_names = ("s",), ("sdot",)

        def pose(self, q):                  # X_FM: R (3, 3) and p (3,), m
            return np.eye(3), np.array([q[0], 0, 0.5 * q[0] ** 2])

        def subspace(self, q):              # H (6, nv): V_FM = H v, [angular; linear] about Mo in F axes
            return np.array([[0, 0, 0, 1, 0, q[0]]]).T

        def bias(self, q, v):               # Hdot v (6,)
            return np.array([0, 0, 0, 0, 0, v[0] ** 2])

    b.add_joint(mbros.CustomJoint("slope", b.world, cart, Slope()))

Where v is not qdot, a law also has qdot(q, v), velocity(q, qdot), integrate(q, dv), difference(q0, q1), normalize(q), and `neutral`.

C or Cython, at full speed and in the real-time loop: fill a `mbros_user_joint` (mbros_core/user.hpp), put it into a PyCapsule named
"mbros_core.user_joint", and give an object that has it as `.capsule`, and nq and nv.

What no function of q shows is stated by attributes, of a JointLaw or of the object with the capsule; each may be left out:

    position_names, velocity_names     suffixes of the coordinates' names: q0, q1, ... and v0, v1, ...
    position_units, velocity_units     "rad", "m", ...; "" for the parts of a unit quaternion or (cos, sin) pair
    neutral                            zeros; where v is not qdot, the q of no motion
    velocities_are_rates               whether v = qdot: nq == nv and, of a JointLaw, no maps of its own. Set it to False for a
                                       capsule with maps and nq == nv
    space                              a mbros.spaces.Space: derivatives of integrate and difference, and sampling, where v is not qdot
    subspace_gradient(q), ...          exact derivatives: mbros.diff.custom_joints, which has differences for the others
    velocity_bounds                    (linear, angular): the least numbers with |v_Mo| <= linear |v|, |w| <= angular |v|; inf
    reach(start, lower, upper)         the largest |p_FoMo_F(q) - start| for lower <= q <= upper, m; inf
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.engine import _callbacks
from mbros_core.joints.registry import user_row
from mbros_core.support.numbers import short
from mbros_core.engine.user_code import CalledByEngine

from mbros.arguments import is_whole, refuse
from mbros.describe.joints.classes import UserJoint
from mbros.describe.joints.kinds import UserKind

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, FrameDescription
    from mbros_core.typing import Array, ArrayLike

MAPS = ("qdot", "velocity", "integrate", "difference", "normalize")


class JointLaw(CalledByEngine):
    """A joint kind written in Python. Subclasses give nq, nv, pose(q), subspace(q) and bias(q, v)."""

    nq = nv = 0

    def pose(self, q: Array) -> tuple[ArrayLike, ArrayLike]:
        """(R_FM (3, 3), p_FoMo_F (3,)) at q (nq,)."""
        raise NotImplementedError(f"{type(self).__name__} has no pose(q)")

    def subspace(self, q: Array) -> ArrayLike:
        """H_FM (6, nv) in F axes: V_FM = H v."""
        raise NotImplementedError(f"{type(self).__name__} has no subspace(q)")

    def bias(self, q: Array, v: Array) -> ArrayLike:
        """Hdot_FM v (6,) in F axes."""
        raise NotImplementedError(f"{type(self).__name__} has no bias(q, v)")

    @property
    def velocities_are_rates(self) -> bool:
        """Whether v = qdot: no map is defined."""
        return not any(hasattr(self, name) for name in MAPS[:4])

    def evaluate_numbers(self, q: Array, v: Array) -> np.ndarray:
        """What the engine asks at q (nq,), v (nv,): R row by row, p, the columns of H, Hdot v."""
        R, p = self.pose(q)
        columns = np.asarray(self.subspace(q), float).reshape(6, len(v))
        return np.concatenate([np.asarray(R, float).reshape(9), np.asarray(p, float).reshape(3), columns.T.ravel(),
                               np.asarray(self.bias(q, v), float).reshape(6)])

    def _make_callback(self) -> _callbacks.JointCallback:
        missing = [name for name in MAPS if not hasattr(self, name)]
        if len(missing) not in (0, len(MAPS)) or len(missing) == len(MAPS) and self.nq != self.nv:
            refuse(f"joint law {type(self).__name__}", f"it has no {', '.join(missing)}",
                   "Laws whose v is not qdot have qdot, velocity, integrate, difference and normalize; others have none of them.")
        return _callbacks.JointCallback(self, self.nq, self.nv, not missing)


class CustomJoint(UserJoint):
    """A joint with a law of its own: a JointLaw, or an object with `.capsule` ("mbros_core.user_joint"), nq and nv."""

    __slots__ = ()
    KIND = "user"

    def __init__(self, name: str, parent: BodyDescription | FrameDescription | None, child: BodyDescription | FrameDescription, law: Any,
                 **options: Any) -> None:
        self._setup(UserKind(checked(f"joint {name!r}", law)), name, parent, child, None, options)


def checked(element: str, law: Any) -> Any:
    """`law`, when it can be one."""
    nq: Any = getattr(law, "nq", None)
    nv: Any = getattr(law, "nv", None)
    if not (is_whole(nq) and is_whole(nv) and 1 <= nv <= 6 and nv <= nq <= 7):
        refuse(element, f"its law {short(law)} has nq {nq!r} and nv {nv!r}", "1 <= nv <= 6 and nv <= nq <= 7.")
    same_as_plug(element, law)
    for what, n in (("position_names", nq), ("velocity_names", nv), ("position_units", nq), ("velocity_units", nv), ("neutral", nq),
                    ("velocity_bounds", 2)):
        given = getattr(law, what, None)
        if given is not None and len(given) != n:
            refuse(element, f"its law's {what} has {len(given)} entries, expected {n}", "See mbros.describe.joints.custom.")
    if isinstance(law, JointLaw):
        first_evaluation(element, law)
    return law


def same_as_plug(element: str, law: Any) -> None:
    """Refuses an object that has no capsule, or says other things than the struct in it, by which the engine goes."""
    capsule = getattr(law, "capsule", None)
    if not _callbacks.is_capsule(capsule, _callbacks.JOINT):
        refuse(element, f"its law {short(law)} has no capsule {_callbacks.JOINT!r}",
               "Give a mbros.JointLaw, or an object with such a PyCapsule as .capsule.")
    nq, nv, maps = _callbacks.joint_facts(capsule)
    if (nq, nv) != (law.nq, law.nv):
        refuse(element, f"its law {short(law)} has nq {law.nq} and nv {law.nv}, and its capsule nq {nq} and nv {nv}",
               "Make them the same.")
    rates = user_row(law).velocities_are_rates
    if rates == maps:
        refuse(element, f"its law {short(law)} has velocities_are_rates {rates}, and its capsule has {'' if maps else 'no '}maps of its "
               "own",
               "Laws whose v is not qdot have velocities_are_rates = False and qdot, velocity, integrate, difference and normalize.")


def first_evaluation(element: str, law: Any) -> None:
    """Refuses a law whose functions raise, give wrong shapes or no rotation at the neutral position."""
    q, v = np.array(getattr(law, "neutral", (0.0,) * law.nq), float), np.zeros(law.nv)
    try:
        R, p = law.pose(q)
        R, p, H, c = (np.asarray(x, float) for x in (R, p, law.subspace(q), law.bias(q, v)))
    except Exception as error:
        refuse(element, f"its law {type(law).__name__} raised {type(error).__name__}: {error}", "See JointLaw.")
    for what, x, shape in (("pose's R", R, (3, 3)), ("pose's p", p, (3,)), ("subspace", H, (6, law.nv)), ("bias", c, (6,))):
        if x.shape != shape or not np.isfinite(x).all():
            refuse(element, f"its law's {what} at the neutral position is {x.tolist()}", f"Give finite numbers of shape {shape}.")
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0.0:
        refuse(element, f"its law's R at the neutral position, {R.tolist()}, is not a rotation matrix", "See JointLaw.")
