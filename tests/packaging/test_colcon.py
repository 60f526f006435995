"""`colcon build` for real, from a clean tree, then again with --symlink-install.

One module is translated and compiled, and once: the second build finds it in colcon's build folder, as both find the others, which are
those of `make build`. (That all of them compile from a clean tree: test_bare_venv.)
"""
import os
import sys
from pathlib import Path

import pytest
from workshop import QUICK, ROS_FILES, copy_built, copy_tree, must

pytestmark = [pytest.mark.packages, pytest.mark.slow]

SIMULATE = "import mbros; sim = mbros.Simulator(mbros.load('arm6'), dt=1e-3); sim.advance_to(0.1); print(mbros.__file__, mbros.__version__)"


def colcon(workspace, *words):
    """`colcon build` in the workspace, by the Python that runs the tests, as in an activated venv."""
    tool = Path(sys.executable).with_name("colcon")
    return must(tool, "build", "--packages-select", "mbros", "--event-handlers", "console_direct+", *words, cwd=workspace, timeout=800,
                MBROS_ONLY=QUICK, PATH=f"{tool.parent}:{os.environ['PATH']}", COLCON_HOME=workspace / "home",
                COLCON_LOG_LEVEL="error", COLCON_DEFAULTS_FILE=workspace / "none.yaml")


def sourced(workspace, command):
    """Run a shell command after `. install/setup.bash`, outside the workspace."""
    script = f". {workspace}/install/setup.bash && cd / && {command}"
    return must("bash", "-c", script, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}").strip()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    copy_tree(folder / "src" / "mbros")
    copy_built(folder / "build" / "mbros" / "build", *(name for name in QUICK.split(",") if name != "jitter"))
    return folder


@pytest.fixture(scope="module")
def built(workspace):
    before = sorted(workspace.glob("src/**/*"))
    colcon(workspace)
    assert sorted(workspace.glob("src/**/*")) == before, "the build left files in the source tree"
    return workspace / "install" / "mbros"


@pytest.fixture(scope="module")
def linked(workspace, built):
    colcon(workspace, "--symlink-install")
    return workspace / "install" / "mbros"


def check_layout(prefix):
    """What ros2 run, ros2 launch and ros2 pkg look up."""
    assert [name for name in ROS_FILES if not (prefix / name).is_file()] == []
    for command in ("sim_node", "mbros"):
        assert os.access(prefix / "lib/mbros" / command, os.X_OK)


def test_install_space(built):
    check_layout(built)
    assert [path.name for path in built.parents[1].glob("build/mbros/build/temp*/**/*.o")] == ["_jitter.o"], "compiled here"
    assert len(list(built.glob("lib/python*/site-packages/mbros_core/engine/_double*.so"))) == 1


def test_trial_R10_the_messages_are_a_package_beside_it(workspace, built):
    """Found by ament (ros2 interface show), and imported from there; a second build leaves it alone."""
    pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
    index = built / "share/ament_index/resource_index"
    assert (index / "packages/mbros_msgs").is_file() and "msg/Contacts.msg" in (index / "rosidl_interfaces/mbros_msgs").read_text().split()
    assert (built / "share/mbros_msgs/srv/Step.srv").is_file() and (built / "share/mbros_msgs/package.xml").is_file()
    use = ("import rclpy, mbros_msgs; from mbros_msgs.msg import Contacts; Contacts.__class__.__import_type_support__(); "
           "print(mbros_msgs.__path__[0])")
    assert Path(sourced(workspace, f"python3 -c '{use}'").splitlines()[-1]).is_relative_to(built)


def test_it_runs_after_sourcing(workspace, built):
    file, version = sourced(workspace, f"python3 -c \"{SIMULATE}\"").split()
    assert Path(file).is_relative_to(built)
    assert version in (built / "share/mbros/package.xml").read_text()
    assert sourced(workspace, "echo $AMENT_PREFIX_PATH").split(":")[0] == str(built)


def test_its_commands_answer(workspace, built):
    for command in ("sim_node", "mbros"):
        assert sourced(workspace, f"{built}/lib/mbros/{command} --help").lower().startswith("usage: ")


def test_symlink_install(workspace, linked):
    check_layout(linked)
    source = workspace / "src" / "mbros"
    assert (linked / "share/mbros/launch/sim.launch.py").resolve() == source / "launch/sim.launch.py"
    file, _ = sourced(workspace, f"python3 -c \"{SIMULATE}\"").split()
    assert Path(file).resolve() == source / "mbros/__init__.py"
    assert sourced(workspace, f"{linked}/lib/mbros/sim_node --help").lower().startswith("usage: ")
