"""Faults and sources that come into a bench while it is simulated: as if they had been in it from the start, to the bit."""
import copy
import gc
import pickle

import mbros
import numpy as np
import pytest
from fault_rigs import READING, arm
from mbros_core.plant._commanded import POSITION, CommandedPlant
from mbros_core.errors import BusyError
from mbros_core.realtime import Loop

T = 0.2                 # s: when it comes
FAULTS = {
    "frozen": dict(signal=READING, at=0.25, duration=0.1),
    "noise": dict(signal="wrist.imu.*", noise=0.3, walk=0.1, at=0.25, until=0.3),
    "late": dict(signal="joint*.command.*", delay=0.004, jitter=0.002, at=0.22),
    "lost": dict(signal="joint*.encoder.*", when="joint2.command.position > 0.4", held=0.002, duration=0.05),
    "stuck": dict(joint="joint4", at=0.3, duration=0.05),
    "load": dict(frame="flange", mass=1.5, place=(0.0, 0.1, 0.0), at=0.24),
}


def busy(*parts):
    """An arm under way on its bench, with a channel that draws."""
    sim = arm(*parts, mbros.Channel("bus", signal="joint*.command.*", delay=0.003, jitter=0.001, loss=0.05))
    sim.command(position={"joint2": 0.3, "joint4": -0.5})
    sim.apply_wrench("link7", force=(5.0, 0.0, 3.0), duration=0.28)
    return sim


def outcome(sim):
    return [sim.state.q, sim.state.v, *(np.ravel([signal.value, signal.sent]) for name, signal in sorted(sim.signals.items())
                                        if ".interface." not in name)]


def alike(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(outcome(a), outcome(b), strict=True))


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_that_comes_is_one_that_was_there_to_the_bit(kind):
    there, comes, without = busy(mbros.Fault("it", kind, **FAULTS[kind])), busy(), busy()
    for sim in (there, comes, without):
        sim.advance_to(T)
    live = comes.inject(mbros.Fault("it", kind, **FAULTS[kind]))
    assert live.name == "it" and live.count == 0
    differs = False
    for until in (0.26, 0.28, 0.282, 0.32, 0.34, 0.5):
        for sim in (there, comes, without):
            sim.command(position={"joint2": 0.1 + until})
            sim.advance_to(until)
        differs |= not alike(there, without)
        assert alike(there, comes)
    assert differs
    assert live.count == 1 and repr(live) == repr(there.faults["it"])
    there.reset(), comes.reset()
    there.advance_to(0.4), comes.advance_to(0.4)
    assert alike(there, comes)


def test_one_by_hand_acts_once_it_is_started():
    sim = busy()
    sim.advance_to(T)
    live = sim.inject(mbros.Fault("jam", "stuck", joint="joint2"))
    sim.advance_to(0.25)
    assert not live.active
    live.start()
    sim.step()
    assert live.active and sim.state.v[1] == 0.0


def test_without_a_bench_times_count_from_the_reset_too():
    sim, plain = (mbros.Simulator(mbros.load("arm7"), bench=False) for _ in range(2))
    for each in (sim, plain):
        each.state.q[:] = each.start.q[:] = np.linspace(0.1, 0.7, 7)
    sim.advance_to(0.1)
    live = sim.inject(mbros.Fault("stuck", joint="joint2", at=0.15, duration=0.05))
    sim.advance_to(0.149)
    assert sim.state.v[1] != 0.0
    sim.advance_to(0.16)
    assert live.active and live.began == 0.15 and sim.state.v[1] == 0.0 and sim.state.v[3] != 0.0
    plain.advance_to(0.15), sim.reset()
    sim.advance_to(0.15)
    assert np.array_equal(plain.state.q, sim.state.q)


@pytest.mark.parametrize("mode", ["sim", "locked", "prescribed"])
def test_a_source_that_comes_is_one_that_was_there_to_the_bit(mode):
    there, comes = busy(mbros.JointSource("joint2", joint="joint2")), busy()
    there.advance_to(T), comes.advance_to(T)
    there.sources["joint2"] = mode
    comes.set_source("joint2", mode)
    there.advance_to(0.5), comes.advance_to(0.5)
    assert alike(there, comes) and comes.sources["joint2"].mode == there.sources["joint2"].mode
    comes.set_source(comes.model.joint("joint2"), "sim")                     # it has one now
    assert comes.sources["joint2"].mode == "sim" and len(comes.sources) == 1


def test_a_joint_that_gets_a_source_becomes_real_after_a_sample():
    sim = busy()
    sim.advance_to(T)
    with pytest.raises(mbros.MbrosError, match=r"set_source: joint 'joint2' has no source yet.*set_source\('joint2', 'sim'\)"):
        sim.set_source("joint2", "real")
    assert sim._sources is None
    sim.set_source("joint2", "sim")
    q = sim.state.q[1]
    for k in range(300):
        sim.feed(position={"joint2": q})
        if k == 0:
            sim.set_source("joint2", "real")
        sim.step()
    assert sim.sources["joint2"].mode == "real" and abs(sim.state.q[1] - q) < 1e-6


