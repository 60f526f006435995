"""How a process ends that was asked to, whatever holds it: the thread that takes its signals, and the last resort. Nothing here is ROS."""
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
HELD = """
import ctypes
from mbros.ros.process.ending import Ending
ending = Ending()
if {in_order}:
    ending.in_order()
    ending.now("holding Python's lock")
if {asked}:
    ending.ask(failed={failed})
print("held", flush=True)
ctypes.PyDLL(None).sleep({seconds})
"""
LAST_SENTENCE = "mbros: ended without leaving in order, 1.6 s after it was asked to (it was holding Python's lock)\n"


def held(in_order: bool, asked: bool, failed: bool = False) -> list[str]:
    """The command of a process of which no thread of Python can run any more once it has said so: as rclpy does while it closes a node, and
    an import while a library is read from the disk."""
    return [sys.executable, "-c", HELD.format(in_order=in_order, asked=asked, failed=failed, seconds=int(10 * PATIENCE))]


@pytest.mark.parametrize("in_order, asked, said", [
    pytest.param(False, False, "", id="starting"), pytest.param(True, False, LAST_SENTENCE, id="in order"),
    pytest.param(True, True, LAST_SENTENCE, id="asked before")])
def test_a_node_that_is_held_fast_with_pythons_lock_ends_all_the_same(in_order, asked, said):
    process = subprocess.Popen(held(in_order, asked), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout.readline() == "held\n"
    if not asked:
        process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=5 * PATIENCE)
    assert (process.returncode, errors) == (0, said)


def test_what_has_failed_ends_with_one_however_it_ends():
    done = subprocess.run(held(in_order=True, asked=True, failed=True), capture_output=True, text=True, timeout=5 * PATIENCE, cwd=ROOT)
    assert (done.returncode, done.stderr) == (1, LAST_SENTENCE)


def test_a_last_sentence_that_nobody_reads_holds_nobody():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    process = subprocess.Popen(held(in_order=True, asked=True), stdout=subprocess.DEVNULL, stderr=writing, cwd=ROOT)
    try:
        assert process.wait(5 * PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reading)
        os.close(writing)
