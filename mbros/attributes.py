"""Attributes that would do nothing are refused, with a sentence that says what does it."""
from __future__ import annotations

from typing import Any, ClassVar

from mbros.errors import UnknownAttributeError
from mbros.names import hint


class OwnAttributes:
    """An object that has the attributes of its class and no others: those that it annotates, its properties, and private ones. Classes of
    users, which build on it, may have more. _instead: {name: what to do}, of attributes that somebody may look for."""

    _instead: ClassVar[dict[str, str]] = {}
    _of_class: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        own = {name for of in cls.__mro__ for name in of.__dict__.get("__annotations__", ())}
        cls._of_class = frozenset(name for name in own.union(dir(cls)) if not isinstance(getattr(cls, name, None), property))
        cls._of_user = cls.__module__.partition(".")[0] != "mbros"

    _of_user: ClassVar[bool] = False

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._of_class or name[0] == "_" or self._of_user:
            object.__setattr__(self, name, value)
            return
        found = getattr(type(self), name, None)
        if isinstance(found, property) and found.fset is not None:
            found.fset(self, value)
            return
        said = "cannot be set" if found is not None else "is no attribute, and would change nothing"
        remedy = self._instead.get(name)
        raise UnknownAttributeError(f"{type(self).__name__}: {name!r} {said}" + (f": {remedy}" if remedy else hint(name, self._settable())))

    def _settable(self) -> list[str]:
        """The names that can be set: those annotated, and properties with a setter."""
        cls = type(self)
        annotated = {name for of in cls.__mro__ for name in of.__dict__.get("__annotations__", ()) if name[0] != "_"}
        return sorted(annotated & self._of_class | {name for name in dir(cls) if getattr(getattr(cls, name, None), "fset", None)})
