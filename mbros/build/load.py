"""mbros.load: a model from a name, a file or a text.

    mbros.load("panda"), mbros.load("arm7"), mbros.load("robot.urdf"), mbros.load("robot.urdf.xacro", xacro_args={...}),
    mbros.load("go2.xml"), mbros.load("robot.sdf"), mbros.load("<robot name='r'>...</robot>")

Names are looked up first among the robots shipped with mbros, then among those of the PyPI package example-robot-data.
`example-robot-data/<name>` asks for the latter where both have one (quadruped, double_pendulum).
"""
from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mbros.arguments import flag, folders, numbers
from mbros.build.one_robot import describe_robot, find, known_robots, set_bench
from mbros.build.readers import read
from mbros.describe.robot import GRAVITY, RobotDescription
from mbros.errors import MbrosError, MbrosWarning, ModelError, Problem, warn
from mbros.names import one_document

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.contacts import GroundLike
    from mbros.describe.devices.bench import BenchLike
    from mbros_core.typing import ArrayLike
    from os import PathLike

__all__ = ["check", "find", "known_robots", "load", "load_description"]


@one_document
def load(source: str | PathLike[str], base: str | None = None, mimic: bool = True, merge_welds: bool = True, gravity: ArrayLike = GRAVITY,
         package_dirs: Any = (), xacro_args: Mapping[str, object] | None = None,
         inertia: str = "check", limits: str = "check", ground: GroundLike = None, collisions: bool | None = None,
         srdf: str | PathLike[str] | None = None, bench: BenchLike = True) -> Model:
    """The model (mbros.Model) of `source`: a robot's name, a path to .urdf, .xacro, .sdf or MJCF (.xml), package://name/path, or the text
    of one; or a scene: a .yaml file (docs/scenes.md) or a <world> of SDF (docs/sdf.md), several robots and objects, which says base of
    each itself.

    base: how the root link stands in the world: "fixed", "floating", "planar"; None is the robot's own way: fixed for
        URDF files, floating for SDF models that are not static, and as listed by `mbros.build.robots` for the robots shipped with mbros.
    mimic: False makes mimic joints ordinary joints.
    merge_welds: False keeps welded bodies apart (slower, same motion).
    gravity: (3,) m/s^2 in world axes; by default the file's own (MJCF), and (0, 0, -9.81) where it has none.
    package_dirs: folders in which packages are looked for first, for package:// and for $(find ...) of xacro files.
    xacro_args: values of xacro:arg by name. Expanding xacro runs expressions from the file: only for files you trust.
    inertia: "check" refuses impossible inertias of moving parts, "as_given" simulates them, with a warning.
    limits: "check" refuses a revolute or prismatic joint without <limit>, or without effort or velocity in it; "as_given" takes it as
        without limits, as Drake does, with a warning.
    ground: what the robot stands on: True for the half-space z <= 0, a height in metres, a mbros.Ground, or (heights, size) of a height
        field. A floating base then starts where the robot touches it.
    collisions: whether the robot's <collision> elements become shapes of the engine (model.shapes). None: where there is a ground;
        without it the model is as if it had none.
    srdf: an SRDF file, of which <disable_collisions> says which links never touch.
    bench: the bench that the model carries, and that its simulators have: a mbros.Bench, the path of a bench file, or the name of one
        shipped with mbros (`mbros list`); False or None: none. By default the one in the robot's file, if it has one
        (docs/bench_ways.md).
    Raises UrdfError (all problems, with file and line), UnknownNameError, MissingPackageError: all are ValueErrors.
    """
    from mbros.build.compile.tree import compile_robot      # start-up time: who does not use it does not pay
    from mbros.model.model import Model      # start-up time: who does not use it does not pay

    mimic, merge_welds = flag("load", "mimic", mimic), flag("load", "merge_welds", merge_welds)
    description = load_description(source, base, gravity, package_dirs, xacro_args, inertia, limits, ground, collisions, srdf,
                                   bench)
    return Model(description, compile_robot(description, mimic=mimic, merge_welds=merge_welds))


@one_document
def load_description(source: str | PathLike[str], base: str | None = None, gravity: ArrayLike = GRAVITY, package_dirs: Any = (),
                     xacro_args: Mapping[str, object] | None = None, inertia: str = "check", limits: str = "check",
                     ground: GroundLike = None, collisions: bool | None = None,
                     srdf: str | PathLike[str] | None = None, bench: BenchLike = True) -> RobotDescription:
    """What `load` compiles: the checked description, base attached."""
    from mbros.build.scenes.file import is_scene      # start-up time: who does not use it does not pay

    if is_scene(source):
        description = _load_scene(source, inertia, limits, package_dirs, base=base, xacro_args=xacro_args or None, srdf=srdf)
        if bench is not True:
            set_bench(description, bench)
    else:
        description = describe_robot(source, base, package_dirs, xacro_args, inertia, limits, srdf, bench, None if gravity is GRAVITY else
                                     numbers("load", "gravity", gravity, 3))
    if gravity is not GRAVITY:              # else the file's own
        description.gravity = numbers(f"model {description.name!r}", "gravity", gravity, 3)
    if ground is not None or collisions is not None:
        from mbros.describe.contacts import set_collisions      # start-up time: who does not use it does not pay

        set_collisions(description, "load", ground, collisions)
        if ground is not None and ground is not False and not description.base_said:
            from mbros.describe.urdf.base import held      # start-up time: as above

            said = held(description, "it stands on no ground where nobody gives it a base")
            description.notes = [note for note in description.notes if "held by the world" not in note.reason] + [said]
            warn(str(said), MbrosWarning)
    return description


def _load_scene(path: Any, inertia: str, limits: str, package_dirs: Any, **of_robots: Any) -> RobotDescription:
    """Of a scene file, which says of each robot what load is given for one."""
    from mbros.build.scenes.scene import Scene      # start-up time: who does not use it does not pay

    for word, value in of_robots.items():
        if value is not None:
            raise MbrosError(f"load: {word} is given with the scene {os.fspath(path)!r:.200}, which says it of each robot: write it there")
    return Scene.load(path, inertia=inertia, limits=limits, package_dirs=package_dirs).describe()


@contextmanager
def notes_are_shown() -> Iterator[None]:
    """While a robot is loaded whose notes are shown: what stands there too is no warning beside them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*held by the world", MbrosWarning)
        yield


@one_document
def check(source: str | PathLike[str], base: str | None = None, inertia: str = "check", xacro_args: Mapping[str, object] | None = None,
          limits: str = "check", package_dirs: Any = ()) -> tuple[list[Problem], list[Problem]]:
    """(problems, notes): why the robot is refused, and what was read otherwise than written or not at all.
    Never raises for a bad robot."""
    from mbros.build.compile.tree import compile_robot      # start-up time: who does not use it does not pay
    try:
        description = read(source, base, inertia, xacro_args, limits, folders("check", "package_dirs", package_dirs))
    except ModelError as error:
        return error.problems, list(getattr(error, "notes", ()))
    try:
        compile_robot(description)
    except ModelError as error:
        return error.problems, description.notes
    return [], description.notes
