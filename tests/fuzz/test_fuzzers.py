"""The fuzzers themselves: that they try, that a finding ends them with what repeats it, that their corpus is what it is said to be."""
import random
import sys

import pytest

from tests.fuzz import __main__ as command, decoder, files, findings, mjcf, recordings, urdf


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Findings of these tests are not the project's."""
    monkeypatch.setattr(findings, "FINDINGS", tmp_path / "findings")
    monkeypatch.setattr(findings, "ROOT", tmp_path)
    return tmp_path


def test_messages_are_decoded_or_dropped():
    assert decoder.run(0.0, seed=3, count=5000) == 5000


def test_the_changes_reach_every_part_of_the_decoder():
    """Changed messages are still accepted now and then, and dropped for nearly every reason there is."""
    from mbros.ros.wire._dataplane import REASON_NAMES

    rng, kept, ports = random.Random(1), decoder.seeds(), decoder.new_inputs()
    seen = {port.decode(decoder.changed(rng, kept), decoder.WALL)[0] for _ in range(20_000) for port in ports}
    assert {"accepted", "malformed", "beyond_limits", "too_fast"} <= seen and len(seen) >= len(REASON_NAMES) - 2, seen


@pytest.mark.parametrize("answer", [("no such reason", None), ("accepted", None), ("wrong_size", [1.0])])
def test_a_wrong_answer_is_a_finding(answer, elsewhere, capsys):
    class Port:
        def decode(self, data, wall):
            return answer

    with pytest.raises(SystemExit):
        findings.attempt("decoder", b"message", lambda data: decoder.check(data, [Port()], ("accepted", "wrong_size")))
    said = capsys.readouterr().out
    (kept,) = (path for path in (elsewhere / "findings").iterdir() if path.suffix != ".txt")
    assert kept.read_bytes() == b"message"
    assert f"{sys.executable} -m tests.fuzz decoder --repeat findings/{kept.name}" in said


def test_what_kills_the_process_is_in_the_journal(tmp_path):
    path = tmp_path / "journal"
    findings.Journal(path).write(b"the last message")
    assert findings.Journal.read(path) == b"the last message"


@pytest.mark.parametrize("text", [b"", b"<robot", b"<robot name='r'><link name='a'/></robot>", b"\xff\xfe", b"/dev/zero"])
def test_texts_give_a_robot_or_words(text):
    urdf.check(text)


def test_changed_files_are_read_or_refused():
    assert files.run(0.0, seed=2, count=60) == 60


def test_changed_mjcf_is_read_or_refused():
    assert mjcf.run(0.0, seed=2, count=100) == 100


def test_the_corpus_is_robots():
    import mbros

    for path in sorted([*(findings.CORPUS / "urdf").glob("*.urdf"), *(findings.CORPUS / "mjcf").glob("*.xml")]):
        assert mbros.load(path).nv > 0


def test_atheris_starts_from_the_corpus_and_the_robots_of_mbros(elsewhere, monkeypatch):
    pytest.importorskip("atheris")
    monkeypatch.setattr(urdf, "FINDINGS", elsewhere / "findings")
    assert urdf.run(0.0, seed=1, count=20) >= 20
    assert not list((elsewhere / "findings").iterdir())


def test_atheris_missing_is_said(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "atheris", None)
    monkeypatch.setattr(sys, "argv", ["fuzz", "urdf"])
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    assert command.main() == 2
    assert "atheris, which is not installed: pip install 'mbros[test]'" in capsys.readouterr().err


def test_recordings_are_replayed_or_refused(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    assert recordings.run(0.0, seed=3, count=60) == 60
    assert recordings.repeat(recordings.whole(tmp_path)) == 3
