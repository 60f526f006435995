"""A model carries its bench: made in Python, from a file, by name; copies, robots in robots, subtrees; the benches shipped with mbros."""
import copy
import math
import pickle

import numpy as np
import pytest

import mbros
from mbros.build.benches import BUILT_IN, bench_of
from mbros.build.load import known_robots

NAMES = ["imu.angular_velocity", "imu.linear_acceleration"]


def with_bench(name="rig"):
    """A rod on a hinge, with a servo, an encoder, an inertial sensor and a bus."""
    b = mbros.ModelBuilder(name)
    rod = b.add_body("rod", 1.0, (0.5, 0, 0), (0.1, 0.2, 0.2))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, rod, axis=(0, 1, 0), effort=20.0))
    b.add_frame("tip", rod, (1, 0, 0))
    b.add_actuator(mbros.PositionServo("*.servo", joint="h*", kp=400.0, kd=20.0))
    b.add_sensor(mbros.Encoder("hinge.encoder", joint="hinge", counts=4096))
    b.add_sensor(mbros.Imu("imu", frame="tip", rate=200.0, gyro_noise_density=1e-4))
    b.add_channel(mbros.Channel("bus", signal="hinge.command.*", delay=2e-3, loss=0.01))
    return b


def moved(sim, joint="hinge", seconds=0.5):
    sim.command(position={joint: 0.3})
    sim.advance_to(seconds)
    return sim.plant.devices.block.tobytes()


def test_a_simulator_has_the_bench_that_its_model_carries():
    model = with_bench().build()
    sim = mbros.Simulator(model)
    assert set(NAMES) < set(sim.signals) and moved(sim) == moved(mbros.Simulator(model, bench=model.description.bench))
    assert sim.state.q[0] == pytest.approx(0.3, abs=0.1)
    for none in (None, False):
        with pytest.raises(mbros.MbrosError, match="has no bench"):
            mbros.Simulator(model, bench=none).command(position={"hinge": 1.0})
    other = mbros.Bench()
    other.add(mbros.EffortActuator("drive", joint="hinge"))
    assert "drive.effort" in mbros.Simulator(model, bench=other).signals and "imu.angular_velocity" not in mbros.Simulator(
        model, bench=other).signals


@pytest.mark.parametrize("other", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: mbros.ModelBuilder(m).build()])
def test_copies_of_a_model_carry_it(other):
    model = with_bench().build()
    assert moved(mbros.Simulator(other(model))) == moved(mbros.Simulator(model))


def test_parts_of_a_robot_may_be_given_themselves():
    b = mbros.ModelBuilder("rig")
    rod = b.add_body("rod", 1.0, (0.5, 0, 0), (0.1, 0.2, 0.2))
    hinge = b.add_joint(mbros.RevoluteJoint("hinge", b.world, rod))
    b.add_actuator(mbros.PositionServo("servo", joint=hinge, kp=9.0))
    b.add_sensor(mbros.Imu("imu", frame=rod))
    model = pickle.loads(pickle.dumps(b.build()))
    assert not any(part is hinge or part is rod for device in b.description.bench.actuators for part in vars(device)["_given"].values())
    scene = mbros.ModelBuilder("scene")
    scene.add_robot(model, "a")
    assert {"a/servo.effort", "a/imu.angular_velocity"} < set(mbros.Simulator(scene.build()).signals)


def test_a_model_does_not_change_with_what_was_handed_out():
    builder = with_bench()
    model = builder.build()
    builder.description.bench.actuators.clear()
    model.description.bench.sensors.clear()
    assert len(mbros.Simulator(model).signals) == 6 + 3 + 3 + 3


def test_robots_in_a_scene_bring_their_benches():
    part = with_bench().build()
    scene = mbros.ModelBuilder("scene")
    for k, name in enumerate(("left", "right")):
        scene.add_robot(part, name, p=(0, k, 0))
    model = scene.build()
    sim = mbros.Simulator(model)
    assert {"left/hinge.servo.effort", "right/imu.angular_velocity", "right/hinge.encoder.position"} < set(sim.signals)
    moved(sim, "left/hinge")
    alone = mbros.Simulator(part)
    moved(alone)
    assert sim.devices["left/bus"].loss == 0.01
    assert sim.state.q[0] == pytest.approx(alone.state.q[0], abs=0.02) and abs(sim.state.q[1]) < 0.1


