"""What a bushing must do as a piece of physics: closed forms, simple joints, energy over a minute."""
import bushing_golden as golden
import force_rigs as rigs
import numpy as np
import pytest
from tolerance import assert_close

import mbros
from mbros.model.forces.bushing import half_rotation, rates_matrix

K, D, KX, DX = (40.0, 55.0, 70.0), (0.4, 0.5, 0.6), (300.0, 500.0, 900.0), (3.0, 4.0, 5.0)
LAWS = pytest.mark.parametrize("law", ["drake", "energy_consistent"])
ALL_LAWS = pytest.mark.parametrize("law", ["drake", "energy_consistent", "quaternion"])


def with_joint(joint, *elements):
    """A body on the world by joint(b, body), with elements(b, body, joint)."""
    b = mbros.ModelBuilder("rig")
    body = b.add_body("body", 2.0, (0.02, -0.01, 0.03), (0.1, 0.2, 0.25))
    j = b.add_joint(joint(b, body))
    for element in elements:
        b.add_force_element(element(b, body, j))
    return b.build()


def same_motion(one, other, rng, q, v):
    """Both have the same accelerations, energy and powers."""
    tau = rng.normal(size=one.nv)
    states = []
    for model in (one, other):
        state = model.default_state()
        state.q[:], state.v[:] = q, v
        states.append(state)
    assert_close(one.forward_dynamics(states[0], tau), other.forward_dynamics(states[1], tau), 1e-11)
    for what in ("potential_energy", "conservative_power", "nonconservative_power"):
        a, b = (sum(getattr(f, what)(s) for f in m.force_elements) for m, s in zip((one, other), states))
        assert a == pytest.approx(b, rel=1e-12, abs=1e-13)


@LAWS
def test_pure_translation_is_three_sliding_joints_with_springs(law, rng):
    bushing = with_slides(lambda b, body, slides: [mbros.Bushing(b.world, body, K, D, KX, DX, law=law)])
    springs = with_slides(lambda b, body, slides: [mbros.JointSpring(s, 0.0, k, d) for s, k, d in zip(slides, KX, DX)])
    for _ in range(20):
        same_motion(bushing, springs, rng, rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3))


def with_slides(elements):
    """A body on three sliding joints along x, y, z with massless carriages between them."""
    b = mbros.ModelBuilder("rig")
    carriages = [b.add_body("x"), b.add_body("y"), b.add_body("body", 2.0, (0.02, -0.01, 0.03), (0.1, 0.2, 0.25))]
    slides = [b.add_joint(mbros.PrismaticJoint(f"slide{i}", parent, child, axis=np.eye(3)[i]))
              for i, (parent, child) in enumerate(zip([b.world, *carriages], carriages))]
    for element in elements(b, carriages[-1], slides):
        b.add_force_element(element)
    return b.build()


@LAWS
@pytest.mark.parametrize("axis", range(3))
def test_rotation_about_one_axis_is_a_hinge_with_a_torsion_spring(law, axis, rng):
    hinge = lambda b, body: mbros.RevoluteJoint("hinge", b.world, body, axis=np.eye(3)[axis])            # noqa: E731
    bushing = with_joint(hinge, lambda b, body, j: mbros.Bushing(b.world, body, K, D, KX, DX, law=law))
    spring = with_joint(hinge, lambda b, body, j: mbros.TorsionSpring(j, 0.0, K[axis], D[axis]))
    reach = 1.4 if axis == 1 else 3.0
    for _ in range(20):
        same_motion(bushing, spring, rng, rng.uniform(-reach, reach, 1), rng.uniform(-2, 2, 1))


