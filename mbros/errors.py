"""The exceptions and warnings of mbros, and the one shape every report about a model has.

A `Problem` says which element, where it stands (file and line), what is wrong with which value, and what to do.
Errors are collected before they are raised: an exception carries all of them in `.problems`, and its own
`.element`, `.file`, `.line`, `.reason`, `.remedy` are those of the first.
"""
from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from mbros_core.errors import (BusyError, CoordinateIndexError, FaultError, GimbalLockError, LoopError, LoopTimeoutError, MbrosError,
                               NoMemoryError, NonFiniteError, NotBuiltError, PrivilegeError, StateError, SystemRefusedError,
                               UnknownNameError, WrongTypeError)
from mbros_core.support.numbers import short

from mbros.names import hint, printable, sentences

__all__ = ["BusyError", "CoordinateIndexError", "FaultError", "FrozenModelError", "GimbalLockError", "JointKindError", "LoopError",
           "LoopTimeoutError", "MbrosError", "MbrosWarning", "MissingPackageError", "ModelError", "NoMemoryError", "NonFiniteError",
           "NotBuiltError", "NOWHERE", "PositionLimitWarning", "PrivilegeError", "Problem", "QuaternionDriftWarning", "SaveError",
           "Source", "SourceLine", "StateError", "Switch", "SwitchWarning", "SystemRefusedError", "UnknownArgumentError",
           "UnknownNameError", "UrdfError", "WrongTypeError"]

SHOWN = 20      # how many problems an exception's text lists; the rest are counted


class SourceLine(int):
    """A line of another file than the text that was read: of the xacro file that an element was written in."""

    file: str

    def __new__(cls, line: int, file: str) -> SourceLine:
        made = super().__new__(cls, line)
        made.file = file
        return made

    def __str__(self) -> str:
        return f"{int(self)} of {self.file}"


def _place(file: Any, line: int | None) -> tuple[Any, int | None]:
    return (line.file, int(line)) if isinstance(line, SourceLine) else (file, line)


class Source:
    """Where an element was written."""

    __slots__ = ("file", "line")

    def __init__(self, file: Any = None, line: int | None = None) -> None:
        self.file, self.line = _place(file, line)

    def __repr__(self) -> str:
        return "" if self.file is None else f"{self.file}:{self.line}"


NOWHERE = Source()          # made in Python


class Problem:
    """One finding about a model.

    severity: "error" (the model is refused), "warning" (accepted, but probably not what was meant) or "note" (said once
    so that nothing is ignored silently). line counts from 1; file is None for models made in Python.
    """

    __slots__ = ("element", "reason", "remedy", "file", "line", "severity")

    def __init__(self, element: object, reason: str, remedy: str = "", file: str | None = None, line: int | None = None,
                 severity: str = "error") -> None:
        self.element, self.reason, self.remedy = element, reason, remedy
        self.severity = severity
        self.file, self.line = _place(file, line)

    @property
    def place(self) -> str:
        """`file:line`, as compilers write it; empty for models made in Python."""
        if self.file is None:
            return ""
        return f"{self.file}:{self.line}" if self.line is not None else str(self.file)

    def __str__(self) -> str:
        start = f"{self.place}: " if self.file is not None else ""
        body = f"{self.element}: {self.reason}" if self.element else self.reason
        return printable(start + sentences(body, self.remedy))

    def __repr__(self) -> str:
        return f"Problem({self.severity}: {self})"


class MbrosWarning(UserWarning):
    """What mbros does as requested, although it was probably not meant. `python -W error::mbros.MbrosWarning` makes errors of them."""


class QuaternionDriftWarning(MbrosWarning):
    """A quaternion in a state is not of unit length."""


class PositionLimitWarning(MbrosWarning):
    """A joint was put beyond a position limit, from where its stop throws it back: degrees instead of radians, often."""


