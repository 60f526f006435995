"""The ends of a node: at any moment, by any signal, as often as one likes; what fails before it, and what fails after."""
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import PATIENCE, until
from process_groups import living
from ros_client import ROOT
from soak.node_ends import Node, soak

from mbros.ros.process.arguments import parser

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_trial_C2_C3_A2_random_moments_and_signals(executor, tmp_path):
    """The quick form of `python -m tests.soak.node_ends --count 2000`, without looking at the clock."""
    ends = soak(12, parallel=2, load=2, folder=tmp_path, say=lambda text: None)
    assert not [str(end) for end in ends if end.code != 0]
    last_resort = "ended without leaving in order"              # a machine that is far too busy, not a wrong line
    assert not [line for end in ends for line in end.false_lines if last_resort not in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_soak_that_is_ended_takes_its_nodes_with_it(number):
    soak = subprocess.Popen([sys.executable, "-m", "tests.soak.node_ends", "--count", "1000", "--parallel", "2"], stdout=subprocess.PIPE,
                            text=True, cwd=ROOT, start_new_session=True)
    try:
        assert soak.stdout.readline().startswith("idle: 500 starts, 2 at once")
        time.sleep(0.5)
        soak.send_signal(number)
        assert soak.wait(PATIENCE) == 128 + number
        assert not living(soak.pid)
    finally:
        for pid in living(soak.pid):
            os.kill(pid, signal.SIGKILL)
        soak.wait()
        soak.stdout.close()


@pytest.mark.parametrize("entry", ["python -m mbros.ros", "mbros node", "sim_node"])
@pytest.mark.parametrize("moment", [0.0, 0.1])
def test_a_signal_while_python_is_still_importing(tmp_path, entry, moment):
    node = Node(tmp_path, entry, "arm7", 90)
    assert node.until(node.listens)
    time.sleep(moment)
    os.kill(node.pid, signal.SIGINT)
    code, _ = node.wait()
    assert (code, node.lines()) == (0, [])


def test_a_signal_in_the_shell_of_sim_node_waits_or_ends_it(tmp_path):
    """Before Python is there: blocked by env (coreutils 8.31), so that it is pending when Python looks."""
    done = subprocess.run(["env", "--block-signal=TERM", "true"], capture_output=True)
    if done.returncode:
        pytest.skip("this env cannot block signals")
    script = (ROOT / "scripts/sim_node").read_text()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text(f"#!/bin/sh\nkill -TERM $$\nexec {sys.executable} \"$@\"\n")
    (tmp_path / "lib/mbros").mkdir(parents=True)
    for path, text in (("lib/mbros/sim_node", script),):
        (tmp_path / path).write_text(text)
    for path in ("bin/python3", "lib/mbros/sim_node"):
        (tmp_path / path).chmod(0o755)
    done = subprocess.run([tmp_path / "lib/mbros/sim_node"], capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_terminal_that_goes_is_no_reason_under_nohup(tmp_path):
    with (tmp_path / "log.txt").open("w") as out:
        process = subprocess.Popen(["nohup", sys.executable, "-m", "mbros.ros", "pendulum", "--ros-args", "-r", "__ns:=/nohup"],
                                   stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=ROOT)
    try:
        until(lambda: "simulating" in (tmp_path / "log.txt").read_text())
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def test_trial_C1_a_node_that_was_told_to_ends_with_another_process(tmp_path):
    parent = subprocess.Popen(["sleep", "1000"])
    node = Node(tmp_path, "python -m mbros.ros", "pendulum", 91, "--end-with", str(parent.pid))
    try:
        assert node.until(node.simulates)
    finally:
        parent.kill()
        parent.wait()
    assert node.wait()[0] == 0
    late = Node(tmp_path, "python -m mbros.ros", "pendulum", 91, "--end-with", str(parent.pid))
    assert late.wait()[0] == 0 and not late.simulates()


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_closed_lead_nowhere(closed):
    """A supervisor may start it so: what the node says is not to land in its own sockets, or in the pipe that its end is asked through."""
    command = f'exec "{sys.executable}" -m mbros.ros pendulum --ros-args -r __ns:=/closed {closed}'
    node = subprocess.Popen(["sh", "-c", command], cwd=ROOT)

    def simulates():
        with contextlib.suppress(OSError):          # a thread that has ended since
            return any((task / "comm").read_text() == "mbros-loop\n" for task in Path(f"/proc/{node.pid}/task").iterdir())
    try:
        until(lambda: node.poll() is not None or simulates())
        time.sleep(0.3)                             # what it says of itself comes after its loop
        assert node.poll() is None
        for number in (k for k, stream in enumerate(("<&-", ">&-", "2>&-")) if stream in closed.split()):
            assert os.readlink(f"/proc/{node.pid}/fd/{number}") == os.devnull
        node.send_signal(signal.SIGTERM)
        assert node.wait(PATIENCE) == 0
    finally:
        node.kill()
        node.wait()


@pytest.mark.parametrize("text", ["-5", "0", "1.5", "x", "", str(2**31)])
def test_what_is_the_number_of_no_process_is_refused(text, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["pendulum", f"--end-with={text}"])
    assert f"argument --end-with: expected the number of a process, 1 or more, got {text!r}" in capsys.readouterr().err


# --- what an executor raises

FAILS = """
import os, signal, sys, threading
from mbros.ros.process.ending import Ending
ending = Ending()
ending.in_order()
import rclpy
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from mbros.ros.process import main
from mbros.ros.interfaces import prepare
prepare()
from mbros.ros.node import SimNode
rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
sim = SimNode([Parameter("robot", value="pendulum")], namespace="/fails")
import ctypes
if {when!r} == "held":
    sleep = ctypes.PyDLL(None).sleep
    def hold():
        sys.setswitchinterval(1000.0)       # the main thread, which is woken, does not get a turn in between
        interrupt()
        sleep(10000)
    sim.node.create_timer(0.01, hold)
calls = []
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
def fail():
    calls.append(1)
    if {when!r} == "once" and len(calls) > 1:
        if len(calls) == 20:
            interrupt()
        return
    if {when!r} == "after" and len(calls) == 1:
        threading.Timer(0.1, interrupt).start()
        ending.wait()
    raise RuntimeError("a defect\\n[INFO] forged")
sim.node.create_timer(0.01, fail)
code = main.serve(sim, ending)
rclpy.shutdown()
sys.exit(code)
"""


@pytest.mark.parametrize("when, code, said", [
    ("once", 0, "a callback failed, the node goes on: "), ("always", 1, "the node failed:\nTraceback"), ("after", 0, None)])
def test_trial_C2_what_an_executor_raises_counts_until_the_end_was_asked_for(executor, when, code, said):
    done = subprocess.run([sys.executable, "-c", FAILS.format(when=when)], capture_output=True, text=True, timeout=240, cwd=ROOT)
    assert done.returncode == code, done.stderr
    assert said in done.stderr if said else "defect" not in done.stderr
    assert done.stderr.count("a callback failed") == {"once": 1, "always": 10, "after": 0}[when]


def test_a_callback_that_holds_pythons_lock_is_told_as_what_it_was():
    """As one of Fast DDS 3.2 may, for ever, when another node leaves while it announces itself (Fast-DDS issue 6502)."""
    done = subprocess.run([sys.executable, "-c", FAILS.format(when="held")], capture_output=True, text=True, timeout=240, cwd=ROOT)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "mbros: ended without leaving in order, 1.6 s after it was asked to (it was serving)"


def test_a_command_that_makes_message_packages_ends_with_the_node(tmp_path):
    from mbros.ros.process.ending import Asked
    from mbros.ros.interfaces import _run

    def check():
        if any(file.stat().st_size for file in tmp_path.iterdir()):        # it is there before it is written
            raise Asked
    begin = time.monotonic()
    with pytest.raises(Asked):
        _run(["sh", "-c", f"echo $$ > {tmp_path}/pid; sleep 1000; true"], dict(os.environ), check)
    assert time.monotonic() - begin < PATIENCE
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
