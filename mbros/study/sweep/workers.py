"""Processes of this machine that work on a sweep's cases. They are ended, not awaited, when the sweep is ended.

Each has a pipe of its own and one group of cases at a time, and sends what is done while it works on the rest. So nothing runs on that
nobody waits for, and a process may be killed at any moment: it holds no lock that others need.

Why no pool of the standard library: ProcessPoolExecutor cannot end its processes until Python 3.14 (after Ctrl-C it takes the cases under
way, and those that a process has taken already, to their end), multiprocessing.Pool waits for ever for a case whose process was killed, and
neither gives back what is done of a group before all of it is.
"""
from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mbros_core.support.processes import end_with, held

from mbros.errors import MbrosError
from mbros.study.sweep.cases import Case
from mbros.study.sweep.table import Results
from mbros.study.sweep.work import Run, work

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess
    from typing_extensions import Self

EVERY = 1.0                 # s of work after which what is done is sent, also in the middle of a group
SAFE, OURS = "PYTHONSAFEPATH", "sweep"


class Workers:
    """`with Workers(run, count) as workers:` they end with the block: by themselves at its end, at once when an exception leaves it."""

    def __init__(self, run: Run, count: int) -> None:
        self.run, self.count = run, count
        self.processes: dict[Connection, SpawnProcess] = {}

    def __enter__(self) -> Self:
        try:
            with safe_path():
                resource_tracker.ensure_running()       # before SIGINT is held: it may let go of it
                for _ in range(self.count):
                    self._start()
        except BaseException:
            self._kill()
            raise
        return self

    def _start(self) -> None:
        """New processes begin afresh: what threads hold here, a loop's or the engine's, they would not get whole."""
        context = get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=serve, args=(self.run, theirs, os.getpid()), name="mbros sweep")
        with theirs, held(signal.SIGINT):               # Ctrl-C while it starts is ours, and said once
            process.start()
            self.processes[mine] = process

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            for pipe, process in self.processes.items() if kind is None else ():
                pipe.close()
                process.join()
        finally:
            self._kill()

    def _kill(self) -> None:
        for process in self.processes.values():
            process.kill()
        for pipe, process in self.processes.items():
            process.join()
            pipe.close()

    def outcomes(self, groups: list[list[Case]]) -> Iterator[tuple[Results, dict[int, str]]]:
        """What comes of the cases, some at a time, in the order in which they end."""
        left = iter(groups)
        busy = {pipe: group for pipe in self.processes if (group := self._give(pipe, left))}
        while busy:
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                found, failed = self._take(pipe, busy[pipe])
                busy[pipe] = [case for case in busy[pipe] if case.index not in found and case.index not in failed]
                if not busy[pipe] and not (group := self._give(pipe, left)):
                    del busy[pipe]
                elif not busy[pipe]:
                    busy[pipe] = group
                yield found, failed

    def _give(self, pipe: Connection, left: Iterator[list[Case]]) -> list[Case]:
        """The next group, on its way to a process; none where there is none."""
        group = next(left, [])
        if group:
            try:
                pipe.send(group)
            except OSError:             # it has ended: _take, which comes next, says so
                pass
        return group

    def _take(self, pipe: Connection, group: list[Case]) -> tuple[Results, dict[int, str]]:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            process = self.processes[pipe]
            process.join()
            raise ended(group, f"its exit code is {process.exitcode}.") from None
        if isinstance(message, BaseException):
            raise message
        found: tuple[Results, dict[int, str]] = message
        return found


@contextmanager
def safe_path() -> Iterator[None]:
    """Processes that start meanwhile import nothing from the working folder, in which anybody may have put a module: until they have this
    process's search path, Python would look there first, even for its own modules. From Python 3.11 on; 3.10 has no word for it."""
    mine = not os.environ.get(SAFE)
    if mine:
        os.environ[SAFE] = OURS
    try:
        yield
    finally:
        if mine:
            del os.environ[SAFE]


def ended(cases: list[Case], how: str) -> MbrosError:
    return MbrosError(f"sweep: a process ended while cases {cases[0].index} to {cases[-1].index} were under way: {how} Either run() ends "
                      "its process, or memory ran out, or the script that calls sweep() has no `if __name__ == \"__main__\":`")


def serve(run: Run, pipe: Connection, parent: int) -> None:
    """What a process does: groups of cases, until there are no more or the parent ends.

    A terminal sends Ctrl-C to all its processes; what it means is decided by the parent alone. The handler does nothing rather than that
    the signal is ignored, so that programs that run() starts do not inherit that."""
    end_with(parent, signal.SIGKILL)()
    if os.environ.get(SAFE) == OURS:                    # not for what run() starts
        del os.environ[SAFE]
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    try:
        while True:
            for message in parts(run, pipe.recv()):
                pipe.send(message)
    except (EOFError, BrokenPipeError, ConnectionResetError):       # of the pipe: run's own are errors of their case
        pass


def parts(run: Run, cases: list[Case]) -> Iterator[Any]:
    """What comes of the cases, again and again: what is done is not lost with a long case after it."""
    results: Results = {}
    errors: dict[int, str] = {}
    sent = time.monotonic()
    for case in cases:
        try:
            found, failed = work(run, [case])
        except BaseException as error:              # what ends a program ends the sweep
            yield error if sendable(error) else SystemExit(f"{type(error).__name__}: {error}")
            return
        results.update(found)
        errors.update(failed)
        if case is cases[-1] or time.monotonic() - sent > EVERY:
            yield results, errors
            results, errors, sent = {}, {}, time.monotonic()


def sendable(error: BaseException) -> bool:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True
