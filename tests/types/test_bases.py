"""The large classes are one class each: what they do stands in them, or in functions that take them (docs/decisions/044-one-class.md)."""
import re
import sys

import pytest
from checkers import ROOT

import mbros
from mbros_core.realtime import Loop

MOST_BASES = 2
CLASSES = [mbros.Model, mbros.Simulator, mbros.Joint, Loop]


def of_python(cls):
    """Its bases, near and far, that are not compiled."""
    return [base for base in cls.__mro__[1:-1] if sys.modules[base.__module__].__file__.endswith(".py")]


def check(cls):
    assert len(cls.__bases__) <= MOST_BASES and len(of_python(cls)) <= MOST_BASES, (cls.__bases__, of_python(cls))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_two_bases_at_most(cls):
    check(cls)


def test_two_bases_of_the_node_at_most():
    pytest.importorskip("rclpy")
    from mbros.ros.node import SimNode

    check(SimNode)


def test_a_method_says_of_what_it_is():
    found = [f"{path.relative_to(ROOT)}:{number}" for package in ("mbros", "mbros_core") for path in (ROOT / package).rglob("*.py")
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if re.search(r"\bself: Any\b", line)]
    assert not found, found
