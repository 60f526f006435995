"""Whose turn it is on the loop, and work that takes its time while others have theirs."""
from __future__ import annotations

import threading
import types
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from mbros.ros.errors import RequestError

if TYPE_CHECKING:
    from mbros.ros.typing import Executor, Node

T = TypeVar("T")


class Turn:
    """Held, `with turn:`, by whatever acts on the loop in more than one call. The thread that holds it may take it again."""

    def __init__(self) -> None:
        self._lock, self._depth = threading.RLock(), 0          # the depth is read and written by the holder only

    def __enter__(self) -> Turn:
        self._lock.acquire()
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        self._lock.release()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """While the holder waits for something that others must not wait for with it."""
        depth, self._depth = self._depth, 0
        for _ in range(depth):
            self._lock.release()
        try:
            yield
        finally:
            for _ in range(depth):
                self._lock.acquire()
            self._depth = depth


def begun(work: Callable[[], T], name: str, after: Callable[[], None] = lambda: None) -> Future[T]:
    """What `work` will return or raise, in a thread of its own with this name. after: called in it at the end."""
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as e:
            found.set_exception(e)
        after()

    threading.Thread(target=run, name=name, daemon=True).start()
    return found


class Line:
    """Requests that are served one after the other, `async with line:`, while the executor of a node serves others. most: may wait, of
    what is called so; over: whether the node ends."""

    def __init__(self, node: Callable[[], Node], most: int, what: str, over: Callable[[], bool] = lambda: False) -> None:
        self._node, self._most, self._what, self._over = node, most, what, over
        self._waiting: list[object] = []

    async def __aenter__(self) -> None:
        if len(self._waiting) > self._most:
            raise RequestError(f"{self._most} {self._what} wait already; ask again when others have their answers")
        mine = object()
        self._waiting.append(mine)
        try:
            while self._waiting[0] is not mine:
                await next_round(self._node().executor, False)
                if self._over():
                    raise RequestError("the node is ending")
        except BaseException:
            self._waiting.remove(mine)
            raise

    async def __aexit__(self, *_: object) -> None:
        del self._waiting[0]
        executor = self._node().executor
        if self._waiting and not self._over() and executor is not None:
            executor.wake()


@types.coroutine
def next_round(executor: Executor | None, wake: bool) -> Generator[None, None, None]:
    """Let the executor serve what waits. It goes on with the coroutine in its next round, which only begins when something wakes it."""
    if wake and executor is not None:
        executor.wake()
    yield


async def elsewhere(executor: Executor, work: Callable[[], T], look: Callable[[], None] = lambda: None) -> T:
    """What `work` returns or raises, done by a thread of its own, while the executor serves others. look: called in each of its rounds."""
    found = begun(work, "mbros-elsewhere", executor.wake)
    while not found.done():
        look()
        await next_round(executor, False)
    return found.result()
