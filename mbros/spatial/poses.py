"""Poses of many robots side by side, in two arrays."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import numpy as np
from mbros_core.support.numbers import short

from mbros.errors import CoordinateIndexError
from mbros.spatial.vectors import Pose

ALL = slice(None)


class Poses:
    """X_AB of many: `R` (..., 3, 3) has B's axes in A as columns, `p` (..., 3) is Bo from Ao in A, m. X[k] is one of them, a Pose, or
    with several leading axes or a slice again Poses."""

    __slots__ = ("R", "p", "frame", "relative_to")

    def __init__(self, R: np.ndarray, p: np.ndarray, frame: str = "", relative_to: str = "") -> None:
        self.R, self.p, self.frame, self.relative_to = R, p, frame, relative_to

    @classmethod
    def from_rows(cls, rows: np.ndarray, frame: str = "", relative_to: str = "") -> Poses:
        """From (..., 12) numbers: R row-major, then p. Views of them."""
        return cls(rows[..., :9].reshape(*rows.shape[:-1], 3, 3), rows[..., 9:], frame, relative_to)

    @property
    def matrix(self) -> np.ndarray:
        """Homogeneous (..., 4, 4)."""
        X = np.zeros((*self.p.shape[:-1], 4, 4))
        X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = self.R, self.p, 1.0
        return X

    def __len__(self) -> int:
        return len(self.p)

    @overload
    def __getitem__(self, k: int) -> Pose: ...

    @overload
    def __getitem__(self, k: slice) -> Poses: ...

    def __getitem__(self, k: int | slice) -> Pose | Poses:
        leading: tuple[Any, ...] = k if isinstance(k, tuple) else (k,)
        try:
            R, p = self.R[(*leading, ALL, ALL)], self.p[(*leading, ALL)]        # no part of a pose
        except IndexError:
            there = " x ".join(map(str, self.p.shape[:-1]))
            raise CoordinateIndexError(f"no pose {short(k)} in {self!r}; there are {there}, counted from 0") from None
        return (Pose._made if p.ndim == 1 else Poses)(R, p, self.frame, self.relative_to)

    def __iter__(self) -> Iterator[Pose]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        of = f" of {self.frame!r} in {self.relative_to!r}" if self.frame else ""
        return f"<Poses{of}: p {self.p.shape}, R {self.R.shape}>"
