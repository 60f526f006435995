"""What all tests share: a seeded generator per test, the tests folder on the path (`zoo`, `tolerance`), a ROS domain for each process
that runs tests, the examples of joints as modules, the seed ids' outcomes, and where the time went."""
import gc
import os
import signal
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
TREE = ("types", "docs", "examples")        # folders whose tests look at the tree and not at the program (`make check`)


def pytest_configure(config):
    from folder_times import FolderTimes
    from seed_outcomes import SeedOutcomes
    from shared_collection import SharedCollection

    worker = int(getattr(config, "workerinput", {}).get("workerid", "gw0")[2:])
    use_own_domain(worker)
    take_signals()

    def expected():
        from capabilities import expected_ids

        return expected_ids()

    config.pluginmanager.register(SeedOutcomes(expected), "seed_outcomes")
    config.pluginmanager.register(FolderTimes(), "folder_times")
    config.pluginmanager.register(SharedCollection(worker), "shared_collection")


def take_signals():
    """What a background job (cmd &, nohup) ignores, the processes that tests start and signal would ignore as well; handlers are not
    handed down."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, lambda number, frame: None)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


def use_own_domain(worker):
    """Before anything imports rclpy: tests that run side by side (pytest -n) never meet, nor another robot. Every process inherits it."""
    given = os.environ.get("ROS_DOMAIN_ID", "")
    first = int(given) if given.isdecimal() else 1 + os.getppid() % 100
    os.environ["ROS_DOMAIN_ID"] = str(1 + (first - 1 + 23 * worker) % 101)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


def pytest_collection_modifyitems(items):
    """Files with slow tests come first, then those that a browser draws, so that processes side by side end together."""
    for item in items:
        if item.path.parent.name in TREE:
            item.add_marker("tree")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, item.path.parent.name != "view"))


def pytest_collection_finish():
    """Tests that have been collected stay: the garbage collector need not look at them again and again."""
    gc.freeze()


@pytest.fixture(scope="session")
def joint_in_python():
    """The module examples/joint_in_python.py."""
    from example_modules import EXAMPLES, module_of

    return module_of(EXAMPLES / "joint_in_python.py")


@pytest.fixture(scope="session")
def joint_in_cython():
    """The module of examples/joint_in_cython, built."""
    from example_modules import built

    return built("joint_in_cython", "cycloid")


@pytest.fixture
def rng(request):
    """A random generator seeded by the test's own name: the same numbers in every run and any order."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.split("/")[-1].encode()))
