"""Coulomb's law in the step in which it acts: statics, blows, moving legs; and rest that is rest."""
import warnings

import numpy as np
import pytest
from benchmarks.contact import standing
from benchmarks.coulomb import after_blow, dragged, legs, struck
from contact_rigs import G, motion, on_plane, tilted

import mbros
from mbros_core.constraints import touches


@pytest.mark.parametrize("degrees,mu", [(45, 0.6), (45, 1.2), (60, 0.8), (60, 2.0), (70, 1.2)])
@pytest.mark.parametrize("dt", [5e-4, 2e-3])
def test_trial_P14_a_dragged_arm_has_the_friction_of_statics(degrees, mu, dt):
    """Its tip is where the sphere of 1 mm touches: statics knows the point below the arm, to 4e-3."""
    angle = np.radians(degrees)
    wanted = mu * G / 2 / (1 + mu * np.tan(angle))
    assert dragged(mu, angle, dt, 0.3) == pytest.approx((wanted, wanted), rel=4.1e-3)


@pytest.mark.parametrize("degrees", [10, 45, 75])
def test_trial_P14_oblique_blows_end_as_in_closed_form(degrees):
    """A rod's end strikes: what Coulomb's friction leaves of the velocity."""
    compared = 0
    for mu in (0.2, 0.8, 2.0, 4.0):
        for speed in (-3.0, -1.0, 1.0, 3.0):
            exact = after_blow(np.radians(degrees), mu, speed, -2.0)
            if len(exact) == 1:
                assert np.abs(struck(np.radians(degrees), mu, speed, -2.0, 1e-3) - exact[0]).max() < 0.02
                compared += 1
    assert compared > 10


@pytest.mark.parametrize("mu", [0.4, 0.8, 1.5])
def test_trial_P2_moving_feet_keep_to_the_cone(mu):
    """None is beyond mu f_n, and what slides has all of it, to the solver's tolerance."""
    start, _ = standing("quadruped")
    sim = mbros.Simulator(start.model, 1e-3, state=start.state.copy())
    law = legs(sim, mu, 0.15, 0.5, 400.0, 10.0)
    assert law.sliding > 100 and law.worst < 1 + 1e-6
    assert law.excess < 1e-9 * law.normal and law.lack < 1e-9 * law.normal
    assert sim.state.field("contact_memory")[0, touches.UNSOLVED] == 0.0


def test_an_unsolved_step_is_counted_and_keeps_momentum():
    """With four iterations a blow is not solved."""
    b = mbros.ModelBuilder("blow", gravity=(0, 0, 0))
    for k in range(2):
        body = b.add_body(f"b{k}", 1.0 + k, (0, 0, 0), (0.004, 0.005, 0.006))
        b.add_joint(mbros.FloatingJoint(f"b{k}", b.world, body))
        b.add_collision(body, mbros.shapes.box((0.2, 0.15, 0.1)), friction=3.0)
    model = b.build()
    unsolved = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sim = mbros.Simulator(model, 1e-3, max_contact_iterations=4)
        for k in range(2):
            joint = model.joint(f"b{k}")
            joint.set_pose(sim.state, p=(0.12 * (2 * k - 1), 0, 0), rpy=rng.uniform(-3, 3, 3))
            R = model.pose(sim.state, f"b{k}").R
            joint.set_velocity(sim.state, np.r_[2 * rng.normal(size=3), R.T @ (2.0 - 4 * k, *rng.normal(size=2))])
        before = momentum(model, sim.state)
        sim.advance_to(0.1)
        unsolved += sim.state.field("contact_memory")[0, touches.UNSOLVED]
        assert momentum(model, sim.state) == pytest.approx(before, abs=1e-9)
    assert unsolved > 0


def momentum(model, state):
    """About the world's origin."""
    linear, angular = np.zeros(3), np.zeros(3)
    for body in model.bodies:
        if body.mass:
            V, p, R = model.velocity(state, body.name), model.pose(state, body.name).p, model.pose(state, body.name).R
            linear += body.mass * V.linear
            angular += np.cross(p, body.mass * V.linear) + R @ (np.array((0.004, 0.005, 0.006)) * (R.T @ V.angular))
    return np.concatenate([linear, angular])


# -------------------------------------------------------------------------------------------------------------------- rest

