"""Brakes: friction that holds exactly, beside other actuators."""
import copy

import numpy as np
import pytest
from bench_rigs import bench, disc

import mbros
from mbros_core.realtime import Loop


def braked(*more, v=0.0, integrator="midpoint", inertia=0.5, **numbers):
    brake = mbros.Brake("b", joint="hinge", **{"holding_effort": 4.0, "slip_effort": 3.0, **numbers})
    sim = mbros.Simulator(disc(inertia), integrator=integrator, bench=bench(brake, *more))
    sim.state.v[:] = v
    return sim


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_it_stops_where_friction_stops_and_then_keeps_every_bit(integrator, side):
    sim = braked(v=2.0 * side, integrator=integrator)
    for _ in range(400):
        sim.step([side])
    assert sim.signals["b.effort"].value == -3.0 * side and sim.signals["b.holding"].value == 0.0
    sim.advance_to(0.6, [side])                                   # 0.5 kg m^2 from 2 rad/s under 3 - 1 N m: 0.5 s and 0.5 rad
    stopped = sim.state.q[0]
    assert stopped == pytest.approx(0.5 * side, abs=2e-3 if integrator != "midpoint" else 1e-8)
    for k in range(2000):
        load = 3.99 * np.sin(0.01 * k)
        sim.step([load])
        assert sim.state.q[0] == stopped and sim.state.v[0] == 0.0
        assert sim.signals["b.effort"].value == pytest.approx(-load, abs=1e-12) and sim.signals["b.holding"].value == 1.0


def test_it_slips_beyond_what_it_holds_and_heats():
    sim = braked()
    sim.advance_to(0.1, [3.999])
    assert sim.state.v[0] == 0.0
    sim.step([4.5])
    assert sim.state.v[0] == pytest.approx(1e-3 * (4.5 - 3.0) / 0.5, rel=1e-12)
    heat = work = 0.0
    for k in range(3000):
        load = 6.0 * np.sin(0.01 * k)
        v = sim.state.v[0]
        sim.step([load])
        work += 1e-3 * load * 0.5 * (v + sim.state.v[0])
        heat += 1e-3 * sim.signals["b.heat"].value
        # where it turns round within a step, a mean effort times a mean velocity may be below zero
        assert sim.signals["b.heat"].value >= -0.5 * 4.0 * 1e-3 * 10.0 / 0.5 and abs(sim.signals["b.effort"].value) <= 4.0 + 1e-9
    assert work > 1.0 and work - heat == pytest.approx(0.25 * (sim.state.v[0]**2 - 0.003**2), abs=1e-9 * work)


def test_commands_and_delays():
    sim = braked(engage_delay=0.02, release_delay=0.05, engaged=0.0)
    sim.advance_to(0.1, [1.0])
    assert sim.state.v[0] == pytest.approx(0.2, rel=1e-9)         # nothing commanded, and not engaged then
    sim.command(brake={"hinge": 1.0})
    engaged = []
    for _ in range(100):
        sim.step()
        engaged.append(sim.signals["b.engaged"].value)
    assert engaged == [0.0] * 20 + [1.0] * 80 and sim.state.v[0] == 0.0
    sim.command(brake={"hinge": 0.0})
    engaged = []
    for _ in range(100):
        sim.step([1.0])
        engaged.append(sim.signals["b.engaged"].value)
    assert engaged == [1.0] * 50 + [0.0] * 50 and sim.state.v[0] == pytest.approx(0.05 * 1.0 / 0.5, rel=1e-9)
    assert braked().signals["hinge.command.brake"].unit == "1"
    with pytest.raises(mbros.MbrosError, match="takes a command of position; it takes brake"):
        braked().command(position={"hinge": 1.0})


