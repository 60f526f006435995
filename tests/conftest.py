"""What all tests share: a seeded generator per test, the tests folder on the path (`zoo`, `tolerance`), and the seed ids' outcomes."""
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config):
    from seed_outcomes import SeedOutcomes

    def expected():
        from capabilities import expected_ids

        return expected_ids()

    config.pluginmanager.register(SeedOutcomes(expected), "seed_outcomes")


@pytest.fixture
def rng(request):
    """A random generator seeded by the test's own name: the same numbers in every run and any order."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.split("/")[-1].encode()))
