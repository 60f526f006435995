"""What of a Simulator is about its bench, and about what pushes the robot from outside."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mbros.errors import MbrosError, OwnAttributes
from mbros.model.shown import Shown
from mbros.bench.devices import commanded

if TYPE_CHECKING:
    from mbros import Fault, Model
    from mbros.names import FrameLike, JointLike
    from mbros.bench.layout import Layout
    from mbros.bench.device_numbers import LiveDevices
    from mbros.bench.disturbances import Disturbances
    from mbros.bench.faults import ActiveFault, Faults
    from mbros.bench.signals import Signals
    from mbros.bench.sources import Sources
    from mbros.record.tape import SimulatorTape
    from mbros_core import Plant
    from mbros_core.engine._engine import State
    from mbros_core.typing import Array, ArrayLike


class OnBench(OwnAttributes, Shown):
    """The part of a Simulator that needs a bench: signals, devices, faults, sources, commands; and disturbances, which do not."""

    model: Model
    plant: Plant
    start: State
    _bench: Layout | None
    _sources: Sources | None
    _disturbances: Disturbances | None
    _tape: SimulatorTape | None
    _signals: Signals | None = None             # looked up before

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

    def set_source(self: Any, joint: JointLike, mode: str) -> None:
        """Where a joint takes its motion from, from now on: "sim", "real", "prescribed" or "locked". As sim.sources[joint] = mode; a joint
        without a source is given one, an mbros.JointSource with its default numbers (docs/sources.md). "real" needs a sample of
        hardware: feed(). What was looked up in sim.signals, devices, faults or sources before has to be looked up again where a source
        came in."""
        from mbros.bench.extended import set_source      # start-up time: who does not use it does not pay

        set_source(self, joint, mode)

    def inject(self: Any, fault: Fault) -> ActiveFault:
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
