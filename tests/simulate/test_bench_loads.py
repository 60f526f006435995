"""Sensors of loads, touch and places: against what the model says, closed forms, and each other."""
import numpy as np
import pytest
from bench_rigs import AtTheEnd, bench, disc

import mbros


def value(sim, name):
    return sim.signals[name].value


def wrench(sim, name="ft"):
    return np.concatenate([value(sim, f"{name}.torque"), value(sim, f"{name}.force")])


def arm(*devices, **options):
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench(mbros.PositionServo("*.s", joint="joint*", kp=300.0, kd=20.0),
                                                             *devices), **options)
    sim.command(position={"joint2": 0.8, "joint4": -0.9, "joint6": 0.5})
    return sim


# ---- force-torque

def at_the_end(sim, time, joints, tau=None):
    """Advances to a time; {name: the reaction of a joint, at the frame of its child, led to the end of the last step}."""
    ends, there = {name: AtTheEnd(sim.integrator) for name in joints}, {}
    sim.advance_to(time - 2.0 * sim.dt, tau)
    for _ in range(3):
        for name, end in ends.items():
            joint = sim.model.joint(name)
            there[name] = end(joint.reaction(sim.state, joint.child.name).values)
        if sim.time < time - 0.5 * sim.dt:
            sim.step(tau)
    return there


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_a_wrench_is_the_reaction_of_the_joint_at_any_frame(integrator):
    sensors = [mbros.ForceTorque(f"j{k}", joint=f"joint{k}") for k in range(1, 8)]
    sim = arm(*sensors, mbros.ForceTorque("ft", frame="flange"), mbros.ForceTorque("both", joint="joint7", frame="flange"),
              integrator=integrator)
    for _ in range(40):
        there = at_the_end(sim, sim.time + 0.011, [f"joint{k}" for k in range(1, 8)], [0.3, -1.0, 0.0, 2.0, 0.0, 0.1, 0.0])
        for k in range(1, 8):
            assert wrench(sim, f"j{k}") == pytest.approx(there[f"joint{k}"], abs=1e-12 * abs(there[f"joint{k}"]).max())
        last = sim.model.joint("joint7").reaction(sim.state, "flange").values
        assert wrench(sim) == pytest.approx(last, abs=0.03 * abs(last).max()) and (wrench(sim, "both") == wrench(sim)).all()
    assert abs(last).max() > 1.0


def test_a_wrench_of_contact_loops_floating_bases_and_locked_joints():
    dog = mbros.load("quadruped", ground=True)
    feet = [joint.name for joint in dog.joints if joint.nv == 1]
    sims = [(mbros.Simulator(dog, bench=bench(mbros.PositionServo("*.s", joint="*", kp=200.0, kd=5.0),
                                              *(mbros.ForceTorque(name, joint=name) for name in feet))), feet),
            (mbros.Simulator(mbros.load("four_bar"), bench=bench(*(mbros.ForceTorque(joint.name, joint=joint.name) for joint in
                                                                   mbros.load("four_bar").joints if joint.kind != "weld"))), None)]
    for sim, names in sims:
        names = names or [joint.name for joint in sim.model.joints if joint.kind != "weld"]
        sim.model.joint(names[0]).lock(sim.state)
        for _ in range(20):
            for name, there in at_the_end(sim, sim.time + 0.013, names).items():
                assert wrench(sim, name) == pytest.approx(there, abs=1e-12 * max(abs(there).max(), 1.0))


def test_a_wrench_does_not_change_what_it_measures():
    plain, seen = arm(), arm(mbros.ForceTorque("ft", frame="flange", resonance=300.0), mbros.GroundTruthPose("p", frame="flange"))
    for sim in (plain, seen):
        sim.advance_to(0.5)
    assert (plain.state.q == seen.state.q).all() and (plain.state.v == seen.state.v).all()
    assert (plain.plant.observe() == seen.plant.observe()).all()


