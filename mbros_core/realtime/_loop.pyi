from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from mbros_core.typing import Array, ArrayLike, Capsule, HasCapsule, IntArray

BOXES: dict[str, int]
HEADER: np.dtype[np.void]
KEPT: list[object]

class _Sizes(TypedDict):
    command: int
    snapshot: int
    parameters: int
    state: int
    velocities: int
    plant: int
    inputs: int
    settable: bool

class Readings:
    """A loop's memory, and what may be read of it while its thread works on it.

    The garbage collector does not take the plugs from a loop that is in a circle: it hangs up at their gate when it is freed."""
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    @property
    def plugs(self) -> tuple[object, ...] | None: ...
    def read_snapshot(self, out: Array) -> tuple[int, float, int, int, int, int]:
        """Copy the newest snapshot; returns (step, time, wall_ns, command_age_ns, flags, parameters)."""
    def drain(self) -> tuple[NDArray[np.void], Array, Array]:
        """Take all records waiting: (headers, snapshots, applied commands) as arrays with a row each. Behind a snapshot
        stand the numbers of `record_also`."""
    def figures(self) -> dict[str, Any]:
        """Every shared number, by name."""
    @property
    def steps_given(self) -> int: ...
    @property
    def fault_code(self) -> int: ...
    @property
    def pause_wanted(self) -> bool: ...
    @property
    def paused_now(self) -> bool: ...
    @property
    def silent(self) -> tuple[bool, ...]:
        """Which of several watchdogs act, (n,)."""
    def histograms(self) -> list[tuple[IntArray, int, int, int]]:
        """(counts, count, sum ns, largest ns) of lateness, whole slots and plant steps."""
    @property
    def sizes(self) -> _Sizes: ...

class Visited(Readings):
    """What a visitor asks of the thread, and the loop's own part of what decides the future."""
    def visit(self) -> int:
        """Ask the thread to let go of the plant; returns the number of the visit, which the caller has to leave() in any case."""
    def visited(self, number: int) -> bool:
        """The thread has let go of the plant, and waits."""
    def leave(self, number: int) -> None:
        """The visit is over: the thread goes on."""
    def visit_shown(self, number: int) -> bool:
        """What the visitor left behind has been published."""
    @property
    def recording(self) -> bool:
        """Whether records are kept just now; needs a loop with room for records."""
    @recording.setter
    def recording(self, on: bool) -> None: ...
    def commands_in_force(self) -> dict[str, Any]:
        """During a visit: steps since the reset, the command in force with its age, and what the watchdog does about it."""
    def recall(self, step: int, commanded: bool, tripped: bool, age_steps: int, age_ns: int, held: ArrayLike,
               watched: Sequence[Sequence[int]] | None = None) -> None:
        """During a visit, after the plant was put where it was then: what commands_in_force() said. A fault is over; the next
        publication is of this state, as after a reset. watched: None: of several watchdogs each heard the newest command."""

class LoopThread(Visited):
    """Memory, mailboxes and the thread. Not for direct use: see Loop.

    Every call may come at any time from any thread. What becomes of the thread is decided in one place (life.hpp); whoever
    works on the memory without a thread of the loop holds it first."""
    @property
    def started_in(self) -> int: ...
    def __init__(
        self,
        plant: HasCapsule | Capsule,
        inputs: Iterable[HasCapsule | Capsule],
        outputs: Iterable[HasCapsule | Capsule],
        record: int,
        gate: HasCapsule | Capsule | None = None,
        record_also: tuple[Array, ArrayLike] | None = None,
        watched_by: ArrayLike | None = None,
    ) -> None: ...
    def __del__(self) -> None: ...
    def refuse_twice(self) -> None:
        """A thread may work on what __init__ would make anew."""
    def refuse_busy(self) -> None:
        """Before something is asked that serve() would have to do: the plant must not be somebody else's."""
    def configure(
        self,
        dt: float,
        overrun: int,
        overrun_limit: int,
        catch_up: int,
        warmup: int,
        record_every: int,
        fifo_priority: int,
        cpu: int,
        lock_memory: bool,
        count_allocations: bool,
        virtual_clock: bool,
        factor: float,
        paused: bool,
    ) -> None:
        """Everything that is fixed before the thread starts."""
    def launch(self, slots: int) -> None:
        """Start the thread and wait until it has its privileges."""
    def ask_to_stop(self) -> int:
        """The thread, if there is one, ends at its next slot. Returns its number, for wait_done()."""
    def wait_done(self, timeout: float, thread: int | None = None) -> bool:
        """Wait until that thread (None: the present one) has ended and is joined, without the interpreter lock. False after the
        time-out (s)."""
    @property
    def alive(self) -> bool:
        """The thread runs (in this process)."""
    def post(self, box: str, values: ArrayLike) -> int:
        """Put values into a mailbox; returns the number of the letter."""
    def post_command(self, values: ArrayLike) -> None:
        """Efforts for the next slot; NaN: as last commanded."""
    def number_of(self, name: str) -> int: ...
    def acknowledged(self, box: str, number: int) -> bool: ...
    def ask_pause(self, pause: bool) -> None: ...
    def ask_steps(self, n: int) -> int:
        """Pause, and ask for n single steps; returns the count at which they are done. One ring: two would be two slots."""
    @property
    def steps_asked(self) -> int:
        """The count of steps at which those that were asked for are done; less than it was where the rest was given up."""
    def cancel_steps(self) -> None: ...
    def attend(self, by: int) -> None:
        """From attend(1) on the thread rings when a slot has ended; attend(-1) takes it back."""
    @property
    def answered(self) -> int:
        """How often it has rung."""
    def listen(self, answered: int, seconds: float) -> None:
        """Sleep until it has rung since, without the interpreter lock, that many seconds at most."""
    def serve(self) -> bool:
        """Without a thread: do what the thread would do at its next slot, and put what is true then into the mailbox. False, and
        nothing done, when there is a thread."""

def bin_starts() -> IntArray:
    """Smallest duration (ns) of every histogram bin, and of the one past the last."""
