"""Coulomb friction that is too stiff for a Runge-Kutta step is refused, with a step that works; what is accepted comes to rest."""
import numpy as np
import pytest

import mbros
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import Loop
from mbros_core.support.stiffness import RK4_LIMIT


def wheel(friction=0.5, inertia=0.01, stribeck=None):
    """One revolute joint, no gravity; friction of the joint's own, or of a force element (f, v_s)."""
    b = mbros.ModelBuilder("wheel", gravity=(0, 0, 0))
    joint = mbros.RevoluteJoint("hinge", b.world, b.add_body("disc", 1.0, (0, 0, 0), (inertia,) * 3), friction=friction)
    b.add_joint(joint)
    if stribeck:
        b.add_force_element(mbros.StribeckFriction(joint, coulomb=stribeck[0], breakaway=stribeck[0], stribeck_speed=0.1,
                                                   smoothing_speed=stribeck[1], viscous=0.0))
    return b.build()


def suggested(error) -> float:
    return float(str(error).partition("Take dt=")[2].split()[0])


def test_the_limit_is_where_runge_kutta_stops_damping():
    z = RK4_LIMIT
    assert abs(1 - z + z**2 / 2 - z**3 / 6 + z**4 / 24 - 1) < 1e-14


def test_trial_B2_what_went_on_for_ever_is_refused_by_name_and_the_step_it_tells_comes_to_rest():
    """rate f / (v_s J) = 5e4 1/s, so that 2.785 / 5e4 = 55.7 us is the limit; at 1 ms it used to stay at 0.0106 rad/s."""
    model = wheel()
    with pytest.raises(mbros.MbrosError, match=r"rk4 at a step of 0.001 s: the friction of joint 'hinge' is too stiff.*rate of 5e\+04 1/s.*"
                       r"Take dt=5.5e-05 or less, integrator='midpoint'") as caught:
        mbros.Simulator(model, integrator="rk4")
    sim = mbros.Simulator(model, dt=suggested(caught.value), integrator="rk4")
    sim.state.v[:] = 0.5
    sim.advance_to(0.02)                                        # f / J = 50 rad/s^2: at rest after 10 ms
    assert abs(sim.state.v[0]) < 1e-6
    euler = mbros.Simulator(model)
    euler.state.v[:] = 0.5
    euler.advance_to(0.02)
    assert abs(euler.state.v[0]) < 1e-6


@pytest.mark.parametrize("of_limit", [0.5, 0.9, 0.99])
def test_whatever_is_accepted_comes_to_rest(of_limit, rng):
    model = mbros.chain(4)
    state = model.default_state()
    state.gravity[:] = 0
    state.friction[:] = rng.uniform(0.01, 0.1, 4)
    with pytest.raises(mbros.MbrosError) as caught:
        mbros.Simulator(model, dt=1.0, integrator="rk4", state=state)
    sim = mbros.Simulator(model, dt=of_limit * suggested(caught.value), integrator="rk4", state=state)
    sim.state.v[:] = rng.uniform(-1, 1, 4) * 1e-3
    rest = mbros.Simulator(model, dt=sim.dt / 20, integrator="rk4", state=state.copy())
    sim.plant.steps(np.zeros(4), 3000)
    rest.plant.steps(np.zeros(4), 60000)
    assert np.abs(sim.state.v).max() < 1e-5 and np.abs(sim.state.q - rest.state.q).max() < 1e-5


def test_trial_B2_friction_that_is_changed_live_is_refused_by_the_next_step():
    model = wheel(friction=0.0)
    sim = mbros.Simulator(model, integrator="rk4")
    sim.state.v[:] = 0.5
    sim.step()
    q, t = sim.state.q.copy(), sim.time
    model.joint("hinge").set_friction(sim.state, 0.5)
    for call in (sim.step, lambda: sim.run(0.1), lambda: sim.advance_to(1.0)):
        with pytest.raises(mbros.MbrosError, match="rk4.*joint 'hinge' is too stiff"):
            call()
    assert sim.plant.fault[0] == 0 and (sim.time, sim.state.q[0]) == (t, q[0])
    model.joint("hinge").set_friction(sim.state, 0.02)
    sim.step()
    model.set_parameter(sim.state, "mass.disc", 1e-3)           # the same friction on a thousandth of the inertia
    with pytest.raises(mbros.MbrosError, match="rk4.*joint 'hinge' is too stiff"):
        sim.step()


