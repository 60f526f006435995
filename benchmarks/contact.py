"""python -m benchmarks.contact: robots on the ground, from Python, beside MuJoCo on the same model.

Both have the same bodies, masses, shapes and pairs that never touch; each its own law of contact, with its default numbers. A robot
first comes to rest under a PD controller and is then timed from that state, again and again, under the torques that hold it. Rollouts,
for 100 steps, also have noise of so many N m (standard deviation) in every joint, new in each step or held: feet slip and lift. Legs that
move: a PD controller moves the joints for a second, in mbros; both then repeat this motion, from its state at every 20th step under its
torques. A trot lifts two feet at a time, twice a second each; "legs swing" is every joint at a frequency of its own, up to 9 Hz, so that
feet slide and strike. Batch by batch in turn, on one core; "ratio" is mbros over MuJoCo. Iterations are Newton steps: mean, 99th
percentile. Times are those of this thread's CPU: other processes' turns do not count.
"""
import argparse
import sys
import time
from pathlib import Path

import numpy as np

import mbros
from benchmarks._timing import interleave, quiet, table, us
from mbros_core.constraints import touches

TESTS = Path(__file__).resolve().parent.parent / "tests"
DT, STEPS = 1e-3, 200                     # of a run from the standing state
SEGMENT = 20                              # steps of a motion from one of its states
NOISES = (0.0, False), (2.0, False), (8.0, False), (2.0, True), (8.0, True)        # N m, and whether it is held
STANCE = (0.0, 0.72, -1.44)               # of each leg of the quadruped: on its feet, the knees bent


