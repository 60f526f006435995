"""What is written to terminals: tables, progress, a screen that is cut to size."""
import io

from mbros.cli.demonstration.show import Screen, hertz, lateness
from mbros.cli.terminal import Progress, number, span, table


class Tty(io.StringIO):
    def isatty(self):
        return True


def test_a_table_is_aligned():
    assert table(["joint", "lower"], [["a", "-1"], ["long name", "2.5"]], indent="") == [
        "joint      lower", "a             -1", "long name    2.5"]


def test_numbers_and_spans():
    assert [number(x) for x in (float("inf"), -float("inf"), 0.0, 2.8973, 87.0)] == ["-", "-", "0", "2.897", "87"]
    assert [span(x) for x in (3e-6, 83.2e-6, 0.9994e-3, 1.5e-3, 0.25, 3.456, 120.0)] == [
        "3 us", "83.2 us", "999 us", "1.5 ms", "250 ms", "3.46 s", "120 s"]


def test_progress_is_rewritten_on_a_terminal_and_nowhere_else(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    screen = Tty()
    line = Progress(screen)
    line.show("x" * 50)
    line.clear()
    assert screen.getvalue() == "\r\x1b[K" + "x" * 19 + "\r\x1b[K"
    file = io.StringIO()
    line = Progress(file)
    assert not line.due                             # a short job says nothing to a log file
    line.show("half")
    line.clear()
    assert file.getvalue() == "half\n"


REPORT = {"poses": 3, "done": False, "succeeded": False, "results": [["j", 2e-4, "rad", True], ["s", 0.1, "m", False]],
          "joints": [["j", "rad", 0.5, 1e-3, 12.0], ["s", "m", 0.1, -2e-5, 3.0]]}


def screen(monkeypatch, stream, report=REPORT):
    monkeypatch.setattr("sys.stdout", stream)
    made = Screen("arm", "1000 Hz, ROS 2, domain 7", 10.0)
    made.facts, made.report = {"joint_states": hertz(9999.6, 10.0), "/tf": hertz(0, 10.0), "lateness": lateness(0.05, 0.21, 4)}, report
    return made


def test_the_table_in_full_goes_back_over_its_own_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
    shown = screen(monkeypatch, stream := Tty())
    shown.show()
    first = stream.getvalue()
    for part in ("arm  1000 Hz, ROS 2, domain 7    0.0 of 10 s", "joint_states  1000.0 Hz", "/tf           ...",
                 "p50 0.050 ms, p99 0.210 ms, 4 slots missed", "1 of 3 reached, going to 3", "0.5010 rad, target   0.5000 rad",
                 "error   +1.00 mrad, effort    12.00", "error   -0.02 mm"):
        assert part in first, part
    shown._next = 0.0
    shown.show()
    assert stream.getvalue()[len(first):].startswith(f"\x1b[{first.count(chr(10))}A\r")
    before = len(stream.getvalue())
    shown.end()
    assert stream.getvalue()[before:].startswith(f"\x1b[{first.count(chr(10))}A\r\x1b[J")


def test_a_small_terminal_is_not_overrun(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("LINES", "6")
    screen(monkeypatch, stream := Tty()).show()
    lines = stream.getvalue().removesuffix("\n\x1b[J").split("\n")
    assert len(lines) == 4 and all(len(line.removeprefix("\r\x1b[K")) <= 19 for line in lines)


def test_elsewhere_it_writes_lines_and_a_summary(monkeypatch):
    shown = screen(monkeypatch, stream := io.StringIO())
    for _ in range(2):
        shown._next = 0.0
        shown.show()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2 and lines[0].startswith(" 0.0 s  joint_states 1000.0 Hz, /tf ..., lateness p50 0.050 ms")
    shown.end()
    text = stream.getvalue()
    assert "\x1b" not in text and text.endswith("arm: 1 of 3 poses reached\n")
    assert "  pose 1  reached, largest error +0.20 mrad at j\n  pose 2  not reached, largest error +100.00 mm at s\n" in text


def test_before_anything_is_known(monkeypatch):
    shown = screen(monkeypatch, stream := io.StringIO(), {})
    shown.show()
    shown.end()
    assert "waiting for the robot" in stream.getvalue() and stream.getvalue().endswith("arm: it did not come to a pose\n")
