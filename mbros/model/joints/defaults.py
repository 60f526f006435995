"""Where a joint of a model starts: `joint.defaults`. It is read, and cannot change once the model is built."""
from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from mbros.describe.joints.defaults import DescribedDefaults, Defaults

if TYPE_CHECKING:
    from mbros_core.typing import Array

EDITS = frozenset(name for name in vars(DescribedDefaults) if name.startswith("set_"))


class BuiltDefaults(Defaults):
    """Made once for a joint of a model."""

    __slots__ = ()

    def _q(self) -> Array:
        return self._joint._row.default

    def _source(self) -> Any:
        return self._joint._row

    @property
    def _frames(self) -> tuple[str, str]:
        return self._joint.child_frame.name, self._joint.parent_frame.name

    def __reduce__(self) -> tuple[Any, ...]:
        return attrgetter("defaults"), (self._joint,)

    def __setattr__(self, name: str, value: object) -> None:
        raise self._joint._refusal(f"defaults.{name}")

    def __getattr__(self, name: str) -> Any:
        if name in EDITS:                       # of descriptions
            return self._joint._refused(name)
        raise AttributeError(f"the defaults of {self._joint._label} have no {name!r}")
