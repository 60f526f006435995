"""A bench that is given something more while it is simulated: a fault, or a source of a joint. All else goes on to the bit."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NoReturn

from mbros_core.support.given import choice
from mbros_core.support.numbers import short

from mbros.describe.devices.bench import Bench
from mbros.describe.devices.fault import Fault
from mbros.describe.devices.source import JointSource
from mbros.errors import MbrosError, StateError, WrongTypeError
from mbros.bench.bench import layout
from mbros.bench.carried import carry_devices
from mbros.bench.devices import devices_of, sources_of
from mbros.bench.source import MODES

if TYPE_CHECKING:
    from mbros import Simulator
    from mbros.names import JointLike
    from mbros.bench.faults import ActiveFault

STEPS = 0                   # in the block (mbros_core/plant/device.pxd)
# What a bench has is read, extended and put in its place as one: of two threads that did so at once, the part of one would be lost.
ONE_AT_A_TIME = threading.RLock()


class Replaced:
    """In the place of the memory of devices that a plant has no more."""

    def __getitem__(self, place: object) -> NoReturn:
        refuse()

    def __setitem__(self, place: object, value: object) -> NoReturn:
        refuse()

    def __len__(self) -> NoReturn:
        refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):           # what Python looks for in any object
            return object.__getattribute__(self, name)
        refuse()


def refuse() -> NoReturn:
    """What was looked up before the bench had as much."""
    raise StateError("the bench has been given a fault or a source since this signal, device, fault or source was looked up; look it up "
                     "again: sim.signals[name], sim.devices[name], sim.faults[name], sim.sources[joint]")


def inject(sim: Simulator, fault: Fault) -> ActiveFault:
    """Simulator.inject."""
    if not isinstance(fault, Fault):
        raise WrongTypeError(f"inject: expected a fault such as mbros.Fault(name, kind, signal=..., at=...), got {short(fault)}")
    with ONE_AT_A_TIME:
        now = steps_of(sim) * sim.dt
        if fault.end <= now:
            raise MbrosError(f"inject: {fault._label} ends at {fault.end:g} s, and {now:g} s have passed since the last reset; let it end "
                             "later, or leave its times out and start it by hand: sim.inject(fault).start()")
        _extend(sim, "inject", fault)
        return sim.faults[fault.name]


def set_source(sim: Simulator, joint: JointLike, mode: str) -> None:
    """Simulator.set_source."""
    name = sim.model.joint(joint).name
    who = f"set_source: joint {name!r}"
    choice(who, "mode", mode, MODES)
    with ONE_AT_A_TIME:
        if sim._sources is None or name not in sim._sources:
            if mode == "real":
                raise MbrosError(f"{who} has no source yet, and so no sample of hardware to start from; set_source({name!r}, 'sim') gives "
                                 "it one, then feed(position={...}). One with numbers of its own is an mbros.JointSource in the bench")
            _extend(sim, "set_source", JointSource(name, joint=name))
        sim.sources[name] = mode


def steps_of(sim: Simulator) -> int:
    """Steps since the last reset."""
    if sim._bench is not None:
        return int(sim.plant.devices.steps)
    return round((sim.time - sim._since) / sim.dt)


def _extend(sim: Simulator, who: str, part: Any) -> None:
    """Other devices for the bench with one part more. Nothing has changed where that is refused."""
    sim.state._check_free()
    if sim._tape is not None:
        raise MbrosError(f"{who}: the simulator is being recorded, in {sim._tape.tape.path}, and the recording says what the bench is; "
                         "close() it first, or put this into the bench before")
    old, steps = sim._bench, steps_of(sim)
    bench = Bench() if old is None or old.bench is None else old.bench.copied()
    bench._add(who, part, Fault, JointSource)
    new = layout(sim.model, bench, sim.dt)
    before: Any = sim.plant.devices
    memory = None if old is None else sim._memory()
    devices = devices_of(sim.plant, new)
    if old is None or memory is None:
        devices.block[STEPS] = steps
    else:
        devices._take_over(carry_devices(old, memory, new, devices.block))
        before._replace(Replaced())
    sim._bench = new
    sim._sources = sources_of(sim)


__all__ = ["inject", "set_source"]
