"""What must hold for every registered kind of force element, whatever it is; a new kind is tested by being registered."""
import force_rigs as rigs
import numpy as np
import pytest
from tolerance import assert_close

import mbros
import mbros_core

CASES = 6
kinds = pytest.mark.parametrize("kind", rigs.KINDS + ["user"])


def states(kind, rng, where="bodies", **options):
    """Random states of rigs with that element."""
    for seed in range(CASES):
        model = rigs.rig(kind, seed, where=where)
        yield model, model.force_elements["it"], rigs.away_from_lock(model, rng, **options)


@pytest.mark.seed("BU-10", "BU-22")
@pytest.mark.parametrize("where", ["bodies", "world", "flange"])
@pytest.mark.parametrize("kind", rigs.PAIRS + ["user"])
def test_action_equals_reaction(kind, where, rng):
    """The wrenches on all bodies, about one point, add up to nothing; and the engine's are those of the element."""
    for model, f, state in states(kind, rng, where):
        forces = mbros.Forces(model)
        f.add_forces(state, forces)
        at = np.array([model.pose(state, body).p for body in model.bodies])
        total = forces.bodies[:, 3:].sum(0), (forces.bodies[:, :3] + np.cross(at, forces.bodies[:, 3:])).sum(0)
        size = np.abs(forces.bodies).max()
        assert size > 1e-3
        assert np.abs(total).max() < 1e-14 * size * 20
        A, C = f.spatial_force_on_frame_A(state), f.spatial_force_on_frame_C(state)
        X = model.pose(state, f.frame_c, f.frame_a)
        assert_close(-A.force, X.R @ C.force, 1e-14)
        assert_close(-A.torque, X.R @ C.torque + np.cross(X.p, X.R @ C.force), 1e-13, scale=size)


@kinds
def test_engine_applies_what_the_element_says(kind, rng):
    """Inverse dynamics with and without the element differ by J^T F."""
    for model, f, state in states(kind, rng):
        vdot = rng.normal(size=model.nv)
        without = mbros_core.Model(bare(model.spec))
        other = without.default_state()
        other.q[:], other.v[:] = state.q, state.v
        difference = without.inverse_dynamics(other, vdot) - model.inverse_dynamics(state, vdot)
        force = f.generalized_force(state)
        assert np.abs(force).max() > 1e-3
        assert_close(difference, force, 1e-12, scale=np.abs(without.inverse_dynamics(other, vdot)).max())
        assert_close(model.inverse_dynamics(state, model.forward_dynamics(state, vdot)), vdot, 1e-9)


def bare(spec):
    """The same robot without force elements."""
    from dataclasses import replace

    return replace(spec, force_names=[], force_kind=[], force_body=np.zeros((0, 2), np.int32), force_X=np.zeros((0, 2, 12)),
                   force_coordinate=np.zeros((0, 2), np.int32), force_parameters=np.zeros((0, 16)), user_forces={})


@pytest.mark.seed("BU-24")
@pytest.mark.parametrize("kind", rigs.POTENTIAL + ["user"])
def test_conservative_power_is_the_falling_rate_of_the_energy(kind, rng):
    """-dV/dt along the motion, by a fourth-order difference."""
    for model, f, state in states(kind, rng):
        h, slope = 1e-3, 0.0
        q, v = state.q.copy(), state.v.copy()
        for step, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
            state.q[:] = model.integrate(q, step * h * v)
            slope += weight / (12 * h) * f.potential_energy(state)
        state.q[:] = q
        scale = 1.0 + abs(f.potential_energy(state))
        assert abs(slope + f.conservative_power(state)) < 1e-8 * scale


