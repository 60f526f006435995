"""Benches in simulators: signals, commands, memory that is state, faults, and what a bench is refused for."""
import copy
import pickle

import numpy as np
import pytest
from bench_rigs import bench, disc

import mbros
from mbros_core.realtime import Loop

DEVICES = (
    mbros.PositionServo("*.servo", joint="joint[1-4]", kp=400.0, kd=20.0, ki=10.0),
    mbros.Motor("*.motor", joint="joint[56]", resistance=1.0, torque_constant=0.05, gear_ratio=50.0, voltage_limit=24.0,
                current_limit=3.0),
    mbros.SeriesElastic("*.sea", joint="joint7", stiffness=50.0, damping=0.1, motor_inertia=0.01, kp=100.0, kd=2.0, backlash=0.01),
    mbros.Brake("*.brake", joint="joint[13]", holding_effort=2.0, release_delay=0.02),
    mbros.CommandLimits("*.limits", joint="joint[27]", position_rate=1.0, margin=0.1, k_position=5.0),
    mbros.ForceTorque("wrist.ft", frame="flange", rate=300.0, resonance=80.0, damping_ratio=0.1, force_noise_density=0.01),
    mbros.GroundTruthPose("hand", frame="flange", latency=0.003),
    mbros.WheelOdometry("odom", left="joint5", right="joint6", radius=0.1, separation=0.3, counts=1000),
    mbros.Encoder("*.encoder", joint="joint*", counts=4096, rate=500.0, latency=0.001),
    mbros.Imu("wrist.imu", frame="flange", rate=200.0, gyro_noise_density=1e-4, accel_bias_instability=1e-3),
    mbros.Channel("bus", signal="joint*.command.*", delay=2e-3, jitter=1e-3, loss=0.05, reordering=True),
    mbros.Channel("readings", signal="*.encoder.position", noise=1e-4, walk=1e-5, hold_rate=300.0),
)


def arm(**options):
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench(*DEVICES, seed=1), **options)
    sim.command(position={"joint2": 0.3, "joint4": -0.4}, effort={"joint6": 1.0}, brake={"joint3": 0.0})
    return sim


def same(a, b):
    return (np.array_equal(a.plant.devices.block, b.plant.devices.block, equal_nan=True) and (a.state.q == b.state.q).all()
            and (a.state.v == b.state.v).all() and a.time == b.time)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_a_copy_goes_on_alike_to_the_bit(copied):
    sim = arm()
    sim.advance_to(0.3)
    other = copied(sim)
    for each in (sim, other):
        each.advance_to(0.4)
        each.command(position={"joint2": -0.3})
        each.advance_to(0.7)
    assert same(sim, other)
    other.command(position={"joint2": 0.1})
    other.advance_to(0.8)
    sim.advance_to(0.8)
    assert not same(sim, other)                                   # each has memory of its own


def test_single_steps_stretches_and_a_run_are_the_same_bits():
    one, many, run = arm(), arm(), arm()
    for _ in range(500):
        one.step()
    many.advance_to(0.5)
    run.run(0.5, every=7)
    assert same(one, many) and same(one, run)


def test_reset_begins_again():
    sim = arm()
    sim.advance_to(0.5)
    first = sim.plant.devices.block.copy()
    sim.reset()
    assert sim.plant.devices.steps == 0 and np.isnan(sim.signals["joint2.command.position"].value)
    sim.command(position={"joint2": 0.3, "joint4": -0.4}, effort={"joint6": 1.0}, brake={"joint3": 0.0})
    sim.advance_to(0.5)
    assert np.array_equal(sim.plant.devices.block, first, equal_nan=True)


def test_the_real_time_loop_runs_devices():
    sim, again = arm(), arm()
    again.advance_to(0.199)
    loop = Loop(sim.plant, clock="virtual", watchdog_timeout=None)
    loop.start(slots=200)
    loop.wait(30.0)                                               # its first slot publishes the start
    assert same(sim, again)


def test_a_step_with_devices_allocates_nothing():
    loop = Loop(arm().plant, clock="virtual", rt="off", watchdog_timeout=None, count_allocations=True)
    loop.start(slots=2000)
    assert loop.wait(60.0)
    statistics = loop.statistics()
    if statistics.allocations is None:
        pytest.skip(loop.privileges.sentences[-1])
    assert statistics.warm and statistics.allocations == 0


