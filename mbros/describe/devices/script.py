"""Fault scripts: a robot, its bench and controller, cases of faults, and what is required meanwhile (docs/fault_scripts.md).

    robot: arm7
    bench: arm7_servo.yaml
    duration: 2.0
    controller: {python: "hold.py:Hold", rate: 100}
    limits:
      velocity: {joint*: 2.0}
    requirements:
      - {requirement: SAFE-12, kind: settling, joint: joint*, band: 0.01, within: 0.5}
    cases:
      - {each: joint*, kind: frozen, signal: "*.encoder.*", at: 1.0}
"""
from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from typing import Any

from mbros_core.plant.rows import Number
from mbros_core.support.numbers import short

from mbros.describe.devices.device import value_of
from mbros.describe.devices.fault import Fault
from mbros.describe.devices.file import Reader, named
from mbros.describe.devices.requirement import Requirement, requirement
from mbros.describe.devices.words import made
from mbros.errors import MbrosError, ModelError, Problem, Source
from mbros.names import hint, one_document

PARTS = ("robot", "bench", "dt", "duration", "controller", "command", "seed", "repetitions", "limits", "settled", "requirements", "cases")
WORDS = ("position", "velocity", "effort")
NUMBERS = {"dt": Number("dt", "s", "step", 1e-3, 0.0, 1.0, above=True),
           "duration": Number("duration", "s", "of a case", None, 0.0, 1e6, above=True),
           "rate": Number("rate", "Hz", "of the controller", 100.0, 0.0, above=True),
           "timeout": Number("timeout", "s", "in which the controller answers", 20.0, 0.0, above=True),
           "position": Number("position", "rad or m", "from the run without a fault", 1e-2, 0.0, above=True),
           "velocity": Number("velocity", "rad/s or m/s", "from the run without a fault", 5e-2, 0.0, above=True)}


MOST_REPETITIONS = 100_000
BASE = "no fault"               # what reports call the runs without one
OF_CASE = ("name", "each", "requirement", "faults")          # of a case with several faults


def _done(_: Any) -> None:
    """What was made is kept already."""


def _of_joint(words: dict[str, Any], joint: str) -> dict[str, Any]:
    """The first * in each word is the joint's name."""
    return {name: value.replace("*", joint, 1) if isinstance(value, str) else value for name, value in words.items()}


@dataclass
class FaultCase:
    """Faults that come together, words of each, and the pattern of joints for which the case is repeated. requirements: the only ones that
    it is judged by; None: all."""

    faults: list[dict[str, Any]]
    each: str | None
    source: Source
    name: str | None = None
    requirements: list[str] | None = None

    def made(self, joint: str = "*") -> tuple[str, list[Fault]]:
        """(name, faults) of this joint; named after kinds and targets where they have no name."""
        found: list[Fault] = []
        for words in self.faults:
            words = words if self.each is None else _of_joint(words, joint)
            target = next((words[word] for word in ("signal", "joint", "frame") if word in words), "")
            fault: Fault = made("fault", Fault, {"name": f"{words.get('kind', 'fault')} {target}".strip(), **words})
            fault.source = self.source
            if fault.name in {other.name for other in found}:
                raise MbrosError(f"two of its faults have the name {fault.name!r}; give each a name of its own: name: ...")
            found.append(fault)
        name = self.name if self.name is None or self.each is None else self.name.replace("*", joint, 1)
        name = name or " + ".join(fault.name for fault in found)
        if name == BASE:
            raise MbrosError(f"{BASE!r} is what the run without a fault is called; give the case another name: name: ...")
        return name, found

    @property
    def label(self) -> str:
        return f"case {self.name or self.faults[0].get('name', self.faults[0].get('kind', ''))!r}"


@dataclass
class Script:
    """limits: [(what, pattern, least, most)]; `position`, `velocity`, `effort` of joints, or "signal". A bound of None: the joint's own."""

    file: str
    robot: str = ""
    bench: str | None = None
    dt: float = 1e-3
    duration: float = 0.0
    controller: dict[str, Any] | None = None
    rate: float = 100.0
    timeout: float = 20.0
    command: dict[str, dict[str, float]] = field(default_factory=dict)
    seed: int | None = None
    repetitions: int = 1
    limits: list[tuple[str, str, float | None, float | None, Source]] = field(default_factory=list)
    limits_of: str = ""                             # the requirement that the limits are
    requirements: list[Requirement] = field(default_factory=list)
    settled: dict[str, float] = field(default_factory=lambda: {"position": 1e-2, "velocity": 5e-2})
    cases: list[FaultCase] = field(default_factory=list)

    def near(self, name: str) -> str:
        """A path as it is written in the script: from the script's folder on."""
        from mbros.describe.urdf.packages import beside      # start-up time: who does not use it does not pay

        return beside(name, self.file)


