"""The run under the sanitizers: what it copies, and that a report is its end whatever the exit code."""
import subprocess
import sys

import pytest

from tests.sanitize import __main__ as sanitize


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """An empty tree, and commands in it without a sanitizer."""
    monkeypatch.setattr(sanitize, "environment", lambda kind, tree: None)
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def test_the_copy_follows_the_sources(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(sanitize, "ROOT", tmp_path / "sources")
    (tmp_path / "sources" / "tests").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path / "sources", check=True)
    old, new = tmp_path / "sources" / "tests" / "old.py", tmp_path / "sources" / "tests" / "new.py"
    old.write_text("1")
    sanitize.copy_sources(tree)
    (tree / "made_here.so").write_text("stays")
    assert (tree / "tests" / "old.py").read_text() == "1" and (tree / "tests" / "old.py").stat().st_mtime == old.stat().st_mtime
    old.rename(new)
    sanitize.copy_sources(tree)
    assert not (tree / "tests" / "old.py").exists() and (tree / "tests" / "new.py").read_text() == "1" and (tree / "made_here.so").exists()


@pytest.mark.parametrize("program, good",
                         [("pass", True), ("raise SystemExit(3)", False), ("open('report.77', 'w').write('a report')", False)])
def test_a_report_is_the_end(program, good, tree, capsys):
    assert sanitize.run("address", tree, [sys.executable, "-c", program]) is good
    assert ("a report" in capsys.readouterr().out.splitlines()) is ("report" in program)


def test_memory_that_there_is_not_is_no_fault(tree):
    warning = "==7==WARNING: AddressSanitizer failed to allocate 0x2000000000000000 bytes"
    (tree / "report.7").write_text(f"{warning}\n")
    (tree / "report.8").write_text(f"{warning}\n==8==ERROR: AddressSanitizer: heap-use-after-free\n")
    assert sanitize.reports(tree) == [tree / "report.8"]


def test_every_test_that_is_named_is_there():
    named = [word for tables in (sanitize.TESTS, sanitize.QUICK_TESTS) for rows in tables.values() for row in rows for word in row]
    for word in named + [word for rows in sanitize.NOT_HERE.values() for word in rows]:
        path, _, test = word.partition("::")
        if word.startswith("tests/"):
            assert (sanitize.ROOT / path).exists(), word
            assert not test or f"def {test}(" in (sanitize.ROOT / path).read_text(), word
