"""What the registries of actuators, sensors and channels have in common: the numbers of a kind and the signals that it gives."""
from __future__ import annotations

from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True)
class Number:
    """A number of a device. default None: it must be given. size: of how many, all of them `default`. least, most: its bounds;
    above: it is larger than `least`, not equal. whole: it counts something, or is 0 or 1. points: it is 2 to size / 2 points (x, y), x
    ascending from 0 and y not rising, row by row with zeros behind them."""

    name: str
    unit: str
    doc: str
    default: float | tuple[float, ...] | None = None
    least: float = -inf
    most: float = inf
    above: bool = False
    size: int = 1
    points: bool = False
    whole: bool = False

    @property
    def expected(self) -> str:
        """What it may be, in words."""
        bound = f" above {self.least:g}" if self.above else f", {self.least:g} or more" if self.least > -inf else ""
        return f"a {'whole' if self.whole else 'finite'} number{bound}" + (f", at most {self.most:g}" if self.most < inf else "")

    def refused(self, value: float) -> str | None:
        """Why a value cannot be; None when it can. Infinity stands for no limit, where the default is infinite."""
        endless = value in (inf, -inf) and value in (self.default if isinstance(self.default, tuple) else (self.default,))
        if endless or (value == value and abs(value) < inf and self.least <= value <= self.most
                       and not (self.above and value == self.least) and not (self.whole and value % 1.0)):
            return None
        return f"{self.name} is {value:g}; expected {self.expected}" + (f" ({self.unit})" if self.unit else "")


@dataclass(frozen=True)
class Reading:
    """A signal that a device gives: its last name, unit and size. "joint position" is rad or m, and so on."""

    name: str
    unit: str
    doc: str
    size: int = 1


@dataclass(frozen=True)
class DeviceKind:
    """equation: what it does, in one line, by the names of its numbers and readings. memory: doubles of its own; start: {place in it:
    number of the kind with which it begins}. Of an actuator: commands that its joint has, those of position, velocity and effort that it
    follows, and whether it is what drives its joint, of which there is one."""

    name: str
    number: int
    doc: str
    numbers: tuple[Number, ...]
    readings: tuple[Reading, ...] = ()
    equation: str = field(default="", kw_only=True)
    memory: int = 0
    start: tuple[tuple[int, str], ...] = ()
    commands: tuple[str, ...] = ("position", "velocity", "effort")
    takes: tuple[str, ...] = ("effort",)
    drives: bool = True

    @property
    def size(self) -> int:
        """Doubles of its numbers."""
        return sum(number.size for number in self.numbers)
