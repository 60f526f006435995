"""mbros: multibody simulation at C speed, with ROS 2 integration."""
# What mbros/__init__.py fetches when it is used, said plainly for editors and type checkers ("A as A": it is public). tests/types compares
# the two.
from mbros_core import FaultError as FaultError, GimbalLockError as GimbalLockError, NonFiniteError as NonFiniteError, State as State
from mbros import diff as diff, spaces as spaces
from mbros.build.builder import ModelBuilder as ModelBuilder
from mbros.build.scenes.scene import Scene as Scene
from mbros.build.load import load as load
from mbros.build.robots.chain import chain as chain
from mbros.build.specialize.expressions import symbolic as symbolic
from mbros.build.specialize.robot import specialize as specialize
from mbros.conventions.convention import convention as convention
from mbros.describe import shapes as shapes
from mbros.describe.contacts import Ground as Ground
from mbros.describe.devices.actuators import (Brake as Brake, BrushlessMotor as BrushlessMotor, CommandLimits as CommandLimits,
                                              ImpedanceServo as ImpedanceServo, SeriesElastic as SeriesElastic)
from mbros.describe.devices.bench import Bench as Bench
from mbros.describe.devices.channel import Channel as Channel
from mbros.describe.devices.fault import Fault as Fault
from mbros.describe.devices.source import JointSource as JointSource
from mbros.describe.devices.classes import (EffortActuator as EffortActuator, Encoder as Encoder, Imu as Imu, Motor as Motor,
                                            PositionServo as PositionServo, TorqueSensor as TorqueSensor, VelocityServo as VelocityServo)
from mbros.describe.devices.sensors import (ContactSwitch as ContactSwitch, ForceTorque as ForceTorque,
                                            GroundTruthPose as GroundTruthPose, WheelOdometry as WheelOdometry)
from mbros.describe.forces import design as bushing_design
from mbros.describe.forces.body import BodyGravity as BodyGravity, BodyWrench as BodyWrench
from mbros.describe.constraints.classes import (BallConstraint as BallConstraint, CouplerConstraint as CouplerConstraint,
                                                CylindricalConstraint as CylindricalConstraint, DistanceConstraint as DistanceConstraint,
                                                HingeConstraint as HingeConstraint, PlanarConstraint as PlanarConstraint,
                                                PrismaticConstraint as PrismaticConstraint, UniversalConstraint as UniversalConstraint,
                                                WeldConstraint as WeldConstraint)
from mbros.describe.forces.bushing import Bushing as Bushing, LinearBushingRollPitchYaw as LinearBushingRollPitchYaw
from mbros.describe.forces.custom import CompiledForceElement as CompiledForceElement, ForceElement as ForceElement
from mbros.describe.forces.springs import (DoorHinge as DoorHinge, JointSpring as JointSpring, JointStop as JointStop,
                                           LinearSpringDamper as LinearSpringDamper, PrismaticSpring as PrismaticSpring,
                                           RevoluteSpring as RevoluteSpring, StribeckFriction as StribeckFriction,
                                           TorsionSpring as TorsionSpring)
from mbros.describe.joints.classes import (AnchorJoint as AnchorJoint, BallJoint as BallJoint, BallRpyJoint as BallRpyJoint,
                                           BoundedRotation as BoundedRotation, ContinuousJoint as ContinuousJoint,
                                           CylindricalJoint as CylindricalJoint, FixedJoint as FixedJoint, FloatingJoint as FloatingJoint,
                                           FloatingRpyJoint as FloatingRpyJoint, PlanarJoint as PlanarJoint,
                                           PrismaticJoint as PrismaticJoint, RevoluteJoint as RevoluteJoint, ScrewJoint as ScrewJoint,
                                           TranslationJoint as TranslationJoint, UniversalJoint as UniversalJoint, WeldJoint as WeldJoint)
from mbros.describe.joints.custom import CustomJoint as CustomJoint, JointLaw as JointLaw
from mbros.describe.joints.distributions import (Exponential as Exponential, Normal as Normal, Uniform as Uniform,
                                                 UniformRotation as UniformRotation)
