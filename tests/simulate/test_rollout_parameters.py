"""mbros.rollout with parameters of each robot's own, every n-th step, and named outputs: as Simulators of their own would have it."""
import pickle
import re

import numpy as np
import pytest
from interrupting import SOON, interrupt_after

import mbros
import mbros_core


@pytest.fixture(scope="module")
def model():
    return mbros.load("arm7")


def simulated(model, state, tau, integrator=mbros_core.DEFAULT_INTEGRATOR):
    """q, v (steps, n) of a Simulator."""
    sim, q, v = mbros.Simulator(model, integrator=integrator, state=state), [], []
    for row in tau:
        sim.step(row)
        q.append(sim.state.q.copy())
        v.append(sim.state.v.copy())
    return np.array(q), np.array(v)


@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
@pytest.mark.parametrize("batch", [1, 8, 11])
def test_each_robot_moves_with_its_own_parameters(model, batch, integrator, rng):
    parameters = {"mass.link7": rng.uniform(0.5, 5.0, batch), "gravity": rng.normal(size=(batch, 3)),
                  "damping.joint2": rng.uniform(0, 2, batch)}
    q0, tau = rng.uniform(-0.5, 0.5, (batch, 7)), rng.normal(size=(batch, 40, 7))
    run = mbros.rollout(model, q0, np.zeros(7), tau, integrator=integrator, parameters=parameters, threads=2,
                        outputs=["energy", "link7.pose"])
    for b in range(batch):
        state = model.default_state()
        state.q[:] = q0[b]
        for name, values in parameters.items():
            model.set_parameter(state, name, values[b])
        q, v = simulated(model, state, tau[b], integrator)
        assert np.abs(run.q[b] - q).max() < 1e-11 and np.abs(run.v[b] - v).max() < 1e-9
        energy = model.kinetic_energy(state) + model.potential_energy(state)
        assert abs(run["energy"][b, -1] - energy) < 1e-9 * max(1.0, abs(energy)), "the energy of its own mass"
        assert np.abs(run["link7.pose"].p[b, -1] - model.pose(state, "link7").p).max() < 1e-11
    equal = mbros.rollout(model, q0, np.zeros(7), tau, integrator=integrator)
    assert (np.abs(equal.q[:, -1] - run.q[:, -1]).max(1) > 1e-6).all(), "they are felt"


@pytest.mark.parametrize("steps, every", [(20, 1), (20, 10), (20, 7), (20, 20), (20, 50), (1, 3), (0, 3), (3, 2**63 - 1),
                                          (3, 10**30)])
def test_every_so_many_steps_and_the_last(model, steps, every, rng):
    tau = rng.normal(size=(9, steps, 7))
    whole = mbros.rollout(model, np.zeros(7), np.zeros(7), tau)
    q, v = mbros.rollout(model, np.zeros(7), np.zeros(7), tau, every=every, threads=2)
    kept = [k for k in range(steps) if (k + 1) % every == 0 or k == steps - 1]
    assert np.array_equal(q, whole.q[:, kept]) and np.array_equal(v, whole.v[:, kept])


@pytest.mark.parametrize("every", [1, 5])
def test_a_fault_is_a_simulators_whatever_is_kept(model, every):
    """One robot is thrown back by its stop so hard that it blows up, in the step in which a Simulator of its own does."""
    q0, tau = np.zeros((9, 7)), np.zeros((9, 23, 7))
    q0[4] = 0, 90, 0, -90, 0, 45, 0
    sim, taken = mbros.Simulator(model), 0
    sim.state.q[:] = q0[4]
    with pytest.warns(mbros.PositionLimitWarning), pytest.raises(mbros.FaultError):
        for taken in range(23):
            sim.step()
    words = f"robot 4 of 9 would not have stayed finite in step {taken} "
    with pytest.warns(mbros.PositionLimitWarning), pytest.raises(mbros.FaultError, match=words):
        mbros.rollout(model, q0, np.zeros(7), tau, every=every)
    with pytest.warns(mbros.PositionLimitWarning):
        run = mbros.rollout(model, q0, np.zeros(7), tau, every=every, on_fault="hold", outputs=["energy"])
    assert run.fault.tolist() == [-1] * 4 + [taken] + [-1] * 4
    assert np.abs(run.q[4, -1] - sim.state.q).max() < 1e-6 * np.abs(sim.state.q).max() and np.isfinite(run["energy"]).all()


