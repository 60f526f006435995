"""Names of a joint's coordinates and what its kind can do: the same for joints of models and for descriptions."""
from __future__ import annotations

from mbros.arguments import is_whole
from mbros.errors import CoordinateIndexError
from mbros.describe.joints.abilities import can_rotate, can_translate
from mbros.describe.joints.kinds import row_of


class CoordinateNames:
    """Needs of its class: name, nq, nv, and exact_kind, which tells users' kinds apart."""

    __slots__ = ()

    @property
    def position_suffixes(self) -> tuple[str, ...]:
        """What the registry calls each position coordinate: ("x", "y", "qz") of a planar joint."""
        return row_of(self.exact_kind).position_names

    @property
    def velocity_suffixes(self) -> tuple[str, ...]:
        """What the registry calls each velocity coordinate."""
        return row_of(self.exact_kind).velocity_names

    @property
    def position_names(self) -> tuple[str, ...]:
        """"<joint>_<suffix>" of each position coordinate."""
        return tuple(f"{self.name}_{suffix}" for suffix in self.position_suffixes)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """"<joint>_<suffix>" of each velocity coordinate."""
        return tuple(f"{self.name}_{suffix}" for suffix in self.velocity_suffixes)

    def position_suffix(self, i) -> str:
        """Of position coordinate i, from 0; CoordinateIndexError for others."""
        return self.position_suffixes[self._index(i, self.nq, "position")]

    def velocity_suffix(self, i) -> str:
        """Of velocity coordinate i, from 0; CoordinateIndexError for others."""
        return self.velocity_suffixes[self._index(i, self.nv, "velocity")]

    def position_name(self, i) -> str:
        """Of position coordinate i, from 0; CoordinateIndexError for others."""
        return self.position_names[self._index(i, self.nq, "position")]

    def velocity_name(self, i) -> str:
        """Of velocity coordinate i, from 0; CoordinateIndexError for others."""
        return self.velocity_names[self._index(i, self.nv, "velocity")]

    def _index(self, i, n, what) -> int:
        if is_whole(i) and 0 <= i < n:
            return int(i)
        raise CoordinateIndexError(f"joint {self.name!r} ({self.kind}): {what} coordinate {i!r} does not exist; there "
                                   + ("are none" if n == 0 else f"is only {0}" if n == 1 else f"are 0 to {n - 1}"))

    @property
    def can_rotate(self) -> bool:
        """Whether M can turn in F."""
        return can_rotate(self.exact_kind)

    @property
    def can_translate(self) -> bool:
        """Whether Mo can move in F."""
        return can_translate(self.exact_kind)
