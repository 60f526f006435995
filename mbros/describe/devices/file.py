"""Bench files: YAML with actuators, sensors, channels and a seed. Every problem is reported with its line, the element and the remedy.

    seed: 7
    actuators:
      joint*: {type: position_servo, kp: 400, kd: 20}
    sensors:
      imu: {type: imu, frame: flange, rate: 200, gyro_noise_density: 1.7e-4}
    channels:
      - {signal: "joint*.command.*", delay: 0.002}
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from mbros.describe.devices.channel import Channel
from mbros.describe.devices.classes import ACTUATOR_CLASSES, SENSOR_CLASSES
from mbros.errors import MbrosError, ModelError, Problem, Source, optional
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench

PARTS = ("seed", "actuators", "sensors", "channels")
MOST = 1_000_000            # characters of a file


def read(cls: type[Bench], path: str | PathLike[str]) -> Bench:
    return Reader(cls, fspath(path)).bench


class Reader:
    """One reading of one file."""

    def __init__(self, cls: type[Bench], path: str) -> None:
        self.file, self.problems = path, list[Problem]()
        self.yaml = optional("yaml", "bench files", "yaml")
        self.bench = cls()
        top = self.tree()
        parts = {} if top is None else self.mapping("the file", top)
        for name, (key, _) in parts.items():
            if name not in PARTS:
                self.note(name, "a bench file has no such part" + hint(name, PARTS), f"Parts are: {', '.join(PARTS)}.", key)
        if "seed" in parts:
            self.attempt("seed", parts["seed"][1], lambda: cls(self.plain("seed", parts["seed"][1])).seed,
                         lambda seed: setattr(self.bench, "seed", seed))
        for name, classes in (("actuators", ACTUATOR_CLASSES), ("sensors", SENSOR_CLASSES)):
            if name in parts:
                for of, (_, node) in self.mapping(name, parts[name][1]).items():
                    self.device(name[:-1], of, node, {c.type: c for c in classes})
        for node in self.listed("channels", parts["channels"][1]) if "channels" in parts else ():
            words = self.words("channel", node)
            if words is not None:
                self.make(f"channel {words.get('name', words.get('signal', ''))!r}", node, Channel, words)
        if self.problems:
            raise ModelError(self.problems)

    def tree(self) -> Any:
        """The nodes of the file."""
        try:
            with open(self.file, encoding="utf-8") as f:
                text = f.read(MOST + 1)
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise MbrosError(f"bench file {self.file!r} cannot be read: {error}") from None
        if len(text) > MOST:
            raise MbrosError(f"bench file {self.file!r} has more than {MOST} characters: it is no bench file")
        try:
            return self.yaml.compose(text, Loader=self.yaml.SafeLoader)
        except (self.yaml.YAMLError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            line = None if mark is None else mark.line + 1
            raise ModelError(Problem("bench file", f"it is no YAML: {getattr(error, 'problem', None) or error}", "Look at the indentation, "
                                     "at brackets and quotes before this line", self.file, line)) from None

    def note(self, element: str, reason: str, remedy: str, node: Any) -> None:
        self.problems.append(Problem(element, reason, remedy, self.file, node.start_mark.line + 1))

    def mapping(self, what: str, node: Any) -> dict[str, tuple[Any, Any]]:
        """{name: (node of the name, node of the value)}."""
        if not isinstance(node, self.yaml.MappingNode):
            self.note(what, "it is no mapping", "Write name: value, one below the other, or {name: value, ...}.", node)
            return {}
        out: dict[str, tuple[Any, Any]] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, self.yaml.ScalarNode) else ""
            if not name or name in out:
                self.note(f"{what}, {name!r}", "this name is there already" if name else "a name is empty or no word",
                          "Give every entry a name of its own.", key)
            else:
                out[name] = key, value
        return out

    def listed(self, what: str, node: Any) -> Iterator[Any]:
        if not isinstance(node, self.yaml.SequenceNode):
            self.note(what, "it is no list", "Write a list: '- {signal: ..., delay: ...}', one below the other.", node)
            return
        yield from node.value

    def plain(self, what: str, node: Any) -> Any:
        """A number, True or False, a word, or a list of these. 1e-3 is a number, which YAML 1.1 says it is not."""
        if isinstance(node, self.yaml.SequenceNode):
            return [self.plain(what, each) for each in node.value]
        if not isinstance(node, self.yaml.ScalarNode):
            raise MbrosError(f"{what} is a mapping; expected a number, a word or a list of numbers")
        text = node.value
        if node.style is not None:
            return text
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                pass
        return text

    def words(self, element: str, node: Any) -> dict[str, Any] | None:
        """The arguments that stand in an entry."""
        if not isinstance(node, self.yaml.MappingNode):
            self.note(element, "it is no mapping", "Write {type: ..., name: value, ...}.", node)
            return None
        out: dict[str, Any] = {}
        for name, (_, value) in self.mapping(element, node).items():
            self.attempt(f"{element}, {name}", value, partial(self.plain, name, value), partial(out.__setitem__, name))
        return out

    def device(self, family: str, of: str, node: Any, classes: dict[str, Any]) -> None:
        """An entry `of: {type: ...}`. Of an actuator and of a joint's sensor without `joint`, `of` is the joint, or a pattern of joints."""
        words = self.words(f"{family} {of!r}", node)
        if words is None:
            return
        word = words.pop("type", None)
        if word not in classes:
            reason = "it has no type" if word is None else f"there is no {family} {word!r}{hint(word, classes)}"
            self.note(f"{family} {of!r}", reason, f"Types: {', '.join(classes)}.", node)
            return
        cls = classes[word]
        name = of
        if cls.short and "joint" not in words:
            words["joint"], name = of, f"*.{cls.short}"
        self.make(f"{family} {of!r}", node, cls, {"name": name, **words})

    def make(self, element: str, node: Any, cls: Any, words: dict[str, Any]) -> None:
        def made() -> Any:
            device = cls(**words)
            device.source = Source(self.file, node.start_mark.line + 1)
            return self.bench.add(device)

        self.attempt(element, node, made, lambda device: None)

    def attempt(self, element: str, node: Any, make: Callable[[], Any], keep: Callable[[Any], Any]) -> None:
        """keep(make()), with what is refused noted at this line."""
        try:
            keep(make())
        except ModelError as error:
            for problem in error.problems:
                self.note(element, problem.reason, problem.remedy, node)
        except MbrosError as error:
            self.note(element, str(error), "", node)
        except TypeError as error:          # a number that must be given, in the words of Python
            self.note(element, str(error).partition("__init__() ")[2] or str(error), "Give it; docs/bench.md has the numbers.", node)
