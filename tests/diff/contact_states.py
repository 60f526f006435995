"""Random states of robots and bodies that stand, slide and touch, and differences of real steps from them."""
import numpy as np

import mbros
from mbros_core.constraints import touches

DT = 1e-3
GAINS = {"quadruped": (80.0, 2.0), "humanoid": (300.0, 10.0)}


def robot(name, rng):
    """(model, state, efforts) some steps after a robot was pushed while its joints are held by a PD controller."""
    model = _robot(name)
    sim = mbros.Simulator(model, dt=DT)
    home, (kp, kd) = sim.state.q[7:].copy(), GAINS[name]
    sim.state.v[:] = rng.normal(size=model.nv) * rng.choice([0.0, 0.1, 0.4])
    for _ in range(rng.integers(5, 120)):
        tau = np.concatenate([np.zeros(6), kp * (home - sim.state.q[7:]) - kd * sim.state.v[6:]])
        sim.step(tau)
    return model, sim.state, tau + 0.1 * rng.normal(size=model.nv)


MODELS = {}


def _robot(name):
    if name not in MODELS:
        MODELS[name] = mbros.load(name, ground=True)
    return MODELS[name]


def on_a_plane(rng, kind):
    """A body thrown on a tilted plane."""
    b = scene(rng)
    X = mbros.Pose.make((0, 0, 0), rpy=(rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), 0))
    b.add_collision(b.world, mbros.shapes.half_space(), X, name="plane", friction=rng.uniform(0.2, 1.0))
    body(b, rng, "body", kind)
    model = b.build()
    state = model.default_state()
    model.joint("body").set_pose(state, X @ mbros.Pose.make((0, 0, rng.uniform(0.06, 0.12)), rpy=rng.uniform(-0.2, 0.2, 3)))
    state.v[:] = rng.normal(size=6) * rng.choice([0.1, 1.0])
    return simulated(model, state, rng)


def pile(rng, count):
    """Boxes and spheres that fall on each other."""
    b = scene(rng)
    b.add_ground()
    for k in range(count):
        body(b, rng, f"body{k}", rng.choice(["box", "sphere"]) if k else "box")
    model = b.build()
    state = model.default_state()
    for k in range(count):
        model.joint(f"body{k}").set_pose(state, p=(*rng.uniform(-0.03, 0.03, 2), 0.08 + 0.14 * k), rpy=rng.uniform(-0.1, 0.1, 3))
    return simulated(model, state, rng)


def scene(rng):
    return mbros.ModelBuilder("scene")


def body(b, rng, name, kind):
    """A solid of about 10 cm on a free joint, with numbers of its own."""
    mass, size = rng.uniform(0.5, 3.0), rng.uniform(0.08, 0.14, 3)
    part = b.add_body(name, mass, (0, 0, 0), mass * (np.sum(size**2) - size**2) / 12)
    b.add_joint(mbros.FloatingJoint(name, b.world, part))
    shape = mbros.shapes.box(size) if kind == "box" else mbros.shapes.sphere(size[0] / 2)
    b.add_collision(part, shape, friction=rng.uniform(0.3, 1.0), torsional_radius=rng.choice([0.0, 0.01]),
                    rolling_radius=rng.choice([0.0, 0.005]))


def simulated(model, state, rng):
    sim = mbros.Simulator(model, dt=DT, state=state)
    for _ in range(rng.integers(20, 200)):
        sim.step(np.zeros(model.nv))
    return model, sim.state, 0.1 * rng.normal(size=model.nv)


def random_state(rng):
    kind = rng.choice(["quadruped", "humanoid", "box", "sphere", "two", "three"], p=[0.25, 0.15, 0.2, 0.1, 0.2, 0.1])
    if kind in GAINS:
        return robot(kind, rng)
    return on_a_plane(rng, kind) if kind in ("box", "sphere") else pile(rng, 2 if kind == "two" else 3)


# -------------------------------------------------------------------------------------------------------------- a step

def after(model, state, tau, integrator="midpoint"):
    """The state after one step from another, which stays; what the step before it left is kept."""
    sim = mbros.Simulator(model, dt=DT, integrator=integrator, state=state.copy())
    sim.step(tau)
    return sim.state


def moved(model, state, dq, dv):
    other = state.copy()
    other.q[:], other.v[:] = model.integrate(state.q, dq), state.v + dv
    return other


def what_acts(state):
    """Which contact points there were in the last step, which of them pushed, and which stuck."""
    memory = state.field("contact_memory")
    rows = memory[1:int(memory[0, touches.COUNT]) + 1]
    return [(row[touches.PAIR], row[touches.FEATURE], row[touches.IMPULSE] > 0.0, row[touches.STUCK]) for row in rows]


def differences(model, state, tau, integrator="midpoint", e=4e-8):
    """[A B] by central differences of steps, extrapolated to e = 0, and whether the same contacts acted alike in all of them.

    A small e: where a point slips at less than a mm/s, its friction turns within that. Nor are differences alike that do not converge: then
    bounds of friction were renewed in some of the steps (constraints/coulomb.pxd) and not in others, which contacts do not show.
    """
    coarse, alike = central_differences(model, state, tau, integrator, e)
    fine, _ = central_differences(model, state, tau, integrator, e / 2)
    return (4 * fine - coarse) / 3, alike and bool(np.abs(fine - coarse).max() <= 1e-6 * np.abs(fine).max())


def central_differences(model, state, tau, integrator, e):
    n = model.nv
    out, middle, alike = np.empty((2 * n, 3 * n)), after(model, state, tau, integrator), True
    for k, x in enumerate(e * np.eye(3 * n)):
        ends = [after(model, moved(model, state, s * x[:n], s * x[n:2 * n]), tau + s * x[2 * n:], integrator) for s in (1.0, -1.0)]
        alike &= all(what_acts(end) == what_acts(middle) for end in ends)
        a, b = ([model.difference(middle.q, end.q), end.v] for end in ends)
        out[:, k] = (np.concatenate(a) - np.concatenate(b)) / (2 * e)
    return out, alike
