"""Bench files: the same as the classes, and every mistake with its line."""
import pytest

import mbros
from mbros.describe.devices.actuators import ACTUATOR_CLASSES
from mbros.describe.devices.sensors import SENSOR_CLASSES
from mbros.bench.bench import layout

FILE = """\
# a bench
seed: 7
actuators:
  joint*: {type: position_servo, kp: 4e2, kd: 20}
sensors:
  joint*: {type: encoder, counts: 4096}
  imu:
    type: imu
    frame: flange
    rate: 200
    gyro_noise_density: 1.7e-4
    accel_matrix: [1, 0, 0, 0, 1, 0, 0, 0, 1]
channels:
  - {signal: "joint*.command.*", delay: 0.002, jitter: 5e-4, loss: 0.01, reordering: true}
  - {name: second, signal: imu.*, delay: 1e-3, distribution: normal, jitter: 1e-4}
"""

pytest.importorskip("yaml", reason="needs PyYAML")


def written(tmp_path, text):
    path = tmp_path / "bench.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_says_what_the_classes_say(tmp_path):
    made = mbros.Bench(seed=7)
    made.add(mbros.PositionServo("*.servo", joint="joint*", kp=400.0, kd=20.0))
    made.add(mbros.Encoder("*.encoder", joint="joint*", counts=4096))
    made.add(mbros.Imu("imu", frame="flange", rate=200.0, gyro_noise_density=1.7e-4))
    made.add(mbros.Channel(signal="joint*.command.*", delay=0.002, jitter=5e-4, loss=0.01, reordering=True))
    made.add(mbros.Channel("second", signal="imu.*", delay=1e-3, jitter=1e-4, distribution="normal"))
    model = mbros.load("arm7")
    path = written(tmp_path, FILE)
    sims = [mbros.Simulator(model, bench=b) for b in (made, mbros.Bench.load(path), str(path))]
    for sim in sims:
        sim.command(position={"joint2": 0.3})
        sim.advance_to(0.2)
    blocks = [sim.plant.devices.block.tobytes() for sim in sims]
    assert blocks[0] == blocks[1] == blocks[2]


WRONG = [
    ("sede: 7\n", 1, "a bench file has no such part; did you mean 'seed'?"),
    ("seed: -1\n", 1, ":1: seed: expected a whole number"),
    ("channels:\n  - {name: b, signal: a, seed: -1}\n", 2, ":2: channel 'b': seed: expected a whole number"),
    ("seed: x\n", 1, "expected a whole number"),
    ("actuators:\n  j: {type: servo}\n", 2, "there is no actuator 'servo'"),
    ("actuators:\n  j: {kp: 1}\n", 2, "it has no type"),
    ("actuators:\n  j:\n    type: position_servo\n", 3, "it has no kp and no bandwidth"),
    ("actuators:\n\n  j: {type: position_servo, kp: high}\n", 3, "kp is 'high'"),
    ("actuators:\n  j: {type: position_servo, kp: -2}\n", 2, "kp is -2; expected"),
    ("actuators:\n  j: {type: position_servo, kp: 1, kf: 2}\n", 2, "it has no number 'kf'"),
    ("actuators:\n  j: {type: position_servo, kp: {a: 1}}\n", 2, "kp is a mapping"),
    ("actuators: 3\n", 1, "it is no mapping"),
    ("actuators:\n  j: {type: effort_actuator}\n  j: {type: effort_actuator}\n", 3, "this name is there already"),
    ("sensors:\n  i: {type: imu}\n", 2, "'frame'"),
    ("channels: {a: 1}\n", 1, "it is no list"),
    ("channels:\n  - {signal: a}\n", 2, "it does nothing"),
    ("channels:\n  - {signal: a, loss: 0.1}\n  - {signal: a, loss: 0.2}\n", 3, "this name is already taken"),
    ("channels:\n  - 3\n", 2, "it is no mapping"),
    ("a: [1\nb: 2\n", 2, "it is no YAML"),
    ("- 1\n", 1, "it is no mapping"),
]


