"""Benches in URDF: the mbros: elements say what bench files and classes say; every mistake has its line; <ros2_control> is read."""
import numpy as np
import pytest

import mbros
from mbros.bench.bench import layout

LINK = '<link name="{}"><inertial><origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" ' \
       'izz="0.01"/></inertial></link>'
JOINT = '<joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/><axis xyz="0 1 0"/>' \
        '<limit lower="-2" upper="2" effort="50" velocity="3"/></joint>'
ROBOT = "\n".join(['<robot name="r" xmlns:mbros="urn:mbros:urdf"><link name="l0"/>', *(LINK.format(f"l{k}") for k in (1, 2, 3)),
                   *(JOINT.format(k, k - 1) for k in (1, 2, 3)), "{}", "</robot>"])
FIRST = 1 + ROBOT[:ROBOT.index("{}")].count("\n")         # the line of what is put in

OWN = """<mbros:bench seed="7"/>
<mbros:actuator joint="j*" type="position_servo" kp="4e2" kd="20"/>
<mbros:sensor joint="j*" type="encoder" counts="4096" rate="500"/>
<mbros:sensor name="imu" type="imu" frame="l3" rate="200" gyro_noise_density="1.7e-4" accel_matrix="1 0 0 0 1 0 0 0 1"/>
<mbros:channel signal="j*.command.*" delay="0.002" jitter="5e-4" loss="0.01" reordering="true" distribution="normal"/>
<mbros:fault name="hangs" kind="frozen" signal="j*.encoder.*" at="0.05" duration="0.02"/>
<mbros:fault name="heavy" kind="load" frame="l3" mass="0.5" place="0 0 0.1" when="abs(j2.position) &gt; 0.01" held="0.003"/>
<mbros:source joint="j1" timeout="0.02" safe="hold"/>"""


def robot(text, **options):
    return mbros.load(ROBOT.format(text), **options)


def made():
    bench = mbros.Bench(seed=7)
    bench.add(mbros.PositionServo("*.servo", joint="j*", kp=400.0, kd=20.0))
    bench.add(mbros.Encoder("*.encoder", joint="j*", counts=4096, rate=500.0))
    bench.add(mbros.Imu("imu", frame="l3", rate=200.0, gyro_noise_density=1.7e-4))
    bench.add(mbros.Channel(signal="j*.command.*", delay=0.002, jitter=5e-4, loss=0.01, reordering=True, distribution="normal"))
    bench.add(mbros.Fault("hangs", "frozen", signal="j*.encoder.*", at=0.05, duration=0.02))
    bench.add(mbros.Fault("heavy", "load", frame="l3", mass=0.5, place=(0, 0, 0.1), when="abs(j2.position) > 0.01", held=0.003))
    bench.add(mbros.JointSource("j1", joint="j1", timeout=0.02, safe="hold"))
    return bench


def test_three_ways_say_the_same(tmp_path):
    yaml = tmp_path / "bench.yaml"
    yaml.write_text("""seed: 7
actuators:
  j*: {type: position_servo, kp: 400, kd: 20}
sensors:
  j*: {type: encoder, counts: 4096, rate: 500}
  imu: {type: imu, frame: l3, rate: 200, gyro_noise_density: 1.7e-4}
channels:
  - {signal: "j*.command.*", delay: 0.002, jitter: 5e-4, loss: 0.01, reordering: true, distribution: normal}
faults:
  - {name: hangs, kind: frozen, signal: "j*.encoder.*", at: 0.05, duration: 0.02}
  - {name: heavy, kind: load, frame: l3, mass: 0.5, place: [0, 0, 0.1], when: "abs(j2.position) > 0.01", held: 0.003}
sources:
  j1: {timeout: 0.02, safe: hold}
""")
    sims = [mbros.Simulator(robot(OWN)), mbros.Simulator(robot(""), bench=made())]
    try:
        import yaml as _                    # noqa: F401
        sims.append(mbros.Simulator(robot("", bench=yaml)))
    except ModuleNotFoundError:             # the other two are compared without it
        pass
    for sim in sims:
        sim.command(position={"j2": 0.3})
        sim.sources["j1"] = "locked"
        sim.advance_to(0.2)
        assert [fault.count for fault in sim.faults.values()] == [1, 1]
    assert len({sim.plant.devices.block.tobytes() for sim in sims}) == 1 and len(sims) >= 2


def test_false_leaves_it_out():
    assert robot(OWN, bench=False).description.bench is None and robot(OWN, bench=None).description.bench is None
    assert len(robot(OWN, bench=mbros.Bench()).description.bench.actuators) == 0


