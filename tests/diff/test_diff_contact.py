"""mbros.diff: steps through contact, against differences of real steps. MBROS_CASES=1000 for a long run."""
import os
import warnings

import contact_states
import numpy as np
import pytest

import mbros
from mbros import diff
from mbros_core import geometry
from mbros_core.constraints import _scene

CASES = int(os.environ.get("MBROS_CASES", "100"))


@pytest.fixture(autouse=True)
def solved_to_rounding(monkeypatch):
    """Differences of steps see what the solver leaves undone: here it goes as far as rounding allows."""
    monkeypatch.setattr(_scene, "TOLERANCE", 1e-15)
    contact_states.MODELS.clear()


def linearized(model, state, tau, integrator="midpoint"):
    """[A B], and the switches that were reported."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        A, B = model.linearize(state, tau, dt=contact_states.DT, integrator=integrator)
    return np.hstack([A, B]), [switch for warning in told for switch in warning.message.switches]


def test_against_differences_of_random_states(rng):
    """Standing, sliding, touching, away from switches: 1e-6 of the largest entry."""
    compared, touching, sliding, worst = 0, 0, 0, 0.0
    for _ in range(10 * CASES):
        model, state, tau = contact_states.random_state(rng)
        integrator = str(rng.choice(["midpoint", "midpoint", "semi_implicit_euler"]))
        AB, switches = linearized(model, state, tau, integrator)
        expected, alike = contact_states.differences(model, state, tau, integrator)
        if switches or not alike:
            continue
        acting = [stuck for _, _, pushes, stuck in contact_states.what_acts(contact_states.after(model, state, tau, integrator)) if pushes]
        compared, touching, sliding = compared + 1, touching + bool(acting), sliding + (0.0 in acting)
        error = np.abs(AB - expected).max() / np.abs(expected).max()
        worst = max(worst, error)
        assert error <= 1e-6, (model.name, integrator, error)
        if compared == CASES:
            break
    print(f"{compared} states, {touching} touching, {sliding} sliding; largest error {worst:.1e}")
    assert compared == CASES and touching > CASES / 2 and sliding > CASES / 10


def test_with_locked_joints(rng):
    """What is locked stays, and hands on what the contacts do."""
    model, state, tau = contact_states.robot("quadruped", rng)
    for joint in model.joints[1::4]:
        joint.lock(state)
    expected, alike = contact_states.differences(model, state, tau)
    AB, switches = linearized(model, state, tau)
    assert alike and not switches and np.abs(AB - expected).max() <= 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_with_shared_coordinates(integrator):
    """Two wheels on one coordinate, on a base in roll, pitch and yaw."""
    b = mbros.ModelBuilder("cart", ground=True)
    base = b.add_body("base", 3.0, (0, 0, 0), (0.03, 0.02, 0.04))
    b.add_joint(mbros.FloatingRpyJoint("free", b.world, base, p=(0, 0, 0.3)))
    for k, name in enumerate(("left", "right")):
        wheel = b.add_body(name, 0.5, (0, 0, 0), (1e-3, 1e-3, 1e-3))
        mimic = {} if k == 0 else {"mimic": "left"}
        b.add_joint(mbros.ContinuousJoint(name, base, wheel, p=(0.1 - 0.2 * k, 0.1, 0), axis=(0, 1, 0), **mimic))
        b.add_collision(wheel, mbros.shapes.sphere(0.08))
    b.add_collision(base, mbros.shapes.sphere(0.03), mbros.Pose.make((0, -0.15, -0.05)))
    model = b.build()
    state = model.default_state()
    state.q[2] = -0.22
    state.v[:] = (0.2, 0.3, 0.1, 0.3, -0.2, 0.0, 1.0)
    sim = mbros.Simulator(model, dt=contact_states.DT, state=state)
    tau = np.array([0, 0, 0, 0, 0, 0, 0.2])
    for _ in range(60):
        sim.step(tau)
    expected, alike = contact_states.differences(model, sim.state, tau, integrator)
    AB, switches = linearized(model, sim.state, tau, integrator)
    assert contact_states.what_acts(sim.state) and alike and not switches
    assert np.abs(AB - expected).max() <= 1e-6 * np.abs(expected).max()


def test_many_states_in_one_call(rng):
    """As one by one, to the bit, whatever was linearised before them."""
    model, state, tau = contact_states.robot("quadruped", rng)
    states = [state]
    while len(states) < 20:
        states.append(contact_states.after(model, states[-1], tau))
    A, B = model.linearize(states, tau, dt=1e-3)
    for k in (7, 0, 19):
        a, b = model.linearize(states[k], tau, dt=1e-3)
        assert np.array_equal(A[k], a) and np.array_equal(B[k], b)
    assert all(np.array_equal(x, y) for x, y in zip((A, B), model.linearize(states, tau, dt=1e-3, threads=2)))


@pytest.mark.parametrize("kind", ["box", "sphere"])
def test_by_parameters(rng, kind):
    """Numbers of shapes, masses, gravity, of a body that stands and of one that slides."""
    for friction in (0.1, 0.9):
        model, state, tau = sliding(kind, friction)
        names = [f"contact.body.{name}" for name in ("stiffness", "relaxation_time", "friction", "torsional_radius", "rolling_radius")]
        names += ["contact.plane.stiffness", "contact.plane.friction", "mass.body", "gravity"]
        d = diff.derivatives(model, "step", state, tau, wrt=names)
        for name in names:
            expected, noise = by_parameter(model, state, tau, name)
            assert np.abs(d[name] - expected).max() <= 1e-6 * np.abs(expected).max() + noise, (friction, name)
        if friction == 0.1:
            acting = "contact.plane.friction" if kind == "box" else "contact.body.torsional_radius"
            assert np.abs(d[acting]).max() > 1e-4


def sliding(kind, friction):
    """A body on a plane that rises at 0.3 rad, after some steps."""
    b = mbros.ModelBuilder("slope")
    X = mbros.Pose.make((0, 0, 0), rpy=(0, 0.3, 0))
    b.add_collision(b.world, mbros.shapes.half_space(), X, name="plane", friction=friction)
    body = b.add_body("body", 2.0, (0, 0, 0), (0.01, 0.012, 0.008))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    shape = mbros.shapes.box((0.2, 0.1, 0.1)) if kind == "box" else mbros.shapes.sphere(0.05)
    b.add_collision(body, shape, name="body", friction=friction, torsional_radius=0.01, rolling_radius=0.004)
    model = b.build()
    sim = mbros.Simulator(model, dt=contact_states.DT)
    model.joint("free").set_pose(sim.state, X @ mbros.Pose.make((0, 0, 0.05)))
    sim.state.v[:] = (0.3, -0.2, 4.0, 0.05, 0.2, 0.0)
    for _ in range(150):
        sim.step(np.zeros(6))
    return model, sim.state, np.zeros(6)


def by_parameter(model, state, tau, name):
    """(n, k): central differences of a step, in q and v, and what rounding makes of them."""
    value = np.atleast_1d(np.array(model.parameter(state, name), float))
    columns, e = [], 1e-5 * np.abs(value).max()
    for k in range(len(value)):
        ends = []
        for sign in (1.0, -1.0):
            other, changed = state.copy(), value.copy()
            changed[k] += sign * e
            model.set_parameter(other, name, changed if len(changed) > 1 else changed[0])
            end = contact_states.after(model, other, tau)
            ends.append(np.concatenate([end.q, end.v]))
        columns.append((ends[0] - ends[1]) / (2 * e))
    return np.stack(columns, axis=-1), 1e-15 / e


def test_potential_energy_of_contacts(rng):
    model, state, _ = contact_states.pile(rng, 3)
    state.q[2] -= 1e-3
    names = ("q", *(name for name in model.parameter_names if name.startswith("contact.") and name.endswith("stiffness")))
    d = diff.derivatives(model, "potential_energy", state, wrt=names)
    assert d.value[0] == pytest.approx(model.potential_energy(state), rel=1e-14)
    e = 1e-7
    expected = [(model.potential_energy(contact_states.moved(model, state, x, 0.0)) - model.potential_energy(
        contact_states.moved(model, state, -x, 0.0))) / (2 * e) for x in e * np.eye(model.nv)]
    assert np.abs(d["q"][0] - expected).max() <= 1e-6 * np.abs(expected).max()
    for name in names[1:]:
        value = model.parameter(state, name)
        energies = []
        for change in (1.001, 0.999):
            other = state.copy()
            model.set_parameter(other, name, change * value)
            energies.append(model.potential_energy(other))
        assert d[name][0, 0] == pytest.approx((energies[0] - energies[1]) / (0.002 * value), rel=1e-5, abs=1e-15), name


def resting(height):
    b = mbros.ModelBuilder("ball", ground=True)
    body = b.add_body("ball", 1.0, (0, 0, 0), (0.004, 0.004, 0.004))
    b.add_joint(mbros.PrismaticJoint("lift", b.world, body, p=(0, 0, 1), axis=(0, 0, 1)))
    b.add_collision(body, mbros.shapes.sphere(0.1), name="ball")
    model = b.build()
    state = model.default_state()
    state.q[0] = height - 1.0
    return model, state


@pytest.mark.parametrize("depth, near", [(1e-3, False), (1e-8, True), (-1e-8, True), (-1e-3, False)])
def test_a_ball_about_to_touch(depth, near):
    """On the side where it touches, the ground's spring is in the derivatives; where it does not, nothing is."""
    model, state = resting(0.1 - depth)
    hold = np.array([9.81])
    AB, switches = linearized(model, state, hold)
    assert [(s.point, s.shapes, s.about_to) for s in switches] == ([(None, ("floor", "ball"), ("begin or cease to push",))] if near else [])
    assert (abs(AB[1, 0]) > 1.0) == (depth > 0)
    if near:
        with pytest.warns(mbros.SwitchWarning, match="'ball': .*: point 1: the contact of 'floor' and 'ball' is about to") as told:
            model.linearize([model.default_state(), state], hold, dt=1e-3)
        assert told[0].message.switches[0].point == 1 and told[0].filename == __file__


