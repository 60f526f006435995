"""MuJoCo as a peer: MJCF written from a ModelSpec, and the way between its coordinates and ours.

MuJoCo's free joint has qpos = [p; quat wxyz], qvel = [velocity of the origin in world axes; angular velocity in the
body's]; ours is [w; v] in the body's axes. A planar joint becomes two slides and a hinge on one body.
"""
import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="peer tests need MuJoCo (pip install mujoco)")

AXES = {"revolute": [("hinge", "0 0 1")], "prismatic": [("slide", "0 0 1")],
        "planar": [("slide", "1 0 0"), ("slide", "0 1 0"), ("hinge", "0 0 1")]}


def words(x):
    return " ".join(f"{float(a):.17g}" for a in x)


def body_lines(spec, i, v_start):
    """The <body> element of compiled body i with everything below it."""
    R, p = spec.X_PF[i][:9].reshape(3, 3), spec.X_PF[i][9:]
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, R.ravel())
    lines = [f'<body name="b{i}" pos="{words(p)}" quat="{words(quat)}">']
    m, h = spec.inertia[i][0], spec.inertia[i][1:4]
    c = h / m
    xx, yy, zz, xy, xz, yz = spec.inertia[i][4:]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * ((c @ c) * np.eye(3) - np.outer(c, c))
    full = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    lines.append(f'<inertial mass="{m:.17g}" pos="{words(c)}" fullinertia="{words(full)}"/>')
    if spec.joint_kind[i] == "floating":
        lines.append(f'<freejoint name="j{i}_0"/>')
    for k, (kind, axis) in enumerate(AXES.get(spec.joint_kind[i], [])):
        rotor = spec.rotor_inertia[v_start[i] + k]
        lines.append(f'<joint name="j{i}_{k}" type="{kind}" axis="{axis}" pos="0 0 0" armature="{rotor:.17g}"/>')
    for child in np.flatnonzero(np.asarray(spec.parent) == i):
        lines += body_lines(spec, int(child), v_start)
    return [*lines, "</body>"]


class Peer:
    """MuJoCo's model of a ModelSpec without followers; floating joints at the root only."""

    def __init__(self, spec):
        nv = {"weld": 0, "revolute": 1, "prismatic": 1, "planar": 3, "floating": 6}
        starts = np.cumsum([0] + [nv[k] for k in spec.joint_kind])
        roots = np.flatnonzero(np.asarray(spec.parent) == 0)
        lines = [line for i in roots for line in body_lines(spec, int(i), starts)]
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian" inertiafromgeom="false"/><option gravity="{words(spec.gravity)}">'
            '<flag contact="disable" constraint="disable"/></option>'
            f'<worldbody>{"".join(lines)}</worldbody></mujoco>')
        self.data = mujoco.MjData(self.model)
        self.joints = []
        q = 0
        for i, kind in enumerate(spec.joint_kind):
            for k in range(1 if kind == "floating" else nv[kind]):
                joint = self.model.joint(f"j{i}_{k}")
                self.joints.append((kind, q, starts[i] + k, int(joint.qposadr[0]), int(joint.dofadr[0])))
                q += 7 if kind == "floating" else 1

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
