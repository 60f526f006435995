"""One owner of the thread's life: any number of Python threads start, stop and wait for one loop, in any order."""
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import rig as rigs
from test_loop_thread import program, script, thread_ids

from mbros.errors import LoopError, LoopTimeoutError, MbrosError
from mbros_core import Plant
from mbros_core.realtime import Loop
from mbros_core.realtime._loop import LoopThread

ROUNDS = int(os.environ.get("MBROS_ROUNDS", "200"))     # the whole trial: MBROS_ROUNDS=1000
HANGS = 120.0                                           # seconds after which a call counts as hanging, on any machine


def together(*calls):
    """Run the calls at the same moment in threads of their own; returns what each returned or raised."""
    answers, gate = [None] * len(calls), threading.Barrier(len(calls))

    def run(k, call):
        gate.wait()
        try:
            answers[k] = call()
        except Exception as error:
            answers[k] = error

    threads = [threading.Thread(target=run, args=(k, call), daemon=True) for k, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS)
    assert not any(thread.is_alive() for thread in threads), "a call hangs"
    return answers


def test_trial_A2_two_threads_in_stop_wait_and_start(bench):
    loop, log = bench(clock="monotonic", real_time_factor=10.0)
    draw = random.Random(7)
    for k in range(ROUNDS):
        loop.start(slots=draw.choice([None, 1, 2, 5]))
        pair = [(loop.stop, loop.stop), (lambda: loop.wait(HANGS), loop.stop), (loop.stop, loop.start),
                (lambda: loop.wait(0.0), loop.stop)][k % 4]
        if draw.random() < 0.5:
            time.sleep(draw.random() * 1e-3)
        answers = together(*pair)
        assert all(answer in (None, True, False, loop) or type(answer) is LoopError for answer in answers), answers
        assert len(thread_ids()) == int(loop.alive) <= 1
        loop.stop()
        assert loop.state == "stopped"
    assert thread_ids() == []


ENDED_AS_IT_STARTS = """
    import threading
    loop, over = Loop(rig, rt="off", clock="virtual"), threading.Event()

    def wait():
        while not over.wait(0.001):
            loop.wait(10.0)

    waiting = threading.Thread(target=wait)
    waiting.start()
    for _ in range(5):
        loop.start(slots=1)
        assert loop.wait(10.0)
    over.set()
    waiting.join()
    """


def test_a_thread_that_has_been_started_is_left_alone(library, tmp_path):
    """It may have ended and been joined by somebody else, and its memory be gone. In a process of its own, which that would end."""
    late = rigs.compile_library(tmp_path, "late.c")
    ended = script(ENDED_AS_IT_STARTS, library, LD_PRELOAD=" ".join([os.environ.get("LD_PRELOAD", ""), str(late)]).strip())
    assert ended.returncode == 0, ended.stderr


def test_trial_A2_both_threads_return_when_the_loop_ends_by_itself(bench):
    loop, log = bench(clock="monotonic")
    for _ in range(20):
        loop.start(slots=20)
        assert together(*[lambda: loop.wait(HANGS)] * 4) == [True] * 4
        assert loop.state == "stopped" and thread_ids() == []


def test_trial_A2_who_waits_for_one_thread_does_not_wait_for_the_next(bench):
    """stop() returns when the thread that ran at its call has ended, though another one has begun meanwhile."""
    loop, log = bench(clock="monotonic")
    loop.start()
    first = loop.ask_to_stop()
    assert loop.wait_done(HANGS)
    loop.start()
    assert loop.wait_done(HANGS, first) and loop.alive
    assert not loop.wait_done(0.0)


def test_trial_A9_two_threads_in_start_make_one_thread(bench):
    loop, log = bench(clock="monotonic")
    for _ in range(50):
        answers = together(loop.start, loop.start, loop.start)
        assert answers.count(loop) == 1
        refused = [answer for answer in answers if answer is not loop]
        assert all(type(error) is LoopError and "running already" in str(error) for error in refused)
        assert len(thread_ids()) == 1
        loop.stop()


