"""Bushings and spring-dampers between bodies in the midpoint step: explicit where soft, a part of its convex problem where stiff."""
import force_rigs
import numpy as np
import pytest

import mbros
import mbros_core

H, G = 1e-3, 9.81
LAWS = ("drake", "energy_consistent", "quaternion")


def slider(k, d=0.0, mass=2.0, kind="spring", gravity=(0, 0, -G), inertia=0.1):
    """A mass on a vertical rail, on a spring that is at ease at q = 0."""
    b = mbros.ModelBuilder("slider", gravity=gravity)
    body = b.add_body("body", mass, (0, 0, 0), (inertia,) * 3)
    b.add_joint(mbros.PrismaticJoint("rail", b.world, body, axis=(0, 0, 1)))
    if kind == "spring":
        b.add_force_element(mbros.LinearSpringDamper(b.add_frame("above", b.world, p=(0, 0, 5.0)), body, 5.0, k, d, name="it"))
    else:
        b.add_force_element(mbros.Bushing(b.world, body, 0.0, 0.0, k, d, name="it"))
    return b.build()


def run(model, steps, q=0.0, v=0.0, dt=H, integrator="midpoint"):
    """(q, v) (2, steps + 1) of a slider."""
    plant = mbros_core.Plant(model, dt=dt, integrator=integrator)
    plant.reset([q], [v])
    rows = [(q, v)]
    for _ in range(steps):
        plant.step(np.zeros(1))
        rows.append((plant.state.q[0], plant.state.v[0]))
    return np.array(rows).T


def by_the_rule(k, d, share, steps, q, v, dt):
    """The same step by hand, of a unit mass."""
    s = min(1.0, max(0.0, dt * dt * k / 4 - 1))
    theta = max(0.5, 1 - 0.5 / (dt * d)) if d else 0.5
    rows, a = [(q, v)], 0.0
    for _ in range(steps):
        x, y = q + dt / 2 * v, v + dt / 2 * a
        # (1 + W) (v+ - v) = -h (k x + d y) - h^2 s k v - h d share (v - y)
        W = dt * dt * k * (share / 4 + 0.75 * s) + dt * d * share * theta
        v_next = v - (dt * (k * x + d * y) + s * dt * dt * k * v + share * dt * d * (v - y)) / (1 + W)
        a, v, q = (v_next - v) / dt, v_next, x + dt / 2 * v_next
        rows.append((q, v))
    return np.array(rows).T


# ------------------------------------------------------------------------------------------------ the rule

@pytest.mark.parametrize("kind", ["spring", "bushing"])
@pytest.mark.parametrize("kappa, zeta, share", [(0.5, 0.0, 0.0), (0.999, 0.0, 0.0), (1.5, 0.0, 0.5), (0.0, 0.3125, 0.25), (2.0, 0.0, 1.0),
                                                (0.4, 0.275, 0.5), (3.9, 0.1, 1.0), (4.1, 0.9, 1.0), (6.0, 1.1, 1.0), (8.0, 0.0, 1.0),
                                                (1e4, 0.0, 1.0), (0.0, 1e4, 1.0), (1e6, 1e3, 1.0)])
def test_a_step_is_by_the_rule_on_both_sides_of_every_edge(kind, kappa, zeta, share):
    """z = h^2 k / (4 m) + h d / m from 1/4 to 1/2: explicit to implicit; from h sqrt(k / m) = 2 to 2 sqrt 2 and h d / m = 1 as joints."""
    k, d = kappa / H**2, zeta / H
    model = slider(k, d, mass=1.0, kind=kind, gravity=(0, 0, 0))
    assert model.force_elements["it"].implicit_share(model.default_state(), H) == pytest.approx(share, abs=1e-9)
    expected = by_the_rule(k, d, share, 20, 1e-3, 0.1, H)
    got = run(model, 20, 1e-3, 0.1)
    assert np.abs(got - expected).max(1) == pytest.approx(0.0, abs=1e-11)


@pytest.mark.parametrize("edge", [1.0, 2.0, 4.0, 8.0])
def test_motion_is_continuous_over_every_edge(edge):
    ends = [run(slider(edge * (1 + e) / H**2, mass=1.0), 10, 1e-3)[:, -1] for e in (-1e-9, 1e-9)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-6, abs=1e-7)        # of 1e-3 m and 2 m/s


def test_a_soft_element_takes_no_part_in_a_convex_problem():
    model = slider(100.0, 1.0)
    plant = mbros_core.Plant(model)
    plant.steps(np.zeros(1), 10)
    assert not plant.state.field("contact_memory").any() and "contacts" not in plant.layout
    plant.state.field("force_parameters")[0, 1] = 1e7
    plant.step(np.zeros(1))
    assert plant.state.field("contact_memory").any()


