"""python -m benchmarks.rest [--hours 1]: how far what rests goes in an hour of simulated time, with each integrator.

gripper   two fingers under their drives' effort press a box against its weight, at half of what friction bears
hangs     arm7 hangs on its joints' dry friction, twice what its weight asks of each
incline   a box on an incline at half of the angle of friction, and at 0.96 of it
loop      a four-bar linkage is held by the friction of one joint
"""
import argparse
import time

import numpy as np

import mbros
from benchmarks._timing import table

DT, G = 1e-3, 9.81


def incline(share, mu=0.8):
    b = mbros.ModelBuilder("incline", gravity=G * np.array([np.sin(angle := np.arctan(share * mu)), 0.0, -np.cos(angle)]),
                           ground=mbros.Ground(friction=mu))
    size = np.array([0.2, 0.15, 0.1])
    box = b.add_body("box", 2.0, (0, 0, 0), 2.0 / 12 * ((size**2).sum() - size**2))
    b.add_joint(mbros.FloatingJoint("free", b.world, box))
    b.add_collision(box, mbros.shapes.box(size), friction=mu)
    model = b.build()
    state = model.default_state()
    model.joint("free").set_pose(state, p=(0, 0, 0.05), rpy=(0, 0, 0.3))
    return model, state, np.zeros(6)


def gripper(mass=0.5, mu=0.6):
    """Fingers on sliders along y; the box between them, held in the air."""
    b = mbros.ModelBuilder("gripper")
    press = mass * G / (2 * mu) / 0.5
    for side in (-1.0, 1.0):
        finger = b.add_body(f"finger{side:+.0f}", 0.1, (0, 0, 0), (1e-4, 1e-4, 1e-4))
        b.add_joint(mbros.PrismaticJoint(f"close{side:+.0f}", b.world, finger, axis=(0, 1, 0)))
        b.add_collision(finger, mbros.shapes.box((0.04, 0.02, 0.06)), friction=mu)
    box = b.add_body("box", mass, (0.002, 0.001, 0), (6e-4, 7e-4, 8e-4))
    b.add_joint(mbros.FloatingJoint("free", b.world, box))
    b.add_collision(box, mbros.shapes.box((0.05, 0.06, 0.05)), friction=mu)
    model = b.build()
    state = model.default_state()
    for side in (-1.0, 1.0):
        model.joint(f"close{side:+.0f}").set_position(state, side * 0.04)
    return model, state, np.array([press, -press, *np.zeros(6)])


def hangs():
    model = mbros.load("arm7")
    state = model.default_state()
    state.q[:] = (0.3, 0.7, -0.4, 1.0, 0.2, 0.5, 0.1)
    state.friction[:] = 2.0 * np.abs(model.gravity_torques(state)) + 0.01
    return model, state, np.zeros(7)


def loop():
    model = mbros.load("four_bar")
    state = model.assemble(model.default_state())
    k = int(np.argmax(np.abs(model.gravity_torques(state))))
    state.friction[k] = 4.0 * np.abs(model.gravity_torques(state)).sum()
    return model, state, np.zeros(model.nv)


SCENES = {"gripper": gripper, "hangs": hangs, "incline, 0.5": lambda: incline(0.5), "incline, 0.96": lambda: incline(0.96), "loop": loop}


def run(name, integrator, hours):
    """Row of the table: drift of q after the first second, largest speed in the last minute, s of this machine."""
    model, state, tau = SCENES[name]()
    sim = mbros.Simulator(model, dt=DT, integrator=integrator, state=state)
    for _ in range(round(1.0 / DT)):
        sim.step(tau)
    start, steps = np.array(sim.state.q), round(3600 * hours / DT)
    plant, began = sim.plant, time.perf_counter()
    for _ in range(max(0, steps // 60_000 - 1)):
        plant.steps(tau, 60_000)
    fastest = 0.0
    for _ in range(60_000):
        plant.step(tau)
        fastest = max(fastest, np.abs(sim.state.v).max())
    drift = np.abs(sim.model.difference(start, sim.state.q)).max()
    return [name, integrator, f"{drift:.1e}", f"{fastest:.1e}", f"{time.perf_counter() - began:.0f}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rest", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0, help="of simulated time (1)")
    options = parser.parse_args()
    table(f"What rests, {options.hours:g} h of simulated time at {1e3 * DT:g} ms",
          ["", "integrator", "drift, m or rad", "fastest, m/s or rad/s", "s"],
          [run(name, integrator, options.hours) for name in SCENES for integrator in ("midpoint", "semi_implicit_euler")])