def test_cross_talk_bias_and_range_of_a_wrench():
    rng = np.random.default_rng(3)
    matrix = np.eye(6) + 0.02 * rng.standard_normal((6, 6))
    sim = arm(mbros.ForceTorque("ft", frame="flange", matrix=matrix.ravel(), force_bias=0.5, torque_range=0.05),
              mbros.ForceTorque("true", frame="flange"))
    sim.advance_to(0.3)
    true = np.concatenate([value(sim, "true.force"), value(sim, "true.torque")])
    read = np.concatenate([value(sim, "ft.force"), value(sim, "ft.torque")])
    assert read[:3] == pytest.approx((matrix @ true)[:3] + 0.5, abs=1e-12)
    assert read[3:] == pytest.approx(np.clip((matrix @ true)[3:], -0.05, 0.05), abs=1e-12)


def pushed(sensor, dt=1e-3):
    """A disc at rest on a locked hinge, pushed with 1 N m about z by an effort, which the hinge carries: what the sensor follows."""
    b = mbros.ModelBuilder("two", gravity=(0, 0, 0))
    body = b.add_body("disc", 1.0, (0, 0, 0), (0.5, 0.5, 0.5))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, body, axis=(0, 0, 1)))
    sim = mbros.Simulator(b.build(), dt=dt, bench=bench(sensor))
    sim.step()
    readings = []
    for _ in range(200):
        sim.step([2.0])
        readings.append(value(sim, "ft.torque")[2])
    return np.array(readings)


def test_the_lag_and_the_resonance_of_a_wrench():
    """The step response of the first order, and of the second, below, at and above the critical damping."""
    t = 1e-3 * np.arange(1, 201)
    follow = pushed(mbros.ForceTorque("ft", joint="hinge", time_constant=0.02))
    assert follow == pytest.approx(2.0 * -np.expm1(-t / 0.02), abs=1e-12)
    w = 2.0 * np.pi * 30.0
    for z in (0.0, 0.1, 1.0, 2.5):
        s = w * np.sqrt(complex(z * z - 1.0))
        ring = np.exp(-z * w * t) * (np.cosh(s * t) + (z * w * np.sinh(s * t) / s if s else w * t)).real
        sensor = mbros.ForceTorque("ft", joint="hinge", resonance=30.0, damping_ratio=z)
        assert pushed(sensor) == pytest.approx(2.0 * (1.0 - ring), abs=1e-9)


def test_a_slow_sensor_that_rings_saw_every_step():
    fast, slow = (mbros.ForceTorque("ft", joint="hinge", resonance=30.0, damping_ratio=0.1, rate=rate) for rate in (None, 100.0))
    seen = pushed(fast), pushed(slow)
    assert seen[0][8::10] == pytest.approx(seen[1][8::10], abs=1e-12) and (seen[1][8:18] == seen[1][8]).all()


def test_noise_and_drift_of_a_wrench():
    sensor = mbros.ForceTorque("ft", joint="hinge", force_noise_density=0.02, torque_random_walk=0.03)
    sim = mbros.Simulator(disc(), dt=0.01, bench=bench(sensor, seed=4))
    rows = []
    for _ in range(20000):
        sim.step()
        rows.append(wrench(sim))
    rows = np.array(rows)
    assert rows[:, 3:].std(axis=0) == pytest.approx(np.full(3, 0.02 / 0.1), rel=0.02)
    steps = np.diff(rows[:, :3], axis=0)
    assert steps.std(axis=0) == pytest.approx(np.full(3, 0.03 * 0.1), rel=0.02)
    assert abs(np.corrcoef(rows[1:, 3:].T, steps.T)[np.triu_indices(6, 1)]).max() < 0.03


# ---- contact switches

def dropped(*switches):
    b = mbros.ModelBuilder("drop")
    rail = b.add_body("rail", 1.0, (0, 0, 0), (0.01, 0.01, 0.01))
    body = b.add_body("ball", 2.0, (0, 0, 0), (0.01, 0.01, 0.01))
    b.add_joint(mbros.PrismaticJoint("x", b.world, rail, axis=(1, 0, 0)))       # neighbours, as the ground would be, do not touch
    b.add_joint(mbros.PrismaticJoint("z", rail, body, axis=(0, 0, 1)))
    b.add_collision(body, mbros.shapes.sphere(0.1), name="skin")
    b.add_ground()
    sim = mbros.Simulator(b.build(), bench=bench(*switches, mbros.EffortActuator("lift", joint="z")))
    sim.state.q[1] = 0.15
    return sim