@LAWS
def test_rotation_about_one_point_is_a_gimbal_with_three_torsion_springs(law, rng):
    """Yaw, pitch and roll hinges with massless rings: the gimbal whose torques tau are."""
    def gimbal(elements):
        b = mbros.ModelBuilder("gimbal")
        rings = [b.add_body("outer"), b.add_body("inner"), b.add_body("body", 2.0, (0.02, -0.01, 0.03), (0.1, 0.2, 0.25))]
        hinges = [b.add_joint(mbros.RevoluteJoint(f"hinge{i}", parent, child, axis=np.eye(3)[2 - i]))
                  for i, (parent, child) in enumerate(zip([b.world, *rings], rings))]
        for element in elements(b, rings[-1], hinges):
            b.add_force_element(element)
        return b.build()

    bushing = gimbal(lambda b, body, hinges: [mbros.Bushing(b.world, body, K, D, KX, DX, law=law)])
    springs = gimbal(lambda b, body, hinges: [mbros.TorsionSpring(h, 0.0, k, d) for h, k, d in zip(hinges, K[::-1], D[::-1])])
    for _ in range(20):
        same_motion(bushing, springs, rng, rng.uniform(-1.3, 1.3, 3), rng.uniform(-2, 2, 3))


def hanging(law, kx=(4e3, 5e3, 6e3), ratio=1.0):
    """A body of 3 kg held by a weld bushing at its centre of mass, damped to `ratio` of critical about every axis."""
    inertia, k = np.array([0.02, 0.03, 0.04]), np.array([50.0, 60.0, 70.0])
    b = mbros.ModelBuilder("hanging", gravity=(0.0, 0.0, -9.81))
    body = b.add_body("body", 3.0, (0, 0, 0), inertia)
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_force_element(mbros.Bushing.weld(b.world, body, k, 2 * ratio * np.sqrt(inertia * k), kx,
                                           2 * ratio * np.sqrt(3.0 * np.array(kx)), law=law))
    return b.build()


@LAWS
def test_a_body_held_by_a_weld_bushing_settles_at_its_weight_over_the_stiffness(law):
    model = hanging(law)
    state = model.default_state()
    q = state.q.copy()
    q[:3], q[3:] = (0.01, -0.02, 0.03), (0.99, 0.05, -0.08, 0.06)
    state.set_q(q)
    sim = mbros.Simulator(model, dt=1e-3, integrator="rk4", state=state)
    sim.advance_to(3.0)
    assert sim.state.q[2] == pytest.approx(-3.0 * 9.81 / 6e3, rel=1e-12)
    assert np.abs(sim.state.q[:2]).max() < 1e-9 and np.abs(sim.state.v).max() < 1e-9
    assert np.abs(sim.state.q[4:]).max() < 1e-9


def spinning(law):
    """A free body on an undamped bushing with unequal force stiffnesses, turning about a changing axis."""
    b = mbros.ModelBuilder("spinning", gravity=(0.0, 0.0, 0.0))
    body = b.add_body("body", 1.0, (0, 0, 0), (0.02, 0.03, 0.04))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_force_element(mbros.Bushing(b.world, body, (1.0, 1.5, 2.0), 0.0, (20.0, 200.0, 800.0), 0.0, law=law, name="mount"))
    model = b.build()
    state = model.default_state()
    q = state.q.copy()
    q[:3], q[3:] = (0.1, 0.05, -0.04), (0.95, 0.2, 0.1, -0.15)
    state.set_q(q)
    state.v[:] = (1.0, -0.8, 1.2, 0.3, 0.1, -0.2)
    return model, state


def energies(law, dt, duration, every):
    model, state = spinning(law)
    log = mbros.Simulator(model, dt=dt, integrator="rk4", state=state).run(duration, every=every)
    return log.energy


@pytest.mark.seed("BU-40")
def test_energy_is_kept_for_a_minute_by_the_consistent_law_and_not_by_the_seeds():
    """RK4 at 0.5 ms: what the consistent law loses is the integrator's; the seed's law gains and loses percents."""
    kept, seed = (energies(law, 5e-4, 60.0, 100) for law in ("energy_consistent", "drake"))
    loss = np.abs(kept / kept[0] - 1.0).max()
    drift = np.abs(seed / seed[0] - 1.0).max()
    assert loss < 2e-8
    assert drift > 1e-2
    coarse = np.abs(energies("energy_consistent", 1e-3, 60.0, 100) / kept[0] - 1.0).max()
    assert coarse > 8 * loss or coarse < 1e-12


