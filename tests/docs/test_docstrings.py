"""Everything that users reach by its name says what it is: help() of the public classes and functions has no blanks."""
import inspect

import pytest

import mbros


def members(cls):
    """Public methods and properties that a class defines itself."""
    return {name: value for name, value in vars(cls).items()
            if not name.startswith("_") and (inspect.isroutine(value) or isinstance(value, property))}


@pytest.mark.parametrize("name", mbros.__all__)
def test_help_says_what_it_is(name):
    found = getattr(mbros, name)
    assert name.startswith("__") or inspect.getdoc(found)
    if inspect.isclass(found):
        assert [member for member in members(found) if not inspect.getdoc(getattr(found, member))] == []
