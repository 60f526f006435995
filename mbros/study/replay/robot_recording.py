"""A recording of a real robot: states and commands of its joints over time, out of an MCAP file of `ros2 bag`, or of anybody else."""
from __future__ import annotations

from array import array
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from mbros_core.engine.checks import LARGEST
from mbros_core.typing import Array, IntArray

from mbros.arguments import file_path
from mbros.errors import MbrosError
from mbros.record.mcap_reading import REMEDY, McapReading

STATE, ARRAY = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
MOST_JOINTS, MOST_OTHERS = 10_000, 1_000        # of a message; that are kept of those that the model has not


class RobotRecordingError(MbrosError):
    """A recording that says too little of a robot, or nothing that can be read; the text says what is missing."""


@dataclass(frozen=True)
class Series:
    """Numbers of joints over time. stamps (n,), ns, the messages' own where they have some; values (n, joints), NaN: not given; others:
    joints that the messages name too; back: whether stamps go back in it."""

    topic: str
    joints: tuple[str, ...]
    stamps: IntArray
    values: dict[str, Array]
    others: tuple[str, ...] = ()
    back: bool = False


class Cdr:
    """Reads little-endian CDR, as ROS 2 writes it; RobotRecordingError where a message ends too soon."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 4 or data[1] != 1:
            raise RobotRecordingError("a message is no little-endian CDR")
        self.data, self.at = data, 4

    def number(self, kind: str, size: int) -> Any:
        self.at += -(self.at - 4) % size
        value = np.frombuffer(self._take(size), kind)[0]
        return value

    def count(self, most: int | None = None) -> int:
        n = int(self.number("<u4", 4))
        if most is not None and n > most:
            raise RobotRecordingError(f"a message has {n} entries, more than the {most} that mbros reads")
        return n

    def text(self) -> str:
        return self._take(self.count())[:-1].decode(errors="replace")

    def doubles(self) -> Array:
        n = self.count()
        if n:
            self.at += -(self.at - 4) % 8
        return np.frombuffer(self._take(8 * n), "<f8")

    def _take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise RobotRecordingError("a message is cut off")
        self.at += size
        return self.data[self.at - size:self.at]

    def stamp(self) -> int:
        return int(self.number("<i4", 4)) * 10**9 + int(self.number("<u4", 4))


def joint_state(data: bytes) -> tuple[int, list[str], dict[str, Array]]:
    """(stamp, ns, names, arrays) of a JointState."""
    cdr = Cdr(data)
    stamp = cdr.stamp()
    cdr.text()
    names = [cdr.text() for _ in range(cdr.count(MOST_JOINTS))]
    return stamp, names, {part: cdr.doubles() for part in ("position", "velocity", "effort")}


def multi_array(data: bytes) -> Array:
    """The data of a Float64MultiArray."""
    cdr = Cdr(data)
    for _ in range(cdr.count(MOST_JOINTS)):
        cdr.text()
        cdr.count()
        cdr.count()
    cdr.count()
    return cdr.doubles()


def series(path: str | PathLike[str], topics: list[str], joints: tuple[str, ...]) -> dict[str, Series]:
    """What the topics of a recording say of these joints; those topics that it does not have are left out."""
    where = file_path("recording", path)
    found = sorted(where.glob("*.mcap")) if where.is_dir() else [where]
    if not found:
        raise RobotRecordingError(f"{where}: there is no .mcap file in it")
    rows: dict[str, TopicRows] = {}
    others: dict[str, dict[str, None]] = {}
    for file in found:
        reading = McapReading(file, RobotRecordingError)
        try:
            for topic, kind, message in reading.messages(topics):
                row = _read(file, topic, kind, message, joints, others.setdefault(topic, {}))
                if row is not None and not rows.setdefault(topic, TopicRows(tuple(row[2]))).add(*row):
                    raise RobotRecordingError(f"{where}: {topic} has messages of several types; expected one, or it is damaged: {REMEDY}")
        finally:
            reading.close()
    return {topic: of.series(topic, joints, tuple(others[topic])) for topic, of in rows.items()}


class TopicRows:
    """What the messages of a topic say, as numbers alone: of many small messages, objects would take ten times as much."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        self.stamps, self.logs = array("q"), array("q")
        self.parts = {part: array("d") for part in parts}

    def add(self, stamp: int, log: int, values: dict[str, Array]) -> bool:
        """False: it is of another type than those before."""
        if tuple(values) != tuple(self.parts):
            return False
        self.stamps.append(stamp or log)
        self.logs.append(log)
        for part, x in values.items():
            self.parts[part].frombytes(x.tobytes())
        return True

    def series(self, topic: str, joints: tuple[str, ...], others: tuple[str, ...]) -> Series:
        stamps = np.frombuffer(self.stamps, np.int64)
        order = np.lexsort((np.frombuffer(self.logs, np.int64), stamps))
        values = {part: np.frombuffer(x, float).reshape(len(stamps), len(joints))[order] for part, x in self.parts.items()}
        values = {part: np.where(np.abs(x) < LARGEST, x, np.nan) for part, x in values.items()}         # beyond it: as good as none
        return Series(topic, joints, stamps[order], values, others, bool((np.diff(stamps) < 0).any()))


def _read(file: Path, topic: str, kind: str, message: Any, joints: tuple[str, ...],
          others: dict[str, None]) -> tuple[int, int, dict[str, Array]] | None:
    """The row of a message; RobotRecordingError, with the file's name, for one that is damaged."""
    try:
        if message.log_time >= 2**63:
            raise RobotRecordingError(f"a message was logged at {message.log_time} ns")
        return _row(kind, message, joints, others)
    except RobotRecordingError as e:
        raise RobotRecordingError(f"{file}: what is on {topic} are no ROS 2 messages in CDR, or it is damaged: {e}; {REMEDY}") from e


def _row(kind: str, message: Any, joints: tuple[str, ...], others: dict[str, None]) -> tuple[int, int, dict[str, Array]] | None:
    """(stamp, log time, values by part) of a message, in the order of the joints; into others: what else it names."""
    if kind == STATE:
        stamp, names, arrays = joint_state(message.data)
        place = {name: k for k, name in enumerate(names)}
        others.update((name, None) for name in names if name not in joints and len(others) < MOST_OTHERS)
        values = {part: np.array([x[place[joint]] if joint in place and len(x) == len(names) else np.nan for joint in joints])
                  for part, x in arrays.items()}
        return stamp, message.log_time, values
    if kind == ARRAY:
        data = multi_array(message.data)
        return (0, message.log_time, {"effort": data}) if len(data) == len(joints) else None
    return None
