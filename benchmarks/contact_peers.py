"""python -m benchmarks.contact_peers [drag|blow|soft_blow|rod|legs|slide|incline|disk|top|stack ...]: contact in mbros, MuJoCo and Drake.

Each scene has the same masses, shapes, friction, steps and, in mbros and Drake, the same stiffness and relaxation time. Each is compared
with statics, a closed form or an ODE integrated to 1e-10, and not with another engine. benchmarks/_contact_engines.py says which
settings each engine has, docs/contact_benchmarks.md how to read the tables.

drag       a cart drags an arm of 1 m over the ground at 0.5 m/s, against statics, 12 cases
blow       144 oblique blows of a rod, against the closed form of an inelastic blow with Coulomb's friction
soft_blow  the same on a ground of a thousandth of the stiffness, which gives way while the rod turns
rod        a rod slides on its end at 60 degrees, of Painleve's type: against the ODE of Coulomb's law on the same compliant ground
legs       the quadruped's legs swing on the ground, against Coulomb's law
slide      a box slides on a level floor, against v^2 / (2 mu g)
incline    a box rests on an incline at half and at 0.96 of the angle of friction, for a minute
disk       a disk rolls around a circle, and spins on the spot (Euler's disk), against steady precession in closed form
top        a tippe top turns over, against its ODE and Jellett's integral
stack      ten boxes stand for ten seconds
"""
import argparse
import platform
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from benchmarks import _contact_scenes as scenes
from benchmarks._contact_engines import CONTINUOUS, Legs, build, installed
from benchmarks._timing import quiet, table

BLOW, SLIDES = 0.04, 1e-2       # s in which a blow may end; m/s of slip from which a point is one that slides


class Clock:
    """An engine whose steps are timed: many in one call by this thread's CPU, single ones by the wall, without those that took 50 times the
    median one: there another process had its turn."""

    def __init__(self, engine):
        self.engine, self.seconds, self.steps, self.single = engine, 0.0, 0, []

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def step(self, n=1):
        clock = time.perf_counter if n == 1 else time.thread_time
        start = clock()
        self.engine.step(n)
        took = clock() - start
        if n == 1:
            self.single.append(took)
        else:
            self.seconds, self.steps = self.seconds + took, self.steps + n

    def total(self):
        """(seconds, steps)."""
        single = np.array(self.single or [0.0])
        return self.seconds + len(self.single) * single[single <= 50 * np.median(single)].mean(), self.steps + len(self.single)

    def run(self, seconds, dt, looks=1):
        """Yields after each of so many equal parts of a run."""
        for _ in range(looks):
            self.step(round(seconds / dt / looks))
            yield


def drag(start, dt):
    """(largest error of the mean friction, of the friction of a step), over 12 cases."""
    errors = []
    for degrees in (45, 60, 70):
        for mu in (0.6, 0.8, 1.2, 2.0):
            _, exact = scenes.drag_exact(mu, np.radians(degrees))
            engine, found = start(scenes.dragged_arm(mu, np.radians(degrees))), []
            for k in range(round(0.5 / dt)):
                engine.drive("cart", exact + 1e3 * (0.5 - engine.speed("cart")))
                engine.step()
                if k * dt > 0.25:
                    found.append(engine.contacts()[:, :2].sum(0) / scenes.drag_exact(mu, np.radians(degrees)) - 1)
            errors.append((np.abs(np.mean(found, 0)).max(), np.abs(found).max()))
    return np.max(errors, 0)


def blow(start, dt, stiffness=1e3 * scenes.Scene.stiffness):
    """(share beyond 0.2 m/s or rad/s, largest error, median, share without an answer). The step in which the error is least counts."""
    errors, cases = [], [*scenes.blows()]
    for mu, angle, velocity, exact in cases:
        engine, found = start(scenes.rod(mu, angle, velocity, dt, stiffness)), []
        try:
            for _ in range(round(BLOW / dt)):
                engine.step()
                _, _, w, v = engine.motion("rod")
                found.append(np.abs(np.array([v[0], v[2], -w[1]]) - exact).max())
        except RuntimeError:                    # of Drake's, whose message is that its solver has not converged
            continue
        errors.append(min(found))
    return np.sum(np.array(errors) > 0.2) / len(cases), max(errors), np.median(errors), 1.0 - len(errors) / len(cases)


def soft_blow(start, dt):
    return blow(start, dt, scenes.Scene.stiffness)


