"""Requests to the loop's thread: one after the other, served between two steps, and waited for."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LoopError, LoopTimeoutError
from ._loop import LoopThread
from .snapshot import Fault, fault_of

if TYPE_CHECKING:
    from mbros_core.typing import Array

LOOK = 0.002        # s


class Requests(LoopThread):
    """The part of a Loop that asks its thread for something, and waits until it is done."""

    dt: float
    _plant: Any
    _real_time_factor: float
    _visiting = False           # the thread stands aside, for the one that has `_asking`

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._asking = threading.RLock()

    def aside(self) -> AbstractContextManager[None]:
        """with loop.aside(): the thread stands still between two steps, and plant and state are the caller's. What the caller
        leaves behind is published when the block has ended. As long as it takes, a loop in step with the clock is late."""
        if not self._visiting:
            self.refuse_busy()
        return self._aside()

    @contextmanager
    def _aside(self) -> Iterator[None]:
        with self._asking:
            if self._visiting:
                yield
                return
            number = self.visit()
            try:
                for _ in self._looks(lambda: self.visited(number) or not self.alive):
                    pass
                self._visiting = True
                yield
            finally:
                self._visiting = False
                self.leave(number)
            self._until(lambda: self.visit_shown(number) or not self.alive)
            self.serve()

    def _refuse_fault(self, what: str, then: str = ": ") -> None:
        """LoopError where it is in fault, and not where it has just been reset."""
        fault = self.fault
        if fault is not None:
            raise LoopError(f"{what}{then}{fault.text}; reset the loop first")

    def _request(self, box: str, letter: Array) -> None:
        """One request after the other: a mailbox keeps the newest letter only."""
        self.refuse_busy()
        with self._asking:
            number = self.post(box, letter)
            if self._visiting:              # the thread stands aside: it takes this first when it goes on
                return
            self._until(lambda: self.acknowledged(box, number))

    def _until(self, served: Callable[[], bool]) -> None:
        """Wait until the thread has served a request; without a thread serve it here."""
        deadline = time.monotonic() + 2.0 + 10.0 * self._slot_length()
        for _ in self._looks(served):
            if not self.alive and self.serve():
                continue
            if time.monotonic() > deadline:
                raise LoopTimeoutError("the loop did not take the request in time: the plant's step or an output hangs")

    def _looks(self, served: Callable[[], bool]) -> Iterator[None]:
        """Until it is served: a turn for the caller each time the thread has done something, and every LOOK seconds."""
        self.attend(1)
        try:
            while True:
                answered = self.answered
                if served():
                    return
                yield
                if not served():
                    self.listen(answered, LOOK)
        finally:
            self.attend(-1)

    def _slot_length(self) -> float:
        return self.dt / (self._real_time_factor or 1.0)

    @property
    def fault(self) -> Fault | None:
        figures, x = self.figures(), np.empty(self.sizes["snapshot"])
        self.read_snapshot(x)
        return fault_of(self._plant, figures, x)