def beside(pose, top):
    """A free body over a box that stands; their points without the step."""
    b = mbros.ModelBuilder("two")
    body = b.add_body("top", 1.0, (0, 0, 0), (0.01, 0.01, 0.01))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_collision(b.world, mbros.shapes.box((0.4, 0.4, 0.1)), name="bottom")
    b.add_collision(body, getattr(mbros.shapes, top[0])(*top[1:]), name="top")
    model = b.build()
    state = model.default_state()
    model.joint("free").set_pose(state, pose)
    found = geometry.contacts(geometry.box((0.4, 0.4, 0.1)), np.eye(4), getattr(geometry, top[0])(*top[1:]), pose)
    return model, state, found


def tilted_box(x):
    """3e-4 rad off the other: that one's face gives the normal where x is small, else an edge of each."""
    return mbros.Pose.make((x, 0.01, 0.099), rpy=(2e-4, 3e-4, 0.3)), ("box", (0.38, 0.36, 0.1))


def ball_over_an_edge(x):
    return mbros.Pose.make((x, 0.02, 0.09), rpy=(0.1, 0.2, 0.3)), ("sphere", 0.045)


@pytest.mark.parametrize("place, low, high, beside_it", [(tilted_box, -0.1, 0.1, 5e-3), (ball_over_an_edge, 0.19, 0.21, 1e-3)])
def test_another_face_about_to_give_the_normal(place, low, high, beside_it):
    """What touches keeps its name, and the derivatives say that they are of this side; beside it they are right, and nothing is said."""
    def of_first(x):
        return beside(*place(x))[2].normals[0][2] == 1.0

    first = of_first(low)
    assert first != of_first(high)
    while high - low > 1e-9:
        low, high = (0.5 * (low + high), high) if of_first(0.5 * (low + high)) == first else (low, 0.5 * (low + high))
    names = []
    for x in (low - beside_it, low, high, high + beside_it):
        model, state, found = beside(*place(x))
        names.append(set(found.features))
        AB, switches = linearized(model, state, np.zeros(6))
        if abs(x - low) < 1e-6:
            assert [(s.shapes, s.about_to) for s in switches] == [(("bottom", "top"), ("touch with other features",))]
        else:
            expected, alike = contact_states.differences(model, state, np.zeros(6))
            assert alike and not switches and np.abs(AB - expected).max() <= 1e-6 * np.abs(expected).max()
    assert names[1] & names[2]


