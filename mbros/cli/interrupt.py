"""Ctrl-C at a moment of one's own choosing: between two blocks of steps, never in the middle of a row."""
from __future__ import annotations

import signal
import threading


class Interrupt:
    """`with Interrupt() as interrupt:` the first SIGINT sets `interrupt.asked`; a second one raises KeyboardInterrupt."""

    def __init__(self):
        self.asked = False

    def __enter__(self):
        self._before = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number, frame):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
