"""python -m benchmarks.interrupts: how long Ctrl-C waits in calls that would last for minutes."""
import numpy as np

import mbros
from benchmarks._robots import of_tests
from benchmarks._timing import table

interrupting = of_tests("interrupting")

ROUNDS = 20
EFFORTS = np.zeros((40, 30_000, 1))


def law(t, state):
    return -state.v


HEAVY = interrupting.one_coordinate()
CALLS = {
    "Simulator.advance_to": lambda model: mbros.Simulator(model).advance_to(1e6),
    "Simulator.run, a row every 10^8 steps": lambda model: mbros.Simulator(model).run(1e5, every=10**8),
    "Simulator.run under a law in Python": lambda model: mbros.Simulator(model).run(1e4, law, every=10**6),
    "Simulator.advance_to, rk4": lambda model: mbros.Simulator(model, integrator="rk4").advance_to(1e6),
    **{f"rollout, {n} thread{'s' * (n > 1)}": lambda model, n=n: mbros.rollout(HEAVY, [0.1], [0.0], EFFORTS, threads=n) for n in (1, 2, 5)},
}


def wait(call, model, after) -> float:
    """Seconds from the signal to the exception; infinite where the call ended before."""
    with interrupting.interrupt_after(after) as since:
        try:
            call(model)
        except KeyboardInterrupt:
            return since()
    return float("inf")


def main():
    model, chance = mbros.load("arm6"), np.random.default_rng(7)
    rows = []
    for name, call in CALLS.items():
        waits = 1e3 * np.array([wait(call, model, after) for after in chance.uniform(0.05, 0.2, ROUNDS)])
        rows.append([name, f"{np.median(waits):.1f}", f"{waits.max():.1f}"])
    table(f"From a signal to KeyboardInterrupt, ms, {ROUNDS} times each", ["call", "median", "worst"], rows)


if __name__ == "__main__":
    main()
