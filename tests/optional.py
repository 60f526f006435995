"""Tests that need a package which not everybody has: the marks that skip them, and how many cases they compare.

Such a test is collected all the same: the table of seeds counts what is collected, and must be the same everywhere.
"""
import importlib.util
import os

import pytest

CASES = int(os.environ.get("MBROS_PEER_CASES", "1000"))      # fresh random cases of each comparison with a live library


def needs(package: str, why: str):
    """The mark that skips a test, or with `pytestmark` a module, where `package` is not installed."""
    return pytest.mark.skipif(not installed(package), reason=f"needs {package}: {why}")


def installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False
