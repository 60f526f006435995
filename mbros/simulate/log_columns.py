"""A log as columns with the names that recordings have (mbros.record.recorder)."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros.simulate.log import Log
    from mbros_core.typing import Array


def columns_of(log: Log) -> dict[str, Array]:
    """Log.columns."""
    model = log.model
    found = {"time": log.time}
    for name in model.joint_state_names:
        one = log[name]
        for part in ("position", "velocity", "effort"):
            found[f"{name}/{part}"] = getattr(one, part)
    for joint in model.joints:
        if joint.nv > 1:
            for own, names, x, end in ((joint.q_slice, model.position_names, log.q, ""), (joint.v_slice, model.velocity_names, log.v, ""),
                                       (joint.v_slice, model.velocity_names, log.effort, "/effort")):
                for k in range(own.start, own.stop):
                    found[f"{joint.name}/{names[k].rpartition('.')[2]}{end}"] = x[:, k]
    found["energy/kinetic"], found["energy/potential"] = log.kinetic_energy, log.potential_energy
    for name, x in log.signals.items():
        found.update({name: x} if x.ndim == 1 else {f"{name}/{k}": x[:, k] for k in range(x.shape[1])})
    return {name: np.ascontiguousarray(x) for name, x in found.items()}
