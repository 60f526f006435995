"""Second derivatives of inverse dynamics: those of friction, stops, springs and laws on joints, gimbal lock, what must hold, refusals."""
import copy
import pickle

import custom_laws
import numpy as np
import pytest
import robots
import seed_models
import zoo
from second_ways import EPS, NAMES, WEIGHTS, WITHIN, first, over_duals

import mbros
import mbros_core
from mbros import diff
from mbros.diff.algorithms import by_dual_numbers
from mbros.spatial.placement import rotation_from_rpy, rpy_from_rotation


def on_roll_pitch_and_yaw(joint, turn, wanted):
    """(model, state): a body and an arm, sprung, F turned by `turn` in the world, and the body so that its axes are `wanted` there."""
    b = mbros.ModelBuilder("rig")
    body = seed_models.box(b, "body")
    b.add_joint(joint("free", b.world, body, R=turn))
    b.add_joint(mbros.RevoluteJoint("hinge", body, seed_models.box(b, "arm"), (0, 1, 0), p=(0.1, 0.2, 0.3)))
    post, tip = b.add_frame("post", b.world, p=(0.4, -0.7, 0.3)), b.add_frame("tip", body, p=(0.1, 0.2, -0.1))
    b.add_force_element(mbros.LinearSpringDamper(post, tip, 0.2, 30.0, 2.0, name="spring"))
    model = b.build()
    state = model.default_state()
    state.q[:3] = rpy_from_rotation(turn.T @ wanted)
    return model, state


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


def test_of_a_chain_of_all_kinds(rng):
    """dM/dq and the Coriolis torques by dual numbers of these algorithms."""
    model = robots.every_joint()
    state, vdot = model.random_state(rng), rng.normal(size=model.nv)
    H = diff.inverse_dynamics_second_derivatives(model, state, vdot)
    assert model._inverse_dynamics_second_slopes(state, vdot) is None
    dM = by_dual_numbers(model, "mass_matrix", state, wrt="q")["q"].reshape(model.nv, model.nv, model.nv)
    assert np.abs(H.q_vdot.transpose(0, 2, 1) - dM).max() <= WITHIN * np.abs(dM).max()
    coriolis = by_dual_numbers(model, "coriolis_torques", state, wrt="v")["v"]         # v . v_v . v is twice what is quadratic in v
    assert np.abs(np.einsum("ijk,k->ij", H.v_v, state.v) - coriolis).max() <= WITHIN * np.abs(coriolis).max()


def test_first_derivatives_by_parameters(rng):
    """The mass matrix among them, and what a stiffness does to dtau/dq, which is linear in it."""
    model, state = on_roll_pitch_and_yaw(mbros.BallRpyJoint, np.eye(3), rotation_from_rpy((0.3, -0.4, 0.2)))
    n, name, spring = model.nv, "force.spring.stiffness", model.force_elements["spring"]
    state.v[:], vdot = rng.normal(size=n), rng.normal(size=n)
    d = diff.derivatives(model, "inverse_dynamics_derivatives", state, vdot, wrt=("mass.body", name, "vdot"))
    dM = diff.derivatives(model, "mass_matrix", state, wrt="mass.body")["mass.body"]
    assert np.abs(d["mass.body"][n + 2 * n * n:] - dM).max() <= WITHIN * np.abs(dM).max()
    assert np.allclose(d["vdot"][:n].ravel(), d.value[n + 2 * n * n:], rtol=WITHIN)
    before = first(model, state, vdot)[0]
    spring.set(state, "stiffness", spring.get(state, "stiffness") + 2.0)
    change = 0.5 * (first(model, state, vdot)[0] - before)
    assert np.abs(d[name][n:n + n * n].reshape(n, n) - change).max() <= WITHIN * np.abs(before).max()


@pytest.mark.parametrize("law", [
    lambda on: mbros.StribeckFriction(on, 0.3, 0.6, stribeck_speed=0.4, smoothing_speed=0.5, viscous=0.05, name="it"),
    lambda on: mbros.DoorHinge(on, name="it"), lambda on: mbros.JointSpring(on, 0.2, 3.0, name="it")])
def test_laws_on_joints(law):
    """Against differences of the first derivatives of one hinge."""
    b = mbros.ModelBuilder("rig")
    b.add_force_element(law(b.add_joint(mbros.RevoluteJoint("hinge", b.world, seed_models.box(b, "B"), (0, 0, 1)))))
    model = b.build()
    state, h = model.default_state(), 1e-4
    state.q[0], state.v[0] = 0.02, 0.7
    H = diff.inverse_dynamics_second_derivatives(model, state, [0.0])
    for name, of, found in (("q", "q", H.q_q), ("v", "q", H.q_v), ("v", "v", H.v_v)):
        total = 0.0
        for m, weight in enumerate(WEIGHTS, 1):
            for side in (m, -m):
                other = state.copy()
                getattr(other, name)[0] += side * h
                total += np.sign(side) * weight / h * diff.inverse_dynamics(model, other, [0.0])[of][0, 0]
        scale = max(abs(diff.inverse_dynamics(model, state, [0.0])[of][0, 0]), 1.0)
        assert abs(found[0, 0, 0] - total) <= 1e-9 * abs(total) + 16 * EPS * scale / h