def test_what_was_looked_up_before_says_that_it_has_to_be_looked_up_again():
    sim = busy(mbros.Fault("jam", "stuck", joint="joint4"), mbros.JointSource("s", joint="joint1"))
    reading, jam, servo, source = sim.signals[READING], sim.faults["jam"], sim.devices["joint2.servo"], sim.sources["joint1"]
    sim.step()
    kp, read = servo.kp, reading.value
    sim.inject(mbros.Fault("free", joint="joint3"))
    for stale in (lambda: reading.value, lambda: reading.sent, lambda: reading.time, lambda: jam.active, jam.start, jam.stop,
                  lambda: setattr(servo, "kp", 1.0), lambda: jam.numbers.update(duration=1.0)):
        with pytest.raises(mbros.StateError, match="look it up again: sim.signals"):
            stale()
    assert sim.devices["joint2.servo"].kp == kp and sim.signals[READING].value == read
    source.become("locked")                        # sources ask the simulation
    sim.step()
    assert sim.sources["joint1"].mode == "locked" and not sim.faults["jam"].active


@pytest.mark.parametrize("what, words", [
    (lambda sim: sim.inject("freeze"), "inject: expected a fault such as"),
    (lambda sim: sim.inject(mbros.Fault("jam", "free", joint="joint1")), "name is already taken"),
    (lambda sim: sim.inject(mbros.Fault("frozen", signal="joint9.position")), "joint9.position"),
    (lambda sim: sim.inject(mbros.Fault("stuck", joint="joint9")), "did you mean"),
    (lambda sim: sim.inject(mbros.Fault("stuck", joint="joint1", at=0.0, until=0.1)), r"ends at 0.1 s, and 0.2 s have passed"),
    (lambda sim: sim.set_source("joint9", "locked"), "did you mean"),
    (lambda sim: sim.set_source("joint1", "lockd"), "mode"),
])
def test_what_is_refused_changes_nothing(what, words):
    there, sim = (busy(mbros.Fault("jam", "stuck", joint="joint4")) for _ in range(2))
    there.advance_to(T), sim.advance_to(T)
    devices = sim.plant.devices
    with pytest.raises(mbros.MbrosError, match=words):
        what(sim)
    assert sim.plant.devices is devices
    there.advance_to(0.3), sim.advance_to(0.3)
    assert alike(there, sim)


def test_copies_pickles_and_saves_have_it():
    sim = busy()
    sim.advance_to(T)
    sim.inject(mbros.Fault("noise", signal=READING, noise=0.1))
    sim.faults["noise"].start()
    others = [copy.copy(sim), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim)), busy(mbros.Fault("noise", signal=READING, noise=0.1))]
    others[-1].restore(sim.save())
    for each in (sim, *others):
        each.advance_to(0.4)
    assert all(alike(sim, each) for each in others)


def test_a_loop_that_has_the_plant_is_asked_to_stop_first():
    sim = busy()
    loop = Loop(sim.plant, rt="off")
    loop.start()
    try:
        with pytest.raises(BusyError):
            sim.inject(mbros.Fault("stuck", joint="joint2"))
    finally:
        loop.stop()
    sim.inject(mbros.Fault("stuck", joint="joint2", at=0.0))
    sim.step()
    assert sim.state.v[1] == 0.0


def test_a_loop_that_was_made_before_goes_through_what_came():
    """A loop copies the plant's functions when it is made."""
    pushed, plain, stuck = (mbros.Simulator(mbros.load("arm7"), bench=False) for _ in range(3))
    for sim in (pushed, plain, stuck):
        sim.state.q[:] = sim.start.q[:] = np.linspace(0.1, 0.7, 7)
    loops = [Loop(sim.plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True) for sim in (pushed, plain, stuck)]
    pushed.apply_wrench("link7", force=(50.0, 0.0, 0.0))
    stuck.inject(mbros.Fault("stuck", joint="joint4", at=0.0))
    for loop in loops:
        with loop:
            loop.step_once(50)
    assert stuck.state.v[3] == 0.0 != plain.state.v[3] and stuck.faults["stuck"].active
    assert not np.array_equal(pushed.state.q, plain.state.q)
    loops[2].reset(stuck.start.q, stuck.start.v)
    assert stuck.plant.devices.steps == 0 and stuck.faults["stuck"].count == 0


def test_controllers_in_lockstep_go_on_as_they_were():
    """Given the state, and commanding efforts, where there was no bench."""
    found, seen = [], []
    for comes in (False, True):
        sim = mbros.Simulator(mbros.load("arm7"), bench=False)
        turns = mbros.Lockstep(sim, {lambda state: seen.append(type(state)) or {"joint2": 5.0 - state.v[1]}: (1, 2)})
        turns.run(0.02)
        if comes:
            sim.inject(mbros.Fault("stuck", joint="joint4", at=9.0))
        turns.run(0.02)
        found.append(sim.state.q.copy())
    assert np.array_equal(*found) and set(seen) == {mbros.State}


