"""Recordings of anybody: they name files that are not opened, promise sizes that they have not, and end in a sentence, in little memory."""
import builtins
import io
import json
import os
import struct
import subprocess
import sys

import mbros
import numpy as np
import pytest
from mbros.cli import main

pytest.importorskip("mcap", reason="needs mbros[record]")
import lz4.frame                                                        # noqa: E402
import zstandard                                                        # noqa: E402
from damaged_recordings import rewritten                                # noqa: E402
from mcap.reader import make_reader                                     # noqa: E402
from mcap.writer import Writer                                         # noqa: E402
from mbros.study.replay.compare import compare                              # noqa: E402
from mbros.record.mcap_file import McapFile                         # noqa: E402
from mbros.record.mcap_reading import AND, DATA_END, TIMES, McapReading    # noqa: E402
from mbros.study.replay.recording_file import ReplayError, RecordingFile    # noqa: E402
from mbros.study.replay.robot_recording import RobotRecordingError, joint_state     # noqa: E402
from mbros.record.ros_layouts import joint_state as layout_of, put_stamps     # noqa: E402
from recorded_robots import write_topics                                # noqa: E402

SCENE = "ground: true\nrobots:\n  a: {robot: quadruped, p: [0, 0], xacro_args: {}}\n  b: {robot: %s, p: [2, 0, 0]}\nobjects:\n" \
        "  box: {shape: box, size: [0.1, 0.1, 0.1], mass: 1.0, p: [1, 1]}\n"
XACRO = """<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="o" value="${open('%s', 'w').write('run')}"/>
<link name="${o}"/></robot>"""


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm7")


@pytest.fixture(scope="module")
def recorded(arm, tmp_path_factory):
    """The bytes of a recording of a few steps."""
    path = tmp_path_factory.mktemp("whole") / "run.mcap"
    with mbros.Simulator(arm).record(path) as recording:
        recording.simulator.advance_to(0.01)
    return path.read_bytes()


def edited(blob, about=None, attached=None, without=()):
    """The same with other words in its note, and other attachments."""
    out, reader = io.BytesIO(), make_reader(io.BytesIO(blob))
    writer = Writer(out)
    writer.start("ros2", "test")
    for note in reader.iter_metadata():
        words = {**json.loads(note.metadata["about"]), **(about or {})}
        writer.add_metadata(note.name, {"about": json.dumps(words)})
    pieces = {piece.name: piece.data for piece in reader.iter_attachments() if piece.name not in without}
    for name, data in {**pieces, **(attached or {})}.items():
        writer.add_attachment(0, 0, name, "", data)
    schemas = {}
    for schema, channel, message in reader.iter_messages(log_time_order=False):
        if channel.topic not in schemas:
            schemas[channel.topic] = writer.register_channel(channel.topic, "cdr", writer.register_schema(schema.name, "", schema.data), {})
        writer.add_message(schemas[channel.topic], message.log_time, message.data, message.publish_time)
    writer.finish()
    return out.getvalue()


# ---------------------------------------------------------------------------------------------------------------- what they name


@pytest.mark.parametrize("kind", ["scene", "urdf", "xacro", "bench", "fifo"])
def test_trial_X6_no_file_that_a_recording_names_is_opened(recorded, kind, tmp_path, monkeypatch):
    ran, there, run = tmp_path / "ran", tmp_path / f"named.{'yaml' if kind in ('scene', 'bench', 'fifo') else kind}", tmp_path / "run.mcap"
    (tmp_path / "evil.xacro").write_text(XACRO % ran)
    if kind == "fifo":
        os.mkfifo(there)
    else:
        there.write_text({"scene": f"robots:\n  a: {{robot: {tmp_path / 'evil.xacro'}}}\n", "bench": "seed: 1\n", "xacro": XACRO % ran,
                          "urdf": "<robot name='r'><link name='a'/></robot>"}[kind])
    words = {"bench": str(there)} if kind == "bench" else {"robot": str(there)}
    run.write_bytes(edited(recorded, words, without=() if kind == "bench" else ("robot.urdf",)))
    opened = []
    for where, name in ((builtins, "open"), (io, "open"), (os, "open")):
        real = getattr(where, name)
        monkeypatch.setattr(where, name, lambda path, *given, real=real, **named: opened.append(str(path)) or real(path, *given, **named))
    if kind == "bench":
        file = RecordingFile(run)
        with pytest.raises(ReplayError, match="give it: mbros replay --bench"):
            file.bench(mbros.load("arm7"))
        file.close()
    else:
        with pytest.raises(ReplayError, match="run.mcap only names its scene.*mbros replay --robot SCENE"):
            mbros.replay(run)
    assert opened and not ran.exists() and not any(str(there) in name or "evil" in name for name in opened)


