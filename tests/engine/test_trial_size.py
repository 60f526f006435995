"""Memory in proportion to the robot: no dense matrix before somebody asks for one (trial A12).

Each measurement is made in a process of its own, by what the kernel says is resident.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import robots
import zoo

import mbros
import mbros_core

MB = 1e6

MEASURE = """
import json
import numpy as np
import mbros

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * {page}

def grown(make):
    before = resident()
    kept = make()
    return resident() - before, kept

n = 10_000
model = mbros.chain(n)
mbros.rollout(mbros.chain(3), np.zeros(3), np.zeros(3), np.zeros((2, 1, 3)))        # what is loaded once
sizes = {{}}
sizes["state"], state = grown(model.default_state)
sizes["copy"], _ = grown(state.copy)
sizes["simulator"], simulator = grown(lambda: mbros.Simulator(model, state=state))
sizes["step"], _ = grown(simulator.step)
sizes["rollout"], _ = grown(lambda: mbros.rollout(model, state.q, state.v, np.zeros((2, 3, n))))
sizes["derivatives"], _ = grown(lambda: mbros.diff.derivatives(model, "kinetic_energy", state, wrt=("gravity",)))
print(json.dumps(sizes))
"""


@pytest.mark.slow
def test_trial_A12_ten_thousand_links_in_little_memory():
    """735 MB for a state, 8.2 GB for a rollout of two robots over three steps, once."""
    environment = {**os.environ, "PYTHONPATH": str(Path(mbros.__file__).parent.parent)}
    code = MEASURE.format(page=os.sysconf("SC_PAGESIZE"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    sizes = json.loads(done.stdout)
    assert sizes["state"] < 20 * MB and sizes["copy"] < 20 * MB and sizes["simulator"] < 60 * MB and sizes["step"] < 5 * MB, sizes
    assert sizes["rollout"] < 400 * MB and sizes["derivatives"] < 400 * MB, sizes         # eight numbers for each of a state's


def doubles(state):
    """How many doubles the arrays of a state have."""
    return sum(state.field(row.name).size for row in mbros_core.engine.fields.FIELDS)


def test_trial_A12_a_state_grows_as_its_robot():
    small, large = (doubles(mbros_core.Model(zoo.build("chain", zoo.chain(["revolute"] * n))).default_state()) for n in (20, 200))
    assert large <= 10 * small
    with pytest.raises(KeyError, match="no field 'L' in a State"):
        robots.model("branched").default_state().field("L")


def test_the_dense_matrix_is_asked_for_and_right(rng):
    """M where the dynamics do not go through it, where they do, into a buffer and into a new array, for small robots and larger ones."""
    for spec in (zoo.spec("mimic"), zoo.spec("branched"), zoo.build("long", zoo.chain(["revolute"] * 70)), zoo.spec("follower_first")):
        model = mbros_core.Model(spec)
        state = model.default_state()
        state._poison()
        state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.normal(size=model.nv)
        M, out = model.mass_matrix(state), np.full((model.nv, model.nv), np.nan)
        assert model.mass_matrix(state, out) is out and np.array_equal(out, M) and np.array_equal(M, M.T)
        tau = rng.normal(size=model.nv)
        other = state.copy()
        vdot = model.forward_dynamics(other, tau)
        other._poison()
        assert np.array_equal(model.forward_dynamics(other, tau), vdot)
        assert np.abs(model.inverse_dynamics(state, vdot) - tau).max() < 1e-9 * max(1.0, np.abs(vdot).max())
        assert np.array_equal(model.mass_matrix(state, M), out)


def test_batches_and_derivatives_of_followers(rng):
    """The lanes and the dual engine make their dense matrices before the interpreter lock is given up."""
    spec = zoo.spec("mimic")
    model, lanes, dual = mbros_core.Model(spec), mbros_core.lanes(), mbros_core.dual()
    q, v, tau = np.array([zoo.random_q(spec, rng) for _ in range(9)]), *rng.normal(size=(2, 9, model.nv))
    out = np.empty((9, model.nv))
    assert lanes.Batch(lanes.Model(spec)).forward_dynamics(q, v, tau, out) == -1
    state, duals = model.default_state(), dual.Duals(dual.Model(spec))
    for k in range(9):
        state.q[:], state.v[:] = q[k], v[k]
        expected = model.forward_dynamics(state, tau[k])
        assert np.abs(out[k] - expected).max() <= 1e-11 * np.abs(expected).max()
        duals.state._inputs[:] = 0.0
        duals.state._inputs[:, 0] = state._inputs
        duals.given[:] = 0.0
        duals.given[:model.nv, 0] = tau[k]
        assert np.abs(duals.compute("forward_dynamics")[:, 0] - expected).max() <= 1e-11 * np.abs(expected).max()
        assert np.abs(duals.compute("mass_matrix")[:, 0] - model.mass_matrix(state).ravel()).max() <= 1e-12
