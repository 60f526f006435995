"""Fixtures for the real-time loop: everything real, the plant and the ports in compiled C."""
from __future__ import annotations

import os
import subprocess

import mbros
import pytest
import rig as rigs
from mbros.simulate.shared import SharedMemory
from mbros.simulate.simulator import make_plant
from mbros_core.realtime import Loop, get_include


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    if rigs.compiler("cc", "gcc", "clang") is None:
        pytest.skip("no C compiler to build the test plant with")
    return rigs.compile_library(tmp_path_factory.mktemp("rig"))


@pytest.fixture(scope="session")
def c(library):
    return rigs.load(library)


@pytest.fixture
def rig(c, library):
    return rigs.Rig(c, library=library)


@pytest.fixture
def script(c):
    return lambda at, commands: rigs.Script(c, at, commands)


@pytest.fixture
def allocates_nothing():
    """allocates_nothing(plant): the loop's thread takes no memory over 2000 slots, once warm."""
    def check(plant):
        loop = Loop(plant, clock="virtual", rt="off", watchdog_timeout=None, count_allocations=True)
        loop.start(slots=2000)
        assert loop.wait(60.0)
        s = loop.statistics()
        if s.allocations is None:
            pytest.skip(loop.privileges.sentences[-1])
        assert s.warm and s.allocations == 0

    return check


@pytest.fixture
def bench(c, rig):
    """Make a loop on the virtual clock with a log of what it publishes: bench(**options of Loop)."""
    loops = []

    def make(**options):
        log = rigs.Log(c, rig)
        options.setdefault("clock", "virtual")
        options.setdefault("watchdog_timeout", None)
        options.setdefault("rt", "off")
        loop = Loop(rig, options.pop("dt", 1e-3), outputs=[log], **options)
        loops.append(loop)
        return loop, log

    yield make
    for loop in loops:
        rig.tune()
        loop.stop()


@pytest.fixture(scope="session")
def client(tmp_path_factory):
    """The program shared.c, compiled alone as C99."""
    if rigs.compiler("cc", "gcc", "clang") is None:
        pytest.skip("no C compiler")
    program = str(tmp_path_factory.mktemp("shared") / "shared")
    subprocess.run([rigs.compiler("cc", "gcc", "clang"), "-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I",
                    get_include(), os.path.join(rigs.HERE, "shared.c"), "-o", program], check=True)
    return program


@pytest.fixture
def name(request):
    return f"test-{os.getpid()}-{abs(hash(request.node.name)) % 10**6}"


@pytest.fixture
def share(name):
    """share(robot, loop settings, **of the door): (loop, door), not started yet; closed after the test."""
    made = []

    def start(robot="arm7", settings=(), **options):
        plant = make_plant(robot if isinstance(robot, mbros.Model) else mbros.load(robot))
        door = SharedMemory(name, plant, **options)
        loop = Loop(plant, inputs=[door.input], outputs=[door.output], gate=door.gate, rt="off", **dict(settings))
        made.append((loop, door))
        return loop, door

    yield start
    for loop, door in made:
        loop.stop()
        door.close()
