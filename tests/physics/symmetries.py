"""Symmetries of mechanics as functions of a Scene: each returns the transformed scene, and how what is seen of it is seen in the first one.

    back(seen, t, s)      t: the time of bodies' poses; s: that of contact points, which lie where the step took its forces
"""
import copy

import numpy as np
import zoo
from mbros_core.joints.registry import BY_NAME
from symmetry_scenes import WORLD, Part, Seen, matrix, pose

MIRROR = np.array([1.0, -1.0, 1.0])                     # of vectors; of axial ones (angular velocities, moments) the opposite
QUATERNION = np.array([1.0, -1.0, 1.0, -1.0])


def product(a, b):
    """Of two quaternions wxyz."""
    return np.r_[a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]


def placed_on(scene):
    """(object, name of what its frame is on, attribute of the frame) of all frames but joints'."""
    yield from ((x, x.on, "X") for x in scene.solids)
    for x in (*scene.loops, *scene.ties):
        yield x, x.a, "A"
        yield x, x.b, "B"


def frames_on(scene, name):
    """The same on one part or the world, with the frames F of joints there."""
    yield from ((x, attribute) for x, on, attribute in placed_on(scene) if on == name)
    yield from ((part, "F") for part in scene.parts if part.parent == name and not part.free)


def mapped(seen, p, R, polar, axial, moment=None):
    """A Seen whose values are mapped by functions of their kind; moment: of (moment, force)."""
    moment = moment or (lambda m, f: axial(m))

    def each(values, function):
        return {name: function(x) for name, x in values.items()}
    return Seen(each(seen.p, p), each(seen.R, R), each(seen.v, polar), each(seen.w, axial), each(seen.force, polar),
                {pair: moment(m, seen.force[pair]) for pair, m in seen.moment.items()},
                {name: polar(f) if name in seen.loop_torque else f for name, f in seen.loop_force.items()}, each(seen.loop_torque, axial))


def turned(scene, rng):
    """The world and gravity turned by a random rotation."""
    scene, q = copy.deepcopy(scene), zoo.quaternion(rng)
    Q = matrix(q)
    for x, attribute in frames_on(scene, WORLD):
        setattr(x, attribute, pose(Q, np.zeros(3)) @ getattr(x, attribute))
    for part in scene.parts:
        if part.free:
            part.q = np.r_[Q @ part.q[:3], product(q, part.q[3:])]
    scene.gravity = Q @ scene.gravity
    return scene, lambda seen, t, s: mapped(seen, *(lambda x: Q.T @ x,) * 4)


def shifted(scene, d):
    """The whole scene d (3,) m away."""
    scene = copy.deepcopy(scene)
    for x, attribute in frames_on(scene, WORLD):
        setattr(x, attribute, pose(np.eye(3), d) @ getattr(x, attribute))
    for part in scene.parts:
        if part.free:
            part.q = np.r_[part.q[:3] + d, part.q[3:]]
    return scene, lambda seen, t, s: in_lift(seen, d, d, np.zeros(3))


def in_lift(seen, d, at_contacts, c):
    """Seen from a frame that is d away, was at_contacts away when contacts were found, and moves with c."""
    out = mapped(seen, lambda p: p - d, *(lambda x: x,) * 3, moment=lambda m, f: m - np.cross(at_contacts, f))
    out.v = {name: v - c for name, v in seen.v.items()}
    return out


