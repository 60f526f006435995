"""An MCAP file that grows, with room kept for its end: a full disk cuts the recording, never the file (docs/recording.md)."""
from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from mbros_core.support.files import planted

from mbros.arguments import file_path
from mbros.errors import MissingPackageError
from mbros.record.recorder import RecorderError, _reason
from mbros.record.ros_layouts import MessageLayout

CHUNK = 1 << 20         # bytes of messages in a chunk
BALLAST = 4 << 20       # what the end of a file takes at most: a chunk that has begun, and the summary
STRIDE = 16 << 20       # so much of the disk is asked for at a time


def package() -> Any:
    """The package mcap."""
    try:
        import mcap
        import mcap.reader
        import mcap.records
        import mcap.writer
    except ImportError as e:
        raise MissingPackageError("recordings need the package mcap: pip install \"mbros[record]\"") from e
    return mcap


class Disk:
    """A file for one who writes to its end. What was asked for with need() can be written, whatever else fills the disk."""

    def __init__(self, path: Path) -> None:
        if why := planted(path):
            raise RecorderError(f"{path}: it cannot be written: {why}")
        try:
            self._file = open(path, "w+b", buffering=0)
        except OSError as e:
            raise RecorderError(f"{path}: it cannot be written: {_reason(e)}") from e
        self.at = self._kept = 0

    def need(self, size: int) -> None:
        """Make sure that so much, and the end of the file, will fit; OSError where it does not."""
        if self.at + size + BALLAST > self._kept:
            for room in (max(STRIDE, size) + BALLAST, size + BALLAST):
                try:
                    os.posix_fallocate(self._file.fileno(), self.at, room)
                    self._kept = self.at + room
                    return
                except OSError:
                    if room == size + BALLAST:
                        raise

    def write(self, data: bytes) -> int:
        view, done = memoryview(data), 0
        while done < len(data):
            done += self._file.write(view[done:]) or 0
        self.at += done
        return done

    def tell(self) -> int:
        return self.at

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """What was kept and not needed goes back."""
        if not self._file.closed:
            try:
                self._file.truncate(self.at)
            finally:
                self._file.close()


class McapFile:
    """A file with channels of ROS 2 messages, attachments and notes. One thread writes to it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        mcap = package()
        self.path = file_path("recording", path)
        self.disk = Disk(self.path)
        self._writer = mcap.writer.Writer(cast("IO[Any]", self.disk), chunk_size=CHUNK,
                                          compression=mcap.writer.CompressionType.NONE, enable_data_crcs=True)
        self._channels: dict[str, tuple[int, str]] = {}
        self._schemas: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self.span = [0, 0]
        self.open = True
        try:
            self.disk.need(CHUNK)
            self._writer.start("ros2", "mbros")
        except OSError as e:
            self.disk.close()
            raise RecorderError(f"{self.path}: nothing can be recorded there: {_reason(e)}; {BALLAST + CHUNK >> 20} MB are needed at "
                                "least") from e

    def channel(self, topic: str, name: str, definition: str) -> None:
        """A topic, of messages of this name and definition."""
        if name not in self._schemas:
            self._schemas[name] = self._writer.register_schema(name, "ros2msg", definition.encode())
        number = self._writer.register_channel(topic, "cdr", self._schemas[name], {"offered_qos_profiles": ""})
        self._channels[topic] = number, name
        self.counts[topic] = 0

    def add(self, topic: str, stamps: np.ndarray | list[int], messages: np.ndarray | list[bytes]) -> None:
        """Messages with their times, ns. OSError, and none of them added, where the disk has no room for them."""
        if isinstance(messages, np.ndarray):
            raw, size = messages.tobytes(), messages.dtype.itemsize
            messages = [raw[k:k + size] for k in range(0, len(raw), size)]
        self.disk.need(CHUNK + sum(map(len, messages)) + 64 * len(messages))
        number, count = self._channels[topic][0], self.counts[topic]
        for k, (stamp, data) in enumerate(zip(stamps, messages, strict=True)):
            self._writer.add_message(number, int(stamp), data, int(stamp), (count + k) & 0xFFFFFFFF)
        if len(messages):
            first, last = int(stamps[0]), int(stamps[-1])
            self.span = [min(self.span[0], first), max(self.span[1], last)] if any(self.counts.values()) else [first, last]
        self.counts[topic] = count + len(messages)

    def attach(self, name: str, kind: str, data: bytes, stamp: int = 0) -> None:
        """A piece of another kind. OSError where the disk has no room for it."""
        self.disk.need(CHUNK + 2 * len(data))
        self._writer.add_attachment(stamp, stamp, name, kind, data)

    def note(self, name: str, words: Mapping[str, str]) -> None:
        self.disk.need(CHUNK + sum(len(a) + len(b) for a, b in words.items()))
        self._writer.add_metadata(name, dict(words))

    def close(self) -> None:
        """Write the end, in the room that was kept for it."""
        if self.open:
            self.open = False
            try:
                self._writer.finish()
            finally:
                self.disk.close()

    def bag(self) -> str:
        """metadata.yaml, as `ros2 bag` has it beside the file."""
        topics = "".join(f"""    - topic_metadata:
        name: {topic}
        type: {name}
        serialization_format: cdr
        offered_qos_profiles: []
        type_description_hash: ''
      message_count: {self.counts[topic]}
""" for topic, (_, name) in self._channels.items())
        first, last = self.span
        return f"""rosbag2_bagfile_information:
  version: 9
  storage_identifier: mcap
  duration:
    nanoseconds: {last - first}
  starting_time:
    nanoseconds_since_epoch: {first}
  message_count: {sum(self.counts.values())}
  topics_with_message_count:
{topics}  compression_format: ''
  compression_mode: ''
  relative_file_paths:
    - {self.path.name}
  files:
    - path: {self.path.name}
      starting_time:
        nanoseconds_since_epoch: {first}
      duration:
        nanoseconds: {last - first}
      message_count: {sum(self.counts.values())}
  custom_data: ~
  ros_distro: ''
"""


def layout_channel(file: McapFile, topic: str, layout: MessageLayout) -> None:
    file.channel(topic, layout.name, layout.definition)

