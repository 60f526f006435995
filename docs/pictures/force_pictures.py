"""The pictures of docs/forces.md: every force element of the registry, doing what the engine computes for it.

    PYTHONPATH=. python docs/pictures/force_pictures.py      writes force_<kind>.svg beside this file

What acts between two frames or on a body is drawn in space, with its force and torque as arrows; what acts on a coordinate is
drawn as effort over position and over velocity. EXAMPLES has the numbers: what is drawn follows from what the kind acts on.
"""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import plot
from draw import BODY, FAINT, GROUND, INK, MOTION, Scene, circle

import mbros
from mbros_core.forces.registry import BY_NAME

PLACE, ANGLES = (0.1, 1.7, 0.8), (0.35, 0.1, 0.75)          # of the body: m; roll, pitch, yaw, rad


@dataclass
class OnCoordinate:
    """An element on a hinge (limits -0.5, 1 rad), over these positions and velocities; `at` is the position of the latter."""

    element: object
    positions: tuple[float, float]
    velocities: tuple[float, float]
    at: float = 0.0


K, KX = (1.0, 1.5, 2.0), (20.0, 200.0, 800.0)
EXAMPLES = {
    "bushing": lambda A, C: mbros.Bushing(A, C, (10, 10, 10), 0.0, (30, 30, 30), 0.0),
    "bushing_energy_consistent": lambda A, C: mbros.Bushing(A, C, K, 0.0, KX, 0.0, law="energy_consistent"),
    "bushing_quaternion": lambda A, C: mbros.Bushing(A, C, (1, 1, 1), 0.0, law="quaternion"),
    "spring_damper": lambda A, C: mbros.LinearSpringDamper(A, C, free_length=0.8, stiffness=50.0, damping=5.0),
    "joint_spring": OnCoordinate(lambda j: mbros.JointSpring(j, position=0.3, stiffness=8.0, damping=1.5), (-1, 1.5), (-3, 3), 0.3),
    "door_hinge": OnCoordinate(lambda j: mbros.DoorHinge(j, spring_position=0.4, spring_stiffness=1.0, catch_torque=1.5, catch_width=0.15,
                                                         dynamic_friction=0.3, static_friction=0.6, viscous_friction=0.15,
                                                         motion_threshold=0.1), (-0.3, 1.2), (-1, 1), 0.4),
    "stribeck": OnCoordinate(lambda j: mbros.StribeckFriction(j, coulomb=1.0, breakaway=1.6, stribeck_speed=0.15, smoothing_speed=0.01,
                                                              viscous=0.4), (-1, 1), (-1, 1)),
    "body_wrench": lambda C: mbros.BodyWrench(C, torque=(0.0, 0.0, -2.0), force=(0.0, 8.0, 0.0)),
    "body_gravity": lambda C: mbros.BodyGravity(C, gravity=(0.0, 0.0, -9.81), mass=1.0, com=(0.35, 0.0, 0.0)),
    "stop": OnCoordinate(lambda j: mbros.JointStop(j, stiffness=100.0, damping=6.0), (-0.6, 1.1), (-3, 3), 1.05),
}


# ------------------------------------------------------------------------------------------------------------ in space

