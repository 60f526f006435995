"""A rollout is many Simulators: the same bounds, the same faults, the parameters of a state, the same words about its start."""
import re

import numpy as np
import pytest
from tolerance import EPS

import mbros
import mbros_core


@pytest.fixture(scope="module")
def model():
    return mbros.load("arm7")


def stretched(model):
    return np.array([0, 90, 0, -90, 0, 45, 0], float)       # degrees taken for radians: far beyond every limit


def test_efforts_are_clamped_like_a_simulators(model, rng):
    """Infinite ones too; NaN is none, and a fault."""
    limit = model.limits.effort.upper
    tau = rng.uniform(-3.0, 3.0, (11, 4, 7)) * np.where(np.isfinite(limit), limit, 1.0)
    tau[3, 0, 2], tau[10, 1, 6] = np.inf, -np.inf
    given = tau.copy()
    q, v = mbros.rollout(model, np.full(7, 0.1), np.zeros(7), tau)
    clamped_q, clamped_v = mbros.rollout(model, np.full(7, 0.1), np.zeros(7), np.clip(tau, -limit, limit))
    assert (q == clamped_q).all() and (v == clamped_v).all() and (tau == given).all()
    tau[5, 2, 0] = np.nan
    run = mbros.rollout(model, np.full(7, 0.1), np.zeros(7), tau, on_fault="hold")
    assert run.fault[5] == 2 and (np.delete(run.fault, 5) == -1).all() and (np.delete(run.q, 5, 0) == np.delete(q, 5, 0)).all()


@pytest.mark.filterwarnings("ignore::mbros.PositionLimitWarning")
@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
def test_trial_B3_what_a_simulator_refuses_is_refused_in_the_same_step(model, integrator):
    """The stops throw it about: a Simulator faults within ten steps, and no number passes 1e10 in a rollout either."""
    sim = mbros.Simulator(model, integrator=integrator)
    sim.state.q[:] = stretched(model)
    taken = 0
    with pytest.raises(mbros.FaultError):
        for taken in range(2000):
            sim.step()
    tau = np.zeros((9, taken + 5, 7))
    with pytest.raises(mbros.FaultError, match=rf"robot 0 of 9 would not have stayed finite in step {taken} \(or within 1e\+10\)"):
        mbros.rollout(model, stretched(model), np.zeros(7), tau, integrator=integrator)
    starts = np.full((9, 7), 0.1)
    starts[4] = stretched(model)
    q, v = mbros.rollout(model, starts, np.zeros(7), tau, integrator=integrator, on_fault="hold")
    assert np.abs(q).max() < 1e10 and np.abs(v).max() < 1e10
    assert (q[4, taken:] == q[4, taken - 1]).all() and (v[4, taken:] == v[4, taken - 1]).all()
    rest = [k for k in range(9) if k != 4]
    assert (q[rest, -1] != q[rest, -2]).any(-1).all(), "its neighbours in the vector go on"


def test_trial_B3_it_does_not_begin_beyond_the_bound(model):
    for q0, v0, name in ((np.full(7, 1e10), np.zeros(7), "q0"), (np.zeros(7), np.full(7, -1e300), "v0")):
        with pytest.raises(mbros.MbrosError, match=f"{name}: expected finite numbers below 1e\\+10, got"):
            mbros.rollout(model, q0, v0, np.zeros((1, 2, 7)))


def changed(model, rng):
    """A state with parameters of its own, each of which a robot feels."""
    state = model.random_state(rng)
    state.q[:] *= 0.3
    state.gravity[:] = (1.0, -2.0, 3.0)
    state.field("inertia")[1:] *= rng.uniform(0.5, 2.0)
    state.damping[:] = rng.uniform(0.0, 2.0, model.nv)
    state.rotor_inertia[:] = rng.uniform(0.0, 0.3, model.nv)
    state.field("stop_stiffness")[:] *= 0.5
    model.joint("joint3").lock(state)
    model.apply_wrench(state, "link7", force=(0, 5, 0))
    return state


@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
def test_trial_B4_a_rollout_has_the_parameters_and_wrenches_of_a_state(model, integrator, rng):
    state = changed(model, rng)
    before = state._inputs.copy()
    tau = rng.normal(size=(11, 50, 7))
    q, v = mbros.rollout(model, None, None, tau, integrator=integrator, state=state, threads=2)
    plain, _ = mbros.rollout(model, state.q, state.v, tau, integrator=integrator)
    for b in (0, 10):
        sim = mbros.Simulator(model, integrator=integrator, state=state.copy())
        for k in range(50):
            sim.step(tau[b, k])
        assert np.abs(q[b, -1] - sim.state.q).max() < 1e-11 and np.abs(v[b, -1] - sim.state.v).max() < 1e-9
        assert np.abs(plain[b, -1] - sim.state.q).max() > 1e-4, "the model's own parameters move it elsewhere"
    assert np.array_equal(q[:, -1, 2], np.full(11, state.q[2])), "joint3 is locked"
    assert np.array_equal(state._inputs, before)


