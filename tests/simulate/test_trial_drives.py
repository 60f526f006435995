"""Drives of which only the commands are known drive: gains come from what joints move and hold, on a fixed base, on wheels, on legs."""
import json
import math

import numpy as np
import pytest

import mbros
from mbros.cli import main
from mbros.describe.devices.gains import JointLoad, position_gains, velocity_gains
from mbros.bench.bench import layout
from mbros.bench.joint_loads import _in_loops, joint_loads

STEPS = (1e-3, 5e-3)


def link(name, mass=0.0, inertia=1e-4, com="0 0 0", shape=""):
    inertial = f'<inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ' \
               f'ixz="0" iyz="0"/></inertial>' if mass else ""
    return f'<link name="{name}">{inertial}{shape}</link>'


def collision(geometry, rpy="0 0 0"):
    return f'<collision><origin rpy="{rpy}"/><geometry>{geometry}</geometry></collision>'


def joint(name, parent, child, kind="continuous", axis="0 1 0", xyz="0 0 0", limit='effort="50" velocity="10"', dynamics="", more=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>' \
           f'<limit {limit}/><dynamics {dynamics}/>{more}</joint>'


def control(**interfaces):
    rows = "".join(f'<joint name="{name}">{"".join(word if "<" in word else f"<command_interface name={word!r}/>" for word in words)}'
                   f'<state_interface name="position"/></joint>' for name, words in interfaces.items())
    return f'<ros2_control name="c" type="system">{rows}</ros2_control>'


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def hinge(*words, mass=1.0, inertia=1e-4, com="0 0 0", **joint_words):
    return mbros.load(robot(link("base"), link("arm", mass, inertia, com), joint("j", "base", "arm", **joint_words), control(j=words)))


def gains(model):
    return {drive.joint.name: drive for drive in layout(model, model.description.bench, 1e-3).tuned}


def errors(sim, targets, times):
    """The largest |q - target| of joints at these times, rad or m."""
    found = []
    for t in times:
        sim.advance_to(t)
        found.append(max(abs(float(sim.model.joint(name).position(sim.state)[0]) - x) for name, x in targets.items()))
    return found


# ------------------------------------------------------------------------------------------------------------------ velocity

@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("inertia, dynamics", [(1e-4, 'damping="0.2"'), (1e-4, 'friction="0.1"'), (1e-7, 'damping="0.2" friction="0.1"')])
def test_trial_P3_a_wheel_reaches_what_is_commanded(dt, inertia, dynamics):
    sim = mbros.Simulator(hinge("velocity", inertia=inertia, dynamics=dynamics), dt=dt)
    sim.command(velocity={"j": 5.0})
    for t in (0.1, 1.0, 2.0):
        sim.advance_to(t)
        assert sim.state.v[0] / 5.0 == pytest.approx(1.0, abs=0.01)
    assert sim.state.v[0] == pytest.approx(5.0, rel=1e-5)


@pytest.mark.parametrize("dt", STEPS)
def test_trial_P3_an_arm_under_its_weight_turns_as_commanded(dt):
    """The load changes all the time: it goes round and round."""
    sim = mbros.Simulator(hinge("velocity", mass=5.0, com="0.3 0 0", dynamics='friction="2"'), dt=dt)
    sim.command(velocity={"j": 1.0})
    sim.advance_to(0.1)
    for t in np.linspace(0.2, 7.0, 100):
        sim.advance_to(t)
        assert sim.state.v[0] == pytest.approx(1.0, abs=0.01)


WHEEL, RADIUS, MASS = '<cylinder radius="0.05" length="0.02"/>', 0.05, 3.0
BASE = link("base", 2.0, 0.01, shape=collision('<box size="0.3 0.2 0.04"/>'))


def wheeled(damping):
    wheels = "".join(link(side, 0.4, 5e-4, shape=collision(WHEEL, "1.5707963267948966 0 0")) +
                     joint(f"{side}_joint", "base", side, xyz=f"0 {y} -0.04", dynamics=f'damping="{damping}"')
                     for side, y in (("left", 0.12), ("right", -0.12)))
    casters = "".join(link(f"caster{k}", 0.1, shape=collision('<sphere radius="0.02"/>')) +
                      joint(f"caster{k}_joint", "base", f"caster{k}", xyz=f"{x} 0 -0.07") for k, x in enumerate((0.12, -0.12)))
    return robot(BASE, wheels, casters, control(left_joint=["velocity"], right_joint=["velocity"]))


@pytest.mark.parametrize("damping", [0.0, 0.2])
@pytest.mark.parametrize("dt", STEPS)
def test_trial_P3_two_wheels_drive_a_robot_on_the_ground(dt, damping):
    """It is where its wheels roll it; a drive moves the wheel and the whole robot, J + m r^2; casters that nothing drives have no drive."""
    model = mbros.load(wheeled(damping), base="floating", ground=True)
    drives = gains(model)
    assert sorted(drives) == ["left_joint", "right_joint"]
    load = drives["left_joint"].load
    # the points of a rim that is 2 cm wide
    assert load.on_ground and load.inertia == pytest.approx(5e-4 + MASS * RADIUS**2, rel=1e-6) and load.weight < 1e-9
    sim = mbros.Simulator(model, dt=dt)
    sim.command(velocity={"left_joint": 4.0, "right_joint": 4.0})
    sim.advance_to(1.0)
    x = sim.state.q[0]
    sim.advance_to(3.0)
    for side in ("left_joint", "right_joint"):
        assert model.joint(side).velocity(sim.state)[0] / 4.0 == pytest.approx(1.0, abs=0.01)
    assert (sim.state.q[0] - x) / (2.0 * 4.0 * RADIUS) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("dt", STEPS)
def test_trial_P3_wheels_that_follow_a_virtual_one(dt):
    """As in car-like robots: a joint without mass whose followers drive and steer, with the damping of all of them."""
    wheel = collision('<sphere radius="0.05"/>')
    text = [link("base", 4.0, 0.05, shape=collision('<box size="0.4 0.2 0.04"/>'))]
    for role, x, axis in (("rear", -0.16, "0 1 0"), ("front", 0.16, "0 0 1")):
        text += [link(f"{role}_virtual"), joint(role, "base", f"{role}_virtual", axis=axis, xyz=f"{x} 0 -0.03", dynamics='damping="0.2"')]
        for side, y in (("left", 0.13), ("right", -0.13)):
            text += [link(f"{role}_{side}", 0.3, 3e-4, shape=wheel if role == "rear" else ""),
                     joint(f"{role}_{side}_joint", "base", f"{role}_{side}", axis=axis, xyz=f"{x} {y} -0.03", dynamics='damping="0.2"',
                           more=f'<mimic joint="{role}"/>')]
            if role == "front":
                text += [link(f"roller_{side}", 0.1, 1e-4, shape=wheel), joint(f"rolls_{side}", f"front_{side}", f"roller_{side}")]
    model = mbros.load(robot(*text, control(rear=["velocity"], front=["position"])), base="floating", ground=True)
    drives = gains(model)
    assert drives["rear"].load.damping == pytest.approx(0.6) and drives["rear"].load.on_ground
    assert drives["rear"].load.inertia == pytest.approx(2 * 3e-4 + 5.4 * RADIUS**2)
    assert drives["front"].load.inertia == pytest.approx(2 * 4e-4)         # its spheres stand on the axes about which it turns them
    sim = mbros.Simulator(model, dt=dt)
    sim.command(velocity={"rear": 5.0}, position={"front": 0.3})
    sim.advance_to(4.0)
    assert model.joint("rear").velocity(sim.state)[0] / 5.0 == pytest.approx(1.0, abs=0.01)
    assert model.joint("front").position(sim.state)[0] == pytest.approx(0.3, abs=2e-3)
    assert math.hypot(*sim.state.q[:2]) > 0.5           # it drives, on a circle


# ------------------------------------------------------------------------------------------------------------------ position

@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("dynamics", ["", 'damping="3"', 'friction="3"'])
def test_trial_P3_an_arm_is_held_from_the_start_and_steps_settle(dt, dynamics):
    model = hinge("position", mass=5.0, com="0.3 0 0", dynamics=dynamics)
    load = gains(model)["j"].load
    assert load.inertia == pytest.approx(1e-4 + 5.0 * 0.09) and load.weight == pytest.approx(5.0 * 9.81 * 0.3, rel=0.01)
    sim = mbros.Simulator(model, dt=dt)
    sim.command(position={"j": 0.0})
    assert max(errors(sim, {"j": 0.0}, np.linspace(dt, 2.0, 50))) < 2e-3
    sim.command(position={"j": 0.6})
    assert max(errors(sim, {"j": 0.6}, np.linspace(4.0, 6.0, 200))) < 2e-3         # neither a rest nor a limit cycle
    assert errors(sim, {"j": 0.6}, [8.0])[0] < 1e-4


@pytest.mark.parametrize("dt", STEPS)
def test_trial_P3_a_lift_near_its_effort_limit(dt):
    """20 kg on 250 N: a step asks for far more than the limit, and must not wind up or ring."""
    model = hinge("position", mass=20.0, kind="prismatic", axis="0 0 1", limit='lower="-1" upper="2" effort="250" velocity="1"')
    sim = mbros.Simulator(model, dt=dt)
    sim.command(position={"j": 0.0})
    assert max(errors(sim, {"j": 0.0}, np.linspace(dt, 1.0, 20))) < 2e-4
    sim.command(position={"j": 0.4})
    sim.advance_to(2.0)
    assert max(errors(sim, {"j": 0.4}, np.linspace(2.5, 3.5, 50))) < 2e-3


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("payload", [0.0, 5.0, 30.0])
def test_trial_P3_payloads_that_nobody_announced(dt, payload):
    """Up to 25 times the inertia that the gains were chosen for."""
    own = gains(hinge("position", mass=1.0, com="0.3 0 0", inertia=0.01, limit='effort="400" velocity="10"'))["j"].gains
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo", joint="j", kp=own.kp, kd=own.kd, ki=own.ki))
    model = hinge("effort", mass=1.0 + payload, com="0.3 0 0", inertia=0.01, limit='effort="400" velocity="10"')
    sim = mbros.Simulator(model, dt=dt, bench=bench)
    sim.command(position={"j": 0.2})
    assert errors(sim, {"j": 0.2}, [4.0])[0] < 2e-3 and abs(float(sim.state.v[0])) < 1e-3


def with_drives(name, **words):
    """A robot of mbros as a file would have it, with a position interface in every joint."""
    model = mbros.load(name, **words)
    joints = [joint.name for joint in model.joints if joint.nv == 1 and not joint.follows]
    text = open(mbros.build.robots.path(name)).read()
    start = "".join(f'<joint name="{j}"><command_interface name="position"/></joint>' for j in joints)
    text = text.replace("</robot>", f'<ros2_control name="c" type="system">{start}</ros2_control></robot>')
    model = mbros.load(text, **words, bench=True)
    return model, {j: float(model.joint(j).position(model.default_state())[0]) for j in joints}


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_trial_P3_robots_on_legs_stand(name, dt):
    model, pose = with_drives(name, base="floating", ground=True)
    sim = mbros.Simulator(model, dt=dt)
    sim.command(position=pose)
    assert max(errors(sim, pose, [dt, 0.02, 0.1, 0.3, 1.0])) < 2e-3
    assert sim.state.q[2] == pytest.approx(model.default_state().q[2], abs=2e-3)


def test_trial_P3_a_humanoid_stands_on_bench_servo():
    """Its ankles carry the whole robot, which is an inverted pendulum on them."""
    model = mbros.load("humanoid", ground=True, bench="servo")
    pose = {joint.name: float(joint.position(model.default_state())[0]) for joint in model.joints if joint.nv == 1}
    sim = mbros.Simulator(model)
    sim.command(position=pose)
    assert max(errors(sim, pose, [0.1, 0.3, 1.0, 3.0])) < 2e-3 and np.abs(sim.state.v).max() < 1e-6


def test_trial_P3_an_ankle_moves_what_stands_on_it():
    """A body of 10 kg on a foot, the ankle as the only joint: M h^2 + I about it."""
    sole = collision('<box size="0.2 0.1 0.02"/>').replace("rpy=", 'xyz="0 0 -0.05" rpy=')
    foot = link("foot", 0.5, 1e-3, "0 0 -0.05", sole)
    model = mbros.load(robot(link("base", 10.0, 0.3, "0 0 0"), foot, joint("ankle", "base", "foot", "revolute", xyz="0 0 -0.8",
                             limit='lower="-0.3" upper="0.3" effort="500" velocity="5"'), control(ankle=["position"])),
                       base="floating", ground=True)
    load = gains(model)["ankle"].load
    assert load.on_ground and load.inertia == pytest.approx(0.3 + 10.0 * 0.8**2)
    assert load.weight == pytest.approx(10.5 * 9.81 * 0.1, rel=0.05)          # as much as a foot of 0.2 m passes on


def test_trial_P3_arms_of_a_robot_that_stands_do_not_carry_it():
    model = mbros.load("humanoid", ground=True)
    loads = {joint.name: joint_loads(model)[joint.v_slice.start] for joint in model.joints if joint.nv == 1}
    legs = {name for name, load in loads.items() if load.on_ground}
    assert legs and all(not any(word in name for word in ("shoulder", "elbow", "wrist", "neck", "waist")) for name in legs)
    hanging = mbros.load("humanoid")
    assert not any(load.on_ground for load in joint_loads(hanging))


def test_trial_P3_bench_servo_is_chosen_for_what_the_robot_stands_on():
    """Also where its bench was made before there was a ground: in a scene."""
    scene = mbros.Scene("s", ground=True)
    scene.add_robot("quadruped", "dog", p=(0, 0), bench="servo")
    model = scene.build()
    on = [drive for drive in layout(model, model.description.bench, 1e-3).tuned if drive.load.on_ground]
    assert len(on) == 12
    alone = mbros.load("quadruped", ground=True, bench="servo")
    for a, b in zip(on, layout(alone, alone.description.bench, 1e-3).tuned):
        assert a.gains.kp == pytest.approx(b.gains.kp)


def test_trial_P3_a_loop_is_driven_as_a_whole():
    """The crank of a four-bar moves rods that nothing else drives."""
    model = mbros.load("four_bar")
    crank = model.joint("crank")
    load = joint_loads(model)[crank.v_slice.start]
    # by energy: T = J qdot^2 / 2 with the velocities that the loop has, weight = dV/dq, by differences of assembled states
    state, h = model.default_state(), 1e-5
    ends = []
    for step in (-h, h):
        moved = model.default_state()
        crank.set_position(moved, crank.position(state) + step)
        ends.append(model.assemble(moved, keep=crank.name))
    v = (ends[1].q - ends[0].q) / (2.0 * h)
    assert v[crank.v_slice.start] == pytest.approx(1.0, abs=1e-6)
    assert load.inertia >= (J := v @ model.mass_matrix(state) @ v) * (1.0 - 1e-6)
    loop = _in_loops(model)
    assert loop[0][crank.v_slice.start] == pytest.approx(J, rel=1e-6)
    assert loop[1][crank.v_slice.start] == pytest.approx(abs(model.gravity_torques(state) @ v), rel=1e-6)
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo", joint=crank.name, bandwidth=10.0, static_error=1e-3))
    sim = mbros.Simulator(model, bench=bench)
    q = float(crank.position(state)[0])
    sim.command(position={crank.name: q})
    assert max(errors(sim, {crank.name: q}, [0.01, 0.1, 1.0])) < 2e-3


# ------------------------------------------------------------------------------------------------------------------ gains

def test_trial_P3_gains_say_what_they_are_for():
    w = 20.0 * math.pi
    light, damped, loaded = JointLoad(0.5, 0.0), JointLoad(1e-4, 0.0, damping=0.2), JointLoad(0.5, 10.0, friction=2.0, effort_limit=11.0)
    assert position_gains(light, 10.0, 1e-3).reason == velocity_gains(light, 10.0, 1e-3).reason == "inertia"
    g = position_gains(light, 10.0, 1e-3)
    assert (g.kp, g.kd) == pytest.approx((0.5 * w * w, 2.0 * 0.5 * w))
    g = position_gains(damped, 10.0, 1e-3)
    assert (g.kp, g.kd + 0.2, g.reason) == pytest.approx((0.2 * w, 2.0 * 0.2, "damping"))
    assert velocity_gains(damped, 10.0).kd == pytest.approx(20.0)
    g = position_gains(loaded, 10.0, 1e-3)
    assert (g.kp, g.reason) == pytest.approx((11.0 / 1e-3, "weight"))              # what it can hold
    assert position_gains(loaded, 10.0).reason == "inertia"                        # without a static error
    assert position_gains(JointLoad(0.0, 0.1, friction=0.5), 10.0, 1e-3).reason == "friction"


@pytest.mark.parametrize("static_error", [None, 1e-3])
@pytest.mark.parametrize("kd", [0.05, 0.3, 3.0, 500.0])
def test_trial_P3_an_integral_beside_a_given_damping_is_stable(kd, static_error):
    """Its ki followed the bandwidth, whatever the kd: a joint of 1 kg m^2 swung up."""
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo", joint="j", bandwidth=10.0, kd=kd, static_error=static_error))
    sim = mbros.Simulator(hinge("effort", mass=1.0, inertia=1.0, limit='effort="1e6" velocity="1e3"'), bench=bench)
    servo, w = sim.devices["servo"], 20.0 * math.pi
    assert servo.kd == kd and 0.0 < servo.ki < servo.kp * kd / 1.0
    if kd == 500.0:                                                    # more than is designed: as without it
        assert servo.ki == pytest.approx(servo.kp * w / (8.0 if static_error is None else 32.0))
    else:
        roots = np.roots([1.0, kd, servo.kp, servo.ki])
        assert roots.real.max() < 0.0 and roots[np.abs(roots.imag) > 1.0].real.max() < -0.4 * kd
    sim.state.v[0] = 0.1
    sim.command(position={"j": 0.0})
    most = [0.0, 0.0]
    for k in range(2000):
        sim.step()
        most[k // 1000] = max(most[k // 1000], abs(float(sim.state.q[0])))
    assert most[1] < 0.5 * most[0]


@pytest.mark.parametrize("numbers, text", [(dict(ki=1e6), "swing up: its ki of 1e[+]06 is not below .*Give a ki below"),
                                           (dict(kd=3.0, ki=12000.0), "and a kd of 3.*Give a ki below 118"),
                                           (dict(kd=0.0, ki=1.0), "Give a kd, or ki=0.0")])
def test_trial_P3_gains_that_swing_up_with_those_of_a_bandwidth_are_refused(numbers, text):
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo", joint="j", bandwidth=10.0, **numbers))
    with pytest.raises(mbros.ModelError, match="(?s)" + text):
        mbros.Simulator(hinge("effort", mass=1.0, inertia=1.0), bench=bench)


def test_trial_P3_what_is_given_stays():
    model = hinge("effort", mass=5.0, com="0.3 0 0")
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo", joint="j", bandwidth=5.0, kd=1.5, ki=0.0))
    servo = mbros.Simulator(model, bench=bench).devices["servo"]
    assert (servo.kd, servo.ki) == (1.5, 0.0) and servo.kp == pytest.approx(0.4501 * (10.0 * math.pi)**2)
    for words, text in ((dict(kp=1.0, static_error=1e-3), "static_error and no bandwidth"), (dict(bandwidth=1.0, static_error=0.0), "is 0"),
                        (dict(bandwidth=1.0, kp=2.0), "a kp and a bandwidth")):
        with pytest.raises(mbros.ModelError, match=text):
            mbros.PositionServo("s", joint="j", **words)
        if "kp" in words:
            with pytest.raises(mbros.ModelError, match=text):
                mbros.ImpedanceServo("s", joint="j", **words)


def test_trial_P3_a_static_error_is_written_as_all_numbers_are(tmp_path):
    parts = [link("base"), link("arm", 5.0, 0.01, "0.3 0 0"), joint("j", "base", "arm")]
    own = '<mbros:actuator xmlns:mbros="urn:mbros:urdf" joint="j" type="position_servo" bandwidth="5" static_error="0.002"/>'
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("j.servo", joint="j", bandwidth=5.0, static_error=0.002))
    plain = mbros.load(robot(*parts))
    expected = mbros.Simulator(plain, bench=bench).devices["j.servo"].kp
    load = joint_loads(plain)[0]
    assert expected == pytest.approx(max(load.weight / 0.002, load.inertia * (10.0 * math.pi)**2))
    assert mbros.Simulator(mbros.load(robot(*parts, own))).devices["j.servo"].kp == expected
    pytest.importorskip("yaml")
    file = tmp_path / "bench.yaml"
    file.write_text("actuators:\n  j: {type: position_servo, bandwidth: 5, static_error: 0.002}\n")
    assert mbros.Simulator(plain, bench=file).devices["j.servo"].kp == expected


def test_trial_P3_objects_beside_a_robot_change_nothing():
    """A scene of a robot and 100 boxes, 618 velocities: found in a moment, and its legs stand as alone."""
    scene = mbros.Scene("s", ground=True)
    scene.add_robot("quadruped", "dog", p=(0, 0), bench="servo")
    for k in range(100):
        scene.add_object(f"box{k}", mbros.shapes.box((0.1, 0.1, 0.1)), mass=1.0, p=(1.0 + 0.2 * (k % 10), 0.2 * (k // 10)))
    model = scene.build()
    assert sum(load.on_ground for load in joint_loads(model)) == 12
    pose = {joint.name: float(joint.position(model.default_state())[0]) for joint in model.joints if joint.nv == 1}
    sim = mbros.Simulator(model)
    sim.command(position=pose)
    assert errors(sim, pose, [0.5])[0] < 2e-3


@pytest.mark.parametrize("dt", STEPS)
def test_trial_P3_a_position_that_jumps_moves_no_faster_than_the_joints_limit(dt):
    """As ros2_control's limiter has it: 0.8 rad at 2 rad/s, but for what its integral overshoots. Before it went four times as fast, and
    on into its stop, as 20 N m could not brake it."""
    words = dict(inertia=0.3, limit='effort="20" velocity="2" lower="-2" upper="0.9"', kind="revolute")
    sim = mbros.Simulator(hinge("position", "velocity", **words), dt=dt)
    sim.command(position={"j": 0.8})
    fastest = farthest = 0.0
    for _ in range(round(2.0 / dt)):
        sim.step()
        fastest, farthest = max(fastest, float(sim.state.v[0])), max(farthest, float(sim.state.q[0]))
    assert 1.9 < fastest < 2.2 and farthest < 0.8 + 0.07 and sim.state.q[0] == pytest.approx(0.8, abs=2e-3)
    sim.command(position={"j": 3.0})
    sim.step()
    assert sim.signals["j.limits.position"].value == pytest.approx(0.8 + 2.0 * dt)
    sim.advance_to(sim.time + 1.0)
    assert sim.signals["j.limits.position"].value == pytest.approx(0.9)


@pytest.mark.parametrize("limit, off", [('effort="20" velocity="0"', ""), ('effort="20" velocity="2"', "off")])
def test_trial_P3_nothing_is_limited_without_a_limit(limit, off):
    interface = "position" if not off else '<command_interface name="position"><limits enable="false"/></command_interface>'
    model = hinge(interface, inertia=1.0, limit=limit)
    assert [device.type for device in model.description.bench.actuators] == ["position_servo"]


def test_trial_P3_a_position_after_none_starts_from_where_the_joint_is():
    """The limiter went on from what was commanded last, however long ago: the joint jumped back."""
    sim = mbros.Simulator(hinge("position", "effort", inertia=1.0, limit='effort="20" velocity="2"'))
    sim.command(position={"j": 0.0})
    sim.advance_to(0.1)
    sim.command(position={"j": np.nan}, effort={"j": 5.0})
    sim.advance_to(0.6)
    q = float(sim.state.q[0])
    sim.command(position={"j": 1.0}, effort={"j": np.nan})
    sim.step()
    assert q > 0.3 and sim.signals["j.limits.position"].value == pytest.approx(q + 2e-3)


# ------------------------------------------------------------------------------------------------------------------ stiffness and damping

@pytest.mark.parametrize("stiffness, damping", [("kp", "kd"), ("stiffness", "damping")])
def test_trial_P3_gains_as_commands_are_an_impedance_servo(stiffness, damping):
    model = hinge("position", "velocity", "effort", stiffness, damping, mass=2.0, com="0.3 0 0")
    assert [type(device).__name__ for device in model.description.bench.actuators] == ["ImpedanceServo", "CommandLimits"]
    assert not any("not used: a command" in str(note) for note in model.description.notes)
    sim = mbros.Simulator(model)
    sim.command(position={"j": 0.0})
    assert max(errors(sim, {"j": 0.0}, [0.1, 1.0])) < 2e-3             # of its own, until gains are commanded
    sim.command(position={"j": 0.0}, stiffness={"j": 60.0}, damping={"j": 10.0})
    sim.advance_to(5.0)
    q = float(sim.state.q[0])
    assert 60.0 * q == pytest.approx(2.0 * 9.81 * 0.3 * math.cos(q), rel=1e-4)
    sim.command(position={"j": 0.0}, stiffness={"j": 0.0}, damping={"j": 0.0}, effort={"j": 0.0})
    sim.advance_to(5.3)
    assert sim.state.q[0] > q + 0.1                                    # it falls


def test_trial_P3_numbers_of_gain_interfaces_are_used():
    word = '<command_interface name="{}"><param name="initial_value">{}</param><param name="min">0</param><param name="max">100</param>' \
           '</command_interface>'
    model = hinge("position", word.format("kp", 40), word.format("kd", 3), mass=2.0, com="0.3 0 0")
    sim = mbros.Simulator(model)
    assert (sim.devices["j.servo"].kp, sim.devices["j.servo"].kd) == (40.0, 3.0)
    sim.command(position={"j": 0.0}, stiffness={"j": 500.0})
    sim.step()
    assert sim.signals["j.command.stiffness"].value == 100.0
    notes = [str(note) for note in hinge("position", word.format("kp", -1), "kp", "stiffness").description.notes]
    assert any("'kp' of the same joint" in note for note in notes)
    assert sum("initial_value" in note for note in notes) <= 1


def test_trial_P3_check_says_the_gains_and_why(tmp_path, capsys):
    file = tmp_path / "r.urdf"
    file.write_text(robot(link("base"), link("arm", 5.0, 0.01, "0.3 0 0"), link("wheel", 1.0), joint("j", "base", "arm"),
                          joint("w", "base", "wheel", dynamics='damping="0.2"'), control(j=["position"], w=["velocity"])))
    assert main(["check", str(file)]) == 0
    text = capsys.readouterr().out
    line = next(line for line in text.splitlines() if "j.servo" in line and "N m/rad" in line)
    assert "N m s/rad" in line and "N m/(rad s)" in line and "kg m^2" in line and "an error of 0.001 rad under its weight" in line
    line = next(line for line in text.splitlines() if "w.servo" in line and "N m/rad" in line)
    assert "20 N m s/rad" in line and "an error of 1 % against its damping" in line
    assert main(["check", str(file), "--json"]) == 0
    drives = {row["joint"]: row for row in json.loads(capsys.readouterr().out)[0]["drives"]}
    assert drives["j"]["reason"] == "weight" and drives["w"]["kd"] == pytest.approx(20.0) and drives["w"]["kp"] is None
    assert not drives["j"]["on_ground"] and drives["j"]["effort_limit"] == 50.0


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler"])
def test_trial_P3_many_drives_at_their_limits_push_where_they_are_asked_to(integrator):
    """A chain of 12 links, whose stiff servos come to their limits together: each is within it, and at it only where its law asks for as
    much, which is a condition of complementarity. Otherwise they push against each other, and the chain whirls."""
    n, limit, target = 12, 100.0, 0.1
    names = [f"j{k}" for k in range(n)]
    chain = [joint(name, f"l{k}", f"l{k + 1}", axis="0 0 1" if k % 2 else "0 1 0", xyz="0.2 0 0", limit=f'effort="{limit}" velocity="10"')
             for k, name in enumerate(names)]
    model = mbros.load(robot(link("l0"), *(link(f"l{k + 1}", 0.5, 0.01, "0.1 0 0") for k in range(n)), *chain,
                             control(**{name: ["position"] for name in names})))
    sim = mbros.Simulator(model, integrator=integrator)
    sim.command(position=dict.fromkeys(names, target))
    servos = [sim.devices[f"{name}.servo"] for name in names]
    kp, kd, ki = (np.array([getattr(servo, word) for servo in servos]) for word in ("kp", "kd", "ki"))
    efforts, at_limit, integral = [sim.signals[f"{name}.servo.effort"] for name in names], 0, np.zeros(n)
    for _ in range(400):
        start = sim.state.q.copy()
        sim.step()
        effort = np.array([one.value for one in efforts])
        asked = kp * (target - sim.state.q) - kd * sim.state.v + integral
        limited = np.abs(effort) >= limit
        assert np.abs(effort).max() <= limit * (1 + 1e-12)
        assert (np.sign(asked[limited]) == np.sign(effort[limited])).all()
        grows = limited & (np.sign(effort) == np.sign(target - start))
        integral = np.where(grows, integral, np.clip(integral + 1e-3 * ki * (target - start), -limit, limit))
        at_limit += limited.sum()
    assert at_limit > 400 and np.abs(sim.state.v).max() < 5.0
