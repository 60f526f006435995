"""Messages for the data plane's decoder: real ones changed at random, and random bytes.

Whatever comes, the decoder gives one of its reasons; what it accepts is a command of the robot's size whose numbers are within the
limit or NaN ("not commanded"), and it counts every message once. The corpus holds messages as rclpy writes them.
"""
import random
import time

import numpy as np

from tests.fuzz.findings import CORPUS, ROOM, Journal, attempt, journal_of

WALL = 1_700_000_000_000_000_000                 # the system time that the corpus was stamped for, ns
NAMES = {"shoulder": 3, "elbow": 4, "finger": -1, "base": -1, "base.vx": 0, "base.vy": 1, "base.wz": 2}
SIZE = 5                                         # velocities of that robot
LIMIT = 1e6                                      # N m: a larger effort is "absurd"
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 8, 2**32 - 1)


def new_inputs():
    """One input of each kind, joint commands and arrays of efforts, as the node makes them."""
    from mbros.ros import _dataplane as native

    clock = native.StampClock(1e-3)
    order = ["shoulder", "elbow"]
    return (native.CommandInput("commands", "joint_state", None, list(NAMES), list(NAMES.values()), SIZE, clock),
            native.CommandInput("commands", "multi_array", None, order, [NAMES[name] for name in order], SIZE, clock))


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
        assert (command is None) == (reason != "accepted"), f"{reason} with the command {command!r}"
        if command is not None:
            assert command.shape == (SIZE,) and command.dtype == np.float64, f"a command of shape {command.shape}"
            assert not (np.abs(command) > LIMIT).any(), f"accepted {command}"


def run(seconds: float, seed: int, count: int | None = None) -> int:
    """Try messages for a time, or `count` of them; returns how many."""
    from mbros.ros._dataplane import REASON_NAMES

    rng, kept, ports, journal = random.Random(seed), seeds(), new_inputs(), Journal(journal_of("decoder"))
    end, tried = time.monotonic() + seconds, 0
    while tried < count if count else time.monotonic() < end:
        for _ in range(1000):
            data = changed(rng, kept)
            journal.write(data)
            attempt("decoder", data, lambda data: check(data, ports, REASON_NAMES))
        tried += 1000
    counted = [sum(port.counts().values()) for port in ports]
    assert counted == [tried, tried], f"{tried} messages, counted {counted}"
    return tried


def repeat(data: bytes) -> None:
    from mbros.ros._dataplane import REASON_NAMES

    check(data, new_inputs(), REASON_NAMES)
