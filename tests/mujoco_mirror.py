"""MuJoCo's model of a mbros.Model of any joint kinds that MuJoCo can compose, and its dynamics in its own coordinates.

MuJoCo has hinge, slide, ball and free; several on one body compose, each after those before it, and make every kind of
COMPOSED. A screw would need a constraint, a user's joint has no counterpart. Nothing is converted here: q, v, accelerations,
efforts and Jacobians go in and come out as MuJoCo has them, so that `mbros.convention("mujoco")` is what the tests judge.
"""
import numpy as np
import pytest

from mbros_core.joints.registry import BY_NAME

mujoco = pytest.importorskip("mujoco", reason="peer tests need MuJoCo (pip install mujoco)")

SLIDES = [("slide", "1 0 0"), ("slide", "0 1 0"), ("slide", "0 0 1")]
HINGE_X, HINGE_Y, HINGE_Z, BALL = ("hinge", "1 0 0"), ("hinge", "0 1 0"), ("hinge", "0 0 1"), ("ball", "0 0 1")
# Of the compiled kinds, whose axis is z. A floating joint below another body, or with a placement, is three slides and a ball:
# qpos and qvel are then those of MuJoCo's free joint.
COMPOSED = {
    "weld": [], "revolute": [HINGE_Z], "circular": [HINGE_Z], "prismatic": SLIDES[2:], "cylindrical": [HINGE_Z, SLIDES[2]],
    "universal": [HINGE_X, HINGE_Y], "planar": [*SLIDES[:2], HINGE_Z], "translation2": SLIDES[:2], "translation3": SLIDES,
    "ball": [BALL], "ball_rpy": [HINGE_Z, HINGE_Y, HINGE_X], "floating": [*SLIDES, BALL],
    "floating_rpy": [*SLIDES, HINGE_Z, HINGE_Y, HINGE_X]}


def words(x):
    return " ".join(f"{float(a):.17g}" for a in x)


def quat_wxyz(R):
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(R).ravel())
    return quat


def inertial(row):
    """<inertial> of the ten numbers of a spec, by principal axes: MuJoCo's own diagonalisation stops at 1e-12."""
    m, h, (xx, yy, zz, xy, xz, yz) = row[0], row[1:4], row[4:]
    c = h / m
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (c @ c * np.eye(3) - np.outer(c, c)))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return f'<inertial mass="{m:.17g}" pos="{words(c)}" quat="{words(quat_wxyz(axes))}" diaginertia="{words(moments)}"/>'


def is_free(spec, i):
    """Whether body i can hang on MuJoCo's own free joint, which is for children of the world and has no placement."""
    return spec.joint_kind[i] == "floating" and spec.parent[i] == 0 and (spec.X_PF[i] == [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]).all()


def body_lines(spec, i, v_start, geoms=None):
    """The <body> element of compiled body i with everything below it. geoms: lines of its shapes, by body."""
    R, p = spec.X_PF[i][:9].reshape(3, 3), spec.X_PF[i][9:]
    lines = [f'<body name="b{i}" pos="{words(p)}" quat="{words(quat_wxyz(R))}">', inertial(spec.inertia[i]), *(geoms or {}).get(i, ())]
    if is_free(spec, i):
        lines.append(f'<freejoint name="j{i}_0"/>')
    else:
        at = v_start[i]
        for k, (kind, axis) in enumerate(COMPOSED[spec.joint_kind[i]]):
            lines.append(f'<joint name="j{i}_{k}" type="{kind}" axis="{axis}" pos="0 0 0" armature="{spec.rotor_inertia[at]:.17g}"/>')
            at += 3 if kind == "ball" else 1
    for child in np.flatnonzero(np.asarray(spec.parent) == i):
        lines += body_lines(spec, int(child), v_start, geoms)
    return [*lines, "</body>"]


def compiled(spec):
    """MuJoCo's model of a ModelSpec without followers; the joints of body i are called j<i>_0, j<i>_1, ..."""
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian" inertiafromgeom="false"/><option gravity="{words(spec.gravity)}">'
        f'<flag contact="disable" constraint="disable"/></option><worldbody>{all_bodies(spec)}</worldbody></mujoco>')


def all_bodies(spec, geoms=None):
    starts = np.cumsum([0, *(BY_NAME[kind].nv for kind in spec.joint_kind)])
    roots = np.flatnonzero(np.asarray(spec.parent) == 0)
    return "".join([*(geoms or {}).get(0, ()), *(line for i in roots for line in body_lines(spec, int(i), starts, geoms))])


class Mirror:
    """MuJoCo beside a mbros.Model. qpos, qvel: as model.to_convention(state, "mujoco") gives them."""

    def __init__(self, model):
        self.spec, self.model = model.spec, compiled(model.spec)
        self.data = mujoco.MjData(self.model)
        assert self.model.nv == model.nv

    def at(self, qpos, qvel):
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_forward(self.model, self.data)
        return self

    def mass_matrix(self):
        M = np.empty((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M

    def bias(self):
        return self.data.qfrc_bias.copy()

    def forward_dynamics(self, efforts):
        """qacc under qfrc_applied."""
        self.data.qfrc_applied[:] = efforts
        mujoco.mj_forward(self.model, self.data)
        return self.data.qacc.copy()

    def inverse_dynamics(self, qacc):
        self.data.qacc[:] = qacc
        mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse.copy()

    def frame_jacobian(self, k):
        """(6, nv), [linear; angular], of frame k of the spec."""
        i = int(self.spec.frame_body[k])
        body = self.model.body(f"b{i}").id if i else 0
        p = self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ self.spec.X_BF[k][9:]
        J = np.zeros((6, self.model.nv))
        mujoco.mj_jac(self.model, self.data, J[:3], J[3:], p, body)
        return J
