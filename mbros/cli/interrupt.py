"""Ctrl-C at a moment of one's own choosing: between two blocks of steps, never in the middle of a row."""
from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing_extensions import Self


class Interrupt:
    """`with Interrupt() as interrupt:` the first SIGINT sets `interrupt.asked`; a second one raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Self:
        self._before = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
