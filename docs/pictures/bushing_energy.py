"""The picture of docs/forces.md: the energy of an undamped bushing under both laws, over a minute.

    python docs/pictures/bushing_energy.py            writes bushing_energy.svg beside this file; needs matplotlib
"""
from pathlib import Path

import numpy as np

import mbros


def energy(law, dt=1e-3, duration=60.0, every=100):
    """(time s, total energy over its first value) of a free body on an undamped bushing with unequal force stiffnesses."""
    b = mbros.ModelBuilder("spinning", gravity=(0.0, 0.0, 0.0))
    body = b.add_body("body", 1.0, (0, 0, 0), (0.02, 0.03, 0.04))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_force_element(mbros.Bushing(b.world, body, (1.0, 1.5, 2.0), 0.0, (20.0, 200.0, 800.0), 0.0, law=law))
    model = b.build()
    state = model.default_state()
    state.set_q((0.1, 0.05, -0.04, 0.95, 0.2, 0.1, -0.15))
    state.set_v((1.0, -0.8, 1.2, 0.3, 0.1, -0.2))
    log = mbros.Simulator(model, dt=dt, integrator="rk4", state=state).run(duration, every=every)
    return log.time, log.energy / log.energy[0]


def main():
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "mbros", "font.size": 9})
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, 1, figsize=(6.4, 4.2), sharex=True, layout="constrained")
    for law, color in (("drake", "tab:red"), ("energy_consistent", "tab:blue")):
        time, relative = energy(law)
        above.plot(time, 100 * (relative - 1), color=color, lw=0.9, label=f'law="{law}"')
        below.semilogy(time[1:], np.maximum(np.abs(relative[1:] - 1), 1e-17), color=color, lw=0.9)
    above.set_ylabel("energy change, %")
    above.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    below.set_ylabel("|relative change|")
    below.set_xlabel("time, s")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
