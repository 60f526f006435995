"""The dual-number engine as mbros.diff uses it: a workspace for each thread, directions written in, derivatives read out."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

import mbros_core
from mbros_core.fields import FIELDS
from mbros_core.joints.registry import row_of
from mbros_core.user_code import named

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core._engine import Duals, Linearizer, State
    from mbros_core.typing import Array

INPUTS = tuple(row.name for row in FIELDS if row.stage in ("input", "parameter") and row.name not in ("time", "clock"))


def workspace(model: Model) -> Workspace:
    """This thread's."""
    compiled, local = _compiled(model)
    if not hasattr(local, "workspace"):
        local.workspace = Workspace(model, mbros_core.dual().Duals(compiled))
    return local.workspace


def linearizers(model: Model, count: int) -> list[Linearizer]:
    """`count` of them, for a thread each; of one, this thread's."""
    compiled, local = _compiled(model)
    if count > 1:
        return [mbros_core.dual().Linearizer(compiled) for _ in range(count)]
    if not hasattr(local, "linearizer"):
        local.linearizer = mbros_core.dual().Linearizer(compiled)
    return [local.linearizer]


def _compiled(model: Model) -> tuple[Any, threading.local]:
    """(the model over dual numbers, what each thread has of it), kept with the model."""
    made = model.__dict__.get("_dual")
    if made is None:
        foreign = ", ".join(name for name, _ in named(model))
        if foreign:
            raise MbrosError(f"model {model.name!r}: {foreign}: written by a user, of which no derivative is known; take finite "
                             "differences of the result")
        made = model.__dict__["_dual"] = (mbros_core.dual().Model(model.spec), threading.local())
    return made


class Workspace:
    """Duals of a model, with every input as an array (numbers, 1 + partials) on its memory."""

    def __init__(self, model: Model, duals: Duals) -> None:
        self.model, self.duals = model, duals
        self.inputs = {name: duals.state.field(name).reshape(-1, 1 + duals.partials) for name in INPUTS}
        self.block, self.given = duals.state._inputs, duals.given
        self.known: dict[tuple[str, tuple[str, ...]], tuple[list[tuple[Array, Array]], dict[str, slice], int]] = {}
        self.rates = all(row_of(model.spec, i).velocities_are_rates for i, leader in enumerate(model.spec.leader) if leader < 0)

    def write(self, state: State, given: Array) -> None:
        """The values of a state and of the given vector; all derivatives zero."""
        self.block[:] = 0.0
        self.block[:, 0] = state._inputs
        if len(given):
            self.given[:len(given)] = 0.0
            self.given[:len(given), 0] = given

    def directions(self, state: State, given_name: str, given: Array, wrt: tuple[str, ...]) -> tuple[list[tuple[Array, Array]],
                   dict[str, slice], int]:
        """([(array, rows)] for Duals.sweep, {name: where its directions are}, how many there are) of the variables `wrt`."""
        known = self.known.get((given_name, wrt))
        if known is not None:
            return known
        seeds = {name: self._seeds(state, given_name, given, name) for name in wrt}
        sizes = {name: len(rows) for name, (_, rows) in seeds.items()}
        count, at = sum(sizes.values()), 0
        whole: dict[str, tuple[Array, Array]] = {}
        for name, (target, rows) in seeds.items():
            array = self.given if target == "given" else self.inputs[target]
            _, all_rows = whole.setdefault(target, (array, np.zeros((count, len(array)))))
            all_rows[at:at + len(rows), :rows.shape[1]] = rows
            at += sizes[name]
        ends = np.cumsum([0, *sizes.values()]).tolist()
        found = list(whole.values()), {name: slice(a, b) for name, a, b in zip(sizes, ends, ends[1:])}, count
        if self.rates and {"q", "v", given_name} >= set(wrt):           # the same for every state
            self.known[given_name, wrt] = found
        return found

    def _seeds(self, state: State, given_name: str, given: Array, name: str) -> tuple[str, Array]:
        """(input array's name or "given", rows (k, numbers)): each row a direction in that array."""
        model = self.model
        if name == "q" and self.rates:
            return "q", np.eye(model.nv)
        if name == "q":
            return "q", np.array([model.velocity_to_qdot(state, e) for e in np.eye(model.nv)]).reshape(model.nv, model.nq)
        if name == "v":
            return "v", np.eye(model.nv)
        if given_name and name == given_name:
            return "given", np.eye(len(given))
        return self._parameter_seeds(state, name)

    def _parameter_seeds(self, state: State, name: str) -> tuple[str, Array]:
        target, at, values = self.model._parameter_directions(state, name)
        rows = np.zeros((len(values), len(self.inputs[target])))
        rows[:, at] = values
        return target, rows
