"""Memory for arrays: how much is free, and the refusal of what there is no room for."""
from __future__ import annotations

from math import inf, prod
from pathlib import Path
from typing import TYPE_CHECKING

from mbros_core.errors import MbrosError, NoMemoryError

if TYPE_CHECKING:
    from types import TracebackType

SMALL = 1 << 26             # bytes that are asked for without looking first


def memory_available() -> float:
    """Bytes that this process can still get, of the machine and of its control group; infinite where the system does not say."""
    free = [inf]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
        limit, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text(encoding="ascii").strip() for name in ("max", "current"))
        free += [max(float(limit) - float(used), 1.0)]          # "max" is no number: there is no limit
    except (OSError, ValueError):
        pass
    return min(free)


def amount(size: float) -> str:
    """Bytes with a unit that fits: 184 kB, 1.5 GB."""
    for unit, scale in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size / 1e3:.3g} kB"


def no_memory(who: str, shape: tuple[int, ...]) -> NoMemoryError:
    """For an array of that shape, () where nobody knows it, in words."""
    what = f"{' x '.join(map(str, shape))} numbers, which take {amount(8.0 * prod(shape))}" if shape else "so many numbers"
    return NoMemoryError(f"{who}: no memory for {what}. Ask for fewer at a time")


class Room:
    """with Room(who, n, 7): what is within needs memory for n x 7 numbers, or for so many at a time. Where this machine has none,
    NoMemoryError says for how many, before they are asked for if they are far too many."""

    __slots__ = ("who", "shape")

    def __init__(self, who: str, *shape: int) -> None:
        self.who, self.shape = who, shape

    def __enter__(self) -> None:
        size = 8 * prod(self.shape)         # 8 for no shape
        if size > SMALL and size > memory_available():
            raise no_memory(self.who, self.shape)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, MemoryError) and not isinstance(error, MbrosError):
            raise no_memory(self.who, getattr(error, "shape", self.shape)) from None        # NumPy's MemoryError knows its array
