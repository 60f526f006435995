"""The drawings of docs/joints.md and docs/forces.md: one of every kind, and each is what the code draws now."""
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from mbros_core.forces.registry import ROWS as FORCES
from mbros_core.joints.registry import ROWS as JOINTS

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "pictures"
sys.path.insert(0, str(FOLDER))
import force_pictures                                                                                            # noqa: E402
import joint_pictures                                                                                            # noqa: E402

NAMES = {"joints": [f"joint_{row.name}.svg" for row in JOINTS],
         "forces": [f"force_{row.name}.svg" for row in FORCES] + ["force_stop.svg"]}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
every_picture = pytest.mark.parametrize("name", sorted(sum(NAMES.values(), [])))


@pytest.fixture(scope="module")
def drawn():
    """A second: not while tests are collected."""
    return {**joint_pictures.pictures(), **force_pictures.pictures()}


def test_every_kind_has_its_picture_in_its_section(drawn):
    assert sorted(drawn) == sorted(sum(NAMES.values(), []))
    for page, names in NAMES.items():
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        assert [name for name in re.findall(r"\]\(pictures/(\w+\.svg)\)", text) if name in drawn] == names


@every_picture
def test_a_picture_is_current(drawn, name):
    """The same strokes and words; numbers may differ by the last of their digits, where another machine rounds otherwise."""
    stored = (FOLDER / name).read_text(encoding="utf-8")
    told = f"run: PYTHONPATH=. python docs/pictures/{name.partition('_')[0]}_pictures.py"
    assert NUMBER.sub("#", stored) == NUMBER.sub("#", drawn[name]), told
    apart = np.subtract(*(np.array(NUMBER.findall(text), float) for text in (stored, drawn[name])))
    assert np.abs(apart).max() < 0.11, told


@every_picture
def test_a_picture_is_small_and_on_white(drawn, name):
    text = drawn[name]
    assert len(text) < 12_000 and '<rect width="440" height="320" rx="6" fill="#ffffff"/>' in text and "nan" not in text
    root = ElementTree.fromstring(text)
    assert root[0].text and {tag.tag.rpartition("}")[2] for tag in root} >= {"title", "rect", "path", "text"}


@pytest.mark.parametrize("row", JOINTS, ids=lambda row: row.name)
def test_every_coordinate_is_named(drawn, row):
    """The positions where they are what moves (velocities are their rates), else the velocities."""
    words = re.findall(r">([^<>\n]+)</text>", drawn[f"joint_{row.name}.svg"])
    assert set(row.position_names if row.velocities_are_rates else row.velocity_names) <= set(words)


@every_picture
def test_words_are_in_the_picture_and_not_on_one_another(drawn, name):
    """Boxes of all texts, by their lengths, are inside the picture; no two overlap by more than a sliver."""
    boxes = []
    for x, y, anchor, inside in re.findall(r'<text x="([\d.-]+)" y="([\d.-]+)"[^>]*text-anchor="(\w+)"[^>]*>(.*?)</text>', drawn[name]):
        length = 6.5 * len(re.sub(r"<[^>]+>|&#160;", "", inside).replace("&quot;", '"'))
        left = float(x) - length * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        boxes.append((left, float(y) - 10.0, left + length, float(y) + 3.0))
    assert boxes
    low, high = np.array(boxes)[:, :2], np.array(boxes)[:, 2:]
    assert (low > 0.0).all() and (high < (440.0, 320.0)).all()
    for k in range(len(boxes)):
        common = np.minimum(high[k], high[:k]) - np.maximum(low[k], low[:k])
        assert not (common > 2.0).all(1).any(), f"{name}: text {k} is on another"