def test_a_plant_that_is_commanded_by_position_commands_what_came():
    sim = mbros.Simulator(mbros.load("arm7"), bench="servo")
    driven, command = CommandedPlant(sim.plant), np.zeros((4, 7))
    command[[1, 3], 1] = 0.5, POSITION
    driven.step(command.ravel())
    for k, wanted in enumerate((0.25, -0.25)):
        sim.inject(mbros.Fault(f"free {k}", "free", joint="joint7"))
        gc.collect()
        command[1, 1] = wanted
        driven.step(command.ravel())
        assert sim.signals["joint2.command.position"].value == wanted
        assert sim.plant.devices.block[driven.said[1, 0]] == wanted and driven.takes[1] & POSITION
    with pytest.raises(mbros.MbrosError, match="has no bench"):
        CommandedPlant(mbros.Simulator(mbros.load("arm7"), bench=False).plant)


def test_without_a_bench_a_reset_to_another_time_is_where_times_count_from():
    """As with a bench."""
    for bench in (False, "servo"):
        sim = mbros.Simulator(mbros.load("arm7"), bench=bench)
        sim.advance_to(1.0)
        sim.reset(sim.state.copy())
        sim.advance_to(1.01)
        live = copy.copy(sim).inject(mbros.Fault("stuck", joint="joint2", at=0.02, duration=0.05))
        assert not live.active
        live = sim.inject(mbros.Fault("stuck", joint="joint2", at=0.02, duration=0.05))
        sim.advance_to(1.03)
        assert live.active and live.began == 0.02, bench


def test_a_recording_knows_its_bench(tmp_path):
    pytest.importorskip("mcap")
    sim = busy()
    with sim.record(tmp_path / "run.mcap"), pytest.raises(mbros.MbrosError, match="being recorded.*put this into the bench before"):
        sim.inject(mbros.Fault("stuck", joint="joint2"))


def test_a_plant_without_its_simulator_keeps_its_disturbances():
    """Those that came before the bench, too."""
    for bench_first in (True, False):
        sim = mbros.Simulator(mbros.load("arm7"), bench=False)
        if bench_first:
            sim.inject(mbros.Fault("free", joint="joint7"))
        sim.apply_wrench("link7", force=(50.0, 0.0, 0.0))
        if not bench_first:
            sim.inject(mbros.Fault("free", joint="joint7"))
        plant, other = sim.plant, copy.deepcopy(sim)
        del sim
        gc.collect()
        for _ in range(50):
            plant.step()
            other.step()
        assert np.array_equal(plant.state.q, other.state.q)


def test_a_name_may_say_the_kind():
    for name, kind in (("freeze", "frozen"), ("frozen", "frozen"), ("stuck", "stuck")):
        target = {"joint": "joint1"} if kind == "stuck" else {"signal": READING}
        assert mbros.Fault(name, **target).row.name == kind
    with pytest.raises(mbros.ModelError, match="kind is 'encoder hangs'"):
        mbros.Fault("encoder hangs", signal=READING)
    with pytest.raises(mbros.ModelError, match="did you mean 'frozen'"):
        mbros.Fault("x", "frozn", signal=READING)


def test_noise_of_a_sample_of_a_force_torque_sensor():
    """Each number's own, at any rate; without it, the bits are what they were."""
    deviations = np.array([0.5, 0.05, 0.0, 0.02, 0.002, 0.2])
    model, found = mbros.load("arm7"), {}
    for rate in (None, 500.0):
        for noise in (None, deviations):
            bench = mbros.Bench(seed=3)
            given = {"rate": rate} if rate else {}
            bench.add(mbros.ForceTorque("ft", joint="joint7", **given, **({} if noise is None else {"noise": noise})))
            sim = mbros.Simulator(model, bench=bench)
            for joint in model.joints:
                joint.lock(sim.state)
            rows = []
            for _ in range(2000):
                sim.step()
                rows.append(np.concatenate([sim.signals["ft.force"].value, sim.signals["ft.torque"].value]))
            found[rate, noise is None] = np.array(rows)[:: 2 if rate else 1][1:]
        error = found[rate, False] - found[rate, True]
        n = len(error)
        assert (error[:, 2] == 0.0).all()
        spread = error.std(axis=0)[deviations > 0] / deviations[deviations > 0]
        assert np.abs(spread - 1.0).max() < 5.0 / np.sqrt(2 * n)                    # five standard deviations of it
        assert np.abs(np.corrcoef(error[:, deviations > 0].T) - np.eye(5)).max() < 5.0 / np.sqrt(n)
