"""Shared memory that somebody damages, cuts short, writes over or puts in the way: clients and simulations end in a sentence, or go on."""
import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import mbros
import numpy as np
import pytest
import rig as rigs
from mbros.simulate.described import read_description
from mbros.simulate.shared import SharedMemory
from mbros.simulate.simulator import make_plant
from mbros_core.errors import BusyError, LoopError, LoopTimeoutError, SystemRefusedError
from mbros_core.realtime import Loop, get_include
from mbros_core.realtime._shared import names, path_of
from patience import PATIENCE, until

NOBODY, NEWNS, NEWIPC = 65534, 0x00020000, 0x08000000
root = pytest.mark.skipif(os.geteuid() != 0, reason="plays another user: needs root")
C = ctypes.CDLL(None, use_errno=True)
C.shmat.restype = ctypes.c_void_p


def aside(work, seconds=60):
    """What `work` returns, as text, of a process of its own, which has so many seconds."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(seconds)
            os.write(writable, str(work()).encode()[:4000])
        except BaseException as error:
            os.write(writable, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(0)
    os.close(writable)
    with open(readable, "rb") as pipe:
        said = pipe.read().decode()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended == 0, f"it ended with {ended}"
    return said


def as_nobody(work):
    def other():
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        return work()

    return aside(other)


def segment(name, which):
    """The address of the states (0) or commands (1) of a simulation."""
    at = C.shmat(struct.unpack_from("<2i", Path(path_of(name)).read_bytes(), 32)[which], None, 0)
    assert at not in (None, ctypes.c_void_p(-1).value), os.strerror(ctypes.get_errno())
    return at


@pytest.fixture(autouse=True)
def place(name):
    """Where the file of that name stands; what a test, or a process of its own, leaves there goes with it."""
    path = Path(path_of(name))
    yield path
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    program = str(tmp_path_factory.mktemp("hostile") / "hostile")
    compiler = rigs.compiler("cc", "gcc", "clang")
    if compiler is None:
        pytest.skip("no C compiler")
    subprocess.run([compiler, "-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover", "-Wall", "-Wextra", "-Wpedantic",
                    "-Werror", "-I", get_include(), os.path.join(rigs.HERE, "hostile.c"), "-o", program], check=True)
    return program


def run(*words):
    environment = {word: value for word, value in os.environ.items() if word != "LD_PRELOAD"}      # two sanitizers cannot share a process
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment)


# ------------------------------------------------------------------------------------------------ damaged

def test_trial_X2_a_client_in_C_before_thousands_of_damaged_files(share, name, hostile):
    loop, _ = share()
    with loop:
        done = run(hostile, name, "2000", "7")
        assert done.returncode == 0, done.stdout + done.stderr
        assert 100 < int(done.stdout.split()[0]) < 1900
        step = loop.snapshot()[0].step
        until(lambda: loop.snapshot()[0].step > step, "the next step")
        assert loop.fault is None


def test_trial_X2_a_file_cut_short_stops_nobody(share, name, hostile):
    def work():
        loop, door = share()
        with loop, mbros.connect(name) as arm:
            arm.wait(PATIENCE)
            os.truncate(path_of(name), 0)
            for _ in range(20):
                arm.wait(PATIENCE)
                arm.command(np.zeros(7))
            until(lambda: door.counts()["taken"] > 3, "its commands")
            Path(path_of(name)).write_bytes(b"\xff" * 100)
            arm.wait(PATIENCE)
            return run(hostile, name).stdout + str(pytest.raises(LoopError, mbros.connect, name).value)

    said = aside(work)
    assert said.startswith("the simulation's file in /dev/shm is damaged") and "is damaged: it was cut short or written over" in said, said


def test_trial_X2_a_file_cut_short_while_clients_come(share, name):
    def work():
        share()
        whole, stop = Path(path_of(name)).read_bytes(), threading.Event()

        def cut():
            with open(path_of(name), "r+b") as file:
                while not stop.is_set():
                    for k in (0, 64, len(whole)):
                        os.ftruncate(file.fileno(), k)
                        time.sleep(1e-4)
                    os.pwrite(file.fileno(), whole, 0)
                    time.sleep(1e-4)

        thread = threading.Thread(target=cut)
        thread.start()
        opened = refused = 0
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            try:
                mbros.connect(name).close()
                opened += 1
            except LoopError:
                refused += 1
        stop.set()
        thread.join()
        return opened > 0 and refused > 0

    assert aside(work) == "True"


def test_trial_X2_another_version_is_named(share, name):
    share()
    with open(path_of(name), "r+b") as file:
        os.pwrite(file.fileno(), struct.pack("<I", 1), 8)
    with pytest.raises(LoopError, match="is of another version of mbros"):
        mbros.connect(name)


def test_trial_X2_what_a_simulation_says_of_itself_is_checked(share, name):
    share()
    whole = Path(path_of(name)).read_bytes()
    text = whole[80:]
    draw = np.random.default_rng(3)
    wrong = {"no JSON": text.replace(b"{", b"[", 1), "JSON \\(": b"\xff" * len(text),
             "no table": b'"' + b"x" * (len(text) - 2) + b'"', "`dt`": text.replace(b'"dt": 0.001', b'"dt": -1e99'),
             "where a name": text.replace(b"joint1", b"join\\n"), "part 'q'": text.replace(b'"q"', b'"Q"'),
             "expected \\[begin, count\\]": text.replace(b"[0, 7]", b"[-1,7]")}
    with pytest.raises(LoopError, match="`dt` is 9+"):                      # more than a float can be
        read_description(name, text.decode().replace('"dt": 0.001', f'"dt": {"9" * 400}'), (4096, 4096))
    with pytest.raises(LoopError, match="nested too deep"):
        read_description(name, "[" * 100_000, (0, 0))
    for words, bad in wrong.items():
        assert len(bad) == len(text), words
        with open(path_of(name), "r+b") as file:
            os.pwrite(file.fileno(), bad, 80)
        with pytest.raises(LoopError, match=words):
            mbros.connect(name)
    for _ in range(300):
        bad = bytearray(text)
        for _ in range(draw.integers(1, 6)):
            bad[draw.integers(0, len(bad))] = draw.integers(0, 256)
        with open(path_of(name), "r+b") as file:
            os.pwrite(file.fileno(), bytes(bad), 80)
        try:
            mbros.connect(name).close()
        except LoopError:
            pass


def test_trial_X2_a_state_that_is_never_whole_ends_in_time(share, name):
    def work():
        share()
        with mbros.connect(name) as arm:
            ctypes.c_uint64.from_address(segment(name, 0) + 8).value = 2 ** 64 - 3         # number of the newest
            assert not arm.read() and arm.number == 0 and np.isnan(arm.q).all()
            with pytest.raises(LoopTimeoutError, match="no new state within 0.05 s"):
                arm.wait(0.05)
        return "done"

    assert aside(work) == "done"


def test_trial_X2_numbers_of_clients_are_bounded(name):
    """What is commanded, 0 to 7 of a coordinate, is a number of the client's, too."""
    bench = mbros.Bench()
    bench.add(mbros.PositionServo("servo2", joint="joint2", kp=200.0, kd=20.0))
    from mbros_core.plant._commanded import CommandedPlant
    plant = CommandedPlant(mbros.Simulator(mbros.load("arm7"), bench=bench).plant)
    with SharedMemory(name, plant) as door:
        loop = Loop(plant, inputs=[door.input], outputs=[door.output], rt="off", watchdog_timeout=None)
        with loop, mbros.connect(name) as arm:
            arm.wait(PATIENCE)
            for k, wrong in enumerate((1e18, -1.0, 8.0, 2.5), 1):
                values = np.zeros(28)
                values[21] = wrong
                arm._client.command(values)
                until(lambda k=k: door.counts()["too large"] == k, "the look at it")
            assert door.counts()["taken"] == 0
            arm._client.command(np.r_[np.zeros(21), 0, 1, np.full(5, np.nan)])
            until(lambda: door.counts()["taken"] == 1, "a good one")


