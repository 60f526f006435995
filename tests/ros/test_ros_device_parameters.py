"""The numbers of a bench's devices as parameters of the node: the names and refusals of Python, between two steps, recorded and saved."""
import math

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")

import mbros  # noqa: E402

BENCH = """
seed: 5
actuators:
  joint[1-4]: {type: position_servo, kp: 200, kd: 20, ki: 50}
  joint7: {type: motor, resistance: 1, torque_constant: 0.05, gear_ratio: 50, voltage_limit: 24, current_limit: 3, derate_from: 100,
           cut_off: 120}
  joint6: {type: effort_actuator, torque_speed_curve: [[0, 10], [20, 10], [60, 2]]}
sensors:
  joint*: {type: encoder, counts: 4096}
  wrist.imu: {type: imu, frame: flange, rate: 400, gyro_noise_density: 2.0e-3}
channels:
  - {name: bus, signal: "joint*.command.*", delay: 0.002, jitter: 1.0e-3, distribution: normal}
sources:
  joint5: {timeout: 0.02, safe: hold, blend: 0.05}
faults:
  - {name: hangs, kind: offset, signal: "joint[23].encoder.*", offset: 0.1, when: "joint2.position > 5.0", duration: 0.01}
  - {name: dry bearing, kind: friction, joint: joint4, coulomb: 2.0}
"""
GAIN, BUS = "device.joint2.servo.kp", "device.bus.distribution"

pytestmark = pytest.mark.usefixtures("plugin_nodes_ended")


