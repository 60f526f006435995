"""What a user describes: bodies, joints, frames, with names and where each was written. No simulation here.

`ModelBuilder` and the URDF reader both end in a `RobotDescription`; `mbros.compile` turns one into the engine's spec.
Placements are X_AB = (R_AB, p_AoBo_A): SI units, right-handed axes.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# kind: (positions, velocities). "continuous" is a revolute joint without limits.
KINDS = {"weld": (0, 0), "revolute": (1, 1), "continuous": (1, 1), "prismatic": (1, 1), "planar": (3, 3),
         "floating": (7, 6)}
ONE_AXIS = ("revolute", "continuous", "prismatic")
GRAVITY = (0.0, 0.0, -9.81)     # m/s^2, the value Pinocchio and MuJoCo use by default
_IDENTITY = np.eye(3)
_ORIGIN = np.zeros(3)


class Placement:
    """X_AB: where frame B is in frame A. `R` (3, 3) has B's axes in A as columns, `p` (3,) is Bo from Ao in A, in m."""

    __slots__ = ("R", "p")

    def __init__(self, R=None, p=None):
        self.R = _IDENTITY if R is None else R
        self.p = _ORIGIN if p is None else p

    def __matmul__(self, other: "Placement") -> "Placement":
        """X_AC = X_AB @ X_BC."""
        return Placement(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> "Placement":
        return Placement(self.R.T, -(self.R.T @ self.p))

    def matrix(self) -> np.ndarray:
        """The homogeneous (4, 4) matrix."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.R, self.p
        return X

    def __repr__(self) -> str:
        return f"Placement(R={self.R.tolist()}, p={self.p.tolist()})"


def rotation_from_rpy(rpy) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll): URDF's fixed-axis angles, in rad."""
    roll, pitch, yaw = (float(a) for a in rpy)
    cr, sr, cp, sp, cy, sy = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                     [-sp, cp * sr, cp * cr]])


def rotation_from_quat_wxyz(quat_wxyz) -> np.ndarray:
    """R of a quaternion (w, x, y, z); it is normalised first."""
    w, x, y, z = np.asarray(quat_wxyz, dtype=float) / np.linalg.norm(quat_wxyz)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


class Source:
    """Where an element was written."""

    __slots__ = ("file", "line")

    def __init__(self, file=None, line=None):
        self.file, self.line = file, line

    def __repr__(self) -> str:
        return "" if self.file is None else f"{self.file}:{self.line}"


NOWHERE = Source()


@dataclass(eq=False)
class Geometry:
    """A shape for viewers: kind "box" (size), "cylinder", "capsule" (radius, length along z), "sphere", "mesh"."""

    kind: str
    size: tuple[float, ...] = ()
    radius: float = 0.0
    length: float = 0.0
    filename: str = ""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(eq=False)
class Shape:
    """A visual or collision element of a body: geometry at X_BG, with a colour when one is known."""

    geometry: Geometry
    X_BG: Placement = field(default_factory=Placement)
    name: str = ""
    material: str = ""
    rgba: tuple[float, float, float, float] | None = None


@dataclass(eq=False)
class Body:
    """A rigid body. com (3,) from the body origin and inertia (3, 3) about the com, both in body axes."""

    name: str
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    visuals: list[Shape] = field(default_factory=list)
    collisions: list[Shape] = field(default_factory=list)
    source: Source = NOWHERE

    @property
    def frame(self) -> "Frame":
        """The body's own frame."""
        return Frame(self.name, self)

    def __repr__(self) -> str:
        return f"<Body {self.name!r}, {self.mass:g} kg>"


@dataclass(eq=False)
class Frame:
    """A frame fixed on a body, at X_BF."""

    name: str
    body: Body
    X_BF: Placement = field(default_factory=Placement)
    source: Source = NOWHERE

    def __repr__(self) -> str:
        return f"<Frame {self.name!r} on {self.body.name!r}>"


@dataclass
class Mimic:
    """q = ratio * q_leader + offset (offset in rad or m)."""

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


class Joint:
    """Connects `child` to `parent`: X_PB = X_PF X_FM(q) X_BM^-1.

    kind: a key of KINDS. axis: unit vector in F (the same in M), None for kinds without one.
    lower, upper, default: (nq,). velocity, effort, damping, friction, rotor_inertia, gear_ratio: (nv,).
    stop_stiffness, stop_damping: (nv,), or None for the defaults of `mbros.compile`. default None: see there.
    Units: rad, m, N m, N and what follows from them; rotor_inertia is the rotor's own (kg m^2, or kg), and the joint
    feels gear_ratio^2 times it.
    """

    __slots__ = ("name", "kind", "parent", "child", "X_PF", "X_BM", "axis", "lower", "upper", "velocity", "effort",
                 "damping", "friction", "rotor_inertia", "gear_ratio", "default", "stop_stiffness", "stop_damping",
                 "mimic", "source")

    def __init__(self, name, kind, parent, child, X_PF=None, X_BM=None, axis=None, source=NOWHERE):
        nq, nv = KINDS[kind]
        self.name, self.kind, self.parent, self.child, self.axis, self.source = name, kind, parent, child, axis, source
        self.X_PF = Placement() if X_PF is None else X_PF
        self.X_BM = Placement() if X_BM is None else X_BM
        self.lower, self.upper = np.full(nq, -np.inf), np.full(nq, np.inf)
        self.velocity, self.effort = np.full(nv, np.inf), np.full(nv, np.inf)
        self.damping, self.friction, self.rotor_inertia = np.zeros(nv), np.zeros(nv), np.zeros(nv)
        self.gear_ratio = np.ones(nv)
        self.default = self.stop_stiffness = self.stop_damping = self.mimic = None

    @property
    def nq(self) -> int:
        return KINDS[self.kind][0]

    @property
    def nv(self) -> int:
        return KINDS[self.kind][1]

    def __repr__(self) -> str:
        return f"<{self.kind} joint {self.name!r}: {self.parent.name!r} to {self.child.name!r}>"


def new_world() -> Body:
    return Body("world")


@dataclass(eq=False)
class RobotDescription:
    """A robot as its author wrote it. `bodies` are in the author's order, without the world.

    notes: everything that was read and not used, or taken otherwise than written (Problem with severity "note" or
    "warning"). text: the URDF it came from, None for models made in Python. default_base: what `base=None` means.
    """

    name: str
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    world: Body = field(default_factory=new_world)
    gravity: np.ndarray = field(default_factory=lambda: np.array(GRAVITY))
    notes: list = field(default_factory=list)
    file: str | None = None
    text: str | None = None
    default_base: str = "fixed"
    package_dirs: tuple = ()

    def __repr__(self) -> str:
        return f"<RobotDescription {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints>"
