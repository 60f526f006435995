"""Forward dynamics, inverse dynamics and mass matrix: the engine against itself and against the textbook."""
import numpy as np
import pytest
import robots
import zoo
from robots import Case
from tolerance import EPS, assert_close, condition

import reference as ref

STATES = 5


@pytest.fixture(params=zoo.NAMES)
def cases(request, rng):
    return [Case(request.param, rng, wrenches=k % 2 == 1) for k in range(STATES)]


def test_forward_dynamics_undoes_inverse_dynamics(cases):
    for c in cases:
        tau = c.model.inverse_dynamics(c.state, c.vdot)
        vdot = c.model.forward_dynamics(c.new_state(), tau)
        loss = condition(c.model.mass_matrix(c.state))
        assert_close(vdot, c.vdot, min(1e-11, 256 * EPS * loss))


def test_mass_matrix_columns_are_inverse_dynamics(cases):
    for c in cases:
        M = c.model.mass_matrix(c.state)
        state = c.new_state(v=np.zeros(c.nv))
        state.gravity[:] = 0
        state.external_force[:] = 0
        state.field("stop_stiffness")[:] = 0
        columns = [c.model.inverse_dynamics(state, e) for e in np.eye(c.nv)]
        assert_close(np.array(columns).T, M, 128 * EPS)


def test_mass_matrix_is_symmetric_and_positive(cases):
    for c in cases:
        M = c.model.mass_matrix(c.state)
        assert (M == M.T).all()
        assert np.linalg.eigvalsh(M)[0] > 0


def test_equation_of_motion(cases):
    """M vdot + bias = tau + passive + J^T F_ext."""
    for c in cases:
        vdot = c.model.forward_dynamics(c.state, c.tau)
        M, bias = c.model.mass_matrix(c.state), c.model.bias_torques(c.state)
        outside = sum(c.model._frame_jacobian(c.state, i).T @ c.wrenches[i] for i in range(c.tree.nb))
        right = c.tau + c.model.passive_torques(c.state) + outside - bias
        assert_close(np.linalg.solve(M, right), vdot, 256 * EPS * condition(M))


def test_bias_is_gravity_and_coriolis(cases):
    for c in cases:
        parts = c.model.gravity_torques(c.state) + c.model.coriolis_torques(c.new_state())
        assert_close(c.model.bias_torques(c.new_state()), parts, 256 * EPS)


def test_engine_agrees_with_the_textbook(cases):
    for c in cases:
        M = ref.crba(c.tree, c.q)
        loss, passive = condition(M), c.model.passive_torques(c.state)
        assert_close(c.model.mass_matrix(c.new_state()), M, 256 * EPS)
        assert_close(c.model.inverse_dynamics(c.new_state(), c.vdot),
                     ref.rnea(c.tree, c.q, c.v, c.vdot, c.wrenches) - passive, 256 * EPS)
        assert_close(c.model.forward_dynamics(c.new_state(), c.tau),
                     ref.forward_dynamics(c.tree, c.q, c.v, c.tau + passive, c.wrenches), 64 * EPS * loss)
        assert_close(c.model.bias_torques(c.new_state()), ref.bias_torques(c.tree, c.q, c.v), 256 * EPS)
        assert_close(c.model.gravity_torques(c.new_state()), ref.gravity_torques(c.tree, c.q), 256 * EPS)
        assert_close(c.model.coriolis_torques(c.new_state()), ref.coriolis_torques(c.tree, c.q, c.v), 256 * EPS)


def test_passive_torques_are_their_formulas(cases):
    """-d v, -f v / sqrt(v^2 + v_s^2) with v_s = 1 mm/s or 1 mrad/s, and stops that push but never pull."""
    for c in cases:
        spec, v = c.spec, c.v
        expected = -spec.damping * v - spec.friction * v / np.sqrt(v * v + 1e-6)
        for _, q_slice, v_slice in zoo.rated(spec):            # a quaternion has no limits
            k, d = spec.stop_stiffness[v_slice], spec.stop_damping[v_slice]
            over, under = c.q[q_slice] - spec.q_upper[q_slice], spec.q_lower[q_slice] - c.q[q_slice]
            with np.errstate(invalid="ignore"):
                expected[v_slice] -= np.where(over > 0, np.maximum(0, k * over + d * v[v_slice]), 0)
                expected[v_slice] += np.where(under > 0, np.maximum(0, k * under - d * v[v_slice]), 0)
        assert_close(c.model.passive_torques(c.state), expected, 32 * EPS, scale=1.0)


@pytest.mark.parametrize("name", ["floating_tree", "branched", "mimic", "all_kinds"])
def test_parameters_of_a_state_are_those_of_its_dynamics(name, rng):
    """Changed inertia, gravity, rotors and damping act at once, as in a model built with them."""
    c = Case(name, rng)
    spec = zoo.spec(name)
    spec.inertia[1:] *= rng.uniform(0.5, 2.0, (len(spec.parent) - 1, 1))
    spec.gravity[:] = rng.normal(size=3)
    spec.rotor_inertia[:] *= 3
    spec.damping[:] = rng.uniform(0, 1, c.nv)
    c.model.forward_dynamics(c.state, c.tau)                   # whatever is remembered from before must not matter
    for field in ("inertia", "gravity", "rotor_inertia", "damping"):
        c.state.field(field)[:] = getattr(spec, field)
    tree, passive = ref.Tree(spec), -spec.damping * c.v
    loss = condition(ref.crba(tree, c.q))
    assert_close(c.model.forward_dynamics(c.state, c.tau),
                 ref.forward_dynamics(tree, c.q, c.v, c.tau + passive), 64 * EPS * loss)
    assert_close(c.model.mass_matrix(c.state), ref.crba(tree, c.q), 256 * EPS)
    assert_close(c.model.potential_energy(c.state), ref.potential_energy(tree, c.q), 256 * EPS)
    assert_close(c.model.total_mass(c.state), ref.total_mass(tree), 16 * EPS)


def test_random_wrenches_do_what_joint_efforts_do(rng):
    """A wrench on a floating base is the effort of its joint, seen in the base's axes."""
    c = Case("floating_tree", rng)
    wrench = rng.normal(size=6)
    R = ref.poses(c.tree, c.q)[1][0]
    tau = c.tau.copy()
    tau[:6] += np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])
    by_effort = c.model.forward_dynamics(c.state, tau)
    pushed = c.new_state()
    pushed.external_force[1] = wrench
    assert_close(c.model.forward_dynamics(pushed, c.tau), by_effort, 64 * EPS * condition(c.model.mass_matrix(c.state)))


@pytest.mark.parametrize("name, base", robots.FROM_FILES)
def test_robots_from_files(name, base, rng):
    """Forward undoes inverse dynamics to 1e-11 on 100 states, and the textbook agrees, followers included."""
    robot = robots.loaded(name, base)
    model, tree, state = robot.model, ref.Tree(robot.spec), robot.model.default_state()
    for k in range(100):
        state._poison()
        state.q[:], state.v[:] = robot.random_q(rng), rng.normal(size=model.nv)
        vdot = rng.normal(size=model.nv)
        tau = model.inverse_dynamics(state, vdot)
        assert_close(model.forward_dynamics(state, tau), vdot, 1e-11)
        if k < 3:
            passive = model.passive_torques(state)
            assert_close(tau + passive, ref.rnea(tree, state.q, state.v, vdot), 1e-12)
            assert_close(model.mass_matrix(state), ref.crba(tree, state.q), 1e-13)
