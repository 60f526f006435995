"""How late the steps of a real-time loop began, of late."""
from __future__ import annotations

from typing import Any

import numpy as np


class Lateness:
    """Differences of a loop's own histogram from one look to the next."""

    def __init__(self, loop: Any):
        self._loop, self._before, self.p99 = loop, 0, float("nan")

    def look(self) -> None:
        """`p99`: s that 99 of 100 steps since the last look did not exceed; as before where there was none."""
        now = self._loop.statistics().lateness
        new = np.maximum(now.counts - self._before, 0)
        if new.sum() > 0:
            self.p99 = type(now)(new, int(new.sum()), 0, round(now.max * 1e9)).p99
        self._before = now.counts.copy()
