"""Numbers of devices while a simulation goes on, and signals in logs, pictures and recordings."""
import copy
import math
import pickle
import threading

import numpy as np
import pytest
from bench_rigs import bench, disc

import mbros
from mbros.record.recorder import Recorder
from mbros_core.realtime import Loop

DEVICES = (
    mbros.PositionServo("*.servo", joint="joint[1-4]", kp=400.0, kd=20.0, ki=10.0),
    mbros.EffortActuator("drive", joint="joint5"),
    mbros.Motor("*.motor", joint="joint[67]", resistance=1.0, torque_constant=0.05, gear_ratio=50.0, voltage_limit=24.0, current_limit=3.0,
                derate_from=100.0, cut_off=120.0),
    mbros.Encoder("*.encoder", joint="joint*", counts=4096, rate=500.0, latency=0.001),
    mbros.Imu("wrist.imu", frame="flange", rate=200.0, gyro_noise_density=1e-4),
    mbros.Channel("bus", signal="joint*.command.*", delay=2e-3, jitter=1e-3, loss=0.05, distribution="normal"),
    mbros.Channel("clamp", signal="joint2.command.position", lower=-1.0, upper=1.0, hold_rate=500.0),
)


def arm():
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench(*DEVICES, seed=1))
    sim.command(position={"joint2": 0.3})
    return sim


def test_every_number_has_a_name_and_is_read_back_as_it_was_given():
    devices = arm().devices
    assert len(devices.parameter_names) == len(set(devices.parameter_names)) > 100
    assert devices["joint2.servo"].kp == 400.0 and devices.parameter("joint2.servo.kd") == 20.0
    assert devices["bus"].distribution == "normal" and devices["bus"].reordering is False
    assert devices["wrist.imu"].accel_range == math.inf and devices["wrist.imu"].gyro_matrix.shape == (9,)
    for name in devices.parameter_names:
        value = devices.parameter(name)
        devices.set_parameter(name, value)
        assert np.array_equal(devices.parameter(name), value), name
    assert "kp" in dir(devices["joint2.servo"]) and "joint2.servo" in repr(devices) and "kp 400" in repr(devices["joint2.servo"])


def test_a_simulator_with_other_numbers_goes_the_same_way_as_one_that_was_made_with_them():
    def servo(kp):
        return bench(mbros.PositionServo("servo", joint="hinge", kp=kp, kd=3.0), mbros.Encoder("e", joint="hinge", counts=64))
    live, made = (mbros.Simulator(disc(), bench=servo(kp)) for kp in (10.0, 99.0))
    live.devices["servo"].kp = 99.0
    for sim in (live, made):
        sim.command(position={"hinge": 0.5})
        sim.advance_to(0.3)
    assert live.plant.devices.block.tobytes() == made.plant.devices.block.tobytes() and live.state.q[0] == made.state.q[0]
    live.devices["e"].counts = 0.0
    live.step()
    assert live.signals["e.position"].value == live.state.q[0]


class SheetMotor(mbros.Motor):
    """A motor that is made of other words than its numbers, as some data sheets have them."""

    def __init__(self, name, *, joint, kilo_ohm, **numbers):
        super().__init__(name, joint=joint, resistance=1e3 * kilo_ohm, torque_constant=0.05, voltage_limit=24.0, current_limit=3.0,
                         **numbers)


def test_numbers_of_a_device_that_takes_other_words_are_live_too():
    sim = mbros.Simulator(disc(), bench=bench(SheetMotor("m", joint="hinge", kilo_ohm=1e-3)))
    assert sim.devices["m"].resistance == 1.0
    sim.devices["m"].resistance = 2.0
    assert sim.devices["m"].resistance == 2.0
    with pytest.raises(mbros.ModelError, match="resistance is 0"):
        sim.devices["m"].resistance = 0.0


def test_an_effort_limit_of_none_is_the_joints_own():
    sim = mbros.Simulator(disc(limit=7.0), bench=bench(mbros.EffortActuator("e", joint="hinge", effort_limit=3.0)))
    sim.devices["e"].effort_limit = math.inf
    assert sim.devices["e"].effort_limit == 7.0


