"""Where the numbers of a message lie in its bytes: found by looking, then checked by reading the message back.

A message of fixed layout needs no encoder. It is filled once from a snapshot in which every double is a different
random number, by the same functions that fill ordinary messages; rclpy serialises it; each number is then looked up in
the bytes. Nothing here knows the layout of a message, and a template that reads back wrong is refused.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbros.errors import MbrosError
from mbros.spatial.vectors import heading_quaternion

if TYPE_CHECKING:
    from mbros.ros.typing import FillTopic

PROBE_STAMP = 1_234_567_890 * 1_000_000_000 + 987_654_321


class TemplateError(MbrosError, RuntimeError):
    """A message could not be turned into a template: this ROS writes it in a way that is not known."""


@dataclass(frozen=True)
class Template:
    """Bytes of a message and where to patch them."""

    message: bytes
    blocks: np.ndarray              # (k, 3) first double in the snapshot, first byte in the message, number of doubles
    stamps: np.ndarray              # (k,) bytes where a stamp stands
    turn: tuple[int, int, int] | None = None    # planar twist: see `_dataplane.Output`
    taps: tuple[tuple[int, int, int, int, int], ...] = ()       # numbers of the devices' memory: see there


def make_template(fill: FillTopic, size: int, planar: tuple[int, int] | None = None, memory: int = 0,
                  fallback: Mapping[int, tuple[int, int]] = {}, yaw: int | None = None, bit: int | None = None) -> Template:
    """Template of the message that `fill(snapshot, stamp_ns)` makes from snapshots of `size` doubles.

    planar: (place of the base's pose, of its planar velocity), for a message that carries the velocity turned.
    memory: doubles of the devices' memory, which stands behind the snapshot where `fill` reads it; fallback: {place of a reading: (place
    that is NaN as long as nothing has come, place of what is said until then)}; yaw: place of a heading that the message carries as a
    quaternion; bit: place of a number of which the message says whether it is not 0.
    """
    from rclpy.serialization import serialize_message

    x = _probe(size + memory, seed=1)
    data = serialize_message(fill(x, PROBE_STAMP))
    blocks, taps = _parted(_blocks(data, x), size, fallback)
    if yaw is not None:
        taps += _heading(data, x, yaw, size)
    if bit is not None:
        taps += [_byte(fill, x, bit, size)]
    turn = None
    if planar is not None:
        # the turned velocity is no double of the snapshot; with heading zero it is
        pose, velocity = planar
        x[pose + 3:pose + 7] = 0.0, 0.0, 0.0, 1.0
        where = _find_double(serialize_message(fill(x, PROBE_STAMP)), x[velocity])
        if len(where) != 1:
            raise TemplateError("the planar velocity was not found in the odometry message")
        turn = (pose, velocity, where[0])
    blank = serialize_message(fill(np.zeros(size + memory), PROBE_STAMP))
    template = Template(blank, blocks, _stamps(blank), turn, tuple(taps))
    _check(template, fill, size, memory)
    return template


def _probe(size: int, seed: int) -> np.ndarray:
    """A snapshot of different numbers whose eight bytes occur nowhere by chance."""
    return np.random.default_rng(seed).uniform(1.0, 2.0, size)


def _find(data: bytes, what: bytes, alignment: int) -> list[int]:
    """Every place of `what` in a serialised message; CDR aligns from the fourth byte."""
    places, at = [], data.find(what)
    while at >= 0:
        if (at - 4) % alignment == 0:
            places.append(at)
        at = data.find(what, at + 1)
    return places


def _find_double(data: bytes, x: float) -> list[int]:
    return _find(data, np.float64(x).tobytes(), 8)


def _stamps(data: bytes) -> np.ndarray:
    sec, nanosec = divmod(PROBE_STAMP, 1_000_000_000)
    return np.array(_find(data, np.array([sec, nanosec], "<u4").tobytes(), 4), np.int64)


def _blocks(data: bytes, x: np.ndarray) -> np.ndarray:
    """Runs of snapshot doubles that are runs in the message too."""
    doubles = np.frombuffer(data, "<f8", offset=4, count=(len(data) - 4) // 8)
    order = np.argsort(x)
    nearest = order[np.minimum(np.searchsorted(x, doubles, sorter=order), len(x) - 1)]
    rows: list[list[int]] = []
    for k in np.flatnonzero(x[nearest] == doubles):
        source, target = int(nearest[k]), 4 + 8 * int(k)
        if rows and rows[-1][0] + rows[-1][2] == source and rows[-1][1] + 8 * rows[-1][2] == target:
            rows[-1][2] += 1
        else:
            rows.append([source, target, 1])
    return np.array(rows, np.int64).reshape(-1, 3)


def _parted(blocks: np.ndarray, size: int,
            fallback: Mapping[int, tuple[int, int]]) -> tuple[np.ndarray, list[tuple[int, int, int, int, int]]]:
    """Blocks of the snapshot, and what lies behind it number by number."""
    taps = []
    for source, target, count in blocks[blocks[:, 0] + blocks[:, 2] > size].tolist():
        for k in range(count):
            since, truth = fallback.get(source + k, (size - 1, 0))
            taps.append((source + k - size, target + 8 * k, since - size, truth, 0))
    return blocks[blocks[:, 0] + blocks[:, 2] <= size], taps


def _heading(data: bytes, x: np.ndarray, yaw: int, size: int) -> list[tuple[int, int, int, int, int]]:
    """Where sine and cosine of half a heading stand."""
    found = []
    for half, number in enumerate(heading_quaternion(x[yaw]), 1):
        where = _find_double(data, number)
        if len(where) != 1:
            raise TemplateError("the heading was not found in the odometry message")
        found.append((yaw - size, where[0], -1, 0, half))
    return found


def _byte(fill: FillTopic, x: np.ndarray, bit: int, size: int) -> tuple[int, int, int, int, int]:
    """Where the byte of a yes or no stands."""
    from rclpy.serialization import serialize_message

    yes, no = x.copy(), x.copy()
    yes[bit], no[bit] = 1.0, 0.0
    where = np.flatnonzero(np.frombuffer(serialize_message(fill(yes, PROBE_STAMP)), np.uint8)
                           != np.frombuffer(serialize_message(fill(no, PROBE_STAMP)), np.uint8))
    if len(where) != 1:
        raise TemplateError("the yes or no was not found in the message")
    return bit - size, int(where[0]), -1, 0, 3


def _check(template: Template, fill: FillTopic, size: int, memory: int) -> None:
    """Patch two other snapshots through the data plane and compare with what the message itself would say.

    Messages are compared, not bytes: the middleware leaves whatever it finds in the padding between them.
    """
    from rclpy.serialization import deserialize_message

    from mbros.ros.wire._dataplane import Output, StampClock, drive_output
    for seed, stamp in ((2, 5_000_000_007), (3, 1_999_999_999_999_999_999)):
        x, clock = _probe(size + memory, seed), StampClock(1e-3)
        wanted = fill(x, stamp)
        output = Output(type(wanted).__name__, None, template.message, template.blocks, template.stamps, clock,
                        turn=template.turn, memory=x[size:].copy() if memory else None, taps=template.taps)
        drive_output(output.capsule, x[:size], wall_ns=stamp)
        if deserialize_message(output.message, type(wanted)) != wanted:
            raise TemplateError(f"the template of {type(wanted).__name__} does not read back what was put into it: this ROS 2 "
                                "writes messages in a way that mbros does not know. Please report it, with what `mbros doctor` says")