# ------------------------------------------------------------------------------------------------ in the way

@root
def test_trial_X2_another_users_file_is_no_simulation(share, name, place):
    """Whole, locked and open to all: as it was before, but of somebody else."""
    share()
    whole = place.read_bytes()
    other = f"{name}-other"
    path = Path(path_of(other))
    assert as_nobody(lambda: path.write_bytes(whole) and path.chmod(0o666)) == "None"
    try:
        with path.open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX, 1)
            with pytest.raises(LoopError, match=f"other is a file of user {NOBODY}, and no simulation's of this user; remove it"):
                mbros.connect(other)
            assert other not in names()
            with pytest.raises(SystemRefusedError, match=f"is a file of user {NOBODY}.*choose another name") as refused:
                SharedMemory(other, make_plant(mbros.load("pendulum")))
            assert refused.value.errno == errno.EEXIST and path.exists()
    finally:
        path.unlink()


def test_trial_X2_names_that_are_listed_are_names(share, name):
    share()
    odd = [f"{path_of(name)}{more}" for more in ("\x1b[2J", "\nforged", "\udc80")]
    files = [os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for path in odd]
    try:
        for file in files:
            fcntl.lockf(file, fcntl.LOCK_EX, 1)                    # as a simulation that runs
        with pytest.raises(LoopError) as refused:
            mbros.connect("nobody")
        assert str(refused.value).isprintable() and name in str(refused.value)
    finally:
        for path, file in zip(odd, files, strict=True):
            os.unlink(path)
            os.close(file)
    with pytest.raises(mbros.MbrosError, match="no name"):
        mbros.connect("\udc80")


