"""Collision and distance between the shapes of a robot's bodies, and with obstacles in the world.

    pairs = mbros.CollisionPairs(model)                 # needs coal: pip install "mbros[collision]"
    pairs.add_obstacle("table", mbros.shapes.box((1, 1, 0.1)), (0.5, 0, 0.2))
    pairs.add_all()
    pairs.in_collision(state)                           # [("hand", "table")], or [] which is false
    min(pairs.distances(state)).distance                # m, negative where shapes penetrate

Shapes are the <collision> elements of the description and what add_shape gives. Everything is in the world, in metres.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from mbros.arguments import check_model, check_name, folders
from mbros.describe.joints.abilities import roams
from mbros.describe.robot import Shape
from mbros.describe.shapes import GROUNDS
from mbros.errors import MbrosError, unknown
from mbros.model.body import Body
from mbros.model.collision.geometry import Placed, load_coal, overlap, place, separation
from mbros.model.joints.joint import Joint
from mbros.spatial.given import placement
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.robot import Geometry
    from mbros.names import PoseLike
    from mbros_core.engine._engine import State


class Distance(NamedTuple):
    """distance: m, negative when penetrating. point_a, point_b: (3,) nearest points in the world, on the two bodies; of
    shapes that penetrate, the points that touch last on the shortest way out."""

    distance: float
    body_a: str
    body_b: str
    point_a: np.ndarray
    point_b: np.ndarray


class CollisionPairs:
    """Which bodies of a model are checked for collision with which. Empty at first.

    A pair is the same whichever body is named first: the first of the model comes first, obstacles last. package_dirs:
    folders for mesh files, beside those the model was loaded with. Queries change nothing, so threads may share it.
    """

    def __init__(self, model: Model, package_dirs: Any = ()) -> None:
        check_model("CollisionPairs", model)
        self.model = model
        self._coal = load_coal()
        description = model.description
        self._file, self._folders = description.file, (*folders("CollisionPairs", "package_dirs", package_dirs), *description.package_dirs)
        self._described = {body.name: body for body in (description.world, *description.bodies)}
        self._added: dict[str, list[Placed]] = {}
        self._read: dict[str, list[Placed]] = {}
        self._obstacles: dict[str, list[Placed]] = {}
        self._pairs: dict[tuple[str, str], None] = {}
        self._chosen = False            # whether somebody said what is checked

    # ------------------------------------------------------------------------------------------------ shapes, obstacles

    def add_shape(self, body: str | Body | Joint, shape: Geometry, pose: PoseLike | None = None) -> None:
        """One more collision shape (mbros.shapes) for a body, at a pose in its axes: (3,) position, (4, 4), or with R and p."""
        name = self._name(body)
        if name in self._obstacles:
            raise MbrosError(f"obstacle {name!r} has its shape: add another obstacle")
        self._added.setdefault(name, []).append(self._place(f"body {name!r}", shape, pose))

    def add_obstacle(self, name: str, shape: Geometry, pose: PoseLike | None = None,
                     bodies: Iterable[str | Body | Joint] | None = None) -> list[tuple[str, str]]:
        """A shape that stands still in the world, at a pose there. It is paired with these bodies; None: with all that
        move and have shapes by now. Returns the pairs."""
        check_name("obstacle", name)
        if name in self.model.bodies or name in self._obstacles:
            raise MbrosError(f"obstacle {name!r}: {'a body' if name in self.model.bodies else 'an obstacle'} has this name already")
        placed = self._place(f"obstacle {name!r}", shape, pose)
        if bodies is None:
            home = self._groups()
            chosen = [body for body in self.model.bodies.names if home[body] != "world" and self._has_shapes(body)]
            if not chosen:
                raise MbrosError(f"obstacle {name!r}: {self._nothing()}; bodies=[] adds it without a pair")
        else:
            chosen = [self._name(body) for body in bodies]
        for body in chosen:
            self._check_shapes(body)
        self._obstacles[name] = [placed]
        return [self.add(body, name) for body in chosen]

    def remove_obstacle(self, name: str) -> None:
        """Takes an obstacle and its pairs away."""
        if name not in self._obstacles:
            raise unknown("obstacle", name, f"the collision pairs of model {self.model.name!r}", self._obstacles)
        del self._obstacles[name]
        self._pairs = {pair: None for pair in self._pairs if name not in pair}

    @property
    def obstacles(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._obstacles)

    # ---------------------------------------------------------------------------------------------------------- pairs

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of names, in the order they were added."""
        return tuple(self._pairs)

    def add(self, body_a: str | Body | Joint, body_b: str | Body | Joint) -> tuple[str, str]:
        """Checks these two from now on: all shapes of the one with all of the other. Bodies, the joints that carry them,
        obstacles, or their names. Returns the pair."""
        pair = self._pair(body_a, body_b)
        for name in pair:
            self._check_shapes(name)
        self._pairs[pair], self._chosen = None, True
        return pair

    def add_all(self, skip_adjacent: bool = True) -> list[tuple[str, str]]:
        """Adds every pair of bodies with shapes, and of a body and an obstacle. Returns the pairs.

        skip_adjacent: leaves out bodies that a joint or welds keep together, and obstacles with what is fixed in the world.
        Joints that let go in two directions or more (floating, planar, translations) keep nothing together.
        """
        names = [name for name in self._known() if self._has_shapes(name)]
        near = self._adjacent() if skip_adjacent else lambda a, b: False
        chosen = [(a, b) for a, b in combinations(names, 2) if a not in self._obstacles and not near(a, b)]
        for name in {name for pair in chosen for name in pair}:
            self._check_shapes(name)                    # all meshes are readable before anything is added
        self._chosen = self._chosen or bool(names)
        return [self.add(a, b) for a, b in chosen]

    def remove(self, body_a: str | Body | Joint, body_b: str | Body | Joint | None = None) -> None:
        """Takes a pair away; without body_b, all pairs of body_a."""
        if body_b is None:
            name = self._name(body_a)
            gone = [pair for pair in self._pairs if name in pair]
        else:
            gone = [self._pair(body_a, body_b)]
        if not gone or gone[0] not in self._pairs:
            what = f"{name!r} is in no pair" if body_b is None else "{!r} and {!r} are no pair".format(*gone[0])
            raise MbrosError(f"collision pairs of model {self.model.name!r}: {what}; there are {len(self._pairs)} pairs")
        for pair in gone:
            del self._pairs[pair]

    # -------------------------------------------------------------------------------------------------------- queries

    def in_collision(self, state: State, first: bool = False) -> list[tuple[str, str]]:
        """The pairs that have a point in common, in order; [], which is false, when there are none. first: stop at one."""
        where, found = self._placed(state), []
        for a, b in self._pairs:
            if any(overlap(self._coal, *x, *y) for x in where[a] for y in where[b]):
                found.append((a, b))
                if first:
                    break
        return found

    def distances(self, state: State) -> list[Distance]:
        """Distance and nearest points of every pair, in order: those of its two nearest shapes."""
        where, out = self._placed(state), []
        for a, b in self._pairs:
            results = [separation(self._coal, *x, *y) for x in where[a] for y in where[b]]
            distance, point_a, point_b = min(results, key=lambda result: result[0])
            out.append(Distance(distance, a, b, point_a, point_b))
        return out

    def _placed(self, state: State) -> dict[str, list[tuple[Placed, Placement]]]:
        """The shapes of everything in a pair, with their placements in the world."""
        self.model._check_state(state)
        if not self._chosen:
            raise MbrosError(f"collision pairs of model {self.model.name!r}: {self._nothing()}, and nothing is free that was not checked")
        out = {}
        for name in dict.fromkeys(name for pair in self._pairs for name in pair):
            X = Placement()
            if name not in self._obstacles:
                row = np.array(self.model._frame_pose(state, self.model.bodies[name].index))
                X = Placement(row[:9].reshape(3, 3), row[9:])
            out[name] = [(shape, X @ shape.X_BG) for shape in self._shapes(name)]
        return out

    # ---------------------------------------------------------------------------------------------- names and shapes

    def _known(self) -> list[str]:
        return [*self.model.bodies.names, *self._obstacles]

    def _name(self, body: object) -> str:
        if isinstance(body, (Body, Joint)) and body.model is self.model:
            return body.child.name if isinstance(body, Joint) else body.name
        if not isinstance(body, str):
            raise MbrosError(f"collision pairs of model {self.model.name!r}: expected a body of this model, a joint that carries "
                             f"one, or a name, got {body!r}")
        if body not in self.model.bodies and body not in self._obstacles:
            raise unknown("body or obstacle", body, f"model {self.model.name!r}", self._known())
        return body

    def _pair(self, body_a: str | Body | Joint, body_b: str | Body | Joint) -> tuple[str, str]:
        a, b = self._name(body_a), self._name(body_b)
        if a == b:
            raise MbrosError(f"collision pair: {a!r} cannot be paired with itself. Name two bodies, or a body and an obstacle.")
        known = self._known()
        return (a, b) if known.index(a) < known.index(b) else (b, a)

    def _has_shapes(self, name: str) -> bool:
        """Without reading any mesh."""
        return name in self._obstacles or bool(self._described_shapes(name) or self._added.get(name))

    def _nothing(self) -> str:
        """Why nothing is checked, and what to do."""
        if any(map(self._has_shapes, self.model.bodies.names)):
            return "no pair was added: add_all(), add(body_a, body_b) or add_obstacle(...) first"
        return "no body that moves has shapes: add_shape(body, shape), or <collision> elements"

    def _described_shapes(self, name: str) -> list[Shape]:
        """The <collision> elements and their like, without grounds: coal measures bodies that end somewhere."""
        return [shape for shape in self._described[name].collisions if shape.geometry.kind not in GROUNDS]

    def _check_shapes(self, name: str) -> None:
        """There are some, and they can be read."""
        if not self._shapes(name):
            raise MbrosError(f"body {name!r} has no collision shape. Give its link a <collision> element, or call "
                             f"pairs.add_shape({name!r}, mbros.shapes.sphere(0.1)).")

    def _shapes(self, name: str) -> list[Placed]:
        """Of a body or obstacle; those of the description are read when first asked for."""
        if name in self._obstacles:
            return self._obstacles[name]
        if name not in self._read:
            self._read[name] = [self._place(f"body {name!r}", shape) for shape in self._described_shapes(name)]
        return self._read[name] + self._added.get(name, [])

    def _place(self, element: str, shape: Any, pose: Any = None) -> Placed:
        X = Placement() if pose is None else placement(element, p=pose) if np.shape(pose) == (3,) else placement(element, pose=pose)
        if isinstance(shape, Shape):
            shape, X = shape.geometry, X @ shape.X_BG
        return place(element, shape, X, self._file, self._folders)

    # ----------------------------------------------------------------------------------------------------- adjacency

    def _groups(self) -> dict[str, str]:
        """body -> the body that stands for all it is welded to; "world" for what does not move."""
        home = {"world": "world"}
        for joint in self.model.joints:         # parents come first
            home[joint.child.name] = home[joint.parent.name] if joint.nv == 0 else joint.child.name
        return home

    def _adjacent(self) -> Callable[[str, str], bool]:
        """Whether two names are kept together by welds, or by one joint between them and what they are welded to."""
        home = {**self._groups(), **dict.fromkeys(self._obstacles, "world")}
        joined = {frozenset((home[joint.parent.name], home[joint.child.name])) for joint in self.model.joints
                  if joint.nv and not roams(joint)}

        def near(a: str, b: str) -> bool:
            together = frozenset((home[a], home[b]))
            return len(together) == 1 or (b not in self._obstacles and together in joined)
        return near

    def __reduce__(self) -> NoReturn:
        raise MbrosError("CollisionPairs hold geometry of the coal library and cannot be pickled or copied: keep the model and "
                         "`pairs.pairs`, and make another with mbros.CollisionPairs(model)")

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        return f"<CollisionPairs of {self.model.name!r}: {len(self)} pairs, {len(self._obstacles)} obstacles>"
