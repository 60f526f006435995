"""Fault: what breaks, when, and how."""
from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from mbros_core.plant.faults.registry import BY_NAME, BY_VERB, CONDITIONS, ROWS

from mbros.arguments import check_name, choice, refuse
from mbros.describe.devices.channel import MESSAGES
from mbros.describe.devices.device import joint_name, value_of
from mbros.errors import NOWHERE
from mbros.names import hint, with_article
from mbros_core.plant.rows import Number
from mbros_core.support.numbers import short

TIMES = {"at": Number("at", "s", "from when on", 0.0, 0.0), "until": Number("until", "s", "until when", inf, 0.0),
         "duration": Number("duration", "s", "for how long", inf, 0.0, above=True),
         "held": Number("held", "s", "for how long the condition has to hold first", 0.0, 0.0)}
THRESHOLD = Number("threshold", "of the signal", "with which the condition compares", None)
TARGETS = ("signal", "joint", "frame")
COMPARISON = re.compile("[<>]=?")


@dataclass(frozen=True)
class Condition:
    """A number of a signal, or its absolute value, compared with a number."""

    signal: str
    index: int
    absolute: bool
    comparison: str
    threshold: float


def condition(label: str, text: Any) -> Condition:
    """Of "joint2.position > 0.3", "abs(joint2.velocity) >= 1", "imu.angular_velocity[2] < 0"."""
    found = COMPARISON.search(text) if isinstance(text, str) else None
    left, right = (text[:found.start()].strip(), text[found.end():].strip()) if found is not None else ("", "")
    absolute = left.startswith("abs(") and left.endswith(")")
    signal, index = _indexed(left[4:-1].strip() if absolute else left)
    if found is None or not signal or any(c in signal for c in "=!()") or not right or any(c in "<>=" or c.isspace() for c in right):
        refuse(label, f"when is {short(text)}", f"Write a signal, one of {', '.join(CONDITIONS)}, and a number: 'joint2.position > 0.3', "
               "'abs(joint2.velocity) >= 1', 'imu.angular_velocity[2] < 0'.")
    try:
        threshold = float(right)
    except ValueError:
        threshold = inf
    if not abs(threshold) < inf:
        refuse(label, f"when compares with {short(right)}", "Compare with a finite number.")
    return Condition(signal, index, absolute, found[0], threshold)


def _indexed(text: str) -> tuple[str, int]:
    """"imu.angular_velocity[2]" as its signal and its number, which is 0 where none is given."""
    signal, bracket, digits = text.removesuffix("]").rpartition("[")
    if bracket and signal and text.endswith("]") and len(digits) < 10 and digits.isascii() and digits.isdecimal():
        return signal.strip(), int(digits)
    return text, 0