from mbros.describe.joints.limits import JointLimits as JointLimits
from mbros.errors import (CoordinateIndexError as CoordinateIndexError, FrozenModelError as FrozenModelError,
                          JointKindError as JointKindError, MbrosError as MbrosError, MbrosWarning as MbrosWarning,
                          MissingPackageError as MissingPackageError, ModelError as ModelError, NotBuiltError as NotBuiltError,
                          PositionLimitWarning as PositionLimitWarning, QuaternionDriftWarning as QuaternionDriftWarning,
                          SaveError as SaveError,
                          StateError as StateError, SwitchWarning as SwitchWarning, UnknownArgumentError as UnknownArgumentError,
                          UnknownNameError as UnknownNameError, UrdfError as UrdfError)
from mbros.model.body import Body as Body, Frame as Frame
from mbros.model.collision.pairs import CollisionPairs as CollisionPairs
from mbros.model.forces.element import Forces as Forces
from mbros.model.joints.joint import Joint as Joint
from mbros.model.model import Model as Model
from mbros.simulate.log import Log as Log
from mbros.study.replay.measured_csv import read_log as read_log
from mbros.simulate.motion import Spline as Spline, Table as Table
from mbros.bench.source import SourceWarning as SourceWarning
from mbros.study.rollout.rollout import rollout as rollout
from mbros.study.sweep.sweep import sweep as sweep
from mbros.study.replay.replay import replay as replay
from mbros.simulate.connection import connect as connect
from mbros.study.identify.identify import identify as identify
from mbros.simulate.lockstep import Lockstep as Lockstep
from mbros.simulate.simulator import Simulator as Simulator
from mbros.spatial.vectors import (Pose as Pose, SpatialAcceleration as SpatialAcceleration, SpatialForce as SpatialForce,
                                   SpatialVelocity as SpatialVelocity)
from mbros.view.show import show as show

__version__: str

__all__ = ["AnchorJoint", "BallConstraint", "BallJoint", "BallRpyJoint", "Bench", "Body", "BodyGravity", "BodyWrench",
           "BoundedRotation", "Brake", "BrushlessMotor", "Bushing", "Channel", "CollisionPairs", "CommandLimits",
           "CompiledForceElement", "ContactSwitch", "ContinuousJoint", "CoordinateIndexError", "CouplerConstraint", "CustomJoint",
           "CylindricalConstraint", "CylindricalJoint", "DistanceConstraint", "DoorHinge", "EffortActuator", "Encoder",
           "Exponential", "Fault", "FaultError", "FixedJoint", "FloatingJoint", "FloatingRpyJoint", "ForceElement", "ForceTorque",
           "Forces", "Frame", "FrozenModelError", "GimbalLockError", "Ground", "GroundTruthPose", "HingeConstraint",
           "ImpedanceServo", "Imu", "Joint", "JointKindError", "JointLaw", "JointLimits", "JointSource", "JointSpring", "JointStop",
           "LinearBushingRollPitchYaw", "LinearSpringDamper", "Lockstep", "Log", "MbrosError", "MbrosWarning",
           "MissingPackageError", "Model", "ModelBuilder", "ModelError", "Motor", "NonFiniteError", "Normal", "NotBuiltError",
           "PlanarConstraint", "PlanarJoint", "Pose", "PositionLimitWarning", "PositionServo", "PrismaticConstraint",
           "PrismaticJoint", "PrismaticSpring", "QuaternionDriftWarning", "RevoluteJoint", "RevoluteSpring", "SaveError", "Scene",
           "ScrewJoint", "SeriesElastic", "Simulator", "SourceWarning", "SpatialAcceleration", "SpatialForce", "SpatialVelocity",
           "Spline", "State", "StateError", "StribeckFriction", "SwitchWarning", "Table", "TorqueSensor", "TorsionSpring",
           "TranslationJoint", "Uniform", "UniformRotation", "UniversalConstraint", "UniversalJoint", "UnknownArgumentError",
           "UnknownNameError", "UrdfError", "VelocityServo", "WeldConstraint", "WeldJoint", "WheelOdometry", "bushing_design",
           "chain", "connect", "convention", "diff", "identify", "load", "read_log", "replay", "rollout", "shapes", "show", "spaces",
           "specialize", "sweep", "symbolic", "__version__"]