def lifted(scene, c, d=(0.0, 0.0, 0.0)):
    """What stands on the world stands on a lift that starts at d (3,) m and moves with c (3,) m/s; what is free moves along."""
    scene, c = copy.deepcopy(scene), np.asarray(c, float)
    for x, attribute in list(frames_on(scene, WORLD)):
        for owner in ("on", "parent", "a", "b"):
            if getattr(x, owner, None) == WORLD and (owner not in "ab" or owner == attribute.lower()):
                setattr(x, owner, "lift")
    for part in scene.parts:
        if part.free:
            if part.kind == "floating":
                part.q, part.v = part.q + np.r_[d, np.zeros(4)], part.v + np.r_[np.zeros(3), matrix(part.q[3:]).T @ c]
            else:
                part.q, part.v = part.q + np.r_[np.zeros(3), d], part.v + np.r_[np.zeros(3), c]
    scene.parts.insert(0, Part("lift", WORLD, "translation3", np.eye(4), np.eye(4), 3.0, np.array([0.1, 0.2, 0.3]), np.eye(3),
                               np.array(d, float), c, steady=True))

    def back(seen, t, s):
        out = in_lift(seen, d + c * t, d + c * s, c)
        for values in (out.p, out.R, out.v, out.w):
            del values["lift"]
        for values in (out.force, out.moment):
            for a, b in list(values):
                if "lift" in (a, b):
                    named, sign = in_order(a, b)
                    values[named] = sign * values.pop((a, b))
        return out
    return scene, back


def in_order(a, b):
    """The pair of names with "world" in the place of "lift", and the sign of what is seen of it."""
    a, b = (WORLD if name == "lift" else name for name in (a, b))
    return ((a, b), 1.0) if a < b else ((b, a), -1.0)


def mirrored(scene):
    """y is -y. A joint's axis is mirrored so that the signs of its coordinates stay, where it has one or both kinds of motion."""
    scene, S = copy.deepcopy(scene), np.diag([*MIRROR, 1.0])
    for x, _, attribute in placed_on(scene):
        setattr(x, attribute, S @ getattr(x, attribute) @ S)
    for part in scene.parts:
        part.F, part.M = S @ part.F @ S, S @ part.M @ S
        part.com, part.inertia = MIRROR * part.com, MIRROR[:, None] * part.inertia * MIRROR
        q, v = {"floating": (np.r_[MIRROR, QUATERNION], np.r_[-MIRROR, MIRROR]), "ball": (QUATERNION, -MIRROR),
                "universal": ((-1, 1), (-1, 1)), "cylindrical": ((-1, 1), (-1, 1))}.get(part.kind, (1, 1))
        part.q, part.v, part.pitch = q * part.q, v * part.v, -part.pitch
        if part.axis is not None:
            part.axis = MIRROR * part.axis * (-1 if part.kind in ("revolute", "screw") else 1)
    for loop in scene.loops:
        loop.axes = tuple(MIRROR * axis for axis in loop.axes)
    scene.gravity = MIRROR * scene.gravity
    return scene, lambda seen, t, s: mapped(seen, lambda p: MIRROR * p, lambda R: MIRROR[:, None] * R * MIRROR, lambda x: MIRROR * x,
                                            lambda x: -MIRROR * x)


