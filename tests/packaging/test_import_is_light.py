"""`import mbros` brings NumPy and nothing else that has to be installed. (How long it takes: benchmarks/imports.py.)"""
import sys

import pytest
from workshop import must

LIST = "import sys; before = set(sys.modules); import {}; print(*sorted({{name.partition('.')[0] for name in set(sys.modules) - before}}))"


@pytest.mark.parametrize("module", ["mbros", "mbros_core", "mbros.cli"])
def test_import_brings_only_numpy(module):
    brought = must(sys.executable, "-c", LIST.format(module)).split()
    foreign = {name for name in brought if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert foreign - {"cython_runtime"} <= {"mbros", "mbros_core", "numpy"}     # cython_runtime: every Cython module makes one
    assert module.partition(".")[0] in brought


def test_import_leaves_the_slow_parts_of_the_standard_library_alone():
    brought = must(sys.executable, "-X", "importtime", "-c", "import sys, mbros; print(*sys.modules)").split()
    assert not {"importlib.metadata", "xml.etree.ElementTree", "rclpy", "xacro", "asyncio", "matplotlib"}.intersection(brought)


def test_a_robot_is_loaded_without_masked_arrays():
    """NumPy imports them for whoever first says np.ma, and that takes several milliseconds."""
    program = "import sys, numpy; before = set(sys.modules); import mbros; mbros.load('arm7'); print(*set(sys.modules) - before)"
    brought = must(sys.executable, "-c", program).split()
    assert "mbros.model.model" in brought and not [name for name in brought if name.startswith("numpy.ma")]


def test_a_robot_is_simulated_without_the_textbook():
    """reference is the largest part that only tests, derivatives of joints and readers want."""
    program = "import sys, mbros; mbros.Simulator(mbros.load('arm7')).run(0.01); print(*sys.modules)"
    brought = must(sys.executable, "-c", program).split()
    assert "mbros.model.model" in brought and not [name for name in brought if name.startswith("reference")]
