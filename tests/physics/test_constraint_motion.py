"""Mechanisms with constraints against what is known of them otherwise: closed forms, quadratures, the same robot without the constraint."""
import loop_rigs
import mbros
import numpy as np
import pytest
from loop_rigs import FourBar, bricard, energy, follow, parallel_four_bars, slider_crank
from tolerance import EPS


@pytest.mark.parametrize("kind", ["ball", "hinge"])
@pytest.mark.parametrize("integrator, dt, late, error, gap", [("midpoint", 1e-3, 1.5e-3, 3e-4, 4e-7), ("midpoint", 5e-4, 4e-4, 8e-5, 5e-8),
                                                             ("rk4", 1e-3, 4e-7, 1e-7, 1e-12)])
def test_four_bar_against_its_quadrature(kind, integrator, dt, late, error, gap):
    """The crank's angle after 10 s, by the integral of dt / speed(angle) of the one-coordinate energy, which knows no constraint."""
    bar = FourBar(kind=kind)
    found, opened, sim = follow(bar.model, bar.state(0.5, 12.0), 10.0, dt, integrator)
    took = bar.time_between(0.5, sim.state.q[0], 12.0)
    assert sim.state.q[0] > 80.0 and abs(took - 10.0) < late
    assert found < error and opened < gap


def test_four_bar_is_of_second_and_fourth_order():
    bar = FourBar()
    errors = {}
    for integrator in ("midpoint", "rk4"):
        for dt in (2e-3, 1e-3):
            _, _, sim = follow(bar.model, bar.state(0.5, 12.0), 2.0, dt, integrator)
            errors[integrator, dt] = abs(bar.time_between(0.5, sim.state.q[0], 12.0) - 2.0)
    assert 3.0 < errors["midpoint", 2e-3] / errors["midpoint", 1e-3] < 5.5
    assert 8.0 < errors["rk4", 2e-3] / errors["rk4", 1e-3] < 40.0


@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
def test_parallelogram_goes_through_its_singular_poses_and_stays_one(integrator):
    """Stretched out, the branches of parallelogram and butterfly meet and J loses a rank: motion goes on in the branch of its velocity."""
    bar = FourBar(0.4, 1.0, 0.4, 1.0)
    state = bar.model.default_state()
    state.q, state.v = [0.7, -0.7, 0.7], [8.0, -8.0, 8.0]
    found, gap, sim = follow(bar.model, state, 10.0, integrator=integrator)
    turns = sim.state.q[0] / (2 * np.pi)
    assert turns > 10 and found < 1e-5 and gap < 1e-7
    assert abs(sim.state.q[2] - sim.state.q[0]) < 1e-6


def test_bricard_moves_though_it_is_held_five_times_and_keeps_its_energy():
    model = bricard()
    state = model.default_state()
    J = model.constraints["loop"].jacobian(state)
    assert np.linalg.matrix_rank(J, 1e-9) == model.nv - 1 and J.shape == (5, 5)          # over-constrained by one row
    ends, errors = [], []
    for integrator, dt in (("midpoint", 1e-3), ("midpoint", 2.5e-4), ("rk4", 1e-3), ("rk4", 2.5e-4)):
        error, gap, sim = follow(model, state, 5.0, dt, integrator, every=round(1e-2 / dt))
        errors.append(error)
        ends.append(np.array(sim.state.q))
        assert gap < (2e-7 if integrator == "midpoint" else 1e-13)
    assert errors[0] < 1e-4 and errors[1] < 1e-5 and errors[2] < 5e-5 and errors[3] < 3e-7
    assert np.abs(ends[1] - ends[3]).max() < 1e-4 and np.abs(ends[2] - ends[3]).max() < 2e-5
    assert np.abs(ends[3][::2] - ends[3][0]).max() < 1e-9 and np.abs(ends[3][1::2] - ends[3][1]).max() < 1e-9      # its symmetry


@pytest.mark.parametrize("integrator, bound", [("midpoint", 1e-5), ("rk4", 1e-9)])
def test_platform_on_three_parallel_cranks(integrator, bound):
    """One crank too many: as the same platform on two."""
    ends = []
    for bars in (2, 3):
        model = parallel_four_bars(bars)
        state = model.default_state()
        for joint in model.joints:
            joint.set_position(state, -0.7 if joint.name == "knee" else 0.7)
        error, gap, sim = follow(model, state, 10.0, integrator=integrator)
        assert error < bound and gap < 3e-8
        ends.append(sim.state)
    assert not np.isclose(ends[0].v[0], ends[1].v[0], rtol=1e-3)                         # the third crank has its mass
    assert np.ptp(np.array(ends[1].q)[[0, 2, 3]]) < 1e-8


