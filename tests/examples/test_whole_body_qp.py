"""The whole-body example: the humanoid follows what is wanted of its centre of mass, its soles at rest."""
import importlib.util

import numpy as np
import pytest
import runs

PATH = runs.EXAMPLES / "whole_body_qp.py"


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("quadprog", reason="needs quadprog (pip install '.[qp]')")
    spec = importlib.util.spec_from_file_location("whole_body_qp", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_prints_what_is_pasted_at_its_end(example):
    assert not runs.differences(runs.pasted(PATH), runs.run(PATH))


def test_efforts_hold_the_robot_within_its_limits(example):
    state, model = example.start, example.model
    tau = example.decide(state, 0.0)
    assert not tau[~example.mask].any() and (np.abs(tau[example.mask]) <= example.effort + 1e-9).all()
    soles = [example.diff.RigidContact(sole, 6) for sole in example.SOLES]
    vdot, force, _ = example.diff.contact_dynamics(model, state, tau, soles)
    assert np.abs(vdot).max() < 0.5                                 # rad/s^2 and m/s^2, where falling is 9.81
    assert force[5] + force[11] == pytest.approx(model.total_mass(state) * 9.81, rel=0.02)
    assert (example.CONES @ force > -1e-6).all()
