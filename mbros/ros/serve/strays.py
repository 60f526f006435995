"""Parameters that were given and that the node does not have: a mistake where they were meant for it, and said where they may be another's.

ROS 2 drops them without a word, which a file for several nodes needs. A node that is wired to robots must not run on with a limit that
was mistyped. `-p node:name:=value`, and what a file has under the node's own full name, can only be meant for this node: it does not
start. So it is with `-p name:=value` where one of the node's names is near; else it may be one that a launch file gives to all of its
nodes (SetParameter). What stands under a wildcard (`/**`) may be another node's. rclpy does not tell where a value came from: it is read
here again.

So it is with a file of which no section is this node's: under a wrong name, or the right one in another namespace. The node does not
start where the name is near, and says it where it is not: a file may be given to all nodes of a launch.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mbros.names import did_you_mean, hint, printable

from mbros.ros.wire import diagnostics
from mbros.ros.errors import ParameterError

if TYPE_CHECKING:
    from mbros.ros.typing import Node, Yaml

MOST = 5                        # are named
OWN = ("mbros", "sim_node")     # what the node is called, and its program
ROSS_OWN = ("qos_overrides.",)  # of publishers and subscriptions that other robots and packages have
REMOVED = {"data_plane": "messages always go in and out in the loop's own thread"}        # parameters of before: why there are none


@dataclass(frozen=True)
class Strays:
    """names: all; near: those like one of the node's; text: the sentences about them."""

    names: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    text: tuple[str, ...] = ()

    def reports(self) -> list[diagnostics.Report]:
        """A status of /diagnostics where there are some: a warning where a name is near to one of the node's."""
        if not self.text:
            return []
        level = diagnostics.WARN if self.near else diagnostics.OK
        return [diagnostics.Report("parameters", level, "; ".join(self.text), {"given and not used": ", ".join(self.names)})]


def strays(node: Node, argv: Sequence[str], spawned: Sequence[str] | None = None) -> Strays:
    """Of an rclpy node that has declared all it has. argv: the program's arguments. spawned: of a scene to which robots may come, what is
    there: parameters of others wait for those. ParameterError where a parameter was meant for this node."""
    names = sorted(name for name in getattr(node, "_parameter_overrides", {}) if not node.has_parameter(name))
    names = [name for name in names if not name.startswith(ROSS_OWN) and not _waits(name, spawned)]
    if old := [name for name in names if name in REMOVED]:
        raise ParameterError("; ".join(f"parameter '{name}' has been removed: {REMOVED[name]}; leave it out" for name in old))
    known = [name for name in node.list_parameters([], 0).names] if names else []
    missed = [*for_others(node.get_fully_qualified_name(), argv), *unreached(node.get_fully_qualified_name(), argv)]
    own = dict(sorted(meant_for(node.get_fully_qualified_name(), argv), key=lambda each: each[1])) if names else {}
    if wrong := [name for name in names if name in own and (own[name] or did_you_mean(name, known))]:
        raise ParameterError("; ".join(f"there is no parameter '{name}'{hint(name, known)}" for name in wrong[:MOST])
                             + (f"; {len(wrong) - MOST} more are unknown" if len(wrong) > MOST else ""))
    said = [f"parameter '{name}' is given and not used{hint(name, known)}" for name in names[:MOST]]
    more = [f"{len(names) - MOST} more parameters are given and not used"] if len(names) > MOST else []
    return Strays(tuple(names), tuple(name for name in names if did_you_mean(name, known)), (*said, *more, *missed))


def _waits(name: str, there: Sequence[str] | None) -> bool:
    of, slash, _ = name.partition(".")[2].partition("/")
    return there is not None and bool(slash) and of not in there


def meant_for(node: str, argv: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Names of parameters that these arguments give to this program, and whether to the node of this full name and to no other."""
    words, ros = iter(argv), False
    for word in words:
        ros = (ros or word == "--ros-args") and word != "--"
        if ros and word in ("-p", "--param"):
            of, colon, name = next(words, "").partition(":=")[0].rpartition(":")
            if not colon or f"/{of.strip('/')}" == node:
                yield name, bool(colon)
        elif ros and word == "--params-file":
            yield from ((name, True) for name in _of_file(node, next(words, "")))


def unreached(node: str, argv: Sequence[str]) -> list[str]:
    """A sentence for every file of these arguments of which no section is the node's of this full name, or of all nodes. ParameterError
    where it has one that must be meant for it."""
    said = []
    for path in _files(argv):
        names = [name for name, _ in _sections(_content(path), "")]
        others = [name for name in names if not _is_for(name, node)]
        if not others or any(_is_for(name, node) and name.strip("/*") for name in names):
            continue
        of_all = len(others) < len(names)
        for name in others:
            space, _, last = name.rpartition("/")
            if _is_near(last, node.rpartition("/")[2]) and not (of_all and space):
                raise ParameterError(f"'{path}' has parameters for '{printable(name, 100)}', and this node is '{node}': none of them would "
                                     f"be in force. Write them under '{node}', or under '/**' for every node")
        if not of_all:
            names_of = ", ".join(printable(name, 60) for name in others[:MOST])
            said.append(f"'{path}' has no parameters for this node, '{node}': they are for {names_of}")
    return said


def for_others(node: str, argv: Sequence[str]) -> list[str]:
    """A sentence for each -p of a node of another name. ParameterError where it must be meant for this one."""
    said, last = [], node.rpartition("/")[2]
    for word in (word for before, word in zip(argv, argv[1:]) if before in ("-p", "--param") and ":=" in word):
        of = word.partition(":=")[0].rpartition(":")[0].strip("/")
        if not of or of in (node.strip("/"), last):
            continue
        if _is_near(of.rpartition("/")[2], last):
            raise ParameterError(f"-p {printable(word, 200)} is for a node of another name, and would not be in force: this one is "
                                 f"'{node}'")
        said.append(f"-p {printable(word, 200)} is for another node")
    return said


def _is_near(name: str, own: str) -> bool:
    return name == own or name in OWN or did_you_mean(name, (own, *OWN)) is not None


def _is_for(section: str, node: str) -> bool:
    """Whether a section of a file of parameters is of the node of this full name: * is one word of it, ** any number of them."""
    words = "".join("(/[^/]+)*" if word == "**" else "/[^/]+" if word == "*" else f"/{re.escape(word)}"
                    for word in section.strip("/").split("/"))
    return re.fullmatch(words, node) is not None


def _files(argv: Sequence[str]) -> Iterator[str]:
    words, ros = iter(argv), False
    for word in words:
        ros = (ros or word == "--ros-args") and word != "--"
        if ros and word == "--params-file":
            yield next(words, "")


def _of_file(node: str, path: str) -> Iterator[str]:
    for name, values in _sections(_content(path), ""):
        if name == node:
            yield from _flat(values, "")


def _content(path: str) -> Yaml:
    import yaml  # type: ignore[import-untyped]

    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):       # what rcl makes of it, it has said
        return None


def _sections(content: Yaml, where: str) -> Iterator[tuple[str, Yaml]]:
    """The full name of a node, or what stands for several, and its parameters."""
    for key, value in content.items() if isinstance(content, dict) else ():
        if key == "ros__parameters":
            yield where, value
        else:
            yield from _sections(value, f"{where}/{str(key).strip('/')}")


def _flat(values: Yaml, start: str) -> Iterator[str]:
    for key, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict):
            yield from _flat(value, f"{start}{key}.")
        else:
            yield f"{start}{key}"
