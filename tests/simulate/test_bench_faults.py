"""Faults of a bench: each does what it says, from its step to its step, to the bit."""
import mbros
import numpy as np
import pytest
from bench_rigs import bench, disc, rotating_arm
from fault_rigs import BEGIN, END, READING, TIMES, H, arm, record

CLEAN = {}


def clean(name):
    if name not in CLEAN:
        CLEAN[name] = record(arm(), name)[0]
    return CLEAN[name]


def held(x, at):
    """x, frozen while the fault acts at x[at]."""
    out = x.copy()
    out[BEGIN:END] = x[at]
    return out


EXACT = {       # what a reading x (n,) becomes, from step BEGIN + 1 to END
    "frozen": ({}, lambda x, k: x[BEGIN]),
    "offset": ({"offset": 0.25}, lambda x, k: x + 0.25),
    "drift": ({"rate": 0.7}, lambda x, k: x + 0.7 * ((k - BEGIN) * H)),
    "sign_flip": ({}, lambda x, k: -x),
    "not_a_number": ({}, lambda x, k: x * np.nan),
    "out_of_range": ({"value": 1e6}, lambda x, k: np.full_like(x, 1e6)),
    "lost": ({}, lambda x, k: np.full_like(x, np.nan)),           # below: the last one before stays
}


@pytest.mark.parametrize("signal", [READING, "wrist.imu.linear_acceleration"])
@pytest.mark.parametrize("kind", EXACT)
def test_a_reading_is_worse_from_its_step_to_its_step_to_the_bit(kind, signal):
    numbers, worse = EXACT[kind]
    sim = arm(mbros.Fault("f", kind, signal=signal, **TIMES, **numbers))
    (seen,) = record(sim, signal)
    good = clean(signal)
    want = good.copy()
    k = np.arange(len(good)).reshape(-1, *[1] * (good.ndim - 1))
    want[BEGIN:END] = good[BEGIN - 1] if kind == "lost" else worse(good, k)[BEGIN:END] if kind != "frozen" else good[BEGIN]
    assert np.array_equal(seen, want, equal_nan=True)
    assert np.array_equal(sim.signals[signal].sent, arm_after(signal), equal_nan=True)      # what was sent is what is true


def arm_after(signal):
    return clean(signal)[-1]


def test_noise_and_burst_loss_have_their_numbers():
    sim = arm(mbros.Fault("n", "noise", signal=READING, noise=0.1, **TIMES),
              mbros.Fault("l", "burst_loss", signal="joint4.encoder.position",
                                                                                      loss=0.5, burst=5.0, **TIMES))
    noisy, holed = record(sim, READING, "joint4.encoder.position")
    error = noisy - clean(READING)
    assert not error[:BEGIN].any() and not error[END:].any()
    assert error[BEGIN:END].std() == pytest.approx(0.1, rel=0.25) and (error[BEGIN:END] != 0.0).all()
    good = clean("joint4.encoder.position")
    lost = holed != good
    assert not lost[:BEGIN].any() and not lost[END:].any() and 15 < lost.sum() < 85


def test_late_messages_come_so_much_later_and_what_is_on_its_way_at_the_end_is_lost():
    sim = arm(mbros.Fault("f", "late", signal=READING, delay=0.01, **TIMES))
    (seen,), good = record(sim, READING), clean(READING)
    assert (seen[:BEGIN] == good[:BEGIN]).all() and (seen[BEGIN:BEGIN + 10] == good[BEGIN - 1]).all()
    assert (seen[BEGIN + 10:END] == good[BEGIN:END - 10]).all() and (seen[END:] == good[END:]).all()


def test_a_dead_bus_is_a_pattern_of_signals_at_once():
    sim = arm(mbros.Fault("bus", "lost", signal="joint*.encoder.*", **TIMES))
    sim.advance_to(0.25)
    fault = sim.faults["bus"]
    assert len(fault.signals) == 21 and fault.joints == tuple(f"joint{k}" for k in range(1, 8))
    assert {sim.signals[name].time for name in fault.signals} == {0.2}
    sim.advance_to(0.301)
    assert {sim.signals[name].time for name in fault.signals} == {0.301}


def test_a_sensors_fault_passes_its_latency_and_a_commands_fault_acts_at_once():
    devices = (mbros.EffortActuator("e", joint="hinge"), mbros.Encoder("s", joint="hinge", latency=0.005),
               mbros.Fault("s", "out_of_range", signal="s.position", value=7.0, **TIMES),
               mbros.Fault("c", "out_of_range", signal="hinge.command.effort", value=2.0, **TIMES))
    sim = mbros.Simulator(disc(), bench=bench(*devices))
    sim.command(effort={"hinge": 1.0})
    seen, effort = record(sim, "s.position", "hinge.effort")
    assert (np.flatnonzero(seen == 7.0)[[0, -1]] == [BEGIN + 5, END + 4]).all()
    assert (effort == np.where((np.arange(400) >= BEGIN) & (np.arange(400) < END), 2.0, 1.0)).all()


# ------------------------------------------------------------------------------------------------------ joints and bodies