REFUSED = [
    ("joint2.servo.kp", -1.0, "position servo 'joint2.servo': kp is -1; expected a finite number, 0 or more"),
    ("joint2.servo.kp", float("nan"), "kp is nan"),
    ("joint2.servo.kp", "high", "kp is 'high'"),
    ("joint2.servo.kp", [1.0, 2.0], "Give a number"),
    ("joint2.servo.kpp", 1.0, "did you mean 'joint2.servo.kp'?"),
    ("joint2.servo", 1.0, "no parameter 'joint2.servo'"),
    (7, 1.0, "no parameter 7"),
    ("joint6.motor.cut_off", 90.0, "cut_off 90 is not above derate_from 100"),
    ("drive.no_load_speed", 2.0, "a no_load_speed and no stall_effort"),
    ("wrist.imu.gyro_matrix", [1.0, 2.0], "Give 9 numbers"),
    ("wrist.imu.rate", 100.0, "is fixed when the simulator is made"),
    ("clamp.hold_rate", 100.0, "is fixed when the simulator is made"),
    ("clamp.upper", -2.0, "upper -2 is below lower -1"),
    ("bus.loss", 1.5, "loss is 1.5"),
    ("bus.distribution", "cauchy", "expected 'uniform', 'normal' or 'exponential'"),
    ("bus.delay", 0.1, "need room for"),
]


@pytest.mark.parametrize("name, value, text", REFUSED)
def test_what_cannot_be_is_refused_and_nothing_changes(name, value, text):
    sim = arm()
    sim.step()
    before = sim.plant.devices.block.tobytes(), sim.plant.devices._numbers().tobytes()
    with pytest.raises(mbros.MbrosError) as caught:
        sim.devices.set_parameter(name, value)
    assert text in str(caught.value)
    assert before == (sim.plant.devices.block.tobytes(), sim.plant.devices._numbers().tobytes())


def test_several_numbers_are_all_set_or_none():
    sim = arm()
    motor = sim.devices["joint6.motor"]
    with pytest.raises(mbros.ModelError, match="cut_off 120 is not above"):
        motor.derate_from = 200.0
    motor.update(derate_from=200.0, cut_off=250.0)
    with pytest.raises(mbros.ModelError):
        motor.update(derate_from=20.0, cut_off=float("nan"))
    assert (motor.derate_from, motor.cut_off) == (200.0, 250.0)
    with pytest.raises(mbros.UnknownNameError, match="no device 'joint2.serv'"):
        sim.devices["joint2.serv"]
    with pytest.raises(mbros.MbrosError, match="has no bench"):
        _ = mbros.Simulator(disc()).devices


def test_a_shorter_delay_is_in_time():
    sim = mbros.Simulator(disc(), bench=bench(mbros.EffortActuator("e", joint="hinge"), mbros.Channel("bus", signal="hinge.command.effort",
                                                                                                    delay=0.01)))
    sim.devices["bus"].delay = 0.003
    sim.command(effort={"hinge": 1.0})
    sim.run(0.003)
    assert sim.signals["hinge.effort"].value == 0.0
    sim.step()
    assert sim.signals["hinge.effort"].value == 1.0
    sim.devices["bus"].delay = 0.01                               # up to what it was made with
    with pytest.raises(mbros.MbrosError, match="need room"):
        sim.devices["bus"].delay = 0.02


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies_and_saves_have_them_and_resets_leave_them(copied):
    sim = arm()
    sim.devices["joint2.servo"].kp = 123.0
    other = copied(sim)
    saved = arm()
    saved.restore(sim.save())
    sim.reset()
    assert [each.devices["joint2.servo"].kp for each in (sim, other, saved)] == [123.0] * 3
    for each in (other, saved):
        each.advance_to(0.1)
    assert other.plant.devices.block.tobytes() == saved.plant.devices.block.tobytes()
    other.devices["joint2.servo"].kp = 1.0
    assert sim.devices["joint2.servo"].kp == 123.0 and saved.devices["joint2.servo"].kp == 123.0


def test_a_running_loop_takes_them_between_steps():
    sim = mbros.Simulator(disc(), bench=bench(mbros.PositionServo("servo", joint="hinge", kp=0.0, kd=50.0)))
    sim.command(position={"hinge": 1.0})
    loop = Loop(sim.plant, rt="off", watchdog_timeout=None, count_allocations=True)
    with loop:
        loop.wait(0.3)
        begun = loop.snapshot()[1][sim.plant.layout["q"][0]]
        stop = threading.Event()

        def change():
            k = 0
            while not stop.is_set():
                sim.devices["servo"].update(kp=100.0 + k % 7, kd=20.0)
                k += 1
        threads = [threading.Thread(target=change) for _ in range(2)]
        for thread in threads:
            thread.start()
        loop.wait(1.5)
        stop.set()
        for thread in threads:
            thread.join()
        sim.devices["servo"].kp = 500.0
        assert sim.devices["servo"].kp == 500.0                   # read while the loop has the state
        loop.wait(0.2)
        statistics = loop.statistics()
    assert begun == 0.0 and sim.state.q[0] > 0.5 and sim.devices["servo"].kp == 500.0
    assert statistics.allocations in (0, None)


