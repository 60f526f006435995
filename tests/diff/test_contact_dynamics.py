"""Dynamics with given contacts: against the KKT system solved whole, Pinocchio's constraint dynamics and its derivatives, differences,
and the laws that forces of contact keep."""
import loop_rigs
import numpy as np
import pytest
import robots
from optional import needs

import mbros
from mbros import diff
from mbros.diff import RigidContact


def standing(rng, rows=(6, 3), gains=(0.0, 0.0)):
    """The humanoid in a random state, its feet given as contacts, held a little from where they are."""
    robot = robots.loaded("humanoid", "floating")
    model = robot.model
    state = model.random_state(rng)
    state.v *= 0.3
    near = state.copy()
    near.q[:] = model.integrate(state.q, 0.05 * rng.normal(size=model.nv))
    feet = [RigidContact(name, n, *gains, model.pose(near, name)) for name, n in zip(("left_foot", "right_foot"), rows)]
    return robot, model, state, feet


def moved(model, state, k, h, name):
    other = state.copy()
    if name == "q":
        other.q[:] = model.integrate(state.q, h * np.eye(model.nv)[k])
    else:
        other.v[k] += h
    return other


def differences(model, state, tau, compute, names, h=1e-6):
    """Central differences of the (motion, force) of compute(state, tau) by the names."""
    found = {}
    for name in names:
        columns = []
        for k in range(model.nv):
            ends = []
            for sign in (h, -h):
                at = moved(model, state, k, sign, name) if name != "tau" else state
                ends.append(compute(at, tau + sign * np.eye(model.nv)[k] if name == "tau" else tau))
            columns.append([(a - b) / (2 * h) for a, b in zip(ends[0][:2], ends[1][:2])])
        found[name] = [np.array([c[i] for c in columns]).T for i in (0, 1)]
    return found


def check_derivatives(ours, theirs, within=2e-7):
    for name, pair in theirs.items():
        for mine, numbers in zip(ours, pair):
            assert np.abs(mine[name] - numbers).max() < within * max(1.0, np.abs(numbers).max()), name


@pytest.mark.parametrize("rows, gains, mu", [((6, 3), (0.0, 0.0), 0.0), ((3, 6), (100.0, 20.0), 0.0), ((6, 6), (50.0, 5.0), 1e-3)])
def test_derivatives_are_those_of_differences(rows, gains, mu, rng):
    _, model, state, feet = standing(rng, rows, gains)
    tau = rng.normal(size=model.nv)
    ours = diff.contact_dynamics_derivatives(model, state, tau, feet, mu)
    found = diff.contact_dynamics(model, state, tau, feet, mu)
    assert np.array_equal(ours[0].value, found.motion) and np.array_equal(ours[1].value, found.force)
    check_derivatives(ours, differences(model, state, tau, lambda s, t: diff.contact_dynamics(model, s, t, feet, mu), ("q", "v", "tau")))


@pytest.mark.parametrize("rows", [3, 6])
def test_derivatives_of_every_kind_of_joint(rows, rng):
    model = robots.every_joint()
    state, tau = model.random_state(rng), rng.normal(size=model.nv)
    model.apply_wrench(state, "body3", (1.0, 2.0, 3.0), (3.0, -1.0, 2.0))
    held = [RigidContact("tool", rows, kd=3.0), RigidContact("body4", 3)]
    check_derivatives(diff.contact_dynamics_derivatives(model, state, tau, held),
                      differences(model, state, tau, lambda s, t: diff.contact_dynamics(model, s, t, held), ("q", "v", "tau")), 1e-6)
    check_derivatives(diff.contact_impulse_derivatives(model, state, held, 0.5),
                      differences(model, state, tau, lambda s, _: diff.contact_impulse(model, s, held, 0.5), ("q", "v")), 1e-6)


