"""A control that a person and the program both turn: the person goes first."""
from __future__ import annotations

import math
import threading
import time
from typing import Any

QUIET = 1.0             # s after a person's last change in which the program leaves a control alone
ON_ITS_WAY = 5.0        # s that a value may take to a browser, where it overwrites what is typed there


class Shared:
    """A slider that shows where something is, and can be turned. `follow` shows a value, `touched` says what a person just gave.

    A value that was on its way to a browser while somebody typed there has overwritten what was typed: then, when the person has been
    quiet for a while, what holds is sent once more. Nothing else is sent twice, since that would overwrite what is typed next.
    """

    def __init__(self, slider: Any, shown: float):
        self.slider, self._shown = slider, shown
        self._sent = self._touched = -float("inf")          # when
        self._again = False
        self._lock = threading.Lock()

    def touched(self, value: float) -> None:
        with self._lock:
            self._touched, self._shown = time.monotonic(), value
            self._again = self._again or self._touched - self._sent < ON_ITS_WAY

    def refused(self) -> None:
        """What the person gave does not hold: show what does, at once."""
        with self._lock:
            self._touched, self._again = -float("inf"), True

    def follow(self, value: float) -> None:
        """Show it, if it is new and nobody is at the control."""
        with self._lock:
            now, slider = time.monotonic(), self.slider
            typed = slider.value != self._shown and not math.isnan(slider.value)        # and `touched` is called soon, by another thread
            if typed or now - self._touched < QUIET:
                return
            value = min(max(value, slider.min), slider.max)
            if self._again:
                self._again = False
                slider._impl.value = math.nan           # viser sends changes only; browsers that show the value already do nothing
            elif abs(value - self._shown) <= 0.5 * slider.step:
                return
            self._shown = slider.value = value
            self._sent = now
