"""Pushes from outside: exact in steps, the same after copies and saves, beside a bench as without one."""
import copy
import pickle
import re

import numpy as np
import pytest

import mbros

MODEL = mbros.load("arm7")


def bench():
    made = mbros.Bench()
    made.add(mbros.PositionServo("*.servo", joint="joint*", kp=400.0, kd=20.0, effort_limit=5.0))
    return made


@pytest.fixture(params=[None, bench], ids=["without a bench", "with one"])
def sim(request):
    return mbros.Simulator(MODEL, bench=request.param and request.param())


def alike(sim):
    return mbros.Simulator(MODEL, bench=bench() if sim._bench is not None else None)


def by_hand(sim, force, torque, point, axes):
    """The wrench as model.apply_wrench takes it, in the present state."""
    R = np.eye(3) if axes is None else MODEL.pose(sim.state, axes).R
    arm = MODEL.pose(sim.state, "flange").R @ point
    MODEL.apply_wrench(sim.state, "flange", R @ torque + np.cross(arm, R @ force), R @ force)


@pytest.mark.parametrize("axes", [None, "flange", "link3"])
def test_a_wrench_is_that_of_apply_wrench_in_each_of_its_steps(sim, axes):
    force, torque, point = np.array([5.0, -3.0, 2.0]), np.array([0.1, 1.0, -0.5]), np.array([0.02, 0.0, 0.1])
    other = alike(sim)
    for k in range(12):
        if k == 3:
            sim.disturbances.apply_wrench("flange", torque, force, duration=0.005, point=point, expressed_in=axes or "world")
        if 3 <= k < 8:
            by_hand(other, force, torque, point, axes)
        sim.step()
        other.step()
        MODEL.clear_wrenches(other.state)
        assert np.allclose(sim.state.v, other.state.v, rtol=1e-12, atol=1e-15)
        assert not sim.state.external_force.any()
    sim.step()
    assert sim.state.time == pytest.approx(0.013)


def test_a_joint_effort_is_the_effort_and_no_limit_clamps_it(sim):
    other = alike(sim)
    sim.disturbances.apply_effort({"joint2": 3.0, "joint4": -1.0}, duration=0.003)
    for k in range(6):
        sim.step()
        other.step({"joint2": 3.0, "joint4": -1.0} if k < 3 else None)
        assert np.allclose(sim.state.v, other.state.v, rtol=1e-12, atol=1e-15)
    sim.disturbances.apply_effort({"joint2": 1e4})
    sim.step()
    assert sim.clamped == 0 and abs(sim.state.v[1]) > 1.0


def test_copies_pickles_and_saves_go_on_alike(sim):
    sim.disturbances.apply_wrench("link4", force=(0, 30, 0), duration=0.01)
    sim.disturbances.apply_effort({"joint1": 2.0})
    load = sim.disturbances.attach_payload("flange", 2.0, (0, 0, 0.1), (0.1, 0.1, 0.1))
    sim.advance_to(0.005)
    restored = alike(sim)
    restored.restore(sim.save())
    others = [copy.copy(sim), pickle.loads(pickle.dumps(sim)), restored]
    for each in (sim, *others):
        each.advance_to(0.02)
        each.disturbances.drop_payload(load)
        each.advance_to(0.04)
    for other in others:
        assert np.array_equal(other.state.q, sim.state.q) and len(other.disturbances) == len(sim.disturbances) == 1


def test_numbers_of_steps_are_exact_for_long():
    """After a million steps of counted time an impulse of n steps is one of n steps."""
    b = mbros.ModelBuilder("cart", gravity=(0, 0, 0))
    b.add_joint(mbros.PrismaticJoint("x", b.world, b.add_body("cart", 1.0, (0, 0, 0), (1, 1, 1)), axis=(1, 0, 0)))
    sim = mbros.Simulator(b.build(), dt=1e-3)
    sim.advance_to(1000.0)
    for n in (0, 1, 2, 7, 1000):
        v = sim.state.v[0]
        sim.disturbances.apply_wrench("cart", force=(1.0, 0, 0), duration=n * 1e-3)
        sim.advance_to(sim.time + 1.5)
        assert sim.state.v[0] - v == pytest.approx(max(n, 1) * 1e-3, rel=1e-9)


