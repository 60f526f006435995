"""Batches given by users: arrays whose last axis has a fixed size and whose leading axes fit together."""
from __future__ import annotations

from typing import Any

import numpy as np

from mbros.arguments import counted, reals
from mbros.errors import MbrosError


def together(who: str, **given: tuple[Any, int]) -> list[np.ndarray]:
    """The arguments name=(array, size) as float arrays with the same leading axes; errors begin with `who`."""
    arrays = []
    for what, (x, n) in given.items():
        a = reals(who, what, x, f"{counted(n)} in the last axis")
        if a.ndim == 0 or a.shape[-1] != n:
            raise MbrosError(f"{who}: {what}: expected {counted(n)} in the last axis, got shape {a.shape}")
        arrays.append(a)
    leads = {a.shape[:-1] for a in arrays}
    if len(leads) > 1:
        try:
            lead = np.broadcast_shapes(*leads)
        except ValueError:
            shapes = " and ".join(f"{what} {a.shape}" for what, a in zip(given, arrays))
            raise MbrosError(f"{who}: the batches do not fit together: {shapes}") from None
        arrays = [np.broadcast_to(a, lead + a.shape[-1:]) for a in arrays]
    return arrays
