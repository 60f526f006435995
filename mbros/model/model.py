"""Model: a robot with names. The algorithms are the engine's (mbros_core.Model); here are the words for its parts."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core.engine._small import push, put, turned, wrench
from mbros_core.engine.checks import LARGEST
from mbros_core.constraints.opening import row_slices
from mbros_core.support.numbers import short
from mbros_core.support.shown import html_table

from mbros.arguments import bounded, check_state, choice, finite, is_whole, reals
from mbros.describe.joints.limits import beyond_in, reaches, warn_beyond
from mbros.describe.robot import WORLD
from mbros.errors import FrozenModelError, MbrosError
from mbros.model.body import Body, Frame, NamedList
from mbros.model.cached import cached_property
from mbros.model.configuration import Configurations, into
from mbros.model.constraints.constraint import BuiltConstraint
from mbros.model.frozen import Frozen, freeze_arrays
from mbros.model.joints.joint import JOINT_TABLE, Joint
from mbros.model.joints.kinds import make_joint
from mbros.model.parts import ModelParts
from mbros.model.shapes import BodyShape
from mbros.model.shown import Shown, maker
from mbros.model.tables import CompiledRobot
from mbros.names import plural
from mbros.spatial.vectors import Pose, SpatialAcceleration, SpatialVelocity

if TYPE_CHECKING:
    from mbros.model.contacts import Contact
    from mbros.describe.robot import RobotDescription
    from mbros.model.forces.element import Part
    from mbros.names import BodyLike, FrameLike, JointLike
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike, Rng
    from typing_extensions import Self

_new = object.__new__

__all__ = ["Body", "Frame", "Joint", "Model"]


class Model(ModelParts, Shown, Frozen, Configurations):
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
    def joint_state_names(self) -> tuple[str, ...]:
        """Every joint with exactly one degree of freedom, followers too, in order: the names of a JointState message."""
        return tuple(joint.name for joint in self.joints if joint.nv == 1)

    def effort_vector(self, efforts: Mapping[str, ArrayLike] | ArrayLike | None) -> np.ndarray:
        """tau (nv,) from {joint name: effort, or a list of one for each velocity} (N m or N; zero elsewhere), an array, or None: zeros."""
        tau = np.zeros(self.nv)
        if efforts is None or put((efforts,), (self._effort_places,), tau, False):
            return tau
        if not isinstance(efforts, dict):
            given = reals(f"model {self.name!r}", "efforts", efforts, f"{self.nv} numbers, or a dict of joint names")
            if given.shape != tau.shape:
                raise MbrosError(f"model {self.name!r}: efforts: expected {self.nv} numbers, or a dict of joint names, got shape "
                                 f"{given.shape}")
            return finite(f"model {self.name!r}", "efforts", given).copy()
        for name, value in efforts.items():
            joint = self.joint(name)
            if joint.mimic is not None:
                raise MbrosError(f"joint {name!r} follows {joint.mimic[0]!r} and takes no effort: command {joint.mimic[0]!r}")
            tau[joint.v_slice] = joint._own_numbers(value, joint.nv, "effort")
        return tau

    @cached_property
    def _effort_places(self) -> dict[str, int]:
        """Where the effort of each joint with one velocity of its own is in tau."""
        return {joint.name: joint.v_slice.start for joint in self.joints if joint.nv == 1 and joint.mimic is None}

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
        k = self._frame_index(frame)
        self._check_state(state)
        F = wrench(torque, force, LARGEST)
        if F is None:
            who = f"model {self.name!r}: wrench on {self.frames[k].name!r}"
            F = np.concatenate([bounded(who, "torque", torque, (3,), LARGEST), bounded(who, "force", force, (3,), LARGEST)])
        if not (isinstance(expressed_in, str) and expressed_in == "world"):
            F = turned(self.pose(state, expressed_in).R, F)
        push(state.external_force, self.spec.frame_body, self.spec.X_BF, k, self._frame_pose(state, k), F)

    def contacts(self, state: State) -> list[Contact]:
        """What touches what, where and with what force: of the step that led to this state; where none did, of its positions, with normal
        forces alone (docs/contact.md). Empty where the model has no collision shapes."""
        from mbros.model.contacts import contacts      # start-up time: who does not use it does not pay

        return contacts(self, state)

    def clear_wrenches(self, state: State) -> None:
        """No external wrench on any body."""
        self._check_state(state)
        state.external_force[:] = 0.0

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {plural(len(self.joints), 'joint')}, nq {self.nq}, nv {self.nv}>"

    def _repr_html_(self) -> str:
        """Its joints as a table, for notebooks."""
        mass = sum(body.mass for body in self.bodies)
        return html_table(f"model {self.name!r}: {plural(len(self.bodies), 'body', 'bodies')}, {mass:.6g} kg, "
                          f"nq {self.nq}, nv {self.nv}", JOINT_TABLE,
                          (joint._html_row() for joint in self.joints))
