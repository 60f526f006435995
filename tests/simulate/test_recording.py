"""Recordings in MCAP: read by other readers, run again to the bit, refused where they are damaged; a full disk cuts them, nothing else."""
import subprocess
import sys
from pathlib import Path

import mbros
import numpy as np
import pytest
from mbros.errors import MissingPackageError
from mbros.record.recorder import RecorderError
from mbros.study.replay.recording_file import ReplayError
from mbros.record.ros_layouts import field_names

pytest.importorskip("mcap", reason="needs mbros[record]")
from damaged_recordings import rewritten        # noqa: E402


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm7")


def messages(path):
    """[(topic, log time, decoded message)], by another reader."""
    ros2 = pytest.importorskip("mcap_ros2.decoder", reason="another reader; pip install mcap-ros2-support")
    from mcap.reader import make_reader
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[ros2.DecoderFactory()])
        return [(channel.topic, message.log_time, decoded) for _, channel, message, decoded in reader.iter_decoded_messages()]


def test_another_reader_finds_every_step_with_its_command(arm, tmp_path):
    sim, states = mbros.Simulator(arm), []
    with sim.record(tmp_path / "run.mcap") as recording:
        for k in range(450):
            sim.step({"joint2": 0.01 * k})
            states.append((sim.state.q.copy(), sim.state.v.copy()))
    assert recording.summary() == f"recorded 451 steps of 23 signals in {tmp_path / 'run.mcap'}"
    found = messages(tmp_path / "run.mcap")
    rows = [m for topic, _, m in found if topic == "/mbros/signals"]
    joints = [m for topic, _, m in found if topic == "/joint_states"]
    assert [m.step for m in rows] == list(range(451)) and len(joints) == 451
    for k, (q, v) in enumerate(states):
        assert joints[k + 1].name == list(arm.joint_state_names)
        assert list(joints[k + 1].position) == list(q) and list(joints[k + 1].velocity) == list(v)
        assert rows[k + 1].joint2_position == q[1] and rows[k + 1].joint2_velocity == v[1] and rows[k + 1].joint2_command == 0.01 * k
        stamp = joints[k + 1].header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec == (k + 1) * 10**6
    assert [t for _, t, _ in found] == sorted(t for _, t, _ in found)


def test_signals_are_chosen_by_name(arm, tmp_path):
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap", signals=["joint*.position", "energy.kinetic"]):
        sim.advance_to(0.01)
    row = next(m for topic, _, m in messages(tmp_path / "run.mcap") if topic == "/mbros/signals")
    assert hasattr(row, "joint7_position") and hasattr(row, "energy_kinetic") and not hasattr(row, "joint7_velocity")
    assert mbros.replay(tmp_path / "run.mcap").identical
    with pytest.raises(mbros.UnknownNameError, match="elbow"):
        sim.record(tmp_path / "no.mcap", signals=["elbow.*"])
    assert sim._tape is None


def wild(sim, rng):
    """Whatever a user does between two steps."""
    model = sim.model
    for _ in range(12):
        what = int(rng.integers(11))
        if what == 0:
            sim.state.v += 0.1 * rng.normal(size=model.nv)
        elif what == 1:
            sim.state.damping[-1] += rng.random()
        elif what == 2:
            sim.reset()
        elif what == 3:
            sim.restore(sim.save())
        elif what == 4:
            sim.state.external_force[1] += rng.normal(size=6)
        elif what == 5:
            sim.run(0.02, effort=lambda time, state: np.sin(time) * np.ones(model.nv))
        elif what == 6:
            sim.step(rng.normal(size=model.nv))
        elif what == 8:
            sim.disturbances.apply_wrench(model.bodies[-1].name, force=5.0 * rng.normal(size=3), duration=float(rng.random()) * 0.05)
        elif what == 9:
            sim.disturbances.attach_payload(model.bodies[-1].name, mass=0.2)
        elif what == 10 and sim._disturbances is not None:
            sim.disturbances.clear()
        sim.advance_to(sim.time + 0.02, rng.normal(size=model.nv))


@pytest.mark.parametrize("name, options", [("arm7", {}), ("quadruped", {"ground": True}), ("humanoid", {"ground": True}), ("gripper", {}),
                                           ("four_bar", {}), ("diff_drive", {})])
