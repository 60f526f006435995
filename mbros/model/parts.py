"""What a model says of its tree, of masses of its parts, of parameters by name, and how it is copied: words that lead to the
modules which do it."""
from __future__ import annotations

from functools import cached_property

import numpy as np

from mbros.arguments import choice
from mbros.model.frozen import frozen
from mbros.describe.joints.limits import Limits
from mbros.model.parameters import directions, get, names, put
from mbros.model.tree import JointTree


class ModelParts:
    """Part of mbros.Model."""

    # ----------------------------------------------------------------------------------------- the tree and its parts

    @cached_property
    def tree(self):
        """Parents, children and levels of the joints: mbros.model.tree.JointTree."""
        return JointTree(self)

    def joint_at_q(self, i: int):
        """The joint that position coordinate i belongs to."""
        return self.tree.at_q(i)

    def joint_at_v(self, i: int):
        """The joint that velocity coordinate i belongs to."""
        return self.tree.at_v(i)

    @cached_property
    def position_limits(self) -> Limits:
        """Of q: .lower and .upper (nq,), -inf and inf where there is none. A follower's own are in model.joint(name).limits."""
        return Limits(self.spec.q_lower, self.spec.q_upper)

    @cached_property
    def velocity_limits(self) -> Limits:
        """Of v: .lower and .upper (nv,)."""
        return self._of_coordinates("velocity")

    @cached_property
    def effort_limits(self) -> Limits:
        """Of tau: .lower and .upper (nv,), to which commands of a simulation are clamped."""
        return self._of_coordinates("effort")

    def _of_coordinates(self, what) -> Limits:
        own = [getattr(joint.limits, what) for joint in self.joints if joint.nv and not joint.follows]
        return Limits(*(frozen(np.concatenate([np.zeros(0), *side])) for side in ([x.lower for x in own], [x.upper for x in own])))

    def com_of(self, state, joints):
        """(mass, com, jacobian) of the union of the joints' subtrees, each body once: mbros.model.masses.com_of."""
        from mbros.model.masses import com_of      # start-up time: who does not use it does not pay

        return com_of(self, state, joints)

    def subtree_mass(self, state, joint) -> float:
        """Mass of the joint's body and everything it carries, kg."""
        from mbros.model.masses import subtree_mass      # start-up time: who does not use it does not pay

        return subtree_mass(self, state, joint)

    def subtree_com(self, state, joint) -> np.ndarray:
        """Its mass centre in the world (3,), m."""
        from mbros.model.masses import subtree_com      # start-up time: who does not use it does not pay

        return subtree_com(self, state, joint)

    def joint_jacobian(self, state, joint, rows="angular_linear") -> np.ndarray:
        """J (6, nv) of the joint's frame M in world axes; rows="linear_angular" puts the linear ones first, as HPP does."""
        choice(f"model {self.name!r}: joint_jacobian", "rows", rows, ("angular_linear", "linear_angular"))
        J = self.jacobian(state, self.joint(joint))
        return J if rows == "angular_linear" else np.vstack([J[3:], J[:3]])

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of a state's tunable numbers: gravity, damping.<joint>, mass.<body>, ... (mbros.model.parameters)."""
        return names(self)

    @cached_property
    def _parameter_set(self) -> frozenset[str]:
        """The same names, for asking whether there is one: a robot of n joints has several times n."""
        return frozenset(self.parameter_names)

    def parameter(self, state, name: str):
        """The value in a state of the parameter of that name."""
        return get(self, state, name)

    def set_parameter(self, state, name: str, value):
        """Sets the parameter of that name in a state: a number, (n,), or for locks a bool, and nothing where it is refused. Returns the
        model, which does not change."""
        put(self, state, name, value)
        return self

    def parameter_directions(self, state, name: str):
        """(field, indices, values): how the numbers of a state's field move with a parameter's: mbros.model.parameters.directions."""
        return directions(self, state, name)

    def linearize(self, state, tau, dt=None, integrator="semi_implicit_euler"):
        """(A (2 nv, 2 nv), B (2 nv, nv)): exact linear dynamics of small deviations (dq, dv), dtau from the motion through `state`;
        with dt, of one step of a simulation. See mbros.diff."""
        from mbros.diff import algorithms as diff      # start-up time: who does not use it does not pay

        return diff.linearize(self, state, tau) if dt is None else diff.linearize_step(self, state, tau, dt, integrator)

    def inverse_kinematics(self, targets, state=None, *, q0=None, posture=None, tolerance: float = 1e-6, iterations: int = 100,
                           restarts: int = 50, seed: int = 0, threads: int | None = None):
        """A configuration that puts frames where they are wanted, within the position limits: a Solution with q (nq,), solved,
        error (m, rad) and iterations.

        targets: {frame: where}, a Pose in the world, a (4, 4) matrix, a point (3,) for the frame's origin alone, or (one of these,
        weights). Weights: a number, (rotation, position), or 6 for [rotation; position] along the target's own axes; an axis of weight 0
        is free. Several frames: the least sum of squares of weight times error (m, rad).
        state: where to start, and which joints are locked; by default the default state. Joints that carry none of the frames, and locked
        ones, keep their positions. posture (nq,): of the solutions that can be reached by sliding along them, the one nearest to it.
        tolerance: m and rad. iterations: of one start. restarts: random starts, of `seed`, when a start ends in a minimum that is no
        solution. The same arguments give the same result, to the bit.
        Batches: a list of n dicts of the same frames and weights, q0 (n, nq), or both; n rows in the Solution. threads: by default every
        CPU this process may use.

        Cost: about a microsecond for each iteration on a chain of seven joints. Raises MbrosError for what is no target, UnknownNameError
        for a frame there is not. What cannot be reached is no error: solved is False.
        """
        from mbros.model.inverse_kinematics import inverse_kinematics

        return inverse_kinematics(self, targets, state, q0=q0, posture=posture, tolerance=tolerance, iterations=iterations,
                                  restarts=restarts, seed=seed, threads=threads)

    def to_dot(self, state=None) -> str:
        """The tree as text for Graphviz; with a state, with poses."""
        from mbros.model.dot import to_dot      # start-up time: who does not use it does not pay

        return to_dot(self, state)

    def plot_tree(self, path=None):
        """The tree as a picture, with kinds, coordinates, ranges of motion, limits and masses: a matplotlib Figure, written to `path`
        (.png, .svg, .pdf) where there is one. Raises MissingPackageError without matplotlib."""
        from mbros.model.plot_tree import plot_tree       # start-up time: only who draws pays

        return plot_tree(self, path)