@pytest.mark.seed("BU-24", "BU-40")
def test_seed_law_has_a_potential_only_for_equal_stiffnesses(rng):
    """-dV/dt against the delivered power: to rounding for equal kx, off by more than a thousandth for unequal ones."""
    def mismatch(kx, law):
        worst = 0.0
        for _ in range(20):
            angles, rates = rng.uniform(-0.6, 0.6, 3), rng.uniform(-1, 1, 3)
            p, v = rng.uniform(-0.2, 0.2, 3), rng.uniform(-1, 1, 3)
            model, bushing, state = golden.straight(angles, [K, (0,) * 3, kx, (0,) * 3], law, p, rates, v)
            q, h, slope = state.q.copy(), 1e-3, 0.0
            for step, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
                state.q[:] = model.integrate(q, step * h * state.v)
                slope += weight / (12 * h) * bushing.potential_energy(state)
            state.q[:] = q
            worst = max(worst, abs(slope + bushing.conservative_power(state)) / abs(bushing.potential_energy(state)))
        return worst

    assert mismatch((500.0,) * 3, "drake") < 1e-8
    assert mismatch((100.0, 500.0, 900.0), "drake") > 1e-3
    assert mismatch((100.0, 500.0, 900.0), "energy_consistent") < 1e-8


@ALL_LAWS
def test_rates_are_the_derivatives_of_what_they_are_rates_of(law, rng):
    """qdot of the angles always; xdot of the displacement in B for all but the seed's law."""
    worst = 0.0
    for _ in range(20):
        angles, rates = rng.uniform(-0.8, 0.8, 3), rng.uniform(-1, 1, 3)
        model, bushing, state = golden.straight(angles, [K, D, KX, DX], law, rng.uniform(-0.2, 0.2, 3), rates, rng.uniform(-1, 1, 3))
        now, q, h = bushing.measure(state), state.q.copy(), 1e-3
        slopes = np.zeros((2, 3))
        for step, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
            state.q[:] = model.integrate(q, step * h * state.v)
            there = bushing.measure(state)
            slopes += weight / (12 * h) * np.array([there.angles, there.displacement])
        assert_close(now.angle_rates, slopes[0], 1e-9, scale=1.0)
        if law != "quaternion":
            assert_close(rates_matrix(now.angles) @ rates, now.angle_rates, 1e-13)
        worst = max(worst, np.abs(now.displacement_rate - slopes[1]).max())
    assert 1e-3 < worst < 0.1 if law == "drake" else worst < 1e-9


@ALL_LAWS
def test_measures_are_what_the_engine_pushes_with(law, rng):
    """The NumPy view of the inside of a bushing agrees with the kernel on random robots."""
    kind = "bushing" if law == "drake" else f"bushing_{law}"
    for seed in range(6):
        model = rigs.rig(kind, seed)
        state, f = rigs.away_from_lock(model, rng), model.force_elements["it"]
        m, F = f.measure(state), f.wrench(state)
        force = m.X_AB.R @ m.force
        assert_close(F.force, force, 1e-12)
        moment = np.cross(2 * m.X_AB.p, force)
        half = 0.5 * moment if law == "drake" else np.linalg.solve((np.eye(3) + m.X_AB.R).T, moment)
        assert_close(F.torque, m.torque - half, 1e-11, scale=np.abs(moment).max())
        k, kx = f.torque_stiffness, f.force_stiffness
        assert f.potential_energy(state) == pytest.approx(0.5 * k @ m.angles**2 + 0.5 * kx @ m.displacement**2, rel=1e-12)


@pytest.mark.seed("BU-05")
@pytest.mark.parametrize("angle", [1e-12, 1e-6, 0.5, 3.0, np.pi - 1e-6])
def test_half_way_frame_is_half_way_up_to_half_a_turn(angle):
    a = np.array([0.6, 0.0, 0.8])
    skew = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    def turn(angle):
        return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew

    assert_close(half_rotation(turn(angle)), turn(0.5 * angle), 1e-9 if angle > 3.1 else 1e-14)