WRONG = [
    ('<mbros:actuator joint="j1" type="servo"/>', "there is no actuator 'servo'"),
    ('<mbros:actuator joint="j1"/>', "it has no type"),
    ('<mbros:actuator name="a" type="effort_actuator"/>', "'joint'"),
    ('<mbros:actuator joint="j1" type="position_servo"/>', "no kp and no bandwidth"),
    ('<mbros:actuator joint="j1" type="position_servo" kp="-2"/>', "kp is -2; expected"),
    ('<mbros:actuator joint="j1" type="position_servo" kp="1,5"/>', "has a comma"),
    ('<mbros:actuator joint="j1" type="position_servo" kp="1e999"/>', "larger than any double"),
    ('<mbros:actuator joint="j1" type="position_servo" kp="nan"/>', "kp is 'nan'"),
    ('<mbros:actuator joint="j1" type="position_servo" kp="high"/>', "kp is 'high'"),
    ('<mbros:actuator joint="j1" type="position_servo" kp=""/>', "kp="),
    ('<mbros:actuator joint="j1" type="position_servo" kpp="1" kp="1"/>', "it has no number 'kpp'; did you mean 'kp'?"),
    ('<mbros:actuator joint="j7" type="effort_actuator"/>', "there is no joint 'j7'"),
    ('<mbros:sensor name="i" type="imu" frame="hand"/>', "there is no frame 'hand'"),
    ('<mbros:sensor name="i" type="imu" frame="l3" gyro_matrix="1 2"/>', "Give 9 numbers"),
    ('<mbros:sensor name="i" type="imu" frame="l3"><param/></mbros:sensor>', "<param> is not allowed in it"),
    ('<mbros:sensor name="i" type="imu" frame="l3">text</mbros:sensor>', "there is text in it"),
    ('<mbros:channel signal="j1.command.*"/>', "it does nothing"),
    ('<mbros:channel signal="j1.command.*" losss="0.1"/>', "it has no 'losss'; did you mean 'loss'?"),
    ('<mbros:channel signal="a" jitter="1" distribution="cauchy"/>', "expected 'uniform', 'normal' or 'exponential'"),
    ('<mbros:sensor name="i" type="imu" frame="l3" rate="1 2"/>', "rate is [1.0, 2.0]"),
    ('<mbros:fault name="f" kind="frozn" signal="j1.encoder.*"/>', "did you mean 'frozen'?"),
    ('<mbros:fault kind="stuck" joint="j1"/>', "'name'"),
    ('<mbros:fault name="f" kind="stuck" joint="j1" when="j1.position"/>', "Write a signal, one of <"),
    ('<mbros:fault name="f" kind="offset" signal="j1.position" offset="1,5"/>', "has a comma"),
    ('<mbros:source timeout="0.1"/>', "'joint'"),
    ('<mbros:source joint="j1" safe="run"/>', "safe"),
    ('<mbros:source joint="j1" time_out="0.1"/>', "did you mean 'timeout'?"),
    ('<mbros:bench seed="-1"/>', "is no whole number"),
    ('<mbros:bench sede="1"/>', "attribute 'sede' is unknown"),
    ('<mbros:actuatr joint="j1" type="effort_actuator"/>', "did you mean <mbros:actuator>?"),
]


@pytest.mark.parametrize("text, reason", WRONG)
def test_every_mistake_has_its_line_and_a_remedy(text, reason):
    with pytest.raises(mbros.ModelError) as caught:
        robot("\n" + text)
    problem = caught.value.problems[0]
    assert reason in str(problem) and problem.line == FIRST + 1 and problem.remedy


def test_all_mistakes_come_at_once_and_two_of_a_name_are_one():
    text = '<mbros:sensor name="i" type="imu" frame="l3"/>\n<mbros:sensor name="i" type="imu" frame="l2"/>\n' \
           '<mbros:channel signal="x"/>\n<mbros:bench/><mbros:bench/>'
    with pytest.raises(mbros.ModelError) as caught:
        robot(text)
    assert [p.line - FIRST for p in caught.value.problems] == [1, 2, 3]


def test_a_signal_that_is_not_there_is_found_with_its_line():
    model = robot('\n<mbros:channel signal="j1.comand.position" loss="0.1"/>')
    with pytest.raises(mbros.ModelError) as caught:
        mbros.Simulator(model)
    assert caught.value.problems[0].line == FIRST + 1


# ------------------------------------------------------------------------------------------------------------------ <ros2_control>

