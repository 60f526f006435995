"""Pinocchio as a peer: its model of a spec or of a URDF, and the way between its coordinates and ours.

This mapping is written here from Pinocchio's documented conventions, independently of `mbros.conventions.convention`, and is the
oracle for it:

    free flyer   q = [p; quat xyzw], v = [linear; angular] in the child frame       (ours: quat wxyz, [angular; linear])
    planar       q = [x, y, cos, sin], v = [vx, vy in the child frame; w]           (ours: q = [x, y, theta], v = qdot)
    spherical    q = quat xyzw, v = w in the child frame                            (ours: quat wxyz, the same v)
    unbounded    q = [cos, sin] ("continuous" in URDF)                              (ours: the angle; as "circular" the same)
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio", reason="peer tests need Pinocchio (pip install pin)")


JOINT_MODELS = {"revolute": pin.JointModelRZ, "prismatic": pin.JointModelPZ, "planar": pin.JointModelPlanar,
                "floating": pin.JointModelFreeFlyer, "ball": pin.JointModelSpherical, "circular": pin.JointModelRUBZ,
                "translation3": pin.JointModelTranslation}


@dataclass(frozen=True)
class Joint:
    """Where one joint stands in our coordinates and in Pinocchio's."""

    kind: str
    q: int
    v: int
    pin_q: int
    pin_v: int
    pin_nq: int


