"""Model: a robot with names. The algorithms are the engine's (mbros_core.Model); here are the words for its parts."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core import DEFAULT_INTEGRATOR, Model as _Engine
from mbros_core.engine._small import put
from mbros_core.constraints.opening import row_slices
from mbros_core.support.numbers import short
from mbros_core.support.shown import html_table

from mbros.arguments import check_state, choice, is_whole, vector
from mbros.describe.joints.limits import JointLimits, Limits, beyond_in, reaches, warn_beyond
from mbros.describe.robot import WORLD
from mbros.errors import FrozenModelError, MbrosError
from mbros.model.body import Body, Frame, NamedList
from mbros.model.cached import cached_property
from mbros.model.configuration import into, neutral, together
from mbros.model.constraints.constraint import BuiltConstraint
from mbros.model.efforts import effort_vector
from mbros.model.frozen import Frozen, freeze_arrays, frozen
from mbros.model.joints.joint import JOINT_TABLE, Joint
from mbros.model.joints.kinds import make_joint
from mbros.model.shapes import BodyShape
from mbros.model.shown import maker, viewer
from mbros.model.tables import CompiledRobot
from mbros.model.tree import JointTree
from mbros.model.wrenches import apply_wrench
from mbros.names import plural
from mbros.spatial.vectors import Pose, SpatialAcceleration, SpatialVelocity

if TYPE_CHECKING:
    from mbros.conventions.convention import Convention
    from mbros.describe.robot import RobotDescription
    from mbros.model.batch import Batch
    from mbros.model.contacts import Contact
    from mbros.model.forces.element import Part
    from mbros.model.inverse_kinematics import Solution
    from mbros.model.keyframes import Keyframes
    from mbros.model.masses import CenterOfMass
    from mbros.names import BodyLike, FrameLike, JointLike
    from mbros.spaces.base import Space
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike, BoolArray, IntArray, Rng
    from typing_extensions import Self

_new = object.__new__

__all__ = ["Body", "Frame", "Joint", "Model"]


# What is called at rate is imported once: `import` in a function takes half a microsecond whenever it is passed.

@cache
def _make_batch() -> Callable[..., Batch]:
    from mbros.model.batch import make_batch      # start-up time: who does not use it does not pay

    return make_batch


@cache
def _put_parameter() -> Callable[..., None]:
    from mbros.model.parameters import put      # start-up time: who does not use it does not pay

    return put


class Model(Frozen, mbros_core.Model):
    """A robot: immutable, shared by any number of states and threads.

    Made by mbros.load or ModelBuilder.build. Frames, bodies and joints are given by name, by their index in `model.frames`,
    `model.bodies`, `model.joints`, or as the objects in these; where a frame is asked for, a body stands for its own and a joint for M.

        state = model.default_state()
        vdot = model.forward_dynamics(state, tau);  tau = model.inverse_dynamics(state, vdot)

    q= and v= of an algorithm set the state first, as state.set(q, v) does: model.forward_dynamics(state, tau, q=q, v=v).
    Further algorithms, all `model.algorithm(state, ..., out=None)`: mass_matrix, inverse_mass_matrix, gravity_torques,
    coriolis_torques, coriolis_matrix, bias_torques, passive_torques, center_of_mass, com_jacobian, centroidal_momentum,
    kinetic_energy, potential_energy;
    on configurations: integrate, difference, normalize, velocity_to_qdot, qdot_to_velocity.
    """

    frames: NamedList[Frame]
    bodies: NamedList[Body]
    joints: NamedList[Joint]
    force_elements: NamedList[Part]
    shapes: NamedList[BodyShape]
    constraints: NamedList[BuiltConstraint]
    _description: RobotDescription
    _compiled: CompiledRobot

    def __new__(cls, description: RobotDescription, compiled: CompiledRobot) -> Self:
        if not isinstance(compiled, CompiledRobot):
            raise MbrosError(f"Model: got {short(description)} and {short(compiled)}. Models are made by mbros.load(...) and "
                             f"ModelBuilder.build()")
        return super().__new__(cls, compiled.spec)

    def __init__(self, description: RobotDescription, compiled: CompiledRobot) -> None:
        if "_compiled" in self.__dict__:
            raise self._refusal("what it was made of")
        compiled.spec = self.spec               # as it was compiled, for good
        for table in (*compiled.joints, *compiled.bodies, *compiled.shapes):
            freeze_arrays(table)                # copies and pickles come with arrays that can be written to
        self._made_of(_description=description, _compiled=compiled)
        self._made_of(frames=NamedList("frame", self.name, (Frame(self, row) for row in compiled.frames)))
        self._made_of(bodies=NamedList("body", self.name, (Body(self, row) for row in compiled.bodies)))
        self._made_of(joints=NamedList("joint", self.name, (make_joint(self, row) for row in compiled.joints)))
        self._made_of(shapes=NamedList("shape", self.name, (BodyShape(self, row) for row in compiled.shapes)))
        rows = compiled.force_elements
        if rows:
            from mbros.model.forces.kinds import parts      # start-up time: who has no force elements does not pay

            self._made_of(force_elements=NamedList("force element", self.name, parts(self, rows)))
        else:
            self._made_of(force_elements=NamedList("force element", self.name, ()))
        self._made_of(constraints=NamedList("constraint", self.name, (
            BuiltConstraint(self, row, own) for row, own in zip(compiled.constraints, row_slices(compiled.spec)))))

    @classmethod
    def from_state(cls, state: State) -> Model:
        """A model whose own numbers are the parameters of a state, as identification finds them: for mbros.specialize, mbros.symbolic,
        `mbros codegen`, ModelBuilder.reduced. Of bodies welded together the first has what is found; a locked joint is locked where it
        stands. MbrosError where numbers that were written into the state's arrays are those of no robot."""
        made: Model = maker().model_of("Model.from_state", state)
        return made

    @property
    def description(self) -> RobotDescription:
        """What it was made of: a copy, as the model does not change. ModelBuilder(model) has one to change and build from."""
        from mbros.describe.copies import copy_description      # start-up time: who does not use it does not pay

        return copy_description(self._description)

    def _refusal(self, what: str) -> FrozenModelError:
        return FrozenModelError(f"model {self.name!r} is built: {what} cannot change. b = mbros.ModelBuilder(model); change it there; then "
                                "b.build() makes another model")

    def __reduce__(self) -> tuple[Any, ...]:
        made = type(self), (self._description, self._compiled)
        code = self.__dict__.get("_code")               # of mbros.specialize
        return made if code is None else (code.again, (made[0], *made[1], code.functions, code.live, code.snap, code.cache))

    # ----------------------------------------------------------------------------------------- parts, by name

    @property
    def nbodies(self) -> int:
        """Number of bodies, with the world."""
        return len(self.bodies)

    def joint(self, name: JointLike) -> Joint:
        """The joint of that name, or of that index in model.joints; UnknownNameError says which was meant."""
        return self._part("joint", self.joints, name, Joint)

    def body(self, name: BodyLike) -> Body:
        """The body of that name, or of that index in model.bodies."""
        return self._part("body", self.bodies, name, Body)

    def frame(self, name: FrameLike) -> Frame:
        """A frame by name: "world", a body's, an added one,
        or "<joint>.F" and "<joint>.M"; or what stands for one: its index in model.frames, a Body, a Joint (its M)."""
        return self.frames[self._frame_index(name)]

    def _part(self, kind: str, parts: Any, which: Any, cls: type[Any]) -> Any:
        if isinstance(which, str) or is_whole(which) and 0 <= which < len(parts):
            return parts[which]
        if isinstance(which, cls) and which.model is self:
            return which
        raise MbrosError(f"model {self.name!r}: expected the name of a {kind}, its index 0 .. {len(parts) - 1}, or a "
                         f"{'Frame, Body or Joint' if cls is Frame else cls.__name__} of this model, got {short(which)}")

    def _frame_index(self, frame: FrameLike) -> int:
        """Row of the frame table of what stands for a frame: its name, its index in model.frames, or a Frame, Body or Joint."""
        if type(frame) is str and frame in self._frame_table[0]:
            return self._frame_table[0][frame]
        if isinstance(frame, (Body, Frame, Joint)) and frame.model is self:
            return frame._frame_index
        return self._part("frame", self.frames, frame, Frame).index

    @cached_property
    def _frame_table(self) -> tuple[dict[str, int], tuple[str, ...]]:
        """Rows by name, and names by row."""
        return {frame.name: frame.index for frame in self.frames}, self.frames.names

    def _check_state(self, state: object) -> None:
        """StateError (a TypeError) unless it is a State of this model; BusyError while a real-time loop has it."""
        if type(state) is not mbros_core.State or state.model is not self or state.is_held:
            check_state(f"model {self.name!r}", self, state)

    @cached_property
    def tree(self) -> JointTree:
        """The joints as a tree: parents, children, levels, whose a coordinate is; as text for Graphviz. mbros.model.tree.JointTree."""
        return JointTree(self)

    @cached_property
    def limits(self) -> JointLimits:
        """.position of q (nq,), .velocity, .acceleration and .effort (nv,): each with .lower and .upper, -inf and inf where there is none.
        Commands of a simulation are clamped to the effort limits. A follower's own are in model.joint(name).limits."""
        return JointLimits(Limits(self.spec.q_lower, self.spec.q_upper),
                           *(self._of_coordinates(what) for what in ("velocity", "acceleration", "effort")))

    def _of_coordinates(self, what: str) -> Limits:
        own = [getattr(joint.limits, what) for joint in self.joints if joint.nv and not joint.follows]
        return Limits(*(frozen(np.concatenate([np.zeros(0), *side])) for side in ([x.lower for x in own], [x.upper for x in own])))

    @cached_property
    def keyframes(self) -> Keyframes:
        """Named positions q (nq,): of <keyframe> in MJCF and <group_state> in SRDF. Joints that one does not name are where they are by
        default. state.set_q(model.keyframes["home"])."""
        from mbros.model.keyframes import keyframes      # start-up time: who does not use it does not pay

        return keyframes(self)

    def com_of(self, state: State, joints: JointLike | Iterable[JointLike]) -> CenterOfMass:
        """(mass, com, jacobian) of the union of the joints' subtrees, each body once: mbros.model.masses.com_of."""
        from mbros.model.masses import com_of      # start-up time: who does not use it does not pay

        return com_of(self, state, joints)

    @cached_property
    def joint_state_names(self) -> tuple[str, ...]:
        """Every joint with exactly one degree of freedom, followers too, in order: the names of a JointState message."""
        return tuple(joint.name for joint in self.joints if joint.nv == 1)

    def effort_vector(self, efforts: Mapping[str, ArrayLike] | ArrayLike | None) -> np.ndarray:
        """tau (nv,) from {joint name: effort, or a list of one for each velocity} (N m or N; zero elsewhere), an array, or None: zeros."""
        tau = np.zeros(self.nv)
        if efforts is None or put((efforts,), (self._effort_places,), tau, False):
            return tau
        return effort_vector(self, efforts)

    @cached_property
    def _effort_places(self) -> dict[str, int]:
        """Where the effort of each joint with one velocity of its own is in tau."""
        return {joint.name: joint.v_slice.start for joint in self.joints if joint.nv == 1 and joint.mimic is None}

    # ------------------------------------------------------------------------------------------------ parameters

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of a state's tunable numbers: gravity, damping.<joint>, mass.<body>, ... (mbros.model.parameters)."""
        from mbros.model.parameters import names      # start-up time: who does not use it does not pay

        return names(self)

    @cached_property
    def _parameter_set(self) -> frozenset[str]:
        """The same names, for asking whether there is one: a robot of n joints has several times n."""
        return frozenset(self.parameter_names)

    @cached_property
    def _masses(self) -> dict[str, int]:
        """Rows of bodies by the names of their masses (mbros.model.parameters)."""
        from mbros.model.parameters import masses      # start-up time: who does not use it does not pay

        return masses(self)

    def parameter(self, state: State, name: str) -> Any:
        """The value in a state of the parameter of that name."""
        from mbros.model.parameters import get      # start-up time: who does not use it does not pay

        return get(self, state, name)

    def set_parameter(self, state: State, name: str, value: Any) -> Self:
        """Sets the parameter of that name in a state: a number, (n,), or for locks a bool, and nothing where it is refused. Returns the
        model, which does not change."""
        _put_parameter()(self, state, name, value)
        return self

    def _parameter_directions(self, name: str) -> tuple[str, IntArray, int]:
        """(field, indices, how many numbers): what a parameter moves: mbros.model.parameters.directions."""
        from mbros.model.parameters import directions      # start-up time: who does not use it does not pay

        return directions(self, name)

    # ----------------------------------------------------------------------------------------------- states

    def random_state(self, rng: Rng | None = None, others: str = "uniform") -> mbros_core.State:
        """A random configuration and velocity. Joints given a distribution (set_random_pose) draw their position from it.

        Of a model with constraints it is assembled: a state near the one drawn in which they are kept.
        others: the joints without one are "uniform" within the limits (velocities within theirs, or of order 1), or stay at
        their "default" positions, all at rest, as in Drake.
        """
        box = self._state_box
        if box is not None and type(rng) is np.random.Generator and type(others) is str and others == "uniform":
            state: mbros_core.State = self.default_state()
            self._draw(state, rng, *box)
            return state                        # the same, for what most calls are
        from mbros.model.joints.sampling import random_state      # start-up time: who does not use it does not pay

        return random_state(self, rng, others)

    @cached_property
    def _velocity_range(self) -> tuple[Array, Array | None]:
        from mbros.model.joints.sampling import velocity_range      # start-up time: who does not use it does not pay

        return velocity_range(self)

    @cached_property
    def _state_box(self) -> tuple[Array, Array] | None:
        from mbros.model.joints.sampling import state_box      # start-up time: who does not use it does not pay

        return state_box(self)

    @cached_property
    def _drawn_apart(self) -> list[Joint]:
        from mbros.model.joints.sampling import drawn_apart      # start-up time: who does not use it does not pay

        return drawn_apart(self)

    # -------------------------------------------------------------------------------------------- configurations

    def neutral_configuration(self) -> np.ndarray:
        """Zeros and unit quaternions."""
        return neutral(self)

    def random_configuration(self, rng: Rng | None = None, size: int | None = None) -> np.ndarray:
        """Uniform within the limits; without limits: angles in (-pi, pi), lengths in (-1, 1) m, uniform rotations.

        size: how many, for (size, nq) instead of (nq,).
        """
        spaces = self._spaces
        return (spaces["local"] if "local" in spaces else self.space()).sample(rng, size)

    def space(self, increments: str = "local") -> Space:
        """The configuration space as an object (mbros.spaces): "local" increments, the engine's, or "hpp" ("parent")."""
        from mbros.spaces.models import family_of, model_space      # start-up time: who does not use it does not pay

        family = family_of(increments)
        spaces = self._spaces
        if family not in spaces:
            spaces[family] = model_space(self, family)
        return spaces[family]

    @cached_property
    def _spaces(self) -> dict[str, Space]:
        return {}

    # All of these also take batches: q (..., nq), v (..., nv).

    def integrate(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> np.ndarray:
        """q (+) v: the configuration reached from q (nq,) in unit time with the constant velocity v (nv,)."""
        if getattr(q, "ndim", 0) == 1 == getattr(v, "ndim", 0):
            return _Engine.integrate(self, q, v, out)
        q, v = together(self, q=(q, self.nq), v=(v, self.nv))
        return _Engine.integrate(self, q, v, out) if q.ndim == 1 else into(out, self.space().integrate(q, v))

    def difference(self, q0: ArrayLike, q1: ArrayLike, out: Array | None = None) -> np.ndarray:
        """The shortest v (nv,) with integrate(q0, v) = q1: from the first to the second, as in Pinocchio."""
        if getattr(q0, "ndim", 0) == 1 == getattr(q1, "ndim", 0):
            return _Engine.difference(self, q0, q1, out)
        q0, q1 = together(self, q0=(q0, self.nq), q1=(q1, self.nq))
        return _Engine.difference(self, q0, q1, out) if q0.ndim == 1 else into(out, self.space().difference(q0, q1))

    def normalize(self, q: ArrayLike, out: Array | None = None) -> np.ndarray:
        """The nearest valid configuration: unit quaternions and (cos, sin) pairs."""
        if getattr(q, "ndim", 0) == 1:
            return _Engine.normalize(self, q, out)
        q, = together(self, q=(q, self.nq))
        return _Engine.normalize(self, q, out) if q.ndim == 1 else into(out, self.space().normalize(q))

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, u: ArrayLike) -> np.ndarray:
        """The configuration a fraction u (a number, or one per row) of the way from q0 to q1 on the shortest path."""
        if type(u) is float and -1e150 < u < 1e150 and getattr(q0, "ndim", 0) == 1 == getattr(q1, "ndim", 0):
            return _Engine.integrate(self, q0, u * _Engine.difference(self, q0, q1))
        return self.space().interpolate(q0, q1, u)

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> float | Array:
        """Norm of difference(q0, q1); a number per row of a batch."""
        found = self._distance(q0, q1)
        return self.space().distance(q0, q1) if found is None else found

    def is_same_configuration(self, q0: ArrayLike, q1: ArrayLike, tol: float = 1e-12) -> bool | BoolArray:
        """Whether every coordinate of difference(q0, q1) is within tol; an answer per row of a batch."""
        found = self._is_same(q0, q1, tol)
        return self.space().is_same(q0, q1, tol) if found is None else found

    def to_convention(self, state: State, convention: str) -> tuple[Array, Array]:
        """(q, v) of the state as another library has them: see mbros.conventions.convention."""
        self._check_state(state)
        theirs = self._conventions.get(convention) if type(convention) is str else None
        return (theirs or self._convention(convention)).to(self, state.q, state.v)

    def from_convention(self, convention: str, q: ArrayLike, v: ArrayLike) -> mbros_core.State:
        """A State from another library's q and v; quaternions are brought to unit length."""
        theirs = (self._conventions.get(convention) if type(convention) is str else None) or self._convention(convention)
        found = theirs._planned_back(self, q, v)
        if found is None:
            who = f"model {self.name!r}: from_convention makes one State (convention({convention!r}).back takes batches)"
            found = theirs.back(self, vector(who, "q", q, theirs.nq(self)), vector(who, "v", v, self.nv))
        return self.default_state().set(*found)

    def _convention(self, name: str) -> Convention:
        from mbros.conventions.convention import Convention      # start-up time: who does not use it does not pay

        found = Convention(name)
        return self._conventions.setdefault(found.name, found)

    @cached_property
    def _conventions(self) -> dict[str, Convention]:
        return {}

    # --------------------------------------------------------------------------------------------- kinematics

    # All take q= (nq,) and v= (nv,), which set the state first, as state.set(q, v) does.

    def pose(self, state: State, frame: FrameLike, relative_to: FrameLike = WORLD, *, q: ArrayLike | None = None,
             v: ArrayLike | None = None) -> Pose:
        """X_AF: pose of `frame` in `relative_to`."""
        rows, names = self._frame_table
        k = rows.get(frame) if type(frame) is str else None
        if k is None:
            k = self._row(state, frame)
        if relative_to is WORLD:
            return Pose._of_engine(self._frame_pose(state, k, q=q, v=v), names[k], names[0])
        a = self._row(state, relative_to)
        return Pose._of_engine(self._frame_pose(state, k, a or -1, q=q, v=v), names[k], names[a])

    def velocity(self, state: State, frame: FrameLike, relative_to: FrameLike = WORLD, expressed_in: FrameLike = WORLD, *,
                 q: ArrayLike | None = None, v: ArrayLike | None = None) -> SpatialVelocity:
        """V_AF: spatial velocity of the frame's origin as seen from the frame `relative_to`, in the axes of `expressed_in`; by default in
        the world, and in world axes."""
        if relative_to is not WORLD or expressed_in is not WORLD:
            from mbros.model.relative import velocity      # start-up time: who does not use it does not pay

            return velocity(self, state, frame, relative_to, expressed_in, q, v)
        rows, names = self._frame_table
        k = rows.get(frame) if type(frame) is str else None
        if k is None:
            k = self._row(state, frame)
        V: SpatialVelocity = _new(SpatialVelocity)
        V.values, V.frame, V.expressed_in = self._frame_velocity(state, k, q=q, v=v), names[k], WORLD
        return V

    def acceleration(self, state: State, frame: FrameLike, vdot: ArrayLike, *, q: ArrayLike | None = None,
                     v: ArrayLike | None = None) -> SpatialAcceleration:
        """A_WF: its time derivative, for the accelerations vdot (nv,)."""
        rows, names = self._frame_table
        k = rows.get(frame) if type(frame) is str else None
        if k is None:
            k = self._row(state, frame)
        A: SpatialAcceleration = _new(SpatialAcceleration)
        A.values, A.frame, A.expressed_in = self._frame_acceleration(state, k, vdot, q=q, v=v), names[k], WORLD
        return A

    def jacobian(self, state: State, frame: FrameLike, expressed_in: FrameLike = WORLD, out: Array | None = None,
                 rows: str = "angular_linear", *, relative_to: FrameLike = WORLD, point: ArrayLike | None = None,
                 q: ArrayLike | None = None, v: ArrayLike | None = None) -> np.ndarray:
        """J (6, nv), rows [angular; linear]: V_AF = J v of the frame's origin, or of the point p_FoP_F (3,) m of the frame's body, as seen
        from `relative_to` (the world), in the axes of the world, of the frame itself ("local") or of any other frame.

        rows="linear_angular" puts the linear ones first, as HPP does.
        """
        if not (isinstance(rows, str) and rows == "angular_linear"):
            choice(f"model {self.name!r}: jacobian", "rows", rows, ("angular_linear", "linear_angular"))
            J = self.jacobian(state, frame, expressed_in, relative_to=relative_to, point=point, q=q, v=v)
            return into(out, np.vstack([J[3:], J[:3]]))
        if relative_to is not WORLD or point is not None or expressed_in is not WORLD and not (
                isinstance(expressed_in, str) and expressed_in in ("world", "local")):
            from mbros.model.relative import jacobian      # start-up time: who does not use it does not pay

            return into(out, jacobian(self, state, frame, relative_to, expressed_in, point, q, v))
        k = self._frame_table[0].get(frame) if type(frame) is str else None
        if k is None:
            k = self._row(state, frame)
        local = expressed_in is not WORLD and self._in_own_axes("jacobian: expressed_in: expected", state, k, expressed_in)
        return self._frame_jacobian(state, k, local, out, q=q, v=v)

    def _row(self, state: State, frame: FrameLike) -> int:
        """_frame_index, after what is wrong with the state."""
        self._check_state(state)
        return self._frame_index(frame)

    def _in_own_axes(self, words: str, state: State, k: int, expressed_in: FrameLike) -> bool:
        """Whether those of frame k are meant, else the world's; MbrosError, beginning with these words, for others."""
        self._check_state(state)
        named = isinstance(expressed_in, str)
        local = not (named and expressed_in == "world")
        if local and not (named and expressed_in == "local") and (
                named and expressed_in not in self._frame_table[0] or self._frame_index(expressed_in) != k):
            raise MbrosError(f"{words} 'world', 'local' or the frame {self.frames[k].name!r} itself, "
                             f"got {short(expressed_in)}")
        return local

    # Beyond it a state that is set warns, as a joint that is set does.

    def _reach(self) -> tuple[Array, Array]:
        return reaches(self)

    def _warn_beyond(self, state: State) -> None:
        warn_beyond(*beyond_in(state))

    # ------------------------------------------------------------------------------------------ external wrenches

    def apply_wrench(self, state: State, frame: FrameLike, torque: ArrayLike = (0, 0, 0), force: ArrayLike = (0, 0, 0),
                     expressed_in: FrameLike = "world") -> None:
        """Add a wrench on the body of `frame`: torque (3,) N m about the frame's origin and force (3,) N.

        It stays, constant in world axes and at the body's origin, until clear_wrenches(state).
        """
        apply_wrench(self, state, frame, torque, force, expressed_in)

    def contacts(self, state: State) -> list[Contact]:
        """What touches what, where and with what force: of the step that led to this state; where none did, of its positions, with normal
        forces alone (docs/contact.md). Empty where the model has no collision shapes."""
        from mbros.model.contacts import contacts      # start-up time: who does not use it does not pay

        return contacts(self, state)

    def clear_wrenches(self, state: State) -> None:
        """No external wrench on any body."""
        self._check_state(state)
        state.external_force[:] = 0.0

    # ------------------------------------------------------------------------------- many states, and what leads to one

    def batch(self, q: ArrayLike, v: ArrayLike | None = None, *, state: State | None = None,
              parameters: Mapping[str, ArrayLike] | None = None, threads: int | None = None) -> Batch:
        """n robots side by side: a Batch, which has the algorithms for all of them at once (mbros.model.batch).

        q (n, nq), v (n, nv): where each is, copied; (nq,) or (nv,) stands for all, v=None for zeros.
        state: whose parameters (gravity, masses, damping, locks, ...) and external wrenches they have; by default the model's own.
        parameters: {parameter name: (n,) or (n, k)}, what each has of its own. threads: by default every CPU this process may use.
        """
        return _make_batch()(self, q, v, state=state, parameters=parameters, threads=threads)

    def linearize(self, states: Any, tau: ArrayLike, dt: float | None = None, integrator: str = DEFAULT_INTEGRATOR, *,
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

    def assemble(self, state: State, keep: JointLike | Iterable[JointLike] = (), moved: dict[str, float] | None = None,
                 reach: Mapping[Any, Any] | None = None) -> State:
        """A copy of a state in which every constraint is kept, with velocities that keep them; joints that need not move stay.

        keep: joints that must not move; locked ones do not, either. moved: a dict that is filled with how far each joint moved, {name: m or
        rad}. reach: {frame: where}, as of inverse_kinematics: frames that are to be there as well, which is inverse kinematics of closed
        loops. Raises MbrosError, with the constraints and their gaps, where nothing closes them within the position limits.
        """
        from mbros.model.constraints.assemble import assemble      # start-up time: who does not use it does not pay

        return assemble(self, state, keep, moved, reach)

    def inverse_kinematics(self, targets: Mapping[Any, Any] | Iterable[Mapping[Any, Any]], state: State | None = None, *,
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

    # --------------------------------------------------------------------------------------------------- how it reads

    def show(self, host: str = "127.0.0.1", port: int | None = None) -> Any:
        """In the browser: prints the URL, in a notebook shows the page below the cell. Returns the page at once; its wait() waits for
        Ctrl-C. Needs mbros[viewer]."""
        return viewer().show(self, host, port)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {plural(len(self.joints), 'joint')}, nq {self.nq}, nv {self.nv}>"

    def _repr_html_(self) -> str:
        """Its joints as a table, for notebooks."""
        mass = sum(body.mass for body in self.bodies)
        return html_table(f"model {self.name!r}: {plural(len(self.bodies), 'body', 'bodies')}, {mass:.6g} kg, "
                          f"nq {self.nq}, nv {self.nv}", JOINT_TABLE,
                          (joint._html_row() for joint in self.joints))
