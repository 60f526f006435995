"""The result of compiling a robot: the engine's spec and the user's own tables, which say where each named part went."""
from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.records import record

if TYPE_CHECKING:
    from mbros.describe.joints.random import RandomPositions
    from mbros.spatial.placement import Placement
    from mbros_core.spec import ModelSpec


@record(eq=False, repr=False, frozen=True)
class CompiledJoint:
    """A user joint and where its coordinates are. Arrays: lower, upper (nq,), the others (nv,); empty for welds.

    q_start, v_start and nq, nv of a mimic joint are its leader's slice; its limits stay its own. axis is in F, as given.
    rotor_inertia is the rotor's own. frame_F and frame_M are rows of the frame table. compiled_index: the body it carries.
    parameters: as the kind's registry row names them. default (nq,): where new states start. X_PF, X_BM: placements on the
    user's bodies. Rows cannot change, and their arrays cannot be written to.
    """

    name: str
    kind: str
    parent_body: str
    child_body: str
    q_start: int
    nq: int
    v_start: int
    nv: int
    mimic: tuple[str, float, float] | None
    frame_F: int
    frame_M: int
    axis: np.ndarray | None
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    rotor_inertia: np.ndarray
    gear_ratio: np.ndarray
    velocity_lower: np.ndarray
    velocity_upper: np.ndarray
    acceleration_lower: np.ndarray
    acceleration_upper: np.ndarray
    default: np.ndarray
    X_PF: Placement
    X_BM: Placement
    parameters: tuple[float, ...] = ()
    random: RandomPositions | None = None
    locked: bool = False
    robot: str = ""
    index: int = 0
    compiled_index: int = 0
    file: str | None = None
    line: int | None = None


# fields of a CompiledJoint that are copied from its description
ARRAYS = ("axis", "lower", "upper", "velocity", "effort", "damping", "friction", "rotor_inertia", "gear_ratio",
          "velocity_lower", "velocity_upper", "acceleration_lower", "acceleration_upper")


@record(eq=False, repr=False, frozen=True)
class CompiledBody:
    """A user body: com (3,) and inertia (3, 3) about it in its own axes; frame: row of the frame table."""

    name: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    frame: int
    compiled_index: int
    robot: str = ""


@record(eq=False, repr=False, frozen=True)
class CompiledFrame:
    """A row of the frame table: world, then every body, then F and M of every joint, then added frames."""

    name: str
    body: str
    index: int
    tags: dict[str, Any] = field(default_factory=dict)
    robot: str = ""


@record(eq=False, repr=False)
class CompiledElement:
    """A force element of a compiled robot. index: its row in the engine's tables, or for a stop the velocity coordinate.

    frame_a, frame_c: rows of the frame table, -1 where it has none. joint: name, or None; iq, iv: coordinates in q and v.
    """

    name: str
    kind: str
    index: int
    frame_a: int = -1
    frame_c: int = -1
    joint: str | None = None
    iq: int = -1
    iv: int = -1
    described: Any = None
    robot: str = ""


@record(eq=False, repr=False, frozen=True)
class CompiledShape:
    """A collision shape of a compiled robot. index: its row in the engine's tables. body: the user's, and X_BG where it is there.
    geometry: mbros_core.geometry.Shape. numbers: those of mbros_core.constraints.registry, by name. excluded: why it never touches others,
    by their rows."""

    name: str
    body: str
    index: int
    geometry: Any
    X_BG: Placement
    numbers: dict[str, float]
    group: str = ""
    robot: str = ""
    file: str | None = None
    line: int | None = None
    excluded: dict[int, str] = field(default_factory=dict)


@record(eq=False, repr=False)
class CompiledConstraint:
    """A constraint of a compiled robot. index: its row in the engine's tables. frame_a, frame_b: rows of the frame table, -1 where it has
    none. joint_a, joint_b: names, or None."""

    name: str
    kind: str
    index: int
    frame_a: int = -1
    frame_b: int = -1
    joint_a: str | None = None
    joint_b: str | None = None
    robot: str = ""


@record(eq=False, repr=False)
class CompiledRobot:
    """The tables of a robot."""

    spec: ModelSpec                  # mbros_core.spec.ModelSpec
    joints: list[CompiledJoint]
    bodies: list[CompiledBody]      # bodies[0] is the world; bodies[i + 1] is carried by joints[i]
    frames: list[CompiledFrame]
    force_elements: list[CompiledElement] = field(default_factory=list)
    constraints: list[CompiledConstraint] = field(default_factory=list)
    shapes: list[CompiledShape] = field(default_factory=list)
