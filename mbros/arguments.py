"""Checks of what users write, where they write it: numbers, words, steps, states. A refusal is a MbrosError naming the
element; of what is part of a description, a ModelError.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from os import PathLike
from typing import Any, NoReturn

import mbros_core
import numpy as np
from mbros_core.errors import state_error
from mbros_core.numbers import floats as floats, is_whole as is_whole, short

from mbros.errors import MbrosError, ModelError, NonFiniteError, Problem
from mbros.names import no_name

LENIENCE = ("check", "as_given")        # what is done about what is wrong, where a choice is given: refused, or taken with a warning
MOST = 2**40                # of anything that is counted
def refuse(element: object, reason: str, remedy: str = "") -> NoReturn:
    raise ModelError(Problem(element, reason, remedy))


# --------------------------------------------------------------------------------------------------- numbers, states

def reals(who: str, what: str, value: Any, expected: str = "numbers") -> np.ndarray:
    """`value` as a float64 array of any shape, finite or not. MbrosError, beginning with `who`, for what is no number."""
    array = floats(value)
    if array is None:
        raise MbrosError(f"{who}: {what}: expected {expected}, got {short(value)}")
    return array


def finite(who: str, what: str, array: np.ndarray, least: float | None = None, unit: str = "") -> np.ndarray:
    """`array`, if every number of it is finite, and not below `least` where that is given. unit: for the message."""
    if least is None and array.size < 20 and all(map(isfinite, array.ravel().tolist())):
        return array                            # the same in a microsecond
    bad = np.argwhere(~np.isfinite(array) | (array < least if least is not None else False))
    if not len(bad):
        return array
    at = tuple(int(k) for k in bad[0])
    where = f"[{', '.join(map(str, at))}]" if at else ""
    need = "a finite number" + ("" if least is None else ", zero or more" if least == 0 else f", {least:g} or more")
    raise (MbrosError if np.isfinite(array[at]) else NonFiniteError)(
        f"{who}: {what}{where} is {array[at]:g}; expected {need}" + (f" ({unit})" if unit else ""))


def vector(who: str, what: str, value: Any, n: int, least: float | None = None) -> np.ndarray:
    """`value` as (n,) finite numbers, none below `least`; for n = 1 also a bare number."""
    if least is None and type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (n,):
        return finite(who, what, value)         # the same, for what most calls are
    expected = counted(n)
    array = np.atleast_1d(reals(who, what, value, expected))
    if array.shape != (n,):
        raise MbrosError(f"{who}: {what}: expected {expected}, got shape {np.shape(value)}")
    return finite(who, what, array, least)


def number(who: str, what: str, value: Any, least: float | None = None) -> float:
    """`value` as one finite number, not below `least`."""
    array = reals(who, what, value, "1 number")
    if array.size != 1:
        raise MbrosError(f"{who}: {what}: expected 1 number, got shape {array.shape}")
    return float(finite(who, what, array.reshape(()), least))


def counted(n: int) -> str:
    """"1 number", "3 numbers"."""
    return f"{n} number{'s' * (n != 1)}"


def count(who: str, what: str, value: Any, of: str = "", least: int = 0) -> int:
    """`value` as how many there are to be of something, `least` or more, and not so many that no memory could hold them."""
    if not is_whole(value) or not least <= value <= MOST:
        raise MbrosError(f"{who}: {what}: expected {of + ', ' if of else ''}a whole number, {least or 'zero'} or more, got {short(value)}")
    return int(value)


def folders(who: str, what: str, value: Any) -> tuple[str | PathLike[str], ...]:
    """`value` as a tuple of paths; one path alone is a list of it."""
    one = isinstance(value, (str, PathLike))
    given: tuple[Any, ...] = (value,) if one else tuple(value) if isinstance(value, (list, tuple)) else (None,)
    if not all(isinstance(path, (str, PathLike)) for path in given):
        raise MbrosError(f"{who}: {what}: expected a list of folders, got {short(value)}")
    return given


def entries(value: Any) -> list[Any] | None:
    """What `value` goes through, as a list; None for what nothing goes through: a number, memory of several axes."""
    try:
        return list(value)
    except (TypeError, NotImplementedError):        # the second is memoryview's, which is an Iterable nevertheless
        return None


def choice(who: str, what: str, value: Any, allowed: Sequence[Any]) -> Any:
    """`value`, when it is one of the words `allowed`, or of True and False."""
    if not isinstance(value, (str, bool, np.bool_)) or value not in allowed:
        raise MbrosError(f"{who}: {what} is {short(value)}; expected {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}")
    return value


def generator(who: str, rng: Any) -> np.random.Generator:
    """The random generator of `rng`: None, a seed, or a numpy.random.Generator."""
    try:
        if not isinstance(rng, (bool, np.bool_)):
            return np.random.default_rng(rng)
    except (TypeError, ValueError, OverflowError):
        pass
    raise MbrosError(f"{who}: rng: expected None, a seed (a whole number, zero or more) or a numpy.random.Generator, got {short(rng)}")


def check_model(who: str, model: object) -> None:
    """MbrosError unless `model` is a built model."""
    if not (hasattr(model, "joints") and hasattr(model, "nv")):
        raise MbrosError(f"{who}: expected a built model, got {short(model)}; mbros.load(...) and ModelBuilder.build() make one")


def time_step(who: str, dt: float, integrator: str) -> float:
    """dt, s, when it is a step of a simulation and `integrator` the name of one."""
    step = number(who, "dt", dt)
    if not 0.0 < step <= 10.0:
        raise MbrosError(f"{who}: dt is {step:g}; expected a step above 0 and up to 10 s")
    choice(who, "integrator", integrator, mbros_core.INTEGRATORS)
    return step


def step_interval(who: str, every: int) -> int:
    """Steps from one that is kept to the next."""
    if not is_whole(every) or every < 1:
        raise MbrosError(f"{who}: every: expected 1 or more steps, got {short(every)}")
    return int(every)


def check_state(who: str, model: Any, state: object) -> None:
    """StateError (a TypeError) unless `state` is a State of this model; of any model, for None. BusyError while a loop or another call
    has it."""
    owner = getattr(state, "model", None)
    if (model is None or owner is model) and isinstance(state, mbros_core.State):
        state._check_free()
        return
    raise state_error(who, model, state)


# ------------------------------------------------------------------------------------------- of parts of descriptions

def check_name(kind: str, name: object) -> None:
    """ModelError unless `name` can be the name of an element: one line of printable text, not empty and not endless."""
    wrong = no_name(name)
    if wrong is not None:
        refuse(kind, *wrong)


def numbers(element: object, what: str, value: Any, size: int | tuple[int, ...], finite: bool = True,
            broadcast: bool = False) -> np.ndarray:
    """`value` as a float64 array of shape (size,) or `size` (a tuple); NaN is always refused, inf if `finite`."""
    shape = size if isinstance(size, tuple) else (size,)
    given = floats(value)
    if given is None:
        refuse(element, f"{what} is {short(value)}", f"Give {_count(shape)}.")
    if broadcast and given.ndim == 0:
        given = np.full(shape, float(given))
    if given.shape != shape:
        if given.size == 1 and shape == (1,):
            given = given.reshape(1)
        else:
            refuse(element, f"{what} has shape {given.shape}, expected {shape}", f"Give {_count(shape)}.")
    bad = ~np.isfinite(given) if finite else np.isnan(given)
    if bad.any():
        k = tuple(int(i[0]) for i in np.nonzero(bad))
        where = f"[{', '.join(map(str, k))}]" if given.size > 1 else ""
        refuse(element, f"{what}{where} is {given[k]:g}", "Give finite numbers." if finite else "NaN is not a limit.")
    return np.array(given)


def flag(element: object, what: str, value: Any) -> bool:
    """True or False, and nothing that only looks like one."""
    if not isinstance(value, (bool, np.bool_)):
        refuse(element, f"{what} is {short(value)}", "Give True or False.")
    return bool(value)


def not_negative(element: object, what: str, values: Any) -> np.ndarray:
    """`values`, none of them negative."""
    bad = np.flatnonzero(~(values >= 0.0))
    if bad.size:
        i = int(bad[0])
        where = f" of coordinate {i}" if len(values) > 1 else ""
        refuse(element, f"{what}{where} is {values[i]:g}", f"{what} must be zero or positive.")
    return values


def _count(shape: tuple[int, ...]) -> str:
    return counted(shape[0]) if len(shape) == 1 else f"a {shape[0]} x {shape[1]} matrix"
