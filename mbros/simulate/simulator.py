"""Simulator: a model moving in time, with commands clamped to the effort limits, faults that hold the last good state."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any

import mbros_core
import numpy as np
from mbros_core import DEFAULT_INTEGRATOR
from mbros_core.checks import MOST_STEPS
from mbros_core.constraints.registry import MOST_ITERATIONS
from mbros_core.files import replace_file
from mbros_core.fingerprint import digest
from mbros_core.numbers import short
from mbros_core.spec import joint_coordinates

from mbros.arguments import check_model, number, step_interval, time_step
from mbros.describe.joints.limits import beyond_in, warn_beyond
from mbros.errors import MbrosError
from mbros.model.shown import Shown
from mbros.simulate.devices import commanded, devices_of, given_bench
from mbros.simulate.log import Log, log_of
from mbros.simulate.motion import Motions
from mbros.simulate.saved import layout, packed, read

if TYPE_CHECKING:
    from os import PathLike

    from mbros import Model
    from mbros.describe.devices.bench import Bench
    from mbros.names import FrameLike, JointLike
    from mbros.simulate.motion import Motion
    from mbros.simulate.signals import Signals
    from mbros_core._engine import State
    from mbros_core.typing import Array, ArrayLike, JointRow, Progress


def joint_rows(model: Model) -> list[JointRow]:
    """Where the joints of model.joint_state_names are in q and v, in that order, for a Plant."""
    rows = joint_coordinates(model.spec)
    return [rows[joint.compiled_index] for joint in model._compiled.joints if joint.nv == 1]


def make_plant(model: Model, state: State | None = None, dt: float = 1e-3, integrator: str = DEFAULT_INTEGRATOR,
               transform_pairs: Iterable[tuple[FrameLike, FrameLike]] = (),
               max_contact_iterations: int = MOST_ITERATIONS) -> mbros_core.Plant:
    """A Plant of a model: what Simulator steps in Python and mbros_core.realtime.Loop in its own thread.

    transform_pairs: (frame a, frame b), by name or object; snapshots then hold the pose of b in a.
    """
    check_model("simulation", model)
    dt = time_step(f"simulation of model {model.name!r}", dt, integrator)
    if state is not None:
        model._check_state(state)
    pairs = [(model._frame_index(a), model._frame_index(b)) for a, b in transform_pairs]
    return mbros_core.Plant(model, state, dt, integrator, joint_rows(model), pairs, max_contact_iterations)


def whole_steps(who: str, seconds: float, dt: float) -> int:
    """How many steps of dt come nearest to that many seconds."""
    steps = seconds / dt
    if not abs(steps) <= MOST_STEPS:
        raise MbrosError(f"{who}: {seconds:g} s is {steps:.4g} steps of {dt:g} s; expected 2^53 (9.007e15) or fewer, as many as can be "
                         "counted")
    return round(steps)


def check_progress(who: str, progress: object) -> None:
    if progress is not None and not callable(progress):
        raise MbrosError(f"{who}: progress: expected a function of the time, or None, got {short(progress)}")


class Simulator(Shown):
    """Steps a model through time.

    dt: step, s. integrator: "midpoint" (of second order; what is stiff in the joints implicit), "semi_implicit_euler" (of first) or "rk4"
    (of fourth; refuses friction that is too stiff for dt); docs/integrators.md. state: where to start (a State of this model, used in
    place); by default the model's default state. max_contact_iterations: bound on the iterations of a step's contact problem.

    `sim.step(tau)` takes efforts (nv,), {joint name: effort} or None. Commands beyond an effort limit are clamped and
    counted in `sim.clamped`. A step that would blow up raises FaultError and changes nothing until `sim.reset()`. A joint that
    starts beyond its limits is reported in a PositionLimitWarning.

    Time is counted: after n steps it is the time at the start plus n dt, rounded once. Ctrl-C ends a long call after a whole step, and
    so does whatever `progress(time)` raises, a function that advance_to and run call some 50 times a second. What a call runs on its way
    may look at the simulation; step and reset raise BusyError there.

    bench: a mbros.Bench, or the path of a bench file: actuators, which follow `sim.command(...)`, sensors and channels; `sim.signals` has
    commands and readings by name (docs/bench.md). Efforts that step, advance_to and run are given act beside the actuators.
    """

    def __init__(self, model: Model, dt: float = 1e-3, integrator: str = DEFAULT_INTEGRATOR, state: State | None = None,
                 *, bench: Bench | str | PathLike[str] | None = None, max_contact_iterations: int = MOST_ITERATIONS) -> None:
        self.model = model
        self.plant = make_plant(model, state, dt, integrator, max_contact_iterations=max_contact_iterations)
        if state is not None:
            model._check_closed(state)
        self._bench = given_bench(model, bench, self.dt)
        if self._bench is not None:
            devices_of(self.plant, self._bench)
        self.start = self.plant.state.copy()
        self._started = False
        self._motions = Motions(self)

    def __copy__(self) -> Simulator:
        """A simulator of the same model that goes on by itself from here; copy.deepcopy and pickle take the model along."""
        other = object.__new__(type(self))
        other.__setstate__(dict(self.__getstate__(), plant=copy(self.plant), start=self.start.copy()))
        other._motions = self._motions._of(other)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__, _block=None if self._bench is None else self.plant.devices.block.copy())

    def __setstate__(self, state: dict[str, Any]) -> None:
        block = state.pop("_block")
        self.__dict__.update(state)
        if self._bench is not None:
            devices_of(self.plant, self._bench)._take_over(block)

    def __repr__(self) -> str:
        fault = ", in fault" if self.plant.fault[0] else ""
        return f"<Simulator of {self.model.name!r}: {self.integrator}, dt {self.dt:g} s, at {self.time:.6g} s{fault}>"

    @property
    def state(self) -> State:
        """The state, live: views of q and v change as the simulation goes on."""
        return self.plant.state

    @property
    def dt(self) -> float:
        return self.plant.dt

    @property
    def integrator(self) -> str:
        return self.plant.integrator

    @property
    def time(self) -> float:
        return self.plant.state.time

    @property
    def clamped(self) -> int:
        """Efforts clamped to a limit since the last reset, one per coordinate and step."""
        return self.plant.clamped

    @property
    def signals(self) -> Signals:
        """Commands and readings by name, live: sim.signals["imu.angular_velocity"].value. Needs a bench."""
        from mbros.simulate.signals import Signals      # start-up time: who does not use it does not pay

        if self._bench is None:
            raise MbrosError("signals: this simulator has no bench, and so no signals; give it one: Simulator(model, bench=...)")
        return Signals(self._bench, self.plant.devices)

    def command(self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None,
                effort: Mapping[str, float] | None = None) -> None:
        """Commands for actuators, {joint: value} each; what is named stays in force until it is commanded again. NaN withdraws one.
        Nothing is commanded where one is refused."""
        if self._bench is None:
            raise MbrosError("command: this simulator has no bench, and so no actuators; give it one: Simulator(model, bench=...), or give "
                             "efforts to step, advance_to or run")
        commanded(self._bench, self.plant.devices, position=position, velocity=velocity, effort=effort)

    def step(self, tau: ArrayLike | None = None) -> None:
        """Advance by dt under tau."""
        if not self._started:
            self._start()
        if self._motions._by_name:
            tau = self.model.effort_vector(tau)                 # refused before a motion is asked
            self._motions.before_step(self.plant.state, self.dt)
        self.plant.step(self.model.effort_vector(tau) if isinstance(tau, dict) else tau)

    def advance_to(self, time: float, tau: ArrayLike | None = None, progress: Progress | None = None) -> None:
        """Advance in steps of dt until `time` (s), to the nearest step, under constant tau."""
        time = number("advance_to", "time", time)
        steps = whole_steps("advance_to", time - self.time, self.dt)
        if steps < 0:
            raise MbrosError(f"advance_to: {time} s is before the present {self.time:.6g} s; reset() goes back")
        check_progress("advance_to", progress)
        tau = self.model.effort_vector(tau)
        if not self._started:
            self._start()
        self._steps(tau, steps, progress)

    def prescribe(self, joint: JointLike, motion: Motion | None) -> None:
        """From now on the joint moves as given, and its mobilizer.effort(state) is what that takes; the others are moved by their forces.

        motion: a function of time, s, that returns positions (nq,), velocities (nv,) and accelerations (nv,); an mbros.Spline or an
        mbros.Table; None lets the joint go. It is asked once for every step, and its numbers are the state's at the end of the step, to the
        bit. A motion given at the start puts the joint where it begins; a later one has to begin where the joint is. The state says
        whether a joint is prescribed: `sim.model.joint(name).release(sim.state)` ends it, a reset brings back what the start had.
        """
        name = self.model.joint(joint).name
        if motion is not None:
            self._motions[name] = motion
        elif name in self._motions:
            del self._motions[name]
        else:
            self.model.joint(name).release(self.state)

    @property
    def motions(self) -> Motions:
        """The motions that are given to joints, by name: sim.motions["elbow"] = motion is sim.prescribe("elbow", motion)."""
        return self._motions

    def _steps(self, tau: Array, n: int, progress: Progress | None) -> None:
        """n steps under the same efforts; motions are asked before each."""
        if not self._motions._by_name:
            self.plant.steps(tau, n, progress)
            return
        for _ in range(n):
            self._motions.before_step(self.plant.state, self.dt)
            self.plant.step(tau, progress)

    def reset(self, state: State | None = None) -> None:
        """Back to the state the simulator started from, or to `state` (copied); clears a fault."""
        if state is not None:
            self.model._check_state(state)
            self.model._check_closed(state)
        self.plant.reset()
        self.plant.state.assign(self.start if state is None else state)
        self._started = False

    def save(self, path: str | PathLike[str] | None = None) -> bytes:
        """Everything that decides what comes next, as bytes, and written to a file where one is named.

        From it restore() goes on to the bit as if nothing had happened, here and in another process with the same engine: positions,
        velocities, parameters, locks, contacts, counted time, the start that reset() goes back to, a fault. Cost: some microseconds and
        the model's fingerprint (docs/saving.md).
        """
        plant, state = self.plant, self.state
        state._check_free()
        blob = packed(self.model, {"dt": self.dt, "integrator": self.integrator, "layout": layout(state), "clamped": plant.clamped,
                                   "fault": list(plant.fault), "max_contact_iterations": plant.max_contact_iterations,
                                   "started": self._started, "time": self.time, "bench": self._bench_digest(),
                                   "motions": list(self._motions)},
                      {"state": state._inputs, "start": self.start._inputs, "effort": plant.effort,
                       "devices": np.empty(0) if self._bench is None else plant.devices.block})
        if path is not None:
            replace_file("save", path, blob)
        return blob

    def restore(self, saved: bytes | str | PathLike[str]) -> None:
        """Go on from what save() returned, or from a file of it. SaveError, and nothing changes, where that is damaged, of another model,
        or was simulated with another dt or integrator."""
        of = read(saved)
        of.check(self.model, self.dt, self.integrator)
        of.check_company(self._bench_digest(), self._motions)
        if self._bench is not None:
            self.plant.devices._take_over(of.numbers["devices"])
        self.plant._take_over(of.numbers["effort"], of.header["clamped"], *of.header["fault"])
        self.plant.max_contact_iterations = of.header["max_contact_iterations"]
        of.put("state", self.state)
        of.put("start", self.start)
        self._started = of.header["started"]
        self._motions._last.clear()

    def _bench_digest(self) -> str:
        return "" if self._bench is None else digest(self._bench.tables())

    def run(self, duration: float, effort: Any = None, every: int = 1, progress: Progress | None = None) -> Log:
        """Simulate `duration` seconds under constant efforts and log every `every`-th step, the start and the end included.

        effort: {joint name: effort}, (nv,) or None; or a function of (time, state) that returns one of these. NoMemoryError where the
        log would not fit into memory.
        """
        duration = number("run", "duration", duration, 0.0)
        steps = whole_steps("run", duration, self.dt)
        every = step_interval("run", every)
        check_progress("run", progress)
        log = log_of("run", self.model, steps, every)
        tau = None if callable(effort) else self.model.effort_vector(effort)
        log.append(self.time, self.plant)
        if steps and not self._started:
            self._start()
        while steps > 0:
            n = min(every, steps)
            if tau is not None:
                self._steps(tau, n, progress)
            else:
                self._follow(effort, n, progress)
            log.append(self.time, self.plant)
            steps -= n
        return log

    def _follow(self, law: Any, n: int, progress: Progress | None) -> None:
        """n steps under the efforts that a function of (time, state) gives."""
        for _ in range(n):
            tau = self.plant.under(law)
            if self._motions._by_name:
                self._motions.before_step(self.plant.state, self.dt)
            self.plant.step(self.model.effort_vector(tau) if isinstance(tau, dict) else tau, progress)

    def _start(self) -> None:
        """The first call since the start or a reset that takes steps, where the robot may have been put somewhere else: refuse friction
        that is too stiff there, report, once for each joint, what its stop will do."""
        self.plant.check_friction()
        self._started = True
        if self.state.field("clock")[1] == 0.0:                # else it is in motion, and may well lean on a stop
            warn_beyond(*beyond_in(self.state))
