"""A tree computed once by Pinocchio 4.1.0 and stored: no peer needs to be installed to compare with it."""
import json
from pathlib import Path

import numpy as np
import pytest
import zoo
from tolerance import EPS, assert_close

import mbros_core
from mbros import reference as ref

GOLDEN = Path(__file__).parent.parent / "golden" / "tree_free_flyer.json"
# rotations that take z to x, y, z: our one-axis joints act along z
ALONG = {"x": np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), "y": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
         "z": np.eye(3)}
PARTS = {"free_flyer": [("floating", "z")], "revolute_x": [("revolute", "x")], "prismatic_x": [("prismatic", "x")],
         "translation_xyz": [("prismatic", "x"), ("prismatic", "y"), ("prismatic", "z")]}


def spec_of(case):
    """The golden tree as a ModelSpec; frame k + 1 is the frame of golden joint k."""
    bodies, placements, inertias, frames = [], [], [], [(0, np.eye(3))]
    for joint in case["joints"]:
        parent, turn = frames[joint["parent"] + 1]
        R, p = turn.T @ joint["placement"]["R"], turn.T @ joint["placement"]["p"]
        for kind, axis in PARTS[joint["kind"]]:
            A = ALONG[axis]
            bodies.append(zoo.Body(kind, parent))
            placements.append(np.concatenate([(R @ A).ravel(), p]))
            inertias.append(np.zeros(10))
            parent, R, p = len(bodies), A.T, np.zeros(3)
        inertias[-1] = ten(joint, A.T)
        frames.append((parent, A))
    spec = zoo.build("golden", bodies, gravity=case["gravity"], damped=False, rotors=False, extra_frames=0)
    spec.X_PF[1:], spec.inertia[1:] = placements, inertias
    spec.frame_names = [f"golden{k}" for k in range(len(frames))]
    spec.frame_body = np.array([body for body, _ in frames], np.int32)
    spec.X_BF = np.array([np.concatenate([turn.T.ravel(), np.zeros(3)]) for _, turn in frames])
    return spec


def ten(joint, R):
    """Mass, first moment and inertia about the origin, turned into the axes of our body."""
    m, c = joint["mass"], R @ joint["com"]
    I = R @ np.array(joint["inertia_at_com"]) @ R.T + m * ((c @ c) * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


@pytest.fixture(scope="module")
def case():
    return json.loads(GOLDEN.read_text())["case"]


def swap(case):
    """Golden coordinates in our order: [angular; linear] for the free flyer, which stands first."""
    n = len(case["v"])
    return np.array([3, 4, 5, 0, 1, 2, *range(6, n)])


def test_engine_and_textbook_give_the_stored_numbers(case):
    order, spec = swap(case), spec_of(case)
    q = np.array(case["q"])
    q[3:7] = q[[6, 3, 4, 5]]
    v, a, tau = (np.array(case[name])[order] for name in ("v", "a", "tau"))
    M = np.array(case["mass_matrix"])[np.ix_(order, order)]
    model, tree = mbros_core.Model(spec), ref.Tree(spec)
    state = model.new_state()
    state.poison()
    state.q[:], state.v[:] = q, v
    bound = 512 * EPS
    assert_close(model.mass_matrix(state), M, bound)
    assert_close(ref.crba(tree, q), M, bound)
    for name, ours, textbook in (
            ("inverse_dynamics", model.inverse_dynamics(state, a), ref.rnea(tree, q, v, a)),
            ("forward_dynamics", model.forward_dynamics(state, tau), ref.aba(tree, q, v, tau)),
            ("nonlinear_effects", model.bias_torques(state), ref.bias_torques(tree, q, v)),
            ("gravity_tau", model.gravity_torques(state), ref.gravity_torques(tree, q))):
        stored = np.array(case[name])[order]
        assert_close(ours, stored, 16 * bound, what=name)
        assert_close(textbook, stored, 16 * bound, what=name)
    assert_close(model.center_of_mass(state), case["com"], bound)
    assert_close(model.com_jacobian(state), np.array(case["jacobian_com"])[:, order], bound)
    assert_close(model.total_mass(state), case["total_mass"], bound)
    assert_close(model.kinetic_energy(state), case["kinetic_energy"], bound)
    assert_close(model.potential_energy(state), case["potential_energy"], bound)
    for k, (X, J) in enumerate(zip(case["world_pose"], case["jacobian_lin_ang_world"])):
        pose = model.frame_pose(state, k + 1)
        assert_close(pose[:9].reshape(3, 3), X["R"], bound)
        assert_close(pose[9:], X["p"], bound)
        J = np.array(J)[[3, 4, 5, 0, 1, 2]][:, order]
        assert_close(model.frame_jacobian(state, k + 1), J, bound, scale=1.0)
