"""Recordings, damaged in every part, with records and chunks between theirs that promise what they have not: each is replayed and compared,
or refused in a sentence with the file's name, in a second or two and little memory. Saves beside them."""
import random
import resource
import struct
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import mbros
from mbros.study.replay.compare import compare

from tests.fuzz.findings import ROOM, ROOT, Journal, attempt, journal_of

PARTS = ["note", "robot.urdf", "start.mbros", "/mbros/signals", "/mbros/events", "/joint_states"]
SIZES = (0, 1, 3, 8, 22, 100, 2**16, 2**27, 2**27 + 1, 2**31, 2**32 - 1, 2**62, 2**64 - 1)
MOST = 5.0                  # s of processor time
MEMORY = 4 << 30            # bytes of address space of the process


def whole(folder: Path) -> bytes:
    """A recording of a few steps, with events, and without the checksum of all that is in it: what is changed shall be read."""
    sim = mbros.Simulator(mbros.load("double_pendulum"))
    with sim.record(folder / "whole.mcap"):
        sim.advance_to(0.003)
        sim.state.damping[1] = 0.3
        sim.advance_to(0.012)
    blob = (folder / "whole.mcap").read_bytes()
    end = blob.rindex(struct.pack("<BQ", 15, 4)) + 9
    return blob[:end] + bytes(4) + blob[end + 4:]


def repeat(data: bytes) -> int:
    """How much of it was done."""
    with tempfile.TemporaryDirectory() as folder:
        path, begun = Path(folder) / "run.mcap", time.process_time()
        path.write_bytes(data)
        model = mbros.load("double_pendulum")
        done = 0
        for what in (lambda: mbros.replay(path), lambda: mbros.replay(path, model=model),
                     lambda: compare(path, model, bench=False)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", mbros.MbrosWarning)
                try:
                    what()
                    done += 1
                except mbros.MbrosError as e:
                    assert "run.mcap" in str(e) and str(e).isprintable(), e
        try:
            mbros.Simulator(model).restore(data[data.find(b"mbros save"):])
        except mbros.MbrosError as e:
            assert str(e).isprintable(), e
        assert time.process_time() - begun < MOST, f"{time.process_time() - begun:.2f} s"
        return done


def with_records(blob: bytes, rng: random.Random) -> bytes:
    """Records of any kind and length before, or in place of, what is there."""
    import lz4.frame
    import zstandard

    made = b""
    for _ in range(rng.randrange(1, 4)):
        body = rng.choice((b"", rng.randbytes(rng.randrange(60)), bytes(rng.choice((9, 31, 1 << 20)))))
        if rng.randrange(2):
            how = rng.choice(("", "zstd", "lz4", "\0"))
            packed = {"zstd": zstandard.compress, "lz4": lz4.frame.compress}.get(how, bytes)(body)
            size = rng.choice((len(body), len(body), *SIZES))
            body = struct.pack("<QQQII", 0, 0, size, 0, len(how)) + how.encode() + struct.pack(
                "<Q", rng.choice((len(packed), len(packed), *SIZES))) + packed
            made += struct.pack("<BQ", 6, len(body)) + body
        else:
            made += struct.pack("<BQ", rng.randrange(17), rng.choice((len(body), len(body), *SIZES))) + body
    at = rng.choice((8, rng.randrange(8, len(blob))))
    return blob[:at] + made + blob[at + rng.choice((0, len(made))):]


def run(seconds: float, seed: int, count: int | None) -> int:
    sys.path.insert(0, str(ROOT / "tests" / "simulate"))
    from damaged_recordings import damaged

    if not count:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    rng, numbers, journal = random.Random(seed), np.random.default_rng(seed), Journal(journal_of("recordings"))
    with tempfile.TemporaryDirectory() as folder:
        blob = whole(Path(folder))
    end, tried = time.monotonic() + seconds, 0
    while tried < count if count else time.monotonic() < end:
        data = with_records(blob, rng) if rng.randrange(2) else damaged(blob, numbers, PARTS)
        if len(data) > ROOM - 8:
            continue
        journal.write(data)
        attempt("recordings", data, repeat)
        tried += 1
    return tried
