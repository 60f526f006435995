"""package.xml says the version, and nothing else does."""
import importlib.metadata
import re
import xml.etree.ElementTree as ElementTree

import pytest
from workshop import ROOT, must, setup_py

VERSION = ElementTree.parse(ROOT / "package.xml").findtext("version")


def test_everybody_reads_the_same_version():
    import mbros

    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert mbros.__version__ == VERSION
    assert importlib.metadata.version("mbros") == VERSION
    assert setup_py("--version").stdout.strip() == VERSION


@pytest.mark.parametrize("pattern", ["setup.py", "setup.cfg", "pyproject.toml", "Makefile", "mbros/**/*.py", "mbros_core/**/*.py"])
def test_no_other_file_holds_it(pattern):
    tracked = set(must("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines())
    files = [path for path in ROOT.glob(pattern) if str(path.relative_to(ROOT)) in tracked]
    assert files, f"no file matches {pattern}"
    saying = re.compile(rf"version\w*\W+{re.escape(VERSION)}", re.IGNORECASE)
    assert [str(path) for path in files if saying.search(path.read_text(encoding="utf-8"))] == []


def test_the_changelog_speaks_of_it():
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
