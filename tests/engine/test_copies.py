"""Copies, deep copies and pickles of states, plants and simulators: they fit their model, share nothing, and go on to the bit."""
import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mbros
from mbros.simulate.simulator import make_plant

DEEP = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: pickle.loads(pickle.dumps(x, protocol=2))]
DEEP_IDS = ["deepcopy", "pickle", "old pickle"]


def in_motion(name="quadruped", **settings):
    """A simulator that has clamped something, and whose parameters are not the default ones."""
    model = mbros.load(name)
    sim = mbros.Simulator(model, **settings)
    sim.state.set_v(np.random.default_rng(3).normal(size=model.nv))
    sim.state.damping[:] += 0.3
    sim.state.gravity[:] = (0.4, -0.2, -9.0)
    sim.state.external_force[-1] = (0.1, 0.2, -0.3, 1.0, 2.0, 3.0)
    sim.advance_to(0.05, {name: 1e4 for name in model.joint_state_names})
    assert sim.clamped
    return sim


def goes_on(sim, steps=40):
    """What a simulator does next: every number of its snapshots."""
    rows = []
    for k in range(steps):
        sim.step(np.full(sim.model.nv, 0.2 * np.sin(k)))
        rows.append(np.append(sim.plant.observe(), sim.time))
    return np.array(rows)


@pytest.mark.parametrize("made", DEEP, ids=DEEP_IDS)
@pytest.mark.parametrize("order", [1, -1], ids=["model first", "state first"])
def test_trial_D2_model_and_state_copied_together_fit_together(made, order):
    model = mbros.load("arm7")
    state = model.random_state(4)
    state.time, state.damping[2] = 3.5, 7.0
    parts = dict(zip(("model", "state")[::order], made((model, state)[::order])))
    other, twin = parts["model"], parts["state"]
    assert twin.model is other and other is not model
    assert (twin.time, twin.damping[2]) == (3.5, 7.0) and np.array_equal(twin.q, state.q) and np.array_equal(twin.v, state.v)
    tau = np.ones(model.nv)
    assert np.array_equal(other.forward_dynamics(twin, tau), model.forward_dynamics(state, tau))
    twin.q[0] += 1.0
    assert twin.q[0] != state.q[0]


@pytest.mark.parametrize("made", [copy.copy, *DEEP], ids=["copy", *DEEP_IDS])
def test_errors_come_whole_through_processes(made):
    """As from a worker of multiprocessing."""
    with pytest.raises(mbros.UrdfError) as caught:
        mbros.load("<robot name='r'><link name='a'/><link name='a'/><joint name='j' type='hinge'/></robot>")
    error, other = caught.value, made(caught.value)
    assert type(other) is mbros.UrdfError and str(other) == str(error) and len(other.problems) == len(error.problems) > 1
    for name in ("element", "reason", "remedy", "file", "line"):
        assert getattr(other, name) == getattr(error, name)
    lock = made(mbros.GimbalLockError("at lock", [3]))
    assert (str(lock), lock.elements) == ("at lock", [3])


@pytest.mark.parametrize("made", DEEP, ids=DEEP_IDS)
def test_groups_of_joints_are_copied_with_their_model(made):
    joint = mbros.load("quadruped").joint("base")
    for group in ("limits", "defaults", "names", "topology", "mobilizer", "space"):
        made(getattr(joint, group))
    defaults = made(joint.defaults)
    assert np.array_equal(defaults.positions, joint.defaults.positions) and defaults.positions is not joint.defaults.positions
    with pytest.raises(mbros.FrozenModelError):
        defaults.positions = joint.defaults.positions
    assert copy.copy(joint.defaults) is joint.defaults


