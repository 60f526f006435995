"""The engine of mbros: rigid-body dynamics at C speed, without ROS, file formats or logging.

`Model`, `State` and `Plant` come from the double-precision module built for what this CPU can do; `lanes()` gives the
widest module that simulates several robots side by side in SIMD lanes, `dual()` the one whose numbers carry derivatives.
"""
from __future__ import annotations

import sys
from types import ModuleType

from typing import TYPE_CHECKING

from .errors import FaultError, GimbalLockError, NonFiniteError
from .integrators.registry import BY_ERROR, DEFAULT as DEFAULT_INTEGRATOR, NAMES as INTEGRATORS
from .support import cpu, not_built

if not_built.Finder not in sys.meta_path:
    sys.meta_path.append(not_built.Finder)

if TYPE_CHECKING:
    from .engine._engine import Batch, Dynamics as Model, InverseKinematics, LinearDynamics, Plant, Regressor, State
else:
    _engine = cpu.load_double()
    Model = _engine.Dynamics
    State = _engine.State
    Plant = _engine.Plant
    Batch = _engine.Batch
    InverseKinematics = _engine.InverseKinematics
    LinearDynamics = _engine.LinearDynamics
    Regressor = _engine.Regressor

__all__ = ["BY_ERROR", "Batch", "DEFAULT_INTEGRATOR", "FaultError", "GimbalLockError", "INTEGRATORS", "InverseKinematics", "LinearDynamics",
           "Model", "NonFiniteError", "Plant", "Regressor", "State", "dual", "lanes"]


def lanes() -> ModuleType:
    """The lanes module for this CPU: 8 robots per vector with AVX-512, 4 with AVX2, 2 otherwise."""
    return cpu.load_lanes()


def dual() -> ModuleType:
    """The dual-number module for this CPU: values with derivatives in `Duals.partials` directions (mbros.diff)."""
    return cpu.load_dual()
