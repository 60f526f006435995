"""The layer "constraints": what closes the robot's loops, from green (closed) to red (a millimetre or milliradian open)."""
from __future__ import annotations

from typing import Any

import numpy as np

from mbros.model.constraints.ends import constraint_ends
from mbros.view.motion import Motion
from mbros.view.poses import Kinematics
from mbros.view.scene import STILL, Scene

NUMBERS = "constraint_parameters"       # of a State: lengths, ratios


class ConstraintLayer:
    """Over a Scene, of a model with constraints: a point where each holds a body, and a line to where it holds the other one. Nothing is
    there while it is not `visible`."""

    def __init__(self, scene: Scene, motion: Motion):
        self.scene, self.motion = scene, motion
        self.visible = True
        self._shown: list[Any] = []
        self._at = np.full((0, 2, 6), np.nan)

    def update(self, kinematics: Kinematics) -> None:
        if not self.visible:
            for handle in self._shown:
                handle.remove()
            self._shown, self._at = [], np.full((0, 2, 6), np.nan)
            return
        if self.motion.tuned is not None:
            kinematics.state.field(NUMBERS)[:] = self.motion.tuned.field(NUMBERS)
        at = np.array([[(*x, *c.rgb) for x in (c.start, c.end)] for c in constraint_ends(kinematics.model, kinematics.state)])
        if at.shape == self._at.shape and np.abs(at - self._at).max() < STILL:
            return
        self._at = at
        add, size = self.scene.server.scene, self.scene.size
        points, colours = at[..., :3].astype(np.float32), (255.0 * at[..., 3:]).astype(np.uint8)
        self._shown = [
            add.add_line_segments("/constraints/lines", points, colours, thickness=0.006 * size),
            add.add_point_cloud("/constraints/points", points.reshape(-1, 3), colours.reshape(-1, 3), point_size=0.015 * size,
                                point_shape="circle", precision="float32")]
