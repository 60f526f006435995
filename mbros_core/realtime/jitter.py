"""How late this machine wakes a bare sleeping thread: what to read the loop's own lateness against."""
from __future__ import annotations

from ..errors import MbrosError, PrivilegeError
from mbros_core.support.given import LONGEST_STEP, count, number
from . import privileges
from .statistics import Histogram


def timer_jitter(seconds: float = 1.0, period: float = 1e-3, *, priority: int = 0, cpu: int | None = None) -> Histogram:
    """Lateness of `clock_nanosleep` on an absolute grid, as cyclictest measures it.

    seconds: how long to measure; period: of the grid (s); priority: SCHED_FIFO priority, 0 for an ordinary thread;
    cpu: processor to pin to. Runs without the interpreter lock in a thread of its own, so busy Python threads disturb it
    exactly as they disturb the loop. Raises PrivilegeError when the priority or the processor is refused.
    """
    from . import _jitter           # compiled for this call alone

    seconds = number("timer_jitter", "seconds", seconds, 0.0, 86400.0, "s")
    period = number("timer_jitter", "period", period, 0.0, LONGEST_STEP, "s")
    priority = count("timer_jitter", "priority", priority, most=99)
    cpu = None if cpu is None else count("timer_jitter", "cpu", cpu, most=1023)
    if not 0.0 < period <= seconds:
        raise MbrosError(f"timer_jitter: period is {period:g} s and seconds {seconds:g}; expected a period above 0 and up to seconds")
    counts, measured, total, largest, fifo_error, cpu_error = _jitter.measure(
        seconds, period, priority, -1 if cpu is None else cpu)
    if fifo_error:
        raise PrivilegeError(privileges.fifo_sentence(fifo_error, priority))
    if cpu_error and cpu is not None:
        raise PrivilegeError(privileges.cpu_sentence(cpu_error, cpu))
    return Histogram(counts, measured, total, largest)
