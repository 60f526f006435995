"""Efforts by the names of joints, as tau."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mbros.arguments import finite, reals
from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.typing import ArrayLike


def effort_vector(model: Model, efforts: Mapping[str, ArrayLike] | ArrayLike) -> np.ndarray:
    """See Model.effort_vector, which makes the usual ones itself."""
    tau = np.zeros(model.nv)
    if not isinstance(efforts, dict):
        given = reals(f"model {model.name!r}", "efforts", efforts, f"{model.nv} numbers, or a dict of joint names")
        if given.shape != tau.shape:
            raise MbrosError(f"model {model.name!r}: efforts: expected {model.nv} numbers, or a dict of joint names, got shape "
                             f"{given.shape}")
        return finite(f"model {model.name!r}", "efforts", given).copy()
    for name, value in efforts.items():
        joint = model.joint(name)
        if joint.mimic is not None:
            raise MbrosError(f"joint {name!r} follows {joint.mimic[0]!r} and takes no effort: command {joint.mimic[0]!r}")
        tau[joint.v_slice] = joint._own(value, joint.nv, "effort")
    return tau
