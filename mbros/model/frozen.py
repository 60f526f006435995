"""What a built model is made of does not change: attributes are set once, and copies of parts are parts of copies."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mbros.errors import FrozenModelError, MbrosError
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import ArrayLike


class Frozen:
    """What is set once, when a model is built: the model, and its parts."""

    if TYPE_CHECKING:               # object's own; said again so that "name" in model.joints is not taken for a mistake
        def __eq__(self, other: object) -> bool: ...
        def __hash__(self) -> int: ...

    def _made_of(self, **attributes: Any) -> None:
        """Sets the attributes it has."""
        self.__dict__.update(attributes)

    def _refusal(self, what: str) -> FrozenModelError:
        """What a change of it is refused with."""
        raise NotImplementedError

    def _refused(self, name: str) -> Callable[..., NoReturn]:
        """What stands for a method that descriptions have: raises when it is called."""
        def refuse(*_: object, **__: object) -> NoReturn:
            raise self._refusal(name)

        return refuse

    def __setattr__(self, name: str, value: object) -> None:
        raise self._refusal(name)

    def __delattr__(self, name: str) -> None:
        raise self._refusal(name)


class FrozenPart(Frozen):
    """A part of a model. _LIST: the model's list that it is in, at `index`."""

    _LIST = ""
    model: Model
    name: str
    index: int

    if TYPE_CHECKING:
        @property
        def _label(self) -> str: ...

    def _check_row(self, row: object, cls: type) -> None:
        """Refuses what a user gives to the class itself."""
        if not isinstance(row, cls):
            raise MbrosError(f"{type(self).__name__}: parts of a model are made with it, and found in model.{self._LIST}; a ModelBuilder "
                             "describes new ones")

    def _refusal(self, what: str) -> FrozenModelError:
        change = f"change b.{WORD[self._LIST]}({self.name!r})" if self._LIST in WORD else "change it there"
        return FrozenModelError(f"{self._label}: {what} cannot change once model {self.model.name!r} is built. "
                                f"b = mbros.ModelBuilder(model); {change}; then b.build() makes another model")

    def __reduce__(self) -> tuple[Any, ...]:
        # a copy of it is itself; a deep or pickled one is the same part of the model's copy
        return part, (self.model, self._LIST, self.index)


WORD = {"bodies": "body", "joints": "joint", "frames": "frame"}


def part(model: Model, table: str, index: int) -> Any:
    """A part of a model, by its index."""
    return getattr(model, table)[index]


def frozen(values: ArrayLike | None) -> Any:
    """A copy that cannot be written to."""
    if values is None:
        return None
    copy = np.array(values, dtype=float)
    copy.setflags(write=False)
    return copy


def frozen_placement(X: Placement) -> Placement:
    """The same of a placement."""
    return Placement(frozen(X.R), frozen(X.p))


def freeze_arrays(table: object) -> None:
    """No array or placement that is an attribute of `table` can be written to any more."""
    for value in vars(table).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        elif isinstance(value, Placement):
            value.R.setflags(write=False)
            value.p.setflags(write=False)
