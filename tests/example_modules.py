"""The programs in examples/ as modules: Python ones as they are, Cython ones built as their setup.py says."""
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem.partition(".")[0], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def built(example, name, folder):
    """The module `name` of examples/<example>, built in a folder of its own."""
    pytest.importorskip("Cython", reason="Cython builds the example")
    for file in (f"{name}.pyx", "setup.py"):
        shutil.copy(EXAMPLES / example / file, folder)
    done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=folder, text=True, capture_output=True,
                          env={"PYTHONPATH": str(EXAMPLES.parent), "PATH": "/usr/local/bin:/usr/bin:/bin"}, timeout=170)
    assert done.returncode == 0, done.stderr
    return module_of(next(folder.glob(f"{name}.*.so")))
