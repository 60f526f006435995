"""Controllers of other processes, in Python and in C, on a loop's shared memory: nothing is torn, a client that is killed changes nothing
but the watchdog, and a simulation that is killed is noticed.

MBROS_EXCHANGES (200000) is how many letters two processes read from each other.
"""
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import mbros
import numpy as np
import pytest
import rig as rigs
from mbros.simulate.shared import SharedMemory
from mbros.simulate.simulator import make_plant
from mbros_core.errors import LoopError
from mbros_core.realtime import get_include
from mbros_core.realtime._shared import names, path_of
from patience import PATIENCE, until

EXCHANGES = int(os.environ.get("MBROS_EXCHANGES", "200000"))


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
        until(lambda: door.counts()["taken"] > 20, "its command")
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
    environment = {word: value for word, value in os.environ.items() if word != "LD_PRELOAD"}      # two sanitizers cannot share a process
    with loop:
        assert subprocess.run([program, name], timeout=PATIENCE, check=False, env=environment).returncode == 0


def test_a_killed_client_changes_nothing_but_the_watchdog(share, name, client):
    loop, door = share(settings={"watchdog_timeout": 0.05, "watchdog_action": "zero"})
    with loop:
        for _ in range(20):
            taken = door.counts()["taken"]
            with subprocess.Popen([client, "control", name, "1000000000"], stderr=subprocess.DEVNULL) as process:
                until(lambda: door.counts()["taken"] > taken + 3, "its command")
                process.send_signal(signal.SIGKILL)
            until(lambda: loop.snapshot()[0].flags & 8, "the watchdog")
        statistics = loop.statistics()
        assert statistics.watchdog_trips >= 20 and loop.fault is None and statistics.inputs[1].refused == 0
        with mbros.connect(name) as arm:                    # the place of the one that commands is free
            arm.wait(PATIENCE)
            number = arm.command(np.zeros(7))
            while arm.command_taken < number:
                arm.wait(PATIENCE)


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
