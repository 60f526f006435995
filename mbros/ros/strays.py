"""Parameters that were given and that the node does not have: a mistake where they were meant for it, and said where they may be another's.

ROS 2 drops them without a word, which a file for several nodes needs. A node that is wired to robots must not run on with a limit that
was mistyped. `-p node:name:=value`, and what a file has under the node's own full name, can only be meant for this node: it does not
start. So it is with `-p name:=value` where one of the node's names is near; else it may be one that a launch file gives to all of its
nodes (SetParameter). What stands under a wildcard (`/**`) may be another node's. rclpy does not tell where a value came from: it is read
here again.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mbros.names import did_you_mean, hint

from . import diagnostics
from .errors import ParameterError

MOST = 5                        # are named
ROSS_OWN = ("qos_overrides.",)  # of publishers and subscriptions that other robots and packages have


@dataclass(frozen=True)
class Strays:
    """names: all; near: those like one of the node's; text: the sentences about them."""

    names: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    text: tuple[str, ...] = ()

    def reports(self) -> list[diagnostics.Report]:
        """A status of /diagnostics where there are some: a warning where a name is near to one of the node's."""
        if not self.names:
            return []
        level = diagnostics.WARN if self.near else diagnostics.OK
        return [diagnostics.Report("parameters", level, "; ".join(self.text), {"given and not used": ", ".join(self.names)})]


def strays(node: Any, argv: Sequence[str], spawned: Sequence[str] | None = None) -> Strays:
    """Of an rclpy node that has declared all it has. argv: the program's arguments. spawned: of a scene to which robots may come, what is
    there: parameters of others wait for those. ParameterError where a parameter was meant for this node."""
    names = sorted(name for name in getattr(node, "_parameter_overrides", {}) if not node.has_parameter(name))
    names = [name for name in names if not name.startswith(ROSS_OWN) and not _waits(name, spawned)]
    known = [name for name in node.list_parameters([], 0).names] if names else []
    own = dict(sorted(meant_for(node.get_fully_qualified_name(), argv), key=lambda each: each[1])) if names else {}
    if wrong := [name for name in names if name in own and (own[name] or did_you_mean(name, known))]:
        raise ParameterError("; ".join(f"there is no parameter '{name}'{hint(name, known)}" for name in wrong[:MOST])
                             + (f"; {len(wrong) - MOST} more are unknown" if len(wrong) > MOST else ""))
    said = [f"parameter '{name}' is given and not used{hint(name, known)}" for name in names[:MOST]]
    more = [f"{len(names) - MOST} more parameters are given and not used"] if len(names) > MOST else []
    return Strays(tuple(names), tuple(name for name in names if did_you_mean(name, known)), (*said, *more))


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


def _of_file(node: str, path: str) -> Iterator[str]:
    import yaml  # type: ignore[import-untyped]

    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):       # what rcl makes of it, it has said
        return
    yield from _sections(node, content, "")


def _sections(node: str, content: Any, where: str) -> Iterator[str]:
    for key, value in content.items() if isinstance(content, dict) else ():
        if key != "ros__parameters":
            yield from _sections(node, value, f"{where}/{str(key).strip('/')}")
        elif where == node:
            yield from _flat(value, "")


def _flat(values: Any, start: str) -> Iterator[str]:
    for key, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict):
            yield from _flat(value, f"{start}{key}.")
        else:
            yield f"{start}{key}"