def test_a_subtree_leaves_it_behind_and_says_so():
    model = with_bench().build()
    builder = mbros.ModelBuilder.subtree(model.joint("hinge"))
    assert builder.description.bench is None
    assert any("left out: it is that of the whole robot" in note.reason for note in builder.description.notes)
    builder.build()


def test_a_builder_adds_faults_and_sources():
    """As a bench that is added to, to the bit; a copy of the model has them, and the model is not the builder's any more."""
    fault = mbros.Fault("dry", "friction", joint="hinge", coulomb=5.0, at=0.1)
    source = mbros.JointSource("*", joint="hinge", safe="hold")
    builder = with_bench()
    assert builder.add_fault(fault) is fault and builder.add_source(source) is source
    model, given = builder.build(), with_bench().build().description.bench
    for part in (fault, source):
        given.add(part)
    sim, other = mbros.Simulator(pickle.loads(pickle.dumps(model))), mbros.Simulator(with_bench().build(), bench=given)
    assert moved(sim) == moved(other) != moved(mbros.Simulator(with_bench().build()))
    assert sim.faults["dry"].active and list(sim.sources) == ["hinge"] and sim.sources["hinge"].numbers.safe == "hold"
    builder.add_fault(mbros.Fault("by hand", "free", joint="hinge"))
    assert list(mbros.Simulator(model).faults) == ["dry"] and list(mbros.Simulator(builder.build()).faults) == ["dry", "by hand"]


REFUSED = [
    (lambda b: b.add_fault(mbros.Fault("f", "stuck", joint="hing")), "there is no joint 'hing'; did you mean 'hinge'?"),
    (lambda b: b.add_fault(mbros.Fault("f", "load", frame="tipp", mass=1.0)), "there is no frame 'tipp'; did you mean 'tip'?"),
    (lambda b: b.add_source(mbros.JointSource("s", joint="hing")), "there is no joint 'hing'; did you mean 'hinge'?"),
    (lambda b: b.add_fault(mbros.JointSource("s", joint="hinge")), "expected a fault such as mbros.Fault("),
    (lambda b: b.add_source(mbros.Fault("f", "stuck", joint="hinge")), "expected a source such as mbros.JointSource("),
    (lambda b: [b.add_fault(mbros.Fault("f", "stuck", joint="hinge")) for _ in "ab"], "this name is already taken"),
    (lambda b: b.add_actuator(mbros.EffortActuator("e", joint="hing")), "there is no joint 'hing'; did you mean 'hinge'?"),
    (lambda b: b.add_actuator(mbros.EffortActuator("e", joint="x*")), "there is no joint 'x*'"),
    (lambda b: b.add_sensor(mbros.Imu("i", frame="tipp")), "there is no frame 'tipp'; did you mean 'tip'?"),
    (lambda b: b.add_sensor(mbros.EffortActuator("e", joint="hinge")), "given <EffortActuator 'e'>; expected a sensor such as"),
    (lambda b: b.add_channel("bus"), "add_channel() was given 'bus'; expected a channel such as"),
    (lambda b: b.add_sensor(mbros.Imu("imu", frame="tip")), "this name is already taken"),
]


@pytest.mark.parametrize("add, text", REFUSED)
def test_what_the_robot_has_not_is_refused(add, text):
    builder = with_bench()
    with pytest.raises(mbros.MbrosError) as caught:
        add(builder)
        builder.build()
    assert text in str(caught.value)


def test_entries_of_different_joints_may_have_one_pattern_of_a_name():
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("*.servo", joint="joint1", kp=1.0))
    bench.add(mbros.PositionServo("*.servo", joint="joint[23]", kp=2.0))
    with pytest.raises(mbros.ModelError, match="already taken"):
        bench.add(mbros.PositionServo("*.servo", joint="joint1", kp=1.0))
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench)
    assert [sim.devices[f"joint{k}.servo"].kp for k in (1, 2, 3)] == [1.0, 2.0, 2.0]


