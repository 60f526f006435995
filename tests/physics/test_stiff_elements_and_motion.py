"""Stiff force elements beside prescribed joints, and what joints carry beside stiff elements."""
import numpy as np
import pytest

import mbros

H = 1e-3


def tow(stiffness, damping):
    """A cart that is driven, and a wagon on the same rail behind it, on a spring."""
    b = mbros.ModelBuilder("tow", gravity=(0, 0, -9.81))
    bodies = [b.add_body(name, mass=m, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1)) for name, m in (("cart", 5.0), ("wagon", 2.0))]
    for body, x in zip(bodies, (1.0, 0.0)):
        b.add_joint(mbros.PrismaticJoint(body.name, b.world, body, axis=(1, 0, 0), p=(x, 0, 0)))
    b.add_force_element(mbros.LinearSpringDamper(bodies[0], bodies[1], 1.0, stiffness, damping, name="rope"))
    return b.build()


@pytest.mark.parametrize("stiffness", [1e5, 1e9, 1e12])
def test_a_wagon_follows_a_driven_cart_on_a_spring_of_any_stiffness(stiffness):
    """At the end of a gentle start both have one velocity; while the cart accelerates, the spring carries m a, and so does the drive."""
    model = tow(stiffness, 0.02 * np.sqrt(stiffness * 2.0))
    sim = mbros.Simulator(model, H)
    a = 0.8
    sim.prescribe("cart", lambda t: (0.5 * a * t * t, a * t, a))
    element = model.force_elements["rope"]
    assert element.implicit_share(sim.state, H) == (1.0 if stiffness > 1e6 else pytest.approx(0.0, abs=1.0))
    sim.advance_to(3.0)
    assert sim.state.v[1] == pytest.approx(sim.state.v[0], abs=1e-3) and np.isfinite(sim.state.q).all()
    force = element.wrench(sim.state).force
    slowly = 2e-2 if stiffness < 1e6 else 2e-3                      # its oscillation has not gone yet
    assert np.linalg.norm(force) == pytest.approx(2.0 * a, rel=slowly)
    assert model.joint("cart").mobilizer.effort(sim.state) == pytest.approx([(5.0 + 2.0) * a], rel=slowly)


@pytest.mark.parametrize("stiffness", [1e3, 1e7, 1e11])
def test_a_joint_carries_what_a_stiff_element_does_not(stiffness):
    """A pendulum whose rod is also held by a spring to the world: Newton for the bob, with the force the element reports."""
    b = mbros.ModelBuilder("held", gravity=(0, 0, -9.81))
    bob = b.add_body("bob", mass=1.5, com=(0, 0, -0.6), inertia=(0.6, 0.6, 0.01))
    b.add_joint(mbros.RevoluteJoint("pin", b.world, bob, axis=(0, 1, 0)))
    tip = b.add_frame("tip", bob, p=(0.1, 0, -0.6))
    b.add_force_element(mbros.LinearSpringDamper(b.add_frame("anchor", b.world, p=(0.9, 0, -0.3)), tip, 0.5, stiffness, 20.0, name="it"))
    model = b.build()
    sim = mbros.Simulator(model, H)
    sim.state.v[0] = 0.2
    element = model.force_elements["it"]
    for _ in range(20):
        before = sim.state.copy()
        sim.step()
        at = before.copy()                                          # where the step took its forces
        at.q[:] = before.q + 0.5 * H * before.v
        at.v[:] = before.v + 0.5 * H * before.field("a_prev")
        vdot = (sim.state.v - before.v) / H
        A, V, X = model.acceleration(at, "bob", vdot), model.velocity(at, "bob"), model.pose(at, "bob")
        r = X.R @ bob.com
        inertial = 1.5 * (A.linear + np.cross(A.angular, r) + np.cross(V.angular, np.cross(V.angular, r)))
        implicit = element.implicit_share(at, H) > 0.0              # then what it reports is the mean over the step
        spring = element.wrench(sim.state if implicit else at).force            # on the tip, in the axes of the anchor: the world's
        pin = model.joint("pin").reaction(sim.state).force
        wanted = inertial - 1.5 * np.array([0, 0, -9.81]) - spring
        assert np.allclose(pin, wanted, rtol=0, atol=1e-9 * (1.0 + np.abs(spring).max() + np.abs(inertial).max()))