def _written(path, blob):
    path.write_bytes(blob)
    return path


@pytest.mark.parametrize("robot, words", [("evil.xacro", "which the recording does not hold"), ("package://evil/x.urdf", "does not hold"),
                                          ("arm7, bench: /etc/bench.yaml", "a bench"), ("arm7, srdf: /etc/a.srdf", "an SRDF")])
def test_trial_X6_a_scene_in_a_recording_names_no_file_either(arm, recorded, robot, words, tmp_path):
    ran, run = tmp_path / "ran", tmp_path / "run.mcap"
    (tmp_path / "evil.xacro").write_text(XACRO % ran)
    scene = SCENE % (str(tmp_path / robot) if robot.startswith("evil") else robot)
    run.write_bytes(edited(recorded, attached={"scene.json": json.dumps({"scene": scene, "robots": {}}).encode()}))
    with pytest.raises(ReplayError, match=f"the attached scene alone.*{words}"):
        mbros.replay(run)
    assert not ran.exists()


def test_trial_X6_what_is_attached_is_text_and_nothing_else(recorded, tmp_path):
    ran, run = tmp_path / "ran", tmp_path / "run.mcap"
    mesh = SCENE.split("  b:")[0] + "objects:\n  m: {shape: mesh, mesh: /etc/x.stl, mass: 1, inertia: [1, 1, 1]}\n"
    for held in (mesh, XACRO % ran, "[" * 5000, "robots: {a: {robot: \"" + (XACRO % ran).replace('"', '\\"').replace("\n", "") + "\"}}"):
        run.write_bytes(edited(recorded, attached={"scene.json": json.dumps({"scene": held, "robots": {}}).encode()}))
        with pytest.raises(ReplayError, match="run.mcap"):
            mbros.replay(run)
    for data in (b"[", b"{}", b'{"scene": 3, "robots": {}}', b'{"scene": "a: 1", "robots": {"a": 3}}', b"[" * 100_000):
        run.write_bytes(edited(recorded, attached={"scene.json": data}))
        with pytest.raises(ReplayError, match="run.mcap: the attached scene"):
            mbros.replay(run)
    run.write_bytes(edited(recorded, attached={"robot.urdf": (XACRO % ran).encode()}))
    with pytest.raises(ReplayError, match="the attached URDF alone"):
        mbros.replay(run)
    assert not ran.exists()


def test_trial_X6_a_recording_holds_its_scene(tmp_path, monkeypatch):
    """xacro of a package of this machine, expanded before; what is in the recording is URDF, and needs neither file."""
    pytest.importorskip("xacro", reason="needs mbros[robots]")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "arm.urdf.xacro").write_text('<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:arg name="m" default="1"/>'
        '<link name="a"/><link name="b"><inertial><mass value="$(arg m)"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        '</inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>')
    scene = tmp_path / "cell.yaml"
    scene.write_text(SCENE % "package://bench/arm.urdf.xacro, xacro_args: {m: 2.5}, bench: none")
    sim = mbros.Simulator(mbros.load(scene))
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.02)
    for name in ("cell.yaml", "bench/arm.urdf.xacro"):
        (tmp_path / name).unlink()
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps == 20


def test_trial_X6_models_are_compared_before_anything_is_simulated(arm, recorded, tmp_path, monkeypatch):
    run = _written(tmp_path / "run.mcap", recorded)
    monkeypatch.setattr("mbros.study.replay.replay.Simulator", lambda *given, **named: pytest.fail("simulated"))
    with pytest.raises(mbros.SaveError, match="of another model"):
        mbros.replay(run, model=mbros.load("arm6"))


# ---------------------------------------------------------------------------------------------------------------- what they promise


def chunk(data, size, how):
    """A chunk record."""
    head = struct.pack("<QQQII", 0, 0, size, 0, len(how)) + how.encode() + struct.pack("<Q", len(data))
    return struct.pack("<BQ", 6, len(head) + len(data)) + head + data


