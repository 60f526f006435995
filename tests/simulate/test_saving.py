"""Saved simulations: what goes on from one is to the bit what never stopped; what is damaged or foreign is refused and changes nothing.

MBROS_CASES (200) points are saved, and gone on from for MBROS_STEPS (40) steps and one; MBROS_MUTANTS (2000) damaged files are refused.
"""
import hashlib
import json
import os
import subprocess
import sys

import mbros
import numpy as np
import pytest
from mbros.simulate import saved
from mbros_core.support.fingerprint import differing, fingerprint

POINTS = int(os.environ.get("MBROS_CASES", "200"))
STEPS = int(os.environ.get("MBROS_STEPS", "40"))
MUTANTS = int(os.environ.get("MBROS_MUTANTS", "2000"))


def world(name, integrator="midpoint"):
    """A simulator of a robot in the middle of something, with its commands."""
    ground = name in ("quadruped", "humanoid", "diff_drive") and integrator == "midpoint"
    model = mbros.load(name, ground=ground)
    sim = mbros.Simulator(model, 1e-3, integrator)
    rng = np.random.default_rng(len(name))
    sim.state.v += 0.3 * rng.normal(size=model.nv) if not model.constraints else 0.0
    return sim, rng


WORLDS = [("arm7", "midpoint"), ("arm7", "rk4"), ("quadruped", "midpoint"), ("quadruped", "semi_implicit_euler"), ("gripper", "midpoint"),
          ("humanoid", "midpoint"), ("four_bar", "rk4"), ("diff_drive", "midpoint")]


def everything(sim):
    numbers = dict(saved.read(sim.save()).numbers)
    numbers.pop("devices")
    return numbers, sim.clamped, sim.plant.fault, sim.time


def same(a, b):
    return all(np.array_equal(a[0][part], b[0][part]) for part in a[0]) and a[1:] == b[1:]


