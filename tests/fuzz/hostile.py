"""What people hand in by mistake, and what only an enemy would: arguments of every wrong kind."""
import datetime

import numpy as np


class Mute:
    """An object whose every answer raises."""

    def __repr__(self):
        raise OverflowError("no words")

    __str__ = __repr__


class Liar:
    """Says that it is an array, and hands out something else."""

    def __array__(self, dtype=None, copy=None):
        return np.array(["no", "numbers"])


class Many(float):
    """A number of one's own kind."""


def unaligned(x):
    """The same numbers at an address that is no multiple of 8."""
    x = np.ascontiguousarray(x, float)
    buffer = np.zeros(x.nbytes + 8, np.uint8)
    start = 1 + (-buffer.ctypes.data) % 8
    view = buffer[start:start + x.nbytes].view(float).reshape(x.shape)
    view[...] = x
    assert x.size == 0 or not view.flags.aligned
    return view


def read_only(x):
    x = np.array(x, float)
    x.flags.writeable = False
    return x


def single(x):
    with np.errstate(over="ignore"):
        return x.astype(np.float32)


def strided(x):
    wide = np.zeros((*x.shape, 3))
    wide[..., 1] = x
    return wide[..., 1]


def spoiled(rng, x):
    """One number, if there is one, is not finite, or so large that its square is not."""
    x = np.array(x, float)
    if x.size:
        x.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -1e308])
    return x


# Arrays that hold the numbers x in some other way, or others: (what it is called, how it is made of a generator and x).
ARRAYS = {
    "as a list": lambda rng, x: x.tolist(),
    "unaligned": lambda rng, x: unaligned(x),
    "byte-swapped": lambda rng, x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda rng, x: read_only(x),
    "strided": lambda rng, x: strided(x),
    "backwards": lambda rng, x: np.flip(x),
    "column-major": lambda rng, x: np.asfortranarray(x),
    "float32": lambda rng, x: single(x),
    "integers": lambda rng, x: np.arange(x.size).reshape(x.shape),
    "booleans": lambda rng, x: np.zeros(x.shape, bool),
    "complex": lambda rng, x: x.astype(complex),
    "texts": lambda rng, x: x.astype(str),
    "objects": lambda rng, x: x.astype(object),
    "mute objects": lambda rng, x: np.array([Mute()] * max(x.size, 1), object),
    "dates": lambda rng, x: np.zeros(x.shape, "datetime64[s]"),
    "records": lambda rng, x: np.zeros(x.shape, [("a", float), ("b", int)]),
    "one too many": lambda rng, x: np.zeros(x.size + 1),
    "one too few": lambda rng, x: np.zeros(max(x.size - 1, 0)),
    "a column": lambda rng, x: x.reshape(-1, 1),
    "a row": lambda rng, x: x.reshape(1, -1),
    "deep": lambda rng, x: x.reshape((1,) * max(20 - x.ndim, 0) + x.shape),
    "empty": lambda rng, x: np.zeros(0),
    "empty rows": lambda rng, x: np.zeros((3, 0)),
    "no axes": lambda rng, x: np.array(1.5),
    "a hundred thousand": lambda rng, x: np.zeros(100_000),
    "masked": lambda rng, x: np.ma.masked_array(x, np.zeros(x.shape, bool)),
    "not finite": spoiled,
    "small": lambda rng, x: 1e-300 * x,
    "without strides": lambda rng, x: np.lib.stride_tricks.as_strided(np.zeros(1), x.shape, (0,) * x.ndim),
    "a buffer": lambda rng, x: memoryview(np.ascontiguousarray(x)),
    "bytes": lambda rng, x: bytearray(x.tobytes()),
}

# What is no array at all.
THINGS = (None, True, False, 0, 1, -1, 2.5, 10**30, -10**30, 10**5000, float("nan"), float("inf"), -0.0, 1e300, 1j, "", "x", "\x1b[31m\n",
          b"", b"x", [], [[]], [[1, 2], [3]], [None], {}, {"x": 1.0}, {1: 2}, (), ..., NotImplemented, object, Mute(), Liar(), Many(1.0),
          np.float64(2.0),
          np.int64(-1), np.bool_(True), np.uint64(2**64 - 1), slice(3), range(7), datetime.datetime(2026, 1, 1), lambda *x: None,
          iter([1.0]))


def thing(rng):
    return THINGS[rng.integers(len(THINGS))]


def array(rng, x):
    """(what it is called, the numbers x in a strange shape, or other ones)."""
    name = list(ARRAYS)[rng.integers(len(ARRAYS))]
    return name, ARRAYS[name](rng, np.asarray(x, float))


def words(x) -> str:
    """x for a report."""
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}"
    try:
        return f"{x!r:.60}"
    except Exception:
        return type(x).__name__
