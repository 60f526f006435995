"""Poses of all bodies of a model as arrays: what a scene is moved by."""
from __future__ import annotations

from typing import Any

import numpy as np


class Kinematics:
    """Poses of a model at configurations. It has a State of its own, so that nothing else is touched; for one thread."""

    def __init__(self, model: Any):
        self.model, self.state = model, model.default_state()
        self._rows = [body._frame_index for body in model.bodies]
        self._X = np.empty((len(self._rows), 12))

    def put(self, q: np.ndarray, v: np.ndarray | None = None) -> None:
        """At q, which is brought to unit length where it must have it: a sample may come from the middle of a step."""
        self.state.q[:] = self.model.normalize(q)
        if v is not None:
            self.state.v[:] = v

    def bodies(self) -> np.ndarray:
        """(bodies, 7): wxyz, then position, of every body in the world, in the model's order."""
        for k, row in enumerate(self._rows):
            self._X[k] = self.model._frame_pose(self.state, row)
        return np.hstack([quaternions(self._X[:, :9].reshape(-1, 3, 3)), self._X[:, 9:]])


def quaternions(R: np.ndarray) -> np.ndarray:
    """wxyz (n, 4) of rotations (n, 3, 3). Of the four ways to write it (Shepperd 1978) the one that divides by the largest number."""
    xx, yy, zz = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    four = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=1)      # 4 w^2, 4 x^2, ...
    a, b, c = R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]                    # 4 w x, 4 w y, 4 w z
    d, e, f = R[:, 1, 0] + R[:, 0, 1], R[:, 0, 2] + R[:, 2, 0], R[:, 2, 1] + R[:, 1, 2]                    # 4 x y, 4 x z, 4 y z
    rows = np.stack([np.stack([four[:, 0], a, b, c], 1), np.stack([a, four[:, 1], d, e], 1),
                     np.stack([b, d, four[:, 2], f], 1), np.stack([c, e, f, four[:, 3]], 1)], axis=1)
    best = np.argmax(four, axis=1)
    q = rows[np.arange(len(R)), best]
    return q / np.linalg.norm(q, axis=1)[:, None]


def wxyz(R: np.ndarray) -> np.ndarray:
    """(4,) of one rotation (3, 3)."""
    return quaternions(np.asarray(R, float)[None])[0]
