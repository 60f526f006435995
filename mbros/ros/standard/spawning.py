"""SpawnEntity, SpawnEntities and DeleteEntity: robots and objects that come and go while the scene goes on, and GetSpawnables."""
from __future__ import annotations

import re
from itertools import count
from typing import Any

import numpy as np
from simulation_interfaces.msg import Result, Spawnable
from simulation_interfaces.srv import SpawnEntity

import mbros
from mbros.build.one_robot import describe_robot, known_robots
from mbros.build.robots import BUILT_IN
from mbros.build.scenes.meshes import within_reach
from mbros.build.scenes.objects import as_object, is_lone
from mbros.build.scenes.scene import MOST, is_name
from mbros.describe.robot import RobotDescription
from mbros.describe.urdf.packages import resolve
from mbros.errors import MbrosError
from mbros.model.collision.geometry import MESH_FILES
from mbros.names import printable
from mbros.spatial.given import pose_of_any_length
from mbros.spatial.vectors import Pose

from ..another_world import go_on_with, made_beside, why_never, why_not_now
from ..errors import sentence
from .entities import WORLD, Entities
from .refusal import Refusal, unsupported
from .running import clock_text

ENDS = (".urdf", ".xacro", ".urdf.xacro")
CODES = SpawnEntity.Response
SPAWN_FAILED = 150          # ENTITIES_SPAWN_FAILED of SpawnEntities, which older packages do not have


class Spawning:
    """Of a SimNode and its entities. spawned: the names of what came so and is still there."""

    def __init__(self, sim: Any, entities: Entities):
        self.sim, self.entities = sim, entities
        self.spawned: list[str] = []

    @property
    def why_never(self) -> str:
        return why_never(self.sim)

    # --- services

    def spawn(self, request: Any, response: Any) -> str:
        scene = self._scene()
        name = self._add(scene, request)
        self._go_on(scene)
        self.spawned.append(name)
        response.entity_name = name
        return self._said(f"'{name}' is there")

    def spawn_several(self, request: Any, response: Any) -> str:
        """All of them between the same two steps, or none."""
        from simulation_interfaces.msg import SpawnResult      # since version 2.1

        scene, names = self._scene(), []
        response.results = results = [SpawnResult() for _ in request.spawn_requests]
        failed = 0
        for one, result in zip(request.spawn_requests, results, strict=True):
            try:
                result.entity_name = self._add(scene, one)
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
                self._go_on(scene)
            except Exception as e:
                _none_of(results, "not spawned, as the world with all of them cannot be")
                raise Refusal(f"none was spawned: {sentence(e)}", SPAWN_FAILED) from e
            self.spawned += names
        return self._said(f"{len(names)} spawned")

    def delete(self, request: Any, response: Any) -> str:
        scene = self._scene()
        entity = self.entities.find(request.entity)
        if entity.name != entity.whole:
            raise Refusal(f"'{entity.name}' is a link of '{entity.whole}': delete that as a whole")
        self._remove(scene, [entity.name])
        return self._said(f"'{entity.name}' is gone")

    def spawnables(self, request: Any, response: Any) -> None:
        self._refuse_never()
        for name in known_robots():
            one = Spawnable()
            one.entity_resource.uri, one.description = name, BUILT_IN[name].doc if name in BUILT_IN else "of example-robot-data"
            response.spawnables.append(one)

    def despawn(self) -> str:
        """What a reset does: all that was spawned goes."""
        if not self.spawned:
            return "nothing was spawned"
        gone = list(self.spawned)
        self._remove(self._scene(), gone)
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

    def _go_on(self, scene: mbros.Scene) -> None:
        go_on_with(self.sim, made_beside(self.sim, scene.build))

    def _remove(self, scene: mbros.Scene, names: list[str]) -> None:
        if len(names) == len(scene.members):
            raise Refusal("this is the last of the scene, and a world without anything is none; spawn something first")
        for name in names:
            scene.remove(name)
        self._go_on(scene)
        self.spawned = [name for name in self.spawned if name not in names]

    def _said(self, text: str) -> str:
        header, x = self.sim.loop.snapshot()
        return f"{text}, from step {header.step} on; the time is {clock_text(self.sim, header, x)}"

    def _add(self, scene: mbros.Scene, request: Any) -> str:
        """To the scene; returns its name."""
        resource = getattr(request, "entity_resource", request)         # version 1 has uri and resource_string in the request
        source, own = self._resource(resource.uri, resource.resource_string)
        name = self._name(scene, request, re.sub(r"\W", "_", resource.uri.rpartition("/")[2].partition(".")[0]) if own is None else own)
        self._check_namespace(request.entity_namespace, name)
        pose = self._pose(request.initial_pose)
        description = self._described(source)
        lone = is_lone(description)
        try:
            scene.add_robot(description, name, pose.p, quat_wxyz=pose.quat_wxyz)
        except MbrosError as e:
            tilted = any(joint.kind == "planar" for joint in description.joints) and pose.R[2, 2] < 1.0
            raise Refusal(str(e), CODES.INVALID_POSE if tilted else Result.RESULT_OPERATION_FAILED) from e
        if lone:
            as_object(scene._builder.description, name)
        return name

    def _resource(self, uri: str, text: str) -> tuple[str, str | None]:
        """(what is to be loaded, of text the robot's own name)."""
        if not uri and not text:
            raise Refusal("uri and resource_string are empty; give one of them", CODES.NO_RESOURCE)
        if uri and text:
            raise Refusal("uri and resource_string are both given; expected one of them", CODES.UNSUPPORTED_FORMAT)
        if text:
            root = re.search(r"<\s*([A-Za-z_][\w:.-]*)", re.sub(r"<\?.*?\?>|<!--.*?-->", "", text, flags=re.DOTALL))
            if root is None or root[1] != "robot" or "xmlns:xacro" in text:
                raise Refusal("resource_string is no URDF: expected <robot name=\"...\">...</robot>, without xacro",
                              CODES.UNSUPPORTED_FORMAT)
            named = re.search(r"<\s*robot\b[^>]*?\bname\s*=\s*[\"']([^\"']*)", text)
            return text, named[1] if named else ""
        if uri in known_robots():
            return uri, None
        if not uri.lower().endswith(ENDS):
            raise Refusal(f"uri '{printable(uri, 100)}' is no name of `mbros list` and does not end with {', '.join(ENDS[:2])}",
                          CODES.UNSUPPORTED_FORMAT)
        try:
            return str(resolve(uri, self.sim.robot.model.description.file, self.sim.robot.model.description.package_dirs)), None
        except MbrosError as e:
            raise Refusal(f"{e} Files are looked for in the scene file's folder and in packages", CODES.MISSING_ASSETS) from e

    def _name(self, scene: mbros.Scene, request: Any, own: str) -> str:
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

    def _pose(self, stamped: Any) -> Pose:
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

    def _described(self, source: str) -> RobotDescription:
        """The robot, with the meshes that its collision shapes need. A single link that the file does not fix is free."""
        try:
            description = describe_robot(source, bench=False)
            if is_lone(description) and description.world.source.line is None:
                description = describe_robot(source, base="floating", bench=False)
        except MbrosError as e:
            raise Refusal(str(e), CODES.RESOURCE_PARSE_ERROR) from e
        if self.sim.robot.model.description.collisions:
            _check_meshes(description)
            within_reach(description)
        return description


def _none_of(results: list[Any], why: str) -> None:
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
