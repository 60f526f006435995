"""The pictures of docs/data_sheets.md, and those of benches and faults, are what the code draws now."""
import re
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
sys.path.insert(0, str(FOLDER))
import bench_pictures                                                                                            # noqa: E402
import data_sheets                                                                                               # noqa: E402

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NAMES = sorted(path.name for start in ("data_sheet", "bench") for path in FOLDER.glob(f"{start}_*.svg"))


@pytest.fixture(scope="module")
def drawn():
    """Several seconds: not while tests are collected."""
    return {**data_sheets.pictures(), **bench_pictures.pictures()}


def test_every_picture_is_stored(drawn):
    assert sorted(drawn) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_current(drawn, name):
    """The same strokes and words; numbers may differ by the last of their digits, where another machine rounds otherwise."""
    stored = (FOLDER / name).read_text(encoding="utf-8")
    remedy = f"run: PYTHONPATH=. python docs/pictures/{'bench_pictures' if name.startswith('bench') else 'data_sheets'}.py"
    assert NUMBER.sub("#", stored) == NUMBER.sub("#", drawn[name]), remedy
    apart = np.subtract(*(np.array(NUMBER.findall(text), float) for text in (stored, drawn[name])))
    assert np.abs(apart).max() < 0.11 and len(stored) < 18_000, remedy