def test_signals_have_names_units_and_sizes():
    sim = arm()
    rows = {name: (s.unit, s.size) for name, s in sim.signals.items()}
    assert rows["joint2.command.position"] == ("rad", 1) and rows["joint2.effort"] == ("N m", 1)
    assert rows["joint6.motor.temperature"] == ("degC", 1) and rows["wrist.imu.angular_velocity"] == ("rad/s", 3)
    cart = mbros.Simulator(mbros.load("cartpole"), bench=mbros.Bench())
    assert {s.unit for name, s in cart.signals.items() if name.endswith("velocity")} == {"rad/s", "m/s"}
    sim.advance_to(0.1)
    imu = sim.signals["wrist.imu.linear_acceleration"]
    assert imu.value.shape == (3,) and imu.time == pytest.approx(0.1) and "m/s^2" in repr(imu)
    imu.value[:] = 0.0
    assert imu.value.any()                                        # what is given out is a copy
    with pytest.raises(mbros.UnknownNameError, match="did you mean 'joint2.servo.effort'"):
        sim.signals["joint2.servo.efort"]


def test_a_joint_keeps_what_it_is_not_commanded():
    sim = mbros.Simulator(disc(), bench=bench(mbros.PositionServo("s", joint="hinge", kp=400.0, kd=40.0)))
    sim.state.q[:] = 0.7
    sim.advance_to(0.5)
    assert sim.state.q[0] == pytest.approx(0.7, abs=1e-12)        # nothing commanded: where it is
    sim.command(position={"hinge": 1.0})
    sim.advance_to(3.0)
    sim.command(position={"hinge": float("nan")}, velocity={"hinge": 0.0})
    sim.advance_to(4.0)
    assert sim.state.q[0] == pytest.approx(1.0, abs=1e-9)         # withdrawn: where it was sent


def test_efforts_from_outside_are_clamped_and_act_beside():
    model = disc(limit=2.0)
    sim = mbros.Simulator(model, bench=bench(mbros.EffortActuator("e", joint="hinge")))
    sim.command(effort={"hinge": 1.0})
    sim.step([5.0])
    assert sim.clamped == 1 and sim.state.v[0] == pytest.approx(1e-3 * 3.0 / 0.5) and sim.signals["hinge.effort"].value == 3.0


def test_a_simulator_without_devices_is_bit_identical_to_one_with_devices_that_do_nothing():
    model = mbros.load("arm7")
    plain, other = mbros.Simulator(model), mbros.Simulator(model, bench=mbros.Bench())
    tau = np.linspace(-5, 5, model.nv)
    plain.advance_to(0.5, tau)
    other.advance_to(0.5, tau)
    assert (plain.state.q == other.state.q).all() and (plain.state.v == other.state.v).all()
    assert (plain.plant.observe() == other.plant.observe()).all()


def test_contact_is_taken_again_from_the_same_start():
    """A hopping leg in contact whose servos saturate: the same bits twice, the limit kept."""
    dog = mbros.load("quadruped", ground=True)
    names = [joint.name for joint in dog.joints if joint.nv == 1]
    sims = [mbros.Simulator(dog, bench=bench(mbros.PositionServo("*.s", joint="*", kp=1e5, kd=100.0, effort_limit=15.0))) for _ in range(2)]
    efforts = []
    for sim in sims:
        for k in range(300):
            sim.command(position=dict.fromkeys(names, 0.2 * np.sign(np.sin(0.1 * k))))
            sim.step()
            efforts += [abs(sim.signals[f"{name}.s.effort"].value) for name in names]
    assert same(*sims) and sims[0].plant.devices.repeated > 50
    assert max(efforts) == 15.0 and np.mean(np.array(efforts) == 15.0) > 0.05


def test_a_fault_holds_the_last_good_state():
    sim = mbros.Simulator(disc(1e-9), bench=bench(mbros.EffortActuator("e", joint="hinge", effort_limit=1e300)))
    sim.command(effort={"hinge": 1e100})
    with pytest.raises(mbros.FaultError):
        sim.advance_to(0.1)
    assert (sim.state.q == 0.0).all() and sim.time == 0.0
    sim.reset()
    sim.advance_to(0.1)


REFUSED = [
    (lambda: mbros.PositionServo("s", joint="hinge", kp=-1.0), "kp is -1; expected a finite number, 0 or more"),
    (lambda: mbros.PositionServo("s", joint="hinge", kp=1.0, effort_limt=2.0), "did you mean 'effort_limit'?"),
    (lambda: mbros.Motor("m", joint="hinge", resistance=0.0, torque_constant=1, voltage_limit=1, current_limit=1), "resistance is 0"),
    (lambda: mbros.Motor("m", joint="hinge", resistance=1.0, torque_constant=1, voltage_limit=1, current_limit=1, derate_from=9, cut_off=8),
     "cut_off 8 is not above derate_from 9"),
    (lambda: mbros.EffortActuator("e", joint="hinge", no_load_speed=2.0), "a no_load_speed and no stall_effort"),
    (lambda: mbros.Encoder("e", joint=7), "joint is 7"),
    (lambda: mbros.Imu("i", frame="tip", gyro_matrix=[1, 2]), "Give 9 numbers"),
    (lambda: mbros.Imu("i", frame="tip", rate=float("nan")), "rate is nan"),
    (lambda: mbros.Channel(signal="a"), "it does nothing"),
    (lambda: mbros.Channel(signal="a", burst=3.0), "it has burst and none of loss"),
    (lambda: mbros.Channel(signal="a", losss=0.1), "did you mean 'loss'?"),
    (lambda: mbros.Channel(signal="a", loss=1.5), "loss is 1.5"),
    (lambda: mbros.Channel(signal="a", lower=2.0, upper=1.0), "upper 1 is below lower 2"),
    (lambda: mbros.Channel(signal="a", jitter=1.0, distribution="cauchy"), "expected 'uniform', 'normal' or 'exponential'"),
    (lambda: bench(mbros.Encoder("e", joint="a"), mbros.Encoder("e", joint="a")), "this name is already taken"),
]


