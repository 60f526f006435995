"""Numbers that are set while a simulation goes on: what those of devices and those of faults have in common."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from mbros.errors import MbrosError, OwnAttributes, unknown

if TYPE_CHECKING:
    from mbros.bench.layout import Layout
    from mbros_core.plant._devices import Devices
    from mbros_core.plant.rows import Number

T = TypeVar("T", covariant=True)


@dataclass
class Tried:
    """Numbers that could be in force: where they stand, and as they would be read back."""

    at: list[int] = field(default_factory=list)
    written: list[float] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, other: Tried) -> None:
        """Those of a device or fault of this name, too."""
        self.at += other.at
        self.written += other.written
        self.values.update({f"{name}.{number}": value for number, value in other.values.items()})


class LiveNumbers:
    """The numbers of one device or fault, live: an attribute each. Setting one is in force from the next step on, also in a running
    real-time loop; what cannot be is refused, and nothing changes."""

    __slots__ = ("_of", "_name", "_at")
    what = "device"
    fixed: Mapping[str, str] = {}           # {number: why it cannot be set}

    def __init__(self, of: Any, name: str, at: Any) -> None:
        for slot, value in zip(LiveNumbers.__slots__, (of, name, at)):
            object.__setattr__(self, slot, value)

    def __getattr__(self, number: str) -> Any:
        if number.startswith("_"):              # asked for by Python and notebooks: no number
            return object.__getattribute__(self, number)
        return self.as_dict()[self._known(number)]

    def __setattr__(self, number: str, value: Any) -> None:
        self.update(**{number: value})

    def update(self, **values: Any) -> None:
        """Several at once: all of them or, where one is refused, none."""
        self._of.write(self.tried(values))

    def tried(self, values: Mapping[str, Any]) -> Tried:
        """What these would be in force; MbrosError where one cannot be. Nothing is changed."""
        for name in values:
            if name in self.fixed:
                raise MbrosError(f"{self.what}s: {self._name}.{name} is fixed {self.fixed[name]}; expected one of "
                                 f"{', '.join(self.as_dict())}. Make another simulator for another {name}")
            self._known(name)
        return self._tried(values)

    def _tried(self, values: Mapping[str, Any]) -> Tried:
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """{number: value}, those in force or about to be."""
        raise NotImplementedError

    def rows(self) -> dict[str, Number]:
        """{number: what it is} of those that can be set."""
        raise NotImplementedError

    def _known(self, number: str) -> str:
        known = list(self.as_dict())
        if number not in known:
            raise unknown("number", number, f"{self.what} {self._name!r}", known)
        return number

    def __dir__(self) -> list[str]:
        return ["as_dict", "update", *self.as_dict()]

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} of {self._name!r}: "
                f"{', '.join(f'{name} {short(value)}' for name, value in self.as_dict().items())}>")


class LiveTable(OwnAttributes, Mapping[str, T]):
    """Devices or faults by name. A number's own name is "<name>.<number>"."""

    what = "device"
    layout: Layout
    engine: Devices
    _by_name: dict[str, Any]            # where each is in the layout of the bench

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def _place(self, name: str) -> Any:
        """Where the one of this name is; UnknownNameError where there is none."""
        if not isinstance(name, str) or name not in self._by_name:
            raise unknown(self.what, name, "this bench", self._by_name)
        return self._by_name[name]

    def numbers(self, name: str) -> LiveNumbers:
        """Those of one of them."""
        raise NotImplementedError

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """"<name>.<number>" of every number that can be set."""
        return tuple(f"{name}.{number}" for name in self for number in self.numbers(name).rows())

    def parameter(self, name: str) -> Any:
        """The value of a number: a number, several, a word, or True and False."""
        numbers, number = self._split(name)
        return getattr(numbers, number)

    def set_parameter(self, name: str, value: Any) -> None:
        """One number by its name, such as "joint2.servo.kp" of sim.devices and "encoder hangs.until" of sim.faults."""
        self.set_parameters({name: value})

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Several by name, of several devices or faults, in force in the same step: all of them or, where one is refused, none."""
        self.write(self.tried(values))

    def tried(self, values: Mapping[str, Any]) -> Tried:
        """What these would be in force, by name; MbrosError where one cannot be. Nothing is changed."""
        of: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            numbers, number = self._split(name)
            of.setdefault(numbers._name, {})[number] = value
        every = Tried()
        for name, given in of.items():
            every.add(name, self.numbers(name).tried(given))
        return every

    def write(self, tried: Tried) -> None:
        """From the next step on these are in force."""
        self.engine._set_numbers(tried.at, tried.written)

    def _split(self, name: str) -> tuple[LiveNumbers, str]:
        of, _, number = name.rpartition(".") if isinstance(name, str) else ("", "", "")
        numbers = self.numbers(of) if of in self else None
        if numbers is None or number not in (*numbers.as_dict(), *numbers.fixed):
            raise unknown("parameter", name, "this bench", self.parameter_names)
        return numbers, number


def check_room(who: str, numbers: Mapping[str, float], needed: int, room: int) -> None:
    """Refuse a delay whose messages on their way have no room in the line that was laid out for them."""
    if needed > room:
        raise MbrosError(f"{who}: a delay of {numbers['delay']:g} s and a jitter of {numbers['jitter']:g} s need room for {needed} "
                         f"messages; expected {room} at most, the room that it was made with. Make the simulator with the longest "
                         "delay, and shorten it then")


def short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).replace("\n", "")
