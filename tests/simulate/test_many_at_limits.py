"""Many drives of one robot that come to their limits in one step: what acts then solves all of their laws together. Each is at its limit
only where its law asks for as much as the joint moves in the end, a condition of complementarity; otherwise they push against each
other."""
import numpy as np
import pytest
from bench_rigs import bench

import mbros

N, DT = 12, 1e-3
NAMES = [f"j{k}" for k in range(N)]
STALL, TOP = 20.0, 5.0                              # of the line
R, KN, MOST_U, MOST_I = 1.0, 2.0, 24.0, 10.0        # of the motor: torque constant 0.1, gear 20
HOLDS, SLIPS = 10.0, 8.0


def motor(name):
    return mbros.Motor(f"{name}.drive", joint=name, resistance=R, torque_constant=0.1, gear_ratio=20.0, voltage_limit=MOST_U,
                       current_limit=MOST_I, resistance_coefficient=0.0)


def runs(device, command, most, integrator):
    """Of a chain of 12 links that is thrown about, after each step: what was commanded, v before and after, what the drives read."""
    rng = np.random.default_rng(3)
    b = mbros.ModelBuilder("chain", gravity=(0.0, 0.0, 0.0))
    parent = b.world
    for k, name in enumerate(NAMES):
        body = b.add_body(f"l{k}", 0.5, (0.1, 0, 0), (1e-3, 1e-3, 1e-3))
        b.add_joint(mbros.RevoluteJoint(name, parent, body, axis=(0, 0, 1) if k % 2 else (0, 1, 0), p=(0.2 if k else 0.0, 0, 0)))
        parent = body
    devices = [one for name in NAMES for one in device(name)]
    sim = mbros.Simulator(b.build(), dt=DT, integrator=integrator, bench=bench(*devices))
    rows = [row for row in ("effort", "holding") if f"j0.drive.{row}" in sim.signals]
    read = {row: [sim.signals[f"{name}.drive.{row}"] for name in NAMES] for row in rows}
    for k in range(300):
        if k % 10 == 0:
            commanded = rng.uniform(-most, most, N)
            sim.command(**{command: dict(zip(NAMES, commanded))})
            if command != "effort" or len(devices) == N:                # brakes begin at rest, and come back to it
                sim.state.q[:], sim.state.v[:] = rng.uniform(-1.0, 1.0, N), rng.uniform(-6.0, 6.0, N)
        v = sim.state.v.copy()
        sim.step()
        yield commanded, v, sim.state.v.copy(), *(np.array([one.value for one in rows]) for rows in read.values())


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("numbers", [dict(stall_effort=STALL, no_load_speed=TOP), dict(torque_speed_curve=((0, STALL), (2, 18), (TOP, 0)))])
def test_trial_P3_many_efforts_leave_their_lines_when_they_are_not_asked_for(integrator, numbers):
    limited = 0
    for commanded, _, v, effort in runs(lambda name: [mbros.EffortActuator(f"{name}.drive", joint=name, **numbers)], "effort", 30.0,
                                        integrator):
        side = np.sign(commanded)
        u, wanted, did = side * v, np.abs(commanded), side * effort
        bend = STALL - u if "torque_speed_curve" in numbers else np.inf
        line = np.where(u < 2.0, bend, 18.0 * (TOP - u) / (TOP - 2.0)) if "torque_speed_curve" in numbers else STALL * (1.0 - u / TOP)
        law = np.where(u >= 0.0, np.minimum(wanted, line), wanted)
        turns = (u < 0.0) & (did >= STALL - 1e-9) & (did <= wanted)     # the line begins at rest, where it jumps: what leads across it
        assert (turns | (np.abs(did - law) < 1e-9 * STALL)).all()
        limited += (did < wanted - 1e-9).sum()
    assert limited > 1000


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("command, most", [("effort", 30.0), ("voltage", 24.0)])
def test_trial_P3_many_motors_leave_limits_of_voltage_and_current_when_they_are_not_asked_for(integrator, command, most):
    limited = 0
    for commanded, before, v, effort in runs(lambda name: [motor(name)], command, most, integrator):
        back = KN * 0.5 * (before + v)
        if command == "effort":
            wanted = np.clip(commanded / KN, -MOST_I, MOST_I)
            law = np.clip(wanted, (-MOST_U - back) / R, (MOST_U - back) / R)
        else:
            wanted = (commanded - back) / R
            law = np.clip(wanted, -MOST_I, MOST_I)
        np.testing.assert_allclose(effort / KN, law, atol=1e-9)
        limited += (np.abs(law - wanted) > 1e-9).sum()
    assert limited > 500


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_trial_P3_many_brakes_hold_no_more_than_they_can(integrator):
    """Where several slip at once, one that is relieved holds again, and slips again where that is too much."""
    def braked(name):
        return [mbros.EffortActuator(f"{name}.motor", joint=name),
                mbros.Brake(f"{name}.drive", joint=name, holding_effort=HOLDS, slip_effort=SLIPS)]

    held = 0
    for _, _, v, effort, holding in runs(braked, "effort", 30.0, integrator):
        assert np.abs(effort[holding == 1.0]).max(initial=0.0) <= HOLDS * (1.0 + 1e-9)
        slips = (holding == 0.0) & (np.abs(effort) >= SLIPS * (1.0 - 1e-9))
        assert (effort[slips] * v[slips] <= 1e-9).all()
        held += holding.sum()
    assert held > 50