def test_a_contact_switch_closes_at_its_threshold_and_opens_below_its_release():
    sim = dropped(mbros.ContactSwitch("skin", shape="skin", threshold=15.0, release=5.0), mbros.ContactSwitch("ball", body="ball"))
    closed = force = 0.0
    seen = []
    for k in range(6000):
        sim.command(effort={"z": 0.0 if k < 2000 else 18.0 * np.sin(0.002 * (k - 2000))})
        sim.step()
        force = sum(c.force[2] for c in sim.model.contacts(sim.state))
        closed = 1.0 if force > (5.0 if closed else 15.0) else 0.0
        assert value(sim, "skin.force") == pytest.approx(force, abs=1e-9) and value(sim, "skin.closed") == closed
        assert value(sim, "ball.closed") == float(force > 0.0) and value(sim, "ball.force") == value(sim, "skin.force")
        seen.append(closed)
    assert 2 <= np.abs(np.diff(seen)).sum() < 60 and 0.1 < np.mean(seen) < 0.95
    assert sim.signals["skin.force"].unit == "N"


# ---- odometry and true poses

@pytest.mark.parametrize("left, right", [(3.0, 3.0), (2.0, 4.0), (-1.0, 1.0), (-2.0, -1.0)])
def test_odometry_of_constant_wheel_speeds_is_an_arc(left, right):
    radius, separation, T = 0.1, 0.5, 2.0
    model = mbros.load("diff_drive")
    base = dict(left="left_wheel_joint", right="right_wheel_joint", radius=radius, separation=separation)
    sensor, coarse = mbros.WheelOdometry("odom", rate=50.0, **base), mbros.WheelOdometry("counts", counts=4096, **base)
    sim = mbros.Simulator(model, bench=bench(sensor, coarse))
    sim.prescribe("left_wheel_joint", lambda t: (left * t, left, 0.0))
    sim.prescribe("right_wheel_joint", lambda t: (right * t, right, 0.0))
    sim.advance_to(0.02)                                          # the first sample, where it is switched on
    sim.advance_to(0.02 + T)
    v, w = radius * (left + right) / 2.0, radius * (right - left) / separation
    exact = (v / w * np.sin(w * T), v / w * (1.0 - np.cos(w * T))) if w else (v * T, 0.0)
    assert value(sim, "odom.position") == pytest.approx(exact, abs=1e-9) and value(sim, "odom.yaw") == pytest.approx(w * T, abs=1e-9)
    assert value(sim, "odom.velocity") == pytest.approx(v, abs=1e-9) and value(sim, "odom.yaw_rate") == pytest.approx(w, abs=1e-9)
    assert value(sim, "counts.yaw") == pytest.approx(w * (T + 0.019), abs=2.0 * radius * 2.0 * np.pi / 4096 / separation)


def test_odometry_on_the_ground_is_where_the_base_is():
    """Trial P5: the odometry beside the true pose, with the radius and track of the robot; the wheels sink in by 3e-4 of their radius."""
    model = mbros.load("diff_drive", ground=True)
    sim = mbros.Simulator(model, bench=bench(
        mbros.VelocityServo("*.s", joint="*_wheel_joint", kd=5.0), mbros.GroundTruthPose("true", frame=model.bodies[1].name),
        mbros.WheelOdometry("odom", left="left_wheel_joint", right="right_wheel_joint", radius=0.06, separation=0.28)))
    sim.advance_to(1.0)
    start = value(sim, "true.position")[:2] - value(sim, "odom.position")
    for share in np.linspace(0.05, 1.0, 20):                      # gently, or the tyres slip
        sim.command(velocity={"left_wheel_joint": 2.0 * share, "right_wheel_joint": 3.0 * share})
        sim.advance_to(sim.time + 0.05)
    sim.advance_to(4.0)
    way = value(sim, "true.position")[:2] - start
    z, w = value(sim, "true.orientation")[2:]
    assert np.hypot(*way) > 0.3 and value(sim, "odom.position") == pytest.approx(way, abs=2e-3 * np.hypot(*way))
    assert value(sim, "odom.yaw") == pytest.approx(2.0 * np.arctan2(z, w), rel=2e-3)


