"""A joint of a model: who it is and where it is in the tree, which do not change, and what it reads from states and writes into them."""
from __future__ import annotations

from operator import le
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import State
from mbros_core.support.shown import html_table

from mbros.arguments import check_state, choice, is_whole, reals, vector
from mbros.describe.joints import limits
from mbros.describe.joints.abilities import can_rotate, can_translate
from mbros.describe.joints.joint import JointDescription
from mbros.describe.joints.kinds import UserKind, row_of, six_from_pair, unit_parts
from mbros.describe.joints.kinematics import kinematics
from mbros.describe.joints.limits import JointLimits, Limits
from mbros.describe.joints.names import JointNames, no_coordinate
from mbros.errors import MbrosError
from mbros.model.cached import cached_property
from mbros.model.frozen import FrozenPart, frozen_placement
from mbros.model.joints import driven, in_state
from mbros.model.joints.defaults import BuiltDefaults
from mbros.model.joints.mobilizer import Mobilizer
from mbros.model.joints.reading import finite_position, finite_velocity, force_on, rates
from mbros.model.joints.topology import Topology
from mbros.model.tables import CompiledJoint
from mbros.spatial.given import pose_of
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose, SpatialAcceleration, SpatialForce, SpatialVelocity

if TYPE_CHECKING:
    from mbros import Body, Frame, Model
    from mbros.describe.joints.kinematics import Kinematics
    from mbros.names import FrameLike, PoseLike
    from mbros.spaces.base import Space
    from mbros_core.typing import Array, ArrayLike
    from typing_extensions import Self

JOINT_TABLE = ("joint", "kind", "parent", "child", "positions", "limits", "follows")

# What a description has to be changed with, and a joint of a model has not.
EDITS = frozenset(name for name in vars(JointDescription) if name.startswith(("set_", "add_")))


