"""The midpoint step where forces are stiff: damping, friction, springs on joints and stops, on both sides of the edges of their rules."""
import numpy as np
import physics_rigs as rigs
import pytest

import mbros
import mbros_core

J, H = 0.01, 1e-3               # kg m^2, s
EPS = np.finfo(float).eps


def hinge(elements=(), com=(0, 0, 0), gravity=(0, 0, 0), **joint):
    b = mbros.ModelBuilder("hinge", gravity=gravity)
    j = b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("body", 1.0, com, (J, J, J)), **joint))
    for kind, numbers in elements:
        b.add_force_element(kind(j, **numbers))
    return b.build()


def run(model, steps, q=0.0, v=0.0, tau=0.0, integrator="midpoint", dt=H):
    """q, v (steps + 1,) of one hinge under a constant effort."""
    plant = mbros_core.Plant(model, dt=dt, integrator=integrator)
    plant.reset([q], [v])
    rows = [(q, v)]
    for _ in range(steps):
        plant.step(np.array([tau]))
        rows.append((plant.state.q[0], plant.state.v[0]))
    return np.array(rows).T


# ------------------------------------------------------------------------------------------------------- dampers

@pytest.mark.parametrize("z", [1e-3, 0.5, 0.999, 1.0, 1.001, 2.0, 10.0, 1e4, 1e9])
def test_a_damper_is_trapezoidal_up_to_h_C_equal_to_J_and_never_turns_the_motion_round(z):
    """v+ / v = (1 - z/2) / (1 + z/2) up to z = h C / J = 1, then (1/2) / (1/2 + z), which is continuous there: 1/3."""
    _, v = run(hinge(damping=z * J / H), 3, v=1.0)
    factor = (1 - z / 2) / (1 + z / 2) if z <= 1.0 else 0.5 / (0.5 + z)
    assert v == pytest.approx(factor ** np.arange(4), rel=1e-12)
    element = hinge([(mbros.JointSpring, {"stiffness": 0.0, "damping": z * J / H})])
    assert run(element, 3, v=1.0)[1] == pytest.approx(v, rel=1e-12)
    assert (np.diff(v) < 0).all() and (v > 0).all()


def test_soft_damping_is_of_second_order_where_semi_implicit_euler_is_of_first():
    exact = np.exp(-2.0)
    for integrator, ratio in (("midpoint", 4.0), ("semi_implicit_euler", 2.0)):
        errors = [abs(run(hinge(damping=2 * J), round(1.0 / dt), v=1.0, integrator=integrator, dt=dt)[1][-1] - exact)
                  for dt in (1e-2, 5e-3)]
        assert errors[0] / errors[1] == pytest.approx(ratio, rel=0.05)


# ------------------------------------------------------------------------------------------------------ friction

@pytest.mark.parametrize("f", [0.05, 0.5, 5.0, 500.0, 1e5])
def test_coulomb_friction_stops_on_time_and_holds(f):
    """From 1 rad/s it takes J / f; whatever f is, v never turns round, and a load below f then moves nothing."""
    for integrator in ("midpoint", "semi_implicit_euler"):
        _, v = run(hinge(friction=f), 300, v=1.0, integrator=integrator)
        assert (v >= 0.0).all() and (np.diff(v) <= 0.0).all() and v[-1] == 0.0
        assert (v > 0.0).sum() == pytest.approx(J / f / H, abs=1.5)
        _, v = run(hinge(friction=f), 500, v=1.0, tau=f / 2, integrator=integrator)
        assert v[-1] == 0.0


# ------------------------------------------------------------------------------------------------------- springs

@pytest.mark.parametrize("wh", [0.1, 1.0, 1.99])
def test_a_spring_up_to_its_edge_keeps_its_energy(wh):
    """Below h sqrt(K / J) = 2 the step is the implicit midpoint rule, which keeps the energy of a linear spring to rounding."""
    K = (wh / H) ** 2 * J
    q, v = run(hinge([(mbros.JointSpring, {"stiffness": K})]), 5000, q=0.1)
    E = 0.5 * J * v ** 2 + 0.5 * K * q ** 2
    assert np.abs(E / E[0] - 1).max() < 5000 * 8 * EPS


@pytest.mark.parametrize("wh", [2.0 * np.sqrt(2.0), 10.0, 1e3, 1e6])
def test_a_stiff_spring_is_implicit_and_does_not_ring(wh):
    q, v = run(hinge([(mbros.JointSpring, {"stiffness": (wh / H) ** 2 * J})]), 200, q=0.1)
    assert np.abs(q).max() <= 0.1 * (1 + 1e-12) and abs(q[-1]) < 1e-9 and abs(v[-1]) < 1e-6


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_between_the_edges_a_spring_loses_energy_and_never_gains(share):
    wh = 2.0 * np.sqrt(1.0 + share)
    q, v = run(hinge([(mbros.JointSpring, {"stiffness": (wh / H) ** 2 * J})]), 3000, q=0.1)
    assert np.abs(q).max() < 0.15 and abs(q[-1]) < 1e-3


