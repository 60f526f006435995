"""The demonstration's controller, in process: it reaches its poses with late measurements, slow commands and friction."""
import numpy as np
import pytest

import mbros
from mbros.cli.demonstration.poses import PATIENCE, REST, Move, PoseSequence
from mbros.describe.urdf.packages import example_robot_data
from mbros.errors import MbrosError

OWN = ["arm7", "arm6", "scara", "cartpole", "pendulum", "double_pendulum", "mobile_arm", "quadruped", "humanoid"]
EXAMPLES = ["panda", "ur5"]


def load(name):
    if name in EXAMPLES and not example_robot_data():
        pytest.skip("needs example-robot-data (pip install example-robot-data)")
    return mbros.load(name, base="fixed")


def succeeded(sequence):
    return sequence.report()["succeeded"]


def follow(model, seconds=9.0, every=4, late=6, friction=0.0, gap=()):
    """The sequence against a Simulator at 1 kHz: a command every `every` ms, from a state `late` ms old; none in `gap` (s)."""
    sim, sequence = mbros.Simulator(model, dt=1e-3), PoseSequence(model)
    for state in (sim.state, sequence.state, sequence.reference):
        state.friction[:] = friction
    seen, tau = [], np.zeros(model.nv)
    sequence.begin(0.0, sim.state.q.copy(), seconds)
    for k in range(round(seconds * 1000) + 500):
        seen.append((sim.state.q.copy(), sim.state.v.copy()))
        if k % every == 0 and not any(a <= sim.time < b for a, b in gap):
            tau = sequence.efforts(sim.time, *seen[max(0, len(seen) - 1 - late)])
        sim.step(tau)
    return sim, sequence


@pytest.mark.parametrize("name", OWN + EXAMPLES)
def test_every_pose_is_reached(name):
    sim, sequence = follow(load(name))
    assert succeeded(sequence) and sequence.done
    assert len(sequence.results) >= 2
    assert max(abs(error) for _, error, _, _ in sequence.results) < 2e-3
    assert sim.clamped == 0


def test_coulomb_friction_leaves_no_error_behind():
    _, sequence = follow(load("arm7"), friction=2.0)
    assert succeeded(sequence) and max(abs(error) for _, error, _, _ in sequence.results) < 2e-3


def test_it_recovers_from_commands_that_stop_for_80_ms():
    """Within the watchdog's time-out the last effort stays in force; the arm drifts and is caught again."""
    _, sequence = follow(load("arm7"), gap=((0.5, 0.58), (2.0, 2.08), (4.0, 4.08)))
    assert succeeded(sequence)


def test_a_robot_that_is_held_is_not_said_to_arrive():
    model = load("arm7")
    sequence = PoseSequence(model)
    sequence.begin(0.0, model.spec.q_default, 6.0)
    for t in np.arange(0.0, 6.0 + PATIENCE + 0.1, 0.01):
        sequence.efforts(t, model.spec.q_default, np.zeros(model.nv))
    assert sequence.done and not succeeded(sequence) and not any(ok for *_, ok in sequence.results)


def test_a_pose_may_come_late_and_the_next_one_then_begins_later():
    model = load("arm7")
    sequence = PoseSequence(model)
    sequence.begin(0.0, model.spec.q_default, 9.0)
    first, still = sequence.moves[0], np.zeros(model.nv)
    sequence.efforts((first.duration + REST) + 1.0, first.q1 + 0.1, still)
    assert sequence.results == [] and np.array_equal(sequence.desired, first.q1)
    sequence.efforts((first.duration + REST) + 1.5, first.q1 + 0.01, still)
    assert [ok for *_, ok in sequence.results] == [True]
    assert np.abs(sequence.desired - first.q1).max() < 1e-12         # the second move begins here, at rest
    sequence.efforts(9.0, first.q1, still)
    assert not sequence.done


def test_an_arm_that_fell_for_half_a_second_still_comes_to_its_poses():
    """A watchdog that took the efforts away: the arm falls, is caught, and arrives late."""
    model = load("arm7")
    sim, sequence = mbros.Simulator(model), PoseSequence(model)
    sequence.begin(0.0, sim.state.q.copy(), 6.0)
    for k in range(9000):
        tau = sequence.efforts(sim.time, sim.state.q.copy(), sim.state.v.copy())
        sim.step(np.zeros(model.nv) if 1200 <= k < 1700 else tau)
    assert sequence.done and succeeded(sequence)


def test_before_it_begins_it_holds_the_default_pose():
    model = load("arm6")
    sim, sequence = mbros.Simulator(model), PoseSequence(model)
    for _ in range(1000):
        sim.step(sequence.efforts(sim.time, sim.state.q, sim.state.v))
    assert np.abs(sim.state.q - model.spec.q_default).max() < 1e-9
    assert not succeeded(sequence)


@pytest.mark.parametrize("name", OWN + EXAMPLES)
def test_poses_are_inside_the_limits_and_moves_within_speed_and_effort(name):
    model = load(name)
    state = model.default_state()
    plan = PoseSequence(model).plan(model.spec.q_default, 20.0)
    for before, move in zip([None, *plan], plan):
        assert (model.spec.q_lower <= move.q1).all() and (move.q1 <= model.spec.q_upper).all()
        assert before is None or (move.q0 == before.q1).all()
        for t in np.linspace(0.0, move.duration, 50):
            q, v, vdot = move.at(t)
            assert (np.abs(v) <= model.spec.velocity_limit).all()
            state.q[:], state.v[:] = q, v
            assert (np.abs(model.inverse_dynamics(state, vdot)) <= model.spec.effort_limit).all()


def test_poses_differ():
    model = load("arm7")
    some = np.array([move.q1 for move in PoseSequence(model).plan(model.spec.q_default, 40.0)[:8]])
    far = np.abs(some[:, None] - some[None]).max(axis=2) + np.eye(8)
    assert far.min() > 0.2


def test_a_move_starts_and_ends_at_rest_and_its_derivatives_are_right():
    move, h = Move(np.array([0.5]), np.array([1.5]), 2.0), 1e-6
    assert [float(x[0]) for x in move.at(-1.0)] == [0.5, 0.0, 0.0] and [float(x[0]) for x in move.at(9.0)] == [1.5, 0.0, 0.0]
    for t in np.linspace(0.2, 1.8, 9):
        (_, v, vdot), after, before = move.at(t), move.at(t + h), move.at(t - h)
        assert abs((after[0] - before[0]) / (2 * h) - v)[0] < 1e-8 and abs((after[1] - before[1]) / (2 * h) - vdot)[0] < 1e-7
    q, v, vdot = move.at(1.0)
    assert (q[0], vdot[0]) == (1.0, 0.0) and v[0] == 1.875 / 2.0


def test_a_base_that_moves_is_refused_with_a_remedy():
    with pytest.raises(MbrosError, match="joint 'base' .floating.*base='fixed'"):
        PoseSequence(mbros.load("quadruped"))


def test_too_little_time_is_refused_with_a_remedy():
    model = load("arm7")
    with pytest.raises(MbrosError, match="first pose.*--duration"):
        PoseSequence(model).plan(model.spec.q_default, 0.5)


def test_a_robot_too_weak_for_gravity_is_refused():
    weak = mbros.load(WEAK)
    with pytest.raises(MbrosError, match="cannot hold itself"):
        PoseSequence(weak).plan(weak.spec.q_default, 10.0)


WEAK = """<robot name="weak"><link name="a"/><link name="b"><inertial><origin xyz="1 0 0"/><mass value="10"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-0.3" upper="0.3" effort="1" velocity="1"/></joint></robot>"""