def folding():
    """Two links; folded, the inner joint moves a hundredth of the inertia that it moves stretched."""
    b = mbros.ModelBuilder("folding", gravity=(0, 0, 0))
    inner, outer = b.add_body("inner", 0.01, (1, 0, 0), (1e-4,) * 3), b.add_body("outer", 1.0, (1, 0, 0), (1e-3,) * 3)
    b.add_joint(mbros.RevoluteJoint("shoulder", b.world, inner, friction=1.0))
    b.add_joint(mbros.RevoluteJoint("elbow", inner, outer, p=(1, 0, 0)))
    return b.build()


STARTS = np.array([[0.0, 0.0], [0.0, np.pi / 2]])


def between(model):
    """(a step that rk4 can take at one of STARTS and not at the other, which of them is which)."""
    start, limits = model.default_state(), []
    for start.q[:] in STARTS:
        with pytest.raises(mbros.MbrosError) as caught:
            mbros.Simulator(model, dt=1.0, integrator="rk4", state=start.copy())
        limits.append(suggested(caught.value))
    return sum(limits) / 2, int(np.argmax(limits)), int(np.argmin(limits))


def test_trial_B2_it_is_asked_where_the_robot_stands_when_it_starts():
    model = folding()
    dt, fine, stiff = between(model)
    state = model.default_state()
    state.q[:] = STARTS[fine]
    sim = mbros.Simulator(model, dt=dt, integrator="rk4", state=state)
    sim.state.q[:] = STARTS[stiff]
    for call in (sim.step, lambda: sim.run(0.1), lambda: sim.advance_to(1.0)):
        with pytest.raises(mbros.MbrosError, match="joint 'shoulder' is too stiff"):
            call()
    sim.state.q[:] = STARTS[fine]
    sim.step()


def test_trial_B2_a_rollout_refuses_it_too_at_any_of_its_starts():
    model = wheel()
    with pytest.raises(mbros.MbrosError, match="rk4 at a step of 0.001 s: the friction of joint 'hinge'"):
        mbros.rollout(model, [[0.0]] * 3, [0.0], np.zeros((3, 2, 1)), integrator="rk4")
    mbros.rollout(model, [[0.0]] * 3, [0.0], np.zeros((3, 2, 1)))
    model = folding()
    dt, fine, _ = between(model)
    mbros.rollout(model, STARTS[fine], [0.0, 0.0], np.zeros((2, 1, 2)), dt=dt, integrator="rk4")
    with pytest.raises(mbros.MbrosError, match="joint 'shoulder' is too stiff"):
        mbros.rollout(model, STARTS, [0.0, 0.0], np.zeros((2, 1, 2)), dt=dt, integrator="rk4")


def test_trial_B2_the_loops_parameters_are_refused_before_they_reach_it():
    plant = make_plant(wheel(friction=0.0), integrator="rk4")
    with Loop(plant, clock="virtual", rt="off", paused=True, real_time_factor=0) as loop:
        with pytest.raises(ValueError, match="rk4.*joint 'hinge' is too stiff"):
            loop.set_parameters({"friction": [0.5]})
        loop.set_parameters({"friction": [0.01]})
        loop.step_once(3)


def test_friction_of_a_force_element_counts_and_damping_does_not():
    with pytest.raises(mbros.MbrosError, match=r"joint 'hinge' is too stiff.*rate of 1e\+04 1/s"):
        mbros.Simulator(wheel(friction=0.0, stribeck=(0.1, 1e-3)), integrator="rk4")
    mbros.Simulator(wheel(friction=0.0, stribeck=(0.1, 1e-2)), integrator="rk4")
    model = wheel(friction=0.0)
    state = model.default_state()
    state.damping[:] = 100.0                            # its own fault tells it: it grows
    mbros.Simulator(model, integrator="rk4", state=state)


def test_a_locked_joint_does_not_rub():
    model = wheel()
    state = model.default_state()
    model.joint("hinge").lock(state)
    sim = mbros.Simulator(model, integrator="rk4", state=state)
    sim.step()
    model.joint("hinge").unlock(sim.state)
    with pytest.raises(mbros.MbrosError, match="'hinge' is too stiff"):
        sim.step()
