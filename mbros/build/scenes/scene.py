"""Scene: robots and objects placed in one world, and the one model that is built from them.

    scene = mbros.Scene("cell", ground=True)
    scene.add_robot("arm7", "left", p=(0, 0.4, 0), initial_positions={"joint2": 0.5})
    scene.add_robot("arm7", "right", p=(0, -0.4, 0))
    scene.add_object("parcel", mbros.shapes.box((0.1, 0.1, 0.1)), mass=0.5, p=(0.5, 0, 0.05))
    model = scene.build()
    model.tree.robots["left"].joint("joint2")               # joint "left/joint2" of the model
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import flag, folders, numbers, refuse
from mbros.build.builder import ModelBuilder
from mbros.build.edit import description_of, graft, is_robot
from mbros.build.one_robot import describe_robot
from mbros.build.readers import kind_of
from mbros.build.scenes.meshes import within_reach
from mbros.build.scenes.objects import add_object
from mbros.build.scenes.placing import given_pose, place_base
from mbros.build.scenes.removing import take_out
from mbros.describe.members import OBJECT, ROBOT, Member
from mbros.describe.robot import GRAVITY, Collision
from mbros.errors import MbrosError, OwnAttributes, PositionLimitWarning, unknown, warn
from mbros.names import plural

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.contacts import GroundLike
    from mbros.describe.devices.bench import BenchLike
    from mbros.describe.joints.joint import JointDescription
    from mbros.describe.robot import Geometry, RobotDescription
    from mbros_core.typing import ArrayLike

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
MOST = 100              # characters of a name: it stands in every topic and frame


class Scene(OwnAttributes):
    """Robots and objects in one world.

    name: of the model. gravity: (3,) m/s^2. ground: as of mbros.load. collisions: False leaves every collision shape out, which then needs
    no meshes and takes no time: nothing touches anything. inertia, limits, package_dirs: of robots, as of mbros.load.

    `build()` gives one model: a Simulator of it is one plant that takes one step for all. Elements of a robot are called
    "<robot>/<element>"; `model.tree.robots` has each with the names of its own. Scene.load reads a scene file, which mbros.load and every
    command take in place of a robot.
    """

    def __init__(self, name: str = "scene", gravity: ArrayLike | None = None, *, ground: GroundLike = None, collisions: bool = True,
                 inertia: str = "check", limits: str = "check", package_dirs: Any = ()) -> None:
        flag(f"scene {short(name)}", "collisions", collisions)
        self._builder = ModelBuilder(name, GRAVITY if gravity is None else gravity, ground=ground, collisions=collisions)
        self._leniency: dict[str, Any] = {"inertia": inertia, "limits": limits,
                                          "package_dirs": folders("scene", "package_dirs", package_dirs)}
        self._known: dict[Any, RobotDescription] = {}

    @classmethod
    def load(cls, path: str | PathLike[str], **options: Any) -> Scene:
        """Of a scene file (YAML, docs/scenes.md) or a world of SDF (docs/sdf.md). Raises ModelError with every problem of it, by line.
        options: inertia, limits and package_dirs of mbros.load."""
        if isinstance(path, (str, PathLike)) and kind_of(path) == "sdf":
            return cls._of_world(path, options)
        from mbros.build.scenes.file import read      # start-up time: who does not use it does not pay

        return read(cls, path, options)

    @classmethod
    def _of_world(cls, path: str | PathLike[str], options: dict[str, Any]) -> Scene:
        description = describe_robot(path, **options)
        if not description.members:
            raise MbrosError(f"Scene.load: {fspath(path)!r:.200} is one model, and no world: Scene().add_robot(path, name)")
        scene = cls(description.name, **options)
        scene._builder = ModelBuilder(description)
        return scene

    @classmethod
    def of(cls, model: Model, **options: Any) -> Scene:
        """The scene that a model was built from, to add to and to remove from. MbrosError for a model that is of none. options: inertia,
        limits and package_dirs of robots that are added."""
        if not model._description.members:
            raise MbrosError(f"Scene.of: model {model.name!r} was built from no scene; put it into one: Scene().add_robot(model, name)")
        scene = cls(model.name, **options)
        scene._builder = ModelBuilder(model)
        return scene

    @property
    def name(self) -> str:
        """Of the scene, and of the model that it builds."""
        return self._builder.description.name

    @property
    def members(self) -> tuple[Member, ...]:
        """Robots and objects, in the order in which they were added."""
        return self._builder.description.members

    def add_robot(self, robot: Any, name: str, p: ArrayLike | None = None, rpy: ArrayLike | None = None, *, base: str | None = None,
                  bench: BenchLike = True, initial_positions: Mapping[str, ArrayLike] = {}, xacro_args: Mapping[str, object] | None = None,
                  srdf: str | PathLike[str] | None = None, **quat: Any) -> Member:
        """A robot under a name of its own: letters, digits and _, as ROS has them.

        robot: what mbros.load takes (a name, a path, package://, URDF text), or a Model, ModelBuilder or RobotDescription.
        p (3,) m, and rpy, quat_wxyz or quat_xyzw: where its base stands in the world. A floating base stands there at the start; with
        p of two numbers, it stands on the ground there. base, bench, xacro_args, srdf: as of mbros.load. initial_positions: {joint,
        without prefix: position (nq,)}. Returns its row of `members`.
        """
        element = f"robot {short(name)}"
        self._check_name(ROBOT, element, name)
        theirs = self._description(element, robot, base, bench, xacro_args, srdf)
        if not theirs.bodies:
            refuse(element, "it has no links beside the world", "Leave it out: nothing of it would be in the scene.")
        if not isinstance(initial_positions, Mapping):
            refuse(element, f"initial_positions is {short(initial_positions)}", "Give {joint: position}.")
        for joint, value in initial_positions.items():
            _put(element, theirs, joint, value)
        X, on_ground = place_base(element, theirs, p, rpy, quat)
        before = len(self._builder.description.notes)
        graft(self._builder, theirs, name, None, X)
        self._say_no_more_of_grounds(before)
        return self._add(Member(name, ROBOT, theirs.text, theirs.file, tuple(theirs.package_dirs), on_ground))

    def add_object(self, name: str, shape: Geometry, mass: float | None = None, p: ArrayLike | None = None, rpy: ArrayLike | None = None, *,
                   fixed: bool = False, inertia: ArrayLike | None = None, friction: float | None = None, stiffness: float | None = None,
                   relaxation_time: float | None = None, static_friction: float | None = None, torsional_radius: float | None = None,
                   rolling_radius: float | None = None, rgba: ArrayLike | None = None, **quat: Any) -> Member:
        """A body of one shape (mbros.shapes), with the centre of mass at the shape's origin.

        mass, kg: of what moves, with the inertia of a solid of that shape; a mesh is given its inertia (3,) or (3, 3), kg m^2. fixed: it
        stands in the world and never moves. p and a rotation: where it is at the start; with p of two numbers, on the ground there.
        friction ... rolling_radius: as of ModelBuilder.add_collision. rgba (4,): its colour. Returns its row of `members`.
        """
        element = f"object {short(name)}"
        self._check_name(OBJECT, element, name)
        touch = {"friction": friction, "stiffness": stiffness, "relaxation_time": relaxation_time, "static_friction": static_friction,
                 "torsional_radius": torsional_radius, "rolling_radius": rolling_radius}
        X, height = given_pose(element, p, rpy, quat)
        if fixed and not height:
            refuse(element, "p has two numbers, which leaves its height to the ground, and it is fixed", "Give p three numbers.")
        add_object(self._builder, element, name, shape, mass, X, flag(element, "fixed", fixed), inertia, touch, rgba)
        return self._add(Member(name, OBJECT, on_ground=not height))

    def remove(self, name: str) -> None:
        """Take a robot or an object out, with all that is its own and what was said of its contacts. UnknownNameError for a name that is
        none; MbrosError where something of another robot stands on it."""
        known = [member.name for member in self.members]
        if name not in known:
            raise unknown("robot or object", name, f"scene {self.name!r}", known)
        take_out(self._builder.description, name)

    def exclude_contact(self, a: str, b: str) -> None:
        """These two never touch: robots, objects, or bodies and shapes by their full names, such as "left/hand"."""
        for one in self._parts(a):
            for other in self._parts(b):
                if one != other:
                    self._builder.exclude_contact(one, other)

    def describe(self) -> RobotDescription:
        """What `build` compiles: the checked description of the whole world."""
        return self._builder.describe(self._leniency["inertia"])

    def build(self, merge_welds: bool = True) -> Model:
        """Checks everything and compiles: one mbros.Model. Raises ModelError with every problem found. Cost: linear in the robots."""
        return self._builder.build(merge_welds, self._leniency["inertia"])

    def __repr__(self) -> str:
        kinds = [member.kind for member in self.members]
        return f"<Scene {self.name!r}: {plural(kinds.count(ROBOT), 'robot')}, {plural(kinds.count(OBJECT), 'object')}>"

    # --- what it is made of

    def _check_name(self, kind: str, element: str, name: object) -> None:
        if not is_name(name):
            refuse(element, f"its name is {short(name)}", f"Give letters, digits and _, beginning with a letter, at most {MOST}: it names "
                   "topics and frames too.")
        taken = {member.name for member in self.members} | {"world", *(shape.name for shape in self._builder.description.world.collisions)}
        if name in taken:
            refuse(element, "this name is already taken", f"Give every robot and object a name of its own; taken are "
                   f"{', '.join(sorted(taken))}.")

    def _description(self, element: str, robot: Any, base: str | None, bench: Any, xacro_args: Any, srdf: Any) -> RobotDescription:
        """A copy of what the robot is described by. What was read once is not read again."""
        if is_robot(robot):
            if not (base is None and xacro_args is None and srdf is None and bench is True):
                refuse(element, "base, bench, xacro_args or srdf was given with a robot that is described already",
                       "Give them where it is described: mbros.load(..., base=...).")
            return description_of(robot)
        if not isinstance(robot, (str, PathLike)):
            raise MbrosError(f"{element}: expected what mbros.load takes, or a Model, ModelBuilder or RobotDescription, got {short(robot)}")
        from mbros.build.scenes.file import is_scene      # start-up time: who does not use it does not pay

        if is_scene(robot):
            refuse(element, f"{short(str(robot))} is a scene or bench file, and no robot", "Write the robots and objects of that file into "
                   "this one; a bench is given as bench: to its robot.")
        arguments = repr(sorted((xacro_args or {}).items()))
        key = (_key(robot), base, _key(srdf), arguments, _key(bench))
        if key not in self._known:
            found = describe_robot(robot, base=base, xacro_args=xacro_args, srdf=srdf, bench=bench,
                                   gravity=self._builder.description.gravity, **self._leniency)
            if found.members:
                refuse(element, f"{short(str(robot))} is a world of SDF, and no robot", "mbros.Scene.load reads it; or give one of its "
                       "models a file of its own.")
            if self._builder.description.collisions:
                within_reach(found)
            self._known[key] = found
        return description_of(self._known[key])

    def _add(self, member: Member) -> Member:
        mine = self._builder.description
        mine.members = (*mine.members, member)
        mine.package_dirs = tuple(dict.fromkeys((*mine.package_dirs, *member.package_dirs)))
        return member

    def _say_no_more_of_grounds(self, before: int) -> None:
        """That a robot's own ground stays behind is what a scene is for."""
        notes = self._builder.description.notes
        notes[before:] = [note for note in notes[before:] if "does not bring its ground" not in note.reason]

    def _parts(self, name: Any) -> list[str]:
        mine = self._builder.description
        if isinstance(name, str) and name in {member.name for member in self.members}:
            return [part.name for part in (mine.world, *mine.bodies) if part.robot == name] + [
                shape.name for shape in mine.world.collisions if isinstance(shape, Collision) and shape.robot == name]
        shapes: Iterable[Any] = (shape for body in (mine.world, *mine.bodies) for shape in body.collisions)
        known = [member.name for member in self.members] + [part.name for part in (mine.world, *mine.bodies, *shapes) if part.name]
        if name not in known:
            raise unknown("robot, object, body or shape", name, f"scene {self.name!r}", known)
        return [name]


def is_name(name: object) -> bool:
    """Whether a robot or an object can be called so."""
    return isinstance(name, str) and NAME.fullmatch(name) is not None and len(name) <= MOST


def _key(given: Any) -> Any:
    """What tells one robot or bench from another: of a Path not what it is of the same text, which may be a name. A Bench is kept by the
    description that is known by it."""
    if isinstance(given, (str, PathLike)):
        return isinstance(given, str), fspath(given)
    return given if given is None or isinstance(given, bool) else id(given)


def _put(element: str, theirs: RobotDescription, name: Any, value: Any) -> None:
    """Where a joint starts."""
    joints: dict[str, JointDescription] = {joint.name: joint for joint in theirs.joints}
    if name not in joints:
        raise unknown("joint", name, element, [joint.name for joint in joints.values() if joint.nv])
    joint = joints[name]
    if joint.mimic is not None or not joint.nv:
        refuse(element, f"initial_positions: joint {name!r} " + (f"follows {joint.mimic.leader!r}" if joint.mimic is not None else
               "is fixed"), "Name joints that move by themselves.")
    if joint.nq == 2 and np.size(value) == 1 and joint.nv == 1:         # continuous, as (cos, sin)
        angle = float(numbers(element, f"initial_positions, {name}", value, 1)[0])
        value = (np.cos(angle), np.sin(angle))
    joint.default = numbers(element, f"initial_positions, {name}", value, joint.nq)
    for x, low, high in zip(joint.default, np.atleast_1d(joint.lower), np.atleast_1d(joint.upper)):
        if not low <= x <= high:
            warn(f"{element}: initial_positions: joint {name!r} starts at {x:g}, beyond its limits {low:g} to {high:g}; its stop will "
                 "throw it back", PositionLimitWarning)


__all__ = ["Scene"]