def test_the_whole_system(rng):
    _, model, state, feet = standing(rng, gains=(0.0, 7.0))
    tau, mu = rng.normal(size=model.nv), 1e-4
    vdot, force, J = diff.contact_dynamics(model, state, tau, feet, mu)
    M, n = model.mass_matrix(state), len(J)
    bias = model.inverse_dynamics(state, np.zeros(model.nv))
    rate = np.vstack([diff.jacobian_rate(model, state, foot.frame)[6 - foot.rows:] for foot in feet])
    K = np.block([[M, -J.T], [J, mu * np.eye(n)]])
    whole = np.linalg.solve(K, np.concatenate([tau - bias, -(rate + 7.0 * J) @ state.v]))
    assert np.allclose(vdot, whole[:model.nv], rtol=0, atol=1e-8) and np.allclose(force, whole[model.nv:], rtol=0, atol=1e-7)
    # the forces, as wrenches on the bodies, cause the same accelerations
    for foot, f in zip(feet, (force[:6], np.r_[np.zeros(3), force[6:]])):
        model.apply_wrench(state, foot.frame, f[:3], f[3:])
    assert np.allclose(model.forward_dynamics(state, tau), vdot, rtol=0, atol=1e-8)


def pinocchio_contacts(peer, rows):
    import pinocchio_peer
    pin, found = pinocchio_peer.pin, []
    for name, n in zip(("left_foot", "right_foot"), rows):
        frame = peer.model.frames[peer._frame(name)]
        kind = pin.ContactType.CONTACT_6D if n == 6 else pin.ContactType.CONTACT_3D
        found.append(pin.RigidConstraintModel(kind, peer.model, frame.parentJoint, frame.placement, pin.LOCAL))
    models, datas = pin.StdVec_RigidConstraintModel(found), pin.StdVec_RigidConstraintData([contact.createData() for contact in found])
    pin.initConstraintDynamics(peer.model, peer.data, models, datas)
    return models, datas


@needs("pinocchio", "its constraint dynamics")
@pytest.mark.parametrize("rows", [(6, 3), (3, 3), (6, 6)])
def test_as_pinocchio(rows, rng):
    import pinocchio_peer
    pin = pinocchio_peer.pin
    robot, model, state, feet = standing(rng, rows)
    state.v[:] = diff.contact_impulse(model, state, feet).motion      # feet that stand: spatial accelerations are those of points then
    state.damping[:], state.friction[:] = 0.0, 0.0          # which their dynamics do not have
    tau, peer = rng.normal(size=model.nv), pinocchio_peer.from_urdf(robot)
    T, (models, datas) = peer.T(state.q), pinocchio_contacts(peer, rows)
    q, v, their_tau = peer.q(state.q), T @ state.v, np.linalg.solve(T.T, tau)
    exact = pin.ProximalSettings(1e-14, 1e-10, 20)
    a = pin.constraintDynamics(peer.model, peer.data, q, v, their_tau, models, datas, exact)
    vdot, force, _ = diff.contact_dynamics(model, state, tau, feet)
    assert np.allclose(vdot, np.linalg.solve(T, a), rtol=0, atol=1e-7)
    R = model.pose(state, "left_foot").R
    assert np.allclose(R.T @ force[rows[0] - 3:rows[0]], datas[0].contact_force.linear, rtol=0, atol=1e-6)
    pin.computeConstraintDynamicsDerivatives(peer.model, peer.data, models, datas, exact)
    ours, _ = diff.contact_dynamics_derivatives(model, state, tau, feet)
    for name, theirs, right in (("q", peer.data.ddq_dq, T), ("v", peer.data.ddq_dv, T), ("tau", peer.data.ddq_dtau, np.linalg.inv(T.T))):
        theirs = np.linalg.solve(T, theirs @ right)
        assert np.abs(ours[name] - theirs).max() < 1e-7 * np.abs(theirs).max(), name


