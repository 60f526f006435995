"""What is shown: a table that is rewritten in place on a terminal, a line a second elsewhere, a summary at the end."""
from __future__ import annotations

import shutil
import sys
import time
from typing import Any

from mbros.cli.terminal import paint


class Screen:
    """facts: what is measured, by name. report: of the controller, PoseSequence.report(); {} before there is one."""

    def __init__(self, robot: str, title: str, duration: float) -> None:
        self.robot, self.title, self.duration, self.live = robot, f"{robot}  {title}", duration, sys.stdout.isatty()
        self.facts: dict[str, str] = {}
        self.report: dict[str, Any] = {}
        self._height, self._next, self._begun = 0, 0.0, 0.0

    def show(self) -> None:
        """As often as you like."""
        now, results, poses = time.monotonic(), self.report.get("results", ()), self.report.get("poses", 0)
        self._begun = self._begun or (now if poses else 0.0)
        if now < self._next:
            return
        self._next, elapsed = now + (0.1 if self.live else 1.0), min(now - self._begun, self.duration) if self._begun else 0.0
        pose = (f"{sum(ok for *_, ok in results)} of {poses} reached, "
                + (f"going to {len(results) + 1}" if len(results) < poses else "holding the last")) if poses else "waiting for the robot"
        lines = [f"{self.title}    {elapsed:.1f} of {self.duration:g} s", "", *self.table(), f"  {'pose':<14}{pose}", ""]
        lines += [f"  {name:<20}{q + e:9.4f} {unit:<3}, target{q:9.4f} {unit:<3}, error{1e3 * e:+8.2f} m{unit:<3}, effort{tau:9.2f}"
                  for name, unit, q, e, tau in self.report.get("joints", ())]
        if not self.live:
            print(f"{elapsed:4.1f} s  {', '.join(map(' '.join, self.facts.items()))}, pose {pose}", flush=True)
            return
        columns, rows = shutil.get_terminal_size()
        shown = [line[:columns - 1] for line in lines[:max(rows - 2, 1)]]
        print(f"\x1b[{self._height}A" * bool(self._height) + "".join(f"\r\x1b[K{line}\n" for line in shown) + "\x1b[J", end="", flush=True)
        self._height = len(shown)

    def table(self) -> list[str]:
        return [f"  {name:<14}{value}" for name, value in self.facts.items()]

    def end(self) -> None:
        """A summary in the place of the table."""
        print(f"\x1b[{self._height}A\r\x1b[J" * bool(self._height), end="")
        results, poses = self.report.get("results", ()), self.report.get("poses", 0)
        for k, (joint, error, unit, ok) in enumerate(results):
            word = paint("reached", "green") if ok else paint("not reached", "red")
            print(f"  pose {k + 1}  {word}, largest error {1e3 * error:+.2f} m{unit} at {joint}")
        verdict = f"{sum(ok for *_, ok in results)} of {poses} poses reached" if poses else "it did not come to a pose"
        print(*self.table(), paint(f"{self.robot}: {verdict}", "green" if self.report.get("succeeded") else "red"), sep="\n")


def hertz(events: float, seconds: float) -> str:
    return f"{events / seconds:.1f} Hz" if events and seconds >= 0.5 else "..."


def lateness(p50: float, p99: float, missed: float) -> str:
    """Of the loop's slots, ms."""
    return f"p50 {p50:.3f} ms, p99 {p99:.3f} ms, {missed:.0f} slots missed"