@pytest.mark.parametrize("settings", [{}, {"integrator": "rk4"}, {"dt": 2.5e-4}], ids=["default", "rk4", "dt"])
@pytest.mark.parametrize("made", [copy.copy, *DEEP], ids=["copy", *DEEP_IDS])
def test_trial_D2_a_copied_simulator_goes_on_to_the_bit_and_alone(made, settings):
    sim = in_motion(**settings)
    other = made(sim)
    assert (other.model is sim.model) == (made is copy.copy)
    assert other.state is other.plant.state and other.state.model is other.model is other.plant.model
    assert (other.dt, other.integrator, other.clamped, other.time) == (sim.dt, sim.integrator, sim.clamped, sim.time)
    before = sim.plant.observe()
    future = goes_on(other)
    assert np.array_equal(sim.plant.observe(), before)              # the first stood still meanwhile
    assert np.array_equal(goes_on(sim), future)
    other.reset()
    assert other.time == 0.0 and not np.array_equal(other.state.q, sim.state.q)


@pytest.mark.parametrize("made", [copy.copy, *DEEP], ids=["copy", *DEEP_IDS])
def test_trial_D2_a_copied_plant_has_the_same_layout_pairs_and_followers(made):
    model = mbros.load("arm7")
    plant = make_plant(model, None, 1e-3, "semi_implicit_euler", [("world", "link3"), ("link3", "flange")])
    plant.step(np.full(model.nv, 3.0))
    other = made(plant)
    assert type(other) is type(plant) and other.layout == plant.layout and other.parameters == plant.parameters
    assert np.array_equal(other.observe(), plant.observe()) and np.array_equal(other.effort, plant.effort)
    assert other.state is not plant.state
    plant.step(None)
    assert not np.array_equal(other.observe(), plant.observe())


@pytest.mark.parametrize("made", [copy.copy, *DEEP], ids=["copy", *DEEP_IDS])
def test_trial_D2_a_fault_is_copied_and_ends_with_a_reset(made):
    sim = mbros.Simulator(mbros.load("pendulum"))
    sim.state.v[:] = 1e9
    with pytest.raises(mbros.FaultError):
        for _ in range(20000):
            sim.step([1e6])
            sim.state.v[:] *= 2.0
    other = made(sim)
    assert other.plant.fault == sim.plant.fault != (0, -1)
    with pytest.raises(mbros.FaultError):
        other.step()
    other.reset()
    other.step()
    assert other.plant.fault[0] == 0 and sim.plant.fault[0] != 0


def test_trial_D2_a_copy_goes_on_after_its_original_is_gone():
    sim = in_motion()
    future = goes_on(copy.deepcopy(sim))
    other = copy.copy(sim)
    del sim
    assert np.array_equal(goes_on(other), future)


def test_trial_D2_a_pickle_is_read_by_another_build_of_the_engine(tmp_path):
    sim = in_motion("arm7")
    (tmp_path / "sim.pickle").write_bytes(pickle.dumps(sim))
    program = ("import pickle, sys, mbros_core; sim = pickle.load(open(sys.argv[1], 'rb')); sim.step(); "
               "print(mbros_core.Plant.__module__, repr(float(sim.state.q[2])))")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "sim.pickle")], capture_output=True, text=True,
                          env={**os.environ, "MBROS_ENGINE": "baseline"})
    assert done.returncode == 0, done.stderr
    module, q2 = done.stdout.split()
    sim.step()
    assert module.endswith("._double") and float(q2) == pytest.approx(sim.state.q[2], rel=1e-12)


def test_trial_D2_subclasses_and_logs_are_copied_whole():
    class Bench(mbros.Simulator):
        pass

    sim = Bench(mbros.load("double_pendulum"))
    sim.operator = ["somebody"]
    other = copy.copy(sim)
    assert type(other) is Bench and other.operator is sim.operator
    assert copy.deepcopy(sim).operator is not sim.operator
    log = sim.run(0.1)
    for twin in (copy.deepcopy(log), pickle.loads(pickle.dumps(log))):
        assert np.array_equal(twin.energy, log.energy) and twin.model is not log.model


def test_trial_D2_numbers_of_another_model_are_refused():
    from mbros_core.engine.copies import state_of

    make, (model, numbers) = mbros.load("arm7").default_state().__reduce__()
    assert make is state_of
    with pytest.raises(mbros.MbrosError, match=r"model 'pendulum': expected \(\d+,\) numbers of a copied state, got \(\d+,\)"):
        state_of(mbros.load("pendulum"), numbers)
