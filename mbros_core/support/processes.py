"""Processes that belong to the one that started them: they end when it does, however it ends."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PR_SET_PDEATHSIG = 1
RUN = ("import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); import runpy; "
       "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)")


def python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module as `python -m` does, with this process's search path. Python itself would look into the working
    folder first, in which anybody may have put a module of that name, or of one that it imports."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))      # where the working folder is the one that mbros was found in
    return [sys.executable, "-c", RUN, "\n".join([*filter(None, sys.path), here]), module, *arguments]


def end_with(parent: int, number: int = signal.SIGTERM) -> Callable[[], None]:
    """What a child calls once, so that the kernel sends it signal `number` when process `parent`, which started it, has ended: also
    when SIGKILL ended that. For subprocess.Popen: preexec_fn=end_with(os.getpid()); it stays in force in the program that is started.

    The kernel watches the thread that started the child, not its process: that thread has to live as long as the child may. Linux only;
    elsewhere the child only sees whether the parent has ended already. Everything is looked up here, so that nothing is loaded after a
    fork.
    """
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def asks() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:          # it ended before it was watched
            os._exit(128 + number)

    return asks


@contextmanager
def held(number: int) -> Iterator[None]:
    """This thread leaves signal `number` waiting meanwhile. Processes that it starts meanwhile begin with the signal held, too."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