CONTROL = """<ros2_control name="arm" type="system">
<hardware><plugin>mock_components/GenericSystem</plugin><param name="x">2</param></hardware>
<joint name="j1">
  <command_interface name="position"><param name="min">-1</param><param name="max">0.5</param></command_interface>
  <command_interface name="velocity"/>
  <state_interface name="position"><param name="initial_value">0.25</param></state_interface>
  <state_interface name="velocity"/>
</joint>
<joint name="j2"><command_interface name="velocity"/><state_interface name="effort"/></joint>
<joint name="j3"><command_interface name="effort"/><command_interface name="gain"/><state_interface name="temperature"/></joint>
<sensor name="imu"><state_interface name="orientation.x"/><state_interface name="angular_velocity.x"/>
<param name="frame_id">l3</param></sensor>
<gpio name="io"><command_interface name="vacuum"/></gpio>
</ros2_control>"""


def test_ros2_control_becomes_a_bench():
    model = robot(CONTROL)
    bench = model.description.bench
    assert [(type(d).__name__, d.name) for d in bench.actuators] == [
        ("PositionServo", "j1.servo"), ("CommandLimits", "j1.limits"), ("VelocityServo", "j2.servo"), ("CommandLimits", "j2.limits"),
        ("EffortActuator", "j3.drive")]
    assert [(type(d).__name__, d.name) for d in bench.sensors] == [("Encoder", "j1.encoder"), ("TorqueSensor", "j2.torque"), ("Imu", "imu")]
    assert bench.actuators[0].source.line == FIRST + 2 and bench.sensors[2].frame == "l3"
    assert np.array_equal(model.default_state().q, [0.25, 0.0, 0.0])
    layout(model, bench, 1e-3)


def test_commands_are_clamped_to_min_and_max():
    sim = mbros.Simulator(robot(CONTROL))
    sim.command(position={"j1": 3.0})
    sim.step()
    signal = sim.signals["j1.command.position"]
    assert (signal.sent, signal.value) == (3.0, 0.5)
    assert sim.signals["j1.limits.position"].value == pytest.approx(0.25 + 1e-3 * float(sim.model.joint("j1").limits.velocity.upper[0]))
    for off in ('<limits enable="false"/>', None):
        text = CONTROL.replace("<command_interface name=\"velocity\"/>\n", f'<command_interface name="velocity"/>{off}\n') if off else \
            CONTROL.replace('<param name="max">0.5</param>', '<param name="max">0.5</param><limits enable="false"/>')
        free = mbros.Simulator(robot(text))
        free.command(position={"j1": 3.0})
        free.step()
        assert free.signals["j1.command.position"].value == 3.0


def test_its_servos_are_of_ten_hertz_and_as_stiff_as_their_load_asks():
    """J and the weight by the mass matrix and gravity at the positions that most of the joints' ranges come near."""
    model = robot(CONTROL)
    state, rng = model.default_state(), np.random.default_rng(3)
    J = W = np.zeros(3)
    for _ in range(300):
        state.q[:] = rng.uniform(-2.0, 2.0, 3)
        J = np.maximum(J, np.diag(model.mass_matrix(state)))
        W = np.maximum(W, np.abs(model.gravity_torques(state)))
    sim = mbros.Simulator(model)
    w, first, second = 2.0 * np.pi * 10.0, sim.devices["j1.servo"], sim.devices["j2.servo"]
    assert first.kp == pytest.approx(W[0] / 1e-3, rel=0.1) and first.kp > J[0] * w * w and first.kd == pytest.approx(2.0 * first.kp / w)
    assert second.kd == pytest.approx(W[1] / 5e-3, rel=0.1) and second.ki == pytest.approx(second.kd * w / 16.0)
    assert first.effort_limit == 50.0


def test_what_is_not_used_is_said_once():
    notes = [str(note) for note in robot(CONTROL + CONTROL.replace('name="arm"', 'name="again"')).description.notes]
    for text in ("simulation takes the hardware's place (2 times", "a command of 'gain' (2 times", "a state of 'temperature'",
                 "a state of 'orientation.x'", "ports are not simulated", "made a bench of it"):
        assert sum(text in note for note in notes) == 1, text


NOTED = [
    ('<joint name="j9"/>', "there is no joint 'j9'"),
    ('<joint/>', "there is no joint ''"),
    ('<joint name="j1"><param name="mimic">j9</param></joint>', "mimic: there is no joint 'j9'"),
    ('<joint name="j1"><command_interface name="position"><param name="max">x</param></command_interface></joint>', "'x' is not a number"),
    ('<joint name="j1"><state_interface name="velocity"><param name="initial_value">1</param></state_interface></joint>', "starts at rest"),
    ('<joint name="j1"><state_interface name="position"><param name="initial_value">5</param></state_interface></joint>',
     "initial_value 5 of joint 'j1' is beyond its limits -2 to 2"),
    ('<joint name="j1"><param name="mimic">j1</param></joint>', "mimic: joint 'j1' follows 'j1'"),
    ('<joint name="j1"><param name="mimic">j2</param></joint><joint name="j2"><param name="mimic">j1</param></joint>', "follows 'j2'"),
    ('<sensor name="hand"><state_interface name="angular_velocity.z"/></sensor>', "no link, frame or joint 'hand' for it"),
    ('<transmission name="t"/>', "joints are driven directly"),
    ('<jiont name="j1"/>', "unknown element"),
    ('', "it names nothing that is simulated"),
]