@pytest.mark.parametrize("bandwidth", [2.0, 10.0])
def test_gains_of_a_bandwidth_are_those_of_the_joints_own_inertia(bandwidth):
    """The step response of a critically damped joint, w = 2 pi bandwidth: 1 - (1 + w t) exp(-w t)."""
    b = mbros.ModelBuilder("disc", gravity=(0, 0, 0))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("disc", 1.0, (0, 0, 0), (0.5, 0.5, 0.5)), axis=(0, 0, 1)))
    b.add_actuator(mbros.PositionServo("servo", joint="hinge", bandwidth=bandwidth, ki=0.0))
    model = b.build()
    sim = mbros.Simulator(model, dt=1e-4)
    w = 2.0 * math.pi * bandwidth
    assert sim.devices["servo"].kp == pytest.approx(0.5 * w * w) and sim.devices["servo"].kd == pytest.approx(w)
    sim.command(position={"hinge": 1.0})
    for t in (0.5 / w, 1.0 / w, 3.0 / w):
        sim.advance_to(t)
        x = w * sim.time
        assert sim.state.q[0] == pytest.approx(1.0 - (1.0 + x) * math.exp(-x), abs=3e-3)
    velocity = mbros.Bench()
    velocity.add(mbros.VelocityServo("servo", joint="hinge", bandwidth=bandwidth))
    assert mbros.Simulator(model, bench=velocity).devices["servo"].kd == pytest.approx(0.5 * w)


@pytest.mark.parametrize("words, text", [(dict(kp=1.0, bandwidth=2.0), "a kp and a bandwidth"), (dict(), "no kp and no bandwidth"),
                                         (dict(bandwidth=0.0), "bandwidth is 0"), (dict(bandwidth="x"), "bandwidth is 'x'")])
def test_a_servo_has_gains_or_a_bandwidth(words, text):
    with pytest.raises(mbros.ModelError, match=text):
        mbros.PositionServo("s", joint="hinge", **words)


# ------------------------------------------------------------------------------------------------------------ those shipped with mbros

@pytest.mark.parametrize("name", BUILT_IN)
def test_benches_of_mbros_fit_their_robots_and_hold_them(name):
    pytest.importorskip("yaml", reason="needs PyYAML")
    robot = BUILT_IN[name].robot
    if robot == "panda":
        if robot not in known_robots():
            pytest.skip("needs example-robot-data")
    model = mbros.load(robot, bench=name, ground=True if robot in ("quadruped", "diff_drive") else None)
    sim = mbros.Simulator(model)
    start = sim.state.q.copy()
    sim.advance_to(2.0)
    joints = [joint.q_slice for joint in model.joints if joint.nv == 1 and not joint.follows]
    assert all(abs(sim.state.q[at] - start[at]) < 0.1 for at in joints)         # soft ones give way to gravity a little
    assert np.abs(sim.state.v).max() < 0.01
    commanded = {signal.split(".command.")[0] for signal in sim.signals if ".command." in signal}
    assert len(commanded) == len(joints)


def test_a_bench_by_name_is_one_by_path(tmp_path, monkeypatch):
    pytest.importorskip("yaml", reason="needs PyYAML")
    from mbros.build import benches
    arm = mbros.load("arm7")
    named = [mbros.Simulator(arm, bench=bench) for bench in ("arm7_servo", "arm7_servo.yaml", benches.find("test", "arm7_servo"))]
    assert len({moved(sim, "joint2", 0.1) for sim in named}) == 1
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm7_servo.yaml").write_text("actuators:\n  joint1: {type: effort_actuator}\n")
    assert len(mbros.load("arm7", bench="arm7_servo.yaml").description.bench.actuators) == 1             # what is there comes first
    with pytest.raises(mbros.UnknownNameError, match="did you mean 'arm7_servo'"):
        mbros.load("arm7", bench="arm7_serv")
    with pytest.raises(mbros.MbrosError, match="cannot be read"):
        mbros.load("arm7", bench="other.yaml")
    with pytest.raises(mbros.ModelError, match=r"diff_drive_motors.yaml:\d+: .*there is no joint"):
        mbros.load("arm7", bench="diff_drive_motors")


@pytest.mark.parametrize("given", [3, [], {}, b"arm7_servo"])
def test_what_is_no_bench_is_refused(given):
    with pytest.raises(mbros.MbrosError, match="bench: expected a mbros.Bench"):
        bench_of("test", given, None)
