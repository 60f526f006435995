"""Fair clocks: everything that is compared runs in turn, batch by batch, in one process on one core."""
import gc
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Time:
    """Nanoseconds per call: the best batch (the machine undisturbed) and the median one (as it usually is)."""

    best: float
    median: float


def interleave(candidates, batches=25, batch_seconds=3e-3, clock=time.perf_counter_ns):
    """{name: Time} of {name: run}, where run(n) makes n calls. Batch after batch, each candidate once per round. clock: in nanoseconds."""
    numbers = {name: _calls(run, batch_seconds) for name, run in candidates.items()}
    times = {name: [] for name in candidates}
    for _ in range(batches):
        for name, run in candidates.items():
            n = numbers[name]
            start = clock()
            run(n)
            times[name].append((clock() - start) / n)
    return {name: Time(min(x), sorted(x)[len(x) // 2]) for name, x in times.items()}


def _calls(run, seconds):
    """How many calls take about `seconds`; warms everything up on the way. Even, because two states alternate."""
    n = 2
    while True:
        start = time.perf_counter()
        run(n)
        took = time.perf_counter() - start
        if took > seconds / 4:
            return max(2, int(n * seconds / took) // 2 * 2)
        n *= 2


@contextmanager
def quiet():
    """One core for this process, and no garbage collection between the ticks."""
    cores = os.sched_getaffinity(0)
    gc.collect()
    gc.disable()
    try:
        os.sched_setaffinity(0, {max(cores)})
        yield
    finally:
        os.sched_setaffinity(0, cores)
        gc.enable()


def table(title, columns, rows, notes=()):
    """Print rows of words under column heads."""
    rows = [[str(x) for x in row] for row in rows]
    widths = [max(len(str(head)), *(len(row[k]) for row in rows)) for k, head in enumerate(columns)]
    print(f"\n{title}")
    print("  " + "  ".join(str(h).ljust(w) if k == 0 else str(h).rjust(w) for k, (h, w) in enumerate(zip(columns, widths))))
    for row in rows:
        print("  " + "  ".join(x.ljust(w) if k == 0 else x.rjust(w) for k, (x, w) in enumerate(zip(row, widths))))
    for note in notes:
        print(f"  {note}")


def us(t):
    """"best / median" in microseconds."""
    return f"{t.best / 1e3:.2f} / {t.median / 1e3:.2f}"
