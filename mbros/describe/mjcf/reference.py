"""The mass matrix where the model stands at its reference positions, for what MuJoCo derives from it: dampratio and springdamper."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.forces.springs import JointSpring

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.robot import BodyDescription, JointDescription

LARGEST = 2000          # velocities: beyond, the matrix takes too long


def effective_inertia(reading: MjcfReading, moments: list[tuple[JointDescription, float]]) -> float:
    """1 / (J M^-1 J^T) of what acts on joints with these moments dl/dq, all others free; 0 where it moves nothing."""
    inverse, columns = _inverse(reading)
    J = np.zeros(len(inverse))
    for joint, moment in moments:
        if id(joint) in columns:
            J[columns[id(joint)]] += moment
    mobility = float(J @ inverse @ J)
    return 1.0 / mobility if mobility > 0.0 else 0.0


def set_springdampers(reading: MjcfReading) -> None:
    """springdamper="timeconst dampratio" of joints: the spring and the damper that make of their inertia such an oscillator."""
    for joint, time_constant, ratio in reading.springdampers:
        mean = np.mean([1.0 / inertia if (inertia := effective_inertia_of(reading, joint, k)) > 0.0 else 0.0 for k in range(joint.nv)])
        inertia = float(1.0 / mean) if mean > 0.0 else 0.0
        joint.damping = np.full(joint.nv, 2.0 * inertia / time_constant)
        stiffness = inertia / (time_constant * ratio) ** 2
        if joint.nv == 1 and stiffness > 0.0:
            name = f"{joint.name}.spring"
            reading.description.force_elements = [each for each in reading.description.force_elements if each.name != name]
            made = JointSpring(joint, reading.springref[id(joint)], stiffness, name=name)
            made.add_to(reading.description, reading.taken)


def effective_inertia_of(reading: MjcfReading, joint: JointDescription, coordinate: int) -> float:
    """Of one coordinate of a joint, all others free."""
    inverse, columns = _inverse(reading)
    if id(joint) not in columns:
        return 0.0
    mobility = float(inverse[columns[id(joint)] + coordinate, columns[id(joint)] + coordinate])
    return 1.0 / mobility if mobility > 0.0 else 0.0


def _inverse(reading: MjcfReading) -> tuple[np.ndarray, dict[int, int]]:
    """M^-1, and the first column of each joint; empty where M has no inverse or is too large."""
    if reading.inverse is None:
        M, columns = _mass_matrix(reading)
        try:
            reading.inverse = np.linalg.inv(M), columns
        except np.linalg.LinAlgError:
            reading.inverse = np.zeros((0, 0)), {}
    return reading.inverse


def _mass_matrix(reading: MjcfReading) -> tuple[np.ndarray, dict[int, int]]:
    columns: dict[int, int] = {}
    nv = 0
    for joint in reading.order:
        columns[id(joint)] = nv
        nv += joint.nv
    if nv > LARGEST:
        return np.zeros((0, 0)), {}
    M = np.diag(np.concatenate([np.zeros(0), *(joint.rotor_inertia for joint in reading.order)]))
    above: dict[int, list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]] = {id(reading.description.world): []}
    for body in _in_order(reading):
        carriers = reading.joints_of[id(body)] or [reading.carrier[id(body)]]
        mine = list(above[id(carriers[0].parent)])
        for joint in reading.joints_of[id(body)]:
            mine += _directions(reading, body, joint, columns[id(joint)])
        above[id(body)] = mine
        if not mine or not body.mass > 0.0:
            continue
        X = reading.X_WB[id(body)]
        c, I = X.R @ body.com + X.p, X.R @ body.inertia @ X.R.T
        at = [k for k, _, _, _ in mine]
        w = np.array([turn for _, turn, _, _ in mine]).T
        v = np.array([slide + np.cross(turn, c - p) for _, turn, slide, p in mine]).T
        M[np.ix_(at, at)] += body.mass * v.T @ v + w.T @ I @ w
    return M, columns


def _in_order(reading: MjcfReading) -> list[BodyDescription]:
    """Bodies of the file, parents first."""
    return [body for body in reading.description.bodies if id(body) in reading.carrier]


def _directions(reading: MjcfReading, body: BodyDescription, joint: JointDescription,
                column: int) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """(column, turning, sliding, a point of the axis) in the world of each coordinate of a joint."""
    X = reading.X_WB[id(body)]
    p, none = X.R @ joint.X_BM.p + X.p, np.zeros(3)
    if joint.kind == "prismatic" and joint.axis is not None:
        return [(column, none, X.R @ joint.axis, p)]
    if joint.axis is not None:
        return [(column, X.R @ joint.axis, none, p)]
    turns = [(column + k, X.R[:, k], none, p) for k in range(3)]
    return turns if joint.kind == "ball" else [*turns, *((column + 3 + k, none, X.R[:, k], p) for k in range(3))]