@kinds
def test_power_on_the_robot_is_the_sum_of_both_powers(kind, rng):
    for model, f, state in states(kind, rng):
        delivered = float(f.generalized_force(state) @ state.v)
        both = f.conservative_power(state) + f.nonconservative_power(state)
        assert delivered == pytest.approx(both, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", rigs.POTENTIAL + ["user"])
def test_force_at_rest_is_the_gradient_of_the_energy(kind, rng):
    """-dV/dq in every direction of motion; constant forces and friction have theirs too."""
    for model, f, state in states(kind, rng):
        state.v[:] = 0.0
        q, h = state.q.copy(), 1e-3
        gradient = np.zeros(model.nv)
        for i in range(model.nv):
            for step, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
                state.q[:] = model.integrate(q, step * h * np.eye(model.nv)[i])
                gradient[i] += weight / (12 * h) * f.potential_energy(state)
        state.q[:] = q
        assert_close(-gradient, f.generalized_force(state), 3e-9, scale=1.0)


@pytest.mark.parametrize("kind", [k for k in rigs.KINDS if k != "body_wrench"] + ["user"])
def test_dissipation_is_never_negative(kind, rng):
    lossless = kind == "body_gravity"
    for model, f, state in states(kind, rng, speed=3.0):
        for _ in range(20):
            state.v[:] = rng.uniform(-3, 3, model.nv) * 10.0 ** rng.uniform(-4, 1)
            lost = f.dissipated_power(state)
            assert lost >= 0.0
            assert (lost == 0.0) == lossless
        state.v[:] = 0.0
        assert f.dissipated_power(state) == 0.0


@kinds
def test_moving_the_world_changes_nothing(kind, rng):
    """Everything, gravity too, turned and shifted: the same accelerations, energies and powers."""
    for seed in range(CASES):
        here, there = rigs.rig(kind, seed, where="world"), rigs.rig(kind, seed, rigs.moved_world(rng), where="world")
        state = rigs.away_from_lock(here, rng)
        other = there.default_state()
        other.q[:], other.v[:] = state.q, state.v
        tau = rng.normal(size=here.nv)
        assert_close(there.forward_dynamics(other, tau), here.forward_dynamics(state, tau), 1e-11)
        f, g = here.force_elements["it"], there.force_elements["it"]
        assert g.conservative_power(other) == pytest.approx(f.conservative_power(state), rel=1e-11, abs=1e-11)
        assert g.nonconservative_power(other) == pytest.approx(f.nonconservative_power(state), rel=1e-11, abs=1e-11)
        if kind not in ("body_wrench", "body_gravity"):     # whose potentials count from the world's origin
            assert g.potential_energy(other) == pytest.approx(f.potential_energy(state), rel=1e-11)


@kinds
def test_lanes_give_what_doubles_give(kind, rng):
    model = rigs.rig(kind, 3)
    drawn = [rigs.away_from_lock(model, rng) for _ in range(11)]
    q, v = (np.array([getattr(state, name) for state in drawn]) for name in "qv")
    tau = rng.normal(size=v.shape)
    lanes = mbros_core.lanes()
    out = np.empty_like(v)
    assert lanes.Batch(lanes.Model(model.spec)).forward_dynamics(q, v, tau, out) == -1
    for state, t, row in zip(drawn, tau, out):
        assert_close(row, model.forward_dynamics(state, t), 1e-11)


@pytest.mark.parametrize("kind", rigs.POTENTIAL)
def test_simulated_energy_balance_closes_to_the_order_of_the_integrator(kind, rng):
    """Half the step, a sixteenth of what is missing (or nothing left to halve), in a simulation of half a second."""
    model = rigs.rig(kind, 5, damping=0.05)
    state = rigs.away_from_lock(model, rng, angle=0.2)
    errors = [rigs.energy_balance(model, state.copy(), 0.5, dt)[0] / rigs.energy_balance(model, state.copy(), 0.5, dt)[1]
              for dt in (2e-3, 1e-3)]
    assert errors[1] < 1e-7
    assert errors[1] < errors[0] / 10 or errors[1] < 1e-12


def test_every_element_is_linear_in_its_forces(rng):
    """Two elements do what the sum of them does, and the model's energy is the sum of all."""
    for seed in range(3):
        b = mbros.ModelBuilder("all", gravity=(0, 0, 0))
        body = rigs.body(b, "body", rng)
        arm = rigs.body(b, "arm", rng)
        b.add_joint(mbros.FloatingJoint("base", b.world, body))
        hinge = b.add_joint(mbros.RevoluteJoint("hinge", body, arm, axis=(1, 0, 0)))
        for kind in rigs.KINDS + ["user"]:
            b.add_force_element(rigs.element(kind, b, b.world, arm, hinge, rng))
        model = b.build()
        state = rigs.away_from_lock(model, rng)
        total = sum(f.generalized_force(state) for f in model.force_elements)
        tau = model.inverse_dynamics(state, np.zeros(model.nv))
        assert_close(model.bias_torques(state) - tau, total, 1e-12)
        assert model.potential_energy(state) == pytest.approx(sum(f.potential_energy(state) for f in model.force_elements), rel=1e-13)
