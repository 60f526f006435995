"""Dataclasses that are quick to define: `dataclass` compiles an __init__, a __repr__ and two guards of every class, 0.3 to 1 ms each when
the library is imported; a `record` shares one of each with all others. dataclasses.replace and fields work on both."""
from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
    from reprlib import recursive_repr

    def record(*, eq=True, repr=True, frozen=False):
        """The decorator of a class with a docstring; arguments as those of `dataclass`."""
        def made(cls):
            own_repr = "__repr__" in vars(cls)
            cls = dataclass(init=False, repr=False, eq=eq)(cls)
            cls.__init__ = _init
            if repr and not own_repr:
                cls.__repr__ = _repr
            if frozen:
                cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
            return cls
        return made

    def _init(self, *args, **given):
        """Fields in their order, or by name; those that are not given have their defaults."""
        who, values, mine = type(self).__qualname__, vars(self), fields(self)
        if len(args) > len(mine):
            raise TypeError(f"{who}() takes {len(mine)} arguments, got {len(args)}")
        for field, value in zip(mine, args):
            values[field.name] = value
        for field in mine[len(args):]:
            name = field.name
            if name in given:
                values[name] = given.pop(name)
            elif field.default is not MISSING:
                values[name] = field.default
            elif field.default_factory is not MISSING:
                values[name] = field.default_factory()
            else:
                raise TypeError(f"{who}() is missing its argument {name!r}")
        if given:
            name = next(iter(given))
            raise TypeError(f"{who}() got {'two values for' if name in values else 'an unexpected'} argument {name!r}")

    @recursive_repr()
    def _repr(self):
        return f"{type(self).__qualname__}({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in fields(self))})"

    def _refuse_to_set(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
