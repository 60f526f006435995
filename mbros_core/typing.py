"""Names of types in annotations. Only type checkers read this module: the others import it under `if TYPE_CHECKING:`.

What a call takes is an `ArrayLike`: lists, tuples, arrays of any real type. What it gives back is an array of doubles, whose shape is in
its docstring; `Vector` and `Matrix` say how many axes it has, which type checkers do not look at.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray as NDArray

Array: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

Progress: TypeAlias = Callable[[float], object]                # called with the simulated time now and then; what it raises ends the call
Rng: TypeAlias = np.random.Generator | int | None              # a generator, the seed of one, or None: a new one each time
JointRow: TypeAlias = tuple[int, int, float, float, bool]       # of mbros_core.spec.joint_coordinates
Capsule: TypeAlias = Any                                       # a PyCapsule, which has no type that Python can name


class HasCapsule(Protocol):
    """A plug for the engine or the real-time loop."""

    @property
    def capsule(self) -> Capsule: ...
