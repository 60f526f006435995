"""A simulation that a page drives: the plant in the real-time loop, which never waits for a viewer.

Paused, the loop's thread has ended, and the simulator may be stepped from Python; the page follows. Playing, the thread
has the plant for itself, and a Simulator says so when it is stepped.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from mbros.errors import MbrosError
from mbros.model.contacts import contact_part
from mbros.view.bench import PlantBench, hold_here
from mbros.view.hands import Hands
from mbros.view.lateness import Lateness
from mbros.view.motion import Connection, Motion, Sample
from mbros.view.pace import Pace
from mbros_core.realtime import Loop

SPEEDS = (0.1, 100.0)


class Drive(Motion):
    """Play, pause, step, reset, speed, efforts, live parameters and a spring to pull with, for a mbros_core.Plant.

    start: the State that reset goes back to; by default the plant's present one. rt: as Loop's, "auto" for real-time priority.
    layout: of the plant's bench (mbros.bench.layout), asked each time, None without one; its actuators hold the robot then, and
    not the page. steady: they are commanded to stay where they are, whenever nothing is commanded as it begins to play.
    """

    can = frozenset(("play", "step", "reset", "speed", "effort", "parameters", "place", "pull"))

    def __init__(self, plant: Any, start: Any = None, rt: str = "off", layout: Callable[[], Any] | None = None, steady: bool = False):
        self.plant, self.model, self.dt = plant, plant.model, plant.dt
        self._start = (plant.state if start is None else start).copy()
        # a State of our own with the live parameters of the plant: what the plant holds is the loop's while it runs
        self.tuned = plant.state.copy()
        self._memory = plant.state.field("contact_memory") if "contacts" in plant.layout else None
        # one of the two
        self._loop: Any = None if plant.needs_gil else Loop(plant, watchdog_timeout=None, rt=rt)
        self._pace: Any = Pace(plant) if plant.needs_gil else None
        self._lock = threading.RLock()                  # of those who start and stop; never of sample(), never of the hands' thread
        self._tuning = threading.Lock()                 # of `tuned` and what is made of it
        self._lateness: Any = None if self._loop is None else Lateness(self._loop)
        self._since, self._late = 0.0, float("nan")
        self.hands, self._steady = Hands(self), steady
        if layout is not None and layout() is not None:
            self.bench = PlantBench(self.model, plant, layout)
            self.hands.hold = not self.bench.commands

    def connection(self) -> Connection:
        return Connection(f"simulated here, in steps of {1e3 * self.dt:g} ms{'' if self.bench is None else ', with its bench'}")

    @property
    def playing(self) -> bool:
        return bool((self._loop or self._pace).alive)

    @property
    def fault(self) -> str:
        if self._pace is not None:
            return self._pace.fault
        return self._loop.fault.text if self._loop.fault_code else ""

    # ------------------------------------------------------------------------------------------------------------ looking on

    def sample(self) -> Sample:
        if self._loop is not None and self.playing:
            header, x = self._loop.snapshot()
            q, v, effort, clamped = (x[at:at + n] for at, n in map(self.plant.layout.get, ("q", "v", "effort", "clamped")))
            return Sample(self._since + header.time, q, v, effort, int(clamped[0]), True, self.fault, self._late,
                          contact_part(self.plant, x), None if self.bench is None else self.bench.values())
        # Copies only: the engine may be at work on this memory for somebody else
        state = self.plant.state
        return Sample(float(state.time), np.array(state.q), np.array(state.v), self.plant.effort, self.plant.clamped, self.playing,
                      self.fault, self._late, None if self._memory is None else np.array(self._memory).reshape(-1),
                      None if self.bench is None else self.bench.values())

    def count_late(self) -> None:
        """Look how late the steps since the last call began; samples say it from now on."""
        if self._lateness is None:
            self._late = self._pace.late()
        else:
            self._lateness.look()
            self._late = self._lateness.p99

    def statistics(self) -> Any:
        """What the loop counted (mbros_core.realtime), None on a Python thread."""
        return None if self._loop is None else self._loop.statistics()

    # --------------------------------------------------------------------------------------------------------------- driving

    def play(self) -> None:
        with self._lock:
            if self.fault:
                raise MbrosError(f"{self.fault}. Reset goes back to the start")
            if not self.playing:
                self.steady()
                self.hands.prepare()
                if self._loop is not None:
                    self._since = float(self.plant.state.time) - self._loop.snapshot()[0].time
                (self._loop or self._pace).start()
                self.hands.start()

    def steady(self) -> None:
        """Let the actuators stay where they are, where nothing is commanded and that was asked for."""
        if self._steady and self.bench is not None and np.isnan(self.bench.commanded()).all():
            self.bench.command(hold_here(self.model, self.bench.commands, self.sample()))

    def pause(self) -> None:
        with self._lock:
            self.hands.stop()
            (self._loop or self._pace).stop()

    def step(self, n: int = 1) -> None:
        with self._lock:
            self.pause()
            self.steady()
            self.plant.steps(self.hands.efforts_now(self.sample()), n)

    def reset(self) -> None:
        """The state of the start, with the live parameters as they are now."""
        with self._lock:
            playing = self.playing
            self.pause()
            if self._loop is not None:
                self._loop.reset(self._start.q, self._start.v)          # also out of a fault
            else:
                self.plant.reset(self._start.q, self._start.v)
                self._pace.fault = ""
            self.plant.state.time = self._start.time
            if playing:
                self.play()

    def speed(self, factor: float) -> None:
        if not SPEEDS[0] <= factor <= SPEEDS[1]:
            raise MbrosError(f"speed is {factor:g}; expected {SPEEDS[0]:g} to {SPEEDS[1]:g} simulated seconds per second")
        if self._loop is not None:
            self._loop.set_real_time_factor(factor)
        else:
            self._pace.factor = factor

    def place(self, q: np.ndarray) -> None:
        with self._lock:
            if self._loop is not None and self.playing:
                self._loop.set_state(q, np.zeros(self.model.nv))
                return
            playing = self.playing
            self.pause()
            self.plant.state.set_q(q).set_v(np.zeros(self.model.nv))
            if playing:
                self.play()

    def command(self, tau: np.ndarray) -> None:
        """Efforts from now on (nv,)."""
        if not self.fault:
            (self._loop or self._pace).command(tau)

    # ------------------------------------------------------------------------------------------------- what acts on the robot

    def parameter(self, name: str) -> Any:
        return self.model.parameter(self.tuned, name)

    def set_parameter(self, name: str, value: Any) -> None:
        with self._tuning:
            self.model.set_parameter(self.tuned, name, value)
            self._tune()

    def push(self, frame: int, torque: np.ndarray, force: np.ndarray) -> None:
        """One wrench from outside, in world axes: on the body of frame `body` about its origin; the last one ends."""
        with self._tuning:
            self.tuned.external_force[:] = 0.0
            if np.any(force) or np.any(torque):
                self.tuned.q[:] = self.sample().q
                self.model.apply_wrench(self.tuned, self.model.frames[frame], torque, force)
            self._tune()

    def _tune(self) -> None:
        block = self.plant.parameter_block(self.tuned)
        if self._loop is not None:
            self._loop.set_parameters(block)
            return
        for name, (at, size) in self.plant.parameters.items():
            self.plant.state.field(name).reshape(-1)[:] = block[at:at + size]

    def close(self) -> None:
        self.pause()