@root
def test_trial_X2_another_user_cannot_come_in(share, name):
    share()
    assert oct(os.stat(path_of(name)).st_mode & 0o7777) == "0o600"
    path = path_of(name)
    states, commands = struct.unpack_from("<2i", Path(path).read_bytes(), 32)
    assert "Permission" in as_nobody(lambda: open(path))
    for id in (states, commands):
        for flags in (0, 0o10000):              # SHM_RDONLY
            assert int(as_nobody(lambda id=id, flags=flags: C.shmat(id, None, flags))) in (-1, 2 ** 64 - 1)


def put(kind, path, tmp_path):
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    else:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "socket"])
def test_trial_X2_a_name_that_is_taken_is_named(name, place, tmp_path, hostile, kind):
    put(kind, place, tmp_path)
    with pytest.raises(SystemRefusedError, match=f"is a {kind}, and no simulation's of this user; remove it, or choose another name"):
        SharedMemory(name, make_plant(mbros.load("pendulum")))
    with pytest.raises(LoopError, match=f"is a {kind}"):
        mbros.connect(name)
    assert "not a file of this user alone" in run(hostile, name).stdout
    assert os.path.lexists(place)
    assert name not in names() and not (tmp_path / "elsewhere").exists()


def test_trial_X2_a_file_that_others_may_open_is_replaced_or_named(name, place, tmp_path):
    plant = make_plant(mbros.load("pendulum"))
    with SharedMemory(name, plant):
        for spoil, mend, words in ((lambda: place.chmod(0o666), lambda: place.chmod(0o600), "a file of mode 0666 instead of 0600"),
                                   (lambda: os.link(place, f"{place}-2"), lambda: os.unlink(f"{place}-2"), "a file with 2 names")):
            spoil()
            try:
                with pytest.raises(LoopError, match=words):
                    mbros.connect(name)
                with pytest.raises(SystemRefusedError, match=words):
                    SharedMemory(name, plant)
            finally:
                mend()
        with pytest.raises(BusyError):
            SharedMemory(name, plant)
        mbros.connect(name).close()
    place.write_text("left by a dead one")
    place.chmod(0o666)
    before = os.umask(0o277)
    try:
        with SharedMemory(name, plant):
            assert place.stat().st_mode & 0o7777 == 0o600
            mbros.connect(name).close()
    finally:
        os.umask(before)


@root
def test_trial_X2_a_full_dev_shm_is_said_at_the_start(name):
    def work():
        assert C.unshare(NEWNS) == 0 and C.mount(b"none", b"/", None, 0x44000, None) == 0              # MS_REC | MS_PRIVATE
        assert C.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=8k") == 0
        Path("/dev/shm/full").write_bytes(bytes(8192))
        return SharedMemory(name, make_plant(mbros.load("pendulum")))

    said = aside(work)
    assert said.startswith("SystemRefusedError: shared memory") and "/dev/shm has no room for" in said and "No space left" in said, said


@root
def test_trial_X2_no_segment_left_is_said_at_the_start(name):
    def work():
        assert C.unshare(NEWIPC) == 0
        Path("/proc/sys/kernel/shmmni").write_text("0")            # of the new namespace
        return SharedMemory(name, make_plant(mbros.load("pendulum")))

    said = aside(work)
    assert "no System V segment of" in said and "No space left" in said, said
    assert not os.path.exists(path_of(name))


@root
def test_trial_X2_memory_of_another_container_is_named(share, name):
    def work():
        assert C.unshare(NEWIPC) == 0
        return mbros.connect(name)

    share()
    said = aside(work)
    assert said.startswith("LoopError") and "is not in this IPC namespace" in said, said