@one_document
def read_script(path: str | PathLike[str], robot: str | None = None) -> Script:
    """Of a YAML file, which may leave the robot out where one is given. Raises ModelError with every problem of it, by line."""
    return ScriptReader(named(ScriptReader.what, path), robot).script


class ScriptReader(Reader):
    """One reading of one script."""

    what = "fault script"

    def __init__(self, path: str, robot: str | None) -> None:
        self.script = Script(path)
        parts = self.begin(path, PARTS)
        for name in ("robot", "duration", "cases"):
            if name not in parts and not (name == "robot" and robot):
                self.problems.append(Problem("fault script", f"it has no {name}", f"Write {name}: ...", path, 1))
        for name, (_, node) in parts.items():
            self.attempt(name, node, partial(getattr(self, f"take_{name}"), node), _done)
        self.end()

    def number(self, name: str, node: Any) -> float:
        return float(value_of(name, NUMBERS[name], self.plain(name, node))[0])

    def word(self, name: str, node: Any) -> str:
        value = self.plain(name, node)
        if not isinstance(value, str) or not value:
            raise ModelError(Problem(name, f"it is {short(value)}", "Give a name or a path."))
        return value

    def take_robot(self, node: Any) -> None:
        self.script.robot = self.word("robot", node)

    def take_bench(self, node: Any) -> None:
        self.script.bench = self.word("bench", node)

    def take_dt(self, node: Any) -> None:
        self.script.dt = self.number("dt", node)

    def take_duration(self, node: Any) -> None:
        self.script.duration = self.number("duration", node)

    def take_controller(self, node: Any) -> None:
        """{python: file.py:name} or {ros: [words of a command]}, with rate and timeout; or none."""
        if isinstance(node, self.yaml.ScalarNode) and node.value in ("none", "null", ""):
            return
        given = self.mapping("controller", node)
        for name, (key, value) in given.items():
            if name in ("rate", "timeout"):
                self.attempt(f"controller, {name}", value, partial(self.number, name, value), partial(setattr, self.script, name))
            elif name not in ("python", "ros"):
                self.note("controller", f"it has no {name!r}{hint(name, ('python', 'ros', 'rate', 'timeout'))}",
                          "Give python: file.py:name, or ros: [python3, controller.py], and rate.", key)
        kinds = [name for name in ("python", "ros") if name in given]
        if len(kinds) != 1:
            self.note("controller", "it has both python and ros" if kinds else "it is neither python nor ros",
                      "Give python: file.py:name, or ros: [python3, controller.py]; or controller: none.", node)
            return
        value = self.plain(kinds[0], given[kinds[0]][1])
        words = value if isinstance(value, list) else [value]
        if not words or not all(isinstance(word, (str, int, float)) for word in words) or (kinds[0] == "python" and (
                len(words) > 1 or ".py:" not in str(words[0]))):
            self.note(f"controller, {kinds[0]}", f"it is {short(value)}", "Give python: file.py:name, or ros: [python3, controller.py].",
                      node)
            return
        self.script.controller = {kinds[0]: [str(word) for word in words]}

    def take_command(self, node: Any) -> None:
        for word, (key, values) in self.mapping("command", node).items():
            if word not in WORDS:
                self.note("command", f"it has no {word!r}{hint(word, WORDS)}", "Give {position: {joint: value}}, velocity or effort.", key)
                continue
            for joint, (_, value) in self.mapping(f"command, {word}", values).items():
                x = self.plain(joint, value)
                if not isinstance(x, (int, float)) or isinstance(x, bool) or not abs(x) < float("inf"):
                    self.note(f"command, {word} of {joint!r}", f"it is {short(x)}", "Give a finite number.", value)
                else:
                    self.script.command.setdefault(word, {})[joint] = float(x)

    def take_limits(self, node: Any) -> None:
        for what, (key, values) in self.mapping("limits", node).items():
            source = Source(self.file, key.start_mark.line + 1)
            if what == "requirement":
                self.attempt("limits, requirement", values, partial(self.word, "requirement", values),
                             partial(setattr, self.script, "limits_of"))
            elif what not in (*WORDS, "signals"):
                self.note("limits", f"there are none of {what!r}{hint(what, (*WORDS, 'signals'))}",
                          f"Limits are of {', '.join(WORDS)} and signals.", key)
            elif what != "signals" and isinstance(values, self.yaml.ScalarNode) and self.plain(what, values) is True:
                self.script.limits.append((what, "*", None, None, source))
            else:
                for pattern, (_, value) in self.mapping(f"limits, {what}", values).items():
                    self.take_limit("signal" if what == "signals" else what, pattern, value)

    def take_limit(self, what: str, pattern: str, node: Any) -> None:
        """A number: both ways; two numbers: from, to; True: the joint's own."""
        x: Any = self.plain(pattern, node)
        source = Source(self.file, node.start_mark.line + 1)
        if x is True and what != "signal":
            self.script.limits.append((what, pattern, None, None, source))
            return
        pair: Any = [-x, x] if isinstance(x, (int, float)) and not isinstance(x, bool) else x
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(y, (int, float)) for y in pair) or not pair[0] <= pair[1]:
            self.note(f"limits, {what} of {pattern!r}", f"it is {short(x)}", "Give a number (both ways), or [least, most].", node)
            return
        self.script.limits.append((what, pattern, float(pair[0]), float(pair[1]), source))

    def take_settled(self, node: Any) -> None:
        for name, (key, value) in self.mapping("settled", node).items():
            if name not in ("position", "velocity"):
                self.note("settled", f"it has no {name!r}", "Give position and velocity: how near to the run without a fault.", key)
            else:
                self.script.settled[name] = self.number(name, value)

    def take_seed(self, node: Any) -> None:
        self.script.seed = self.whole("seed", node, 0, 2**63 - 1)

    def take_repetitions(self, node: Any) -> None:
        self.script.repetitions = self.whole("repetitions", node, 1, MOST_REPETITIONS)

    def whole(self, name: str, node: Any, least: int, most: int) -> int:
        value = self.plain(name, node)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ModelError(Problem(name, f"it is {short(value)}", f"Give a whole number from {least} to {most}."))
        return value

    def take_requirements(self, node: Any) -> None:
        for each in self.listed("requirements", node):
            words = self.words("requirement", each)
            if words is not None:
                source = Source(self.file, each.start_mark.line + 1)
                self.attempt(f"requirement {short(words.get('requirement', ''))}", each, partial(requirement, words, source),
                             self.script.requirements.append)

    def take_cases(self, node: Any) -> None:
        for each in self.listed("cases", node):
            case = self.case(each)
            if case is not None:
                self.attempt(case.label, each, case.made, _done)
                self.script.cases.append(case)
        if not self.script.cases and not self.problems:
            raise MbrosError("a fault script without cases tries nothing")

    def case(self, node: Any) -> FaultCase | None:
        """One fault, or `faults:` and what is of the whole case; None where something is noted."""
        parts = self.mapping("case", node)
        several = parts.pop("faults", None)
        words: dict[str, Any] = {}
        for name, (key, value) in parts.items():
            if several is not None and name not in OF_CASE:
                self.note("case", f"{name!r} stands beside faults", "Give it to the faults that it is of: faults: [{...}, {...}].", key)
            self.attempt(f"case, {name}", value, partial(self.plain, name, value), partial(words.__setitem__, name))
        of = words.pop("requirement", None)
        only = [of] if isinstance(of, str) else of
        if only is not None and not (isinstance(only, list) and only and all(isinstance(one, str) for one in only)):
            self.note("case, requirement", f"it is {short(of)}", "Give the name of a requirement, or a list of them.", node)
            return None
        source = Source(self.file, node.start_mark.line + 1)
        if several is None:
            return FaultCase([words], words.pop("each", None), source, None, only)
        faults = [found for each in self.listed("faults", several[1]) if (found := self.words("fault", each)) is not None]
        if not faults:
            self.note("case", "it has no faults", "Write faults: [{kind: ..., at: ...}, {kind: ..., at: ...}].", node)
            return None
        return FaultCase(faults, words.get("each"), source, words.get("name"), only)
