"""Centre of mass, momentum and energy: against the textbook, against each other, and power against the rate of energy."""
import numpy as np
import pytest
import zoo
from robots import Case, pose
from tolerance import EPS, assert_close, condition

import reference as ref

STEP = 1e-100


@pytest.fixture(params=zoo.NAMES)
def case(request, rng):
    return Case(request.param, rng)


def later(c, vdot):
    """q and v a complex step later."""
    return c.q + 1j * STEP * ref.qdot_from_velocity(c.tree, c.q, c.v), c.v + 1j * STEP * vdot


def test_mass_centre_and_momentum_agree_with_the_textbook(case):
    c = case
    assert_close(c.model.total_mass(c.state), ref.total_mass(c.tree), 16 * EPS)
    assert_close(c.model.center_of_mass(c.state), ref.center_of_mass(c.tree, c.q), 128 * EPS, scale=1.0)
    assert_close(c.model.com_jacobian(c.new_state()), ref.center_of_mass_jacobian(c.tree, c.q), 128 * EPS, scale=1.0)
    assert_close(c.model.centroidal_momentum(c.new_state()), ref.centroidal_momentum(c.tree, c.q, c.v), 512 * EPS)


def test_linear_momentum_is_mass_times_velocity_of_the_mass_centre(case):
    c = case
    momentum = c.model.centroidal_momentum(c.state)[3:]
    assert_close(c.model.total_mass(c.state) * c.model.com_jacobian(c.state) @ c.v, momentum, 256 * EPS, scale=1.0)


def test_mass_centre_moves_with_its_jacobian(case):
    c = case
    q, _ = later(c, c.vdot)
    velocity = np.imag(ref.center_of_mass(c.tree, q)) / STEP
    assert_close(c.model.com_jacobian(c.state) @ c.v, velocity, 128 * EPS, scale=1.0)


def test_energies(case):
    c = case
    assert_close(c.model.kinetic_energy(c.state), c.v @ c.model.mass_matrix(c.state) @ c.v / 2, 256 * EPS)
    assert_close(c.model.kinetic_energy(c.state), ref.kinetic_energy(c.tree, c.q, c.v), 256 * EPS)
    stops = 0.0
    for _, q_slice, v_slice in zoo.rated(c.spec):
        q, k = c.q[q_slice], c.spec.stop_stiffness[v_slice]
        beyond = np.maximum(0, np.maximum(q - c.spec.q_upper[q_slice], c.spec.q_lower[q_slice] - q))
        stops += (k * beyond ** 2 / 2).sum()
    expected = ref.potential_energy(c.tree, c.q) + stops
    assert_close(c.model.potential_energy(c.state), expected, 256 * EPS, scale=1.0)


@pytest.mark.parametrize("wrenches", [False, True])
@pytest.mark.parametrize("name", zoo.NAMES)
def test_power_is_the_rate_of_energy(name, wrenches, rng):
    """tau . v + passive . v + F_ext . V = d/dt (T + V), with the rate by complex step of the textbook's energies."""
    c = Case(name, rng, wrenches)
    vdot = c.model.forward_dynamics(c.state, c.tau)
    q, v = later(c, vdot)
    rate = np.imag(ref.kinetic_energy(c.tree, q, v) + ref.potential_energy(c.tree, q)) / STEP
    terms = list((c.tau + c.model.passive_torques(c.state)) * c.v)
    terms += [c.wrenches[i] @ c.model._frame_velocity(c.state, i) for i in range(c.tree.nb)]
    loss = condition(c.model.mass_matrix(c.state))
    flows = np.abs(terms).sum() + np.abs(c.model.bias_torques(c.state) * c.v).sum()
    assert_close(sum(terms), rate, 64 * EPS * loss, scale=flows)


@pytest.mark.parametrize("name", ["free_body", "floating_tree", "many_floating"])
def test_momentum_changes_by_gravity_and_wrenches_alone(name, rng):
    c = Case(name, rng, wrenches=True)
    for field in ("rotor_inertia", "damping", "friction"):
        c.state.field(field)[:] = 0
    c.tau[:6] = 0                                              # nothing holds the base
    vdot = c.model.forward_dynamics(c.state, c.tau)
    q, v = later(c, vdot)
    rate = np.imag(ref.centroidal_momentum(c.tree, q, v)) / STEP
    com = c.model.center_of_mass(c.state)
    outside = np.concatenate([np.zeros(3), c.model.total_mass(c.state) * c.state.gravity])
    for i in range(1, c.tree.nb):
        p = pose(c.model._frame_pose(c.state, i))[1]
        torque, force = c.wrenches[i, :3], c.wrenches[i, 3:]
        outside += np.concatenate([torque + np.cross(p - com, force), force])
    assert_close(rate, outside, 64 * EPS * condition(c.model.mass_matrix(c.state)))
