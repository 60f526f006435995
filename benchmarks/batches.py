"""python -m benchmarks.batches: batches from Python on one core, beside what one writes with Pinocchio, and MuJoCo's own rollout.

The goals of batches: forward dynamics of 4096 UR5 in at most 0.1 us each; rollouts of robots with masses of their own in at most 1.2 times
the time of equal ones; linear dynamics at 100 states in at most half of the 34 us that a call for each took (arm7).
"""
import numpy as np

import mbros
from benchmarks._robots import all_robots
from benchmarks._timing import interleave, quiet, table

NUMBER, ROLLOUTS, STEPS, POINTS = 4096, 256, 100, 100


def repeated(call):
    def run(n):
        for _ in range(n):
            call()
    return run


def with_pinocchio(side, number):
    """A loop of pin.aba over as many robots as a batch has."""
    pin, model, data = side.pin, side.model, side.data
    rows = [(side.q[k % 2], side.v[k % 2], side.x[k % 2]) for k in range(number)]

    def call():
        for q, v, tau in rows:
            pin.aba(model, data, q, v, tau)
    return call


def with_mujoco(side, number, steps):
    """mujoco.rollout of robots that swing freely, in one thread; None where this MuJoCo has none."""
    try:
        from mujoco import rollout
    except ImportError:
        return None
    mujoco, model, data = side.mujoco, side.model, side.data
    model.opt.timestep = 1e-3
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_resetData(model, data)
    mujoco.mj_getState(model, data, start, full)
    starts = np.tile(start, (number, 1))
    try:
        rollout.rollout(model, data, starts, nstep=1)
    except TypeError:                           # another version's arguments
        return None
    return lambda: rollout.rollout(model, data, starts, nstep=steps)


def algorithms(robots, batches):
    """ns per robot and call of the public batch, and of Pinocchio's forward dynamics; returns that of UR5's forward dynamics."""
    rows, found = [], {}
    for robot in robots:
        model = mbros.load(robot.name, base="floating" if robot.model.nq != robot.model.nv else "fixed", mimic=False)
        rng = np.random.default_rng(7)
        q = np.tile(np.array(robot.q), (NUMBER // 2, 1))
        batch, x = model.batch(q, rng.normal(size=(NUMBER, model.nv))), rng.normal(size=(NUMBER, model.nv))
        out, frame = np.empty_like(x), model.frames[-1]
        M, J = batch.mass_matrix(), batch.jacobian(frame)
        calls = {"forward": lambda: batch.forward_dynamics(x, out), "inverse": lambda: batch.inverse_dynamics(x, out),
                 "mass": lambda: batch.mass_matrix(M), "pose": lambda: batch.pose(frame), "jacobian": lambda: batch.jacobian(frame, out=J)}
        if robot.pin:
            calls["pin"] = with_pinocchio(robot.pin, NUMBER)
        t = {key: time.best / NUMBER for key, time in interleave({key: repeated(c) for key, c in calls.items()}, batches).items()}
        found[robot.name] = t["forward"]
        rows.append([robot.name, model.nv, *(f"{t[key]:.0f}" for key in ("forward", "inverse", "mass", "pose", "jacobian")),
                     f"{t['pin']:.0f}  {t['pin'] / t['forward']:.1f}x" if "pin" in t else "-"])
    table(f"Batches of {NUMBER} from Python: ns per robot, best batch, and how many times faster mbros is",
          ["robot", "nv", "forward dynamics", "inverse dynamics", "mass matrix", "pose", "Jacobian", "pin.aba in a loop"], rows)
    return found.get("ur5")


def rollouts(robots, batches):
    """Times of equal rollouts, of rollouts with own masses, and of MuJoCo's; returns own over equal of arm7."""
    rows, found = [], {}
    for robot in robots:
        model = mbros.load(robot.name, base="floating" if robot.model.nq != robot.model.nv else "fixed", mimic=False)
        q0, v0, tau = robot.q[0], np.zeros(model.nv), np.zeros((ROLLOUTS, STEPS, model.nv))
        mass = [name for name in model.parameter_names if name.startswith("mass.")][-1]
        masses = model.parameter(model.default_state(), mass) * np.linspace(0.9, 1.1, ROLLOUTS)
        calls = {"equal": lambda: mbros.rollout(model, q0, v0, tau, on_fault="hold"),
                 "own": lambda: mbros.rollout(model, q0, v0, tau, on_fault="hold", parameters={mass: masses})}
        peer = with_mujoco(robot.mujoco, ROLLOUTS, STEPS) if robot.mujoco else None
        if peer:
            calls["mujoco"] = peer
        t = {key: time.best / ROLLOUTS / STEPS for key, time in interleave({key: repeated(c) for key, c in calls.items()}, batches).items()}
        found[robot.name] = t["own"] / t["equal"]
        rows.append([robot.name, model.nv, f"{t['equal']:.0f}", f"{t['own']:.0f}", f"{found[robot.name]:.2f}",
                     f"{t['mujoco']:.0f}  {t['mujoco'] / t['equal']:.1f}x" if "mujoco" in t else "-"])
    table(f"{ROLLOUTS} rollouts of {STEPS} steps: ns per robot and step, best batch, and how many times faster mbros is",
          ["robot", "nv", "equal robots", "masses of their own", "own over equal", "mujoco.rollout"], rows)
    return found.get("arm7")


def linear(batches):
    """us per state of model.linearize; returns that of arm7 for many states."""
    rows, found = [], {}
    for name in ("ur5", "arm7", "humanoid"):
        try:
            model = mbros.load(name)
        except mbros.UnknownNameError:
            continue
        states, tau = [model.random_state(k) for k in range(POINTS)], np.zeros(model.nv)
        for dt in (None, 1e-3):
            calls = {"many": lambda: model.linearize(states, tau, dt), "one": lambda: [model.linearize(state, tau, dt) for state in states]}
            t = {key: time.best / POINTS / 1e3 for key, time in interleave({k: repeated(c) for k, c in calls.items()}, batches).items()}
            found.setdefault(name, t["many"])
            rows.append([name, model.nv, "-" if dt is None else "1 ms", f"{t['many']:.1f}", f"{t['one']:.1f}"])
    table(f"Linear dynamics at {POINTS} states: us per state, best batch", ["robot", "nv", "step", "in one call", "a call each"], rows)
    return found["arm7"]


def main(batches=25, robots=None):
    """Prints the tables; returns (ns per UR5, own masses over equal ones, us per state of arm7)."""
    robots = robots or all_robots()
    return algorithms(robots, batches), rollouts(robots, batches), linear(batches)


if __name__ == "__main__":
    with quiet():
        main()
