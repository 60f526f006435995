"""Parameter files: YAML as the ROS 2 node takes it (`--ros-args --params-file`, `params_file:=`), of parameters by name.

    /**:
      ros__parameters:
        mass.link7: 1.25
        com.link7: [0.0, 0.01, 0.2]

What is no parameter of a model (a delay, deviations) stands in comments. Files without the two first lines are read, too.
"""
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.support.files import replace_file
from mbros_core.support.numbers import short

from mbros.arguments import file_path
from mbros.describe.devices.file import DEEPEST, MOST_ENTRIES, Reader
from mbros.errors import MbrosError, Problem, optional
from mbros.model.parameters import is_one, put_all
from mbros.names import one_document

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core.engine._engine import State

OF_NODE = "ros__parameters"
HEAD = ("/**:", f"  {OF_NODE}:")


def write(path: str | PathLike[str], values: Mapping[str, Any], comments: str = "") -> None:
    """Write {parameter name: number, (k,) or bool}, below comments."""
    lines = [f"# {line}".rstrip() for line in comments.splitlines()] + list(HEAD)
    lines += [f"    {name}: {_text(value)}" for name, value in values.items()]
    replace_file("parameter file", path, ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """{parameter name: number, list or bool} of a file; names that are no model's parameters (of a node) are left out."""
    return ParameterReader(path).values


class ParameterReader(Reader):
    """One reading of one file."""

    what = "parameter file"

    def __init__(self, path: str | PathLike[str]) -> None:
        self.values: dict[str, Any] = {}
        self.file, self.problems, self.left = fspath(file_path(self.what, path)), list[Problem](), MOST_ENTRIES
        self.yaml = optional("yaml", "parameter files", "yaml")
        top = self.tree()
        if self.names(top) and all(OF_NODE in self.names(of) for _, of in top.value):
            for node, (_, of) in self.mapping("the file", top).items():
                inside = self.mapping(node, of)[OF_NODE][1]
                if not self.is_empty(inside):
                    self.take(inside, f"{node}: ", node)
        else:
            self.take(top, "", "")
        self.end()
        if not self.values:
            raise MbrosError(f"parameter file {self.file}: it has no parameter of a robot, such as 'mass.link7: 1.25'; "
                             "docs/identification.md shows some")

    def is_empty(self, node: Any) -> bool:
        return isinstance(node, self.yaml.ScalarNode) and node.style is None and node.value in ("", "null", "~")

    def names(self, node: Any) -> set[Any]:
        """In a mapping; none in what is no mapping."""
        if not isinstance(node, self.yaml.MappingNode):
            return set()
        self.look_at("the file", node)
        return {key.value for key, _ in node.value if isinstance(key, self.yaml.ScalarNode)}

    def take(self, node: Any, where: str, of: str, before: str = "", depth: int = 0) -> None:
        """The parameters in a mapping. `mass: {link7: 1.25}` is `mass.link7: 1.25`, as for ROS."""
        if not isinstance(node, self.yaml.MappingNode) or depth > DEEPEST:
            raise MbrosError(f"parameter file {self.file}: {where}expected lines such as 'mass.link7: 1.25', below '/**:' and "
                             f"'{OF_NODE}:'" + (f", got mappings more than {DEEPEST} deep" if depth > DEEPEST else ""))
        for name, (_, value) in self.mapping(before.rstrip(".") or "the file", node).items():
            full = before + name
            if isinstance(value, self.yaml.MappingNode):
                self.take(value, where, of, f"{full}.", depth + 1)
            elif is_one(full):
                self.attempt(full, value, partial(self.number, full, value), partial(self.keep, full, of))

    def number(self, name: str, node: Any) -> Any:
        value = self.plain(name, node)
        if not _numeric(value):
            raise MbrosError(f"expected a number, true or false, or a list of numbers, got {short(value)}")
        return _floats(value)

    def keep(self, name: str, of: str, value: Any) -> None:
        """Nodes must not say two things of one robot."""
        if self.values.setdefault(name, value) != value:
            raise MbrosError(f"it is {short(self.values[name])}, and for {of} {short(value)}; expected one robot's parameters: a file "
                             "for each")


@one_document
def put(path: str | PathLike[str], model: Model, state: State) -> tuple[str, ...]:
    """Set in a state what a file says, all of it or nothing; the names."""
    values = read(path)
    trial = state.copy()
    try:
        put_all(model, trial, values)
    except MbrosError as error:
        raise MbrosError(f"parameter file {fspath(path)}: {error}") from None
    put_all(model, state, values)
    return tuple(values)


def _numeric(value: Any) -> bool:
    return all(map(_numeric, value)) if isinstance(value, list) else isinstance(value, (bool, int, float))


def _floats(value: Any) -> Any:
    return list(map(_floats, value)) if isinstance(value, list) else value if isinstance(value, bool) else float(value)


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if np.ndim(value):
        return f"[{', '.join(_text(x) for x in np.asarray(value).tolist())}]"
    digits, e, power = repr(float(value)).partition("e")
    return (digits if "." in digits or not e else digits + ".0") + e + power          # 1e-05 would be a word
