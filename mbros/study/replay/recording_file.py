"""A recording, opened: what it is of, where it starts, and its rows and events."""
from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.fingerprint import differing, fingerprint
from mbros_core.support.numbers import short

from mbros.arguments import file_path
from mbros.errors import MbrosError
from mbros.record.mcap_reading import McapReading
from mbros.record.recorded import ReplayError, about_of, event_of, no_part, read_json
from mbros.record.ros_layouts import signals, string_in
from mbros.simulate.saved import unpacked
from mbros.record.tape import ABOUT, BENCH, EVENTS, SCENE, SIGNALS, START, URDF

if TYPE_CHECKING:
    from mbros import Model

__all__ = ["RecordingFile", "ReplayError"]


class RecordingFile:
    """A recording, opened: what it is about, its start, and its rows and events in their order."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = file_path("recording", path)
        if self.path.is_dir():
            found = sorted(self.path.glob("*.mcap"))
            if len(found) != 1:
                raise ReplayError(f"{self.path}: expected a recording run.mcap, or a folder with one in it; it has {len(found)}")
            self.path = found[0]
        self._file = McapReading(self.path, ReplayError)
        try:
            self._understand()
        except BaseException:
            self.close()
            raise
        self.layout = signals(list(self.fields))

    def _understand(self) -> None:
        """The note and the start."""
        self.attached, note = self._file.attachments((START, URDF, SCENE, BENCH)), self._file.notes(ABOUT)
        try:
            self.about = about_of(note)
        except ValueError as e:
            raise ReplayError(f"{self.path} is no recording of mbros, or it is damaged: {e}; Simulator.record(), `mbros run --record` and "
                              "`mbros node --record` make them") from e
        self.fields: dict[str, str] = self.about["fields"]
        if START not in self.attached:
            raise no_part(self.path, f"{START}, where it starts, is not attached")
        self.start = unpacked(f"{self.path}, {START}", self.attached[START])
        loop = self.start.header.get("loop", {})
        if type(loop) is not dict or type(loop.get("step", 0)) is not int:
            raise no_part(self.path, f"{START} says {short(loop)} of its loop")

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """("row", (step, flags, numbers)) and ("event", words), as they happened."""
        for topic, _, message in self._file.messages((SIGNALS, EVENTS)):
            if topic == EVENTS:
                yield "event", self._event(message.data)
            elif len(message.data) != self.layout.dtype.itemsize:
                raise no_part(self.path, f"a row has {len(message.data)} bytes, expected {self.layout.dtype.itemsize}")
            else:
                row = np.frombuffer(message.data, self.layout.dtype)
                yield "row", (int(row["step"][0]), int(row["flags"][0]), row["x"][0])

    def changes(self) -> list[int]:
        """Stamps, ns, at which somebody changed the state, parameters, or what pushes the robot; of devices, commands are among them."""
        return [message.log_time for _, _, message in self._file.messages((EVENTS,))
                if (what := self._event(message.data)).get("kind") in ("parameters", "reset", "set_state", "disturbances", "start")
                or what.get("kind") == "change" and ("state" in what or "disturbances" in what)]

    def _event(self, data: bytes) -> dict[str, Any]:
        try:
            return event_of(string_in(data))
        except ValueError as e:
            raise no_part(self.path, f"an event in it is none: {e}") from e

    def model(self) -> Model:
        """The robot it is of, from what is attached; ReplayError where that does not give the same one. No file that the recording names
        is opened: who wrote it may be anybody."""
        if SCENE in self.attached:
            return self._scene()
        named = self.about.get("robot")
        if URDF not in self.attached and named:
            raise ReplayError(f"{self.path} only names its scene, {short(named)}, as older recordings do; mbros opens no file because a "
                              "recording names it. If it is yours: mbros replay --robot SCENE, or mbros.replay(path, model=...)")
        if URDF not in self.attached:
            raise ReplayError(f"{self.path}: its robot was made in Python, which no file holds; give the model: "
                              "mbros.replay(path, model=...)")
        from mbros.build.load import load

        text = self._urdf()
        for base in (None, "floating", "planar", "fixed"):
            for ground in (None, True):
                try:
                    model = load(text, base=base, gravity=self.about["gravity"], ground=ground)
                except ValueError:
                    continue
                if not differing(fingerprint(model.spec), self.start.header["fingerprint"]):
                    return model
        file = f" (it was {short(named)} then)" if named else ""
        raise ReplayError(f"{self.path}: the attached URDF alone does not give the robot as it was loaded; give the same model{file}: "
                          "mbros replay --robot ..., with its options, or mbros.replay(path, model=...)")

    def _scene(self) -> Model:
        """Of the scene file and the robots' URDF that are attached."""
        from mbros.record.recorded_files import SceneText      # few recordings have one

        try:
            held = read_json(self.attached[SCENE])
            robots = held.get("robots")
            if type(held.get("scene")) is not str or type(robots) is not dict or any(type(text) is not str for text in robots.values()):
                raise no_part(self.path, f"the attached {SCENE}: it holds no scene file and URDF of robots")
            model = SceneText(held["scene"], f"{self.path}, its scene", robots, self.start.header["model"]).scene.build()
        except MbrosError as e:
            raise ReplayError(f"{self.path}: the attached scene alone does not give what was recorded: {e}. Give it: mbros replay --robot "
                              "SCENE, or mbros.replay(path, model=...)") from e
        except ValueError as e:
            raise no_part(self.path, f"the attached {SCENE}: {e}") from e
        if differing(fingerprint(model.spec), self.start.header["fingerprint"]):
            raise ReplayError(f"{self.path}: the attached scene is not what was recorded: something was spawned or deleted before, or the "
                              "file had changed. Give a scene file of what was in it: mbros replay --robot SCENE; or the model, from "
                              "mbros.Scene.of(mbros.load(scene)), with what was spawned added: mbros.replay(path, model=...)")
        return model

    def bench(self, model: Model) -> Any:
        """The bench it was simulated with, for Simulator: the attached one, one of mbros, or the robot's own; ReplayError where it is none
        of these."""
        if BENCH in self.attached:
            from mbros.record.recorded_files import BenchText      # few recordings have one

            try:
                return BenchText(self.attached[BENCH].decode(), f"{self.path}, its bench").bench
            except UnicodeDecodeError as e:
                raise no_part(self.path, f"the attached {BENCH} is no text in UTF-8 ({e.reason} at byte {e.start})") from e
        from mbros.build.benches import named

        found = named(self.about.get("bench"), model)
        if found is None:
            raise ReplayError(f"{self.path} was simulated with a bench, which it does not hold; give it: mbros replay --bench ..., or "
                              "mbros.replay(path, bench=...)")
        return found

    def _urdf(self) -> str:
        """The attached URDF: text, which never is taken for the name of another file."""
        from mbros.describe.urdf import is_text      # start-up time: who does not use it does not pay

        try:
            text = self.attached[URDF].decode()
        except UnicodeDecodeError as e:
            raise no_part(self.path, f"the attached {URDF} is no text in UTF-8 ({e.reason} at byte {e.start})") from e
        if not is_text(text):
            raise no_part(self.path, f"the attached {URDF} is no XML: it begins with {short(text[:20])}")
        return text

    def close(self) -> None:
        self._file.close()
