"""Loop: the public face of the real-time thread. The thread itself is slot.pxd, run.pxd and _loop.pyx."""
from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

from mbros_core.support import given as _given
from ..errors import LoopError, LoopTimeoutError, MbrosError, PrivilegeError, WrongTypeError
from . import privileges as _rights, settings as _settings
from ._loop import LoopThread
from .requests import aside, looks, request, slot_length, until
from .snapshot import Fault, SnapshotHeader, fault_of
from .statistics import Statistics, from_figures

if TYPE_CHECKING:
    from mbros_core.typing import Array, ArrayLike, Capsule, HasCapsule

_loops: weakref.WeakSet[Loop] = weakref.WeakSet()


class Loop(LoopThread):
    """Simulates a plant in step with the wall clock, on a thread that never takes the interpreter lock.

    Every method may be called at any time from any thread. From start() until stop() or wait() has returned, the plant and its
    state belong to the loop: whatever else would touch them is refused (BusyError), but for NumPy views that were taken before.

    plant: object with a `.capsule` "mbros_core.plant" (mbros_core.Plant), or that capsule
    dt: length of a step in simulated seconds; None: the plant's own
    inputs, outputs: objects with a `.capsule` "mbros_core.input" / "mbros_core.output", or those capsules. The loop keeps
        plant, inputs, outputs and capsules alive; memory behind a capsule must be freed with the capsule or when its owner is
        deallocated (in Cython's __dealloc__), not in a Python __del__, which may run before the loop has ended
    overrun: what happens to slots that pass without being run (docs/decisions/010-overruns.md):
        "skip" leave them out and make up their simulated time, "stop" end the loop, "stretch" move the grid
    overrun_limit: with "stop", so many slots may pass before the loop ends
    catch_up: at most so many seconds of simulated time are made up; more is given up and counted as lost
    real_time_factor: 0.1 to 100 simulated seconds per second; 0 or inf: as fast as possible
    watchdog_timeout: age (s) at which a command is no longer trusted, measured along the loop's own time (pauses do
        not count); None: never. A fresh command ends it. Nothing happens before the first command.
    watchdog_action: "zero" no effort, "hold" the last command stays, "damp" tau = -damp_gain * v
    watchdogs: whose silence is noticed by itself: for each velocity coordinate the number of its watchdog, from 0, -1: none (nobody
        commands it). What silence does is the same for all; the others run on. None: one for all, which hears every command
    damp_gain: N m s/rad or N s/m, one number or one per velocity coordinate; needed for "damp"
    rt: "auto" ask for SCHED_FIFO and locked memory, "require" raise PrivilegeError without, "off" do not ask
    priority: of SCHED_FIFO, 1 to 99; cpu: processor to pin the thread to; warmup: slots before page faults and
        allocations count; record: room for so many records of every `record_every`-th step, read with drain()
    count_allocations: count the calls of malloc on the loop's thread, by hardware breakpoints: for proofs and benchmarks, not for a
        loop that a machine depends on
    clock: "monotonic", or "virtual": time passes only as the loop waits, so that a test sees every decision of the
        grid exactly and without waiting (see also inject_delay)
    gate: object with a `.capsule` "mbros_core.gate": what each step waits for, in lockstep (ports.hpp); no slot is late then
    record_also: (memory (n,), places (m,)): numbers that only the loop's thread writes, and that records hold behind the snapshot
    """

    _visiting = False           # the thread stands aside, for the one that has `_asking`

    def __init__(self, plant: HasCapsule | Capsule, dt: float | None = None, inputs: Iterable[HasCapsule | Capsule] = (),
                 outputs: Iterable[HasCapsule | Capsule] = (), *, overrun: str = "skip", overrun_limit: int = 0,
                 catch_up: float = 1.0, real_time_factor: float = 1.0, paused: bool = False, watchdog_timeout: float | None = 0.1,
                 watchdog_action: str = "zero", damp_gain: ArrayLike | None = None, rt: str = "auto", priority: int = 80,
                 cpu: int | None = None, warmup: int = 200, record: int = 0, record_every: int = 1, clock: str = "monotonic",
                 count_allocations: bool = False, gate: HasCapsule | Capsule | None = None,
                 record_also: tuple[Array, ArrayLike] | None = None, watchdogs: ArrayLike | None = None) -> None:
        self.refuse_twice()
        _settings.refuse_python(plant)
        self.dt = _settings.step_length(dt, plant)
        self._plant, self._inputs, self._outputs = plant, _settings.several("inputs", inputs), _settings.several("outputs", outputs)
        _settings.check_gate((*self._inputs, *self._outputs), gate)
        self._rt = _given.choice("Loop", "rt", rt, ("auto", "off", "require"))
        self._clock = _given.choice("Loop", "clock", clock, ("monotonic", "virtual"))
        self._priority = _given.count("Loop", "priority", priority, least=1, most=99)
        self._cpu = None if cpu is None else _given.count("Loop", "cpu", cpu, most=1023)
        self._real_time_factor = _settings.real_time_factor(real_time_factor)
        policy = _settings.position("overrun", overrun, _settings.OVERRUNS)
        catch_up = _given.number("Loop", "catch_up", catch_up, 0.0, 3600.0, "s")
        super().__init__(plant, self._inputs, self._outputs, record, gate, record_also, watchdogs)
        self._asking = threading.RLock()
        asks = self._asks = self._rt != "off" and self._clock == "monotonic"
        self.configure(self.dt, policy, _given.count("Loop", "overrun_limit", overrun_limit, most=1 << 40),
                       round(catch_up / self.dt), _given.count("Loop", "warmup", warmup, most=1 << 40),
                       _given.count("Loop", "record_every", record_every, least=1, most=1 << 40) if record else 0,
                       self._priority if asks else 0, -1 if self._cpu is None else self._cpu, asks,
                       _settings.truth("count_allocations", count_allocations),
                       self._clock == "virtual", self._real_time_factor, _settings.truth("paused", paused))
        self._nv, self._stepping = self.sizes["velocities"], threading.Lock()
        self.set_watchdog(watchdog_timeout, watchdog_action, damp_gain)
        self._initial = _settings.initial_state(plant, self.snapshot()[1], self.sizes["state"])
        _loops.add(self)

    # --- running

    def start(self, slots: int | None = None) -> "Loop":
        """Start the thread; it ends by itself after `slots` slots if given. The first slot shows the initial state."""
        self.launch(-1 if slots is None else _given.count("start", "slots", slots, least=1, most=1 << 60))
        if self._rt == "require" and self.privileges.refused:
            self.stop()
            raise PrivilegeError(" ".join(self.privileges.refused))
        return self

    def stop(self, timeout: float = 2.0) -> None:
        """End the thread and wait for it. LoopTimeoutError when it hangs inside the plant or a port."""
        timeout = _settings.patience(timeout)
        if not self.wait_done(timeout, self.ask_to_stop()):
            raise LoopTimeoutError(f"the loop's thread did not end within {timeout} s: the plant's step or an output hangs")

    def wait(self, timeout: float) -> bool:
        """Wait until the loop has ended by itself; False when it still runs after `timeout` seconds."""
        return self.wait_done(_settings.patience(timeout))

    def __enter__(self) -> Loop:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- pace

    def pause(self) -> None:
        """Stand still from the next slot on (the state goes on being published); returns when it does."""
        self.refuse_busy()
        self.ask_pause(True)
        until(self, lambda: self.paused_now)

    def resume(self) -> None:
        """Go on. Single steps that were asked for and not taken yet are dropped."""
        self.refuse_busy()
        self.cancel_steps()
        self.ask_pause(False)
        until(self, lambda: not self.paused_now)

    @property
    def paused(self) -> bool:
        return self.paused_now

    def step_once(self, n: int = 1, timeout: float | None = None) -> None:
        """Pause if need be, take n single steps, the first at once and the others as fast as they can be, return when they are done and
        published. What was commanded, set or requested before the call is in force in them.

        timeout: seconds, default ten times what n slots take, and 5. After it the rest is dropped: LoopTimeoutError.
        """
        n = _given.count("step_once", "n", n, least=1, most=10**9)
        if not self.alive:
            raise LoopError("the loop is not running; start() it first")
        if timeout is None:
            timeout = 5.0 + 10.0 * n * slot_length(self)
        with self._stepping:
            begun, deadline = self.steps_given, time.monotonic() + timeout
            goal = self.ask_steps(n)
            for _ in looks(self, lambda: self.steps_given >= goal):
                if self.fault_code:
                    self.cancel_steps()
                    self._refuse_fault("step_once")
                if not self.alive:
                    raise LoopError(f"step_once: the loop has ended: {self.stop_reason}")
                if time.monotonic() > deadline:
                    self.cancel_steps()
                    raise LoopTimeoutError(f"step_once: {self.steps_given - begun} of {n} steps done in {timeout} s")
                if self.steps_asked < goal and self.steps_given < goal and self.pause_wanted:
                    raise LoopError(f"step_once: {self.steps_given - begun} of {n} steps done; the rest was given up, as a consumer in "
                                    "lockstep did not answer")
                if not self.pause_wanted:
                    raise LoopError("step_once: the loop was resumed meanwhile")

    def set_real_time_factor(self, factor: float) -> None:
        """0.1 to 100 simulated seconds per second; 0 or inf: as fast as possible."""
        factor = _settings.real_time_factor(factor)
        request(self, "pace", np.array([factor]))
        self._real_time_factor = factor

    def aside(self) -> AbstractContextManager[None]:
        """with loop.aside(): the thread stands still between two steps, and plant and state are the caller's. What the caller
        leaves behind is published when the block has ended. As long as it takes, a loop in step with the clock is late."""
        if not self._visiting:
            self.refuse_busy()
        return aside(self)

    # --- what goes in

    def command(self, tau: ArrayLike) -> None:
        """Efforts (nv) from Python. NaN: that coordinate is not commanded and keeps its last commanded value."""
        if self.fault_code:
            self._refuse_fault("command")
        self.post_command(tau)

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Put the plant at (q, v), time 0, clear a fault, forget the command. None: the state it was given with."""
        size = self.sizes["state"]
        if q is None and v is None:
            if self._initial is None:
                raise MbrosError("reset: this plant has no `layout`; give q and v")
            state = self._initial
        elif q is None or v is None:
            raise MbrosError("reset: give both q and v, or neither")
        else:
            state = np.concatenate([_given.vector("reset", name, given, n) for name, given, n in (
                ("q", q, size - self._nv), ("v", v, self._nv))])
        state = _given.vector("reset", "q and v together", state, size)
        request(self, "reset", _settings.possible(self._plant, "reset", state, self._nv))

    def set_state(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Put some coordinates elsewhere between two steps: q (nq), v (nv); None or NaN: as they are. Time, command and
        parameters go on; a locked coordinate stays at rest. Returns when in force."""
        if not self.sizes["settable"]:
            raise WrongTypeError("set_state: this plant cannot be put at a state while it runs; reset() it")
        if self.fault_code:
            self._refuse_fault("set_state")
        letter = np.full(self.sizes["state"], np.nan)
        at = letter.size - self._nv
        for name, given, part in (("q", q, letter[:at]), ("v", v, letter[at:])):
            if given is not None:
                part[:] = _given.vector("set_state", name, given, part.size, nan=True)
        request(self, "state", _settings.possible(self._plant, "set_state", letter, self._nv))
        if self.fault_code:
            self._refuse_fault("set_state: the loop is in fault now", ", ")

    def set_parameters(self, block: ArrayLike | Mapping[str, ArrayLike]) -> None:
        """Replace the block of live parameters between two steps, all of it or nothing.

        block: as plant.parameter_block(), or a dict with some of the names of plant.parameters: the others stay as
        plant.parameter_block() has them. Returns when in force.
        """
        self.refuse_busy()
        with self._asking:
            request(self, "parameters", _settings.parameter_block(self._plant, block, self.sizes["parameters"]))

    def set_watchdog(self, timeout: float | None, action: str = "zero", damp_gain: ArrayLike | None = None) -> None:
        """See the class."""
        sizes = self.sizes
        letter = _settings.watchdog(timeout, action, damp_gain, sizes["velocities"], sizes["command"])
        request(self, "watchdog", letter)

    def inject_delay(self, step_ns: int = 0, every_n: int = 1, count: int = 1, late_ns: int = 0) -> None:
        """Disturb the loop on purpose, to see that a test bench notices.

        step_ns: busy time added inside the slot, after the plant's step; late_ns: the loop sleeps so much longer
        before the slot; every_n: in every n-th slot; count: so many times, -1 until further notice, 0 ends it. At
        most 1 s each.
        """
        letter = [_given.count("inject_delay", what, value, least=least, most=most) for what, value, least, most in (
            ("step_ns", step_ns, 0, 10**9), ("late_ns", late_ns, 0, 10**9), ("every_n", every_n, 1, 1 << 40),
            ("count", count, -1, 1 << 40))]
        request(self, "inject", np.array(letter, float))

    # --- what comes out

    def snapshot(self, out: Array | None = None) -> tuple[SnapshotHeader, Array]:
        """Newest snapshot: (SnapshotHeader, array); the parts of the array are named by plant.layout."""
        x = np.empty(self.sizes["snapshot"]) if out is None else out
        return SnapshotHeader(*self.read_snapshot(x)), x

    def statistics(self) -> Statistics:
        return from_figures(self.figures(), self.histograms(), self.dt)

    def reset_statistics(self) -> None:
        """Histograms and the counts of slots from zero; simulation and warm-up are not touched."""
        request(self, "clear", np.empty(0))

    @property
    def state(self) -> str:
        """"new", "running", "paused", "fault" or "stopped"."""
        if not self.alive:
            return "stopped" if self.started_in else "new"
        return "fault" if self.fault_code else "paused" if self.paused_now else "running"

    @property
    def fault(self) -> Fault | None:
        figures, x = self.figures(), np.empty(self.sizes["snapshot"])
        self.read_snapshot(x)
        return fault_of(self._plant, figures, x)

    def _refuse_fault(self, what: str, then: str = ": ") -> None:
        """LoopError where it is in fault, and not where it has just been reset."""
        fault = self.fault
        if fault is not None:
            raise LoopError(f"{what}{then}{fault.text}; reset the loop first")

    @property
    def stop_reason(self) -> str | None:
        """Why the loop has ended, as a sentence; None while it has not."""
        return _settings.stop_sentence(self.figures(), self.dt) if not self.alive and self.started_in else None

    @property
    def privileges(self) -> _rights.Privileges:
        """What the operating system granted at start()."""
        return _rights.from_errors(self.figures(), self._asks, self._priority, self._cpu)


@atexit.register
def _stop_all() -> None:
    """No thread may outlive the interpreter's objects it works on."""
    loops = [loop for loop in _loops if loop.alive]
    for loop in loops:
        loop.ask_to_stop()
    for loop in loops:
        loop.wait_done(2.0)
