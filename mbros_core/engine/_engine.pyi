# What the ten builds of the engine have in common, for type checkers: one text (model.pxi, state.pxi, dynamics.pxi, ...), several
# meanings of a number. Their own stubs name from here what each has. tests/types compares all of it with the compiled modules.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from mbros_core.engine._callbacks import LawsCallback
from mbros_core.engine.fields import Field
from mbros_core.forces.registry import ForceKind
from mbros_core.joints.registry import JointKind
from mbros_core.spec import ModelSpec
from mbros_core.typing import Array, ArrayLike, Capsule, JointRow, Progress

FIELDS: tuple[Field, ...]
FORCE_ROWS: tuple[ForceKind, ...]
ROWS: tuple[JointKind, ...]
INTEGRATORS: dict[str, int]
KERNEL_NUMBER: dict[str, int]
OPERATIONS: tuple[str, ...]
PLANT_INTEGRATORS: dict[str, int]
LARGEST_COORDINATE: float
TIMED: tuple[str, ...]
TUNABLE: tuple[str, ...]
halves: Capsule

class Memory:
    """One aligned, zeroed allocation of doubles; what NumPy views keep alive."""
    def __new__(cls, n: int) -> Self: ...

class Specialised:
    """The functions compiled for a model, and which of its parameters are constants in them."""
    def __new__(cls, addresses: Mapping[str, int], live: Iterable[int], library: object, constants: Memory, begin: int,
                end: int) -> Self: ...

class Tracer:
    """The algorithms of one model over traced numbers, and the workspace for them. mbros.specialize is what users call."""
    def __new__(cls, model: Model) -> Self: ...
    @property
    def model(self) -> Model: ...
    @property
    def state(self) -> State: ...
    def trace(self, what: str, live: Iterable[int] = (), through_M: bool = False, frame: int = 0) -> tuple[Any, list[tuple[str, Any]]]:
        """(nodes, outputs): the expression graph of a kernel of mbros_core.algorithms.kernels; frame: row of the frame table, of OF_FRAMES.

        nodes (n, 4) uint64: the number of an operation in OPERATIONS, and the bits of up to three operands: doubles, or 0x7FFD in the
        highest 16 bits and a node below. outputs: [(where, (m,) uint64)], where "y" or a field of State, the bits of what is written.
        An input's operand is a double: the place in State._inputs, or one of kernels.GIVEN (and more) and kernels.STEP. live: places
        of State._inputs that are inputs beside q and v. through_M: forward dynamics by the mass matrix, else by articulated bodies.
        MbrosError where a branch would depend on a live input."""

