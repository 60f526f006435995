from collections.abc import Iterable, Sequence
from typing import Any, Literal

from typing_extensions import Self

from mbros_core.errors import MbrosError
from mbros_core.typing import Array, ArrayLike, Capsule

REASON_NAMES: tuple[str, ...]
KINDS: tuple[str, ...]
POLICIES: tuple[str, ...]

class DataPlaneError(MbrosError, RuntimeError):
    """Messages cannot pass here; the text says why."""

class StampClock:
    """The stamps that all ports of one node share.

    dt: period of the loop in s. simulated: time is simulated from the start (paused or scaled then): stamps count from 1 s."""
    def __new__(cls, dt: float, simulated: bool = False) -> Self: ...
    def set_scaled(self, scaled: bool) -> None:
        """Tell whether simulated time runs at another speed than the wall clock."""
    def go_on(self) -> None:
        """Another state was restored: the next stamp comes a step after the newest one, whatever time it is of. Between two steps."""
    def keep_exact(self) -> None:
        """In lockstep stamps are simulated time to the nanosecond: what stands still is not told again and again."""
    def refuse_before(self, stamp_ns: int) -> None:
        """Commands stamped before this system time are stale from now on: they were meant for before a reset."""
    @property
    def stamp_ns(self) -> int:
        """Newest stamp given, in ns."""
    @property
    def clock_ns(self) -> int:
        """The same without the nanoseconds of a standstill: the stamp of the time itself, as on /clock."""
    @property
    def origin_ns(self) -> int:
        """The stamp of simulated time 0, where time is simulated; another one after a reset."""
    @property
    def simulated(self) -> bool:
        """True while stamps are simulated time."""

class Output:
    """One published topic as a plug of the loop.

    publisher: an rclpy publisher, or None to only patch (`message` then shows the result).
    template: the message serialised once by rclpy; blocks: rows (first double of the snapshot, first byte of the message,
    number of doubles); stamps: bytes where a stamp stands; both found by `mbros.ros.wire.templates`.
    turn: (first double of the base's pose, of its planar velocity, byte of twist.linear.x) or None.
    share: of the snapshots that are published, 0 ... 1, as evenly as whole steps allow, and every explicit step; less often where simulated
        time stands still (stamps.pxd), and not at all while nobody has subscribed.
    only_simulated: publish only while time is simulated (/clock).
    due: (n, m), published in n of m steps, for who is asked in those; or None.
    memory: the devices' block (float64 array, kept), for taps: rows (double of it, byte of the message, double of it that is NaN as long as
        nothing has come or -1, double of the snapshot that is said until then, 1 or 2 for the sine or
        cosine of half of it, 3 for one byte that says whether it is not 0).
    since: of a sensor, doubles of it that hold the step in which each reading came: it is published when one has come, with the stamp of
        the sample, `late` seconds before."""
    def __new__(
        cls,
        name: str,
        publisher: Any,
        template: bytes,
        blocks: ArrayLike,
        stamps: ArrayLike,
        clock: StampClock,
        share: float = 1.0,
        turn: tuple[int, int, int] | None = None,
        only_simulated: bool = False,
        due: tuple[int, int] | None = None,
        memory: Array | None = None,
        taps: Iterable[Sequence[int]] = (),
        since: Iterable[int] = (),
        late: float = 0.0,
    ) -> Self: ...
    @property
    def clock(self) -> StampClock: ...
    @property
    def name(self) -> str: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps this output."""
    def attach(self, publisher: Any) -> None:
        """Publish there from now on, the loop running or not; an output has one publisher in its life."""
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
    def share(self) -> float: ...
    @share.setter
    def share(self, share: float) -> None: ...

class CommandBoard:
    """What the command topics of one node know of each other. It is an output plug too, and looks at every snapshot.

    places: where each coordinate's position stands in a snapshot, (nv,), -1: nowhere; velocity: where the velocities begin.
    given, said: the devices' memory, and where what was commanded in the newest step stands in it (`CommandedPlant.said`).
    bounds: (nv, 4) lowest and highest position, lowest and highest velocity; turns: (nv,), of continuous joints."""
    def __new__(cls, places: Sequence[int], velocity: int, given: Array | None = None, said: Array | None = None,
                bounds: ArrayLike | None = None, turns: ArrayLike | None = None) -> Self: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps this board."""
    def release(self, coordinates: Iterable[int]) -> None:
        """These coordinates are commanded from elsewhere now: trajectories let go of them."""
    def close(self) -> None:
        """Nothing to let go of."""

