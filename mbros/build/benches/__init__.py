"""The benches shipped with mbros, a file for each: `mbros.load("arm7", bench="arm7_servo")`. Each file says where its numbers are from."""
from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from mbros_core.support.numbers import short

from mbros.describe.devices.bench import Bench
from mbros.errors import UnknownNameError, WrongTypeError
from mbros.names import hint, sentences


class BuiltInBench(NamedTuple):
    """robot: whose bench it is."""

    robot: str
    doc: str


BUILT_IN = {
    "arm7_servo": BuiltInBench("arm7", "position servos, encoders, an inertial sensor at the flange, a bus"),
    "panda_impedance": BuiltInBench("panda", "joint impedance with the gains of its maker's example, torque sensors, encoders"),
    "quadruped_servo": BuiltInBench("quadruped", "soft position servos, encoders, an inertial sensor in the trunk"),
    "diff_drive_motors": BuiltInBench("diff_drive", "velocity servos on the wheels, encoders, an inertial sensor"),
}
ENDS = (".yaml", ".yml")


def bench_of(who: str, given: Any, own: Bench | None, model: Any = None) -> Bench | None:
    """The bench that is meant. True: the own one; None, False: none; else a Bench, a path, a name, or "servo" for servos in this model."""
    if given is True:
        return own
    if given is None or given is False:
        return None
    if isinstance(given, str) and given == "servo" and model is not None:
        return servos(model)
    if isinstance(given, Bench):
        return given
    if not isinstance(given, (str, PathLike)):
        raise WrongTypeError(f"{who}: bench: expected a mbros.Bench, the path of a bench file, the name of a bench (`mbros list`), or "
                             f"False for none, got {short(given)}")
    return Bench.load(find(who, given))


def find(who: str, given: str | PathLike[str]) -> str | PathLike[str]:
    """The file of a path or a name. What is there is a path."""
    if not isinstance(given, str) or os.path.exists(given):
        return given
    if (brought := built_in(given)) is not None:
        return brought
    if given.endswith(ENDS) or os.sep in given:
        return given
    raise UnknownNameError(sentences(f"{who}: there is no bench {short(given)}, and no such file{hint(given, BUILT_IN)}"))


def servos(model: Any) -> Any:
    """A position servo in every joint that can have one, with gains from what it moves (mbros.describe.devices.gains). Without a static
    error they are soft enough for motions under them to say something of the robot, which fits need; the integral holds its weight."""
    from mbros.describe.devices.classes import PositionServo      # start-up time: who does not use it does not pay
    from mbros.describe.devices.drives import BANDWIDTH      # start-up time, as well

    bench = Bench()
    for joint in model.joints:
        if joint.nv == 1 and joint.nq == 1 and not joint.follows:
            bench.add(PositionServo(f"{joint.name}.servo", joint=joint.name, bandwidth=BANDWIDTH))
    return bench


def built_in(name: str) -> Path | None:
    """The file of a bench that mbros brings, whatever else is called so here; None where it brings none."""
    stem = name.removesuffix(".yaml")
    return Path(__file__).with_name(stem + ".yaml") if stem in BUILT_IN else None


def named(name: str | None, model: Any) -> Any:
    """What the parameter `bench` of a node named, for bench_of, where that is no file: "servo", a name of mbros, or the robot's own (True);
    None where it is nothing of these."""
    if name == "servo":
        return servos(model)
    if name:
        return built_in(name)
    return True if model._description.bench is not None else None
