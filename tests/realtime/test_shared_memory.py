"""A client on a loop's shared memory: what it reads, commands and is refused; names, ends and damaged files."""
import fcntl
import os
import signal
import time
from pathlib import Path

import mbros
import numpy as np
import pytest
from mbros.simulate.shared import SharedMemory
from mbros.simulate.simulator import make_plant
from mbros_core.errors import BusyError, LoopError, LoopTimeoutError, SystemRefusedError
from mbros_core.realtime import Loop
from mbros_core.realtime._shared import names, path_of
from patience import PATIENCE


def test_a_client_reads_what_the_loop_shows_and_commands_it(share, name):
    loop, door = share(settings={"watchdog_timeout": None})
    with loop, mbros.connect(name) as arm:
        assert (arm.robot, arm.dt, arm.position_names, arm.lockstep) == ("arm7", 1e-3, tuple(loop._plant.model.position_names), None)
        arm.wait(PATIENCE)
        number = arm.command({"joint2": 5.0})
        while arm.command_taken < number:
            arm.wait(PATIENCE)
        assert (arm["effort"] == [0, 5, 0, 0, 0, 0, 0]).all() and not (arm.paused or arm.fault or arm.watchdog)
        before = arm.number
        arm.wait(PATIENCE)
        assert arm.number > before and arm.time == pytest.approx(arm.step * arm.dt) and arm.command_age >= 0.0
        loop.pause()
        loop.reset(q=np.arange(7) * 0.1, v=np.zeros(7))
        arm.read()
        header, x = loop.snapshot()
        assert arm.paused and arm.step == header.step == 0
        for part, (start, count) in loop._plant.layout.items():
            assert (arm[part] == x[start:start + count]).all(), part
        assert loop.statistics().inputs[1].accepted == door.counts()["taken"] == 1
    with pytest.raises(ValueError, match="read-only"):
        arm.q[0] = 1.0
    with pytest.raises(LoopError, match="it is closed"):
        arm.read()


def test_one_client_commands_at_a_time(share, name):
    loop, _ = share()
    with loop, mbros.connect(name) as first, mbros.connect(name) as second:
        first.command(np.zeros(7))
        with pytest.raises(BusyError, match=f"process {os.getpid()} commands already"):
            second.command(np.zeros(7))
        second.wait(PATIENCE)
        first.release()
        assert second.command(np.zeros(7)) == 2


def test_commands_follow_the_rules_of_every_input(share, name):
    loop, door = share(settings={"watchdog_timeout": None}, limit=100.0)
    with loop, mbros.connect(name) as arm:
        arm.wait(PATIENCE)                                  # the first slot shows the start, and takes no step

        def taken(values):
            number = arm.command(values)
            while arm.command_taken < number:
                arm.wait(PATIENCE)
            return list(arm["effort"])

        assert taken([1, 2, 3, 4, 5, 6, 7]) == [1, 2, 3, 4, 5, 6, 7]
        assert taken({"joint3": 0.5}) == [1, 2, 0.5, 4, 5, 6, 7]
        assert taken([np.nan] * 6 + [1.0]) == [1, 2, 0.5, 4, 5, 6, 1]
        assert taken([101.0] + [0.0] * 6) == [1, 2, 0.5, 4, 5, 6, 1] and door.counts()["too large"] == 1
        for wrong, words in (([np.inf] * 7, "finite"), ([0.0] * 6, "7 numbers"), ({"joint9": 1.0}, "no coordinate 'joint9'"),
                             ("fast", "expected"), ({"joint1": np.nan}, "joint1")):
            with pytest.raises(mbros.MbrosError, match=words):
                arm.command(wrong)
        with pytest.raises(mbros.MbrosError, match="no bench"):
            arm.command(position={"joint1": 0.5})


