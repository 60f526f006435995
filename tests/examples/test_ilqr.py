"""The iLQR example: it prints what is pasted at its end, and is the same on Pinocchio's derivatives."""
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


def test_gains_are_those_of_the_same_solver_on_other_derivatives():
    pytest.importorskip("pinocchio")
    ilqr = example()
    ours, theirs = ilqr.Ours(), ilqr.Pinocchio()
    q, v, u, cost, done = ilqr.solve(ours, 3)
    assert done == 3 and cost == pytest.approx(ilqr.solve(theirs, 3)[3], rel=1e-9)
    for a, b in zip(ilqr.backward(ours, q, v, u), ilqr.backward(theirs, q, v, u)):
        assert np.allclose(a, b, rtol=0, atol=1e-7 * np.abs(b).max())
