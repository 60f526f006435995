"""model.linearize at many states in one call is model.linearize of each, and both are the derivatives of mbros.diff and of differences."""
import re

import numpy as np
import pytest
import robots
import zoo
from tolerance import assert_close

import mbros
import mbros_core

STEPS = [None, *mbros_core.INTEGRATORS]


def some_states(model, n, rng):
    found = []
    for _ in range(n):
        state = model.random_state(rng)
        state.v[:] = rng.normal(size=model.nv)
        found.append(state)
    return found


def call(model, states, tau, integrator, **more):
    return model.linearize(states, tau, **more) if integrator is None else model.linearize(states, tau, 1e-3, integrator, **more)


@pytest.mark.parametrize("integrator", STEPS)
@pytest.mark.parametrize("name, base", robots.OF_MBROS)
def test_many_are_one_after_the_other_to_the_bit(name, base, integrator, rng):
    model, n = robots.loaded(name, base).model, 35
    states, tau = some_states(model, n, rng), rng.normal(size=(n, model.nv))
    A, B = call(model, states, tau, integrator, threads=2)
    assert A.shape == (n, 2 * model.nv, 2 * model.nv) and B.shape == (n, 2 * model.nv, model.nv)
    for k in (0, 17, n - 1):
        one = call(model, states[k], tau[k], integrator)
        assert np.array_equal(A[k], one[0]) and np.array_equal(B[k], one[1])
    q, v = np.array([s.q for s in states]), np.array([s.v for s in states])
    again = call(model, (q, v), tau, integrator)
    assert np.array_equal(again[0], A) and np.array_equal(again[1], B)


@pytest.mark.parametrize("name, base", [("arm7", "fixed"), ("quadruped", "floating"), ("mobile_arm", "planar")])
def test_it_is_the_derivatives_of_mbros_diff(name, base, rng):
    model, n = robots.loaded(name, base).model, 3
    states, tau = some_states(model, n, rng), rng.normal(size=(n, model.nv))
    A, B = model.linearize(states, tau)
    nv = model.nv
    for k, state in enumerate(states):
        d = mbros.diff.forward_dynamics(model, state, tau[k])
        assert np.array_equal(A[k, nv:, :nv], d["q"]) and np.array_equal(A[k, nv:, nv:], d["v"]) and np.array_equal(B[k, nv:], d["tau"])
        assert np.array_equal(A[k, :nv, nv:], np.eye(nv)) and not B[k, :nv].any()


@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
@pytest.mark.parametrize("name, base", [("arm7", "fixed"), ("quadruped", "floating"), ("mobile_arm", "planar"), ("all_kinds", "zoo"),
                                        ("mimic", "zoo")])
def test_a_step_is_that_of_differences(name, base, integrator, rng):
    """Central differences of a Simulator's step, along the joints' velocities; the acceleration of the step before is held."""
    model = mbros_core.Model(zoo.spec(name)) if base == "zoo" else robots.loaded(name, base).model
    if base == "zoo":
        state = model.default_state()
        state.q[:], state.v[:] = zoo.random_q(zoo.spec(name), rng), rng.normal(size=model.nv)
    else:
        (state,) = some_states(model, 1, rng)
    state._a_prev[:] = rng.normal(size=model.nv)
    tau, h, nv = rng.normal(size=model.nv), 1e-6, model.nv
    module, A, B = mbros_core.dual(), np.empty((1, 2 * nv, 2 * nv)), np.empty((1, 2 * nv, nv))
    number = mbros_core.INTEGRATORS.index(integrator)
    assert module.Linearizer(module.Model(model.spec)).linearize("step", state._inputs[None], tau[None], A, B, 1e-3, number) == -1
    (A,), (B,) = A, B
    if base != "zoo":
        for found, dual in zip(model.linearize(state, tau, 1e-3, integrator), (A, B)):
            if integrator == "midpoint":                # which has derivatives of its own
                assert_close(found, dual, 1e-13)
            else:
                assert np.array_equal(found, dual)

    def after(dq, dv, dtau):
        moved = state.copy()
        moved.q[:] = model.integrate(state.q, dq)
        moved.v[:] += dv
        sim = mbros_core.Plant(model, moved, 1e-3, integrator)
        sim.step(tau + dtau)
        return moved

    end = after(np.zeros(nv), np.zeros(nv), np.zeros(nv))
    for k in range(3 * nv):
        e = np.zeros(3 * nv)
        e[k] = h
        plus, minus = after(*e.reshape(3, nv)), after(*-e.reshape(3, nv))
        column = np.concatenate([model.difference(end.q, plus.q) - model.difference(end.q, minus.q), plus.v - minus.v]) / (2 * h)
        assert_close(np.hstack([A, B])[:, k], column, 1e-5, 1e-3, f"column {k}")


