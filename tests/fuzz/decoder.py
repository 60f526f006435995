"""Messages for the data plane's decoder: real ones changed at random, and random bytes.

Whatever comes, the decoder gives one of its reasons; what it accepts is a command of the robot's size whose numbers are within the
limit or NaN ("not commanded"), and it counts every message once. The corpus holds messages as rclpy writes them.
"""
import random
import time

import numpy as np

import mbros

from tests.fuzz.findings import CORPUS, ROOM, Journal, attempt, journal_of

WALL = 1_700_000_000_000_000_000                 # the system time that the corpus was stamped for, ns
NAMES = {"shoulder": 3, "elbow": 4, "finger": -1, "base": -1, "base.vx": 0, "base.vy": 1, "base.wz": 2}
SIZE = 5                                         # velocities of that robot
LIMIT = 1e6                                      # N m: a larger effort is "absurd"
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 8, 2**32 - 1)


TAKES = {"shoulder": 7, "elbow": 6}              # of what they take, 1 position + 2 velocity + 4 effort; the others take efforts
BOUNDS = {"shoulder": (-2.0, 2.0, -10.0, 10.0)}  # lowest and highest position and velocity
FREE = (-np.inf, np.inf, -np.inf, np.inf)


def new_inputs():
    """One input of each kind, as the node makes them: without a bench, then with one."""
    from mbros.ros.wire import _dataplane as native

    clock = native.StampClock(1e-3)
    named = {slot: name for name, slot in NAMES.items() if slot >= 0}
    board = native.CommandBoard([-1, -1, -1, 0, 1], 0, bounds=[BOUNDS.get(named[slot], FREE) for slot in range(SIZE)])
    order = ["shoulder", "elbow"]

    def servo(kind, what=4, names=tuple(NAMES)):
        return native.CommandInput("commands", kind, None, list(names), [NAMES[name] for name in names], 4 * SIZE, clock, board=board,
                                   takes=[TAKES.get(name, 4) for name in names], what=what)

    return (native.CommandInput("commands", "joint_state", None, list(NAMES), list(NAMES.values()), SIZE, clock),
            native.CommandInput("commands", "multi_array", None, order, [NAMES[name] for name in order], SIZE, clock),
            servo("joint_state"), servo("multi_array", 1, order[:1]), servo("multi_array", 2, order), servo("multi_array", 4, order),
            servo("trajectory"), Hardware())


class Hardware:
    """hardware_states of two joints, as the loop takes them: what is accepted is fed to the sources of a simulation, which takes a step."""

    def __init__(self):
        from mbros.ros.wire import _dataplane as native

        b, bench, parent = mbros.ModelBuilder("hardware"), mbros.Bench(), None
        names = ["shoulder", "elbow"]
        for name in names:
            body = b.add_body(name, 1.0, (0.2, 0.0, 0.0), (0.02, 0.03, 0.03))
            b.add_joint(mbros.RevoluteJoint(name, parent or b.world, body, (0, 1, 0), lower=-2.0, upper=2.0))
            bench.add(mbros.JointSource(name, joint=name, safe="hold"))
            parent = body
        self.sim = mbros.Simulator(b.build(), bench=bench)
        self.port = native.CommandInput("hardware_states", "hardware", None, names, [0, 1], 8, native.StampClock(1e-3),
                                        feed=self.sim.plant.devices.feed_capsule)

    def decode(self, data, wall):
        """The reason, and no command: samples are not judged here, but where a step leads to under them."""
        reason, said = self.port.decode(data, wall)
        if reason != "accepted":
            assert said is None
            return reason, None
        self.port.note()
        for k in range(2):
            self.sim.plant.devices._become(k, 1)
        self.sim.plant.step()
        assert np.isfinite(self.sim.state.q).all() and np.isfinite(self.sim.state.v).all(), f"{self.sim.state.q} {self.sim.state.v}"
        return reason, None

    def counts(self):
        return self.port.counts()


def seeds():
    found = [path.read_bytes() for path in sorted((CORPUS / "messages").glob("*.cdr"))]
    assert found, f"no messages in {CORPUS / 'messages'}"
    return found


def changed(rng: random.Random, kept: list) -> bytes:
    """A message of the corpus after a few changes, or bytes of no message at all."""
    if rng.random() < 0.05:
        return rng.randbytes(rng.randrange(200))
    data = bytearray(rng.choice(kept))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:                                              # a length, where lengths stand
                data[at & ~3:(at & ~3) + 4] = rng.choice(LENGTHS).to_bytes(4, "little")
            case 2:
                del data[at:]
            case 3:
                data[at:at] = rng.randbytes(rng.choice((1, 4, 8)))
            case 4:                                              # the end of another message
                other = rng.choice(kept)
                data[at:] = other[rng.randrange(len(other) + 1):]
            case 5:
                data[at & ~7:(at & ~7) + 8] = rng.randbytes(8)
    return bytes(data[:ROOM - 8])


def check(data: bytes, ports, reasons) -> None:
    for port in ports:
        reason, command = port.decode(data, WALL)
        assert reason in reasons, f"the reason {reason!r} is none of {reasons}"
        assert (command is None) == (reason != "accepted" or isinstance(port, Hardware)), f"{reason} with the command {command!r}"
        if command is not None:
            assert command.shape in ((SIZE,), (4 * SIZE,)) and command.dtype == np.float64, f"a command of shape {command.shape}"
            assert not (np.abs(command) > LIMIT).any(), f"accepted {command}"
            check_followed(port)


def check_followed(port) -> None:
    """What a trajectory that was accepted says of the next step: finite numbers, within the limits."""
    command = port.follow() if hasattr(port, "follow") else None
    if command is not None:
        said = command[~np.isnan(command)]
        assert said.size and np.isfinite(said).all(), f"followed by {command}"
        low, high, slow, fast = BOUNDS["shoulder"]
        position, velocity = command[SIZE + NAMES["shoulder"]], command[2 * SIZE + NAMES["shoulder"]]
        assert not (position < low - 1e-3 or position > high + 1e-3 or velocity < 1.01 * slow or velocity > 1.01 * fast), f"{command}"


def run(seconds: float, seed: int, count: int | None = None) -> int:
    """Try messages for a time, or `count` of them; returns how many."""
    from mbros.ros.wire._dataplane import REASON_NAMES

    rng, kept, ports, journal = random.Random(seed), seeds(), new_inputs(), Journal(journal_of("decoder"))
    end, tried = time.monotonic() + seconds, 0
    while tried < count if count else time.monotonic() < end:
        for _ in range(1000):
            data = changed(rng, kept)
            journal.write(data)
            attempt("decoder", data, lambda data: check(data, ports, REASON_NAMES))
        tried += 1000
    counted = [sum(port.counts().values()) for port in ports]
    assert counted == [tried] * len(ports), f"{tried} messages, counted {counted}"
    return tried


def repeat(data: bytes) -> None:
    from mbros.ros.wire._dataplane import REASON_NAMES

    check(data, new_inputs(), REASON_NAMES)
