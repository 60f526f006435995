"""What every configuration space offers, and the checks on what it is given."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.available import Room
from mbros_core.support.numbers import short

from mbros.arguments import count, finite, generator, number, reals
from mbros.errors import MbrosError, NonFiniteError
from mbros.names import hint
from mbros.spaces.batches import together
from mbros.spatial.lie import norm2

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike, BoolArray, Rng

    from mbros.spaces.products import Product
    from mbros.spaces.rn import Rn

FAMILIES = ("local", "parent")


def family(increments: str) -> str:
    """`increments`, if there is such a family."""
    if not isinstance(increments, str) or increments not in FAMILIES:
        raise MbrosError(f"increments: no family {short(increments)}{hint(increments, FAMILIES)}")
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

    # The two spaces that every space makes others with. They are spaces themselves, and enter here where they are defined.
    _product: type[Product]
    _euclidean: type[Rn]

    # -------------------------------------------------------------------------------------------- operations

    @property
    def neutral(self) -> np.ndarray:
        """The configuration (nq,) of no motion."""
        return self._neutral()

    def integrate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """q (+) v."""
        return self._computed("integrate", self._integrate, q=(q, self.nq), v=(v, self.nv))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """The shortest v with integrate(q0, v) = q1: from the first to the second, as in Pinocchio (hpp-model: reverse)."""
        return self._computed("difference", self._difference, q0=(q0, self.nq), q1=(q1, self.nq))

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, u: ArrayLike) -> np.ndarray:
        """The configuration a fraction u (a number, or one per row) of the way from q0 to q1 on the shortest path."""
        u = finite(self._called(), "u", reals(self._called(), "u", u, "a number, or one per row"))
        return self._computed("interpolate", self._interpolate, q0=(q0, self.nq), q1=(q1, self.nq), u=(u[..., None], 1))

    def squared_distance(self, q0: ArrayLike, q1: ArrayLike) -> float | Array:
        """|difference(q0, q1)|^2, a number per row."""
        return _scalar(self._computed("squared_distance", lambda a, b: norm2(self._difference(a, b)), q0=(q0, self.nq), q1=(q1, self.nq)))

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> float | Array:
        """|difference(q0, q1)|, a number per row: Euclidean lengths and rotation angles, root of the sum of squares."""
        return self.squared_distance(q0, q1) ** 0.5

    def is_same(self, q0: ArrayLike, q1: ArrayLike, tol: float = 1e-12) -> bool | BoolArray:
        """Whether every coordinate of difference(q0, q1) is within tol; a quaternion and its negative are the same."""
        tol = number(self._called(), "tol", tol, 0.0)
        same = (np.abs(self.difference(q0, q1)) <= tol).all(-1)
        return bool(same) if same.ndim == 0 else same

    def normalize(self, q: ArrayLike) -> np.ndarray:
        """The nearest valid configuration: unit quaternions and (cos, sin) pairs."""
        return self._computed("normalize", self._normalize, q=(q, self.nq))

    def sample(self, rng: Rng | None = None, size: int | None = None) -> np.ndarray:
        """A uniformly distributed configuration (nq,) within the bounds, or `size` of them (size, nq).

        Without bounds the "local" family takes angles in (-pi, pi) and lengths in (-1, 1) m; "parent" refuses.
        """
        shape = () if size is None else (count(self._called(), "size", size, "how many samples"),)
        with Room(f"sample of {self._called()}", *shape, self.nq):
            return self._sample(generator(self._called(), rng), shape)

    def d_integrate(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """(J_q, J_v), each (..., nv, nv): integrate(q (+) a, v + b) = integrate(q, v) (+) (J_q a + J_v b) for small a, b."""
        return self._computed("d_integrate", self._d_integrate, q=(q, self.nq), v=(v, self.nv))

    def d_difference(self, q0: ArrayLike, q1: ArrayLike) -> tuple[Array, Array]:
        """(J_0, J_1), each (..., nv, nv): difference(q0 (+) a, q1 (+) b) = difference(q0, q1) + J_0 a + J_1 b for small a, b."""
        return self._computed("d_difference", self._d_difference, q0=(q0, self.nq), q1=(q1, self.nq))

    def element(self, q: ArrayLike) -> Element:
        """q as an element of the space: `a + v` integrates, `b - a` is the v with a + v = b (hpp-pinocchio's manner)."""
        return Element(self, q)

    def add_extra_variables(self, n: int, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> Space:
        """This space with n Euclidean variables of their own bounds at the tail of q and of v (hpp's extra configuration space)."""
        return self * self._euclidean(n, lower, upper, increments=self.increments)

    def __mul__(self, other: Space) -> Space:
        return self._product(self, other)

    # ------------------------------------------------------------------- what a space supplies; arrays, unchecked

    if TYPE_CHECKING:
        def _neutral(self) -> Array: ...
        def _integrate(self, q: Array, v: Array, /) -> Array: ...
        def _difference(self, q0: Array, q1: Array, /) -> Array: ...
        def _sample(self, rng: np.random.Generator, shape: tuple[int, ...], /) -> Array: ...
        def _d_integrate(self, q: Array, v: Array, /) -> tuple[Array, Array]: ...
        def _d_difference(self, q0: Array, q1: Array, /) -> tuple[Array, Array]: ...

    def _interpolate(self, q0: Array, q1: Array, u: Array) -> Array:
        return self._integrate(q0, u * self._difference(q0, q1))

    def _normalize(self, q: Array) -> Array:
        return q.copy()

    # ------------------------------------------------------------------------------------------------ checks

    def _together(self, **given: tuple[Any, int]) -> list[np.ndarray]:
        return together(self._called(), **given)

    def _computed(self, operation: str, function: Callable[..., Any], **given: tuple[Any, int]) -> Any:
        """function(*arrays): one array or several, if all of it is finite, whatever NumPy is set to do about numbers that are
        not; else the first input number that is not, or what else may be wrong."""
        inputs = dict(zip(given, self._together(**given)))
        with Room(f"{operation} in {self._called()}", *next(iter(inputs.values())).shape):
            with np.errstate(all="ignore"):
                result = function(*inputs.values())
            if all(np.isfinite(x).all() for x in (result if isinstance(result, tuple) else (result,))):
                return result
        for what, a in inputs.items():
            bad = np.argwhere(~np.isfinite(a))
            if len(bad):
                at = tuple(int(k) for k in bad[0])
                raise NonFiniteError(f"{operation} in {self._called()}: {what}{list(at)}{self._component(what, at[-1])} is {a[at]}; "
                                     "expected a finite number")
        cause = self._cause(inputs)
        if cause:
            raise NonFiniteError(f"{operation} in {self._called()}: {cause}")
        raise NonFiniteError(f"{operation} in {self._called()}: the result is not finite although every input is: a quaternion or a "
                             "(cos, sin) pair of zeros, roll-pitch-yaw at a pitch of 90 degrees, or numbers beyond 1e150")

    def _called(self) -> str:
        return self.name

    def _component(self, what: str, k: int) -> str:
        """Who component k of the argument `what` is, for messages."""
        return ""

    def _cause(self, inputs: dict[str, np.ndarray]) -> str:
        """Why finite inputs gave a result that is not, as far as the space knows."""
        return ""

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<{self._called()}: nq {self.nq}, nv {self.nv}, {self.increments} increments>"


class Element:
    """A configuration of one space, with + and -."""

    __slots__ = ("space", "q")

    def __init__(self, space: Space, q: ArrayLike) -> None:
        if not isinstance(space, Space):
            raise MbrosError(f"an element of a space: expected a mbros.spaces.Space, got {short(space)}")
        self.q, = space._together(q=(q, space.nq))
        self.space = space

    def __add__(self, v: ArrayLike) -> Element:
        return Element(self.space, self.space.integrate(self.q, v))

    def __sub__(self, other: Element) -> np.ndarray:
        if not isinstance(other, Element) or other.space != self.space:
            raise MbrosError(f"a difference needs two elements of one space and one family of increments: {self!r} and {other!r}")
        return self.space.difference(other.q, self.q)

    def __repr__(self) -> str:
        return f"<element of {self.space!r}>"


def _scalar(x: Array) -> float | Array:
    return float(x) if x.ndim == 0 else x
