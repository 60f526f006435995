"""Scenes of benchmarks.contact_peers as plain data, which every engine builds, and what their motion is in closed form or by an ODE.

A part is one body about its centre of mass, in SI units. Numbers of contact are those of a pair: each of its two shapes has 2 k and
tau / 2. Boxes stand on four balls, because Drake's point contact gives a box on a plane one point.
"""
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.coulomb import impulses_of_blow

G = 9.81
STILL = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Shape:
    kind: str                               # sphere (radius), box (edges), cylinder (radius, length; its axis is z)
    size: tuple
    p: tuple = (0.0, 0.0, 0.0)              # of its centre, from the centre of mass, in the body's axes


@dataclass(frozen=True)
class Part:
    """A free body where joint is None; else (kind, axis, place in the parent, place in this body) of a slide or a hinge."""

    name: str
    mass: float
    inertia: tuple                          # principal, about the centre of mass
    shapes: tuple = ()
    joint: tuple | None = None
    parent: str | None = None               # None is the world
    p: tuple = (0.0, 0.0, 0.0)              # of a free body: where it starts, how it is turned, its velocities in world axes
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    V: tuple = STILL                        # angular, linear
    q: float = 0.0                          # of a joint: position and velocity at the start
    v: float = 0.0


@dataclass(frozen=True)
class Scene:
    parts: tuple
    mu: float
    stiffness: float = 5e5
    relaxation_time: float = 0.01
    gravity: tuple = (0.0, 0.0, -G)

    def moved(self, **start):
        """The same scene, whose first body starts elsewhere."""
        return replace(self, parts=(replace(self.parts[0], **start), *self.parts[1:]))


def about_y(angle):
    """R that turns x towards z by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])


# ------------------------------------------------------------------------------------------------------------- a dragged arm

TIP = 1e-3              # radius of the ball at the end of an arm or a rod, m


def dragged_arm(mu, angle):
    """A cart that a controller drives at 0.5 m/s; an arm of 1 m and 1 kg hangs behind it, its tip on the ground."""
    height = np.sin(angle) * 1.0 + TIP
    arm = Part("arm", 1.0, (1e-3, 1 / 12, 1 / 12), (Shape("sphere", (TIP,), (-0.5, 0, 0)),), ("hinge", (0, -1, 0), (0, 0, 0), (0.5, 0, 0)),
               "cart", q=angle)
    return Scene((Part("cart", 5.0, (0.1, 0.1, 0.1), (), ("slide", (1, 0, 0), (0, 0, height), (0, 0, 0)), v=0.5), arm), mu)


def drag_exact(mu, angle):
    """(normal force, friction) of statics. The ball touches the ground below its centre, by its radius further than the arm reaches."""
    lever, height = np.cos(angle), np.sin(angle) + TIP
    normal = 0.5 * lever * G / (lever + mu * height)
    return normal, mu * normal


# ------------------------------------------------------------------------------------------------------------- blows of a rod

def rod(mu, angle, velocity, gap, stiffness, relaxation_time=0.01, gravity=0.0, spin=0.0):
    """A rod of 1 m and 1 kg in the x-z plane with a ball at its lower end, which is a gap above the ground."""
    z = TIP + 0.5 * np.sin(angle) + gap
    part = Part("rod", 1.0, (1e-3, 1 / 12, 1 / 12), (Shape("sphere", (TIP,), (-0.5, 0, 0)),), p=(0, 0, z), R=about_y(angle),
                V=((0, -spin, 0), (velocity[0], 0, velocity[1])))
    return Scene((part,), mu, stiffness, relaxation_time, (0, 0, -gravity))


def blows():
    """(mu, angle, (vx, vz), velocity after it (vx, vz, w)) of every oblique blow with one answer; w turns x towards z."""
    for degrees in (10, 30, 45, 60, 75, 85):
        for mu in (0.2, 0.5, 0.8, 1.2, 2.0, 4.0):
            for speed in (-3.0, -1.0, 1.0, 3.0):
                found = after_blow(np.radians(degrees), mu, np.array([speed, -2.0, 0.0]))
                if len(found) == 1:
                    yield mu, np.radians(degrees), (speed, -2.0), found[0]


def after_blow(angle, mu, v):
    """All velocities after an inelastic blow with Coulomb's friction: none, one or several."""
    inverse = np.array([1.0, 1.0, 12.0])
    J = np.array([[0, 1, -0.5 * np.cos(angle)], [1, 0, 0.5 * np.sin(angle) + TIP]])                     # normal, tangent
    return [v + inverse * (J.T @ p) for p in impulses_of_blow(J * inverse @ J.T, J @ v, mu)]


