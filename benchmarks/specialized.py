"""Robots compiled to code of their own (mbros.specialize) beside the general engine and the peers, in one run.

    python -m benchmarks.specialized [robot ...]

Calls from Python with q and v written before each; batches over lanes and rollouts per robot, on one thread; seconds of compilation into an
empty cache. Equality is checked before any clock starts.
"""
import sys
import tempfile
import time

import numpy as np

import mbros
from benchmarks._robots import ROBOTS, Robot
from benchmarks._timing import interleave, table
from mbros.build.specialize.robot import STANDARD

ROBOTS_IN_BATCH = 1024
STEPS = 50


def call(model, state, robot, function, *given):
    """n calls, each after another q and v were written. Two loops, as a call with a starred argument takes 0.1 us more than one without."""
    method, out = getattr(model, function), np.empty((model.nv, model.nv) if function == "mass_matrix" else model.nv)

    def calls(n):
        q, v = state.q, state.v
        for k in range(n):
            q[:], v[:] = robot.q[k & 1], robot.v[k & 1]
            method(state, out)

    def calls_with(n):
        q, v = state.q, state.v
        x, = given
        for k in range(n):
            q[:], v[:] = robot.q[k & 1], robot.v[k & 1]
            method(state, x, out)

    return calls_with if given else calls


def slopes(model, state, robot, function, x):
    """The same of derivatives."""
    out = function(model, state, x)

    def calls(n):
        q, v = state.q, state.v
        for k in range(n):
            q[:], v[:] = robot.q[k & 1], robot.v[k & 1]
            function(model, state, x, out)
    return calls


def nothing(model, state, robot):
    """The same without the algorithm: two vectors written, and a call that returns a number."""
    def calls(n):
        q, v = state.q, state.v
        for k in range(n):
            q[:], v[:] = robot.q[k & 1], robot.v[k & 1]
            bool(state.is_held)
    return calls


def batch(model, robot, rng):
    q = np.array([robot.random_configuration(rng) for _ in range(ROBOTS_IN_BATCH)])
    tau = rng.normal(size=(ROBOTS_IN_BATCH, model.nv))
    made = model.batch(q, np.zeros((ROBOTS_IN_BATCH, model.nv)), threads=1)
    out = np.empty((ROBOTS_IN_BATCH, model.nv))
    return lambda n: [made.forward_dynamics(tau, out=out) for _ in range(n)]


def rollouts(model, robot, rng):
    q = np.array([robot.random_configuration(rng) for _ in range(ROBOTS_IN_BATCH)])
    tau = np.zeros((ROBOTS_IN_BATCH, STEPS, model.nv))
    return lambda n: [mbros.rollout(model, q, np.zeros(model.nv), tau, dt=1e-4, threads=1, every=STEPS) for _ in range(n)]


def measured(name, base, batches):
    """One row."""
    robot = Robot(name, base, np.random.default_rng(0))
    general = mbros.load(name, base=base, mimic=False)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        fast = mbros.specialize(general, STANDARD, cache=folder)
        seconds = time.perf_counter() - begin
    x = robot.x[0]
    candidates = {}
    for label, model in (("general", general), ("compiled", fast)):
        state = model.default_state()
        for function, given in (("forward_dynamics", (x,)), ("inverse_dynamics", (x,)), ("mass_matrix", ())):
            candidates[f"{label} {function}"] = call(model, state, robot, function, *given)
        for function in (mbros.diff.forward_dynamics, mbros.diff.inverse_dynamics):
            candidates[f"{label} {function.__name__} derivatives"] = slopes(model, state, robot, function, x)
        candidates[f"{label} batch"] = batch(model, robot, np.random.default_rng(1))
        candidates[f"{label} rollout"] = rollouts(model, robot, np.random.default_rng(1))
    candidates["writing"] = nothing(fast, fast.default_state(), robot)
    check(general, fast, robot, x)
    candidates.update(peers(robot))
    return general.nv, seconds, fast._code.operations, interleave(candidates, batches)


def peers(robot):
    """Their forward dynamics, of the robot without damping, friction and stops, which ours has."""
    found = {}
    if robot.pin is not None:
        side, aba = robot.pin, robot.pin.pin.aba

        def pinocchio(n):
            for k in range(n):
                aba(side.model, side.data, side.q[k & 1], side.v[k & 1], side.x[k & 1])
        found["Pinocchio"] = pinocchio
        for name in ("ABA", "RNEA"):
            found[f"Pinocchio {name} derivatives"] = pinocchio_derivatives(side, getattr(side.pin, f"compute{name}Derivatives"))
    if robot.mujoco is not None:
        here, forward = robot.mujoco, robot.mujoco.mujoco.mj_forward

        def mujoco(n):
            for k in range(n):
                here.data.qpos[:], here.data.qvel[:], here.data.qfrc_applied[:] = here.q[k & 1], here.v[k & 1], here.x[k & 1]
                forward(here.model, here.data)
        found["MuJoCo"] = mujoco
    return found


def pinocchio_derivatives(side, function):
    def calls(n):
        for k in range(n):
            function(side.model, side.data, side.q[k & 1], side.v[k & 1], side.x[k & 1])
    return calls


def check(general, fast, robot, x):
    for k in range(2):
        results = []
        for model in (general, fast):
            state = model.default_state()
            state.q[:], state.v[:] = robot.q[k], robot.v[k]
            results.append(np.concatenate([model.forward_dynamics(state, x), model.inverse_dynamics(state, x),
                                           model.mass_matrix(state).ravel(), *(function(model, state, x)[by].ravel() for function in (
                                               mbros.diff.forward_dynamics, mbros.diff.inverse_dynamics) for by in "qv")]))
        scale = np.abs(results[0]).max()
        if not np.abs(results[0] - results[1]).max() <= 1e-13 * scale:
            raise SystemExit(f"{robot.name}: the compiled code differs from the general engine")


def peer_time(t, peer):
    return f"{t[peer].best:.0f}" if peer in t else "-"


def main(names=(), batches=15):
    rows = []
    for name, base in ROBOTS:
        if names and name not in names:
            continue
        nv, seconds, operations, t = measured(name, base, batches)
        writing = t["writing"].best

        def pair(what, divide=1.0, less=0.0):
            return f"{(t[f'compiled {what}'].best - less) / divide:.0f} / {(t[f'general {what}'].best - less) / divide:.0f}"

        rows.append([name, nv, operations["forward_dynamics"], f"{seconds:.1f}", pair("forward_dynamics", 1.0, writing),
                     pair("inverse_dynamics", 1.0, writing), pair("mass_matrix", 1.0, writing),
                     *(f"{pair(f'{what}_dynamics derivatives', 1.0, writing)} / {peer_time(t, f'Pinocchio {peer} derivatives')}"
                       for what, peer in (("forward", "ABA"), ("inverse", "RNEA"))), pair("batch", ROBOTS_IN_BATCH),
                     pair("rollout", ROBOTS_IN_BATCH * STEPS),
                     *(peer_time(t, peer) for peer in ("Pinocchio", "MuJoCo"))])
    table("Compiled / general, ns; calls less the writing of q and v", ["robot", "nv", "operations", "compiled in, s", "forward dynamics",
          "inverse dynamics", "mass matrix", "forward derivatives / Pinocchio", "inverse derivatives / Pinocchio", "batch", "rollout step",
          "Pinocchio ABA", "MuJoCo"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
