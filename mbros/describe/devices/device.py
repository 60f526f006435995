"""What all devices of a bench share before they meet a robot: a name, what they stand on, their numbers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.numbers import short

from mbros.arguments import check_name, floats, refuse
from mbros.describe.devices.points import points_of
from mbros.errors import NOWHERE, MbrosError, UnknownAttributeError
from mbros.names import hint, with_article

if TYPE_CHECKING:
    from mbros_core.plant.rows import DeviceKind, Number
    from typing_extensions import Self


class Device:
    """A device as a user describes it. row: its kind in the registry of the engine. values: {number: its values, (size,)}.

    A `*` in the name stands for the name of the joint, where `joint` is a pattern that several joints have.
    """

    row: DeviceKind
    type = ""                           # the word for its kind in bench files
    family = ""                         # "actuator" or "sensor"
    # arguments that name parts of a robot, or patterns of them: {argument: what it names}
    places = {"joint": "joint", "left": "joint", "right": "joint", "frame": "frame", "body": "frame", "shape": "shape"}
    _given: dict[str, Any]              # what it was made with, but for its name; parts of a robot by name

    def __new__(cls, *name: Any, **given: Any) -> Self:
        self = super().__new__(cls)
        self._given = {word: getattr(value, "name", value) if word in cls.places else value for word, value in given.items()
                       if word != "name"}
        return self

    def __init__(self, name: str, **numbers: Any) -> None:
        check_name(self.type, name)
        self.name, self.source = name, NOWHERE
        self.values = {number.name: value_of(self._label, number, numbers.pop(number.name, None)) for number in self.taken()}
        for other in numbers:
            refuse(self._label, f"it has no number {other!r}{hint(other, [n.name for n in self.taken()])}",
                   f"Numbers of {with_article(self.type)}: {', '.join(n.name for n in self.taken())}.")

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__.get("values", ()):
            raise UnknownAttributeError(f"{self._label}: {name} is given when it is made. other = device.changed({name}=...), or while it "
                                        f"runs sim.devices[{self.name!r}].{name} = ...")
        object.__setattr__(self, name, value)

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        """The numbers that a user gives."""
        return cls.row.numbers

    def places_of(self) -> dict[str, Any]:
        """What it stands on, by name, as it was given: {"joint": ...}, {"frame": ...}."""
        return {place: self._given[place] for place in self.places if self._given.get(place) is not None}

    def changed(self, name: str | None = None, **given: Any) -> Self:
        """One that was made with other arguments; refused as it would have been then."""
        other = type(self)(self.name if name is None else name, **{**self._given, **given})
        other.source = self.source
        return other

    def with_numbers(self, name: str, numbers: dict[str, Any]) -> Device:
        """The device of that name with all its numbers given; refused as its class refuses them, or, where that takes other words than its
        numbers, the class on which it builds."""
        words = {word: value for word, value in self._given.items() if word in self.places or word in ("rate", "latency", "side")}
        for cls in type(self).__mro__[:-2]:
            try:
                return cls(name, **words, **numbers)
            except MbrosError:
                raise
            except TypeError:               # it needs other words
                continue
        raise MbrosError(f"{self._label}: its numbers cannot be changed; expected a device that is made of its numbers. Make another "
                         "simulator")

    @property
    def _label(self) -> str:
        return f"{self.type.replace('_', ' ')} {self.name!r}"

    def numbers(self) -> np.ndarray:
        """All numbers in the order of the row."""
        return np.concatenate([np.zeros(0), *(np.atleast_1d(self.values[number.name]) for number in self.row.numbers)])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def value_of(label: str, number: Number, given: Any) -> np.ndarray:
    """The values of a number, (size,), checked; its default for None."""
    value = number.default if given is None else given
    if value is None:
        refuse(label, f"it has no {number.name}", f"Give {number.name}=...{f' ({number.unit})' if number.unit else ''}.")
    if number.points:
        return points_of(label, number, value)
    array = floats(value)
    if array is None or array.size != number.size:
        refuse(label, f"{number.name} is {short(value)}", f"Give {'a number' if number.size == 1 else f'{number.size} numbers'}.")
    array = np.array(array, dtype=float).reshape(number.size)
    for x in array:
        wrong = number.refused(float(x))
        if wrong is not None:
            refuse(label, wrong, "Take another value.")
    return array


def name_of(label: str, word: str, given: Any, what: str) -> str:
    """The name of what a user gave: itself, or something that has it."""
    name = getattr(given, "name", given)
    if not isinstance(name, str) or not name:
        refuse(label, f"{word} is {short(given)}", f"Give {what}, or its name.")
    return name


def joint_name(label: str, joint: Any) -> str:
    """The name, or pattern of names, of what a user gave for a joint."""
    return name_of(label, "joint", joint, "a joint, or a pattern such as 'joint*' for several")