@pytest.mark.filterwarnings("ignore::mbros.PositionLimitWarning")
def test_whatever_was_done_is_replayed_to_the_bit(name, options, tmp_path):
    model = mbros.load(name, **options)
    sim = mbros.Simulator(model)
    with sim.record(tmp_path / "run.mcap"):
        if model.constraints:
            sim.advance_to(0.3)
        else:
            wild(sim, np.random.default_rng(5))
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps >= 200, report
    assert mbros.replay(tmp_path / "run.mcap", model=model).identical


def test_what_pushes_the_robot_is_replayed(arm, tmp_path):
    """What began before the recording, and what came, was cleared, dropped or restored in it."""
    sim = mbros.Simulator(arm)
    payload = sim.disturbances.attach_payload("flange", mass=1.5, com=(0.0, 0.0, 0.05))
    sim.disturbances.apply_wrench("flange", force=(30.0, 0.0, 0.0), duration=0.04)
    sim.advance_to(0.02)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.03)
        sim.disturbances.apply_effort({"joint2": 5.0}, duration=0.05)
        blob = sim.save()
        sim.advance_to(0.06)
        sim.disturbances.drop_payload(payload)
        sim.disturbances.apply_wrench("link3", torque=(0.0, 0.0, 2.0), expressed_in="link3")
        sim.advance_to(0.1)
        sim.restore(blob)
        sim.advance_to(0.05)
        sim.disturbances.clear()
        sim.advance_to(0.1)
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps == 10 + 30 + 40 + 20 + 50, report


def test_a_source_is_replayed_from_the_first_step_on(arm, tmp_path):
    """Signals of a bench have come in no step yet; samples and modes between two steps are changes as others are."""
    bench = mbros.Bench()
    bench.add(mbros.JointSource("hardware", joint="joint2", timeout=0.05, safe="sim"))
    sim = mbros.Simulator(arm, bench=bench)
    with sim.record(tmp_path / "run.mcap"):
        for k in range(150):
            if k < 60:
                sim.feed(position={"joint2": 0.1 * np.sin(sim.time)}, velocity={"joint2": 0.1 * np.cos(sim.time)})
            if k == 10:
                sim.sources["joint2"] = "real"
            if k == 109:
                with pytest.warns(mbros.SourceWarning, match="no sample"):
                    sim.step()
            else:
                sim.step()
    report = mbros.replay(tmp_path / "run.mcap", bench=bench)
    assert report.identical and report.steps == 150, report


def test_a_bench_and_a_motion_are_replayed(arm, tmp_path):
    bench = mbros.Bench(seed=3)
    bench.add(mbros.PositionServo("servo", joint="joint2", kp=400.0, kd=20.0))
    bench.add(mbros.Encoder("encoder", joint="joint2", rate=500.0, counts=4096))
    bench.add(mbros.TorqueSensor("torque", joint="joint2", noise_density=0.1))
    sim = mbros.Simulator(arm, bench=bench)
    sim.prescribe("joint1", lambda t: ([np.sin(t)], [np.cos(t)], [-np.sin(t)]))
    sim.advance_to(0.1)
    with sim.record(tmp_path / "run.mcap"):
        for k in range(20):
            sim.command(position={"joint2": 0.01 * k})
            sim.advance_to(sim.time + 0.01)
    report = mbros.replay(tmp_path / "run.mcap", bench=bench)
    assert report.identical and report.steps == 200, report
    assert mbros.replay(tmp_path / "run.mcap").steps == 200            # the recording holds its bench
    with pytest.raises(mbros.SaveError, match="another one"):
        mbros.replay(tmp_path / "run.mcap", bench=mbros.Bench())


class Own(mbros.PositionServo):
    """A kind of which no file has heard."""

    type = "own_servo"


def test_trial_H11_a_recording_without_its_bench_says_so(arm, tmp_path):
    bench = mbros.Bench()
    bench.add(Own("servo", joint="joint2", kp=400.0))
    with mbros.Simulator(arm, bench=bench).record(tmp_path / "run.mcap"):
        pass
    with pytest.raises(ReplayError, match="simulated with a bench"):
        mbros.replay(tmp_path / "run.mcap")


