"""Derivatives of the dynamics by q, v and tau or vdot from Python, and of a step: mbros.diff beside Pinocchio's analytic ones and MuJoCo's
differences; of many robots in one call, on one thread.

    python -m benchmarks.derivatives [--batches N]
"""
import argparse
import dataclasses
import os
from pathlib import Path

import numpy as np

import mbros
from benchmarks._robots import all_robots
from benchmarks._timing import Time, interleave, quiet, table, us
from mbros import diff

DT = 1e-3
MANY = 64                                   # robots of a batch
OF_DRAKE = ("arm7", "humanoid")             # it takes milliseconds
PASSIVE = ("damping", "friction", "stop_stiffness", "stop_damping")
SPRING = '<mbros:spring_damper name="{0}-{1}" frame_A="{0}" frame_C="{1}" free_length="0.3" stiffness="200" damping="2"/>'
SPRUNG = {                                  # robots with force elements on bodies
    ("arm7", "a bushing, base to flange"): '<mbros:bushing name="mount" frame_A="base_link" frame_C="flange" law="quaternion" '
                                           'torque_stiffness="1" torque_damping="0.005" force_stiffness="20" force_damping="0.1"/>',
    ("humanoid", "4 spring-dampers, between its limbs"): "".join(SPRING.format(*ends) for ends in (
        ("left_hand", "right_hand"), ("left_foot", "right_foot"), ("left_hand", "left_foot"), ("torso", "right_hand")))}


