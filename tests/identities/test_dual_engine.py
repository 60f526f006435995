"""The engine over dual numbers: its values are the engine's, its derivatives agree with independent routes to them."""
import importlib

import numpy as np
import pytest
import zoo
from hypothesis import HealthCheck, given, settings, strategies as st
from tolerance import condition

import mbros_core
from mbros.diff.duals import Workspace
from mbros_core.support.cpu import AVX2, AVX512, flags

SETTINGS = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
KINDS = [row.name for row in zoo.ROWS]
TREES = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 100)), min_size=1, max_size=10)
MODULES = {"_dual2": frozenset(), "_dual4": AVX2, "_dual8": AVX512}


def built():
    """The dual modules that were built and that this CPU runs."""
    for name, needed in MODULES.items():
        if flags() >= needed:
            try:
                yield importlib.import_module(f"mbros_core.engine.{name}")
            except ModuleNotFoundError:
                pass


def random_model(tree, seed, **options):
    rng = np.random.default_rng(seed)
    spec = zoo.build("random", [zoo.Body(kind, at % (i + 1)) for i, (kind, at) in enumerate(tree)], rng=rng, **options)
    model = mbros_core.Model(spec)
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.uniform(-1, 1, model.nv)
    return model, state, rng


def sweep(model, state, what, given=(), wrt=("q", "v"), module=None):
    """(value, J) of an algorithm by the variables `wrt`; "x" is the given vector."""
    module = module or mbros_core.dual()
    work = Workspace(model, module.Duals(module.Model(model.spec)))
    work.write(state, given)
    directions, _, count = work.directions(state, "x", given, wrt)
    return work.duals.sweep(what, directions, count)


@SETTINGS
@given(TREES, st.integers(0, 10**6))
def test_values_are_the_engines(tree, seed):
    model, state, rng = random_model(tree, seed)
    if not model.nv:
        return
    x = rng.normal(size=model.nv)
    close = 1e-13 * condition(model.mass_matrix(state))
    for what, value in (("inverse_dynamics", model.inverse_dynamics(state, x)), ("forward_dynamics", model.forward_dynamics(state, x)),
                        ("mass_matrix", model.mass_matrix(state).ravel()), ("bias_torques", model.bias_torques(state)),
                        ("gravity_torques", model.gravity_torques(state)), ("kinetic_energy", np.array([model.kinetic_energy(state)])),
                        ("velocity_to_qdot", model.velocity_to_qdot(state, x))):
        dual, _ = sweep(model, state, what, x if what.endswith(("dynamics", "qdot")) else ())
        assert np.abs(dual - value).max() <= close * max(1.0, np.abs(value).max()), what


@pytest.mark.seed("PJ-16", "RM-23")
@SETTINGS
@given(TREES, st.integers(0, 10**6))
def test_forward_and_inverse_dynamics_are_each_others_inverse_to_first_order(tree, seed):
    """d(forward) = -M^-1 d(inverse), and d(forward)/d(tau) = M^-1: to rounding, over all joint kinds."""
    model, state, rng = random_model(tree, seed)
    if not model.nv:
        return
    tau = rng.normal(size=model.nv)
    vdot, F = sweep(model, state, "forward_dynamics", tau, ("q", "v", "x"))
    _, D = sweep(model, state, "inverse_dynamics", vdot, ("q", "v", "x"))
    n, M = model.nv, model.mass_matrix(state)
    bound = 1e-13 * condition(M) * max(1.0, np.abs(F).max())
    assert np.abs(F[:, 2 * n:] @ M - np.eye(n)).max() <= 1e-13 * condition(M)
    assert np.abs(D[:, 2 * n:] - M).max() <= 1e-13 * np.abs(M).max()
    assert np.abs(F[:, :2 * n] + np.linalg.solve(M, D[:, :2 * n])).max() <= bound


@pytest.mark.seed("PJ-16", "RM-23")
@pytest.mark.parametrize("what", ["forward_dynamics", "inverse_dynamics", "mass_matrix", "kinetic_energy", "potential_energy",
                                  "center_of_mass", "com_jacobian", "centroidal_momentum", "velocity_to_qdot", "bias_torques",
                                  "coriolis_torques", "passive_torques"])
@pytest.mark.parametrize("name", ["all_kinds", "mixed", "mimic", "floating_tree"])
def test_against_differences_on_the_manifold(name, what, rng):
    """Central differences of the double engine, extrapolated once: an error of h^4."""
    spec = zoo.spec(name)
    model = mbros_core.Model(spec)
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.uniform(-1, 1, model.nv)
    x = rng.normal(size=model.nv) if what.endswith(("dynamics", "qdot")) else np.zeros(0)
    _, J = sweep(model, state, what, x)

    def f(dq, dv):
        at = state.copy()
        at.q[:] = model.integrate(state.q, dq)
        at.v[:] = state.v + dv
        return np.ravel(getattr(model, what)(at, x) if len(x) else getattr(model, what)(at))

    def difference(h, k):
        d = np.zeros(2 * model.nv)
        d[k] = h
        return (f(d[:model.nv], d[model.nv:]) - f(-d[:model.nv], -d[model.nv:])) / (2 * h)

    for k in range(2 * model.nv):
        near = (4 * difference(5e-4, k) - difference(1e-3, k)) / 3
        assert np.abs(J[:, k] - near).max() <= 1e-8 * max(1.0, np.abs(J).max()), (k, what)