def test_each_state_has_its_own_parameters(rng):
    model = mbros.load("arm7")
    states = some_states(model, 20, rng)
    for k, state in enumerate(states):
        model.set_parameter(state, "mass.link7", 1.0 + k)
    model.joint("joint2").lock(states[3])
    A, B = model.linearize(states, np.zeros(7))
    for k in (0, 3, 19):
        one = model.linearize(states[k], np.zeros(7))
        assert np.array_equal(A[k], one[0]) and np.array_equal(B[k], one[1])
    assert not A[3, 8].any() and A[4, 8].any(), "joint2 is locked in one of them"


@pytest.mark.parametrize("what", ["forward_dynamics", "step"])
@pytest.mark.parametrize("analytic", [False, True], ids=["dual", "analytic"])
def test_a_workspace_is_written_before_it_is_read(analytic, what, rng):
    module = mbros_core.dual()
    model = mbros.load("quadruped", collisions=False)
    state, nv = some_states(model, 1, rng)[0], model.nv
    found = []
    for poisoned in (False, True):
        engine = mbros_core.LinearDynamics(model, module.halves) if analytic else module.Linearizer(module.Model(model.spec))
        if poisoned:
            engine.state._poison()
        A, B = np.full((1, 2 * nv, 2 * nv), np.nan), np.full((1, 2 * nv, nv), np.nan)
        assert engine.linearize(what, state._inputs[None], np.zeros((1, nv)), A, B, 1e-3) == ([] if analytic else -1)
        found.append((A, B))
    assert all(map(np.array_equal, *found))


@pytest.mark.parametrize("n", [0, 1])
def test_none_and_one(n):
    model = mbros.load("arm7")
    A, B = model.linearize((np.zeros((n, 7)), np.zeros((n, 7))), np.zeros(7), dt=1e-3)
    assert A.shape == (n, 14, 14) and B.shape == (n, 14, 7)
    A, B = model.linearize([model.default_state()] * n, np.zeros((n, 7)))
    assert A.shape == (n, 14, 14) and B.shape == (n, 14, 7)


@pytest.mark.parametrize("states, tau, words", [
    (3.0, np.zeros(7), "expected a State, a list of them, or (q, v), arrays of a row for each point, got 3.0"),
    ((np.zeros((4, 7)), np.zeros((5, 7))), np.zeros(7), "expected q (n, 7) and v (n, 7), got (4, 7) and (5, 7)"),
    ((np.zeros(7), np.zeros(7)), np.zeros(7), "expected q (n, 7) and v (n, 7), got (7,) and (7,)"),
    ((np.zeros((4, 7)), np.zeros((4, 7))), np.zeros((5, 7)),
     "linearize of model 'arm7': tau: expected shape (4, 7), or (7,) for all, got (5, 7)"),
    ((np.full((4, 7), np.nan), np.zeros((4, 7))), np.zeros(7), "q[0, 0] is nan; expected a finite number"),
    ((np.zeros((4, 7)), np.full((4, 7), np.inf)), np.zeros(7), "v[0, 0] is inf; expected a finite number"),
    ((np.zeros((4, 7)), np.zeros((4, 7))), np.full(7, np.nan), "tau[0] is nan; expected a finite number"),
    ([mbros.load("arm6").default_state()], np.zeros(7), "was given where a state of model 'arm7' was expected")])
