"""mbros.diff: linear dynamics and steps, against differences of the flow itself and Pinocchio's analytic derivatives."""
import copy
import threading

import numpy as np
import pytest
import seed_models
from custom_laws import Slide

import mbros
from mbros import diff

@pytest.fixture
def everything(rng):
    """A model of every joint kind at a random state, with efforts."""
    model = seed_models.every_kind(rng).build()
    state = model.random_state(rng)
    state.set_q(seed_models.pitch_ok(model, state.q))
    state.v[:] = rng.uniform(-1, 1, model.nv)
    return model, state, rng.normal(size=model.nv)


@pytest.mark.seed("RM-23", "PJ-16")
def test_linearize_against_the_flow_itself(everything):
    """Two motions a little apart: the rate of their difference."""
    model, state, tau = everything
    A, B = model.linearize(state, tau)
    n, h, e = model.nv, 1e-4, 1e-4

    def rate(dq, dv, dtau):
        """d/dt of (dq, dv) between the motion from the deviating state and the one through `state`, at t = 0."""
        def apart(t):
            q1 = model.integrate(state.q, t * state.v)
            start = model.integrate(state.q, dq)
            q2 = model.integrate(start, t * (state.v + dv))
            return model.difference(q1, q2)
        other = state.copy()
        other.q[:], other.v[:] = model.integrate(state.q, dq), state.v + dv
        vdot = model.forward_dynamics(other, tau + dtau) - model.forward_dynamics(state, tau)
        return np.concatenate([(apart(h) - apart(-h)) / (2 * h), vdot])

    whole = np.hstack([A, B])
    for k in range(3 * n):
        x = np.zeros(3 * n)
        x[k] = e
        forward, back = rate(x[:n], x[n:2 * n], x[2 * n:]), rate(-x[:n], -x[n:2 * n], -x[2 * n:])
        assert np.abs((forward - back) / (2 * e) - whole[:, k]).max() <= 2e-6 * max(1.0, np.abs(whole[:, k]).max()), k


def step_agrees_with_differences(model, state, tau, integrator):
    """Every column of a linearised step against central differences of the simulator."""
    A, B = model.linearize(state, tau, dt=2e-3, integrator=integrator)
    n, e = model.nv, 1e-5
    assert A.shape == (2 * n, 2 * n) and B.shape == (2 * n, n)

    def after(dq, dv, dtau):
        other = state.copy()
        other.q[:], other.v[:] = model.integrate(state.q, dq), state.v + dv
        mbros.Simulator(model, dt=2e-3, integrator=integrator, state=other).step(tau + dtau)
        return other

    middle = after(np.zeros(n), np.zeros(n), np.zeros(n))
    for k in range(3 * n):
        x = np.zeros(3 * n)
        x[k] = e
        a, b = after(x[:n], x[n:2 * n], x[2 * n:]), after(-x[:n], -x[n:2 * n], -x[2 * n:])
        column = np.concatenate([model.difference(middle.q, a.q) - model.difference(middle.q, b.q), a.v - b.v]) / (2 * e)
        assert np.abs(column - np.hstack([A, B])[:, k]).max() <= 1e-7 * max(1.0, np.abs(column).max()), k


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_a_step_is_linearised(everything, integrator):
    step_agrees_with_differences(*everything, integrator)


def alone(make, gravity):
    """A body on one joint, or on none that moves."""
    b = mbros.ModelBuilder("alone", gravity=gravity)
    b.add_joint(make(b.world, seed_models.box(b, "B")))
    return b.build()


@pytest.mark.seed("RM-23")
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("make, gravity", [(lambda A, B: mbros.FloatingJoint("j", A, B), (0, 0, -9.81)),
                                           (lambda A, B: mbros.BallJoint("j", A, B), (0, 0, 0)),
                                           (lambda A, B: mbros.ContinuousJoint("j", A, B, representation="cos_sin"), (0, 0, 0)),
                                           (lambda A, B: mbros.WeldJoint("j", A, B), (0, 0, 0))])
