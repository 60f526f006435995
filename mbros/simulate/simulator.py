"""Simulator: a model moving in time, with commands clamped to the effort limits, faults that hold the last good state."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import mbros_core
from mbros_core import BY_ERROR, DEFAULT_INTEGRATOR, INTEGRATORS
from mbros_core.engine.checks import MOST_STEPS
from mbros_core.constraints.registry import MOST_ITERATIONS
from mbros_core.support.files import replace_file
from mbros_core.support.given import step_length
from mbros_core.support.numbers import short
from mbros_core.spec import joint_coordinates

from mbros.arguments import check_model, choice, number, step_interval
from mbros.describe.joints.limits import beyond_in, warn_beyond
from mbros.errors import MbrosError
from mbros.bench.devices import devices_of, given_bench, signal_columns, sources_of
from mbros.simulate.guided import Guided

if TYPE_CHECKING:
    from mbros.simulate.log import Log
    from os import PathLike

    from mbros import Model
    from mbros.describe.devices.bench import BenchLike
    from mbros.names import FrameLike
    from mbros.bench.disturbances import Disturbances
    from mbros.simulate.motion import Motions
    from mbros.record.tape import SimulatorTape
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike, JointRow, Progress


@cache
def _blob_of() -> Callable[..., bytes]:
    from mbros.simulate.saved import blob_of      # start-up time, and once: `import` in a call takes half a microsecond

    return blob_of


def joint_rows(model: Model) -> list[JointRow]:
    """Where the joints of model.joint_state_names are in q and v, in that order, for a Plant."""
    rows = joint_coordinates(model.spec)
    return [rows[joint.compiled_index] for joint in model._compiled.joints if joint.nv == 1]


def make_plant(model: Model, state: State | None = None, dt: float = 1e-3, integrator: str = DEFAULT_INTEGRATOR,
               transform_pairs: Iterable[tuple[FrameLike, FrameLike]] = (),
               max_contact_iterations: int = MOST_ITERATIONS,
               tolerances: tuple[float | None, float | None] | None = None) -> mbros_core.Plant:
    """A Plant of a model: what Simulator steps in Python and mbros_core.realtime.Loop in its own thread.

    transform_pairs: (frame a, frame b), by name or object; snapshots then hold the pose of b in a.
    """
    check_model("simulation", model)
    who = f"simulation of model {model.name!r}"
    choice(who, "integrator", integrator, (*INTEGRATORS, BY_ERROR))
    dt = step_length(who, dt)
    if state is not None:
        model._check_state(state)
    pairs = [(model._frame_index(a), model._frame_index(b)) for a, b in transform_pairs]
    return mbros_core.Plant(model, state, dt, integrator, joint_rows(model), pairs, max_contact_iterations, tolerances)


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


class Simulator(Guided):
    """Steps a model through time.

    dt: step, s. integrator: "midpoint" (of second order; what is stiff in the joints implicit), "semi_implicit_euler" (of first) or "rk4"
    (of fourth; refuses friction that is too stiff for dt), or "dormand_prince", offline truth: substeps by the error, with tolerances rtol
    (1e-10 by default) and atol (1e-12; rad, m and their rates); docs/integrators.md. state: where to start (a State of this model, used in
    place); by default the model's default state. max_contact_iterations: bound on the iterations of a step's contact problem.

    `sim.step(tau)` takes efforts (nv,), {joint name: effort} or None. Commands beyond an effort limit are clamped and
    counted in `sim.clamped`. A step that would blow up raises FaultError and changes nothing until `sim.reset()`. A joint that
    starts beyond its limits is reported in a PositionLimitWarning.

    Time is counted: after n steps it is the time at the start plus n dt, rounded once. Ctrl-C ends a long call after a whole step, and
    so does whatever `progress(time)` raises, a function that advance_to and run call some 50 times a second. What a call runs on its way
    may look at the simulation; step and reset raise BusyError there.

    bench: a mbros.Bench, the path of a bench file, the name of one or "servo" (servos in every joint); by default the one that the model
    carries, and none for False or None. Its actuators, which follow `sim.command(...)`, sensors and channels; `sim.signals` has
    commands and readings by name (docs/bench.md). Efforts that step, advance_to and run are given act beside the actuators.
    """

    _instead = {"gravity": "sim.state.gravity = (0, 0, 0) changes the simulation's",
                **dict.fromkeys(("effort", "tau", "torque", "u", "ctrl"), "efforts are given to step(tau), advance_to(time, tau) and "
                                "run(duration, effort); with a bench, sim.command(effort={...}) stays in force"),
                **dict.fromkeys(("q", "v", "qpos", "qvel"), "sim.state.q and sim.state.v are the state's, live"),
                **dict.fromkeys(("dt", "integrator", "bench"), "make another one, Simulator(model, dt=..., integrator=..., bench=...)"),
                "state": "sim.reset(state), or sim.state.assign(state)", "time": "sim.advance_to(time); sim.reset() goes back"}

    def __init__(self, model: Model, dt: float = 1e-3, integrator: str = DEFAULT_INTEGRATOR, state: State | None = None,
                 *, bench: BenchLike = True, max_contact_iterations: int = MOST_ITERATIONS, rtol: float | None = None,
                 atol: float | None = None) -> None:
        self.model = model
        self.plant = make_plant(model, state, dt, integrator, max_contact_iterations=max_contact_iterations, tolerances=(rtol, atol))
        if state is not None:
            model._check_closed(state)
        self._bench = given_bench(model, bench, self.dt)
        if self._bench is not None:
            devices_of(self.plant, self._bench)
        self.start = self.plant.state.copy()
        self._started, self._since = False, self.time           # since: when the last reset was
        self._tape: SimulatorTape | None = None
        self._motions: Motions | None = None
        self._sources = sources_of(self)
        self._disturbances: Disturbances | None = None

    def __copy__(self) -> Simulator:
        """A simulator of the same model that goes on by itself from here; copy.deepcopy and pickle take the model along."""
        other = object.__new__(type(self))
        other.__setstate__(dict(self.__getstate__(), plant=copy(self.plant), start=self.start.copy()))
        other._motions = None if self._motions is None else self._motions._of(other)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__, _sources=None, _tape=None, _signals=None, _block=None if self._bench is None else self._memory().copy(),
                    _disturbances=None if self._disturbances is None else self._disturbances.table.copy())

    def __setstate__(self, state: dict[str, Any]) -> None:
        block = state.pop("_block")
        self.__dict__.update(state)
        if self._bench is not None:
            devices_of(self.plant, self._bench)._take_over(block)
            self._sources = sources_of(self)
        if self._disturbances is not None:
            self._disturbances = self._pushed(state["_disturbances"])

    def __repr__(self) -> str:
        fault = ", in fault" if self.plant.fault[0] else ""
        return f"<Simulator of {self.model.name!r}: {self.integrator}, dt {self.dt:g} s, at {self.time:.6g} s{fault}>"

    @property
    def state(self) -> State:
        """The state, live: views of q and v change as the simulation goes on."""
        return self.plant.state

    @property
    def dt(self) -> float:
        """Length of a step, s."""
        return self.plant.dt

    @property
    def integrator(self) -> str:
        """How a step is taken: a name of mbros_core.INTEGRATORS, or "dormand_prince"."""
        return self.plant.integrator

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.plant.state.time

    @property
    def clamped(self) -> int:
        """Efforts clamped to a limit since the last reset, one per coordinate and step."""
        return self.plant.clamped

    def step(self, tau: dict[str, Any] | ArrayLike | None = None) -> None:
        """Advance by dt under tau: efforts (nv,) or {joint name: effort}, N m or N; None: no effort."""
        if not self._started:
            self._start()
        if self._guided:
            tau = self.model.effort_vector(tau)                 # refused before a motion is asked
        self._step(self.model.effort_vector(tau) if isinstance(tau, dict) else tau)

    def advance_to(self, time: float, tau: dict[str, Any] | ArrayLike | None = None, progress: Progress | None = None) -> None:
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

    def at(self, time: float) -> State:
        """The state, a copy, at a time (s) within the last step of the integrator "dormand_prince": its dense output, of fourth order.

        Cost: at most a step. Parameters are those of now. StateError for other integrators, with a bench or disturbances, and where no
        step led to the state; MbrosError for a time outside the last step.
        """
        return self.plant.at(time)

    def _steps(self, tau: Array, n: int, progress: Progress | None) -> None:
        """n steps under the same efforts; motions are asked before each."""
        if not self._guided and self._tape is None:
            if self._sources is not None:
                self._sources.heed()
            self.plant.steps(tau, n, progress)
            if self._sources is not None:
                self._sources.say()
            return
        for _ in range(n):
            self._step(tau, progress)

    def record(self, path: str | PathLike[str], signals: Sequence[str] | None = None) -> SimulatorTape:
        """Record every step from now on, until the end of the `with` block or `.close()`, as ROS 2 messages in an MCAP file: what
        PlotJuggler and Foxglove show and `mbros replay --verify` runs again (docs/recording.md). Needs mbros[record].

        path: run.mcap, or a folder, which then is a bag of `ros2 bag`. signals: names, * for any; by default all. Commands are always
        recorded. RecorderError where nothing can be written.
        """
        from mbros.record.tape import SimulatorTape      # start-up time: who does not record does not pay

        self.state._check_free()
        if self._tape is not None:
            raise MbrosError(f"record: the simulator is being recorded already, in {self._tape.tape.path}; close() that first")
        self._refuse_laws_in_files()
        self._tape = SimulatorTape(self, path, signals)
        return self._tape

    def reset(self, state: State | None = None) -> None:
        """Back to the state the simulator started from, or to `state` (copied); clears a fault."""
        if state is not None:
            self.model._check_state(state)
            self.model._check_closed(state)
        self.plant.reset()
        self.plant.state.assign(self.start if state is None else state)
        if self._disturbances is not None:
            self._disturbances._put(0.0 * self._disturbances.table)
        self._started, self._since = False, self.time

    def save(self, path: str | PathLike[str] | None = None) -> bytes:
        """Everything that decides what comes next, as bytes, and written to a file where one is named.

        From it restore() goes on to the bit as if nothing had happened, here and in another process with the same engine: positions,
        velocities, parameters, locks, contacts, counted time, the start that reset() goes back to, a fault. Cost: some microseconds and
        the model's fingerprint (docs/saving.md).
        """
        blob = _blob_of()(self.model, self.plant, self.start, self._started, self._bench_digest(), list(self._motions or ()),
                       devices=None if self._bench is None else self._memory(),
                       disturbances=None if self._disturbances is None else self._disturbances.table)
        if path is not None:
            replace_file("save", path, blob)
        return blob

    def restore(self, saved: bytes | str | PathLike[str]) -> None:
        """Go on from what save() returned, or from a file of it. SaveError, and nothing changes, where that is damaged, of another model,
        or was simulated with another dt or integrator."""
        from mbros.simulate.saved import read      # start-up time: who does not use it does not pay

        of = read(saved)
        of.check(self.model, self.dt, self.integrator)
        of.check_company(self._bench_digest(), self._bench, self._motions or ())
        of.put_into(self.plant, self.start)
        if self._disturbances is not None or of.numbers["disturbances"].size:
            self.disturbances._put(of.disturbances())
        self._started, self._since = of.header["started"], self.start.time
        if self._motions is not None:
            self._motions._last.clear()

    def run(self, duration: float, effort: Any = None, every: int = 1, progress: Progress | None = None,
            signals: str | Sequence[str] = ()) -> Log:
        """Simulate `duration` seconds under constant efforts and log every `every`-th step, the start and the end included.

        effort: {joint name: effort}, (nv,) or None; or a function of (time, state) that returns one of the first two. signals: of the
        bench, names or patterns such as "joint*.encoder.position", which log.signals then has. NoMemoryError where the log would not fit
        into memory.
        """
        from mbros.simulate.log import log_of      # start-up time: who does not use it does not pay

        duration = number("run", "duration", duration, 0.0)
        steps = whole_steps("run", duration, self.dt)
        every = step_interval("run", every)
        check_progress("run", progress)
        log = log_of("run", self.model, steps, every, signal_columns("run", self._bench, signals))
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
            if tau is None:
                raise MbrosError(f"run: effort: the function returned None at {self.time:g} s; expected {{joint: effort}} or (nv,). Is "
                                 "there a `return`? {} is no effort")
            self._step(self.model.effort_vector(tau) if isinstance(tau, dict) else tau, progress)

    def _start(self) -> None:
        """The first call since the start or a reset that takes steps, where the robot may have been put somewhere else: refuse friction
        that is too stiff there, report, once for each joint, what its stop will do."""
        self.plant.check_friction()
        self._started = True
        if self.state.field("clock")[1] == 0.0:                # else it is in motion, and may well lean on a stop
            warn_beyond(*beyond_in(self.state))