@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("degrees,mu", [(10, 0.3), (30, 0.6), (44, 1.0)])
def test_trial_P9_a_box_on_an_incline_rests(degrees, mu, integrator):
    """At 0.6 to 0.97 of the bound: nothing moves, for a minute."""
    sim = on_plane("box", (0.2, 0.2, 0.1), np.radians(degrees), friction=mu, integrator=integrator)
    sim.advance_to(1.0)
    q = np.array(sim.state.q)
    assert np.abs(sim.state.v).max() < 1e-12
    sim.advance_to(61.0)
    w, v = motion(sim, np.radians(degrees))
    assert max(np.abs(v).max(), np.abs(w).max()) < 1e-12 and np.abs(np.array(sim.state.q) - q).max() < 1e-12
    assert all(c.sticks for c in sim.model.contacts(sim.state))


def test_a_part_in_a_gripper_stays():
    """Two fingers press a box at half of what friction bears, and more of the weight comes: it stays, but for one step of give."""
    b = mbros.ModelBuilder("gripper")
    fingers = []
    for side in (-1, 1):
        finger = b.add_body(f"finger{side}", 0.1, (0, 0, 0), (1e-4, 1e-4, 1e-4))
        fingers.append(b.add_joint(mbros.PrismaticJoint(f"finger{side}", b.world, finger, p=(0.06 * side, 0, 1), axis=(-side, 0, 0))))
        b.add_collision(finger, mbros.shapes.box((0.02, 0.04, 0.04)), friction=0.5)
    part = b.add_body("part", 0.2, (0, 0, 0), (1e-4, 1e-4, 1e-4))
    b.add_joint(mbros.FloatingJoint("part", b.world, part))
    b.add_collision(part, mbros.shapes.box((0.1, 0.06, 0.06)), friction=0.5)
    model = b.build()
    sim = mbros.Simulator(model, 1e-3)
    model.joint("part").set_pose(sim.state, p=(0, 0, 1))
    tau = np.zeros(model.nv)
    for finger in ("finger-1", "finger1"):
        tau[model.joint(finger).v_slice] = 2 * 0.2 * G / (2 * 0.5)
    for _ in range(500):
        sim.step(tau)
    z, worst = model.pose(sim.state, "part").p[2], 0.0
    for _ in range(5000):
        sim.step(tau)
        worst = max(worst, np.abs(sim.state.v).max())
    assert worst < 1e-12 and abs(model.pose(sim.state, "part").p[2] - z) < 1e-12
    model.set_parameter(sim.state, "mass.part", 0.3)                # at three quarters of the bound
    for _ in range(500):
        sim.step(tau)
    assert np.abs(sim.state.v).max() < 1e-12 and abs(model.pose(sim.state, "part").p[2] - z) < 1e-7


# ------------------------------------------------------------------------------------------------------ where it begins

def first_push(velocity=0.0, spin=0.0, sideways=0.0, origin=0.0, unit=1.0, fall=0.3):
    """(gap, normal force) of the first push on a ball of 0.05 units that comes down on a plate: in a lift at `velocity`; spinning about the
    vertical; sideways; with its body's origin `origin` beside it; in a world of other units of length."""
    b = mbros.ModelBuilder("lift", gravity=(0, 0, 0))
    plate = b.add_body("plate", 1.0, (0, 0, 0), (unit**2, unit**2, unit**2))
    b.add_joint(mbros.PrismaticJoint("lift", b.world, plate, axis=(0, 0, 1)))
    b.add_collision(plate, mbros.shapes.box((400 * unit, 400 * unit, unit)), tilted(0, (0, 0, -unit / 2)), relaxation_time=0.005)
    ball = b.add_body("ball", 1.0, (origin, 0, 0), (1e-3 * unit**2,) * 3)
    b.add_joint(mbros.FloatingJoint("ball", b.world, ball))
    b.add_collision(ball, mbros.shapes.sphere(0.05 * unit), (origin, 0, 0))
    b.add_frame("centre", ball, p=(origin, 0, 0))
    model = b.build()
    sim = mbros.Simulator(model, 1e-3)
    model.joint("lift").prescribe(sim.state, velocity=velocity)
    model.joint("ball").set_pose(sim.state, p=(-origin, 0, 0.08 * unit))
    model.joint("ball").set_velocity(sim.state, (0, 0, spin, sideways, spin * -origin, velocity - fall * unit))
    while True:
        sim.step()
        pushing = [c for c in model.contacts(sim.state) if c.normal_force > 0]
        if pushing:
            gap = model.pose(sim.state, "centre").p[2] - model.pose(sim.state, "plate").p[2] - 0.05 * unit
            return gap / unit, pushing[0].normal_force / unit


