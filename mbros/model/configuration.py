"""Neutral and random configurations of a model, by its space (mbros.spaces)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.spaces.models import model_space

if TYPE_CHECKING:
    from mbros import Model
    from mbros.spaces.base import Space
    from mbros_core.typing import Rng


def space_of(model: Model, increments: str = "local") -> Space:
    """The model's space; mbros.Model keeps its own."""
    keep = getattr(model, "space", None)
    return keep(increments) if keep is not None else model_space(model, increments)


def neutral(model: Model) -> np.ndarray:
    """Every joint at its kind's neutral configuration; a user's joint at that of its law."""
    return np.concatenate([np.zeros(0)] + [joint.defaults.neutral for joint in model.joints if joint.nv and not joint.follows])


def random(model: Model, rng: Rng, size: int | None = None) -> np.ndarray:
    """Uniform within the limits, (nq,) or (size, nq); see Model.random_configuration."""
    return space_of(model).sample(rng, size)
