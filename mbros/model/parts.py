"""What a model says of its tree, of masses of its parts, of parameters by name, and how it is copied: words that lead to the
modules which do it."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import DEFAULT_INTEGRATOR

from mbros.describe.joints.limits import JointLimits, Limits
from mbros.errors import MbrosError
from mbros.model.cached import cached_property
from mbros.model.frozen import frozen
from mbros.model.tree import JointTree

if TYPE_CHECKING:
    from mbros.model.batch import Batch
    from mbros.model.inverse_kinematics import Solution
    from mbros.model.masses import CenterOfMass
    from mbros.names import JointLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike, IntArray
    from typing_extensions import Self

# What is called at rate is imported once: `import` in a function takes half a microsecond whenever it is passed.

@cache
def _make_batch() -> Callable[..., Batch]:
    from mbros.model.batch import make_batch      # start-up time: who does not use it does not pay

    return make_batch


@cache
def _put() -> Callable[..., None]:
    from mbros.model.parameters import put      # start-up time: who does not use it does not pay

    return put


class ModelParts:
    """Part of mbros.Model."""

    # ----------------------------------------------------------------------------------------- the tree and its parts

    @cached_property
    def tree(self: Any) -> JointTree:
        """The joints as a tree: parents, children, levels, whose a coordinate is; as text for Graphviz. mbros.model.tree.JointTree."""
        return JointTree(self)

    @cached_property
    def limits(self: Any) -> JointLimits:
        """.position of q (nq,), .velocity, .acceleration and .effort (nv,): each with .lower and .upper, -inf and inf where there is none.
        Commands of a simulation are clamped to the effort limits. A follower's own are in model.joint(name).limits."""
        return JointLimits(Limits(self.spec.q_lower, self.spec.q_upper),
                           *(self._of_coordinates(what) for what in ("velocity", "acceleration", "effort")))

    def _of_coordinates(self: Any, what: str) -> Limits:
        own = [getattr(joint.limits, what) for joint in self.joints if joint.nv and not joint.follows]
        return Limits(*(frozen(np.concatenate([np.zeros(0), *side])) for side in ([x.lower for x in own], [x.upper for x in own])))

    def com_of(self: Any, state: State, joints: JointLike | Iterable[JointLike]) -> CenterOfMass:
        """(mass, com, jacobian) of the union of the joints' subtrees, each body once: mbros.model.masses.com_of."""
        from mbros.model.masses import com_of      # start-up time: who does not use it does not pay

        return com_of(self, state, joints)

    @cached_property
    def parameter_names(self: Any) -> tuple[str, ...]:
        """Names of a state's tunable numbers: gravity, damping.<joint>, mass.<body>, ... (mbros.model.parameters)."""
        from mbros.model.parameters import names      # start-up time: who does not use it does not pay

        return names(self)

    @cached_property
    def _parameter_set(self: Any) -> frozenset[str]:
        """The same names, for asking whether there is one: a robot of n joints has several times n."""
        return frozenset(self.parameter_names)

    @cached_property
    def _masses(self: Any) -> dict[str, int]:
        """Rows of bodies by the names of their masses (mbros.model.parameters)."""
        from mbros.model.parameters import masses      # start-up time: who does not use it does not pay

        return masses(self)

    def parameter(self: Any, state: State, name: str) -> Any:
        """The value in a state of the parameter of that name."""
        from mbros.model.parameters import get      # start-up time: who does not use it does not pay

        return get(self, state, name)

    def set_parameter(self, state: State, name: str, value: Any) -> Self:
        """Sets the parameter of that name in a state: a number, (n,), or for locks a bool, and nothing where it is refused. Returns the
        model, which does not change."""
        model: Any = self
        _put()(model, state, name, value)
        return self

    def _parameter_directions(self: Any, name: str) -> tuple[str, IntArray, int]:
        """(field, indices, how many numbers): what a parameter moves: mbros.model.parameters.directions."""
        from mbros.model.parameters import directions      # start-up time: who does not use it does not pay

        return directions(self, name)

    def batch(self: Any, q: ArrayLike, v: ArrayLike | None = None, *, state: State | None = None,
              parameters: Mapping[str, ArrayLike] | None = None, threads: int | None = None) -> Batch:
        """n robots side by side: a Batch, which has the algorithms for all of them at once (mbros.model.batch).

        q (n, nq), v (n, nv): where each is, copied; (nq,) or (nv,) stands for all, v=None for zeros.
        state: whose parameters (gravity, masses, damping, locks, ...) and external wrenches they have; by default the model's own.
        parameters: {parameter name: (n,) or (n, k)}, what each has of its own. threads: by default every CPU this process may use.
        """
        return _make_batch()(self, q, v, state=state, parameters=parameters, threads=threads)

    def linearize(self: Any, states: Any, tau: ArrayLike, dt: float | None = None, integrator: str = DEFAULT_INTEGRATOR, *,
                  previous_acceleration: bool = False, threads: int | None = None) -> tuple[Array, Array]:
        """(A (2 nv, 2 nv), B (2 nv, nv)): exact linear dynamics of small deviations (dq, dv), dtau from the motion through a state;
        with dt, of one step of a simulation, also through contact; where a contact is about to begin, to end or to slip, a SwitchWarning
        says so. See mbros.diff.

        states: a State; or many, for A (n, 2 nv, 2 nv) and B (n, 2 nv, nv): a list of them, each with its parameters, or (q, v), arrays
        (n, nq) and (n, nv). tau (nv,), for all, or (n, nv). threads: by default every CPU this process may use.
        previous_acceleration: of a midpoint step, A (3 nv, 3 nv) and B (3 nv, nv) of (dq, dv, da), a the acceleration of the last step,
        which the next one starts from: then the product of A along a run is the derivative of the run.
        """
        from mbros.diff import linear      # start-up time: who does not use it does not pay

        if dt is None:
            if previous_acceleration:
                raise MbrosError("linearize: previous_acceleration is of a step; give dt")
            return linear.linearize(self, states, tau, threads=threads)
        return linear.linearize_step(self, states, tau, dt, integrator, previous_acceleration=previous_acceleration, threads=threads)

    def assemble(self: Any, state: State, keep: JointLike | Iterable[JointLike] = (), moved: dict[str, float] | None = None,
                 reach: Mapping[Any, Any] | None = None) -> State:
        """A copy of a state in which every constraint is kept, with velocities that keep them; joints that need not move stay.

        keep: joints that must not move; locked ones do not, either. moved: a dict that is filled with how far each joint moved, {name: m or
        rad}. reach: {frame: where}, as of inverse_kinematics: frames that are to be there as well, which is inverse kinematics of closed
        loops. Raises MbrosError, with the constraints and their gaps, where nothing closes them within the position limits.
        """
        from mbros.model.constraints.assemble import assemble      # start-up time: who does not use it does not pay

        return assemble(self, state, keep, moved, reach)

    def inverse_kinematics(self: Any, targets: Mapping[Any, Any] | Iterable[Mapping[Any, Any]], state: State | None = None, *,
                           q0: ArrayLike | None = None, posture: ArrayLike | None = None, tolerance: float = 1e-6, iterations: int = 100,
                           restarts: int = 50, seed: int = 0, threads: int | None = None) -> Solution:
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