def rod(start, dt):
    """Largest error of (x, z, angle) after 0.3 s, for mu 1.5 and 3."""
    errors = []
    for mu in (1.5, 3.0):
        found = []
        for speed in (2.0, -2.0):
            engine = start(scenes.painleve_rod(mu, speed))
            for _ in engine.run(0.3, dt):
                R, p, _, _ = engine.motion("rod")
            found.append(np.abs(np.array([p[0], p[2], np.arctan2(R[2, 0], R[0, 0])]) - exact_rod(mu, speed)).max())
        errors += found
    return errors


def exact_rod(mu, speed, known={}):                                                                               # noqa: B006
    if (mu, speed) not in known:
        known[mu, speed] = scenes.painleve_exact(mu, speed, 0.3)
    return known[mu, speed]


def legs(start, dt):
    """(friction beyond mu f_n, what sliding points lack of it), both over the sum of normal forces."""
    mu, engine, found = 0.8, start(lambda name: Legs(name, 0.8, dt)), []
    for _ in range(round(1.5 / dt)):
        engine.control()
        engine.step()
        found.append(engine.contacts())
    normal, friction, slip, _ = np.concatenate(found).T
    missing = mu * normal - friction
    return np.maximum(0, -missing).sum() / normal.sum(), np.maximum(0, missing)[slip > SLIDES].sum() / normal.sum()


def slide(start, dt):
    """(error of the distance, lift at half of the time), for 3 m/s at mu 0.5."""
    mu, speed, heights = 0.5, 3.0, []
    stops = speed / (mu * scenes.G)
    engine = start(scenes.sliding_box(mu, speed))
    for _ in engine.run(2 * stops, dt, 40):
        _, p, _, _ = engine.motion("box")
        heights.append(p[2])
    return abs(p[0] / (speed**2 / (2 * mu * scenes.G)) - 1), np.abs(np.array(heights[5:19]) - heights[-1]).max()


def incline(start, dt):
    """Creep in m/s, at half and at 0.96 of the angle of friction."""
    found = []
    for share in (0.5, 0.96):
        engine = start(scenes.box_on_incline(0.5, share * np.arctan(0.5)))
        engine.step(round(1.0 / dt))
        _, before, _, _ = engine.motion("box")
        engine.step(round(60.0 / dt))
        found.append(np.linalg.norm(engine.motion("box")[1] - before) / 60.0)
    return found


def disk(start, dt):
    """(error of the rate of precession, of the lean, drift of energy) of a disk that rolls around a circle for 10 s, and of one on the
    spot for 2 s."""
    found = []
    for steady, seconds, looks in ((scenes.Steady(0.5, np.radians(20)), 10.0, 200), (scenes.Steady(0.0, np.radians(60)), 2.0, 200)):
        scene = steady.scene()
        engine, axis = start(scene), []
        first = scenes.energy(scene, *engine.motion("disk"))
        for _ in engine.run(seconds, dt, looks):
            R, *_ = motion = engine.motion("disk")
            axis.append(R[:, 2])
        axis = np.array(axis)
        azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
        lean = np.arcsin(np.clip(axis[:, 2], -1, 1))
        found += [abs(azimuth[-1] / (seconds * steady.rates()[0]) - 1), np.abs(lean - steady.lean).max(),
                  scenes.energy(scene, *motion) / first - 1]
    return found


def top(start, dt):
    """(error of the axis' angle at the time at which it is level, drift of Jellett's integral till then)."""
    engine = start(scenes.tippe_top())
    R, _, w, _ = engine.motion("top")
    first = scenes.jellett(R, w)
    for _ in engine.run(scenes.TOP_SECONDS, dt):
        R, _, w, _ = engine.motion("top")
    return abs(np.arccos(np.clip(R[2, 2], -1, 1)) - exact_top()), abs(scenes.jellett(R, w) / first - 1)


def exact_top(known=[]):                                                                                          # noqa: B006
    if not known:
        known.append(np.arccos(scenes.tippe_top_exact([scenes.TOP_SECONDS])[-1]))
    return known[0]


def stack(start, dt):
    """(largest speed in the last second, how far the top went aside from 1 s to 10 s, how much deeper it is than its springs say)."""
    scene = scenes.stack()
    engine, speeds = start(scene), []
    engine.step(round(1.0 / dt))
    before = engine.motion("box9")[1]
    engine.step(round(8.0 / dt))
    for _ in engine.run(1.0, dt, 100):
        speeds += [np.abs(engine.motion(part.name)[3]).max() for part in scene.parts]
    p = engine.motion("box9")[1]
    return max(speeds), np.hypot(*(p - before)[:2]), scene.parts[-1].p[2] - p[2]


