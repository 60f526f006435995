"""What the sweeps of test_sweep.py do with a case, where other processes can import it."""
import os
import time

import numpy as np

import mbros

MODEL = mbros.chain(2)


def swing(case):
    """Some steps of a chain with a mass of its own, from a start that the case's seed decides."""
    sim = mbros.Simulator(MODEL, dt=2e-3)
    MODEL.set_parameter(sim.state, f"mass.{MODEL.spec.body_names[-1]}", case["mass"])
    sim.state.q[:] = case.rng().normal(size=MODEL.nq)
    sim.advance_to(0.02 * case.get("length", 1))
    return {"q": sim.state.q.copy(), "energy": MODEL.kinetic_energy(sim.state), "steps": 10, "word": f"m{case['mass']:g}"}


def failing(case):
    if case["x"] % 3 == 2:
        raise ValueError(f"three does not divide {case['x']}")
    return {"half": case["x"] / 2, "whole": case["x"]} if case["x"] else {"half": 0.0}


def shapes(case):
    return {"row": np.zeros(case["n"])}


def slowly(case):
    time.sleep(0.02)
    return case["x"] ** 2


def ends(case):
    os._exit(3)


def gives_up(case):
    raise SystemExit("enough")
