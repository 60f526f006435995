"""The default of a robot with ground stands on it: the base of its one floating robot is lifted or lowered, along the world's z axis, until
its lowest shape touches the ground. Only where nobody gave the base a default position of its own."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import Model as Engine
from mbros_core.geometry import contacts

from mbros.build.compile.shape_pairs import shape_poses
from mbros.describe.problems import note
from mbros.describe.shapes import GROUNDS
from mbros.errors import Problem
from mbros.model.frozen import frozen

if TYPE_CHECKING:
    from mbros.describe.robot import RobotDescription
    from mbros.model.tables import CompiledRobot, CompiledShape
    from mbros_core.typing import Array

POSITION = {"floating": slice(0, 3), "floating_rpy": slice(3, 6)}       # of q, by kind of joint
IN_THE_GROUND = 1e-6    # m, of what a note is made
FARTHEST = 1e6          # m: grounds further away are none
EXACT = 1e-12           # m: of the gap; rounding leaves some 1e-16
MOST_STEPS = 100        # towards a height field: a sloping one is approached by the distance, which leaves 1 - cos(slope) of the way


def stand(description: RobotDescription, tree: Any, compiled: CompiledRobot) -> None:
    """Changes the default position of the floating base in compiled.spec and compiled.joints."""
    on_world = _on_world(tree)
    bases = [i for i, joint in enumerate(tree.joints) if joint.kind in POSITION]
    free = [i for i in bases if on_world[i] and tree.joints[i].default is None]
    placed = {member.name for member in description.members if member.on_ground}
    grounds = [row for row in compiled.shapes if row.body == description.world.name and row.geometry.kind in GROUNDS]
    if placed and not grounds:
        note_no_ground(description)
    if not grounds or not bases:
        return
    ground = _Ground(tree, compiled, grounds)
    if description.members:
        for i in bases:
            if on_world[i] and tree.joints[i].robot in placed:
                ground.lift(i)
    elif len(bases) > 1:
        _note_those_in_the_ground(description, [tree.joints[i] for i in free if ground.rise_of(i) > IN_THE_GROUND])
    elif free:
        ground.lift(free[0])


def note_no_ground(description: RobotDescription) -> None:
    """Of a scene that has none: what was left to it."""
    for member in description.members:
        if member.on_ground:
            note(description, Problem(f"{member.kind} {member.name!r}", "p has two numbers, which leaves its height to the ground, and "
                                      "there is none: it starts at z = 0", "Give the scene a ground, or p three numbers.", description.file,
                                      severity="warning"))


def _note_those_in_the_ground(description: RobotDescription, joints: Sequence[Any]) -> None:
    if joints:
        named = ", ".join(repr(joint.name) for joint in joints[:4]) + (" and others" if len(joints) > 4 else "")
        note(description, Problem("ground", f"what {named} carries is in it at the default position: only a single base is put on it",
                                  "Place them with joint.set_pose(state, ...), or give the joints default positions.", description.file,
                                  severity="note"))


class _Ground:
    """What a robot can stand on, and where its shapes are meanwhile, which is asked of the engine once."""

    def __init__(self, tree: Any, compiled: CompiledRobot, grounds: Sequence[CompiledShape]) -> None:
        self.tree, self.compiled, self.grounds = tree, compiled, grounds
        self.plant = Engine(compiled.spec)
        self.state = self.plant.default_state()
        self.X = shape_poses(compiled, compiled.shapes)
        self.on_body: dict[str, list[CompiledShape]] = {}
        for row in compiled.shapes:
            self.on_body.setdefault(row.body, []).append(row)

    def lift(self, base: int) -> None:
        """The base goes up or down until it stands."""
        rise = self.rise_of(base)
        if rise == 0.0:
            return
        row = self.compiled.joints[base]
        R_WF = np.asarray(self.plant._frame_pose(self.state, row.frame_F))[:9].reshape(3, 3)      # of a frame that does not move
        default = np.array(row.default)
        default[POSITION[row.kind]] += R_WF.T @ (0.0, 0.0, rise)
        self.compiled.joints[base] = replace(row, default=frozen(default))
        self.compiled.spec.q_default[row.q_start:row.q_start + row.nq] = default

    def rise_of(self, base: int) -> float:
        """How far up what stands on a joint has to go until it touches the ground, m; 0 without a ground."""
        carried = {base + 1}
        for i in range(base + 1, len(self.tree.joints)):
            if self.tree.parent[i] not in carried:      # depth first: here what it carries ends
                break
            carried.add(i + 1)
        mine = [row for b in sorted(carried) for row in self.on_body.get(self.tree.bodies[b].name, ()) if row.geometry.kind not in GROUNDS]
        X = self.X[[row.index for row in mine]]
        return max((height for ground in self.grounds if (height := _rise(ground, self.X[ground.index], mine, X)) is not None), default=0.0)


def _on_world(tree: Any) -> list[bool]:
    """Of every joint: whether it stands on the world, or on what is welded to it."""
    found: list[bool] = []
    for parent in tree.parent:          # parents come first
        found.append(bool(parent == 0 or found[parent - 1] and not tree.joints[parent - 1].nv))
    return found


def _rise(ground: CompiledShape, X_WG: Array, rows: Sequence[CompiledShape], X: Array) -> float | None:
    """How far up (negative: down) the shapes have to go until the first of them touches the ground; None where they are not above it."""
    up = float(X_WG[2, 2])
    rows_X = [(row, pose.copy()) for row, pose in zip(rows, X) if ground.index not in row.excluded]
    if up <= 0.0 or not rows_X:
        return None
    # above everything: a height field knows no depth far below its surface
    start = 0.0 if ground.geometry.kind == "half_space" else _top(ground, X_WG) - min(pose[2, 3] for _, pose in rows_X)
    rise = start + (0.0 if ground.geometry.kind == "half_space" else max(_reach(row) for row, _ in rows_X))
    for _ in range(MOST_STEPS):
        depth, slope = _deepest(ground, X_WG, rows_X, rise)
        if depth is None:
            return None
        rise += depth / up if ground.geometry.kind == "half_space" else depth if depth < 0.0 else depth / max(slope, 0.1)
        if abs(depth) <= EXACT:
            break
    return rise


def _deepest(ground: CompiledShape, X_WG: Array, rows_X: Sequence[tuple[CompiledShape, Array]], rise: float) -> tuple[float | None, float]:
    """The largest depth when all shapes are lifted, minus the distance where they are apart, and the z component of its normal."""
    best: tuple[float | None, float] = (None, 1.0)
    for row, pose in rows_X:
        lifted = pose.copy()
        lifted[2, 3] += rise
        found = contacts(ground.geometry, X_WG, row.geometry, lifted, FARTHEST)
        if len(found.depths) and (best[0] is None or found.depths.max() > best[0]):
            k = int(found.depths.argmax())
            best = float(found.depths[k]), float(found.normals[k, 2])
    return best


def _top(ground: CompiledShape, X_WG: Array) -> float:
    """A height that nothing of a height field exceeds."""
    points, sizes = ground.geometry.points, ground.geometry.sizes
    assert points is not None           # a height field has heights
    return float(X_WG[2, 3] + abs(X_WG[2, 2]) * points.max() + 0.5 * np.abs(X_WG[2, :2]) @ sizes[:2])


def _reach(row: CompiledShape) -> float:
    """A length that no point of a shape is farther from its origin than."""
    if row.geometry.points is not None:
        return float(np.linalg.norm(row.geometry.points, axis=1).max())
    return float(np.linalg.norm(row.geometry.sizes)) + max(row.geometry.sizes)
