"""Ctrl-C at a chosen moment, as the kernel would deliver it: a timer's signal whose handler raises KeyboardInterrupt."""
import contextlib
import signal
import time

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
