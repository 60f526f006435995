from collections.abc import Mapping, Sequence
from typing import Any

from mbros_core import Plant
from mbros_core.typing import Array, ArrayLike

SIGNAL: tuple[str, ...]
ACTUATOR: tuple[str, ...]
SENSOR: tuple[str, ...]
CHANNEL: tuple[str, ...]
JOINT: tuple[str, ...]
FAULT: tuple[str, ...]
SIGNAL_FAULT: tuple[str, ...]
JOINT_FAULT: tuple[str, ...]
SOURCE: tuple[str, ...]
SOURCE_PLACES: dict[str, int]

class TableRows:
    """What devices are made of: arrays of whole numbers, each of which is checked before it is used as a place. Not for direct use."""
    plant: Plant
    block: Array

class Tables(TableRows):
    """Filled table by table; each number is checked against the sizes of the plant and of the tables before. Not for direct use."""

class Devices(Tables):
    """The devices of a plant. tables: what mbros.bench.layout makes; each of its numbers is checked against the sizes here.

    block is all of their memory: two devices of the same tables with the same block go on alike, to the bit."""
    kept: Any           # the disturbances that the plant's steps go through
    def __new__(cls, plant: Plant, tables: Mapping[str, Any]) -> Devices: ...
    @property
    def capsule(self) -> Any:
        """The plug for Plant._attach."""
    @property
    def steps(self) -> int:
        """Steps since the last reset."""
    @property
    def repeated(self) -> int:
        """Steps that were taken again since the last reset, because an actuator came to a limit."""
    def _replace(self, instead: Any) -> None:
        """The plant has other devices: these are of no use any more, and `instead` stands in the place of their memory, to say so."""
    def _ask(self, fault: int, start: bool) -> None:
        """Start or end a fault by hand in the next step; also while a real-time loop runs: one number is written, at once."""
    @property
    def feed_capsule(self) -> Any:
        """The plug for samples of hardware on the thread that steps (feed.hpp); these devices have to outlive it."""
    def _become(self, source: int, mode: int) -> bool:
        """A source in another mode (0 sim, 1 real, 2 prescribed, 3 locked) at once. Whether it could: without a new sample none is real."""
    def _feed(self, source: int, t: float, q: float, v: float, effort: float) -> None:
        """A sample of hardware, taken at t; NaN of what was not measured."""
    def _source_motion(self, source: int, t: float) -> tuple[float, float, float]:
        """(q, v, a) of a real joint at t."""
    def _drive(self, driven: bool) -> None:
        """Whether a loop has them, whose blocks of parameters do not loosen what a source holds."""
    def _take_over(self, block: ArrayLike) -> None:
        """The block of other devices of the same tables."""
    def _numbers(self) -> Array:
        """The numbers of the devices (n,), a copy: those in force, or those that the next step begins with."""
    def _set_numbers(self, places: Sequence[int], numbers: ArrayLike) -> None:
        """Other numbers (n,) for the devices at these places (n,), all of them from the next step on, also while a loop runs. Their bounds
        are the caller's to mind."""
    def _settle(self) -> None:
        """Numbers that are on their way are in force where nobody steps."""

def philox_block(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]:
    """The four words that Philox4x32-10 makes of a counter (4 words) and a key (2 words)."""
def numbers(key: Sequence[int], n: int, gaussian: bool = False) -> Array:
    """The first n numbers of a stream: uniform within (0, 1), or normal."""