@pytest.mark.parametrize("q, pushes", [(0.5, False), (0.7, True)])
def test_stops_count_as_they_are_now(q, pushes):
    """Inside them and beyond: linear either way."""
    spec = zoo.build("stopped", zoo.chain(["revolute"]), gravity=(0, 0, 0), stops=True)
    model = mbros_core.Model(spec)
    state = model.default_state()
    state.q[0], state.v[0] = q, 0.3
    assert (first(model, state, np.zeros(1))[0][0, 0] > 250.0) == pushes
    assert np.abs(over_duals(model, state, np.zeros(1))).max() <= EPS


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


def test_of_what_users_write_none_are_known():
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.CustomJoint("cam", b.world, seed_models.box(b, "B"), custom_laws.Slide()))
    model = b.build()
    with pytest.raises(mbros.MbrosError, match="joint 'cam'.*written by a user"):
        diff.inverse_dynamics_second_derivatives(model, model.default_state(), [0.0])
    dual = mbros_core.dual()
    compiled = dual.Model(model.spec)
    for call in (lambda: dual.SecondSlopes(compiled), lambda: dual.Duals(compiled).compute("inverse_dynamics_derivatives")):
        with pytest.raises(mbros.MbrosError, match="joints have none that are analytic.*take differences"):
            call()


def test_the_engine_refuses_what_does_not_fit():
    model, dual = mbros_core.Model(zoo.spec("two_ball_rpy")), mbros_core.dual()
    slopes, n, inputs = dual.SecondSlopes(dual.Model(model.spec)), model.nv, model.default_state()._inputs
    for arguments, match in (((inputs[1:], np.zeros(n), np.empty((4 * n * n, n))), "inputs"),
                             ((inputs, np.zeros(n + 1), np.empty((4 * n * n, n))), "vdot"),
                             ((inputs, np.zeros(n), np.empty((4 * n, n))), "out")):
        with pytest.raises(mbros.MbrosError, match=match):
            slopes.find(*arguments)


def test_a_spring_without_length_has_none():
    model = robots.sprung(lambda *a: mbros.TranslationJoint(*a, 3))
    state = model.default_state()
    with pytest.raises(mbros.NonFiniteError, match="the value is finite and a derivative is not"):
        diff.inverse_dynamics_second_derivatives(model, state, np.zeros(3))


@pytest.mark.parametrize("joint", [mbros.BallRpyJoint, mbros.FloatingRpyJoint])
def test_gimbal_lock_is_like_anywhere_else(joint, rng):
    """The same robot in axes of the parent in which its pitch is small: columns differ by a constant rotation."""
    away, turn = (rotation_from_rpy(x) for x in ((0.3, np.pi / 2, 0.0), (0.4, -0.9, 1.1)))
    at_lock, state = on_roll_pitch_and_yaw(joint, np.eye(3), away)
    other, same = on_roll_pitch_and_yaw(joint, turn, away)
    assert abs(np.cos(state.q[1])) < 1e-15 and np.cos(same.q[1]) > 0.2
    n = other.nv
    Q = np.eye(n)                                               # v of the one from v of the other
    for k in range(0, n - 1, 3):
        Q[k:k + 3, k:k + 3] = turn
    same.v[:], vdot = rng.normal(size=n), rng.normal(size=n)
    state.v[:] = Q @ same.v
    found = diff.inverse_dynamics_second_derivatives(at_lock, state, Q @ vdot)
    exact = diff.inverse_dynamics_second_derivatives(other, same, vdot)
    for name in NAMES:
        of = np.einsum("ia,jb,kc,abc->ijk", Q, Q, Q, getattr(exact, name))
        assert np.abs(getattr(found, name) - of).max() <= WITHIN * np.abs(of).max()
    with pytest.raises(mbros.MbrosError, match=r"q\[\d\] \(joint .*gimbal lock"):
        by_dual_numbers(at_lock, "inverse_dynamics", state, vdot, "q")


def test_no_coordinates_at_all():
    b = mbros.ModelBuilder("rigid")
    b.add_joint(mbros.WeldJoint("j", b.world, seed_models.box(b, "B")))
    model = b.build()
    H = diff.inverse_dynamics_second_derivatives(model, model.default_state(), np.zeros(0))
    assert H.q_q.shape == H.q_vdot.shape == (0, 0, 0)
