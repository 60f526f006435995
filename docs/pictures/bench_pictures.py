"""The pictures of docs/bench.md and docs/faults.md: what actuators, sensors, channels and faults do.

    PYTHONPATH=. python docs/pictures/bench_pictures.py         writes bench_actuators.svg ... beside this file
"""
from __future__ import annotations

from pathlib import Path

import numpy as np
from plot import Panel, svg

import mbros

TRUE = "hinge.position"


def disc(gravity=0.0):
    """A disc of 0.5 kg m^2 that turns without friction."""
    b = mbros.ModelBuilder("disc", gravity=(0, 0, gravity))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, b.add_body("disc", 1.0, (0, 0, 0), (0.5, 0.5, 0.5))))
    return b.build()


def run(parts, seconds, signals, every=1, motion=None, **command):
    """A log of a disc with these parts on its bench; motion: (q, v, a) of the time that its joint is given."""
    bench = mbros.Bench(seed=5)
    for part in parts:
        bench.add(part)
    sim = mbros.Simulator(disc(), dt=1e-3, bench=bench)
    if motion is not None:
        sim.prescribe("hinge", motion)
    if command:
        sim.command(**{word: {"hinge": value} for word, value in command.items()})
    return sim.run(seconds, every=every, signals=signals)


def swing(t):
    """A sine of 1 Hz, as a motion; it crosses no boundary of counts just in a sample, where machines might round otherwise."""
    w, x = 2.0 * np.pi, 2.0 * np.pi * t + 0.1
    return np.sin(x), w * np.cos(x), -w * w * np.sin(x)


def actuators() -> str:
    """Steps of a position servo, two drives and a spring between."""
    stiff = run([mbros.PositionServo("servo", joint="hinge", kp=200.0, kd=20.0)], 1.0, TRUE, 5, position=1.0)
    limited = run([mbros.PositionServo("servo", joint="hinge", kp=200.0, kd=20.0, effort_limit=10.0)], 1.0, TRUE, 5, position=1.0)
    elastic = run([mbros.SeriesElastic("sea", joint="hinge", stiffness=300.0, damping=3.0, motor_inertia=0.2, kp=4000.0, kd=60.0)],
                  1.0, TRUE, 5, position=1.0)
    motor = run([mbros.Motor("motor", joint="hinge", resistance=0.6, inductance=1e-4, torque_constant=26e-3, rotor_inertia=3.3e-6,
                             gear_ratio=100.0, efficiency=0.8, voltage_limit=24.0, current_limit=10.0)], 1.5,
                ["motor.effort", "hinge.velocity"], 10, effort=100.0)
    return svg("Actuators, on a disc of 0.5 kg m^2", [
        Panel("a step of the commanded position", "time, s", "position, rad", stiff.time[1:],
              [(stiff.signals[TRUE][1:], "position servo"), (limited.signals[TRUE][1:], "limited to 10 N m"),
               (elastic.signals[TRUE][1:], "behind a spring")], True),
        Panel("all that a motor with a gear has", "time, s", "N m and rad/s", motor.time[1:],
              [(motor.signals["motor.effort"][1:], "effort"), (motor.signals["hinge.velocity"][1:], "velocity")], True)])


def sensors() -> str:
    """What an encoder and a force-torque sensor with a resonance read."""
    encoder = run([mbros.Encoder("enc", joint="hinge", counts=24, rate=200.0)], 1.0, [TRUE, "enc.position"], 5, swing)
    rung = run([mbros.EffortActuator("drive", joint="hinge"), mbros.ForceTorque("plain", joint="hinge"),
                mbros.ForceTorque("rings", joint="hinge", resonance=40.0, damping_ratio=0.08, torque_noise_density=5e-4),
                mbros.Fault("off", "free", joint="hinge", at=0.05, duration=0.08)],
               0.2, ["plain.torque", "rings.torque"], 1, effort=1.0)
    plain, rings = rung.signals["plain.torque"][1:, 2], rung.signals["rings.torque"][1:, 2]
    return svg("Sensors", [
        Panel("encoder, 24 counts, 200 Hz", "time, s", "position, rad", encoder.time[1:],
              [(encoder.signals["enc.position"][1:], "read"), (encoder.signals[TRUE][1:], "true")], True),
        Panel("force-torque, 40 Hz", "time, s", "torque, N m", rung.time[1:], [(rings, "read"), (plain, "true")], True)])


def through(seconds=1.0, **words):
    """(time, what came through a channel, what was sent) of a swinging joint."""
    log = run([mbros.Channel("c", signal=TRUE, **words)], seconds, TRUE, 5, swing)
    return log.time[16:], log.signals[TRUE][16:], swing(log.time)[0][16:]


def channels() -> str:
    """A sine through channels."""
    t, late, sent = through(delay=0.04, jitter=0.03, loss=0.2, burst=10)
    _, held, _ = through(hold_rate=25.0)
    _, noisy, _ = through(noise=0.06, walk=0.3)
    _, steps, _ = through(quantum=0.25, lower=-0.8, upper=0.8)
    return svg("Channels", [
        Panel("in time", "time, s", "rad", t, [(late, "delay, jitter, loss"), (sent, "sent"), (held, "held, 25 Hz")], True),
        Panel("in value", "time, s", "rad", t, [(steps, "quantum and bounds"), (sent, "sent"), (noisy, "noise and walk")], True)])


def failed(kind, **numbers):
    """What is read of a swinging joint while a fault acts from 0.3 s to 0.7 s."""
    log = run([mbros.Fault("f", kind, signal=TRUE, at=0.3, duration=0.4, **numbers)], 1.0, TRUE, 6, swing)
    return log.time[1:], log.signals[TRUE][1:]


def faults() -> str:
    """A sine under faults of its signal."""
    t, frozen = failed("frozen")
    return svg("Faults of a signal, from 0.3 s to 0.7 s", [
        Panel("of what sends", "time, s", "rad", t, [(frozen, "frozen"), (failed("offset", offset=0.5)[1], "offset"),
                                                     (failed("sign_flip")[1], "sign_flip")], True),
        Panel("and of the bus", "time, s", "rad", t, [(failed("drift", rate=2.0)[1], "drift"), (failed("noise", noise=0.1)[1], "noise"),
                                                      (failed("late", delay=0.08, jitter=0.0)[1], "late")], True)])


def pictures() -> dict[str, str]:
    """{name of the file: the picture}."""
    return {f"bench_{draw.__name__}.svg": draw() for draw in (actuators, sensors, channels, faults)}


if __name__ == "__main__":
    for name, text in pictures().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