def contact_peer():
    """tests/mujoco_contact.py, or None where MuJoCo is not installed."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    try:
        import mujoco_contact
    except BaseException as error:        # the module skips, as a test does, where MuJoCo is missing
        if type(error).__name__ not in ("Skipped", "ImportError", "ModuleNotFoundError"):
            raise
        return None
    return mujoco_contact


def standing(robot, kp=400.0, kd=10.0, seconds=0.8):
    """(simulator, torques) of a robot that came to rest on its feet."""
    model = mbros.load(robot, ground=True)
    state = model.default_state()
    if robot == "quadruped":
        q = np.array(state.q)
        q[2], q[7:] = 0.36, np.tile(STANCE, 4)
        state.set_q(q)
    sim, tau = mbros.Simulator(model, DT, state=state), np.zeros(model.nv)
    target = np.array(sim.state.q[7:])
    while sim.time < seconds:
        tau[6:] = kp * (target - sim.state.q[7:]) - kd * sim.state.v[6:]
        sim.step(tau)
    return sim, tau


def pile(count=30, seconds=2.0):
    """(simulator, no torques) of boxes that fell on one another."""
    rng = np.random.default_rng(1)
    b = mbros.ModelBuilder("pile", ground=True)
    for k in range(count):
        size = rng.uniform(0.1, 0.2, 3)
        mass = 500.0 * size.prod()
        body = b.add_body(f"box{k}", mass, (0, 0, 0), mass / 12 * ((size**2).sum() - size**2))
        b.add_joint(mbros.FloatingJoint(f"free{k}", b.world, body))
        b.add_collision(body, mbros.shapes.box(size))
    sim = mbros.Simulator(b.build(), DT)
    for k in range(count):
        p = (*(0.12 * (np.array([k % 3, k // 3 % 3]) - 1.0) + 0.02 * rng.normal(size=2)), 0.15 + 0.25 * (k // 9))
        sim.model.joint(f"free{k}").set_pose(sim.state, p=p, rpy=rng.uniform(-0.5, 0.5, 3))
    sim.advance_to(seconds)
    return sim, np.zeros(sim.model.nv)


class Ours:
    """run(n): n steps, starting anew from the state at hand after every STEPS."""

    FIELDS = ("q", "v", "a_prev", "contact_memory")

    def __init__(self, sim, tau):
        self.plant, self.state, self.tau, self.iterations = sim.plant, sim.state, tau, []
        self.kept = [np.array(self.state.field(name)) for name in self.FIELDS]

    def run(self, n):
        step, tau = self.plant.step, self.tau
        for start in range(0, n, STEPS):
            for name, kept in zip(self.FIELDS, self.kept):
                self.state.field(name)[:] = kept
            for _ in range(min(STEPS, n - start)):
                step(tau)

    def count(self):
        """Iterations of STEPS steps: (mean, 99th percentile)."""
        self.run(1)
        counted = []
        for _ in range(STEPS - 1):
            self.plant.step(self.tau)
            counted.append(self.state.field("contact_memory")[0, touches.ITERATIONS])
        return np.mean(counted), np.percentile(counted, 99)


def stepped(mj_step, model, data):
    """Iterations of a step of MuJoCo."""
    mj_step(model, data)
    return int(data.solver_niter[:max(1, data.nisland)].max()) if data.nefc else 0


class Theirs:
    def __init__(self, peer, sim, tau):
        self.mujoco, self.model = peer.mujoco, peer.compiled_with_contact(sim.model.spec, DT)
        self.data = peer.mujoco.MjData(self.model)
        self.q, self.v = sim.model.to_convention(sim.state, "mujoco")
        self.tau = tau                    # of joints: the first six, of a free base, are zero

    def reset(self):
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = self.q, self.v, self.tau

    def count(self):
        """Mean iterations of STEPS steps."""
        self.reset()
        return np.mean([stepped(self.mujoco.mj_step, self.model, self.data) for _ in range(STEPS)])

    def run(self, n):
        mj_step, model, data = self.mujoco.mj_step, self.model, self.data
        for start in range(0, n, STEPS):
            self.reset()
            for _ in range(min(STEPS, n - start)):
                mj_step(model, data)


def whole_runs(candidates, steps, batches):
    """Times of a step, of batches of two runs of so many steps: steps are not alike, and each batch has all of them."""
    times = interleave({name: lambda n, run=run: run(n * steps) for name, run in candidates.items()}, batches, 0.0, time.thread_time_ns)
    for t in times.values():
        t.best, t.median = t.best / steps, t.median / steps
    return times


def row(name, sim, tau, peer, batches):
    contacts = len(sim.model.contacts(sim.state))
    ours, candidates = Ours(sim, tau), {}
    candidates["mbros"] = ours.run
    theirs = Theirs(peer, sim, tau) if peer else None
    if peer:
        candidates["MuJoCo"] = theirs.run
    times = whole_runs(candidates, STEPS, batches)
    mean, high = ours.count()
    ratio = f"{times['mbros'].best / times['MuJoCo'].best:.2f}" if peer else "-"
    return [name, contacts, us(times["mbros"]), us(times["MuJoCo"]) if peer else "-", ratio, f"{mean:.2f}", f"{high:.0f}",
            f"{theirs.count():.2f}" if peer else "-"]


def swing(size):
    """Displacements (n,) at a time, of n joints, each at a frequency of its own."""
    return lambda t, n: size * np.sin(5.0 * np.arange(1, n + 1) % 60.0 * t)


def trot(t, n):
    """Of the quadruped: two legs across from each other bend in turn."""
    lift = np.maximum(0.0, np.sin(4 * np.pi * t) * np.array([1, -1, -1, 1]))
    return np.outer(lift, (0.0, 0.3, -0.6)).ravel()[:n]


class Motion:
    """A second in which the joints of a robot on its feet move, and what both engines need to repeat it."""

    def __init__(self, robot, displacement, kp=400.0, kd=10.0, seconds=1.0):
        self.sim, _ = standing(robot)
        self.steps, self.contacts, self.theirs_took = round(seconds / DT), 0, []
        state, self.states, self.tau = self.sim.state, [], np.zeros((self.steps, self.sim.model.nv))
        home, iterations = np.array(state.q[7:]), []
        for k in range(self.steps):
            if k % SEGMENT == 0:
                self.states.append([np.array(state.field(name)) for name in Ours.FIELDS] + [*self.sim.model.to_convention(state, "mujoco")])
            self.tau[k, 6:] = kp * (home + displacement(k * DT, len(home)) - state.q[7:]) - kd * state.v[6:]
            self.sim.step(self.tau[k])
            self.contacts += state.field("contact_memory")[0, touches.COUNT] / self.steps
            iterations.append(state.field("contact_memory")[0, touches.ITERATIONS])
        self.iterations = np.mean(iterations), np.percentile(iterations, 99)

    def ours(self):
        step, effort = self.sim.plant.step, np.zeros(self.sim.model.nv)
        fields = [self.sim.state.field(name) for name in Ours.FIELDS]

        def begin(kept):
            for field, value in zip(fields, kept):
                field[:] = value
        return self.repeated(begin, effort, lambda: step(effort))

    def theirs(self, peer):
        model = peer.compiled_with_contact(self.sim.model.spec, DT)
        data, mj_step = peer.mujoco.MjData(model), peer.mujoco.mj_step

        def begin(kept):
            data.qpos[:], data.qvel[:] = kept[-2:]          # its solver starts from the acceleration of the step before, as always
        run = self.repeated(begin, data.qfrc_applied, lambda: mj_step(model, data))
        count = self.repeated(begin, data.qfrc_applied, lambda: self.theirs_took.append(stepped(mj_step, model, data)))
        return run, count

    def repeated(self, begin, effort, step):
        """run(n): the next n steps of the motion, over and over."""
        at = 0

        def run(n):
            nonlocal at
            for _ in range(n):
                if at % SEGMENT == 0:
                    begin(self.states[at // SEGMENT])
                effort[:] = self.tau[at]
                step()
                at = (at + 1) % self.steps
        return run


def moving_row(name, robot, displacement, peer, batches):
    motion = Motion(robot, displacement)
    candidates = {"mbros": motion.ours()}
    if peer:
        candidates["MuJoCo"], count = motion.theirs(peer)
        count(motion.steps)
    times = whole_runs(candidates, motion.steps, batches)
    ratio = f"{times['mbros'].best / times['MuJoCo'].best:.2f}" if peer else "-"
    mean, high = motion.iterations
    took = f"{np.mean(motion.theirs_took):.2f}" if peer else "-"
    theirs = us(times["MuJoCo"]) if peer else "-"
    return [name, f"{motion.contacts:.1f}", us(times["mbros"]), theirs, ratio, f"{mean:.2f}", f"{high:.0f}", took]


def rollouts(sim, tau, peer, batches, noise=0.0, held=False, count=256, steps=100):
    """Of the standing quadruped, on one core: us per step of one robot. noise: of its joints' torques, N m, new in each step or held."""
    model, kept = sim.model, sim.state.copy()
    q0, v0 = np.tile(kept.q, (count, 1)), np.tile(kept.v, (count, 1))
    efforts = np.broadcast_to(tau, (count, steps, model.nv)).copy()
    efforts[..., 6:] += np.random.default_rng(0).normal(scale=noise, size=(count, 1 if held else steps, model.nv - 6))
    candidates = {"mbros": lambda n: [mbros.rollout(model, q0, v0, efforts, DT, threads=1) for _ in range(n)]}
    if peer:
        try:
            from mujoco import rollout as mujoco_rollout
        except ImportError:
            peer = None
    if peer:
        theirs = Theirs(peer, sim, tau)
        theirs.reset()
        m = theirs.model
        spec = peer.mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.empty(peer.mujoco.mj_stateSize(m, spec))
        peer.mujoco.mj_getState(m, theirs.data, state, spec)
        signature = peer.mujoco.mjtState.mjSTATE_QFRC_APPLIED
        starts = np.tile(state, (count, 1))
        candidates["MuJoCo"] = lambda n: [mujoco_rollout.rollout(m, theirs.data, starts, efforts, control_spec=signature, nstep=steps)
                                          for _ in range(n)]
    times = interleave(candidates, max(3, batches // 5), 0.1, time.thread_time_ns)
    for t in times.values():
        t.best, t.median = t.best / (count * steps), t.median / (count * steps)
    ratio = f"{times['mbros'].best / times['MuJoCo'].best:.2f}" if peer else "-"
    name = f"{count} rollouts of the quadruped" + (f", {noise:g} N m{' held' if held else ''}" if noise else ", standing")
    return [name, 4 if noise == 0.0 else "0 to 4", us(times["mbros"]), us(times["MuJoCo"]) if peer else "-", ratio, "", "", ""]


def linearized(sim, tau, batches):
    """The quadruped's linearize(dt=...) on its feet, and a metre above them."""
    air = sim.state.copy()
    air.q[2] += 1.0
    calls = {"on its feet": sim.state, "in the air": air}
    candidates = {name: lambda n, state=state: [sim.model.linearize(state, tau, dt=DT) for _ in range(n)] for name, state in calls.items()}
    times = interleave(candidates, batches, 20e-3, time.thread_time_ns)
    ratio = times["on its feet"].best / times["in the air"].best
    table("A linearised step of the quadruped, from Python, us: best / median", [*candidates, "ratio"],
          [[*map(us, times.values()), f"{ratio:.1f}"]])


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contact", description=__doc__)
    parser.add_argument("--batches", type=int, default=25, help="measurements of each (25)")
    options = parser.parse_args()
    peer = contact_peer()
    with quiet():
        quadruped = standing("quadruped")
        rows = [row("quadruped on four feet", *quadruped, peer, options.batches),
                row("humanoid on two flat feet", *standing("humanoid"), peer, options.batches),
                moving_row("quadruped trots", "quadruped", trot, peer, options.batches),
                *(moving_row(f"{robot}, legs swing by {size:g} rad", robot, swing(size), peer, options.batches)
                  for robot in ("quadruped", "humanoid") for size in (0.05, 0.15)),
                row("pile of 30 boxes", *pile(), peer, options.batches),
                *(rollouts(*standing("quadruped"), peer, options.batches, *noise) for noise in NOISES)]
        heads = ["scene", "contacts", "mbros", "MuJoCo", "ratio", "iterations", "99 %", "of MuJoCo"]
        table("A step with contact, from Python, us: best / median", heads, rows)
        linearized(*quadruped, options.batches)


if __name__ == "__main__":
    main()
