"""The bar of a log: where in time the picture is."""
from __future__ import annotations

from typing import Any

from mbros.view.motion import Sample
from mbros.view.panel import OnPage
from mbros.view.shared import Shared


class TimeBar:
    """A slider over the log's time; moving it shows that time."""

    def __init__(self, page: OnPage):
        self.page = page
        first = page.motion.sample().time
        last = max(first + page.motion.duration, first + 1e-6)
        self.slider = page.controls.slider("time", first, last, first, unit="s", step=max((last - first) / 2000.0, 1e-6), none=first)
        self._shared = Shared(self.slider, first)
        page.when(self.slider.on_update, self._sought)

    def _sought(self, event: Any) -> None:
        self._shared.touched(event.target.value)
        self.page.motion.seek(event.target.value)

    def update(self, sample: Sample) -> None:
        self._shared.follow(sample.time)
