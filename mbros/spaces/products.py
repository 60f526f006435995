"""Products of spaces: components side by side, distances as the root of the sum of squares."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import MbrosError
from mbros.spaces.base import Space, family

if TYPE_CHECKING:
    from mbros_core.typing import Array


class Product(Space):
    """The spaces `parts` side by side, all of one family of increments. Written `a * b`, too."""

    parts: tuple[Space, ...]

    def __init__(self, *parts: Space, increments: str | None = None) -> None:
        flat: list[Space] = []
        for part in parts:
            if not isinstance(part, Space):
                raise MbrosError(f"a product of spaces: expected spaces, got {part!r}")
            flat += part.parts if isinstance(part, Product) and type(part) is Product else [part]
        families = {part.increments for part in flat} | (set() if increments is None else {family(increments)})
        if len(families) > 1:
            raise MbrosError("a product of spaces has one family of increments; got " +
                             ", ".join(f"{part.name} with {part.increments!r}" for part in flat))
        self.parts = tuple(flat)
        self.increments = families.pop() if families else "local"
        self.name = "*".join(part.name for part in flat) or "R^0"
        self.q_slices, self.nq = _slices([part.nq for part in flat])
        self.v_slices, self.nv = _slices([part.nv for part in flat])

    def _each(self) -> Iterable[tuple[Space, slice, slice]]:
        return zip(self.parts, self.q_slices, self.v_slices)

    def _neutral(self) -> Array:
        return np.concatenate([np.zeros(0)] + [part._neutral() for part in self.parts])

    def _integrate(self, q: Array, v: Array) -> Array:
        out = np.empty(q.shape)
        for part, i, j in self._each():
            out[..., i] = part._integrate(q[..., i], v[..., j])
        return out

    def _difference(self, q0: Array, q1: Array) -> Array:
        out = np.empty(q0.shape[:-1] + (self.nv,))
        for part, i, j in self._each():
            out[..., j] = part._difference(q0[..., i], q1[..., i])
        return out

    def _interpolate(self, q0: Array, q1: Array, u: Array) -> Array:
        parts = [part._interpolate(q0[..., i], q1[..., i], u) for part, i, _ in self._each()]
        return np.concatenate(parts, -1) if parts else q0.copy()

    def _normalize(self, q: Array) -> Array:
        out = np.empty(q.shape)
        for part, i, _ in self._each():
            out[..., i] = part._normalize(q[..., i])
        return out

    def _sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        out = np.empty(shape + (self.nq,))
        for part, i, _ in self._each():
            out[..., i] = part._sample(rng, shape)
        return out

    def _blocks(self, shape: tuple[int, ...], pairs: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
        """Two block-diagonal matrices (..., nv, nv) from one pair of blocks per part."""
        A, B = np.zeros(shape + (self.nv, self.nv)), np.zeros(shape + (self.nv, self.nv))
        for j, (a, b) in zip(self.v_slices, pairs):
            A[..., j, j], B[..., j, j] = a, b
        return A, B

    def _d_integrate(self, q: Array, v: Array) -> tuple[Array, Array]:
        return self._blocks(q.shape[:-1], [part._d_integrate(q[..., i], v[..., j]) for part, i, j in self._each()])

    def _d_difference(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        return self._blocks(q0.shape[:-1], [part._d_difference(q0[..., i], q1[..., i]) for part, i, _ in self._each()])

    def _key(self) -> tuple[Any, ...]:
        return (type(self), self.increments) + tuple(part._key() for part in self.parts)


def _slices(sizes: Iterable[int]) -> tuple[list[slice], int]:
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(a, b) for a, b in zip(ends, ends[1:])], ends[-1]


Space._product = Product
