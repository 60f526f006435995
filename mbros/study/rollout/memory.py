"""What a robot takes from one rollout to the next: how a step led to where it is.

A row of numbers for each robot:

    the model's mark | time | clock (2) | last_step (2) | a_prev (nv) | contact_memory (rows x 21)

The mark is of the numbers that the model was compiled from; what follows is in a State under these names (mbros_core.engine.fields). With
q and v, and the same parameters, it decides the steps to come to the bit.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core.constraints.touches import COLUMNS, COUNT
from mbros_core.forces.registry import spring_numbers
from mbros_core.support.numbers import is_whole, short

from mbros.arguments import check_state, finite, rows
from mbros.errors import MbrosError, StateError

if TYPE_CHECKING:
    from mbros import Model
    from mbros.study.rollout.outputs import Run
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array

NAMES = ("time", "clock", "last_step", "a_prev", "contact_memory")


def mark(model: Any) -> float:
    """A whole number by which rows are known to be of this model, loaded again too."""
    found = model.__dict__.get("_memory_mark")
    if found is None:
        from mbros_core.support.fingerprint import digest, fingerprint        # start-up time: who does not use it does not pay

        found = model.__dict__["_memory_mark"] = float(int(digest(fingerprint(model.spec))[:13], 16))       # 52 bits
    return found


def columns(model: Any) -> int:
    """How many numbers a row has."""
    found = model.__dict__.get("_memory_columns")
    if found is None:
        state = model.default_state()
        found = model.__dict__["_memory_columns"] = 1 + sum(state.field(name).size for name in NAMES)
    return int(found)


def row_of(model: Model, state: State) -> Array:
    """The memory of a state."""
    return np.concatenate([[mark(model)], *(state.field(name).ravel() for name in NAMES)])


def new_row(model: Model, state: State) -> Array:
    """That of a state which was put where it is: contacts are new."""
    row = row_of(model, state)
    row[columns(model) - state.field("contact_memory").size:] = 0.0
    return row


def write_end(state: State, run: Run, robot: int) -> None:
    """Where a robot of a rollout ended, into a state (Run.write_end)."""
    check_state("write_end", None, state)
    model, (n, kept) = state.model, run.q.shape[:2]
    if not is_whole(robot) or not -n <= robot < n:
        raise MbrosError(f"write_end: robot: expected a number from 0 to {n - 1}, got {short(robot)}")
    row = run.memory[robot]
    if len(row) != columns(model) or row[0] != mark(model):
        raise StateError(f"write_end: a state of model {model.name!r} was given where one of the rollout's model was expected")
    if not kept:
        raise MbrosError("write_end: the rollout took no step; expected one of a step or more")
    state.set_q(run.q[robot, -1]).set_v(run.v[robot, -1])
    state.q[:] = run.q[robot, -1]                       # to the bit
    start = 1
    for name in NAMES:
        field = state.field(name)
        field[...] = row[start:start + field.size].reshape(field.shape)
        start += field.size


def given_memory(who: str, model: Model, start: State, memory: Any, n: int) -> Array:
    """Rows (n, columns) of what a user gives: a State, whose memory all have, or the rows of a rollout."""
    if isinstance(memory, mbros_core.State):
        model._check_state(memory)
        memory = row_of(model, memory)
    array = rows(who, "memory", memory, columns(model), n)
    table = array.reshape(-1, array.shape[-1])
    contacts = columns(model) - start.field("contact_memory").size
    finite(who, "memory", table[:, :contacts + COLUMNS])
    if (table[:, 0] != mark(model)).any():
        raise MbrosError(f"{who}: memory: it is of another model; expected that of a rollout or a state of {model.name!r}")
    if table.shape[1] > contacts and len(table):
        # The rest is long, and mostly not in use.
        used = int(min(max(table[:, contacts + COUNT].max(), 0.0), len(start.field("contact_memory")) - 1))
        finite(who, "memory of contacts", table[:, contacts:contacts + (1 + used) * COLUMNS])
        finite(who, "memory of constraints", table[:, table.shape[1] - COLUMNS * held_rows(model):])
    return np.ascontiguousarray(np.broadcast_to(array, (n, array.shape[-1])))


def held_rows(model: Model) -> int:
    """The last rows of a state's memory, of constraints and of force elements that may be stiff."""
    return len(model.constraints) + len(spring_numbers(model.spec))
