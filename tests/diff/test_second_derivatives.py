"""Second derivatives of inverse dynamics: against differences of the exact first ones on every tree of the zoo, by v, in which they are
quadratic, without an error of the difference, by q of eighth order; against dual numbers; and what must be symmetric."""
import copy
import pickle

import numpy as np
import pytest
import robots
import seed_models
import zoo

import mbros
import mbros_core
from mbros import diff
from mbros.diff import second_derivatives
from mbros.diff.algorithms import by_dual_numbers
from mbros.diff.second_derivatives import STEP, by_differences

WITHIN = 1e-12
NAMES = "q_q", "q_v", "v_v", "q_vdot"
RPY = {"ball_rpy", "floating_rpy"}
WITHOUT_CHARTS = [name for name in zoo.NAMES if not RPY & set(zoo.spec(name).joint_kind)]
ALL_OTHERS = ("floating", "planar", "universal", "ball", "cylindrical", "circular", "screw", "translation2", "translation3", "prismatic")


def first(model, state, vdot):
    """Those of a zoo robot, which is an engine's model."""
    block, n = model._inverse_dynamics_slopes(state, vdot), model.nv
    return {"q": block[1:1 + n], "v": block[1 + n:1 + 2 * n], "vdot": block[1 + 2 * n:]}


def agree(model, state, vdot):
    n = model.nv
    ours, exact = (np.full((4 * n * n, n), np.nan) for _ in range(2))
    assert model._inverse_dynamics_second_slopes(state, vdot, ours) is ours
    by_differences(model, state, vdot, exact)
    slopes = first(model, state, vdot)
    for name, a, b in zip(NAMES, ours.reshape(4, n, n, n), exact.reshape(4, n, n, n)):
        of = slopes[{"q_vdot": "vdot", "v_v": "v"}.get(name, "q")]
        rounding = 16 * np.finfo(float).eps * np.abs(of).max(initial=0.0) / STEP        # of the differences
        assert np.abs(a - b).max(initial=0.0) <= WITHIN * np.abs(b).max(initial=0.0) + rounding, name


@pytest.fixture
def of_engines(monkeypatch):
    monkeypatch.setattr(second_derivatives, "inverse_dynamics", first)


@pytest.mark.parametrize("wrenches", [False, True])
@pytest.mark.parametrize("name", WITHOUT_CHARTS)
def test_every_tree_of_the_zoo(name, wrenches, rng, of_engines):
    case = robots.Case(name, rng, wrenches=wrenches)
    agree(case.model, case.state, case.tau)


@pytest.mark.parametrize("kinds", [ALL_OTHERS, ALL_OTHERS[::-1]])
def test_chains_of_all_kinds_but_charts(kinds, rng, of_engines):
    model = mbros_core.Model(zoo.build("others", zoo.chain(kinds), friction=True))
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(model.spec, rng), rng.normal(size=model.nv)
    state.external_force[:] = rng.normal(size=state.external_force.shape)
    agree(model, state, rng.normal(size=model.nv))


def test_at_rest_and_fast(rng, of_engines):
    case = robots.Case("mixed", rng)
    for speed in (0.0, 1e-3, 30.0):
        case.state.v[:] = speed * case.v
        agree(case.model, case.state, case.tau)


def test_those_of_friction_are_those_of_dual_numbers():
    """Of one hinge in oil: all of v_v is friction's."""
    b = mbros.ModelBuilder("hinge")
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, seed_models.box(b, "box"), (0, 1, 0), friction=0.4))
    model = b.build()
    state = model.default_state()
    for v in (0.0, 3e-4, -2e-3, 1.5):
        state.v[0] = v
        h = 1e-7
        slopes = []
        for side in (h, -h):
            state.v[0] = v + side
            slopes.append(by_dual_numbers(model, "inverse_dynamics", state, [0.0], "v")["v"][0, 0])
        state.v[0] = v
        found = diff.inverse_dynamics_second_derivatives(model, state, [0.0]).v_v[0, 0, 0]
        assert found == pytest.approx((slopes[0] - slopes[1]) / (2 * h), rel=1e-5, abs=1e-5 * 0.4e6)


def test_roll_pitch_and_yaw_by_differences(rng):
    """The same body on a quaternion and on angles that are zero: the same along columns that are parallel then."""
    model = robots.every_joint()
    state, vdot = model.random_state(rng), rng.normal(size=model.nv)
    H = diff.inverse_dynamics_second_derivatives(model, state, vdot)
    assert model._inverse_dynamics_second_slopes(state, vdot) is None
    dM = by_dual_numbers(model, "mass_matrix", state, wrt="q")["q"].reshape(model.nv, model.nv, model.nv)
    assert np.abs(H.q_vdot.transpose(0, 2, 1) - dM).max() <= 1e-11 * np.abs(dM).max()
    coriolis = by_dual_numbers(model, "coriolis_torques", state, wrt="v")["v"]         # v . v_v . v is twice what is quadratic in v
    assert np.allclose(np.einsum("ijk,k->ij", H.v_v, state.v), coriolis, rtol=0, atol=1e-10 * np.abs(coriolis).max())


