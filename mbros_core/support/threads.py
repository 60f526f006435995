"""Work in several threads: how it is shared between them, and how an interrupt ends them all."""
from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from mbros_core.errors import MbrosError
from mbros_core.support.numbers import is_whole, short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor

_here = threading.local()           # .worker: this thread is one of the pool
_pool: ThreadPoolExecutor | None = None


def shares(count: int, threads: int | None, group: int = 1, least: int = 1) -> list[slice]:
    """`count` things in contiguous parts of whole groups, one part per thread.

    threads: None stands for every CPU this process may use, and for fewer where a part would have less than `least` things.
    """
    if type(threads) is int and threads == 1:
        return [slice(0, count)]                # the same, for what many calls are
    if threads is None:
        threads = min(len(os.sched_getaffinity(0)), count // least) if count >= 2 * least else 1
    elif not is_whole(threads) or threads < 1:
        raise MbrosError(f"threads: expected 1 or more, got {short(threads)}")
    groups = -(-count // group)
    parts = max(1, min(threads, groups))
    edges = [group * (groups * k // parts) for k in range(parts)] + [count]
    return [slice(a, b) for a, b in zip(edges, edges[1:])]


def side_by_side(run: Callable[[Any, slice], None], engines: Sequence[Any], parts: Sequence[slice]) -> None:
    """run(engine, part) for each: the first in this thread, where Ctrl-C arrives, the others in threads that are kept for the next call.

    Whatever is raised ends them all (engine.end()), and goes on from here when none of them works any more.
    """
    if len(parts) == 1 or getattr(_here, "worker", False):
        for engine, part in zip(engines, parts):
            run(engine, part)
        return
    from concurrent.futures import wait         # a sixth of the time of `import mbros`, which one robot never needs

    jobs = []
    try:
        for engine, part in zip(engines[1:], parts[1:]):
            jobs.append(_threads().submit(run, engine, part))
        run(engines[0], parts[0])
        for job in jobs:
            job.result()
    except BaseException:
        for job in jobs:
            job.cancel()
        for engine in engines:
            engine.end()
        raise
    finally:
        wait(jobs)


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        from concurrent.futures import ThreadPoolExecutor

        _pool = ThreadPoolExecutor(max(1, os.cpu_count() or 1), "mbros", lambda: setattr(_here, "worker", True))
    return _pool


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _pool
    _pool = None


os.register_at_fork(after_in_child=_forget)
