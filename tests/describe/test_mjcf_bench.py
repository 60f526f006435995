"""Actuators, sensors and keyframes of MJCF: as the bench and the named positions of the model. Forces against MuJoCo's qfrc_actuator."""
import numpy as np
import pytest

import mbros
from tests.mjcf_peer import both, mujoco

CHAIN = "".join(f'<body name="b{k}" pos=".3 0 0"><joint name="j{k}" axis="0 1 0" armature=".1" range="-120 150"/><geom type="box" size=".1 '
                '.1 .1"/>' for k in range(3))
TIP = '<site name="tip" pos=".1 0 0"/>'


def text(actuator="", before="", after="", extra=""):
    return (f'<mujoco>{before}<worldbody>{CHAIN}{TIP}{extra}{"</body>" * 3}</worldbody>{after}<actuator>{actuator}</actuator></mujoco>')


SERVO = ('<default><default class="s"><general biastype="affine" gainprm="20" biasprm="0 -20 -2"/></default>'
         '<position kp="33" kv="3"/></default>')
# what is written, what is commanded of joint j0 for an input u, and the defaults
LAWS = {
    "motor": ('<motor joint="j0" gear="3"/>', "effort", lambda u: 3.0 * u, ""),
    "general": ('<general joint="j0" gear="-3" gainprm="2"/>', "effort", lambda u: -6.0 * u, ""),
    "general with an offset": ('<general joint="j0" gainprm="2" biastype="affine" biasprm="5"/>', "effort", lambda u: 2.0 * u + 5.0, ""),
    "position": ('<position joint="j0" kp="50" kv="5" gear="2"/>', "position", lambda u: u / 2.0, ""),
    "position of a class": ('<position joint="j0"/>', "position", lambda u: u, SERVO),
    "position with a ratio": ('<position joint="j0" kp="50" dampratio=".7" gear="-2"/>', "position", lambda u: u / -2.0, ""),
    "general of a class": ('<general class="s" joint="j0" gainprm=".5"/>', "position", lambda u: 0.5 * u / 20.0, SERVO),
    "motor beside a class": ('<motor joint="j0"/>', "effort", lambda u: u, SERVO),
    "velocity": ('<velocity joint="j0" kv="4" gear="2"/>', "velocity", lambda u: u / 2.0, ""),
    "damper": ('<damper joint="j0" kv="4" gear="2" ctrlrange="0 2"/>', "damping", lambda u: 16.0 * u, ""),
    "limited force": ('<position joint="j0" kp="500" gear="2" forcerange="-7 7"/>', "position", lambda u: u / 2.0, ""),
    "limited input": ('<motor joint="j0" gear="2" ctrlrange="-.2 .3"/>', "effort", lambda u: np.clip(2.0 * u, -0.4, 0.6), ""),
    "limited both": ('<general joint="j0" gainprm="2" gear="-2" ctrlrange="-.2 .3" forcerange="-.1 1"/>', "effort",
                     lambda u: -2.0 * np.clip(2.0 * np.clip(u, -0.2, 0.3), -0.1, 1.0), ""),
    "a tendon": ('<position tendon="t" kp="30" kv="2"/>', "position", lambda u: (u + 2.0 * 0.1) / -3.5, ""),
}
TENDON = ('<equality><joint joint1="j1" joint2="j0" polycoef=".1 2"/></equality>'
          '<tendon><fixed name="t"><joint joint="j0" coef=".5"/><joint joint="j1" coef="-2"/></fixed></tendon>')


@pytest.mark.parametrize("name", LAWS)
def test_actuators_exert_what_those_of_mujoco_do(name):
    actuator, command, of, before = LAWS[name]
    ours, theirs = both(text(actuator, before, TENDON))
    data, rng = mujoco.MjData(theirs), np.random.default_rng(4)
    (device,) = ours.description.bench.actuators
    for _ in range(5):
        q, v, u = rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3), rng.uniform(0.0, 1.0)
        if name == "a tendon":
            q[1], v[1] = 0.1 + 2.0 * q[0], 2.0 * v[0]
        data.qpos[:], data.qvel[:], data.ctrl[0] = q, v, u
        mujoco.mj_forward(theirs, data)
        expected = data.qfrc_actuator[0] + (2.0 * data.qfrc_actuator[1] if name == "a tendon" else 0.0)
        assert device.joint == "j0"
        values = {word: float(device.values[word][0]) for word in ("kp", "kd") if word in device.values}
        r = {command: of(u)}
        effort = values.get("kp", 0.0) * (r.get("position", 0.0) - q[0]) * ("position" in r) + values.get("kd", 0.0) * (r.get("velocity",
            0.0) - v[0]) \
            + r.get("effort", 0.0) - r.get("damping", 0.0) * v[0]
        limit = float(device.values["effort_limit"][0])
        assert np.clip(effort, -limit, limit) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in LAWS if name != "a tendon"])