class Model:
    """A compiled robot: constants only, shared by any number of states and threads.

    `Model(spec)` takes a `mbros_core.spec.ModelSpec` as it is at that moment. MbrosError naming the element when it is malformed."""
    def __new__(cls, spec: ModelSpec) -> Self: ...
    @property
    def spec(self) -> ModelSpec: ...
    @property
    def velocity_names(self) -> tuple[str, ...]: ...
    @property
    def position_names(self) -> tuple[str, ...]: ...
    @property
    def _needs_gil(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def nq(self) -> int:
        """Number of position coordinates."""
    @property
    def nv(self) -> int:
        """Number of velocity coordinates (degrees of freedom)."""
    def _specialise(self, addresses: Mapping[str, int], live: Iterable[int], library: object) -> None:
        """From now on states like this model's own go through the compiled functions at {kernel: address}, which `library` keeps; live:
        places of State._inputs that they read. For who has just made the model."""
    def default_state(self) -> State:
        """A State at the default configuration, at rest, with the model's own parameters."""
    def _reach(self) -> tuple[Array, Array] | None:
        """(lower, upper), (nq,) each, beyond which a state that is set calls _warn_beyond; None: nowhere. An engine's own has none."""
    def _warn_beyond(self, state: State) -> None:
        """A state of this model was set beyond _reach()."""
    def __reduce__(self) -> tuple[Any, ...]: ...

class State:
    """Time, q, v, every tunable parameter, and the workspace of results, in one allocation (mbros_core.engine.fields).

    The arrays are views: writing `state.q[2] = 0.5` is allowed at any time. Results that depend on q and v carry the values
    they were computed for and are recomputed when these differ, so a stale result cannot be read."""
    def __new__(cls, model: Model) -> Self: ...
    @property
    def model(self) -> Model: ...
    @property
    def is_held(self) -> bool:
        """A real-time loop, or a call in another thread, works on this state now: whatever else would touch it is refused."""
    def _check_free(self) -> None:
        """Raise BusyError while a real-time loop, or a call in another thread, works on this state."""
    def field(self, name: str) -> Array:
        """The array `name` of mbros_core.engine.fields as a writable view of this state's memory."""
    @property
    def _inputs(self) -> Array:
        """All input and parameter fields in one writable view (reals,), or (reals, lanes); laid out alike in every build."""
    @property
    def time(self) -> float:
        """Time, s."""
    @time.setter
    def time(self, t: float) -> None: ...
    @property
    def q(self) -> Array:
        """Positions (nq,), a view. Setting it is set_q."""
    @q.setter
    def q(self, values: ArrayLike) -> None: ...
    @property
    def v(self) -> Array:
        """Velocities (nv,), a view. Setting it is set_v."""
    @v.setter
    def v(self, values: ArrayLike) -> None: ...
    @property
    def _a_prev(self) -> Array:
        """(v+ - v) / h of the last midpoint step (nv,), a view; zero where there was none. From it a midpoint step takes the velocity
        of its middle. Setting q or v as a whole, and a reset, make it zero; writing into their views does not."""
    @_a_prev.setter
    def _a_prev(self, values: ArrayLike) -> None: ...
    @property
    def gravity(self) -> Array:
        """Gravity vector in W (3,), m/s^2, a view."""
    @gravity.setter
    def gravity(self, values: ArrayLike) -> None: ...
    @property
    def damping(self) -> Array:
        """Viscous damping (nv,), N m s/rad or N s/m, a view."""
    @damping.setter
    def damping(self, values: ArrayLike) -> None: ...
    @property
    def friction(self) -> Array:
        """Coulomb friction (nv,), N m or N, a view."""
    @friction.setter
    def friction(self, values: ArrayLike) -> None: ...
    @property
    def rotor_inertia(self) -> Array:
        """Reflected rotor inertia (nv,), kg m^2 or kg, a view."""
    @rotor_inertia.setter
    def rotor_inertia(self, values: ArrayLike) -> None: ...
    @property
    def external_force(self) -> Array:
        """Wrenches F_Bo_W applied on the compiled bodies (nb, 6), [torque; force] about Bo in W axes, a view."""
    @external_force.setter
    def external_force(self, values: ArrayLike) -> None: ...
    def set(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Self:
        """Set the positions q (nq,), the velocities v (nv,) or both, as set_q and set_v do: on an error neither has changed. Returns the
        state."""
    def set_q(self, q: ArrayLike) -> Self:
        """Set the positions (nq,): finite; quaternions are brought to unit length. On an error nothing has changed. Returns the state.
        Beyond a limit of a joint: done, with a PositionLimitWarning."""
    def set_v(self, v: ArrayLike) -> Self:
        """Set the velocities (nv,): finite. On an error nothing has changed. Returns the state."""
    def copy(self) -> State:
        """An independent copy (one memcpy)."""
    def __copy__(self) -> State: ...
    def _repr_html_(self) -> str | None:
        """The same as a table, for notebooks."""
    def __reduce__(self) -> tuple[Any, ...]: ...
    def assign(self, other: State) -> None:
        """Take over everything from another state of the same model."""
    def _poison(self) -> None:
        """Fill everything but inputs and parameters with NaN, so that a test sees whatever is read before it is written."""

class Checked(Model):
    """A model whose calls trust nothing they are given. A call changes nothing when it is refused or when its result is not finite."""

class Kinematics(Checked):
    """Configurations, and the motion of frames. The words of Dynamics hold for arguments, results and cost."""
    def integrate(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """q (+) v: the configuration reached from q (nq,) in unit time with the constant velocity v (nv,)."""
    def difference(self, q0: ArrayLike, q1: ArrayLike, out: Array | None = None) -> Array:
        """The v (nv,) with integrate(q0, v) = q1; the shortest one."""
    def normalize(self, q: ArrayLike, out: Array | None = None) -> Array:
        """The nearest valid configuration: unit quaternions."""
    def velocity_to_qdot(self, state: State, v: ArrayLike, out: Array | None = None, *, q: ArrayLike | None = None) -> Array:
        """qdot = N(q) v (nq,)."""
    def qdot_to_velocity(self, state: State, qdot: ArrayLike, out: Array | None = None, *, q: ArrayLike | None = None) -> Array:
        """v = N+(q) qdot (nv,): the inverse of velocity_to_qdot on the rates that are possible."""
    def _frame_pose(self, state: State, frame: int, relative_to: int = -1, out: Array | None = None, *,
                    q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """X_AF of frame F (table index) in frame A, or in the world: (12,) R row-major, then p in m."""
    def _frame_velocity(self, state: State, frame: int, out: Array | None = None, *,
                        q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """V_WF (6,): [angular; linear] velocity of F's origin, in W axes."""
    def _frame_acceleration(self, state: State, frame: int, vdot: ArrayLike, out: Array | None = None, *,
                            q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """A_WF (6,): time derivative in W of the frame's velocity, for the accelerations vdot (nv,)."""
    def _frame_jacobian(self, state: State, frame: int, in_frame: bool = False, out: Array | None = None, *,
                        q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """J (6, nv), rows [angular; linear]: V_WF = J v for F's origin, in W axes, or in F axes with in_frame. Cost O(depth)."""

    def _distance(self, q0: object, q1: object) -> float | None:
        """|difference(q0, q1)|."""
    def _is_same(self, q0: object, q1: object, tol: object) -> bool | None:
        """Whether every coordinate of difference(q0, q1) is within tol."""
    def _d_integrate(self, q: object, v: object) -> tuple[Array, Array] | None:
        """(J_q, J_v), (nv, nv) each: integrate(q (+) a, v + b) = integrate(q, v) (+) (J_q a + J_v b)."""
    def _d_difference(self, q0: object, q1: object) -> tuple[Array, Array] | None:
        """(J_0, J_1), (nv, nv) each: difference(q0 (+) a, q1 (+) b) = difference(q0, q1) + J_0 a + J_1 b."""
    def _sample(self, rng: np.random.Generator, low: Array, span: Array) -> Array:
        """A configuration of low + span * (as many uniform numbers of a numpy.random.Generator), three of which stand for a quaternion."""
    def _draw(self, state: State, rng: np.random.Generator, low: Array, span: Array) -> None:
        """The same into a state, and as many numbers more as it has velocities: of these, the velocities."""

class Conventions(Kinematics):
    """Single vectors in the coordinates of other libraries; None for whatever needs another look."""
    def _positions_there(self, q: object, rows: NDArray[np.int64], size: int) -> Array | None:
        """Their q (size,) of ours."""
    def _positions_back(self, x: object, rows: NDArray[np.int64], size: int) -> Array | None:
        """Our q of theirs (size,)."""
    def _velocities_there(self, q: object, x: object, rows: NDArray[np.int64], back: bool = False, halves: bool = False) -> Array | None:
        """What becomes of x (nv,), velocities or efforts, or of each row of x (m, nv), a Jacobian; back: from theirs. halves: the last
        three rows of six come first."""

class Momentum(Conventions):
    """Mass, centre of mass, momentum and energy. The words of Dynamics hold for arguments, results and cost."""
    def total_mass(self, state: State) -> float:
        """Mass of everything that can move, kg."""
    def center_of_mass(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """p_WoScm_W (3,), m: centre of mass of everything that is not welded to the world."""
    def com_jacobian(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """J (3, nv): velocity of the centre of mass = J v, in W axes."""
    def centroidal_momentum(self, state: State, out: Array | None = None, *,
                            q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """(6,): angular momentum about the centre of mass (N m s), then linear momentum (N s), in W axes."""
    def kinetic_energy(self, state: State, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> float:
        """Of all bodies and rotors, J."""
    def potential_energy(self, state: State, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> float:
        """Of gravity (zero with every centre of mass at the world's origin), of the stops, of the force elements and of contacts, J.

        Contacts: of the step that led to this state, what their springs can give back; where none did, 1/2 k depth^2 of every point
        (docs/contact.md)."""

class Loads(Momentum):
    """Contacts, constraints and force elements, in numbers that mbros.model puts into words."""
    def _contact_rows(self, state: State) -> Array:
        """What touches, (n, 21), in the columns of mbros_core.constraints.touches: of the step that led to this state; where none did, of
        now, with normal forces alone."""
    def _constraint_gaps(self, state: State) -> Array:
        """The gaps of all constraints, row by row (rows,), m or rad: mbros_core.constraints.opening.row_slices says whose."""
    def _constraint_jacobian(self, state: State) -> Array:
        """J (rows, nv): the gaps' rates are J v, where the gaps are zero; columns of locked coordinates are zero."""
    def _constraint_efforts(self, state: State) -> Array | None:
        """(constraints, 21): what each carried in the step that led to this state, in the columns of mbros_core.constraints.touches; None
        where no step did."""
    def _come_to_rest(self, state: State) -> None:
        """Locked coordinates stop at once, by impulses that the rest of the robot feels (impulses.pxi)."""
    def _change_velocities(self, state: State, change: Array) -> None:
        """v changes as `change` (nv,) says of locked and prescribed coordinates, whatever impulses that takes; others follow."""
    def _reactions(self, state: State) -> tuple[Array, Array, Array, Array, Array] | None:
        """(F (nb, 6), effort (nv,), X_WB (nb, 12), V_WB (nb, 6), A_WB (nb, 6)) of the step that led to this state, at where it took its
        forces: what the joint of each compiled body exerts on it about its origin, in W axes; what each coordinate was given, and took
        where it is locked or prescribed; the motion of the bodies, accelerations less gravity. None where no step led here."""
    def _reaction(self, state: State, body: int, child: int, frame: int = -1) -> Array | None:
        """(6,): what the joint of a compiled body exerts on it, about the origin of frame `child` in W axes, or about that of `frame` in
        its own; None where no step led here."""
    def _named_contacts(self, rows: Array, parts: Sequence[tuple[str, str]], kind: type) -> list[Any]:
        """What mbros.model.contacts makes of rows (n, 21): a tuple of `kind` for each of two shapes. parts: (body, shape) of each."""
    def _check_closed(self, state: State) -> None:
        """MbrosError naming the constraints that a state violates, unless a step led to it."""
    def _force_element(self, state: State, k: int) -> tuple[Array, Array, Array, Array]:
        """What force element k does: (F_A, F_C, F_own, numbers).

        F_A, F_C (6,): wrenches [torque; force] on its two bodies about the bodies' origins in W axes. F_own (6,): the wrench on
        C about Co in the element's own axes (A's for pairs, W for bodies). numbers (6,): tau, C, K, stored energy (J),
        conservative and nonconservative power (W). Zero where a kind has no such thing. Raises GimbalLockError for a bushing at lock."""
    def _force_element_or_nan(self, state: State, k: int) -> tuple[Array, Array, Array, Array]:
        """The same, with NaN where _force_element raises: for those who look for the reason."""
    def _implicit_shares(self, state: State, dt: float) -> Array:
        """(elements,): how far each is implicit in a midpoint step of dt (forces/stiff.pxd): 0 where it is explicit, 1 where implicit."""

class AnalyticDerivatives(Loads):
    """Derivatives of dynamics and of the motion of frames; None where they are not analytic."""
    def _has_slopes(self, forward: bool) -> bool:
        """Whether derivatives of forward (or inverse) dynamics are analytic."""
    def _forward_dynamics_slopes(self, state: State, tau: ArrayLike, out: Array | None = None, *,
                                 q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array | None:
        """(1 + 3 nv, nv): vdot, and below it dvdot/dq, dvdot/dv and dvdot/dtau; None where they are not analytic, or where force
        elements on bodies have none. out: such an array; it keeps what it holds when there is no result."""
    def _inverse_dynamics_slopes(self, state: State, vdot: ArrayLike, out: Array | None = None, *,
                                 q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array | None:
        """(1 + 3 nv, nv): tau, and below it dtau/dq, dtau/dv and dtau/dvdot; None where they are not analytic, or where force
        elements on bodies have none. out: such an array; it keeps what it holds when there is no result."""
    def _inverse_dynamics_second_slopes(self, state: State, vdot: ArrayLike, out: Array | None = None, *,
                                        q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array | None:
        """(4 nv^2, nv): d2tau/dq dq, /dq dv, /dv dv and /dq dvdot, (nv, nv, nv) each; None where they have no equations and are left to
        SecondSlopes of the dual modules. out: such an array, written over even where there is no result."""
    def _frame_slopes(self, state: State, vdot: ArrayLike, frames: Sequence[int],
                      wrenches: ArrayLike | None = None) -> tuple[Array, Array, Array | None] | None:
        """(a (n, 6), x (24 n, nv), R) of n frames (table indices): accelerations; of each J, d(J v)/dq, da/dq, da/dv, rows
        [angular; linear] of its origin in W axes; R (nv, nv) = -d(J^T wrenches)/dq where there are any, (n, 6). None where they are
        not analytic."""
    def _task_space(self, state: State, J: object, damping: object) -> tuple[Array, Array, Array, Array] | None:
        """(J M^-1 J^T, Lambda, Jbar, N) of a task with rows J (n, nv), as mbros.diff.operational_space has them; None for whatever needs
        another look: constraints, other than plain arrays, tasks that may be singular, numbers that are not finite."""
    def _jacobian_rate(self, state: State, frame: int, in_frame: bool = False, *, q: ArrayLike | None = None,
                       v: ArrayLike | None = None) -> Array | None:
        """(6, nv): the time derivative of _frame_jacobian(state, frame, in_frame); None where that is not analytic."""
    def _centroidal_map(self, state: State, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array | None:
        """(12, nv): A with h = A v, and its rate; None where that is not analytic."""

class Dynamics(AnalyticDerivatives):
    """A compiled robot and its algorithms. All arguments and results are float64 arrays in SI units.

    A call costs the algorithm plus a few tens of nanoseconds: arguments are checked by hand, `out=` avoids the new array. It may overlap
    the arguments; what it holds is left alone by a call that raises. q= (nq,) and v= (nv,) set the state first, as State.set does, and stay
    in it; a call that raises leaves the state as it was.
    Generalized forces obey   M vdot + bias = tau + passive + sum J^T F, F of the user and of force elements on bodies."""
    def forward_dynamics(self, state: State, tau: ArrayLike, out: Array | None = None, *,
                         q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """Accelerations vdot (nv,) under the generalized forces tau (nv,): the articulated-body algorithm.

        Gravity, damping, friction, stops and external wrenches act; effort limits do not (they act where commands enter).
        Constraints hold, to rounding; contact does not act. Cost O(nb) without constraints. MbrosError when a size is wrong,
        NonFiniteError when an input is not finite; nothing changes then."""
    def inverse_dynamics(self, state: State, vdot: ArrayLike, out: Array | None = None, *,
                         q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """Generalized forces tau (nv,) that cause the accelerations vdot (nv,): the recursive Newton-Euler algorithm.

        The inverse of forward_dynamics: it includes damping, friction, stops and external wrenches. Constraints carry nothing then: for
        accelerations that they allow, forward_dynamics gives these back. Cost O(nb)."""
    def mass_matrix(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """M(q) (nv, nv), symmetric positive definite, rotors included: the composite-rigid-body algorithm."""
    def inverse_mass_matrix(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None,
                            v: ArrayLike | None = None) -> Array:
        """M(q)^-1 (nv, nv), by the factor L D L^T of M. To solve M x = b, forward_dynamics is quicker. Cost: O(nv^3)."""
    def coriolis_matrix(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """C(q, v) (nv, nv): C v is coriolis_torques, and dM/dt - 2 C is skew-symmetric, as controllers and observers need it. Where joints'
        axes turn with bodies, C is that of the Christoffel symbols of M. Cost: O(bodies depth^2). MbrosError for joints written outside
        mbros, of whose axes nobody knows the rates."""
    def gravity_torques(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """g(q) (nv,): the generalized forces that hold the robot still."""
    def bias_torques(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """C(q, v) v + g(q) (nv,): what inverse dynamics gives at vdot = 0 without damping, friction, stops and wrenches."""
    def coriolis_torques(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """C(q, v) v (nv,): Coriolis, centrifugal and gyroscopic torques."""
    def passive_torques(self, state: State, out: Array | None = None, *, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """What acts in the joints themselves (nv,): damping, Coulomb friction, stops, force elements on joint coordinates."""
    def _contact_motion(self, state: State, tau: ArrayLike | None, contacts: Iterable[tuple[Any, ...]], mu: float,
                        frames: dict[str, int] | None = None, kind: type | None = None, bounce: float | None = None,
                        S: Array | None = None, within: tuple[Array, Array] | None = None) -> Any:
        """(x (nv,), f (n,), J (n, nv), S (n, n)) of contacts, tuples (frame, rows, kp, kd, pose) of which 3 rows (the frame's origin) or 6
        are held: vdot with M vdot + b = tau + J^T f and J vdot + Jdot v + kd J v + kp e = -mu f; with bounce and no tau, velocities with
        M (x - v) = J^T f and J x = -bounce J v - mu f. S = (J M^-1 J^T + mu)^-1, or as it is given.

        x and f are None where J M^-1 J^T + mu, then in the place of S, has no good inverse; where a number is not finite S is, too.
        within: free accelerations (nv,) and M^-1 (nv, nv) of a model with constraints; None is what comes without. kind: the class of
        contacts that nobody has looked at yet, and frames the indices of names; None comes for whatever needs another look."""
    def _time_kernel(
        self,
        name: Literal["forward_dynamics", "inverse_dynamics", "mass_matrix", "positions", "velocities"],
        state: State,
        x: ArrayLike,
        calls: int,
    ) -> float:
        """Nanoseconds per call of the bare C algorithm, one of TIMED, for benchmarks."""

class InverseKinematics:
    """Reaches targets of some frames of a model with the joints that carry them and are not locked in `state`.

    frames: (k,) table indices. weights (k, 6): of [rotation; position] in the target's axes. lower, upper (nq): limits of the positions;
    those of coordinates that are their own rates bound the steps, the others (a floating base's) are kept by projection."""
    def __new__(
        cls, model: Dynamics, state: State, frames: Sequence[int], weights: ArrayLike, lower: ArrayLike, upper: ArrayLike
    ) -> Self: ...
    @property
    def model(self) -> Dynamics: ...
    @property
    def coordinates(self) -> tuple[int, ...]:
        """Velocity coordinates that move, as a tuple."""
    def solve(
        self,
        q: Array,
        targets: ArrayLike,
        starts: ArrayLike,
        posture: ArrayLike | None,
        tolerance: float,
        iterations: int,
        errors: Array,
        solved: NDArray[np.int8],
        steps: NDArray[np.int32],
    ) -> None:
        """Row for row: q (n, nq) from where to start, overwritten with what was found; targets (n, k, 12), R row by row, then p, in W.

        starts (r, nq): where to start again, in order, when a start ends in a minimum that is no solution. posture (n, nq) or None:
        of the solutions, the one nearest to it that can be reached along them. errors (n, 2): the largest position (m) and rotation (rad)
        error of the targets. solved (n), int8: whether both are within the tolerance. steps (n), int32: of all starts."""

class Batch:
    """Batched algorithms of one model on one thread. Arrays are (batch, n), float64; the GIL is released.

    Used through model.batch and mbros.rollout, which say in words what goes wrong, choose the module for this CPU and share the batch
    between threads (each with a Batch of its own: the workspace is not shared). All arrays must fit the model and each other before the
    first is touched; those that results go to are C-contiguous and do not overlap each other. What is read may overlap them.

    `state` has the parameters of all robots, which take() sets, and vary() what they have of their own."""
    lanes: int
    def __new__(cls, model: Model, gravity: ArrayLike | None = None) -> Self: ...
    @property
    def model(self) -> Model: ...
    @property
    def state(self) -> State: ...
    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, out: Array) -> int:
        """out[b] = vdot of robot b. Returns the index of the first robot whose result is not finite, or -1; the rows of such robots
        are left as they were."""
    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, out: Array) -> int:
        """out[b] = tau of robot b. Returns the index of the first robot whose result is not finite, or -1; the rows of such robots
        are left as they were."""
    def compute(
        self,
        what: str,
        q: ArrayLike,
        v: ArrayLike | None,
        x: ArrayLike | None,
        out: Array,
        k: int = -1,
        relative_to: int = -1,
        local: bool = False,
    ) -> int:
        """out[b] = the result of an algorithm for robot b, its numbers row by row. Returns the index of the first robot whose result is not
        finite, or -1; the rows of such robots are left as they were.

        what: a row of mbros_core.algorithms.registry. v: None where only positions matter. x: what that row is given, tau or vdot, else
        None. k: frame. relative_to: of frame_pose, a frame; -1: the world. local: frame_jacobian in the frame's own axes."""
    def take(self, inputs: ArrayLike) -> None:
        """From now on all robots have the parameters of one State, its _inputs (reals,), and none of them a number of its own."""
    def vary(self, places: NDArray[np.int64], values: ArrayLike, first: int = 0, each: int = 1) -> None:
        """From now on robot b has numbers of its own: values[(first + b) // each] (rows, p) at `places` (p,) int64 of State._inputs."""
    def rollout(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        tau: ArrayLike,
        dt: float,
        integrator: int,
        q: Array,
        v: Array,
        fault: NDArray[np.int64],
        every: int = 1,
        carried: Array | None = None,
        limit: ArrayLike | None = None,
        begin: ArrayLike | None = None,
        end: Array | None = None,
    ) -> None:
        """Simulate every robot over tau.shape[1] steps: q[b, k], v[b, k] after (k + 1) `every` steps, and in the last row after the last.

        A robot of which a number would leave the finite ones, or 1e10, keeps its last good state to the end, and fault[b] becomes
        the step at which that happened (-1: never). Ctrl-C in the main thread, and end() from any other, end it between two steps.
        integrator: a number of INTEGRATORS. The acceleration of the step before is that of the state, for all.
        carried: (n, rows, 1 + 3 shapes + 12 constraints) or None, what touched and was held in the step before each row: how many contact
        points, the force on each shape, N, of each constraint the wrench on B and the efforts along its rows (constraints/touches.py).
        limit: (nv,) or None, magnitudes to which tau is clamped, infinite ones too.
        begin, end: (n, 6 + nv + numbers of contact_memory) or None, what each robot takes from the step before, where None has the state's
        acceleration and contacts that are new; and what it leaves after the last step, in an array of zeros. A row is a number of the
        caller's, then a state's time, clock, last_step, a_prev and contact_memory."""
    def end(self) -> None:
        """End a call that runs in another thread, soon; what it wrote is then not whole. Later ones end at once."""

class Plant:
    """A robot in motion: `step(tau)` advances it by dt; commands are clamped to the effort limits and the clamps counted.

    A step that would leave a coordinate not finite, or beyond 1e10 in SI units, is a fault: the state stays the last good
    one and nothing moves until reset(). `capsule` is the plug for the real-time loop (realtime/ports.hpp); `layout` says
    where things stand in its snapshots and `parameters` where they stand in its block of live parameters, as
    name -> (offset, size).

    joint_rows: (iq, iv, ratio, offset, drives) of each joint with one degree of freedom, followers too.
    transform_pairs: (frame a, frame b) table indices; snapshots carry the pose of b in a as x y z qx qy qz qw. Those of a model with
    shapes carry its contacts too, 32 at most: rows as mbros_core.constraints.touches reads them, of which the first is the head.
    max_contact_iterations: bound on the iterations of a step's contact problem, for a bound on its time; steps that end there are counted.
    tolerances: (rtol, atol) of the integrator dormand_prince, None for one that is not given.
    While a real-time loop runs it, plant and state are the loop's: calls from Python that would touch them raise BusyError, as
    they do during a call of steps() in another thread. NumPy views of the state cannot be guarded: leave them alone meanwhile.
    What a call runs on its way (progress, the law of efforts, joints and force elements in Python) may look and copy; step, steps and
    reset raise BusyError there."""
    def __new__(
        cls,
        model: Dynamics,
        state: State | None = None,
        dt: float = 1e-3,
        integrator: str = "midpoint",
        joint_rows: Iterable[JointRow] | None = None,
        transform_pairs: Iterable[tuple[int, int]] = (),
        max_contact_iterations: int = 50,
        tolerances: tuple[float | None, float | None] | None = None,
    ) -> Self: ...
    @property
    def model(self) -> Dynamics: ...
    @property
    def state(self) -> State: ...
    @property
    def dt(self) -> float: ...
    @property
    def integrator(self) -> str: ...
    @property
    def tolerances(self) -> tuple[float, float]: ...
    @property
    def substeps(self) -> tuple[int, int, int]:
        """Of dormand_prince, since this plant was made: substeps taken, substeps given up for their error, evaluations of the dynamics."""
    def at(self, time: float) -> State:
        """The state, a copy, at a time within the last step of dormand_prince: by the dense output of its substeps, taken again. Parameters
        and efforts are those of the state now. StateError where no such step led here; MbrosError for a time outside it."""
    @property
    def layout(self) -> dict[str, tuple[int, int]]: ...
    @property
    def parameters(self) -> dict[str, tuple[int, int]]: ...
    def __copy__(self) -> Plant: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _ask_laws(self, laws: LawsCallback | None) -> None:
        """From now on dormand_prince asks a LawsCallback for the motion of prescribed joints at its own times; None: that of the state."""
    def _take_over(self, effort: ArrayLike, clamped: float, fault: int, fault_index: int) -> None:
        """What last_step() said of another plant of such a model."""
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps the plant. MbrosError where the state violates a constraint, and for dormand_prince."""
    @property
    def _inside(self) -> Capsule:
        """What devices work on (plant/inside.hpp), in a capsule that does not keep the plant."""
    def _attach(self, devices: Any) -> None:
        """From now on steps go through devices: an object whose `capsule` is a mbros_devices on this plant's inside."""
    @property
    def devices(self) -> Any: ...
    def step(self, tau: ArrayLike | None = None, progress: Progress | None = None) -> None:
        """Advance by dt under tau (nv,), N m or N (None: no effort). Raises FaultError on a fault; the state is then the
        last good one. Raises NonFiniteError, and does nothing, when tau is not finite. progress: see steps()."""
    def steps(self, tau: ArrayLike, n: int, progress: Progress | None = None) -> None:
        """n steps under the same tau (nv,) with the GIL released; the same errors as step().

        Ctrl-C ends it after a whole step, and so does what progress(time) raises, which is called every 20 ms or so of work."""
    def under(self, law: Callable[[float, State], Any]) -> Any:
        """law(time, state), the command of the step to come. What it does with the state's numbers is its own affair."""
    def observe(self, out: Array | None = None) -> Array:
        """The present snapshot (layout says what stands where). Raises NonFiniteError when a number of it would not be finite."""
    def check_friction(self, state: State | None = None) -> bool:
        """Raise MbrosError where the Coulomb friction in a state, by default the plant's own, is too stiff for rk4 at its dt.
        Returns whether rk4 has any friction to deal with."""
    def parameter_block(self, state: State | None = None) -> Array:
        """The live parameters of a state of the model, by default the plant's own, laid out as `parameters` says."""
    def check_parameters(self, block: ArrayLike) -> None:
        """Raise MbrosError where a block of live parameters holds a number that cannot be, such as a negative damping, or (for the
        default configuration) a friction that rk4 cannot step."""
    def check_state(self, q: ArrayLike, v: ArrayLike) -> None:
        """Raise MbrosError where the plant cannot be put at q (nq,), v (nv,): a number of 1e10 or more, a quaternion or
        (cos, sin) without a direction or given in part, positions that violate a constraint. NaN stands for a coordinate that stays as it
        is; what constraints say then shows only in motion."""
    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Put the plant at (q, v), by default the model's default configuration at rest; time 0, no fault, no clamps."""
    @property
    def needs_gil(self) -> bool:
        """Whether a joint or force element enters Python; such a plant cannot run in the real-time loop."""
    @property
    def fault(self) -> tuple[int, int]:
        """(code, index of the velocity coordinate); code 0: none."""
    @property
    def clamped(self) -> int:
        """Commands clamped to an effort limit since the last reset: one per coordinate and step."""
    @property
    def max_contact_iterations(self) -> int:
        """Bound on the iterations of a step's contact problem, 1 to 1000."""
    @max_contact_iterations.setter
    def max_contact_iterations(self, n: int) -> None: ...
    @property
    def effort(self) -> Array:
        """Efforts applied in the last step (nv,), N m or N: the command after clamping."""
    def fault_text(self, code: int, index: int) -> str:
        """The fault in a sentence. index: of a velocity coordinate, or -1."""
    def still_state(self) -> State:
        """A copy of the state, also while a loop has it: of one moment where nothing moves, as in a fault until the reset."""

class Tangents:
    """The room in which derivatives of one model are computed, and where in it each column is (algorithms/columns.pxd)."""
    def __new__(cls, model: Model) -> Self: ...

class Regressor:
    """tau = Y (pi, damping, friction, rotor_inertia) of one model on one thread (mbros.diff.regressor is what users call).

    Columns: ten for each compiled body but the world, then nv of damping, nv of friction and nv of rotor inertia. `state` has what does
    not change from point to point: gravity. frames: X_CB (nb, 12), R row by row and p, the frame of each body in which its ten are."""
    def __new__(cls, model: Dynamics, frames: Array) -> Self: ...
    @property
    def model(self) -> Dynamics: ...
    @property
    def state(self) -> State: ...
    @property
    def columns(self) -> int: ...
    def point(self, q: object, v: object, vdot: object, state: object = None) -> Array | None:
        """A new (nv, columns) at one point, with the gravity of `state`, by default the model's; None for whatever needs another look:
        other than plain vectors, a state that is not the model's own or that somebody works on, numbers that are not finite."""
    def compute(self, q: Array, v: Array, vdot: Array, out: Array) -> int:
        """out[k] (nv, columns) at point k of n: q (n, nq), v and vdot (n, nv). Returns the first point at which a number is not finite,
        or -1. No allocation; the GIL is released."""


class LinearDynamics:
    """A and B of small deviations (dq, dv), dtau, at each of many points: of the accelerations, or of a midpoint step.

    What Linearizer of the dual modules does, without dual numbers but for single joints that can turn: halves, that of a dual module.
    Some points it leaves to Linearizer: `linearize` returns which."""
    def __new__(cls, model: Dynamics, halves: object) -> Self: ...
    @property
    def model(self) -> Dynamics: ...
    @property
    def state(self) -> State: ...
    def end(self) -> None:
        """End what runs in another thread, soon; what it wrote is then not whole. Later calls end at once."""
    def of_state(self, state: State, tau: ArrayLike, h: float) -> tuple[Array, Array] | None:
        """(A, B) at one state, of a step of h s, or where h is 0 of its motion; None where that is left to Linearizer. tau: (nv,)."""
    def linearize(
        self,
        what: str,
        inputs: ArrayLike,
        tau: ArrayLike,
        A: Array,
        B: Array,
        dt: float = 1e-3,
        integrator: int = 0,
    ) -> list[int]:
        """A[b] (2 nv, 2 nv), B[b] (2 nv, nv) at point b of n: what, inputs and tau as of Linearizer. Returns the points that it leaves to
        that: where the step is stiff, a joint is prescribed or a number is not finite; all of what has no analytic derivatives."""

class Duals:
    """The algorithms of one model over dual numbers, and the workspace for them.

    `state.field(name)` and `given` are arrays whose last axis holds a value and its derivatives in `partials` directions: write
    them, then `compute`. What is not written there has derivative zero. mbros.diff is what users call.

    given: tau of forward_dynamics and step, vdot of inverse_dynamics and of its derivatives, v of velocity_to_qdot, qdot of
    qdot_to_velocity."""
    partials: int
    def __new__(cls, model: Model) -> Self: ...
    @property
    def model(self) -> Model: ...
    @property
    def state(self) -> State: ...
    @property
    def given(self) -> Array:
        """The vector given (nq, 1 + partials), a view."""
    @property
    def result(self) -> Array:
        """The last result and its derivatives (n, 1 + partials), finite or not: a view that the next call overwrites."""
    @property
    def switches(self) -> list[tuple[int, int, int]]:
        """[(shape a, shape b, bits)] of contacts that are about to do something else, of the last result: it holds on this side of that;
        of ropes (-1, constraint, bits). Bits: constraints/touches.py."""
    def compute(self, what: str, k: int = -1, dt: float = 1e-3, integrator: int = 0) -> Array:
        """(n, 1 + partials): the result of an algorithm and its derivatives, a view that the next call overwrites. NonFiniteError when
        a number of it is not finite.

        k: frame or force element. A step gives q and v after it and leaves the state as it was, but for time."""
    def body_directions(self, inertia: Array, plan: NDArray[np.int64], weights: Array, rows: Array) -> None:
        """Directions of parameters of bodies in the field "inertia" (nb, 10), into rows (count, 10 nb).

        plan (k, 3) int64: which row, which body, what of it: 0 the mass, whose moments follow in proportion; 1 the centre of mass, with the
        inertia about it as it is; 2 the inertia about it. weights (k, 6): how the numbers of that, in axes of the engine's body, move."""
    def sweep(
        self,
        what: str,
        directions: Sequence[tuple[Array, Array]],
        count: int,
        k: int = -1,
        dt: float = 1e-3,
        integrator: int = 0,
    ) -> tuple[Array, Array]:
        """(value (n,), J (n, count)) of compute() in `count` directions, taken as many at a time as there are partials.

        directions: [(array, rows)]: an input (numbers, 1 + partials) of the state, or `given`, and rows (count, numbers) of
        derivatives for it. The values are in the arrays already; their derivatives are left as of the last directions."""

class Linearizer(Duals):
    """A and B of small deviations (dq, dv), dtau, at each of many points: of the accelerations, or of a step.

    dq is along the joints' velocities. At a point (q, v), the directions are those of dq, dv and dtau, one after the other, as many at a
    time as there are partials; what comes out in coordinates is turned into velocities by N+. mbros.diff.linearize is what people use."""
    @property
    def near(self) -> list[tuple[int, int, int, int]]: ...
    def end(self) -> None:
        """End what runs in another thread, soon; what it wrote is then not whole. Later calls end at once."""
    def linearize(
        self,
        what: str,
        inputs: ArrayLike,
        tau: ArrayLike,
        A: Array,
        B: Array,
        dt: float = 1e-3,
        integrator: int = 0,
        C: Array | None = None,
    ) -> int:
        """A[b] (2 nv, 2 nv), B[b] (2 nv, nv) at point b of n. Returns the first point with a number that is not finite, or -1.

        what: "forward_dynamics", for d/dt (dq, dv), or "step", for (dq, dv) after it. inputs: State._inputs of every point (n, reals).
        C[b] (2 nv, nv): of a step, by a_prev; None: not asked for."""

class SecondSlopes(Duals):
    """d2tau/dq dq, /dq dv, /dv dv and /dq dvdot of inverse dynamics, of every model whose first derivatives are analytic.

    Derivatives by q are along the joints' columns (algorithms/turned.pxd), not by coordinates, as many at a time as there are partials."""
    def find(self, inputs: ArrayLike, vdot: ArrayLike, out: Array) -> bool:
        """Into out (4 nv^2, nv). inputs: State._inputs of a point. Whether every number is finite."""
