"""What force elements cost: a step of a free body with none to eight bushings on it."""
import numpy as np

import mbros
from benchmarks._timing import interleave, table

COUNTS = (0, 1, 2, 4, 8)
LAWS = ("drake", "energy_consistent", "quaternion")


def stepper(law, count):
    """run(n): n steps in C of a body on `count` bushings."""
    b = mbros.ModelBuilder("mounted")
    body = b.add_body("body", 2.0, (0.01, 0.02, 0.03), (0.02, 0.03, 0.04))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    for k in range(count):
        corner = b.add_frame(f"corner{k}", body, p=(0.1 * (-1) ** k, 0.1 * (-1) ** (k // 2), 0.02 * k))
        b.add_force_element(mbros.Bushing(b.world, corner, 10.0, 1.0, 1e3, 10.0, law=law))
    plant = mbros.Simulator(b.build(), dt=1e-3).plant
    tau = np.zeros(6)
    return lambda n: plant.steps(tau, n)


def main(batches):
    """Prints the table; returns ns per bushing by law."""
    times = interleave({(law, n): stepper(law, n) for law in LAWS for n in COUNTS}, batches)
    slopes = {law: float(np.polyfit(COUNTS, [times[law, n].best for n in COUNTS], 1)[0]) for law in LAWS}
    table("Bushings on a free body: ns of one step, best batch", ["law", *(f"{n}" for n in COUNTS), "each"],
          [[law, *(f"{times[law, n].best:.0f}" for n in COUNTS), f"{slopes[law]:.0f}"] for law in LAWS])
    return slopes