def test_slider_crank_against_its_geometry():
    model = slider_crank()
    state = model.default_state()
    state.v = [10.0, 0.0, 0.0]
    state = model.assemble(state, keep="crank")
    error, gap, sim = follow(model, state, 10.0)
    t, _, x = sim.state.q
    w, _, speed = sim.state.v
    root = np.sqrt(0.5**2 - 0.2**2 * np.sin(t)**2)
    assert error < 1e-4 and gap < 1e-7
    assert abs(x - (0.2 * np.cos(t) + root)) < 1e-7
    assert abs(speed - w * (-0.2 * np.sin(t) - 0.2**2 * np.sin(t) * np.cos(t) / root)) < 1e-4


def bob(length, rope=False):
    """A mass point that flies, and what ties it to the origin."""
    b = mbros.ModelBuilder("bob", gravity=(0, 0, -9.81))
    ball = b.add_body("ball", mass=0.7, inertia=(1e-3, 1e-3, 1e-3))
    b.add_joint(mbros.TranslationJoint("fly", b.world, ball))
    b.add_constraint(mbros.DistanceConstraint("tie", b.world, ball, length, rope))
    return b.build()


def pendulum(angle, length, seconds, n=200000):
    """Angle of a mathematical pendulum that was let go at rest, by Verlet's method with a tiny step, and its rate."""
    h, w = seconds / n, 0.0
    for _ in range(n):
        w -= 0.5 * h * 9.81 / length * np.sin(angle)
        angle += h * w
        w -= 0.5 * h * 9.81 / length * np.sin(angle)
    return angle, w


@pytest.mark.parametrize("integrator, bound", [("midpoint", 2e-5), ("rk4", 1e-8)])
def test_a_rod_makes_a_pendulum(integrator, bound):
    model, length = bob(0.8), 0.8
    state = model.default_state()
    state.q = [length * np.sin(1.2), 0.0, -length * np.cos(1.2)]
    _, gap, sim = follow(model, state, 3.0, integrator=integrator)
    angle, rate = pendulum(1.2, length, 3.0)
    assert gap < 1e-8
    assert np.abs(sim.state.q - [length * np.sin(angle), 0.0, -length * np.cos(angle)]).max() < bound
    force = model.constraints["tie"].reaction(sim.state).force                           # towards the origin: m (g cos + l w^2)
    assert abs(np.linalg.norm(force) - 0.7 * (9.81 * np.cos(angle) + length * rate**2)) < 0.02
    assert np.cross(force, sim.state.q) @ np.cross(force, sim.state.q) < 1e-5 and force @ sim.state.q < 0.0


def test_a_rope_lets_go_and_catches():
    model = bob(1.0, rope=True)
    state = model.default_state()
    state.q, state.v = [0.5, 0.0, 0.0], [0.0, 0.0, 3.0]
    sim = mbros.Simulator(model, state=state)
    highest, taut, last = 0.0, 0, energy(model, state)
    for k in range(4000):
        sim.step()
        t, size = (k + 1) * 1e-3, float(np.linalg.norm(sim.state.q))
        if taut == 0 and size < 0.99:                                                    # a parabola until the rope is straight
            assert abs(sim.state.q[2] - (3.0 * t - 9.81 / 2 * t * t)) < 1e-12 * 1e4
        pull = float(model.constraints["tie"].effort(sim.state)[0])
        assert pull <= 0.0                                                               # against its getting longer: never pushes
        taut += pull < 0.0
        highest = max(highest, size)
        now = energy(model, sim.state)
        assert now < last + 1e-5
        last = now
    assert taut > 100 and highest < 1.0 + 1e-5


@pytest.mark.parametrize("integrator, bound", [("midpoint", 1e-6), ("rk4", 1e-10)])
def test_a_coupler_does_what_mimic_does(integrator, bound):
    def chain(coupled):
        b = mbros.ModelBuilder("two")
        a, c = loop_rigs.rod(b, "a", 0.5), loop_rigs.rod(b, "c", 0.4)
        first = b.add_joint(mbros.RevoluteJoint("first", b.world, a, axis=(0, -1, 0)))
        second = b.add_joint(mbros.RevoluteJoint("second", a, c, p=(0.5, 0, 0), axis=(0, -1, 0)))
        if coupled:
            b.add_constraint(mbros.CouplerConstraint("gear", second, first, ratio=-2.0, offset=0.3))
        else:
            b.description.joints[-1].mimic = mbros.describe.robot.Mimic("first", -2.0, 0.3)
        return b.build()

    coupled, mimic = chain(True), chain(False)
    state = coupled.default_state()
    state.q, state.v = [0.2, -0.1], [1.0, -2.0]
    other = mimic.default_state()
    other.q, other.v = [0.2], [1.0]
    sims = [mbros.Simulator(m, state=s, integrator=integrator) for m, s in ((coupled, state), (mimic, other))]
    for sim in sims:
        sim.advance_to(1.0)
    q = sims[0].state.q
    assert abs(q[1] - (-2.0 * q[0] + 0.3)) < 1e-8
    assert abs(q[0] - sims[1].state.q[0]) < bound


