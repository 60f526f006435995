"""python -m benchmarks.coulomb [drag|blow|walk|robots|pile|long ...]: how exactly contact keeps Coulomb's law, and what it takes.

drag    an arm dragged over the ground by a cart, against statics
blow    144 oblique blows of a rod, against the closed form of an inelastic blow with Coulomb's friction
walk    the built-in robots' legs swing under PD control, at several coefficients of friction
robots  the same of robots of example-robot-data, on their own meshes and shapes
pile    boxes fall on one another
long    the quadruped's legs swing for a million steps at two coefficients of friction: how many were not solved (only when it is named)

Of every step: friction beyond mu f_n and what sliding friction lacks of it, over the sum of normal impulses; iterations; unsolved steps.
"""
import argparse
import time

import numpy as np

import mbros
from benchmarks._timing import quiet, table
from benchmarks.contact import DT, pile, standing
from mbros_core.constraints import touches

G = 9.81
SLIGHT = 1e-3           # of a step's largest normal impulse: what is below it is not asked


class Law:
    """What the contacts of a run made of Coulomb's law."""

    def __init__(self, state, mu):
        self.state, self.mu, self.iterations, self.seconds = state, mu, [], 0.0
        self.contacts = self.beyond = self.sliding = 0
        self.normal = self.excess = self.lack = self.worst = 0.0

    def look(self, took):
        memory = np.array(self.state.field("contact_memory"))
        self.iterations.append(memory[0, touches.ITERATIONS])
        self.seconds += took
        rows = memory[1:int(memory[0, touches.COUNT]) + 1]
        normal = (rows[:, touches.FORCE] * rows[:, touches.NORMAL]).sum(1)
        if not normal.any():
            return
        friction = np.linalg.norm(rows[:, touches.FORCE] - normal[:, None] * rows[:, touches.NORMAL], axis=1)
        bound, asked = self.mu * normal, normal > SLIGHT * normal.max()
        slides = asked & (rows[:, touches.STUCK] == 0.0)
        self.contacts += asked.sum()
        self.beyond += (friction[asked] > 1.01 * bound[asked]).sum()
        self.worst = max(self.worst, (friction[asked] / bound[asked]).max())
        self.normal += normal.sum()
        self.excess += np.maximum(0.0, friction - bound).sum()
        self.sliding += slides.sum()
        self.lack += np.maximum(0.0, bound - friction)[slides].sum()

    def row(self, name):
        its = np.array(self.iterations)
        unsolved = int(self.state.field("contact_memory")[0, touches.UNSOLVED])
        return [name, f"{self.mu:g}", int(self.contacts), int(self.sliding),
                f"{self.beyond / max(1, self.contacts):.2%}", f"{self.worst:.3f}",
                f"{self.excess / self.normal:.0e}", f"{self.lack / self.normal:.0e}",
                f"{its.mean():.2f} / {np.percentile(its, 99):.0f} / {its.max():.0f}", f"{unsolved} of {len(its)}",
                f"{1e6 * self.seconds / len(its):.1f}"]


HEAD = ["", "mu", "contacts", "sliding", "beyond by 1 %", "worst", "excess", "lack", "iterations: mean / 99 % / most", "unsolved",
        "us / step"]


def run(sim, mu, seconds, control=None):
    law = Law(sim.state, mu)
    for k in range(round(seconds / sim.dt)):
        tau = control(k * sim.dt) if control else None
        start = time.thread_time()
        sim.step(tau)
        law.look(time.thread_time() - start)
    return law


def with_friction(sim, mu):
    for shape in sim.model.shapes:
        sim.model.set_parameter(sim.state, f"contact.{shape.name}.friction", mu)


def legs(sim, mu, swing, seconds, kp, kd):
    """Every joint of a free robot swings at a frequency of its own."""
    model, home = sim.model, np.array(sim.state.q[7:])
    rates = 5.0 * np.arange(1, len(home) + 1) % 60.0
    with_friction(sim, mu)

    def control(t):
        tau = np.zeros(model.nv)
        tau[6:] = kp * (home + swing * np.sin(rates * t) - sim.state.q[7:]) - kd * sim.state.v[6:]
        return tau
    return run(sim, mu, seconds, control)


