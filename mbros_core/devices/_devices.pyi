from collections.abc import Mapping, Sequence
from typing import Any

from mbros_core import Plant
from mbros_core.typing import Array, ArrayLike

SIGNAL: tuple[str, ...]
ACTUATOR: tuple[str, ...]
SENSOR: tuple[str, ...]
CHANNEL: tuple[str, ...]
JOINT: tuple[str, ...]

class Devices:
    """The devices of a plant. tables: what mbros.simulate.bench.layout makes; each of its numbers is checked against the sizes here.

    block is all of their memory: two devices of the same tables with the same block go on alike, to the bit."""
    plant: Plant
    block: Array
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
    def _take_over(self, block: ArrayLike) -> None:
        """The block of other devices of the same tables."""

def philox_block(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]:
    """The four words that Philox4x32-10 makes of a counter (4 words) and a key (2 words)."""
def numbers(key: Sequence[int], n: int, gaussian: bool = False) -> Array:
    """The first n numbers of a stream: uniform within (0, 1), or normal."""