def free_body(add):
    """(model, state) of a body that floats there, with the element that add(builder, body) gives."""
    b = mbros.ModelBuilder("picture", gravity=(0.0, 0.0, 0.0))
    body = b.add_body("body", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    for element in add(b, body):
        b.add_force_element(element)
    model = b.build()
    state = model.default_state()
    model.joint("free").set_pose(state, p=PLACE, rpy=ANGLES)
    return model, state


def between_frames(kind):
    """Bodies, frames A and C, what is between them, and the wrench on C."""
    model, state = free_body(lambda b, body: [EXAMPLES[kind](b.world, body)])
    part, X = model.force_elements[0], model.pose(state, "body")
    scene = Scene(f"{kind}: {BY_NAME[kind].doc}")
    scene.box(np.eye(3), np.zeros(3), (-0.22, -0.3, -0.22), (0.22, 0.0, 0.22), fill=GROUND)
    scene.box(X.R, X.p, (-0.2, 0.0, -0.07), (0.2, 0.42, 0.07), fill=BODY)
    scene.frame(np.eye(3), np.zeros(3), "A", 0.5)
    scene.frame(X.R, X.p, "C", 0.5)
    wrench = part.wrench(state)
    if hasattr(part, "measure"):
        B = part.measure(state).X_AB
        scene.line([np.zeros(3), X.p], FAINT, 1.2, "4 3")
        scene.frame(B.R, B.p, "B", 0.5, 2.6)
        push(scene, B.p, wrench.force, X.p)
        turn(scene, X.p, part.measure(state).torque)
    else:
        spring_and_damper(scene, np.zeros(3), X.p)
        push(scene, X.p, wrench.force, None)
        push(scene, np.zeros(3), -wrench.force, None, "-f")
    return scene.svg()


def push(scene, at, force, away, name="f"):
    """A force as an arrow of a length that is seen."""
    tip = at + 0.5 * force / np.linalg.norm(force)
    scene.line([at, tip], MOTION, 3.0, arrow=True)
    scene.label(tip, name, MOTION, at if away is None else away)


def turn(scene, at, torque):
    """A torque as an arc about it."""
    axis = torque / np.linalg.norm(torque)
    scene.line([at, at + 0.55 * axis], FAINT, 1.0, "3 3")
    arc = circle(at + 0.42 * axis, axis, 0.5, 5.4, 0.16)
    scene.line(arc, MOTION, 2.6, arrow=True)
    scene.label(arc[12], "t", MOTION, at)


def spring_and_damper(scene, a, c):
    """A zigzag and a dashpot beside each other from a to c."""
    along = (c - a) / np.linalg.norm(c - a)
    side = np.cross(along, (1.0, 0.0, 0.3))
    side /= np.linalg.norm(side)
    s = np.linspace(0.3, 0.7, 15)
    zigzag = np.where(np.arange(15) % 2, 0.07, -0.07) * (s > 0.3) * (s < 0.7)
    length = np.linalg.norm(c - a)

    def at(u, across):
        return a + u * length * along + across * side

    scene.line([at(0, 0), at(0.2, 0), at(0.2, 0.17), at(0.3, 0.17), *(at(u, 0.17 + z) for u, z in zip(s, zigzag)), at(0.7, 0.17),
                at(0.8, 0.17), at(0.8, 0), at(1, 0)], INK, 1.8)
    scene.line([at(0.2, 0), at(0.2, -0.17), at(0.47, -0.17)], INK, 1.8)
    scene.line([at(0.47, -0.24), at(0.47, -0.1)], INK, 2.6)
    scene.line([at(0.38, -0.26), at(0.6, -0.26), at(0.6, -0.08), at(0.38, -0.08)], INK, 1.8)
    scene.line([at(0.6, -0.17), at(0.8, -0.17), at(0.8, 0)], INK, 1.8)


def on_body(kind):
    """The body, its frame, and the wrench where it acts."""
    model, state = free_body(lambda b, body: [EXAMPLES[kind](body)])
    part, X = model.force_elements[0], model.pose(state, "body")
    scene = Scene(f"{kind}: {BY_NAME[kind].doc}")
    scene.box(X.R, X.p, (-0.15, -0.2, -0.06), (0.6, 0.2, 0.06), fill=BODY)
    scene.frame(np.eye(3), X.p + (-0.2, -1.3, -0.3), "W", 0.6)
    scene.frame(X.R, X.p, "B", 0.75)
    wrench = part.wrench(state)
    at = X.p
    if "com" in part.groups:
        at = X @ part.get(state, "com")
        scene.dot(at)
        scene.label(at, "Bcm", INK, X.p)
    push(scene, at, wrench.force, None, "m g" if "com" in part.groups else "f")
    moment = wrench.torque - np.cross(at - X.p, wrench.force)
    if np.linalg.norm(moment) > 1e-9:
        turn(scene, at, moment)
    return scene.svg()


# -------------------------------------------------------------------------------------------------------- over a coordinate

def on_coordinate(kind):
    """Effort over position at rest, and over velocity; each where it does anything."""
    example = EXAMPLES[kind]
    b = mbros.ModelBuilder("picture", gravity=(0.0, 0.0, 0.0))
    joint = b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("door", 1.0, (0, 0, 0), (1, 1, 1)), lower=-0.5, upper=1.0))
    b.add_force_element(example.element(joint))
    model = b.build()
    part = next(part for part in model.force_elements if part.kind == kind)
    state = model.default_state()

    def effort(q, v):
        state.q[:], state.v[:] = q, v
        return part.generalized_force(state)[0]

    q, v = np.linspace(*example.positions, 301), np.linspace(*example.velocities, 301)
    panels = [plot.Panel("at v = 0", "q, rad", "effort, N m", q, [(np.array([effort(x, 0.0) for x in q]), "")]),
              plot.Panel(f"at q = {example.at:g} rad", "v, rad/s", "effort, N m", v, [(np.array([effort(example.at, x) for x in v]), "")])]
    return plot.svg(kind, [panel for panel in panels if np.ptp(panel.curves[0][0]) > 1e-9])