def test_what_is_refused(states, tau, words):
    with pytest.raises(mbros.MbrosError, match=re.escape(words)):
        mbros.load("arm7").linearize(states, tau)


def test_a_point_without_a_derivative_is_named():
    """The length of a spring whose ends touch."""
    model = robots.sprung(mbros.TranslationJoint)
    q = np.ones((20, 3))
    q[7] = 0.0
    with pytest.raises(mbros.NonFiniteError, match="point 7 of 20: "):
        model.linearize((q, np.zeros((20, 3))), np.zeros(3))
    state = model.default_state()
    state.q[:] = np.nan
    with pytest.raises(mbros.NonFiniteError, match=r"q\[0\] \(joint 'slide"):
        model.linearize(state, np.zeros(3))


def test_a_rotation_of_zeros_is_refused_by_the_name_of_the_call():
    model = mbros.load("quadruped")
    q, state = np.tile(model.default_state().q, (20, 1)), model.default_state()
    q[7, 3:7] = state.q[3:7] = 0.0
    words = r"linearize of model 'quadruped': the quaternion of joint 'base', q\[3:7\] = .*has no direction"
    with pytest.raises(mbros.NonFiniteError, match=f"^point 7 of 20: {words}"):
        model.linearize((q, np.zeros((20, model.nv))), np.zeros(model.nv))
    for dt in (None, 1e-3):
        with pytest.raises(mbros.NonFiniteError, match=f"^{words}"):
            model.linearize(state, np.zeros(model.nv), dt=dt)
    with pytest.raises(mbros.NonFiniteError, match="^derivatives of bias_torques of model 'quadruped': the quaternion of joint 'base'"):
        mbros.diff.derivatives(model, "bias_torques", state)


def test_the_engine_refuses_what_does_not_fit():
    module, model = mbros_core.dual(), mbros.load("arm7")
    linearizer, inputs = module.Linearizer(module.Model(model.spec)), np.tile(model.default_state()._inputs, (3, 1))
    tau, A, B = np.zeros((3, 7)), np.zeros((3, 14, 14)), np.zeros((3, 14, 7))
    for arguments in (("mass_matrix", inputs, tau, A, B), ("step", inputs[:, 1:], tau, A, B), ("step", inputs, tau[1:], A, B),
                      ("step", inputs, tau, A[1:], B), ("step", inputs, tau, A, B.transpose(0, 2, 1)), ("step", inputs, tau, A, B, -1.0)):
        with pytest.raises(mbros.MbrosError):
            linearizer.linearize(*arguments)
    linearizer.end()
    A[:] = 7.0
    linearizer.linearize("step", inputs, tau, A, B)
    assert (A[1:] == 7.0).all(), "told to end, it ends after the first point"


@pytest.mark.parametrize("effort", [1e100, 1e150, 1e300])
def test_linear_dynamics_of_a_step_that_are_not_finite_are_refused(effort):
    """The accelerations are finite, and so are their derivatives; those of the step's turned ends are not."""
    model = robots.loaded("quadruped", "floating").model
    state, tau = model.default_state(), np.zeros(model.nv)
    tau[0] = effort                             # of the free base, which no limit holds
    assert np.isfinite(model.forward_dynamics(state, tau)).all() and all(np.isfinite(x).all() for x in model.linearize(state, tau))
    with pytest.raises(mbros.NonFiniteError, match="^linearize of model 'quadruped'"):
        model.linearize(state, tau, 1e-3)
    with pytest.raises(mbros.NonFiniteError, match="^point 1 of 2: linearize of model 'quadruped'"):
        model.linearize([state, state], np.array([0.0 * tau, tau]), 1e-3)
