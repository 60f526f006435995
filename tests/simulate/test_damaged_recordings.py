"""Recordings that are damaged: MBROS_MUTANTS (400) of them are refused in a sentence with the file's name, or replayed; nothing else."""
import os

import mbros
import numpy as np
import pytest
from mbros.cli import main
from mbros.study.replay import replay as replays

pytest.importorskip("mcap", reason="needs mbros[record]")
from damaged_recordings import damaged, finite, rewritten, with_event_of_a_node        # noqa: E402
from mbros.study.replay.compare import compare                      # noqa: E402
from mbros.study.replay.recording_file import ReplayError           # noqa: E402
from mbros.record.ros_layouts import string                   # noqa: E402

MUTANTS = int(os.environ.get("MBROS_MUTANTS", "400"))
PARTS = ["note", "robot.urdf", "start.mbros", "/mbros/signals", "/mbros/events", "/joint_states"]


@pytest.fixture(scope="module")
def arm():
    return mbros.load("arm7")


@pytest.fixture(scope="module")
def bench():
    bench = mbros.Bench(seed=3)
    bench.add(mbros.PositionServo("servo", joint="joint2", kp=400.0, kd=20.0))
    bench.add(mbros.Encoder("encoder", joint="joint2", rate=500.0, counts=4096))
    bench.add(mbros.Channel(signal="joint2.command.*", delay=0.002, jitter=0.001))
    return bench


def recorded(path, arm, bench=None):
    """The bytes of a recording with events of each part that a simulator changes."""
    sim = mbros.Simulator(arm, bench=bench)
    with sim.record(path):
        sim.advance_to(0.01)
        sim.state.damping[1] = 0.3
        sim.disturbances.apply_wrench("flange", force=(1.0, 0.0, 0.0))
        sim.advance_to(0.02)
        sim.state.q[3] += 0.1
        if bench is not None:
            sim.command(position={"joint2": 0.2})
        sim.advance_to(0.03)
    return path.read_bytes()


def refused(path, ask):
    """Whether ask() is refused, with the file's name, as it is where it does not return."""
    try:
        ask()
    except mbros.MbrosError as error:
        assert path.name in str(error), error
        return True
    return False