BLOWS = "beyond 0.2", "worst", "median", "no answer"
SCENES = {
    "drag": ("An arm that a cart drags: error of normal force and friction against statics", ("mean", "worst step"), drag, (1e-3, 2e-3)),
    "blow": ("144 oblique blows of a rod: error against the closed form, m/s and rad/s", BLOWS, blow, (1e-3, 1e-4)),
    "soft_blow": ("The same on a ground of 5e5 instead of 5e8 N/m", BLOWS, soft_blow, (1e-3, 1e-4)),
    "rod": ("A rod that slides on its end: error after 0.3 s against its ODE, m and rad",
            ("mu 1.5, 2 m/s", "-2 m/s", "mu 3, 2 m/s", "-2 m/s"), rod, (1e-3, 1e-4)),
    "legs": ("Legs that move: friction over the sum of normal forces", ("beyond mu f_n", "lack of it in sliding"), legs, (1e-3, 5e-4)),
    "slide": ("A box that slides from 3 m/s at mu 0.5", ("distance, relative", "lift, m"), slide, (1e-3, 2e-3)),
    "incline": ("A box on an incline for 60 s: creep, m/s", ("half of the angle", "0.96 of it"), incline, (1e-3, 2e-3)),
    "disk": ("A disk that rolls around a circle of 0.5 m for 10 s, and one that spins on the spot for 2 s",
             ("rate, relative", "lean, rad", "energy", "spot: rate", "lean, rad", "energy"), disk, (1e-3, 1e-4)),
    "top": ("A tippe top, until it is level", ("angle, rad", "Jellett"), top, (1e-3, 1e-4)),
    "stack": ("Ten boxes of 1 kg for 10 s", ("speed, m/s", "aside, m", "deeper, m"), stack, (1e-3, 2e-3)),
}


TOYS = "MuJoCo RK4", CONTINUOUS            # beside all other engines, for what turns fast
MORE = {"disk": TOYS, "top": TOYS}


def measured(name, engines, rounds):
    """Rows of a table. Engines take turns; of the times of a step the best of all rounds counts."""
    _, heads, measure, steps = SCENES[name]
    found, best = {}, {}
    for k in range(rounds):
        for engine in engines:
            for dt in steps:
                if engine == CONTINUOUS and (k or dt != steps[0]):
                    continue                    # its steps are its own, and take long
                clocks = []

                def start(scene, engine=engine, dt=dt, clocks=clocks):
                    clocks.append(Clock(scene(engine) if callable(scene) else build(engine, scene, dt)))
                    return clocks[-1]

                try:
                    found[engine, dt] = [f"{x:.1e}" if x else "0" for x in measure(start, dt)]
                except RuntimeError as error:
                    found[engine, dt] = [type(error).__name__] * len(heads)
                seconds, steps_made = np.sum([clock.total() for clock in clocks], 0)
                took = 1e6 * seconds / steps_made
                best[engine, dt] = min(took, best.get((engine, dt), np.inf))
    return [[engine, f"{1e3 * dt:g} ms", *found[engine, dt], f"{best[engine, dt]:.1f}"]
            for dt in steps for engine in engines if (engine, dt) in found]


def versions():
    """Processor, Python and packages of the machine."""
    from benchmarks.__main__ import cpu

    found = []
    for name in ("mbros", "mujoco", "drake"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return f"{cpu()}; Python {platform.python_version()}; {', '.join(found)}; one core"


def markdown(title, heads, rows):
    """A row for each engine, in whose cells stand the numbers of both steps."""
    engines, steps = list(dict.fromkeys(row[0] for row in rows)), list(dict.fromkeys(row[1] for row in rows))
    print(f"\n**{title}: at {' / '.join(steps)}**\n\n| | {' | '.join(heads[2:])} |\n| --- |{' ---: |' * (len(heads) - 2)}")
    for engine in engines:
        cells = zip(*(row[2:] for row in rows if row[0] == engine))
        print(f"| {engine} | {' | '.join(' / '.join(cell) for cell in cells)} |")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contact_peers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", choices=[*SCENES, []], metavar="SCENE", help="which of them (default: all)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best time counts (3)")
    parser.add_argument("--markdown", action="store_true", help="tables as docs/contact_benchmarks.md has them")
    options = parser.parse_args()
    print(versions())
    with quiet():
        for name in options.scenes or SCENES:
            here = installed()
            rows = measured(name, here + [more for more in MORE.get(name, ()) if more.partition(" ")[0] in " ".join(here)], options.rounds)
            show = markdown if options.markdown else table
            show(SCENES[name][0], ["", "step", *SCENES[name][1], "us / step"], rows)


if __name__ == "__main__":
    main()
