"""The layer "contacts": where shapes touch, a point and an arrow of the force on the second one."""
from __future__ import annotations

from typing import Any

import numpy as np

from mbros.model.contacts import contacts_in, metres_per_newton
from mbros.view.motion import Sample
from mbros.view.scene import Scene

RED, ORANGE = (214, 40, 40), (242, 158, 26)


class ContactLayer:
    """Over a Scene, of a model with collision shapes. Nothing is there while nothing touches, or while it is not `visible`."""

    def __init__(self, scene: Scene):
        self.scene, self.model = scene, scene.model
        self.visible = True
        self._scale = metres_per_newton(scene.model)
        self._shown: list[Any] = []

    def update(self, sample: Sample) -> None:
        contacts = [] if sample.contacts is None or not self.visible else contacts_in(self.model, sample.contacts)
        if not contacts:
            for handle in self._shown:
                handle.remove()
            self._shown = []
            return
        add, size = self.scene.server.scene, self.scene.size
        points = np.array([c.point for c in contacts])
        arrows = np.concatenate([arrow_lines(c.point, self._scale * c.force) for c in contacts])
        self._shown = [
            add.add_point_cloud("/contacts/points", points.astype(np.float32), RED, point_size=0.012 * size, point_shape="circle",
                                precision="float32"),
            add.add_line_segments("/contacts/forces", arrows.astype(np.float32), ORANGE, thickness=0.005 * size)]


def arrow_lines(start: np.ndarray, along: np.ndarray) -> np.ndarray:
    """An arrow as line segments (5, 2, 3): its shaft, and four lines that end at its tip."""
    length = float(np.linalg.norm(along))
    u = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    s = np.cross(u, np.eye(3)[np.argmin(np.abs(u))])
    s /= np.linalg.norm(s)
    t = np.cross(u, s)
    tip = start + along
    behind = tip - 0.15 * length * u
    return np.array([(start, tip), *((behind + 0.06 * length * side, tip) for side in (s, -s, t, -t))])
