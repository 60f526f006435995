"""A sweep that is ended: at once, its processes with it, and what was done is kept. Its cases take longer than any test waits."""
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sweep_runs
from patience import PATIENCE, until
from process_groups import busy, living

import mbros
from mbros.study.sweep import workers
from mbros.study.sweep.cases import cases_of

ROOT = Path(__file__).resolve().parents[2]
STUDY = """import multiprocessing, os, sys, time
import mbros

def run(case):
    open(f"begun-{case['x']}", "w").close()
    while case["x"] and os.path.exists("slow"):
        time.sleep(1000.0)
    return case["x"]

if __name__ == "__main__":
    try:
        table = mbros.sweep([{"x": x} for x in range(4)], run, workers=2, checkpoint="done")
        print(*table["result"])
    except KeyboardInterrupt:
        print("interrupted", multiprocessing.active_children())
"""


def start(folder, *words):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    return subprocess.Popen([sys.executable, *words], cwd=folder, env=environment, start_new_session=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


@pytest.fixture
def started():
    """start(), whose processes end with the test."""
    running = []

    def begin(folder, *words):
        running.append(start(folder, *words))
        return running[-1]

    yield begin
    for process in running:
        for pid in living(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.communicate()


SIGNALS = [(signal.SIGINT, os.kill, 130), (signal.SIGINT, os.killpg, 130), (signal.SIGTERM, os.kill, -signal.SIGTERM),
           (signal.SIGHUP, os.kill, -signal.SIGHUP), (signal.SIGKILL, os.kill, -signal.SIGKILL)]


@pytest.mark.parametrize("number, send, code", SIGNALS)
def test_no_process_outlives_the_command(tmp_path, started, number, send, code):
    (tmp_path / "cases.yaml").write_text("robot: arm7\nduration: 2000.0\ncases: {start.joint1: {from: 0.1, to: 0.4, count: 1000}}\n")
    command = started(tmp_path, "-m", "mbros.cli", "sweep", "cases.yaml", "--workers", "2")
    until(lambda: len(busy(command.pid, 1.5)) >= 2, "two workers that have more to do than to start")
    send(command.pid, number)
    assert command.wait(PATIENCE) == code
    until(lambda: not living(command.pid), "the end of all processes")
    if number == signal.SIGINT:
        assert command.stdout.read() == ""


@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_ctrl_c_leaves_the_program_no_process_and_what_is_done(tmp_path, started, send):
    (tmp_path / "study.py").write_text(STUDY)
    (tmp_path / "slow").touch()
    study = started(tmp_path, "study.py")
    until(lambda: list(tmp_path.glob("done/part-*")) and (tmp_path / "begun-2").exists(), "the first case's end, and the others at work")
    send(study.pid, signal.SIGINT)
    assert study.communicate(timeout=PATIENCE)[0] == "interrupted []\n"
    until(lambda: not living(study.pid), "the end of all processes")
    for file in ("slow", "begun-0"):
        (tmp_path / file).unlink()
    again = started(tmp_path, "study.py")
    assert again.communicate(timeout=PATIENCE)[0] == "0 1 2 3\n" and not (tmp_path / "begun-0").exists()


def test_what_is_done_is_sent_before_the_group_is(monkeypatch):
    cases = cases_of([{"x": x} for x in range(4)], 0)
    for every, wanted in ((0.0, [[0], [1], [2], [3]]), (1e9, [[0, 1, 2, 3]])):
        monkeypatch.setattr(workers, "EVERY", every)
        assert [list(found) for found, failed in workers.parts(sweep_runs.slowly, cases)] == wanted


def test_what_ends_a_program_in_a_worker_ends_the_sweep():
    with pytest.raises(SystemExit, match="enough"):
        mbros.sweep([{"x": x} for x in range(4)], sweep_runs.gives_up, workers=2)


def test_an_executor_of_the_user_keeps_nothing_that_has_not_begun():
    def interrupts(done, total):
        if done:
            raise KeyboardInterrupt

    begun = []

    def run(case):
        begun.append(case.index)
        time.sleep(0.005)
        return 1

    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(KeyboardInterrupt):
            mbros.sweep([{"x": x} for x in range(10_000)], run, executor=executor, progress=interrupts)
    assert len(begun) < 10_000
