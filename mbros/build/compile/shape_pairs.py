"""Pairs of shapes that never touch, and why.

* "welded": shapes of bodies that welds keep together.
* "joint": shapes on the two sides of a joint. Joints that let a body go in two directions or more (floating, planar, translations) keep
  nothing together; and what stands on the world itself, such as the ground, is met by the first bodies of a robot as well, unless they
  overlap with it at the default position.
* "group": shapes of one group.
* "named": by exclude_contact; or the reason that an SRDF gives.
* "overlap": shapes of one robot, that is of bodies held together by joints, that overlap at the default position. Each is noted.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import Model as Engine
from mbros_core.geometry import broad_phase, contacts
from mbros_core.support.numbers import short

from mbros.describe.joints.abilities import roams
from mbros.describe.problems import error_class, note
from mbros.describe.robot import BodyDescription
from mbros.errors import ModelError, Problem
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.robot import Exclusion, RobotDescription, Shape
    from mbros.model.tables import CompiledRobot, CompiledShape
    from mbros_core.typing import Array

Pairs = dict[tuple[int, int], str]
MOST_PAIRS = 2_000_000  # of one robot that rules leave out, counted as often as a rule names them: each takes room
MOST_TRIED = 50_000     # pairs whose boxes overlap and whose shapes are tried, each some 50 us
TOUCH = 1e-5            # shapes that overlap by less, over the size of the smaller one, merely touch: in any unit of length
MOST_NOTES = 20         # overlapping pairs that are named; the rest are counted


def excluded_pairs(description: RobotDescription, tree: Any, compiled: CompiledRobot, rows: Sequence[CompiledShape],
                   shapes: Sequence[Shape]) -> Pairs:
    """{(a, b): why}, a < b. shapes: what the rows were made of. Pairs of one compiled body are left out, as the engine leaves them out."""
    kept = _Kept(description, tree, rows)
    pairs: Pairs = {}
    for group in kept.of_home.values():
        kept.exclude(pairs, group, group, "welded")
    by_group: dict[str, list[int]] = {}
    for row in rows:
        if row.group:
            by_group.setdefault(row.group, []).append(row.index)
    for members in by_group.values():
        kept.exclude(pairs, members, members, "group")
    _named(description, kept, pairs, rows, shapes)
    near: Pairs = {}                # neighbours of what stands on the world itself
    for i, joint in enumerate(tree.joints):
        if joint.nv and not kept.roaming[i]:
            above, below = (kept.of_home.get(kept.home[b], ()) for b in (tree.parent[i], i + 1))
            kept.exclude(near, [k for k in above if kept.body[k] == 0], below, "joint")
            kept.exclude(pairs, [k for k in above if kept.body[k] != 0], below, "joint")
    _overlapping(description, compiled, rows, kept, pairs, near)
    return pairs


class _Kept:
    """What joints keep together. home: of user bodies, the body that stands for all it is welded to; 0 is the world. robot: the body that
    stands for all that joints hold together."""

    def __init__(self, description: RobotDescription, tree: Any, rows: Sequence[CompiledShape]) -> None:
        count = len(tree.bodies)
        self.description, self.left = description, MOST_PAIRS
        self.roaming = [bool(joint.nv) and roams(joint) for joint in tree.joints]
        self.home, self.robot = list(range(count)), list(range(count))
        for i, joint in enumerate(tree.joints):         # parents come first
            if joint.nv == 0:
                self.home[i + 1] = self.home[tree.parent[i]]
            if not self.roaming[i]:
                self.robot[i + 1] = self.robot[tree.parent[i]]
        number = {body.name: i for i, body in enumerate(tree.bodies)}
        self.body = [number[row.body] for row in rows]
        self.compiled = [int(tree.compiled[b]) for b in self.body]
        self.of_home: dict[int, list[int]] = {}
        for k, b in enumerate(self.body):
            self.of_home.setdefault(self.home[b], []).append(k)

    def exclude(self, pairs: Pairs, these: Iterable[int], those: Iterable[int], why: str) -> None:
        """Adds each of these with each of those; the first reason stays. Shapes of one compiled body are no pair."""
        first, second = self._by_compiled(these), self._by_compiled(those)
        for (c, left), (d, right) in product(first.items(), second.items()):
            if c == d:
                continue
            self.left -= len(left) * len(right)
            if self.left < 0:
                raise too_many(self.description, f"more than {MOST_PAIRS} pairs of its shapes never touch, which rules name")
            for a, b in product(left, right):
                pairs.setdefault((a, b) if a < b else (b, a), why)

    def _by_compiled(self, shapes: Iterable[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for k in shapes:
            found.setdefault(self.compiled[k], []).append(k)
        return found


def too_many(description: RobotDescription, reason: str) -> ModelError:
    return error_class(description)(Problem("collision shapes", reason, "Give its links fewer and simpler shapes (docs/shapes.md), or load "
                                            "it without them: collisions=False.", description.file))


def _named(description: RobotDescription, kept: _Kept, pairs: Pairs, rows: Sequence[CompiledShape], shapes: Sequence[Shape]) -> None:
    """Those of exclude_contact and of SRDF files. A name is a body's, for all of its shapes, or else a shape's."""
    by_name: dict[str, list[int]] = {row.name: [row.index] for row in rows}
    by_name.update({body.name: [] for body in (description.world, *description.bodies)})
    for row in rows:
        if row.name != row.body:
            by_name[row.body].append(row.index)
        else:
            by_name[row.body].insert(0, row.index)
    own = {id(shape): [k] for k, shape in enumerate(shapes)}
    mine = {id(body) for body in (description.world, *description.bodies)}
    problems: list[Problem] = []

    def found(rule: Exclusion, end: Any) -> list[int]:
        if isinstance(end, BodyDescription) and id(end) in mine:
            return by_name[end.name]
        if isinstance(end, str) and end in by_name:
            return by_name[end]
        if id(end) in own:
            return own[id(end)]
        what = f"there is no body or shape {short(end)}{hint(end, by_name)}" if isinstance(end, str) else \
            f"{short(getattr(end, 'name', end))} belongs to another model"
        problems.append(Problem("contact exclusion", what, "Name two bodies or shapes of this model.", rule.source.file, rule.source.line))
        return []

    for rule in description.exclusions:
        first, second = found(rule, rule.a), found(rule, rule.b)
        kept.exclude(pairs, first, second, rule.reason or "named")
    if problems:
        raise error_class(description)(problems)


def _overlapping(description: RobotDescription, compiled: CompiledRobot, rows: Sequence[CompiledShape], kept: _Kept, pairs: Pairs,
                 near: Pairs) -> None:
    """Pairs of shapes of one robot that overlap at the default position, with their notes."""
    robots = [kept.robot[b] for b in kept.body]
    if not near and len(set(robots)) == len(robots):
        return
    X = shape_poses(compiled, rows)
    found, left = [], MOST_TRIED
    most = min(len(rows) ** 2, MOST_PAIRS + len(pairs))
    boxes = broad_phase([row.geometry for row in rows], X, groups=kept.compiled, most=most)
    if boxes.lost:
        raise too_many(description, f"the boxes around more than {most} pairs of its shapes overlap at the default position")
    for a, b in boxes.pairs.tolist():
        if robots[a] != robots[b] or (a, b) in pairs or (0 in (kept.body[a], kept.body[b]) and (a, b) not in near):
            continue
        left -= 1
        if left < 0:
            raise too_many(description, f"more than {MOST_TRIED} pairs of its shapes are too near at the default position to be tried")
        depth = float(contacts(rows[a].geometry, X[a], rows[b].geometry, X[b]).depths.max(initial=0.0))
        if depth > TOUCH * min(_size(rows[a].geometry), _size(rows[b].geometry)):
            found.append((a, b, depth))
    pairs.update(((a, b), "overlap") for a, b, _ in found)
    for a, b, depth in found[:MOST_NOTES]:
        note(description, Problem(f"shapes {rows[a].name!r} and {rows[b].name!r}", f"they overlap by {1e3 * depth:.3g} mm at the default "
                                  "position and never touch", file=description.file, severity="note"))
    if len(found) > MOST_NOTES:
        note(description, Problem("collision shapes", f"{len(found) - MOST_NOTES} more pairs overlap at the default position and never "
                                  "touch", file=description.file, severity="note"))


def _size(geometry: Any) -> float:
    """The largest extent of a shape, m; of what has no end infinity."""
    if geometry.kind in ("half_space", "height_field"):
        return np.inf
    return float(np.max(geometry.sizes) if geometry.points is None else np.ptp(geometry.points, axis=0).max())


def shape_poses(compiled: CompiledRobot, rows: Sequence[CompiledShape]) -> Array:
    """X_WS (n, 4, 4) of shapes at the default configuration."""
    plant = Engine(compiled.spec)
    state = plant.default_state()
    frame = {body.name: body.frame for body in compiled.bodies}
    X = np.tile(np.eye(4), (len(rows), 1, 1))
    for k, row in enumerate(rows):
        pose = np.asarray(plant._frame_pose(state, frame[row.body]))
        R_WB = pose[:9].reshape(3, 3)
        X[k, :3, :3], X[k, :3, 3] = R_WB @ row.X_BG.R, R_WB @ row.X_BG.p + pose[9:]
    return X
