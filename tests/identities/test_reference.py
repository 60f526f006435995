"""The reference against itself and against mechanics: routes that must agree on every robot of the zoo."""
from fractions import Fraction

import numpy as np
import pytest
import zoo
from tolerance import EPS, assert_close, condition

import reference as ref

STEP = 1e-100


class Case:
    """A zoo robot in a random state, with everything at hand."""

    def __init__(self, name, rng):
        self.spec = zoo.spec(name)
        self.tree = ref.Tree(self.spec)
        self.q = zoo.random_q(self.spec, rng)
        self.v = rng.normal(size=self.tree.nv)
        self.vdot = rng.normal(size=self.tree.nv)
        self.wrenches = rng.normal(size=(self.tree.nb, 6))

    def along(self):
        """q and v a complex step later."""
        qdot = ref.qdot_from_velocity(self.tree, self.q, self.v)
        return self.q + 1j * STEP * qdot, self.v + 1j * STEP * self.vdot


@pytest.fixture(params=zoo.NAMES)
def case(request, rng):
    return Case(request.param, rng)


def test_forward_dynamics_undoes_inverse_dynamics(case):
    c = case
    tau = ref.rnea(c.tree, c.q, c.v, c.vdot, c.wrenches)
    again = ref.forward_dynamics(c.tree, c.q, c.v, tau, c.wrenches)
    loss = condition(ref.crba(c.tree, c.q))
    assert_close(again, c.vdot, 64 * EPS * loss)


def test_mass_matrix_is_inverse_dynamics_column_by_column(case):
    c, zero = case, np.zeros(case.tree.nv)
    columns = [ref.rnea(c.tree, c.q, zero, e, gravity=np.zeros(3)) for e in np.eye(c.tree.nv)]
    M = ref.crba(c.tree, c.q)
    assert_close(M, np.array(columns).T, 64 * EPS)
    assert np.linalg.eigvalsh(M)[0] > 0


def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(case):
    c = case
    assert_close(ref.kinetic_energy(c.tree, c.q, c.v), c.v @ ref.crba(c.tree, c.q) @ c.v / 2, 64 * EPS)


def test_power_is_the_rate_of_energy(case):
    c = case
    q, v = c.along()
    rate = np.imag(ref.kinetic_energy(c.tree, q, v) + ref.potential_energy(c.tree, q)) / STEP
    terms = ref.rnea(c.tree, c.q, c.v, c.vdot) * c.v
    assert_close(terms.sum(), rate, 256 * EPS, scale=np.abs(terms).sum())


def test_frames_move_as_their_poses_say(case):
    c = case
    q, v = c.along()
    for k in range(len(c.spec.frame_names)):
        (R0, _), (R, p) = ref.frame_pose(c.tree, c.q, k), ref.frame_pose(c.tree, q, k)
        spin = np.imag(R) / STEP @ R0.T
        moved = np.concatenate([[spin[2, 1], spin[0, 2], spin[1, 0]], np.imag(p) / STEP])
        V = ref.frame_velocity(c.tree, c.q, c.v, k)
        assert_close(V, moved, 128 * EPS, scale=1.0)
        assert_close(ref.frame_jacobian(c.tree, c.q, k) @ c.v, V, 128 * EPS, scale=1.0)
        A = np.imag(ref.frame_velocity(c.tree, q, v, k)) / STEP
        assert_close(ref.frame_acceleration(c.tree, c.q, c.v, c.vdot, k), A, 256 * EPS, scale=1.0)


def test_centre_of_mass_moves_with_its_jacobian(case):
    c = case
    q, _ = c.along()
    J = ref.center_of_mass_jacobian(c.tree, c.q)
    assert_close(J @ c.v, np.imag(ref.center_of_mass(c.tree, q)) / STEP, 64 * EPS, scale=1.0)


@pytest.mark.parametrize("name", ["free_body", "floating_tree", "many_floating"])
def test_momentum_changes_by_gravity_and_wrenches_alone(name, rng):
    """No joint effort, friction or rotor on the base joint: d/dt of the momentum is what acts from outside."""
    spec = zoo.spec(name)
    spec.rotor_inertia[:] = 0
    tree = ref.Tree(spec)
    q, v, wrenches = zoo.random_q(spec, rng), rng.normal(size=tree.nv), rng.normal(size=(tree.nb, 6))
    tau = rng.normal(size=tree.nv)
    tau[:6] = 0
    vdot = ref.aba(tree, q, v, tau, wrenches)
    qdot = ref.qdot_from_velocity(tree, q, v)
    rate = np.imag(ref.centroidal_momentum(tree, q + 1j * STEP * qdot, v + 1j * STEP * vdot)) / STEP
    c = ref.center_of_mass(tree, q)
    outside = np.concatenate([np.zeros(3), ref.total_mass(tree) * tree.gravity])
    for (_, p), w in list(zip(ref.poses(tree, q), wrenches))[1:]:
        outside += np.concatenate([w[:3] + np.cross(p - c, w[3:]), w[3:]])
    assert_close(rate, outside, 512 * EPS * condition(ref.crba(tree, q)))


