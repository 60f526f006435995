"""Forward dynamics, inverse dynamics and mass matrix from Python: one call, everything handed over, two states in turn.

A peer's call takes q and v as arguments or has them copied into its data, and so does ours ("mbros"): forward_dynamics(state, tau, q=q,
v=v), which returns a new array. "in place" is what a loop pays whose state is already where it belongs: two states alternate, nothing
is written; it is shown for forward dynamics only, because the others would not recompute an unchanged state.
"""
import numpy as np

from benchmarks._timing import interleave, table, us


def mbros_call(robot, name):
    """One call with q and v, as the peers' are."""
    method, state = getattr(robot.model, name), robot.states[0].copy()
    (q0, q1), (v0, v1), (x0, x1) = robot.q, robot.v, robot.x
    if name == "mass_matrix":
        def run(n):
            for _ in range(n // 2):
                method(state, q=q0)
                method(state, q=q1)
        return run

    def run(n):
        for _ in range(n // 2):
            method(state, x0, q=q0, v=v0)
            method(state, x1, q=q1, v=v1)
    return run


def mbros_in_place(robot):
    """Two states in turn, nothing written."""
    method, (s0, s1), (x0, x1) = robot.model.forward_dynamics, robot.states, robot.x

    def run(n):
        for _ in range(n // 2):
            method(s0, x0)
            method(s1, x1)
    return run


def pinocchio_call(side, name):
    function = {"forward_dynamics": side.pin.aba, "inverse_dynamics": side.pin.rnea, "mass_matrix": side.pin.crba}[name]
    model, data, (q0, q1), (v0, v1), (x0, x1) = side.model, side.data, side.q, side.v, side.x
    if name == "mass_matrix":
        def run(n):
            for _ in range(n // 2):
                function(model, data, q0)
                function(model, data, q1)
        return run

    def run(n):
        for _ in range(n // 2):
            function(model, data, q0, v0, x0)
            function(model, data, q1, v1, x1)
    return run


def mujoco_call(side, name):
    mujoco, model, data = side.mujoco, side.model, side.data
    (q0, q1), (v0, v1), (x0, x1) = side.q, side.v, side.x
    q, v = data.qpos, data.qvel
    if name == "mass_matrix":
        M = np.empty((model.nv, model.nv))
        steps = (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM)

        def run(n):
            a, b, c = steps
            for _ in range(n // 2):
                for target in (q0, q1):
                    q[:] = target
                    a(model, data)
                    b(model, data)
                    c(model, data)
                    mujoco.mj_fullM(model, data, M)
        return run
    function, x = ((mujoco.mj_forward, data.qfrc_applied) if name == "forward_dynamics" else (mujoco.mj_inverse, data.qacc))

    def run(n):
        for _ in range(n // 2):
            q[:] = q0
            v[:] = v0
            x[:] = x0
            function(model, data)
            q[:] = q1
            v[:] = v1
            x[:] = x1
            function(model, data)
    return run


PEER_NAMES = {"forward_dynamics": ("pin.aba", "mj_forward"), "inverse_dynamics": ("pin.rnea", "mj_inverse"),
              "mass_matrix": ("pin.crba", "mj_makeM path")}


def main(robots, batches):
    """Tables of the three algorithms; returns {(algorithm, robot): times}."""
    results = {}
    for name, (pin_name, mujoco_name) in PEER_NAMES.items():
        rows = []
        for robot in robots:
            candidates = {"mbros": mbros_call(robot, name)}
            if name == "forward_dynamics":
                candidates["in place"] = mbros_in_place(robot)
            if robot.pin:
                candidates[pin_name] = pinocchio_call(robot.pin, name)
            if robot.mujoco:
                candidates[mujoco_name] = mujoco_call(robot.mujoco, name)
            t = results[name, robot.name] = interleave(candidates, batches)
            rows.append([robot.name, robot.nv, us(t["mbros"]), us(t["in place"]) if "in place" in t else "-",
                         *(cell(t, peer) for peer in (pin_name, mujoco_name))])
        table(f"{name.replace('_', ' ').capitalize()}, one call from Python: best / median in microseconds, "
              "and how many times faster mbros is",
              ["robot", "nv", "mbros", "in place", pin_name, mujoco_name], rows)
    return results


def cell(times, peer):
    """A peer's time and its ratio to ours."""
    if peer not in times:
        return "-"
    return f"{us(times[peer])}  {times[peer].best / times['mbros'].best:.1f}x"