def test_a_step_at_rest_is_linearised(make, gravity, integrator):
    """Not turning at all: the length of the rotation has no derivative there, the rotation has."""
    model = alone(make, gravity)
    step_agrees_with_differences(model, model.default_state(), np.zeros(model.nv), integrator)


@pytest.mark.parametrize("robot", ["quadruped", "humanoid"])
def test_robots_at_rest_are_linearised(robot):
    model = mbros.load(robot)
    A, B = model.linearize(model.default_state(), np.zeros(model.nv), dt=1e-3)
    assert np.abs(A[:model.nv] - np.hstack([np.eye(model.nv), 1e-3 * A[model.nv:, model.nv:]])).max() <= 1e-3 * np.abs(A).max()


def test_by_friction_that_is_zero():
    """The slope on the side where friction can be: what skips zeros may not skip it."""
    model = alone(lambda A, B: mbros.RevoluteJoint("j", A, B), (0, 0, 0))
    state = model.default_state()
    state.v[0] = 0.5
    d = diff.derivatives(model, "inverse_dynamics", state, [0.0], wrt=("friction.j", "damping.j"))
    assert d["friction.j"][0, 0] == pytest.approx(0.5 / np.hypot(0.5, 1e-3), rel=1e-14) and d["damping.j"][0, 0] == 0.5


def test_by_a_mass_that_was_set_to_zero():
    """Moments follow as they follow when it is set: those of the model."""
    model = alone(lambda A, B: mbros.RevoluteJoint("j", A, B), (0, 0, -9.81))
    state = model.default_state()
    own = diff.derivatives(model, "mass_matrix", state, wrt="mass.B")["mass.B"]
    model.set_parameter(state, "mass.B", 0.0)
    assert np.allclose(diff.derivatives(model, "mass_matrix", state, wrt="mass.B")["mass.B"], own, rtol=1e-14, atol=0)


def test_derivatives_read_like_a_dict(everything):
    d = diff.forward_dynamics(*everything)
    n = everything[0].nv
    assert list(d) == ["q", "v", "tau"] and "q" in d and "qq" not in d and len(d) == 3 and dict(d)["v"] is d["v"]
    assert repr(d) == f"<Derivatives of {n} numbers: q {(n, n)}, v {(n, n)}, tau {(n, n)}>"
    assert d == d and d != diff.forward_dynamics(*everything) and d in {d}


def test_small_steps_tend_to_the_continuous_system(everything):
    model, state, tau = everything
    A, B = model.linearize(state, tau)
    n = model.nv
    errors = []
    for dt in (1e-4, 5e-5):
        Ad, Bd = model.linearize(state, tau, dt=dt, integrator="rk4")
        errors.append(max(np.abs((Ad - np.eye(2 * n)) / dt - A).max(), np.abs(Bd / dt - B).max()))
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.05)              # of first order


@pytest.mark.parametrize("robot", ["arm7", "scara", "double_pendulum", "cartpole", "arm6"])
def test_pinocchio_has_the_same(robot, rng, tmp_path):
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio (pip install pin)")
    model = mbros.load(robot)
    file = tmp_path / "robot.urdf"
    file.write_text(model.description.text)
    peer = pin.buildModelFromUrdf(str(file))
    data = peer.createData()
    state = model.random_state(rng)
    state.v[:], tau = rng.normal(size=model.nv), rng.normal(size=model.nv)
    for field in ("damping", "friction", "stop_stiffness", "rotor_inertia"):
        state.field(field)[:] = 0.0
    q, v = model.to_convention(state, "pinocchio")
    pin.computeABADerivatives(peer, data, q, v, tau)
    d = diff.forward_dynamics(model, state, tau)
    for ours, theirs in ((d["q"], data.ddq_dq), (d["v"], data.ddq_dv), (d["tau"], data.Minv)):
        theirs = np.triu(theirs) + np.triu(theirs, 1).T if theirs is data.Minv else theirs
        assert np.abs(ours - theirs).max() <= 1e-10 * max(1.0, np.abs(theirs).max())
    vdot = rng.normal(size=model.nv)
    dq, dv, _ = pin.computeRNEADerivatives(peer, data, q, v, vdot)
    d = diff.inverse_dynamics(model, state, vdot)
    for ours, theirs in ((d["q"], dq), (d["v"], dv)):
        assert np.abs(ours - theirs).max() <= 1e-10 * max(1.0, np.abs(theirs).max())


