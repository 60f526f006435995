"""SpawnEntity, SpawnEntities and DeleteEntity: robots and objects that come and go while the scene goes on, and GetSpawnables."""
from __future__ import annotations

from collections.abc import Sequence

import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from simulation_interfaces.msg import Result, Spawnable
from simulation_interfaces.srv import SpawnEntity

import mbros
from mbros.build.one_robot import describe_data, known_robots
from mbros.build.robots import BUILT_IN
from mbros.build.scenes.meshes import within_reach
from mbros.build.scenes.objects import as_object, is_lone
from mbros.build.scenes.scene import MOST, is_name
from mbros.describe.robot import RobotDescription
from mbros.describe.urdf import is_text
from mbros.describe.urdf.packages import resolve
from mbros.errors import MbrosError
from mbros.model.collision.geometry import MESH_FILES
from mbros.names import printable
from mbros.spatial.given import pose_of_any_length
from mbros.spatial.vectors import Pose

from mbros.ros.serve.another_world import why_never, why_not_now
from ..errors import sentence
from .entities import WORLD, Entities
from .refusal import Refusal, unsupported
from .running import clock_text

if TYPE_CHECKING:
    from mbros.ros.standard.typing import (
        GetEntityStateRequest, GetSpawnablesResponse, ResourceMessage, SpawnEntitiesRequest, SpawnEntitiesResponse, SpawnEntityRequest,
        SpawnEntityResponse, SpawnResult)
    from mbros.ros.node import SimNode
    from mbros.ros.wire.typing import PoseStamped

END = ".urdf"
MOST_TEXT, MOST_TAGS = 1 << 22, 100_000         # characters and tags of a text
MOST_LINKS, MOST_SHAPES, MOST_ROBOTS = 1000, 4000, 100          # of all that was spawned and is there
MOST_REQUESTS = 100                             # in one
CODES = SpawnEntity.Response
SPAWN_FAILED = 150          # ENTITIES_SPAWN_FAILED of SpawnEntities, which older packages do not have