def with_chunks(blob, *chunks):
    """The recording, with these before what it holds, and without the checksum of all."""
    end = blob.rindex(struct.pack("<BQ", DATA_END, 4)) + 9
    return blob[:8] + b"".join(chunks) + blob[8:end] + bytes(4) + blob[end + 4:]


def packed(data, how):
    return zstandard.ZstdCompressor(3).compress(data) if how == "zstd" else lz4.frame.compress(data)


LIMIT = 1 << 30         # of memory, in bytes: some hundred more than what Python and NumPy take
BOUNDED = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, ({limit} << 2, resource.RLIM_INFINITY))
import mbros
from mbros.study.replay.compare import compare
try:
    {what}
except mbros.MbrosError as error:
    print(error)
print(next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""


@pytest.mark.parametrize("what", ["zeros", "honest", "many", "rows"])
def test_trial_X6_what_a_recording_unpacks_to_has_a_limit(recorded, what, tmp_path):
    """113 kB took 5.8 GB."""
    path, zeros = tmp_path / "bomb.mcap", bytes(64 << 20)
    if what == "rows":                      # many small messages, of which each would be kept
        layout = layout_of(["joint1"])
        message = layout.messages(1).tobytes()
        body = struct.pack("<HIQQ", 9, 0, 0, 0) + message
        one = struct.pack("<BQ", 5, len(body)) + body
        named = [struct.pack("<H", 9), b"\0\0", _text("/joint_states"), _text("cdr"), struct.pack("<I", 0)]
        schema = struct.pack("<H", 9) + _text(layout.name) + _text("ros2msg") + struct.pack("<I", 0)
        channel = named[0] + struct.pack("<H", 9) + b"".join(named[2:])
        data = b"".join(struct.pack("<BQ", kind, len(x)) + x for kind, x in ((3, schema), (4, channel))) + one * (2_000_000 // len(one))
        blob = with_chunks(recorded, *[chunk(packed(data, "zstd"), len(data), "zstd")] * 16)       # more than AND and TIMES the file
    else:
        each = {"zeros": [chunk(packed(zeros, how), 100, how) for how in ("zstd", "lz4")],
                "honest": [chunk(packed(zeros * 8, "zstd"), len(zeros) * 8, "zstd")],
                "many": [chunk(packed(zeros, "zstd"), len(zeros), "zstd")] * 50}[what]
        blob = with_chunks(recorded, *each)
    path.write_bytes(blob)
    asked = f"mbros.replay({str(path)!r})"
    if what == "rows":
        asked = f"mbros.record.mcap_reading.AND = 1 << 21; compare({str(path)!r}, mbros.load('arm7'), bench=False)"
    done = subprocess.run([sys.executable, "-c", BOUNDED.format(limit=LIMIT, what=asked)], capture_output=True, text=True, timeout=60)
    said, took = done.stdout.splitlines()[0], int(done.stdout.split()[-1])
    assert done.returncode == 0 and "bomb.mcap is no MCAP file, was cut off or is damaged: at byte " in said, done
    assert ("bytes are in it, and there are more" if what == "zeros" else "a chunk says that") in said, said
    assert took < LIMIT, (took, said)


def _text(word):
    return struct.pack("<I", len(word)) + word.encode()


@pytest.mark.parametrize("bad, why", [
    (struct.pack("<BQ", 0, 0), "there is no record"), (struct.pack("<BQ", 6, 2**63), "bytes follow, and there are"),
    (struct.pack("<BQ", 9, 5) + b"abcde", "ends too soon"), (chunk(b"abc", 3, ""), "ends too soon"),
    (chunk(b"abc", 9, "zstd"), "ZstdError"),
    (chunk(b"abc", 3, "brotli"), "compressed by 'brotli'"), (chunk(struct.pack("<BQ", 5, 2**60), 9, ""), "bytes follow in a chunk"),
    (chunk(struct.pack("<BQ", 5, 4) + b"abcd", 13, ""), "a message has 4 bytes"),
    (chunk(struct.pack("<BQ", 5, 22) + bytes(22), 31, ""), "channel 0, of which nothing is said"),
    (chunk(struct.pack("<BQ", 4, 100) + bytes(100), 109, "")[:60], "bytes follow")], ids=lambda of: of if isinstance(of, str) else "")
def test_trial_X6_what_is_damaged_is_one_sentence_with_its_place(recorded, bad, why, tmp_path):
    path = _written(tmp_path / "bad.mcap", with_chunks(recorded, bad))
    with pytest.raises(ReplayError, match=f"bad.mcap is no MCAP file, was cut off or is damaged: at byte [0-9]+: .*{why}"):
        mbros.replay(path)


def test_trial_X6_indexes_and_summaries_are_not_believed(recorded, arm, tmp_path):
    """Whatever the end of the file says of the rest."""
    rng, at = np.random.default_rng(3), recorded.rindex(struct.pack("<BQ", DATA_END, 4))
    for _ in range(20):
        end = bytearray(recorded[at + 13:-8])
        for k in rng.integers(len(end), size=30):
            end[k] = rng.integers(256)
        path = _written(tmp_path / "run.mcap", recorded[:at + 13] + bytes(end) + recorded[-8:])
        assert mbros.replay(path).identical


def test_trial_X6_pipes_devices_and_sparse_files_are_refused_at_once(recorded, tmp_path):
    os.mkfifo(tmp_path / "fifo.mcap")
    with open(tmp_path / "sparse.mcap", "wb") as file:
        file.write(recorded[:8])
        file.truncate(1 << 40)
    with open(tmp_path / "hollow.mcap", "wb") as file:
        file.write(recorded[:8])
        file.seek((1 << 40) - 8)
        file.write(recorded[-8:])
    for name in ("fifo.mcap", "sparse.mcap", "hollow.mcap", "/dev/zero", "/dev/stdin"):
        with pytest.raises(mbros.MbrosError, match=os.path.basename(name)):
            mbros.replay(tmp_path / name)
    os.mkfifo(tmp_path / "fifo.mbros")
    with open(tmp_path / "sparse.mbros", "wb") as file:
        file.truncate(1 << 40)
    for name in ("fifo.mbros", "sparse.mbros", "/dev/zero"):
        with pytest.raises(mbros.SaveError, match=os.path.basename(name)):
            mbros.Simulator(mbros.load("pendulum")).restore(tmp_path / name)


def test_trial_X6_messages_of_many_names_are_refused():
    data = b"\0\1\0\0" + bytes(8) + struct.pack("<I", 0) + struct.pack("<I", 2**31) + bytes(1000)
    with pytest.raises(RobotRecordingError, match="2147483648 entries"):
        joint_state(data)


def test_trial_X6_names_in_a_recording_are_shown_with_their_escapes(arm, tmp_path, capsys):
    states = tmp_path / "robot.mcap"
    file, names = McapFile(states), layout_of([*arm.joint_state_names, "\x1b[2J\nmbros: forged"])
    file.channel("/joint_states", names.name, names.definition)
    messages, stamps = names.messages(50), np.arange(50) * 10**7
    put_stamps(messages, stamps)
    messages["position"] = messages["velocity"] = messages["effort"] = 0.0
    file.add("/joint_states", stamps.tolist(), messages)
    file.close()
    assert main(["replay", str(states), "--compare", "--robot", "arm7"]) == 0
    said = capsys.readouterr().out
    assert "\x1b[2J" not in said and "\\x1b[2J\\nmbros: forged" in said


def test_trial_X6_stamps_of_years_are_refused(arm, tmp_path):
    stamps = np.append(np.arange(50) * 10**7, 2 * 10**18)
    write_topics(tmp_path / "years.mcap", arm, {"/joint_states": (stamps, np.zeros((51, 7)), np.zeros((51, 7)), np.zeros((51, 7)))})
    with pytest.raises(mbros.MbrosError, match="years.mcap: /joint_states: its states are of 2e.09 s, which are more than"):
        compare(tmp_path / "years.mcap", arm)


def test_what_an_honest_recording_packs_is_read(recorded, arm, tmp_path):
    """Chunks of each compression, and the limits of what they hold."""
    for seed in range(6):
        path = _written(tmp_path / "run.mcap", rewritten(recorded, np.random.default_rng(seed), lambda name, data: data))
        assert mbros.replay(path).identical
    reading = McapReading(tmp_path / "run.mcap", ReplayError)
    assert sum(1 for _ in reading.messages(("/joint_states",))) == 11
    reading.close()
    assert TIMES >= 100 and AND >= 1 << 24
