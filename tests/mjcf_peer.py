"""The same MJCF text in MuJoCo and in mbros: mass matrix, bias, inverse dynamics with springs and dampers, poses and actuator forces at
random states.

MuJoCo's velocities of a free joint are those of its origin along the world's axes and the angular velocity along the body's; ours are both
along the body's, angular first: v_theirs = T v_ours, M_ours = T^T M_theirs T, and in the bias stands M_theirs dT/dt v as well.
"""
import numpy as np
import pytest

import mbros

mujoco = pytest.importorskip("mujoco", reason="peer tests need MuJoCo (pip install mujoco)")
mujoco.set_mju_user_warning(lambda said: None)          # by default it writes a file into the working folder
FREE, BALL, SLIDE, HINGE = range(4)             # of mjtJoint


def turned(quat):
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, np.asarray(quat, float))
    return R.reshape(3, 3)


def random_qpos(theirs, rng):
    q = theirs.qpos0.copy()
    for j in range(theirs.njnt):
        a, kind = theirs.jnt_qposadr[j], int(theirs.jnt_type[j])
        if kind == FREE:
            q[a:a + 3] += rng.normal(size=3)
        if kind in (FREE, BALL):
            a += 3 * (kind == FREE)
            quat = rng.normal(size=4)
            q[a:a + 4] = quat / np.linalg.norm(quat)
        elif theirs.jnt_limited[j]:                     # stops are not MuJoCo's
            q[a] = rng.uniform(*theirs.jnt_range[j])
        else:
            q[a] += rng.uniform(-1.0, 1.0) * (1.0 if kind == HINGE else 0.1)
    return q


def velocity_map(theirs, qpos, v):
    """T (nv, nv), and dT/dt v."""
    T, Tdot_v = np.eye(theirs.nv), np.zeros(theirs.nv)
    for j in range(theirs.njnt):
        if theirs.jnt_type[j] == FREE:
            a, q = theirs.jnt_dofadr[j], theirs.jnt_qposadr[j]
            R, w, u = turned(qpos[q + 3:q + 7]), v[a:a + 3], v[a + 3:a + 6]
            T[a:a + 6, a:a + 6] = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
            Tdot_v[a:a + 3] = R @ np.cross(w, u)
    return T, Tdot_v


def relative(ours, theirs, least=1e-6):
    """The largest difference over the largest number, or over `least` where all are small."""
    return float(np.abs(np.asarray(ours) - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), least))


def differences(model, theirs, states=20, seed=0):
    """{what: the largest relative difference} at random states."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(theirs)
    assert (model.nq, model.nv) == (theirs.nq, theirs.nv), f"{model.nq} {model.nv} is not {theirs.nq} {theirs.nv}"
    worst = dict.fromkeys(("mass matrix", "bias", "inverse dynamics", "poses", "sites"), 0.0)
    for _ in range(states):
        qpos, v = random_qpos(theirs, rng), rng.normal(size=theirs.nv)
        T, Tdot_v = velocity_map(theirs, qpos, v)
        data.qpos[:], data.qvel[:] = qpos, T @ v
        mujoco.mj_forward(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, M)
        state = model.default_state().set(qpos, v)
        ours = model.mass_matrix(state)
        worst["mass matrix"] = max(worst["mass matrix"], relative(ours, T.T @ M @ T))
        bias = T.T @ (data.qfrc_bias + M @ Tdot_v)
        worst["bias"] = max(worst["bias"], relative(model.bias_torques(state), bias, np.abs(M).max(initial=0.0)))
        state.friction[:] = 0.0                         # which is a constraint in MuJoCo
        vdot = rng.normal(size=theirs.nv)
        inverse = T.T @ (M @ (T @ vdot + Tdot_v) + data.qfrc_bias - data.qfrc_passive)
        worst["inverse dynamics"] = max(worst["inverse dynamics"], relative(model.inverse_dynamics(state, vdot), inverse,
                                                                            np.abs(M).max(initial=0.0)))
        for b in range(1, theirs.nbody):
            name = theirs.body(b).name
            if name:
                X = model.pose(state, name)
                worst["poses"] = max(worst["poses"], relative(X.p, data.xpos[b], 1.0), relative(X.R, data.xmat[b].reshape(3, 3)))
        for s in range(theirs.nsite):
            name = theirs.site(s).name
            if name and name in model.frames and name not in [theirs.body(b).name for b in range(theirs.nbody)]:
                X = model.pose(state, name)
                worst["sites"] = max(worst["sites"], relative(X.p, data.site_xpos[s], 1.0), relative(X.R, data.site_xmat[s].reshape(3, 3)))
    return worst


def both(text, **given):
    """(ours, theirs) of a text."""
    return mbros.load(text, **given), mujoco.MjModel.from_xml_string(text)
