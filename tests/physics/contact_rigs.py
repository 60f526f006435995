"""Scenes of one body, or a few, on a plane, for the tests of contact."""
import numpy as np

import mbros

G = 9.81


def tilted(angle, p=(0, 0, 0)):
    """X (4, 4) of a plane that rises against x: down the slope is +x of its own axes."""
    X = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    X[:3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    X[:3, 3] = X[:3, :3] @ np.asarray(p, float)
    return X


def solid(shape, size):
    """Inertia per kg, about the centre."""
    if shape == "sphere":
        return np.full(3, 0.4 * size**2)
    if shape == "box":
        x, y, z = np.asarray(size) ** 2 / 12.0
        return np.array([y + z, x + z, x + y])
    radius, length = size           # a cylinder along z
    side = radius**2 / 4 + length**2 / 12
    return np.array([side, side, radius**2 / 2])


def geometry(shape, size):
    return {"sphere": mbros.shapes.sphere, "box": mbros.shapes.box}[shape](size) if shape != "cylinder" else mbros.shapes.cylinder(*size)


def on_plane(shape, size, angle=0.0, mass=1.0, height=None, turn=None, dt=1e-3, integrator="midpoint", **numbers):
    """A simulator of one free body `height` above a plane (its centre; default: just touching), in the plane's axes. turn: R (3, 3) of the
    body in them."""
    b = mbros.ModelBuilder("scene")
    body = b.add_body("body", mass, (0, 0, 0), mass * solid(shape, size))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_collision(body, geometry(shape, size), **numbers)
    b.add_collision(b.world, mbros.shapes.half_space(), tilted(angle), name="plane", **numbers)
    model = b.build()
    sim = mbros.Simulator(model, dt=dt, integrator=integrator)
    rest = {"sphere": lambda: size, "box": lambda: size[2] / 2, "cylinder": lambda: size[0]}[shape]()
    X = tilted(angle, (0, 0, rest if height is None else height))
    if turn is not None:
        X[:3, :3] = X[:3, :3] @ turn
    model.joint("free").set_pose(sim.state, X)
    return sim


def push(sim, velocity=(0, 0, 0), angular=(0, 0, 0), angle=0.0):
    """Velocities of the body, given in the plane's axes."""
    R = tilted(angle)[:3, :3]
    body = sim.model.body("body")
    J = sim.model.jacobian(sim.state, body)
    sim.state.set_v(np.linalg.solve(J, np.concatenate([R @ np.asarray(angular, float), R @ np.asarray(velocity, float)])))


def motion(sim, angle=0.0):
    """(angular velocity, velocity of the centre) in the plane's axes."""
    R = tilted(angle)[:3, :3]
    V = sim.model.velocity(sim.state, "body")
    return R.T @ V.angular, R.T @ V.linear


def energy(sim):
    return sim.model.kinetic_energy(sim.state) + sim.model.potential_energy(sim.state)
