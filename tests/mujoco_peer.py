"""MuJoCo as a peer, and the way between its coordinates and ours, written here independently of `mbros.conventions.convention`.

MuJoCo's free joint has qpos = [p; quat wxyz], qvel = [velocity of the origin in world axes; angular velocity in the
body's]; ours is [w; v] in the body's axes. A planar joint becomes two slides and a hinge on one body.
"""
import numpy as np
import pytest

mujoco_mirror = pytest.importorskip("mujoco_mirror", reason="peer tests need MuJoCo (pip install mujoco)")
mujoco = mujoco_mirror.mujoco


class Peer:
    """MuJoCo's model of a ModelSpec of the kinds that robot files know, without followers."""

    def __init__(self, spec):
        self.model = mujoco_mirror.compiled(spec)
        self.data = mujoco.MjData(self.model)
        self.joints = []
        q = v = 0
        for i, kind in enumerate(spec.joint_kind):
            nq, nv = {"weld": (0, 0), "revolute": (1, 1), "prismatic": (1, 1), "planar": (3, 3), "floating": (7, 6)}[kind]
            for k in range(1 if kind == "floating" else nv):
                joint = self.model.joint(f"j{i}_{k}")
                self.joints.append((kind, q + k, v + k, int(joint.qposadr[0]), int(joint.dofadr[0])))
            q, v = q + nq, v + nv

    def forward_dynamics(self, q, v, tau):
        """Our vdot under our tau."""
        data = self.data
        for kind, iq, iv, mq, mv in self.joints:
            if kind != "floating":
                data.qpos[mq], data.qvel[mv], data.qfrc_applied[mv] = q[iq], v[iv], tau[iv]
                continue
            R = self._rotation(q[iq + 3:iq + 7])
            data.qpos[mq:mq + 7] = q[iq:iq + 7]
            data.qvel[mv:mv + 3], data.qvel[mv + 3:mv + 6] = R @ v[iv + 3:iv + 6], v[iv:iv + 3]
            data.qfrc_applied[mv:mv + 3], data.qfrc_applied[mv + 3:mv + 6] = R @ tau[iv + 3:iv + 6], tau[iv:iv + 3]
        mujoco.mj_forward(self.model, data)
        vdot = np.empty(self.model.nv)
        for kind, iq, iv, _, mv in self.joints:
            if kind != "floating":
                vdot[iv] = data.qacc[mv]
                continue
            R = self._rotation(q[iq + 3:iq + 7])
            vdot[iv:iv + 3] = data.qacc[mv + 3:mv + 6]
            vdot[iv + 3:iv + 6] = R.T @ data.qacc[mv:mv + 3] - np.cross(v[iv:iv + 3], v[iv + 3:iv + 6])
        return vdot

    @staticmethod
    def _rotation(quat):
        R = np.empty(9)
        mujoco.mju_quat2Mat(R, np.asarray(quat))
        return R.reshape(3, 3)
