"""A bench in a simulator: its devices on a plant, and commands for them."""
from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from mbros_core.given import any_number
from mbros_core.numbers import short

from mbros.describe.devices.bench import Bench
from mbros.errors import MbrosError, WrongTypeError, unknown

if TYPE_CHECKING:
    from mbros import Model
    from mbros.simulate.bench import Layout
    from mbros_core import Plant
    from mbros_core.devices._devices import Devices


def given_bench(model: Model, bench: Bench | str | PathLike[str] | None, dt: float) -> Layout | None:
    """The bench on this model, or None."""
    if bench is None:
        return None
    from mbros.simulate.bench import layout      # start-up time: who does not use it does not pay

    if isinstance(bench, (str, PathLike)):
        bench = Bench.load(bench)
    if not isinstance(bench, Bench):
        raise WrongTypeError(f"simulation of model {model.name!r}: bench: expected a mbros.Bench or the path of a bench file, got "
                             f"{short(bench)}")
    return layout(model, bench, dt)


def devices_of(plant: Plant, bench: Layout) -> Devices:
    """New devices on a plant."""
    from mbros_core.devices._devices import Devices      # start-up time: who does not use it does not pay

    devices = Devices(plant, bench.tables())
    plant._attach(devices)
    return devices


def commanded(bench: Layout, devices: Devices, **words: Mapping[str, float] | None) -> None:
    """{joint: value} of position, velocity and effort: all of them or, where one is refused, none."""
    places = {row.name: 2 + row.at for row in bench.rows[:bench.commands]}
    joints = sorted({name.rpartition(".command.")[0] for name in places})
    found: dict[int, float] = {}
    for word, values in words.items():
        if values is not None and not isinstance(values, Mapping):
            raise WrongTypeError(f"command: {word}: expected {{joint: value}}, got {short(values)}")
        for joint, value in (values or {}).items():
            at: Any = places.get(f"{joint}.command.{word}")
            if at is None:
                raise unknown("joint", joint, "this bench with an actuator", joints)
            number = any_number("command", f"{word} of {joint}", value)
            if abs(number) == float("inf"):
                raise MbrosError(f"command: {word} of {joint} is {number:g}; expected a finite number, or NaN to withdraw the command")
            found[at] = number
    devices.plant.state._check_free()
    for at, number in found.items():
        devices.block[at] = number
