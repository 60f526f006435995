"""How the node is asked to end: by SIGINT, SIGTERM or SIGHUP, at any moment of its life, as often as anybody likes.

The signals are blocked from the first line of the entry point on and taken by a thread that does nothing else, so that
none ever interrupts anything. Until the node is about to appear in the graph of ROS, the first of them ends the process at
once, with code 0: there is nothing yet that would have to be taken down. From then on it is a request, `asked`, which the
thread that starts the node looks at between two pieces of work (`check`) and the one that serves it waits for.

That thread is not one of Python's (`_ending`): an import may hold Python's lock for seconds while it reads a library from a slow disk.
"""
from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from mbros.ros.process._ending import Signals

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
        from mbros.ros.process.streams import open_streams          # not before: from here on a signal waits while the disk is slow
        Signals = _signals()
        open_streams()
        self._door, door = os.pipe()                                # there is something to read once the end was asked for
        self._signals = Signals(self.signals, door, PATIENCE)

    def in_order(self) -> None:
        """From here on there is something to take down: no signal ends the process at once any more."""
        self.now("starting")
        self._signals.in_order()

    def ask(self, failed: bool = False) -> None:
        """What a signal does. failed: it is not a signal, and the process is to end with 1 however it ends."""
        self._signals.ask(failed)

    def now(self, doing: str) -> None:
        """What is under way, for the last resort's sentence."""
        self._signals.say_doing(doing)

    @property
    def asked(self) -> bool:
        """Whether the node is to end."""
        return self._signals.asked()

    def wait(self) -> None:
        """Until the node is asked to end; from any number of threads."""
        import select       # late, as everything here

        asked = select.poll()
        asked.register(self._door, select.POLLIN)
        asked.poll()

    def check(self, doing: str = "") -> None:
        """Go on with the next piece of the start, or, when asked to end, do not: raises Asked."""
        if doing:
            self.now(doing)
        if self.asked:
            raise Asked


def _signals() -> type[Signals]:
    """The compiled class, or what to do where it was not built."""
    try:
        from mbros.ros.process._ending import Signals        # small, and late: signals wait already
    except ModuleNotFoundError:
        from mbros_core.errors import NotBuiltError         # importing that says it where nothing was built
        from mbros_core.support.not_built import why
        raise NotBuiltError(why("mbros.ros.process._ending")) from None
    return Signals


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