def test_a_change_of_velocity_changes_the_pose_rate_of_every_frame(rng):
    """d(pose)/dq along v is the frame's velocity: two algorithms, one number."""
    spec = zoo.spec("all_kinds")
    model, module = mbros_core.Model(spec), mbros_core.dual()
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.normal(size=model.nv)
    work = Workspace(model, module.Duals(module.Model(spec)))
    for k in range(len(model.spec.frame_body)):
        work.write(state, ())
        directions, _, count = work.directions(state, "", (), ("q",))
        pose, J = work.duals.sweep("frame_pose", directions, count, k)
        assert np.allclose(pose, model._frame_pose(state, k), rtol=0, atol=1e-14)
        rate = J @ state.v
        R, Rdot = pose[:9].reshape(3, 3), rate[:9].reshape(3, 3)
        V = model._frame_velocity(state, k)
        spin = Rdot @ R.T
        assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], V[:3], rtol=0, atol=1e-13 * (1 + np.abs(V).max()))
        assert np.allclose(rate[9:], V[3:], rtol=0, atol=1e-13 * (1 + np.abs(V).max()))


def test_a_frames_jacobian_changes_as_the_frames_velocity_does(rng):
    """d(J)/dq v = d(J v)/dq: two algorithms, one number."""
    model = mbros_core.Model(zoo.spec("all_kinds"))
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(model.spec, rng), rng.normal(size=model.nv)
    work = Workspace(model, mbros_core.dual().Duals(mbros_core.dual().Model(model.spec)))
    for k in range(len(model.spec.frame_body)):
        work.write(state, ())
        directions, _, count = work.directions(state, "", (), ("q",))
        values, dJ = work.duals.sweep("frame_jacobian", directions, count, k)
        work.write(state, ())
        _, dV = work.duals.sweep("frame_velocity", directions, count, k)
        assert np.allclose(values.reshape(6, model.nv), model._frame_jacobian(state, k), rtol=0, atol=1e-14)
        assert np.allclose(np.einsum("rvd,v->rd", dJ.reshape(6, model.nv, count), state.v), dV, rtol=0, atol=1e-12 * (1 + np.abs(dV).max()))


def test_every_build_gives_the_same(rng):
    spec = zoo.spec("all_kinds")
    model = mbros_core.Model(spec)
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.normal(size=model.nv)
    tau = rng.normal(size=model.nv)
    results = [sweep(model, state, "forward_dynamics", tau, ("q", "v", "x"), module)[1] for module in built()]
    assert results and {module.Duals.partials for module in built()} <= {1, 3, 7}
    for J in results[1:]:
        assert np.abs(J - results[0]).max() <= 1e-12 * np.abs(J).max()


def test_nothing_is_read_before_it_is_written(rng):
    spec = zoo.spec("all_kinds")
    model, module = mbros_core.Model(spec), mbros_core.dual()
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(spec, rng), rng.normal(size=model.nv)
    work = Workspace(model, module.Duals(module.Model(spec)))
    work.duals.compute("mass_matrix")                   # the largest result
    work.duals.state._poison()
    work.duals.result[:] = np.nan
    for what in ("forward_dynamics", "inverse_dynamics", "mass_matrix", "potential_energy", "step", "center_of_mass"):
        given = rng.normal(size=model.nv) if what in ("forward_dynamics", "inverse_dynamics", "step") else ()
        work.write(state, given)
        assert np.isfinite(work.duals.compute(what)).all(), what


def test_an_index_that_is_not_there_is_refused():
    model, module = mbros_core.Model(zoo.spec("mixed")), mbros_core.dual()
    duals = module.Duals(module.Model(model.spec))
    with pytest.raises(IndexError, match="frame_pose: index 99"):
        duals.compute("frame_pose", 99)
    with pytest.raises(IndexError, match="force_element: index 0 is outside 0..-1"):
        duals.compute("force_element", 0)
    with pytest.raises(ValueError, match="directions: expected C-contiguous float64 arrays"):
        duals.sweep("mass_matrix", [(duals.given, np.zeros((1, 99)))], 1)
    for pair in ((None, np.zeros((1, 1))), (duals.given, None), (duals.given, np.zeros(1)), (duals.given, np.zeros((2, 1), int)),
                 (duals.given, np.zeros((4, 4))[::2])):
        with pytest.raises(ValueError, match="directions: expected C-contiguous float64 arrays"):
            duals.sweep("mass_matrix", [pair], 2)
    with pytest.raises(TypeError):
        module.Duals.__new__(module.Duals)
