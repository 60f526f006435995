"""mbros: multibody simulation at C speed, with ROS 2 integration.

    import mbros
    model = mbros.load("arm7")                  # a name, a .urdf, .xacro, .sdf or MJCF path, or text
    sim = mbros.Simulator(model, dt=1e-3)
    log = sim.run(2.0, effort={"joint2": 5.0})
    print(log["joint2"].position[-1], log.energy[-1])               # rad, J

load, ModelBuilder, Scene       make a Model: a robot, or several robots and objects
Model, State                    its algorithms; what changes: q, v, parameters
Simulator, rollout, sweep       motion: of one robot, of many, of many cases
Bench, Fault, JointSource       drives, sensors and buses; what breaks; joints that are real hardware
diff, identify, specialize      derivatives; parameters from data; code of one robot

SI units, radians, gravity (0, 0, -9.81) m/s^2, quaternions w x y z; six-vectors are [angular; linear] in world axes. What is refused is an
MbrosError (a ValueError) that names the element, and changes nothing. Everything public is listed in `mbros.__all__` and imported when it
is first used.
"""
from __future__ import annotations

import importlib

from mbros.model.shown import made_by as _made_by, shown_by as _shown_by

_NAMES = {      # module: the public names in it. __init__.pyi says the same to editors and type checkers; a test compares them
    "mbros.model.model": "Model",
    "mbros.model.body": "Body Frame",
    "mbros.model.joints.joint": "Joint",
    "mbros.model.forces.element": "Forces",
    "mbros.model.collision.pairs": "CollisionPairs",
    "mbros.spatial.vectors": "Pose SpatialVelocity SpatialAcceleration SpatialForce",
    "mbros.simulate.simulator": "Simulator",
    "mbros.simulate.connection": "connect",
    "mbros.study.identify.identify": "identify",
    "mbros.simulate.lockstep": "Lockstep",
    "mbros.simulate.log": "Log",
    "mbros.study.replay.measured_csv": "read_log",
    "mbros.simulate.motion": "Spline Table",
    "mbros.study.replay.replay": "replay",
    "mbros.study.rollout.rollout": "rollout",
    "mbros.study.sweep.sweep": "sweep",
    "mbros.conventions.convention": "convention",
    "mbros.build.load": "load",
    "mbros.view.show": "show",
    "mbros.build.robots.chain": "chain",
    "mbros.build.specialize.robot": "specialize",
    "mbros.build.specialize.expressions": "symbolic",
    "mbros.build.builder": "ModelBuilder",
    "mbros.build.scenes.scene": "Scene",
    "mbros.describe.joints.classes": "RevoluteJoint PrismaticJoint CylindricalJoint ContinuousJoint BoundedRotation ScrewJoint "
                                     "TranslationJoint PlanarJoint UniversalJoint BallJoint BallRpyJoint FloatingJoint "
                                     "FloatingRpyJoint WeldJoint FixedJoint AnchorJoint",
    "mbros.describe.contacts": "Ground",
    "mbros.describe.joints.custom": "JointLaw CustomJoint",
    "mbros.describe.joints.limits": "JointLimits",
    "mbros.describe.joints.distributions": "Uniform Normal Exponential UniformRotation",
    "mbros.describe.constraints.classes": "BallConstraint WeldConstraint HingeConstraint DistanceConstraint CouplerConstraint "
                                          "UniversalConstraint PrismaticConstraint CylindricalConstraint PlanarConstraint",
    "mbros.describe.forces.bushing": "LinearBushingRollPitchYaw Bushing",
    "mbros.describe.forces.springs": "LinearSpringDamper JointSpring RevoluteSpring PrismaticSpring TorsionSpring DoorHinge "
                                     "StribeckFriction JointStop",
    "mbros.describe.forces.body": "BodyWrench BodyGravity",
    "mbros.describe.forces.custom": "ForceElement CompiledForceElement",
    "mbros.describe.devices.bench": "Bench",
    "mbros.describe.devices.classes": "EffortActuator PositionServo VelocityServo Motor Encoder TorqueSensor Imu",
    "mbros.describe.devices.actuators": "ImpedanceServo SeriesElastic BrushlessMotor Brake CommandLimits",
    "mbros.describe.devices.sensors": "ForceTorque ContactSwitch WheelOdometry GroundTruthPose",
    "mbros.describe.devices.channel": "Channel",
    "mbros.describe.devices.fault": "Fault",
    "mbros.describe.devices.source": "JointSource",
    "mbros.bench.source": "SourceWarning",
    "mbros.errors": "FrozenModelError JointKindError StateError CoordinateIndexError MbrosError ModelError UrdfError UnknownNameError "
                    "UnknownArgumentError NotBuiltError MissingPackageError MbrosWarning PositionLimitWarning QuaternionDriftWarning "
                    "SwitchWarning SaveError",
    "mbros_core": "State FaultError NonFiniteError GimbalLockError",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = {"spaces": "mbros.spaces", "diff": "mbros.diff", "shapes": "mbros.describe.shapes",
            "bushing_design": "mbros.describe.forces.design"}

__all__ = sorted({*_HOME, *_MODULES}) + ["__version__"]

_made_by(lambda: importlib.import_module("mbros.build.from_state"))
_shown_by(lambda: importlib.import_module("mbros.view.show"))       # .show() of what lies below it; imported when it is called


def __getattr__(name: str):
    if name == "__version__":
        value = _version()
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
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
        return ElementTree.parse(Path(__file__).parents[1] / "package.xml").findtext("version", "")


def __dir__():
    return sorted({*globals(), *__all__})