class Ours:
    """A robot as it is loaded, in the states of the peers', without the passive terms that these lack."""

    def __init__(self, robot):
        base = "floating" if any(kind == "floating" for kind in robot.model.spec.joint_kind) else "fixed"
        self.model, self.x = mbros.load(robot.name, base=base, mimic=False), [x.copy() for x in robot.x]
        self.states = [self.model.default_state() for _ in range(2)]
        for state, q, v in zip(self.states, robot.q, robot.v):
            state.q[:], state.v[:] = q, v
            for field in PASSIVE:
                state.field(field)[:] = 0.0
        self.out = [diff.forward_dynamics(self.model, self.states[0], self.x[0]),
                    diff.inverse_dynamics(self.model, self.states[0], self.x[0])]

    def whole_body(self):
        """Second derivatives and the centroidal map."""
        model, states, x = self.model, self.states, self.x
        H = diff.inverse_dynamics_second_derivatives(model, states[0], x[0])
        return {"second": twice(lambda k: diff.inverse_dynamics_second_derivatives(model, states[k], x[k], H)),
                "map": twice(lambda k: diff.centroidal_map(model, states[k]))}

    def many(self):
        """Batches of the two states in turn, on one thread."""
        q, v, x = (np.tile(rows, (MANY // 2, 1)) for rows in ([s.q for s in self.states], [s.v for s in self.states], self.x))
        batch = self.model.batch(q, v, state=self.states[0], threads=1)
        f, g = batch.forward_dynamics_derivatives(x), batch.inverse_dynamics_derivatives(x)
        for k, one in enumerate((diff.forward_dynamics, diff.inverse_dynamics)):
            exact, found = one(self.model, self.states[1], self.x[1]), (f, g)[k]
            if not all(np.abs(found[name][-1] - J).max() < 1e-10 * np.abs(J).max() for name, J in exact.items()):
                raise RuntimeError(f"{self.model.name}: a batch and single calls disagree: nothing was timed")
        return {"forward, many": repeated(lambda: batch.forward_dynamics_derivatives(x, f)),
                "inverse, many": repeated(lambda: batch.inverse_dynamics_derivatives(x, g))}

    def runs(self):
        model, states, x, (f, g) = self.model, self.states, self.x, self.out
        return {"forward": twice(lambda k: diff.forward_dynamics(model, states[k], x[k])),
                "forward, out": twice(lambda k: diff.forward_dynamics(model, states[k], x[k], f)),
                "inverse": twice(lambda k: diff.inverse_dynamics(model, states[k], x[k])),
                "inverse, out": twice(lambda k: diff.inverse_dynamics(model, states[k], x[k], g)),
                "linear": twice(lambda k: model.linearize(states[k], x[k])),
                "step": twice(lambda k: model.linearize(states[k], x[k], dt=DT)),
                "duals": twice(lambda k: diff.algorithms.by_dual_numbers(model, "forward_dynamics", states[k], x[k], ("q", "v", "tau")))}


def sprung(name, elements):
    """Ours alone, with force elements on bodies, in two random states."""
    text = Path(mbros.load(name).description.file).read_text()
    text = text.replace("<robot ", '<robot xmlns:mbros="urn:mbros" ', 1) if "xmlns:mbros" not in text else text
    model = mbros.load(text.replace("</robot>", elements + "</robot>"), base="floating" if name == "humanoid" else None)
    rng = np.random.default_rng(0)
    states, x = [model.random_state(rng) for _ in range(2)], rng.normal(size=model.nv)
    f, g = diff.forward_dynamics(model, states[0], x), diff.inverse_dynamics(model, states[0], x)
    H = diff.inverse_dynamics_second_derivatives(model, states[0], x)
    dual = diff.algorithms.by_dual_numbers
    return model, {"forward": twice(lambda k: diff.forward_dynamics(model, states[k], x, f)),
                   "inverse": twice(lambda k: diff.inverse_dynamics(model, states[k], x, g)),
                   "step": twice(lambda k: model.linearize(states[k], x, dt=DT)),
                   "forward, duals": twice(lambda k: dual(model, "forward_dynamics", states[k], x, ("q", "v", "tau"))),
                   "inverse, duals": twice(lambda k: dual(model, "inverse_dynamics", states[k], x, ("q", "v", "vdot"))),
                   "step, duals": twice(lambda k: dual(model, "step", states[k], x, ("q", "v", "tau"), dt=DT)),
                   "second": twice(lambda k: diff.inverse_dynamics_second_derivatives(model, states[k], x, H))}


def of_elements(batches):
    rows = []
    for (name, what), elements in SPRUNG.items():
        model, candidates = sprung(name, elements)
        t = interleave(candidates, batches)
        rows.append([name, model.nv, what, *(us(t[k]) for k in candidates)])
    names = ["forward", "inverse", "step"]
    table("With force elements on bodies, `out=`",
          ["robot", "nv", "elements", *names, *(f"{name}, dual numbers" for name in names), "second of inverse"], rows)


def twice(call):
    """n calls, of two states in turn: no result can be kept."""
    def run(n):
        for _ in range(n // 2):
            call(0)
            call(1)
    return run


def repeated(call):
    """n calls."""
    def run(n):
        for _ in range(n):
            call()
    return run


def pinocchio(side):
    """Analytic derivatives of the same robot, and of a semi-implicit Euler step assembled from them as its users do."""
    pin, model, data, nv = side.pin, side.model, side.data, side.model.nv
    start, along = pin.ArgumentPosition.ARG0, pin.ArgumentPosition.ARG1

    def step(k):
        by_q, by_v, inverse = pin.computeABADerivatives(model, data, side.q[k], side.v[k], side.x[k])
        move = DT * (side.v[k] + DT * data.ddq)
        A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nv))
        A[nv:, :nv], A[nv:, nv:], B[nv:] = DT * by_q, DT * by_v, DT * inverse
        A[nv:, nv:].flat[::nv + 1] += 1.0
        turn = DT * pin.dIntegrate(model, side.q[k], move, along)
        A[:nv], B[:nv] = turn @ A[nv:], turn @ B[nv:]
        A[:nv, :nv] += pin.dIntegrate(model, side.q[k], move, start)
        return A, B

    def second(k):
        """Their second derivatives are not in the Python module: central differences of the first, all the q and v."""
        for h in 1e-5 * np.eye(nv):
            for end in (h, -h):
                pin.computeRNEADerivatives(model, data, pin.integrate(model, side.q[k], end), side.v[k], side.x[k])
                pin.computeRNEADerivatives(model, data, side.q[k], side.v[k] + end, side.x[k])

    return {"pin second": twice(second),
            "pin map": twice(lambda k: pin.dccrba(model, data, side.q[k], side.v[k])),
            "pin forward": twice(lambda k: pin.computeABADerivatives(model, data, side.q[k], side.v[k], side.x[k])),
            "pin inverse": twice(lambda k: pin.computeRNEADerivatives(model, data, side.q[k], side.v[k], side.x[k])),
            "pin step": twice(step)}


def mujoco(side):
    """mjd_transitionFD, which takes differences."""
    nv = side.model.nv
    A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, side.model.nu))

    def step(k):
        side.data.qpos[:], side.data.qvel[:], side.data.qfrc_applied[:] = side.q[k], side.v[k], side.x[k]
        side.mujoco.mjd_transitionFD(side.model, side.data, 1e-6, False, A, B, None, None)
    return {"mujoco step": twice(step)}


