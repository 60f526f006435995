"""What several packaging tests look at: one wheel, made once."""
import sys

import pytest
from workshop import ROOT, must


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A wheel of what `make build` has compiled, and of nothing that an older build left (as in `make wheel`)."""
    for old in ROOT.glob("build/lib*/**/*"):
        if old.is_file() and old.suffix != ".so":
            old.unlink()
    folder = tmp_path_factory.mktemp("wheel")
    must(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", folder, ROOT, timeout=600)
    (path,) = folder.glob("mbros-*.whl")
    return path
