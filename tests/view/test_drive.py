"""The simulation behind a page: it plays, holds, is pulled, is told things while it runs; and the one who made it can still step it."""
import time
from pathlib import Path

import numpy as np
import pytest
from patience import until

import mbros
from example_modules import module_of
from mbros.errors import MbrosError
from mbros.simulate.simulator import make_plant
from mbros.view.drive import Drive
from mbros.view.overlays import Marks

EXAMPLES = Path(__file__).parents[2] / "examples"


def in_python():
    """A model with a force element written in Python, which the real-time loop refuses."""
    rig = module_of(EXAMPLES / "force_in_python.py")
    return rig.rig(lambda world, plate: rig.HardeningSpring(world, plate, k=500.0, k3=2e4, c=1.0, name="spring"))


@pytest.fixture(params=["arm7", "quadruped", "python"])
def drive(request):
    model = in_python() if request.param == "python" else mbros.load(request.param)
    drive = Drive(make_plant(model))
    yield drive
    drive.close()


def bend(drive):
    """Out of the upright equilibrium that arm7 begins in."""
    drive.place(drive.model.integrate(drive.sample().q, np.full(drive.model.nv, 0.3)))


def test_it_plays_pauses_steps_and_resets(drive):
    start = drive.sample()
    bend(drive)
    drive.hands.hold = False
    drive.play()
    until(lambda: drive.sample().time > 0.2, "motion")
    assert drive.sample().playing and np.abs(drive.sample().v).max() > 0.0
    drive.pause()
    still = drive.sample()
    time.sleep(0.05)
    assert not still.playing and drive.sample().time == still.time
    drive.step(3)
    assert drive.sample().time == pytest.approx(still.time + 3 * drive.dt, abs=1e-9)
    drive.reset()
    assert drive.sample().time == 0.0 and np.array_equal(drive.sample().q, start.q) and not drive.sample().v.any()


def test_held_it_does_not_fall(drive):
    bend(drive)
    q = drive.sample().q
    if not drive.model._needs_gil:                       # the spring of the other one carries nothing at the start
        drive.play()
        until(lambda: drive.sample().time > 0.5, "half a second")
        assert np.abs(drive.model.difference(q, drive.sample().q)).max() < 0.02
        assert drive.sample().clamped == 0


def test_parameters_act_at_once_and_bad_ones_change_nothing(drive):
    drive.set_parameter("gravity", [0.0, 0.0, -1.6])
    assert np.allclose(drive.parameter("gravity"), (0, 0, -1.6)) and np.allclose(drive.plant.state.gravity, (0, 0, -1.6))
    name = next(name for name in drive.model.parameter_names if name.startswith("mass."))
    before = drive.parameter(name)
    with pytest.raises(MbrosError):
        drive.set_parameter(name, -1.0)
    with pytest.raises(MbrosError):
        drive.set_parameter("mass.nobody", 1.0)
    assert drive.parameter(name) == before
    drive.play()
    drive.set_parameter(name, 1.5 * before)
    drive.pause()
    assert drive.model.parameter(drive.plant.state, name) == pytest.approx(1.5 * before)


@pytest.mark.parametrize("name", ["arm7", "quadruped", "humanoid"])
def test_a_pulled_point_comes(name):
    """The spring draws a held point to its target, without feeding energy: at the end the robot is at rest."""
    model = mbros.load(name)
    drive = Drive(make_plant(model))
    body = model.bodies[-1]
    X = model.pose(model.default_state(), body)
    target = X.p + np.array([0.05, 0.04, -0.03])
    try:
        drive.play()
        drive.hands.grip(body._frame_index, X.p, target)
        until(lambda: np.linalg.norm(drive.hands.spring(drive.sample())[0] - target) < 0.01, "the body")
        until(lambda: np.abs(drive.sample().v).max() < 0.2, "rest")
        drive.hands.release()
    finally:
        drive.close()
    assert not drive.plant.state.external_force.any()


def test_whoever_made_a_simulator_can_step_it_while_it_is_paused():
    sim = mbros.Simulator(mbros.load("arm7"))
    drive = Drive(sim.plant, sim.start)
    sim.advance_to(0.1)
    assert drive.sample().time == pytest.approx(0.1) and np.array_equal(drive.sample().q, sim.state.q)
    drive.play()
    with pytest.raises(RuntimeError, match="real-time loop"):
        sim.step()
    until(lambda: drive.sample().time > 0.15, "motion")
    drive.pause()
    time_then = drive.sample().time
    assert time_then == pytest.approx(sim.time, abs=1e-9)
    sim.step()
    assert drive.sample().time == pytest.approx(time_then + sim.dt)
    drive.close()


def test_a_fault_is_told_and_reset_ends_it(drive):
    bend(drive)
    drive.hands.hold = False
    drive.set_parameter("gravity", [0.0, 0.0, -1e9])
    drive.play()
    until(lambda: drive.sample().fault or not drive.playing, "the fault")
    assert "last good state" in drive.sample().fault
    drive.pause()
    with pytest.raises(MbrosError, match="Reset"):
        drive.play()
    drive.set_parameter("gravity", [0.0, 0.0, -9.81])
    drive.reset()
    assert drive.sample().fault == "" and drive.sample().time == 0.0
    drive.play()
    until(lambda: drive.sample().time > 0.05, "motion")


def test_trouble_is_said_of_the_joint_that_has_it():
    class Stub:
        model = mbros.load("arm7")

    marks = Marks(Stub)
    drive = Drive(make_plant(Stub.model))
    assert marks.trouble(drive.sample()) == {}
    joint = Stub.model.joint("joint2")
    q = np.array(drive.sample().q)
    q[joint.q_slice.start] = joint.limits.position.upper[0] + 0.05
    drive.place(q)
    assert marks.trouble(drive.sample()) == {"joint2": "beyond its upper limit"}
    drive.place(Stub.model.default_state().q)
    drive.hands.efforts[joint.v_slice.start] = 1e4
    drive.step(1)
    assert marks.trouble(drive.sample()) == {"joint2": f"effort clamped to {joint.limits.effort.upper[0]:g}"}
    drive.close()