# ------------------------------------------------------------------------------------------------------------- Painleve's rod

PAINLEVE = dict(stiffness=5e7, relaxation_time=2e-3, gravity=G)
ROD_ANGLE = np.radians(60)


def painleve_rod(mu, speed):
    return rod(mu, ROD_ANGLE, (speed, 0.0), 0.0, **PAINLEVE)


def painleve_exact(mu, speed, seconds, smooth=1e-7):
    """(x, z, angle) of the rod on the compliant ground. The force acts below the ball's centre, halfway between ball and ground, which
    give way alike; friction's sign is smoothed over 1e-7 m/s, which moves the result by less than that."""
    k, tau = PAINLEVE["stiffness"], PAINLEVE["relaxation_time"]

    def rate(_, y):
        x, z = -0.5 * np.cos(y[2]), -0.5 * np.sin(y[2]) - TIP
        depth = -(y[1] + z)
        z += 0.5 * max(0.0, depth)
        vt, vn = y[3] - y[5] * z, y[4] + y[5] * x
        normal = max(0.0, k * (depth - tau * vn)) if depth > 0 else 0.0
        friction = -mu * normal * vt / np.hypot(vt, smooth)
        return [y[3], y[4], y[5], friction, normal - G, 12.0 * (x * normal - z * friction)]

    start = [0, TIP + 0.5 * np.sin(ROD_ANGLE), ROD_ANGLE, speed, 0, 0]
    with np.errstate(over="ignore"):         # of the factors that SciPy differences by
        return solve_ivp(rate, (0, seconds), start, "Radau", rtol=1e-10, atol=1e-12, max_step=1e-3).y[:3, -1]


# ------------------------------------------------------------------------------------------------------- boxes on four balls

EDGE, FOOT = 0.2, 0.01


def box(name, mass, p, V=STILL):
    """A cube whose balls stand out by 1 mm below; on top of it another one can stand."""
    at = EDGE / 2 - FOOT
    balls = tuple(Shape("sphere", (FOOT,), (x, y, -at)) for x in (-at, at) for y in (-at, at))
    cube = Shape("box", (EDGE, EDGE, EDGE - 1e-3), (0, 0, 0.5e-3))
    return Part(name, mass, (mass * EDGE**2 / 6,) * 3, (cube, *balls), p=p, V=V)


def depth(load, stiffness=Scene.stiffness):
    """Of four balls that carry a load, m."""
    return load / (4 * stiffness)


def sliding_box(mu, speed):
    return Scene((box("box", 1.0, (0, 0, EDGE / 2 - depth(G)), ((0, 0, 0), (speed, 0, 0))),), mu)


def box_on_incline(mu, angle):
    """The plane is level, and gravity leans by the angle."""
    g = G * np.sin(angle), 0.0, -G * np.cos(angle)
    return Scene((box("box", 1.0, (0, 0, EDGE / 2 + g[2] / (4 * Scene.stiffness))),), mu, gravity=g)


def stack(count=10, mu=0.8):
    """Boxes of 1 kg, each 1 cm aside of the one below, as deep in each other as they will be."""
    parts, z = [], 0.0
    for k in range(count):
        z -= depth((count - k) * G)
        parts.append(box(f"box{k}", 1.0, (0.005 * (-1) ** k, 0, z + EDGE * (k + 0.5))))
    return Scene(tuple(parts), mu)


def energy(scene, R, p, w, v):
    """Kinetic energy and that of height of a scene's first body, J. What its contacts store is no part of it."""
    part = scene.parts[0]
    return 0.5 * part.mass * (v @ v) + 0.5 * np.array(part.inertia) @ (R.T @ w) ** 2 - part.mass * (np.array(scene.gravity) @ p)


# ------------------------------------------------------------------------------------------------------- gyroscopic toys

