"""Controllers of other processes, in Python and in C, on a loop's shared memory: nothing is torn, a client that is killed changes nothing
but the watchdog, and what is wrong is said.

MBROS_EXCHANGES (200000) is how many letters two processes read from each other.
"""
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import mbros
import numpy as np
import pytest
import rig as rigs
from mbros.simulate.shared import SharedMemory
from mbros.simulate.simulator import make_plant
from mbros_core.errors import BusyError, LoopError, LoopTimeoutError, SystemRefusedError
from mbros_core.realtime import Loop, get_include
from mbros_core.realtime._shared import names, path_of
from patience import PATIENCE

EXCHANGES = int(os.environ.get("MBROS_EXCHANGES", "200000"))


@pytest.fixture(scope="module")
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


def until(true, what):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.002)


def law(q, v):
    return -20.0 * q - 2.0 * v


def test_nothing_is_torn_between_two_processes(client):
    done = subprocess.run([client, "exchange", str(EXCHANGES)], capture_output=True, text=True, timeout=PATIENCE + EXCHANGES / 1e4)
    assert done.returncode == 0, done.stdout
    assert min(int(word) for word in done.stdout.split() if word.isdigit()) >= EXCHANGES


def test_the_controller_of_the_documentation_compiles_and_runs(share, name, tmp_path, client):
    page = (Path(rigs.HERE).parents[1] / "docs" / "shared_memory.md").read_text(encoding="utf-8")
    (tmp_path / "controller.c").write_text(page.partition("```c\n")[2].partition("```")[0].replace('"arm7"', f'"{name}"'))
    program = str(tmp_path / "controller")
    subprocess.run([rigs.compiler("cc", "gcc", "clang"), "-std=c99", "-Wall", "-Werror", "-I", get_include(),
                    str(tmp_path / "controller.c"), "-o", program], check=True)
    loop, door = share()
    with loop, subprocess.Popen([program]) as process:
        until(lambda: door.counts()["taken"] > 20, "its commands")
        door.close()
        assert process.wait(PATIENCE) == 0


AFTER_OTHERS = """
    #include <math.h>
    #include <stdio.h>
    #include "mbros_client.h"
    int main(int count, char** words) {
        mbros_client arm;
        double tau[7] = {0};
        (void)count;
        if (mbros_open(&arm, words[1]) != MBROS_OK) return 1;
        if (mbros_wait(&arm, INT64_MAX) != MBROS_OK) return 2;
        tau[3] = -HUGE_VAL;
        if (mbros_command(&arm, tau, 0) != MBROS_EVALUE) return 3;
        mbros_close(&arm);
        return 0;
    }
"""


