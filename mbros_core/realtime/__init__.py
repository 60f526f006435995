"""Real time: a plant simulated in step with the wall clock by a thread that never takes the interpreter lock.

    loop = Loop(plant, dt=1e-3)
    with loop:
        loop.command(tau)
        header, x = loop.snapshot()
    print(loop.statistics().text())

Nothing here knows what a plant is made of: ports.hpp describes the three plugs, plant, input and output.
"""
from __future__ import annotations

from ._loop import HEADER
from .jitter import timer_jitter
from .loop import Loop
from .privileges import Privileges
from .snapshot import FAULT, MADE_UP, PAUSED, RESET, STEPPED, WATCHDOG, Fault, SnapshotHeader
from .statistics import Histogram, InputStatistics, Statistics

__all__ = ["FAULT", "HEADER", "MADE_UP", "PAUSED", "RESET", "STEPPED", "WATCHDOG", "Fault", "Histogram",
           "InputStatistics", "Loop", "Privileges", "SnapshotHeader", "Statistics", "get_include", "timer_jitter"]


def get_include() -> str:
    """Folder of ports.hpp, for those who write a plug of their own in C."""
    import os
    return os.path.dirname(__file__)