class InputBeside:
    """An input beside the topics, as that of shared memory, for a loop with a board: trajectories let go of what it commands, and what is
    beyond a joint's limits is left out, as on topics.

    plug: has a `.capsule` "mbros_core.input" of commands (4 nv,)."""
    def __new__(cls, plug: Any, board: CommandBoard) -> Self: ...
    @property
    def board(self) -> CommandBoard: ...
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps this input and the one behind it."""
    def beyond(self) -> tuple[int, int, float]:
        """(count, coordinate, value): commands that were left out for a joint's limits, and what the newest of them was about."""

class CommandInput:
    """One command topic as a plug of the loop.

    kind: "joint_state" (sensor_msgs/JointState), "multi_array" (std_msgs/Float64MultiArray), "trajectory"
        (trajectory_msgs/JointTrajectory) or "hardware" (sensor_msgs/JointState, no command: positions, velocities, efforts and ages for
        the sources of a bench; slots are theirs, command_size is 4 for each).
    subscription: an rclpy subscription that no executor serves, or None to only `decode`.
    names: joints that a message may name; slots: place of each in the command, or -1 where it takes none, -2 where it follows another.
    command_size: numbers of a command: nv efforts, or 4 nv with a board (mbros_core/plant/_commanded.pyx).
    limit: largest magnitude believed, N m or N (rad or m, rad/s or m/s).
    max_age: oldest (and most future) stamp accepted, s; 0 switches the check off.
    board: what the inputs of one node share where positions and velocities are commands too; takes: what each joint takes, 1 position +
        2 velocity + 4 effort; what: of these, what an array commands.
    feed: of hardware, the capsule of the devices that take its samples (mbros_core/plant/feed.hpp)."""
    def __new__(
        cls,
        name: str,
        kind: Literal["joint_state", "multi_array", "trajectory", "hardware"],
        subscription: Any,
        names: Iterable[str],
        slots: Sequence[int],
        command_size: int,
        clock: StampClock,
        limit: float = 1e6,
        max_age: float = 0.5,
        board: CommandBoard | None = None,
        takes: Sequence[int] | None = None,
        what: int = 4,
        feed: Capsule | None = None,
    ) -> Self: ...
    @property
    def board(self) -> CommandBoard | None: ...
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
        """What one message says: ("accepted", command (command_size,)) or (reason, None). Counted like a taken one. The command of a
        trajectory is all NaN: it says something in every step."""
    def follow(self) -> Array | None:
        """The command of the trajectory in force for the step to come (command_size,), or None; as the loop would take it."""
    def note(self) -> None:
        """Takes the command that was decoded last for in force, as the loop would; of hardware, feeds what it said."""
    def counts(self) -> dict[str, int]:
        """How many messages were accepted, and dropped for each reason."""
    @property
    def beside(self) -> int:
        """How many accepted messages carried positions or velocities that their joints do not take beside what they take."""
    @property
    def followers(self) -> int:
        """How many accepted messages carried numbers for joints that follow another."""
    def last_problem(self) -> tuple[str, str, float] | None:
        """(reason, joint name or '', value) of the newest dropped command, or None."""

