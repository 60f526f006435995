"""What the standard calls entities: the robot, by its name, and its links, each `<robot>/<link>`; what they are and where. Of a scene:
every robot with its links, and every object.

A robot is where its root link is. The world is the frame that does not move: `odom` of a moving base, the root
link of a fixed one, `world` of a scene.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from geometry_msgs.msg import Vector3
from simulation_interfaces.msg import EntityCategory, EntityState, NamedPose, Result, TagsFilter

from mbros.describe.members import OBJECT
from mbros.names import hint, plural, printable

from mbros.ros.wire.messages import fill_xyz, set_time
from mbros.ros.serve.patterns import Pattern, PatternError
from ..robot import Robot
from mbros.ros.serve.turn import Line, elsewhere
from .bounds import Box, Extents, Region, fill_bounds
from .refusal import Refusal

if TYPE_CHECKING:
    from mbros.model.body import Body
    from mbros.model.tables import CompiledJoint
    from mbros.names import FrameLike
    from mbros.ros.node import SimNode
    from mbros.ros.standard.typing import (
        EntityFilters, EntityStateMessage, GetEntitiesRequest, GetEntitiesResponse, GetEntitiesStatesResponse, GetEntityBoundsResponse,
        GetEntityInfoResponse, GetEntityStateRequest, GetEntityStateResponse, GetNamedPosesRequest, GetNamedPosesResponse,
        TagsFilterMessage)
    from mbros.ros.wire.typing import PoseMessage
    from mbros.spatial.vectors import Pose
    from mbros_core import State

WORLD = "world"
START = "start"         # the named pose at which the robot starts
MOST_WAITING = 50       # requests, while meshes are read


@dataclass(frozen=True)
class Entity:
    """body: of the model; of a robot its root link. links: the bodies that it is made of. whole: the name of the robot or object that it
    is, or is a link of. base: of what moves freely, the joint that it stands on in the world; None for links and what is fixed."""

    name: str
    body: Body
    links: tuple[Body, ...]
    category: int
    tags: tuple[str, ...]
    doc: str
    whole: str
    base: CompiledJoint | None = None


class Entities:
    """Of a SimNode and its robot. Every answer is of the newest snapshot."""

    def __init__(self, robot: Robot, sim: SimNode):
        self._sim = sim
        self._line = Line(lambda: sim.node, MOST_WAITING, "requests for bounds", lambda: bool(sim.ending))
        self.take(robot)
        sim.of_worlds.append(lambda: self.take(sim.robot))

    def take(self, robot: Robot) -> None:
        """From now on these are what there is."""
        self.robot = robot
        model, members = robot.model, robot.model._description.members
        world = model.description.world
        self.all: dict[str, Entity] = {}
        for member in members:
            if member.kind == OBJECT:
                self._add_object(member.name, model.body(member.name))
            else:
                self._add_robot(member.name, [body for body in model.bodies if body.robot == member.name])
        if not members:
            self._add_robot(model.name, [body for body in model.bodies if body.name != world.name or world.source.line is not None])
        self._extents = Extents(model.description)

    def _add_robot(self, name: str, links: list[Body]) -> None:
        """A robot and its links."""
        base = self._base_of(links[0])
        joints = [joint for joint in self.robot.own if any(joint.child_body == body.name for body in links)]
        kind = f"{base.kind} base" if base is not None else "fixed base"
        self.all[name] = Entity(name, links[0], tuple(links), EntityCategory.CATEGORY_ROBOT, ("robot", kind.replace(" ", "_")),
                                f"robot of {plural(len(links), 'link')} and {plural(len(joints), 'joint')}, {kind}", name, base)
        for body in links:
            link = f"{name}/{body.name.removeprefix(f'{name}/')}"
            self.all[link] = Entity(link, body, (body,), EntityCategory.CATEGORY_OBJECT, ("link",), f"link of {name}, {body.mass:g} kg",
                                    name)

    def _add_object(self, name: str, body: Body) -> None:
        base = self._base_of(body)
        category = getattr(EntityCategory, f"CATEGORY_{'STATIC' if base is None else 'DYNAMIC'}_OBJECT", EntityCategory.CATEGORY_OBJECT)
        doc = "object that is fixed" if base is None else f"object of {body.mass:g} kg"
        self.all[name] = Entity(name, body, (body,), category, ("object",), doc, name, base)

    def _base_of(self, root: Body) -> CompiledJoint | None:
        """The joint on which a body moves freely in the world; None where it does not."""
        world = self.robot.model.bodies[0].name
        return next((joint for joint in self.robot.own if joint.child_body == root.name and joint.parent_body == world
                     and joint.kind in ("floating", "planar")), None)

    def find(self, name: str) -> Entity:
        if name not in self.all:
            raise Refusal(f"there is no entity '{printable(name, 100)}'{hint(name, self.all)}", Result.RESULT_NOT_FOUND)
        return self.all[name]

    def now(self) -> tuple[State, int]:
        """The model's state and the stamp of the newest snapshot."""
        header, x = self._sim.loop.snapshot()
        state = self._sim.live.tuned.copy()
        for there, part in ((state.q, "q"), (state.v, "v")):
            at, size = self.robot.plant.layout[part]
            there[:] = x[at:at + size]
        return state, self._sim.plane.clock_of(header, x)

    # --- services

    async def names(self, request: GetEntitiesRequest, response: GetEntitiesResponse) -> None:
        await self._read(self.all.values(), Region(request.filters.bounds).everywhere)
        with self._sim.turn:
            response.entities = [entity.name for entity in self._filtered(request.filters, self.now()[0])]

    async def states(self, request: GetEntitiesRequest, response: GetEntitiesStatesResponse) -> None:
        await self._read(self.all.values(), Region(request.filters.bounds).everywhere)
        with self._sim.turn:
            state, stamp = self.now()
            found = self._filtered(request.filters, state)
            response.entities = [entity.name for entity in found]
            response.states = [self._fill_state(EntityState(), entity, state, stamp) for entity in found]

    def state(self, request: GetEntityStateRequest, response: GetEntityStateResponse) -> None:
        self._fill_state(response.state, self.find(request.entity), *self.now())

    def info(self, request: GetEntityStateRequest, response: GetEntityInfoResponse) -> None:
        entity = self.find(request.entity)
        response.info.category.category, response.info.tags, response.info.description = entity.category, list(entity.tags), entity.doc

    async def bounds(self, request: GetEntityStateRequest, response: GetEntityBoundsResponse) -> None:
        await self._read([self.find(request.entity)])
        with self._sim.turn:
            entity = self.find(request.entity)
            box = self._box(entity, self.now()[0], entity.body)
            if box is None:
                raise Refusal(f"'{entity.name}' has no shapes")
            fill_bounds(response.bounds, box, Vector3)

    def named_poses(self, request: GetNamedPosesRequest, response: GetNamedPosesResponse) -> None:
        model, state = self.robot.model, self.now()[0]
        start = model.default_state()
        start.q[:], _ = self.robot.initial_state(self._sim.live.values)
        wholes = [entity for entity in self.all.values() if entity.name == entity.whole]
        scene = self.robot.is_scene
        places = [(f"{entity.name}/{START}" if scene else START, f"where {'it' if scene else 'the robot'} stands after a reset", ["spawn"],
                   model.pose(start, entity.body)) for entity in wholes]
        places += [(frame.name, f"frame on {frame.body.name}, where it is now", ["frame", frame.body.name], model.pose(state, frame.name))
                   for frame in model.description.frames if frame.name != START]
        wanted = _tags(request.tags)
        response.poses = [NamedPose(name=name, description=doc, tags=tags, pose=fill_pose(NamedPose().pose, X))
                          for name, doc, tags, X in places if wanted(tags)]

    # --- what they are made of

    def _fill_state(self, message: EntityStateMessage, entity: Entity, state: State, stamp: int) -> EntityStateMessage:
        set_time(message.header.stamp, stamp)
        message.header.frame_id = self.robot.map.odom_frame
        X, V = self.robot.model.pose(state, entity.body), self.robot.model.velocity(state, entity.body)
        fill_pose(message.pose, X)
        fill_xyz(message.twist.linear, V.linear)
        fill_xyz(message.twist.angular, V.angular)
        return message

    async def _read(self, entities: Iterable[Entity], everywhere: bool = False) -> None:
        """Meshes, while others are served: they may be large, and many. One thread reads for all that ask."""
        executor, links = self._sim.node.executor, [] if everywhere else [link.name for entity in entities for link in entity.links]
        if executor is None or not self._extents.unread(links):
            return
        async with self._line:
            extents = self._extents
            if unread := extents.unread(links):
                await elsewhere(executor, lambda: extents.read(unread))

    def _box(self, entity: Entity, state: State, frame: FrameLike = 0) -> Box | None:
        """Along the axes of a frame, by default those of the world."""
        model = self.robot.model
        return self._extents.box((link.name, model.pose(state, link, relative_to=frame)) for link in entity.links)

    def _filtered(self, filters: EntityFilters, state: State) -> list[Entity]:
        matches, tagged, region = _pattern(filters.filter), _tags(filters.tags), Region(filters.bounds)
        categories = {category.category for category in filters.categories}
        found = [entity for entity in self.all.values()
                 if matches(entity.name) and tagged(entity.tags) and (not categories or entity.category in categories)]
        return found if region.everywhere else [entity for entity in found if region.overlaps(self._box_or_point(entity, state))]

    def _box_or_point(self, entity: Entity, state: State) -> Box:
        """In the world; of what has no shape the point where it is."""
        p = np.asarray(self.robot.model.pose(state, entity.body).p)
        return self._box(entity, state) or Box(p, p)