def test_positions_go_to_the_servos_of_a_bench(name):
    bench = mbros.Bench()
    model = mbros.load("arm7")
    bench.add(mbros.PositionServo("servo2", joint="joint2", kp=200.0, kd=20.0))
    bench.add(mbros.VelocityServo("servo4", joint="joint4", kd=20.0))
    bench.add(mbros.Motor("motor3", joint="joint3", resistance=1.0, torque_constant=0.1, gear_ratio=100.0, voltage_limit=48.0,
                          current_limit=10.0))
    sim = mbros.Simulator(model, bench=bench)
    from mbros_core.plant._commanded import CommandedPlant
    plant = CommandedPlant(sim.plant)
    with SharedMemory(name, plant) as door:
        loop = Loop(plant, inputs=[door.input], outputs=[door.output], rt="off", watchdog_timeout=None, real_time_factor=0)
        with loop, mbros.connect(name) as arm:
            for wrong, words in (({"position": {"joint3": 0.1}}, "position of 'joint3': no actuator of the joint takes .*effort"),
                                 ({"position": [0.0, np.nan] + [np.nan] * 5}, "position of 'joint1'"),
                                 ({"velocity": {"joint5": 0.1}, "effort": {"joint5": 1.0}}, "velocity of 'joint5'"),
                                 ({"position": {"joint4": 0.1}}, "position of 'joint4'.* it takes velocity, effort")):
                with pytest.raises(mbros.MbrosError, match=words):
                    arm.command(**wrong)
            assert arm.command(velocity={"joint4": 0.0}, effort={"joint3": 0.0}) == 1
            arm.command(position={"joint2": 0.4})
            end = time.monotonic() + PATIENCE
            while not (arm.time > 3.0 and abs(arm.q[1] - 0.4) < 0.2):
                arm.wait(PATIENCE)
                assert time.monotonic() < end, arm.q


def test_names_and_ends(share, name):
    loop, door = share()
    assert name in names()
    with pytest.raises(BusyError, match=f"named '{name}' runs already"):
        SharedMemory(name, loop._plant)
    for wrong in ("", "a/b", "a b", ".hidden", "é", "x" * 101):
        with pytest.raises(mbros.MbrosError, match="is no name"):
            mbros.connect(wrong)
    with pytest.raises(mbros.MbrosError, match="spin"):
        mbros.connect(name, spin=-1e-6)
    with pytest.raises(LoopError, match=f"no simulation shares its memory under the name 'nobody'.*{name}"):
        mbros.connect("nobody")
    with mbros.connect(name) as arm:
        assert not arm.read() and arm.number == 0
        with pytest.raises(LoopTimeoutError, match="no new state within 0.03 s"):
            arm.wait(0.03)
        door.close()
        for leave in (lambda: arm.wait(PATIENCE), lambda: arm.command(np.zeros(7)), arm.read):
            with pytest.raises(LoopError, match="has ended"):
                leave()
    assert name not in names() and not os.path.exists(path_of(name))


def test_signals_do_not_shorten_a_wait(share, name):
    """As those of a profiler, of which there are a hundred or a thousand a second."""
    share()
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
    try:
        with mbros.connect(name) as arm:
            begun = time.monotonic()
            with pytest.raises(LoopTimeoutError):
                arm.wait(0.15)
            assert time.monotonic() - begun >= 0.15
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_file_of_something_else_is_refused(share, name):
    """A file that is damaged anywhere in its header is refused, or read within its bounds."""
    share()
    good = bytearray(Path(path_of(name)).read_bytes())
    draw, refused = np.random.default_rng(5), 0
    for k in range(300):
        bad = bytearray(good[:draw.integers(0, len(good))] if k % 10 == 0 else good)
        for _ in range(draw.integers(1, 4) if len(bad) > 200 else 0):
            bad[draw.integers(0, 96)] = draw.integers(0, 256)
        other = f"{name}-{k}"
        with open(path_of(other), "w+b") as file:
            file.write(bad)
            file.flush()
            fcntl.lockf(file, fcntl.LOCK_EX, 1)
            try:
                with mbros.connect(other) as arm:
                    arm.read()
            except (LoopError, SystemRefusedError, ValueError, KeyError):
                refused += 1
            finally:
                os.unlink(path_of(other))
    assert 100 < refused <= 300


def test_the_loop_allocates_nothing_with_its_memory_shared(share, name):
    loop, _ = share(settings={"watchdog_timeout": None, "count_allocations": True, "clock": "virtual"})
    with mbros.connect(name) as arm:
        arm.command(np.zeros(7))
        loop.start(slots=2000)
        assert loop.wait(PATIENCE)
    statistics = loop.statistics()
    if statistics.allocations is None:
        pytest.skip("allocations cannot be counted here")
    assert statistics.allocations == 0


@pytest.mark.parametrize("options, words", [({"lockstep": (2, 1)}, "1 <= n <= m"), ({"lockstep": 3}, "expected \\(n, m\\)"),
                                            ({"timeout": -1.0}, "timeout"), ({"policy": "later"}, "policy"), ({"dt": -1.0}, "dt"),
                                            ({"spin": 0.1}, "spin")])
def test_what_cannot_be_is_refused(name, options, words):
    plant = make_plant(mbros.load("pendulum"))
    with pytest.raises(mbros.MbrosError, match=words):
        SharedMemory(name, plant, **options)
    assert not os.path.exists(path_of(name))
