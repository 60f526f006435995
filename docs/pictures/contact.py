"""The picture of docs/contact.md: a ball that falls, for three relaxation times, and a box that is pushed along the ground.

    PYTHONPATH=. python docs/pictures/contact.py            writes contact.svg beside this file
"""
from pathlib import Path

import numpy as np
from plot import Panel, svg

import mbros

RADIUS, G = 0.1, 9.81


def body_on_ground(shape, inertia, dt, **numbers):
    b = mbros.ModelBuilder("scene", ground=mbros.Ground(**numbers))
    body = b.add_body("body", 1.0, (0, 0, 0), inertia)
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_collision(body, shape, **numbers)
    return mbros.Simulator(b.build(), dt)


def fall(relaxation_time):
    """(time s, height of the ball's lowest point m), 2e4 N/m for the pair."""
    sim = body_on_ground(mbros.shapes.sphere(RADIUS), np.full(3, 0.004), 1e-4, stiffness=4e4, relaxation_time=relaxation_time / 2)
    sim.model.joint("free").set_pose(sim.state, p=(0, 0, RADIUS + 0.3))
    log = sim.run(1.2, every=50)
    return log.time, log.q[:, 2] - RADIUS


def slide(friction):
    """(time s, speed m/s) of a box that starts with 2 m/s."""
    sim = body_on_ground(mbros.shapes.box((0.2, 0.2, 0.1)), np.array([0.0042, 0.0042, 0.0067]), 1e-3, friction=friction)
    sim.state.v[3] = 2.0
    log = sim.run(1.2, every=5)
    return log.time, log.v[:, 3]


def picture() -> str:
    falls, slides = [(tau, fall(tau)) for tau in (0.0, 2e-3, 1e-2)], [(mu, slide(mu)) for mu in (0.2, 0.4, 0.8)]
    return svg("a falling ball and a sliding box",
               [Panel("a ball falls", "time, s", "height, m", falls[0][1][0],
                      [(h, f"tau = {1e3 * tau:g} ms") for tau, (_, h) in falls], True),
                Panel("a box slides", "time, s", "speed, m/s", slides[0][1][0], [(v, f"mu = {mu:g}") for mu, (_, v) in slides], True)])


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(), encoding="utf-8")