def test_the_first_difference_is_named(arm, tmp_path):
    sim, seen = mbros.Simulator(arm), []
    with sim.record(tmp_path / "run.mcap"):
        for _ in range(30):
            sim.step({"joint2": 1.0})
            seen.append(float(sim.state.v[1]))
    data = (tmp_path / "run.mcap").read_bytes()
    other = np.nextafter(seen[16], 9.0)
    assert np.float64(seen[16]).tobytes() in data
    (tmp_path / "other.mcap").write_bytes(rewritten(data, np.random.default_rng(0), lambda name, part: (
        part.replace(np.float64(seen[16]).tobytes(), np.float64(other).tobytes()))))
    report = mbros.replay(tmp_path / "other.mcap")
    first = report.first_difference
    assert not report.identical and report.steps == 17, report
    assert (first.step, first.signal, first.recorded, first.again) == (17, "joint2.velocity", other, seen[16])
    done = subprocess.run([sys.executable, "-m", "mbros", "replay", str(tmp_path / "other.mcap"), "--verify"], capture_output=True,
                          text=True)
    assert done.returncode == 1 and "differs after 17 steps: step 17: joint2.velocity was " in done.stdout, done


def test_the_command_line(tmp_path):
    def mbros_command(*words):
        return subprocess.run([sys.executable, "-m", "mbros", *words], capture_output=True, text=True, cwd=tmp_path)

    done = mbros_command("run", "quadruped", "--ground", "--duration", "0.2", "--record", "run.mcap")
    assert done.returncode == 0 and "recorded 201 steps of 57 signals in run.mcap" in done.stdout, done
    done = mbros_command("replay", "run.mcap", "--verify")
    assert (done.returncode, done.stdout) == (0, "run.mcap: bit-identical, 200 steps\n"), done
    done = mbros_command("replay", "none.mcap")
    assert done.returncode == 2 and "cannot be read" in done.stderr


