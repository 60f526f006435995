"""Parameters that differ from robot to robot of a batch: {name: (n, ...)} as numbers of the states' inputs."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import finite, reals
from mbros.errors import MbrosError
from mbros.spatial.body_numbers import NO_MASS, compiled, impossible, own as body_rows, place, read, unchanged, unheld, written
from mbros.model.parameters import directions, limits, own_inertia, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbros import Model
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array


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
    bodies: dict[str, dict[str, np.ndarray]] = {}
    for name, value in parameters.items():
        kind, of = split(model, name)
        if kind.of == "lock":
            raise MbrosError(f"{who}: parameter {name!r}: a joint is locked for all robots of a batch or for none; lock it in the state "
                             "that is given as state=")
        field, at, count = directions(model, name)
        given = _rows(f"{who}: parameter {name!r}", value, n, count, limits(model, name)[0])
        if kind.of == "body":
            bodies.setdefault(of, {})[kind.name] = given
            continue
        if kind.of == "element":
            element, _, group = of.rpartition(".")
            elements.setdefault(element, {})[group] = given
        places.append(_start(state, field) + np.asarray(at))
        values.append(given)
    for body, numbers in bodies.items():
        field, at, _ = directions(model, f"mass.{body}")
        places.append(_start(state, field) + np.asarray(at))
        values.append(_bodies(who, model, state, body, numbers, n))
    _check_elements(who, model, state, elements, n)
    return np.concatenate(places), np.ascontiguousarray(np.concatenate(values, axis=1))


def repeated(x: Array, n: int, copy: bool = False) -> Array:
    """A row (k,) for each of n robots, or rows (n, k) as they are, in one piece of memory. copy: of its own."""
    if x.ndim == 2 and not copy:
        return np.ascontiguousarray(x)
    out = np.empty((n, x.shape[-1]))
    out[...] = x
    return out


def robot_state(start: State, own: Any, row: int) -> State:
    """A copy of `start` with the parameters of one robot; own: what `own_parameters` gave, or None."""
    state = start.copy()
    if own is not None:
        state._inputs[own[0]] = own[1][row]
    return state


def engines(model: Model, start: mbros_core.State, parts: Sequence[slice], own: tuple[np.ndarray, Array] | None = None,
            each: int = 1) -> list[Any]:
    """A Batch of the widest lanes module for each part of a batch, with the parameters of a state, and `own` (places, values (rows, p)):
    numbers of single robots, of which robot b has row b // each. The compiled model is kept with the model."""
    compiled = model.__dict__.get("_lanes_model")
    module = mbros_core.lanes()
    if compiled is None:
        compiled = module.Model(model.spec)
        code = model.__dict__.get("_code")              # of mbros.specialize
        if code is not None and code.functions:
            code.attach(compiled, "lanes")
        model.__dict__["_lanes_model"] = compiled
    made = [_spare(model) or module.Batch(compiled) for _ in parts]
    for batch, part in zip(made, parts):
        batch.take(start._inputs)
        if own is not None:
            batch.vary(*own, part.start, each)
    return made


def spare(model: Model, engine: Any) -> None:
    """An engine that nobody uses any more: kept with the model, one at a time, for the next call. Nothing of what it did is in what it will
    do: it takes the parameters that it is given, and each of its calls begins anew, as for every group of robots."""
    model.__dict__["_spare_engine"] = engine


def _spare(model: Model) -> Any:
    """The one that is kept, which is then the caller's alone."""
    return model.__dict__.pop("_spare_engine", None)


def _rows(who: str, value: Any, n: int, k: int, least: float | None) -> np.ndarray:
    """(n, k) finite numbers, none below `least`."""
    expected = f"one value for each of {n} robots, shape ({n},)" if k == 1 else f"{k} numbers for each of {n} robots, shape ({n}, {k})"
    given = reals(who, "value", value, expected)
    if given.shape != (n, k) and not (k == 1 and given.shape == (n,)):
        raise MbrosError(f"{who}: expected {expected}, got shape {given.shape}")
    return finite(who, "value", given, least).reshape(n, k)


def _bodies(who: str, model: Model, state: State, body: str, numbers: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """(n, 10): mass, moments and inertia of a body of each robot, of which some of mass, com and inertia are given."""
    rows = np.tile(own_inertia(model, state, body), (n, 1))
    for b, six in enumerate(numbers.get("inertia", ())):
        wrong = impossible(six)
        if wrong:
            raise MbrosError(f"{who}: robot {b} of {n}: parameter 'inertia.{body}' is {short(six.tolist())}: {wrong}")
    if "mass" in numbers:
        rows = written(rows, "mass", numbers["mass"])
    X_CB, inertia, called = place(model, body), None, f"{who}: parameters of body {body!r}"
    if set(numbers) != {"mass"}:
        own = before = body_rows(rows, X_CB)
        for what in ("com", "inertia"):
            if what in numbers and not unchanged(own, what, numbers[what]).all():
                inertia = numbers[what] if what == "inertia" else read(own, "inertia")
                own = written(own, what, numbers[what])
        rows = rows if own is before else compiled(own, X_CB)
    massive = np.flatnonzero(rows[:, 0] > NO_MASS)
    wrong_row = unheld(called, rows[massive], X_CB, None if inertia is None else inertia[massive])
    if wrong_row:
        raise MbrosError(f"{who}: robot {massive[wrong_row[0]]} of {n}: parameters {', '.join(repr(f'{w}.{body}') for w in numbers)}: "
                         f"{wrong_row[1]}")
    return finite(called, "inertia", rows)


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