def drake(model):
    """Drake's mass matrix and bias term over AutoDiffXd, of which the rest is left to do by hand; {} where it is not installed."""
    try:
        from pydrake.autodiffutils import InitializeAutoDiff
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
    except ImportError:
        return {}
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(model.description.text, "urdf")
    if model.joints[0].kind != "floating":
        plant.WeldFrames(plant.world_frame(),
                         plant.get_body(plant.GetBodyIndices(plant.GetModelInstanceByName(model.name))[0]).body_frame())
    plant.Finalize()
    auto = plant.ToAutoDiffXd()
    context, x = auto.CreateDefaultContext(), plant.GetPositionsAndVelocities(plant.CreateDefaultContext())

    def run(n):
        for _ in range(n):
            auto.SetPositionsAndVelocities(context, InitializeAutoDiff(x).ravel())
            M = auto.CalcMassMatrix(context)
            np.linalg.inv(np.array([[e.value() for e in row] for row in M]))    # what is left to do by hand, without its derivatives
            auto.CalcBiasTerm(context)
    return {"drake": run}


def main(robots, batches=25):
    """The tables; [(robot, forward / pin, inverse / pin, step / pin)] where Pinocchio is there."""
    rows, steps, whole, many, ratios = [], [], [], [], []
    for robot in robots:
        ours = Ours(robot)
        candidates = ours.runs() | ours.whole_body() | ours.many()
        candidates.update(pinocchio(robot.pin) if robot.pin else {})
        candidates.update(mujoco(robot.mujoco) if robot.mujoco else {})
        candidates.update(drake(ours.model) if robot.name in OF_DRAKE else {})
        t = interleave(candidates, batches)

        def over(a, b):
            return f"{t[a].best / t[b].best:.2f}" if b in t else "-"

        rows.append([robot.name, robot.nv, *(us(t[k]) if k in t else "-" for k in (
            "forward", "forward, out", "pin forward", "duals", "drake", "inverse", "inverse, out", "pin inverse")),
            over("forward", "pin forward"), over("inverse", "pin inverse")])
        steps.append([robot.name, robot.nv, *(us(t[k]) if k in t else "-" for k in ("linear", "step", "pin step", "mujoco step")),
                      over("step", "pin step")])
        whole.append([robot.name, robot.nv, *(us(t[k]) if k in t else "-" for k in (
            "second", "pin second", "map", "pin map"))])
        for what in ("forward", "inverse"):
            t[f"{what}, many"] = Time(*(time / MANY for time in dataclasses.astuple(t[f"{what}, many"])))
        many.append([robot.name, robot.nv, *(us(t[k]) if k in t else "-" for k in (
            "forward, many", "forward, out", "pin forward", "inverse, many", "inverse, out", "pin inverse")),
            over("forward, many", "pin forward"), over("inverse, many", "pin inverse")])
        if robot.pin:
            ratios.append((robot.name, *(t[a].best / t[b].best for a, b in (("forward", "pin forward"), ("inverse", "pin inverse"),
                                                                              ("step", "pin step")))))
    table("Derivatives by q, v and tau (of vdot) or vdot (of tau), from Python: best / median in microseconds, and of Pinocchio's time",
          ["robot", "nv", "forward", "out=", "pin ABA", "dual numbers", "Drake M, bias", "inverse", "out=", "pin RNEA", "forward",
           "inverse"], rows)
    table(f"Linear dynamics: of motion, and of a step of {DT * 1e3:g} ms",
          ["robot", "nv", "motion", "midpoint step", "pin + assembly", "mjd_transitionFD", "of pin's time"], steps,
          ["pin + assembly: computeABADerivatives, dIntegrate and NumPy, of a semi-implicit Euler step; MuJoCo's B is of its actuators."])
    table(f"Batches of {MANY}: microseconds per robot, best / median, beside a call for each, and of Pinocchio's time in a loop",
          ["robot", "nv", "forward", "a call each", "pin ABA", "inverse", "a call each", "pin RNEA", "forward", "inverse"], many)
    table("Second derivatives of inverse dynamics; the centroidal map with its rate", ["robot", "nv", "second", "pin", "map", "pin"], whole,
          ["second derivatives: pin's are not in its Python module, so central differences of computeRNEADerivatives, integrate included."])
    return ratios


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.derivatives", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--batches", type=int, default=25, help="batches per candidate (default 25)")
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        print("  OPENBLAS_NUM_THREADS is not 1: threads of BLAS, which wait busily, disturb what is timed beside pin + assembly")
    with quiet():
        main(all_robots(), parser.parse_args().batches)
        of_elements(parser.parse_args().batches)