def fill_pose(message: PoseMessage, X: Pose) -> PoseMessage:
    """geometry_msgs/Pose."""
    fill_xyz(message.position, X.p)
    q = message.orientation
    q.x, q.y, q.z, q.w = map(float, X.quat_xyzw)
    return message


def _pattern(text: str) -> Callable[[str], bool]:
    """Whether a name has a match of a POSIX extended regular expression anywhere, as regexec(3) has it; "" matches all."""
    try:
        return Pattern(text).search
    except PatternError as e:
        raise Refusal(str(e)) from e


def _tags(wanted: TagsFilterMessage) -> Callable[[Iterable[str]], bool]:
    """Whether tags pass a TagsFilter."""
    if wanted.filter_mode not in (TagsFilter.FILTER_MODE_ANY, TagsFilter.FILTER_MODE_ALL):
        raise Refusal(f"filter_mode of tags is {wanted.filter_mode}; expected {TagsFilter.FILTER_MODE_ANY} (any) or "
                      f"{TagsFilter.FILTER_MODE_ALL} (all)")
    names = set(wanted.tags)
    if not names:
        return lambda tags: True
    if wanted.filter_mode == TagsFilter.FILTER_MODE_ALL:
        return names.issubset
    return lambda tags: not names.isdisjoint(tags)
