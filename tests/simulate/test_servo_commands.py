"""A servo changes between position, velocity and effort as it is commanded, without a jump."""
import numpy as np
import pytest
from bench_rigs import bench, disc

import mbros

NAN = np.nan


def driven(servo, gravity=(0.0, 0.0, 0.0), limit=None):
    return mbros.Simulator(disc(gravity=gravity, limit=limit), bench=bench(servo))


def servo(**more):
    return mbros.PositionServo("s", joint="hinge", **{"kp": 4000.0, "kd": 100.0, **more})


def command(sim, position=NAN, velocity=NAN, effort=NAN):
    sim.command(position={"hinge": position}, velocity={"hinge": velocity}, effort={"hinge": effort})


def test_an_effort_alone_is_the_effort():
    sim = driven(servo(ki=500.0))
    command(sim, position=0.2)
    sim.advance_to(1.0)
    v = sim.state.v[0]
    command(sim, effort=0.7)
    sim.advance_to(1.1)
    assert sim.state.v[0] - v == pytest.approx(0.7 / 0.5 * 0.1, rel=1e-9) and sim.signals["s.effort"].value == 0.7


@pytest.mark.parametrize("ki", [0.0, 2000.0])
def test_from_effort_to_position_nothing_jumps(ki):
    """Pushed by an effort and then commanded to be where it is: the effort goes on where there is an integral, and is 0 where there is
    none; the joint moves no further than the servo's damping lets it."""
    sim = driven(servo(ki=ki))
    command(sim, position=1.0)
    sim.advance_to(1.0)
    command(sim, effort=0.5)
    sim.step(), sim.step()
    q, v, acted = sim.state.q[0], sim.state.v[0], sim.signals["s.effort"].value
    command(sim, position=q)
    sim.step()
    assert abs(sim.state.q[0] - q) <= abs(v) * 1e-3 + 1e-9
    brake = 100.0 * abs(v) + 4000.0 * 2.0 * abs(v) * 1e-3
    assert abs(sim.signals["s.effort"].value - (acted if ki else 0.0)) <= brake + 1e-9
    far = sim.state.q[0] + 0.2
    command(sim, position=far)
    sim.advance_to(4.0)
    assert sim.state.q[0] == pytest.approx(far, abs=2e-3)


def test_nothing_commanded_after_an_effort_holds_where_it_is():
    sim = driven(servo())
    command(sim, effort=5.0)
    sim.advance_to(0.2)
    q = sim.state.q[0]
    command(sim)
    sim.advance_to(1.0)
    assert q < sim.state.q[0] < q + 0.1 and abs(sim.state.v[0]) < 1e-6


def test_a_velocity_alone_runs_from_where_the_reference_is():
    sim = driven(servo())
    command(sim, position=0.3)
    sim.advance_to(1.0)
    command(sim, velocity=0.5)
    sim.advance_to(3.0)
    assert sim.state.v[0] == pytest.approx(0.5, abs=1e-6) and sim.state.q[0] == pytest.approx(1.3, abs=1e-3)
    command(sim)
    sim.advance_to(4.0)
    assert sim.state.q[0] == pytest.approx(1.3, abs=1e-3) and abs(sim.state.v[0]) < 1e-9


def test_a_reference_waits_at_the_limit():
    """Against a load beyond the limit a velocity does not wind the reference up: when the load is gone the joint goes on as commanded."""
    sim = driven(servo(kd=4000.0, effort_limit=2.0))
    command(sim, velocity=0.5)
    sim.advance_to(0.2)
    sim.advance_to(2.2, tau=[-2.5])
    assert sim.state.v[0] < -0.5
    command(sim, velocity=0.0)
    sim.advance_to(12.0)
    assert abs(sim.state.v[0]) < 1e-3 and 0.0 < sim.state.q[0] < 0.11     # not 1 rad further


def test_a_velocity_servo_lets_go_for_an_effort_and_brakes_for_nothing():
    sim = driven(mbros.VelocityServo("s", joint="hinge", kd=50.0))
    command(sim, effort=1.0)
    sim.advance_to(0.5)
    assert sim.state.v[0] == pytest.approx(1.0, rel=1e-9)
    command(sim)
    sim.advance_to(3.0)
    assert abs(sim.state.v[0]) < 1e-3
