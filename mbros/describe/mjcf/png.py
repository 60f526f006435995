"""Heights from a picture: PNG, grey or coloured (then its red), 8 or 16 bits of which the upper 8 count, as MuJoCo takes them."""
from __future__ import annotations

import struct
import zlib

import numpy as np

from mbros.errors import MbrosError

MOST_PIXELS = 1 << 21
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}         # by colour type


def grey_picture(data: bytes) -> np.ndarray:
    """(rows, columns) from the top, 0 to 255. Raises MbrosError."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 33:
        raise MbrosError("it is no PNG picture")
    columns, rows, depth, colour, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    if depth not in (8, 16) or colour not in CHANNELS or interlaced:
        raise MbrosError(f"it is a PNG picture of colour type {colour} with {depth} bits{', interlaced' if interlaced else ''}: save it as "
                         "grey, "
                         "8 bits, without a palette")
    if not 0 < rows * columns <= MOST_PIXELS:
        raise MbrosError(f"it has {columns} times {rows} pixels, more than the {MOST_PIXELS} allowed")
    step = CHANNELS[colour] * depth // 8
    width = columns * step
    raw = _unpacked(data, rows * (width + 1))
    lines = np.frombuffer(raw, np.uint8).reshape(rows, width + 1)
    found, above = np.zeros((rows, width), np.uint8), np.zeros(width, np.uint8)
    for k in range(rows):
        above = found[k] = _line(int(lines[k, 0]), lines[k, 1:], above, step)
    return found[:, ::step].astype(float)           # the first byte of the first channel


def _unpacked(data: bytes, size: int) -> bytes:
    packed, at = b"", 8
    while at + 12 <= len(data):
        length = struct.unpack_from(">I", data, at)[0]
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    try:
        raw = zlib.decompressobj().decompress(packed, size)
    except zlib.error as error:
        raise MbrosError(f"it cannot be unpacked: {error}") from None
    if len(raw) != size:
        raise MbrosError("it ends too early")
    return raw


def _line(kind: int, line: np.ndarray, above: np.ndarray, step: int) -> np.ndarray:
    """A row of bytes, of which its filter took away what its neighbours tell."""
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line.reshape(-1, step), axis=0, dtype=np.uint8).ravel()
    if kind == 2:
        return line + above
    if kind > 4:
        raise MbrosError(f"a row of it has the filter {kind}")
    out, up, given = [0] * len(line), above.tolist(), line.tolist()
    for i, x in enumerate(given):
        a, b, c = (out[i - step], up[i], up[i - step]) if i >= step else (0, up[i], 0)
        if kind == 3:
            guess = (a + b) // 2
        else:
            da, db, dc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            guess = a if da <= db and da <= dc else b if db <= dc else c
        out[i] = (x + guess) & 255
    return np.array(out, np.uint8)