@needs("pinocchio", "its impulse dynamics")
def test_impulse_is_that_of_pinocchio_and_of_its_law(rng):
    import pinocchio_peer
    pin = pinocchio_peer.pin
    robot, model, state, feet = standing(rng)
    peer = pinocchio_peer.from_urdf(robot)
    T, (models, datas) = peer.T(state.q), pinocchio_contacts(peer, (6, 3))
    exact = pin.ProximalSettings(1e-14, 1e-10, 20)
    after = pin.impulseDynamics(peer.model, peer.data, peer.q(state.q), T @ state.v, models, datas, 0.3, exact)
    v, impulse, J = diff.contact_impulse(model, state, feet, restitution=0.3)
    assert np.allclose(J @ v, -0.3 * J @ state.v, rtol=0, atol=1e-9)
    assert np.allclose(model.mass_matrix(state) @ (v - state.v), J.T @ impulse, rtol=0, atol=1e-8)
    assert np.allclose(v, np.linalg.solve(T, after), rtol=0, atol=1e-8)


@pytest.mark.parametrize("mu", [0.0, 1e-3])
def test_derivatives_of_the_impulse(mu, rng):
    _, model, state, feet = standing(rng)
    ours = diff.contact_impulse_derivatives(model, state, feet, 0.2, mu)
    check_derivatives(ours, differences(model, state, np.zeros(model.nv), lambda s, _: diff.contact_impulse(model, s, feet, 0.2, mu),
                                        ("q", "v")))


def test_springs_and_stops_have_no_part_in_an_impulse(rng):
    b = mbros.ModelBuilder("sprung")
    arm, tip = b.add_body("arm", 1.0, (0.3, 0, 0), (0.01, 0.1, 0.1)), b.add_body("tip", 0.5, (0.2, 0, 0), (0.01, 0.05, 0.05))
    b.add_joint(mbros.RevoluteJoint("a", b.world, arm, axis=(0, 1, 0)))
    elbow = b.add_joint(mbros.RevoluteJoint("b", arm, tip, axis=(0, 1, 0), p=(0.6, 0, 0), damping=0.4))
    b.add_force_element(mbros.RevoluteSpring(elbow, stiffness=30.0, name="spring"))
    b.add_frame("end", tip, p=(0.5, 0, 0.1))
    model = b.build()
    state = model.default_state()
    state.q[:], state.v[:] = (0.3, 0.8), (1.0, -2.0)
    end = [RigidContact("end", 3)]               # three rows, of which two joints keep two: the third says nothing
    ours = diff.contact_impulse_derivatives(model, state, end)
    check_derivatives(ours, differences(model, state, np.zeros(2), lambda s, _: diff.contact_impulse(model, s, end), ("q", "v")))


def test_contacts_that_say_the_same_twice(rng):
    _, model, state, feet = standing(rng, (6, 6))
    tau = rng.normal(size=model.nv)
    once = diff.contact_dynamics(model, state, tau, feet[:1])
    twice = diff.contact_dynamics(model, state, tau, [feet[0], feet[0]])
    assert np.allclose(once.motion, twice.motion, rtol=0, atol=1e-8)
    assert np.allclose(twice.force[:6], once.force / 2, rtol=0, atol=1e-7) and np.allclose(twice.force[:6], twice.force[6:], atol=1e-7)
    a, b = (diff.contact_dynamics_derivatives(model, state, tau, feet[:1] * n)[0] for n in (1, 2))
    for name in ("q", "v", "tau"):
        assert np.allclose(a[name], b[name], rtol=0, atol=1e-9 * np.abs(a[name]).max())


def test_no_contact_is_free_motion(rng):
    model = mbros.load("arm7")
    state, tau = model.random_state(rng), rng.normal(size=7)
    assert np.array_equal(diff.contact_dynamics(model, state, tau, []).motion, diff.forward_dynamics(model, state, tau).value)
    free = diff.forward_dynamics(model, state, tau)
    ours = diff.contact_dynamics_derivatives(model, state, tau, [])[0]
    for name in ("q", "v", "tau"):
        assert np.allclose(ours[name], free[name], rtol=0, atol=1e-10 * np.abs(free[name]).max())


