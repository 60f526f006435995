"""Requests to the loop's thread: one after the other, served between two steps, and waited for."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import LoopTimeoutError

if TYPE_CHECKING:
    from mbros_core.realtime.loop import Loop
    from mbros_core.typing import Array

LOOK = 0.002        # s


def request(loop: Loop, box: str, letter: Array) -> None:
    """One request after the other: a mailbox keeps the newest letter only."""
    loop.refuse_busy()
    with loop._asking:
        number = loop.post(box, letter)
        if loop._visiting:              # the thread stands aside: it takes this first when it goes on
            return
        until(loop, lambda: loop.acknowledged(box, number))


@contextmanager
def aside(loop: Loop) -> Iterator[None]:
    """The thread stands still between two steps meanwhile, for the one that has `_asking`."""
    with loop._asking:
        if loop._visiting:
            yield
            return
        number = loop.visit()
        try:
            for _ in looks(loop, lambda: loop.visited(number) or not loop.alive):
                pass
            loop._visiting = True
            yield
        finally:
            loop._visiting = False
            loop.leave(number)
        until(loop, lambda: loop.visit_shown(number) or not loop.alive)
        loop.serve()


def until(loop: Loop, served: Callable[[], bool]) -> None:
    """Wait until the thread has served a request; without a thread serve it here."""
    deadline = time.monotonic() + 2.0 + 10.0 * slot_length(loop)
    for _ in looks(loop, served):
        if not loop.alive and loop.serve():
            continue
        if time.monotonic() > deadline:
            raise LoopTimeoutError("the loop did not take the request in time: the plant's step or an output hangs")


def looks(loop: Loop, served: Callable[[], bool]) -> Iterator[None]:
    """Until it is served: a turn for the caller each time the thread has done something, and every LOOK seconds."""
    loop.attend(1)
    try:
        while True:
            answered = loop.answered
            if served():
                return
            yield
            if not served():
                loop.listen(answered, LOOK)
    finally:
        loop.attend(-1)


def slot_length(loop: Loop) -> float:
    """Of wall time, s."""
    return loop.dt / (loop._real_time_factor or 1.0)