def walk(seconds):
    rows = []
    for name in ("quadruped", "humanoid"):
        for mu in (0.4, 0.8, 1.5, 3.0):
            for swing in (0.05, 0.15):
                start, _ = standing(name)
                sim = mbros.Simulator(start.model, DT, state=start.state.copy())
                rows.append(legs(sim, mu, swing, seconds, 400.0, 10.0).row(f"{name}, legs +-{swing:g} rad"))
    table("legs that move on the ground", HEAD, rows)


ROBOTS = {"solo12": (5.0, 0.1), "go1": (60.0, 1.5), "anymal": (200.0, 5.0), "talos": (2000.0, 40.0)}


def robots(seconds):
    """Dropped from a hand's height, legs swinging from the start."""
    rows = []
    for name, (kp, kd) in ROBOTS.items():
        try:
            model = mbros.load(name, base="floating", ground=True)
        except mbros.MbrosError as error:
            rows.append([name, str(error)[:90]] + [""] * (len(HEAD) - 2))
            continue
        for mu in (0.4, 0.8, 1.5, 3.0):
            sim = mbros.Simulator(model, DT)
            low = min((c.point[2] - c.depth for c in model.contacts(sim.state)), default=0.0)
            sim.state.q[2] += 0.02 - low
            rows.append(legs(sim, mu, 0.1, seconds, kp, kd).row(name))
    table("robots of example-robot-data", HEAD, rows)


def drag(_):
    """A cart at 0.5 m/s drags an arm of 1 m and 1 kg, whose tip slides behind it: N = m g / 2 / (1 + mu tan)."""
    rows = []
    for degrees in (45, 60, 70):
        for mu in (0.6, 0.8, 1.2, 2.0):
            angle, errors = np.radians(degrees), []
            normal = G / 2 / (1 + mu * np.tan(angle))
            for dt in (5e-4, 1e-3, 2e-3):
                found = dragged(mu, angle, dt)
                errors.append(f"{max(abs(np.array(found) / (mu * normal) - 1)):.1e}")
            rows.append([degrees, f"{mu:g}", f"{mu * np.tan(angle):.2f}", *errors])
    table("a dragged arm: friction against statics", ["degrees", "mu", "mu tan", "0.5 ms", "1 ms", "2 ms"], rows)


def dragged(mu, angle, dt, seconds=0.5):
    """Friction in every step of the second half, N: (least, most)."""
    b = mbros.ModelBuilder("drag", ground=mbros.Ground(friction=mu))
    cart = b.add_body("cart", 5.0, (0, 0, 0), (0.1, 0.1, 0.1))
    arm = b.add_body("arm", 1.0, (-0.5, 0, 0), (1e-3, 1 / 12, 1 / 12))
    b.add_joint(mbros.PrismaticJoint("cart", b.world, cart, p=(0, 0, np.sin(angle)), axis=(1, 0, 0)))
    b.add_joint(mbros.RevoluteJoint("arm", cart, arm, axis=(0, -1, 0)))
    b.add_collision(arm, mbros.shapes.sphere(1e-3), (-1.0, 0, 1e-3), friction=mu)
    model = b.build()
    sim, found = mbros.Simulator(model, dt), []
    model.joint("arm").set_position(sim.state, angle)
    model.joint("cart").prescribe(sim.state, velocity=0.5)
    for k in range(round(seconds / dt)):
        sim.step()
        if k > seconds / dt / 2:
            found.append(sum(np.linalg.norm(c.friction_force) for c in model.contacts(sim.state)))
    return min(found), max(found)


def blow(_):
    errors = []
    for degrees in (10, 30, 45, 60, 75, 85):
        for mu in (0.2, 0.5, 0.8, 1.2, 2.0, 4.0):
            for speed in (-3.0, -1.0, 1.0, 3.0):
                exact = after_blow(np.radians(degrees), mu, speed, -2.0)
                if len(exact) == 1:
                    errors.append([np.abs(struck(np.radians(degrees), mu, speed, -2.0, dt) - exact[0]).max() for dt in (1e-3, 1e-4)])
    errors = np.array(errors)
    table(f"{len(errors)} oblique blows of a rod: error of its velocity, m/s and rad/s", ["step", "largest", "median", "beyond 0.2"],
          [[step, f"{column.max():.1e}", f"{np.median(column):.1e}", f"{np.mean(column > 0.2):.1%}"]
           for step, column in zip(("1 ms", "0.1 ms"), errors.T)])


