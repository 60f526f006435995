"""Whole steps: what a simulation loop in Python pays per millisecond of simulated time, and a loop that stays in C."""
import numpy as np

import mbros_core
from benchmarks._timing import interleave, table, us

DT = 1e-3


def mbros_step(robot, integrator):
    plant = mbros_core.Plant(robot.model, robot.model.default_state(), dt=DT, integrator=integrator)
    return plant, np.zeros(robot.nv)


def main(robots, batches):
    """Prints the table; returns {robot: times}."""
    rows, results = [], {}
    for robot in robots:
        candidates = {}
        for label, integrator in (("mbros", mbros_core.DEFAULT_INTEGRATOR), ("mbros euler", "semi_implicit_euler"), ("mbros rk4", "rk4")):
            plant, tau = mbros_step(robot, integrator)
            candidates[label] = from_rest(plant, tau)
        plant, tau = mbros_step(robot, mbros_core.DEFAULT_INTEGRATOR)
        candidates["in C"] = in_c(plant, tau)
        if robot.mujoco:
            candidates["mj_step"] = mujoco_step(robot.mujoco)
        if robot.pin:
            candidates["pin loop"] = pinocchio_step(robot.pin)
        t = results[robot.name] = interleave(candidates, batches)
        rows.append([robot.name, robot.nv, us(t["mbros"]), us(t["in C"]),
                     f"{us(t['mbros euler'])}  {t['mbros'].best / t['mbros euler'].best:.2f}", us(t["mbros rk4"]),
                     *(f"{us(t[k])}  {t[k].best / t['mbros'].best:.1f}x" if k in t else "-" for k in ("mj_step", "pin loop"))])
    table("One 1 ms step from Python: best / median in microseconds, and how many times faster mbros is",
          ["robot", "nv", "mbros step", "mbros, many in C", "semi_implicit_euler, mbros over it",
           "mbros rk4 step", "mj_step", "pin.aba + integrate"], rows,
          ["The midpoint step where no other is named; each run starts from rest and swings freely."])
    return results


def from_rest(plant, tau):
    step = plant.step

    def run(n):
        plant.reset()
        for _ in range(n):
            step(tau)
    return run


def in_c(plant, tau):
    def run(n):
        plant.reset()
        plant.steps(tau, n)
    return run


def mujoco_step(side):
    mujoco, model, data = side.mujoco, side.model, side.data
    model.opt.timestep = DT
    data.qfrc_applied[:] = 0
    step = mujoco.mj_step

    def run(n):
        mujoco.mj_resetData(model, data)
        for _ in range(n):
            step(model, data)
    return run


def pinocchio_step(side):
    """What one writes around Pinocchio: v += h a, q = integrate(q, h v)."""
    pin, model, data = side.pin, side.model, side.data
    tau = np.zeros(model.nv)

    def run(n):
        q, v = pin.neutral(model), np.zeros(model.nv)
        for _ in range(n):
            v += DT * pin.aba(model, data, q, v, tau)
            q = pin.integrate(model, q, DT * v)
    return run
