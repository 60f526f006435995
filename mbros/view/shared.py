"""A control that a person and the program both turn: the person goes first."""
from __future__ import annotations

import time
from typing import Any

QUIET = 1.0             # s after a person's last change in which the program leaves a control alone


class Shared:
    """A slider that shows where something is, and can be turned. `follow` shows a value, `touched` says that a person just gave one.

    A value that was on its way to a browser while somebody typed there has overwritten what was typed: when the person has been quiet
    for a while, what holds is sent once more.
    """

    def __init__(self, slider: Any, shown: float):
        self.slider, self._shown = slider, shown
        self._touched, self._again = -QUIET, False

    def touched(self) -> None:
        self._touched, self._again = time.monotonic(), True

    def refused(self) -> None:
        """What the person gave does not hold: show what does, at once."""
        self._touched, self._again = -QUIET, True

    def follow(self, value: float) -> None:
        """Show it, if it is new and nobody is at the control."""
        if time.monotonic() - self._touched < QUIET:
            return
        slider = self.slider
        value = min(max(value, slider.min), slider.max)
        if self._again:
            self._again = False
            slider._impl.value = float("nan")       # viser sends changes only; browsers that show the value already do nothing
        elif abs(value - self._shown) <= 0.5 * slider.step:
            return
        slider.value = self._shown = value
