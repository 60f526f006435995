"""The whole public face: what a call costs as users write it, beside what the engine takes for it and what Pinocchio's call takes.

    python -m benchmarks.face [--quick] [--batches N] [--only WORD] [--strict]

Everything runs in turn in one process on one core, best batch of many. A call is to cost at most 1 us above its core, or twice the peer's
whole call where that is more (set_q and set_v: 0.25 us each); "of its bound" says how it stands.
"""
import argparse
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter_ns

import numpy as np

import mbros
import mbros_core
from benchmarks._face_rows import ROWS
from benchmarks._robots import of_tests
from benchmarks._timing import interleave, quiet, table
from mbros import diff
from mbros.model.own_parameters import engines
from mbros.study.rollout.memory import columns

BASES = {"ur5": "fixed", "quadruped": "floating", "arm7": "fixed"}
EMPTY = "m._has_slopes(True)"       # a call of the engine that does nothing
MICROSECOND = 1000.0                # that a call may cost above its core, ns


@dataclass(frozen=True)
class Cost:
    """Nanoseconds: of the call, of what the engine does in it, of the peer's call (0: there is none), and of an empty call of the engine
    in the same minute."""

    call: float
    core: float
    peer: float
    empty: float
    share: float            # of a microsecond, that it may cost above its core

    def of_bound(self, microsecond=MICROSECOND):
        """The call over what it may cost."""
        return self.call / max(self.core + self.share * microsecond, 2.0 * self.peer)


def rig(name, seed=1):
    """What the statements of _face_rows may name, for a robot: two states, their numbers, and Pinocchio's."""
    m = mbros.load(name, base=BASES[name], ground=True if name == "quadruped" else None)
    rng, free = np.random.default_rng(seed), mbros.load(name, base=BASES[name], collisions=False)
    states = [m.default_state() for _ in range(2)]
    for state in states:
        state.q[:], state.v[:] = m.random_configuration(rng), rng.normal(size=m.nv)
    heavy = [parameter for parameter in m.parameter_names if parameter.startswith("mass.")][-1]
    tip = heavy.partition(".")[2]
    x, at = rng.normal(size=(2, m.nv)), m._frame_index(tip)
    single = [joint.name for joint in m.joints if joint.nv == 1 and joint.mimic is None]
    found = {
        "m": m, "s": m.default_state(), "s0": states[0], "s1": states[1], "x0": x[0], "x1": x[1], "tip": tip, "at": at,
        "J": np.empty((6, m.nv)), "row": np.empty(12), "six": np.empty(6), "dv": np.empty(m.nv), "dq": np.empty(m.nq),
        "mbros": mbros, "diff": diff, "core": mbros_core.Model, "np": np, "rng": rng, "space": m.space(),
        "sim": mbros.Simulator(free, dt=1e-3), "free": free, "rest": free.default_state().q.copy(), "tau": np.zeros(m.nv),
        "one": {single[3]: 0.1}, "every": dict.fromkeys(single, 0.1),
        "mass": heavy, "kg": float(m.parameter(states[0], heavy)), "push": np.array([0.0, 0.0, 1.0]),
        "tau11": np.zeros((1, 1, m.nv)), "tau1": np.zeros((1, m.nv)), "rest1": free.default_state().q[None].copy(),
        "lanes": engines(free, free.default_state(), [slice(0, 1)])[0], "limit": free.spec.effort_limit, "fault": np.zeros(1, np.int64),
        "q11": np.empty((1, 1, m.nq)), "v11": np.empty((1, 1, m.nv)), "end": np.zeros((1, columns(free))), "sha256": sha256,
        "q8": np.tile(states[0].q, (8, 1)), "convention": mbros.convention("pinocchio"),
        "X": m.pose(states[0], tip), "V": m.velocity(states[0], tip), "last": m.joints[-1], "p": np.ones(3),
        "quat": np.array([0.8, 0.0, 0.6, 0.0]),
    }
    found |= {f"q{k}": state.q.copy() for k, state in enumerate(states)} | {f"v{k}": state.v.copy() for k, state in enumerate(states)}
    found |= {f"J{k}": m.jacobian(state, tip) for k, state in enumerate(states)}
    words = found["sim"].save()
    words = words[:words.index(b"}", words.index(b'"parts"')) + 1]
    found["saved"] = words, found["sim"].state._inputs, found["sim"].start._inputs
    if name == "arm7":
        found["driven"] = mbros.Simulator(mbros.load("arm7", bench="arm7_servo"), dt=1e-3)
        found["signal"] = found["driven"].signals["joint4.position"]
    if name == "quadruped":
        standing = mbros.Simulator(m, dt=1e-3)
        standing.run(0.3)
        found |= {"stood": standing.state, "leg": m.joint(single[2]), "bone": m.joint(single[2])._row.compiled_index}
        if not m.contacts(standing.state):
            raise RuntimeError("the quadruped stands on nothing: nothing was timed")
    return found | (peer_of(name, found) or {})


