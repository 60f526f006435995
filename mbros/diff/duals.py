"""The dual-number engine as mbros.diff uses it: a workspace for each thread, directions written in, derivatives read out."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

import mbros_core
from mbros_core import LinearDynamics
from mbros_core.errors import owner
from mbros_core.engine.fields import FIELDS
from mbros_core.joints.registry import row_of
from mbros_core.support.numbers import short
from mbros_core.engine.user_code import named

from mbros.errors import MbrosError, UnknownNameError
from mbros.spatial import body_numbers
from mbros.spatial.body_numbers import NO_MASS, SIZES

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import Duals, Linearizer, SecondSlopes, State
    from mbros_core.typing import Array, IntArray

    # what Duals.sweep takes, where each variable is in it, how many directions; of those of bodies, what Duals.body_directions takes
    Plan = tuple[list[tuple[Array, Array]], dict[str, slice], int, tuple[IntArray, Array, Array] | None]

MOST_KNOWN = 64         # choices of variables whose directions are kept
MOST_RATE = 1e8         # of N: derivatives through it lose so many of 16 digits
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


def linear_dynamics(model: Model, count: int) -> list[LinearDynamics]:
    """The same without dual numbers, for what has analytic derivatives; none where the model has not."""
    if not model._has_slopes(True):
        return []
    local = _compiled(model)[1]
    if count > 1:
        return [LinearDynamics(model, mbros_core.dual().halves) for _ in range(count)]
    if not hasattr(local, "linear_dynamics"):
        local.linear_dynamics = LinearDynamics(model, mbros_core.dual().halves)
    return [local.linear_dynamics]


def second_slopes(model: Model) -> SecondSlopes:
    """This thread's."""
    compiled, local = _compiled(model)
    if not hasattr(local, "second_slopes"):
        local.second_slopes = mbros_core.dual().SecondSlopes(compiled)
    return local.second_slopes


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


def analytic(model: Model, found: Any) -> Any:
    """What the engine's own equations gave. They give nothing (None) for joints that users write: MbrosError that names these."""
    if found is None:
        _compiled(model)
        raise MbrosError(f"model {model.name!r}: a joint of it has no derivatives here; take finite differences of the result")
    return found


class Workspace:
    """Duals of a model, with every input as an array (numbers, 1 + partials) on its memory."""

    def __init__(self, model: Model, duals: Duals) -> None:
        self.model, self.duals = model, duals
        self.inputs = {name: duals.state.field(name).reshape(-1, 1 + duals.partials) for name in INPUTS}
        self.block, self.given = duals.state._inputs, duals.given
        self.known: dict[tuple[str, tuple[str, ...]], Plan] = {}
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
        """([(array, rows)] for Duals.sweep, {name: where its directions are}, how many there are) of the variables `wrt`: a view of what
        is kept, and written over by the next call."""
        known = self.known.get((given_name, wrt))
        if known is None:
            known = self._plan(state, given_name, given, wrt)
            if self.rates or "q" not in wrt:                        # all else is the same for every state
                if len(self.known) >= MOST_KNOWN:
                    self.known.clear()
                self.known[given_name, wrt] = known
        found, parts, count, bodies = known
        if bodies is not None:
            inertia = state.field("inertia")
            if (inertia[bodies[0][:, 1], 0] <= NO_MASS).any():      # what has no mass left is as the model has it
                inertia = np.where(inertia[:, :1] > NO_MASS, inertia, self.model.spec.inertia)
            self.duals.body_directions(inertia, *bodies)
        return found, parts, count

    def _plan(self, state: State, given_name: str, given: Array, wrt: tuple[str, ...]) -> Plan:
        seeds = {name: self._seeds(state, given_name, given, name) for name in wrt}
        sizes = {name: len(rows) for name, (_, rows) in seeds.items()}
        count, at = sum(sizes.values()), 0
        whole: dict[str, tuple[Array, Array]] = {}
        bodies: list[tuple[int, int, int]] = []
        weights: list[Array] = []
        for name, (target, rows) in seeds.items():
            array = self.given if target == "given" else self.inputs[target]
            _, all_rows = whole.setdefault(target, (array, np.zeros((count, len(array)))))
            if target == "inertia":
                what, _, body = name.partition(".")
                bodies += [(at + k, self.model.spec.body_names.index(body), list(SIZES).index(what)) for k in range(len(rows))]
                weights.append(body_numbers.weights(what, body_numbers.place(self.model, body)))
            else:
                all_rows[at:at + len(rows), :rows.shape[1]] = rows
            at += sizes[name]
        ends = np.cumsum([0, *sizes.values()]).tolist()
        return (list(whole.values()), {name: slice(a, b) for name, a, b in zip(sizes, ends, ends[1:])}, count,
                (np.array(bodies, np.int64), np.concatenate(weights), whole["inertia"][1]) if bodies else None)

    def _seeds(self, state: State, given_name: str, given: Array, name: str) -> tuple[str, Array]:
        """(input array's name or "given", rows (k, numbers)): each row a direction in that array."""
        model = self.model
        if name == "q" and self.rates:
            return "q", np.eye(model.nv)
        if name == "q":
            rows = np.array([model.velocity_to_qdot(state, e) for e in np.eye(model.nv)]).reshape(model.nv, model.nq)
            largest = np.abs(rows).max(axis=0, initial=0.0)
            if largest.max(initial=0.0) > MOST_RATE:
                at = int(largest.argmax())
                raise MbrosError(f"derivatives by q of model {model.name!r}: q[{at}]{owner(model, 'q', state.q, at)} has no rate here, "
                                 f"within {1 / MOST_RATE:g} rad of gimbal lock. Turn the joint's frames so that its pitch stays away "
                                 "from +-90 degrees, or take a joint on a quaternion")
            return "q", rows
        if name == "v":
            return "v", np.eye(model.nv)
        if given_name and name == given_name:
            return "given", np.eye(len(given))
        if "." not in name and name not in model.parameter_names:
            there = ", ".join(repr(word) for word in ("q", "v", given_name) if word)
            raise UnknownNameError(f"wrt: no variable {short(name)}; expected {there}, or a parameter of model {model.name!r}, as "
                                   f"{', '.join(map(repr, model.parameter_names[:3]))} (model.parameter_names)")
        return self._parameter_seeds(name)

    def _parameter_seeds(self, name: str) -> tuple[str, Array]:
        target, at, count = self.model._parameter_directions(name)
        rows = np.zeros((count, len(self.inputs[target])))
        if target != "inertia":                                     # those are Duals.body_directions'
            rows[:, at] = np.eye(count)
        return target, rows
