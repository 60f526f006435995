"""Collects which tests carry which `seed` marker, and writes docs/seeds.md:  python tests/seeds/seed_table.py"""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "seeds.md"


def ids_of(items) -> dict[str, list[str]]:
    """id -> the tests that carry its marker, of what pytest has collected."""
    marks: dict[str, list[str]] = {}
    for item in items:
        for mark in item.iter_markers("seed"):
            for ident in mark.args:
                marks.setdefault(ident, []).append(item.nodeid.split("[")[0].removeprefix("tests/"))
    return {ident: sorted(set(tests)) for ident, tests in marks.items()}


class Said:
    """A pytest plugin: what was collected has these ids."""

    def pytest_collection_finish(self, session):
        print("SEEDS " + json.dumps(ids_of(session.items)))


def shown_by(pythonpath=None) -> dict[str, list[str]]:
    """ids_of pytest's own collection in a process of its own, of the files that know the word."""
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob("test_*.py"))
             if re.search(r"\bseed\b", path.read_text(encoding="utf-8"))]
    code = f"import sys, pytest; sys.path.append({str(Path(__file__).parent)!r}); import seed_table\n" \
           f"sys.exit(pytest.main(['--collect-only', '-q', *{files!r}], plugins=[seed_table.Said()]))"
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    if pythonpath is not None:
        environment["PYTHONPATH"] = pythonpath
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    for line in done.stdout.splitlines():
        if line.startswith("SEEDS "):
            return json.loads(line[6:])
    raise RuntimeError(f"pytest collected nothing:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    from capabilities import markdown

    PAGE.write_text(markdown(shown_by()), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
