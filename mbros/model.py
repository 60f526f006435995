"""Model: a robot with names. The algorithms are the engine's (mbros_core.Model); here are the words for its parts."""
from __future__ import annotations

from functools import cached_property

import mbros_core
import numpy as np

from mbros import configuration, conventions
from mbros.elements import Body, Frame, Joint, NamedList
from mbros.errors import MbrosError
from mbros.spatial import Pose, SpatialAcceleration, SpatialVelocity

__all__ = ["Body", "Frame", "Joint", "Model"]


class Model(mbros_core.Model):
    """A robot: immutable, shared by any number of states and threads.

    Made by mbros.load or ModelBuilder.build. Frames, bodies and joints are given by name or as the objects of
    `model.frames`, `model.bodies`, `model.joints`; a joint stands for its frame M.

        state = model.default_state()
        vdot = model.forward_dynamics(state, tau);  tau = model.inverse_dynamics(state, vdot)

    Further algorithms, all `model.algorithm(state, ..., out=None)`: mass_matrix, gravity_torques, coriolis_torques,
    bias_torques, passive_torques, center_of_mass, com_jacobian, centroidal_momentum, kinetic_energy, potential_energy;
    on configurations: integrate, difference, normalize, velocity_to_qdot, qdot_to_velocity.
    """

    def __init__(self, description, compiled):
        super().__init__(compiled.spec)
        self.description = description
        self.compiled = compiled
        self.frames = NamedList("frame", self.name, (Frame(self, row) for row in compiled.frames))
        self.bodies = NamedList("body", self.name, (Body(self, row) for row in compiled.bodies))
        self.joints = NamedList("joint", self.name, (Joint(self, row) for row in compiled.joints))
        self.force_elements = NamedList("force element", self.name, ())

    def __reduce__(self):
        return (type(self), (self.description, self.compiled))

    # ----------------------------------------------------------------------------------------- parts, by name

    @property
    def nbodies(self) -> int:
        """Number of bodies, with the world."""
        return len(self.bodies)

    def joint(self, name) -> Joint:
        """The joint of that name; UnknownNameError says which was meant."""
        return self.joints[name]

    def body(self, name) -> Body:
        return self.bodies[name]

    def frame(self, name) -> Frame:
        """A frame by name: "world", a body's, an added one, or "<joint>.F" and "<joint>.M"."""
        return self.frames[name]

    def frame_index(self, frame) -> int:
        """Row of the frame table of a name, Frame, Body or Joint."""
        if isinstance(frame, str):
            return self.frames[frame].index
        index = getattr(frame, "frame_index", None)
        if index is None or getattr(frame, "model", None) is not self:
            raise MbrosError(f"model {self.name!r}: expected the name of a frame or a Frame, Body or Joint of this model, "
                             f"got {frame!r}")
        return index

    @cached_property
    def joint_state_names(self) -> tuple[str, ...]:
        """Every joint with exactly one degree of freedom, followers too, in order: the names of a JointState message."""
        return tuple(joint.name for joint in self.joints if joint.nv == 1)

    def effort_vector(self, efforts) -> np.ndarray:
        """tau (nv,) from {joint name: effort} (N m or N; zero elsewhere), from an array, or zeros from None."""
        tau = np.zeros(self.nv)
        if efforts is None:
            return tau
        if not isinstance(efforts, dict):
            given = np.asarray(efforts, float)
            if given.shape != tau.shape:
                raise MbrosError(f"model {self.name!r}: efforts: expected {self.nv} numbers, or a dict of joint names, got shape "
                                 f"{given.shape}")
            return given.copy()
        for name, value in efforts.items():
            joint = self.joint(name)
            if joint.follows:
                raise MbrosError(f"joint {name!r} follows {joint.mimic[0]!r} and takes no effort: command {joint.mimic[0]!r}")
            tau[joint.v_slice] = value
        return tau

    # ----------------------------------------------------------------------------------------------- states

    def default_state(self) -> mbros_core.State:
        """At the default configuration, at rest, with the model's own parameters."""
        return self.new_state()

    def random_state(self, rng=None) -> mbros_core.State:
        """A random configuration within the limits, and random velocities within theirs (or of order 1)."""
        rng = np.random.default_rng(rng)
        state = self.new_state()
        state.q[:] = self.random_configuration(rng)
        limit = np.where(np.isfinite(self.spec.velocity_limit), self.spec.velocity_limit, 1.0)
        state.v[:] = rng.uniform(-limit, limit)
        return state

    # --------------------------------------------------------------------------------------------- kinematics

    def pose(self, state, frame, relative_to="world") -> Pose:
        """X_AF: pose of `frame` in `relative_to`."""
        b, a = self.frame_index(frame), self.frame_index(relative_to)
        return Pose.from_row(self.frame_pose(state, b, -1 if a == 0 else a), self.frames[b].name, self.frames[a].name)

    def velocity(self, state, frame) -> SpatialVelocity:
        """V_WF: spatial velocity of the frame's origin in the world, in world axes."""
        k = self.frame_index(frame)
        return SpatialVelocity(self.frame_velocity(state, k), self.frames[k].name)

    def acceleration(self, state, frame, vdot) -> SpatialAcceleration:
        """A_WF: its time derivative, for the accelerations vdot (nv,)."""
        k = self.frame_index(frame)
        return SpatialAcceleration(self.frame_acceleration(state, k, vdot), self.frames[k].name)

    def jacobian(self, state, frame, expressed_in="world", out=None) -> np.ndarray:
        """J (6, nv), rows [angular; linear]: V_WF = J v, in the axes of the world or of the frame itself ("local")."""
        k = self.frame_index(frame)
        if expressed_in != "world" and expressed_in != "local" and self.frame_index(expressed_in) != k:
            raise MbrosError(f"jacobian: expressed_in: expected 'world', 'local' or the frame {self.frames[k].name!r} itself, "
                             f"got {expressed_in!r}")
        return self.frame_jacobian(state, k, expressed_in != "world", out)

    # ------------------------------------------------------------------------------------------ external wrenches

    def apply_wrench(self, state, frame, torque=(0, 0, 0), force=(0, 0, 0), expressed_in="world"):
        """Add a wrench on the body of `frame`: torque (3,) N m about the frame's origin and force (3,) N.

        It stays, constant in world axes and at the body's origin, until clear_wrenches(state).
        """
        k = self.frame_index(frame)
        wrench = np.concatenate([_three(torque, "torque"), _three(force, "force")])
        if expressed_in != "world":
            R = self.pose(state, expressed_in).R
            wrench = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        body = int(self.spec.frame_body[k])
        X_WF = self.frame_pose(state, k)
        X_BF = np.asarray(self.spec.X_BF[k])
        p_BF_W = X_WF[:9].reshape(3, 3) @ X_BF[:9].reshape(3, 3).T @ X_BF[9:]
        state.external_force[body] += np.concatenate([wrench[:3] + np.cross(p_BF_W, wrench[3:]), wrench[3:]])

    def clear_wrenches(self, state):
        """No external wrench on any body."""
        state.external_force[:] = 0.0

    # -------------------------------------------------------------------------------------------- configurations

    def neutral_configuration(self) -> np.ndarray:
        """Zeros and unit quaternions."""
        return configuration.neutral(self)

    def random_configuration(self, rng=None) -> np.ndarray:
        """Uniform within the limits; without limits: angles in (-pi, pi), lengths in (-1, 1) m, uniform rotations."""
        return configuration.random(self, np.random.default_rng(rng))

    def interpolate(self, q0, q1, u: float) -> np.ndarray:
        """The configuration a fraction u of the way from q0 to q1 on the shortest path."""
        return self.integrate(q0, u * self.difference(q0, q1))

    def distance(self, q0, q1) -> float:
        """Norm of difference(q0, q1)."""
        return float(np.linalg.norm(self.difference(q0, q1)))

    def is_same_configuration(self, q0, q1, tol: float = 1e-12) -> bool:
        """Whether every coordinate of difference(q0, q1) is within tol; quat and -quat are the same."""
        return bool(np.all(np.abs(self.difference(q0, q1)) <= tol))

    def to_convention(self, state, convention: str):
        """(q, v) of the state as another library has them: see mbros.conventions."""
        return conventions.to_convention(self, state.q, state.v, convention)

    def from_convention(self, convention: str, q, v) -> mbros_core.State:
        """A State from another library's q and v."""
        state = self.new_state()
        state.q[:], state.v[:] = conventions.from_convention(self, convention, q, v)
        return state

    def __repr__(self):
        return f"<Model {self.name!r}: {len(self.joints)} joints, nq {self.nq}, nv {self.nv}>"


def _three(value, name) -> np.ndarray:
    array = np.asarray(value, float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise MbrosError(f"{name}: expected 3 finite numbers, got {value!r}")
    return array
