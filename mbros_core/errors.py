"""The engine's exceptions and the sentences in them."""
from __future__ import annotations

import numpy as np


class NonFiniteError(ValueError):
    """A result would not have been finite: which input was the cause. Nothing has been returned or changed."""


class FaultError(RuntimeError):
    """A simulation step would have left the finite numbers. The last good state is kept until a reset."""


def explain_not_finite(model, what: str, inputs: dict) -> str:
    """`what`: the algorithm. Names the first input number that is not finite, with its joint, or says that none is."""
    for name, array in inputs.items():
        flat = np.asarray(array, float).reshape(-1)
        bad = np.flatnonzero(~np.isfinite(flat))
        if bad.size:
            names = model.position_names if name.startswith("q") else model.velocity_names
            joint = f" (joint {names[bad[0]]!r})" if len(names) == flat.size else ""
            return (f"{what} of model {model.name!r}: {name}[{bad[0]}]{joint} is {flat[bad[0]]}; expected a finite number. "
                    "Nothing was changed")
    largest = max((float(np.abs(np.asarray(a, float)).max(initial=0.0)), name) for name, a in inputs.items())
    return (f"{what} of model {model.name!r}: the result is not finite although every input is; the largest input is "
            f"{largest[1]} with {largest[0]:g}. Look for a body that can move but has neither mass nor rotor inertia "
            "behind its joint, for a quaternion of zeros, or for numbers beyond 1e150")