class Gate:
    """What the steps of a loop wait for: answers of consumers.

    consumers: rows (CommandInput, n, m, by_stamp, Output of the states that it answers or None). clock: the StampClock of the node's ports.
    timeout: s, 0: never."""
    def __new__(
        cls, consumers: Sequence[tuple[CommandInput, int, int, bool, Output | None]], clock: StampClock, timeout: float = 1.0,
        policy: str = "wait"
    ) -> Self: ...
    @property
    def inputs(self) -> list[CommandInput]: ...
    def set_patience(self, timeout: float, policy: str) -> None:
        """Time-out, s (0: never), and what happens then: "wait" on, "hold" what was commanded, "stop"."""
    def welcome(self, anew: bool = False) -> None:
        """Somebody has come who may have to answer: the state that is waited for is published once more. anew: also for who counts and
        has never answered, though it may have heard it."""
    def start(self) -> None:
        """From now on messages ring the loop's bell. Raises DataPlaneError where this rcl cannot say that one has come."""
    def close(self) -> None:
        """Let go of the subscriptions, before they are closed. The loop must have been stopped."""
    @property
    def capsule(self) -> Capsule:
        """The plug for the real-time loop; it keeps this gate."""
    @property
    def events(self) -> int:
        """Time-outs so far."""
    def report(self) -> tuple[int, float, list[dict[str, Any]]]:
        """(step, seconds waited) of the newest time-out, and for each consumer its answers, time-outs, messages out of turn, and whether
        it is being waited for or, under `hold`, was given up."""

class StepService:
    """Requests of `~/step`, one at a time: `wait`, `take`, then `steps` and `command`, then `write` and `answer`, or `refuse`.

    service: an rclpy service of mbros_msgs/srv/Step that no executor serves. Raises DataPlaneError where this ROS lays its messages out
    otherwise than rcl_abi.hpp says, or lacks a function."""
    def __new__(cls, service: Any) -> Self: ...
    def follow(self, reader: CommandInput, joint_state: Output, odometry: Output | None = None) -> None:
        """From now on: what reads a command (its kind is "joint_state"), and what writes the state (they are not plugs of a loop)."""
    def wait(self, seconds: float) -> None:
        """Sleep until requests have come or wake() is called, so long at most. Those that came before the call count, once."""
    def wake(self) -> None:
        """End a wait(), from any thread."""
    def take(self) -> bool:
        """Whether there was a request; it is the one that the other calls are about."""
    def put(self, request: Any) -> None:
        """The same with a request of Python. For tests."""
    @property
    def steps(self) -> int:
        """As asked for; 0: as many as the parameter says."""
    def command(self) -> tuple[str, Array | None, tuple[str, float]] | None:
        """None where the request commands nothing; else ("accepted", command (command_size,), about) or (reason, None, about), as
        commands.command_from_joint_state has it. However large the request is: it is in memory already, and its own thread's affair."""
    def write(self, text: str, step: int, x: Array, stamp: int) -> None:
        """The answer: what was done, and the state of this snapshot with this stamp, ns."""
    def written(self) -> Any:
        """What `write` wrote, as a message."""
    @property
    def asker(self) -> bytes:
        """Who asks, as the middleware has it: 16 bytes, the same for all requests of a client."""
    def answer(self) -> bool:
        """Send what `write` wrote. False after a tenth of a second in which the middleware has not found where this client listens, which
        on a busy machine comes later than its request: send it again."""
    def refuse(self, text: str) -> bool:
        """Say why nothing was done; False as of `answer`."""
    def close(self) -> None:
        """Let go of the service; nobody may be in a call."""

def drive_gate(capsule: Capsule, x: ArrayLike, step: int = 0, now_ns: int = 0) -> tuple[str, int]:
    """Ask a gate once about this snapshot, as the loop would: (answer, until). For tests."""
def drive_output(
    capsule: Capsule, x: ArrayLike, step: int = 0, time: float = 0.0, wall_ns: int = 0, flags: int = 0
) -> None:
    """Call an output plug once with this snapshot (float64 array), as the loop would. For tests and measurements."""
def drive_input(capsule: Capsule, size: int, now_ns: int = 0) -> Array | None:
    """Poll an input plug once, as the loop would: the command (size,) or None. For tests and measurements."""
