"""What force elements cost: a step of a free body with none to eight bushings on it, under both integrators of one force evaluation."""
import numpy as np

import mbros
from benchmarks._timing import interleave, table

COUNTS = (0, 1, 2, 4, 8)
LAWS = ("drake", "energy_consistent", "quaternion")
INTEGRATORS = ("midpoint", "semi_implicit_euler")
DT = 1e-3


def mounted(law, count):
    """A body on `count` bushings."""
    b = mbros.ModelBuilder("mounted")
    body = b.add_body("body", 2.0, (0.01, 0.02, 0.03), (0.02, 0.03, 0.04))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    for k in range(count):
        corner = b.add_frame(f"corner{k}", body, p=(0.1 * (-1) ** k, 0.1 * (-1) ** (k // 2), 0.02 * k))
        b.add_force_element(mbros.Bushing(b.world, corner, 10.0, 1.0, 1e3, 10.0, law=law))
    return b.build()


def stepper(law, count, integrator=INTEGRATORS[0]):
    """run(n): n steps in C of that body."""
    plant = mbros.Simulator(mounted(law, count), dt=DT, integrator=integrator).plant
    tau = np.zeros(6)
    return lambda n: plant.steps(tau, n)


def is_explicit(law, count, integrator):
    """Whether a step takes no bushing into a problem that it solves."""
    model = mounted(law, count)
    state = model.default_state()
    return integrator != "midpoint" or not any(element.implicit_share(state, DT) for element in model.force_elements)


def main(batches):
    """Prints the table; returns ns per explicit bushing by law and integrator."""
    rows = [(law, integrator) for integrator in INTEGRATORS for law in LAWS]
    times = interleave({(law, integrator, n): stepper(law, n, integrator) for law, integrator in rows for n in COUNTS}, batches)
    slopes, lines = {}, []
    for row in rows:
        best = {n: times[(*row, n)].best for n in COUNTS}
        explicit = [n for n in COUNTS if is_explicit(row[0], n, row[1])]
        slopes[row] = float(np.polyfit(explicit, [best[n] for n in explicit], 1)[0])
        lines.append([*row, *(f"{best[n]:.0f}{'' if n in explicit else ' *'}" for n in COUNTS), f"{slopes[row]:.0f}"])
    table("Bushings on a free body: ns of one step, best batch", ["law", "integrator", *(f"{n}" for n in COUNTS), "each"], lines,
          ["* so many are stiff for a step of 1 ms: midpoint solves for them (docs/integrators.md). each: of those without a star.",
           "The first lines are of the default step. Numbers from before it was midpoint belong beside semi_implicit_euler."])
    return slopes
