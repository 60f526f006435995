"""python -m benchmarks.mechanisms: closed loops. What ten seconds do to their energy and by how much they open, at two steps and by rk4;
and the time of a step of the loops that come with mbros.

The mechanisms are those of tests/loop_rigs.py and tests/physics/test_loop_references.py: without friction, in free motion.
"""
import sys

import numpy as np

import mbros
from benchmarks._timing import quiet, table, us
from benchmarks.contact import TESTS, whole_runs

STEPS = (("midpoint", 1e-3), ("midpoint", 5e-4), ("rk4", 1e-3))


def posed(model, positions=(), speeds=(), keep=None):
    """A closed state with these positions and velocities of joints."""
    state = model.default_state()
    for name, q in positions:
        model.joint(name).set_position(state, q)
    for name, v in speeds:
        model.joint(name).set_velocity(state, v)
    return model, model.assemble(state, keep=keep) if keep else state


def parallelogram(rigs):
    model = rigs.FourBar(0.4, 1.0, 0.4, 1.0).model
    state = model.default_state()
    state.q, state.v = [0.7, -0.7, 0.7], [8.0, -8.0, 8.0]
    return model, state


def four_bar(rigs):
    bar = rigs.FourBar()
    return bar.model, bar.state(0.5, 12.0)


def platform(rigs):
    model = rigs.parallel_four_bars(3)
    return posed(model, [(joint.name, -0.7 if joint.name == "knee" else 0.7) for joint in model.joints])


def mechanisms():
    """(name, (model, state), seconds)."""
    for folder in (TESTS, TESTS / "physics"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    import loop_rigs as rigs
    import test_loop_references as published

    spring = published.sundials_slider_crank(0.0)
    at = {joint.name: q for joint, q in zip(spring.joints, published.crank_start(spring).q)}
    hanging = [("slide", 0.5), ("lean0", np.pi / 6), ("lean1", np.pi / 6)]
    return [("four-bar, crank at 12 rad/s", four_bar(rigs), 10.0),
            ("slider-crank at 10 rad/s", posed(rigs.slider_crank(), speeds=[("crank", 10.0)], keep="crank"), 10.0),
            ("parallelogram through its flat poses", parallelogram(rigs), 10.0),
            ("platform on three parallel cranks", platform(rigs), 10.0),
            ("slider-crank with a spring", posed(spring, at.items(), [("crank", 3.0)], "crank"), 10.0),
            ("flyball governor A05", posed(published.governor(), hanging, [("turn", 2 * np.pi)]), 10.0),
            ("Bricard six-bar", posed(rigs.bricard()), 5.0)], rigs.follow


def accuracy():
    cases, follow = mechanisms()
    rows = []
    for name, (model, state), seconds in cases:
        found = [follow(model, state, seconds, dt, integrator)[:2] for integrator, dt in STEPS]
        rows.append([name, f"{seconds:g} s", *(f"{error:.0e}, {gap:.0e} m" for error, gap in found)])
    table("Largest error of the energy over the largest kinetic energy, and the largest gap", ["mechanism", "", *(
        f"{integrator}, {1e3 * dt:g} ms" for integrator, dt in STEPS)], rows)


def times(batches=25):
    """Of a step from Python, of runs of a second from the default state on."""
    rows = []
    for name in ("four_bar", "gripper"):
        sim = mbros.Simulator(mbros.load(name))
        plant, tau = sim.plant, np.zeros(sim.model.nv)

        def run(n, plant=plant, tau=tau):
            for k in range(n):
                if k % 1000 == 0:
                    plant.reset()
                plant.step(tau)
        rows.append([name, sim.model.nv, us(whole_runs({"step": run}, 1000, batches)["step"])])
    table("A step of 1 ms from Python: best / median in microseconds", ["robot", "nv", "step"], rows)


if __name__ == "__main__":
    with quiet():
        accuracy()
        times()