def test_beside_a_servo_under_gravity_it_carries_the_rest():
    """Brakes of an arm hold it against gravity and servos, exactly; each carries what inverse dynamics says is left."""
    model = mbros.load("arm7")
    sim = mbros.Simulator(model, bench=bench(mbros.Brake("*.b", joint="joint*", holding_effort=400.0),
                                             mbros.PositionServo("*.s", joint="joint*", kp=100.0, kd=10.0),
                                             mbros.ForceTorque("wrist", frame="flange")))
    sim.state.q[:] = np.linspace(0.1, 0.7, 7)
    start = sim.state.q.copy()
    sim.command(position={"joint2": 1.0})
    sim.advance_to(0.5)
    assert (sim.state.q == start).all() and not sim.state.v.any()
    for k, needed in enumerate(model.inverse_dynamics(sim.state, np.zeros(7)), 1):
        b, s = (sim.signals[f"joint{k}.{word}.effort"].value for word in "bs")
        assert b + s == pytest.approx(needed, abs=1e-10) and sim.signals[f"joint{k}.effort"].value == pytest.approx(needed, abs=1e-10)
    assert sim.signals["joint2.s.effort"].value == pytest.approx(100.0 * (1.0 - start[1]), rel=1e-9)
    sim.command(brake={"joint2": 0.0})
    sim.advance_to(3.0)
    moved = sim.state.q != start
    assert list(np.flatnonzero(moved)) == [1]                     # the others do not creep while this one moves
    assert sim.model.joint("joint3").is_locked(sim.state) is False


def test_what_holds_is_state_and_no_lock_is_left():
    sim = braked(v=1.0)
    sim.advance_to(0.3)
    other = copy.deepcopy(sim)
    for each in (sim, other):
        each.advance_to(0.5, [3.0])
        each.command(brake={"hinge": 0.0})
        each.advance_to(0.6, [3.0])
    assert sim.state.v[0] == other.state.v[0] > 0.0 and not sim.state.field("lock").any()
    sim.reset()
    sim.state.v[:] = 1.0
    sim.advance_to(0.1)
    assert 0.0 < sim.state.v[0] < 1.0                             # not held from before the reset


def test_a_joint_that_is_locked_or_pushed_by_hand():
    sim = braked()
    sim.advance_to(0.01)
    sim.state.v[:] = 1.0                                          # somebody moved it: it slips, and is not stopped by nothing
    sim.step()
    assert sim.state.v[0] == pytest.approx(1.0 - 1e-3 * 3.0 / 0.5, rel=1e-12)
    sim = braked()
    sim.model.joint("hinge").lock(sim.state)
    sim.advance_to(0.1, [9.0])
    assert sim.state.v[0] == 0.0 and sim.signals["b.effort"].value == 0.0 and sim.model.joint("hinge").is_locked(sim.state)


def test_a_braked_wheel_on_the_ground_and_in_the_loop():
    """Contact and a brake in one step; the real-time loop runs the same bits."""
    model = mbros.load("quadruped", ground=True)
    sims = [mbros.Simulator(model, bench=bench(mbros.Brake("*.b", joint="*", holding_effort=60.0))) for _ in range(2)]
    sims[0].advance_to(0.199)
    loop = Loop(sims[1].plant, clock="virtual", watchdog_timeout=None)
    loop.start(slots=200)
    loop.wait(30.0)
    assert (sims[0].state.q == sims[1].state.q).all()
    sims[0].advance_to(1.0)
    legs = [joint.q_slice for joint in model.joints if joint.nv == 1]
    start = model.default_state().q
    assert all((sims[0].state.q[s] == start[s]).all() for s in legs)
    weight = 9.81 * sum(body.mass for body in model.bodies)
    assert sum(c.force[2] for c in model.contacts(sims[0].state)) == pytest.approx(weight, rel=1e-2)


def test_refusals():
    with pytest.raises(mbros.MbrosError, match="slip_effort 5 is above holding_effort 4"):
        mbros.Brake("b", joint="hinge", holding_effort=4.0, slip_effort=5.0)
    with pytest.raises(mbros.ModelError, match="has brake 'a' already"):
        mbros.Simulator(disc(), bench=bench(*(mbros.Brake(name, joint="hinge", holding_effort=1.0) for name in "ac")))
