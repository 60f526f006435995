"""Ctrl-C at a chosen moment, as the kernel would deliver it: a timer's signal whose handler raises KeyboardInterrupt; and a robot whose
calls take long enough for that. benchmarks/interrupts.py uses both."""
import contextlib
import signal
import time

import mbros

SOON = 5.0          # s: an interrupt that is not seen by then hangs; machines are shared, so this is generous


@contextlib.contextmanager
def interrupt_after(seconds):
    """Within: one KeyboardInterrupt after `seconds`, wherever this thread is then. Yields when() -> s since the signal."""
    def ring(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    start = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield lambda: time.monotonic() - start - seconds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def one_coordinate():
    """One coordinate and 300 bodies: a rollout of seconds from a few megabytes of efforts."""
    b = mbros.ModelBuilder("heavy")
    at = b.world
    for k in range(300):
        body = b.add_body(f"b{k}", 1.0, (0, 0, 0.1), (0.1, 0.1, 0.1))
        b.add_joint(mbros.WeldJoint(f"j{k}", at, body) if k else mbros.RevoluteJoint("hinge", at, body, axis=(1, 0, 0)))
        at = body
    return b.build(merge_welds=False)