@dataclass(frozen=True)
class Steady:
    """A disk that rolls around a circle of a radius (0: on the spot), its plane `lean` rad from upright."""

    radius: float
    lean: float
    r: float = 0.1                          # of the disk, its thickness, mass
    thickness: float = 0.01
    mass: float = 0.5

    @property
    def inertia(self):
        side = self.mass * (3 * self.r**2 + self.thickness**2) / 12
        return side, side, self.mass * self.r**2 / 2

    def rates(self):
        """(precession, spin about its axis), rad/s, by angular momentum about the centre; friction gives the centripetal force."""
        A, _, C = self.inertia
        c, s = np.cos(self.lean), np.sin(self.lean)
        lever, height = self.r * s - self.thickness / 2 * c, self.r * c + self.thickness / 2 * s        # of the lowest point of the rim
        inertia = self.mass * self.radius * height + C * c * (self.radius + lever) / self.r - (C - A) * s * c
        precession = np.sqrt(self.mass * G * lever / inertia)
        return precession, -precession * (self.radius + lever) / self.r

    def scene(self, mu=0.8):
        c, s = np.cos(self.lean), np.sin(self.lean)
        precession, spin = self.rates()
        axis = np.array([c, 0, s])
        R = np.column_stack([(s, 0, -c), (0, 1, 0), axis])
        z = self.r * c + self.thickness / 2 * s - self.mass * G / Scene.stiffness
        V = tuple(precession * np.array([0, 0, 1]) + spin * axis), (0, precession * self.radius, 0)
        disk = Part("disk", self.mass, self.inertia, (Shape("cylinder", (self.r, self.thickness)),), p=(self.radius, 0, z), R=R, V=V)
        return Scene((disk,), mu)


TOP = dict(mass=0.02, radius=0.02, offset=0.006, inertia=(3.0e-6, 3.0e-6, 3.2e-6), tilt=0.1, spin=150.0)


def tippe_top(mu=0.3):
    """A ball whose centre of mass is 0.3 of its radius off its centre; it spins about the vertical, tilted by 0.1 rad, and turns over."""
    c, s = np.cos(TOP["tilt"]), np.sin(TOP["tilt"])
    axis = np.array([s, 0, c])
    z = TOP["radius"] - TOP["offset"] * c - TOP["mass"] * G / Scene.stiffness
    top = Part("top", TOP["mass"], TOP["inertia"], (Shape("sphere", (TOP["radius"],), (0, 0, TOP["offset"])),), p=(0, 0, z),
               R=np.column_stack([(c, 0, -s), (0, 1, 0), axis]), V=((0, 0, TOP["spin"]), (0, 0, 0)))
    return Scene((top,), mu)


TOP_SECONDS = 0.7       # when its axis is level


def tippe_top_exact(times, mu=0.3, smooth=1e-6):
    """Cosine of the axis' angle from the vertical at these times. State: position, velocity, angular momentum, axis."""
    m, r, a, (A, _, C) = (TOP[name] for name in ("mass", "radius", "offset", "inertia"))
    k, tau = Scene.stiffness, Scene.relaxation_time
    start = tippe_top(mu).parts[0]

    def rate(_, y):
        v, H, e = y[3:6], y[6:9], y[9:]
        w = (H - (C - A) / C * (H @ e) * e) / A
        arm = np.array([a * e[0], a * e[1], a * e[2] - r])
        vc = v + np.cross(w, arm)
        deep = r - y[2] - a * e[2]
        normal = max(0.0, k * (deep - tau * vc[2])) if deep > 0 else 0.0
        slip = np.hypot(np.hypot(vc[0], vc[1]), smooth)
        force = np.array([-mu * normal * vc[0] / slip, -mu * normal * vc[1] / slip, normal])
        return np.concatenate([v, force / m - [0, 0, G], np.cross(arm, force), np.cross(w, e)])

    w = np.array(start.V[0])
    y = np.concatenate([start.p, start.V[1], start.R @ (np.array(TOP["inertia"]) * (start.R.T @ w)), start.R[:, 2]])
    with np.errstate(over="ignore"):
        return solve_ivp(rate, (0, times[-1]), y, "Radau", t_eval=times, rtol=1e-10, atol=1e-12).y[11]


def jellett(R, w):
    """The angular momentum about the line from the centre of mass to the ground, over that length: a point contact cannot change it."""
    H = R @ (np.array(TOP["inertia"]) * (R.T @ w))
    return H @ (np.array([0, 0, TOP["radius"]]) - TOP["offset"] * R[:, 2])
