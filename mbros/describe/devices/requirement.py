"""Requirements of a fault script: what a signal has to do from a fault on, and its name in reports (docs/fault_scripts.md)."""
from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from mbros_core.plant.rows import Number
from mbros_core.support.numbers import short

from mbros.arguments import choice, refuse
from mbros.describe.devices.device import value_of
from mbros.errors import Source
from mbros.names import hint

WORDS = ("requirement", "kind", "signal", "joint", "after", "statistic", "cases")
AFTER = ("begin", "end")
STATISTICS = ("largest", "rms")
FROM = Number("from", "s", "after that, from when on it is looked at", 0.0, 0.0)
UNTIL = Number("until", "s", "after that, until when", inf, 0.0, above=True)
REFERENCE = Number("reference", "of the signal", "what it should be; by default what it is without the fault", None)
WITHIN = Number("within", "s", "after that, when it has to have happened", None, 0.0)
KINDS: dict[str, tuple[Number, ...]] = {
    "deviation": (Number("most", "of the signal", "largest distance from its reference", None, 0.0), REFERENCE, FROM, UNTIL),
    "settling": (Number("band", "of the signal", "how near to its reference it has to be, for good", None, 0.0, above=True), WITHIN,
                 REFERENCE),
    "reaction": (WITHIN, Number("above", "of the signal", "it reacts where it is above", None),
                 Number("below", "of the signal", "it reacts where it is below", None),
                 Number("change", "of the signal", "it reacts where it is farther than this from what it is without the fault", 0.0, 0.0)),
    "limit": (Number("least", "of the signal", "smallest value", -inf), Number("most", "of the signal", "largest value", inf), FROM, UNTIL),
}
NEEDED = {"deviation": ("most",), "settling": ("band", "within"), "reaction": ("within",), "limit": ()}
MEANING = {"deviation": "it stays as near to its reference", "settling": "from then on it is as near to its reference",
           "reaction": "it has reacted by then", "limit": "it keeps its bounds"}


@dataclass(frozen=True)
class Requirement:
    """One criterion. name: as in SAFE-12; several may have the same. numbers: those that were given, or have a default. after: from which
    moment its times count; cases: the pattern of names of the cases that it is of."""

    name: str
    kind: str
    pattern: str
    of_joints: bool
    numbers: dict[str, float]
    after: str
    statistic: str
    cases: str
    source: Source

    def number(self, name: str) -> float | None:
        return self.numbers.get(name)


def requirement(words: dict[str, Any], source: Source) -> Requirement:
    """Of the words of an entry. Raises ModelError with what is wrong with it."""
    given = dict(words)
    name = given.pop("requirement", None)
    label = f"requirement {short(name)}"
    if not isinstance(name, str) or not name:
        refuse(label, f"requirement is {short(name)}", "Give it the name under which reports say it: requirement: SAFE-12.")
    kind = choice(label, "kind", given.pop("kind", None), tuple(KINDS))
    targets = [(word, given.pop(word)) for word in ("signal", "joint") if word in given]
    if len(targets) != 1 or not isinstance(targets[0][1], str) or not targets[0][1]:
        refuse(label, f"it is given {' and '.join(word for word, _ in targets) or 'neither signal nor joint'}",
               "Give signal: a name or pattern of names; or joint:, for the true position of joints.")
    after = choice(label, "after", given.pop("after", "begin"), AFTER)
    statistic = choice(label, "statistic", given.pop("statistic", "largest"), STATISTICS) if kind == "deviation" else "largest"
    cases = given.pop("cases", "*")
    if not isinstance(cases, str):
        refuse(label, f"cases is {short(cases)}", "Give a pattern of names of cases: 'frozen*'.")
    if kind == "reaction" and after != "begin":
        refuse(label, "a reaction is to the beginning of a fault", "Leave after out, or take settling.")
    numbers = {}
    for number in KINDS[kind]:
        value = given.pop(number.name, number.default)
        if value is not None:
            numbers[number.name] = float(value_of(label, number, value)[0])
        elif number.name in NEEDED[kind]:
            refuse(label, f"it has no {number.name}", f"Give {number.name}: {number.doc}, {number.unit}.")
    for other in given:
        known = [number.name for number in KINDS[kind]]
        refuse(label, f"it has no {other!r}{hint(other, [*known, *WORDS])}",
               f"A {kind} has {', '.join(known)}.")
    _check(label, kind, numbers)
    return Requirement(name, kind, targets[0][1], targets[0][0] == "joint", numbers, after, statistic, cases, source)


def _check(label: str, kind: str, numbers: dict[str, float]) -> None:
    """That it can be broken, and kept."""
    if kind == "limit" and (numbers["least"], numbers["most"]) == (-inf, inf):
        refuse(label, "it has neither least nor most", "Give one of them: a bound that cannot be broken says nothing.")
    if kind == "limit" and not numbers["least"] <= numbers["most"]:
        refuse(label, f"least is {numbers['least']:g} and most {numbers['most']:g}", "Let least be no more than most.")
    if kind == "deviation" and numbers["most"] == inf:
        refuse(label, "most is inf", "Give a bound that can be broken.")
    if "above" in numbers and "below" in numbers:
        refuse(label, "it has both above and below", "Give one of them; or neither, for any change.")
    if not numbers.get("until", inf) > numbers.get("from", 0.0):
        refuse(label, f"it is looked at from {numbers['from']:g} until {numbers['until']:g} s", "Let it end later.")
