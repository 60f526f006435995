"""Every joint kind that MuJoCo has or can compose, alone and in random trees: second order, through our own converters.

Mass matrix, bias, forward and inverse dynamics and frame Jacobians are compared; q, v, accelerations and efforts go to MuJoCo
by `mbros.convention("mujoco")` and come back by it. MBROS_PEER_CASES: how many models per kind, and how many trees (5 unless
set; the acceptance run has 1000).
"""
import os

import numpy as np
import pytest
import zoo
from tolerance import EPS, assert_close, condition

import mbros

mujoco_mirror = pytest.importorskip("mujoco_mirror", reason="peer tests need MuJoCo (pip install mujoco)")

CASES = int(os.environ.get("MBROS_PEER_CASES", "5"))
STATES = 3
SUMS = 512 * EPS
AXIS_KINDS = {"revolute": mbros.RevoluteJoint, "continuous": mbros.ContinuousJoint, "prismatic": mbros.PrismaticJoint,
              "cylindrical": mbros.CylindricalJoint}
KINDS = {
    **AXIS_KINDS, "circular": lambda *a, **o: mbros.ContinuousJoint(*a, representation="cos_sin", **o), "planar": mbros.PlanarJoint,
    "universal": mbros.UniversalJoint, "ball": mbros.BallJoint, "ball_rpy": mbros.BallRpyJoint, "floating": mbros.FloatingJoint,
    "floating_rpy": mbros.FloatingRpyJoint,
    **{f"translation{n}": lambda *a, n=n, **o: mbros.TranslationJoint(*a, n, **o) for n in (1, 2, 3)}}
WITHOUT_ROTORS = ("ball_rpy", "floating", "floating_rpy")       # an armature there acts on MuJoCo's rates, which are not our v


def ugly_body(b, name, rng):
    """A flat, lopsided body of 10 g to 10 kg: six point masses near a plane, on an axis of their own."""
    points = (rng.uniform(-0.3, 0.3, (6, 3)) * rng.uniform([0.3, 0.1, 0.02], 1.0)) @ zoo.rotation(rng).T + rng.uniform(-0.2, 0.2, 3)
    masses = rng.uniform(0.01, 1.0, 6)
    masses *= 10.0 ** rng.uniform(-2, 1) / masses.sum()
    com = masses @ points / masses.sum()
    I = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points - com))
    return b.add_body(name, masses.sum(), com, I)


def add_joint(b, k, kind, parent, rng, placed=True):
    """Joint k of that kind between frames anywhere on the parent and on a new body, about an axis anywhere. Returns the body."""
    body = ugly_body(b, f"body{k}", rng)
    ends = [b.add_frame(f"{end}{k}", on, rng.uniform(-0.4, 0.4, 3), rng.uniform(-3, 3, 3)) if placed else on
            for end, on in (("F", parent), ("M", body))]
    options = {} if kind in WITHOUT_ROTORS else {"rotor_inertia": rng.uniform(0.0, 0.02)}
    if kind in AXIS_KINDS or kind == "circular":
        options |= {"axis": rng.normal(size=3), "normalize_axis": True}
    b.add_joint(KINDS[kind](f"joint{k}", *ends, **options))
    return body


def single(kind, rng, placed=True):
    b = mbros.ModelBuilder(f"one {kind}", rng.normal(0, 5, 3))
    add_joint(b, 1, kind, b.world, rng, placed)
    return b.build()


def tree(rng):
    """Two to ten joints, some welds between."""
    b = mbros.ModelBuilder("tree", rng.normal(0, 5, 3))
    bodies = [b.world]
    for k in range(1, int(rng.integers(3, 12))):
        parent = bodies[int(rng.integers(max(0, len(bodies) - 3), len(bodies)))]
        bodies.append(add_joint(b, k, list(KINDS)[int(rng.integers(len(KINDS)))], parent, rng))
        if rng.random() < 0.2:
            bodies.append(ugly_body(b, f"welded{k}", rng))
            b.add_joint(mbros.WeldJoint(f"weld{k}", bodies[-2], bodies[-1], p=rng.uniform(-0.3, 0.3, 3), rpy=rng.uniform(-3, 3, 3)))
    return b.build()


