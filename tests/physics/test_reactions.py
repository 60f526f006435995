"""What joints carry, against sums in NumPy of the motion of a step: Newton and Euler for every body beyond the joint."""
import numpy as np
import pytest

import mbros
from mbros_core import INTEGRATORS

ONE_EVALUATION = ("midpoint", "semi_implicit_euler")


def beyond(joint):
    """Bodies that it carries."""
    found = {joint.child.name}
    for _ in joint.model.joints:
        found |= {other.child.name for other in joint.model.joints if other.parent.name in found}
    return [body for body in joint.model.bodies if body.name in found]


def carried(joint, state, vdot, point, others=()):
    """Torque about the point and force: rates of momentum of what is beyond the joint, less its weight and `others`, (torque, force, at)
    on these bodies."""
    model = joint.model
    torque, force = np.zeros(3), np.zeros(3)
    for body in beyond(joint):
        X = model.pose(state, body.name)
        A, V = model.acceleration(state, body.name, vdot), model.velocity(state, body.name)
        w, r = V.angular, X.R @ body.com
        f = body.mass * (A.linear + np.cross(A.angular, r) + np.cross(w, np.cross(w, r)) - np.asarray(state.gravity))
        inertia = X.R @ body.inertia @ X.R.T
        torque += inertia @ A.angular + np.cross(w, inertia @ w) + np.cross(X.p + r - point, f)
        force += f
    for t, f, p in others:
        torque -= t + np.cross(p - point, f)
        force -= f
    return np.concatenate([torque, force])


def where_forces_were_taken(model, before, after, dt, integrator, tau):
    """(state, vdot) of the step, for robots whose v is qdot."""
    at = before.copy()
    vdot = (after.v - before.v) / dt
    if integrator == "midpoint":
        at.q[:] = before.q + 0.5 * dt * before.v
        given = before.field("lock") == 2
        at.q[given] += dt**2 / 8 * vdot[given]          # the middle of the motion, here of constant acceleration
        at.v[:] = before.v + 0.5 * dt * before.field("a_prev")
    if integrator == "rk4":
        x = before.copy()
        k1 = x.v.copy(), model.forward_dynamics(x, tau)
        for share, _ in ((0.5, 2), (0.5, 3), (1.0, 4)):
            x.q[:], x.v[:] = before.q + share * dt * k1[0], before.v + share * dt * k1[1]
            k1 = x.v.copy(), model.forward_dynamics(x, tau)
        at, vdot = x, k1[1]
    return at, vdot


def loads(model, after, at):
    """(torque, force, point, body) of what constraints did to bodies."""
    found = []
    for c in model.constraints:
        wrench, p = c.reaction(after), model.pose(at, c.frame_b.name).p
        found += [(wrench.torque, wrench.force, p, c.frame_b.body_name), (-wrench.torque, -wrench.force, p, c.frame_a.body_name)]
    return found


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["ur5", "four_bar"])
def test_a_joint_carries_what_moves_beyond_it(name, integrator):
    model, rng = mbros.load(name), np.random.default_rng(4)
    sim = mbros.Simulator(model, dt=1e-3, integrator=integrator)
    if name == "ur5":
        sim.state.q[:], sim.state.v[:] = rng.uniform(-1, 1, model.nv), rng.normal(size=model.nv)
    own = [joint for joint in model.joints if joint.nv]
    tau = rng.normal(size=model.nv)
    sim.advance_to(0.1, tau)
    if name == "ur5":
        own[1].lock(sim.state)
        own[3].prescribe(sim.state, acceleration=2.0)
        sim.advance_to(0.15, tau)
    before = sim.state.copy()
    sim.step(tau)
    at, vdot = where_forces_were_taken(model, before, sim.state, sim.dt, integrator, tau)
    if integrator != "rk4" and name == "ur5":
        vdot[1] = 0.0
    for joint in own:
        there = {body.name for body in beyond(joint)}
        others = [(t, f, p) for t, f, p, body in loads(model, sim.state, at) if body in there]
        wanted = carried(joint, at, vdot, model.pose(at, joint.child.name).p, others)
        found = joint.reaction(sim.state)
        assert found.frame == joint.child.name and found.expressed_in == "world"
        assert np.abs(found.values - wanted).max() < 1e-9 * (1.0 + np.abs(wanted).max()), joint.name
        X = model.pose(at, joint.parent_frame.name)
        turned = joint.reaction(sim.state, frame=joint.parent_frame.name)
        arm = X.p - model.pose(at, joint.child.name).p
        assert np.allclose(X.R @ turned.force, wanted[3:], atol=1e-9 * (1.0 + np.abs(wanted).max()))
        assert np.allclose(X.R @ turned.torque, wanted[:3] - np.cross(arm, wanted[3:]), atol=1e-9 * (1.0 + np.abs(wanted).max()))
        if joint.mobilizer.source(sim.state) == "dynamic":
            assert np.array_equal(joint.mobilizer.effort(sim.state), tau[joint.v_slice])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_effort_of_held_joints_is_that_of_inverse_dynamics(integrator):
    model, rng = mbros.load("arm7"), np.random.default_rng(7)
    sim = mbros.Simulator(model, integrator=integrator)
    sim.state.q[:], sim.state.v[:] = 0.3 * rng.uniform(-1, 1, model.nv), 0.2 * rng.normal(size=model.nv)
    held = [joint for joint in model.joints if joint.nv][1::2]
    held[0].lock(sim.state)
    for joint in held[1:]:
        joint.prescribe(sim.state, acceleration=rng.normal(size=1))
    sim.advance_to(0.05)
    before = sim.state.copy()
    sim.step()
    at, vdot = where_forces_were_taken(model, before, sim.state, sim.dt, integrator, np.zeros(model.nv))
    wanted = model.inverse_dynamics(at, vdot)
    for joint in held:
        assert np.allclose(joint.mobilizer.effort(sim.state), wanted[joint.v_slice], rtol=1e-9, atol=1e-8)


