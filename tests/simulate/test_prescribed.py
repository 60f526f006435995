"""Joints whose motion is given while the rest is dynamic: against inverse dynamics, the equations in NumPy, SciPy, formulas and energy."""
import numpy as np
import pytest
from driven_robots import cart_pole, every_kind, put, swing, with_mimic

import mbros
from mbros.model.joints.in_state import unit
from mbros_core import INTEGRATORS

ONE_EVALUATION = ("midpoint", "semi_implicit_euler")


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
        assert cart.is_locked(sim.state) or (sim.state.v == v).all()          # a lock stops the pole, too
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
            assert np.array_equal(sim.state.q[joint.q_slice], unit(joint, np.array(q, dtype=float)))
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
