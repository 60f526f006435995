"""What several packaging tests look at: one wheel, made once."""
import sys

import pytest
from workshop import ROOT, must


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A wheel of what `make build` has compiled."""
    folder = tmp_path_factory.mktemp("wheel")
    must(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", folder, ROOT, timeout=600)
    (path,) = folder.glob("mbros-*.whl")
    return path
