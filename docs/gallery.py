"""The gallery of built-in robots, made when the site is built: of each its tree, and an interactive view that plays offline; and a log.

The views are simulations: computed torque takes one joint after another through a part of its range. They are one HTML file each
(log.save_html), in generated/extra, which Sphinx copies into the site.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MADE = HERE / "generated"
EXTRA = MADE / "extra"              # the site's own root
VIEWS = EXTRA / "views"

HEAD = """# Gallery

The robots that come with mbros: `mbros.load(name)`. Turn them with the mouse; what they do is a simulation, computed torque that takes one
joint after another through a part of its range, saved by `log.save_html` as one file that fetches nothing. The trees are
`model.tree.plot()`: blue turns, orange slides, green does more, and a bar is the range of motion.
"""
FRAME = '<iframe src="../views/{name}.html" width="100%" height="420" loading="lazy" title="{name}" style="border:1px solid #ddd"></iframe>'

SECONDS, SWING, RATE = 6.0, 2.5, 20.0           # of a view, of a joint's part of it, pictures per second
REACH = {"rad": 1.0, "m": 0.3}                  # the most that a joint moves


def make(app, config) -> None:
    """Writes generated/gallery.md, its pictures and its views."""
    import mbros
    from mbros.build.robots import BUILT_IN

    VIEWS.mkdir(parents=True, exist_ok=True)
    parts = [HEAD]
    for name, robot in BUILT_IN.items():
        mbros.load(name).tree.plot(MADE / f"tree_{name}.svg")
        view(name)
        parts += [f"## {name}\n\n{robot.doc[0].upper()}{robot.doc[1:]}.", FRAME.format(name=name),
                  f"![the tree of {name}](tree_{name}.svg)\n"]
    (MADE / "gallery.md").write_text("\n\n".join(parts), encoding="utf-8")
    falling()


def view(name: str) -> Path:
    """The file of a robot's view. A robot that would fall is held by its base."""
    import mbros

    model = mbros.load(name)
    if any(joint.is_floating for joint in model.joints):
        model = mbros.load(name, base="fixed")
    return moved(model).save_html(VIEWS / f"{name}.html", rate=RATE)


def moved(model: Any) -> Any:
    """The log of a simulation in which every joint in turn swings out and back; of closed loops the first, which takes the others along."""
    import numpy as np

    import mbros

    start = model.default_state()
    q0, swing = np.array(start.q), swings(model, start.q)
    begin = np.linspace(0.0, SECONDS - SWING, model.nv)

    def wanted(t):
        """Displacements, velocities, accelerations (nv,): swing sin^2(pi s), s from 0 to 1 while the joint swings."""
        s = np.clip((t - begin) / SWING, 0.0, 1.0)
        turn, rate = 2.0 * np.pi * s, 2.0 * np.pi / SWING
        moving = (s > 0.0) & (s < 1.0)
        return 0.5 * swing * (1.0 - np.cos(turn)), 0.5 * swing * rate * np.sin(turn), 0.5 * swing * rate**2 * np.cos(turn) * moving

    def controller(t, state):
        x, v, a = wanted(t)
        error = model.difference(state.q, model.integrate(q0, x))
        a = a + 400.0 * error + 40.0 * (v - state.v)
        return model.inverse_dynamics(state, a) if not len(model.constraints) else driving(model, state, a[0])

    return mbros.Simulator(model, dt=2e-3, state=start).run(SECONDS, effort=controller, every=25)


def driving(model: Any, state: Any, acceleration: float) -> Any:
    """Efforts (nv,) that give the first coordinate that acceleration: one of its own, the others follow."""
    import numpy as np

    one = np.eye(model.nv)[0]
    at_rest = model.forward_dynamics(state, 0.0 * one)[0]
    return one * (acceleration - at_rest) / (model.forward_dynamics(state, one)[0] - at_rest)


def swings(model: Any, q: Any) -> Any:
    """How far each coordinate goes (nv,): to the side where there is more room, and not to its limit. Zero where others take it along."""
    import numpy as np

    from mbros.describe.joints.kinds import row_of

    found = np.zeros(model.nv)
    for joint in model.joints:
        if joint.follows or not joint.nv or (len(model.constraints) and found.any()):
            continue
        units = row_of(joint._exact_kind).velocity_units
        for k in range(joint.nv):
            most = REACH["m" if k < len(units) and units[k] == "m/s" else "rad"]
            at, (lower, upper) = q[joint.q_slice][k], joint.limits.position[k] if joint.nq == joint.nv else (-np.inf, np.inf)
            up, down = (upper - at, at - lower) if joint.nq == joint.nv else (most, most)
            found[joint.v_slice.start + k] = min(most, 0.8 * up) if up >= down else -min(most, 0.8 * down)
    return found


def falling() -> None:
    """The picture of docs/plots.md."""
    import mbros

    model = mbros.load("arm7")
    state = model.default_state()
    state.q[1] = 0.5
    log = mbros.Simulator(model, state=state).run(2.0, every=5)
    log.plot(["joint2", "joint4", "joint2.velocity", "energy", "kinetic_energy"], MADE / "log.svg")


def setup(app) -> None:
    EXTRA.mkdir(parents=True, exist_ok=True)
    app.config.html_extra_path = [*app.config.html_extra_path, str(EXTRA)]
    app.connect("config-inited", make)