def test_what_is_known_beforehand():
    arm = mbros.load("arm7")
    sim = mbros.Simulator(arm)
    for joint in arm.joints:
        if joint.nv:
            joint.lock(sim.state)
    sim.step()
    first = next(joint for joint in arm.joints if joint.nv)
    assert np.allclose(first.reaction(sim.state).force, (0, 0, 9.81 * arm.tree.subtree_mass(sim.state, first)), atol=1e-9)
    assert np.allclose([j.mobilizer.effort(sim.state)[0] for j in arm.joints if j.nv], arm.gravity_torques(sim.state), atol=1e-9)

    dog = mbros.load("quadruped", ground=True)
    sim = mbros.Simulator(dog)
    for joint in dog.joints:
        if joint.nv == 1:
            joint.lock(sim.state)
    sim.advance_to(1.0)
    weight = 9.81 * sum(body.mass for body in dog.bodies)
    feet = {c.body_b: c.force for c in dog.contacts(sim.state)}
    assert len(feet) == 4 and abs(sum(feet.values())[2] - weight) < 1e-3
    hips = [joint for joint in dog.joints if joint.name.endswith("hip_joint")]
    legs = sum(dog.tree.subtree_mass(sim.state, joint) for joint in hips)
    carried_by_legs = -sum(joint.reaction(sim.state).force[2] for joint in hips)
    assert abs(carried_by_legs - (weight - 9.81 * legs)) < 1e-3
    assert np.abs(dog.joint("base").reaction(sim.state).values).max() < 1e-3


def legs_of(integrator):
    """A dog that falls onto the ground, its legs driven."""
    dog = mbros.load("quadruped", ground=True)
    sim = mbros.Simulator(dog, integrator=integrator)
    rng = np.random.default_rng(2)
    tau = np.concatenate([np.zeros(6), rng.normal(size=dog.nv - 6)])
    sim.state.v[:] = 0.3 * rng.normal(size=dog.nv)
    dog.joints[0].lock(sim.state) if dog.joints[0].nv == 1 else None
    return dog, sim, tau


def test_legs_in_contact_carry_what_they_push_with():
    dog, sim, tau = legs_of("semi_implicit_euler")
    touched = 0
    for _ in range(60):
        before = sim.state.copy()
        sim.step(tau)
        vdot = (sim.state.v - before.v) / sim.dt
        R0, R1 = (dog.pose(s, dog.joint("base").child.name).R for s in (before, sim.state))
        w, u = before.v[:3], before.v[3:6]
        vdot[3:6] = (R0.T @ R1 @ sim.state.v[3:6] - u) / sim.dt - np.cross(w, u)        # it is the velocity in the world that advances
        contacts = dog.contacts(sim.state)
        touched += len(contacts)
        for joint in dog.joints:
            if joint.nv:
                there = {body.name for body in beyond(joint)}
                others = [(c.torque, c.force, c.point) for c in contacts if c.body_b in there]
                wanted = carried(joint, before, vdot, dog.pose(before, joint.child.name).p, others)
                scale = 1.0 + max([np.abs(c.force).max() for c in contacts], default=0.0)
                assert np.abs(joint.reaction(sim.state).values - wanted).max() < 1e-8 * scale + 1e-7
    assert touched > 50


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_joint_that_leaves_its_body_free_carries_nothing(integrator):
    for kind in (mbros.FloatingJoint, mbros.FloatingRpyJoint):
        b = mbros.ModelBuilder("brick")
        b.add_joint(kind("free", b.world, b.add_body("brick", 2.0, (0.05, 0.03, -0.04), (0.13, 0.10, 0.05))))
        model = b.build()
        sim = mbros.Simulator(model, integrator=integrator)
        sim.state.v[:] = (2, 9, 2, 1, 2, 3) if kind is mbros.FloatingJoint else (0.2, 0.9, 0.2, 1, 2, 3)
        for _ in range(50):
            sim.step()
            assert np.abs(model.joint("free").reaction(sim.state).values).max() < 1e-8


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_ball_joint_carries_a_force_and_no_torque(integrator):
    b = mbros.ModelBuilder("top")
    b.add_joint(mbros.BallJoint("tip", b.world, b.add_body("top", 1.0, (0, 0, 0.1), (0.002, 0.002, 0.001))))
    model = b.build()
    sim = mbros.Simulator(model, integrator=integrator)
    sim.state.v[:] = (0.5, 0.2, 100.0)
    for _ in range(50):
        sim.step()
        wrench = model.joint("tip").reaction(sim.state)
        assert np.abs(wrench.torque).max() < 1e-9 and 5.0 < wrench.force[2] < 15.0


