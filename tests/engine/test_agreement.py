"""What is said in two places, by tables of Python and of the compiled modules, cannot disagree."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import mbros_core
import pytest
from mbros_core.algorithms.registry import ROWS
from mbros_core.fields import FIELDS

CORE = Path(mbros_core.__file__).parent


def swap(text, first, second):
    """Two rows of a table in each other's place."""
    lines = text.splitlines(keepends=True)
    a, b = (next(k for k, line in enumerate(lines) if re.match(rf'    (Field|Algorithm)\("{name}"', line)) for name in (first, second))
    lines[a], lines[b] = lines[b], lines[a]
    return "".join(lines)


def without(text, name):
    return re.sub(rf'    (Field|Algorithm)\("{name}".*\n', "", text)


def again(text, name):
    return re.sub(rf'(    (?:Field|Algorithm)\(")({name})(".*\n)', r"\1\2\3\1\2_again\3", text)


@pytest.mark.parametrize("table, edit, said", [
    ("fields.py", lambda t: swap(t, "stop_stiffness", "stop_damping"),
     "entry 10 is 'stop_damping' in the one and 'stop_stiffness' in the other"),
    ("fields.py", lambda t: swap(t, "S", "X_WB"), "disagree: entry 15 is 'S'"),
    ("fields.py", lambda t: t.replace('Field("passive"', 'Field("passives"'), "entry 21 is 'passives' in the one and 'passive' in the other"),
    ("fields.py", lambda t: without(t, "u"), f"has {len(FIELDS)} entries and the struct Work of state.pxd {len(FIELDS) + 1}"),
    ("fields.py", lambda t: again(t, "stage_q"), f"has {len(FIELDS) + 2} entries and the struct Work of state.pxd {len(FIELDS) + 1}"),
    ("algorithms/registry.py", lambda t: swap(t, "bias_torques", "coriolis_torques"),
     "entry 5 is 'coriolis_torques' in the one and 'bias_torques' in the other"),
    ("algorithms/registry.py", lambda t: without(t, "step"), f"has {len(ROWS) - 1} entries and the enum of jobs.pxi {len(ROWS)}")])
def test_an_engine_whose_tables_disagree_does_not_import(tmp_path, table, edit, said):
    shutil.copytree(CORE, tmp_path / "mbros_core", copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "mbros_core" / table
    text = path.read_text(encoding="utf-8")
    path.unlink()
    path.write_text(edit(text), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != text
    done = subprocess.run([sys.executable, "-c", "import mbros_core"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode != 0
    assert f"ImportError: mbros_core/{table}" in done.stderr and said in done.stderr, done.stderr
