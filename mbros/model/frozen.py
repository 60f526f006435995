"""What a built model is made of does not change: attributes are set once, and copies of parts are parts of copies."""
from __future__ import annotations

import numpy as np

from mbros.errors import FrozenModelError, MbrosError
from mbros.spatial.placement import Placement


class Frozen:
    """A part of a model: needs model, label and index. LIST: the model's list that it is in."""

    LIST = ""

    def _made_of(self, **attributes):
        """Sets the attributes it has."""
        self.__dict__.update(attributes)

    def _check_row(self, row, cls):
        """Refuses what a user gives to the class itself."""
        if not isinstance(row, cls):
            raise MbrosError(f"{type(self).__name__}: parts of a model are made with it, and found in model.{self.LIST}; a ModelBuilder "
                             "describes new ones")

    def _refusal(self, what) -> FrozenModelError:
        change = f"change b.{WORD[self.LIST]}({self.name!r})" if self.LIST in WORD else "change it there"
        return FrozenModelError(f"{self.label}: {what} cannot change once model {self.model.name!r} is built. "
                                f"b = mbros.ModelBuilder(model); {change}; then b.build() makes another model")

    def __setattr__(self, name, value):
        raise self._refusal(name)

    def __delattr__(self, name):
        raise self._refusal(name)

    def __reduce__(self):
        # a copy of it is itself; a deep or pickled one is the same part of the model's copy
        return part, (self.model, self.LIST, self.index)


WORD = {"bodies": "body", "joints": "joint", "frames": "frame"}


def part(model, table, index):
    """A part of a model, by its place."""
    return getattr(model, table)[index]


def frozen(values):
    """A copy that cannot be written to."""
    if values is None:
        return None
    copy = np.array(values, dtype=float)
    copy.setflags(write=False)
    return copy


def frozen_placement(X) -> Placement:
    """The same of a placement."""
    return Placement(frozen(X.R), frozen(X.p))


def freeze_arrays(table) -> None:
    """No array or placement that is an attribute of `table` can be written to any more."""
    for value in vars(table).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        elif isinstance(value, Placement):
            value.R.setflags(write=False)
            value.p.setflags(write=False)
