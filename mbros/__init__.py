"""mbros: multibody simulation at C speed, with ROS 2 integration.

    import mbros
    model = mbros.load("arm7")                  # a name, a .urdf or .xacro path, or URDF text
    sim = mbros.Simulator(model, dt=1e-3)
    log = sim.run(2.0, effort={"joint2": 5.0})

Everything public is listed in `mbros.__all__` and imported when it is first used.
"""
from __future__ import annotations

import importlib

_HOME = {
    "Model": "model", "Joint": "model", "Body": "model", "Frame": "model",
    "Pose": "spatial", "SpatialVelocity": "spatial", "SpatialAcceleration": "spatial", "SpatialForce": "spatial",
    "Simulator": "simulator", "Log": "log", "rollout": "rollouts",
    "load": "loading", "chain": "models.chain",
    "ModelBuilder": "builder", "RevoluteJoint": "builder", "ContinuousJoint": "builder", "PrismaticJoint": "builder",
    "PlanarJoint": "builder", "FloatingJoint": "builder", "WeldJoint": "builder",
    "MbrosError": "errors", "ModelError": "errors", "UrdfError": "errors", "UnknownNameError": "errors",
    "MissingPackageError": "errors",
    "State": "mbros_core", "FaultError": "mbros_core", "NonFiniteError": "mbros_core",
}

__all__ = sorted(_HOME) + ["__version__"]


def __getattr__(name: str):
    if name == "__version__":
        from importlib.metadata import version
        value = version("mbros")
    elif name in _HOME:
        home = _HOME[name]
        value = getattr(importlib.import_module(home if home == "mbros_core" else f"mbros.{home}"), name)
    else:
        raise AttributeError(f"module 'mbros' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