def test_efforts_are_clamped_to_the_limits_as_in_a_simulator(model):
    tau = np.full((3, 10, 7), 1e6)
    q, _ = mbros.rollout(model, np.zeros(7), np.zeros(7), tau)
    assert np.abs(q[0] - simulated(model, model.default_state(), tau[0])[0]).max() < 1e-11


def test_what_can_be_asked_for(model, rng):
    tau = rng.normal(size=(5, 6, 7))
    names = ["flange.pose", "flange.velocity", "link7.jacobian", "joint2.F.pose", "energy", "kinetic_energy", "potential_energy",
             "center_of_mass", "mass_matrix", "gravity_torques", "bias_torques", "coriolis_torques", "passive_torques"]
    run = mbros.rollout(model, np.zeros(7), np.zeros(7), tau, outputs=names, every=2)
    assert list(run.outputs) == names and run.fault.tolist() == [-1] * 5
    state = model.default_state()
    for b, k in ((0, 0), (4, 2)):
        state.q[:], state.v[:] = run.q[b, k], run.v[b, k]
        expected = {"flange.velocity": np.asarray(model.velocity(state, "flange")), "link7.jacobian": model.jacobian(state, "link7"),
                    "energy": model.kinetic_energy(state) + model.potential_energy(state),
                    **{name: getattr(model, name)(state) for name in names[5:]}}
        for name, value in expected.items():
            assert np.abs(run[name][b, k] - value).max() < 1e-12 * max(1.0, np.abs(value).max()), name
        for name in ("flange", "joint2.F"):
            X = run[f"{name}.pose"]
            assert (X.frame, X.relative_to, X.p.shape, X.R.shape) == (model.frame(name).name, "world", (5, 3, 3), (5, 3, 3, 3))
            assert np.abs(X.matrix[b, k] - model.pose(state, name).matrix).max() < 1e-13


def test_a_run_is_the_pair_it_always_was(model):
    run = mbros.rollout(model, np.zeros(7), np.zeros(7), np.zeros((2, 3, 7)), outputs=("energy",))
    q, v = run
    assert q is run[0] is run.q and v is run[1] is run.v and len(run) == 2 and run[-1] is v and run[:] == (q, v)
    assert repr(run) == "<Run: q (2, 3, 7), v (2, 3, 7), 'energy'>"
    with pytest.raises(mbros.UnknownNameError, match="no output 'enrgy' in this rollout; did you mean 'energy'?"):
        run["enrgy"]
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again["energy"], run["energy"]) and np.array_equal(again.q, q)


@pytest.mark.parametrize("more, words", [
    ({"every": 0}, "every: expected 1 or more steps, got 0"), ({"every": 1.0}, "every: expected 1 or more steps, got 1.0"),
    ({"outputs": "energy"}, "outputs: expected a list of names"), ({"outputs": ["enrgy"]}, "did you mean 'energy'?"),
    ({"outputs": ["flnage.pose"]}, "flange"), ({"outputs": ["flange.mass"]}, "no output 'flange.mass'"),
    ({"outputs": [[]]}, "no output []"), ({"outputs": None}, "outputs: expected a list of names"),
    ({"parameters": {"mass.link7": np.ones(3)}}, "one value for each of 2 robots")])
def test_what_is_refused(model, more, words):
    with pytest.raises(mbros.MbrosError, match=re.escape(words)):
        mbros.rollout(model, np.zeros(7), np.zeros(7), np.zeros((2, 3, 7)), **more)


def test_friction_of_its_own_that_is_too_stiff_for_rk4_is_refused(model):
    friction = np.zeros(9)
    friction[6] = 50.0
    for parameters in ({"friction.joint7": friction}, {"friction.joint7": friction[::-1]}):
        with pytest.raises(mbros.MbrosError, match="joint 'joint7' is too stiff"):
            mbros.rollout(model, np.zeros(7), np.zeros(7), np.zeros((9, 2, 7)), integrator="rk4", parameters=parameters)


def test_an_interrupt_ends_it(model):
    masses = {"mass.link7": np.linspace(1, 2, 64)}
    tau = np.zeros((64, 20_000, 7))
    with interrupt_after(0.2) as since, pytest.raises(KeyboardInterrupt):
        while True:
            mbros.rollout(model, np.zeros(7), np.zeros(7), tau, parameters=masses, every=100)
    assert since() < SOON
    assert np.isfinite(mbros.rollout(model, np.zeros(7), np.zeros(7), tau[:, :3], parameters=masses).q).all()
