"""Joints whose motion is given while the rest is dynamic: against inverse dynamics, the equations in NumPy, SciPy, formulas and energy."""
import copy
import pickle
import time

import numpy as np
import pytest

import mbros
from mbros_core import INTEGRATORS

ONE_EVALUATION = ("midpoint", "semi_implicit_euler")


def every_kind(seed=3):
    """A chain in which joints of all kinds carry each other; ugly numbers."""
    rng = np.random.default_rng(seed)
    b = mbros.ModelBuilder("all kinds", gravity=(0.3, -0.7, -9.4))
    kinds = [mbros.RevoluteJoint, mbros.BallJoint, mbros.PlanarJoint, mbros.UniversalJoint, mbros.PrismaticJoint, mbros.CylindricalJoint,
             mbros.BallRpyJoint, mbros.TranslationJoint, mbros.FloatingJoint, mbros.FloatingRpyJoint]
    last = b.world
    for k, kind in enumerate(kinds):
        body = b.add_body(f"body {k}", 1.0 + 0.2 * k, tuple(rng.uniform(-0.1, 0.1, 3)), tuple(0.05 + 0.02 * rng.uniform(size=3)))
        b.add_joint(kind(kind.__name__, last, body, p=tuple(rng.uniform(-0.2, 0.2, 3)), rpy=tuple(rng.uniform(-1, 1, 3))))
        last = body
    turn = b.add_body("turn", 0.7, (0.1, 0.02, 0.03), (0.02, 0.03, 0.04))
    b.add_joint(mbros.ContinuousJoint("circle", last, turn, axis=(0, 0, 1), representation="cos_sin"))
    return b.build()


