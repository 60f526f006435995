"""The moving picture of the first page: an arm that draws a figure of eight, as the simulation has it. An animated SVG.

    PYTHONPATH=. python docs/pictures/moving.py

Inverse kinematics gives the path of the joints, computed torque makes the arm follow it, and what is drawn is the second lap of the log.
"""
from __future__ import annotations

from pathlib import Path

import numpy as np
from draw import BODY, FAINT, GROUND, INK, MOTION, circle, document, flat, path, write

import mbros

DT, LAP, FRAMES = 2e-3, 4.0, 80
WIDTH, HEIGHT, SCALE = 560, 340, 262.0
SHIFT = np.array([312.0, 246.0])


def eight(t):
    """Points (n, 3) of the figure in front of the robot, m."""
    phase = 2.0 * np.pi * np.asarray(t) / LAP
    return np.stack([np.full_like(phase, 0.45), 0.45 * np.sin(phase), 0.62 + 0.2 * np.sin(2.0 * phase)], -1)


def simulated():
    """Joints' places (FRAMES, joints, 3) over the second lap, and the flange's path (n, 3)."""
    model = mbros.load("arm7")
    state = model.default_state()
    state.q[:] = [0.0, 0.5, 0.0, -1.7, 0.0, 1.0, 0.0]
    pointing = model.inverse_kinematics({"flange": eight(0.0)}, state)
    R = model.pose(with_q(model, pointing.q), "flange").R
    time = np.arange(0.0, LAP, DT)
    q = [pointing.q]
    for point in eight(time)[1:]:
        q.append(model.inverse_kinematics({"flange": mbros.Pose(R, point)}, q0=q[-1], tolerance=1e-8, restarts=0).q)
    q = np.array(q)
    v = periodic_rate(q)
    vdot = periodic_rate(v)

    def controller(now, state):
        k = round(now / DT) % len(q)
        return model.inverse_dynamics(state, vdot[k] + 100.0 * (q[k] - state.q) + 20.0 * (v[k] - state.v))

    sim = mbros.Simulator(model, dt=DT, state=with_q(model, q[0]))
    sim.run(LAP, effort=controller)
    log = sim.run(LAP, effort=controller)
    every = len(time) // FRAMES
    frames = [joints(model, row) for row in log.q[:-1:every]]
    return np.array(frames), np.array([model.pose(with_q(model, row), "flange").p for row in log.q[::8]])


def with_q(model, q):
    state = model.default_state()
    state.q[:] = q
    return state


def periodic_rate(x):
    """The time derivative of samples of a lap."""
    return (np.roll(x, -1, axis=0) - np.roll(x, 1, axis=0)) / (2.0 * DT)


def joints(model, q):
    """Where the joints are, from the ground to the flange, without repeats."""
    state, points = with_q(model, q), [np.zeros(3)]
    for joint in model.joints:
        p = model.pose(state, joint).p
        if np.linalg.norm(p - points[-1]) > 0.02:
            points.append(p)
    return points


def screen(points):
    return np.round(SCALE * flat(points) + SHIFT, 1)


def text_of(xy):
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in xy)


def moving(frames, color, width, marks=""):
    """A polyline through the joints that runs through the frames, over and over."""
    values = ";".join(text_of(screen(points)) for points in [*frames, frames[0]])
    return (f'<polyline points="{text_of(screen(frames[0]))}" fill="none" stroke="{color}" stroke-width="{width}"{marks}>'
            f'<animate attributeName="points" dur="{LAP:g}s" repeatCount="indefinite" values="{values}"/></polyline>')


def mark(name, radius, fill):
    return (f'<marker id="{name}" markerUnits="userSpaceOnUse" markerWidth="30" markerHeight="30" refX="15" refY="15">'
            f'<circle cx="15" cy="15" r="{radius}" fill="{fill}" stroke="{INK}" stroke-width="1.4"/></marker>')


def picture() -> str:
    """The whole file."""
    frames, trace = simulated()
    grid = [path(screen([[x, -0.75, 0], [x, 0.75, 0]]), GROUND, 1.0) for x in np.arange(-0.3, 0.61, 0.15)]
    grid += [path(screen([[-0.3, y, 0], [0.6, y, 0]]), GROUND, 1.0) for y in np.arange(-0.75, 0.76, 0.15)]
    foot = path(screen(circle([0, 0, 0], [0, 0, 1], 0.0, 2.0 * np.pi, 0.11)), INK, 1.2, fill=BODY)
    parts = [f"<defs>{mark('joint', 7.5, BODY)}{mark('pen', 5.5, MOTION)}</defs>", *grid, foot,
             path(screen(trace), MOTION, 2.0, opacity=0.75),
             moving(frames, INK, 15), moving(frames, BODY, 12, ' marker-mid="url(#joint)" marker-end="url(#pen)"'),
             write((16, 24), 'mbros.load("arm7"), inverse kinematics, computed torque', FAINT, "start", 12)]
    return document("A seven-axis arm that draws a figure of eight", parts, WIDTH, HEIGHT)


if __name__ == "__main__":
    (Path(__file__).parent / "moving.svg").write_text(picture(), encoding="utf-8")
