"""Torque-speed curves of several points: against an independent integration, at their knees, of random robots, live, and in files."""
import math
import pickle

import numpy as np
import pytest
from bench_rigs import bench, disc
from scipy.integrate import solve_ivp

import mbros

CONSTANT_POWER = ((0.0, 10.0), (5.0, 10.0), (7.5, 6.6), (12.0, 4.1), (20.0, 2.5))     # flat, then bent inwards; ends above 0
BENT_OUTWARDS = ((0.0, 10.0), (6.0, 9.0), (14.0, 5.0), (16.0, 0.0))
CURVES = [CONSTANT_POWER, BENT_OUTWARDS, ((0.0, 8.0), (10.0, 8.0)), ((0.0, 9.0), (3.0, 4.0), (9.0, 3.5), (11.0, 0.0), (13.0, 0.0))]


def most(points, u):
    """E(u): what the curve leaves of an effort in the direction of motion."""
    speed, effort = np.array(points).T
    if effort[-1] > 0.0:
        speed, effort = np.append(speed, 1.001 * speed[-1]), np.append(effort, 0.0)
    elif u > speed[-1]:
        return effort[-2] + (effort[-1] - effort[-2]) * (u - speed[-2]) / (speed[-1] - speed[-2])
    return float(np.interp(u, speed, effort))


def curve(rng, top, effort):
    """2 to 8 points: bent both ways, flat in places, ending with 0 or not."""
    n = int(rng.integers(2, 9))
    speeds = np.concatenate([[0.0], np.sort(rng.random(n - 1)) + 1e-3 * np.arange(1, n)]) * top
    efforts = np.sort(rng.random(n) + 1e-3)[::-1] * effort
    if rng.random() < 0.5:
        efforts[-1] = 0.0
    if n > 2 and rng.random() < 0.3:
        efforts[1] = efforts[0]
    return np.stack([speeds, efforts], axis=1)


def driven(points, inertia=0.5, dt=1e-3, v=0.0, **numbers):
    sim = mbros.Simulator(disc(inertia), dt=dt, bench=bench(mbros.EffortActuator("e", joint="hinge", torque_speed_curve=points, **numbers)))
    sim.state.v[:] = v
    return sim


@pytest.mark.parametrize("points", CURVES)
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("lag, limit", [(0.0, math.inf), (0.05, math.inf), (0.0, 7.0), (0.02, 5.0)])
def test_a_joint_runs_up_through_its_curve(points, side, lag, limit):
    """v' = min(y, limit, E(v)) / J, integrated with a new start at each bend. A step takes the effort of its end for all of it, which falls
    (or, with the lag, rises) by no more than from its one end to the other: summed over the steps, an error of v of h times the variation
    of v', and none grows, for E does not rise. What the lag makes rises and falls once."""
    inertia, dt, end, commanded = 0.5, 1e-3, 1.5, 30.0
    sim = driven(points, inertia, dt, time_constant=lag, effort_limit=limit)
    sim.command(effort={"hinge": side * commanded})

    def effort(t, v):
        y = commanded * (1.0 - math.exp(-t / lag)) if lag else commanded
        return min(y, limit, most(points, v))

    bends = [event(speed) for speed, _ in points[1:]] + [event(1.001 * points[-1][0])]
    t, v, exact = 0.0, 0.0, [(0.0, 0.0)]
    while t < end - 1e-12:
        part = solve_ivp(lambda t, v: [effort(t, v[0]) / inertia], (t, end), [v], events=bends, rtol=1e-10, atol=1e-12, max_step=2e-3)
        exact += list(zip(part.t[1:], part.y[0][1:]))
        t, v = part.t[-1], part.y[0][-1]
        if part.status == 1:                        # over the bend, by what is nothing beside the bound
            t, v = t + 1e-9, v + 1e-9
    times, speeds = np.array(exact).T
    largest = min(limit, points[0][1]) / inertia
    error = 0.0
    for k in range(1, round(end / dt) + 1):
        sim.step()
        error = max(error, abs(side * sim.state.v[0] - np.interp(k * dt, times, speeds)))
        assert abs(sim.signals["e.effort"].value) <= most(points, abs(sim.state.v[0])) + 1e-9
    assert error < dt * largest * (2.0 if lag else 1.0) + 1e-5          # and the interpolation
    assert abs(sim.state.v[0]) > 0.4 * points[-1][0]