@pytest.mark.parametrize("wh", [0.1, 1.9, 2.5, 3.0, 100.0])
@pytest.mark.parametrize("z", [0.1, 0.9, 1.1, 30.0, 1e4])
def test_a_spring_and_damper_of_any_stiffness_are_stable(wh, z):
    q, v = run(hinge([(mbros.JointSpring, {"stiffness": (wh / H) ** 2 * J, "damping": z * J / H})]), 300, q=0.1, v=3.0)
    assert np.abs(q).max() < 0.2 and np.abs(v).max() < 500.0 and np.abs(q[-20:]).max() <= np.abs(q[:20]).max()


# --------------------------------------------------------------------------------------------------------- stops

def stopped(k, c, **more):
    spec = rigs.slider(mass=1.0, q_upper=[0.1], q_lower=[-0.1], stop_stiffness=[k], stop_damping=[c], **more)
    return mbros_core.Model(spec)


@pytest.mark.parametrize("k", [1e2, 1e4, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("c", [0.0, 10.0, 1e3, 1e6])
@pytest.mark.parametrize("speed", [0.3, 1.0, 27.0])
def test_no_stop_gives_energy(k, c, speed):
    """Between two stops for a second, from any stiffness and damping: a mass never becomes faster."""
    _, v = run(stopped(k, c), 1000, v=speed)
    assert np.abs(v).max() <= speed * (1 + 1e-12)
    flying = np.abs(v[1:])[np.abs(np.diff(v)) == 0.0]
    assert (np.diff(flying) <= 1e-12 * speed).all()


def test_a_soft_stop_gives_back_what_its_damping_leaves():
    """w h = 0.01, damping 0.1 of the critical one: out / in = exp(-d t*) with the contact's closed form, but for the first
    order of the step."""
    k, zeta = 100.0, 0.1
    w = np.sqrt(k)
    c = 2 * zeta * w
    _, v = run(stopped(k, c), 600, v=1.0)
    wd = w * np.sqrt(1 - zeta ** 2)
    t = np.arctan2(2 * zeta * np.sqrt(1 - zeta ** 2), 2 * zeta ** 2 - 1) / wd       # when the push is over
    out = np.exp(-zeta * w * t)                                                     # (Schwager, Poeschel 2007)
    assert -v.min() == pytest.approx(out, rel=0.03)


@pytest.mark.parametrize("k, c", [(1e4, 100.0), (1e6, 1e3), (1e9, 0.0)])
def test_a_body_comes_to_rest_on_a_stop(k, c):
    """Under its weight: at the depth weight / k."""
    q, v = run(stopped(k, c, gravity=(0, 0, -9.81)), 5000)
    assert v[-1] == pytest.approx(0.0, abs=1e-9)
    assert q[-1] == pytest.approx(-0.1 - 9.81 / k, abs=1e-12)


# ------------------------------------------------------------------------------------------------ between frames

@pytest.mark.parametrize("k, c", [(1e4, 0.0), (1e4, 30.0), (0.0, 100.0), (100.0, 300.0)])
def test_between_frames_dampers_and_springs_are_stable_beyond_the_limit_of_explicit_ones(k, c):
    """h^2 k / m + 4 h c / m = 4, since the velocity of the middle is extrapolated from two: there they are implicit."""
    b = mbros.ModelBuilder("mass on a spring", gravity=(0, 0, 0))
    body = b.add_body("body", 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(mbros.PrismaticJoint("rail", b.world, body, axis=(0, 0, 1)))
    b.add_force_element(mbros.LinearSpringDamper(b.add_frame("above", b.world, p=(0, 0, 5.0)), body, 5.0, k, c))
    model = b.build()
    a = c / 2
    limit = 2.0 / (2 * a + np.sqrt(4 * a * a + k))
    for over in (0.5, 0.98, 1.02, 1.5, 10.0):
        _, v = run(model, 300, v=1e-9, dt=over * limit)
        assert np.abs(v).max() < 1.5e-9


# ----------------------------------------------------------------------------------------------- several at once

def test_stiff_forces_on_every_joint_of_a_robot_are_stable():
    """Stiffer by far than anything at 1 kHz on all joints of an arm that is pushed about: it holds, and comes to rest."""
    model = mbros.load("arm7")
    state = model.default_state()
    state.friction[:], state.damping[:] = 200.0, 50.0
    plant = mbros_core.Plant(model, state, H, "midpoint")
    state.v[:] = 3.0
    plant.steps(np.full(model.nv, 5.0), 200)
    assert np.abs(state.v).max() < 1e-3
    state.friction[:] = 0.0
    plant.steps(np.zeros(model.nv), 20000)
    assert np.abs(state.v).max() < 0.05


def test_followers_take_the_same_rules():
    """Friction on a coordinate that two bodies share: no turning round, on both sides of the edge."""
    for f in (0.5, 500.0):
        b = mbros.ModelBuilder("pair", gravity=(0, 0, 0))
        b.add_joint(mbros.RevoluteJoint("first", b.world, b.add_body("a", 1.0, (0, 0, 0), (J / 2,) * 3), friction=f))
        b.add_joint(mbros.RevoluteJoint("second", b.world, b.add_body("b", 1.0, (0, 0, 0), (J / 2,) * 3), mimic=("first", 1.0, 0.0)))
        model = b.build()
        assert model.nv == 1
        assert run(model, 300, v=1.0) == pytest.approx(run(hinge(friction=f), 300, v=1.0), rel=1e-9, abs=1e-12)
