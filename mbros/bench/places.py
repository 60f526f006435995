"""What a sensor of a bench stands on: coordinates of joints, a body with a place on it, a shape."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.errors import unknown
from mbros.model.reactions import beyond_weld

if TYPE_CHECKING:
    from mbros import Model
    from mbros.bench.layout import Layout

    Place = tuple[list[int], np.ndarray]        # iq, iv, iq and iv of a second joint, body, shape, cut; the place


def placed(out: Layout, model: Model, device: Any, joint: Any, coordinates: dict[str, tuple[int, int]]) -> Place | None:
    """None where it is refused."""
    kind = device.row.name
    if kind == "force_torque":
        return _on_a_load(out, model, device)
    if kind == "contact_switch":
        return _on_a_shape(out, model, device)
    if kind == "odometry":
        return _on_wheels(out, model, device, coordinates)
    if device.frame is None:
        return [*coordinates[joint.name], -1, -1, -1, -1, -1], np.zeros(12)
    found = _frame(out, model, device, device.frame)
    return None if found is None else ([-1, -1, -1, -1, found[0], -1, -1], found[1])


def _known(out: Layout, device: Any, what: str, name: str, model: Model, names: Any, remedy: str) -> bool:
    if name in list(names):
        return True
    out.refuse(device, str(unknown(what, name, f"model {model.name!r}", names).args[0]), remedy)
    return False


def _frame(out: Layout, model: Model, device: Any, name: str) -> tuple[int, np.ndarray] | None:
    if not _known(out, device, "frame", name, model, model.spec.frame_names, "Give a frame or body of the robot."):
        return None
    k = model._frame_index(name)
    return int(model.spec.frame_body[k]), np.array(model.spec.X_BF[k])


def _on_a_load(out: Layout, model: Model, device: Any) -> Place | None:
    """The body beyond a joint, and a frame on it: by default the body's own."""
    joint: Any = None
    if device.load is not None:
        if not _known(out, device, "joint", device.load, model, [j.name for j in model.joints], "Give a joint of the robot."):
            return None
        joint = model.joint(device.load)
    found = _frame(out, model, device, device.frame if device.frame is not None else joint.child.name)
    if found is None:
        return None
    if joint is not None and found[0] != joint._row.compiled_index:
        out.refuse(device, f"frame {device.frame!r} is not on the body beyond joint {joint.name!r}", "Give a frame on the body beyond it.")
        return None
    if found[0] == 0:
        out.refuse(device, "no joint carries it: it is on the world", "Give a frame on a body of the robot, or a joint.")
        return None
    cut = -1
    if joint is not None and joint.kind == "weld":
        cut = len(out.cuts)
        out.cuts.append(_beyond(out, model, device, joint))
    return [-1, -1, -1, -1, found[0], -1, cut], found[1]


def _beyond(out: Layout, model: Model, device: Any, joint: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the bodies beyond a weld: mass, centre of mass, inertia about it, in the frame of the compiled body; compiled bodies that stand on
    them; their shapes."""
    names, moving = beyond_weld(joint)
    parts: list[Any] = [*model.force_elements, *model.constraints]
    for part in parts:
        frames = [getattr(part, name, None) for name in ("frame_a", "frame_b", "frame_c")]
        if any(frame is not None and frame.body_name in names for frame in frames):
            out.refuse(device, f"{part.name!r} acts beyond the weld {joint.name!r}, and what it does is not kept apart",
                       "Give a joint that moves.")
    mass, first, I = 0.0, np.zeros(3), np.zeros((3, 3))
    for body in model.bodies:
        if body.name in names:
            X = np.asarray(model.spec.X_BF[body._frame_index])
            R, c = X[:9].reshape(3, 3), X[9:] + X[:9].reshape(3, 3) @ body.com
            mass, first = mass + body.mass, first + body.mass * c
            I += R @ body.inertia @ R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    c = first / mass if mass > 0.0 else first
    I -= mass * (c @ c * np.eye(3) - np.outer(c, c))
    bodies = np.zeros(len(model.spec.body_names), int)
    bodies[moving] = 1
    shapes = np.array([shape.body.name in names for shape in model.shapes], int)
    return np.concatenate([[mass], c, I.ravel()]), bodies, shapes


def _on_a_shape(out: Layout, model: Model, device: Any) -> Place | None:
    names = [shape.name for shape in model.shapes]
    if not names:
        out.refuse(device, f"model {model.name!r} has no shapes", "Build it with collisions=True, or ground=, so that something touches.")
        return None
    if device.shape is not None:
        if not _known(out, device, "shape", device.shape, model, names, "Give a shape of the robot."):
            return None
        return [-1, -1, -1, -1, 0, names.index(device.shape), -1], np.zeros(12)
    found = _frame(out, model, device, device.body)
    return None if found is None else ([-1, -1, -1, -1, found[0], -1, -1], found[1])


def _on_wheels(out: Layout, model: Model, device: Any, coordinates: dict[str, tuple[int, int]]) -> Place | None:
    for name in (device.left, device.right):
        if not _known(out, device, "joint", name, model, coordinates, "Give two wheels, each with one coordinate of its own."):
            return None
    return [*coordinates[device.left], *coordinates[device.right], -1, -1, -1], np.zeros(12)
