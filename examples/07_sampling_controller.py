"""A sampling controller (MPPI): 4096 rollouts for every decision swing a pole up.

    python examples/07_sampling_controller.py
"""
import numpy as np

import mbros

DT, HORIZON, SAMPLES, HOLD = 0.02, 50, 4096, 5          # s, steps, rollouts, steps between two noises
SPREAD, TEMPERATURE = 12.0, 2.0                         # N, and how much better a rollout has to be to count

model = mbros.load("cartpole")
rng = np.random.default_rng(1)


def cost(q, v, force):
    """Of rollouts (samples, steps, n): upright, in the middle, slow, gently, and not into the ends of the rail."""
    hinge, slider = q[..., 1], q[..., 0]
    running = 6.0 * (1 - np.cos(hinge)) + 0.5 * slider**2 + 0.05 * v[..., 1]**2 + 0.05 * v[..., 0]**2 + 2e-4 * force**2
    return (running + 50.0 * (np.abs(slider) > 1.8)).sum(axis=1) + 10.0 * (1 - np.cos(hinge[:, -1])) + v[:, -1, 1]**2 * 0.3


def decide(state, plan):
    """A better plan (HORIZON,) of forces: the mean of random variations of the old one, weighted by how cheap they turn out."""
    noise = np.repeat(rng.normal(scale=SPREAD, size=(SAMPLES, HORIZON // HOLD)), HOLD, axis=1)
    force = np.clip(plan + noise, -50.0, 50.0)
    tau = np.zeros((SAMPLES, HORIZON, model.nv))
    tau[..., 0] = force
    q, v = mbros.rollout(model, state.q, state.v, tau, dt=DT)           # in SIMD lanes and on all cores
    c = cost(q, v, force)
    weight = np.exp(-(c - c.min()) / TEMPERATURE)
    return weight @ force / weight.sum()


start = model.default_state()
start.q[1] = np.pi                                      # hanging
sim = mbros.Simulator(model, dt=DT, state=start)
plan = np.zeros(HORIZON)
for step in range(100):
    if step % 2 == 0:
        plan = decide(sim.state, plan)
    sim.step([plan[0], 0.0])
    plan = np.append(plan[1:], 0.0)
    if (step + 1) % 25 == 0:
        tilt = np.degrees(np.arccos(np.cos(sim.state.q[1])))
        print(f"{sim.time:.1f} s: the pole is {'up' if tilt < 10 else 'on its way'}")

# Output:
# 0.5 s: the pole is on its way
# 1.0 s: the pole is up
# 1.5 s: the pole is up
# 2.0 s: the pole is up
