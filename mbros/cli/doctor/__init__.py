"""Looking at a machine: what of mbros works here, how well it will keep real time, and what to do about the rest.

    for finding in examine():
        print(finding.level, finding.subject, finding.text, finding.remedy)

Levels: "ok"; "note" (works, but less than it could, or an extra is not there); "problem" (something that is there is
broken). Every check reads what it needs through a `Machine`, so that each can be tried on a machine that is not this one.
"""
from __future__ import annotations

from collections.abc import Iterator

from mbros.cli.doctor.host import kernel, real_time, storage
from mbros.cli.doctor.machine import NOTE, OK, PROBLEM, Finding, Machine
from mbros.cli.doctor.ros import installation
from mbros.cli.doctor.software import engine, extras, python

__all__ = ["NOTE", "OK", "PROBLEM", "Finding", "Machine", "examine"]

TIMER_SECONDS = 2.0


def examine(machine: Machine | None = None, timer_seconds: float = TIMER_SECONDS) -> Iterator[Finding]:
    """All checks, one finding at a time. timer_seconds: how long the timer is measured; 0 leaves it out."""
    machine = Machine() if machine is None else machine
    yield from python(machine)
    engine_works = False
    for finding in engine(machine):
        engine_works = engine_works or finding.subject == "engine" and finding.level == OK
        yield finding
    yield from installation(machine)
    yield from extras(machine)
    if engine_works and not isinstance(machine.module("mbros_core.realtime._jitter"), ImportError):       # or engine() has said so
        yield from real_time(machine, timer_seconds)
    yield from kernel(machine)
    yield from storage(machine)
