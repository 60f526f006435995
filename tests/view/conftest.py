"""A real browser for the tests of the viewer: the machine's own Chromium, or Playwright's (benchmarks/_browser.py). Screenshots are kept,
their folder is printed at the end (MBROS_SCREENSHOTS chooses it)."""
import contextlib
import os
import sys
import tempfile
from pathlib import Path

import pytest
from optional import installed
from tabs import new_tab

from benchmarks._browser import NoBrowser, chromium as start_chromium

os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))         # no other robot is ever met
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

if not (installed("viser") and installed("trimesh")):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def pictures():
    """The folder of the screenshots."""
    folder = Path(os.environ.get("MBROS_SCREENSHOTS") or tempfile.mkdtemp(prefix="mbros-screenshots-"))
    folder.mkdir(parents=True, exist_ok=True)
    yield folder
    sys.__stdout__.write(f"\nscreenshots of the viewer: {folder}\n")


@pytest.fixture(scope="session")
def chromium():
    with contextlib.ExitStack() as stack:
        try:
            browser = stack.enter_context(start_chromium())
        except NoBrowser as error:
            pytest.skip(str(error))
        yield browser


@pytest.fixture
def tab(chromium, pictures, request):
    with new_tab(chromium, pictures, request.node.name.removeprefix("test_").replace("[", "-").strip("]")) as tab:
        yield tab
