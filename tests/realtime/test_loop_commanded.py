"""A plant with devices in the loop: positions, velocities and efforts in one command, as sim.command gives them, to the bit."""
import numpy as np
import pytest

import mbros
from mbros.bench.bench import layout
from mbros.bench.devices import devices_of
from mbros.simulate.simulator import make_plant
from mbros_core.plant._commanded import EFFORT, POSITION, VELOCITY, CommandedPlant
from mbros_core.realtime import Loop

MODEL = mbros.load("arm7")
NV = MODEL.nv


def bench():
    made = mbros.Bench(seed=5)
    made.add(mbros.PositionServo("*.servo", joint="joint[123]", kp=400.0, kd=20.0))
    made.add(mbros.EffortActuator("joint4.drive", joint="joint4", time_constant=0.01))
    made.add(mbros.Channel("bus", signal="joint*.command.*", delay=2e-3, jitter=1e-3, loss=0.1))
    return made


def plant():
    made = make_plant(MODEL)
    devices_of(made, layout(MODEL, bench(), 1e-3))
    return CommandedPlant(made)


def loop_of(plant, **options):
    return Loop(plant, clock="virtual", rt="off", paused=True, real_time_factor=0, **{"watchdog_timeout": None, **options})


def command(**joints):
    """joint -> (position, velocity, effort), NaN: not commanded; all of a joint at once."""
    x = np.full(4 * NV, np.nan)
    for name, values in joints.items():
        k = int(name[-1]) - 1
        given = [not np.isnan(v) for v in values]
        x[k::NV] = [*np.nan_to_num([values[2], values[0], values[1]]), given @ np.array([POSITION, VELOCITY, EFFORT])]
    return x


def test_the_loop_commands_as_a_simulator_does():
    rng, driven = np.random.default_rng(2), plant()
    sim = mbros.Simulator(MODEL, bench=bench())
    with loop_of(driven) as loop:
        for _ in range(60):
            name, values = f"joint{rng.integers(1, 4)}", np.where(rng.random(3) < 0.4, np.nan, rng.normal(size=3))
            if np.isnan(values).all():
                continue
            loop.command(command(**{name: values, "joint4": (np.nan, np.nan, 1.5), "joint6": (np.nan, np.nan, 0.5)}))
            loop.step_once(1)
            sim.command(*({name: v} for v in values))
            sim.command(effort={"joint4": 1.5})
            sim.step({"joint6": 0.5})
            x = loop.snapshot()[1]
            assert np.array_equal(x[:NV], sim.state.q) and np.array_equal(x[NV:2 * NV], sim.state.v)


def run(action, steps=400):
    """A position, a velocity and two efforts, and then nothing for so long that the watchdog acts; the devices' commands at the end."""
    driven = plant()
    with loop_of(driven, watchdog_timeout=0.05, watchdog_action=action, damp_gain=3.0) as loop:
        loop.command(command(joint1=(0.2, np.nan, np.nan), joint2=(np.nan, 0.3, np.nan), joint3=(np.nan, np.nan, 2.0),
                             joint4=(np.nan, np.nan, 1.0), joint7=(np.nan, np.nan, 0.2)))
        loop.step_once(steps)
        x = loop.snapshot()[1]
    given = {row.name: driven.devices.block[2 + row.at] for row in layout(MODEL, bench(), 1e-3).rows[:12]}
    return given, x


def test_the_watchdog_withdraws_holds_or_brakes():
    given, x = run("zero")
    assert np.isnan(list(given.values())).all() and abs(x[0] - 0.2) < 0.1
    given, x = run("hold")
    assert given["joint1.command.position"] == 0.2 and given["joint2.command.velocity"] == 0.3 and given["joint3.command.effort"] == 2.0
    given, x = run("damp")
    assert np.isnan([given[f"joint{k}.command.{word}"] for k in (1, 2, 3) for word in ("position", "velocity")]).all()
    assert given["joint3.command.effort"] == pytest.approx(-3.0 * x[NV + 2], abs=0.1)


def test_a_reset_commands_nothing():
    driven = plant()
    with loop_of(driven) as loop:
        start = loop.snapshot()[1][:NV].copy()
        loop.step_once(50)
        quiet = loop.snapshot()[1].copy()
        loop.reset()
        loop.command(command(joint1=(0.5, np.nan, np.nan)))
        loop.step_once(50)
        assert loop.snapshot()[1][0] > 0.05
        loop.reset()
        assert np.array_equal(loop.snapshot()[1][:NV], start)
        loop.step_once(50)
        assert np.array_equal(loop.snapshot()[1][:NV], quiet[:NV])


def test_gains_of_the_watchdog_are_one_for_each_velocity():
    with loop_of(plant()) as loop:
        loop.set_watchdog(0.1, "damp", np.ones(NV))
        with pytest.raises(mbros.MbrosError, match="7"):
            loop.set_watchdog(0.1, "damp", np.ones(4 * NV))
        loop.set_state(v=np.zeros(NV))
