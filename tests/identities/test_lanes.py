"""The lanes module is the double module, several robots at a time: forward and inverse dynamics to 1e-13 relative."""
import numpy as np
import pytest
import robots
import zoo
from tolerance import EPS, assert_close, condition

import mbros_core

RELATIVE = 1e-13
NUMBER = 37                                # never a whole number of vectors


def in_lanes(spec, q, v, x, algorithm):
    """The named algorithm of the lanes module on every row."""
    module = mbros_core.lanes()
    batch = module.Batch(module.Model(spec))
    out = np.full_like(x, np.nan)
    assert getattr(batch, algorithm)(q, v, x, out) == -1
    return out


def one_by_one(model, q, v, x, algorithm):
    state, out = model.default_state(), np.empty_like(x)
    for k in range(len(q)):
        state.q[:], state.v[:] = q[k], v[k]
        out[k] = getattr(model, algorithm)(state, x[k])
    return out


def compare(spec, model, q, rng, ugly=False):
    """Ugly robots may have mass matrices whose condition alone costs forward dynamics more than 1e-13."""
    v, x = rng.normal(size=(2, len(q), model.nv))
    for algorithm in ("forward_dynamics", "inverse_dynamics"):
        lanes, double = in_lanes(spec, q, v, x, algorithm), one_by_one(model, q, v, x, algorithm)
        for k in range(len(q)):
            loss = condition(mass_matrix(model, q[k])) if ugly and algorithm == "forward_dynamics" else 0
            assert_close(lanes[k], double[k], max(RELATIVE, EPS * loss), what=f"{algorithm}, row {k}")


@pytest.mark.parametrize("nv", range(1, 20))
def test_numbers_of_every_count_come_back_in_place(nv, rng):
    """Results and what is read are turned in blocks; no row is touched but its own."""
    module = mbros_core.lanes()
    spec = zoo.build("row", zoo.chain(["revolute"] * nv))
    batch = module.Batch(module.Model(spec))
    for n in (1, 7, 8, 9):
        q, v, fault = np.full((n + 1, 1, nv), 7.0), np.full((n + 1, 1, nv), 7.0), np.full(n, 9)
        q0, v0 = rng.normal(size=(2, n, nv))
        batch.rollout(q0, v0, np.zeros((n, 1, nv)), 1e-30, 1, q[:n], v[:n], fault)
        assert (q[:n, 0] == q0).all() and (v[:n, 0] == v0).all() and (q[n] == 7.0).all() and (v[n] == 7.0).all()


def test_finite_finds_every_number_that_is_not(rng):
    finite = mbros_core.lanes().Batch.finite
    for n in (1, 7, 16, 41):
        numbers = rng.normal(size=(n, 1)) * 1e300
        assert finite(numbers) and finite(numbers.T[:, ::-1])
        for k in range(n):
            for bad in (np.nan, np.inf, -np.inf):
                wrong = numbers.copy()
                wrong[k] = bad
                assert not finite(wrong) and not finite(wrong.T[:, ::-1])


def mass_matrix(model, q):
    state = model.default_state()
    state.q[:] = q
    return model.mass_matrix(state)


@pytest.mark.parametrize("name", zoo.NAMES)
def test_zoo(name, rng):
    spec = zoo.spec(name)
    compare(spec, robots.model(name), np.array([zoo.random_q(spec, rng) for _ in range(NUMBER)]), rng, ugly=True)


@pytest.mark.parametrize("mimic", [True, False])
@pytest.mark.parametrize("name, base", robots.FROM_FILES)
def test_robot_from_a_file(name, base, mimic, rng):
    robot = robots.loaded(name, base, mimic=mimic)
    compare(robot.spec, robot.model, np.array([robot.random_q(rng) for _ in range(NUMBER)]), rng)


def test_lanes_are_as_wide_as_the_processor():
    flags = mbros_core.support.cpu.flags()
    expected = 8 if "avx512f" in flags else 4 if "avx2" in flags else 2
    assert mbros_core.lanes().Batch.lanes == expected


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 16])
def test_any_number_of_robots(rows, rng):
    spec = zoo.spec("branched")
    q = np.array([zoo.random_q(spec, rng) for _ in range(rows)])
    compare(spec, robots.model("branched"), q, rng, ugly=True)


