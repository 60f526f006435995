"""Names of a joint's coordinates, the same for joints of models and for descriptions: `joint.names`."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from mbros_core.support.numbers import short

from mbros.arguments import is_whole
from mbros.describe.joints.kinds import row_of
from mbros.errors import CoordinateIndexError

if TYPE_CHECKING:
    from typing_extensions import Self


class Names(tuple[str, ...]):
    """Names of coordinates, counted from 0; CoordinateIndexError, an IndexError, for others."""

    _coordinates: str

    def __new__(cls, names: Iterable[str], coordinates: str) -> Self:
        self = super().__new__(cls, names)
        self._coordinates = coordinates
        return self

    @overload
    def __getitem__(self, i: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, i: slice[Any, Any, Any]) -> tuple[str, ...]: ...

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return tuple(self)[i]
        if is_whole(i) and 0 <= i < len(self):
            return tuple.__getitem__(self, int(i))
        raise no_coordinate(self._coordinates, i, len(self))

    def __getnewargs__(self) -> tuple[tuple[str, ...], str]:
        return tuple(self), self._coordinates


def no_coordinate(coordinates: str, i: object, n: int) -> CoordinateIndexError:
    """What is said of a coordinate that is none of the n there are; `coordinates`: whose, and of position or velocity."""
    return CoordinateIndexError(f"{coordinates} coordinate {short(i)} does not exist; there "
                                + ("are none" if n == 0 else "is only 0" if n == 1 else f"are 0 to {n - 1}"))


class JointNames:
    """positions (nq,) and velocities (nv,): "<joint>_<suffix>" of each coordinate, such as "base_x". position_suffixes,
    velocity_suffixes: what the kind calls them: ("x", "y", "qz") of a planar joint. parameters: of a model's joint, the names of its
    tunable numbers, for model.parameter(state, name)."""

    __slots__ = ("positions", "velocities", "position_suffixes", "velocity_suffixes", "parameters")

    positions: Names
    velocities: Names
    position_suffixes: Names
    velocity_suffixes: Names
    parameters: tuple[str, ...]

    def __init__(self, joint: Any, kind: str, parameters: Iterable[str] = ()) -> None:
        row, called = row_of(kind), f"joint {joint.name!r} ({joint.kind}):"
        self.position_suffixes = Names(row.position_names, f"{called} position")
        self.velocity_suffixes = Names(row.velocity_names, f"{called} velocity")
        self.positions = Names((f"{joint.name}_{suffix}" for suffix in row.position_names), f"{called} position")
        self.velocities = Names((f"{joint.name}_{suffix}" for suffix in row.velocity_names), f"{called} velocity")
        self.parameters = tuple(parameters)

    def __repr__(self) -> str:
        return f"<names: positions {', '.join(self.positions) or 'none'}; velocities {', '.join(self.velocities) or 'none'}>"
