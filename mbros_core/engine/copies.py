"""Copies and pickles of what has memory: states and plants, put together again from plain arrays.

A deep copy or a pickle takes the model along (through `memo`, so that what is copied together fits together); a plain copy is of the same
model. Pickled is what decides the future, not the workspace: results are computed again when they are asked for.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros_core.errors import MbrosError

if TYPE_CHECKING:
    from mbros_core.engine._engine import Dynamics, Model, Plant, State
    from mbros_core.typing import Array


def state_of(model: Model, inputs: Array) -> State:
    """A state of `model` with these inputs and parameters, laid out as State._inputs."""
    state = model.default_state()
    if np.shape(inputs) != state._inputs.shape:
        raise MbrosError(f"model {model.name!r}: expected {state._inputs.shape} numbers of a copied state, got {np.shape(inputs)}; it was "
                         "copied from another model, or by another version of mbros")
    state._inputs[...] = inputs
    return state


def plant_of(cls: type[Plant] | None, model: Dynamics, state: State, settings: tuple[Any, ...], last: tuple[Any, ...]) -> Plant:
    """A plant that goes on with `state`. cls: None for the Plant of this machine's engine; settings: its further arguments; last: what its
    last step left behind."""
    if cls is None:
        from mbros_core import Plant                        # the engine imports this module

        cls = Plant
    plant = cls(model, state, *settings)
    plant._take_over(*last)
    return plant
