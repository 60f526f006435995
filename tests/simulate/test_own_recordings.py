"""Recordings of mbros with a bench: they hold it, their commands are a topic, and they are compared and fitted like those of robots."""
import numpy as np
import pytest

import mbros
from mbros.cli import main
from mbros.describe.devices.written import bench_text
from mbros.bench.bench import layout
from mbros.study.replay.compare import compare
from mbros.record.recorded_commands import RecordedCommands
from mbros.record.recorded_files import BenchText
from mbros_core.support.fingerprint import digest

FULL = """
seed: 11
actuators:
  joint1: {type: position_servo, kp: 2000, kd: 40, ki: 1e+1}
  joint2: {type: motor, resistance: 0.3, torque_constant: 0.1, voltage_limit: 48, current_limit: 20, gear_ratio: 100}
  joint3: {type: effort_actuator, torque_speed_curve: [[0, 100], [2, 100], [4, 0]]}
  joint[4-6]: {type: velocity_servo, bandwidth: 5}
sensors:
  joint*: {type: encoder, counts: 4096, rate: 333, latency: 0.003}
  wrist: {type: imu, frame: flange, gyro_noise_density: 1.7e-4}
sources:
  joint7: {safe: hold, timeout: 0.1}
channels:
  - {name: bus, signal: "joint*.command.*", delay: 0.002, jitter: 0.001, distribution: normal, reordering: true, seed: 4}
faults:
  - {name: "it: hangs", kind: frozen, signal: joint2.encoder.position, when: "abs(joint2.velocity) >= 0.1234567891234567", held: 0.01}
  - {name: by hand, kind: offset, signal: "joint*.encoder.position", offset: 0.1, duration: 0.2}
  - {name: timed, kind: lost_effort, joint: joint1, fraction: 0.5, at: 0.0}
  - {name: cup, kind: load, frame: flange, mass: 0.5, place: [0, 0, 0.1], at: 0.3, until: 0.9}
"""


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm7")


@pytest.fixture(scope="module")
def run(arm, tmp_path_factory):
    """A recording of arm7 on its servos, which follow sines."""
    path = tmp_path_factory.mktemp("own") / "run.mcap"
    sim = mbros.Simulator(arm, bench="arm7_servo")
    with sim.record(path):
        for k in range(600):
            if k % 10 == 0:
                sim.command(position={f"joint{i}": 0.2 * np.sin(3e-3 * k * (1 + 0.1 * i)) for i in range(1, 8)})
            sim.step()
    return path


@pytest.mark.parametrize("robot, bench", [("arm7", FULL), ("arm7", "arm7_servo"), ("panda", "panda_impedance"), ("arm7", "servo"),
                                         ("quadruped", "quadruped_servo"), ("diff_drive", "diff_drive_motors")])
def test_trial_H11_a_bench_is_written_as_the_file_it_could_have_come_from(robot, bench, tmp_path):
    if bench == FULL:
        bench = tmp_path / "full.yaml"
        bench.write_text(FULL)
    model = mbros.load(robot)
    sim = mbros.Simulator(model, bench=bench)
    (tmp_path / "again.yaml").write_text(bench_text(sim._bench.bench))
    again = mbros.Bench.load(tmp_path / "again.yaml")
    assert digest(layout(model, again, sim.dt).tables()) == sim._bench_digest()
    assert bench_text(again) == bench_text(BenchText(bench_text(again), "again").bench)


def test_trial_H11_a_recording_is_run_again_with_nothing_beside_it(run):
    report = mbros.replay(run)
    assert report.identical and report.steps == 600, report


def test_trial_H11_commands_are_a_topic_that_other_readers_read(run):
    ros2 = pytest.importorskip("mcap_ros2.decoder", reason="another reader; pip install mcap-ros2-support")
    from mcap.reader import make_reader
    with open(run, "rb") as file:
        reader = make_reader(file, decoder_factories=[ros2.DecoderFactory()])
        found = [message for *_, message in reader.iter_decoded_messages(["/joint_commands"])]
    assert len(found) == 60                                 # one where something else is commanded, and no other
    for k, message in enumerate(found):
        assert message.header.stamp.nanosec == k * 10**7    # when it begins to act: before the step under it
        assert message.name == [f"joint{i}" for i in range(1, 8)] and np.isnan(message.effort).all() and np.isnan(message.velocity).all()
        assert message.position[2] == pytest.approx(0.2 * np.sin(3e-3 * 10 * k * 1.3), abs=1e-15)


