"""Simulator: a model moving in time, with commands clamped to the effort limits, faults that hold the last good state."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import mbros_core
from mbros_core import DEFAULT_INTEGRATOR
from mbros_core.constraints.registry import MOST_ITERATIONS
from mbros_core.support.files import replace_file

from mbros.arguments import number, step_interval
from mbros.describe.joints.limits import beyond_in, warn_beyond
from mbros.errors import MbrosError, MbrosWarning, OwnAttributes, warn
from mbros.model.shown import Shown
from mbros.bench.devices import commanded, devices_of, given_bench, signal_columns, sources_of
from mbros.simulate.guided import guided_step, refuse_laws_in_files
from mbros.simulate.plant import check_progress as check_progress, make_plant as make_plant, whole_steps as whole_steps

if TYPE_CHECKING:
    from mbros.simulate.log import Log

    from mbros import Fault, Model
    from mbros.bench.device_numbers import LiveDevices
    from mbros.bench.disturbances import Disturbances
    from mbros.bench.faults import ActiveFault, Faults
    from mbros.bench.layout import Layout
    from mbros.bench.signals import Signals
    from mbros.bench.sources import Sources
    from mbros.describe.devices.bench import BenchLike
    from mbros.names import FrameLike, JointLike
    from mbros.simulate.motion import Motion, Motions
    from mbros.record.tape import SimulatorTape
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike, Progress


@cache
def _blob_of() -> Callable[..., bytes]:
    from mbros.simulate.saved import blob_of      # start-up time, and once: `import` in a call takes half a microsecond

    return blob_of


class Simulator(OwnAttributes, Shown):
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

    model: Model
    plant: mbros_core.Plant
    start: State
    _signals: Signals | None = None             # looked up before

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

    # ------------------------------------------------------------------------------------------- motions

    def _step(self, tau: ArrayLike | None, progress: Progress | None = None) -> None:
        """One step, with what stands before and behind it; a recording steps the plant, and writes a row."""
        if self._sources is not None:
            self._sources.heed()
        if self._guided:
            guided_step(self, tau, progress)
        else:
            (self._tape or self.plant).step(tau, progress)
        if self._sources is not None:
            self._sources.say()

    @property
    def _guided(self) -> bool:
        """Whether motions are asked before each step."""
        return self._motions is not None and bool(self._motions._by_name)

    def prescribe(self, joint: JointLike, motion: Motion | None) -> None:
        """From now on the joint moves as given, and its mobilizer.effort(state) is what that takes; the others are moved by their forces.

        motion: a function of time, s, that returns positions (nq,), velocities (nv,) and accelerations (nv,); an mbros.Spline or an
        mbros.Table; None lets the joint go. It is asked once for every step, by dormand_prince at each of its stages, and its numbers are
        the state's at the end of the step, to the bit. A motion given at the start puts the joint where it begins; a later one has to
        begin where the joint is. The state says whether a joint is prescribed: `sim.model.joint(name).release(sim.state)` ends it, a reset
        brings back what the start had.
        """
        name = self.model.joint(joint).name
        if motion is not None:
            self.motions[name] = motion
        elif self._motions is not None and name in self._motions:
            del self._motions[name]
        else:
            self.model.joint(name).release(self.plant.state)

    def rebuilt(self, model: Model, bench: BenchLike = True) -> Simulator:
        """A simulator of another model that goes on from here: what both models have, by name, is where it is here, with its parameters,
        its contacts and the memory of its devices, faults and sources, to the bit; what only the other has is at its start. Time goes on.

            scene = mbros.Scene.of(sim.model)
            scene.add_object("ball", mbros.shapes.sphere(0.05), mass=0.2, p=(1.0, 0.0, 2.0))
            sim = sim.rebuilt(scene.build())

        bench: as of Simulator, by default the one that the model carries. A joint that a source held and that has none there is free.
        MbrosError in a fault, while it records, and with motions or disturbances. Cost: that of a new simulator.
        """
        from mbros.bench.carried import rebuilt      # start-up time: who does not use it does not pay

        return rebuilt(self, model, bench)

    @property
    def motions(self) -> Motions:
        """The motions that are given to joints, by name: sim.motions["elbow"] = motion is sim.prescribe("elbow", motion)."""
        if self._motions is None:
            from mbros.simulate.motion import Motions      # start-up time: who does not use it does not pay

            self._motions = Motions(self)
        return self._motions

    # -------------------------------------------------------------------------- recordings, saves, logs

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
        refuse_laws_in_files(self)
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
        or was simulated with another dt or integrator. MbrosWarning where another engine made it, whose last digits may be others."""
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
        if other := of.another_engine(self.model):
            warn(f"{of.who} was {other}: last digits may differ from now on", MbrosWarning)

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

    # ---------------------------------------------------- the bench, and what pushes the robot from outside

    def _on_bench(self, who: str, what: str = "", instead: str = "") -> Layout:
        if self._bench is None:
            raise MbrosError(f"{who}: this simulator has no bench, and so no {what or who}; give it one: Simulator(model, bench=...)"
                             f"{instead}")
        return self._bench

    @property
    def signals(self) -> Signals:
        """Commands and readings by name, live: sim.signals["imu.angular_velocity"].value. Needs a bench."""
        found = self._signals
        if found is None or found._devices is not self.plant.devices:
            from mbros.bench.signals import Signals      # start-up time: who does not use it does not pay

            found = self._signals = Signals(self._on_bench("signals"), self.plant.devices)
        return found

    @property
    def devices(self) -> LiveDevices:
        """Actuators, sensors and channels by name, with their numbers, live: sim.devices["joint2.servo"].kp = 300.0, also while a real-time
        loop runs. A reset leaves them as they are. Needs a bench."""
        from mbros.bench.device_numbers import LiveDevices      # start-up time: who does not use it does not pay

        return LiveDevices(self._on_bench("devices"), self.plant.devices)

    @property
    def faults(self) -> Faults:
        """The faults of the bench by name, live: sim.faults["encoder hangs"].start(). Needs a bench."""
        from mbros.bench.faults import Faults      # start-up time: who does not use it does not pay

        return Faults(self._on_bench("faults"), self.plant.devices)

    @property
    def sources(self) -> Sources:
        """Where joints take their motion from: sim.sources["joint2"] = "real", "sim", "prescribed" or "locked" (docs/sources.md)."""
        if self._sources is None:
            raise MbrosError("sources: the bench of this simulator has none; add them: bench.add(mbros.JointSource(name, joint=...))")
        return self._sources

    def set_source(self, joint: JointLike, mode: str) -> None:
        """Where a joint takes its motion from, from now on: "sim", "real", "prescribed" or "locked". As sim.sources[joint] = mode; a joint
        without a source is given one, an mbros.JointSource with its default numbers (docs/sources.md). "real" needs a sample of
        hardware: feed(). What was looked up in sim.signals, devices, faults or sources before has to be looked up again where a source
        came in."""
        from mbros.bench.extended import set_source      # start-up time: who does not use it does not pay

        set_source(self, joint, mode)

    def inject(self, fault: Fault) -> ActiveFault:
        """A fault that the bench has not, from now on; its times count from the last reset, as those of others. Returns it, live: without
        a time or condition it acts from .start() on. Works without a bench, too. MbrosError while it records, for a name that is taken, a
        signal or joint that is not there and a fault that would be over. What was looked up in sim.signals, devices, faults or
        sources before has to be looked up again. Cost: that of laying the bench out once more (docs/faults.md)."""
        from mbros.bench.extended import inject      # start-up time: who does not use it does not pay

        return inject(self, fault)

    def feed(self, position: Mapping[str, float], velocity: Mapping[str, float] | None = None, effort: Mapping[str, float] | None = None,
             time: float | None = None) -> None:
        """What hardware measured at `time` (s of the simulation, by default now), {joint: value} each: of joints with a source. Without
        a velocity it is taken from the positions; the effort is compared with what the motion takes in the model. What is not a number,
        or jumps, makes a real joint safe in the next step."""
        self.sources.feed(time, position=position, velocity=velocity, effort=effort)

    def command(self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None,
                effort: Mapping[str, float] | None = None, *, stiffness: Mapping[str, float] | None = None,
                damping: Mapping[str, float] | None = None, brake: Mapping[str, float] | None = None,
                voltage: Mapping[str, float] | None = None) -> None:
        """Commands for actuators, {joint: value} each; what is named stays in force until it is commanded again. NaN withdraws one.
        Nothing is commanded where one is refused. stiffness and damping: of impedance servos; brake: 1 engages it, 0 releases it;
        voltage: of motors (V), before an effort."""
        bench = self._on_bench("command", "actuators", ", or give efforts to step, advance_to or run")
        commanded(bench, self.plant.devices, position, velocity, effort, stiffness, damping, brake, voltage)       # of COMMANDS

    @property
    def disturbances(self) -> Disturbances:
        """What pushes the robot from outside: sim.disturbances.apply_wrench(frame, force=..., duration=...), apply_effort, payloads."""
        if self._disturbances is None:
            self._disturbances = self._pushed(None)
        return self._disturbances

    def apply_wrench(self, frame: FrameLike, torque: ArrayLike = (0, 0, 0), force: ArrayLike = (0, 0, 0), *, duration: float | None = None,
                     expressed_in: FrameLike = "world", point: ArrayLike = (0, 0, 0)) -> int:
        """sim.disturbances.apply_wrench: a torque (3,) N m and a force (3,) N on the body of `frame` for so many seconds (None: until it is
        cleared), in world axes or along those of a frame, the force at `point` (3,) m of the frame. Returns its number."""
        return self.disturbances.apply_wrench(frame, torque, force, duration=duration, expressed_in=expressed_in, point=point)

    def _pushed(self, table: Array | None) -> Disturbances:
        from mbros.bench.disturbances import Disturbances      # start-up time: who does not use it does not pay

        return Disturbances(self.model, self.plant, self.start, table)

    def _memory(self) -> Array:
        """All memory of the devices, numbers that were just set among it."""
        self.plant.devices._settle()
        return self.plant.devices.block

    def _bench_digest(self) -> str:
        if self._bench is None:
            return ""
        from mbros_core.support.fingerprint import digest      # start-up time: who does not use it does not pay

        return digest(self._bench.tables())
