from mbros_core.typing import IntArray

def measure(seconds: float, period: float, priority: int, cpu: int) -> tuple[IntArray, int, int, int, int, int]:
    """Run the probe in a thread of its own, without the interpreter lock; Ctrl-C ends it.

    Returns (counts per bin, count, sum ns, largest ns, errno of SCHED_FIFO, errno of the affinity)."""
