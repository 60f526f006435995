"""What a call from Python costs beyond the C algorithm, and the algorithm per degree of freedom.

The kernel is timed inside C (`Model._time_kernel`), in turn with calls from Python on the same state; the difference of
the two is the call: argument checks, the result's buffer, Python's own call.
"""
import numpy as np

import mbros
from benchmarks._timing import Time, interleave, table


class Kernel:
    """A candidate for `interleave` that lets C read the clock."""

    def __init__(self, model, name, state, x):
        self.times, self.arguments, self.time = [], (name, state, x), model._time_kernel

    def __call__(self, n):
        name, state, x = self.arguments
        self.times.append(self.time(name, state, x, n))

    def result(self, batches):
        last = sorted(self.times[-batches:])
        return Time(last[0], last[len(last) // 2])


def main(robots, batches):
    """Prints the table; returns {robot: (kernel Time, call Time)}."""
    rows, results = [], {}
    models = [(robot.name, robot.model, robot.states[0], robot.x[0]) for robot in robots]
    for n in (1, 8, 32):
        model = mbros.chain(n)
        models.append((f"chain({n})", model, model.random_state(np.random.default_rng(n)), np.zeros(n)))
    for name, model, state, x in models:
        kernel, method, out = Kernel(model, "forward_dynamics", state, x), model.forward_dynamics, np.empty(model.nv)

        def call(n, method=method, state=state, x=x, out=out):
            for _ in range(n):
                method(state, x, out)

        def call_new(n, method=method, state=state, x=x):
            for _ in range(n):
                method(state, x)

        t = interleave({"kernel": kernel, "call": call, "new": call_new}, batches)
        bare = kernel.result(batches)
        results[name] = (bare, t["call"], model.nv)
        rows.append([name, model.nv, f"{bare.best:.0f}", f"{bare.best / model.nv:.0f}", f"{t['call'].best - bare.best:.0f}",
                     f"{t['new'].best - bare.best:.0f}"])
    table("Forward dynamics: the kernel, and what a call from Python adds (best batch, ns)",
          ["robot", "nv", "kernel", "kernel per dof", "call with out=", "call, new array"], rows)
    return results
