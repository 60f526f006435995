"""What all tests share: a seeded generator per test, and the tests folder on the path (`zoo`, `tolerance`)."""
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def rng(request):
    """A random generator seeded by the test's own name: the same numbers in every run and any order."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.split("/")[-1].encode()))
