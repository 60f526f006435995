"""Parameters that differ from robot to robot of a batch: {name: (n, ...)} as numbers of the states' inputs."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.numbers import short

from mbros.arguments import finite, reals
from mbros.errors import MbrosError
from mbros.model.parameters import limits, split

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core._engine import State


def own_parameters(who: str, model: Model, state: State, parameters: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(places in State._inputs (p,), values (n, p)) of {parameter name: a value for each of n robots}; others are those of `state`.

    Values: (n,) or, for a parameter of k numbers, (n, k). Refused as model.set_parameter refuses them. Locks are those of the state, for
    all robots.
    """
    if not isinstance(parameters, Mapping):
        raise MbrosError(f"{who}: parameters: expected {{parameter name: one value for each robot}}, got {short(parameters)}")
    places: list[np.ndarray] = [np.zeros(0, np.int64)]
    values: list[np.ndarray] = [np.zeros((n, 0))]
    elements: dict[str, dict[str, np.ndarray]] = {}
    for name, value in parameters.items():
        kind, of = split(model, name)
        if kind.of == "lock":
            raise MbrosError(f"{who}: parameter {name!r}: a joint is locked for all robots of a batch or for none; lock it in the state "
                             "that is given as state=")
        field, at, directions = model._parameter_directions(state, name)
        given = _rows(f"{who}: parameter {name!r}", value, n, len(directions), limits(model, name)[0])
        if kind.of == "element":
            element, _, group = of.rpartition(".")
            elements.setdefault(element, {})[group] = given
        places.append(_start(state, field) + np.asarray(at))
        values.append(given @ directions)
    _check_elements(who, model, state, elements, n)
    return np.concatenate(places), np.ascontiguousarray(np.concatenate(values, axis=1))


def robot_state(start: State, own: Any, row: int) -> State:
    """A copy of `start` with the parameters of one robot; own: what `own_parameters` gave, or None."""
    state = start.copy()
    if own is not None:
        state._inputs[own[0]] = own[1][row]
    return state


def _rows(who: str, value: Any, n: int, k: int, least: float | None) -> np.ndarray:
    """(n, k) finite numbers, none below `least`."""
    expected = f"one value for each of {n} robots, shape ({n},)" if k == 1 else f"{k} numbers for each of {n} robots, shape ({n}, {k})"
    given = reals(who, "value", value, expected)
    if given.shape != (n, k) and not (k == 1 and given.shape == (n,)):
        raise MbrosError(f"{who}: expected {expected}, got shape {given.shape}")
    return finite(who, "value", given, least).reshape(n, k)


def _check_elements(who: str, model: Model, state: State, elements: dict[str, dict[str, np.ndarray]], n: int) -> None:
    """What the numbers of a force element must be together, for every robot."""
    trial = state.copy()
    for name, groups in elements.items():
        element = model.force_elements[name]
        for b in range(n):
            try:
                element.update(trial, {group: rows[b] if rows.shape[1] > 1 else float(rows[b, 0]) for group, rows in groups.items()})
            except MbrosError as error:
                raise MbrosError(f"{who}: robot {b} of {n}: {error}") from None


def _start(state: State, field: str) -> int:
    """Where a field begins in State._inputs."""
    def address(array: np.ndarray) -> int:
        return array.__array_interface__["data"][0]
    return (address(state.field(field)) - address(state._inputs)) // state._inputs.itemsize
