"""Many robots at a time: the lanes module, per robot and per degree of freedom, on one core."""
import numpy as np

import mbros_core
from benchmarks._timing import interleave, table

NUMBER = 256


def batch_run(module, spec, q, v, x, algorithm):
    batch = module.Batch(module.Model(spec))
    method, out = getattr(batch, algorithm), np.empty_like(x)

    def run(n):
        for _ in range(n):
            method(q, v, x, out)
    return run


def main(robots, batches):
    """Prints the table; returns {robot: ns per dof and robot of forward dynamics in lanes}."""
    lanes = mbros_core.lanes()
    rows, results = [], {}
    for robot in robots:
        rng = np.random.default_rng(7)
        q = np.array([robot.random_configuration(rng) for _ in range(NUMBER)])
        v, x = rng.normal(size=(2, NUMBER, robot.nv))
        candidates = {(width, algorithm): batch_run(module, robot.model.spec, q, v, x, algorithm)
                      for width, module in (("lanes", lanes), ("double", mbros_core))
                      for algorithm in ("forward_dynamics", "inverse_dynamics")}
        t = interleave(candidates, batches)
        per = {key: time.best / NUMBER for key, time in t.items()}
        forward = per["lanes", "forward_dynamics"]
        results[robot.name] = forward / robot.nv
        rows.append([robot.name, robot.nv, f"{forward:.0f}", f"{forward / robot.nv:.1f}",
                     f"{per['double', 'forward_dynamics'] / forward:.1f}x", f"{per['lanes', 'inverse_dynamics']:.0f}",
                     f"{per['double', 'inverse_dynamics'] / per['lanes', 'inverse_dynamics']:.1f}x"])
    table(f"{lanes.Batch.lanes} lanes: ns per robot, best batch, {NUMBER} robots per call",
          ["robot", "nv", "forward dynamics", "per dof", "against double", "inverse dynamics", "against double"], rows)
    return results
