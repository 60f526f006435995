"""Prescribed motion as state: saved, copied, switched by locks and releases; splines and tables; refusals, derivatives, the loop."""
import copy
import pickle
import time

import numpy as np
import pytest
from driven_robots import cart_pole, every_kind, swing, with_mimic

import mbros
from mbros_core import INTEGRATORS


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
