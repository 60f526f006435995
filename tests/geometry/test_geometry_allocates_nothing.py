"""Contact points and the broad phase in a process whose malloc counts."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import ctypes
import numpy as np
from geometry_rigs import SOLIDS, poses, shape
from mbros_core import geometry
from mbros_core.geometry._geometry import nanoseconds

calls = ctypes.CDLL(None).thread_allocations
calls.restype = ctypes.c_int64
rng = np.random.default_rng(0)
shapes = [geometry.half_space(), geometry.height_field(rng.normal(size=(9, 9)) * 0.1, (4.0, 4.0)), *[shape(kind, rng) for kind in SOLIDS]]
A, B = poses(rng, 50, 0.3), poses(rng, 50, 0.3)


def count(a, b, rounds):
    before = calls()
    _, points = nanoseconds(a, A, b, B, 0.1, rounds)
    return calls() - before, points


for k, a in enumerate(shapes):
    for b in shapes[max(2, k):]:
        count(a, b, 1)
        (few, points), (many, _) = count(a, b, 1), count(a, b, 20)
        print(a.kind, b.kind, few, many, points)
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_thousand_contacts_allocate_what_one_call_does(tmp_path):
    shim = tmp_path / "allocations.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", shim, ROOT / "tests" / "realtime" / "allocations.c"], check=True)
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": path},
                          capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len(rows) == 5 + 5 + 15 and all(float(points) > 0.1 for *_, points in rows)
    # what the call itself takes for its arrays and its answer may differ by a few; 950 pairs by more than that
    assert all(int(few) > 0 and abs(int(many) - int(few)) < 20 for _, _, few, many, _ in rows), rows