def test_and_do_so_while_they_run(name):
    """In a short step: servos are implicit here."""
    actuator, command, of, before = LAWS[name]
    ours, theirs = both(text(actuator, before))
    data, q, v, u = mujoco.MjData(theirs), np.array([0.3, -0.4, 0.5]), np.array([0.6, 0.7, -0.8]), 0.9
    data.qpos[:], data.qvel[:], data.ctrl[0] = q, v, u
    mujoco.mj_forward(theirs, data)
    sim = mbros.Simulator(ours, dt=1e-8)
    sim.state.set(q, v)
    sim.command(**{command: {"j0": 2.0 * u if name == "limited input" else float(of(u))}})
    sim.step()
    (device,) = ours.description.bench.actuators
    assert sim.signals[f"{device.name}.effort"].value == pytest.approx(data.qfrc_actuator[0], rel=1e-5, abs=1e-9)


def test_position_velocity_and_effort_of_a_joint_are_one_servo():
    ours = mbros.load(text('<position name="p" joint="j0" kp="30"/><velocity name="v" joint="j0" kv="4"/><motor name="m" '
                           'joint="j0"/><motor joint="j1"/>'
                           '<motor name="again" joint="j1"/>'))
    first, second = ours.description.bench.actuators
    assert (first.values["kp"][0], first.values["kd"][0], second.name) == (30.0, 4.0, "j1.drive")
    assert any("'again'" in str(note) and "one actuator acts on a joint" in str(note) for note in ours.description.notes)
    mbros.Simulator(ours).command(position={"j0": 1.0}, velocity={"j0": 0.1}, effort={"j0": 2.0, "j1": 1.0})


@pytest.mark.parametrize("words", ['motorconst=".05" resistance="2"', 'nominal="24 3 500"', 'motorconst=".04 .06" resistance="2" '
                                                                                            'saturation="0 1"'])
@pytest.mark.parametrize("gear", [3.0, -3.0])
def test_dc_motors(words, gear):
    ours, theirs = both(text(f'<dcmotor name="m" joint="j0" {words} gear="{gear}" ctrlrange="-24 24"/>'))
    data, q, v = mujoco.MjData(theirs), np.array([0.3, -0.4, 0.5]), np.array([0.6, 0.7, -0.8])
    data.qpos[:], data.qvel[:], data.ctrl[0] = q, v, 9.0
    mujoco.mj_forward(theirs, data)
    sim = mbros.Simulator(ours, dt=1e-8)
    sim.state.set(q, v)
    sim.command(voltage={"j0": np.sign(gear) * 9.0})
    sim.step()
    assert sim.signals["m.effort"].value == pytest.approx(data.qfrc_actuator[0], rel=1e-5)


def test_integrated_velocity():
    ours = mbros.load(text('<intvelocity name="i" joint="j0" kp="30" kv="4" gear="2" actrange="-1 1"/>'))
    (device,) = ours.description.bench.actuators
    assert (device.values["kd"][0], device.values["ki"][0]) == (16.0, 120.0)
    assert "actrange is not used" in "".join(map(str, ours.description.notes))


@pytest.mark.parametrize("actuator", ['<muscle joint="j0"/>', '<adhesion body="b0"/>', '<cylinder joint="j0"/>', '<general site="tip"/>',
                                      '<general joint="j0" biastype="affine" biasprm="0 5 0"/>', '<motor tendon="t"/>'])
def test_what_the_bench_has_not_is_said(actuator):
    ours = mbros.load(text(actuator, after='<tendon><fixed name="t"><joint joint="j0"/><joint joint="j1"/></fixed></tendon>'))
    assert ours.description.bench is None
    (note,) = [note for note in ours.description.notes if "not used" in note.reason]
    assert note.line == 1 and "not used" in note.reason