def with_mimic():
    """Joints that share a coordinate: the dynamics go through the mass matrix."""
    b = mbros.ModelBuilder("shared")
    x, y, z = (b.add_body(name, 1.0, (0.1, 0.02, 0), (0.02, 0.03, 0.04)) for name in "xyz")
    b.add_joint(mbros.RevoluteJoint("a", b.world, x, axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("b", x, y, p=(0.3, 0, 0), axis=(0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("c", y, z, p=(0.3, 0, 0), axis=(0, 1, 0), mimic=("a", 2.0, 0.1)))
    return b.build()


def put(model, rng):
    state = model.default_state()
    state.q[:], state.v[:] = model.random_configuration(rng), rng.normal(size=model.nv)
    return state


@pytest.mark.parametrize("model", [every_kind(), with_mimic(), mbros.load("humanoid")], ids=lambda model: model.name)
def test_hybrid_dynamics_are_the_inverse_of_inverse_dynamics_and_the_equations_in_numpy(model):
    rng = np.random.default_rng(1)
    own = [joint for joint in model.joints if joint.nv and not joint.follows]
    for held in (own[::2], own[1::2], own[:1], own[-1:]):
        state = put(model, rng)
        state.damping[:] = rng.uniform(0, 1, model.nv)
        given = rng.normal(size=model.nv)
        v = state.v.copy()
        for k, joint in enumerate(held):
            joint.lock(state) if k == 1 else joint.prescribe(state, velocity=np.zeros(joint.nv))
        state.v[:] = v
        mode = state.field("lock")
        state.field("a_given")[:] = given
        wanted = np.where(mode == 2, given, 0.0)
        tau = rng.normal(size=model.nv)
        state._poison()
        vdot = model.forward_dynamics(state, tau)
        free = mode == 0
        assert (vdot[~free] == wanted[~free]).all()
        scale = 1.0 + abs(model.mass_matrix(state)).max() * abs(vdot).max()
        assert abs(model.inverse_dynamics(state, vdot) - tau)[free].max(initial=0.0) < 1e-12 * scale
        M, rest = model.mass_matrix(state), tau - model.inverse_dynamics(state, np.zeros(model.nv))
        K = np.block([[M, np.eye(model.nv)[:, ~free]], [np.eye(model.nv)[~free], np.zeros(((~free).sum(),) * 2)]])
        solved = np.linalg.solve(K, np.concatenate([rest, wanted[~free]]))
        assert np.allclose(solved[:model.nv], vdot, rtol=1e-9, atol=1e-9 * abs(vdot).max())
        effort = model.inverse_dynamics(state, vdot)[~free] - tau[~free]                # what it takes beside the command
        assert np.allclose(-solved[model.nv:], effort, rtol=1e-9, atol=1e-9 * scale)


def swing(t):
    return 0.4 * np.sin(5 * t), 2.0 * np.cos(5 * t), -10.0 * np.sin(5 * t)


def cart_pole():
    b = mbros.ModelBuilder("driven pendulum")
    cart, pole = b.add_body("cart", 2.0, (0, 0, 0), (0.1, 0.1, 0.1)), b.add_body("pole", 1.0, (0, 0, -0.5), (0.02, 0.02, 0.001))
    b.add_joint(mbros.PrismaticJoint("cart", b.world, cart, axis=(1, 0, 0)))
    b.add_joint(mbros.RevoluteJoint("pole", cart, pole, axis=(0, 1, 0)))
    return b.build()


def solution(T):
    """Of the pendulum on the cart that swings, by SciPy: (angle, speed)."""
    solve_ivp = pytest.importorskip("scipy.integrate").solve_ivp
    m, l, J = 1.0, 0.5, 0.02 + 1.0 * 0.5**2

    def rate(t, y):                 # com at x - l sin, -l cos for a turn about y that takes -z to -x
        return [y[1], (m * l * swing(t)[2] * np.cos(y[0]) - m * 9.81 * l * np.sin(y[0])) / J]
    return solve_ivp(rate, (0.0, T), [0.3, 0.0], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]


@pytest.mark.parametrize(("integrator", "dt", "error"), [("midpoint", 1e-3, 2e-5), ("semi_implicit_euler", 1e-4, 1e-3),
                                                         ("rk4", 1e-3, 1e-9)])
def test_a_driven_pendulum_is_that_of_scipy(integrator, dt, error):
    model = cart_pole()
    found = []
    for h in (dt, dt / 2):
        sim = mbros.Simulator(model, dt=h, integrator=integrator)
        model.joint("pole").set_position(sim.state, 0.3)
        sim.prescribe("cart", swing)
        sim.advance_to(1.0)
        found.append(abs(sim.state.q[1] - solution(1.0)[0]))
        assert sim.state.q[0] == swing(sim.time)[0] and sim.state.v[0] == swing(sim.time)[1]
    assert found[0] < error
    least = {"midpoint": 3.5, "semi_implicit_euler": 1.8, "rk4": 10.0}[integrator]
    assert found[1] < max(found[0] / least, 1e-11)


@pytest.mark.parametrize("model", [cart_pole(), with_mimic(), every_kind(), mbros.load("four_bar")], ids=lambda model: model.name)
def test_the_work_of_prescribed_joints_is_what_the_energy_gains(model):
    """Of second order, in the midpoint step: effort times the mean velocity of the step."""
    joint = next(joint for joint in model.joints if joint.nv == joint.nq == 1)
    first = joint.position(model.default_state())[0]
    errors = []
    for dt in (1e-3, 5e-4):
        sim = mbros.Simulator(model, dt=dt)
        sim.prescribe(joint, lambda t: (first + 0.3 * (1 - np.cos(4 * t)), 1.2 * np.sin(4 * t), 4.8 * np.cos(4 * t)))
        start, work = model.kinetic_energy(sim.state) + model.potential_energy(sim.state), 0.0
        for _ in range(round(0.5 / dt)):
            v = sim.state.v[joint.v_slice][0]
            sim.step()
            work += joint.mobilizer.effort(sim.state)[0] * 0.5 * (v + sim.state.v[joint.v_slice][0]) * dt
        errors.append(abs(model.kinetic_energy(sim.state) + model.potential_energy(sim.state) - start - work))
    assert abs(work) > 1e-3
    assert errors[1] < max(errors[0] / 3.0, 1e-8) and errors[0] < 2e-2 * (1.0 + abs(work))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_switching_while_running_keeps_positions(integrator):
    model = cart_pole()
    sim = mbros.Simulator(model, integrator=integrator)
    cart = model.joint("cart")
    model.joint("pole").set_position(sim.state, 0.3)

    def go(seconds, most):
        for _ in range(round(seconds / sim.dt)):
            v = sim.state.v.copy()
            before = sim.state.q.copy()
            sim.step()
            assert abs(sim.state.q - before - 0.5 * sim.dt * (v + sim.state.v)).max() < most

    smooth = 0.5 * 1e-6 * 60 + 1e-12                            # h^2/2 of the accelerations there
    go(0.1, smooth)
    for change in (lambda: cart.prescribe(sim.state), lambda: cart.prescribe(sim.state, acceleration=3.0),
                   lambda: cart.release(sim.state), lambda: cart.lock(sim.state), lambda: cart.release(sim.state)):
        q, v = sim.state.q.copy(), sim.state.v.copy()
        change()
        assert abs(sim.state.q - q).max() < 1e-12
        assert (sim.state.v == v)[1] and (cart.is_locked(sim.state) or (sim.state.v == v).all())
        go(0.05, smooth)
    begin, t0 = sim.state.q[0], sim.time
    sim.prescribe(cart, lambda t: (begin + 0.1 * (t - t0), 0.1, 0.0))
    assert abs(sim.state.q[0] - begin) < 1e-12
    sim.advance_to(sim.time + 0.5)
    assert abs(sim.state.q[0] - begin - 0.05) < 1e-12


def test_a_constant_law_does_not_drift():
    model = cart_pole()
    sim = mbros.Simulator(model)
    model.joint("cart").prescribe(sim.state, position=0.25, velocity=0.3)
    sim.advance_to(20.0)
    assert abs(sim.state.q[0] - (0.25 + 0.3 * 20.0)) <= 1e-15 and sim.state.v[0] == 0.3


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_joints_of_all_kinds_follow_functions_to_the_bit(integrator):
    model, rng = every_kind(), np.random.default_rng(5)
    for joint in model.joints:
        sim = mbros.Simulator(model, integrator=integrator)
        sim.state.v[:] = 0.1 * rng.normal(size=model.nv)
        start, w = joint.position(sim.state), rng.normal(size=joint.nv)
        space = joint.space

        def motion(t, start=start, w=w, space=space, joint=joint):
            if joint.kind in ("floating", "ball"):              # a constant twist
                return space.integrate(start, w * t), w, 0 * w
            if joint.nq != joint.nv:
                return [np.cos(t), np.sin(t)], [1.0], [0.0]
            if "rpy" in joint.kind:
                return start, 0 * w, 0 * w
            return start + w * np.sin(t), w * np.cos(t), -w * np.sin(t)
        if joint.kind == "continuous" or joint.nq == 2 and joint.nv == 1:
            joint.set_position(sim.state, motion(0.0)[0])
        sim.prescribe(joint, motion)
        for _ in range(20):
            sim.plant.state._poison()
            sim.step()
            q, v, _ = motion(sim.time)
            assert np.array_equal(sim.state.q[joint.q_slice], joint._unit(np.array(q, dtype=float)))
            assert np.array_equal(sim.state.v[joint.v_slice], np.array(v, dtype=float)), joint.name
        assert np.isfinite(joint.mobilizer.effort(sim.state)).all()


@pytest.mark.parametrize("integrator", ONE_EVALUATION)
def test_a_conveyor_takes_a_box_along_by_friction(integrator):
    b = mbros.ModelBuilder("conveyor")
    belt, box = b.add_body("belt", 5.0, (0, 0, 0), (1, 1, 1)), b.add_body("box", 1.0, (0, 0, 0), (0.01, 0.01, 0.01))
    b.add_joint(mbros.PrismaticJoint("belt", b.world, belt, axis=(1, 0, 0)))
    b.add_joint(mbros.FloatingJoint("box", b.world, box))
    b.add_collision(belt, mbros.shapes.box((10, 2, 0.2)), friction=0.5)
    b.add_collision(box, mbros.shapes.box((0.2, 0.2, 0.2)), friction=0.5)
    model = b.build()
    sim = mbros.Simulator(model, integrator=integrator)
    model.joint("box").set_pose(sim.state, p=(0, 0, 0.2))
    drive = model.joint("belt").prescribe(sim.state, velocity=1.0)
    sim.advance_to(0.1)
    before = sim.state.v[4]
    sim.advance_to(0.15)
    assert abs((sim.state.v[4] - before) / 0.05 - 0.5 * 9.81) < 1e-6           # it slides: mu g
    assert abs(drive.mobilizer.effort(sim.state)[0] - 0.5 * 9.81) < 1e-6                 # which the belt feels
    sim.advance_to(1.0)
    assert abs(sim.state.v[4] - 1.0) < 1e-8 and abs(drive.mobilizer.effort(sim.state)[0]) < 1e-6
    assert sim.state.q[0] == 1.0
    slide = sim.state.q[1]
    assert abs(slide - (1.0 - 0.5 / (0.5 * 9.81))) < 1e-3                      # v^2 / (2 mu g) behind


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_prescribed_crank_keeps_its_loop_closed(integrator):
    model = mbros.load("four_bar")
    sim = mbros.Simulator(model, integrator=integrator)
    crank = model.joint("crank")
    first = crank.position(sim.state)[0]
    sim.prescribe("crank", lambda t: (first + 3.0 * t**2 / 2, 3.0 * t, 3.0))
    gaps = []
    for _ in range(1000):
        sim.plant.state._poison()
        sim.step()
        gaps += [abs(c.gap(sim.state)).max() for c in model.constraints]
    assert max(gaps) < {"midpoint": 1e-6, "semi_implicit_euler": 5e-6, "rk4": 1e-12}[integrator]
    state = sim.state.copy()
    vdot = model.forward_dynamics(state, np.zeros(model.nv))
    assert abs(vdot[crank.v_slice] - 3.0).max() < 1e-12
    for c in model.constraints:
        assert abs(c.jacobian(state) @ state.v).max() < (2e-3 if integrator == "semi_implicit_euler" else 1e-4)


def test_it_is_state():
    model = cart_pole()
    start = model.default_state()
    model.joint("pole").set_position(start, 0.3)
    sim = mbros.Simulator(model, state=start)
    sim.prescribe("cart", swing)
    sim.advance_to(0.2)
    others = [copy.copy(sim), copy.deepcopy(sim)]
    kept = pickle.loads(pickle.dumps(sim.state))
    assert np.array_equal(kept.field("lock"), [2.0, 0.0]) and np.array_equal(kept.field("motion"), sim.state.field("motion"))
    sim.advance_to(0.5)
    for other in others:
        other.advance_to(0.5)
        assert np.array_equal(other.state.q, sim.state.q) and list(other.motions) == ["cart"]
    others[0].prescribe("cart", None)
    assert list(sim.motions) == ["cart"] and not others[0].motions and model.joint("cart").mobilizer.source(others[0].state) == "dynamic"
    sim.reset()
    assert sim.state.v[0] == 2.0 and list(sim.motions) == ["cart"]
    sim.advance_to(0.5)
    assert np.array_equal(others[1].state.q, sim.state.q)
    model.joint("cart").lock(sim.state)
    assert not sim.motions
    fresh = mbros.Simulator(model)
    fresh.advance_to(0.1)
    begin = fresh.state.q[0]
    fresh.prescribe("cart", lambda t: (begin + t - 0.1, 1.0, 0.0))
    fresh.reset()
    fresh.step()
    assert not fresh.motions and model.joint("cart").mobilizer.source(fresh.state) == "dynamic"


def test_rollouts_and_the_loop_have_constant_laws(tmp_path):
    model = cart_pole()
    state = model.default_state()
    model.joint("pole").set_position(state, 0.3)
    model.joint("cart").prescribe(state, velocity=0.7, acceleration=0.2)
    for integrator in INTEGRATORS:
        q, v = mbros.rollout(model, None, None, np.zeros((11, 200, 2)), state=state, integrator=integrator)
        sim = mbros.Simulator(model, state=state.copy(), integrator=integrator)
        sim.advance_to(0.2)
        assert abs(q[7, -1] - sim.state.q).max() < 1e-13 and abs(q[:, -1] - q[0, -1]).max() == 0.0
        assert abs(sim.state.q[0] - (0.7 * 0.2 + 0.1 * 0.04)) < 1e-15
    with pytest.raises(mbros.MbrosError, match="joint 'cart'.*prescribed"):
        mbros.rollout(model, np.array([0.5, 0.3]), np.zeros(2), np.zeros((2, 5, 2)), state=state)
    sim = mbros.Simulator(model)
    sim.prescribe("cart", swing)
    sim.step()
    with pytest.raises(mbros.MbrosError, match="joint 'cart'.*function of time"):
        mbros.rollout(model, None, None, np.zeros((2, 5, 2)), state=sim.state)


def test_splines_and_tables():
    t = np.array([0.0, 0.3, 0.7, 1.0])
    q = np.array([0.0, 0.5, -0.2, 0.1])
    spline = mbros.Spline(t, q, velocity=(1.0, 0.0))
    for k in range(4):
        assert abs(spline(t[k])[0][0] - q[k]) < 1e-15
    for k in (1, 2):
        below, above = spline(t[k] - 1e-9), spline(t[k] + 1e-9)
        assert abs(below[1] - above[1])[0] < 1e-6 and abs(below[2] - above[2])[0] < 1e-5
    e = 1e-5
    for x in (spline, mbros.Table(t, q), mbros.Table(t, np.stack([q, 2 * q], 1), np.ones((4, 2)))):
        for s in (0.1, 0.45, 0.9):
            (a, _, _), (b, v, vdot), (c, _, _) = x(s - e), x(s), x(s + e)
            assert np.allclose((c - a) / (2 * e), v, atol=1e-8) and np.allclose((a - 2 * b + c) / e**2, vdot, atol=1e-4)
        assert (x(2.0)[0] == x.q[-1]).all() and not x(2.0)[1].any()
    assert np.allclose(mbros.Spline(t, t**3 - t, velocity=(-1.0, 2.0))(0.5)[0], 0.125 - 0.5)
    model = cart_pole()
    sim = mbros.Simulator(model)
    sim.motions["cart"] = mbros.Spline(t, q)
    sim.advance_to(0.7)
    assert abs(sim.state.q[0] - q[2]) < 1e-15
    sim.advance_to(1.5)
    assert sim.state.q[0] == q[3] and sim.state.v[0] == 0.0
    del sim.motions["cart"]
    assert model.joint("cart").mobilizer.source(sim.state) == "dynamic"


@pytest.mark.parametrize(("call", "words"), [
    (lambda sim: sim.prescribe("cart", 3.0), "'cart'.*expected a function of time.*got 3.0"),
    (lambda sim: sim.prescribe("cart", lambda t: 1.0), "'cart'.*motion at 0 s: expected .q, v, a., got 1.0"),
    (lambda sim: sim.prescribe("cart", lambda t: (np.nan, 0, 0)), "'cart'.*position"),
    (lambda sim: sim.prescribe("cart", lambda t: ((1, 2), 0, 0)), "'cart'.*position"),
    (lambda sim: sim.prescribe("wagon", swing), "no joint 'wagon'"),
    (lambda sim: sim.motions["pole"], "no motion 'pole'"),
    (lambda sim: (sim.step(), sim.prescribe("cart", lambda t: (0.5, 0, 0))), "'cart'.*0.5.*away.*begins where the joint is"),
    (lambda sim: sim.prescribe("cart", mbros.Spline([0, 1], np.zeros((2, 2)))), "'cart'.*2 coordinates; expected 1"),
    (lambda sim: mbros.Spline([0, 0], [1, 2]), "Spline: t: expected two times or more"),
    (lambda sim: mbros.Table([0, 1, 2], [1, 2]), "Table: q: expected a row for each of the 3 times"),
    (lambda sim: mbros.Table([0, 1], [1, 2], np.ones((2, 3))), "Table: v: expected the shape of q"),
    (lambda sim: mbros.Spline([0, 1], [1, 2], velocity=(1, 2, 3)), "Spline: velocity: expected two numbers"),
    (lambda sim: sim.model.joint("cart").prescribe(sim.state, velocity=(1, 2)), "'cart'.*velocity"),
    (lambda sim: sim.model.joint("cart").mobilizer.effort(sim.state), "'cart': no step of a simulation led to this state"),
])
def test_refusals_say_which_joint(call, words):
    sim = mbros.Simulator(cart_pole())
    with pytest.raises(mbros.MbrosError, match=words):
        call(sim)


def test_kinds_without_a_constant_law_are_refused():
    model = every_kind()
    state = model.default_state()
    for name in ("BallRpyJoint", "FloatingRpyJoint"):
        with pytest.raises(mbros.MbrosError, match=f"'{name}'.*give sim.prescribe a function of time"):
            model.joint(name).prescribe(state, velocity=np.ones(model.joint(name).nv))
        model.joint(name).prescribe(state)
    with pytest.raises(mbros.MbrosError, match="'BallJoint'.*acceleration"):
        model.joint("BallJoint").prescribe(state, acceleration=np.ones(3))
    follower = with_mimic()
    with pytest.raises(mbros.MbrosError, match="'c' follows 'a'"):
        follower.joint("c").prescribe(follower.default_state())
    b = mbros.ModelBuilder("welded")
    b.add_joint(mbros.WeldJoint("weld", b.world, b.add_body("a", 1.0, (0, 0, 0), (1, 1, 1))))
    welded = b.build()
    with pytest.raises(mbros.MbrosError, match="'weld'.*no coordinates"):
        welded.joint("weld").prescribe(welded.default_state())


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps_with_prescribed_joints_have_derivatives(integrator):
    """Against central differences; what is prescribed depends on nothing."""
    model = cart_pole()
    state = model.default_state()
    state.q[:], state.v[:] = (0.2, 0.4), (0.5, -0.3)
    model.joint("cart").prescribe(state, acceleration=1.5)
    A, B = model.linearize(state, np.zeros(2), dt=1e-2, integrator=integrator)
    e = 1e-6
    for k, name in ((1, "q"), (1, "v")):
        ends = []
        for sign in (1.0, -1.0):
            x = state.copy()
            getattr(x, name)[k] += sign * e
            sim = mbros.Simulator(model, dt=1e-2, integrator=integrator, state=x)
            sim.step()
            ends.append(np.concatenate([sim.state.q, sim.state.v]))
        column = k if name == "q" else 2 + k
        assert np.allclose(A[:, column], (ends[0] - ends[1]) / (2 * e), atol=1e-8)
    assert not A[[0, 2]].any() and not B[[0, 2]].any()
    dog = mbros.load("quadruped", ground=True)
    state = dog.default_state()
    dog.joint("FL_hip_joint").prescribe(state)
    with pytest.raises(mbros.MbrosError, match="joint 'FL_hip_joint' is prescribed, and a step with contact has no derivatives"):
        dog.linearize(state, np.zeros(dog.nv), dt=1e-3)


def test_a_real_time_loop_follows_the_law_of_the_state_and_a_new_one_of_its_parameters():
    from mbros_core.realtime import Loop

    model = cart_pole()
    sim = mbros.Simulator(model)
    model.joint("cart").prescribe(sim.state, velocity=0.4)
    plant = sim.plant
    loop = Loop(plant, 1e-3, real_time_factor=0)
    loop.start(100)
    while loop.alive:
        time.sleep(0.01)
    loop.stop()
    assert abs(sim.state.q[0] - 0.4 * sim.time) < 1e-15 and sim.time > 0.05 and sim.state.v[0] == 0.4
    plant.reset(np.array([0.2, 0.1]), np.zeros(2))
    plant.step()
    assert sim.state.q[0] == 0.2                                # put there, at rest: its law goes on from there
    block = plant.parameter_block()
    at, size = plant.parameters["lock"]
    block[at:at + size] = (3.0, 0.0)
    with pytest.raises(mbros.MbrosError, match="lock of 'cart' is 3; expected 0 or 1, or 2 where it is prescribed"):
        plant.check_parameters(block)
