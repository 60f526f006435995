"""The table of parameters, without ROS."""
import math

import pytest

from mbros.ros.parameters import TABLE, Row, check, markdown, table_for

ROWS = {row.name: row for row in TABLE}


def test_every_row_is_complete():
    assert len(ROWS) == len(TABLE)
    for row in TABLE:
        assert row.doc and row.kind in ("double", "integer", "bool", "string", "doubles")
        assert row.default is None or check(row, row.default) == (row.default, "")
        assert (row.default is None) == (row.name == "gravity" or "<" in row.name)


@pytest.mark.parametrize("name, value, reason", [
    ("rate", 0.5, "rate must be 1 ... 20000 Hz, got 0.5"),
    ("rate", "fast", "rate must be a number, got 'fast'"),
    ("rate", True, "rate must be a number, got True"),
    ("rate", math.nan, "rate must be 1 ... 20000 Hz, got nan"),
    ("base", "swinging", "base must be one of auto, fixed, floating, planar, got 'swinging'"),
    ("publish_tf", 1, "publish_tf must be true or false, got 1"),
    ("step_count", 2.0, "step_count must be a whole number, got 2.0"),
    ("step_count", 0, "step_count must be 1 ... 100000, got 0"),
    ("robot", 5, "robot must be a text, got 5"),
    ("watchdog_timeout", 0.001, "watchdog_timeout must be 0 or 0.002 ... 3600 s, got 0.001"),
    ("real_time_factor", 0.01, "real_time_factor must be 0 or 0.1 ... 100, got 0.01"),
])
def test_a_bad_value_is_refused_in_words(name, value, reason):
    assert check(ROWS[name], value) == (None, reason)


def test_whole_numbers_will_do_for_doubles():
    assert check(ROWS["rate"], 500) == (500.0, "")
    assert check(ROWS["watchdog_timeout"], 0) == (0.0, "")


def test_rows_of_a_robot():
    rows = {row.name: row for row in table_for({
        "gravity": [0, 0, -1.62], "damping.base": [0.0] * 3, "damping.elbow": 0.5, "friction.elbow": 0.0,
        "friction.base": [0.0] * 3, "initial_positions.base": [0.0] * 3, "initial_positions.elbow": 0.1})}
    assert rows["gravity"].default == (0.0, 0.0, -1.62)
    assert set(rows) == {"gravity"} | {f"{n}.{j}" for n in ("damping", "friction", "initial_positions") for j in ("base", "elbow")}
    assert check(rows["damping.base"], [1, 2, 3]) == ((1.0, 2.0, 3.0), "")
    assert check(rows["damping.base"], [1, 2]) == (None, "damping.base must have 3 numbers, got 2")
    assert check(rows["damping.base"], [1, -2, 3])[1] == "damping.base[1] must be 0 ... 1e+09 N m s/rad or N s/m, got -2"
    assert check(rows["damping.elbow"], -1)[1].startswith("damping.elbow must be 0 ... ")


def test_the_table_documents_every_row():
    lines = markdown().splitlines()
    assert len(lines) == len(TABLE) + 2
    assert all(line.count("|") == 7 for line in lines)
    assert all(any(f"`{row.name}`" in line and row.doc in line for line in lines) for row in TABLE)


def test_free_rows_take_any_finite_number():
    row = Row("x", "double", 0.0, "anything")
    assert check(row, -1e300) == (-1e300, "") and check(row, math.inf)[1] == "x must be a finite number, got inf"


def test_stiffnesses_of_shapes_go_as_far_as_gazebos_default():
    row, = [row for row in TABLE if row.name.startswith("contact.")]
    assert check(row, 1e12) == (1e12, "") and check(row, 1e16)[0] is None