def test_payloads_are_parallel_axes_and_come_off_to_the_bit(sim):
    before = sim.state.field("inertia").copy()
    d = sim.disturbances
    numbers = [d.attach_payload("flange", 2.0, (0, 0, 0.1), np.diag([0.1, 0.2, 0.25])), d.attach_payload("flange", 0.3)]
    rows = sim.state.field("inertia")
    changed = np.flatnonzero((rows != before).any(axis=1))
    assert changed.size == 1 and rows[changed[0], 0] - before[changed[0], 0] == pytest.approx(2.3)
    heavy = mbros.Simulator(MODEL)
    heavy.disturbances.attach_payload("flange", 2.0, (0, 0, 0.1), np.diag([0.1, 0.2, 0.25]))
    tau, bare = MODEL.gravity_torques(heavy.state), MODEL.gravity_torques(MODEL.default_state())
    J = MODEL.jacobian(heavy.state, "flange")
    arm = MODEL.pose(heavy.state, "flange").R @ [0, 0, 0.1]
    point = J[3:] - np.cross(np.eye(3), arm) @ J[:3]
    assert np.allclose(tau - bare, point.T @ [0, 0, 2.0 * 9.81], atol=1e-9) or np.allclose(
        tau - bare, (J[3:] + np.array([np.cross(w, arm) for w in J[:3].T]).T).T @ [0, 0, 2.0 * 9.81], atol=1e-9)
    for number in numbers:
        d.drop_payload(number)
    assert np.array_equal(sim.state.field("inertia"), before) and len(d) == 0


def test_a_reset_ends_all_of_it(sim):
    other = alike(sim)
    sim.disturbances.apply_effort({"joint1": 2.0})
    sim.disturbances.attach_payload("flange", 2.0)
    sim.advance_to(0.01)
    sim.reset()
    sim.advance_to(0.01)
    other.advance_to(0.01)
    assert len(sim.disturbances) == 0 and np.array_equal(sim.state.q, other.state.q)


def test_clearing_by_frame_joint_and_number(sim):
    d = sim.disturbances
    d.apply_wrench("flange", force=(1, 0, 0))
    d.apply_wrench("link2", force=(1, 0, 0))
    d.apply_effort({"joint1": 1.0, "joint2": 1.0})
    assert d.clear("link2") == 1 and d.clear("joint1") == 1 and d.clear(3) == 1 and d.clear() == 1 and d.clear() == 0


@pytest.mark.parametrize("call, words", [
    (lambda d: d.apply_wrench("hand"), "hand"), (lambda d: d.apply_wrench("world"), "fixed in the world"),
    (lambda d: d.apply_wrench("flange", force=(1, 0)), "force"), (lambda d: d.apply_wrench("flange", duration=float("nan")), "duration"),
    (lambda d: d.apply_wrench("flange", duration=1e9), "1e+06 s or less"), (lambda d: d.apply_effort({"joint9": 1.0}), "joint9"),
    (lambda d: d.apply_effort(3.0), "{joint: effort}"), (lambda d: d.attach_payload("flange", -1.0), "mass is -1"),
    (lambda d: d.attach_payload("flange", 1.0, inertia=(1, 1, 3)), "principal moments"),
    (lambda d: d.apply_wrench("flange", force=(0, 1e308, 0)), "force[1] is 1e+308; expected a finite number, at most 1e+10 in magnitude"),
    (lambda d: d.apply_wrench("flange", torque=(0, 0, -1e11)), "torque[2] is -1e+11"),
    (lambda d: d.apply_wrench("flange", force=(0, 1, 0), point=(1e300, 0, 0)), "point[0] is 1e+300"),
    (lambda d: d.apply_effort({"joint1": 1.0, "joint3": 1e308}), "joint 'joint3'[0] is 1e+308"),
    (lambda d: d.attach_payload("flange", 1.0, com=(0, 0, 1e200)), "com[2] is 1e+200"),
    (lambda d: d.attach_payload("flange", 1.0, inertia=(1e300, 1e300, 1e300)), "inertia[0, 0] is 1e+300"),
    (lambda d: d.drop_payload(7), "there is no payload 7")])
def test_what_cannot_be_is_refused_and_changes_nothing(sim, call, words):
    with pytest.raises((mbros.MbrosError, ValueError, TypeError), match=re.escape(words)):
        call(sim.disturbances)
    assert len(sim.disturbances) == 0