def power_unaccounted():
    """The springs' power beside the falling rate of their energy, while a body turns: what the energy-consistent law is for."""
    def both(b, body):
        return [mbros.Bushing(b.world, body, K, 0.0, KX, 0.0, law=law, name=law) for law in ("drake", "energy_consistent")]

    model, state = free_body(both)
    angles = np.linspace(0.0, 2.0, 201)
    power = {law: [] for law in ("drake", "energy_consistent")}
    for angle in angles:
        state.set_q([0.1, 0.05, -0.04, np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        state.set_v([1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
        for law in power:
            part = model.force_elements[law]
            power[law].append(part.conservative_power(state) + rising(model, part, state))
    curves = [(np.array(power[law]), f'law="{law}"') for law in power]
    return plot.svg("bushing laws", [plot.Panel("of an undamped bushing that turns across its displacement", "yaw, rad",
                                                "power that the stored energy does not account for, W", angles, curves)])


def torque_over_angle():
    """The torque of an undamped bushing on a body that turns about x, by roll, pitch, yaw and by the quaternion."""
    laws = ("drake", "quaternion")
    model, state = free_body(lambda b, body: [mbros.Bushing(b.world, body, (1, 1, 1), 0.0, law=law, name=law) for law in laws])
    angles, torque = np.linspace(-2.2, 4.4, 331), {law: [] for law in laws}
    for angle in angles:
        state.set_q([0.0, 0.0, 0.0, np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0])
        for law in laws:
            torque[law].append(model.force_elements[law].wrench(state).torque[0])
    curves = [(np.array(torque[law]), f'law="{law}"') for law in laws]
    return plot.svg("bushing_quaternion", [plot.Panel("stiffness 1 N m/rad", "angle about x, rad", "torque, N m", angles, curves)])


def rising(model, part, state, h=1e-3):
    """d(energy)/dt along the state's velocity, W: five-point difference."""
    q, slope = state.q.copy(), 0.0
    for step, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
        state.set_q(model.integrate(q, step * h * state.v))
        slope += weight / (12.0 * h) * part.potential_energy(state)
    state.set_q(q)
    return slope


CURVES = {"bushing_energy_consistent": power_unaccounted, "bushing_quaternion": torque_over_angle}


def picture(kind) -> str:
    """The SVG of a force element, or of "stop"."""
    if kind in CURVES:
        return CURVES[kind]()
    acts_on = BY_NAME[kind].acts_on if kind in BY_NAME else "coordinate"
    return {"pair": between_frames, "body": on_body, "coordinate": on_coordinate}[acts_on](kind)


def pictures():
    """{file name: text}, one for every row of the registry, and one for stops."""
    kinds = [*BY_NAME, "stop"]
    missing = [kind for kind in kinds if kind not in EXAMPLES]
    if missing:
        raise LookupError(f"docs/pictures/force_pictures.py has no example of {', '.join(missing)}")
    return {f"force_{kind}.svg": picture(kind) for kind in kinds}


if __name__ == "__main__":
    for name, text in pictures().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