def event(speed):
    def reached(t, v):
        return v[0] - speed
    reached.terminal, reached.direction = True, 1
    return reached


@pytest.mark.parametrize("case", range(300))
def test_one_step_meets_the_curve_wherever_it_leads(case):
    """From any speed over any number of knees: the one u with u = v + h min(y, E(u)) / J, in three passes and one for rounding."""
    rng = np.random.default_rng(case)
    points, inertia, dt = curve(rng, 10.0, 10.0), 10.0 ** rng.uniform(-6, 1), 10.0 ** rng.uniform(-4, 0)
    v, y = rng.uniform(-15.0, 15.0), rng.uniform(0.0, 20.0)
    if case % 3 == 0:                               # onto a knee
        k = rng.integers(1, len(points))
        v, y = points[k, 0] - dt / inertia * points[k, 1], 20.0
    sim = driven(points, inertia, dt, v)
    sim.command(effort={"hinge": y})
    sim.step()
    u, effort = sim.state.v[0], sim.signals["e.effort"].value
    slack = 1e-9 * points[0, 1] + 1e-12 * inertia / dt * (abs(v) + abs(u))        # vdot = (u - v) / h, rounded
    assert sim.plant.devices.repeated <= 3
    assert u == pytest.approx(v + dt * effort / inertia, rel=1e-9, abs=1e-9 * abs(v))
    if u > 0.0:
        steep = max(points[0, 1], *(-np.diff(points[:, 1]) / np.diff(points[:, 0])), 1e3 * points[-1, 1] / points[-1, 0])
        assert effort == pytest.approx(min(y, most(points, u)), abs=slack + 1e-13 * steep * abs(u))
    else:
        assert effort <= y and (effort == y or effort >= points[0, 1])


def test_beyond_the_last_point():
    above = driven(((0.0, 8.0), (10.0, 8.0)))                       # no driving effort beyond the last speed, and no braking one
    above.command(effort={"hinge": 100.0})
    above.advance_to(2.0)
    assert 10.0 < above.state.v[0] <= 10.01
    above.advance_to(4.0, tau=[1.0])
    speed = above.state.v[0]
    assert speed == pytest.approx(10.0 + 2.0 / 0.5, rel=2e-3) and above.signals["e.effort"].value == 0.0
    above.command(effort={"hinge": -3.0})                           # against the motion it does as it is told
    above.step()
    assert above.signals["e.effort"].value == -3.0 and above.state.v[0] < speed
    ended = driven(BENT_OUTWARDS, v=18.0)                           # past the no-load speed it brakes, as on a line
    ended.command(effort={"hinge": 100.0})
    ended.step()
    assert ended.signals["e.effort"].value == pytest.approx(-2.5 * (ended.state.v[0] - 16.0), rel=1e-9) and ended.state.v[0] < 18.0


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
@pytest.mark.parametrize("name, joint", [("arm7", "joint2"), ("arm7", "joint4"), ("quadruped", "FL_calf_joint"), (None, "hinge")])
def test_a_curve_of_two_points_is_the_line_to_the_bit(integrator, name, joint):
    model = disc() if name is None else mbros.load(name)
    words = dict(effort_limit=60.0, time_constant=0.003)
    sims = [mbros.Simulator(model, integrator=integrator, bench=bench(mbros.EffortActuator("e", joint=joint, **words, **of))) for of in (
        dict(stall_effort=17.3, no_load_speed=2.9), dict(torque_speed_curve=[[0.0, 17.3], [2.9, 0.0]]))]
    rng = np.random.default_rng(3)
    for _ in range(100):
        effort = 40.0 * rng.normal()
        for sim in sims:
            sim.command(effort={joint: effort})
            sim.advance_to(sim.time + 7e-3)
        line, two = sims
        assert line.state.q.tobytes() == two.state.q.tobytes() and line.state.v.tobytes() == two.state.v.tobytes()
        assert line.signals["e.effort"].value == two.signals["e.effort"].value
    assert line.plant.devices.repeated == two.plant.devices.repeated > 50