@pytest.mark.parametrize("text, line, reason", WRONG)
def test_every_mistake_has_its_line(tmp_path, text, line, reason):
    path = written(tmp_path, text)
    with pytest.raises(mbros.ModelError) as caught:
        mbros.Bench.load(path)
    problem = caught.value.problems[0]
    assert (problem.file, problem.line) == (str(path), line) and reason in str(problem)


def test_all_mistakes_are_reported_at_once_and_those_of_a_robot_point_into_the_file(tmp_path):
    path = written(tmp_path, "seed: x\nactuators:\n  a: {type: nothing}\n  b: {type: motor}\n")
    with pytest.raises(mbros.ModelError) as caught:
        mbros.Bench.load(path)
    assert [problem.line for problem in caught.value.problems] == [1, 3, 4]
    path = written(tmp_path, "sensors:\n  imu: {type: imu, frame: nowhere}\n  elbow: {type: encoder}\n")
    with pytest.raises(mbros.ModelError) as caught:
        layout(mbros.load("arm7"), mbros.Bench.load(path), 1e-3)
    assert [problem.line for problem in caught.value.problems] == [2, 3]


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "nothing.yaml", tmp_path):
        with pytest.raises(mbros.MbrosError, match="cannot be read"):
            mbros.Bench.load(path)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(mbros.MbrosError, match="cannot be read"):
        mbros.Bench.load(tmp_path / "bytes.yaml")
    with pytest.raises(mbros.MbrosError):
        mbros.Bench.load(written(tmp_path, "[" * 5000))
    assert mbros.Bench.load(written(tmp_path, "")).actuators == []


def test_every_type_can_be_written_in_a_file(tmp_path):
    """All classes, each with what it must be given, and several actuators on a joint."""
    path = tmp_path / "all.yaml"
    path.write_text("""
actuators:
  joint1: {type: effort_actuator}
  joint2: {type: position_servo, kp: 100}
  third: {type: velocity_servo, joint: joint3, kd: 10}
  fourth: {type: impedance_servo, joint: joint4, kp: 100, kd: 10}
  joint5: {type: motor, resistance: 1, torque_constant: 0.05, voltage_limit: 24, current_limit: 3,
           rotor_inertia: 1e-5, stiffness: 1e3, backlash: 1e-3}
  sixth: {type: brushless_motor, joint: joint6, line_resistance: 1,
          speed_constant: 200, pole_pairs: 7, voltage_limit: 24, current_limit_rms: 3}
  joint7: {type: series_elastic, stiffness: 300, motor_inertia: 0.1, kp: 100, kd: 2}
  "*.brake": {type: brake, joint: "joint[23]", holding_effort: 50}
  "*.limits": {type: command_limits, joint: joint*, margin: 0.05}
sensors:
  joint*: {type: encoder}
  "*.torque": {type: torque, joint: joint1}
  imu: {type: imu, frame: flange}
  wrist: {type: force_torque, frame: flange, rate: 100, latency: 0.002}
  elbow: {type: force_torque, joint: joint4}
  odom: {type: wheel_odometry, left: joint1, right: joint2, radius: 0.1, separation: 0.4}
  hand: {type: ground_truth_pose, frame: flange}
""", encoding="utf-8")
    sim = mbros.Simulator(mbros.load("arm7"), bench=path)
    sim.advance_to(0.1)
    assert {type(device) for device in mbros.Bench.load(path).actuators} == set(ACTUATOR_CLASSES)
    assert {type(device) for device in mbros.Bench.load(path).sensors} == set(SENSOR_CLASSES) - {mbros.ContactSwitch}
    assert sim.signals["joint2.brake.holding"].value == 1.0 and sim.signals["wrist.force"].size == 3
    assert sim.signals["joint5.motor.deflection"].unit == "rad" and sim.signals["joint7.sea.motor_position"].unit == "rad"
    path.write_text("sensors:\n  bumper: {type: contact_switch, body: caster, threshold: 1}\n", encoding="utf-8")
    sim = mbros.Simulator(mbros.load("diff_drive", ground=True), bench=path)
    sim.advance_to(1.0)
    assert sim.signals["bumper.closed"].value == 1.0
