"""Trees computed once by Pinocchio 4.1.0 and stored: no peer needs to be installed to compare with them.

Pinocchio's coordinates: quaternions xyzw; free flyer v = [linear; angular] in the child frame; planar q = [x, y, cos, sin],
v = [vx, vy in the child frame; w]; unbounded revolute q = [cos, sin]. Jacobian rows [linear; angular].

Its mass matrix takes joints to be in depth-first order; where they are not, the stored one contradicts the stored inverse
dynamics, and is left out.
"""
import json
from pathlib import Path

import numpy as np
import pytest
import zoo
from tolerance import EPS, assert_close

import mbros_core
import reference as ref

CASES = json.loads((Path(__file__).parent.parent / "golden" / "pinocchio_trees.json").read_text())["cases"]
KIND = {"free_flyer": "floating", "spherical": "ball", "translation_xyz": "translation3", "planar": "planar",
        "revolute_x": "revolute", "revolute_x_unbounded": "circular", "prismatic_x": "prismatic"}
Z_TO_X = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])       # our one-axis joints act along z


def turn_of(joint):
    """R_BM: the axes of our body frame M in those of the golden body."""
    return Z_TO_X if "_x" in joint["kind"] and "xyz" not in joint["kind"] else np.eye(3)


def spec_of(case):
    """The golden tree as a ModelSpec; frame k is the golden joint frame k."""
    joints, turns = case["joints"], [turn_of(joint) for joint in case["joints"]]
    spec = zoo.build("golden", [zoo.Body(KIND[j["kind"]], j["parent"] + 1) for j in joints], gravity=case["gravity"],
                     damped=False, rotors=False, extra_frames=0)
    for i, (joint, turn) in enumerate(zip(joints, turns), start=1):
        back = turns[joint["parent"]].T if joint["parent"] >= 0 else np.eye(3)
        R, p = np.array(joint["placement"]["R"]), np.array(joint["placement"]["p"])
        spec.X_PF[i] = [*(back @ R @ turn).ravel(), *(back @ p)]
        spec.inertia[i] = ten(joint, turn.T)
        spec.X_BF[i] = [*turn.T.ravel(), 0, 0, 0]
    return spec


def ten(joint, R):
    """Mass, first moment and inertia about the origin, turned into the axes of our body."""
    m, c = joint["mass"], R @ joint["com"]
    I = R @ np.array(joint["inertia_at_com"]) @ R.T + m * ((c @ c) * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def own_q(case):
    """q in our convention: quaternions wxyz, the angle of a planar joint."""
    out = []
    for joint, start, end in zip(case["joints"], case["idx_q"], [*case["idx_q"][1:], len(case["q"])]):
        x = case["q"][start:end]
        kind = joint["kind"]
        out += {"free_flyer": lambda x: [*x[:3], x[6], *x[3:6]], "spherical": lambda x: [x[3], *x[:3]],
                "planar": lambda x: [*x[:2], np.arctan2(x[3], x[2])]}.get(kind, lambda x: x)(x)
    return np.array(out)


def velocity_map(case, v):
    """T with v_golden = T v_own, and Tdot v_own, from the stored configuration and velocity."""
    n = len(case["v"])
    T, drift = np.zeros((n, n)), np.zeros(n)
    for joint, q, i in zip(case["joints"], case["idx_q"], case["idx_v"]):
        if joint["kind"] == "free_flyer":
            T[i:i + 3, i + 3:i + 6] = T[i + 3:i + 6, i:i + 3] = np.eye(3)
        elif joint["kind"] == "planar":
            c, s = case["q"][q + 2:q + 4]
            T[i:i + 3, i:i + 3] = [[c, s, 0], [-s, c, 0], [0, 0, 1]]
            drift[i:i + 2] = v[i + 2] * v[i + 1], -v[i + 2] * v[i]
        else:
            size = {"spherical": 3, "translation_xyz": 3}.get(joint["kind"], 1)
            T[i:i + size, i:i + size] = np.eye(size)
    return T, drift


def depth_first(case):
    """Whether every joint comes right after its parent or after a complete branch."""
    path = []
    for k, joint in enumerate(case["joints"]):
        while path and path[-1] != joint["parent"]:
            path.pop()
        if not path and joint["parent"] != -1:
            return False
        path.append(k)
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['joints'])} joints")
def test_engine_and_textbook_give_the_stored_numbers(case):
    spec, q = spec_of(case), own_q(case)
    T, drift = velocity_map(case, np.array(case["v"]))
    own = np.linalg.inv(T)
    v, a, tau = own @ case["v"], own @ (np.array(case["a"]) - drift), T.T @ case["tau"]
    model, tree = mbros_core.Model(spec), ref.Tree(spec)
    state = model.default_state()
    state._poison()
    state.q[:], state.v[:] = q, v
    bound = 1024 * EPS
    if depth_first(case):
        M = T.T @ np.array(case["mass_matrix"]) @ T
        assert_close(model.mass_matrix(state), M, bound)
        assert_close(ref.crba(tree, q), M, bound)
    # Pinocchio's bias is at its own vdot = 0, ours at ours: they differ by M drift
    bias = T.T @ np.array(case["nonlinear_effects"]) + ref.crba(tree, q) @ own @ drift
    for name, stored, ours, textbook in (
            ("inverse dynamics", T.T @ case["inverse_dynamics"], model.inverse_dynamics(state, a), ref.rnea(tree, q, v, a)),
            ("forward dynamics", own @ (np.array(case["forward_dynamics"]) - drift), model.forward_dynamics(state, tau),
             ref.aba(tree, q, v, tau)),
            ("bias", bias, model.bias_torques(state), ref.bias_torques(tree, q, v)),
            ("gravity", T.T @ case["gravity_tau"], model.gravity_torques(state), ref.gravity_torques(tree, q))):
        assert_close(ours, stored, 16 * bound, what=name)
        assert_close(textbook, stored, 16 * bound, what=name)
    assert_close(model.center_of_mass(state), case["com"], bound)
    assert_close(model.com_jacobian(state), case["jacobian_com"] @ T, bound)
    assert_close(model.total_mass(state), case["total_mass"], bound)
    assert_close(model.kinetic_energy(state), case["kinetic_energy"], bound)
    assert_close(model.potential_energy(state), case["potential_energy"], bound)
    for k, (X, J) in enumerate(zip(case["world_pose"], case["jacobian_lin_ang_world"]), start=1):
        pose = model._frame_pose(state, k)
        assert_close(pose[:9].reshape(3, 3), X["R"], bound)
        assert_close(pose[9:], X["p"], bound)
        assert_close(model._frame_jacobian(state, k), np.roll(J, 3, axis=0) @ T, bound, scale=1.0)
