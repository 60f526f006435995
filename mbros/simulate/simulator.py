"""Simulator: a model moving in time, with commands clamped to the effort limits, faults that hold the last good state."""
from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any

import mbros_core
from mbros_core import DEFAULT_INTEGRATOR
from mbros_core.checks import MOST_STEPS
from mbros_core.constraints.registry import MOST_ITERATIONS
from mbros_core.numbers import short
from mbros_core.spec import joint_coordinates

from mbros.arguments import check_model, number, step_interval, time_step
from mbros.describe.joints.limits import beyond_in, warn_beyond
from mbros.errors import MbrosError
from mbros.model.shown import Shown
from mbros.simulate.log import Log, log_of
from mbros.simulate.motion import Motions

if TYPE_CHECKING:
    from mbros import Model
    from mbros.names import FrameLike, JointLike
    from mbros.simulate.motion import Motion
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
    """

    def __init__(self, model: Model, dt: float = 1e-3, integrator: str = DEFAULT_INTEGRATOR, state: State | None = None,
                 *, max_contact_iterations: int = MOST_ITERATIONS) -> None:
        self.model = model
        self.plant = make_plant(model, state, dt, integrator, max_contact_iterations=max_contact_iterations)
        self.start = self.plant.state.copy()
        self._started = False
        self._motions = Motions(self)

    def __copy__(self) -> Simulator:
        """A simulator of the same model that goes on by itself from here; copy.deepcopy and pickle take the model along."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, plant=copy(self.plant), start=self.start.copy())
        other._motions = self._motions._of(other)
        return other

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

    def step(self, tau: ArrayLike | None = None) -> None:
        """Advance by dt under tau."""
        if not self._started:
            self._start()
        if self._motions._by_name:
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
        self.plant.reset()
        self.plant.state.assign(self.start if state is None else state)
        self._started = False

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
