"""The thread itself: no interpreter lock, no allocation, no page fault, and an end in every circumstance."""
import gc
import os
import platform
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import rig as rigs

from mbros_core.realtime import Loop

TRAP_BRKPT, TRAP_HWBKPT = 1, 4          # <asm-generic/siginfo.h>
PF_EXITING = 0x4                        # <linux/sched.h>
RT_SIGQUEUEINFO = {"x86_64": 129}.get(platform.machine(), 138)


def thread_ids(name="mbros-loop"):
    """Ids of this process's threads with that name. One that was joined may still be listed, on its way out."""
    found, tasks = [], os.listdir("/proc/self/task")
    while tasks != (tasks := os.listdir("/proc/self/task")):
        pass                        # a listing ends early where a thread ends meanwhile
    for task in tasks:
        try:
            with open(f"/proc/self/task/{task}/stat", encoding="ascii") as f:
                comm, _, rest = f.read().partition("(")[2].rpartition(")")
            if comm == name and not int(rest.split()[6]) & PF_EXITING:
                found.append(int(task))
        except OSError:
            pass                # it ended meanwhile
    return found


def program(text, library):
    """Python text with `rig`, `Loop` and `library` at hand."""
    head = f"""
        import sys
        sys.path[:0] = {[os.path.abspath(p) for p in sys.path if p] + [rigs.HERE]!r}
        import rig as rigs
        from mbros_core.realtime import Loop
        library = {library!r}
        c = rigs.load(library)
        rig = rigs.Rig(c, library=library)
    """
    return textwrap.dedent(head) + textwrap.dedent(text)


def script(text, library, **environment):
    """Run such a program in a process of its own."""
    return subprocess.run([sys.executable, "-c", program(text, library)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **environment})


def test_the_loop_runs_while_somebody_else_holds_the_interpreter_lock(bench, rig):
    loop, log = bench(clock="monotonic")
    with loop:
        assert rig.watch_holding_the_lock(steps=200, seconds=60.0) >= 200


def test_zero_allocations_and_the_counter_sees_one_when_there_is(bench, rig):
    loop, log = bench(clock="monotonic", real_time_factor=10.0, warmup=100, record=1 << 14, count_allocations=True)
    loop.start(slots=1000)
    loop.command([1.0, 2.0])
    loop.set_parameters([1.0, 2.0, 3.0, 4.0])
    loop.reset([0.0, 0.0], [0.0, 0.0])
    assert loop.wait(60.0)
    s = loop.statistics()
    if s.allocations is None:
        pytest.skip(loop.privileges.sentences[-1])
    assert s.warm and s.allocations == 0
    rig.tune(allocate_each=1)
    before = s.steps
    loop.start(slots=301)
    assert loop.wait(60.0)
    s = loop.statistics()
    # The 100 slots of warm-up are one that shows the state and 99 with a step.
    expected = s.steps - before - 99
    assert expected <= s.allocations <= expected + s.made_up + 99


def test_zero_allocations_by_a_preloaded_malloc_that_counts(library, tmp_path):
    """The independent measurement: every malloc of the process goes through a library that counts per thread, and the
    plant puts its own thread's count into the snapshots."""
    shim = rigs.compile_library(tmp_path, "allocations.c")
    done = script("""
        log = rigs.Log(c, rig)
        for each in (0, 1):
            rig.tune(allocate_each=each)
            loop = Loop(rig, 1e-3, outputs=[log], clock="virtual", rt="off", warmup=100, count_allocations=True)
            loop.start(slots=1000)
            assert loop.wait(60.0)
            s = loop.statistics()
            counts = log["allocations"][-1000:, 0]
            print(int(counts[-1] - counts[100]), s.allocations)
    """, library, LD_PRELOAD=shim)
    assert done.returncode == 0, done.stderr
    quiet, busy = [line.split() for line in done.stdout.splitlines()]
    assert quiet[0] == "0" and quiet[1] in ("0", "None")
    assert busy[0] == "899" and busy[1] in ("900", "None")      # from slot 100 and from the end of slot 99


