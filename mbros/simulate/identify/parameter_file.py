"""Parameter files: YAML as the ROS 2 node takes it (`--ros-args --params-file`, `params_file:=`), of parameters by name.

    /**:
      ros__parameters:
        mass.link7: 1.25
        com.link7: [0.0, 0.01, 0.2]

What is no parameter of a model (a delay, deviations) stands in comments. Files without the two first lines are read, too.
"""
from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core.files import read_regular
from mbros_core.numbers import short

from mbros.errors import MbrosError, optional
from mbros.model.parameters import is_one, put_all

if TYPE_CHECKING:
    from mbros import Model
    from mbros_core._engine import State

MOST_BYTES = 1 << 20        # of a file that is read
HEAD = ("/**:", "  ros__parameters:")


def write(path: str | PathLike[str], values: Mapping[str, Any], comments: str = "") -> None:
    """Write {parameter name: number, (k,) or bool}, below comments."""
    lines = [f"# {line}".rstrip() for line in comments.splitlines()] + list(HEAD)
    lines += [f"    {name}: {_text(value)}" for name, value in values.items()]
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        raise MbrosError(f"parameter file {fspath(path)}: it cannot be written: {error.strerror or error}") from error


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """{parameter name: number, list or bool} of a file; names that are no model's parameters (of a node) are left out."""
    yaml, where = optional("yaml", "parameter files", "yaml"), f"parameter file {fspath(path)}"
    try:
        content = yaml.safe_load(read_regular(path, MOST_BYTES))
    except OSError as error:
        raise MbrosError(f"{where}: cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise MbrosError(f"{where}: it is no YAML: {' '.join(str(error).split())}") from error
    if isinstance(content, dict) and content and all(isinstance(of, dict) and "ros__parameters" in of for of in content.values()):
        content = _together(where, content)
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise MbrosError(f"{where}: expected lines such as 'mass.link7: 1.25', below '/**:' and 'ros__parameters:', got {short(content)}")
    values = {name: _number(where, name, value) for name, value in _flat(content).items() if is_one(name)}
    if not values:
        raise MbrosError(f"{where}: it has no parameter of a robot, such as 'mass.link7: 1.25'; docs/identification.md shows some")
    return values


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


def _together(where: str, content: Mapping[Any, Any]) -> dict[str, Any]:
    """The parameters of all nodes of a file, which must not say two things of one robot."""
    found: dict[str, Any] = {}
    for node, of in content.items():
        own = of["ros__parameters"]
        if not isinstance(own, (dict, type(None))) or not all(isinstance(name, str) for name in own or {}):
            raise MbrosError(f"{where}: {node}: expected lines such as 'mass.link7: 1.25' below 'ros__parameters:', got {short(own)}")
        for name, value in _flat(own or {}).items():
            if is_one(name) and found.setdefault(name, value) != value:
                raise MbrosError(f"{where}: {name} is {short(found[name])}, and for {node} {short(value)}; expected one robot's "
                                 "parameters: a file for each")
    return found


def _flat(content: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """`mass: {link7: 1.25}` is `mass.link7: 1.25`, as for ROS."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        found.update(_flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": value})
    return found


def _number(where: str, name: str, value: Any) -> Any:
    """YAML 1.1 takes 1e-3 for a word."""
    if isinstance(value, list):
        return [_number(where, name, each) for each in value]
    try:
        return value if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        raise MbrosError(f"{where}: {name}: expected a number, true or false, or a list of numbers, got {short(value)}") from None


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if np.ndim(value):
        return f"[{', '.join(_text(x) for x in np.asarray(value).tolist())}]"
    digits, e, power = repr(float(value)).partition("e")
    return (digits if "." in digits or not e else digits + ".0") + e + power          # 1e-05 would be a word
