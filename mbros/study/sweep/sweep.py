"""sweep: a function over many cases, in this process, on all processors, or wherever an executor takes them."""
from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, as_completed
from contextlib import closing
from os import PathLike
from typing import TYPE_CHECKING, Any

from mbros_core.support.numbers import short

from mbros.arguments import count
from mbros.errors import MbrosError, MbrosWarning, warn
from mbros.names import printable
from mbros.study.sweep.cases import Case, cases_of, values_of
from mbros.study.sweep.checkpoint import Checkpoint, name_of
from mbros.study.sweep.table import Results, SweepTable, table_of
from mbros.study.sweep.work import work
from mbros.study.sweep.workers import Workers, ended

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbros.study.sweep.work import Run

CHUNK = 64                  # most cases that a worker takes at once
Progress = Callable[[int, int], Any]


def sweep(cases: Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]], run: Run, *, executor: Any = None, workers: int | None = None,
          checkpoint: str | PathLike[str] | None = None, seed: int = 0, progress: Progress | bool | None = None) -> SweepTable:
    """`run(case)` for every case, as one table: {name: (cases, ...)}.

    cases: a list of {name: value}; or {name: list of values}, for all combinations, the last name fastest.
    run: a function of a Case that returns {name: number or array}, the same names and shapes in every case, or one number. It is sent to
        other processes, so it stands in a module or script, not in a function; a script needs `if __name__ == "__main__":`.
    executor: a concurrent.futures.Executor, or a dask.distributed.Client; by default this machine's processors.
    workers: how many processes without an executor (default: every CPU this process may use); 1: this process.
    checkpoint: a folder that keeps what is done; the same call with it goes on where an earlier one was ended.
    seed: of all cases' seeds (Case.seed). progress: a function of (cases done, cases); True: a line on the terminal, as by default there.

    The table does not depend on executor, workers, order of ending, or interruption, to the bit, on machines of one kind. A case that
    fails is named in `table.errors` and does not keep the others; all others are done. Ctrl-C ends it at once, with its processes: what
    is under way is lost, what is done is in the checkpoint. An executor is the user's to end: there, what has not begun is taken back.
    """
    if not callable(run):
        raise MbrosError(f"sweep: run: expected a function of a case, got {short(run)}")
    processes = len(os.sched_getaffinity(0)) if workers is None else count("sweep", "workers", workers, least=1)
    if executor is not None and workers is not None:
        raise MbrosError("sweep: workers: an executor has its own; expected one of executor= and workers=")
    all_cases = cases_of(values_of(cases), seed)
    kept = None if checkpoint is None else Checkpoint(checkpoint, all_cases, run)
    results, errors = kept.read() if kept else ({}, {})
    left = [case for case in all_cases if case.index not in results and case.index not in errors]
    said = Said(progress, len(all_cases))
    said(len(all_cases) - len(left))
    with closing(outcomes(run, left, executor, processes)) as coming:
        for found, failed in coming:
            results.update(found)
            errors.update(failed)
            if kept:
                kept.write(found, failed)
            said(len(results) + len(errors))
    if errors:
        index = min(errors)
        warn(f"{len(errors)} of {len(all_cases)} cases of the sweep failed; the first: {all_cases[index]!r}: {printable(errors[index])}",
             MbrosWarning)
    return table_of(all_cases, results, errors)


def outcomes(run: Run, cases: list[Case], executor: Any, processes: int) -> Generator[tuple[Results, dict[int, str]], None, None]:
    """What comes of the cases, some at a time, in the order in which they end."""
    if executor is None and (processes == 1 or len(cases) <= 1):
        for case in cases:
            yield work(run, [case])
        return
    size = max(1, min(CHUNK, len(cases) // (8 * processes)))
    groups = [cases[k:k + size] for k in range(0, len(cases), size)]
    try:
        if executor is None:
            with Workers(run, min(processes, len(groups))) as workers:
                yield from workers.outcomes(groups)
        else:
            yield from executed(run, groups, taker(executor))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if "pickle" not in str(error).lower() and "local object" not in str(error):
            raise
        raise MbrosError(f"sweep: run: {name_of(run)} cannot be sent to another process: {error}. Expected a function that stands in a "
                         "module; workers=1 takes any") from None


def taker(executor: Any) -> Any:
    """What takes functions."""
    if hasattr(executor, "get_executor"):               # dask.distributed.Client: equal calls would be made once
        return executor.get_executor(pure=False)
    if not hasattr(executor, "submit"):
        raise MbrosError(f"sweep: executor: expected a concurrent.futures.Executor or a dask.distributed.Client, got {short(executor)}")
    return executor


def executed(run: Run, groups: list[list[Case]], takes: Any) -> Iterator[tuple[Results, dict[int, str]]]:
    """outcomes(), by an executor of the user. It is the user's to end: what has not begun is taken back when the sweep is ended."""
    futures: dict[Future[Any], list[Case]] = {}
    try:
        for group in groups:
            futures[takes.submit(work, run, group)] = group
        for future in as_completed(futures):
            yield outcome(future, futures[future])
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def outcome(future: Future[Any], cases: list[Case]) -> tuple[Results, dict[int, str]]:
    try:
        found: tuple[Results, dict[int, str]] = future.result()
    except BrokenExecutor as error:
        raise ended(cases, str(error)) from None
    return found


class Said:
    """Progress, said at most ten times a second and at the end."""

    def __init__(self, progress: Any, total: int) -> None:
        if progress not in (None, True, False) and not callable(progress):
            raise MbrosError(f"sweep: progress: expected a function of (cases done, cases), True, False or None, got {short(progress)}")
        self.line = progress is True or (progress is None and sys.stderr.isatty())
        self.progress, self.total = (progress if callable(progress) else None), total
        self.begun = self.last = time.monotonic()
        self.first: int | None = None

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if self.progress:
            self.progress(done, self.total)
        if self.first is None:
            self.first = done
        if self.line and (done == self.total or now - self.last > 0.1):
            self.last = now
            rate = (done - self.first) / max(now - self.begun, 1e-9)
            left = f", {(self.total - done) / rate:.0f} s left" if rate and done < self.total else ""
            print(f"\rsweep: {done} of {self.total} cases{left}\033[K", end="\n" if done == self.total else "", file=sys.stderr, flush=True)
