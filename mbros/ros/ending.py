"""How the node is asked to end: by SIGINT, SIGTERM or SIGHUP, at any moment of its life, as often as anybody likes.

The signals are blocked from the first line of the entry point on and taken by a thread that does nothing else, so that
none ever interrupts anything. Until the node is about to appear in the graph of ROS, the first of them ends the process at
once, with code 0: there is nothing yet that would have to be taken down. From then on it is a request, `asked`, which the
thread that starts the node looks at between two pieces of work (`check`) and the one that serves it waits for.
"""
from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import Any, NoReturn

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
PATIENCE = 1.6      # s for an orderly end; then the process ends all the same


class Asked(BaseException):
    """The process was asked to end while the node was being started: unwinds whatever is under way."""


class Ending:
    """Made once, on the first line, by the main thread: from then on the signals of this process are its own."""

    def __init__(self) -> None:
        # with nohup the terminal may go; Ctrl-C and kill are always meant
        self.signals = SIGNALS - ({signal.SIGHUP} if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else set())
        signal.pthread_sigmask(signal.SIG_BLOCK, self.signals)      # for good, and for every thread to come
        self.asked = threading.Event()
        self._last_resort: Any = None
        self._at_once = True
        self._lock = threading.Lock()
        threading.Thread(target=self._wait, name="mbros-signals", daemon=True).start()

    def in_order(self) -> None:
        """From here on there is something to take down: no signal ends the process at once any more."""
        from mbros_core.realtime import _loop       # late: until here nothing is imported that takes time

        with self._lock:
            self._last_resort, self._at_once = _loop, False
            self.now("starting")

    def ask(self) -> None:
        """What a signal does."""
        with self._lock:
            if self._at_once:
                os._exit(0)
            if not self.asked.is_set():
                # for a part that hangs, and with it Python, whose lock rclpy holds while it closes a node: the one who asked does not wait
                with contextlib.suppress(OSError):
                    self._last_resort.end_process_after(PATIENCE)
                _hurry()
                self.asked.set()

    def now(self, doing: str) -> None:
        """What is under way, for the last resort's sentence."""
        if self._last_resort is not None:
            self._last_resort.say_doing(doing)

    def check(self, doing: str = "") -> None:
        """Go on with the next piece of the start, or, when asked to end, do not: raises Asked."""
        if doing:
            self.now(doing)
        if self.asked.is_set():
            raise Asked

    def _wait(self) -> None:
        while True:
            signal.sigwait(self.signals)
            self.ask()


def _hurry() -> None:
    """Before all ordinary processes, where that is permitted: what is left is a tenth of a second of work, and on a computer that
    is far too busy the one who asked would wait many seconds for it."""
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), -15)


def leave(code: int) -> NoReturn:
    """End the process now that the node is closed and ROS is left: what remains is Python's own taking down of some 700 modules,
    a tenth of a second in which nothing happens that anybody needs."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):      # the terminal has gone
            stream.flush()
    os._exit(code)


def follow(process: int) -> None:
    """Ask this process to end (SIGTERM) when another has ended: a launch that was killed leaves no simulator behind.

    Does nothing where the operating system does not report it (pidfd_open: Linux 5.3).
    """
    import select

    try:
        ended = os.pidfd_open(process)
    except ProcessLookupError:
        os.kill(os.getpid(), signal.SIGTERM)
        return
    except (AttributeError, OSError):
        return

    def wait() -> None:
        select.select([ended], [], [])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="mbros-parent", daemon=True).start()