def random_state(model, rng):
    """Everywhere but pitch angles beyond 1.2 rad, where roll-pitch-yaw coordinates become singular."""
    state = model.random_state(rng)
    for joint in model.joints:
        if joint.kind.endswith("rpy"):
            state.q[joint.q_slice.start + 1] *= 1.2 / np.pi
    state.v[:] = rng.normal(0, 2, model.nv)
    return state


def compare(model, rng):
    """One random state of the model in both engines.

    What is summed is good to some hundred eps of its largest terms; of efforts these are gravity's, Coriolis' and the products
    M vdot. Forward dynamics is held to the same bound by the efforts its accelerations need (backward error), and directly to
    what solving with M loses: its condition number, 1e3 to 1e7 here. About 1e-13, and 1e-10 at a condition number of 1e4.
    """
    peer, c, state = mujoco_mirror.Mirror(model), mbros.convention("mujoco"), random_state(model, rng)
    q, v, vdot, tau = state.q, state.v, *rng.normal(0, 3, (2, model.nv))
    peer.at(*model.to_convention(state, "mujoco"))
    M, theirs = model.mass_matrix(state), peer.mass_matrix()
    to_ours = np.linalg.inv(c.velocity_matrix(model, q))
    assert_close(to_ours.T @ M @ to_ours, theirs, SUMS, what="mass matrix")
    at_zero = c.from_acceleration(model, q, v, np.zeros(model.nv))
    gravity, coriolis = model.gravity_torques(state), model.coriolis_torques(state)
    largest = max(np.abs(x).max() for x in (gravity, coriolis, M * at_zero, M * vdot))
    bias = model.bias_torques(state) + M @ at_zero
    assert_close(c.to_efforts(model, q, bias), peer.bias(), SUMS, scale=largest, what="bias")
    efforts = c.to_efforts(model, q, model.inverse_dynamics(state, vdot))
    assert_close(efforts, peer.inverse_dynamics(c.to_acceleration(model, q, v, vdot)), SUMS, scale=largest, what="inverse dynamics")
    ours = model.forward_dynamics(state, tau)
    qacc = c.from_acceleration(model, q, v, peer.forward_dynamics(c.to_efforts(model, q, tau)))
    largest = max(np.abs(x).max() for x in (gravity, coriolis, tau, M * ours, M * at_zero))
    assert_close(M @ qacc, M @ ours, SUMS, scale=largest, what="efforts of the forward dynamics")
    size = max(np.abs(ours).max(), np.abs(np.linalg.solve(M, tau)).max())
    assert_close(qacc, ours, 64 * EPS * (8 + condition(M)), scale=size, what="forward dynamics")
    for k in range(len(model.spec.frame_body)):
        J = c.to_jacobian(model, q, model._frame_jacobian(state, k))
        assert_close(J, peer.frame_jacobian(k), SUMS, scale=1.0, what=f"Jacobian of {model.frames[k].name}")


@pytest.mark.parametrize("kind", KINDS)
def test_one_joint(kind, rng):
    for _ in range(CASES):
        model = single(kind, rng)
        assert [joint.nv for joint in model.joints if joint.nv] == [model.nv]
        for _ in range(STATES):
            compare(model, rng)


def test_mujocos_own_free_joint(rng):
    for _ in range(CASES):
        model = single("floating", rng, placed=False)
        assert mujoco_mirror.Mirror(model).model.jnt_type.tolist() == [mujoco_mirror.mujoco.mjtJoint.mjJNT_FREE]
        for _ in range(STATES):
            compare(model, rng)


def test_random_trees(rng):
    for _ in range(4 * CASES):
        model = tree(rng)
        for _ in range(STATES):
            compare(model, rng)
