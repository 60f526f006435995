"""What all devices of a bench share before they meet a robot: a name, what they stand on, their numbers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbros.arguments import check_name, floats, refuse
from mbros.errors import NOWHERE
from mbros.names import hint

if TYPE_CHECKING:
    from mbros_core.devices.rows import DeviceKind, Number


class Device:
    """A device as a user describes it. row: its kind in the registry of the engine. values: {number: its values, (size,)}.

    A `*` in the name stands for the name of the joint, where `joint` is a pattern that several joints have.
    """

    row: DeviceKind
    type = ""                           # the word for its kind in bench files
    family = ""                         # "actuator" or "sensor"

    def __init__(self, name: str, **numbers: Any) -> None:
        check_name(self.type, name)
        self.name, self.source = name, NOWHERE
        self.values = {number.name: value_of(self._label, number, numbers.pop(number.name, None)) for number in self.taken()}
        for other in numbers:
            refuse(self._label, f"it has no number {other!r}{hint(other, [n.name for n in self.taken()])}",
                   f"Numbers of a {self.type}: {', '.join(n.name for n in self.taken())}.")

    @classmethod
    def taken(cls) -> tuple[Number, ...]:
        """The numbers that a user gives."""
        return cls.row.numbers

    @property
    def _label(self) -> str:
        return f"{self.type.replace('_', ' ')} {self.name!r}"

    def numbers(self) -> np.ndarray:
        """All numbers in the order of the row."""
        return np.concatenate([np.atleast_1d(self.values[number.name]) for number in self.row.numbers])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def value_of(label: str, number: Number, given: Any) -> np.ndarray:
    """The values of a number, (size,), checked; its default for None."""
    value = number.default if given is None else given
    if value is None:
        refuse(label, f"it has no {number.name}", f"Give {number.name}=...{f' ({number.unit})' if number.unit else ''}.")
    array = floats(value)
    if array is None or array.size != number.size:
        refuse(label, f"{number.name} is {value!r:.80}", f"Give {'a number' if number.size == 1 else f'{number.size} numbers'}.")
    array = np.array(array, dtype=float).reshape(number.size)
    for x in array:
        wrong = number.refused(float(x))
        if wrong is not None:
            refuse(label, wrong, "Take another value.")
    return array


def joint_name(label: str, joint: Any) -> str:
    """The name, or pattern of names, of what a user gave for a joint."""
    name = getattr(joint, "name", joint)
    if not isinstance(name, str) or not name:
        refuse(label, f"joint is {joint!r:.80}", "Give a joint or its name; a pattern such as 'joint*' stands for several.")
    return name
