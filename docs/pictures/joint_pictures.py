"""The pictures of docs/joints.md: every joint kind of the registry, drawn from its registry row and the engine alone.

    PYTHONPATH=. python docs/pictures/joint_pictures.py      writes joint_<kind>.svg beside this file

Frame F on the parent, frame M on the child at some q, the child's way there from the neutral position. Where velocities are
rates of positions the arrows are what each position coordinate does, one after the other; elsewhere they are what each velocity
does at that q: a straight arrow along, a turning one about, the direction of its column of H.
"""
from __future__ import annotations

from pathlib import Path

import numpy as np
from draw import FAINT, GHOST, GROUND, MOTION, Scene, circle
from mbros.describe.joints.kinematics import kinematics
from mbros_core.joints.registry import ROWS

PARAMETER = 0.09                                        # of kinds that have one: a screw's pitch, m/rad
TURN, SHIFT = np.array([0.65, 0.65, 0.75]), np.array([0.6, 1.4, 1.15])       # rad and m about and along x, y, z
CHILD = (-0.12, -0.2, -0.05), (0.6, 0.2, 0.05)
PARENT = (-0.3, -0.3, -0.42), (0.3, 0.3, -0.3)
POST = (-0.035, -0.035, -0.3), (0.035, 0.035, 0.0)
ARM = 0.7                                              # m, how far from Mo the swept angle is drawn


def shown(row):
    """The joint's mathematics, and where it is drawn: a velocity for a second from neutral, more than a turn for a helix."""
    m = kinematics(row.name, (PARAMETER,) * len(row.parameters))
    H = m.subspace(m.neutral)
    v = TURN @ H[:3] + SHIFT @ H[3:]
    v[[kind == 0 for kind in row.columns]] += 2.0 * np.pi
    return m, v


def way(m, v, n):
    """n positions from neutral along v, both ends among them."""
    return [m.model.integrate(m.neutral, u * v) for u in np.linspace(0.0, 1.0, n)]


def position_arrows(scene, m, q):
    """What each position coordinate does, in turn: Mo's way, and the angle that an axis across sweeps."""
    at = m.neutral.copy()
    for i, (name, unit) in enumerate(zip(m.row.position_names, m.row.position_units)):
        steps = [at + u * (q[i] - at[i]) * np.eye(m.nq)[i] for u in np.linspace(0.0, 1.0, 37)]
        poses = [m.pose(step) for step in steps]
        at = steps[-1]
        origins = np.array([p for _, p in poses])
        if unit == "rad":
            about = int(np.argmax(np.abs(m.subspace(at)[:3, i] @ poses[-1][0])))           # the axis of M that stays
            across = np.array([ARM * R[:, (about + 1) % 3] for R, _ in poses])
            for end in (0, -1):
                scene.line([origins[end], origins[end] + across[end]], FAINT, 1.0, "3 3")
            scene.line(origins + across, MOTION, 2.0, arrow=True)
            scene.label(origins[12] + across[12], name, MOTION, origins[12])
        elif np.ptp(origins, axis=0).max() > 0.0:
            scene.line(origins[[0, -1]], MOTION, 2.0, arrow=True)
            scene.label(origins[18], name, MOTION)


def velocity_arrows(scene, m, q):
    """What each velocity coordinate does at q."""
    R, p = m.pose(q)
    H = m.subspace(q)
    moves = np.abs(H[3:]).max() > 0.0
    for k, name in enumerate(m.row.velocity_names):
        w, v = H[:3, k], H[3:, k]
        scene.line([p, p + 0.85 * (v if v.any() else w)], FAINT, 0.9, "3 3")
        if v.any():
            scene.line([p + 0.84 * v, p + 1.2 * v], MOTION, 2.4, arrow=True)
            scene.label(p + 1.2 * v, name, MOTION, p)
        if w.any():
            arc = circle(p + (0.5 if moves else 0.62) * w, w, 0.35, 5.6, 0.15)
            scene.line(arc, MOTION, 2.0, arrow=True)
            scene.label(arc[12], name, MOTION, p + 0.5 * w)
    way_to_origin(scene, m, q)


def way_to_origin(scene, m, q):
    """The lengths among the positions, one after the other from Fo to Mo."""
    at = m.pose(m.neutral)[1]
    for i, (name, unit) in enumerate(zip(m.row.position_names, m.row.position_units)):
        if unit == "m":
            alone = m.neutral.copy()
            alone[i] = q[i]
            after = at + m.pose(alone)[1]
            scene.line([at, after], FAINT, 1.3, "4 3")
            scene.label(0.6 * at + 0.4 * after, name, FAINT)
            at = after


def picture(row) -> str:
    """The SVG of a joint kind."""
    m, v = shown(row)
    positions = way(m, v, 4) if m.nq else [m.neutral]
    scene = Scene(f"{row.name}: {row.doc}")
    scene.box(np.eye(3), np.zeros(3), *PARENT, fill=GROUND)
    scene.box(np.eye(3), np.zeros(3), *POST, fill=GROUND)
    for q in positions[:-1]:
        scene.box(*m.pose(q), *CHILD, fill=GHOST, color=FAINT, opacity=0.55)
    q = positions[-1]
    R, p = m.pose(q)
    scene.box(R, p, *CHILD)
    scene.frame(np.eye(3), np.zeros(3), "F", 0.8, 1.6)
    scene.frame(R, p, "M", 0.8, 2.6)
    (position_arrows if row.velocities_are_rates else velocity_arrows)(scene, m, q)
    scene.label([(0.3, y, -0.36) for y in (-0.2, 0.0, 0.2)] + [(x, 0.3, -0.36) for x in (0.2, 0.0, -0.2)], "P")
    scene.label([p + R @ (x, y, 0.05) for x in (0.4, 0.2) for y in (0.13, -0.13)], "B")
    return scene.svg()


def pictures():
    """{file name: text}, one for every row of the registry."""
    return {f"joint_{row.name}.svg": picture(row) for row in ROWS}


if __name__ == "__main__":
    for name, text in pictures().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
