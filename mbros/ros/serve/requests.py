"""What ~/set_state asks for, as coordinates of the model: NaN where they stay as they are."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mbros.model.joints.nearest import take_pose, take_twist
from mbros.spatial.given import pose_of_any_length
from mbros.spatial.vectors import Pose

from mbros.ros.errors import RequestError
from mbros.ros.robot import Robot

if TYPE_CHECKING:
    from mbros.model.joints.joint import Joint
    from mbros.ros.typing import Values
    from mbros.ros.wire.typing import JointState, MultiDOFJointState, Transform, Twist
    from mbros_core import State
    from mbros_core.typing import Array, ArrayLike

T = TypeVar("T")
M = TypeVar("M")
CLOSE = 1e-6        # m, m/s, rad/s: nearer than this is "as asked"
ROUGHLY = 1e-4      # rad: the same for the rotation of a pose
GIVE = 0.02         # rad, m: a joint that leans on its stop is a little beyond its limit


class Requested:
    """q (nq,) and v (nv,) of a request, the names of its joints, and remarks on what could not be taken as given."""

    def __init__(self, robot: Robot, values: Values):
        self.robot, self.values = robot, values
        self.state = robot.model.default_state()
        self.q, self.v = np.full(robot.model.nq, np.nan), np.full(robot.model.nv, np.nan)
        self.joints: list[str] = []
        self.remarks: list[str] = []

    def take_joint_state(self, message: JointState) -> None:
        """Joints with one coordinate. A recorded joint_states can be put back: followers where their leaders put them, efforts
        not looked at."""
        names = self._named("joint_state.name", message.name)
        rows = list(zip(names, _column("joint_state.position", message.position, names, math.nan),
                        _column("joint_state.velocity", message.velocity, names, math.nan)))
        followers = [row for row in rows if self.robot.leads(row[0]) in names]
        led = {row[0] for row in followers}
        for name, position, velocity in (row for row in rows if row[0] not in led):
            joint = self._joint(name)
            if joint.nv != 1:
                raise RequestError(f"joint_state: joint '{name}' ({joint.kind}) has {joint.nv} coordinates; give its pose in "
                                 "multi_dof_joint_state")
            if not math.isnan(position):
                self._put(joint, position)
            if not math.isnan(velocity):
                joint.set_velocity(self.state, velocity)
                self._moves(joint)
        for name, position, velocity in followers:
            self._check_follower(name, position, velocity)

    def _named(self, what: str, names: Sequence[str]) -> list[str]:
        if len(names) > len(self.robot.model.joints):
            raise RequestError(f"{what} has {len(names)} names; expected at most {len(self.robot.model.joints)}, as there are joints")
        return list(names)

    def _check_follower(self, name: str, position: float, velocity: float) -> None:
        joint, leads = self.robot.model.joint(name), self.robot.leads(name)
        assert leads is not None
        leader = self.robot.model.joint(leads)
        for what, given, of_leader, read in (("position", position, self.q[leader.q_slice.start], joint.position),
                                             ("velocity", velocity, self.v[leader.v_slice.start], joint.velocity)):
            if math.isnan(given) or math.isnan(of_leader):
                continue
            led = float(read(self.state)[0])
            if abs(given - led) > CLOSE:
                raise RequestError(f"joint '{name}' follows '{leader.name}', which puts its {what} at {led:g}, not at {given:g}")

    def take_multi_dof(self, message: MultiDOFJointState) -> None:
        """Joints of any kind, by pose and velocity of the child."""
        names = self._named("multi_dof_joint_state.joint_names", message.joint_names)
        transforms = _column("multi_dof_joint_state.transforms", message.transforms, names, None)
        twists = _column("multi_dof_joint_state.twist", message.twist, names, None)
        if len(message.wrench):
            raise RequestError("multi_dof_joint_state.wrench: a state has no wrenches; publish efforts on joint_commands")
        if twists and None not in twists and None in transforms:
            raise RequestError("multi_dof_joint_state: twists are in the axes of the child; give its transform too")
        for name, transform, twist in zip(names, transforms, twists):
            joint = self._joint(name)
            if transform is not None:
                self._take_pose(joint, _pose(f"transform of joint '{name}'", transform))
            if twist is not None:
                self._take_twist(joint, twist)

    def check(self) -> None:
        """A request that would change nothing is a mistake."""
        if not self.joints:
            raise RequestError("set_state: no joint is named")
        if np.isnan(self.q).all() and np.isnan(self.v).all():
            raise RequestError(f"set_state: no position, velocity, transform or twist is given for {', '.join(self.joints)}")

    def close_loops(self, x: Array, tuned: State) -> None:
        """Of a robot with constraints: the joints that are not named go where the loops are closed, from where the snapshot x has them, and
        move as the named ones make them. tuned: a state with the parameters that are in force."""
        model, layout = self.robot.model, self.robot.plant.layout
        if not len(model.constraints):
            return
        state = tuned.copy()
        for given, there, part in ((self.q, state.q, "q"), (self.v, state.v, "v")):
            at, size = layout[part]
            there[:] = np.where(np.isnan(given), x[at:at + size], given)
        moved: dict[str, float] = {}
        closed = model.assemble(state, keep=self.joints, moved=moved)
        self.q[:], self.v[:] = closed.q, closed.v
        if far := [f"'{name}' by {size:.3g}" for name, size in moved.items() if size > CLOSE]:
            self.remarks.append(f"to close the loops, moved {', '.join(far)} (m, rad)")

    # --- one joint

    def _joint(self, name: str) -> Joint:
        joint = self.robot.own_joint(name)
        if name in self.joints:
            raise RequestError(f"joint '{name}' is named twice")
        self.joints.append(name)
        return joint

    def _put(self, joint: Joint, position: float) -> None:
        if joint.nq == 2:                               # continuous, as (cos, sin): it has no limits
            joint.set_angle(self.state, position)
        else:
            self._check_position(joint, position)
            joint.set_position(self.state, position)
        self.q[joint.q_slice] = joint.position(self.state)

    def _check_position(self, joint: Joint, q: ArrayLike) -> None:
        reason = self.robot.limit_problem(joint.name, q, GIVE)
        if reason:
            raise RequestError(f"position of {reason}")

    def _moves(self, joint: Joint) -> None:
        """The joint has the velocity that the state now says."""
        v = joint.velocity(self.state)
        if self.values[f"locked.{joint.name}"] and v.any():
            raise RequestError(f"joint '{joint.name}' is locked and stands still: unlock it first, or leave out its velocity")
        self.v[joint.v_slice] = v

    def _take_pose(self, joint: Joint, X: Pose) -> None:
        off, angle = take_pose(joint, self.state, X)
        q = joint.position(self.state)
        self._check_position(joint, q)
        self.q[joint.q_slice] = q
        if angle > ROUGHLY or off > CLOSE:
            self.remarks.append(f"joint '{joint.name}' took the nearest pose a {joint.kind} joint has, {off:.3g} m and {angle:.3g} rad "
                                "from the one asked for")

    def _take_twist(self, joint: Joint, twist: Twist) -> None:
        w, v = twist.angular, twist.linear
        V = (w.x, w.y, w.z, v.x, v.y, v.z)
        if not all(map(math.isfinite, V)):
            raise RequestError(f"twist of joint '{joint.name}': expected finite numbers, got {list(V)}")
        off = take_twist(joint, self.state, V)
        self._moves(joint)
        if off > CLOSE:
            self.remarks.append(f"joint '{joint.name}' moves otherwise than asked, by {off:.3g} m/s or rad/s at most: a "
                                f"{joint.kind} joint cannot do more")


def _column(what: str, given: Sequence[T], names: Sequence[str], missing: M) -> list[T | M]:
    """One entry for each name; an empty array leaves everything as it is."""
    if len(given) not in (0, len(names)):
        raise RequestError(f"{what} has {len(given)} entries for {len(names)} names; expected as many, or none")
    for name, x in zip(names, given):
        if isinstance(x, float) and math.isinf(x):
            raise RequestError(f"{what} of joint '{name}' is {x}; expected a finite number, or NaN to leave it as it is")
    return list(given) or [missing] * len(names)


def _pose(what: str, transform: Transform) -> Pose:
    t, r = transform.translation, transform.rotation
    p, quat = (t.x, t.y, t.z), (r.w, r.x, r.y, r.z)
    X = pose_of_any_length(p, quat)
    if X is None:
        raise RequestError(f"{what}: expected finite numbers and a unit quaternion, got translation {list(p)}, rotation (w, x, y, z) "
                           f"{list(quat)}")
    return Pose._made(X.R, X.p)