def robot(rng):
    """A random tree of hinges and sliders."""
    b = mbros.ModelBuilder("random", gravity=tuple(5.0 * rng.normal(size=3)))
    bodies = [b.world]
    for k in range(int(rng.integers(1, 7))):
        body = b.add_body(f"b{k}", float(rng.uniform(0.1, 3.0)), tuple(0.2 * rng.normal(size=3)), tuple(rng.uniform(0.05, 0.06, 3)))
        kind = mbros.RevoluteJoint if rng.random() < 0.7 else mbros.PrismaticJoint
        b.add_joint(kind(f"j{k}", bodies[rng.integers(len(bodies))], body, axis=rng.normal(size=3), normalize_axis=True, damping=0.1))
        bodies.append(body)
    return b.build()


def steps_of(model, rng, dt, steps=400):
    """(speed along the side, effort along it, what would act without the curve, the curve) of each joint in each step."""
    joints = [joint.name for joint in model.joints if joint.nv == 1]
    curves = {name: curve(rng, rng.uniform(0.3, 5.0), rng.uniform(1.0, 40.0)) for name in joints}
    devices = [mbros.EffortActuator(f"{name}.drive", joint=name, torque_speed_curve=curves[name], effort_limit=30.0) for name in joints]
    sim = mbros.Simulator(model, dt=dt, bench=bench(*devices))
    at = {name: model.joint(name).v_slice.start for name in joints}
    for k in range(steps):
        if k % 9 == 0:
            y = {name: float(25.0 * rng.normal()) for name in joints}
            sim.command(effort=y)
        sim.step()
        for name in joints:
            side = math.copysign(1.0, y[name])
            yield side * sim.state.v[at[name]], side * sim.signals[f"{name}.drive.effort"].value, min(abs(y[name]), 30.0), curves[name]


def is_right(u, effort, free, points):
    slack = 1e-8 * points[0, 1]
    if u > 0.0:
        return abs(effort - min(free, most(points, u))) <= slack
    return effort <= free + slack and (effort == free or effort >= points[0, 1] - slack)


def test_random_robots_stay_on_their_curves():
    """Several actuators that change their modes in the same steps: each does what its own curve says at the end of the step."""
    limited = free = 0
    for case in range(24):
        rng = np.random.default_rng(case)
        for found in steps_of(robot(rng), rng, (1e-4, 1e-3, 4e-3)[case % 3]):
            assert is_right(*found), (case, found)
            limited, free = limited + (0.0 < found[0] and found[1] < found[2]), free + (found[1] == found[2])
    assert limited > 2000 and free > 2000


def test_in_contact_they_stay_on_their_curves_in_nearly_every_step():
    """Where contacts open or slip in a step that also comes over knees, its passes may end without the right cell: it is taken as
    the last of them left it."""
    model = mbros.load("quadruped", ground=True)
    found = [is_right(*each) for case in range(3) for each in steps_of(model, np.random.default_rng(case), 1e-3)]
    assert sum(found) > 0.999 * len(found)


def test_saved_restored_pickled_and_live():
    sim = driven(CONSTANT_POWER, v=3.0, time_constant=0.02)
    sim.command(effort={"hinge": 30.0})
    sim.advance_to(0.3)
    other, third = driven(CONSTANT_POWER, time_constant=0.02), pickle.loads(pickle.dumps(sim))
    other.restore(sim.save())
    for each in (sim, other, third):
        each.devices["e"].torque_speed_curve = BENT_OUTWARDS            # another number of points
        each.advance_to(0.6)
        assert np.array_equal(each.devices["e"].torque_speed_curve, BENT_OUTWARDS)
        assert each.plant.devices.block.tobytes() == sim.plant.devices.block.tobytes() and each.state.v[0] == sim.state.v[0]
    made = driven(BENT_OUTWARDS, v=1.0)
    changed = driven(CONSTANT_POWER, v=1.0)
    changed.devices.set_parameters({"e.torque_speed_curve": np.ravel(BENT_OUTWARDS), "e.effort_limit": 9.5})
    made.devices["e"].effort_limit = 9.5
    for each in (made, changed):
        each.command(effort={"hinge": 30.0})
        each.advance_to(0.4)
    assert changed.plant.devices.block.tobytes() == made.plant.devices.block.tobytes() and changed.state.q[0] == made.state.q[0]


