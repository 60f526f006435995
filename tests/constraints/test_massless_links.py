"""Links without mass that loops hold: as the mechanism without them, whose ends a distance keeps apart."""
import numpy as np
import pytest

import mbros

COUPLER = 0.3


def mechanism(coupler):
    """Crank and rocker on the world, their ends COUPLER apart: by a link without mass, or by a constraint alone."""
    b = mbros.ModelBuilder("mechanism")
    crank = b.add_body("crank", 1.0, (0.1, 0.01, 0), (0.01, 0.02, 0.03))
    rocker = b.add_body("rocker", 1.2, (0.15, 0, 0.02), (0.012, 0.025, 0.03))
    b.add_joint(mbros.RevoluteJoint("a", b.world, crank, axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("c", b.world, rocker, p=(0.35, 0, 0), axis=(0, 1, 0)))
    pin, top = b.add_frame("pin", crank, (0.2, 0, 0)), b.add_frame("top", rocker, (0.25, 0, 0))
    if coupler:
        link = b.add_body("link", 0.0)
        b.add_joint(mbros.RevoluteJoint("b", crank, link, p=(0.2, 0, 0), axis=(0, 1, 0)))
        b.add_constraint(mbros.BallConstraint("loop", b.add_frame("end", link, (COUPLER, 0, 0)), top))
    else:
        b.add_constraint(mbros.DistanceConstraint("loop", pin, top, COUPLER))
    return b.build()


def placed(model, crank=-1.2, speed=0.0):
    state = model.default_state()
    model.joint("a").set_position(state, crank)
    model.joint("c").set_position(state, -1.5)
    if model.nv == 3:
        model.joint("b").set_position(state, 0.9)
    model.joint("a").set_velocity(state, speed)
    return model.assemble(state, keep=["a"])


def of_crank_and_rocker(model, x):
    return np.array([x[model.joint(name).v_slice][0] for name in ("a", "c")])


@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_a_coupler_without_mass_is_a_distance(speed):
    with_link, without = mechanism(True), mechanism(False)
    assert "a constraint holds it, so 2.2e-09 kg stand in for it" in str(with_link.description.notes[0])
    states = [placed(model, speed=speed) for model in (with_link, without)]
    a, b = (model.forward_dynamics(state, np.zeros(model.nv)) for model, state in zip((with_link, without), states))
    first, second = of_crank_and_rocker(with_link, a), of_crank_and_rocker(without, b)
    assert np.abs(first - second).max() < 1e-7 * np.abs(second).max()


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_it_moves_as_one(integrator):
    ends = []
    for coupler in (True, False):
        model = mechanism(coupler)
        sim = mbros.Simulator(model, dt=1e-3, integrator=integrator, state=placed(model))
        sim.advance_to(0.4)
        ends.append(of_crank_and_rocker(model, sim.state.q))
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_what_nothing_holds_is_refused():
    b = mbros.ModelBuilder("open")
    arm = b.add_body("arm", 1.0, (0.1, 0, 0), (0.01, 0.02, 0.03))
    b.add_joint(mbros.RevoluteJoint("a", b.world, arm))
    b.add_joint(mbros.RevoluteJoint("b", arm, b.add_body("link", 0.0), p=(0.2, 0, 0), axis=(0, 1, 0)))
    b.add_constraint(mbros.BallConstraint("loop", b.add_frame("end", arm, (0.2, 0.1, 0)), b.add_frame("hook", b.world, (0.2, 0.1, 0))))
    with pytest.raises(mbros.ModelError, match="joint 'b': it moves body 'link', which has no mass, and nothing massive behind it"):
        b.build()