@pytest.fixture
def file(tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "live_bench.yaml"           # the same for all: one node serves
    path.write_text(BENCH)
    return str(path)


@pytest.fixture
def robot(executor, mbros_node, file):
    return mbros_node("arm7", bench=file)


def put(robot, **values):
    """As ~/set_parameters_atomically does; "" or why not. `__` stands for a dot."""
    from rclpy.parameter import Parameter

    given = [Parameter(name.replace("__", "."), value=value) for name, value in values.items()]
    return robot.sim.node.set_parameters_atomically(given).reason


def at(robot, name):
    value = robot.sim.node.get_parameter(name).value
    return value if isinstance(value, (str, bool, float)) else list(value)


def command(robot, **positions):
    from mbros_msgs.srv import Step
    from sensor_msgs.msg import JointState

    robot.sim.services.steps.step(Step.Request(steps=1, command=JointState(name=list(positions), position=list(positions.values()))))


def test_every_number_is_a_parameter_with_what_python_says_of_it(robot, file):
    sim = mbros.Simulator(mbros.load("arm7"), bench=file)
    node = robot.sim.node
    for kind, table, n in (("device", sim.devices, 80), ("fault", sim.faults, 8)):
        mine = {name for name in node.list_parameters([], 0).names if name.startswith(f"{kind}.")}
        assert mine == {f"{kind}.{name}" for name in table.parameter_names} and len(mine) > n
        for name in mine:
            assert np.array_equal(at(robot, name), np.ravel(table.parameter(name.removeprefix(f"{kind}."))) if name.endswith("_curve") else
                                  table.parameter(name.removeprefix(f"{kind}."))), name
    described = node.describe_parameter(GAIN)
    assert described.description.endswith("[N m/rad or N/m]") and described.additional_constraints == "a finite number, 0 or more"
    assert not described.read_only
    assert at(robot, BUS) == "normal" and at(robot, "device.bus.reordering") is False
    assert at(robot, "device.joint5.interface.safe") == "hold"
    assert (at(robot, "fault.hangs.threshold"), at(robot, "fault.dry bearing.duration")) == (5.0, math.inf)
    assert node.describe_parameter("fault.dry bearing.coulomb").description.endswith("[N m or N]")


def test_numbers_of_faults_and_devices_are_in_force_in_one_step(robot, file):
    """Refused as in Python, all or none; what is in force is what a simulator that was told the same has."""
    devices, faults = {"joint2.servo.kp": 99.0}, {"hangs.threshold": 0.001, "hangs.offset": 0.2, "dry bearing.viscous": 3.0}
    given = {f"device.{name}": x for name, x in devices.items()} | {f"fault.{name}": x for name, x in faults.items()}
    block = robot.sim.robot.bench.devices._numbers().tobytes()
    for name, bad, reason in (("fault.hangs.threshold", math.nan, "threshold is nan"), ("fault.hangs.offset", 0.0, "it does nothing"),
                              ("fault.dry bearing.duration", 0.0, "duration is 0")):
        assert reason in put(robot, **{**given, name: bad}) and robot.sim.robot.bench.devices._numbers().tobytes() == block
    assert put(robot, **given) == "" and at(robot, "fault.hangs.offset") == 0.2
    sim = mbros.Simulator(mbros.load("arm7"), bench=file)
    sim.devices.set_parameters(devices)
    sim.faults.set_parameters(faults)
    command(robot, joint2=0.3)
    sim.command(position={"joint2": 0.3})
    sim.step()
    robot.step(50)
    sim.plant.steps(np.zeros(7), 50)
    start, n = robot.sim.robot.plant.layout["q"]
    assert np.array_equal(robot.sim.loop.snapshot()[1][start:start + n], sim.state.q) and sim.faults["hangs"].count == 1


def test_another_gain_goes_as_if_it_had_always_been_there(robot, file):
    """To the bit, from the step after the change on."""
    sim = mbros.Simulator(mbros.load("arm7"), bench=file)
    sim.devices.set_parameters({"joint2.servo.kp": 99.0, "bus.delay": 1e-3, "joint7.motor.resistance": 2.0})
    assert put(robot, device__joint2__servo__kp=99, device__bus__delay=1e-3, device__joint7__motor__resistance=2.0) == ""
    assert at(robot, GAIN) == 99.0
    command(robot, joint2=0.3)
    sim.command(position={"joint2": 0.3})
    sim.step()
    robot.step(50)
    sim.plant.steps(np.zeros(7), 50)
    start, n = robot.sim.robot.plant.layout["q"]
    assert np.array_equal(robot.sim.loop.snapshot()[1][start:start + n], sim.state.q)


REFUSED = [
    ("device__joint2__servo__kp", -1.0, "kp is -1; expected a finite number, 0 or more"),
    ("device__joint2__servo__kp", math.nan, "kp is nan"),
    ("device__joint2__servo__kp", math.inf, "kp is inf"),
    ("device__joint2__servo__kp", "high", "device.joint2.servo.kp must be a number, got 'high'"),
    ("device__joint2__servo__kp", True, "device.joint2.servo.kp must be a number, got True"),
    ("device__joint7__motor__cut_off", 90.0, "cut_off 90 is not above derate_from 100"),
    ("device__bus__distribution", "cauchy", "expected 'uniform', 'normal' or 'exponential'"),
    ("device__bus__delay", 0.1, "need room for"),
    ("device__bus__reordering", 1.0, "device.bus.reordering must be true or false, got 1.0"),
    ("device__joint5__interface__safe", "run", "expected 'lock', 'sim' or 'hold'"),
    ("device__wrist__imu__gyro_matrix", [1.0, 2.0], "must have 9 numbers, got 2"),
    ("device__wrist__imu__gyro_matrix", [math.nan] * 9, "gyro_matrix is nan"),
    ("device__joint6__drive__torque_speed_curve", [0.0, 10.0, 20.0, 11.0], "rises, from the effort 10 to 11 at the speed 20"),
    ("device__joint6__drive__torque_speed_curve", [0.0, 10.0, 20.0], "Give 2 to 8 points [speed, effort]"),
]


@pytest.mark.parametrize("name, bad, reason", REFUSED)
def test_what_cannot_be_is_refused_as_in_python_and_nothing_changes(robot, name, bad, reason):
    """Nor what was set beside it, of another device or of the model."""
    dotted = name.replace("__", ".")
    block = robot.sim.robot.bench.devices._numbers().tobytes()
    before = at(robot, dotted), at(robot, "device.joint3.servo.kd"), at(robot, "damping.joint1")
    assert reason in put(robot, device__joint3__servo__kd=77.0, damping__joint1=0.9, **{name: bad})
    assert (at(robot, dotted), at(robot, "device.joint3.servo.kd"), at(robot, "damping.joint1")) == before
    assert robot.sim.robot.bench.devices._numbers().tobytes() == block


def test_numbers_that_must_fit_together_are_set_together(robot):
    assert "cut_off 120 is not above" in put(robot, device__joint7__motor__derate_from=130.0)
    assert put(robot, device__joint7__motor__derate_from=130.0, device__joint7__motor__cut_off=140.0) == ""
    assert put(robot, device__joint5__interface__safe="lock", device__bus__distribution="uniform") == ""
    assert (at(robot, BUS), robot.sim.services.sources.memory["joint5"].safe) == ("uniform", "hold")     # the loop stands: in the next step
    robot.step()
    assert robot.sim.services.sources.memory["joint5"].safe == "lock"


def test_a_curve_may_have_another_number_of_points(robot):
    curve = "device.joint6.drive.torque_speed_curve"
    assert at(robot, curve) == [0.0, 10.0, 20.0, 10.0, 60.0, 2.0]
    assert put(robot, device__joint6__drive__torque_speed_curve=[0.0, 7.0, 3.0, 0.0]) == "" and at(robot, curve) == [0.0, 7.0, 3.0, 0.0]
    robot.step()
    assert robot.sim.robot.bench.parameters.values()[curve] == (0.0, 7.0, 3.0, 0.0)


def test_no_effort_limit_is_the_joints_own(robot):
    assert put(robot, device__joint2__servo__effort_limit=3.0) == "" and at(robot, "device.joint2.servo.effort_limit") == 3.0
    assert put(robot, device__joint2__servo__effort_limit=math.inf) == ""
    assert at(robot, "device.joint2.servo.effort_limit") == mbros.load("arm7").joint("joint2").limits.effort[0][1]


def test_a_reset_leaves_them_and_a_save_holds_them(robot, tmp_path):
    from std_srvs.srv import Trigger

    assert put(robot, device__joint2__servo__kp=123.0) == ""
    with robot.sim.loop.aside():
        blob = robot.sim.saves.blob()                           # before any step has taken it
    robot.step(3)
    assert robot.sim.services.reset(Trigger.Request()) and at(robot, GAIN) == 123.0
    assert put(robot, device__joint2__servo__kp=7.0, device__bus__delay=0.0) == ""
    robot.sim.saves.put_back(blob)
    assert (at(robot, GAIN), at(robot, "device.bus.delay")) == (123.0, 0.002)
    assert robot.sim.robot.bench.parameters.values()[GAIN] == 123.0


def test_a_recording_repeats_changes_to_the_bit(robot, file, tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    import mbros.study.replay.replay

    assert put(robot, device__joint3__servo__kp=150.0) == ""   # on its way when the recording starts
    robot.sim.recording.start(tmp_path / "run.mcap")
    for k in range(40):
        command(robot, joint2=0.01 * k, joint3=-0.2)
        if k % 10 == 5:
            curve = [0.0, 9.0, 1.0 + k, 8.0] + [50.0, 0.0] * (k > 20)
            assert put(robot, device__joint2__servo__kp=100.0 + k, device__bus__jitter=1e-5 * k, damping__joint1=0.1 * k,
                       fault__hangs__threshold=0.001 * k, device__joint6__drive__torque_speed_curve=curve) == ""
        if k == 20:
            assert put(robot, device__joint3__servo__kp=-1.0) != ""
    robot.step(20)
    robot.sim.recording.stop()
    report = mbros.replay(tmp_path / "run.mcap", bench=file)
    assert report.identical and report.steps == 60, report


def test_values_given_at_the_start_are_in_force(executor, mbros_node, file):
    robot = mbros_node("arm7", bench=file, **{GAIN: 55, "device.joint3.servo.effort_limit": math.inf, BUS: "uniform"})
    assert (at(robot, GAIN), at(robot, BUS)) == (55.0, "uniform")
    in_force = robot.sim.robot.bench.parameters.values()
    assert in_force[GAIN] == 55.0 and in_force[BUS] == "uniform"
    assert at(robot, "device.joint3.servo.effort_limit") == in_force["device.joint3.servo.effort_limit"] < math.inf


@pytest.mark.parametrize("name, bad, reason", [(GAIN, -1.0, "parameter device.joint2.servo.kp: position servo 'joint2.servo': kp is -1"),
                                               (BUS, 3, "parameter device.bus.distribution must be a text, got 3")])
def test_no_node_starts_with_what_cannot_be(executor, mbros_node, file, name, bad, reason):
    with pytest.raises(mbros.MbrosError) as caught:
        mbros_node("arm7", bench=file, **{name: bad})
    assert reason in str(caught.value)


def test_a_robot_that_comes_leaves_the_numbers_of_others_and_takes_its_own(executor, mbros_node, tmp_path):
    import mbros.ros.serve.another_world as other

    (tmp_path / "scene.yaml").write_text("robots:\n  left: {robot: arm7, bench: arm7_servo}\n")
    given = {"device.right/joint2.servo.kd": 31.0}              # of who is not there yet
    robot = mbros_node("arm7", scene=str(tmp_path / "scene.yaml"), **given)
    sim = robot.sim
    left, right = "device.left/joint2.servo.kp", "device.right/joint2.servo.kd"
    own = at(robot, left.replace(".kp", ".kd"))
    assert sim.node.set_parameters_atomically([rclpy.parameter.Parameter(left, value=77.0)]).successful     # on its way: no step is taken
    scene = mbros.Scene.of(sim.robot.model)
    scene.add_robot("arm7", "right", p=(0.0, 3.0, 0.0), bench="arm7_servo")
    with sim.turn:
        other.go_on_with(sim, scene.build())
    in_force = sim.robot.bench.parameters.values()
    assert (at(robot, left), in_force[left]) == (77.0, 77.0) and (at(robot, right), in_force[right]) == (31.0, 31.0) != (own, own)
    scene.remove("right")
    with sim.turn:
        other.go_on_with(sim, scene.build())
    assert not sim.node.has_parameter(right) and at(robot, left) == sim.robot.bench.parameters.values()[left] == 77.0
    assert put(robot, **{left: 78.0}) == "" and sim.robot.bench.parameters.values()[left] == 78.0