@pytest.mark.parametrize("contacts, words", [
    (RigidContact("flange"), "contacts: expected a list of"), (["flange"], "contacts: expected mbros.diff.RigidContact"),
    (3, "contacts: expected a list"),
    ([RigidContact("flange", 4)], r"contact of 'flange': rows: expected 3 \(its origin\) or 6"),
    ([RigidContact("flange", np.full(3, 3))], "contact of 'flange': rows"),
    ([RigidContact("flange", 3, kp=10.0)], "kp is 10 and there is no pose to hold"),
    ([RigidContact("flange", 3, kd=-1.0)], "contact of 'flange': kd: expected a number, 0 or more"), ([RigidContact("flang")], "flange")])
def test_refused_in_words(contacts, words):
    model = mbros.load("arm7")
    for ask in (lambda: diff.contact_dynamics(model, model.default_state(), np.zeros(7), contacts),
                lambda: diff.contact_impulse_derivatives(model, model.default_state(), contacts)):
        with pytest.raises(mbros.MbrosError, match=words):
            ask()


SOFT = 1e-6             # of accelerations: loops are held by the engine's solver, which gives a little (docs/constraints.md)


def closed(rng):
    """A four-bar on a floating ground, moving with its loop closed, and two contacts beside the loop's own rows."""
    rig = loop_rigs.FourBar(base="floating")
    model, state, t, h = rig.model, rig.model.default_state(), 0.8, 1e-30
    crank, coupler, rocker = (model.joint(name).v_slice.start for name in ("crank", "coupler", "rocker"))
    state.q[-3:] = rig.q(t)
    state.v[:] = 0.3 * rng.normal(size=model.nv)
    state.v[[crank, coupler, rocker]] = np.imag(rig.q(t + 1j * h).astype(complex)) / h
    return rig, model, state, [RigidContact("coupler end", 3, kd=4.0), RigidContact("ground", 3)]


@pytest.mark.parametrize("gains, speed, compute", [
    (dict(kd=1e308), 1e5, diff.contact_dynamics), (dict(kd=1e308), 0.0, diff.contact_dynamics_derivatives),
    (dict(), 1e307, diff.contact_impulse)])
@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_refused(gains, speed, compute):
    model = mbros.load("arm7")
    state = model.default_state()
    state.v[:] = speed
    given = () if compute is diff.contact_impulse else (np.zeros(model.nv),)
    with pytest.raises(mbros.NonFiniteError, match="not finite although"):
        compute(model, state, *given, [RigidContact(model.frames.names[-1], 3, **gains)])


def test_loops_stay_closed_under_the_forces(rng):
    _, model, state, held = closed(rng)
    tau = rng.normal(size=model.nv)
    vdot, force, J = diff.contact_dynamics(model, state, tau, held)
    assert np.allclose(model.forward_dynamics(state, tau + J.T @ force), vdot, rtol=0, atol=SOFT * np.abs(vdot).max())
    drift = np.concatenate([model._frame_acceleration(state, model.frame(c.frame).index, vdot)[3:] for c in held])
    drift[:3] += 4.0 * J[:3] @ state.v
    assert np.abs(drift).max() < SOFT * np.abs(vdot).max()
    after, impulse, J = diff.contact_impulse(model, state, held)
    assert np.abs(J @ after).max() < SOFT
    loop = model._constraint_jacobian(state)
    assert np.abs(loop @ state.v).max() < 1e-10 and np.abs(loop @ after).max() < SOFT


def test_derivatives_beside_loops(rng):
    """What the solver gives, 1e-7 m/s^2, is noise in a difference: a step of 1e-3 makes 1e-4 of it."""
    _, model, state, held = closed(rng)
    tau = rng.normal(size=model.nv)
    check_derivatives(diff.contact_dynamics_derivatives(model, state, tau, held),
                      differences(model, state, tau, lambda s, t: diff.contact_dynamics(model, s, t, held), ("q", "v", "tau"), 1e-3), 2e-4)
    check_derivatives(diff.contact_impulse_derivatives(model, state, held, 0.3),
                      differences(model, state, tau, lambda s, _: diff.contact_impulse(model, s, held, 0.3), ("q", "v"), 1e-3), 2e-4)
