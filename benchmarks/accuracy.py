"""python -m benchmarks.accuracy: what each integrator does to the energy of robots that should keep it, and how far two ways of
computing the same motion are apart (a Simulator and a rollout, the build for this CPU and the portable one)."""
import json
import os
import subprocess
import sys
import warnings

import numpy as np

import mbros
from benchmarks._timing import table

BLOCK = 10          # steps between two looks at the energy


def one_body(joint, inertia, com, gravity):
    b = mbros.ModelBuilder("body", gravity=gravity)
    b.add_joint(joint("joint", b.world, b.add_body("body", 1.0, com, inertia)))
    return b.build()


def brick(speed):
    """1 kg, 0.1 x 0.2 x 0.3 m, in free flight, turning about its middle axis (of the middle inertia) and a little about the others."""
    model = one_body(mbros.FloatingJoint, tuple((a**2 + b**2) / 12 for a, b in ((0.2, 0.3), (0.1, 0.3), (0.1, 0.2))), (0, 0, 0), (0, 0, 0))
    state = model.default_state()
    state.v[:3] = speed * np.array([0.1, 1.0, 0.1]) / np.linalg.norm([0.1, 1.0, 0.1])
    return model, state


def top():
    """A heavy top of 0.2 m on its tip, 0.5 rad off the vertical, 150 rad/s about its axis."""
    model = one_body(mbros.BallJoint, (0.002, 0.002, 0.004), (0, 0, 0.2), (0, 0, -9.81))
    state = model.default_state()
    state.q[:] = np.cos(0.25), np.sin(0.25), 0.0, 0.0
    state.v[2] = 150.0
    return model, state


def swinging(model, q=None, v=0.0):
    """Without anything that takes energy."""
    state = model.default_state()
    for name in ("damping", "friction", "stop_stiffness", "stop_damping"):
        state.field(name)[:] = 0.0
    state.q[:] = state.q if q is None else q
    state.v[:] = v
    return model, state


def tumbling():
    """The quadruped in free fall, all of its coordinates at some rad/s and m/s."""
    model = mbros.load("quadruped")
    return swinging(model, v=2.0 * np.random.default_rng(3).normal(size=model.nv))


CASES = (("double pendulum, let go at 1 rad, 10 s", lambda: swinging(mbros.load("double_pendulum"), (1.0, 0.0)), 10.0),
         ("double pendulum, 10 s", lambda: swinging(mbros.load("double_pendulum"), (1.0, 0.5)), 10.0),
         ("the same, 60 s", lambda: swinging(mbros.load("double_pendulum"), (1.0, 0.5)), 60.0),
         ("the same, 10 minutes", lambda: swinging(mbros.load("double_pendulum"), (1.0, 0.5)), 600.0),
         ("double pendulum, let go at 3 rad, 10 s", lambda: swinging(mbros.load("double_pendulum"), (3.0, 0.1)), 10.0),
         ("UR5, let go stretched out, 10 s", lambda: swinging(mbros.load("ur5")), 10.0),
         ("UR5, let go somewhere else, 10 s", lambda: swinging(mbros.load("ur5"), np.random.default_rng(2).uniform(-2, 2, 6)), 10.0),
         ("chain of 7 links without damping, 5 s", lambda: swinging(mbros.chain(7), 0.5), 5.0),
         ("quadruped tumbling in free fall, 10 s", tumbling, 10.0),
         ("brick tumbling in free flight, 20 rad/s, 10 s", lambda: brick(20.0), 10.0),
         ("brick tumbling in free flight, 50 rad/s, 1 s", lambda: brick(50.0), 1.0),
         ("top on its tip, 150 rad/s, 1 s", top, 1.0), ("top on its tip, 150 rad/s, 10 s", top, 10.0))
STEPS = (("midpoint", 1e-3), ("midpoint", 5e-4), ("semi_implicit_euler", 1e-3), ("semi_implicit_euler", 1e-4), ("rk4", 1e-3))


def energy_error(make, seconds, integrator, dt) -> float:
    """Largest error of the energy over the largest kinetic energy of the exact motion so far. Raises FaultError."""
    model, state = make()
    sim = mbros.Simulator(model, dt=dt, integrator=integrator, state=state)
    at, _ = sim.plant.layout["energy"]
    energies = [sim.plant.observe()[at:at + 2]]
    for _ in range(round(seconds / dt) // BLOCK):
        sim.plant.steps(np.zeros(model.nv), BLOCK)
        energies.append(sim.plant.observe()[at:at + 2])
    kinetic, total = np.array(energies)[:, 0], np.array(energies).sum(1)
    return np.abs(total - total[0]).max() / max(kinetic[0], total[0] - (total - kinetic).min())


def in_words(*case) -> str:
    """energy_error in a word, or when it ended."""
    try:
        error = energy_error(*case)
        digit = float(f"{error:.0e}")
        return f"{digit:.0e}" if digit < 1e-3 else f"{100 * digit:g} %" if digit < 1.0 else f"{digit:g} times"
    except mbros.FaultError as fault:
        return "fault" + str(fault).partition("after t =")[2].partition(" s,")[0].join((" at", " s"))


def motion(steps=300):
    """(q, v) of arm7 after 300 steps under efforts that change, by a Simulator and by a rollout."""
    model, rng = mbros.load("arm7"), np.random.default_rng(7)
    q0, tau = rng.uniform(-1, 1, 7), rng.normal(size=(1, steps, 7))
    sim = mbros.Simulator(model)
    sim.state.q[:] = q0
    for k in range(steps):
        sim.step(tau[0, k])
    q, v = mbros.rollout(model, q0, np.zeros(7), tau)
    return {"simulator": [*sim.state.q, *sim.state.v], "rollout": [*q[0, -1], *v[0, -1]]}


def main():
    warnings.simplefilter("ignore", mbros.PositionLimitWarning)
    rows = [[name, *(in_words(make, seconds, *step) for step in STEPS)] for name, make, seconds in CASES]
    table("Largest error of the energy over the largest kinetic energy",
          ["motion", *(f"{name}, {1e3 * dt:g} ms" for name, dt in STEPS)], rows)
    here = motion()
    done = subprocess.run([sys.executable, "-c", "import json; from benchmarks import accuracy; print(json.dumps(accuracy.motion()))"],
                          env={**os.environ, "MBROS_ENGINE": "baseline"}, capture_output=True, text=True, check=True)
    plain = json.loads(done.stdout)

    def apart(a, b):
        return f"{np.abs(np.array(a) - np.array(b)).max():.1g}"

    table("arm7 after 300 steps of 1 ms: largest difference in q and v (rad, rad/s)", ["", "difference"],
          [["Simulator and rollout", apart(here["simulator"], here["rollout"])],
           ["Simulator, this CPU's build and the portable one", apart(here["simulator"], plain["simulator"])],
           ["rollout, this CPU's build and the portable one", apart(here["rollout"], plain["rollout"])]])


if __name__ == "__main__":
    main()
