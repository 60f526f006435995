"""MJCF text to a RobotDescription: all problems of the text are collected before any is raised."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbros.describe.devices.bench import Bench
from mbros.describe.forces.body import BodyGravity
from mbros.describe.mjcf.actuators import read_actuators
from mbros.describe.mjcf.assets import read_assets
from mbros.describe.mjcf.bodies import read_bodies
from mbros.describe.mjcf.document import read_document
from mbros.describe.mjcf.equalities import read_equalities
from mbros.describe.mjcf.inertials import scale_to_total
from mbros.describe.mjcf.keyframes import read_keyframes
from mbros.describe.mjcf.reading import MjcfReading
from mbros.describe.mjcf.reference import set_springdampers
from mbros.describe.mjcf.schema import note_unused
from mbros.describe.mjcf.sensors import read_sensors
from mbros.describe.mjcf.tendons import read_tendons
from mbros.describe.mjcf.touch import read_contact, set_compliance
from mbros.describe.robot import RobotDescription
from mbros.describe.urdf.context import Context
from mbros.errors import ModelError
from mbros.names import no_name, printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


def read(data: bytes, file: str, declared_encoding_counts: bool = True, default_name: str = "model",
         package_dirs: Sequence[str | PathLike[str]] = ()) -> RobotDescription:
    """Bodies, joints, shapes, constraints, the bench and notes. Raises ModelError."""
    root = read_document(data, file, package_dirs, declared_encoding_counts)
    context = Context(file)
    name = root.attributes.get("model", "").strip()
    description = RobotDescription(name if name and no_name(name) is None else printable(default_name), file=file)
    reading = MjcfReading(root, context, description, package_dirs)
    description.gravity = np.array(reading.settings.gravity)
    if not root.all("worldbody"):
        context.problem(root.line, "<mujoco>", "it has no <worldbody>", "A model has bodies in a <worldbody>.")
    read_assets(reading)
    read_bodies(reading)
    _raise(reading)                     # what follows names what stands there
    scale_to_total(reading)
    set_springdampers(reading)
    read_contact(reading)
    set_compliance(reading)
    read_tendons(reading)
    read_equalities(reading)
    _gravity_compensation(reading)
    bench = Bench()
    read_actuators(reading, bench)
    read_sensors(reading, bench)
    if bench.actuators or bench.sensors:
        description.bench = bench
    read_keyframes(reading)
    note_unused(root, context)
    _raise(reading)
    description.notes = context.notes.problems(file)
    return description


def _raise(reading: MjcfReading) -> None:
    context = reading.context
    if context.problems:
        context.problems.sort(key=lambda problem: problem.line or 0)
        error = ModelError(context.problems)
        error.notes = context.notes.problems(context.file)
        raise error


def _gravity_compensation(reading: MjcfReading) -> None:
    """gravcomp: a field against gravity on a body's own mass."""
    gravity = reading.description.gravity
    for body, share, element in reading.gravcomp:
        if body.mass > 0.0 and gravity.any():
            made = BodyGravity(body, -share * gravity, name=f"{body.name}.gravcomp")
            made.source = reading.context.source(element)
            made.add_to(reading.description, reading.taken)