def test_trial_A9_configure_and_launch_are_refused_while_the_thread_runs(bench):
    loop, log = bench(clock="monotonic")
    settings = (1e-3, 0, 0, 1000, 200, 0, 0, -1, False, False, False, 1.0, False)
    with loop:
        for call in (lambda: loop.configure(2e-3, *settings[1:]), lambda: loop.launch(-1), lambda: loop.launch(5)):
            with pytest.raises(LoopError, match="running already; stop"):
                call()
        assert len(thread_ids()) == 1 and not loop.serve()
    loop.configure(*settings)
    loop.launch(3)
    assert loop.wait_done(HANGS) and loop.statistics().slots >= 3


@pytest.mark.parametrize("k, value", [(0, 0.0), (0, float("nan")), (1, 3), (2, -1), (3, -1), (4, -1), (5, 1), (6, 100), (7, 5000),
                                      (11, -1.0), (11, float("nan"))])
def test_trial_A9_settings_that_the_thread_could_not_run_with_are_refused(rig, k, value):
    raw = LoopThread(rig, (), (), 0)
    settings = [1e-3, 0, 0, 1000, 200, 0, 0, -1, False, False, False, 1.0, False]
    settings[k] = value
    with pytest.raises(MbrosError, match="expected"):
        raw.configure(*settings)
    raw.launch(5)
    assert raw.wait_done(HANGS) and raw.figures()["slots"] == 5


@pytest.mark.parametrize("box, values", [("pace", [np.nan]), ("pace", [0.05]), ("inject", [0, 0, 0, 1]), ("inject", [1e12, 0, 1, 1]),
                                         ("watchdog", [0, 7, 0, 0]), ("reset", [np.nan] * 4), ("state", [np.inf] * 4), ("reset", [0.0]),
                                         ("post office", []), ("pace", "fast"), ("state", [[0.0] * 4])])
def test_trial_A9_letters_that_the_thread_could_not_act_on_are_refused(rig, box, values):
    raw = LoopThread(rig, (), (), 0)
    with pytest.raises(MbrosError, match=box):
        raw.post(box, values)
    assert raw.serve() and raw.figures()["fault_code"] == 0


CALLS = {
    "configure": (1e-3, 0, 0, 1000, 200, 0, 0, -1, False, False, False, 1.0, False), "launch": (-1,), "ask_to_stop": (),
    "wait_done": (1.0,), "post": ("pace", [1.0]), "post_command": ([0.0],), "acknowledged": ("pace", 1), "ask_pause": (True,),
    "ask_steps": (1,), "cancel_steps": (), "attend": (1,),
    "listen": (0, 0.0), "serve": (), "refuse_busy": (), "read_snapshot": (np.empty(1),), "drain": (),
    "figures": (), "histograms": (), "visit": (), "visited": (1,), "leave": (1,), "visit_shown": (1,), "commands_in_force": (),
    "recall": (0, False, False, 0, 0, [0.0])}


PEOPLE_CALL = {
    "start": (), "stop": (), "wait": (1.0,), "pause": (), "resume": (), "step_once": (), "set_real_time_factor": (1.0,),
    "command": ([0.0],), "reset": (), "set_state": (), "set_parameters": ([0.0],), "set_watchdog": (1.0,), "inject_delay": (),
    "snapshot": (), "statistics": (), "reset_statistics": (), "aside": ()}


def test_trial_A9_what_people_call_of_a_loop_without_its_init_refuses_too():
    bare = Loop.__new__(Loop)
    for name, arguments in PEOPLE_CALL.items():
        with pytest.raises(LoopError, match="never initialised"):
            getattr(bare, name)(*arguments)
    people_read = ("paused", "fault", "state", "stop_reason", "privileges")
    for name in people_read:
        with pytest.raises(LoopError, match="never initialised"):
            getattr(bare, name)
    assert {name for name in vars(Loop) if not name.startswith("_")} == {*PEOPLE_CALL, *people_read}