@pytest.mark.parametrize("text, reason", NOTED)
def test_what_is_wrong_with_it_does_not_stop_the_robot(text, reason):
    """A file that was good for a model stays so."""
    model = robot(f'<ros2_control name="c" type="system">{text}</ros2_control>')
    notes = [note for note in model.description.notes if reason in note.reason]
    assert len(notes) == 1 and notes[0].line == FIRST
    mbros.Simulator(model).step()


def test_bounds_that_are_swapped_are_a_problem():
    with pytest.raises(mbros.ModelError, match="Swap min and max"):
        robot(CONTROL.replace(">0.5<", ">-2<"))


def test_a_name_that_is_taken_is_a_problem_with_its_line():
    with pytest.raises(mbros.ModelError) as caught:
        robot('<mbros:sensor name="j1.encoder" type="imu" frame="l3"/>\n' + CONTROL)
    assert "already taken" in str(caught.value) and caught.value.problems[0].line == FIRST + 3


def test_followers():
    old = '<ros2_control name="c" type="system"><joint name="j1"><command_interface name="position"/></joint><joint name="j2">' \
          '<param name="mimic">j1</param><param name="multiplier">-2</param><command_interface name="position"/>' \
          '<state_interface name="position"/></joint></ros2_control>'
    model = robot(old)
    assert model.joint("j2").mimic == ("j1", -2.0, 0.0) and {d.joint for d in model.description.bench.actuators} == {"j1"}
    assert any("follows 'j1', which is the one to command" in note.reason for note in model.description.notes)
    mbros.Simulator(model).step()
    follows = ROBOT.replace('<child link="l2"/>', '<child link="l2"/><mimic joint="j1"/>').format(
        '<ros2_control name="c" type="system"><joint name="j2" mimic="{}"><command_interface name="position"/></joint></ros2_control>')
    assert mbros.load(follows.format("false")).joint("j2").mimic is None
    assert mbros.load(follows.format("true")).joint("j2").mimic == ("j1", 1.0, 0.0)


def test_own_elements_come_before_it():
    own = '<mbros:actuator name="mine" joint="j[12]" type="effort_actuator"/><mbros:sensor joint="j1" type="encoder" counts="8"/>'
    bench = robot(own.replace('name="mine"', "") + CONTROL).description.bench
    assert [d.joint for d in bench.actuators] == ["j[12]", "j3"] and [d.joint for d in bench.sensors if d.type == "encoder"] == ["j1"]
    start = ROBOT.replace('<child link="l1"/>', '<child link="l1"/><mbros:default q="-0.5"/>').format(CONTROL)
    assert mbros.load(start).default_state().q[0] == -0.5


def test_a_sensor_may_be_named_after_its_link_or_joint():
    for at in ("l2", "j2"):
        inside = f'<sensor name="{at}"><state_interface name="linear_acceleration.z"/></sensor>'
        text = f'<ros2_control name="c" type="sensor">{inside}</ros2_control>'
        assert robot(text).description.bench.sensors[0].frame == "l2"


@pytest.mark.parametrize(("sensor", "link"), [("imu_of_arm", "l3"), ("l2", "l2")])
def test_trial_R23_a_sensor_stands_where_gazebo_has_it(sensor, link):
    """The name of the sensor is what <ros2_control> and <gazebo reference> share; a link of its own name comes first."""
    model = robot(f"<gazebo reference='l3'><sensor name='{sensor}' type='imu'/></gazebo><ros2_control name='c' type='system'>"
                  f"<sensor name='{sensor}'><state_interface name='angular_velocity.x'/></sensor></ros2_control>")
    (found,) = [device for device in model.description.bench.sensors if device.type == "imu"]
    assert found.frame == link


@pytest.mark.parametrize("name", ["${prefix}l1", "$(arg side)_l1"])
def test_trial_R23_a_name_that_xacro_was_to_make_is_refused(name):
    text = f"<robot name='r'><link name='base'/><link name='{name}'/><joint name='j' type='fixed'><parent link='base'/>" \
           f"<child link='{name}'/></joint></robot>"
    with pytest.raises(mbros.ModelError, match="has a xacro expression in it") as refused:
        mbros.load(text)
    assert "line 1" in str(refused.value) or ":1" in str(refused.value)
