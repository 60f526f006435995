"""A bench in a simulator: its devices on a plant, and commands for them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbros_core.engine._small import put
from mbros_core.plant.actuators.registry import COMMANDS
from mbros_core.support.given import any_number
from mbros_core.support.numbers import short

from mbros.errors import MbrosError, WrongTypeError, unknown

if TYPE_CHECKING:
    from mbros import Model, Simulator
    from mbros.describe.devices.bench import BenchLike
    from mbros.bench.layout import Layout
    from mbros.bench.signal_log import SignalColumns
    from mbros.bench.sources import Sources
    from mbros_core import Plant
    from mbros_core.plant._devices import Devices


def given_bench(model: Model, bench: BenchLike, dt: float) -> Layout | None:
    """The bench on this model, or None."""
    own = model._description.bench
    if bench is None or bench is False or (bench is True and own is None):
        return None
    from mbros.build.benches import bench_of      # start-up time: who does not use it does not pay
    from mbros.bench.bench import layout      # start-up time: who does not use it does not pay

    meant = bench_of(f"simulation of model {model.name!r}", bench, own, model)
    return None if meant is None else layout(model, meant, dt)


def devices_of(plant: Plant, bench: Layout) -> Devices:
    """New devices on a plant."""
    from mbros_core.plant._devices import Devices      # start-up time: who does not use it does not pay

    devices = Devices(plant, bench.tables())
    plant._attach(devices)
    return devices


def sources_of(sim: Simulator) -> Sources | None:
    """Those of its bench; None where that has none."""
    if sim._bench is None or not sim._bench.sources:
        return None
    from mbros.bench.sources import Sources      # start-up time: who does not use it does not pay

    return Sources(sim)


def signal_columns(who: str, bench: Layout | None, signals: str | Sequence[str]) -> SignalColumns | None:
    """What a log has of these signals of a bench; None for none."""
    if isinstance(signals, (list, tuple)) and not signals:
        return None
    from mbros.bench.signal_log import SignalColumns      # start-up time: who does not use it does not pay

    return SignalColumns(who, bench, signals)


def commanded(bench: Layout, devices: Devices, *values_of: Mapping[str, float] | None) -> None:
    """{joint: value} of each of COMMANDS, or None: all of them or, where one is refused, none."""
    if not devices.plant.state.is_held and put(values_of, bench.command_places, devices.block, True):
        return                                  # the same as below, of what most calls are
    given = {word: values for word, values in zip(COMMANDS, values_of) if values is not None}
    places = {row.name: 2 + row.at for row in bench.rows[:bench.commands]}
    joints = sorted({name.rpartition(".command.")[0] for name in places})
    found: dict[int, float] = {}
    for word, values in given.items():
        if not isinstance(values, Mapping):
            raise WrongTypeError(f"command: {word}: expected {{joint: value}}, got {short(values)}")
        for joint, value in values.items():
            at: Any = places.get(f"{joint}.command.{word}")
            if at is None and joint in joints:
                takes = [name.rpartition(".")[2] for name in places if name.startswith(f"{joint}.command.")]
                raise MbrosError(f"command: no actuator of joint {joint!r} takes a command of {word}; it takes {', '.join(takes)}")
            if at is None:
                raise unknown("joint", joint, "this bench with an actuator", joints)
            number = any_number("command", f"{word} of {joint}", value)
            if abs(number) == float("inf"):
                raise MbrosError(f"command: {word} of {joint} is {number:g}; expected a finite number, or NaN to withdraw the command")
            found[at] = number
    devices.plant.state._check_free()
    for at, number in found.items():
        devices.block[at] = number
