"""The programs in examples/ as modules: Python ones as they are, Cython ones built as their setup.py says."""
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
_kept = []              # folders that go with the process


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem.partition(".")[0], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def built(example, name):
    """The module `name` of examples/<example>, built once in a folder of its own."""
    pytest.importorskip("Cython", reason="Cython builds the example")
    _kept.append(tempfile.TemporaryDirectory(prefix=f"{example}-"))
    folder = Path(_kept[-1].name)
    for file in (f"{name}.pyx", "setup.py"):
        shutil.copy(EXAMPLES / example / file, folder)
    done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=folder, text=True, capture_output=True,
                          env={"PYTHONPATH": str(EXAMPLES.parent), "PATH": "/usr/local/bin:/usr/bin:/bin"}, timeout=600)
    assert done.returncode == 0, done.stderr
    return module_of(next(folder.glob(f"{name}.*.so")))
