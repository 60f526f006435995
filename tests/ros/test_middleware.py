"""What our processes ask of the middleware before they begin, and what they leave to the user."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mbros
from mbros.ros.process import middleware

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

THREADS = """
import os
from mbros.ros.process import middleware
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
    for name in (*middleware.NAMED, middleware.SKIP):
        monkeypatch.setenv(name, "")                    # so that what is set meanwhile is put back
        monkeypatch.delenv(name)
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


LOG_TO = """<?xml version="1.0"?><dds xmlns="http://www.eprosima.com"><log><use_default>FALSE</use_default><consumer>
<class>FileConsumer</class><property><name>filename</name><value>{}</value></property></consumer></log></dds>"""


@pytest.mark.skipif(os.geteuid() != 0, reason="plays another user: needs root")
@pytest.mark.parametrize("name", middleware.LYING_HERE)
def test_a_file_that_another_user_put_there_is_not_read(nothing_set, tmp_path, name):
    """It would empty any file of this user, as the log."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / name).write_text(LOG_TO.format(precious))
    os.chown(tmp_path / name, 65534, 65534)
    assert threads() and precious.read_text() == "precious"
    with pytest.warns(mbros.MbrosWarning, match=f"^{name} in the working folder belongs to user 65534, and is not read"):
        middleware.without_type_look_up()
    assert os.environ["FASTDDS_DEFAULT_PROFILES_FILE"] == middleware.PROFILES and os.environ[middleware.SKIP] == "1"


def test_a_full_dev_shm_is_said_in_a_sentence(monkeypatch):
    """LTTng, which rclpy loads, ends the process there by SIGBUS."""
    from mbros.ros import RosNotFound, require_rclpy
    there = os.statvfs("/")
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((*there[:2], 512, 1, 1, *there[5:])))
    with pytest.raises(RosNotFound, match="cannot start: /dev/shm is full; remove what nobody uses there"):
        require_rclpy()
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((*there[:2], 0, 0, 0, *there[5:])))      # without a bound
    require_rclpy()
