"""mbros_core.support.records: what a class says to dataclasses, with methods that all records share."""
import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from mbros_core.support.records import record


@record(frozen=True, eq=False)
class Row:
    """A row."""

    name: str
    size: int = 3
    tags: dict = field(default_factory=dict)


@record()
class Wide:
    """With equality."""

    x: int
    y: int = 0


@record(eq=False)
class Longer(Wide):
    """With a field more."""

    z: tuple = ()


@dataclass
class Plain:
    name: str
    size: int = 3
    tags: dict = field(default_factory=dict)


@pytest.mark.parametrize("args, given", [(("a",), {}), (("a", 4), {}), ((), {"name": "a"}), (("a",), {"tags": {"b": 1}}),
                                         (("a", 1, {"c": 2}), {})])
def test_it_takes_what_a_dataclass_takes(args, given):
    assert vars(Row(*args, **given)) == vars(Plain(*args, **given))
    assert repr(Row(*args, **given)) == repr(Plain(*args, **given)).replace("Plain", "Row")


@pytest.mark.parametrize("args, given, words", [((), {}, "missing its argument 'name'"), (("a", 1, {}, 2), {}, "takes 3 arguments, got 4"),
                                                (("a",), {"name": "b"}, "two values for argument 'name'"),
                                                (("a",), {"colour": 1}, "an unexpected argument 'colour'")])
def test_it_refuses_what_a_dataclass_refuses(args, given, words):
    with pytest.raises(TypeError):
        Plain(*args, **given)
    with pytest.raises(TypeError, match=words):
        Row(*args, **given)


def test_defaults_are_made_for_each():
    assert Row("a").tags is not Row("a").tags


def test_frozen_ones_do_not_change():
    row = Row("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'size'"):
        row.size = 4
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'size'"):
        del row.size
    assert vars(replace(row, size=5)) == {"name": "a", "size": 5, "tags": {}} and row.size == 3


def test_fields_equality_inheritance_and_copies():
    assert [f.name for f in fields(Longer)] == ["x", "y", "z"]
    assert Wide(1) == Wide(1, 0) and Wide(1) != Wide(2) and Row("a") != Row("a")
    assert repr(Longer(1, z=(2,))) == "Longer(x=1, y=0, z=(2,))"
    for other in (copy.copy(Longer(1, 2, (3,))), copy.deepcopy(Longer(1, 2, (3,))), pickle.loads(pickle.dumps(Longer(1, 2, (3,))))):
        assert vars(other) == {"x": 1, "y": 2, "z": (3,)}