@pytest.mark.parametrize("name", ["pendulum", "slider", "plate", "branched", "planar_root", "mimic", "welds", "two_universal",
                                  "two_screw", "two_cylindrical", "two_translation2", "two_translation3"])
def test_lagrange(name, rng):
    """d/dt dT/dv - dT/dq + dV/dq = tau, where v = qdot; all derivatives by complex step."""
    c = Case(name, rng)
    nv = c.tree.nv

    def gradient(f):
        return np.array([np.imag(f(c.q + 1j * STEP * e)) for e in np.eye(nv)]) / STEP

    q, _ = c.along()
    M = ref.crba(c.tree, q)
    momentum_rate = np.real(M) @ c.vdot + np.imag(M) @ c.v / STEP
    dT = gradient(lambda q: ref.kinetic_energy(c.tree, q, c.v))
    dV = gradient(lambda q: ref.potential_energy(c.tree, q))
    assert_close(momentum_rate - dT + dV, ref.rnea(c.tree, c.q, c.v, c.vdot), 256 * EPS)


def test_bias_is_gravity_and_coriolis(case):
    c = case
    parts = ref.gravity_torques(c.tree, c.q) + ref.coriolis_torques(c.tree, c.q, c.v)
    assert_close(ref.bias_torques(c.tree, c.q, c.v), parts, 128 * EPS)


def test_exact_in_fractions():
    """Sliders in rational placements: forward after inverse dynamics returns the very same fractions."""
    spec = zoo.build("fractions", [zoo.Body("prismatic", 0), zoo.Body("prismatic", 1), zoo.Body("prismatic", 1)])
    tree = ref.Tree(spec)
    exact = np.vectorize(lambda x: Fraction(int(round(float(x) * 64)), 64), otypes=[object])
    turn = np.array([[Fraction(3, 5), Fraction(-4, 5), 0], [Fraction(12, 25), Fraction(9, 25), Fraction(-4, 5)],
                     [Fraction(16, 25), Fraction(12, 25), Fraction(3, 5)]], dtype=object)
    tree.X_PF = [(turn, exact(p)) for _, p in tree.X_PF]
    tree.inertia = [exact(I) for I in tree.inertia]
    tree.gravity, tree.rotor_inertia = exact(tree.gravity), exact(tree.rotor_inertia)
    q, v, vdot = (np.array([Fraction(i, 7), Fraction(-3, i + 1), Fraction(i * i, 11)]) for i in (1, 2, 3))
    again = ref.aba(tree, q, v, ref.rnea(tree, q, v, vdot))
    assert all(isinstance(x, Fraction) for x in again)
    assert list(again) == list(vdot)


class Dual:
    """A number with one derivative: enough of an own scalar to show that any will do."""

    def __init__(self, x, d=0.0):
        self.x, self.d = x, d

    @staticmethod
    def of(a):
        return a if isinstance(a, Dual) else Dual(float(a))

    def __add__(self, o):
        o = Dual.of(o)
        return Dual(self.x + o.x, self.d + o.d)

    def __mul__(self, o):
        o = Dual.of(o)
        return Dual(self.x * o.x, self.x * o.d + self.d * o.x)

    def __truediv__(self, o):
        o = Dual.of(o)
        return Dual(self.x / o.x, (self.d - self.x / o.x * o.d) / o.x)

    def __rtruediv__(self, o):
        return Dual.of(o) / self

    def __neg__(self):
        return Dual(-self.x, -self.d)

    def __sub__(self, o):
        return self + (-Dual.of(o))

    def __rsub__(self, o):
        return Dual.of(o) + (-self)

    __radd__, __rmul__ = __add__, __mul__

    def sin(self):
        return Dual(np.sin(self.x), np.cos(self.x) * self.d)

    def cos(self):
        return Dual(np.cos(self.x), -np.sin(self.x) * self.d)

    def sqrt(self):
        return Dual(np.sqrt(self.x), self.d / (2 * np.sqrt(self.x)))


@pytest.mark.parametrize("name", ["all_kinds", "mixed"])
def test_any_scalar_will_do(name, rng):
    """Derivative of forward dynamics in one direction: an own dual number against the complex step."""
    c = Case(name, rng)
    tau, direction = rng.normal(size=c.tree.nv), rng.normal(size=c.tree.nq)
    q = np.array([Dual(x, d) for x, d in zip(c.q, direction)], dtype=object)
    dual = ref.aba(c.tree, q, c.v, tau)
    step = ref.aba(c.tree, c.q + 1j * STEP * direction, c.v, tau)
    loss = condition(ref.crba(c.tree, c.q))
    assert_close([a.x for a in dual], np.real(step), 64 * EPS * loss)
    assert_close([a.d for a in dual], np.imag(step) / STEP, 64 * EPS * loss ** 2)


def test_reference_aba_refuses_followers():
    tree = ref.Tree(zoo.spec("mimic"))
    with pytest.raises(ValueError, match="follows another; use forward_dynamics"):
        ref.aba(tree, np.zeros(tree.nq), np.zeros(tree.nv), np.zeros(tree.nv))
