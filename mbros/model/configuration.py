"""Configurations of a model: its space (mbros.spaces), and arguments of the manifold's operations, which may be batches."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros.spaces.base import Space
    from mbros_core.typing import Array, ArrayLike, Rng


def space_of(model: Model, increments: str = "local") -> Space:
    """The model's space; mbros.Model keeps its own."""
    keep = getattr(model, "space", None)
    if keep is not None:
        return keep(increments)
    from mbros.spaces.models import model_space      # start-up time: who does not use it does not pay

    return model_space(model, increments)


def neutral(model: Model) -> np.ndarray:
    """Every joint at its kind's neutral configuration; a user's joint at that of its law."""
    return np.concatenate([np.zeros(0)] + [joint.defaults.neutral for joint in model.joints if joint.nv and not joint.follows])


def random(model: Model, rng: Rng, size: int | None = None) -> np.ndarray:
    """Uniform within the limits, (nq,) or (size, nq); see Model.random_configuration."""
    return space_of(model).sample(rng, size)


def together(model: Model, **given: tuple[ArrayLike, int]) -> list[Array]:
    """Configurations and velocities (..., n) of an operation, all of one batch."""
    from mbros.spaces.batches import together as of_one_batch      # start-up time: who does not use it does not pay

    return of_one_batch(f"model {model.name!r}", **given)


def into(out: Array | None, result: Array) -> np.ndarray:
    if out is None:
        return result
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != result.shape or not out.flags.writeable:
        raise MbrosError(f"out: expected an array of shape {result.shape}, float64 and writable, got "
                         f"{getattr(out, 'dtype', type(out).__name__)} {getattr(out, 'shape', '')}")
    out[...] = result
    return out
