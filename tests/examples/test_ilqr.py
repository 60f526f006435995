"""The iLQR example: it prints what is pasted at its end, and is the same on the peers' derivatives."""
import importlib.util

import numpy as np
import pytest
import runs

PATH = runs.EXAMPLES / "ilqr_reach.py"


def example():
    spec = importlib.util.spec_from_file_location("ilqr_reach", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_prints_what_is_pasted_at_its_end():
    assert not runs.differences(runs.pasted(PATH), runs.run(PATH))


@pytest.mark.parametrize("peer, bound", [("Pinocchio", 1e-7), ("MuJoCo", 1e-3)])        # differences of its step, forward
def test_gains_are_those_of_the_same_solver_on_other_derivatives(peer, bound):
    pytest.importorskip(peer.lower())
    ilqr = example()
    ours, theirs = ilqr.Ours(), getattr(ilqr, peer)()
    q, v, u, cost, done = ilqr.solve(ours, 3)
    assert done == 3 and cost == pytest.approx(ilqr.solve(theirs, 3)[3], rel=1e-2 * bound)
    for a, b in zip(ilqr.backward(ours, q, v, u), ilqr.backward(theirs, q, v, u)):
        assert np.allclose(a, b, rtol=0, atol=bound * np.abs(b).max())


def test_accelerations_are_those_of_the_peers():
    ilqr = example()
    rng = np.random.default_rng(0)
    q, v, u = rng.uniform(-1, 1, (3, ilqr.nv))
    expected = ilqr.Ours().acceleration(q, v, u)
    for peer in ("Pinocchio", "MuJoCo"):
        pytest.importorskip(peer.lower())
        assert np.allclose(getattr(ilqr, peer)().acceleration(q, v, u), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