def test_a_paused_loop_takes_the_last_ones_when_it_goes_on():
    sim = mbros.Simulator(disc(), bench=bench(mbros.PositionServo("servo", joint="hinge", kp=1.0)))
    loop = Loop(sim.plant, clock="virtual", rt="off", watchdog_timeout=None, paused=True)
    with loop:
        for kp in (2.0, 3.0, 4.0):
            sim.devices["servo"].kp = kp
        assert sim.devices["servo"].kp == 4.0
    assert sim.devices["servo"].kp == 4.0
    sim.save()
    assert 4.0 in sim.plant.devices.block


# ------------------------------------------------------------------------------------------------------------- signals over time

def test_a_log_has_the_signals_that_were_asked_for():
    sim = arm()
    turn, command = "wrist.imu.angular_velocity", "joint2.command.position"
    log = sim.run(0.1, every=3, signals=["joint[12].encoder.position", turn, command])
    assert list(log.signals) == ["joint1.encoder.position", "joint2.encoder.position", turn, command]
    assert log.signals["wrist.imu.angular_velocity"].shape == (len(log), 3) and log.signals.units["joint1.encoder.position"] == "rad"
    assert np.isnan(log.signals["joint2.command.position"][0]) and log.signals["joint2.command.position"][-1] == 0.3
    again = arm()
    rows = [[again.signals[name].value for name in ("joint2.encoder.position", "joint2.command.position")]]
    for k in range(100):
        again.step()
        if k % 3 == 2 or k == 99:
            rows.append([again.signals[name].value for name in ("joint2.encoder.position", "joint2.command.position")])
    assert np.array_equal(np.array(rows), np.column_stack([log.signals["joint2.encoder.position"], log.signals["joint2.command.position"]]),
                          equal_nan=True)
    plain = arm().run(0.1, every=3)
    assert np.array_equal(plain.q, log.q) and np.array_equal(plain.energy, log.energy) and not len(plain.signals)
    assert len(pickle.loads(pickle.dumps(log)).signals) == 4


def test_a_log_of_contacts_has_signals_too():
    dog = mbros.load("quadruped", ground=True)
    sim = mbros.Simulator(dog, bench=bench(mbros.Imu("imu", frame="trunk")))
    log = sim.run(0.05, signals="imu.*")
    assert log.contacts[-1] > 0 and log.contact_force("FL_foot").shape == (len(log), 3)
    assert log.signals["imu.linear_acceleration"][-1].shape == (3,) and np.isfinite(log.signals["imu.linear_acceleration"][-1]).all()


@pytest.mark.parametrize("signals, text", [(["nothing"], "no signal 'nothing'"), (3, "expected names of signals"), ([3], "expected names")])
def test_signals_that_are_not_there_are_refused(signals, text):
    with pytest.raises(mbros.MbrosError, match=text):
        arm().run(0.01, signals=signals)
    with pytest.raises(mbros.MbrosError, match="there is no bench"):
        mbros.Simulator(disc()).run(0.01, signals="hinge.position")


def test_a_recording_has_them(tmp_path):
    from mbros.bench.devices import signal_columns
    sim = arm()
    signals = signal_columns("test", sim._bench, ["wrist.imu.angular_velocity", "joint2.servo.effort"])
    with Recorder(tmp_path / "out.csv", sim.plant, signals) as recorder:
        recorder.row()
        sim.advance_to(0.01)
        recorder.row()
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].endswith("wrist.imu.angular_velocity/0,wrist.imu.angular_velocity/1,wrist.imu.angular_velocity/2,joint2.servo.effort")
    assert lines[1].endswith(",nan,nan,nan,nan") and float(lines[2].rpartition(",")[2]) == sim.signals["joint2.servo.effort"].value


def test_pictures_show_them(tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    log = arm().run(0.05, signals=["wrist.imu.*", "joint2.*"])
    wanted = ["wrist.imu.*", "joint2.encoder.position", "joint2.position", "energy", "joint2.command.effort"]
    figure = log.plot(wanted, path=tmp_path / "out.png")
    panels = [ax.get_ylabel() for ax in figure.axes]
    assert panels == ["angular velocity [rad/s]", "linear acceleration [m/s^2]", "orientation [1]", "position [rad]", "energy [J]",
                      "effort [N m]"]
    assert [text.get_text() for text in figure.axes[3].get_legend().get_texts()] == ["joint2.encoder.position", "joint2"]
    assert len(log.plot().axes) > 5
    with pytest.raises(mbros.UnknownNameError, match="no signal 'wrist.imu.x'"):
        log.plot("wrist.imu.x")
