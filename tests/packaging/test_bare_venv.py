"""`pip install` into an empty environment, from an sdist: NumPy is all that comes with it, and it simulates. The sources have a joint kind
and a force element more, as CONTRIBUTING.md says: they are in the sdist, they compile, and they work."""
import os
import sys

import pytest
from new_kinds import FORCE, JOINT, TRY, changed
from workshop import QUICK, ROS_FILES, copy_tree, hurried, must, new_environment, run

pytestmark = [pytest.mark.packages, pytest.mark.slow]

SIMULATE = """
import mbros
model = mbros.load("double_pendulum")
sim = mbros.Simulator(model, dt=1e-3)
sim.state.q[0] = 1.0
sim.advance_to(0.5)
print(model.name, round(sim.state.time, 6), abs(sim.state.v).max() > 0)
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Prefix of a venv in which only `pip install mbros-<version>.tar.gz` was done; one engine, not optimised, to be quick."""
    folder = tmp_path_factory.mktemp("bare")
    tree = copy_tree(folder / "tree")
    changed(tree, JOINT)
    changed(tree, FORCE)
    must(sys.executable, "setup.py", "-q", "sdist", "--dist-dir", folder, cwd=tree)
    (sdist,) = folder.glob("mbros-*.tar.gz")
    venv = new_environment(folder / "venv")
    must(venv / "bin/python", "-m", "pip", "install", sdist, cwd=folder, timeout=800, MBROS_ONLY=QUICK, MBROS_DEBUG=1, **hurried(folder))
    return venv


def test_numpy_is_the_only_dependency(bare):
    listed = must(bare / "bin/python", "-m", "pip", "list", "--format=freeze").split()
    assert {line.partition("==")[0] for line in listed} - {"pip", "setuptools"} == {"mbros", "numpy"}


def test_it_simulates(bare, tmp_path):
    assert must(bare / "bin/python", "-c", SIMULATE, cwd=tmp_path) == "double_pendulum 0.5 True\n"
    shown = must(bare / "bin/mbros", "run", "pendulum", "--duration", "0.1", cwd=tmp_path)
    assert "pendulum" in shown


def test_a_new_kind_is_its_kernel_its_dispatch_its_registry_row_and_its_class(bare, tmp_path):
    assert (len(JOINT), len(FORCE)) == (4, 4)
    assert must(bare / "bin/python", "-c", TRY, cwd=tmp_path) == "polar boom.q boom.r progressive_spring\n"


def test_ros_finds_its_files_under_the_prefix(bare):
    """What `ros2 launch mbros sim.launch.py` and Node(package="mbros", executable="sim_node") look up."""
    assert [name for name in ROS_FILES if not (bare / name).is_file()] == []
    assert os.access(bare / "lib/mbros/sim_node", os.X_OK)


def test_the_node_without_ros_says_what_to_install(bare, tmp_path):
    done = run(bare / "lib/mbros/sim_node", cwd=tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "mbros[ros]" in done.stderr
