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
    "convention": "conventions", "spaces": "spaces", "bushing_design": "bushing_design", "diff": "diff",
    "load": "loading", "chain": "models.chain",
    "ModelBuilder": "builder",
    "CollisionPairs": "collision", "shapes": "shapes",
    **{name: "joints.user" for name in (
        "RevoluteJoint", "PrismaticJoint", "CylindricalJoint", "ContinuousJoint", "BoundedRotation", "ScrewJoint",
        "TranslationJoint", "PlanarJoint", "UniversalJoint", "BallJoint", "BallRpyJoint", "FloatingJoint", "FloatingRpyJoint",
        "WeldJoint", "FixedJoint", "AnchorJoint")},
    "JointLaw": "joints.custom", "CustomJoint": "joints.custom", "JointLimits": "joints.limits",
    **{name: "joints.distributions" for name in ("Uniform", "Normal", "Exponential", "UniformRotation")},
    "MbrosWarning": "errors", "PositionLimitWarning": "errors", "QuaternionDriftWarning": "errors",
    "FrozenModelError": "errors", "JointKindError": "errors", "StateError": "errors", "CoordinateIndexError": "errors",
    "MbrosError": "errors", "ModelError": "errors", "UrdfError": "errors", "UnknownNameError": "errors",
    "UnknownArgumentError": "errors",
    "MissingPackageError": "errors",
    "State": "mbros_core", "NotBuiltError": "errors", "FaultError": "mbros_core", "NonFiniteError": "mbros_core", "GimbalLockError": "mbros_core",
    "LinearBushingRollPitchYaw": "forces.bushing", "Bushing": "forces.bushing", "LinearSpringDamper": "forces.springs",
    "JointSpring": "forces.springs", "RevoluteSpring": "forces.springs", "PrismaticSpring": "forces.springs",
    "TorsionSpring": "forces.springs", "DoorHinge": "forces.springs", "StribeckFriction": "forces.springs",
    "JointStop": "forces.springs", "BodyWrench": "forces.body", "BodyGravity": "forces.body", "Forces": "forces.parts",
    "ForceElement": "forces.user", "CompiledForceElement": "forces.user",
}

__all__ = sorted(_HOME) + ["__version__"]


def __getattr__(name: str):
    if name == "__version__":
        value = _version()
    elif name in _HOME:
        home = _HOME[name]
        module = importlib.import_module(home if home == "mbros_core" else f"mbros.{home}")
        value = module if name == home else getattr(module, name)       # some modules are public as such
    else:
        raise AttributeError(f"module 'mbros' has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    """The installed version; in a source tree that is only on the path, what its package.xml says."""
    from importlib.metadata import PackageNotFoundError, version
    from pathlib import Path
    from xml.etree import ElementTree

    try:
        return version("mbros")
    except PackageNotFoundError:
        return ElementTree.parse(Path(__file__).parents[1] / "package.xml").findtext("version")


def __dir__():
    return sorted({*globals(), *__all__})
