"""The pictures of docs/data_sheets.md: a motor runs up and warms, and the Allan deviation of a gyroscope.

    PYTHONPATH=. python docs/pictures/data_sheets.py            writes data_sheet_motor.svg and data_sheet_imu.svg beside this file
"""
from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from plot import Panel, svg

import mbros

K, I0 = 25.5e-3, 0.146          # N m/A, A: maxon EC 45 flat, 30 W, article 200142
DENSITY, RATE = 0.014, 200.0    # deg/s/sqrt(Hz), Hz: Bosch BMI088


def motor():
    b = mbros.ModelBuilder("bench", gravity=(0, 0, 0))
    b.add_joint(mbros.RevoluteJoint("shaft", b.world, b.add_body("load", 0.01, (0, 0, 0), (1e-9, 1e-9, 1e-9)), friction=K * I0))
    b.add_actuator(mbros.Motor("motor", joint="shaft", resistance=1.2, inductance=0.56e-3, torque_constant=K, rotor_inertia=92.5e-7,
                               voltage_limit=12.0, current_limit=10.0, winding_to_case=3.96, case_to_ambient=5.7,
                               winding_heat_capacity=11.5 / 3.96, case_heat_capacity=251 / 5.7))
    return b.build()


def runs_up():
    """(time s, speed rpm) at 12 V."""
    sim = mbros.Simulator(motor(), dt=1e-4)
    sim.command(effort={"shaft": 1.0})
    log = sim.run(0.1, every=10)
    return log.time, log["shaft"].velocity * 30.0 / math.pi


def warms():
    """(time min, winding degC, case degC), stalled at 2.03 A."""
    sim = mbros.Simulator(motor(), dt=5e-3)
    sim.model.joint("shaft").lock(sim.state)
    sim.command(effort={"shaft": 2.03 * K})
    sim.step()
    log = sim.run(1800.0, every=3600, signals=["motor.temperature", "motor.case_temperature"])
    return log.time / 60.0, log.signals["motor.temperature"], log.signals["motor.case_temperature"]


def allan():
    """(averaging time s, Allan deviation deg/s) of a gyroscope at rest, decade by decade."""
    b = mbros.ModelBuilder("table")
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("box", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))))
    b.add_sensor(mbros.Imu("imu", frame="box", rate=RATE, gyro_noise_density=math.radians(DENSITY),
                           gyro_bias_instability=math.radians(2.0 / 3600.0) / 0.664))
    x = mbros.Simulator(b.build(), dt=1.0 / RATE).run(3600.0, signals="imu.angular_velocity").signals["imu.angular_velocity"][1:]
    m = np.unique(np.round(np.geomspace(1, 20000, 25)).astype(int))
    means = [x[:len(x) // k * k].reshape(-1, k, 3).mean(1) for k in m]
    return m / RATE, np.degrees([math.sqrt(0.5 * np.mean(np.diff(mean, axis=0) ** 2)) for mean in means])


def pictures() -> dict[str, str]:
    """{name of the file: the picture}."""
    (t, speed), (minutes, winding, case), (T, deviation) = runs_up(), warms(), allan()
    log = np.log10(T)
    return {
        "data_sheet_motor.svg": svg("maxon EC 45 flat", [
            Panel("runs up at 12 V", "time, s", "speed, rpm", t,
                  [(speed, "simulated"), (np.full_like(t, 4380.0), "data sheet: no load")], True),
            Panel("stalled at 2.03 A", "time, min", "degC", minutes, [(winding, "winding"), (case, "case")], True)]),
        "data_sheet_imu.svg": svg("Bosch BMI088, gyroscope", [
            Panel("one hour at rest, three axes", "log10 of the averaging time, s", "log10 of the Allan deviation, deg/s", log,
                  [(np.log10(deviation), "simulated"), (np.log10(DENSITY / np.sqrt(T)), "data sheet: 0.014 / sqrt(T)")], True)])}


if __name__ == "__main__":
    for name, text in pictures().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