def test_a_true_pose_is_the_models():
    sim = arm(mbros.GroundTruthPose("p", frame="flange"))
    last = None
    for _ in range(60):
        sim.advance_to(sim.time + 0.02, [3.0, -6.0, 5.0, -4.0, 3.0, 2.0, 1.0])
        X = sim.model.pose(sim.state, "flange")
        assert value(sim, "p.position") == pytest.approx(X.p, abs=1e-12)
        x, y, z, w = q = value(sim, "p.orientation")
        R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                      [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                      [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        assert R == pytest.approx(X.R, abs=1e-12)
        V = sim.model.velocity(sim.state, "flange")
        assert value(sim, "p.angular_velocity") == pytest.approx(X.R.T @ V.values[:3], abs=1e-12)
        assert value(sim, "p.linear_velocity") == pytest.approx(X.R.T @ V.values[3:], abs=1e-12)
        assert last is None or q @ last > 0.0                     # no jump of its sign
        last = q


REFUSED = [
    (lambda: mbros.ForceTorque("f", joint="joint9"), "no joint 'joint9'"),
    (lambda: mbros.ForceTorque("f", joint="joint3", frame="flange"), "is not on the body beyond joint 'joint3'"),
    (lambda: mbros.ForceTorque("f", frame="world"), "is on the world"),
    (lambda: mbros.ContactSwitch("c", body="flange"), "has no shapes"),
    (lambda: mbros.WheelOdometry("o", left="joint1", right="joint12", radius=0.1, separation=1.0), "no joint 'joint12'"),
]


@pytest.mark.parametrize("make, text", REFUSED)
def test_what_a_robot_has_not_is_refused(make, text):
    with pytest.raises(mbros.ModelError) as caught:
        mbros.Simulator(mbros.load("arm7"), bench=bench(make()))
    assert text in str(caught.value) and all(problem.remedy for problem in caught.value.problems)


@pytest.mark.parametrize("make, text", [
    (lambda: mbros.ForceTorque("f"), "it has neither frame nor joint"),
    (lambda: mbros.ContactSwitch("c"), "it has neither a body nor a shape"),
    (lambda: mbros.ContactSwitch("c", body="a", shape="b"), "it has a body and a shape"),
    (lambda: mbros.WheelOdometry("o", left="a", right="b", radius=0.0, separation=1.0), "radius is 0"),
    (lambda: mbros.GroundTruthPose("p", frame=3), "frame is 3"),
    (lambda: mbros.ForceTorque("f", frame="x", matrix=[1.0]), "Give 36 numbers")])
def test_what_cannot_be_is_refused(make, text):
    with pytest.raises(mbros.MbrosError, match=text):
        make()


def test_a_wrench_in_a_weld_is_its_reaction():
    """Of a caster on the ground, and of a tool with a joint of its own, welded twice."""
    cart = mbros.load("diff_drive", ground=True)
    rolling = mbros.Simulator(cart, bench=bench(mbros.VelocityServo("*.s", joint="*_wheel_joint", kd=5.0),
                                                mbros.ForceTorque("ft", joint="caster_joint")))
    rolling.command(velocity={"left_wheel_joint": 1.0, "right_wheel_joint": 4.0})
    weld = cart.joint("caster_joint")
    b = mbros.ModelBuilder("tool")
    inertia = (0.02, 0.03, 0.04)
    parts = [b.add_body(name, 1.0 + k, (0.1, 0.02 * k, 0.0), inertia) for k, name in enumerate(("arm", "flange", "tool", "jaw"))]
    b.add_joint(mbros.BallJoint("shoulder", b.world, parts[0]))
    b.add_joint(mbros.WeldJoint("wrist", parts[0], parts[1], p=(0.3, 0, 0), rpy=(0.2, 0.3, 0.1)))
    b.add_joint(mbros.WeldJoint("clutch", parts[1], parts[2], p=(0.1, 0.1, 0), rpy=(0.0, 0.5, 0.1)))
    b.add_joint(mbros.RevoluteJoint("grip", parts[2], parts[3], axis=(0, 1, 0)))
    tool = mbros.Simulator(b.build(), bench=bench(mbros.ForceTorque("ft", joint="wrist")))
    tool.state.v[:] = [3.0, -2.0, 1.0, 5.0]
    for sim, joint in ((rolling, weld), (tool, tool.model.joint("wrist"))):
        for _ in range(30):
            there = at_the_end(sim, sim.time + 0.02, [joint.name])[joint.name]
            assert abs(there).max() > 1.0 and wrench(sim) == pytest.approx(there, abs=1e-12 * max(abs(there).max(), 10.0))
