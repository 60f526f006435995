"""What a model's joint knows without a state: names of its coordinates, limits, defaults, bounds of its motion."""
from __future__ import annotations

from functools import cached_property

import numpy as np

from mbros.checking import is_whole, reals
from mbros.errors import CoordinateIndexError, MbrosError
from mbros.joints import hpp
from mbros.joints.described import pose_pair
from mbros.joints.kinds import row_of
from mbros.joints.limits import JointLimits, Limits
from mbros.spatial import Pose


class Facts:
    """Needs of its class: model, name, kind, row (CompiledJoint), nq, nv, q_slice, v_slice, mobility, placement."""

    # ------------------------------------------------------------------------------------------------ names and slices

    @property
    def position_suffixes(self) -> tuple[str, ...]:
        return row_of(self.row.kind).position_names

    @property
    def velocity_suffixes(self) -> tuple[str, ...]:
        return row_of(self.row.kind).velocity_names

    @property
    def position_names(self) -> tuple[str, ...]:
        """"<joint>_<suffix>" of each position coordinate."""
        return tuple(f"{self.name}_{suffix}" for suffix in self.position_suffixes)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{suffix}" for suffix in self.velocity_suffixes)

    def position_suffix(self, i) -> str:
        return self.position_suffixes[self._index(i, self.nq, "position")]

    def velocity_suffix(self, i) -> str:
        return self.velocity_suffixes[self._index(i, self.nv, "velocity")]

    def position_name(self, i) -> str:
        return self.position_names[self._index(i, self.nq, "position")]

    def velocity_name(self, i) -> str:
        return self.velocity_names[self._index(i, self.nv, "velocity")]

    def _index(self, i, n, what) -> int:
        if is_whole(i) and 0 <= i < n:
            return int(i)
        raise CoordinateIndexError(f"joint {self.name!r} ({self.kind}): {what} coordinate {i!r} does not exist; there "
                                   + ("are none" if n == 0 else f"is only {0}" if n == 1 else f"are 0 to {n - 1}"))

    def of(self, array) -> np.ndarray:
        """This joint's part of an array whose last axis is the model's q (nq) or v, vdot or tau (nv): a view, batches too."""
        given = reals(f"joint {self.name!r}", "array", array, f"{self.model.nq} (nq) or {self.model.nv} (nv) numbers in the last axis")
        array = array if isinstance(array, np.ndarray) else given
        n = array.shape[-1] if array.ndim else -1
        if n == self.model.nv:
            return array[..., self.v_slice]
        if n == self.model.nq:
            return array[..., self.q_slice]
        raise MbrosError(f"joint {self.name!r}: expected {self.model.nq} (nq) or {self.model.nv} (nv) numbers in the last axis, got "
                         f"shape {array.shape}")

    # ------------------------------------------------------------------------------------------- defaults and limits

    @property
    def neutral(self) -> np.ndarray:
        """(nq,): zeros, unit quaternions, (1, 0)."""
        return np.array(row_of(self.row.kind).neutral, float)

    @property
    def limits(self) -> JointLimits:
        """.position (nq,), .velocity (nv,), .acceleration (nv,): each with .lower and .upper."""
        row = self.row
        return JointLimits(Limits(row.lower, row.upper), Limits(row.velocity_lower, row.velocity_upper),
                           Limits(row.acceleration_lower, row.acceleration_upper))

    @property
    def bounds(self) -> Limits:
        """Limits of each position component: bounds[i] = (lower, upper)."""
        return self.limits.position

    @property
    def bounded(self) -> np.ndarray:
        return self.bounds.bounded

    @property
    def default_positions(self) -> np.ndarray:
        """(nq,) where new states start."""
        return self.row.default.copy()

    @property
    def default_pose(self) -> Pose:
        """X_FM at the default positions."""
        return Pose(*self.mobility.pose(self.row.default), self.child_frame.name, self.parent_frame.name)

    @property
    def default_pose_pair(self):
        """(quat_wxyz (4,), p (3,)); a quaternion joint gives its own numbers, to the bit."""
        return pose_pair(self)

    @property
    def default_damping(self) -> np.ndarray:
        """(nv,) of new states, N m s/rad or N s/m (of this joint; a leader's state holds its followers' too)."""
        return self.row.damping.copy()

    @property
    def random(self):
        """What model.random_state draws its position from, None for uniform within the limits."""
        return self.row.random

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of its tunable numbers, for model.parameter(state, name)."""
        from mbros.parameters import of_joint

        return of_joint(self)

    @property
    def space(self):
        """Its configuration space: mbros.spaces.joint_space(joint); the "parent" increments of HPP are there too."""
        from mbros.spaces import joint_space

        return joint_space(self)

    @cached_property
    def linear_velocity_bound(self) -> float:
        """The least number with |v_Mo| <= number * |v| for every configuration, v of this joint alone."""
        return hpp.velocity_bounds(self.mobility)[0]

    @cached_property
    def angular_velocity_bound(self) -> float:
        """The same for |w|."""
        return hpp.velocity_bounds(self.mobility)[1]

    @cached_property
    def max_distance_to_parent(self) -> float:
        """The largest distance of Mo from the parent joint's Mo within the position limits, m; inf without them."""
        return hpp.longest_reach(self.placement, self.mobility, self.lower, self.upper)