def test_armature_and_damping_of_actuators():
    ours, theirs = both(text('<motor joint="j0" gear="3" armature=".2" damping=".5"/>'))
    (joint, *_) = ours.description.joints
    assert joint.rotor_inertia[0] == pytest.approx(theirs.dof_armature[0] + 9.0 * 0.2) and joint.damping[0] == 4.5


def test_sensors():
    sensors = ('<sensor><gyro name="g" site="tip"/><accelerometer name="a" site="tip"/><framequat objtype="site" objname="tip"/><force '
               'site="tip"/>'
               '<torque name="t" site="tip"/><jointpos joint="j0"/><jointvel joint="j0"/><jointactuatorfrc joint="j1"/><framepos '
               'objtype="xbody" objname="b1"/>'
               '<magnetometer site="tip"/><rangefinder site="tip"/></sensor>')
    ours, theirs = both(text(after=sensors))
    assert {sensor.name: type(sensor).__name__ for sensor in ours.description.bench.sensors} == {
        "tip.imu": "Imu", "tip.force_torque": "ForceTorque", "j0.encoder": "Encoder", "j1.torque": "TorqueSensor",
        "b1.pose": "GroundTruthPose"}
    assert sum("no such sensor" in note.reason for note in ours.description.notes) == 2
    data = mujoco.MjData(theirs)
    q, v = np.array([0.3, -0.4, 0.5]), np.array([0.6, 0.7, -0.8])
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(theirs, data)
    sim = mbros.Simulator(ours, dt=1e-6)
    sim.state.set(q, v)
    for _ in range(4):
        sim.step()
    gyro, accelerometer, orientation, force, torque = (np.asarray(sim.signals[name].value) for name in (
        "tip.imu.angular_velocity", "tip.imu.linear_acceleration", "tip.imu.orientation", "tip.force_torque.force",
        "tip.force_torque.torque"))
    assert np.allclose(gyro, data.sensordata[:3], atol=1e-4) and np.allclose(accelerometer, data.sensordata[3:6], rtol=1e-3, atol=1e-2)
    assert np.allclose(abs(np.roll(orientation, 1) @ data.sensordata[6:10]), 1.0)
    assert np.allclose(force, data.sensordata[10:13], rtol=1e-3, atol=1e-2) and np.allclose(torque, data.sensordata[13:16], rtol=1e-3,
                                                                                            atol=1e-2)


def test_keyframes():
    keys = '<keyframe><key name="home" qpos=".1 .2 .3"/><key qpos="1 2 3" ctrl="1" time="3"/></keyframe>'
    ours, theirs = both(text('<motor joint="j0"/>', after=keys))
    assert list(ours.keyframes) == ["home", "key1"]
    assert np.array_equal(ours.keyframes["home"], theirs.key_qpos[0]) and np.array_equal(ours.keyframes["key1"], theirs.key_qpos[1])
    assert not ours.keyframes["home"].flags.writeable
    with pytest.raises(mbros.UnknownNameError, match="did you mean 'home'"):
        ours.keyframes["hom"]
    assert "ctrl is not used" in "".join(map(str, ours.description.notes))
    with pytest.raises(mbros.ModelError, match="qpos has 2 numbers"):
        mbros.load(text(after='<keyframe><key qpos="1 2"/></keyframe>'))
    b = mbros.ModelBuilder("two")
    b.add_robot(ours, "left")
    assert np.array_equal(b.build().keyframes["left/home"], ours.keyframes["home"])


def test_group_states_of_an_srdf_are_keyframes(tmp_path):
    path = tmp_path / "arm.srdf"
    path.write_text('<robot name="arm"><group_state name="ready" group="arm"><joint name="joint2" value="0.5"/></group_state>'
                    '<group_state name="ready" group="wrist"><joint name="joint6" value="-0.25"/><joint name="joint66" '
                    'value="1"/></group_state></robot>')
    ours = mbros.load("arm7", srdf=path)
    expected = ours.default_state().q.copy()
    expected[[ours.joint("joint2").q_slice.start, ours.joint("joint6").q_slice.start]] = 0.5, -0.25
    assert np.array_equal(ours.keyframes["ready"], expected)
    assert any("no joint 'joint66'" in note.reason for note in ours.description.notes)

