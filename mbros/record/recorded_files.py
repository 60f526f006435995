"""The files of a scene and of a bench inside a recording: text, that is read as such files are, but names no other file of this machine.
A recording is data of anybody: what it only names is loaded when a user of this machine names it (docs/recording.md)."""
from __future__ import annotations

import json
from os import PathLike
from typing import TYPE_CHECKING, Any

from mbros_core.support.files import read_regular

from mbros.build.benches import built_in
from mbros.build.robots import BUILT_IN
from mbros.build.scenes.file import ENDS, SceneReader
from mbros.build.scenes.scene import Scene
from mbros.describe.devices.bench import Bench
from mbros.describe.devices.file import Reader
from mbros.describe.devices.written import bench_text
from mbros.describe.members import ROBOT
from mbros.describe.urdf import is_text
from mbros.errors import ModelError, Problem
from mbros.record.recorded import MOST

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.robot import RobotDescription



def scene_bytes(description: RobotDescription) -> bytes | None:
    """The scene of a description that came from a scene file, as JSON: {"scene": the file, "robots": {name: URDF}}; None where there is
    none, or it is too large."""
    robots = {member.name: member.text for member in description.members if member.kind == ROBOT}
    text = file_text(description.file) if description.members else None
    if text is None or any(urdf is None for urdf in robots.values()):
        return None
    data = json.dumps({"scene": text, "robots": robots}).encode()
    return data if len(data) <= MOST else None


def file_text(path: str | PathLike[str] | None) -> str | None:
    """The text of a file of scenes or benches; None where it is none, or cannot be read."""
    try:
        return read_regular(path, MOST).decode() if path is not None and str(path).lower().endswith(ENDS) else None
    except (OSError, ValueError):
        return None


def same_bench(model: Model, bench: Bench, dt: float, digest: str) -> str | None:
    """A bench as the text of a file; None where what is read from that is another one, or cannot be on this model: a device of a class of
    one's own is nothing that a file can name."""
    from mbros_core.support.fingerprint import digest as digest_of

    from mbros.bench.bench import layout

    try:
        text = bench_text(bench)
        return text if digest_of(layout(model, BenchText(text, "the bench of a recording").bench, dt).tables()) == digest else None
    except (ValueError, TypeError):
        return None


class BenchText(Reader):
    """A bench of a text; .bench. who: how it is called in problems."""

    def __init__(self, text: str, who: str) -> None:
        self._text = text
        super().__init__(Bench, who)

    def text(self) -> str:
        return self._text


class SceneText(SceneReader):
    """A scene of a text; .scene. robots: {name: URDF}; name: where the text gives none."""

    def __init__(self, text: str, who: str, robots: dict[str, str], name: str) -> None:
        self._text, self._robots, self._name = text, robots, ""
        super().__init__(Scene, who, {"name": name})

    def text(self) -> str:
        return self._text

    def robot(self, name: str, node: Any) -> None:
        self._name = name
        super().robot(name, node)

    def entry(self, element: str, node: Any, known: tuple[str, ...]) -> dict[str, Any] | None:
        words = super().entry(element, node, known)
        if words is not None:
            words.pop("xacro_args", None)           # what they made is in the URDF
            if words.get("shape") == "mesh":
                raise _names_a_file("a mesh", words.get("mesh"))
        return words

    def near(self, name: str, ends: tuple[str, ...]) -> str:
        """A name of what mbros brings, or what the recording holds; never a path."""
        if ends == ENDS:
            found = built_in(name)
            if found is None:
                raise _names_a_file("a bench", name)
            return str(found)
        if ends == (".srdf",):
            raise _names_a_file("an SRDF", name)
        if name in BUILT_IN:
            return name
        text = self._robots.get(self._name, name)
        if not is_text(text):
            raise _names_a_file("a robot", name)
        return text


def _names_a_file(what: str, name: object) -> ModelError:
    return ModelError(Problem("", f"it names {what}, {str(name)[:100]!r}, which the recording does not hold", "Give the scene file: mbros "
                              "replay --robot SCENE."))