def with_sensor(kind):
    """A link on a force sensor, which stands or cannot move, on an arm."""
    b = mbros.ModelBuilder("wrist")
    arm = b.add_body("arm", 1.0, (0.2, 0, 0), (0.01, 0.02, 0.02))
    hand = b.add_body("hand", 0.6, (0.05, 0.02, 0.01), (0.002, 0.001, 0.003))
    finger = b.add_body("finger", 0.1, (0.03, 0, 0), (1e-4, 2e-4, 2e-4))
    b.add_joint(mbros.RevoluteJoint("shoulder", b.world, arm, axis=(0, 1, 0)))
    b.add_joint(kind("sensor", arm, hand, p=(0.4, 0, 0), rpy=(0.3, 0.2, 0.1)))
    b.add_joint(mbros.RevoluteJoint("knuckle", hand, finger, p=(0.1, 0, 0), axis=(0, 0, 1)))
    return b.build()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_weld_carries_what_a_locked_joint_does(integrator):
    found = []
    for kind in (mbros.WeldJoint, mbros.RevoluteJoint):
        model = with_sensor(kind)
        sim = mbros.Simulator(model, integrator=integrator)
        if kind is mbros.RevoluteJoint:
            model.joint("sensor").lock(sim.state)
        model.joint("shoulder").set_velocity(sim.state, 3.0)
        model.joint("knuckle").set_velocity(sim.state, -2.0)
        sim.advance_to(0.2)
        found.append((model.joint("sensor").reaction(sim.state).values, model.joint("sensor").reaction(sim.state, "hand").values))
    assert np.allclose(found[0], found[1], rtol=1e-9, atol=1e-9) and np.abs(found[0][0]).max() > 1.0
    with pytest.raises(mbros.MbrosError, match="joint 'sensor' .*external wrench acts on 'arm'"):
        model = with_sensor(mbros.WeldJoint)
        sim = mbros.Simulator(model)
        sim.state.external_force[1] = 1.0
        sim.step()
        model.joint("sensor").reaction(sim.state)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_state_that_no_step_led_to_is_refused(integrator):
    model = mbros.load("ur5")
    joint = model.joints[2]
    with pytest.raises(mbros.StateError, match=f"joint {joint.name!r}: no step of a simulation led to this state"):
        joint.reaction(model.default_state())
    for change in (lambda s: s.q.__setitem__(0, 0.3), lambda s: s.v.__setitem__(1, 0.3), lambda s: s.set_q(s.q.copy()),
                   lambda s: s.set_v(s.v + 1.0), lambda s: joint.lock(joint.set_velocity(s, 1.0) and s)):
        sim = mbros.Simulator(model, integrator=integrator)
        sim.step()
        joint.reaction(sim.state.copy())
        change(sim.state)
        with pytest.raises(mbros.StateError, match="led to this state"):
            joint.reaction(sim.state)


@pytest.mark.parametrize("field", ["q", "v", "gravity", "inertia", "external_force"])
def test_numbers_that_are_not_finite_give_no_reactions(field):
    """Written into the state's own memory after a step."""
    sim = mbros.Simulator(mbros.load("arm7"))
    sim.step()
    sim.state.field(field).flat[-1] = np.nan
    with pytest.raises(mbros.MbrosError, match="nan|no step"):
        sim.model.joint("joint3").reaction(sim.state)


def test_torsion_and_rolling_are_part_of_a_contact():
    b = mbros.ModelBuilder("pivot", ground=mbros.Ground(torsional_radius=0.05))
    ball = b.add_body("ball", 1.0, (0, 0, 0), (0.004, 0.004, 0.004))
    b.add_joint(mbros.FloatingJoint("free", b.world, ball))
    b.add_collision(ball, mbros.shapes.sphere(0.1), torsional_radius=0.05)
    model = b.build()
    sim = mbros.Simulator(model)
    model.joint("free").set_pose(sim.state, p=(0, 0, 0.1))
    sim.advance_to(0.2)
    sim.state.v[2] = 5.0
    sim.advance_to(0.25)
    contact, = model.contacts(sim.state)
    assert -0.5 < contact.torque[2] < -0.05 and abs(contact.torque[:2]).max() < 1e-12
    assert np.abs(model.joint("free").reaction(sim.state).values).max() < 1e-6