def in_units(scene, L, M, T):
    """Lengths, masses and times are L, M and T times what they were."""
    scene = copy.deepcopy(scene)
    for x, _, attribute in placed_on(scene):
        setattr(x, attribute, longer(getattr(x, attribute), L))
    for part in scene.parts:
        part.F, part.M, part.com, part.pitch = longer(part.F, L), longer(part.M, L), L * part.com, L * part.pitch
        part.mass, part.inertia = M * part.mass, M * L**2 * part.inertia
        row = BY_NAME[part.kind]
        of_q = np.array([L if unit == "m" else 1.0 for unit in row.position_units])
        of_v = np.array([L if unit == "m/s" else 1.0 for unit in row.velocity_units]) / T
        effort = M * of_v * T * L / T**2 * np.array([1.0 if unit == "m/s" else L for unit in row.velocity_units]) / (of_v * T)
        part.q, part.v = of_q * part.q, of_v * part.v
        factors = dict(damping=effort / of_v, rotor_inertia=effort / of_v * T, lower=of_q, upper=of_q, stop_stiffness=effort / of_v / T,
                       stop_damping=effort / of_v)
        part.options = {name: factors[name] * x for name, x in part.options.items()}
        if part.drive:
            part.drive = of_q[0] * part.drive[0], part.drive[1] / T
        if part.spring:
            part.spring = tuple(map(float, np.array(part.spring) * (of_q[0], effort[0] / of_q[0], effort[0] / of_v[0])))
        if part.brake:
            part.brake = tuple(map(float, np.array(part.brake) * (effort[0], effort[0], of_v[0], of_v[0], effort[0] / of_v[0])))
    for x in scene.solids:
        x.sizes = L * x.sizes
        factors = dict(stiffness=M / T**2, relaxation_time=T, torsional_radius=L, rolling_radius=L)
        x.numbers = {name: number * factors.get(name, 1.0) for name, number in x.numbers.items()}
    for loop in scene.loops:
        loop.length *= L
    for tie in scene.ties:
        tie.numbers = tuple(map(float, np.array(tie.numbers) * (L, M / T**2, M / T)))
    scene.gravity, scene.dt = L / T**2 * scene.gravity, T * scene.dt
    force = M * L / T**2

    def back(seen, t, s):
        def each(values, unit):
            return {name: x / unit for name, x in values.items()}
        couples = {name: force if name in seen.loop_torque else force * L for name in seen.loop_force}
        return Seen(each(seen.p, L), seen.R, each(seen.v, L / T), each(seen.w, 1 / T), each(seen.force, force),
                    each(seen.moment, force * L), {name: f / couples[name] for name, f in seen.loop_force.items()},
                    each(seen.loop_torque, force * L))
    return scene, back


def longer(X, L):
    return pose(X[:3, :3], L * X[:3, 3])


def reordered(scene, rng):
    """Everything added in another order, parents before children."""
    scene = copy.deepcopy(scene)
    waiting, scene.parts = [scene.parts[k] for k in rng.permutation(len(scene.parts))], []
    while waiting:
        names = [WORLD, *(part.name for part in scene.parts)]
        scene.parts.append(waiting.pop(next(k for k, part in enumerate(waiting) if part.parent in names)))
    for what in ("solids", "loops", "ties", "apart"):
        values = getattr(scene, what)
        setattr(scene, what, [values[k] for k in rng.permutation(len(values))])
    return scene, lambda seen, t, s: seen


def reframed(scene, rng, reach=0.3, turn=True, coordinates=True):
    """Other origins and axes of bodies. coordinates: those of free bodies are of the new frames."""
    scene, turns = copy.deepcopy(scene), {}
    for part in scene.parts:
        q, d = zoo.quaternion(rng) if turn else np.array([1.0, 0.0, 0.0, 0.0]), rng.uniform(-reach, reach, 3)
        R = turns[part.name] = matrix(q)
        back = np.linalg.inv(pose(R, d))
        part.com, part.inertia = R.T @ (part.com - d), R.T @ part.inertia @ R
        for x, attribute in frames_on(scene, part.name):
            setattr(x, attribute, back @ getattr(x, attribute))
        if part.free and coordinates:
            w, v = part.v[:3], part.v[3:]
            part.q = np.r_[part.q[:3] + matrix(part.q[3:]) @ d, product(part.q[3:], q)]
            part.v = np.r_[R.T @ w, R.T @ (v + np.cross(w, d))]
        else:
            part.M = back @ part.M

    def seen_back(seen, t, s):
        seen.R = {name: R @ turns[name].T for name, R in seen.R.items()}
        return seen
    return scene, seen_back


def on_rpy(scene):
    """The same scene; velocities of free bodies are in the world's axes."""
    scene = copy.deepcopy(scene)
    for part in scene.parts:
        if part.free:
            R = matrix(part.q[3:])
            angles = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(-R[2, 0], np.hypot(R[2, 1], R[2, 2])), np.arctan2(R[1, 0], R[0, 0])
            part.kind, part.q, part.v = "floating_rpy", np.r_[angles, part.q[:3]], np.r_[R @ part.v[:3], R @ part.v[3:]]
    return scene
