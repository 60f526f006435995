from collections.abc import Iterable, Sequence
from typing import Any, Literal

from typing_extensions import Self

from mbros_core.errors import MbrosError
from mbros_core.typing import Array, ArrayLike, Capsule

REASON_NAMES: tuple[str, ...]

class DataPlaneError(MbrosError, RuntimeError):
    """The fast path cannot be used here; the text says why. `data_plane:=python` works without it."""

class StampClock:
    """The stamps that all ports of one node share.

    dt: period of the loop in s. simulated: time is simulated from the start (paused or scaled then): stamps count from 0."""
    def __new__(cls, dt: float, simulated: bool = False) -> Self: ...
    def set_scaled(self, scaled: bool) -> None:
        """Tell whether simulated time runs at another speed than the wall clock."""
    def refuse_before(self, stamp_ns: int) -> None:
        """Commands stamped before this system time are stale from now on: they were meant for before a reset."""
    @property
    def stamp_ns(self) -> int:
        """Newest stamp given, in ns."""
    @property
    def clock_ns(self) -> int:
        """The same without the nanoseconds of a standstill: the stamp of the time itself, as on /clock."""
    @property
    def simulated(self) -> bool:
        """True while stamps are simulated time."""

class Output:
    """One published topic as a plug of the loop.

    publisher: an rclpy publisher, or None to only patch (`message` then shows the result).
    template: the message serialised once by rclpy; blocks: rows (first double of the snapshot, first byte of the message,
    number of doubles); stamps: bytes where a stamp stands; both found by `mbros.ros.templates`.
    turn: (first double of the base's pose, of its planar velocity, byte of twist.linear.x) or None.
    decimation: published every that many snapshots (0: never) and after every explicit step; less often where simulated time
        stands still (stamps.pxd).
    only_simulated: publish only while time is simulated (/clock)."""
    def __new__(
        cls,
        name: str,
        publisher: Any,
        template: bytes,
        blocks: ArrayLike,
        stamps: ArrayLike,
        clock: StampClock,
        decimation: int = 1,
        turn: tuple[int, int, int] | None = None,
        only_simulated: bool = False,
    ) -> Self: ...
    @property
    def clock(self) -> StampClock: ...
    @property
    def name(self) -> str: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps this output."""
    def close(self) -> None:
        """Let go of the publisher. The loop must have been stopped."""
    @property
    def message(self) -> bytes:
        """The message as it stands, in CDR."""
    @property
    def published(self) -> int: ...
    @property
    def failed(self) -> int:
        """Messages that rcl refused, for example after shutdown of the context."""
    @property
    def decimation(self) -> int: ...
    @decimation.setter
    def decimation(self, every: int) -> None: ...

class CommandInput:
    """One command topic as a plug of the loop.

    kind: "joint_state" (sensor_msgs/JointState) or "multi_array" (std_msgs/Float64MultiArray).
    subscription: an rclpy subscription that no executor serves, or None to only `decode`.
    names: joints that a message may name; slots: place of each in the command, or -1 where it takes none.
    command_size: efforts of a command (nv). limit: largest magnitude believed, N m or N.
    max_age: oldest (and most future) stamp accepted, s; 0 switches the check off."""
    def __new__(
        cls,
        name: str,
        kind: Literal["joint_state", "multi_array"],
        subscription: Any,
        names: Iterable[str],
        slots: Sequence[int],
        command_size: int,
        clock: StampClock,
        limit: float = 1e6,
        max_age: float = 0.5,
    ) -> Self: ...
    @property
    def clock(self) -> StampClock: ...
    @property
    def name(self) -> str: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps this input."""
    def close(self) -> None:
        """Let go of the subscription. The loop must have been stopped."""
    def decode(self, message: bytes, wall_ns: int | None = None) -> tuple[str, Array | None]:
        """What one message says: ("accepted", efforts (command_size,)) or (reason, None). Counted like a taken one."""
    def counts(self) -> dict[str, int]:
        """How many messages were accepted, and dropped for each reason."""
    @property
    def beside(self) -> int:
        """How many accepted messages carried positions or velocities beside their efforts; nobody looks at those."""
    def last_problem(self) -> tuple[str, str, float] | None:
        """(reason, joint name or '', value) of the newest dropped command, or None."""

def drive_output(
    capsule: Capsule, x: ArrayLike, step: int = 0, time: float = 0.0, wall_ns: int = 0, flags: int = 0
) -> None:
    """Call an output plug once with this snapshot (float64 array), as the loop would. For tests and measurements."""
def drive_input(capsule: Capsule, size: int, now_ns: int = 0) -> Array | None:
    """Poll an input plug once, as the loop would: the command (size,) or None. For tests and measurements."""
