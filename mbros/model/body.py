"""Bodies and frames of a model, and lists of its parts, by name or index. Joints: mbros.describe.joints."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from mbros_core.support.numbers import short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from mbros.arguments import is_whole
from mbros.errors import CoordinateIndexError, unknown
from mbros.model.frozen import FrozenPart
from mbros.model.tables import CompiledBody, CompiledFrame

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import Array


T = TypeVar("T")


class NamedList(Sequence[T]):
    """An ordered collection that is indexed by position or by name."""

    def __init__(self, kind: str, model_name: str, elements: Iterable[T]) -> None:
        self._kind, self._model_name = kind, model_name
        self._elements = tuple(elements)
        self._by_name: dict[str, T] = {cast(Any, element).name: element for element in self._elements}
        assert len(self._by_name) == len(self._elements), f"model {model_name!r}: every {kind} needs a name of its own"

    @overload
    def __getitem__(self, key: int | str) -> T: ...

    @overload
    def __getitem__(self, key: slice) -> tuple[T, ...]: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            try:
                return self._by_name[key]
            except KeyError:
                raise unknown(self._kind, key, f"model {self._model_name!r}", self._by_name) from None
        if isinstance(key, slice) or is_whole(key) and -len(self) <= key < len(self):
            return self._elements[key]
        raise CoordinateIndexError(f"model {self._model_name!r}: there is no {self._kind} {short(key)}; there are {len(self)}, "
                                   "counted from 0, and each has a name")

    def __iter__(self) -> Iterator[T]:
        return iter(self._elements)

    def __contains__(self, key: object) -> bool:
        return key in self._by_name if isinstance(key, str) else any(key is element for element in self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def __repr__(self) -> str:
        kinds = self._kind if len(self) == 1 else self._kind[:-1] + "ies" if self._kind.endswith("y") else self._kind + "s"
        return f"<{len(self)} {kinds}: {', '.join(self._by_name)}>"


class Frame(FrozenPart):
    """A frame fixed on a body. tags: what its author noted about it. robot: the group it came in with, "" for the model's own."""

    _LIST = "frames"
    model: Model
    name: str
    body_name: str
    index: int
    tags: Mapping[str, Any]
    robot: str

    def __init__(self, model: Model, row: CompiledFrame) -> None:
        self._check_row(row, CompiledFrame)
        self._made_of(model=model, name=row.name, body_name=row.body, index=row.index, tags=MappingProxyType(row.tags), robot=row.robot)

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"frame {self.name!r}"

    @property
    def _frame_index(self) -> int:
        return self.index

    def __repr__(self) -> str:
        return f"<Frame {self.name!r} on body {self.body_name!r}>"


class Body(FrozenPart):
    """A rigid body: mass (kg), com (3,) in body axes (m), inertia (3, 3) about the com in body axes (kg m^2)."""

    _LIST = "bodies"
    model: Model
    name: str
    mass: float
    com: Array
    inertia: Array
    index: int
    robot: str
    _frame_index: int

    def __init__(self, model: Model, row: CompiledBody) -> None:
        self._check_row(row, CompiledBody)
        self._made_of(model=model, name=row.name, mass=row.mass, com=row.com, inertia=row.inertia, _frame_index=row.frame,
                      index=row.frame, robot=row.robot)

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"body {self.name!r}"

    @property
    def frame(self) -> Frame:
        """The body's own frame."""
        return self.model.frames[self._frame_index]

    def __repr__(self) -> str:
        return f"<Body {self.name!r}: {self.mass:g} kg>"