def test_trial_P15_contact_begins_alike_in_every_frame():
    gap, force = first_push()
    assert 0.0 < gap < 2e-4                                         # within what it falls in a step
    for other in (dict(sideways=10.0), dict(sideways=30.0), dict(spin=100.0), dict(velocity=100.0), dict(velocity=-3.0), dict(origin=1.0),
                  dict(origin=20.0, spin=3.0)):
        assert first_push(**other) == pytest.approx((gap, force), rel=1e-6, abs=1e-10), other


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("speed", [10.0, 100.0, 1000.0])
def test_no_ball_passes_a_plate(speed, integrator):
    b = mbros.ModelBuilder("bullet", gravity=(0, 0, 0))
    b.add_collision(b.world, mbros.shapes.box((2, 2, 0.01)))
    ball = b.add_body("ball", 0.01, (0, 0, 0), (1e-7, 1e-7, 1e-7))
    b.add_joint(mbros.FloatingJoint("ball", b.world, ball))
    b.add_collision(ball, mbros.shapes.sphere(5e-3))
    model = b.build()
    for start in 0.02 + speed * np.linspace(5e-4, 2e-3, 23):            # half a step away: what is nearer was put into the plate by hand
        sim = mbros.Simulator(model, 1e-3, integrator=integrator)
        model.joint("ball").set_pose(sim.state, p=(0, 0, start))
        model.joint("ball").set_velocity(sim.state, (0, 0, 0, 0, 0, -speed))
        for _ in range(20):
            sim.step()
            assert model.pose(sim.state, "ball").p[2] > 0.005           # at most its radius deep


# ------------------------------------------------------------------------------------------------------------ derivatives

@pytest.mark.parametrize("speed,mu", [(2.0, 0.5), (2.0, 1.5), (-2.0, 0.5)])
def test_trial_P17_derivatives_through_a_sliding_rod(speed, mu):
    """Its tip slides, with and against the lean: against differences of steps, and no warning."""
    b = mbros.ModelBuilder("rod", ground=mbros.Ground(friction=mu))
    rod = b.add_body("rod", 1.0, (0, 0, 0), (1e-6, 1 / 12, 1 / 12))
    b.add_joint(mbros.PlanarJoint("rod", b.world, rod, rpy=(np.pi / 2, 0, 0)))
    b.add_collision(rod, mbros.shapes.sphere(1e-3), (-0.5, 0, 0), friction=mu)
    model = b.build()
    sim = mbros.Simulator(model, 1e-3)
    sim.state.q[:] = 0.0, 1e-3 + 0.5 * np.sin(1.0), 1.0
    sim.state.v[:] = speed, 0.0, 0.0
    for _ in range(5):
        sim.step()
    assert any(not c.sticks and c.normal_force > 0 for c in model.contacts(sim.state))
    with warnings.catch_warnings():
        warnings.simplefilter("error", mbros.SwitchWarning)
        A, _ = model.linearize(sim.state, np.zeros(3), dt=1e-3)
    expected = np.empty((6, 6))
    for k, d in enumerate(1e-7 * np.eye(6)):
        ends = []
        for sign in (1, -1):
            at = sim.state.copy()
            at.q[:] += sign * d[:3]
            at.v[:] += sign * d[3:]
            other = mbros.Simulator(model, 1e-3, state=at)
            other.step()
            ends.append(np.r_[other.state.q, other.state.v])
        expected[:, k] = (ends[0] - ends[1]) / 2e-7
    assert np.abs(A - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("most", [1, 2, 5, 8])
def test_too_few_iterations_make_no_energy(most):
    """A stack whose lowest box is pushed aside: steps that are cut short are counted."""
    b = mbros.ModelBuilder("stack", ground=True)
    for k in range(4):
        body = b.add_body(f"box{k}", 1.0, (0, 0, 0), (1 / 150,) * 3)
        b.add_joint(mbros.FloatingJoint(f"free{k}", b.world, body))
        b.add_collision(body, mbros.shapes.box((0.2, 0.2, 0.2)))
    model = b.build()
    sim = mbros.Simulator(model, dt=1e-3, max_contact_iterations=most)
    for k in range(4):
        model.joint(f"free{k}").set_pose(sim.state, p=(0.01 * k, 0, 0.1 + 0.2 * k))
    sim.state.v[3] = 1.0
    start = most_energy = model.kinetic_energy(sim.state) + model.potential_energy(sim.state)
    for _ in range(300):
        sim.step(np.zeros(24))
        most_energy = max(most_energy, model.kinetic_energy(sim.state) + model.potential_energy(sim.state))
    assert most_energy < 1.01 * start and sim.state.field("contact_memory")[0, touches.UNSOLVED] > 0