def with_hand(change, n=400):
    """The q of the same robot, with change(state) before the steps of the fault and undone after each."""
    sim = arm()
    out = []
    for k in range(n):
        kept = {name: sim.state.field(name).copy() for name in ("friction", "damping", "inertia", "lock")}
        if BEGIN <= k < END:
            change(sim.state)
        sim.step()
        for name, x in kept.items():
            sim.state.field(name)[...] = x
        out.append(sim.state.q.copy())
    return np.array(out)


def positions(*faults, n=400):
    sim = arm(*faults)
    before = [sim.state.field(name).copy() for name in ("friction", "damping", "inertia", "lock")]
    out = []
    for _ in range(n):
        sim.step()
        out.append(sim.state.q.copy())
        assert all((sim.state.field(name) == x).all() for name, x in zip(("friction", "damping", "inertia", "lock"), before))
    return np.array(out)


def add(name, index, x):
    def change(state):
        state.field(name)[index] += x
    return change


def both(*changes):
    def change(state):
        for each in changes:
            each(state)
    return change


def point_mass(body, m, p):
    def change(state):
        I = m * ((p @ p) * np.eye(3) - np.outer(p, p))
        state.field("inertia").reshape(-1, 10)[body] += [m, *(m * p), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return change


def flange():
    model = mbros.load("arm7")
    k = model._frame_index("flange")
    pose = np.asarray(model.spec.X_BF[k], float)
    return int(model.spec.frame_body[k]), pose[:9].reshape(3, 3) @ [0.01, 0.02, 0.1] + pose[9:]


ON_JOINTS = {
    "stuck": (dict(joint="joint2"), lambda: lambda state: state.model.joint("joint2").lock(state)),
    "jammed_brake": (dict(joint="joint2", effort=30.0), lambda: add("friction", 1, 30.0)),
    "friction": (dict(joint="joint2", coulomb=3.0, viscous=5.0), lambda: both(add("friction", 1, 3.0), add("damping", 1, 5.0))),
    "load": (dict(frame="flange", mass=2.0, place=[0.01, 0.02, 0.1]), lambda: point_mass(flange()[0], 2.0, flange()[1])),
}


@pytest.mark.parametrize("kind", ON_JOINTS)
def test_a_joint_moves_as_with_these_parameters_in_these_steps(kind):
    words, change = ON_JOINTS[kind]
    seen, want = positions(mbros.Fault("f", kind, **words, **TIMES)), with_hand(change())
    if kind == "load":                                      # sums of the same numbers in another order
        assert np.abs(seen - want).max() < 1e-12
    else:
        assert np.array_equal(seen, want)
    assert np.array_equal(seen[:BEGIN], positions(n=BEGIN)) and np.abs(seen - positions()).max() > 1e-4
    if kind == "stuck":
        assert (seen[BEGIN:END, 1] == seen[BEGIN - 1, 1]).all() and seen[END, 1] != seen[BEGIN - 1, 1]


@pytest.mark.parametrize("kind, numbers, share", [("free", {}, 0.0), ("lost_effort", {"fraction": 0.75}, 0.25)])
def test_effort_is_lost_from_the_actuator_and_from_outside(kind, numbers, share):
    sim = mbros.Simulator(disc(), bench=bench(mbros.EffortActuator("e", joint="hinge"),
                                              mbros.Fault("f", kind, joint="hinge", **TIMES, **numbers)))
    sim.command(effort={"hinge": 1.0})
    for k in range(400):
        v = sim.state.v[0]
        sim.step([0.5])
        acted = 1.5 * (share if BEGIN <= k < END else 1.0)
        assert sim.signals["hinge.effort"].value == acted and sim.signals["e.effort"].value == 1.0
        assert sim.state.v[0] == pytest.approx(v + H * acted / 0.5, rel=1e-14)


def test_a_stiff_servo_whose_shaft_is_broken_moves_nothing():
    servo = mbros.PositionServo("s", joint="hinge", kp=1e9, kd=1e3)
    sim = mbros.Simulator(disc(), bench=bench(servo, mbros.Fault("f", "free", joint="hinge", at=0.0)))
    sim.command(position={"hinge": 1.0})
    sim.advance_to(0.2)
    assert (sim.state.q == 0.0).all() and sim.signals["hinge.effort"].value == 0.0 and sim.signals["s.effort"].value == pytest.approx(1e9)


def test_a_stuck_joint_stays_locked_or_prescribed_where_it_was():
    for given in ("lock", "prescribe"):
        sim = arm(mbros.Fault("f", "stuck", joint="joint2", **TIMES))
        joint = sim.model.joint("joint2")
        if given == "lock":
            joint.lock(sim.state)
        else:
            joint.prescribe(sim.state, velocity=0.3)
        sim.advance_to(0.4)
        assert sim.state.q[1] == pytest.approx(0.0 if given == "lock" else 0.12, abs=1e-12)
        assert joint.mobilizer.source(sim.state) == ("locked" if given == "lock" else "prescribed")


def test_an_imu_sees_what_a_fault_does_to_its_joint():
    model = rotating_arm()
    sim = mbros.Simulator(model, bench=bench(mbros.Imu("imu", frame="tip"), mbros.Fault("f", "stuck", joint="hinge", **TIMES)))
    sim.state.v[:] = 2.0
    (w,) = record(sim, "imu.angular_velocity")
    assert w[BEGIN - 1, 2] == pytest.approx(2.0) and not w[BEGIN:, 2].any()
