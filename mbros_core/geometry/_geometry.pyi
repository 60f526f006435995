from collections.abc import Iterable
from typing import Any

import numpy as np

from mbros_core.geometry.results import BroadPairs, Contacts, ManyContacts
from mbros_core.typing import Array, ArrayLike, NDArray

class Shape:
    """A shape that does not change: kind and sizes as in mbros_core.geometry.registry, points where the kind has some.

    box(), sphere() and the other functions of mbros_core.geometry make them. faces: of another Shape's `faces`, whose `points` these are:
    nothing is computed again."""
    def __new__(cls, kind: str, sizes: ArrayLike = ..., points: ArrayLike | None = None,
                faces: tuple[NDArray[np.intc], NDArray[np.intc]] | None = None) -> Shape: ...
    @property
    def kind(self) -> str: ...
    @property
    def sizes(self) -> tuple[float, ...]: ...
    @property
    def points(self) -> Array | None: ...
    @property
    def faces(self) -> tuple[NDArray[np.intc], NDArray[np.intc]] | None:
        """Of a convex shape (starts, corners): face k has the vertices corners[starts[k]:starts[k + 1]] of `points`, counter-clockwise seen
        from outside. None of others."""
    def __copy__(self) -> Shape: ...
    def __deepcopy__(self, memo: Any) -> Shape: ...

def hull_triangles(points: ArrayLike, first: Iterable[int], slack: float, most: int) -> NDArray[np.intc] | None:
    """The triangles (n, 3) of the hull of points (m, 3), which starts as the tetrahedron `first` of four of them (quickhull.hpp); None
    where more than `most` comparisons of a point with a plane are needed."""
def contacts(shape_a: Shape, X_WA: Any, shape_b: Shape, X_WB: Any, margin: float = 0.0) -> Contacts:
    """The contact points of two shapes as Contacts, at most four; none where they are apart by more than margin (m).

    X_WA, X_WB: poses in the world: (4, 4), a position (3,), or an object with R and p."""
def contacts_of_many(shape_a: Shape, X_WA: Any, shape_b: Shape, X_WB: Any, margin: float = 0.0) -> ManyContacts:
    """The contact points of two shapes at many poses as ManyContacts. X_WA, X_WB: (n, 4, 4), or one pose for all."""
def nanoseconds(shape_a: Shape, X_WA: Any, shape_b: Shape, X_WB: Any, margin: float = 0.0, rounds: int = 1) -> tuple[float, float]:
    """(ns, points) on the mean of one pair of poses, in a loop of `rounds` over all of them without the interpreter; ns of this thread's
    CPU time."""
def broad_phase(shapes: Iterable[Shape], X_WS: Any, margin: float = 0.0, groups: ArrayLike | None = None, most: int | None = None,
                order: NDArray[np.intc] | None = None) -> BroadPairs:
    """The pairs of shapes whose boxes along the world's axes, each grown by margin (m), overlap, as BroadPairs.

    X_WS (n, 4, 4): their poses. groups (n,): whole numbers; shapes of one group are no pair. most: room for so many pairs (default: all,
    up to 1000 a shape).
    order: the numpy.intc array of the last call, changed in place, which makes this one's sort short."""