class Spawning:
    """Of a SimNode and its entities. spawned: the names of what came so and is still there."""

    def __init__(self, sim: SimNode, entities: Entities):
        self.sim, self.entities = sim, entities
        self.spawned: list[str] = []

    @property
    def why_never(self) -> str:
        return why_never(self.sim)

    # --- services

    async def spawn(self, request: SpawnEntityRequest, response: SpawnEntityResponse) -> str:
        async with self.sim.changes:
            scene = self._scene()
            name = await self._add(scene, request, [])
            await self._go_on(scene)
            self.spawned.append(name)
        response.entity_name = name
        return self._said(f"'{name}' is there")

    async def spawn_several(self, request: SpawnEntitiesRequest, response: SpawnEntitiesResponse) -> str:
        """All of them between the same two steps, or none."""
        from simulation_interfaces.msg import SpawnResult      # since version 2.1

        if len(request.spawn_requests) > MOST_REQUESTS:
            raise Refusal(f"{len(request.spawn_requests)} are to be spawned; expected at most {MOST_REQUESTS} in one request")
        async with self.sim.changes:
            scene, names = self._scene(), list[str]()
            response.results = results = [SpawnResult() for _ in request.spawn_requests]
            failed = 0
            for one, result in zip(request.spawn_requests, results, strict=True):
                try:
                    result.entity_name = await self._add(scene, one, names)
                    names.append(result.entity_name)
                    result.result.result = Result.RESULT_OK
                except Exception as e:
                    failed += 1
                    result.result.result, result.result.error_message = getattr(e, "code", Result.RESULT_OPERATION_FAILED), sentence(e)
            if failed:
                _none_of(results, "not spawned, as another one of this request could not be")
                raise Refusal(f"{failed} of {len(results)} cannot be spawned, and none was: see their results", SPAWN_FAILED)
            if names:
                try:
                    await self._go_on(scene)
                except Exception as e:
                    _none_of(results, "not spawned, as the world with all of them cannot be")
                    raise Refusal(f"none was spawned: {sentence(e)}", SPAWN_FAILED) from e
                self.spawned += names
        return self._said(f"{len(names)} spawned")

    async def delete(self, request: GetEntityStateRequest, response: object) -> str:
        async with self.sim.changes:
            scene = self._scene()
            entity = self.entities.find(request.entity)
            if entity.name != entity.whole:
                raise Refusal(f"'{entity.name}' is a link of '{entity.whole}': delete that as a whole")
            await self._remove(scene, [entity.name])
        return self._said(f"'{entity.name}' is gone")

    async def spawnables(self, request: object, response: GetSpawnablesResponse) -> None:
        self._refuse_never()
        for name in await self.sim.changes.beside(known_robots):
            one = Spawnable()
            one.entity_resource.uri, one.description = name, BUILT_IN[name].doc if name in BUILT_IN else "of example-robot-data"
            response.spawnables.append(one)

    async def despawn(self) -> str:
        """What a reset does: all that was spawned goes."""
        async with self.sim.changes:
            if not self.spawned:
                return "nothing was spawned"
            gone = list(self.spawned)
            await self._remove(self._scene(), gone)
        return f"gone: {', '.join(gone)}"

    # --- what they are made of

    def _refuse_never(self) -> None:
        if self.why_never:
            raise unsupported(self.why_never)

    def _scene(self) -> mbros.Scene:
        """The world as it is, to be changed."""
        self._refuse_never()
        reason = why_not_now(self.sim)
        if reason:
            raise Refusal(reason, Result.RESULT_INCORRECT_STATE)
        return mbros.Scene.of(self.sim.robot.model)

    async def _go_on(self, scene: mbros.Scene) -> None:
        await self.sim.changes.go_on_with(await self.sim.changes.beside(scene.build))

    async def _remove(self, scene: mbros.Scene, names: list[str]) -> None:
        if len(names) == len(scene.members):
            raise Refusal("this is the last of the scene, and a world without anything is none; spawn something first")
        for name in names:
            scene.remove(name)
        await self._go_on(scene)
        self.spawned = [name for name in self.spawned if name not in names]

    def _said(self, text: str) -> str:
        header, x = self.sim.loop.snapshot()
        return f"{text}, from step {header.step} on; the time is {clock_text(self.sim, header, x)}"

    async def _add(self, scene: mbros.Scene, request: SpawnEntityRequest, others: list[str]) -> str:
        """To the scene; returns its name. others: that come with it."""
        beside = self.sim.changes.beside
        # version 1 has uri and resource_string in the request
        resource = cast("ResourceMessage", getattr(request, "entity_resource", request))
        source = await beside(lambda: self._resource(resource.uri, resource.resource_string))
        if not resource.resource_string:            # what is wrong with the request itself is said before a file is read
            name = self._name(scene, request, re.sub(r"\W", "_", resource.uri.rpartition("/")[2].partition(".")[0]))
        description = await beside(lambda: self._described(source))
        if resource.resource_string:
            nameless = any(note.reason.startswith("it has no name") for note in description.notes if note.element == "<robot>")
            name = self._name(scene, request, "" if nameless else description.name)
        self._check_namespace(request.entity_namespace, name)
        pose, lone = self._pose(request.initial_pose), is_lone(description)
        self._check_size(scene, description, others)
        try:
            await beside(lambda: scene.add_robot(description, name, pose.p, quat_wxyz=pose.quat_wxyz))
        except MbrosError as e:
            tilted = any(joint.kind == "planar" for joint in description.joints) and pose.R[2, 2] < 1.0
            raise Refusal(str(e), CODES.INVALID_POSE if tilted else Result.RESULT_OPERATION_FAILED) from e
        if lone:
            as_object(scene._builder.description, name)
        return name

    def _resource(self, uri: str, text: str) -> str | Path:
        """What is to be read: a text, the name of a robot of this machine, or a file in the folders that its user gave."""
        if not uri and not text:
            raise Refusal("uri and resource_string are empty; give one of them", CODES.NO_RESOURCE)
        if uri and text:
            raise Refusal("uri and resource_string are both given; expected one of them", CODES.UNSUPPORTED_FORMAT)
        if text:
            if not is_text(text) or "xmlns:xacro" in text:
                raise Refusal("resource_string is no URDF: expected <robot name=\"...\">...</robot>, without xacro; a file or a name is "
                              "given as uri", CODES.UNSUPPORTED_FORMAT)
            sizes = ((len(text), "characters", MOST_TEXT), (text.count("<"), "tags", MOST_TAGS),
                     (text.count("<link"), "tags <link>", 2 * MOST_LINKS))      # not only links have such
            for size, what, most in sizes:
                if size > most:
                    raise Refusal(f"resource_string has {size} {what}; expected at most {most}: larger robots belong into the scene file",
                                  CODES.RESOURCE_PARSE_ERROR)
            return text
        if uri in known_robots():
            return uri
        if not uri.lower().endswith(END):
            xacro = ": what comes over the network is never expanded as xacro; expand it first" if "xacro" in uri.lower() else ""
            raise Refusal(f"uri '{printable(uri, 100)}' is no name of `mbros list` and does not end with {END}{xacro}",
                          CODES.UNSUPPORTED_FORMAT)
        try:
            return resolve(uri, self.sim.robot.model.description.file, self.sim.robot.model.description.package_dirs)
        except MbrosError as e:
            raise Refusal(f"{e} Files are looked for in the scene file's folder and in packages", CODES.MISSING_ASSETS) from e

    def _check_size(self, scene: mbros.Scene, description: RobotDescription, others: list[str]) -> None:
        """Refused where there would be more of what came by the network than a node can have."""
        names = {*self.spawned, *others}
        came = [body for body in scene._builder.description.bodies if body.robot in names] + list(description.bodies)
        sizes = ((1 + len(names), "robots and objects", MOST_ROBOTS), (len(came), "links", MOST_LINKS),
                 (sum(len(body.collisions) + len(body.visuals) for body in came), "shapes", MOST_SHAPES))
        for size, what, most in sizes:
            if size > most:
                raise Refusal(f"with it what was spawned has {size} {what}; expected at most {most}: delete some, or put it into the scene "
                              "file")

    def _name(self, scene: mbros.Scene, request: SpawnEntityRequest, own: str) -> str:
        """What it is asked to be called, or its own name; the node's name stands before its services' names."""
        taken = {member.name for member in scene.members} | {WORLD, self.sim.node.get_name(), *self.entities.all}
        given = request.name or own
        if not request.name and not is_name(given) and request.allow_renaming:
            given = "entity"
        if not is_name(given):
            raise Refusal(f"name is '{printable(given, 100)}'; expected letters, digits and _, beginning with a letter, at most {MOST}: it "
                          "names topics and frames too", CODES.NAME_INVALID)
        if given not in taken:
            return str(given)
        if not request.allow_renaming:
            raise Refusal(f"name '{given}' is taken; give another one, or allow_renaming", CODES.NAME_NOT_UNIQUE)
        numbered = (f"{given[:MOST - len(end)]}{end}" for end in (f"_{number}" for number in count(1)))
        return next(name for name in numbered if name not in taken)

    @staticmethod
    def _check_namespace(namespace: str, name: str) -> None:
        if namespace.strip("/") not in ("", name):
            raise Refusal(f"entity_namespace is '{printable(namespace, 100)}'; expected '' or '{name}': topics of what is in a scene are "
                          "under its name", CODES.NAMESPACE_INVALID)

    def _pose(self, stamped: PoseStamped) -> Pose:
        """In the world. The frame is that, or an entity's, as it stands now."""
        p, r = stamped.pose.position, stamped.pose.orientation
        X = pose_of_any_length((p.x, p.y, p.z), (r.w, r.x, r.y, r.z))
        if X is None or not (np.abs(X.p) < 1e6).all():
            raise Refusal(f"initial_pose: expected finite numbers within 1e6 m and a unit quaternion, got position {[p.x, p.y, p.z]}, "
                          f"orientation (x, y, z, w) {[r.x, r.y, r.z, r.w]}", CODES.INVALID_POSE)
        frame = stamped.header.frame_id
        if frame in ("", WORLD, self.sim.robot.map.odom_frame):
            return Pose._made(X.R, X.p)
        if frame not in self.entities.all:
            raise Refusal(f"initial_pose: there is no frame '{printable(frame, 100)}'; expected '', '{WORLD}' or the name of an entity",
                          CODES.INVALID_POSE)
        at = self.sim.robot.model.pose(self.entities.now()[0], self.entities.all[frame].body)
        return Pose._made(at.R @ X.R, at.R @ X.p + at.p)

    def _described(self, source: str | Path) -> RobotDescription:
        """The robot, with the meshes that its collision shapes need. A single link that the file does not fix is free."""
        try:
            description = describe_data(source)
            if is_lone(description) and description.world.source.line is None:
                description = describe_data(source, base="floating")
        except MbrosError as e:
            other = getattr(e, "reason", "").startswith("the root element is not <robot>")
            raise Refusal(f"no URDF: {e}" if other else sentence(e),
                          CODES.UNSUPPORTED_FORMAT if other else CODES.RESOURCE_PARSE_ERROR) from e
        if self.sim.robot.model.description.collisions:
            _check_meshes(description)
            within_reach(description)
        return description


def _none_of(results: Sequence[SpawnResult], why: str) -> None:
    """Those that could have been spawned were not."""
    for result in results:
        if result.result.result == Result.RESULT_OK:
            result.entity_name, result.result.result, result.result.error_message = "", Result.RESULT_OPERATION_FAILED, why


def _check_meshes(description: RobotDescription) -> None:
    for body in (description.world, *description.bodies):
        for shape in body.collisions:
            if shape.geometry.kind != "mesh":
                continue
            name = shape.geometry.filename
            if not name.lower().endswith(MESH_FILES):
                raise Refusal(f"mesh '{printable(name, 100)}' is none that can touch; expected one of {', '.join(MESH_FILES)}",
                              CODES.UNSUPPORTED_ASSETS)
            try:
                resolve(name, description.file, description.package_dirs)
            except MbrosError as e:
                raise Refusal(str(e), CODES.MISSING_ASSETS) from e