class Joint(FrozenPart):
    """A joint of a model. Facts of the model are attributes; what depends on the state takes the state.

    q_slice, v_slice: its coordinates in q and v (a follower's are its leader's). mimic: (leader, ratio, offset) or None. axis: in F, None
    for kinds without one. gear_ratio (nv,). kind: "revolute", "planar", ... robot: the group it came in with. Frame F is on the parent
    body, M on the child.

    What belongs together is in groups, each made once: limits, defaults, names, topology (where it is in the tree), mobilizer (H, N and
    their derivatives), space (its configuration space).

    What was set on the description can be read here, and not changed: a model does not change once it is built.
    """

    _LIST = "joints"
    kind: str
    robot: str
    nq: int
    nv: int
    q_slice: slice
    v_slice: slice
    mimic: tuple[str, float, float] | None
    follows: bool
    axis: Array | None
    gear_ratio: Array
    _row: CompiledJoint
    _q_start: int
    _v_start: int
    _frame_index: int

    def __init__(self, model: Model, row: CompiledJoint) -> None:
        self._check_row(row, CompiledJoint)
        self._made_of(
            model=model, _row=row, name=row.name, kind=str(row.kind), index=row.index, robot=row.robot, nq=row.nq, nv=row.nv,
            q_slice=slice(row.q_start, row.q_start + row.nq), v_slice=slice(row.v_start, row.v_start + row.nv),
            _q_start=row.q_start, _v_start=row.v_start, mimic=row.mimic, follows=row.mimic is not None, axis=row.axis,
            gear_ratio=row.gear_ratio, _frame_index=row.frame_M)

    # ------------------------------------------------------------------------------------------------------ who it is

    @property
    def _label(self) -> str:
        """How messages name it."""
        return f"joint {self.name!r}"

    @cached_property
    def _called(self) -> str:
        return f"joint {self.name!r} ({self.kind})"

    @property
    def _exact_kind(self) -> str:
        """The kind; of users' joints with the law."""
        return self._row.kind

    @cached_property
    def _kinematics(self) -> Kinematics:
        """Its mathematics without a state: mbros.describe.joints.kinematics."""
        return kinematics(self._row.kind, self._row.parameters, self.axis)

    @property
    def is_floating(self) -> bool:
        """Whether it leaves its child free: six degrees of freedom."""
        return self.nv == 6

    @property
    def can_rotate(self) -> bool:
        """Whether M can turn in F."""
        return can_rotate(self._exact_kind)

    @property
    def can_translate(self) -> bool:
        """Whether Mo can move in F."""
        return can_translate(self._exact_kind)

    @property
    def parent(self) -> Body:
        """The parent Body."""
        return self.model.bodies[self._row.parent_body]

    @property
    def child(self) -> Body:
        """The Body it carries."""
        return self.model.bodies[self._row.child_body]

    @property
    def parent_frame(self) -> Frame:
        """Frame F, on the parent."""
        return self.model.frames[self._row.frame_F]

    @property
    def child_frame(self) -> Frame:
        """Frame M, on the child."""
        return self.model.frames[self._row.frame_M]

    @property
    def placement(self) -> Placement:
        """Where F is on the frame M of the joint that carries the parent body (on the parent body itself where there is none)."""
        above = self.topology.parent
        return frozen_placement(self._row.X_PF if above is None else above._row.X_BM.inverse() @ self._row.X_PF)

    @property
    def link_frame(self) -> Pose:
        """X_MB: the carried body's frame in M."""
        X = self._row.X_BM.inverse()
        return Pose._made(X.R, X.p, self.child.name, self.child_frame.name)

    def of(self, array: ArrayLike) -> np.ndarray:
        """This joint's part of an array whose last axis is the model's q (nq) or v, vdot or tau (nv): a view, batches too."""
        given = reals(self._label, "array", array, f"{self.model.nq} (nq) or {self.model.nv} (nv) numbers in the last axis")
        array = array if isinstance(array, np.ndarray) else given
        n = array.shape[-1] if array.ndim else -1
        if n == self.model.nv:
            return array[..., self.v_slice]
        if n == self.model.nq:
            return array[..., self.q_slice]
        raise MbrosError(f"{self._label}: expected {self.model.nq} (nq) or {self.model.nv} (nv) numbers in the last axis, got "
                         f"shape {array.shape}")

    # --------------------------------------------------------------------------------------------------------- groups

    @cached_property
    def limits(self) -> JointLimits:
        """.position (nq,), .velocity, .acceleration, .effort (nv,): each with .lower, .upper and .bounded, arrays; limits.position[0]
        is a pair of plain numbers."""
        row = self._row
        lower = -row.effort
        lower.setflags(write=False)
        return JointLimits(Limits(row.lower, row.upper), Limits(row.velocity_lower, row.velocity_upper),
                           Limits(row.acceleration_lower, row.acceleration_upper), Limits(lower, row.effort))

    @cached_property
    def defaults(self) -> BuiltDefaults:
        """Where new states start: .positions (nq,), .pose, .pose_pair, .damping (nv,), .random, .neutral; by kind .angle, .translation,
        .rotation."""
        return BuiltDefaults(self)

    @cached_property
    def names(self) -> JointNames:
        """Of its coordinates: .positions, .velocities, .position_suffixes, .velocity_suffixes; .parameters of its tunable numbers."""
        from mbros.model.parameters import of_joint      # start-up time: who does not use it does not pay

        return JointNames(self, self._exact_kind, of_joint(self))

    @cached_property
    def topology(self) -> Topology:
        """Its place in the tree: .parent, .children, .subtree(), .level; .neutral_pose, .pose_from_parent(q, X_parent)."""
        return Topology(self)

    @cached_property
    def mobilizer(self) -> Mobilizer:
        """H and Hdot v, N and N+, with exact derivatives; forces projected on it; bounds of its velocities."""
        return Mobilizer(self)

    @cached_property
    def space(self) -> Space:
        """Its configuration space: mbros.spaces.joint_space(joint); the "parent" increments of HPP are there too."""
        from mbros.spaces import joint_space      # start-up time: who does not use it does not pay

        return joint_space(self)

    # ------------------------------------------------------------------------------------------------ what a state says

    def _check_state(self, state: object) -> None:
        """StateError (a TypeError) unless it is a State of this joint's model; BusyError while a real-time loop has it."""
        if type(state) is not State or state.model is not self.model or state.is_held:
            check_state(f"joint {self.name!r}", self.model, state)

    def position(self, state: State) -> np.ndarray:
        """Positions (nq,), rad or m; a follower's are computed from its leader's."""
        self._check_state(state)
        q = state.q[self.q_slice].copy()
        return self.mimic[1] * q + self.mimic[2] if self.mimic is not None else q

    def velocity(self, state: State) -> np.ndarray:
        """Velocities (nv,), rad/s or m/s."""
        self._check_state(state)
        return self._of_leader(state.v[self.v_slice].copy())

    def _of_leader(self, rates: Array) -> Array:
        return self.mimic[1] * rates if self.mimic is not None else rates

    @cached_property
    def _unit_parts(self) -> tuple[slice, ...]:
        return unit_parts(self._exact_kind)

    @cached_property
    def _frame_names(self) -> tuple[str, str]:
        """Those of M and F."""
        return self.child_frame.name, self.parent_frame.name

    def transform(self, state: State) -> Pose:
        """X_FM: pose of the child's frame M in the parent's frame F."""
        return Pose._made(*self._kinematics.pose(finite_position(self, state)), *self._frame_names)

    def spatial_velocity(self, state: State, v: ArrayLike | None = None) -> SpatialVelocity:
        """V_FM = H v, for the state's v or the one given."""
        H = self._kinematics.subspace(finite_position(self, state))
        return SpatialVelocity(H @ finite_velocity(self, state, v), *self._frame_names)

    def spatial_acceleration(self, state: State, vdot: ArrayLike) -> SpatialAcceleration:
        """A_FM = H vdot + Hdot v: the time derivative in F of V_FM."""
        q, v = finite_position(self, state), finite_velocity(self, state, None)
        A = self._kinematics.subspace(q) @ rates(self, vdot, "vdot") + self._kinematics.bias(q, v)
        return SpatialAcceleration(A, *self._frame_names)

    def friction_torque(self, state: State, v: ArrayLike | None = None) -> np.ndarray:
        """Coulomb friction (nv,) on the joint in this state, N m or N: against v, zero unless the joint has friction."""
        return self._kinematics.friction(finite_velocity(self, state, v), self.friction(state))

    def project_force(self, state: State, wrench: Any) -> np.ndarray:
        """tau (nv,) = H^T F: the generalized force of a wrench [torque; force] on M about Mo, in F axes."""
        self._check_state(state)
        F = force_on(self, wrench)
        return self._kinematics.subspace(finite_position(self, state)).T @ F

    def is_locked(self, state: State) -> bool:
        """Whether lock(state) holds it."""
        self._check_state(state)
        return bool(self.nv) and bool((state.field("lock")[self.v_slice] == 1.0).all())

    def _is_prescribed(self, state: State) -> bool:
        return bool(self.nv) and bool((state.field("lock")[self.v_slice] == driven.PRESCRIBED).all())

    def reaction(self, state: State, frame: FrameLike | None = None) -> SpatialForce:
        """What the joint exerted on its child in the step that led to this state, all six components, what drives it included: about the
        child's origin in world axes, or about a frame's origin in that frame's axes; N m and N. Raises StateError where no step led here.

        It is the wrench of the step's own solution, where that takes its forces: in the middle of a midpoint step, at the start of
        semi_implicit_euler's, in the last stage of rk4.
        """
        return driven.reaction(self, state, frame)

    # ------------------------------------------------------------------------------- setting states: all return the joint

    def set_position(self, state: State, q: ArrayLike) -> Self:
        """Set the positions (nq,) in the state. Beyond a limit: done, with a PositionLimitWarning. Returns the joint."""
        self._check_state(state)
        if type(q) is float and self._range is not None and self._range[0] <= q <= self._range[1]:
            state.q[self._q_start] = q           # the same as below, for one coordinate
            state._a_prev[self._v_start] = 0.0
            return self
        q = self._put(state, q)
        if self._reach is not None:
            x = q.tolist()
            if not (all(map(le, self._reach[0], x)) and all(map(le, x, self._reach[1]))):
                limits.warn_beyond(limits.beyond(self, q))
        return self

    def _put(self, state: State, q: ArrayLike) -> np.ndarray:
        """Positions (nq,), checked and of unit length, into the state."""
        state.q[self.q_slice] = q = in_state.unit(self, self._own(q, self.nq, "position"))
        state._a_prev[self.v_slice] = 0.0
        return q

    @cached_property
    def _reach(self) -> tuple[list[float], list[float]] | None:
        return in_state.reach(self)

    @cached_property
    def _range(self) -> tuple[float, float] | None:
        return in_state.range_of_one(self)

    @cached_property
    def _has_law(self) -> bool:
        return isinstance(self._exact_kind, UserKind)

    def set_velocity(self, state: State, v: ArrayLike) -> Self:
        """Set the velocities (nv,) in the state. Returns the joint."""
        self._check_state(state)
        state.v[self.v_slice] = self._own(v, self.nv, "velocity")
        state._a_prev[self.v_slice] = 0.0
        return self

    if TYPE_CHECKING:           # planar and floating joints take their own words, too: xy, theta; p, rpy, quat_wxyz
        def set_pose(self, state: State, X_FM: PoseLike | None = None, **words: Any) -> Self: ...
    else:
        def set_pose(self, state: State, X_FM: PoseLike) -> Self:
            """The positions whose X_FM is nearest to this pose, a (4, 4) matrix or anything with .R and .p. Returns the joint."""
            from mbros.describe.joints.matching import best_match      # start-up time: who does not use it does not pay

            self._check_state(state)
            X = pose_of(f"joint {self.name!r}", X_FM)
            return self.set_position(state, best_match(self._kinematics, X.R, X.p))

    def set_zero(self, state: State, velocity: bool = True) -> Self:
        """This joint to its neutral position and, unless velocity=False, to rest. Returns the joint."""
        choice(self._called, "velocity", velocity, (True, False))
        self._check_state(state)
        self._put(state, self.defaults.neutral)
        return self.set_velocity(state, np.zeros(self.nv)) if velocity else self

    def lock(self, state: State) -> Self:
        """At rest at once, and held there until released. Returns the joint.

        What stops it is an impulse between its two bodies, which moves the rest of the robot: mobilizer.impulse(state). What holding it
        takes is mobilizer.effort(state). A velocity written later is no motion, and is made zero by the next step.
        """
        self._lock(state)[:] = 1.0
        self.model._come_to_rest(state)
        return self

    def prescribe(self, state: State, position: ArrayLike | None = None, velocity: ArrayLike | None = None,
                  acceleration: ArrayLike | None = None) -> Self:
        """From now on it moves as given, whatever force that takes: from `position` (nq,) with `velocity` (nv,), by default those that it
        has, at constant `acceleration` (nv,), by default zero. mobilizer.effort(state) is what it takes. Returns the joint.

        Where a step led to the state and no position is given, another velocity than the joint has is given to it by an impulse, which
        moves the rest of the robot as that of a lock does; elsewhere the state is being set up, and others keep theirs.

        Simulator.prescribe takes motions that are functions of time. Joints whose velocities are not the rates of their positions take a
        constant velocity where that is a motion (ball, floating), and otherwise stand still.
        """
        driven.prescribe(self, state, position, velocity, acceleration)
        return self

    def release(self, state: State) -> Self:
        """Dynamic from now on, with the velocity that it has: neither prescribed nor locked. Returns the joint."""
        self._lock(state)[:] = 0.0
        return self

    def unlock(self, state: State) -> Self:
        """release() is its name now."""
        return self.release(state)

    def _lock(self, state: State) -> Array:
        self._check_state(state)
        in_state.refuse_follower(self, "lock")
        return state.field("lock")[self.v_slice]

    def _own(self, value: Any, n: int, what: str, positive: bool = False) -> np.ndarray:
        """`value` as (n,) finite numbers of this joint, which follows none."""
        if self.mimic is not None:
            in_state.refuse_follower(self, what)
        return vector(self._called, what, value, n, 0.0 if positive else None)

    # --------------------------------------------------------------------------------------------------------- forces

    def damping(self, state: State) -> np.ndarray:
        """Viscous damping (nv,) of its coordinates in this state, N m s/rad or N s/m. A follower shares its leader's coordinate, and
        there is one number for both: the leader's own damping and ratio^2 times that of every follower."""
        self._check_state(state)
        return state.damping[self.v_slice].copy()

    def set_damping(self, state: State, damping: ArrayLike) -> Self:
        """Set the viscous damping (nv,), not negative; a leader's is that of its followers too. Floating joints also take
        (angular, translational). Returns the joint."""
        self._check_state(state)
        damping = six_from_pair(self.kind, damping)
        state.damping[self.v_slice] = self._own(damping, self.nv, "damping", positive=True)
        return self

    def friction(self, state: State) -> np.ndarray:
        """Coulomb friction (nv,) of its coordinates in this state, N m or N; a leader's holds its followers' too, as damping does."""
        self._check_state(state)
        return state.friction[self.v_slice].copy()

    def set_friction(self, state: State, friction: ArrayLike) -> Self:
        """Set the Coulomb friction (nv,), not negative. Returns the joint."""
        self._check_state(state)
        state.friction[self.v_slice] = self._own(friction, self.nv, "friction", positive=True)
        return self

    def add_damping(self, state: State, forces: Array) -> Array:
        """Adds -damping v to this joint's part of `forces` (nv of the model,), in place. Returns them."""
        part = in_state.part_of_forces(self, forces)
        part += -self.damping(state) * self.velocity(state)
        return forces

    def add_force(self, state: State, dof: int, value: float, forces: Array) -> Array:
        """Adds `value` (N m or N) on degree of freedom `dof` to `forces` (nv of the model,), in place. Returns them."""
        self._check_state(state)
        part = in_state.part_of_forces(self, forces)
        if not (is_whole(dof) and 0 <= dof < self.nv):
            raise no_coordinate(f"{self._called}: velocity", dof, self.nv)
        part[int(dof)] += float(self._own(value, 1, "force")[0])
        return forces

    # --------------------------------------------------------------------------------------------------- how it reads

    def __getattr__(self, name: str) -> Any:
        if name in EDITS:
            return self._refused(name)
        raise AttributeError(name if name.startswith("_") else f"{self._label} ({self.kind}) has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        """Without the name that is only there for who knows it from before."""
        return [name for name in super().__dir__() if name != "unlock"]

    def __repr__(self) -> str:
        mimic = f", follows {self.mimic[0]!r}" if self.mimic is not None else ""
        return f"<Joint {self.name!r}: {self.kind}, {self.parent.name!r} to {self.child.name!r}{mimic}>"

    def _repr_html_(self) -> str:
        """What it is, as a row of a model's table, for notebooks."""
        return html_table(f"joint {self.name!r} of {self.model.name!r}", JOINT_TABLE, [self._html_row()])

    def _html_row(self) -> tuple[str, ...]:
        """The cells of JOINT_TABLE."""
        follows = "" if self.mimic is None else f"{self.mimic[1]:g} {self.mimic[0]} + {self.mimic[2]:g}"
        row = row_of(self._exact_kind)
        bounds = [f"{low:.4g} ... {high:.4g} {unit}".rstrip() for low, high, unit in
                  zip(*self.limits.position, [*row.position_units, *[""] * self.nq]) if np.isfinite(low) or np.isfinite(high)]
        return self.name, self.kind, self.parent.name, self.child.name, ", ".join(self.names.position_suffixes), "; ".join(bounds), follows
