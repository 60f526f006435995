"""What several packaging tests look at: one wheel, made once, also where several processes share the tests."""
import fcntl
import os
import sys

import pytest
from workshop import ROOT, must


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A wheel of what `make build` has compiled, and of nothing that an older build left (as in `make wheel`)."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "wheel"
    with (shared / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)                # all of them pack the one build folder
        if not folder.exists():
            for old in ROOT.glob("build/lib*/**/*"):
                if old.is_file() and old.suffix != ".so":
                    old.unlink()
            must(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", folder, ROOT, timeout=600,
                 MBROS_CPUS="all")
    (path,) = folder.glob("mbros-*.whl")
    return path