@pytest.mark.filterwarnings("ignore::mbros.PositionLimitWarning")
@pytest.mark.parametrize("name, integrator", WORLDS)
def test_going_on_is_to_the_bit_as_not_having_stopped(name, integrator):
    sim, rng = world(name, integrator)
    other = mbros.Simulator(sim.model, 1e-3, integrator)
    for _ in range(max(1, POINTS // len(WORLDS))):
        tau = rng.normal(size=sim.model.nv)
        sim.plant.steps(tau, int(rng.integers(1, 60)))
        if rng.random() < 0.3:
            sim.state.damping += 0.01 * rng.random(sim.model.nv)
        blob = sim.save()
        other.plant.steps(rng.normal(size=sim.model.nv), int(rng.integers(1, 5)))       # somewhere else altogether
        other.restore(blob)
        assert same(everything(sim), everything(other)) and other.save() == blob
        for s in (sim, other):
            s.plant.steps(tau, STEPS)
            s.step()
        assert same(everything(sim), everything(other))
        other.reset()
    sim.reset()
    assert np.array_equal(sim.state.q, other.state.q) and np.array_equal(sim.state.damping, other.state.damping)


ELSEWHERE = """
import sys, mbros
sim = mbros.Simulator(mbros.load("quadruped", ground=True))
sim.restore(sys.argv[1])
sim.advance_to(0.3)
sys.stdout.buffer.write(sim.save())
"""


def test_another_process_goes_on_to_the_bit(tmp_path):
    sim, _ = world("quadruped")
    sim.advance_to(0.1)
    file = tmp_path / "dog.mbros"
    assert sim.save(file) == file.read_bytes()
    sim.advance_to(0.3)
    there = subprocess.run([sys.executable, "-c", ELSEWHERE, str(file)], capture_output=True, check=True, timeout=600).stdout
    a, b = saved.read(sim.save()), saved.read(there)
    assert np.array_equal(a.numbers["state"], b.numbers["state"]) and np.array_equal(a.numbers["effort"], b.numbers["effort"])


def test_a_fault_and_counts_are_saved():
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.step(np.full(7, 1e9))
    assert sim.clamped == 7
    sim.state.q[0] = 1e12
    with pytest.raises(mbros.FaultError):
        sim.step()
    other = mbros.Simulator(sim.model)
    other.restore(sim.save())
    assert other.plant.fault == sim.plant.fault and other.clamped == 7
    with pytest.raises(mbros.FaultError):
        other.step()
    other.reset()
    other.step()


def test_locks_and_the_bound_on_iterations_are_saved():
    model = mbros.load("quadruped", ground=True)
    sim = mbros.Simulator(model, max_contact_iterations=7)
    next(joint for joint in model.joints if joint.nv == 1).lock(sim.state)
    other = mbros.Simulator(model)
    other.restore(sim.save())
    assert np.array_equal(other.state.field("lock"), sim.state.field("lock")) and sim.state.field("lock").any()
    assert other.plant.max_contact_iterations == 7


BENCH = """
seed: 7
actuators:
  joint*: {type: position_servo, kp: 400, kd: 20}
sensors:
  imu: {type: imu, frame: flange, rate: 200, gyro_noise_density: 1.7e-4, accel_noise_density: 2.0e-3}
channels:
  - {signal: "joint*.command.*", delay: 0.002, jitter: 0.0005, loss: 0.01}
"""


def test_devices_delays_and_random_streams_are_saved(tmp_path):
    file = tmp_path / "servos.yaml"
    file.write_text(BENCH)
    model = mbros.load("arm7")
    sim, other = (mbros.Simulator(model, bench=file) for _ in range(2))
    for k in range(20):
        sim.command(position={"joint2": 0.1 * k})
        sim.advance_to(sim.time + 0.013)
        blob = sim.save()
        other.command(position={"joint3": 1.0})
        other.advance_to(other.time + 0.005) if k == 0 else None
        other.restore(blob)
        for s in (sim, other):
            s.advance_to(s.time + 0.01)
        assert sim.save() == other.save()
        assert np.array_equal(sim.signals["imu.angular_velocity"].value, other.signals["imu.angular_velocity"].value)
    refused(mbros.Simulator(model), blob, "was simulated with a bench, this simulator is without a bench; make one with the same")
    file.write_text(BENCH.replace("seed: 7", "seed: 8"))
    refused(mbros.Simulator(model, bench=file), blob, "with a bench that is another one")
    refused(sim, mbros.Simulator(model).save(), "was simulated without a bench")


def test_motions_go_on_where_they_are_there_again():
    model = mbros.load("arm7")
    sim, other = mbros.Simulator(model), mbros.Simulator(model)
    motion = mbros.Spline([0.0, 0.5, 1.0], [0.0, 0.4, -0.2])
    sim.prescribe("joint2", motion)
    sim.advance_to(0.3)
    blob = sim.save()
    refused(other, blob, "with a motion of joint 'joint2', a function of time that no file holds")
    other.prescribe("joint2", motion)
    other.restore(blob)
    for s in (sim, other):
        s.advance_to(0.7)
    assert sim.save() == other.save() and sim.state.q[1] == other.state.q[1] != 0.0


def refused(sim, blob, words):
    before = everything(sim)
    with pytest.raises(mbros.SaveError, match=words):
        sim.restore(blob)
    assert same(before, everything(sim))


def test_what_is_not_its_own_is_refused_by_name():
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.advance_to(0.01)
    refused(sim, mbros.Simulator(mbros.load("panda")).save(), "of another model: 'panda', which differs from 'arm7' here in name")
    heavier = mbros.ModelBuilder(mbros.load("arm7"))
    heavier.joint("joint2").damping = 0.7
    refused(sim, mbros.Simulator(heavier.build()).save(), "differs from 'arm7' here in damping;")
    refused(sim, mbros.Simulator(sim.model, dt=0.002).save(), "simulated with dt 0.002, this simulator has 0.001")
    refused(sim, mbros.Simulator(sim.model, integrator="rk4").save(), "integrator 'rk4', this simulator has 'midpoint'")
    refused(sim, b"", "is no saved simulation")
    refused(sim, b"PK\3\4" + bytes(200), "is no saved simulation")
    refused(sim, "/nowhere/at/all.mbros", "cannot be read: No such file")
    refused(sim, None, "expected what save\\(\\) returned")
    newer = bytearray(sim.save())
    newer[len(saved.MAGIC)] = 9
    refused(sim, bytes(newer), "has layout 9 of saved simulations, this mbros reads 1")


def test_what_is_damaged_is_refused_and_changes_nothing():
    sim, rng = world("quadruped")
    sim.advance_to(0.05)
    blob = sim.save()
    sim.advance_to(0.06)
    before = everything(sim)
    for _ in range(MUTANTS):
        other = bytearray(blob)
        kind = rng.integers(3)
        if kind == 0:
            other = other[:rng.integers(len(other))]
        elif kind == 1:
            other[rng.integers(len(other))] ^= 1 << rng.integers(8)
        else:
            at, n = rng.integers(len(other)), rng.integers(1, 40)
            other[at:at + n] = rng.bytes(int(rng.integers(40)))
        if bytes(other) == blob:
            continue
        with pytest.raises(mbros.SaveError):
            sim.restore(bytes(other))
    assert same(before, everything(sim))


def sealed(header, numbers):
    text = json.dumps(header).encode()
    body = saved.MAGIC + b"\1\0" + len(text).to_bytes(8, "little") + text + np.asarray(numbers, "<f8").tobytes()
    return body + hashlib.sha256(body).digest()


EDITS = [{"fault": [1, "x"]}, {"fault": [99, 5]}, {"fault": [1, 10**6]}, {"clamped": -1}, {"dt": None}, {"parts": [["state", 5]]},
         {"parts": 3}, {"layout": []}, {"max_contact_iterations": 0}, {"fingerprint": {}}, {"started": 1}, {"bench": "abc"},
         {"motions": [3]}, {"motions": [{}]}, {"time": np.inf}, {"clamped": 2**70},
         {"parts": [["state", np.inf]]}, {"numbers": np.nan}, {"header": 0}]


@pytest.mark.parametrize("change", EDITS)
def test_what_was_edited_and_sealed_again_is_refused(change):
    sim = mbros.Simulator(mbros.load("arm7"))
    of = saved.read(sim.save())
    numbers = np.concatenate(list(of.numbers.values())) * change.get("numbers", 1.0)
    refused(sim, sealed({**of.header, **change} if "header" not in change else [1, 2], numbers), ".")


@pytest.mark.parametrize("part", ["state", "start"])
@pytest.mark.parametrize("field, at, value, words", [
    ("q", 1, 1e11, "joint2'\\) is 1e\\+11; expected less than 1e\\+10"), ("q", 1, -1e300, "expected less than"),
    ("v", 6, 1e10, "joint7"), ("lock", 2, 0.5, "lock of 'joint3' is 0.5; expected 0 or 1"), ("lock", 2, -1.0, "lock of 'joint3'"),
    ("lock", 2, 1e300, "lock of 'joint3'"), ("clock", 1, -1.0, "count of steps, clock\\[1\\], is -1"),
    ("clock", 1, 0.5, "expected a whole number, 0 to 2\\^53"), ("clock", 1, 1e300, "count of steps")])
def test_a_state_that_cannot_be_set_cannot_be_restored(part, field, at, value, words):
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.advance_to(0.01)
    of, there = saved.read(sim.save()), sim.model.default_state()
    there._inputs[...] = of.numbers[part]
    there.field(field)[at] = value
    parts = {**of.numbers, part: there._inputs}
    refused(sim, sealed(of.header, np.concatenate(list(parts.values()))), words)


def test_a_quaternion_of_zeros_is_not_restored():
    sim = mbros.Simulator(mbros.load("quadruped"))
    of, there = saved.read(sim.save()), sim.model.default_state()
    there._inputs[...] = of.numbers["state"]
    there.q[:7] = 0.0
    refused(sim, sealed(of.header, np.concatenate(list({**of.numbers, "state": there._inputs}.values()))), "has no direction")


def test_what_is_near_the_bounds_or_prescribed_is_restored():
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.prescribe("joint1", mbros.Spline([0.0, 0.5, 1.0], [0.0, 0.4, -0.2]))
    sim.advance_to(0.01)
    sim.state.q[3], sim.state.v[3], sim.state.time = 9.9e9, -9.9e9, -1.0
    blob = sim.save()
    sim.restore(blob)
    assert sim.save() == blob and sim.state.field("lock")[0] == 2.0


def test_disturbances_that_push_nothing_there_is_are_refused_before_anything_changes():
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.disturbances.apply_wrench("flange", force=(1.0, 0.0, 0.0))
    of = saved.read(sim.save())
    table = of.disturbances().copy()
    table[0, 4] = 1e300
    other = mbros.Simulator(sim.model)
    other.advance_to(0.01)
    refused(other, sealed(of.header, np.concatenate(list({**of.numbers, "disturbances": table.ravel()}.values()))), "does not have")


def test_a_file_that_cannot_be_written_says_so(tmp_path):
    sim = mbros.Simulator(mbros.load("pendulum"))
    with pytest.raises(mbros.MbrosError, match="save: .* cannot be written"):
        sim.save(tmp_path / "no" / "folder.mbros")
    assert not list(tmp_path.iterdir())


def test_a_held_state_is_not_saved():
    from mbros_core.realtime import Loop
    sim = mbros.Simulator(mbros.load("pendulum"))
    blob, loop = sim.save(), Loop(sim.plant, watchdog_timeout=None)
    loop.start()
    try:
        for call in (sim.save, lambda: sim.restore(blob)):
            with pytest.raises(mbros.MbrosError, match="simulated by a real-time loop"):
                call()
    finally:
        loop.stop()
    sim.restore(blob)


def test_fingerprints_are_of_numbers_and_nothing_else():
    a, b = mbros.load("quadruped", ground=True), mbros.load("quadruped", ground=True)
    assert fingerprint(a.spec) == fingerprint(b.spec)
    assert differing(fingerprint(a.spec), fingerprint(mbros.load("quadruped", ground=0.1).spec)) != []
    moved = mbros.load("quadruped", gravity=(0, 0, -1.0))
    assert differing(fingerprint(mbros.load("quadruped").spec), fingerprint(moved.spec)) == ["gravity"]


def test_the_command_goes_on_from_a_file(tmp_path, capsys):
    from mbros.cli import main
    whole, half, end = (str(tmp_path / name) for name in ("whole.mbros", "half.mbros", "end.mbros"))
    assert main(["run", "quadruped", "--ground", "--dt", "0.002", "--duration", "0.2", "--save", whole]) == 0
    assert main(["run", "quadruped", "--ground", "--dt", "0.002", "--duration", "0.1", "--save", half]) == 0
    assert main(["run", "quadruped", "--ground", "--duration", "0.1", "--from", half, "--save", end]) == 0
    assert "0.1 s simulated" in capsys.readouterr().out
    assert np.array_equal(saved.read(whole).numbers["state"], saved.read(end).numbers["state"])
    assert main(["run", "arm7", "--from", half]) != 0 and "of another model" in capsys.readouterr().err
