"""Contact beside MuJoCo, whose law is another one, where the two say the same: a blow against a wall where nothing else pulls, with the
reference acceleration -b v - k r of one mass, and rigid limits: friction that slides and rolls, and a robot that is pushed on its feet."""
import numpy as np
import pytest

import mbros

mujoco_contact = pytest.importorskip("mujoco_contact", reason="peer tests need MuJoCo (pip install mujoco)")
mujoco = mujoco_contact.mujoco
DT, RADIUS = 1e-4, 0.1
STIFF = 'cone="elliptic" tolerance="1e-12" iterations="200"'


def ball(mass, gravity, **numbers):
    b = mbros.ModelBuilder("scene", gravity=gravity, ground=mbros.Ground(**numbers))
    body = b.add_body("body", mass, (0, 0, 0), np.full(3, 0.4 * mass * RADIUS**2))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_collision(body, mbros.shapes.sphere(RADIUS), **numbers)
    return b.build()


def beside(sim, geoms="", efforts=None):
    """(MuJoCo's model, its data) at the state of a simulator."""
    model = mujoco_contact.compiled_with_contact(sim.model.spec, sim.dt, STIFF, geoms)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = sim.model.to_convention(sim.state, "mujoco")
    return model, data


def test_a_ball_meets_a_wall():
    """A linear spring and damper: k / m and k tau / m are MuJoCo's direct numbers."""
    k, tau, mass = 2e4, 2e-3, 2.0
    sim = mbros.Simulator(ball(mass, (0, 0, 0), stiffness=2 * k, relaxation_time=tau / 2, friction=0.0), DT)
    sim.model.joint("free").set_pose(sim.state, p=(0, 0, 0.15))
    sim.state.v[5] = -1.5
    d = mujoco_contact.ALMOST_ONE
    model, data = beside(sim, f'solref="{-k / mass} {-k * tau / mass}" solimp="{d} {d} 0.001 0.5 2" condim="1"')
    ours, theirs = [], []
    while sim.time < 0.1:
        sim.step()
        mujoco.mj_step(model, data)
        ours.append(float(sim.model.pose(sim.state, "body").p[2]))
        theirs.append(data.qpos[2])
    deepest = RADIUS - min(theirs)
    assert deepest > 0.005
    assert np.abs(np.subtract(ours, theirs))[:500].max() < 0.05 * deepest      # while they touch, and a little later; a step is 0.012 of it
    assert sim.state.v[5] == pytest.approx(data.qvel[2], rel=0.02)


def test_a_sliding_ball_comes_to_roll():
    sim = mbros.Simulator(ball(1.0, (0, 0, -9.81), friction=0.3), DT)
    sim.state.v[3] = 2.0
    model, data = beside(sim, 'solref="0.002 1" solimp="0.99 0.99 0.001 0.5 2"')
    while sim.time < 1.0:
        sim.step()
        mujoco.mj_step(model, data)
    assert sim.model.pose(sim.state, "body").p[0] == pytest.approx(data.qpos[0], rel=5e-3)
    assert np.linalg.norm(sim.model.velocity(sim.state, "body").linear) == pytest.approx(np.linalg.norm(data.qvel[:3]), rel=5e-3)


def test_a_quadruped_is_pushed_on_its_feet():
    """Half a second under a PD controller and a push of 40 N for 0.1 s: the trunk goes the same way."""
    model = mbros.load("quadruped", ground=True)
    state = model.default_state()
    q = np.array(state.q)
    q[2], q[7:] = 0.3315, np.tile((0.0, 0.72, -1.44), 4)
    state.set_q(q)
    sim = mbros.Simulator(model, 5e-4, state=state)
    peer, data = beside(sim, 'solref="0.004 1" solimp="0.99 0.99 0.001 0.5 2"')
    target, trunk = q[7:].copy(), mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_BODY, "b1")
    ours, theirs = [], []
    tau = np.zeros(model.nv)
    for k in range(1000):
        push = 40.0 if 200 <= k < 400 else 0.0
        for joints, speeds, into in ((sim.state.q[7:], sim.state.v[6:], tau), (data.qpos[7:], data.qvel[6:], data.qfrc_applied)):
            into[6:] = 200.0 * (target - joints) - 8.0 * speeds
        J = model.jacobian(sim.state, "trunk")
        tau[:6] = (J.T @ np.array([0, 0, 0, 0, push, 0]))[:6]
        data.xfrc_applied[trunk, 1] = push
        sim.step(tau)
        mujoco.mj_step(peer, data)
        ours.append(np.array(sim.model.pose(sim.state, "trunk").p))
        theirs.append(data.qpos[:3].copy())
    ours, theirs = np.array(ours), np.array(theirs)
    moved = np.ptp(theirs[:, 1])
    assert moved > 5e-3
    assert np.abs(ours - theirs).max() < 0.15 * moved