def test_a_block_about_to_slip():
    """Pushed by what friction bears, and by a little more and less."""
    b = mbros.ModelBuilder("block", ground=True)
    body = b.add_body("block", 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(mbros.TranslationJoint("slide", b.world, body, p=(0, 0, 1)))
    b.add_collision(body, mbros.shapes.sphere(0.1), name="block")
    model = b.build()
    sim = mbros.Simulator(model, dt=1e-3)
    sim.state.q[2] = -0.9
    for _ in range(300):
        sim.step(np.zeros(3))

    def sticks(push):
        return contact_states.what_acts(contact_states.after(model, sim.state, np.array([push, 0, 0])))[0][3]

    low, high = 0.0, 100.0
    assert sticks(low) and not sticks(high)
    while high - low > 1e-9:
        low, high = (0.5 * (low + high), high) if sticks(0.5 * (low + high)) else (low, 0.5 * (low + high))
    told = {}
    for share in (0.5, 0.9999, 1.5):
        told[share] = [s.about_to for s in linearized(model, sim.state, np.array([share * low, 0.0, 0.0]))[1]]
    assert told == {0.5: [], 0.9999: [("begin or cease to slip",)], 1.5: []} and 0.5 < low < 9.81


def test_rk4_has_no_contact_to_differentiate():
    model, state = resting(0.1)
    with pytest.raises(mbros.MbrosError, match="rk4 has no contact"):
        model.linearize(state, np.zeros(1), dt=1e-3, integrator="rk4")


def test_accelerations_have_no_contact():
    """forward_dynamics is without contact, and so are its derivatives."""
    model, state = resting(0.09)
    A, B = model.linearize(state, np.zeros(1))
    assert A.tolist() == [[0, 1], [0, 0]] and B.tolist() == [[0], [1]]


def test_nothing_changes_in_the_state(rng):
    model, state, tau = contact_states.robot("quadruped", rng)
    before = state._inputs.copy()
    first = diff.derivatives(model, "step", state, tau, wrt=("q", "v", "tau"))
    again = diff.derivatives(model, "step", state, tau, wrt=("q", "v", "tau"))
    end = contact_states.after(model, state, tau)
    assert np.array_equal(state._inputs, before) and all(np.array_equal(first[name], again[name]) for name in first)
    assert np.allclose(first.value, np.concatenate([end.q, end.v]), rtol=1e-9, atol=1e-12)
