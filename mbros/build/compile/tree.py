"""From what the user described to what the engine takes: `compile_robot(description) -> CompiledRobot`.

* Joints in depth-first order, children in the author's order.
* Bodies joined by welds become one body (merge_welds): masses add, inertias by the parallel-axis theorem. The user's
  bodies stay as frames.
* The engine's one-axis joints act along z of F, and its body frame is M. So with C the compiled frame of body B and A the
  rotation that takes z to the joint axis: X_BC = X_BM A, and on the parent X_PF A. A has entries 0 and +-1 for axes along
  x, y, z.
* A mimic joint follows the root of its chain: q = ratio q_root + offset. What the follower resists, the leader feels
  (equal power): damping and reflected rotor inertia add with ratio^2, friction with |ratio|. Its limits are the leader's
  too (mbros.build.compile.followers).
* Reflected rotor inertia = gear_ratio^2 J_rotor.
* A joint without a default position starts at its kind's neutral one, or midway between limits that exclude it.

Everything per body is done in arrays; there is no recursion. 10,000 links take well under 2 s.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.build.compile.constraints import compile_constraints
from mbros.build.compile.followers import keep_limits
from mbros.build.compile.forces import compile_elements
from mbros.build.compile.regularity import check_regular, default_stops
from mbros.describe.contacts import wanted
from mbros.describe.joints.defaults import default_position
from mbros.describe.joints.kinds import UserKind, engine_kind
from mbros.describe.robot import JointDescription, RobotDescription
from mbros.model.frozen import frozen, frozen_placement
from mbros.model.tables import ARRAYS, CompiledBody, CompiledFrame, CompiledJoint, CompiledRobot
from mbros.names import one_document
from mbros.spatial.placement import align_z

if TYPE_CHECKING:
    from mbros.spatial.placement import Placement
    from mbros_core.spec import ModelSpec
    from mbros_core.typing import Array
    from numpy.typing import NDArray


@one_document
def compile_robot(description: RobotDescription, mimic: bool = True, merge_welds: bool = True) -> CompiledRobot:
    """Compiles a checked description (mbros.describe.check_robot). mimic=False makes followers ordinary joints.

    Raises ModelError (UrdfError for models from files) when the equations of motion of the robot cannot be solved: a
    massless body that moves with nothing behind it.
    """
    tree = _Tree(description, mimic, merge_welds)
    spec = tree.spec()
    check_regular(description, tree, spec)
    default_stops(tree, spec)
    compiled = CompiledRobot(spec, tree.compiled_joints(), tree.compiled_bodies(), tree.compiled_frames())
    if description.force_elements or spec.stop_stiffness.any():
        compiled.force_elements = compile_elements(description, compiled)
    if description.constraints:
        compiled.constraints = compile_constraints(description, compiled)
    if wanted(description):
        from mbros.build.compile.shapes import compile_shapes      # start-up time: who has no shapes does not pay

        compile_shapes(description, tree, compiled)
    elif any(member.on_ground for member in description.members):
        from mbros.build.compile.standing import note_no_ground      # start-up time: as above

        note_no_ground(description)
    return compiled


def depth_first(description: RobotDescription) -> list[JointDescription]:
    """The joints, parents before children, each branch to its end, siblings in the author's order."""
    children: dict[int, list[JointDescription]] = {}
    for joint in description.joints:
        children.setdefault(id(joint.parent), []).append(joint)
    order, stack = [], children.get(id(description.world), [])[::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(children.get(id(joint.child), ())[::-1])
    return order


def resolve_mimic(joints: list[JointDescription]) -> dict[str, tuple[str, float, float]]:
    """Follower -> (root leader, ratio, offset), chains multiplied out."""
    direct = {joint.name: joint.mimic for joint in joints if joint.mimic is not None}
    resolved = {}
    for name, rule in direct.items():
        leader, ratio, offset = rule.leader, rule.ratio, rule.offset
        while leader in direct:
            above = direct[leader]
            leader, offset, ratio = above.leader, offset + ratio * above.offset, ratio * above.ratio
        resolved[name] = (leader, ratio, offset)
    return resolved


class _Tree:
    """The arrays of a robot being compiled. User bodies are 0 (world) to n in depth-first order; joint i carries body i+1.

    Suffix C means compiled: `compiled[i]` is the engine's body of user body i, and X_CB its place there.
    """

    def __init__(self, description: RobotDescription, mimic: bool, merge_welds: bool) -> None:
        self.description = description
        self.joints = depth_first(description)
        self.bodies = [description.world] + [joint.child for joint in self.joints]
        self.index = {id(body): i for i, body in enumerate(self.bodies)}
        self.parent = np.array([self.index[id(joint.parent)] for joint in self.joints], dtype=np.int32)
        self.mimic = resolve_mimic(self.joints) if mimic else {}
        keep_limits(description, self.joints, self.mimic)
        self._place_joints()
        self._merge(merge_welds)
        self._coordinates()

    def _place_joints(self) -> None:
        n = len(self.joints)
        self.R_PF, self.p_PF = _stack([joint.X_PF for joint in self.joints])
        self.R_BM, self.p_BM = _stack([joint.X_BM for joint in self.joints])
        self.A = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()
        for i, joint in enumerate(self.joints):
            if joint.axis is not None and not (joint.axis[2] == 1.0 and joint.axis[0] == joint.axis[1] == 0.0):
                self.A[i] = align_z(joint.axis)

    def _merge(self, merge_welds: bool) -> None:
        """Compiled body of every user body, and X_CB."""
        n = len(self.bodies)
        self.compiled = np.zeros(n, dtype=np.int32)
        self.R_CB, self.p_CB = np.zeros((n, 3, 3)), np.zeros((n, 3))
        self.R_CB[0] = np.eye(3)
        # X_BC = X_BM A  =>  X_CB = its inverse
        self.R_CB[1:] = np.swapaxes(self.R_BM @ self.A, 1, 2)
        self.p_CB[1:] = -np.einsum("nij,nj->ni", self.R_CB[1:], self.p_BM) + 0.0
        self.carrier = [-1]                     # compiled body -> user joint
        for i, joint in enumerate(self.joints):
            if joint.kind == "weld" and merge_welds:
                parent = self.parent[i]
                self.compiled[i + 1] = self.compiled[parent]
                R_CF = self.R_CB[parent] @ self.R_PF[i]
                R_CB = R_CF @ self.R_BM[i].T
                self.R_CB[i + 1] = R_CB
                self.p_CB[i + 1] = self.p_CB[parent] + self.R_CB[parent] @ self.p_PF[i] - R_CB @ self.p_BM[i]
            else:
                self.compiled[i + 1] = len(self.carrier)
                self.carrier.append(i)
        self.nb = len(self.carrier)

    def _coordinates(self) -> None:
        """q and v slices of every user joint; a follower has its leader's."""
        self.start = np.zeros((len(self.joints), 2), dtype=int)
        self.owners = []                        # user joints with coordinates of their own, in order of q
        nq = nv = 0
        at = {}
        for i, joint in enumerate(self.joints):
            at[joint.name] = i
            self.start[i] = nq, nv
            if joint.name in self.mimic or joint.nv == 0:
                continue
            self.owners.append(i)
            nq, nv = nq + joint.nq, nv + joint.nv
        self.leader = np.full(len(self.joints), -1, dtype=int)
        for name, (leader, _, _) in self.mimic.items():
            self.leader[at[name]] = at[leader]
            self.start[at[name]] = self.start[at[leader]]
        self.nq, self.nv = nq, nv

    # --- the engine's tables

    def spec(self) -> ModelSpec:
        from mbros_core.spec import ModelSpec

        carried = self.carrier[1:]
        joints = [self.joints[i] for i in carried]
        parents = self.parent[carried]
        X_PF = np.zeros((self.nb, 12))
        X_PF[0, [0, 4, 8]] = 1.0
        # on the compiled parent: X_CF = X_CP X_PF A
        R, p = _compose(self.R_CB[parents], self.p_CB[parents], self.R_PF[carried], self.p_PF[carried])
        X_PF[1:, :9], X_PF[1:, 9:] = (R @ self.A[carried]).reshape(-1, 9), p
        leader = np.full(self.nb, -1, dtype=np.int32)
        ratio, offset = np.ones(self.nb), np.zeros(self.nb)
        for row, joint in enumerate(joints, 1):
            if joint.name in self.mimic:
                _, ratio[row], offset[row] = self.mimic[joint.name]
                leader[row] = self.compiled[self.leader[carried[row - 1]] + 1]
        parent = np.zeros(self.nb, dtype=np.int32)
        parent[0], parent[1:] = -1, self.compiled[parents]
        frame_body, X_BF = self._frame_table()
        return ModelSpec(
            name=self.description.name, gravity=np.array(self.description.gravity, dtype=float),
            body_names=["world"] + [joint.child.name for joint in joints],
            joint_names=["world"] + [joint.name for joint in joints],
            joint_kind=["weld"] + [engine_kind(joint.kind) for joint in joints],
            parent=parent, X_PF=X_PF + 0.0,
            user_joints={row: joint.kind.law for row, joint in enumerate(joints, 1) if isinstance(joint.kind, UserKind)},
            joint_parameters=self._parameters(joints), leader=leader, ratio=ratio,
            offset=offset, inertia=self._inertias(), **self._coordinate_tables(),
            frame_names=self.frame_names(), frame_body=frame_body, X_BF=X_BF + 0.0)

    def _parameters(self, joints: Iterable[JointDescription]) -> Array:
        table = np.zeros((self.nb, 4))
        for row, joint in enumerate(joints, 1):
            table[row, :len(joint.parameters)] = joint.parameters
        return table

    def _inertias(self) -> Array:
        """m, m c, and the inertia about Co in C axes, of every compiled body."""
        mass = np.array([body.mass for body in self.bodies])
        com = np.array([body.com for body in self.bodies])
        tensor = np.array([body.inertia for body in self.bodies])
        c = np.einsum("nij,nj->ni", self.R_CB, com) + self.p_CB
        I = self.R_CB @ tensor @ np.swapaxes(self.R_CB, 1, 2)
        I += mass[:, None, None] * (np.einsum("ni,ni->n", c, c)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :])
        rows = np.column_stack([mass, mass[:, None] * c, I[:, 0, 0], I[:, 1, 1], I[:, 2, 2], I[:, 0, 1], I[:, 0, 2],
                                I[:, 1, 2]])
        total = np.zeros((self.nb, 10))
        np.add.at(total, self.compiled, rows)
        return total + 0.0

    def _coordinate_tables(self) -> dict[str, Any]:
        owners = [self.joints[i] for i in self.owners]

        def gather(what: str) -> Array:
            return np.concatenate([getattr(joint, what) for joint in owners]) if owners else np.zeros(0)

        table = {"q_lower": gather("lower"), "q_upper": gather("upper"), "velocity_limit": gather("velocity"),
                 "effort_limit": gather("effort"), "damping": gather("damping"), "friction": gather("friction"),
                 "rotor_inertia": gather("gear_ratio") ** 2 * gather("rotor_inertia")}
        for i, joint in enumerate(self.joints):
            if self.leader[i] >= 0:
                row, ratio = self.start[i, 1], self.mimic[joint.name][1]
                table["damping"][row] += ratio**2 * joint.damping[0]
                table["friction"][row] += abs(ratio) * joint.friction[0]
                table["rotor_inertia"][row] += ratio**2 * joint.gear_ratio[0] ** 2 * joint.rotor_inertia[0]
        table["q_default"] = (np.concatenate([default_position(joint) for joint in owners]) if owners else np.zeros(0))
        table["stop_stiffness"], table["stop_damping"] = np.zeros(self.nv), np.zeros(self.nv)
        table["lock"] = np.concatenate([np.full(joint.nv, float(joint.locked)) for joint in owners]) if owners else np.zeros(0)
        return table

    def _frame_table(self) -> tuple[NDArray[np.int32], Array]:
        """Compiled body and X_CF of every row of the frame table."""
        nj = len(self.joints)
        child = np.arange(1, nj + 1)
        added = self.description.frames
        on = np.array([self.index[id(frame.body)] for frame in added], dtype=int)
        R_F, p_F = _compose(self.R_CB[self.parent], self.p_CB[self.parent], self.R_PF, self.p_PF)
        R_M, p_M = _compose(self.R_CB[child], self.p_CB[child], self.R_BM, self.p_BM)
        R_X, p_X = _compose(self.R_CB[on], self.p_CB[on], *_stack([frame.X_BF for frame in added]))
        FM_R, FM_p = np.stack([R_F, R_M], 1).reshape(-1, 9), np.stack([p_F, p_M], 1).reshape(-1, 3)
        rows = np.column_stack([np.concatenate([self.R_CB.reshape(-1, 9), FM_R, R_X.reshape(-1, 9)]),
                                np.concatenate([self.p_CB, FM_p, p_X])])
        body = np.concatenate([self.compiled, np.stack([self.compiled[self.parent], self.compiled[child]], 1).ravel(),
                               self.compiled[on]]).astype(np.int32)
        return body, rows

    # --- the user's tables

    def compiled_joints(self) -> list[CompiledJoint]:
        first = len(self.bodies)
        out = []
        for i, joint in enumerate(self.joints):
            follows = self.mimic.get(joint.name)
            q, v = self.start[i]
            default = default_position(joint if follows is None else self.joints[self.leader[i]])
            default = default if follows is None else follows[1] * default + follows[2]
            out.append(CompiledJoint(
                name=joint.name, kind=joint.kind, parent_body=joint.parent.name, child_body=joint.child.name, q_start=int(q),
                nq=joint.nq, v_start=int(v), nv=joint.nv, mimic=follows, frame_F=first + 2 * i, frame_M=first + 2 * i + 1,
                compiled_index=int(self.compiled[i + 1]), file=joint.source.file, line=joint.source.line,
                parameters=joint.parameters, random=joint.random, locked=joint.locked, robot=joint.robot, index=i,
                default=frozen(default), X_PF=frozen_placement(joint.X_PF), X_BM=frozen_placement(joint.X_BM),
                **{field: frozen(getattr(joint, field)) for field in ARRAYS}))
        return out

    def compiled_bodies(self) -> list[CompiledBody]:
        return [CompiledBody(body.name, float(body.mass), frozen(body.com), frozen(body.inertia), i, int(self.compiled[i]), body.robot)
                for i, body in enumerate(self.bodies)]

    def compiled_frames(self) -> list[CompiledFrame]:
        rows: list[tuple[str, dict[str, Any], str]] = [(body.name, {}, body.robot) for body in self.bodies]
        for joint in self.joints:
            rows += (joint.parent.name, {}, joint.robot), (joint.child.name, {}, joint.robot)
        rows += [(frame.body.name, frame.tags, frame.robot) for frame in self.description.frames]
        return [CompiledFrame(name, body, i, tags, robot) for i, (name, (body, tags, robot)) in enumerate(zip(self.frame_names(), rows))]

    def frame_names(self) -> list[str]:
        """Names of the rows of the frame table; rows as in `_frame_table`."""
        names = [body.name for body in self.bodies]
        for joint in self.joints:
            names += joint.name + ".F", joint.name + ".M"
        return names + [frame.name for frame in self.description.frames]


def _stack(placements: Sequence[Placement]) -> tuple[Array, Array]:
    if not placements:
        return np.zeros((0, 3, 3)), np.zeros((0, 3))
    return np.array([X.R for X in placements]), np.array([X.p for X in placements])


def _compose(R_AB: Array, p_AB: Array, R_BC: Array, p_BC: Array) -> tuple[Array, Array]:
    """X_AC of many pairs at once."""
    return R_AB @ R_BC, p_AB + np.einsum("nij,nj->ni", R_AB, p_BC)


__all__ = ["compile_robot", "CompiledRobot", "CompiledJoint", "CompiledBody", "CompiledFrame", "default_position"]
