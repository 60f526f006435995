"""What is written to terminals: tables, progress, a screen that is cut to size."""
import io

import pytest

from mbros.cli.demonstration.screen import Screen, clip, fit
from mbros.cli.demonstration.table import View, lines, one_line, summary
from mbros.cli.demonstration.watch import Rate
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


def test_lines_are_cut_by_what_is_seen():
    assert clip("abcdef", 4) == "abcd"
    assert clip("\x1b[1mabc\x1b[0mdef", 4) == "\x1b[1mabc\x1b[0md"
    assert clip("\x1b[1mabcdef\x1b[0m", 2) == "\x1b[1mab\x1b[0m"
    assert clip("\x1b[1mabc\x1b[0m", 3) == "\x1b[1mabc\x1b[0m"
    assert fit(["a"] * 5, 80, 3) == ["a", "a", "  ... and 3 more lines"]


REPORT = {"poses": 3, "pose": 2, "done": False, "succeeded": False, "names": ["j", "s"], "units": ["rad", "m"], "desired": [0.5, 0.1],
          "error": [1e-3, -2e-5], "effort": [12.0, 3.0],
          "results": [{"joint": "j", "error": 2e-4, "unit": "rad", "ok": True}, {"joint": "s", "error": 0.1, "unit": "m", "ok": False}]}


def view(**changes):
    return View("arm", 1000.0, "ROS 2, domain 7", **changes)


def test_the_table_before_anything_is_known():
    shown = "\n".join(lines(view()))
    assert "joint_states  ..." in shown and "/tf           ..." in shown and "waiting for the robot" in shown


def test_the_table_in_full():
    shown = lines(view(elapsed=3.2, state_rate=999.96, tf_rate=1000.0, command_rate=500.0, lateness=(5e-5, 2.1e-4), late_steps=4,
                       command_age=1.4e-3, plane="native", q=[0.501, 0.1], report=REPORT))
    text = "\n".join(shown)
    for part in ("1000 Hz, ROS 2, domain 7, data plane native", "3.2 of 10 s", "joint_states  1000.0 Hz",
                 "p50 0.050 ms, p99 0.210 ms, 4 slots missed", "500.0 Hz, the last one 1.4 ms old",
                 "going to 2 of 3, 1 reached", "12.00 N m", "3.00 N"):
        assert part in text, part
    assert "+1.00 mrad" in shown[-2] and "-0.02 mm" in shown[-1]


def test_one_line_and_summary():
    assert "largest error +1.00 mrad at j" in one_line(view(report=REPORT))
    shown = summary(view(report=REPORT))
    assert shown[0] == "  pose 1  reached, largest error +0.20 mrad at j"
    assert shown[1] == "  pose 2  not reached, largest error +100.00 mm at s"
    assert shown[-1] == "arm: 1 of 3 poses reached"
    assert summary(view())[-1] == "arm: it did not come to a pose"


def test_the_screen_goes_back_over_its_own_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
    stream = Tty()
    screen = Screen(stream)
    screen.show(view())
    first = stream.getvalue()
    screen._next = 0.0
    screen.show(view())
    assert stream.getvalue()[len(first):].startswith(f"\x1b[{first.count(chr(10))}A\r")
    screen.clear()
    assert stream.getvalue().endswith(f"\x1b[{first.count(chr(10))}A\r\x1b[J")


def test_elsewhere_it_writes_lines():
    stream = io.StringIO()
    screen = Screen(stream)
    for _ in range(2):
        screen._next = 0.0
        screen.show(view(report=REPORT))
    first, *lines_ = stream.getvalue().splitlines()
    assert first == "arm  1000 Hz, ROS 2, domain 7" and len(lines_) == 2 and "\x1b" not in stream.getvalue()


def test_rates_are_told_from_running_totals():
    rate = Rate()
    rate.mark(0, now=0.0)                           # nothing yet: the clock does not run
    assert rate.hertz is None and rate.mean is None
    for k in range(1, 101):
        rate.mark(100 * k, now=10.0 + 0.1 * k)      # 1000 a second
        assert (rate.hertz is None) == (k <= 5)
    assert rate.hertz == pytest.approx(1000.0)
    rate.begin()
    for k in range(1, 11):
        rate.mark(10_000 + 50 * k, now=20.0 + 0.1 * k)
    assert rate.mean == pytest.approx(500.0) and 500.0 < rate.hertz < 1000.0
