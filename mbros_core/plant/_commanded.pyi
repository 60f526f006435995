from typing import Any

from mbros_core import Plant
from mbros_core.typing import Array, ArrayLike, Capsule

BITS: dict[str, int]
POSITION: int
VELOCITY: int
EFFORT: int

class CommandedPlant:
    """A plant with devices, for mbros_core.realtime.Loop. What it does not have itself is the plant's.

    Snapshots, states and parameters are those of the plant; commands are (4 nv,), see above."""
    def __new__(cls, plant: Plant) -> CommandedPlant: ...
    def __getattr__(self, name: str) -> Any: ...
    @property
    def plant(self) -> Plant: ...
    @property
    def takes(self) -> Array:
        """What each coordinate takes, (nv,): 1 position + 2 velocity + 4 effort; 4 where it has no actuator with commands."""
    @property
    def said(self) -> Array:
        """Where what is commanded stands in the devices' memory, (nv, 3): positions, velocities, efforts; -1: no actuator with commands."""
    @property
    def max_contact_iterations(self) -> int:
        """The plant's own; writing one is writing that."""
    @max_contact_iterations.setter
    def max_contact_iterations(self, n: int) -> None: ...
    def step(self, command: ArrayLike) -> None:
        """One step of dt under a command (4 nv,), as a loop takes it. MbrosError in words where the step cannot be taken."""
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps the plant. MbrosError where the state violates a constraint."""