def test_trial_B4_the_next_rollout_has_the_models_own_again(model, rng):
    tau = rng.normal(size=(3, 5, 7))
    start = model.default_state()
    one = mbros.rollout(model, start.q, start.v, tau)
    mbros.rollout(model, None, None, tau, state=changed(model, rng))
    other = mbros.rollout(model, start.q, start.v, tau)
    assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def test_trial_B4_what_is_no_state_of_the_model_is_refused(model):
    tau = np.zeros((1, 2, 7))
    for wrong in (mbros.load("arm6").default_state(), 3.0, np.zeros(7)):
        with pytest.raises(mbros.StateError, match="was given where a state of model 'arm7' was expected"):
            mbros.rollout(model, np.zeros(7), np.zeros(7), tau, state=wrong)
    for q0, v0, name in ((None, np.zeros(7), "q0"), (np.zeros(7), None, "v0")):
        with pytest.raises(mbros.MbrosError, match=f"rollout of model 'arm7': {name} is None: give it, or a state to take it from"):
            mbros.rollout(model, q0, v0, tau)


def beyond(joint, x):
    """What is said of a joint at x rad whose limits are -2.9 and 2.9."""
    text = f"joint {joint!r}: its position of {x:g} rad is beyond its {'upper' if x > 0 else 'lower'} limit"
    degrees = f" (angles are in rad: {x:g} degrees are {np.radians(x):.4g})" if x > 2 * np.pi else ""
    return f"{text} {np.copysign(2.9, x):g}, and its stop will throw it back{degrees}"


def test_trial_B8_a_start_beyond_a_limit_is_told_once_for_each_joint(model):
    sim = mbros.Simulator(model)
    sim.state.q[[0, 2]] = 99.0, -3.5
    with pytest.warns(mbros.PositionLimitWarning) as told:
        sim.step()
        sim.run(0.003)
        sim.advance_to(0.01)
    assert [str(warning.message) for warning in told] == [beyond("joint1", 99.0), beyond("joint3", -3.5)]
    assert told[0].filename == __file__


@pytest.mark.parametrize("begin", [lambda sim: sim.run(0.01), lambda sim: sim.run(0.01, lambda t, state: {}),
                                   lambda sim: sim.advance_to(0.01), lambda sim: sim.step()])
def test_trial_B8_however_it_is_started_and_again_after_a_reset(model, begin):
    state = model.default_state()
    state.q[0] = 99.0
    sim = mbros.Simulator(model, state=state)
    for _ in range(2):
        with pytest.warns(mbros.PositionLimitWarning, match=re.escape(beyond("joint1", 99.0))) as told:
            begin(sim)
        assert len(told) == 1
        sim.reset()


def test_trial_B8_a_rollout_tells_it_too(model):
    starts = np.zeros((40, 7))
    starts[7:, 0], starts[9, 2] = 99.0, -4.0
    with pytest.warns(mbros.PositionLimitWarning) as told:
        mbros.rollout(model, starts, np.zeros(7), np.zeros((40, 1, 7)))
    assert sorted(str(warning.message) for warning in told) == [beyond("joint1", 99.0), beyond("joint3", -4.0)]


def test_a_joint_that_follows_another_is_not_asked_for_its_own_reach():
    b = mbros.ModelBuilder("pair")
    for name, most in (("leader", 1.0), ("follower", 0.5)):
        body = b.add_body(name, 1.0, (0, 0, 0.1), (1, 1, 1))
        b.add_joint(mbros.RevoluteJoint(name, b.world, body, limits=mbros.JointLimits(position=(-most, most))))
    b.description.joints[-1].mimic = mbros.describe.robot.Mimic("leader", 0.1, 0.0)
    model = b.build()
    with pytest.warns(mbros.PositionLimitWarning, match="'leader'") as told:
        mbros.rollout(model, np.array([1.5]), np.zeros(1), np.zeros((1, 1, 1)))
    assert len(told) == 1


@pytest.mark.filterwarnings("error::mbros.PositionLimitWarning")
def test_a_robot_that_leans_on_its_stop_is_told_nothing(model):
    """In motion, and where a copy of that motion goes on."""
    sim = mbros.Simulator(model)
    sim.run(1.0, {"joint1": 100.0})
    assert sim.state.q[0] > 2.9
    sim.run(0.1)
    mbros.Simulator(model, state=sim.state.copy()).run(0.1)
    mbros.Simulator(mbros.load("quadruped", base="floating")).run(0.01)


def test_trial_B9_simulator_and_rollout_differ_by_rounding_and_no_more(model, rng):
    """What docs/integrators.md says of it: the same equations summed in another order. 300 steps of a damped arm."""
    q0, tau = rng.uniform(-1, 1, 7), rng.normal(size=(1, 300, 7))
    q, v = mbros.rollout(model, q0, np.zeros(7), tau)
    sim = mbros.Simulator(model)
    sim.state.q[:] = q0
    for k in range(300):
        sim.step(tau[0, k])
    assert np.abs(q[0, -1] - sim.state.q).max() < 1000 * EPS and np.abs(v[0, -1] - sim.state.v).max() < 1e4 * EPS
