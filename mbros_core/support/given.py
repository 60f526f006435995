"""Checks of arguments: numbers, arrays, words, steps. One text for each refusal, in the engine, the real-time loop and the library
(mbros.arguments goes on from here).

A refusal is a MbrosError that begins with `who`, and a WrongTypeError where something is not even of the kind that was asked for.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from mbros_core.engine._small import is_finite, numbers, within
from mbros_core.support.available import no_memory
from mbros_core.errors import MbrosError, NonFiniteError, WrongTypeError
from mbros_core.integrators.registry import BY_ERROR, TOLERANCES
from mbros_core.support.numbers import DOUBLE, counted, floats, is_whole, short

MOST = 2**40                # of anything that is counted
ENDLESS = 2**31 - 1         # a bound that a message names only where it was exceeded
LONGEST_STEP = 10.0         # s
LONGEST_PATH, LONGEST_PART = 4095, 255          # bytes of a path, and of a name in it, that Linux takes


def reals(who: str, what: str, value: Any, expected: str = "numbers") -> np.ndarray:
    """`value` as a float64 array of any shape, finite or not."""
    try:
        array = floats(value)
    except MemoryError as error:
        raise no_memory(f"{who}: {what}", getattr(error, "shape", ())) from None
    if array is None:
        raise WrongTypeError(f"{who}: {what}: expected {expected}, got {short(value)}")
    return array


def finite(who: str, what: str, array: np.ndarray, least: float | None = None, unit: str = "", most: float = inf,
           nan: bool = False) -> np.ndarray:
    """`array`, if every number of it is finite, or NaN where `nan` allows that, and within the bounds. unit: for the message."""
    if least is None and most == inf and is_finite(array):
        return array                            # the same, for what most calls are
    bad = ~np.isfinite(array)
    if least is not None:
        bad |= array < least
    if most < inf:
        bad |= array > most
    if nan:
        bad &= ~np.isnan(array)
    if not bad.any():
        return array
    at = tuple(int(k) for k in np.argwhere(bad)[0])
    where = f"[{', '.join(map(str, at))}]" if at else ""
    need = "a finite number" + (" or NaN" if nan else "") + _bounds(least, most)
    raise (MbrosError if np.isfinite(array[at]) else NonFiniteError)(
        f"{who}: {what}{where} is {array[at]:g}; expected {need}" + (f" ({unit})" if unit else ""))


def vector(who: str, what: str, value: Any, n: int, least: float | None = None, nan: bool = False) -> np.ndarray:
    """`value` as (n,) finite numbers, none below `least`; for n = 1 also a bare number."""
    if least is None and not nan:               # the same, for what most calls are
        if type(value) is np.ndarray and value.dtype is DOUBLE and value.shape == (n,):
            return finite(who, what, value)
        plain = numbers(value, n)
        if plain is not None:
            return plain
    expected = counted(n)
    array = np.atleast_1d(reals(who, what, value, expected))
    if array.shape != (n,):
        raise MbrosError(f"{who}: {what}: expected {expected}, got shape {np.shape(value)}")
    return finite(who, what, array, least, nan=nan)


def number(who: str, what: str, value: Any, least: float | None = None, most: float = inf, unit: str = "") -> float:
    """`value` as one finite number within the bounds."""
    if type(value) is float and isfinite(value) and value <= most and (least is None or value >= least):
        return value                            # the same, for what most calls are
    return float(finite(who, what, _one(who, what, value), least, unit, most))


def any_number(who: str, what: str, value: Any) -> float:
    """`value` as one number, finite or not."""
    if type(value) is float:
        return value
    return float(_one(who, what, value))


def _one(who: str, what: str, value: Any) -> np.ndarray:
    array = reals(who, what, value, counted(1))
    if array.size != 1:
        raise MbrosError(f"{who}: {what}: expected {counted(1)}, got shape {array.shape}")
    return array.reshape(())


def _bounds(least: float | None, most: float) -> str:
    if most < inf:
        return f", up to {most:g}" if least is None else f", {least:g} to {most:g}"
    return "" if least is None else ", zero or more" if least == 0 else f", {least:g} or more"


def count(who: str, what: str, value: Any, of: str = "", least: int = 0, most: int | None = MOST) -> int:
    """`value` as a whole number within the bounds, None: without end; `of` what, for the message."""
    above = is_whole(value) and most is not None and value > most
    if not is_whole(value) or value < least or above:
        open_ended = most is None or most >= ENDLESS and not above
        bounds = f"{least or 'zero'} or more" if least >= 0 and open_ended else f"{least} to {most}"
        raise (MbrosError if is_whole(value) else WrongTypeError)(
            f"{who}: {what}: expected {of + ', ' if of else ''}a whole number, {bounds}, got {short(value)}")
    return int(value)


def choice(who: str, what: str, value: Any, allowed: Sequence[Any]) -> Any:
    """`value`, when it is one of the words `allowed`, or of True and False."""
    if type(value) is str and value in allowed:
        return value
    if not isinstance(value, (str, bool, np.bool_)) or value not in allowed:
        words = [repr(word) for word in allowed]
        raise MbrosError(f"{who}: {what} is {short(value)}; expected {', '.join(words[:-1])} or {words[-1]}")
    return value


def room(who: str, what: str, out: Any, shape: tuple[int, ...], kind: str = "float64") -> np.ndarray:
    """`out`, where results of that shape and kind can be written."""
    if not (type(out) is np.ndarray and out.dtype == kind and out.shape == shape and out.flags.carray):
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise MbrosError(f"{who}: {what}: expected a writable C-contiguous {kind} array of shape {shape}, got {got}")
    return out


def file_path(who: str, value: Any) -> Path:
    """`value` as a path that the system can be asked about, whether there is such a file or not."""
    try:
        path = os.fspath(value)
        if isinstance(path, str) and path and "\0" not in path and len(path) <= LONGEST_PATH \
                and max(len(os.fsencode(part)) for part in path.split("/")) <= LONGEST_PART:
            return Path(path)
    except (TypeError, UnicodeEncodeError):         # no path, halves of surrogates
        pass
    raise (MbrosError if isinstance(value, (str, os.PathLike)) else WrongTypeError)(
        f"{who}: expected the path of a file, got {short(value)}")


def step_length(who: str, dt: Any) -> float:
    """dt, s, when it is a step of a simulation."""
    step = number(who, "dt", dt)
    if not 0.0 < step <= LONGEST_STEP:
        raise MbrosError(f"{who}: dt is {step:g}; expected a step above 0 and up to {LONGEST_STEP:g} s")
    return step


def tolerances(who: str, integrator: str, given: Sequence[float | None] | None) -> tuple[float, float]:
    """(rtol, atol) of an integrator that goes by the error, those of the registry for None; of others, which have none, (0, 0)."""
    rtol, atol = (None, None) if given is None else given
    if integrator != BY_ERROR:
        if rtol is None and atol is None:
            return 0.0, 0.0
        raise MbrosError(f"{who}: {'rtol' if rtol is not None else 'atol'} is given, and the integrator is {integrator!r}, whose steps are "
                         f"all of one length; expected integrator={BY_ERROR!r}, or no tolerances")
    return (TOLERANCES[0] if rtol is None else number(who, "rtol", rtol, 1e-14, 1e-2),
            TOLERANCES[1] if atol is None else number(who, "atol", atol, 1e-16, 1.0))


def step_interval(who: str, every: Any) -> int:
    """Steps from one that is kept to the next."""
    if type(every) is int and every >= 1:
        return every                            # the same, for what most calls are
    if not is_whole(every) or every < 1:
        raise MbrosError(f"{who}: every: expected 1 or more steps, got {short(every)}")
    return int(every)


def bounded(who: str, what: str, value: object, shape: Sequence[int | None], largest: float) -> np.ndarray:
    """`value` as finite float64 of this shape (None: any length), none beyond `largest`."""
    plain = numbers(value, shape[0]) if len(shape) == 1 and shape[0] is not None else None
    if plain is not None and within(plain, largest):
        return plain                            # the same, for what most calls are
    array = floats(value)
    if array is None:
        raise WrongTypeError(f"{who}: {what}: expected {counted(shape)}, got {short(value)}")
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape)):
        raise MbrosError(f"{who}: {what}: expected {counted(shape)}, got shape {array.shape}")
    bad = np.argwhere(~(np.abs(array) <= largest))
    if len(bad):
        at = tuple(int(k) for k in bad[0])
        where = f"[{', '.join(map(str, at))}]" if at else ""
        raise (MbrosError if np.isfinite(array[at]) else NonFiniteError)(
            f"{who}: {what}{where} is {array[at]:g}; expected a finite number, at most {largest:g} in magnitude")
    return array
