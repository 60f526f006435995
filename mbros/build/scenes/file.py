"""Scene files: YAML with robots, objects, ground, gravity and exclusions. Every problem is reported with line, element and remedy.

    name: cell
    ground: {friction: 0.8}
    robots:
      left: {robot: arm7, p: [0, 0.4, 0], bench: arm7_servo, initial_positions: {joint2: 0.5}}
    objects:
      parcel: {shape: box, size: [0.1, 0.1, 0.1], mass: 0.5, p: [0.5, 0, 0.05]}
    exclusions:
      - [left, parcel]
"""
from __future__ import annotations

import os
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbros_core.support.files import open_regular
from mbros_core.support.numbers import short

from mbros.build.one_robot import named_by_data
from mbros.build.readers import ALL_ENDINGS
from mbros.describe import shapes
from mbros.describe.contacts import NUMBERS, Ground
from mbros.describe.devices.file import Reader, named
from mbros.describe.urdf.packages import beside
from mbros.errors import MbrosError, ModelError, Problem
from mbros.names import hint, one_document

if TYPE_CHECKING:
    from mbros.build.scenes.scene import Scene

PARTS = ("name", "gravity", "ground", "collisions", "robots", "objects", "exclusions")
PLACE = ("p", "rpy", "quat_wxyz", "quat_xyzw")
ROBOT = ("robot", *PLACE, "base", "bench", "srdf", "initial_positions", "xacro_args")
SIZES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"),
         "mesh": ("mesh", "scale")}
OBJECT = ("shape", "size", "radius", "length", "mesh", "scale", "mass", "inertia", "fixed", *PLACE, *NUMBERS, "rgba")
GROUND = ("height", *NUMBERS)
MAPPINGS = ("initial_positions", "xacro_args")
ENDS = (".yaml", ".yml")


def is_scene(source: object) -> bool:
    """Whether this names a scene file, among what names a robot."""
    return isinstance(source, (str, PathLike)) and fspath(source).lower().endswith(ENDS) and "<" not in fspath(source)


def looks_like_scene(path: str | PathLike[str]) -> bool:
    """Whether a YAML file has robots or objects, among the files that may be a bench's; nothing is said of one that cannot be read."""
    try:
        with open_regular(path) as f:
            return any(line.startswith((b"robots:", b"objects:")) for line in f.read(1_000_000).splitlines())
    except (OSError, ValueError):
        return False


@one_document
def read(cls: type[Scene], path: str | PathLike[str], options: dict[str, Any]) -> Scene:
    return SceneReader(cls, named(SceneReader.what, path), options).scene


