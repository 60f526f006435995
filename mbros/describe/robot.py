"""What a user describes: bodies, joints, frames, with names and where each was written. No simulation here.

`ModelBuilder` and the URDF reader both end in a `RobotDescription`; `mbros.build.compile.tree` turns one into the engine's spec.
Placements are X_AB = (R_AB, p_AoBo_A): SI units, right-handed axes.
"""
from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from mbros_core.support.records import record

from mbros.describe.joints.joint import JointDescription
from mbros.describe.joints.kinds import KINDS, ONE_AXIS
from mbros.errors import NOWHERE, OwnAttributes, Source, no_model
from mbros.names import plural
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz, rotation_from_rpy

if TYPE_CHECKING:
    from mbros.describe.constraints.constraint import Constraint
    from mbros.describe.devices.bench import Bench
    from mbros.describe.members import Member
    from mbros.describe.forces.element import Described
    from mbros.errors import Problem
    from os import PathLike

GRAVITY = (0.0, 0.0, -9.81)     # m/s^2, the value Pinocchio and MuJoCo use by default
WORLD = "world"                 # the body that does not move

@record(eq=False)
class Geometry(OwnAttributes):
    """What a shape is made of: kind "box" (size), "cylinder", "capsule" (radius, length along z), "sphere", "mesh", "half_space"; with what
    else it needs in classes of their own (mbros.describe.shapes) "convex", "height_field"."""

    kind: str
    size: tuple[float, ...] = ()
    radius: float = 0.0
    length: float = 0.0
    filename: str = ""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@record(eq=False)
class Shape(OwnAttributes):
    """A visual or collision element of a body: geometry at X_BG, with a colour when one is known."""

    geometry: Geometry
    X_BG: Placement = field(default_factory=Placement)
    name: str = ""
    material: str = ""
    rgba: tuple[float, float, float, float] | None = None


@record(eq=False)
class Collision(Shape):
    """A collision element, with what it is like to touch: the numbers of mbros_core.constraints.registry, None where nobody gave one.

    group: shapes of one group do not touch each other; "" is none. robot: the group it came in with.
    """

    stiffness: float | None = None
    relaxation_time: float | None = None
    friction: float | None = None
    static_friction: float | None = None
    torsional_radius: float | None = None
    rolling_radius: float | None = None
    group: str = ""
    source: Source = NOWHERE
    robot: str = ""


@record(eq=False)
class Exclusion:
    """Two of bodies and shapes, given by name or themselves, that do not touch. reason: why, where somebody said so."""

    a: BodyDescription | Collision | str
    b: BodyDescription | Collision | str
    reason: str = ""
    source: Source = NOWHERE


@record(eq=False)
class BodyDescription(OwnAttributes):
    """A rigid body. com (3,) from the body origin and inertia (3, 3) about the com, both in body axes."""

    name: str
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    visuals: list[Shape] = field(default_factory=list)
    collisions: list[Shape] = field(default_factory=list)
    source: Source = NOWHERE
    robot: str = ""

    @property
    def frame(self) -> "FrameDescription":
        """The body's own frame."""
        return FrameDescription(self.name, self)

    @property
    def model(self) -> NoReturn:
        """The model that owns it: there is none yet."""
        raise no_model("body", self.name)

    def __repr__(self) -> str:
        return f"<BodyDescription {self.name!r}, {self.mass:g} kg>"


@record(eq=False)
class FrameDescription(OwnAttributes):
    """A frame fixed on a body, at X_BF. tags: whatever its author notes about it, such as {"gripper": True}."""

    name: str
    body: BodyDescription
    X_BF: Placement = field(default_factory=Placement)
    source: Source = NOWHERE
    tags: dict[str, Any] = field(default_factory=dict)
    robot: str = ""

    @property
    def model(self) -> NoReturn:
        """The model that owns it: there is none yet."""
        raise no_model("frame", self.name)

    def __repr__(self) -> str:
        return f"<FrameDescription {self.name!r} on {self.body.name!r}>"


@record()
class Mimic:
    """q = ratio * q_leader + offset (offset in rad or m)."""

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


def new_world() -> BodyDescription:
    return BodyDescription(WORLD)


@record(eq=False)
class RobotDescription(OwnAttributes):
    """A robot as its author wrote it. `bodies` are in the author's order, without the world.

    notes: everything that was read and not used, or taken otherwise than written (Problem with severity "note" or
    "warning"). text: the URDF it came from, None for models made in Python. default_base: what `base=None` means.
    """

    name: str
    bodies: list[BodyDescription] = field(default_factory=list)
    joints: list[JointDescription] = field(default_factory=list)
    frames: list[FrameDescription] = field(default_factory=list)
    world: BodyDescription = field(default_factory=new_world)
    gravity: np.ndarray = field(default_factory=lambda: np.array(GRAVITY))
    notes: list[Problem] = field(default_factory=list)
    file: str | None = None
    text: str | None = None
    default_base: str = "fixed"
    base_said: bool = True                                             # False: the root link is held by the world for want of a word
    package_dirs: tuple[str | PathLike[str], ...] = ()
    collisions: bool | None = None                                     # whether a model of it has its collision shapes; None: nobody asked
    exclusions: list[Exclusion] = field(default_factory=list)
    force_elements: list[Described] = field(default_factory=list)      # of mbros.describe.forces.element.Described
    constraints: list[Constraint] = field(default_factory=list)        # of mbros.describe.constraints.constraint.Constraint
    bench: Bench | None = None                                         # which it carries (mbros.describe.devices)
    members: tuple[Member, ...] = ()                                   # of a scene: its robots and objects (mbros.describe.members)
    keyframes: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)      # {name: {joint: positions}}; others by default

    def __repr__(self) -> str:
        return f"<RobotDescription {self.name!r}: {plural(len(self.bodies), 'body', 'bodies')}, {plural(len(self.joints), 'joint')}>"


__all__ = ["GRAVITY", "WORLD", "KINDS", "NOWHERE", "ONE_AXIS", "BodyDescription", "Collision", "Exclusion", "FrameDescription", "Geometry",
           "JointDescription", "Mimic", "Placement",
           "RobotDescription", "Shape", "Source", "new_world", "rotation_from_quat_wxyz", "rotation_from_rpy"]