def test_trial_H11_efforts_of_a_simulation_without_a_bench_are_a_topic(arm, tmp_path):
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        for k in range(50):
            sim.step({"joint2": float(k // 5), "joint4": -3.0})
    found = compare(tmp_path / "run.mcap", arm, window=10.0)
    assert found.commands == "/joint_commands" and not found.bench and max(r.position_max for r in found.joints) == 0.0
    wide = RecordedCommands(arm, None, False, 1e-3)
    assert wide.of(np.arange(7.0)[None], None)[0, 2].tolist() == list(range(7))


def test_trial_H11_the_command_compares_and_fits_own_recordings(run, tmp_path, capsys):
    """To the bit: the same bench, the same steps, the same random numbers. No robot and no bench is named: the recording holds them."""
    assert main(["replay", str(run), "--compare", "--report", str(tmp_path / "page.html")]) == 0
    out = capsys.readouterr().out
    assert "positions of /joint_commands, through the bench" in out
    rows = [line.split() for line in out.splitlines() if line.startswith("joint") and not line.startswith("joint ")]
    assert len(rows) == 7 and all(float(x) == 0.0 for row in rows for x in row[1:3])
    page = (tmp_path / "page.html").read_text()
    assert "beside model arm7" in page and "<svg" in page
    assert main(["replay", str(run), "--fit", "damping.joint2", "--out", str(tmp_path / "p.yaml")]) == 0
    assert "damping" in (tmp_path / "p.yaml").read_text()


@pytest.mark.parametrize("dt, integrator", [(2e-3, "midpoint"), (7e-4, "semi_implicit_euler")])
def test_trial_H11_own_recordings_are_compared_with_their_own_steps(dt, integrator, tmp_path):
    for bench in ("servo", False):
        sim = mbros.Simulator(mbros.load("arm7", bench=bench), dt=dt, integrator=integrator)
        if bench:
            sim.command(position={"joint2": 0.3, "joint4": -0.5})
        with sim.record(tmp_path / "run.mcap"):
            for k in range(300):
                sim.step(None if bench else {"joint2": float(k // 50)})
        found = compare(tmp_path / "run.mcap", sim.model, window=10.0)
        assert found.bench is bool(bench) and [r.position_max for r in found.joints] == [0.0] * 7


def test_trial_H11_a_recording_with_a_reset_is_no_one_motion(arm, tmp_path):
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.1, {"joint2": 1.0})
        sim.reset()
        sim.advance_to(0.05, {"joint2": 2.0})
    with pytest.raises(mbros.MbrosError, match="its time goes back, as at a reset"):
        compare(tmp_path / "run.mcap", arm)


def test_trial_H14_plots_of_a_comparison_have_units(run, arm):
    labels = [axes.get_ylabel() for axes in compare(run, arm).figure().axes]
    assert labels[:2] == ["joint1\nposition, rad", "difference, rad"] and len(labels) == 14


def test_trial_H11_a_state_after_a_gap_lets_a_replay_go_on(arm, tmp_path):
    """Of a simulator, rows of which are left out by hand: what follows is not run again before a state is there, and then to the bit."""
    from base64 import b64encode
    sim = mbros.Simulator(arm, bench="arm7_servo")
    with sim.record(tmp_path / "gap.mcap") as recording:
        for k in range(400):
            sim.command(position={"joint2": 1e-3 * k})
            sim.step()
            if k in (99, 199, 249):
                recording.flush()
            if k == 149:
                recording._rows.clear()                     # 50 steps are lost
            if k == 249:
                recording.tape.event(250 * 10**6, {"kind": "state", "step": 250, "data": b64encode(sim.save()).decode()})
    report = mbros.replay(tmp_path / "gap.mcap")
    # the commands between are changes, which are flushed with the rows before them
    assert report.first_difference is None and not report.identical
    assert report.missing >= 1 and report.gaps >= 1 and report.steps + report.unverified + report.missing == 400, report
    assert report.steps >= 100 + 150 and "gap" in str(report), report


def test_trial_H11_what_was_changed_while_it_was_recorded_is_said(arm, tmp_path):
    """The model does not follow it, and the comparison says so, and when."""
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        for k in range(300):
            if k == 100:
                sim.state.damping[2] += 5.0
            if k == 200:
                sim.state.v[0] = 1.0
            sim.step({"joint2": float(k // 50)})
    found = compare(tmp_path / "run.mcap", arm, window=10.0)
    assert found.changed == pytest.approx((0.1, 0.2), abs=2e-3) and max(r.position_max for r in found.joints) > 1e-3
    when = ", ".join(f"{t:.3f} s" for t in found.changed)
    assert f"were changed while it was recorded, which the model here does not follow, at {when}: " in str(found)