class Fault:
    """Something that breaks. kind: one of the table in docs/faults.md, which says whether it is given a signal, a joint (each a pattern,
    too: all of them at once) or a frame, and which numbers it has; by default the name says it, also as a verb: Fault("freeze", ...).

    at, until, duration (s): it acts in the steps that begin at `at` or later and before `until`, or for `duration`. when: a condition
    such as "joint2.position > 0.3": it acts while that holds, or for `duration` from when it begins to hold; `held` (s): it has to hold for
    so long first. Without any of them it waits for `sim.faults[name].start()`. seed of its random numbers: the bench's. message, of a bus:
    which signals of the pattern travel in one message, and are lost and late together: those of a "device", "all", or each "signal".
    """

    def __init__(self, name: str, kind: str | None = None, *, signal: str | None = None, joint: Any = None, frame: Any = None,
                 at: float | None = None, until: float | None = None, duration: float | None = None, when: str | Condition | None = None,
                 held: float | None = None, message: str | None = None, **numbers: Any) -> None:
        check_name("fault", name)
        self.name, self.source = name, NOWHERE
        kinds = BY_NAME if kind is not None else BY_NAME | BY_VERB
        kind = name if kind is None else kind
        if not isinstance(kind, str) or kind not in kinds:
            said = f"; did you mean {BY_VERB[kind].name!r}?" if isinstance(kind, str) and kind in BY_VERB else hint(kind, kinds)
            refuse(self._label, f"kind is {short(kind)}{said}", f"Kinds: {', '.join(BY_NAME)}.")
        self.row = kinds[kind]
        if message is not None and not self.row.late:
            refuse(self._label, "it is given a message", f"Kinds of a bus have one: {', '.join(row.name for row in ROWS if row.late)}.")
        self.message = choice(self._label, "message", message or "device", MESSAGES)
        self.target = self._target(dict(signal=signal, joint=joint, frame=frame))
        self.values = {n.name: value_of(self._label, n, numbers.pop(n.name, None)) for n in self.row.numbers}
        for other in numbers:
            known = [n.name for n in self.row.numbers]
            refuse(self._label, f"it has no number {other!r}{hint(other, [*known, *TIMES, *TARGETS])}",
                   f"Numbers of {kind}: {', '.join(known) or 'none'}.")
        self._check_numbers()
        times = dict(at=at, until=until, duration=duration, held=held)
        self.times = {word: float(value_of(self._label, TIMES[word], given)[0]) for word, given in times.items()}
        self.when = when if when is None or isinstance(when, Condition) else condition(self._label, when)
        self.by_hand = when is None and at is None and until is None
        if held is not None and when is None:
            refuse(self._label, "it has held and no when", "Give the condition that has to hold: when='joint2.position > 0.3'.")
        if not self.end > self.times["at"]:
            refuse(self._label, f"it ends at {self.end:g} s and begins at {self.times['at']:g} s",
                   "Let it end later: until=..., or duration=...")

    def _target(self, given: dict[str, Any]) -> str:
        """The signal, joint or frame, whichever its kind is of."""
        wanted = self.row.target
        for word, value in given.items():
            if value is not None and word != wanted:
                refuse(self._label, f"it is given {with_article(word)}",
                       f"A fault of kind {self.row.name} is given {with_article(wanted)}: {wanted}=...")
        if wanted == "joint":
            return joint_name(self._label, given[wanted])
        value = getattr(given[wanted], "name", given[wanted])
        if not isinstance(value, str) or not value:
            refuse(self._label, f"{wanted} is {short(value)}", "Give the name of a signal, or a pattern such as 'joint*.encoder.*'."
                   if wanted == "signal" else "Give a frame or body, or its name.")
        return value

    def _check_numbers(self) -> None:
        if self.row.name == "burst_loss" and self.values["burst"][0] > 1.0 and self.values["loss"][0] >= 1.0:
            refuse(self._label, "it loses everything, in bursts", "Give a loss below 1, or take the kind lost.")
        if self.row.numbers and not any(x.any() for x in self.values.values()) and self.row.name != "out_of_range":
            refuse(self._label, "it does nothing: all of its numbers are 0", f"Give {' or '.join(self.values)}.")

    def taken(self) -> tuple[Number, ...]:
        """The numbers that can be changed while it runs: its own, then those of what starts and ends it."""
        timed = () if self.by_hand else ("at", "until")
        words = (*timed, "duration", *(("held",) if self.when is not None else ()))
        return (*self.row.numbers, *(TIMES[word] for word in words), *((THRESHOLD,) if self.when is not None else ()))

    def with_numbers(self, numbers: dict[str, Any]) -> Fault:
        """The fault with all of these numbers given; refused as it would have been when it was made."""
        given = {**numbers, self.row.target: self.target, **({"message": self.message} if self.row.late else {})}
        when: Condition | None = None
        if self.when is not None:
            when = replace(self.when, threshold=float(value_of(self._label, THRESHOLD, given.pop("threshold"))[0]))
        other = Fault(self.name, self.row.name, when=when, **given)
        other.source = self.source
        return other

    @property
    def _label(self) -> str:
        return f"fault {self.name!r}"

    @property
    def end(self) -> float:
        """s: when it cannot act any more."""
        timed = self.when is None and not self.by_hand
        return min(self.times["until"], self.times["at"] + self.times["duration"] if timed else inf)

    def __repr__(self) -> str:
        return f"<Fault {self.name!r}: {self.row.name} of {self.row.target} {self.target}>"