def struck(angle, mu, vx, vz, dt, radius=1e-3):
    """(vx, vz, w) three steps after a rod of 1 m and 1 kg strikes the ground with its end."""
    k = 1e9
    b = mbros.ModelBuilder("rod", gravity=(0, 0, 0), ground=mbros.Ground(friction=mu, stiffness=k))
    rod = b.add_body("rod", 1.0, (0, 0, 0), (1e-6, 1 / 12, 1 / 12))
    b.add_joint(mbros.PlanarJoint("rod", b.world, rod, rpy=(np.pi / 2, 0, 0)))
    b.add_collision(rod, mbros.shapes.sphere(radius), (-0.5, 0, 0), friction=mu, stiffness=k)
    sim = mbros.Simulator(b.build(), dt)
    sim.state.q[:] = 0.0, radius + 0.5 * np.sin(angle) + 0.5 * dt * abs(vz), angle
    sim.state.v[:] = vx, vz, 0.0
    sim.advance_to(3 * dt)
    return sim.state.v.copy()


def after_blow(angle, mu, vx, vz):
    """All velocities after an inelastic blow with Coulomb's friction: none, one or several."""
    M = np.diag([1.0, 1.0, 1 / 12])
    across, along = np.array([1, 0, 0.5 * np.sin(angle)]), np.array([0, 1, -0.5 * np.cos(angle)])       # rows of J: tangent, normal
    v = np.array([vx, vz, 0.0])
    W = np.array([[a @ np.linalg.solve(M, b) for b in (along, across)] for a in (along, across)])
    b = np.array([along @ v, across @ v])
    return [v + np.linalg.solve(M, along * p[0] + across * p[1]) for p in impulses_of_blow(W, b, mu)]


def impulses_of_blow(W, b, mu):
    """All (normal, tangential) impulses p of an inelastic blow with Coulomb's friction: velocities there become b + W p."""
    found = []
    stick = np.linalg.solve(W, -b)
    if stick[0] >= 0 and abs(stick[1]) <= mu * stick[0]:
        found.append(stick)
    for way in (1, -1):
        inertia = W[0, 0] - way * mu * W[0, 1]
        if inertia > 0:
            normal = -b[0] / inertia
            slip = b[1] + (W[1, 0] - way * mu * W[1, 1]) * normal
            if normal >= 0 and slip * way >= 0:
                found.append(np.array([normal, -way * mu * normal]))
    return found


def pile_falls(seconds):
    sim, _ = pile(30, 0.0)
    table("30 boxes fall on one another", HEAD, [run(sim, 0.8, seconds).row("pile")])


def long(_, steps=1_000_000, swing=0.05, kp=400.0, kd=10.0, block=1000):
    """The robot begins anew where it fell over, or after 50 s."""
    rows = []
    for mu in (0.8, 3.0):
        start, _ = standing("quadruped")
        home, nv = np.array(start.state.q[7:]), start.model.nv
        rates, tau = 5.0 * np.arange(1, len(home) + 1) % 60.0, np.zeros(nv)
        unsolved = begun = 0
        sim = None
        for at in range(steps // block):
            if sim is None or at % 50 == 0 or sim.state.q[2] < 0.2:
                unsolved += sim.state.field("contact_memory")[0, touches.UNSOLVED] if sim else 0
                sim, begun = mbros.Simulator(start.model, DT, state=start.state.copy()), begun + 1
                with_friction(sim, mu)
                phase = 0.01 * begun            # another motion each time
            state, step = sim.state, sim.plant.step
            for _ in range(block):
                tau[6:] = kp * (home + swing * np.sin(rates * (sim.time + phase)) - state.q[7:]) - kd * state.v[6:]
                step(tau)
        unsolved += sim.state.field("contact_memory")[0, touches.UNSOLVED]
        rows.append([f"{mu:g}", f"{steps:,}", begun, f"{unsolved:.0f}"])
    table("the quadruped's legs swing by 0.05 rad: steps that were not solved", ["mu", "steps", "starts", "unsolved"], rows)


PARTS = {"drag": drag, "blow": blow, "walk": walk, "robots": robots, "pile": pile_falls}
NAMED = {"long": long}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coulomb", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, *NAMED, []], metavar="PART", help="which (default: all but long)")
    parser.add_argument("--seconds", type=float, default=1.5, help="simulated, of each run (default 1.5)")
    options = parser.parse_args()
    with quiet():
        for name in options.parts or PARTS:
            (PARTS | NAMED)[name](options.seconds)


if __name__ == "__main__":
    main()