@pytest.mark.filterwarnings("ignore::mbros.MbrosWarning")
@pytest.mark.parametrize("seed, with_bench, of_a_node", [(0, False, False), (1, True, False), (2, False, True), (3, True, True)])
def test_what_is_damaged_is_refused_in_a_sentence(arm, bench, seed, with_bench, of_a_node, tmp_path, monkeypatch):
    given = bench if with_bench else None
    whole, rng, path = recorded(tmp_path / "run.mcap", arm, given), np.random.default_rng(seed), tmp_path / "bad.mcap"
    sim = mbros.Simulator(arm, bench=given)
    plants, ran = [], replays.run_again
    monkeypatch.setattr(replays, "run_again", lambda file, again, *rest: (plants.append(again.plant), ran(file, again, *rest))[1])
    counts = [0, 0]
    for _ in range(MUTANTS // 4):
        blob = with_event_of_a_node(whole, rng, sim) if of_a_node else whole
        path.write_bytes(damaged(blob, rng, PARTS))
        no = refused(path, lambda: mbros.replay(path, bench=given, model=None if rng.integers(4) == 0 else arm))
        assert no or all(map(finite, plants))
        counts[no] += 1
        plants.clear()
        if rng.integers(8) == 0:
            refused(path, lambda: compare(path, arm, bench=False))
    assert min(counts) > MUTANTS // 40, counts


@pytest.mark.filterwarnings("ignore::mbros.MbrosWarning")
def test_the_command_says_it_in_one_sentence(arm, tmp_path, capsys):
    blob, rng, path = recorded(tmp_path / "run.mcap", arm), np.random.default_rng(7), tmp_path / "bad.mcap"
    for k in range(max(40, MUTANTS // 20)):
        path.write_bytes(damaged(blob, rng, PARTS))
        code, said = main(["replay", str(path)] + ["--compare", "--robot", "arm7"] * (k % 4 == 0)), capsys.readouterr()
        assert code in (0, 1, 2) and "should not be" not in said.err and "Traceback" not in said.err, said
        assert code != 2 or (said.err.startswith("mbros: ") and "bad.mcap" in said.err), said


def test_an_attached_urdf_that_is_no_text_is_named(arm, tmp_path, capsys):
    blob = recorded(tmp_path / "run.mcap", arm)
    (tmp_path / "bad.mcap").write_bytes(rewritten(blob, np.random.default_rng(0), lambda name, data: (
        data.replace(b"<robot", b"<robo\xff") if name == "robot.urdf" else data)))
    assert main(["replay", str(tmp_path / "bad.mcap")]) == 2
    assert "bad.mcap: the attached robot.urdf is no text in UTF-8 (invalid start byte at byte " in capsys.readouterr().err
    assert mbros.replay(tmp_path / "bad.mcap", model=arm).identical


@pytest.mark.parametrize("whole_file", [True, False])
def test_trial_H4_every_bit_that_changed_is_told_as_damage(arm, tmp_path, whole_file):
    blob, rng, path = bytearray(recorded(tmp_path / "run.mcap", arm)), np.random.default_rng(4), tmp_path / "bad.mcap"
    end = blob.rfind(b"\x0f\x04" + bytes(7))              # of what is not said twice; their checksum is there
    if not whole_file:                                      # as many other writers have it: only chunks and attachments have one
        blob[end + 9:end + 13] = bytes(4)
    assert mbros.replay(path_of(path, blob), model=arm).identical
    places = [(8, end)] if whole_file else [(blob.find(b"<robot"), 4000), (blob.find(b"/mbros/signals") + 40, 4000)]
    for k in range(60):
        begin, size = places[k % len(places)]
        flipped = bytearray(blob)
        flipped[begin + int(rng.integers(size))] ^= 1 << int(rng.integers(8))
        with pytest.raises(ReplayError, match="bad.mcap is no MCAP file, was cut off or is damaged: at byte .*; record again, or"):
            mbros.replay(path_of(path, flipped), model=arm)


def path_of(path, blob):
    path.write_bytes(blob)
    return path


EVENTS = ["[1]", "3", '{"kind": []}', '{"kind": "change", "state": 3}', '{"kind": "change", "state": [[1], [NaN]]}',
          '{"kind": "change", "state": [[1], [Infinity]]}', '{"kind": "change", "state": [[1], [1e999]]}',
          '{"kind": "change", "state": [[-1], [0.0]]}', '{"kind": "change", "state": [[1], [1%s]]}' % ("0" * 400),
          '{"kind": "change", "state": [[true], [1.0]]}', '{"kind": "change", "disturbances": [[1], [NaN]]}',
          '{"kind": "disturbances", "table": [[1], [1, 2]]}', '{"kind": "start", "data": "x"}', '{"kind": "set_state", "q": [1e11]}',
          "[" * 5000]


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_that_mbros_does_not_write_is_refused(arm, tmp_path, event):
    blob = recorded(tmp_path / "run.mcap", arm)
    (tmp_path / "bad.mcap").write_bytes(rewritten(blob, np.random.default_rng(0), lambda name, data: (
        string(event) if name == "/mbros/events" else data)))
    with pytest.raises(ReplayError, match="bad.mcap: an event"):
        mbros.replay(tmp_path / "bad.mcap")


def test_a_change_that_no_step_could_take_leaves_nothing_in_the_recording(arm, tmp_path):
    sim = mbros.Simulator(arm)
    with sim.record(tmp_path / "run.mcap"):
        sim.advance_to(0.01)
        before = float(sim.state.q[1])
        for bad in (np.nan, 1e12):
            sim.state.q[1] = bad
            with pytest.raises(mbros.FaultError):
                sim.step()
            sim.state.q[1] = before
            sim.plant._take_over(sim.plant.effort, 0.0, 0, -1)          # no fault any more
            sim.step()
    report = mbros.replay(tmp_path / "run.mcap")
    assert report.identical and report.steps == 12, report