@pytest.mark.parametrize("flags", [["-std=gnu99", "-fsanitize=address,undefined", "-fno-sanitize-recover"],
                                   ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O3", "-ffast-math"]], ids=["sanitized", "fast-math"])
def test_a_controller_with_its_own_headers_and_flags(share, name, tmp_path, client, flags):
    (tmp_path / "controller.c").write_text(AFTER_OTHERS)
    program = str(tmp_path / "controller")
    subprocess.run([rigs.compiler("cc", "gcc", "clang"), *flags, "-Wall", "-Wextra", "-Werror", "-I", get_include(),
                    str(tmp_path / "controller.c"), "-lm", "-o", program], check=True)
    loop, _ = share()
    with loop:
        assert subprocess.run([program, name], timeout=PATIENCE, check=False).returncode == 0


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


CONTROLLER = """
    import sys, mbros
    with mbros.connect(sys.argv[1]) as arm:
        while arm.step < 400:
            arm.wait(60.0)
            arm.command(-20.0 * arm.q - 2.0 * arm.v)
"""


@pytest.mark.parametrize("ratio", [(1, 1), (1, 4), (333, 1000)])
@pytest.mark.parametrize("language", ["Python", "C"])
def test_lockstep_is_the_same_to_the_bit_as_in_one_process(share, name, client, ratio, language):
    loop, door = share(settings={"real_time_factor": 0, "watchdog_timeout": None, "paused": True}, lockstep=ratio)
    loop.start()
    loop.reset([0, 0.5, 0, -0.7, 0, 0, 0], np.zeros(7))
    words = [sys.executable, "-c", textwrap.dedent(CONTROLLER), name] if language == "Python" else [client, "control", name, "400"]
    with subprocess.Popen(words) as process:
        loop.step_once(400, timeout=PATIENCE)
        _, x = loop.snapshot()
        process.send_signal(signal.SIGKILL)
    twin = mbros.Simulator(mbros.load("arm7"))
    twin.state.q[:] = [0, 0.5, 0, -0.7, 0, 0, 0]
    mbros.Lockstep(twin, {lambda state: law(state.q, state.v): ratio}).run(0.4)
    assert (x[:7] == twin.state.q).all() and (x[7:14] == twin.state.v).all()


def test_a_killed_client_changes_nothing_but_the_watchdog(share, name, client):
    loop, door = share(settings={"watchdog_timeout": 0.05, "watchdog_action": "zero"})
    with loop:
        for _ in range(20):
            taken = door.counts()["taken"]
            with subprocess.Popen([client, "control", name, "1000000000"], stderr=subprocess.DEVNULL) as process:
                until(lambda: door.counts()["taken"] > taken + 3, "its commands")
                process.send_signal(signal.SIGKILL)
            until(lambda: loop.snapshot()[0].flags & 8, "the watchdog")
        statistics = loop.statistics()
        assert statistics.watchdog_trips >= 20 and loop.fault is None and statistics.inputs[1].refused == 0
        with mbros.connect(name) as arm:                    # the place of the one that commands is free
            arm.wait(PATIENCE)
            number = arm.command(np.zeros(7))
            while arm.command_taken < number:
                arm.wait(PATIENCE)


def test_one_client_commands_at_a_time(share, name):
    loop, _ = share()
    with loop, mbros.connect(name) as first, mbros.connect(name) as second:
        first.command(np.zeros(7))
        with pytest.raises(BusyError, match=f"process {os.getpid()} commands already"):
            second.command(np.zeros(7))
        second.wait(PATIENCE)
        first.release()
        assert second.command(np.zeros(7)) == 2


@pytest.fixture
def cores():
    """Those that this process may use; the test's thread may go to one of them."""
    own = os.sched_getaffinity(0)
    yield sorted(own)
    os.sched_setaffinity(0, own)


def exchange(name, while_true, **options):
    """Seconds that a client has spun, after it has answered states as long as something is true of it."""
    end = time.monotonic() + PATIENCE
    with mbros.connect(name, **options) as arm:
        while while_true(arm):
            arm.wait(PATIENCE)
            arm.command(np.zeros(7))
            assert time.monotonic() < end, "waited in vain for a spin"
        return arm.spun


def test_nobody_spins_on_the_core_of_the_other(share, name, cores):
    os.sched_setaffinity(0, cores[:1])
    loop, door = share(settings={"real_time_factor": 0}, lockstep=(1, 1))
    with loop:                                              # its thread is on this core too
        assert exchange(name, lambda arm: arm.number < 300) == door.spun == 0.0


def test_a_wait_spins_where_the_other_side_has_its_own_core(share, name, cores):
    if len(cores) < 2:
        pytest.skip("one core")
    loop, door = share(settings={"real_time_factor": 0, "cpu": cores[0]}, lockstep=(1, 1))
    with loop:
        os.sched_setaffinity(0, cores[1:2])
        assert exchange(name, lambda arm: arm.number < 300, spin=0.0) == 0.0
        assert exchange(name, lambda arm: arm.spun == 0.0 or door.spun == 0.0) > 0.0


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
    from mbros_core.devices._commanded import CommandedPlant
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


def test_a_killed_simulation_is_noticed_and_its_name_is_free(name):
    server = """
        import sys, time, mbros
        from mbros.simulate.shared import SharedMemory
        from mbros.simulate.simulator import make_plant
        from mbros_core.realtime import Loop
        plant = make_plant(mbros.load("pendulum"))
        door = SharedMemory(sys.argv[1], plant)
        loop = Loop(plant, inputs=[door.input], outputs=[door.output], rt="off").start()
        print("up", flush=True)
        time.sleep(600)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(server), name], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "up\n"
            arm = mbros.connect(name)
            arm.wait(PATIENCE)
        finally:
            process.send_signal(signal.SIGKILL)
        process.wait()
        with pytest.raises(LoopError, match="has ended"):
            for _ in range(2):                              # one state may have come meanwhile
                arm.wait(PATIENCE)
    with pytest.raises(LoopError, match="no simulation shares"):
        mbros.connect(name)
    assert os.path.exists(path_of(name)) and name not in names()
    SharedMemory(name, make_plant(mbros.load("pendulum"))).close()
    assert not os.path.exists(path_of(name))


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


def test_a_late_answer_is_counted_and_the_policy_followed(share, name):
    loop, door = share(settings={"real_time_factor": 0, "watchdog_timeout": None, "paused": True}, lockstep=(1, 1), timeout=0.05,
                       policy="hold")
    with loop, mbros.connect(name) as arm:
        loop.step_once(20, timeout=PATIENCE)                # nobody answers: the first is waited for, the others are not
        assert door.counts()["late"] == 1 and loop.snapshot()[0].step == 20
        arm.read()
        arm.command(np.zeros(7))
        door.set_patience(0.05, "stop")
        with pytest.raises(LoopError, match="0 of 5 steps done|1 of 5 steps done"):
            loop.step_once(5, timeout=PATIENCE)
        door.set_patience(0.0, "wait")
        with pytest.raises(LoopTimeoutError):
            loop.step_once(5, timeout=0.3)


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