def test_nobody_counts_allocations_unless_asked_to(bench):
    """Hardware breakpoints may end a process by a stray SIGTRAP: two of a hundred nodes under load in a virtual machine."""
    loop, log = bench(clock="monotonic")
    loop.start(slots=5)
    assert loop.wait(60.0)
    assert loop.statistics().allocations is None and not loop.privileges.counts_allocations
    assert not [sentence for sentence in loop.privileges.sentences if "llocations" in sentence]


@pytest.mark.parametrize("code, ends", [(TRAP_HWBKPT, 0), (TRAP_BRKPT, -signal.SIGTRAP)])
def test_a_stray_hit_of_a_counters_breakpoint_is_forgiven(code, ends, library):
    done = script(f"""
        import ctypes, os, signal
        log = rigs.Log(c, rig)
        loop = Loop(rig, 1e-3, outputs=[log], clock="virtual", rt="off", count_allocations=True)
        loop.start(slots=10)
        assert loop.wait(60.0)
        siginfo = (ctypes.c_int * 32)(signal.SIGTRAP, 0, {code})
        assert ctypes.CDLL(None).syscall({RT_SIGQUEUEINFO}, os.getpid(), signal.SIGTRAP, siginfo) == 0
        print("goes on")
    """, library)
    assert done.returncode == ends and ("goes on" in done.stdout) == (ends == 0), done.stderr


def test_no_page_fault_after_the_warm_up(bench):
    # A page moved by the kernel may cost a minor fault now and then; a loop that faults by itself does so every time.
    best = None
    for _ in range(5):
        loop, log = bench(clock="virtual", warmup=200, record=1 << 14)
        loop.start(slots=5000)
        assert loop.wait(60.0)
        s = loop.statistics()
        assert s.warm and s.major_faults == 0
        best = s.minor_faults if best is None else min(best, s.minor_faults)
        if best == 0:
            break
    assert best == 0


def test_a_dropped_loop_ends_its_thread(c, library):
    rig = rigs.Rig(c, library=library)
    before = len(thread_ids())
    loop = Loop(rig, 1e-3, rt="off").start()
    assert len(thread_ids()) == before + 1
    del loop
    gc.collect()
    assert len(thread_ids()) == before


def test_a_loop_in_a_reference_cycle_ends_before_its_plant_goes(c, library):
    before = len(thread_ids())
    for _ in range(10):
        rig = rigs.Rig(c, library=library)
        rig.loop = Loop(rig, 1e-4, rt="off").start()
    del rig
    gc.collect()
    assert len(thread_ids()) == before


def test_start_stop_many_times(bench):
    loop, log = bench(clock="monotonic")
    for _ in range(50):
        loop.start()
        with pytest.raises(RuntimeError, match="running already"):
            loop.start()
        loop.stop()
        loop.stop()
    assert len(thread_ids()) == 0


def test_one_plant_is_not_simulated_twice_at_a_time(c, rig):
    with Loop(rig, rt="off"):
        with pytest.raises(RuntimeError, match="another loop"):
            Loop(rig, rt="off")
    first, second = Loop(rig, rt="off"), Loop(rig, rt="off")
    with first:
        with pytest.raises(RuntimeError, match="another loop"):
            second.start()
    with second:
        pass


def test_a_hanging_plant_is_reported_and_the_loop_ends_when_it_returns(bench, rig):
    loop, log = bench(clock="monotonic")
    loop.start()
    rig.tune(hang=1)
    while not rig.hanging:
        pass
    with pytest.raises(TimeoutError, match="hangs"):
        loop.stop(timeout=0.05)
    assert loop.state == "running"
    rig.tune(hang=0)
    loop.stop(timeout=60.0)
    assert loop.state == "stopped"


@pytest.mark.parametrize("ending, code", [
    ("pass", 0), ("raise SystemExit(3)", 3), ("1 / 0", 1),
    ("import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(60)", -2)])
def test_the_interpreter_ends_with_a_loop_running(library, ending, code):
    done = script(f"""
        loop = Loop(rig, 1e-3, rt="off", record=1000).start()
        fast = Loop(rigs.Rig(c, library=library), 1e-3, rt="off", real_time_factor=0).start()
        while loop.snapshot()[0].step < 20: pass
        {ending}
    """, library)
    assert done.returncode == code, done.stderr
    assert "Segmentation" not in done.stderr and "Fatal" not in done.stderr


