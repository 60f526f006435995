"""Outputs of a rollout about the steps themselves: contacts and what constraints carried, as a Simulator's states have them."""
import numpy as np
import pytest
from loop_rigs import branches, closed

import mbros

NAMES = ("contact_count", "contact_forces", "constraint_reactions", "constraint_efforts")


def forces_on_shapes(model, state):
    total = np.zeros((len(model.shapes), 3))
    for c in model.contacts(state):
        total[model.shapes[c.shape_b].index] += c.force
        total[model.shapes[c.shape_a].index] -= c.force
    return total


def nearly(found, expected):
    return np.allclose(found, expected, rtol=0, atol=1e-5 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("batch", [1, 5, 17])
def test_as_a_simulator_has_them(batch):
    """Robots of which some lie on the ground and some do not, in any number of lanes."""
    model = branches(["hinge", "rope"], ground=True)
    rng, starts = np.random.default_rng(1), [closed(model, seed) for seed in range(batch)]
    for k, state in enumerate(starts):
        state.q[2] = 0.3 if k % 2 else 5.0
    tau = rng.normal(size=(batch, 40, model.nv))
    run = mbros.rollout(model, [s.q for s in starts], [s.v for s in starts], tau, every=10, outputs=(*NAMES, "energy"))
    assert [run[name].shape for name in NAMES] == [(batch, 4), (batch, 4, len(model.shapes), 3), (batch, 4, 2, 6), (batch, 4, 6)]
    touched = 0
    for k, state in enumerate(starts):
        sim = mbros.Simulator(model, state=state)
        for row in range(4):
            for step in range(10):
                sim.step(tau[k, 10 * row + step])
            found = model.contacts(sim.state)
            touched += len(found)
            assert run["contact_count"][k, row] == len(found)
            assert np.allclose(run["contact_forces"][k, row], forces_on_shapes(model, sim.state), rtol=1e-6, atol=1e-6)
            for c in model.constraints:
                F = c.reaction(sim.state)
                assert nearly(run["constraint_reactions"][k, row, c.index], np.concatenate([F.torque, F.force]))
            assert nearly(run["constraint_efforts"][k, row], np.concatenate([c.effort(sim.state) for c in model.constraints]))
    assert batch == 1 or touched > 0


def test_models_without_have_none():
    model = mbros.load("arm6")
    run = mbros.rollout(model, model.default_state().q, np.zeros(6), np.zeros((3, 2, 6)), outputs=NAMES)
    assert [run[name].shape for name in NAMES] == [(3, 2), (3, 2, 0, 3), (3, 2, 0, 6), (3, 2, 0)] and not run["contact_count"].any()
