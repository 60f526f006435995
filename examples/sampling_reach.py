"""Sampling MPC (MPPI): an arm of seven joints reaches a point and comes to rest there, 4096 rollouts for every decision.

    python examples/sampling_reach.py
    python examples/sampling_reach.py --rate     # iterations per second: with the general engine, and with the robot's own code
"""
import sys
import time

import numpy as np

import mbros

DT, HORIZON, HOLD, SAMPLES = 0.02, 24, 6, 4096          # s, steps, steps between two knots, rollouts
TARGET = np.array([0.45, 0.35, 0.75])                   # m
START = np.array([0.3, 0.5, 0.0, -1.0, 0.2, 0.6, 0.0])
TEMPERATURE = 0.005                                     # of the range of costs: how much better a rollout has to be to count
model = mbros.load("arm7")
limit = model.limits.effort.upper
SPREAD = 0.12 * limit                                   # N m


class Controller:
    """Efforts that hold the arm against gravity, and beside them a plan (HORIZON, nv) that random variations make better."""

    def __init__(self, robot, samples=SAMPLES):
        self.robot, self.samples, self.rng = robot, samples, np.random.default_rng(1)
        self.plan = np.zeros((HORIZON, robot.nv))

    def costs(self, run, efforts):
        """Of rollouts: far from the target, fast, with effort; most of all at the end."""
        q, v = run
        miss = np.linalg.norm(run["flange.pose"].p - TARGET, axis=-1)
        return (20.0 * miss + 0.02 * (v**2).sum(-1)).sum(1) + 100.0 * miss[:, -1] + 0.5 * (v[:, -1]**2).sum(-1) + 1e-4 * (
            efforts**2).sum((1, 2))

    def decide(self, state):
        """The efforts to apply now, and what the best rollout costs."""
        knots = self.rng.normal(size=(self.samples, HORIZON // HOLD, self.robot.nv)) * SPREAD
        knots *= 0.5 ** (4.0 * np.linspace(0.0, 1.0, self.samples))[:, None, None]         # bold ones, and ever more careful ones
        knots[-1] = 0.0                                                         # the plan as it is
        efforts = self.plan + np.repeat(knots, HOLD, axis=1)
        hold = self.robot.gravity_torques(state)
        run = mbros.rollout(self.robot, state.q, state.v, hold + efforts, dt=DT, every=2, on_fault="hold", outputs=["flange.pose"])
        cost = self.costs(run, efforts)
        weight = np.exp((cost.min() - cost) / (TEMPERATURE * np.ptp(cost) + 1e-12))
        self.plan = np.tensordot(weight / weight.sum(), efforts, 1)
        now = hold + self.plan[0]
        self.plan = np.concatenate([self.plan[1:], np.zeros((1, self.robot.nv))])
        return now, cost.min()


def reach(seconds=1.2, samples=SAMPLES, say=print):
    """How far from the target the flange is at the end (m), how fast the joints are (rad/s)."""
    start = model.default_state()
    start.q[:] = START
    sim, controller = mbros.Simulator(model, dt=DT / 4, state=start), Controller(model, samples)
    for step in range(round(seconds / DT)):
        tau, cost = controller.decide(sim.state)
        for _ in range(4):
            sim.step(tau)
        if (step + 1) % 15 == 0:
            miss = np.linalg.norm(model.pose(sim.state, "flange").p - TARGET)
            say(f"{sim.time:.1f} s: {1e3 * miss:.0f} mm from the target, cost {cost:.1f}")
    return np.linalg.norm(model.pose(sim.state, "flange").p - TARGET), np.abs(sim.state.v).max()


def rate(rounds=15):
    """Decisions per second, the best of some in turn: of the general engine, and of the robot's own code (a C++ compiler makes it once)."""
    robots = {"general engine": model, "specialised": mbros.specialize(model)}
    controllers = {name: (Controller(robot), robot.default_state()) for name, robot in robots.items()}
    best = dict.fromkeys(robots, np.inf)
    for _ in range(rounds):
        for name, (controller, state) in controllers.items():
            state.q[:] = START
            begin = time.perf_counter()
            controller.decide(state)
            best[name] = min(best[name], time.perf_counter() - begin)
    for name, each in best.items():
        print(f"{name}: {1 / each:.0f} iterations/s, {SAMPLES * HORIZON / each / 1e6:.2f} million steps/s")


if __name__ == "__main__":
    if "--rate" in sys.argv:
        rate()
    else:
        reach()

# Output:
# 0.3 s: 147 mm from the target, cost 14.7
# 0.6 s: 31 mm from the target, cost 3.3
# 0.9 s: 5 mm from the target, cost 1.3
# 1.2 s: 2 mm from the target, cost 1.2
