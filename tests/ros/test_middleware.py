"""What our processes ask of the middleware before they begin, and what they leave to the user."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mbros.ros import middleware

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

THREADS = """
import os
from mbros.ros import middleware
middleware.init([])
import rclpy
node = rclpy.create_node("threads")
for thread in os.listdir("/proc/self/task"):
    print(open(f"/proc/self/task/{thread}/comm").read().strip())
node.destroy_node()
rclpy.shutdown()
"""


@pytest.fixture
def nothing_set(monkeypatch, tmp_path):
    """No profiles of the user's, and a working folder without any."""
    for name in middleware.NAMED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def threads(**more) -> set[str]:
    """Names of the threads of a process with one node."""
    kept = {name: value for name, value in os.environ.items() if name not in middleware.NAMED}
    path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**kept, "PYTHONPATH": path, **more}
    done = subprocess.run([sys.executable, "-c", THREADS], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def has_fast_dds(names: set[str]) -> bool:
    return any(name.startswith("dds.") for name in names)


def test_no_thread_looks_up_types(nothing_set):
    names = threads()
    if not has_fast_dds(names):
        pytest.skip("the middleware is another one")
    assert not [name for name in names if name.startswith("dds.tls")]


def test_a_profile_of_the_users_is_in_force(nothing_set, tmp_path):
    own = tmp_path / "own.xml"
    own.write_text(Path(middleware.PROFILES).read_text().replace("registration_only", "enabled"))
    names = threads(FASTDDS_DEFAULT_PROFILES_FILE=str(own))
    if not has_fast_dds(names):
        pytest.skip("the middleware is another one")
    assert {"dds.tls.request", "dds.tls.replies"} <= names


def test_the_process_reads_our_profile_where_there_is_none(nothing_set):
    middleware.without_type_look_up()
    assert os.environ["FASTDDS_DEFAULT_PROFILES_FILE"] == middleware.PROFILES
    del os.environ["FASTDDS_DEFAULT_PROFILES_FILE"]


@pytest.mark.parametrize("name", middleware.NAMED)
def test_a_name_in_the_environment_is_left(nothing_set, monkeypatch, name):
    monkeypatch.setenv(name, "/somewhere/else.xml")
    middleware.without_type_look_up()
    assert {n: os.environ.get(n) for n in middleware.NAMED} == {n: "/somewhere/else.xml" if n == name else None for n in middleware.NAMED}


@pytest.mark.parametrize("name", middleware.LYING_HERE)
def test_a_file_in_the_working_folder_is_left_to_be_found(nothing_set, tmp_path, name):
    (tmp_path / name).write_text("<profiles/>")
    middleware.without_type_look_up()
    assert not any(n in os.environ for n in middleware.NAMED)
