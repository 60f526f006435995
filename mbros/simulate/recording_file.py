"""A recording, opened: what it is of, where it starts, and its rows and events."""
from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.files import open_regular
from mbros_core.fingerprint import differing, fingerprint
from mbros_core.numbers import short

from mbros.arguments import file_path
from mbros.errors import MbrosError, SaveError
from mbros.simulate.mcap_file import package
from mbros.simulate.ros_layouts import signals, string_in
from mbros.simulate.saved import unpacked
from mbros.simulate.tape import ABOUT, EVENTS, SIGNALS, START, URDF

if TYPE_CHECKING:
    from mbros import Model


class ReplayError(MbrosError):
    """A recording that cannot be run again; the text says why."""


class RecordingFile:
    """A recording, opened: what it is about, its start, and its rows and events in their order."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = file_path("recording", path)
        if self.path.is_dir():
            found = sorted(self.path.glob("*.mcap"))
            if len(found) != 1:
                raise ReplayError(f"{self.path}: expected a recording run.mcap, or a folder with one in it; it has {len(found)}")
            self.path = found[0]
        mcap = package()
        try:
            self._file = open_regular(self.path)
        except OSError as e:
            raise ReplayError(f"{self.path} cannot be read: {e.strerror or e}") from e
        try:
            self._reader = mcap.reader.make_reader(self._file)
            notes = {note.name: note.metadata for note in self._reader.iter_metadata()}
            self.attached = {piece.name: piece.data for piece in self._reader.iter_attachments()}
            self.about: dict[str, Any] = json.loads(notes[ABOUT]["about"])
            self.fields: dict[str, str] = self.about["fields"]
            self.start = unpacked(f"{self.path}, {START}", self.attached[START])
        except SaveError:
            self.close()
            raise
        except Exception as e:
            self.close()
            raise ReplayError(f"{self.path} is no recording of mbros, or it was cut off ({type(e).__name__}: {short(str(e))}); "
                              "Simulator.record(), `mbros run --record` and `mbros node --record` make them") from e
        self.layout = signals(list(self.fields))

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """("row", (step, flags, numbers)) and ("event", words), as they happened."""
        for _, channel, message in self._reader.iter_messages(topics=[SIGNALS, EVENTS], log_time_order=False):
            if channel.topic == EVENTS:
                yield "event", self._event(message.data)
            else:
                row = np.frombuffer(message.data, self.layout.dtype)
                if len(row) != 1:
                    raise ReplayError(f"{self.path}: a row of {len(message.data)} bytes; expected {self.layout.dtype.itemsize}")
                yield "row", (int(row["step"][0]), int(row["flags"][0]), row["x"][0])

    def _event(self, data: bytes) -> dict[str, Any]:
        try:
            what: dict[str, Any] = json.loads(string_in(data))
        except ValueError as e:
            raise ReplayError(f"{self.path}: an event in it is no JSON ({e}); the file is damaged") from e
        return what

    def model(self) -> Model:
        """The robot it is of, from what is attached; ReplayError where that does not give the same one."""
        from mbros.build.load import load

        scene = self.about.get("robot")
        if URDF not in self.attached and scene and Path(scene).suffix in (".yaml", ".yml") and Path(scene).is_file():
            model = load(scene)
            if not differing(fingerprint(model.spec), self.start.header["fingerprint"]):
                return model
            raise ReplayError(f"{self.path}: the scene {scene!r} is not what was recorded: something was spawned or deleted before, or the "
                              "file has changed. Give a scene file of what was in it: mbros replay --robot SCENE; or the model, from "
                              "mbros.Scene.of(mbros.load(scene)), with what was spawned added: mbros.replay(path, model=...)")
        if URDF not in self.attached:
            raise ReplayError(f"{self.path}: its robot was made in Python, which no file holds; give the model: "
                              "mbros.replay(path, model=...)")
        wanted = self.start.header["fingerprint"]
        text, file = self.attached[URDF].decode(), self.about.get("robot")
        sources = [file, text] if file and Path(file).is_file() and Path(file).suffix == ".urdf" else [text]
        for source in sources:
            for base in (None, "floating", "planar", "fixed"):
                for ground in (None, True):
                    try:
                        model = load(source, base=base, gravity=self.about["gravity"], ground=ground)
                    except ValueError:
                        continue
                    if not differing(fingerprint(model.spec), wanted):
                        return model
        raise ReplayError(f"{self.path}: the attached URDF alone does not give the robot as it was loaded; give the same model: "
                          "mbros replay --robot ..., with its options, or mbros.replay(path, model=...)")

    def close(self) -> None:
        self._file.close()