def test_what_is_no_recording_is_refused(arm, tmp_path):
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.05)
    data = (tmp_path / "run.mcap").read_bytes()
    for name, content in (("cut.mcap", data[:len(data) // 2]), ("empty.mcap", b""), ("text.mcap", b"hello"), ("ends.mcap", data[:-3])):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(mbros.MbrosError, match=name):
            mbros.replay(tmp_path / name)
    with pytest.raises(mbros.SaveError, match="another model"):
        mbros.replay(tmp_path / "run.mcap", model=mbros.load("arm6"))
    with pytest.raises(RecorderError, match="cannot be written"):
        sim.record(tmp_path / "none" / "run.mcap")
    with sim.record(tmp_path / "a.mcap"), pytest.raises(mbros.MbrosError, match="being recorded already"):
        sim.record(tmp_path / "b.mcap")
    with pytest.raises(mbros.MbrosError, match="expected True"):
        mbros.replay(tmp_path / "run.mcap", verify=False)


@pytest.mark.parametrize("event, words", [(b"{", "no JSON"), (b'{"kind": "change", "state": [[999999], [1.0]]}', "is not of this robot"),
                                          (b'{"kind": "reset"}', "q is None, expected numbers"), (b'{"kind": "later"}', "does not know")])
def test_an_event_that_was_edited_is_refused(arm, tmp_path, monkeypatch, event, words):
    monkeypatch.setattr("mbros.study.replay.recording_file.string_in", lambda data: event.decode())
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.01)
        sim.state.q[1] = 0.3                        # a change, whose place the edited one takes
        sim.advance_to(0.02)
    with pytest.raises(ReplayError, match=words):
        mbros.replay(tmp_path / "run.mcap")


FULL = """
import mbros, resource, sys
sim = mbros.Simulator(mbros.load("arm7"))
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
try:
    with sim.record(sys.argv[1]) as recording:
        sim.advance_to(30.0)
except mbros.MbrosError as error:
    print(type(error).__name__, error)
assert sim.time == {time}
"""


def test_a_full_disk_cuts_the_recording_and_not_the_file(tmp_path):
    """A limit on the size of files is a full disk to who writes."""
    path = tmp_path / "run.mcap"
    done = subprocess.run([sys.executable, "-B", "-c", FULL.format(limit=9 << 20, time=30.0), str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and "RecorderError" in done.stdout and "steps were left out" in done.stdout, done
    assert 3 << 20 < path.stat().st_size < 9 << 20
    report = mbros.replay(path)
    assert report.identical and report.steps > 5000, report
    done = subprocess.run([sys.executable, "-B", "-c", FULL.format(limit=1 << 20, time=0.0), str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and "nothing can be recorded there" in done.stdout, done


def test_a_folder_is_a_bag(arm, tmp_path):
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "bag"):
        sim.advance_to(0.3)
    high = pytest.importorskip("rosbags.highlevel", reason="another reader; pip install rosbags")
    with high.AnyReader([tmp_path / "bag"]) as reader:
        assert reader.message_count == 604 and reader.duration == 300_000_001
        assert {c.topic: c.msgtype for c in reader.connections if c.msgcount} == {
            "/joint_states": "sensor_msgs/msg/JointState", "/joint_commands": "sensor_msgs/msg/JointState",
            "/mbros/signals": "mbros_recorded/msg/Signals", "/robot_description": "std_msgs/msg/String"}
    assert mbros.replay(tmp_path / "bag").identical


def test_a_simulator_that_is_recorded_is_copied_without_its_recording(arm, tmp_path):
    import copy
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        twin = copy.copy(sim)
        twin.advance_to(0.5)
        sim.advance_to(0.1)
    assert mbros.replay(tmp_path / "run.mcap").steps == 100


def test_trial_R23_the_description_is_a_message_at_the_beginning(arm, tmp_path):
    """One, so that robot_state_publisher, which `ros2 bag play` feeds, makes frames of it and of joint_states."""
    from mbros.record.mcap_reading import McapReading

    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.5)
    file = McapReading(tmp_path / "run.mcap", mbros.MbrosError)
    texts = [bytes(message.data) for _, _, message in file.messages(("/robot_description",))]
    assert len(texts) == 1 and arm.description.text.encode() in texts[0]


def test_names_of_fields():
    assert field_names(["joint2.position", "FL_hip.velocity", "wrist.imu.angular_velocity[0]", "a b", "a_b", "7", "joint2_position",
                        "Ω"]) == [
        "joint2_position", "fl_hip_velocity", "wrist_imu_angular_velocity_0", "a_b", "a_b_2", "s_7", "joint2_position_2", "s"]


def test_without_the_package_it_says_what_to_install(arm, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcap", None)
    with pytest.raises(MissingPackageError, match="mbros\\[record\\]"):
        mbros.Simulator(arm).record(tmp_path / "run.mcap")
    assert not list(Path(tmp_path).iterdir())


TIMES = """
import sys, mbros
for time in (-5.0, 1e11):
    sim = mbros.Simulator(mbros.load("pendulum"))
    sim.state.time = time
    saved = sim.save()                                      # a file may say so, too
    sim = mbros.Simulator(mbros.load("pendulum"))
    recording = sim.record(sys.argv[1])
    for k in range(4000):
        if k == 1000:
            sim.restore(saved)
        sim.step()
    for call in (recording.close, lambda: sim.record(sys.argv[1])):
        try:
            call()
        except mbros.MbrosError as error:
            print(error)
from mbros.record.tape import Tape
Tape._write_rows = lambda *more: 1 / 0
sim = mbros.Simulator(mbros.load("pendulum"))
try:
    with sim.record(sys.argv[1]):
        for _ in range(4000):
            sim.step()
except mbros.MbrosError as error:
    print(error)
"""


def test_a_time_that_no_stamp_has_ends_the_recording_and_is_not_waited_for(tmp_path):
    """The thread that writes ended, and what is recorded waited for it for ever."""
    done = subprocess.run([sys.executable, "-c", TIMES, str(tmp_path / "run.mcap")], capture_output=True, text=True, timeout=60)
    said = done.stdout.splitlines()
    assert done.returncode == 0 and len(said) == 5 and done.stderr.count("MbrosWarning: recording") == 3, done.stdout + done.stderr
    for line, time in zip(said, ("-5 s", "-2 s", "1e+11 s", "1e+11 s")):
        assert f"the simulated time is {time}; expected 0 to 2^31 s, as stamps" in line
    assert "recording ended early: ZeroDivisionError: division by zero" in said[4]
