"""docs/joints.md is what the registry and the kinds' own files say."""
import re
from pathlib import Path

import mbros
import pytest
from docs.generate import joints as documentation
from mbros_core.joints.registry import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "joints.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == documentation.page(), "run: python -m docs.generate.joints > docs/joints.md"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_is_written_is_that_kind(row):
    """Every class that a section names exists, and the first one makes joints of the section's kind."""
    written = documentation.WRITTEN[row.name][0]
    classes = re.findall(r"mbros\.(\w+)\(", written)
    assert classes and all(hasattr(mbros, name) for name in classes)
    b = mbros.ModelBuilder("one")
    body = b.add_body("body", mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1))
    options = {"dim": {"dim": int(row.name[-1]) if row.name[-1].isdigit() else 1}, "pitch_m_per_rad": {"pitch_m_per_rad": 0.1},
               "representation": {"representation": "cos_sin"}}
    given = {k: v for key, option in options.items() if key in written for k, v in option.items()}
    b.add_joint(getattr(mbros, classes[0])("j", b.world, body, **given))
    assert b.build(merge_welds=False).spec.joint_kind[-1] == row.name


def test_equations_are_the_files_own():
    for row in ROWS:
        assert "X_FM" in documentation.equations(row.name) or row.name == "weld"
