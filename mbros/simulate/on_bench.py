"""What of a Simulator is about its bench, and about what pushes the robot from outside."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mbros.errors import MbrosError
from mbros.model.shown import Shown
from mbros.simulate.devices import commanded

if TYPE_CHECKING:
    from mbros import Model
    from mbros.simulate.bench_layout import Layout
    from mbros.simulate.device_numbers import LiveDevices
    from mbros.simulate.disturbances import Disturbances
    from mbros.simulate.faults import Faults
    from mbros.simulate.signals import Signals
    from mbros.simulate.sources import Sources
    from mbros.simulate.tape import SimulatorTape
    from mbros_core import Plant
    from mbros_core._engine import State
    from mbros_core.typing import Array


class OnBench(Shown):
    """The part of a Simulator that needs a bench: signals, devices, faults, sources, commands; and disturbances, which do not."""

    model: Model
    plant: Plant
    start: State
    _bench: Layout | None
    _sources: Sources | None
    _disturbances: Disturbances | None
    _tape: SimulatorTape | None

    def _on_bench(self, who: str, what: str = "", instead: str = "") -> Layout:
        if self._bench is None:
            raise MbrosError(f"{who}: this simulator has no bench, and so no {what or who}; give it one: Simulator(model, bench=...)"
                             f"{instead}")
        return self._bench

    @property
    def signals(self) -> Signals:
        """Commands and readings by name, live: sim.signals["imu.angular_velocity"].value. Needs a bench."""
        from mbros.simulate.signals import Signals      # start-up time: who does not use it does not pay

        return Signals(self._on_bench("signals"), self.plant.devices)

    @property
    def devices(self) -> LiveDevices:
        """Actuators, sensors and channels by name, with their numbers, live: sim.devices["joint2.servo"].kp = 300.0, also while a real-time
        loop runs. A reset leaves them as they are. Needs a bench."""
        from mbros.simulate.device_numbers import LiveDevices      # start-up time: who does not use it does not pay

        return LiveDevices(self._on_bench("devices"), self.plant.devices)

    @property
    def faults(self) -> Faults:
        """The faults of the bench by name, live: sim.faults["encoder hangs"].start(). Needs a bench."""
        from mbros.simulate.faults import Faults      # start-up time: who does not use it does not pay

        return Faults(self._on_bench("faults"), self.plant.devices)

    @property
    def sources(self) -> Sources:
        """Where joints take their motion from: sim.sources["joint2"] = "real", "sim", "prescribed" or "locked" (docs/sources.md)."""
        if self._sources is None:
            raise MbrosError("sources: the bench of this simulator has none; add them: bench.add(mbros.JointSource(name, joint=...))")
        return self._sources

    def feed(self, position: Mapping[str, float], velocity: Mapping[str, float] | None = None, effort: Mapping[str, float] | None = None,
             time: float | None = None) -> None:
        """What hardware measured at `time` (s of the simulation, by default now), {joint: value} each: of joints with a source. Without
        a velocity it is taken from the positions; the effort is compared with what the motion takes in the model. What is not a number,
        or jumps, makes a real joint safe in the next step."""
        self.sources.feed(time, position=position, velocity=velocity, effort=effort)

    def command(self, position: Mapping[str, float] | None = None, velocity: Mapping[str, float] | None = None,
                effort: Mapping[str, float] | None = None, *, stiffness: Mapping[str, float] | None = None,
                damping: Mapping[str, float] | None = None, brake: Mapping[str, float] | None = None) -> None:
        """Commands for actuators, {joint: value} each; what is named stays in force until it is commanded again. NaN withdraws one.
        Nothing is commanded where one is refused. stiffness and damping: of impedance servos; brake: 1 engages it, 0 releases it."""
        bench = self._on_bench("command", "actuators", ", or give efforts to step, advance_to or run")
        commanded(bench, self.plant.devices, position=position, velocity=velocity, effort=effort,
                  stiffness=stiffness, damping=damping, brake=brake)

    @property
    def disturbances(self) -> Disturbances:
        """What pushes the robot from outside: sim.disturbances.apply_wrench(frame, force=..., duration=...), apply_effort, payloads."""
        if self._disturbances is None:
            self._disturbances = self._pushed(None)
        return self._disturbances

    def _pushed(self, table: Array | None) -> Disturbances:
        from mbros.simulate.disturbances import Disturbances      # start-up time: who does not use it does not pay

        return Disturbances(self.model, self.plant, self.start, table)

    def _memory(self) -> Array:
        """All memory of the devices, numbers that were just set among it."""
        self.plant.devices._settle()
        return self.plant.devices.block

    def _bench_digest(self) -> str:
        if self._bench is None:
            return ""
        from mbros_core.fingerprint import digest      # start-up time: who does not use it does not pay

        return digest(self._bench.tables())
