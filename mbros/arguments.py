"""Checks of what users write, where they write it: those of mbros_core.support.given, which the engine makes too, and of paths, models,
states and parts of descriptions. A refusal is a MbrosError naming the element; of what is part of a description, a ModelError.
"""
from __future__ import annotations

from os import PathLike
from typing import Any, NoReturn

import mbros_core
import numpy as np
from mbros_core.engine._small import numbers as plain_numbers
from mbros_core.errors import state_error
from mbros_core.support.given import (bounded as bounded, choice as choice, count as count, file_path as file_path, finite as finite,
    number as number, reals as reals, step_interval as step_interval, step_length as step_length, vector as vector)
from mbros_core.support.numbers import counted as counted, floats as floats, is_whole as is_whole, short

from mbros.errors import MbrosError, ModelError, Problem
from mbros.names import no_name

LENIENCE = ("check", "as_given")        # what is done about what is wrong, where a choice is given: refused, or taken with a warning


def refuse(element: object, reason: str, remedy: str = "") -> NoReturn:
    raise ModelError(Problem(element, reason, remedy))


# ----------------------------------------------------------------------------------------------------- paths, states

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


def generator(who: str, rng: Any) -> np.random.Generator:
    """The random generator of `rng`: None, a seed, or a numpy.random.Generator."""
    if type(rng) is np.random.Generator:
        return rng
    try:
        if not isinstance(rng, (bool, np.bool_)):
            return np.random.default_rng(rng)
    except (TypeError, ValueError, OverflowError):
        pass
    raise MbrosError(f"{who}: rng: expected None, a seed (a whole number, zero or more) or a numpy.random.Generator, got {short(rng)}")


def check_model(who: str, model: object) -> None:
    """MbrosError unless `model` is a built model."""
    if not (hasattr(model, "joints") and hasattr(model, "nv")):
        remedy = "mbros.Model.from_state(state) makes one of a state" if isinstance(model, mbros_core.State) else \
            "mbros.load(...) and ModelBuilder.build() make one"
        raise MbrosError(f"{who}: expected a built model, got {short(model)}; {remedy}")


def time_step(who: str, dt: float, integrator: str) -> float:
    """dt, s, when it is a step of a simulation and `integrator` the name of one whose steps are all alike."""
    if isinstance(integrator, str) and integrator == mbros_core.BY_ERROR:
        raise MbrosError(f"{who}: the integrator {integrator} takes substeps by the error of one robot; expected one whose steps are all "
                         f"alike: {', '.join(mbros_core.INTEGRATORS)}; a Simulator takes {integrator}")
    choice(who, "integrator", integrator, mbros_core.INTEGRATORS)
    return step_length(who, dt)


def check_state(who: str, model: Any, state: object) -> None:
    """StateError (a TypeError) unless `state` is a State of this model; of any model, for None. BusyError while a loop or another call
    has it."""
    owner = getattr(state, "model", None)
    if (model is None or owner is model) and isinstance(state, mbros_core.State):
        state._check_free()
        return
    raise state_error(who, model, state)


def check_owner(what: str, model: Any, state: object) -> None:
    """check_state of "<what> of model <name>"; what holds the state is then for the engine to say."""
    if type(state) is not mbros_core.State or state.model is not model:
        check_state(f"{what} of model {model.name!r}", model, state)


def rows(who: str, what: str, value: Any, width: int, n: int | None = None) -> np.ndarray:
    """`value` as (width,) numbers, which are for all, or (n, width), a row for each; n None: any number of rows. Finite or not."""
    array = reals(who, what, value)
    if array.ndim not in (1, 2) or array.shape[-1] != width or array.ndim == 2 and n is not None and len(array) != n:
        raise MbrosError(f"{who}: {what}: expected shape ({'n' if n is None else n}, {width}), or ({width},) for all, got {array.shape}")
    return array


# ------------------------------------------------------------------------------------------- of parts of descriptions

def check_name(kind: str, name: object) -> None:
    """ModelError unless `name` can be the name of an element: one line of printable text, not empty and not endless."""
    wrong = no_name(name)
    if wrong is not None:
        refuse(kind, *wrong)


def numbers(element: object, what: str, value: Any, size: int | tuple[int, ...], finite: bool = True,
            broadcast: bool = False) -> np.ndarray:
    """`value` as a float64 array of shape (size,) or `size` (a tuple); NaN is always refused, inf if `finite`."""
    plain = plain_numbers(value, size) if type(size) is int else None
    if plain is not None:
        return plain                            # the same, for what most calls are
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