class Switch(NamedTuple):
    """A contact or rope at which a step has one derivative on this side and another one on that. point: of many, which; None where there
    was one. about_to: what may change: "begin or cease to push", "begin or cease to slip", "touch with other features", "become taut or
    slack". shapes: of a contact, the two; of a rope none. rope: the name of its constraint; None for a contact."""

    point: int | None
    shapes: tuple[str, ...]
    about_to: tuple[str, ...]
    rope: str | None = None


class SwitchWarning(MbrosWarning):
    """Derivatives taken where a contact is about to begin, to end or to slip, or a rope to become taut or slack: they hold on this side
    of that.

    `switches` has a Switch for each contact or rope.
    """

    def __init__(self, text: str, switches: tuple[Switch, ...] = ()) -> None:
        super().__init__(text)
        self.switches = switches


def warn(text: str | Warning, category: type[Warning]) -> None:
    """A warning at the line that called mbros, however deep in mbros its cause is. text: or the warning itself."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mbros":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level + 1)


class MissingPackageError(MbrosError):
    """An optional package is needed for what was asked; the text says how to install it."""


def optional(package: str, what: str, extra: str) -> Any:
    """The module of an optional package, which `what` needs and mbros[extra] brings. It is imported only where it is used."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingPackageError(f"{what} need the package {package.partition('.')[0]}, which cannot be imported ({error}). Install it: "
                                  f'pip install "mbros[{extra}]".') from error


class SaveError(MbrosError):
    """A saved simulation that cannot be gone on from: it is damaged, or of another model, version, step or integrator."""


class FrozenModelError(MbrosError):
    """A built model was asked to change. Models are immutable; the text says what to change instead."""


class JointKindError(MbrosError, TypeError):
    """A joint was asked for something that its kind does not have."""


class UnknownArgumentError(MbrosError, TypeError):
    """A call was given an argument by a name that it does not take."""


class UnknownAttributeError(MbrosError, AttributeError):
    """An attribute was set that does nothing."""


class UnbuiltError(MbrosError, AttributeError):
    """A description was asked for its model: build() makes one."""


def no_model(kind: str, name: str) -> UnbuiltError:
    """The exception for `.model` of a description."""
    return UnbuiltError(f"{kind} {name!r} is a description and belongs to no model yet: build() makes one, and "
                        f"model.{kind}({name!r}) is its {kind} there")


class ModelError(MbrosError):
    """A model that cannot be built. `.problems` has every reason found; `.notes`, of a file, what was read and not used."""

    notes: list[Problem]

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        if isinstance(problems, Problem):
            problems = [problems]
        self.problems = list(problems)
        first = self.problems[0]
        self.element, self.reason, self.remedy = first.element, first.reason, first.remedy
        self.file, self.line = first.file, first.line
        super().__init__(self._text())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,), self.__dict__

    def _text(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = [f"{len(self.problems)} problems"]
        lines += [f"  {problem}" for problem in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"  ... and {len(self.problems) - SHOWN} more")
        return "\n".join(lines)


class UrdfError(ModelError):
    """A URDF (or xacro) file that cannot be read or does not describe a possible robot."""


def shown(error: BaseException) -> str:
    """The text of an error for a log or a terminal, as `printable`. One that lists several problems has a line for each; those are
    printable themselves."""
    return str(error) if hasattr(error, "problems") else printable(error)


def unknown(kind: str, name: object, where: str, known: Iterable[Any]) -> UnknownNameError:
    """The exception (UnknownNameError) for a missing name, to be raised by the caller.

    >>> str(unknown("joint", "panda_join4", "model 'panda'", ["panda_joint3", "panda_joint4"]))
    "no joint 'panda_join4' in model 'panda'; did you mean 'panda_joint4'?"
    """
    shown = repr(name[:77] + "...") if isinstance(name, str) and len(name) > 80 else short(name)
    return UnknownNameError(f"no {kind} {shown} in {where}{hint(name, known)}")


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
