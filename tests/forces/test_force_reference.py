"""Force elements of the engine and of reference, and their derivatives with respect to the state and their numbers.

The reference takes complex numbers, so its derivatives are exact (a complex step has no difference); the engine's own are differences
of high order, extrapolated.
"""
import force_rigs as rigs
import numpy as np
import pytest
from tolerance import EPS, assert_close

import reference as ref

STEP = 1e-100
BUSHINGS = ("bushing", "bushing_energy_consistent")
SMOOTH = (*BUSHINGS, "bushing_quaternion", "spring_damper", "joint_spring", "door_hinge", "stribeck", "body_wrench", "body_gravity")
kinds = pytest.mark.parametrize("kind", SMOOTH)


class Case:
    """A robot with one element of a kind, in the engine and in the reference, in one random state."""

    def __init__(self, kind, number, rng):
        self.model = rigs.rig(kind, number)
        self.state = rigs.away_from_lock(self.model, rng)
        self.f, self.tree = self.model.force_elements["it"], ref.Tree(self.model.spec)
        self.q, self.v = self.state.q.copy(), self.state.v.copy()

    def moved(self, direction):
        """q a complex step along v = direction."""
        return self.q + 1j * STEP * ref.qdot_from_velocity(self.tree, self.q, direction)

    def derivatives(self, what):
        """(nv, ...) of what(q, v) in each direction of motion, then in each velocity; by complex step."""
        directions = np.eye(self.model.nv)
        by_q = [what(self.moved(e), self.v) for e in directions]
        by_v = [what(self.q, self.v + 1j * STEP * e) for e in directions]
        return np.imag(np.array(by_q)) / STEP, np.imag(np.array(by_v)) / STEP

    def differences(self, what):
        """The same of the engine, what(state): central differences of sixth order."""
        model, weights = self.model, ((1, 45), (-1, -45), (2, -9), (-2, 9), (3, 1), (-3, -1))

        def at(q, v):
            other = self.state.copy()
            other.q[:], other.v[:] = q, v
            return np.array(what(other))

        h, directions = 3e-3, np.eye(model.nv)
        by_q = [sum(w * at(model.integrate(self.q, s * h * e), self.v) for s, w in weights) / (60 * h) for e in directions]
        by_v = [sum(w * at(self.q, self.v + s * h * e) for s, w in weights) / (60 * h) for e in directions]
        return np.array(by_q), np.array(by_v)


def cases(kind, rng, count=5):
    return [Case(kind, number, rng) for number in range(count)]


def test_every_law_is_in_the_reference(rng):
    from reference.elements import LAWS

    assert set(LAWS) == set(rigs.KINDS)
    with pytest.raises(ValueError, match="force element 'it': the reference has no law of kind 'user'"):
        ref.element_energy(ref.Tree(rigs.rig("user", 0).spec), rigs.rig("user", 0).default_state().q, 0)


@kinds
def test_forces_wrench_and_energy_are_the_engines(kind, rng):
    for c in cases(kind, rng):
        tau = ref.element_forces(c.tree, c.q, c.v)
        size = 1.0 + np.abs(tau).max()
        assert_close(tau, c.f.generalized_force(c.state), 256 * EPS, size)
        assert_close(ref.element_energy(c.tree, c.q, 0), c.f.potential_energy(c.state), 256 * EPS, 1.0)
        if hasattr(c.f, "wrench"):
            assert_close(ref.element_wrench(c.tree, c.q, c.v, 0), c.f.wrench(c.state).values, 256 * EPS, size)


@pytest.mark.seed("BU-22", "BU-24")
@kinds
def test_inverse_dynamics_with_elements_is_the_engines(kind, rng):
    for c in cases(kind, rng):
        vdot = rng.normal(size=c.model.nv)
        tau = ref.rnea(c.tree, c.q, c.v, vdot) - ref.element_forces(c.tree, c.q, c.v)
        assert_close(c.model.inverse_dynamics(c.state, vdot), tau, 1024 * EPS)


