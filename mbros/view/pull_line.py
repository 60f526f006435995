"""The spring that the user pulls with, as a line from the held point to the mouse."""
from __future__ import annotations

from typing import Any

import numpy as np

from mbros.view.motion import Sample
from mbros.view.scene import Scene


class PullLine:
    """There while something is held; its label says the force."""

    def __init__(self, scene: Scene, motion: Any):
        self.scene, self.motion = scene, motion
        self._line: Any = None
        self._label: Any = None

    def update(self, sample: Sample) -> None:
        pulled = self.motion.hands.spring(sample)
        if pulled is None:
            for handle in filter(None, (self._line, self._label)):
                handle.remove()
            self._line = self._label = None
            return
        point, target, force = pulled
        add = self.scene.server.scene
        self._line = add.add_line_segments("/pull", np.array([[point, target]], np.float32), (214, 40, 40),
                                           thickness=0.004 * self.scene.size)
        size = float(np.linalg.norm(force))
        text = f"{size:.3g} N" if size >= 1e-3 else "0 N"
        if self._label is None:
            self._label = add.add_label("/pull_force", text, font_screen_scale=0.8)
        self._label.text, self._label.position = text, tuple(target)