def test_flyball_governor_finds_its_angle():
    """Balls of m at arms of l, the arms' middles carrying a sleeve of M on links: cos = (m + M/2) g / (m l w^2) where arms and links lean
    alike and weigh nothing."""
    m, M, arm, speed = 1.0, 0.5, 0.5, 8.0
    b = mbros.ModelBuilder("governor", gravity=(0, 0, -9.81))
    shaft = b.add_body("shaft", mass=1.0, inertia=(1e6, 1e6, 1e6))
    sleeve = b.add_body("sleeve", mass=M, inertia=(1e-6, 1e-6, 1e-6))
    b.add_joint(mbros.RevoluteJoint("turn", b.world, shaft, axis=(0, 0, 1)))
    b.add_joint(mbros.PrismaticJoint("slide", shaft, sleeve, axis=(0, 0, 1)))
    for k, side in enumerate((1.0, -1.0)):
        ball = b.add_body(f"arm{k}", mass=m, com=(0, 0, -arm), inertia=(1e-9, 1e-9, 1e-9))
        b.add_joint(mbros.RevoluteJoint(f"lean{k}", shaft, ball, axis=(0, -side, 0), damping=0.5))
        b.add_constraint(mbros.DistanceConstraint(f"link{k}", b.add_frame(f"middle{k}", ball, p=(0, 0, -arm / 2)), sleeve, arm / 2))
    model = b.build()
    state = model.default_state()
    model.joint("turn").set_velocity(state, speed)
    for k in range(2):
        model.joint(f"lean{k}").set_position(state, 0.5)
    model.joint("slide").set_position(state, -arm * np.cos(0.5))
    state = model.assemble(state, keep=["lean0", "lean1", "turn"])
    sim = mbros.Simulator(model, state=state)
    sim.advance_to(20.0)
    angle = [float(model.joint(f"lean{k}").position(sim.state).item()) for k in range(2)]
    wanted = np.arccos((m + M / 2) * 9.81 / (m * arm * speed**2))
    assert np.abs(np.array(angle) - wanted).max() < 1e-4
    assert max(np.abs(c.gap(sim.state)).max() for c in model.constraints) < 1e-9


@pytest.mark.parametrize("integrator, bound", [("midpoint", 2e-4), ("rk4", 1e-9)])
def test_momentum_of_a_free_loop_is_kept(integrator, bound):
    bar = FourBar(base="floating", gravity=(0, 0, 0))
    model, state = bar.model, bar.state(0.5, 6.0)
    state.v[:6] += [0.3, -0.4, 0.2, 0.5, 0.1, -0.2]
    before = model.centroidal_momentum(state)
    _, gap, sim = follow(model, state, 2.0, integrator=integrator)
    after = model.centroidal_momentum(sim.state)
    assert gap < 1e-6
    assert np.abs(after - before).max() < bound * np.abs(before).max()


def test_two_free_bodies_on_a_ball_keep_their_momentum_to_rounding():
    """Nothing but the constraint joins them: its impulses cancel."""
    b = mbros.ModelBuilder("pair", gravity=(0, 0, 0))
    bodies = [b.add_body(name, mass=1.0 + k, inertia=(0.1, 0.1, 0.1)) for k, name in enumerate("ab")]
    pins = [b.add_frame(f"pin {body.name}", body, p=(x, 0, 0)) for body, x in zip(bodies, (0.3, -0.4))]
    b.add_constraint(mbros.BallConstraint("pin", *pins))
    model = b.build()
    state = model.default_state()
    model.joint("b").set_pose(state, p=(0.7, 0, 0))
    state.v[:6] = [0.5, 1.0, 2.0, 0.1, 0.2, -0.3]
    state = model.assemble(state)
    before = model.centroidal_momentum(state)
    _, gap, sim = follow(model, state, 5.0)
    drift = np.abs(model.centroidal_momentum(sim.state) - before)
    assert gap < 3e-7
    assert drift[3:].max() < 5000 * 64 * EPS


@pytest.mark.parametrize("integrator, bound", [("midpoint", 1e-3), ("rk4", 1e-7)])
def test_redundant_rows_of_a_loop_that_tumbles_are_rounding(integrator, bound):
    """A planar four-bar on a hinge: two of its five rows are zeros as it is drawn, and rounding once it is turned."""
    bar = FourBar(base="floating", gravity=(0, 0, 0), kind="hinge")
    for seed in range(5):
        rng = np.random.default_rng(seed)
        state = bar.state(rng.uniform(0.0, 6.0), 5.0)
        state.v[:6] = rng.normal(size=6)
        error, gap, _ = follow(bar.model, state, 1.0, integrator=integrator)
        assert error < bound and gap < 1e-6
