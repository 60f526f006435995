"""end_with: a process ends with the one that started it."""
import signal
import subprocess
import sys
import threading

import pytest
from patience import PATIENCE, until
from process_groups import living

from mbros_core.support.processes import held

PARENT = """import os, subprocess, sys, time
from mbros_core.support.processes import end_with
subprocess.Popen(["sleep", "100000"], preexec_fn=end_with(os.getpid()))
print("started", flush=True)
time.sleep(100000)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_child_ends_with_its_parent(number):
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        assert parent.stdout.readline() == "started\n" and len(living(parent.pid)) == 2
        parent.send_signal(number)
        parent.wait(PATIENCE)
        until(lambda: not living(parent.pid), "the end of the child")


def test_a_child_whose_parent_has_ended_already_ends():
    text = "from mbros_core.support.processes import end_with; end_with(0)(); print('goes on')"
    run = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert (run.returncode, run.stdout) == (128 + signal.SIGTERM, "")


def test_a_held_signal_waits_and_is_not_lost():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        with held(signal.SIGUSR1):
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
            assert not seen
        assert seen == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)