@pytest.mark.parametrize("name, base", [("arm7", "fixed"), ("humanoid", "floating"), ("panda", "fixed")])
def test_what_must_hold(name, base, rng):
    """dM/dq by dual numbers; symmetry; the Coriolis torques, which are quadratic in v; out=."""
    model = robots.loaded(name, base).model
    state, vdot = model.random_state(rng), rng.normal(size=model.nv)
    H = diff.inverse_dynamics_second_derivatives(model, state, vdot)
    n = model.nv
    dM = by_dual_numbers(model, "mass_matrix", state, wrt="q")["q"].reshape(n, n, n)
    assert np.abs(H.q_vdot.transpose(0, 2, 1) - dM).max() <= WITHIN * np.abs(dM).max()
    assert np.array_equal(H.v_v, H.v_v.transpose(0, 2, 1))
    turning = slice(0, 6 if base == "floating" else 0)
    crossed = H.q_q - H.q_q.transpose(0, 2, 1)
    crossed[:, turning, turning] = 0.0
    assert np.abs(crossed).max() <= WITHIN * np.abs(H.q_q).max()
    state.field("friction")[:] = 0.0
    free = diff.inverse_dynamics_second_derivatives(model, state, vdot)
    half = 0.5 * np.einsum("ijk,j,k->i", free.v_v, state.v, state.v)
    exact = model.coriolis_torques(state)
    assert np.abs(half - exact).max() <= 1e-11 * np.abs(exact).max()
    again = diff.inverse_dynamics_second_derivatives(model, state, vdot, out=H)
    assert again is H and all(np.array_equal(getattr(H, part), getattr(free, part)) for part in NAMES)


def test_of_the_inverse_of_the_mass_matrix(rng):
    """At rest and without gravity the acceleration is M^-1 tau."""
    model = mbros.load("quadruped")
    state, tau = model.random_state(rng), rng.normal(size=model.nv)
    state.v[:] = state.gravity[:] = 0.0
    state.field("stop_stiffness")[:] = 0.0
    d = diff.forward_dynamics(model, state, tau)
    H = diff.inverse_dynamics_second_derivatives(model, state, np.zeros(model.nv))
    M_inv_q = -np.einsum("ai,ijk,kb->ajb", d["tau"], H.q_vdot, d["tau"])
    assert np.abs(M_inv_q @ tau - d["q"]).max() <= 1e-11 * np.abs(d["q"]).max()


def test_they_are_copied_pickled_and_shown(rng):
    model = mbros.load("arm7")
    H = diff.inverse_dynamics_second_derivatives(model, model.random_state(rng), np.zeros(7))
    for twin in (copy.copy(H), copy.deepcopy(H), pickle.loads(pickle.dumps(H))):
        assert np.array_equal(twin.q_q, H.q_q) and twin.q_vdot.shape == (7, 7, 7)
    assert "7 efforts" in repr(H)


def test_of_a_spring_that_turns_about_a_hinge():
    """In closed form: a body on a hinge about z, at r, a spring to a point at d on the other side; k r d (1 - l0 / l) sin q."""
    b = mbros.ModelBuilder("lever")
    body, r, d, k, c, l0 = seed_models.box(b, "B"), 0.4, 0.7, 30.0, 2.0, 0.5
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, body, (0, 0, 1)))
    post, tip = b.add_frame("post", b.world, p=(d, 0, 0)), b.add_frame("tip", body, p=(r, 0, 0))
    b.add_force_element(mbros.LinearSpringDamper(post, tip, l0, k, c, name="spring"))
    model = b.build()
    state, q, v = model.default_state(), 0.9, -1.3
    state.q[0], state.v[0] = q, v
    H = diff.inverse_dynamics_second_derivatives(model, state, [0.0])
    l, s, e = np.sqrt(r * r + d * d - 2 * r * d * np.cos(q)), r * d * np.sin(q), r * d * np.cos(q)
    l1, l2 = s / l, e / l - s * s / l**3                                # of l by q
    l3 = -s / l - 3 * e * s / l**3 + 3 * s**3 / l**5
    elastic = k * (3 * l1 * l2 + (l - l0) * l3)                         # tau = (k (l - l0) + c l1 v) l1
    assert np.isclose(H.q_q[0, 0, 0], elastic + 2 * c * v * (l2 * l2 + l1 * l3), rtol=1e-10)
    assert np.isclose(H.q_v[0, 0, 0], 2 * c * l1 * l2, rtol=1e-10) and abs(H.v_v[0, 0, 0]) < 1e-12


@pytest.mark.parametrize("out", [3, "another model's"])
def test_refusals(out, rng):
    model = mbros.load("arm7")
    state = model.random_state(rng)
    if out != 3:
        peer = mbros.load("arm6")
        out = diff.inverse_dynamics_second_derivatives(peer, peer.default_state(), np.zeros(6))
    with pytest.raises(mbros.MbrosError, match="out: expected what an earlier call"):
        diff.inverse_dynamics_second_derivatives(model, state, np.zeros(7), out=out)
    with pytest.raises(mbros.MbrosError, match="vdot"):
        diff.inverse_dynamics_second_derivatives(model, state, np.zeros(3))
    state.v[2] = np.inf
    with pytest.raises(mbros.NonFiniteError, match=r"v\[2\]"):
        diff.inverse_dynamics_second_derivatives(model, state, np.zeros(7))
    with pytest.raises(mbros.MbrosError, match="force elements, such as 'rub'"):
        b = mbros.ModelBuilder("rig")
        hinge = b.add_joint(mbros.RevoluteJoint("hinge", b.world, seed_models.box(b, "B"), (0, 0, 1)))
        b.add_force_element(mbros.StribeckFriction(hinge, 0.3, 0.6, stribeck_speed=0.1, smoothing_speed=0.01, viscous=0.05, name="rub"))
        rig = b.build()
        diff.inverse_dynamics_second_derivatives(rig, rig.default_state(), [0.0])


def test_no_coordinates_at_all():
    b = mbros.ModelBuilder("rigid")
    b.add_joint(mbros.WeldJoint("j", b.world, seed_models.box(b, "B")))
    model = b.build()
    H = diff.inverse_dynamics_second_derivatives(model, model.default_state(), np.zeros(0))
    assert H.q_q.shape == H.q_vdot.shape == (0, 0, 0)