class Peer:
    """A Pinocchio model beside ours, with conversions by joint name. `joints` as made by `from_spec`, `from_urdf`."""

    def __init__(self, model, joints):
        self.model, self.data, self.joints = model, model.createData(), joints
        self.nv = model.nv
        self.planar = [j for j in joints if j.kind == "planar"]
        self.fixed_part_of_T = np.zeros((self.nv, self.nv))
        for j in joints:
            r, c = j.pin_v, j.v
            if j.kind == "floating":
                self.fixed_part_of_T[r:r + 3, c + 3:c + 6] = self.fixed_part_of_T[r + 3:r + 6, c:c + 3] = np.eye(3)
            elif j.kind != "planar":
                n = 3 if j.kind in ("ball", "translation3") else 1
                self.fixed_part_of_T[r:r + n, c:c + n] = np.eye(n)

    def q(self, q):
        """Our q in Pinocchio's convention."""
        out = pin.neutral(self.model)
        for j in self.joints:
            x = q[j.q:]
            if j.kind == "floating":
                out[j.pin_q:j.pin_q + 7] = [*x[:3], x[4], x[5], x[6], x[3]]
            elif j.kind == "planar":
                out[j.pin_q:j.pin_q + 4] = [x[0], x[1], np.cos(x[2]), np.sin(x[2])]
            elif j.kind == "ball":
                out[j.pin_q:j.pin_q + 4] = [x[1], x[2], x[3], x[0]]
            elif j.pin_nq == 2 and j.kind != "circular":
                out[j.pin_q:j.pin_q + 2] = [np.cos(x[0]), np.sin(x[0])]
            else:
                out[j.pin_q:j.pin_q + j.pin_nq] = x[:j.pin_nq]
        return out

    def q_back(self, pin_q, nq):
        """Pinocchio's q in our convention; angles of planar and unbounded joints in (-pi, pi]."""
        out = np.zeros(nq)
        for j in self.joints:
            x = pin_q[j.pin_q:]
            if j.kind == "floating":
                out[j.q:j.q + 7] = [*x[:3], x[6], x[3], x[4], x[5]]
            elif j.kind == "planar":
                out[j.q:j.q + 3] = [x[0], x[1], np.arctan2(x[3], x[2])]
            elif j.pin_nq == 2:
                out[j.q] = np.arctan2(x[1], x[0])
            else:
                out[j.q] = x[0]
        return out

    def T(self, q):
        """v_pin = T(q) v."""
        T = self.fixed_part_of_T.copy()
        for j in self.planar:
            cos, sin = np.cos(q[j.q + 2]), np.sin(q[j.q + 2])
            T[j.pin_v:j.pin_v + 3, j.v:j.v + 3] = [[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]]
        return T

    def acceleration(self, q, v, vdot):
        """vdot in Pinocchio's convention: T vdot + Tdot v."""
        T = self.T(q)
        out = T @ vdot
        for j in self.planar:
            # (vx, vy) in the child frame turn against it
            vx, vy, w = (T @ v)[j.pin_v:j.pin_v + 3]
            out[j.pin_v:j.pin_v + 2] += [w * vy, -w * vx]
        return out

    def acceleration_back(self, q, v, pin_a):
        """Pinocchio's acceleration in our convention."""
        drift = self.acceleration(q, v, np.zeros(self.nv))
        return np.linalg.solve(self.T(q), pin_a - drift)

    def forward_dynamics(self, q, v, tau):
        T = self.T(q)
        a = pin.aba(self.model, self.data, self.q(q), T @ v, np.linalg.solve(T.T, tau))
        return self.acceleration_back(q, v, a)

    def inverse_dynamics(self, q, v, vdot):
        T = self.T(q)
        return T.T @ pin.rnea(self.model, self.data, self.q(q), T @ v, self.acceleration(q, v, vdot))

    def mass_matrix(self, q):
        # fresh data: with mimic joints pin 4.1.0 adds to what the last call left in data.M
        T = self.T(q)
        M = pin.crba(self.model, self.model.createData(), self.q(q))
        M = np.triu(M) + np.triu(M, 1).T
        return T.T @ M @ T

    def frame_jacobian(self, q, name):
        """(6, nv), rows [angular; linear], world axes, at the frame's origin."""
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), self._frame(name), pin.LOCAL_WORLD_ALIGNED)
        return np.vstack([J[3:], J[:3]]).reshape(6, self.nv) @ self.T(q)

    def frame_pose(self, q, name):
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        X = self.data.oMf[self._frame(name)]
        return X.rotation.copy(), X.translation.copy()

    def center_of_mass(self, q):
        return pin.centerOfMass(self.model, self.data, self.q(q)).copy()

    def com_jacobian(self, q):
        return pin.jacobianCenterOfMass(self.model, self.data, self.q(q)).reshape(3, self.nv) @ self.T(q)

    def centroidal_momentum(self, q, v):
        """[angular; linear] about the centre of mass."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.T(q) @ v).vector
        return np.concatenate([h[3:], h[:3]])

    def energies(self, q, v):
        """Kinetic, rotors included, and potential.

        The rotors are added here: pin 4.1.0 leaves them out of the energy of joints about a negative axis, though
        not out of the mass matrix.
        """
        pq, pv, armature = self.q(q), self.T(q) @ v, self.model.armature.copy()
        self.model.armature = np.zeros(self.nv)
        bodies = pin.computeKineticEnergy(self.model, self.data, pq, pv)
        self.model.armature = armature
        return bodies + armature @ pv ** 2 / 2, pin.computePotentialEnergy(self.model, self.data, pq)

    def _frame(self, name):
        for kind in (pin.FrameType.BODY, pin.FrameType.OP_FRAME):
            if self.model.existFrame(name, kind):
                return self.model.getFrameId(name, kind)
        raise AssertionError(f"Pinocchio has no frame {name!r}")


def from_spec(spec):
    """A Peer built joint by joint from a ModelSpec; frames carry the spec's names, followers become mimic joints."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(spec.gravity), np.zeros(3))
    ids, offsets = [0], [pin.SE3.Identity()]
    for i in range(1, len(spec.parent)):
        parent = int(spec.parent[i])
        X = offsets[parent] * pin.SE3(spec.X_PF[i][:9].reshape(3, 3), spec.X_PF[i][9:])
        m, h, (xx, yy, zz, xy, xz, yz) = spec.inertia[i][0], spec.inertia[i][1:4], spec.inertia[i][4:]
        body = _inertia(m, h, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        if spec.joint_kind[i] == "weld":
            ids.append(ids[parent])
            offsets.append(X)
            model.appendBodyToJoint(ids[i], body, X)
            continue
        ids.append(model.addJoint(ids[parent], JOINT_MODELS[spec.joint_kind[i]](), X, spec.joint_names[i]))
        offsets.append(pin.SE3.Identity())
        model.appendBodyToJoint(ids[i], body, pin.SE3.Identity())
    for k, name in enumerate(spec.frame_names):
        body, X = int(spec.frame_body[k]), pin.SE3(spec.X_BF[k][:9].reshape(3, 3), spec.X_BF[k][9:])
        model.addFrame(pin.Frame(name, ids[body], 0, offsets[body] * X, pin.FrameType.OP_FRAME), False)
    for i in range(1, len(spec.parent)):
        if spec.leader[i] >= 0:
            leader, follower = (model.getJointId(spec.joint_names[j]) for j in (int(spec.leader[i]), i))
            model = pin.transformJointIntoMimic(model, leader, follower, float(spec.ratio[i]), float(spec.offset[i]))
    return Peer(model, _joints_of_spec(spec, model))


def _joints_of_spec(spec, model):
    """Rows of `Joint` by name; our coordinates run through the bodies in order. Sets the rotor inertias too."""
    joints, q, v, armature = [], 0, 0, model.armature.copy()
    for name, kind, leader in zip(spec.joint_names[1:], spec.joint_kind[1:], spec.leader[1:]):
        if kind == "weld" or leader >= 0:
            continue
        joint = model.joints[model.getJointId(name)]
        joints.append(Joint(kind, q, v, joint.idx_q, joint.idx_v, joint.nq))
        armature[joint.idx_v:joint.idx_v + joint.nv] = spec.rotor_inertia[v:v + joint.nv]
        q, v = q + {"planar": 3}.get(kind, joint.nq), v + joint.nv
    model.armature = armature
    return joints


def _inertia(m, h, I_Bo):
    """pin.Inertia from mass, first moment and inertia about the origin: it wants the one about the centre of mass."""
    c = h / m
    return pin.Inertia(float(m), c, I_Bo - m * ((c @ c) * np.eye(3) - np.outer(c, c)))


def from_urdf(robot, mimic=True):
    """A Peer that Pinocchio has read from the very same URDF text. `robot`: a `robots.Loaded`."""
    root = () if robot.base == "fixed" else (JOINT_MODELS[robot.base](),)
    model = pin.buildModelFromXML(robot.text, *root, mimic=mimic)
    model.gravity = pin.Motion(np.array(robot.spec.gravity), np.zeros(3))
    rows, armature = [], model.armature.copy()
    for row in robot.compiled.joints:
        if row.nv == 0 or (mimic and row.mimic):
            continue
        name = "root_joint" if row.name == "base" and robot.base != "fixed" else row.name
        assert model.existJointName(name), f"Pinocchio has no joint {name!r}"
        joint = model.joints[model.getJointId(name)]
        rows.append(Joint(row.kind, row.q_start, row.v_start, joint.idx_q, joint.idx_v, joint.nq))
        armature[joint.idx_v:joint.idx_v + joint.nv] = robot.spec.rotor_inertia[row.v_start:row.v_start + joint.nv]
    model.armature = armature
    return Peer(model, rows)