def test_a_fork_refuses_kindly_and_harms_nobody(bench):
    loop, log = bench(clock="monotonic")
    with loop:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                loop.pause()
                answer = b"no error"
            except RuntimeError as error:
                answer = str(error).encode()
            os.write(writer, answer)
            os._exit(0 if loop.state == "stopped" else 1)
        os.close(writer)
        with os.fdopen(reader, "rb") as f:
            answer = f.read().decode()
        assert os.waitpid(child, 0)[1] == 0
        assert f"belongs to process {os.getpid()}" in answer
        step = loop.snapshot()[0].step
        while loop.snapshot()[0].step < step + 5:
            pass


@pytest.mark.parametrize("catch_up", [0.1, 10.0])
def test_a_process_that_was_stopped_makes_up_what_it_may_and_says_what_it_lost(library, catch_up):
    text = f"""
        import time
        log = rigs.Log(c, rig)
        loop = Loop(rig, 1e-3, outputs=[log], rt="off", catch_up={catch_up}).start()
        while loop.snapshot()[0].step < 20: pass
        print("ready", flush=True)
        sys.stdin.readline()
        slots = loop.statistics().slots         # this thread may be the first to go on
        while loop.statistics().slots < slots + 2 or loop.statistics().owed: time.sleep(0.01)
        loop.stop()
        s = loop.statistics()
        print(s.missed + s.overruns, s.made_up, s.lost, s.owed, len(log.rows), s.slots)
    """
    child = subprocess.Popen([sys.executable, "-c", program(text, library)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    child.send_signal(signal.SIGCONT)
    answer, _ = child.communicate("go on\n", timeout=240)
    passed, made_up, lost, owed, rows, slots = map(int, answer.split())
    assert passed >= 400 and made_up + lost + owed == passed
    assert rows == slots                    # no burst: one publication per slot run
    if catch_up == 0.1:
        assert lost >= 300
    else:
        assert lost == 0


def test_a_thread_that_never_sleeps_is_not_above_everything_else(bench):
    loop, log = bench(clock="monotonic", rt="auto", priority=5)
    with loop:
        if not loop.privileges.fifo:
            pytest.skip(loop.privileges.sentences[0])
        thread, = thread_ids()
        for factor, policy in ((1.0, os.SCHED_FIFO), (0.0, os.SCHED_OTHER), (10.0, os.SCHED_FIFO)):
            loop.set_real_time_factor(factor)
            assert os.sched_getscheduler(thread) == policy
        loop.set_real_time_factor(0.0)
        loop.pause()
        assert os.sched_getscheduler(thread) == os.SCHED_FIFO
        assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_two_loops_run_side_by_side(c, library):
    rigs_ = [rigs.Rig(c, library=library) for _ in range(2)]
    loops = [Loop(r, 1e-3, rt="off") for r in rigs_]
    for loop in loops:
        loop.start(slots=100)
    for loop in loops:
        assert loop.wait(60.0)
        assert loop.statistics().slots == 100


def test_readers_from_many_threads(bench):
    loop, log = bench(clock="monotonic", real_time_factor=10.0)
    torn = []

    def read():
        for _ in range(2000):
            header, x = loop.snapshot()
            if x[6] != header.step:
                torn.append((header, x))

    with loop:
        threads = [threading.Thread(target=read) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not torn


@pytest.mark.parametrize("plug", [None, 3, object()])
def test_what_is_no_plug_is_refused(rig, plug):
    with pytest.raises(TypeError, match="plant: expected an object with a `.capsule` named 'mbros_core.plant'"):
        Loop(plug)
    with pytest.raises(TypeError, match=r"inputs\[0\]: .*'mbros_core.input'"):
        Loop(rig, inputs=[plug])
    with pytest.raises(TypeError, match=r"outputs\[1\]: .*'mbros_core.output'"):
        Loop(rig, outputs=[rigs.Log(rig.c, rig), rig])
