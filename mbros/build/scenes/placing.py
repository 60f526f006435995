"""Where things stand in a scene. The coordinates of what is free are its pose in the world: its joint stands at the world's origin, and
begins where it was put. What is fixed is put there itself."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import refuse
from mbros.spatial.given import placement
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz
from mbros.spatial.vectors import Pose

if TYPE_CHECKING:
    from mbros.describe.joints.joint import JointDescription
    from mbros.describe.robot import RobotDescription

CLOSE = 1e-12           # of what two rotations differ by rounding


def given_pose(element: str, p: Any, rpy: Any, quat: dict[str, Any]) -> tuple[Placement, bool]:
    """(the pose, whether its height is given): p of two numbers leaves the height to the ground."""
    if p is not None and np.shape(p) == (2,):
        return placement(element, (*p, 0.0), rpy, **quat), False
    return placement(element, p, rpy, **quat), True


def start_at(joint: JointDescription, X_FM: Placement) -> None:
    """A floating joint begins at this pose. The coordinates of no rotation are (1, 0, 0, 0), exactly."""
    joint.default = np.concatenate([X_FM.p, Pose._made(X_FM.R, X_FM.p).quat_wxyz])


def place_base(element: str, theirs: RobotDescription, p: Any, rpy: Any, quat: dict[str, Any]) -> tuple[Placement, bool]:
    """(X, whether its height is left to the ground): puts the free bases of a robot where it stands; X is where its world is put, and with
    that its fixed base."""
    X, height = given_pose(element, p, rpy, quat)
    roots = [joint for joint in theirs.joints if joint.parent is theirs.world]
    floating = [joint for joint in roots if joint.kind == "floating" and np.array_equal(joint.X_PF.R, np.eye(3)) and not joint.X_PF.p.any()]
    if floating and len(floating) == len(roots):
        for joint in floating:
            own = joint.default
            start_at(joint, X if own is None else X @ Placement(rotation_from_quat_wxyz(own[3:]), own[:3]))
        return Placement(), not height
    if not height:
        refuse(element, "p has two numbers, which leaves its height to the ground, and its base does not float",
               "Give p three numbers, or base: floating.")
    if len(roots) == 1 and roots[0].kind == "planar":
        return _place_planar(element, roots[0], X), False
    return X, False


def _place_planar(element: str, joint: JointDescription, X: Placement) -> Placement:
    """x, y and the heading are the joint's; the height is that of its plane."""
    if abs(X.R[2, 2] - 1.0) > CLOSE:
        refuse(element, "its base is planar and its rotation is not about z alone", "Give rpy: [0, 0, yaw], or base: floating.")
    x, y, heading = (0.0, 0.0, 0.0) if joint.default is None else joint.default
    p = X.R @ (x, y, 0.0) + X.p
    joint.default = np.array([p[0], p[1], heading + np.arctan2(X.R[1, 0], X.R[0, 0])])
    return Placement(None, np.array([0.0, 0.0, X.p[2]]))
