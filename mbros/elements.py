"""Joints, bodies and frames of a model, as people address them."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbros.errors import MbrosError
from mbros.names import unknown
from mbros.spatial import Pose, SpatialAcceleration, SpatialForce, SpatialVelocity


class NamedList(Sequence):
    """An ordered collection that is indexed by position or by name."""

    def __init__(self, kind: str, model_name: str, elements):
        self._kind, self._model_name = kind, model_name
        self._elements = tuple(elements)
        self._by_name = {element.name: element for element in self._elements}

    def __getitem__(self, key):
        if isinstance(key, str):
            try:
                return self._by_name[key]
            except KeyError:
                raise unknown(self._kind, key, f"model {self._model_name!r}", self._by_name) from None
        return self._elements[key]

    def __contains__(self, key):
        return key in self._by_name if isinstance(key, str) else key in self._elements

    def __len__(self):
        return len(self._elements)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def __repr__(self):
        return f"<{len(self)} {self._kind}s: {', '.join(self._by_name)}>"


class Frame:
    """A frame fixed on a body."""

    __slots__ = ("model", "name", "body_name", "index")

    def __init__(self, model, row):
        self.model, self.name, self.body_name, self.index = model, row.name, row.body, row.index

    @property
    def frame_index(self) -> int:
        return self.index

    def __repr__(self):
        return f"<Frame {self.name!r} on body {self.body_name!r}>"


class Body:
    """A rigid body: mass (kg), com (3,) in body axes (m), inertia (3, 3) about the com in body axes (kg m^2)."""

    __slots__ = ("model", "name", "mass", "com", "inertia", "frame_index")

    def __init__(self, model, row):
        self.model, self.name, self.mass = model, row.name, row.mass
        self.com, self.inertia, self.frame_index = row.com, row.inertia, row.frame

    @property
    def frame(self) -> Frame:
        return self.model.frames[self.frame_index]

    def __repr__(self):
        return f"<Body {self.name!r}: {self.mass:g} kg>"


class Joint:
    """A joint of a model. Facts of the model are attributes; what depends on the state takes the state.

    q_slice, v_slice: its coordinates in q and v (a follower's are its leader's). lower, upper (nq,), velocity_limit,
    effort_limit, gear_ratio (nv,). mimic: (leader, ratio, offset) or None. Frame F is on the parent body, M on the child.
    """

    def __init__(self, model, row):
        self.model, self.name, self.kind = model, row.name, row.kind
        self.parent_body, self.child_body = row.parent_body, row.child_body
        self.nq, self.nv = row.nq, row.nv
        self.q_slice = slice(row.q_start, row.q_start + row.nq)
        self.v_slice = slice(row.v_start, row.v_start + row.nv)
        self.mimic, self.axis = row.mimic, row.axis
        self.lower, self.upper = row.lower, row.upper
        self.velocity_limit, self.effort_limit, self.gear_ratio = row.velocity, row.effort, row.gear_ratio
        self.frame_F, self.frame_M = row.frame_F, row.frame_M

    @property
    def frame_index(self) -> int:
        return self.frame_M

    @property
    def follows(self) -> bool:
        """Whether it has no coordinates of its own (URDF mimic)."""
        return self.mimic is not None

    # ------------------------------------------------------------------------------------------ state and parameters

    def position(self, state) -> np.ndarray:
        """Positions (nq,), rad or m; a follower's are computed from its leader's."""
        q = state.q[self.q_slice].copy()
        return self.mimic[1] * q + self.mimic[2] if self.follows else q

    def velocity(self, state) -> np.ndarray:
        """Velocities (nv,), rad/s or m/s."""
        v = state.v[self.v_slice].copy()
        return self.mimic[1] * v if self.follows else v

    def set_position(self, state, q):
        """Set the positions (nq,) in the state. Returns the joint."""
        values = self._own(q, self.nq, "position")
        full = state.q.copy()
        full[self.q_slice] = values
        state.set_q(full)
        return self

    def set_velocity(self, state, v):
        """Set the velocities (nv,) in the state. Returns the joint."""
        state.v[self.v_slice] = self._own(v, self.nv, "velocity")
        return self

    def set_pose(self, state, *, xy=None, theta=None, p=None, quat_wxyz=None):
        """Pose of M in F: xy (2,) m and theta (rad) of a planar joint, p (3,) m and quat_wxyz of a floating one."""
        q = state.q[self.q_slice].copy()
        if self.kind == "planar" and p is None and quat_wxyz is None:
            q[:2] = q[:2] if xy is None else xy
            q[2] = q[2] if theta is None else theta
        elif self.kind == "floating" and xy is None and theta is None:
            q[:3] = q[:3] if p is None else p
            q[3:] = q[3:] if quat_wxyz is None else quat_wxyz
        else:
            raise MbrosError(f"joint {self.name!r} ({self.kind}): set_pose takes xy, theta for planar and p, quat_wxyz for "
                             "floating joints")
        return self.set_position(state, q)

    def damping(self, state) -> np.ndarray:
        """Viscous damping (nv,) in this state, N m s/rad or N s/m."""
        return state.damping[self.v_slice].copy()

    def set_damping(self, state, damping):
        """Set the viscous damping (nv,), not negative. Returns the joint."""
        state.damping[self.v_slice] = self._own(damping, self.nv, "damping", positive=True)
        return self

    def friction(self, state) -> np.ndarray:
        """Coulomb friction (nv,) in this state, N m or N."""
        return state.friction[self.v_slice].copy()

    def set_friction(self, state, friction):
        """Set the Coulomb friction (nv,), not negative. Returns the joint."""
        state.friction[self.v_slice] = self._own(friction, self.nv, "friction", positive=True)
        return self

    def _own(self, value, n, what, positive=False) -> np.ndarray:
        if self.follows:
            raise MbrosError(f"joint {self.name!r} follows {self.mimic[0]!r}: set the {what} of {self.mimic[0]!r}")
        array = np.atleast_1d(np.asarray(value, float))
        if array.shape != (n,):
            raise MbrosError(f"joint {self.name!r} ({self.kind}): {what}: expected {n} numbers, got {value!r}")
        bad = ~np.isfinite(array) | (array < 0 if positive else False)
        if bad.any():
            k = int(np.flatnonzero(bad)[0])
            need = "a finite number, zero or more" if positive else "a finite number"
            raise MbrosError(f"joint {self.name!r} ({self.kind}): {what}[{k}] is {array[k]}; expected {need}")
        return array

    # ----------------------------------------------------------------------------------------------- kinematics

    def transform(self, state) -> Pose:
        """X_FM: pose of the child's frame M in the parent's frame F."""
        return self.model.pose(state, self.model.frames[self.frame_M], self.model.frames[self.frame_F])

    def spatial_velocity(self, state) -> SpatialVelocity:
        """V_FM: velocity of M measured and expressed in F."""
        frames = self.model.frames
        X_WF = self.model.pose(state, frames[self.frame_F])
        V_WF, V_WM = (np.asarray(self.model.velocity(state, frames[k])) for k in (self.frame_F, self.frame_M))
        p = self.model.pose(state, frames[self.frame_M]).p - X_WF.p
        w = V_WM[:3] - V_WF[:3]
        v = V_WM[3:] - V_WF[3:] - np.cross(V_WF[:3], p)
        return SpatialVelocity(np.concatenate([X_WF.R.T @ w, X_WF.R.T @ v]), frames[self.frame_M].name,
                               frames[self.frame_F].name)

    def spatial_acceleration(self, state, vdot) -> SpatialAcceleration:
        """A_FM: time derivative in F of V_FM, for the model's accelerations vdot (nv of the model,)."""
        frames, model = self.model.frames, self.model
        X_WF, X_WM = (model.pose(state, frames[k]) for k in (self.frame_F, self.frame_M))
        V_WF, V_WM = (np.asarray(model.velocity(state, frames[k])) for k in (self.frame_F, self.frame_M))
        A_WF, A_WM = (np.asarray(model.acceleration(state, frames[k], vdot)) for k in (self.frame_F, self.frame_M))
        p, w = X_WM.p - X_WF.p, V_WF[:3]
        v_rel = V_WM[3:] - V_WF[3:] - np.cross(w, p)
        alpha = A_WM[:3] - A_WF[:3] - np.cross(w, V_WM[:3])
        a = A_WM[3:] - A_WF[3:] - np.cross(A_WF[:3], p) - np.cross(w, np.cross(w, p)) - 2 * np.cross(w, v_rel)
        return SpatialAcceleration(np.concatenate([X_WF.R.T @ alpha, X_WF.R.T @ a]), frames[self.frame_M].name,
                                   frames[self.frame_F].name)

    def project_force(self, state, wrench) -> np.ndarray:
        """tau (nv,) = H_FM^T F: the generalized force of a wrench [torque; force] on M about Mo, in F axes."""
        F = np.asarray(wrench.values if isinstance(wrench, SpatialForce) else wrench, float)
        if F.shape != (6,):
            raise MbrosError(f"joint {self.name!r}: wrench: expected 6 numbers [torque; force], got shape {F.shape}")
        frames = self.model.frames
        R = self.model.pose(state, frames[self.frame_F]).R
        J = self.model.jacobian(state, frames[self.frame_M])[:, self.v_slice]
        J_F = self.model.jacobian(state, frames[self.frame_F])[:, self.v_slice]
        p = self.model.pose(state, frames[self.frame_M]).p - self.model.pose(state, frames[self.frame_F]).p
        H = J - np.vstack([J_F[:3], J_F[3:] + np.cross(J_F[:3].T, p).T])
        return H.T @ np.concatenate([R @ F[:3], R @ F[3:]])

    def __repr__(self):
        mimic = f", follows {self.mimic[0]!r}" if self.follows else ""
        return f"<Joint {self.name!r}: {self.kind}, {self.parent_body!r} to {self.child_body!r}{mimic}>"