class SceneReader(Reader):
    """One reading of one file."""

    what = "scene file"

    def __init__(self, cls: type[Scene], path: str, options: dict[str, Any]) -> None:
        parts = self.begin(path, PARTS)
        self.folder = Path(path).parent
        given: dict[str, Any] = {"name": Path(path).stem, **options}
        for name in ("name", "gravity", "collisions", "ground"):
            if name in parts:
                node = parts[name][1]
                self.attempt(name, node, partial(self.beginning, cls, given, name, node), partial(given.__setitem__, name))
        if not any(name in parts for name in ("robots", "objects")) and not self.problems:
            self.problems.append(Problem(self.what, "it has neither robots nor objects", "Write robots: {name: {robot: ...}}.", path, 1))
        self.end()                  # where the beginning is wrong there is nothing to put robots into
        self.scene = cls(**given)
        self.scene._builder.description.file = path
        for name, (_, node) in self.mapping("robots", parts["robots"][1]).items() if "robots" in parts else ():
            self.attempt(f"robot {name!r}", node, partial(self.robot, name, node), self.done)
        for name, (_, node) in self.mapping("objects", parts["objects"][1]).items() if "objects" in parts else ():
            self.attempt(f"object {name!r}", node, partial(self.object, name, node), self.done)
        for node in self.listed("exclusions", parts["exclusions"][1]) if "exclusions" in parts and not self.problems else ():
            self.attempt("exclusions", node, partial(self.exclusion, node), self.done)
        if not self.scene.members and not self.problems:
            self.problems.append(Problem(self.what, "its robots and objects are empty", "Write robots: {name: {robot: ...}}.", path, 1))
        self.end()

    @staticmethod
    def done(_: Any) -> None:
        """What was made is in the scene already."""

    def attempt(self, element: str, node: Any, make: Any, keep: Any) -> None:
        """As of every file; problems in a file that this one names keep the place that they have there."""
        try:
            keep(make())
        except ModelError as error:
            for problem in error.problems:
                inner = problem.file is not None and problem.file != self.file
                who = "" if inner or problem.element in ("", element, element.partition(",")[0]) else f"{problem.element}: "
                self.note(element, str(problem) if inner else f"{who}{problem.reason}", "" if inner else problem.remedy, node)
        except MbrosError as error:
            self.note(element, str(error).removeprefix(f"{element}: "), "", node)

    # --- parts

    def beginning(self, cls: type[Scene], given: dict[str, Any], name: str, node: Any) -> Any:
        """What a scene begins with, once a scene could begin with it."""
        value = self.ground(node) if name == "ground" else self.plain(name, node)
        cls(**{**given, name: value})
        return value

    def ground(self, node: Any) -> Any:
        """true, a height, or {height: ..., friction: ...}."""
        if isinstance(node, self.yaml.ScalarNode):
            return self.plain("ground", node)
        return Ground(**(self.entry("ground", node, GROUND) or {}))

    def entry(self, element: str, node: Any, known: tuple[str, ...]) -> dict[str, Any] | None:
        """The words of an entry, with those that are mappings themselves; None where one was noted that there is not."""
        out: dict[str, Any] = {}
        if not isinstance(node, self.yaml.MappingNode):
            raise ModelError(Problem(element, "it is no mapping", f"Write {{name: value, ...}} with {', '.join(known)}."))
        before = len(self.problems)
        for word, (key, value) in self.mapping(element, node).items():
            if word not in known:
                self.note(element, f"it has no {word!r}{hint(word, known)}", f"It has: {', '.join(known)}.", key)
            elif word in MAPPINGS:
                given = self.mapping(f"{element}, {word}", value)
                out[word] = {name: self.plain(f"{word}, {name}", one) for name, (_, one) in given.items()}
            else:
                out[word] = self.plain(word, value)
        return out if len(self.problems) == before else None

    def robot(self, name: str, node: Any) -> None:
        words = self.entry(f"robot {name!r}", node, ROBOT)
        if words is None:
            return
        if not isinstance(words.get("robot"), str) or not words["robot"]:
            raise ModelError(Problem("", f"robot is {short(words.get('robot'))}", "Write robot: a name of `mbros list`, a path from this "
                                     "file's folder on, or package://...; or URDF text."))
        words["robot"] = named_by_data("it", self.near(words["robot"], ALL_ENDINGS))
        if isinstance(words.get("bench"), str):
            words["bench"] = False if words["bench"] == "none" else self.near(words["bench"], ENDS)
        if isinstance(words.get("srdf"), str):
            words["srdf"] = self.near(words["srdf"], (".srdf",))
        self.scene.add_robot(words.pop("robot"), name, **words)

    def object(self, name: str, node: Any) -> None:
        words = self.entry(f"object {name!r}", node, OBJECT)
        if words is None:
            return
        kind = words.pop("shape", None)
        if kind not in SIZES:
            raise ModelError(Problem("", f"shape is {short(kind)}{hint(kind, SIZES)}", f"Give one of {', '.join(SIZES)}."))
        sizes = {word: words.pop(word) for of in SIZES.values() for word in of if word in words}
        missing = [word for word in SIZES[kind] if word not in sizes and word != "scale"]
        surplus = [word for word in sizes if word not in SIZES[kind]]
        if missing or surplus:
            raise ModelError(Problem("", f"a {kind} has no {surplus[0]}" if surplus else f"it has no {missing[0]}",
                                     f"A {kind} has: {', '.join(SIZES[kind])}, in metres."))
        if kind == "mesh":
            if not isinstance(sizes["mesh"], str):
                raise ModelError(Problem("", f"mesh is {short(sizes['mesh'])}", "Give the path of an .stl or .obj file."))
            sizes["filename"] = sizes.pop("mesh")
        self.scene.add_object(name, getattr(shapes, kind)(**sizes), **words)

    def exclusion(self, node: Any) -> None:
        pair = self.plain("exclusions", node)
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(end, str) for end in pair):
            raise ModelError(Problem("", f"it is {short(pair)}", "Write two names: - [left, parcel]."))
        self.scene.exclude_contact(*pair)

    def near(self, name: str, ends: tuple[str, ...]) -> str:
        """A path as it is written here: from this file's folder on, where it is a path."""
        if "://" in name or "<" in name or not (name.endswith(ends) or os.sep in name and not name.startswith("example-robot-data/")):
            return name
        return beside(name, self.file, self.scene._leniency["package_dirs"])
