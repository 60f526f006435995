"""The result of compiling a robot: the engine's spec and the user's own tables, which say where each named part went."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class CompiledJoint:
    """A user joint and where its coordinates are. Arrays: lower, upper (nq,), the others (nv,); empty for welds.

    q_start, v_start and nq, nv of a mimic joint are its leader's slice; its limits stay its own. axis is in F, as given.
    rotor_inertia is the rotor's own. frame_F and frame_M are rows of the frame table. compiled_index: the body it carries.
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
    compiled_index: int = 0
    file: str | None = None
    line: int | None = None


@dataclass(eq=False)
class CompiledBody:
    """A user body: com (3,) and inertia (3, 3) about it in its own axes; frame: row of the frame table."""

    name: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    frame: int
    compiled_index: int


@dataclass(eq=False)
class CompiledFrame:
    """A row of the frame table: world, then every body, then F and M of every joint, then added frames."""

    name: str
    body: str
    index: int


@dataclass(eq=False)
class CompiledRobot:
    spec: object                    # mbros_core.spec.ModelSpec
    joints: list[CompiledJoint]
    bodies: list[CompiledBody]      # bodies[0] is the world; bodies[i + 1] is carried by joints[i]
    frames: list[CompiledFrame]
