"""SetEntityState: a robot whose base can move, or an object, is put elsewhere, or set in motion, between two steps; time and all else go
on."""
from __future__ import annotations

from collections.abc import Iterable

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SetEntityState

from mbros.spatial.given import pose_of_any_length

from mbros.ros.serve.requests import Requested
from .entities import WORLD, Entities, Entity
from .refusal import Refusal

if TYPE_CHECKING:
    from mbros.model.tables import CompiledJoint
    from mbros.ros.node import SimNode
    from mbros.ros.standard.typing import EntityStateMessage, SetEntityStateRequest
    from mbros.ros.wire.typing import Quaternion, Transform, Twist

INVALID_POSE = getattr(SetEntityState.Response, "INVALID_POSE", 101)       # version 1.0.0 does not name it


class Placing:
    """Of a SimNode and its entities."""

    def __init__(self, sim: SimNode, entities: Entities):
        self.sim, self.entities = sim, entities

    def set_state(self, request: SetEntityStateRequest, response: object) -> str | None:
        entity = self.entities.find(request.entity)
        joint = self._base(entity)
        self._check_frame(request.state.header.frame_id)
        # before version 2.1 of the standard there were no flags, and all was set
        pose, twist = getattr(request, "set_pose", True), getattr(request, "set_twist", True)
        if not (pose or twist):
            raise Refusal("nothing is asked for: set_pose and set_twist are false" + (
                "; an acceleration cannot be set" if getattr(request, "set_acceleration", False) else ""))
        self.sim.services.put("set_entity_state", self._wanted(entity, joint, request.state, pose, twist))
        return "the acceleration is ignored" if getattr(request, "set_acceleration", False) else None

    def _base(self, entity: Entity) -> CompiledJoint:
        """The joint between the world and the robot or object, of which the entity must be that, or its root link."""
        whole = self.entities.all[entity.whole]
        if whole.base is None:
            how = "in the scene file, base: floating, or fixed: false" if self.sim.robot.is_scene else "start the node with base:=floating"
            raise Refusal(f"'{entity.name}' stands on a fixed base, which cannot be put elsewhere; {how}, or set joints (~/set_state)")
        if entity.body != whole.body:
            raise Refusal(f"'{entity.name}' is where the joints of '{whole.name}' have it: set those (~/set_state), or the robot")
        return whole.base

    def _check_frame(self, frame: str) -> None:
        known = ["", WORLD, self.sim.robot.map.odom_frame]
        if frame not in known:
            raise Refusal(f"frame_id is '{frame}'; expected one of {', '.join(map(repr, known))}: poses are in the world")

    def _wanted(self, entity: Entity, joint: CompiledJoint, given: EntityStateMessage, pose: bool, twist: bool) -> Requested:
        """Pose and twist of the root link, in the world and along its axes, as coordinates of the base."""
        p, r = given.pose.position, given.pose.orientation
        if not pose:
            now = self.sim.robot.model.pose(self.entities.now()[0], entity.body)
            p, r = _xyzw(now.p), _xyzw(now.quat_xyzw)
        X = pose_of_any_length((p.x, p.y, p.z), (r.w, r.x, r.y, r.z))
        if X is None:
            raise Refusal(f"pose: expected finite numbers and a unit quaternion, got position {[p.x, p.y, p.z]}, orientation (x, y, z, w) "
                          f"{[r.x, r.y, r.z, r.w]}", INVALID_POSE)
        place = like(translation=_xyzw(X.p), rotation=r)
        wanted = self._taken(joint, place, [], INVALID_POSE)
        if twist:
            turned = [_xyzw(X.R.T @ np.array([u.x, u.y, u.z])) for u in (given.twist.angular, given.twist.linear)]
            wanted = self._taken(joint, place, [like(angular=turned[0], linear=turned[1])])
        if not pose:
            wanted.q[:] = np.nan
        return wanted

    def _taken(self, joint: CompiledJoint, place: Transform, twists: list[Twist], code: int = Result.RESULT_OPERATION_FAILED) -> Requested:
        """Refused where the base cannot do just what is asked for."""
        wanted = Requested(self.sim.robot, self.sim.live.values)
        wanted.take_multi_dof(like(joint_names=[joint.name], transforms=[place], twist=twists, wrench=[]))
        if wanted.remarks:
            whole = next(entity.name for entity in self.entities.all.values() if entity.base is joint)
            raise Refusal(f"'{whole}' has a {joint.kind} base and cannot do that: {'; '.join(wanted.remarks)}", code)
        return wanted


def like(**fields: object) -> Any:
    """Stands for a message that has these fields."""
    return SimpleNamespace(**fields)


def _xyzw(numbers: Iterable[float]) -> Quaternion:
    """Numbers as a message of geometry_msgs has them."""
    found: Quaternion = like(**dict(zip("xyzw", map(float, numbers))))
    return found
