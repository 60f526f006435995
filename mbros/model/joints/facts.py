"""What a model's joint knows without a state: names of its coordinates, limits, defaults, bounds of its motion."""
from __future__ import annotations

from functools import cached_property

import numpy as np

from mbros.arguments import reals
from mbros.errors import MbrosError
from mbros.model.joints import hpp
from mbros.describe.joints.names import CoordinateNames
from mbros.describe.joints.defaults import pose_pair
from mbros.describe.joints.kinds import row_of
from mbros.describe.joints.limits import JointLimits, Limits
from mbros.spatial.vectors import Pose
from mbros.model.parameters import of_joint
from mbros.spaces import joint_space


class Facts(CoordinateNames):
    """Needs of its class: model, name, kind, row (CompiledJoint), nq, nv, q_slice, v_slice, mobility, placement."""

    @property
    def exact_kind(self):
        """The kind; of users' joints with the law."""
        return self.row.kind

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
        """.position (nq,), .velocity, .acceleration, .effort (nv,): each with .lower and .upper, arrays; limits.position[0] is a pair of
        plain numbers."""
        row = self.row
        return JointLimits(Limits(row.lower, row.upper), Limits(row.velocity_lower, row.velocity_upper),
                           Limits(row.acceleration_lower, row.acceleration_upper), Limits(-row.effort, row.effort))

    @property
    def bounds(self) -> Limits:
        """Limits of each position component: bounds[i] = (lower, upper)."""
        return self.limits.position

    @property
    def bounded(self) -> np.ndarray:
        """(nq,) whether each position component has two bounds."""
        return self.bounds.bounded

    @property
    def default_positions(self) -> np.ndarray:
        """(nq,) where new states start; of a follower, where its leader puts it."""
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
        """(nv,) of this joint alone, N m s/rad or N s/m. New states hold it; a leader's coordinate holds ratio^2 times its followers'
        too, and damping(state) of each of them gives that sum."""
        return self.row.damping.copy()

    @property
    def random(self):
        """What model.random_state draws its position from, None for uniform within the limits."""
        return self.row.random

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of its tunable numbers, for model.parameter(state, name)."""
        return of_joint(self)

    @property
    def space(self):
        """Its configuration space: mbros.spaces.joint_space(joint); the "parent" increments of HPP are there too."""
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