def peer_of(name, ours):
    """Pinocchio's side of a rig; None where it is not installed."""
    try:
        peers = of_tests("pinocchio_peer")
    except ImportError:
        return None
    loaded = of_tests("robots").loaded(name, BASES[name], mimic=False)
    peer, pin, nv = peers.from_urdf(loaded, mimic=False), peers.pin, ours["m"].nv
    free = peer.model.nq - nv
    found = {"pin": pin, "pm": peer.model, "pd": peer.data, "LWA": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
             "pf": peer.model.getFrameId(ours["tip"]), "low": -np.ones(nv + free), "high": np.ones(nv + free),
             "pX": pin.SE3.Random(), "pV": pin.Motion.Random(), "seven": np.array([1, 1, 1, 0, 0.6, 0, 0.8])}
    for k in range(2):
        q, v, x = ours[f"q{k}"], ours[f"v{k}"], ours[f"x{k}"]
        found |= {f"pq{k}": peer.q(q), f"pv{k}": peer.T(q) @ v, f"px{k}": np.linalg.solve(peer.T(q).T, x)}
    J = pin.computeFrameJacobian(peer.model, peer.data, found["pq0"], found["pf"], found["LWA"]) @ peer.T(ours["q0"])
    if not np.allclose(np.vstack([J[3:], J[:3]]), ours["m"].jacobian(ours["s0"], ours["tip"]), atol=1e-9):
        raise RuntimeError(f"{name}: mbros and Pinocchio disagree: nothing was timed")
    return found


def compiled(statement, names):
    """run(n): the statement n times, for k = 0 and 1 in turn."""
    pair = [statement.format(k=k) for k in range(2)]
    body = "".join(f"        {text}\n" for text in (pair if pair[0] != pair[1] else [pair[0]] * 2))
    space = dict(names)
    exec(f"def run(n):\n    for _ in range(n // 2):\n{body}", space)
    return space["run"]


class InC:
    """A candidate for `interleave` that lets C read the clock (Model._time_kernel)."""

    def __init__(self, algorithm, names):
        self.times, self.arguments, self.time = [], (algorithm, names["s0"], names["x0"]), names["m"]._time_kernel

    def __call__(self, n):
        self.times.append(self.time(*self.arguments, n))

    def best(self, empty):
        return min(self.times)


class Call(InC):
    """A call of the engine, which costs what it does beyond an empty one."""

    def __init__(self, statement, names):
        self.times, self.run = [], compiled(statement, names)

    def __call__(self, n):
        start = perf_counter_ns()
        self.run(n)
        self.times.append((perf_counter_ns() - start) / n)

    def best(self, empty):
        return max(0.0, min(self.times) - empty)


def measure(robot, batches, batch_seconds=3e-3, only=("",)):
    """{(robot, row): Cost} of the rows that a robot has; only: those with one of these words."""
    names, costs = rig(robot), {}
    chosen = [row for row in ROWS if robot in row.on and any(word in f"{row.section}: {row.name}" for word in only)]
    for row in chosen:
        if "pm" not in names and "pq" in row.call:
            continue                                # speaks of what Pinocchio has
        inside = [InC(part[1:], names) if part[0] == ":" else Call(part, names) for part in row.core]
        runs = {"empty": compiled(EMPTY, names), "call": compiled(row.call, names)} | dict(enumerate(inside))
        if row.peer and "pm" in names:
            runs["peer"] = compiled(row.peer, names)
        t = interleave(runs, batches, batch_seconds)
        core = sum(part.best(t["empty"].best) for part in inside)
        costs[robot, row] = Cost(t["call"].best, core, t["peer"].best if "peer" in t else 0.0, t["empty"].best, row.share)
    return costs


def show(costs):
    """One table a section."""
    for section in dict.fromkeys(row.section for _, row in costs):
        rows = [[row.name, robot, f"{c.call / 1e3:.2f}", f"{c.core / 1e3:.2f}" if row.core else "-",
                 f"{c.peer / 1e3:.2f}" if c.peer else "-", f"{c.call / c.peer:.2f}" if c.peer else "-", f"{c.of_bound():.2f}"]
                for (robot, row), c in costs.items() if row.section == section]
        table(f"{section}: best batch, us", ["call", "robot", "mbros", "core", "peer", "of the peer", "of its bound"], rows)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.face", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter batches: a few seconds")
    parser.add_argument("--batches", type=int, help="batches per call (default 25)")
    parser.add_argument("--only", default="", metavar="WORD", help="the rows with this word in their section or name")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a call is beyond its bound")
    options = parser.parse_args()
    costs = {}
    with quiet():
        for robot in BASES:
            costs |= measure(robot, options.batches or (5 if options.quick else 25), 1e-3 if options.quick else 3e-3, (options.only,))
    show(costs)
    beyond = [f"{row.name} ({robot})" for (robot, row), c in costs.items() if c.of_bound() > 1.0]
    print(f"\n{len(costs) - len(beyond)} of {len(costs)} calls are within their bound{'; beyond it: ' * bool(beyond)}{', '.join(beyond)}")
    return 1 if options.strict and beyond else 0


if __name__ == "__main__":
    raise SystemExit(main())
