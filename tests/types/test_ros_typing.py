"""The protocols of mbros.ros against what they are of: each of their names is one of rclpy's object, the message, request or response."""
import ast
import importlib
import inspect
import re

import pytest
from checkers import ROOT
from optional import needs

ROS = ROOT / "mbros" / "ros"
MOST_ANY = 40           # places in mbros/ros that say Any; each has its reason beside it, or in mbros.ros.typing


def protocols():
    """{name: (what it is a part of, its names)}"""
    found = {}
    for node in (node for path in ROS.rglob("typing.py") for node in ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.ClassDef):
            of = re.match(r"[a-z]\w*(\.\w+)+", ast.get_docstring(node) or "")
            names = {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
            names |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            if of is not None:
                found[node.name] = of[0], names
    return found


PROTOCOLS = protocols()


def thing(path):
    """A module's class, or a class in one; the test is skipped where the package is not there."""
    package, _, _ = path.partition(".")
    pytest.importorskip(package)
    words = path.split(".")
    for k in range(len(words) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(words[:k]))
        except ModuleNotFoundError:
            continue
        for word in words[k:]:
            found = getattr(found, word)
        return found
    raise AssertionError(path)


def names_of(cls):
    """Of a message its fields; of another class what it has, and what its methods give it."""
    if hasattr(cls, "get_fields_and_field_types"):
        return set(cls.get_fields_and_field_types())
    return set(dir(cls)) | set(re.findall(r"self\.(\w+)\b", inspect.getsource(cls)))


@needs("rclpy", "pip install 'mbros[ros]'")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_is_of_what_there_is(name):
    path, names = PROTOCOLS[name]
    assert names and names <= names_of(thing(path)), sorted(names - names_of(thing(path)))


def test_most_of_the_protocols_are_looked_at():
    assert len(PROTOCOLS) > 80


def test_few_places_say_any():
    said = [f"{path.relative_to(ROOT)}:{number}" for path in sorted(ROS.rglob("*.py"))
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            for _ in re.findall(r"\bAny\b", "" if "import" in line else line.partition("#")[0])]
    assert len(said) <= MOST_ANY, f"{len(said)}:\n" + "\n".join(said)