def test_lanes_do_not_touch_each_other(rng):
    """One robot with a NaN, or far out of bounds, leaves its neighbours' results as they were, to the last bit."""
    spec = zoo.spec("floating_tree")
    module = mbros_core.lanes()
    batch, n = module.Batch(module.Model(spec)), 16
    q = np.array([zoo.random_q(spec, rng) for _ in range(n)])
    v, tau = rng.normal(size=(2, n, len(spec.damping)))
    good = np.empty_like(tau)
    assert batch.forward_dynamics(q, v, tau, good) == -1
    tau[11, 3] = np.nan
    q[5, 0] = 1e200
    out = np.full_like(tau, 7.0)
    assert batch.forward_dynamics(q, v, tau, out) == 11
    others = [k for k in range(n) if k not in (5, 11)]
    assert np.array_equal(out[others], good[others])
    assert (out[11] == 7.0).all() and np.isfinite(out[5]).all()         # nothing that is not finite leaves


def test_the_first_robot_that_is_not_finite_is_named(rng):
    spec = zoo.spec("branched")
    for module in (mbros_core.lanes(), mbros_core):
        batch = module.Batch(module.Model(spec))
        q = np.array([zoo.random_q(spec, rng) for _ in range(21)])
        v, x = rng.normal(size=(2, 21, len(spec.damping)))
        for algorithm in ("forward_dynamics", "inverse_dynamics"):
            y = x.copy()
            y[13, 2] = y[18, 0] = np.inf
            assert getattr(batch, algorithm)(q, v, y, np.empty_like(y)) == 13


def rollout(module, spec, q0, v0, tau, integrator):
    batch, (n, steps, nv) = module.Batch(module.Model(spec)), tau.shape
    q, v, fault = np.empty((n, steps, q0.shape[1])), np.empty((n, steps, nv)), np.empty(n, np.int64)
    number = list(mbros_core.INTEGRATORS).index(integrator)
    batch.rollout(q0, v0, tau, 1e-3, number, q, v, fault)
    return q, v, fault


@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
@pytest.mark.parametrize("name", ["floating_tree", "planar_root", "mimic", "rough"])
def test_rollouts_in_lanes_are_plants_stepped_one_by_one(name, integrator, rng):
    spec, n, steps = zoo.spec(name), 11, 50
    model = robots.model(name)
    q0 = np.array([zoo.random_q(spec, rng) for _ in range(n)])
    v0, tau = rng.normal(size=(n, model.nv)), rng.normal(size=(n, steps, model.nv))
    q, v, fault = rollout(mbros_core.lanes(), spec, q0, v0, tau, integrator)
    assert (fault == -1).all()
    for b in range(n):
        plant = mbros_core.Plant(model, model.default_state(), dt=1e-3, integrator=integrator)
        plant.reset(q0[b], v0[b])
        for k in range(steps):
            plant.step(tau[b, k])
        assert_close(q[b, -1], plant.state.q, 1e-11)
        assert_close(v[b, -1], plant.state.v, 1e-9)


@pytest.mark.parametrize("integrator", mbros_core.INTEGRATORS)
def test_a_robot_that_fails_in_a_rollout_stays_where_it_was(integrator, rng):
    """Row 4 gets a NaN at step 6: held from then on, with the step reported; its neighbours go on as if nothing was."""
    spec, n, steps = zoo.spec("branched"), 9, 12
    q0 = np.array([zoo.random_q(spec, rng) for _ in range(n)])
    v0, tau = rng.normal(size=(n, 10)), rng.normal(size=(n, steps, 10))
    for module in (mbros_core.lanes(), mbros_core):
        good = rollout(module, spec, q0, v0, tau, integrator)
        bad_tau = tau.copy()
        bad_tau[4, 6, 2] = np.nan
        q, v, fault = rollout(module, spec, q0, v0, bad_tau, integrator)
        assert list(fault) == [-1] * 4 + [6] + [-1] * 4
        assert np.array_equal(q[4, :6], good[0][4, :6])
        assert (q[4, 6:] == q[4, 5]).all(), "the last good configuration is kept to the end"
        others = [k for k in range(n) if k != 4]
        assert np.array_equal(q[others], good[0][others]) and np.array_equal(v[others], good[1][others])