@pytest.mark.parametrize("make, text", REFUSED)
def test_what_cannot_be_is_refused_where_it_is_written(make, text):
    with pytest.raises(mbros.MbrosError) as caught:
        make()
    assert text in str(caught.value)


ON_A_ROBOT = [
    ((mbros.Encoder("e", joint="hing"),), "no joint 'hing' in model 'disc'; did you mean 'hinge'?"),
    ((mbros.Imu("i", frame="disk"),), "no frame 'disk' in model 'disc'; did you mean 'disc'?"),
    ((mbros.EffortActuator("a", joint="hinge"), mbros.EffortActuator("b", joint="h*")), "joint 'hinge' has effort actuator 'a' already"),
    ((mbros.Channel(signal="hinge.positon", loss=0.1),), "did you mean 'hinge.position'?"),
    ((mbros.Encoder("hinge", joint="hinge"),), "two signals are called 'hinge.position'"),
]


@pytest.mark.parametrize("devices, text", ON_A_ROBOT)
def test_what_a_robot_has_not_is_refused(devices, text):
    with pytest.raises(mbros.ModelError) as caught:
        mbros.Simulator(disc(), bench=bench(*devices))
    assert text in str(caught.value) and all(problem.remedy for problem in caught.value.problems)


def test_other_refusals():
    model = disc()
    with pytest.raises(mbros.MbrosError, match="rk4"):
        mbros.Simulator(model, integrator="rk4", bench=mbros.Bench())
    with pytest.raises(mbros.MbrosError, match="expected a mbros.Bench"):
        mbros.Simulator(model, bench=3)
    with pytest.raises(mbros.MbrosError, match="has no bench"):
        mbros.Simulator(model).command(effort={"hinge": 1.0})
    with pytest.raises(mbros.MbrosError, match="has no bench"):
        _ = mbros.Simulator(model).signals
    with pytest.raises(mbros.MbrosError, match="2 joints"):
        mbros.Simulator(mbros.load("double_pendulum"), bench=bench(mbros.Encoder("e", joint="*")))
    sim = mbros.Simulator(model, bench=bench(mbros.EffortActuator("e", joint="hinge")))
    for words, text in (({"effort": {"hinge": float("inf")}}, "expected a finite number, or NaN"),
                        ({"effort": {"hin": 1.0}}, "no joint 'hin'"), ({"effort": 3.0}, "expected {joint: value}"),
                        ({"position": {"hinge": "up"}}, "position of hinge")):
        with pytest.raises(mbros.MbrosError) as caught:
            sim.command(**words)
        assert text in str(caught.value)
    assert np.isnan(sim.signals["hinge.command.effort"].sent)


def test_tables_are_checked():
    """The compiled devices trust no table: every number that is too large is refused."""
    from mbros.bench.bench import layout
    from mbros_core.plant._devices import Devices

    model = disc()
    devices = (mbros.CommandLimits("l", joint="hinge"), mbros.PositionServo("s", joint="hinge", kp=1.0), mbros.Imu("i", frame="disc"),
               mbros.Encoder("e", joint="hinge"), mbros.Channel("c", signal="e.position", delay=0.01, loss=0.1))
    plant = mbros.Simulator(model).plant
    for name in ("signals", "joints", "actuators", "sensors", "channels"):
        width = len(layout(model, bench(*devices), 1e-3).tables()[name][0])
        for column in range(width - (name == "channels")):        # slots are a delay's alone
            tables = layout(model, bench(*devices), 1e-3).tables()
            tables[name] = [list(row) for row in tables[name]]
            tables[name][-1][column] += 100_000
            with pytest.raises(mbros.MbrosError):
                Devices(plant, tables)
    for b in range(1, 5):
        tables = layout(model, bench(*devices), 1e-3).tables()
        places = list(tables["places"])
        places[b] += 100_000
        tables["places"] = tuple(places)
        with pytest.raises(mbros.MbrosError):
            Devices(plant, tables)
