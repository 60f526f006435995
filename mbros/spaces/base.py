"""What every configuration space offers, and the checks on what it is given."""
from __future__ import annotations

import numpy as np

from mbros.errors import MbrosError
from mbros.names import hint
from mbros.spaces.batches import together
from mbros_core.errors import NonFiniteError

FAMILIES = ("local", "parent")


def family(increments: str) -> str:
    """`increments`, if there is such a family."""
    if increments not in FAMILIES:
        raise MbrosError(f"increments: no family {increments!r}{hint(str(increments), FAMILIES)}")
    return increments


class Space:
    """A Lie group of configurations q (nq,) with increments v (nv,). Everything also takes batches (..., nq), (..., nv).

    integrate(q, v) = q (+) v, difference(q0, q1) = the shortest v with q0 (+) v = q1. The arguments of `difference` are
    (from, to), as Pinocchio has them; hpp-model has (to, from). `increments` says what v means:

    "local"   in the moving frame, q (+) v = q exp(v): Pinocchio's and the engine's. Bounds are ignored by integrate.
    "parent"  in the fixed frame, q (+) v = exp(v) q: hpp-model's, with its saturation at bounds, its first-order
              correction of the norm, and its refusal to sample what has no bounds.

    A space is of one family, and so are its increments, its derivatives and whatever it is multiplied with.
    """

    nq: int
    nv: int
    increments: str
    name: str

    # -------------------------------------------------------------------------------------------- operations

    @property
    def neutral(self) -> np.ndarray:
        """The configuration (nq,) of no motion."""
        return self._neutral()

    def integrate(self, q, v) -> np.ndarray:
        """q (+) v."""
        q, v = self._together(q=(q, self.nq), v=(v, self.nv))
        return self._finite("integrate", self._integrate(q, v), q=q, v=v)

    def difference(self, q0, q1) -> np.ndarray:
        """The shortest v with integrate(q0, v) = q1: from the first to the second, as in Pinocchio (hpp-model: reverse)."""
        q0, q1 = self._together(q0=(q0, self.nq), q1=(q1, self.nq))
        return self._finite("difference", self._difference(q0, q1), q0=q0, q1=q1)

    def interpolate(self, q0, q1, u) -> np.ndarray:
        """The configuration a fraction u (a number, or one per row) of the way from q0 to q1 on the shortest path."""
        u = np.asarray(u, float)[..., None]
        q0, q1, u = self._together(q0=(q0, self.nq), q1=(q1, self.nq), u=(u, 1))
        return self._finite("interpolate", self._interpolate(q0, q1, u), q0=q0, q1=q1, u=u)

    def squared_distance(self, q0, q1):
        """|difference(q0, q1)|^2, a number per row."""
        d = self.difference(q0, q1)
        return _scalar((d * d).sum(-1))

    def distance(self, q0, q1):
        """|difference(q0, q1)|, a number per row: Euclidean lengths and rotation angles, root of the sum of squares."""
        d = self.difference(q0, q1)
        return _scalar(np.sqrt((d * d).sum(-1)))

    def is_same(self, q0, q1, tol: float = 1e-12):
        """Whether every coordinate of difference(q0, q1) is within tol; a quaternion and its negative are the same."""
        same = (np.abs(self.difference(q0, q1)) <= tol).all(-1)
        return bool(same) if same.ndim == 0 else same

    def normalize(self, q) -> np.ndarray:
        """The nearest valid configuration: unit quaternions and (cos, sin) pairs."""
        q, = self._together(q=(q, self.nq))
        return self._finite("normalize", self._normalize(q), q=q)

    def sample(self, rng=None, size: int | None = None) -> np.ndarray:
        """A uniformly distributed configuration (nq,) within the bounds, or `size` of them (size, nq).

        Without bounds the "local" family takes angles in (-pi, pi) and lengths in (-1, 1) m; "parent" refuses.
        """
        shape = () if size is None else (size,)
        return self._sample(np.random.default_rng(rng), shape)

    def d_integrate(self, q, v):
        """(J_q, J_v), each (..., nv, nv): integrate(q (+) a, v + b) = integrate(q, v) (+) (J_q a + J_v b) for small a, b."""
        q, v = self._together(q=(q, self.nq), v=(v, self.nv))
        Jq, Jv = self._d_integrate(q, v)
        return self._finite("d_integrate", Jq, q=q, v=v), self._finite("d_integrate", Jv, q=q, v=v)

    def d_difference(self, q0, q1):
        """(J_0, J_1), each (..., nv, nv): difference(q0 (+) a, q1 (+) b) = difference(q0, q1) + J_0 a + J_1 b for small a, b."""
        q0, q1 = self._together(q0=(q0, self.nq), q1=(q1, self.nq))
        J0, J1 = self._d_difference(q0, q1)
        return self._finite("d_difference", J0, q0=q0, q1=q1), self._finite("d_difference", J1, q0=q0, q1=q1)

    def element(self, q) -> Element:
        """q as an element of the space: `a + v` integrates, `b - a` is the v with a + v = b (hpp-pinocchio's manner)."""
        return Element(self, q)

    def add_extra_variables(self, n: int, lower=-np.inf, upper=np.inf) -> Space:
        """This space with n Euclidean variables of their own bounds at the tail of q and of v (hpp's extra configuration space)."""
        from mbros.spaces.rn import Rn
        return self * Rn(n, lower, upper, increments=self.increments)

    def __mul__(self, other) -> Space:
        from mbros.spaces.products import Product
        return Product(self, other)

    # ------------------------------------------------------------------- what a space supplies; arrays, unchecked

    def _interpolate(self, q0, q1, u):
        return self._integrate(q0, u * self._difference(q0, q1))

    def _normalize(self, q):
        return q.copy()

    # ------------------------------------------------------------------------------------------------ checks

    def _together(self, **given):
        return together(self._called(), **given)

    def _finite(self, operation, result, **inputs):
        """`result`, if all of it is finite; else the first input number that is not, or what else may be wrong."""
        if np.isfinite(result).all():
            return result
        for what, a in inputs.items():
            bad = np.argwhere(~np.isfinite(a))
            if len(bad):
                at = tuple(int(k) for k in bad[0])
                raise NonFiniteError(f"{operation} in {self._called()}: {what}{list(at)}{self._component(what, at[-1])} is {a[at]}; "
                                     "expected a finite number")
        raise NonFiniteError(f"{operation} in {self._called()}: the result is not finite although every input is: a quaternion or a "
                             "(cos, sin) pair of zeros, roll-pitch-yaw at a pitch of 90 degrees, or numbers beyond 1e150")

    def _called(self) -> str:
        return self.name

    def _component(self, what, k) -> str:
        """Who component k of the argument `what` is, for messages."""
        return ""

    def _key(self):
        return (type(self), self.increments)

    def __eq__(self, other):
        return isinstance(other, Space) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"<{self._called()}: nq {self.nq}, nv {self.nv}, {self.increments} increments>"


class Element:
    """A configuration of one space, with + and -."""

    __slots__ = ("space", "q")

    def __init__(self, space: Space, q):
        self.q, = space._together(q=(q, space.nq))
        self.space = space

    def __add__(self, v) -> Element:
        return Element(self.space, self.space.integrate(self.q, v))

    def __sub__(self, other) -> np.ndarray:
        if not isinstance(other, Element) or other.space != self.space:
            raise MbrosError(f"a difference needs two elements of one space and one family of increments: {self!r} and {other!r}")
        return self.space.difference(other.q, self.q)

    def __repr__(self):
        return f"<element of {self.space!r}>"


def _scalar(x):
    return float(x) if x.ndim == 0 else x
