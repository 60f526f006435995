"""Bytes of the ROS 2 messages that a recording holds, without ROS: CDR by hand, many messages at once (docs/recording.md).

A layout is the message's name, its definition as MCAP wants it, and a NumPy type whose one element is one whole message.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mbros_core.typing import IntArray

LINE = "=" * 80
TIME = f"{LINE}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
HEADER = f"{LINE}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
ENCAPSULATION = b"\x00\x01\x00\x00"             # CDR, little-endian


@dataclass(frozen=True)
class MessageLayout:
    """A message of fixed size. blank: its bytes, with zeros where numbers come."""

    name: str
    definition: str
    blank: bytes
    dtype: np.dtype[np.void]

    def messages(self, n: int) -> np.ndarray:
        """n blank messages."""
        return np.frombuffer(bytearray(self.blank * n), self.dtype)


def padded(data: bytes, size: int) -> bytes:
    """Up to the next multiple of `size`, counted after the encapsulation."""
    return data + bytes(-(len(data) - 4) % size)


def text(data: bytes, value: str) -> bytes:
    encoded = value.encode() + b"\0"
    return padded(data, 4) + len(encoded).to_bytes(4, "little") + encoded


def joint_state(names: Sequence[str]) -> MessageLayout:
    """sensor_msgs/JointState of these joints."""
    data = text(ENCAPSULATION + bytes(8), "")
    data = padded(data, 4) + len(names).to_bytes(4, "little")
    for name in names:
        data = text(data, name)
    at = {"sec": 4, "nanosec": 8}
    for part in ("position", "velocity", "effort"):
        data = padded(data, 4) + len(names).to_bytes(4, "little")
        data = padded(data, 8) if names else data
        at[part] = len(data)
        data += bytes(8 * len(names))
    formats = ["<i4", "<u4", *[("<f8", (len(names),))] * 3]
    dtype = np.dtype({"names": list(at), "formats": formats, "offsets": list(at.values()), "itemsize": len(data)})
    return MessageLayout("sensor_msgs/msg/JointState", "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
                  f"float64[] effort\n{HEADER}{TIME}", data, dtype)


def signals(fields: Sequence[str]) -> MessageLayout:
    """A message with a field for each signal, which says itself what it holds wherever its definition is read."""
    definition = "builtin_interfaces/Time stamp\nuint64 step\nuint32 flags\n" + "".join(f"float64 {name}\n" for name in fields) + TIME
    size = 4 + 24 + 8 * len(fields)
    dtype = np.dtype({"names": ["sec", "nanosec", "step", "flags", "x"], "formats": ["<i4", "<u4", "<u8", "<u4", ("<f8", (len(fields),))],
                      "offsets": [4, 8, 12, 20, 28], "itemsize": size})
    return MessageLayout("mbros_recorded/msg/Signals", definition, ENCAPSULATION + bytes(size - 4), dtype)


def string(value: str) -> bytes:
    """A std_msgs/String."""
    return text(ENCAPSULATION, value)


def string_in(data: bytes) -> str:
    """What a std_msgs/String says."""
    return data[8:8 + int.from_bytes(data[4:8], "little") - 1].decode()


STRING = ("std_msgs/msg/String", "string data\n")


def field_names(names: Sequence[str]) -> list[str]:
    """Names of fields as ROS allows them, one for each name, all different: joint2.position becomes joint2_position."""
    made: list[str] = []
    for name in names:
        plain = re.sub("_+", "_", re.sub("[^a-z0-9]", "_", re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())).strip("_")
        plain = plain if plain[:1].isalpha() else f"s_{plain}".rstrip("_")
        other, k = plain, 2
        while other in made:
            other, k = f"{plain}_{k}", k + 1
        made.append(other)
    return made


def put_stamps(messages: np.ndarray, stamps: IntArray) -> None:
    """Stamps, ns."""
    messages["sec"], messages["nanosec"] = stamps // 10**9, stamps % 10**9
