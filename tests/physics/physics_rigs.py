"""Robots whose motion is known in closed form, with plain numbers; and how they are run."""
import numpy as np
import zoo

import mbros_core

G = 9.81


def point(mass, at):
    """m, h, I of a point mass at `at` (3,)."""
    p = np.asarray(at, float)
    I = mass * ((p @ p) * np.eye(3) - np.outer(p, p))
    return body(mass, p, I)


def body(mass, com, inertia_about_origin):
    """The ten numbers of a spec from mass, centre of mass and rotational inertia about the body's origin."""
    I = np.asarray(inertia_about_origin, float)
    return np.array([mass, *(mass * np.asarray(com, float)), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def placed(R=((1, 0, 0), (0, 1, 0), (0, 0, 1)), p=(0, 0, 0)):
    """The twelve numbers of a placement."""
    return np.concatenate([np.asarray(R, float).ravel(), np.asarray(p, float)])


def rig(bodies, placements, inertias, gravity=(0, 0, -G), **arrays):
    """A ModelSpec of `zoo.Body` rows with the given placements and inertias; passive terms zero unless given."""
    spec = zoo.build("rig", bodies, gravity=gravity, damped=False, rotors=False, extra_frames=0)
    spec.X_PF[1:], spec.inertia[1:] = placements, inertias
    for name, values in arrays.items():
        getattr(spec, name)[:] = values
    return spec


# z of F along y of the world, x of F down: a pendulum hangs at q = 0
HANGING = np.array([[0, 0, -1], [-1, 0, 0], [0, 1, 0]]).T


def pendulum(mass=1.3, length=0.8, **arrays):
    """A point mass on a massless rod about a horizontal axis; q = 0 hangs."""
    return rig([zoo.Body("revolute", 0)], [placed(HANGING)], [point(mass, [length, 0, 0])], **arrays)


def double_pendulum():
    """Two unit masses on unit rods about horizontal axes."""
    return rig([zoo.Body("revolute", 0), zoo.Body("revolute", 1)], [placed(HANGING), placed(p=(1, 0, 0))],
               [point(1.0, [1, 0, 0]), point(1.0, [1, 0, 0])])


def slider(mass=2.0, gravity=(0, 0, 0), **arrays):
    """A mass on a rail along the world's z."""
    return rig([zoo.Body("prismatic", 0)], [placed()], [point(mass, [0, 0, 0])], gravity, **arrays)


def free_body(inertia, gravity=(0, 0, 0)):
    """A floating body with the given ten numbers; its joint frame is the world's."""
    return rig([zoo.Body("floating", 0)], [placed()], [inertia], gravity)


class Run:
    """A plant of a rig, stepped while its q and v are recorded (row 0 is the start)."""

    def __init__(self, spec, dt, integrator="rk4", q=None, v=None):
        self.model = mbros_core.Model(spec)
        self.plant = mbros_core.Plant(self.model, dt=dt, integrator=integrator)
        self.dt = dt
        self.plant.reset(q=q, v=v)
        self.state = self.plant.state

    def record(self, steps, tau=None):
        """t (steps + 1,), q (steps + 1, nq), v (steps + 1, nv) under a constant tau."""
        tau = np.zeros(self.model.nv) if tau is None else np.asarray(tau, float)
        q, v = np.empty((steps + 1, self.model.nq)), np.empty((steps + 1, self.model.nv))
        q[0], v[0] = self.state.q, self.state.v
        for k in range(steps):
            self.plant.step(tau)
            q[k + 1], v[k + 1] = self.state.q, self.state.v
        return np.arange(steps + 1) * self.dt, q, v

    def energy(self, q, v):
        """Total energy (J) of each row."""
        state, E = self.model.default_state(), np.empty(len(q))
        for k in range(len(q)):
            state.q[:], state.v[:] = q[k], v[k]
            E[k] = self.model.kinetic_energy(state) + self.model.potential_energy(state)
        return E


def agm(a, b):
    """Arithmetic-geometric mean (Gauss): quadratic convergence, six rounds give every digit."""
    for _ in range(8):
        a, b = (a + b) / 2, np.sqrt(a * b)
    return a


def crossings(t, x, xdot):
    """Times at which x passes zero, by the cubic Hermite polynomial of the step in which it does."""
    times = []
    for k in np.flatnonzero(np.sign(x[:-1]) * np.sign(x[1:]) < 0):
        h = t[k + 1] - t[k]
        # x(s), s in [0, 1], from values and slopes at both ends
        a, b, c, d = x[k], h * xdot[k], x[k + 1], h * xdot[k + 1]
        cubic = [2 * a + b - 2 * c + d, -3 * a - 2 * b + 3 * c - d, b, a]
        roots = np.roots(cubic)
        roots = roots[np.abs(roots.imag) < 1e-9].real
        times.append(t[k] + h * roots[np.argmin(np.abs(roots - 0.5))])
    return np.array(times)