WRONG = [
    (3.0, "torque_speed_curve is 3"), ("fast", "is 'fast'"), ([[0, 10, 3], [1, 2, 3]], "Give 2 to 8 points [speed, effort]"),
    ([0, 10, 20], "Give 2 to 8 points"), ([[0, 10]], "has 1 point."), (np.zeros((9, 2)), "has 9 points"), ([], "has 0 points"),
    ([[0, 10], [20, math.nan]], "torque_speed_curve is nan"), ([[0, 10], [math.inf, 0]], "is inf"), ([[0, 10], [20, -1]], "is -1"),
    ([[1, 10], [20, 0]], "begins at the speed 1"), ([[0, 0], [20, 0]], "no effort at rest"),
    ([[0, 10], [20, 11]], "rises, from the effort 10 to 11"),
    ([[0, 10], [20, 5], [20, 2]], "has the speed 20 after 20"), ([[0, 10], [20, 5], [20.00001, 2]], "by more than 1e-06 of the last one"),
]


@pytest.mark.parametrize("given, text", WRONG)
def test_what_is_no_curve_is_refused_and_nothing_changes(given, text):
    with pytest.raises(mbros.ModelError) as made:
        mbros.EffortActuator("e", joint="hinge", torque_speed_curve=given)
    sim = driven(CONSTANT_POWER)
    before = sim.plant.devices._numbers().tobytes()
    with pytest.raises(mbros.ModelError) as live:
        sim.devices["e"].torque_speed_curve = given
    assert text in str(made.value) and text in str(live.value) and made.value.problems[0].remedy
    assert sim.plant.devices._numbers().tobytes() == before


def test_a_line_and_a_curve_are_not_one_actuator():
    for words, text in ((dict(stall_effort=3.0), "a torque_speed_curve and stall_effort"), (dict(no_load_speed=3.0), "and no_load_speed"),
                        (dict(stall_effort=3.0, no_load_speed=2.0), "and stall_effort and no_load_speed")):
        with pytest.raises(mbros.ModelError, match=text):
            mbros.EffortActuator("e", joint="hinge", torque_speed_curve=CONSTANT_POWER, **words)
    with pytest.raises(mbros.UnknownNameError, match="stall_effort"):
        driven(CONSTANT_POWER).devices["e"].stall_effort = 2.0
    line = mbros.Simulator(disc(), bench=bench(mbros.EffortActuator("e", joint="hinge", stall_effort=3.0, no_load_speed=2.0)))
    with pytest.raises(mbros.UnknownNameError, match="torque_speed_curve"):
        line.devices["e"].torque_speed_curve = CONSTANT_POWER


def test_files_say_the_same(tmp_path):
    pytest.importorskip("yaml")
    text = "actuators:\n  hinge: {type: effort_actuator, torque_speed_curve: [[0, 10], [20, 10], [60, 2]]}\n"
    (tmp_path / "bench.yaml").write_text(text)
    urdf = """<robot name="r" xmlns:mbros="urn:mbros:urdf"><link name="base"/><link name="disc"><inertial><mass value="1"/>
        <inertia ixx="0.5" ixy="0" ixz="0" iyy="0.5" iyz="0" izz="0.5"/></inertial></link>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="disc"/><axis xyz="0 0 1"/></joint>{}</robot>"""
    own = '<mbros:actuator joint="hinge" type="effort_actuator" torque_speed_curve="0 10 20 10 60 2"/>'
    sims = [mbros.Simulator(mbros.load(urdf.format(""), base="fixed"), bench=str(tmp_path / "bench.yaml")),
            mbros.Simulator(mbros.load(urdf.format(own), base="fixed"))]
    for sim in sims:
        sim.command(effort={"hinge": 100.0})
        sim.advance_to(2.0)
        assert np.array_equal(sim.devices["hinge.drive"].torque_speed_curve, [[0, 10], [20, 10], [60, 2]])
    assert sims[0].state.q.tobytes() == sims[1].state.q.tobytes() and 35.0 < sims[0].state.v[0] < 40.0
    (tmp_path / "bench.yaml").write_text(text.replace("[20, 10]", "[20, 11]"))
    with pytest.raises(mbros.ModelError, match="bench.yaml:2.*rises, from the effort 10 to 11 at the speed 20"):
        mbros.Simulator(disc(), bench=str(tmp_path / "bench.yaml"))
    with pytest.raises(mbros.ModelError, match="begins at the speed 3"):
        mbros.load(urdf.format(own.replace('"0 10', '"3 10')), base="fixed")
