"""The order of the rows of spatial vectors in each library, and the point and axes they are taken at."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import finite, reals
from mbros.errors import MbrosError
from mbros.names import hint
from mbros.spatial import lie

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike

REFERENCES = ("local_world_aligned", "local", "world")


class Rows(NamedTuple):
    """Which part comes first in each kind of spatial quantity: "angular" or "linear" (of a wrench: torque or force)."""

    text: str
    jacobian: str
    twist: str
    wrench: str


ROWS = {
    "drake_2018": Rows("Drake's QuaternionFloatingJoint of 2018, which mbros has throughout", "angular", "angular", "angular"),
    "drake": Rows("modern Drake (MultibodyPlant)", "angular", "angular", "angular"),
    "pinocchio": Rows("Pinocchio", "linear", "linear", "linear"),
    "mujoco": Rows("MuJoCo; jacobian: jacp over jacr, twist: mj_objectVelocity, wrench: xfrc_applied", "linear", "angular", "linear"),
    "hpp": Rows("hpp-model, with free joints as a translation and SO(3)", "linear", "linear", "linear"),
    "ros": Rows("ROS messages (geometry_msgs Twist and Wrench, nav_msgs Odometry)", "linear", "linear", "linear"),
}


def swap(x: ArrayLike, first: str, axis: int = -1) -> np.ndarray:
    """[angular; linear] with the part `first` in front; the same call brings it back."""
    return np.array(x) if first == "angular" else np.roll(x, 3, axis)


def move_twist(V: Array, reference: str, X_WF: Any, back: bool = False) -> np.ndarray:
    """[angular; linear] at a frame's origin in world axes, to the reference; `back`: from it."""
    R, p = _pose(reference, X_WF)
    w, v = V[..., :3], V[..., 3:]
    if reference == "local":
        return np.concatenate([_turned(R, w, back), _turned(R, v, back)], -1)
    if reference == "world":
        moment = lie.cross(*np.broadcast_arrays(p, w))
        return np.concatenate([w, v - moment if back else v + moment], -1)
    return V


def move_wrench(F: Array, reference: str, X_WF: Any, back: bool = False) -> np.ndarray:
    """[torque; force] about a frame's origin in world axes, to the reference; `back`: from it."""
    R, p = _pose(reference, X_WF)
    t, f = F[..., :3], F[..., 3:]
    if reference == "local":
        return np.concatenate([_turned(R, t, back), _turned(R, f, back)], -1)
    if reference == "world":
        moment = lie.cross(*np.broadcast_arrays(p, f))
        return np.concatenate([t - moment if back else t + moment, f], -1)
    return F


def _turned(R: Array, x: Array, back: bool) -> Array:
    """R^T x, or R x."""
    return lie.apply(R if back else np.swapaxes(R, -1, -2), x)


def _pose(reference: str, X_WF: Any) -> tuple[Array, Array]:
    if not isinstance(reference, str) or reference not in REFERENCES:
        raise MbrosError(f"reference: no {short(reference)}{hint(reference, REFERENCES)}")
    if reference == "local_world_aligned":
        return np.eye(3), np.zeros(3)
    if X_WF is None:
        raise MbrosError(f"reference {short(reference)} needs X_WF, the pose of the frame in the world: model.pose(state, frame)")
    X = poses(X_WF)
    return X[..., :3, :3], X[..., :3, 3]


def poses(X_WF: Any) -> np.ndarray:
    """X_WF as homogeneous matrices (..., 4, 4), every number finite."""
    X = reals("X_WF", "the pose", X_WF, "a Pose or homogeneous matrices (..., 4, 4)")
    if X.ndim < 2 or X.shape[-2:] != (4, 4):
        raise MbrosError(f"X_WF: expected a Pose or homogeneous matrices (..., 4, 4), got shape {X.shape}")
    return finite("X_WF", "the pose", X)