@pytest.mark.parametrize("kind", [LoopThread, Loop])
def test_trial_A9_a_loop_without_its_init_refuses_everything(kind):
    bare = kind.__new__(kind)
    for name, arguments in CALLS.items():
        with pytest.raises(LoopError, match="never initialised"):
            getattr(bare, name)(*arguments)
    for name in ("alive", "steps_given", "steps_asked", "recording", "answered", "fault_code", "pause_wanted", "paused_now", "silent",
                 "sizes"):
        with pytest.raises(LoopError, match="never initialised"):
            getattr(bare, name)
    public = {name for name in dir(LoopThread) if not name.startswith("_")}
    assert public <= {*CALLS, "alive", "steps_given", "steps_asked", "recording",
                      "answered", "fault_code", "pause_wanted", "paused_now", "silent", "sizes", "plugs", "started_in", "number_of",
                      "refuse_twice"}


def test_trial_A9_a_loop_is_initialised_once(bench, rig, c, library):
    loop, log = bench(clock="monotonic")
    with loop:
        for again in (lambda: loop.__init__(rigs.Rig(c, library=library), 2e-3), lambda: loop.__init__(rig, 2e-3),
                      lambda: LoopThread.__init__(loop, rig, (), (), 0)):
            with pytest.raises(LoopError, match="initialised once"):
                again()
            assert loop.dt == 1e-3 and loop.alive
    failed = Loop.__new__(Loop)
    for _ in range(3):
        with pytest.raises(TypeError, match="plant: expected"):
            failed.__init__(None)
    failed.__init__(rig)
    assert failed.snapshot()[0].step == 0


def test_trial_A9_a_plant_is_made_once_and_whole(model_of_two):
    """Nothing stands between having a Plant and being able to use it: what is not made whole is not made."""
    plant = Plant(model_of_two)
    state, capsule = plant.state, plant.capsule
    with Loop(plant, rt="off"):
        plant.__init__(model_of_two, None, 2e-3)
        assert plant.state is state and plant.dt == 1e-3 and capsule is not None
    for make in (lambda: Plant.__new__(Plant), lambda: Plant.__new__(Plant, None),
                 lambda: Plant(model_of_two, joint_rows=[(99, 0, 1, 0, 1)])):
        with pytest.raises((MbrosError, TypeError)):
            make()


@pytest.fixture
def model_of_two():
    import mbros

    return mbros.chain(2)


@pytest.mark.parametrize("call", ["loop.wait(600.0)", "loop.stop(600.0)"])
def test_trial_A2_ctrl_c_is_seen_while_waiting(library, call):
    child = subprocess.Popen([sys.executable, "-c", program(f"""
        loop = Loop(rig, 1e-3, rt="off").start()
        rig.tune(hang=1)
        while not rig.hanging: pass
        print("waiting", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            rig.tune()
            loop.stop()
            print("interrupted", loop.state, flush=True)
    """, library)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=HANGS)[0] == "interrupted stopped\n" and child.returncode == 0


def test_trial_A2_a_time_out_leaves_the_thread_to_the_next_who_waits(bench, rig):
    loop, log = bench(clock="monotonic")
    loop.start()
    rig.tune(hang=1)
    while not rig.hanging:
        pass
    answers = together(lambda: loop.stop(0.01), lambda: loop.wait(0.01), lambda: loop.stop(0.02))
    assert [type(answer) for answer in answers] == [LoopTimeoutError, bool, LoopTimeoutError]
    rig.tune(hang=0)
    assert together(lambda: loop.stop(HANGS), lambda: loop.stop(HANGS)) == [None, None]
    assert thread_ids() == []


def test_trial_A2_a_loop_that_was_never_started_belongs_to_a_fork_too(bench):
    loop, log = bench(clock="monotonic")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            loop.start(slots=3)
            loop.wait(HANGS)
            code = 0 if loop.statistics().slots == 3 and thread_ids() == [] else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert loop.state == "new"
