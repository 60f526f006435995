"""What CONTRIBUTING.md and SECURITY.md name is there: files, links, chores of make, modules of MBROS_ONLY."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("mbros", "mbros_core", "tests", "docs", "scripts", "launch", "benchmarks", "examples")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md"])
def test_files_that_are_named_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(([^):]+)\)", text))
    named |= {word for word in re.findall(r"`([\w./]+)`", text) if "/" in word and word.split("/")[0] in FOLDERS}
    missing = sorted(name for name in named if not (ROOT / name).exists())
    assert named and not missing, missing


def test_chores_and_modules_that_are_named_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    chores = set(re.findall(r"`make (\w+)", text)) | set(re.findall(r"`(\w+)`", text.split("other targets:")[1].split(".")[0]))
    assert chores <= targets, chores - targets
    modules = re.search(r"MBROS_ONLY=([\w,]+)", text)[1].split(",")
    known = re.findall(r'^    \("[\w.]+\._(\w+)"', (ROOT / "setup.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(modules) <= set(known)
