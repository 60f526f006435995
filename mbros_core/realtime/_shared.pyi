from collections.abc import Sequence
from typing import Final

from typing_extensions import Self

from mbros_core.typing import Array, ArrayLike, Capsule

FOLDER: Final[str]
OPENED: Final[int]
POLICIES: Final[tuple[str, ...]]

def path_of(name: str) -> str:
    """The file of the simulation of this name. MbrosError where it is no name."""
def what_stands(path: str) -> str:
    """What stands there that no simulation of this user put there, in words; "" for a file that is this user's alone, or for nothing."""
def names() -> list[str]:
    """The simulations of this user that run now and share their memory, by name."""
def new_file(path: str, name: str, bytes_wanted: int) -> int:
    """A file of that many bytes, of this user alone, locked as a simulation's, and new: what stands there is never opened as ours."""
def put_away_dead(path: str, name: str) -> None:
    """Put away the file of a simulation that was killed; BusyError where the simulation lives, SystemRefusedError where something else
    stands there."""
def is_file(path: str, file: int) -> bool:
    """Whether that open file is the one of this path."""
def put_away(path: str, file: int) -> None: ...

def waits(plug: object) -> bool:
    """Whether a capsule is the input or output of a door in lockstep, which needs its gate."""

class SharedDoor:
    """Plugs `input`, `output` and `gate` for a Loop, which share its states with, and take commands from, clients of this name.

    name: of the file; sizes: (numbers of a state, of a command); dt: s; description: JSON text for clients; lockstep: (n, m), the answer to
    n of m states is waited for, or None; timeout: s, 0: for ever; policy: "wait", "hold" or "stop" then; limit: a command with a larger
    number is left out; spin: s, longest look for an answer without sleep; masks_at: from this number on a command says what is commanded
    (0 to 7; another is left out), -1: nowhere. BusyError where a simulation of this name runs, SystemRefusedError where the system has no
    memory for it or something else stands there."""
    name: Final[str]
    path: Final[str]
    def __new__(cls, name: str, sizes: Sequence[int], dt: float, description: str, lockstep: tuple[int, int] | None = None,
                timeout: float = 1.0, policy: str = "wait", limit: float = 1e300, spin: float = ...,
                masks_at: int = -1) -> Self: ...
    def set_patience(self, timeout: float, policy: str) -> None:
        """Time-out, s (0: never), and what happens then: "wait" on, "hold" what was commanded, "stop"."""
    @property
    def input(self) -> Capsule:
        """A plug for the loop's `inputs`; it keeps this door, as the next two do."""
    @property
    def output(self) -> Capsule: ...
    @property
    def gate(self) -> Capsule | None:
        """A plug for the loop's `gate`; None without lockstep."""
    def counts(self) -> dict[str, int]:
        """What became of the commands: taken; with a number beyond `limit`; that answered no state that was asked about; time-outs."""
    @property
    def spun(self) -> float:
        """Seconds that the loop has looked for answers without sleep."""
    def close(self) -> None:
        """Clients are shown the end, and the name is free. The loop may go on; nobody comes in any more."""

class SharedClient:
    """What a controller in another process sees of a simulation, and how it commands. mbros.connect makes them.

    spin: s, longest look without sleep of one wait(); 0: none. `values` are the numbers of the state that was read last, in memory of this
    process: the next read changes them."""
    name: Final[str]
    values: Final[Array]
    def __new__(cls, name: str, spin: float = ...) -> Self: ...
    @property
    def description(self) -> str:
        """What the simulation says of itself, JSON text."""
    @property
    def sizes(self) -> tuple[int, int]:
        """(numbers of a state, of a command)."""
    @property
    def lockstep(self) -> tuple[int, int] | None:
        """(n, m): a step waits for the answer to n of m states; None: it waits for nobody."""
    def head(self) -> tuple[int, int, float, int, int, int, int, int]:
        """(number, step, time, wall_ns, command_age_ns, command, flags, taken_ns) of the state that was read last; number 0: none."""
    @property
    def number(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def spun(self) -> float:
        """Seconds that wait() has looked for states without sleep."""
    @property
    def sent(self) -> int:
        """Commands sent by this client; the number of its newest stands in `newest_command`."""
    @property
    def newest_command(self) -> int:
        """Number of the newest command of anybody."""
    def read(self) -> bool:
        """Read the newest state; False: there is none yet. LoopError where the simulation has ended without one."""
    def wait(self, timeout: float = 1.0) -> None:
        """Sleep until there is a newer state than the one read last, and read it. LoopTimeoutError after `timeout` seconds, LoopError where
        the simulation has ended."""
    def command(self, values: ArrayLike, answers: int = 0) -> None:
        """Command all numbers, finite or NaN (that coordinate keeps what it has), from the next step on."""
    def release(self) -> None:
        """Let another client command."""
    def close(self) -> None:
        """Leave. `values` stay as they are."""

class Values:
    """Keeps the memory of a client's numbers for the array that shows them."""