@pytest.mark.seed("BU-24")
@pytest.mark.parametrize("kind", rigs.POTENTIAL)
def test_force_at_rest_is_the_exact_gradient_of_the_energy(kind, rng):
    """To 1e-12, where differences stop at 1e-9."""
    for c in cases(kind, rng):
        gradient = np.array([np.imag(ref.element_energy(c.tree, c.moved(e), 0)) / STEP for e in np.eye(c.model.nv)])
        c.state.v[:] = 0.0
        at_rest = c.f.generalized_force(c.state)
        assert_close(-gradient, at_rest, 1e-12, scale=1.0 + np.abs(at_rest).max())
        power = float(-gradient @ c.v)
        c.state.v[:] = c.v
        assert c.f.conservative_power(c.state) == pytest.approx(power, rel=1e-12, abs=1e-12 * (1.0 + np.abs(at_rest).max()))


@pytest.mark.seed("BU-23")
@kinds
def test_derivatives_with_respect_to_the_state(kind, rng):
    """Exact ones of the reference, and differences of the engine: generalized forces, wrench, and inverse dynamics as a whole."""
    for c in cases(kind, rng, 3):
        vdot = rng.normal(size=c.model.nv)
        rows = [(lambda q, v: ref.element_forces(c.tree, q, v), c.f.generalized_force),
                (lambda q, v: ref.rnea(c.tree, q, v, vdot) - ref.element_forces(c.tree, q, v),
                 lambda state: c.model.inverse_dynamics(state, vdot))]
        if hasattr(c.f, "wrench"):
            rows.append((lambda q, v: ref.element_wrench(c.tree, q, v, 0), lambda state: c.f.wrench(state).values))
        for exact, engine in rows:
            for ours, theirs in zip(c.derivatives(exact), c.differences(engine)):
                assert_close(theirs, ours, 1e-9 if kind not in ("door_hinge", "stribeck") else 1e-6, scale=1.0 + np.abs(ours).max())


@pytest.mark.seed("BU-23")
@pytest.mark.parametrize("kind", BUSHINGS)
def test_derivatives_with_respect_to_the_twelve_constants(kind, rng):
    """The force is linear in them, so the derivative is the force under a unit constant alone."""
    for c in cases(kind, rng, 3):
        for i in range(12):
            step = c.model.spec.force_parameters.astype(complex)
            step[0, i] += 1j * STEP
            exact = np.imag(ref.element_forces(c.tree, c.q, c.v, step)) / STEP
            unit = c.state.copy()
            unit.field("force_parameters")[:] = 0.0
            unit.field("force_parameters")[0, i] = 1.0
            assert_close(c.f.generalized_force(unit), exact, 256 * EPS, scale=1.0)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.5, 3.0, 3.1])
def test_half_way_rotation_and_arc_tangent(angle, rng):
    """Building blocks: R_AB R_AB = R_AC, and the angle's derivative in every quadrant."""
    from reference.elements import half_way, inverse3
    from reference.scalars import atan2
    from reference.spatial import rotation_x, rotation_z

    turn = rotation_z(0.4) @ rotation_x(0.7)
    R = turn @ rotation_z(angle) @ turn.T
    half = half_way(R)
    assert_close(half, turn @ rotation_z(angle / 2) @ turn.T, 256 * EPS / max(np.pi - angle, 0.1) ** 2)
    assert_close(inverse3(half) @ half, np.eye(3), 16 * EPS)
    for sign in (1.0, -1.0):
        y, x = np.sin(sign * angle), np.cos(angle)
        assert atan2(y, x) == np.arctan2(y, x)
        step = atan2(y + 1j * STEP * x, x - 1j * STEP * y)
        assert abs(step.real - np.arctan2(y, x)) < 4 * EPS and abs(step.imag / STEP - 1.0) < 4 * EPS