def test_the_share_is_of_the_sum_on_a_body():
    """Ten springs that are soft one by one are stiff together."""
    b = mbros.ModelBuilder("many")
    body = b.add_body("body", 1.0, (0, 0, 0), (0.1,) * 3)
    b.add_joint(mbros.PrismaticJoint("rail", b.world, body, axis=(0, 0, 1)))
    for k in range(10):
        b.add_force_element(mbros.LinearSpringDamper(b.add_frame(f"at {k}", b.world, p=(0, 0, 1 + k)), body, 1.0 + k, 0.9 / H**2, 0.0))
    model = b.build()
    assert [f.implicit_share(model.default_state(), H) for f in model.force_elements] == [1.0] * 10
    _, v = run(model, 2000, v=1e-3)
    assert np.abs(v).max() < 0.02


def test_the_share_is_of_the_inertia_about_the_centre_of_mass():
    """z by its formula, of bodies of all shapes and elements on both of their ends, just on either side of 1/4."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        m, com, A = 10.0 ** rng.uniform(-3, 3), rng.normal(size=3), rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-2, 1)
        second = m * A @ A.T                                             # moments of mass about the centre of mass, any of them
        I = np.trace(second) * np.eye(3) - second
        arms = rng.normal(size=(2, 3))
        k_turn, d_turn, k_move, d_move = 10.0 ** rng.uniform(-2, 2, 4) * [H**-2, 1 / H, H**-2, 1 / H]
        per_I = np.trace(I)**2 / (4 * np.linalg.det(I))
        turning, moving = H**2 * k_turn / 4 + H * d_turn, H**2 * k_move / 4 + H * d_move
        z = sum(turning * per_I + moving * (1 / m + arm @ arm * per_I) for arm in arms)
        for ratio in (0.9, 0.95, 0.97, 1 - 1e-6, 1 + 1e-6, 1.1, 1.5):
            b = mbros.ModelBuilder("body", gravity=(0, 0, 0))
            body = b.add_body("body", m, com, I)
            b.add_joint(mbros.FloatingJoint("free", b.world, body))
            for n, arm in enumerate(arms):
                by = 0.25 * ratio / z
                ends = (b.world, b.add_frame(f"end {n}", body, p=com + arm))
                b.add_force_element(mbros.Bushing(*(ends if n else ends[::-1]), by * k_turn, by * d_turn, by * k_move, by * d_move))
            model = b.build()
            shares = [f.implicit_share(model.default_state(), H) for f in model.force_elements]
            assert shares == pytest.approx([max(0.0, ratio - 1)] * 2, abs=1e-8), (ratio, z)


# --------------------------------------------------------------------------------------------- one mass

@pytest.mark.parametrize("kind", ["spring", "bushing"])
@pytest.mark.parametrize("kappa", [1e-3, 1e-2, 0.1, 0.9, 1.5, 3.0, 3.99])
def test_a_resolved_spring_keeps_its_amplitude(kind, kappa):
    q, v = run(slider(kappa * 2.0 / H**2, kind=kind, gravity=(0, 0, 0)), 5000, q=1e-3)
    assert np.abs(q).max() < 1.02e-3 and np.abs(q[-200:]).max() > 0.7e-3


@pytest.mark.parametrize("kind", ["spring", "bushing"])
@pytest.mark.parametrize("kappa", [8.0, 100.0, 1e4, 1e6])
def test_a_stiff_spring_does_not_ring_and_carries_the_weight(kind, kappa):
    k = kappa * 2.0 / H**2
    model = slider(k, kind=kind)
    plant = mbros_core.Plant(model)
    plant.reset([1e-3], [0.0])
    plant.step(np.zeros(1))
    first = abs(plant.state.q[0])
    plant.steps(np.zeros(1), 100)
    assert first < 0.6e-3 and abs(plant.state.v[0]) < 1e-9
    assert plant.state.q[0] == pytest.approx(-2.0 * G / k, rel=1e-9, abs=2e-15)          # 2e-15 m: of the lengths of 5 m
    wrench = model.force_elements["it"].spatial_force_on_frame_C(plant.state)
    assert np.asarray(wrench.force)[2] == pytest.approx(2.0 * G, rel=1e-9)


def test_a_soft_and_a_trapezoidal_spring_are_of_second_order():
    k, T = 2.0 * 1.5e6, 0.02                              # at 1 ms implicit, at half of it explicit
    exact = 1e-3 * np.cos(np.sqrt(k / 2.0) * T)
    errors = [abs(run(slider(k, gravity=(0, 0, 0)), round(T / dt), q=1e-3, dt=dt)[0][-1] - exact) for dt in (2.5e-4, 1.25e-4, 6.25e-5)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.3) and errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)
    stiff = mbros_core.Plant(slider(k, gravity=(0, 0, 0)), dt=1e-3)
    assert stiff.model.force_elements["it"].implicit_share(stiff.state, 1e-3) == 0.5


@pytest.mark.parametrize("k, d", [(1e6, 1e5), (1e9, 1e9), (0.0, 1e7), (1e4, 1e12)])
def test_an_overdamped_mass_never_turns_round(k, d):
    """It slows down at once, and creeps back at k/d."""
    q, v = run(slider(k, d, gravity=(0, 0, 0)), 200, v=1.0)
    assert (v[1:] <= 1e-12 + 0.5 * np.exp(-np.arange(200))).all() and np.abs(v[50:]).max() <= 1.1 * k / d * np.abs(q).max() + 1e-12


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_others_are_explicit_and_advice_says_so(integrator):
    k, mass = 20.0 / H**2, 2.0
    with pytest.raises(mbros.FaultError):
        sim = mbros.Simulator(slider(k), dt=H, integrator=integrator)
        sim.run(1.0)
    mbros.Simulator(slider(k), dt=H).run(0.1)
    advice = mbros.bushing_design.advise(k, 1.0, mass)
    assert "midpoint (the default) takes it implicitly" in str(advice) and integrator in str(advice)
    assert advice.suggested_step < 0.1 * 2 / np.sqrt(k / mass) * 1.001 and f"{advice.suggested_step:.3g} s resolves" in str(advice)


# --------------------------------------------------------------------------------------- several bodies

def two_bodies(k, d, law="energy_consistent", weld=False):
    b = mbros.ModelBuilder("two")
    A = b.add_body("A", 1.0, (0.02, 0.01, -0.03), (0.013, 0.01, 0.005))
    C = b.add_body("C", 3.0, (0.0, 0.05, 0.02), (0.03, 0.02, 0.03))
    b.add_joint(mbros.FloatingJoint("a", b.world, A))
    b.add_joint(mbros.FloatingJoint("c", b.world, C))
    at = b.add_frame("on A", A, p=(0.2, 0, 0)), b.add_frame("on C", C, p=(-0.2, 0, 0))
    if weld:
        b.add_constraint(mbros.WeldConstraint("it", *at))
    else:
        b.add_force_element(mbros.Bushing(*at, k / 100, d / 100, k, d, law=law, name="it"))
    return b.build()


def thrown(model):
    """Both bodies turn as one."""
    state, w = model.default_state(), np.array([1.0, 5.0, 2.0])
    model.joint("c").set_pose(state, p=(0.4, 0, 0))
    state.v[model.joint("a").v_slice] = [*w, 0, 0, 0]
    state.v[model.joint("c").v_slice] = [*w, *np.cross(w, (0.4, 0, 0))]
    return state


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("k, d", [(1e5, 0.0), (1e6, 1e3), (1e9, 0.0), (1e9, 1e6), (1e11, 0.0)])
def test_two_bodies_in_free_fall_keep_their_momentum(law, k, d):
    model = two_bodies(k, d, law)
    sim = mbros.Simulator(model, dt=H, state=thrown(model))
    before = model.centroidal_momentum(sim.state).copy()
    sim.run(1.0, every=1000)
    change = model.centroidal_momentum(sim.state) - before + [0, 0, 0, 0, 0, 4.0 * G]
    assert np.abs(change).max() < 1e-10 * max(1.0, np.abs(before).max(), 4.0 * G)
    if k >= 1e9:
        gap = model.force_elements["it"].measure(sim.state)
        assert np.abs(gap.displacement).max() < 2e-6 and np.abs(gap.angles).max() < 2e-6


def test_a_very_stiff_bushing_is_a_weld():
    bushing, weld = two_bodies(1e11, 0.0), two_bodies(0.0, 0.0, weld=True)
    runs = [mbros.Simulator(model, dt=H, state=thrown(model)) for model in (bushing, weld)]
    for sim in runs:
        sim.run(1.0, every=1000)
    assert runs[0].state.q == pytest.approx(runs[1].state.q, abs=1e-5) and runs[0].state.v == pytest.approx(runs[1].state.v, abs=1e-3)
    force = bushing.force_elements["it"].spatial_force_on_frame_C(runs[0].state)
    assert np.linalg.norm(force.force) == pytest.approx(np.linalg.norm(weld.constraints["it"].reaction(runs[1].state).force), rel=1e-3)


def chain(links, k, d):
    """Floating links in a row, joined by bushings, the first one on the world."""
    b = mbros.ModelBuilder("chain")
    before, ends = b.add_frame("end", b.world), []
    for i in range(links):
        body = b.add_body(f"link {i}", 1.0, (0.1, 0, 0), (1e-3, 4e-3, 4e-3))
        ends.append(b.add_joint(mbros.FloatingJoint(f"free {i}", b.world, body)))
        b.add_force_element(mbros.Bushing(before, body, k / 100, d / 100, k, d, name=f"bushing {i}"))
        before = b.add_frame(f"end {i}", body, p=(0.2, 0, 0))
    model = b.build()
    state = model.default_state()
    for i in range(links):
        model.joint(f"free {i}").set_pose(state, p=(0.2 * i, 0, 0))
    return model, state


def test_a_row_of_links_on_bushings_of_1e9_is_a_beam():
    links, k = 6, 1e9
    model, state = chain(links, k, 0.0)
    sim = mbros.Simulator(model, dt=H, state=state)
    sim.run(1.0, every=1000)
    assert np.abs(sim.state.v).max() < 1e-6
    held = model.force_elements["bushing 0"].spatial_force_on_frame_C(sim.state)
    assert held.force[2] == pytest.approx(links * G, rel=1e-5)
    sag, slope, z = 0.0, 0.0, []
    for i in range(links):                                  # each bushing: the weight beyond it over k, its moment over k / 100
        n = links - i
        slope += n * G * (0.1 + 0.2 * (n - 1) / 2) / (k / 100)
        sag += n * G / k
        z.append(-sag)
        sag += 0.2 * slope
    assert sim.state.q[model.joint(f"free {links - 1}").q_slice][2] == pytest.approx(z[-1], rel=1e-3)


def on_soles(k):
    """A humanoid with locked joints whose soles are bodies of their own, on stiff bushings under its feet."""
    b = mbros.ModelBuilder("soles", ground=True)
    bodies = b.add_robot(mbros.load("humanoid"), "h")
    for side in ("left", "right"):
        foot = bodies[f"{side}_foot"]
        sole = b.add_body(f"{side} sole", 0.2, (0, 0, 0), (2e-4, 8e-4, 1e-3))
        b.add_joint(mbros.FloatingJoint(f"{side} free", b.world, sole))
        b.add_collision(sole, mbros.shapes.box((0.22, 0.1, 0.02)))
        b.exclude_contact(foot, sole)
        b.exclude_contact(foot, b.world)
        at = b.add_frame(f"{side} at", foot, p=(0.04, 0, -0.08))
        b.add_force_element(mbros.Bushing(at, sole, k / 100, k / 1e5, k, k / 1e3, name=f"{side} sole"))
    model = b.build()
    state = model.default_state()
    for joint in model.joints:
        if joint.nv == 1:
            joint.lock(state)
    lowest = model.pose(state, "left at").p[2]
    base = next(joint for joint in model.joints if joint.nv == 6 and joint.name not in ("left free", "right free"))
    X = model.pose(state, "h/pelvis")
    base.set_pose(state, p=X.p + (0, 0, 0.011 - lowest))
    for side in ("left", "right"):
        model.joint(f"{side} free").set_pose(state, p=model.pose(state, f"{side} at").p)
    return model, state


@pytest.mark.parametrize("k", [1e7, 1e8])
def test_a_humanoid_stands_on_soles_that_bushings_carry(k):
    model, state = on_soles(k)
    sim = mbros.Simulator(model, dt=H, state=state)
    sim.run(1.0, every=1000)
    assert np.abs(sim.state.v).max() < 1e-3
    weight = model.total_mass(sim.state) * G
    carried = sum(model.force_elements[f"{side} sole"].spatial_force_on_frame_A(sim.state).force[2] for side in ("left", "right"))
    assert carried == pytest.approx(weight - 0.4 * G, rel=1e-3)
    assert sum(c.normal_force for c in model.contacts(sim.state)) == pytest.approx(weight, rel=1e-3)


# --------------------------------------------------------------------------------------- in every way of stepping

@pytest.mark.parametrize("kind", force_rigs.PAIRS)
def test_a_rollout_does_the_same_as_a_simulator(kind):
    model = force_rigs.rig(kind, 3)
    rng, robots = np.random.default_rng(0), 5
    states = [force_rigs.state_of(model, rng, angle=0.2) for _ in range(robots)]
    template = states[0].copy()
    template.field("force_parameters")[0] *= 1e4
    if kind == "spring_damper":
        template.field("force_parameters")[0, 0] /= 1e4
    assert model.force_elements["it"].implicit_share(template, H) == 1.0
    q, v = (np.array([getattr(state, name) for state in states]) for name in "qv")
    run_ = mbros.rollout(model, q, v, np.zeros((robots, 50, model.nv)), state=template)
    for i in range(robots):
        state = template.copy()
        state.set_q(q[i])
        state.set_v(v[i])
        plant = mbros_core.Plant(model, state)
        plant.steps(np.zeros(model.nv), 50)
        assert run_.q[i, -1] == pytest.approx(plant.state.q, abs=1e-8) and run_.v[i, -1] == pytest.approx(plant.state.v, abs=1e-6)


@pytest.mark.parametrize("kind", force_rigs.PAIRS)
@pytest.mark.parametrize("stiffer", [30.0, 1e3, 1e4])
def test_derivatives_of_a_step_are_those_of_differences(kind, stiffer):
    model, rng, e = force_rigs.rig(kind, 3), np.random.default_rng(5), 1e-6
    state = force_rigs.state_of(model, rng, angle=0.2)
    numbers = state.field("force_parameters")[0]
    numbers[:] *= np.where(np.arange(16) == 0, 1.0, stiffer) if kind == "spring_damper" else stiffer
    state.field("a_prev")[:] = rng.uniform(-1, 1, model.nv)
    n, tau = model.nv, rng.uniform(-1, 1, model.nv)

    def after(x):
        there = state.copy()
        there.q[:] = model.integrate(np.array(state.q), x[:n])
        there.v[:] = np.array(state.v) + x[n:2 * n]
        plant = mbros_core.Plant(model, there)
        plant.step(tau + x[2 * n:])
        return np.array(there.q), np.array(there.v)

    q0 = after(np.zeros(3 * n))[0]
    columns = []
    for i in range(3 * n):
        (q1, v1), (q2, v2) = (after(sign * e * np.eye(3 * n)[i]) for sign in (1, -1))
        columns.append(np.concatenate([model.difference(q0, q1) - model.difference(q0, q2), v1 - v2]) / (2 * e))
    A, B = mbros.diff.linearize_step(model, state, tau, H)
    J = np.array(columns).T
    assert np.abs(np.hstack([A, B]) - J).max() < 2e-6 * max(1.0, np.abs(J).max())


def test_beside_constraints_and_contact():
    """A ball on a stiff bushing under a hinged bar, pressed on the floor, the bar's other end held by a ball constraint."""
    b = mbros.ModelBuilder("all", ground=True)
    bar = b.add_body("bar", 2.0, (0.5, 0, 0), (1e-3, 0.2, 0.2))
    b.add_joint(mbros.FloatingJoint("free", b.world, bar))
    b.add_constraint(mbros.BallConstraint("pin", b.add_frame("pin", b.world, p=(0, 0, 0.1)), bar))
    ball = b.add_body("ball", 0.5, (0, 0, 0), (2e-3,) * 3)
    b.add_joint(mbros.FloatingJoint("ball", b.world, ball))
    b.add_collision(ball, mbros.shapes.sphere(0.1), friction=0.0)           # friction would keep what it took while the bar settles
    b.add_force_element(mbros.Bushing(b.add_frame("end", bar, p=(1.0, 0, 0)), ball, 1e6, 1e3, 1e8, 1e5, name="it"))
    model = b.build()
    state = model.default_state()
    model.joint("free").set_pose(state, p=(0, 0, 0.1))
    model.joint("ball").set_pose(state, p=(1.0, 0, 0.1))
    sim = mbros.Simulator(model, dt=H, state=state)
    sim.run(2.0, every=1000)
    assert np.abs(sim.state.v).max() < 1e-5
    contact, = model.contacts(sim.state)
    assert contact.normal_force == pytest.approx(1.5 * G, rel=1e-4)
    assert model.force_elements["it"].spatial_force_on_frame_C(sim.state).force[2] == pytest.approx(-1.0 * G, rel=1e-4)
    assert model.constraints["pin"].reaction(sim.state).force[2] == pytest.approx(1.0 * G, rel=1e-4)


def test_what_was_implicit_is_forgotten_with_the_step():
    model = slider(1e7)
    state = model.default_state()
    plant = mbros_core.Plant(model, state)
    plant.steps(np.zeros(1), 3)
    mean = model.force_elements["it"].wrench(state).force.copy()
    state.v[:] = 0.0                                        # no step led here
    assert model.force_elements["it"].wrench(state).force != pytest.approx(mean)
    assert model.force_elements["it"].wrench(state).force[2] == pytest.approx(-1e7 * state.q[0])
