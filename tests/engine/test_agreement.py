"""What is said in two places cannot disagree: tables of Python and of the compiled modules; the words of a check stand in one."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import mbros
import mbros_core
import numpy as np
import pytest
from mbros.simulate.simulator import make_plant
from mbros_core.algorithms.registry import ROWS
from mbros_core.engine.fields import FIELDS
from mbros_core.realtime import Loop

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
    ("engine/fields.py", lambda t: swap(t, "stop_stiffness", "stop_damping"),
     "entry 20 is 'stop_damping' in the one and 'stop_stiffness' in the other"),
    ("engine/fields.py", lambda t: swap(t, "S", "X_WB"), "disagree: entry 27 is 'S'"),
    ("engine/fields.py", lambda t: t.replace('Field("passive"', 'Field("passives"'),
     "entry 33 is 'passives' in the one and 'passive' in the other"),
    ("engine/fields.py", lambda t: without(t, "u"), f"has {len(FIELDS) + 1} entries and the struct Work of state.pxd {len(FIELDS) + 2}"),
    ("engine/fields.py", lambda t: again(t, "stage_q"),
     f"has {len(FIELDS) + 3} entries and the struct Work of state.pxd {len(FIELDS) + 2}"),
    ("algorithms/registry.py", lambda t: swap(t, "bias_torques", "coriolis_torques"),
     "entry 6 is 'coriolis_torques' in the one and 'bias_torques' in the other"),
    ("joints/registry.py", lambda t: t.replace('"revolute", 1', '"prismatic", 1').replace('"prismatic", 2', '"revolute", 2'),
     "and the enum of joints/dispatch.pxd disagree: entry 1 is 'prismatic' in the one and 'revolute' in the other"),
    ("joints/registry.py", lambda t: t.replace('"screw", 7', '"screw", 8'), "the numbers of its rows are not 0, 1, 2, ... in this order"),
    ("forces/registry.py", lambda t: t.replace('"joint_spring", 3', '"torsion_spring", 3'),
     "and the enum of forces/dispatch.pxd disagree: entry 3 is 'torsion_spring' in the one and 'joint_spring' in the other"),
    ("forces/registry.py", lambda t: t.replace('"body_wrench", 6', '"body_gravity", 6').replace('"body_gravity", 7', '"body_wrench", 7'),
     "disagree: entry 6 is 'body_gravity' in the one and 'body_wrench' in the other"),
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


@pytest.mark.parametrize("words", ["expected a writable C-contiguous", "a whole number, {", "expected a step above 0",
                                   "expected 1 or more steps"])
def test_the_words_of_a_check_stand_once(words):
    """The engine, the real-time loop and the library ask in one place."""
    root = CORE.parent
    found = [path.relative_to(root).as_posix() for package in ("mbros_core", "mbros") for suffix in ("py", "pyx", "pxi", "pxd")
             for path in (root / package).rglob(f"*.{suffix}") if words in path.read_text(encoding="utf-8")]
    assert found == ["mbros_core/support/given.py"]


def test_engine_loop_and_library_refuse_in_the_same_words():
    model = mbros.load("arm7")
    plant = make_plant(model)
    for refused, whole in ((lambda: Loop(plant, priority=100), "Loop: priority: expected a whole number, 1 to 99, got 100"),
                           (lambda: Loop(plant, cpu=True), "Loop: cpu: expected a whole number, 0 to 1023, got True"),
                           (lambda: plant.model.batch(model.default_state().q, np.zeros((2, 7))).jacobian("flange", out=np.zeros(3)),
                            "expected a writable C-contiguous float64 array of shape (2, 6, 7), got float64 (3,)"),
                           (lambda: Loop(plant, watchdog_action="damp", damp_gain=[1, 2]),
                            "Loop: damp_gain: expected 7 numbers, got shape (2,)"),
                           (lambda: model.default_state().set_v([1, 2]), "v: expected 7 numbers, got shape (2,)"),
                           (lambda: Loop(plant, damp_gain=[-1.0] * 7, watchdog_action="damp"),
                            "Loop: damp_gain[0] is -1; expected a finite number, zero or more"),
                           (lambda: setattr(model.default_state(), "damping", [-1.0] * 7),
                            "state of model 'arm7': damping[0] is -1; expected a finite number, zero or more"),
                           (lambda: Loop(plant, overrun="skipped"), "Loop: overrun is 'skipped'; expected 'skip', 'stop' or 'stretch'"),
                           (lambda: mbros.Simulator(model, integrator="rk5"),
                            "integrator is 'rk5'; expected 'midpoint', 'semi_implicit_euler', 'rk4' or 'dormand_prince'"),
                           (lambda: mbros_core.Plant(model, dt=20.0), "Plant: dt is 20; expected a step above 0 and up to 10 s"),
                           (lambda: mbros.Simulator(model, dt=20.0), "dt is 20; expected a step above 0 and up to 10 s")):
        with pytest.raises(mbros.MbrosError) as caught:
            refused()
        assert str(caught.value).endswith(whole), caught.value