def test_locks_and_external_forces_count(everything, rng):
    model, state, tau = everything
    state.external_force[:] = rng.normal(size=state.external_force.shape)
    model.joint("ball").lock(state)
    d = diff.forward_dynamics(model, state, tau)
    assert np.abs(d.value - model.forward_dynamics(state, tau)).max() <= 1e-9 * np.abs(d.value).max()
    locked = model.joint("ball").v_slice
    assert not d["tau"][locked].any() and not d["q"][locked].any() and d["tau"].any()


def test_threads_have_workspaces_of_their_own(everything):
    model, state, tau = everything
    wanted, got = diff.forward_dynamics(model, state, tau)["q"], []

    def work():
        for _ in range(20):
            got.append(diff.forward_dynamics(model, state.copy(), tau)["q"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 80 and all(np.array_equal(J, wanted) for J in got)


@pytest.mark.parametrize("call, message", [
    (lambda m, s: diff.derivatives(m, "forward_dynamic", s), "did you mean 'forward_dynamics'"),
    (lambda m, s: diff.derivatives(m, "forward_dynamics", s, np.zeros(2)), "tau: expected .* numbers, got shape"),
    (lambda m, s: diff.forward_dynamics(m, s, [np.nan] * m.nv), "tau.0. .*is nan; expected a finite number"),
    (lambda m, s: diff.derivatives(m, "mass_matrix", s, np.zeros(2)), "is given nothing but a state"),
    (lambda m, s: diff.derivatives(m, "mass_matrix", s, wrt=("q", "dampng.ball")), "did you mean 'damping.ball'"),
    (lambda m, s: diff.derivatives(m, "mass_matrix", s, wrt="locked.ball"), "on or off"),
    (lambda m, s: diff.derivatives(m, "frame_pose", s, of="tool"), "no frame"),
    (lambda m, s: diff.derivatives(m, "mass_matrix", s, of="ball_body"), "no part that could be named"),
    (lambda m, s: diff.derivatives(m, "step", s, np.zeros(m.nv), integrator="euler"), "integrator is 'euler'; expected"),
    (lambda m, s: diff.derivatives(m, "force_element", s), "force_element of model .*: of: expected the name of one, got None"),
    (lambda m, s: diff.derivatives(m, "mass_matrix", s, wrt=3), "wrt: expected .*, got 3"),
    (lambda m, s: m.linearize(s, np.zeros(m.nv), dt=0.0), "dt is 0; expected a step above 0"),
    (lambda m, s: m.linearize(s, np.zeros(m.nv), dt="soon"), "dt: expected .*, got 'soon'"),
    (lambda m, s: diff.derivatives(m, "mass_matrix", copy.deepcopy(m).default_state()), "another model of that name"),
    (lambda m, s: diff.forward_dynamics(m, s, np.zeros(m.nv))["tao"], "did you mean 'tau'")])
def test_what_is_refused(everything, call, message):
    model, state, _ = everything
    with pytest.raises((ValueError, TypeError), match=message):
        call(model, state)


def test_where_there_is_no_derivative_it_is_said():
    """The length of a spring whose ends touch; a state that is not finite; a joint that a user wrote."""
    b = mbros.ModelBuilder("rig")
    body = seed_models.box(b, "B")
    b.add_joint(mbros.TranslationJoint("slide", b.world, body, 3))
    b.add_force_element(mbros.LinearSpringDamper(b.world, body, free_length=0.0, stiffness=3.0, damping=0.1, name="it"))
    model = b.build()
    state = model.default_state()
    with pytest.raises(mbros.NonFiniteError, match="with respect to q: the value is finite and a derivative is not"):
        diff.derivatives(model, "potential_energy", state, wrt="q")
    state.q[0] = 0.2
    d = diff.derivatives(model, "potential_energy", state, wrt="q")
    assert d["q"] == pytest.approx(np.array([[3.0 * 0.2, 0.0, 1.3 * 9.81]]), rel=1e-14)
    state.q[0] = np.nan
    with pytest.raises(mbros.NonFiniteError, match="derivatives of forward_dynamics.*q.0."):
        diff.forward_dynamics(model, state, np.zeros(3))


@pytest.mark.parametrize("field, at, message", [("external_force", (1, 2), r"external_force.1, 2. .body 'B'. is nan"),
                                                ("inertia", (1, 9), r"inertia.1, 9. .body 'B'. is nan"),
                                                ("friction", 3, r"friction.3. .joint 'j.vx'. is nan"),
                                                ("gravity", 1, r"gravity.1. is nan")])
def test_whatever_is_not_finite_is_named(field, at, message):
    """By the engine and by derivatives of it, whichever input it is."""
    model = alone(lambda A, B: mbros.FloatingJoint("j", A, B), (0, 0, -9.81))
    state = model.default_state()
    state.field(field)[at] = np.nan
    for call in (model.forward_dynamics, lambda s, tau: diff.forward_dynamics(model, s, tau)):
        with pytest.raises(mbros.NonFiniteError, match=message):
            call(state, np.zeros(6))


def test_users_own_joints_have_none():
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.CustomJoint("mine", b.world, seed_models.box(b, "B"), Slide()))
    model = b.build()
    with pytest.raises(mbros.MbrosError, match="model 'rig': joint 'mine': .*no derivative is known"):
        diff.forward_dynamics(model, model.default_state(), [0.0])


def test_an_unknown_algorithm_is_told_with_all_there_are():
    model = mbros.load("pendulum")
    with pytest.raises(mbros.MbrosError, match="no algorithm 'aba' in mbros.diff; there are 'mass_matrix', .*'force_element', .*'step'"):
        diff.derivatives(model, "aba", model.default_state())


@pytest.mark.parametrize("robot", ["arm7", "quadruped"])
def test_trial_P17_a_step_holds_efforts_within_their_limits_and_so_do_its_derivatives(robot):
    """Beyond the limit, a step does not change with an effort: against differences of real steps."""
    model = mbros.load(robot, ground=robot == "quadruped")
    sim = mbros.Simulator(model, 1e-3)
    sim.advance_to(0.02)
    limit = model.spec.effort_limit
    tau = np.where(np.isfinite(limit), 0.4 * limit, 0.0)
    beyond = np.flatnonzero(np.isfinite(limit))[::3]
    tau[beyond] *= -4.0
    A, B = model.linearize(sim.state, tau, dt=1e-3)
    assert len(beyond) > 1 and np.abs(B[:, beyond]).max() == 0.0
    d = mbros.diff.derivatives(model, "step", sim.state, tau, wrt=("v", "tau"))
    assert np.abs(d["tau"][:, beyond]).max() == 0.0
    expected = np.empty((model.nv, 2 * model.nv))
    for k, x in enumerate(1e-6 * np.eye(2 * model.nv)):
        ends = []
        for sign in (1, -1):
            other = mbros.Simulator(model, 1e-3, state=sim.state.copy())
            other.state.v[:] += sign * x[:model.nv]
            other.step(tau + sign * x[model.nv:])
            ends.append(np.array(other.state.v))
        expected[:, k] = (ends[0] - ends[1]) / 2e-6
    n = model.nv
    for found in (np.hstack([A[n:, n:], B[n:]]), np.hstack([d["v"][-n:], d["tau"][-n:]])):
        assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()
