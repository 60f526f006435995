"""Bench files: YAML with actuators, sensors, channels, faults and a seed. Every problem is reported with line, element and remedy.

    seed: 7
    actuators:
      joint*: {type: position_servo, kp: 400, kd: 20}
    sensors:
      imu: {type: imu, frame: flange, rate: 200, gyro_noise_density: 1.7e-4}
    channels:
      - {signal: "joint*.command.*", delay: 0.002}
    faults:
      - {name: hung, kind: frozen, signal: joint2.encoder.position, at: 1.0, duration: 0.5}
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from mbros_core.support.files import text_named

from mbros.arguments import file_path
from mbros.describe.devices.words import channel, device, fault, source
from mbros.errors import MbrosError, ModelError, Problem, Source, optional
from mbros.names import hint, one_document, with_article

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench

PARTS = ("seed", "actuators", "sensors", "channels", "faults", "sources")
MOST = 1_000_000            # bytes of a file
MOST_ENTRIES = 250_000      # of a file, each as often as it is read
LONGEST_NUMBER = 400        # characters
MOST_VALUES, DEEPEST = 10_000, 8            # of a list with its lists: YAML's aliases make endless ones of a line or two
ENDLESS = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}         # as YAML writes them


@one_document
def read(cls: type[Bench], path: str | PathLike[str]) -> Bench:
    return Reader(cls, named(Reader.what, path)).bench


def named(what: str, path: str | PathLike[str]) -> str:
    """A path as it was given, if a file can be called so."""
    file_path(what, path)
    return fspath(path)


class Reader:
    """One reading of one file."""

    what = "bench file"

    def __init__(self, cls: type[Bench], path: str) -> None:
        self.bench, self.taken = cls(), dict[int, set[Any]]()
        parts = self.begin(path, PARTS)
        if "seed" in parts:
            self.attempt("seed", parts["seed"][1], lambda: cls(self.plain("seed", parts["seed"][1])).seed,
                         lambda seed: setattr(self.bench, "seed", seed))
        for name in ("actuators", "sensors"):
            if name in parts:
                for of, (_, node) in self.mapping(name, parts[name][1]).items():
                    words = self.words(f"{name[:-1]} {of!r}", node)
                    if words is not None:
                        self.make(f"{name[:-1]} {of!r}", node, partial(device, name[:-1], of, words))
        for of, (_, node) in self.mapping("sources", parts["sources"][1]).items() if "sources" in parts else ():
            words = self.words(f"source {of!r}", node)
            if words is not None:
                self.make(f"source {of!r}", node, partial(source, {"name": of, "joint": of, **words}))
        for name, of_words in (("channels", channel), ("faults", fault)):
            for node in self.listed(name, parts[name][1]) if name in parts else ():
                words = self.words(name[:-1], node)
                if words is not None:
                    self.make(f"{name[:-1]} {words.get('name', words.get('signal', ''))!r}", node, partial(of_words, words))
        self.end()

    def begin(self, path: str, known: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """The file's parts, {name: (node of the name, node of the value)}; those that are not known are noted, and left out."""
        self.file, self.problems, self.left = path, list[Problem](), MOST_ENTRIES
        self.yaml = optional("yaml", f"{self.what}s", "yaml")
        top = self.tree()
        parts = {} if top is None else self.mapping("the file", top)
        for name, (key, _) in parts.items():
            if name not in known:
                self.note(name, f"{with_article(self.what)} has no such part" + hint(name, known), f"Parts are: {', '.join(known)}.", key)
        return {name: part for name, part in parts.items() if name in known}

    def end(self) -> None:
        """ModelError with every problem so far, if there is one."""
        if self.problems:
            raise ModelError(self.problems)

    def tree(self) -> Any:
        """The nodes of the file."""
        text = self.text()
        if len(text) > MOST:
            raise MbrosError(f"{self.what} {self.file!r} has more than {MOST} characters: it is none")
        try:
            return self.yaml.compose(text, Loader=self.yaml.SafeLoader)
        except (self.yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:     # the last two: of numbers of characters
            mark = getattr(error, "problem_mark", None)
            line = None if mark is None else mark.line + 1
            raise ModelError(Problem(self.what, f"it is no YAML: {getattr(error, 'problem', None) or error}", "Look at the indentation, "
                                     "at brackets and quotes before this line", self.file, line)) from None

    def text(self) -> str:
        """What is in the file."""
        return text_named(self.what, self.file, MOST)

    def note(self, element: str, reason: str, remedy: str, node: Any) -> None:
        self.problems.append(Problem(element, reason, remedy, self.file, node.start_mark.line + 1))

    def mapping(self, what: str, node: Any) -> dict[str, tuple[Any, Any]]:
        """{name: (node of the name, node of the value)}."""
        if not isinstance(node, self.yaml.MappingNode):
            self.note(what, "it is no mapping", "Write name: value, one below the other, or {name: value, ...}.", node)
            return {}
        self.look_at(what, node)
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
            self.note(what, "it is no list", "Write a list: '- {signal: ..., name: value, ...}', one below the other.", node)
            return
        self.look_at(what, node)
        yield from node.value

    def look_at(self, what: str, node: Any) -> None:
        """At the entries of a node, as often as the file names it: with aliases (*name) one entry may stand for a million."""
        self.left -= 1 + len(node.value)
        if self.left < 0:
            raise ModelError(Problem(what, f"with what its aliases (*name) repeat, the file has more than {MOST_ENTRIES} entries",
                                     "Write less, or in several files", self.file, node.start_mark.line + 1))

    def plain(self, what: str, node: Any) -> Any:
        """A number, True or False, a word, or a list of these. 1e-3 is a number, which YAML 1.1 says it is not."""
        return self._plain(what, node, iter(range(MOST_VALUES)), 0)

    def _plain(self, what: str, node: Any, room: Iterator[int], depth: int) -> Any:
        """room: for so many values more."""
        if next(room, None) is None or depth > DEEPEST:
            raise MbrosError(f"{what} is a list of more than {MOST_VALUES} values, or of lists more than {DEEPEST} deep; expected a "
                             "number, a word or a list of numbers. Look for an alias (*name) of the list inside itself")
        if isinstance(node, self.yaml.SequenceNode):
            self.look_at(what, node)
            return [self._plain(what, each, room, depth + 1) for each in node.value]
        if not isinstance(node, self.yaml.ScalarNode):
            raise MbrosError(f"{what} is a mapping; expected a number, a word or a list of numbers")
        text: str = node.value
        if node.style is not None or len(text) > LONGEST_NUMBER:
            return text
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        for kind in (int, float):
            try:
                value = kind(ENDLESS.get(text.lower(), text))
                float(value)                    # a whole number beyond all floats is infinite
                return value
            except (ValueError, OverflowError):
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

    def make(self, element: str, node: Any, make: Callable[[], Any]) -> None:
        def made() -> Any:
            part = make()
            part.source = Source(self.file, node.start_mark.line + 1)
            return self.bench._add_read(part, self.taken)

        self.attempt(element, node, made, lambda part: None)

    def attempt(self, element: str, node: Any, make: Callable[[], Any], keep: Callable[[Any], Any]) -> None:
        """keep(make()), with what is refused noted at this line."""
        try:
            keep(make())
        except ModelError as error:
            for problem in error.problems:
                self.note(element, problem.reason, problem.remedy, node)
        except MbrosError as error:
            self.note(element, str(error).removeprefix("bench: ").removeprefix(f"{element}: "), "", node)
