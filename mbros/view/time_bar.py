"""The bar of a log: where in time the picture is."""
from __future__ import annotations

from mbros.view.motion import Sample
from mbros.view.panel import OnPage


class TimeBar:
    """A slider over the log's time; moving it shows that time."""

    def __init__(self, page: OnPage):
        self.page = page
        first = page.motion.sample().time
        last = max(first + page.motion.duration, first + 1e-6)
        self.slider = page.server.gui.add_slider("time, s", first, last, max((last - first) / 2000.0, 1e-6), first)
        page.when(self.slider.on_update, lambda event: page.motion.seek(event.target.value))

    def update(self, sample: Sample) -> None:
        self.slider.value = min(max(sample.time, self.slider.min), self.slider.max)
