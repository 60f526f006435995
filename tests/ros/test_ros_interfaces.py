"""tf2_msgs where there is none: generated, importable, and the real type."""
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytest.importorskip("rosidl_generator_py", reason="needs the rosidl generators that rclpy's wheels bring")
pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parents[2]
# ros2.md: what the real tf2_msgs/TFMessage has
TYPE_HASH = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"

# In an environment whose only tf2_msgs is the one that `ensure` makes in the folder given.
ENSURE = """
import pathlib, sys
import mbros.ros.interfaces as interfaces
target = pathlib.Path(sys.argv[1])
interfaces.location = lambda package: target
sys.path[:] = [str(target), *sys.path]              # before a tf2_msgs that may be installed
if not (target / "tf2_msgs").exists():
    interfaces._generate("tf2_msgs", target)
said = []
module = interfaces.ensure("tf2_msgs", said.append)
print(module.__path__[0], len(said))
from tf2_msgs.msg import TFMessage
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
m = TFMessage(transforms=[TransformStamped(child_frame_id="tool"), TransformStamped()])
assert deserialize_message(serialize_message(m), TFMessage) == m
"""


def test_a_package_is_generated_and_then_found(tmp_path):
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", ENSURE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600, umask=0)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [str(tmp_path / "tf2_msgs"), "0"]
        assert [p.name for p in tmp_path.iterdir()] == ["tf2_msgs"]      # nothing else is left behind
        made = [path for path in tmp_path.rglob("*") if path.name != "__pycache__"]         # that is Python's
        assert not [path for path in made if path.stat().st_mode & 0o022]                   # whatever the umask is


def test_the_first_time_is_announced_the_second_is_silent(tmp_path, monkeypatch):
    """The order of things in `ensure`, with the generator replaced by one that makes an empty package."""
    import mbros.ros.interfaces as interfaces

    def make(package, target, check):
        (target / package / "msg").mkdir(parents=True)
        for folder in (target / package, target / package / "msg"):
            (folder / "__init__.py").touch()

    monkeypatch.setattr(interfaces, "_generate", make)
    monkeypatch.setattr(interfaces, "location", lambda package: tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    said = []
    first = interfaces.ensure("mbros_test_msgs", said.append)
    assert interfaces.ensure("mbros_test_msgs", said.append) is first
    assert len(said) == 1 and "generating the message package 'mbros_test_msgs'" in said[0]
    del sys.modules["mbros_test_msgs.msg"], sys.modules["mbros_test_msgs"]


def test_the_definitions_of_simulation_interfaces_are_those_of_version_2_1():
    """Every name, type, default and number. The digest is of the standard's own files, without comments and runs of blanks."""
    from mbros.ros.interfaces import DEFINITIONS
    found = {name: [line for line in text.splitlines() if not line.startswith("#")]
             for name, text in DEFINITIONS["simulation_interfaces"].items()}
    assert [sum(name.startswith(kind) for name in found) for kind in ("action", "msg", "srv")] == [1, 15, 22]
    assert hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:16] == "4f3a1b99588844db"


def test_without_a_folder_to_write_to_it_says_so(monkeypatch):
    import mbros.ros.interfaces as interfaces
    monkeypatch.setattr(interfaces, "location", lambda package: None)
    with pytest.raises(interfaces.InterfaceError, match="nowhere to write it"):
        interfaces.ensure("mbros_test_msgs")


def test_trial_X7_messages_are_not_imported_from_a_folder_to_which_others_can_write(tmp_path, monkeypatch):
    import mbros.ros.interfaces as interfaces
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)                 # no virtual environment: the cache folder
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = interfaces.location("mbros_test_msgs")
    assert tmp_path in folder.parents and folder.stat().st_mode & 0o777 == 0o700
    (folder / "mbros_test_msgs").mkdir()
    (folder / "mbros_test_msgs" / "__init__.py").write_text("raise SystemExit('foreign code is run')")
    folder.chmod(0o1777)                                                # as /tmp: others can add a package
    assert interfaces.location("mbros_test_msgs") is None and interfaces.find("mbros_test_msgs") is None
    folder.chmod(0o700)
    tmp_path.chmod(0o777)
    assert interfaces.location("mbros_test_msgs") is None and interfaces.find("mbros_test_msgs") is None
    with pytest.raises(interfaces.InterfaceError, match="nowhere to write it.*writable for you and for nobody else"):
        interfaces.ensure("mbros_test_msgs")


def test_a_folder_that_is_gone_is_said_in_a_sentence(tmp_path, monkeypatch):
    import mbros.ros.interfaces as interfaces
    monkeypatch.setattr(interfaces, "location", lambda package: tmp_path / "gone")
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(interfaces.InterfaceError, match="'mbros_test_msgs' could not be generated into .*gone: .*No such file"):
        interfaces.ensure("mbros_test_msgs")


def test_what_to_do_for_our_own_package_is_to_build_it(monkeypatch):
    """No distribution of ROS has it."""
    import mbros.ros.interfaces as interfaces
    monkeypatch.setattr(interfaces, "location", lambda package: None)
    monkeypatch.setattr(interfaces, "_import", lambda package: None)
    with pytest.raises(interfaces.InterfaceError, match="with ROS sourced build it with colcon"):
        interfaces.ensure("mbros_msgs")


def test_it_has_the_type_of_ros(executor):
    import rclpy
    from tf2_msgs.msg import TFMessage
    node = rclpy.create_node("types")
    publisher = node.create_publisher(TFMessage, "/typed", 1)
    [info] = node.get_publishers_info_by_topic("/typed")
    assert info.topic_type == "tf2_msgs/msg/TFMessage"
    value = getattr(info.topic_type_hash, "value", None) or info.topic_type_hash
    text = value if isinstance(value, str) else "RIHS01_" + bytes(value).hex()
    assert text == TYPE_HASH
    node.destroy_publisher(publisher)
    node.destroy_node()


def test_a_missing_compiler_is_said_in_a_sentence(tmp_path):
    code = ("import pathlib, sys, mbros.ros.interfaces as i\n"
            "try: i._generate('tf2_msgs', pathlib.Path(sys.argv[1]))\n"
            "except i.InterfaceError as e: print(e)\n")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600,
                          env=os.environ | {"CC": "no-such-compiler", "CXX": "no-such-compiler"})
    assert "no compiler 'no-such-compiler' found" in done.stdout and "Traceback" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_ros_it_says_what_to_do():
    code = ("import sys; sys.modules['rclpy'] = None\n"
            "from mbros.ros.process.main import main; sys.exit(main([]))\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 1 and "pip install \"mbros[ros]\"" in done.stderr and "Traceback" not in done.stderr


PREFIX = """
import sys
from pathlib import Path
real, sys.prefix = sys.prefix, "/nowhere"
from mbros.ros.interfaces import definitions, generate
assert definitions.prefixes() == [Path(real)]                 # from AMENT_PREFIX_PATH alone
assert definitions.why_not() == "", definitions.why_not()
made = generate.make("tf2_msgs", Path(sys.argv[1]) / "scratch", Path(sys.argv[1]) / "target")
print(sorted(path.suffix for path in made.glob("lib*")))
"""


def test_trial_R10_ros_may_lie_under_any_prefix(tmp_path):
    (tmp_path / "scratch").mkdir()
    done = subprocess.run([sys.executable, "-c", PREFIX, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600,
                          env=os.environ | {"AMENT_PREFIX_PATH": sys.prefix})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['.so', '.so']"


def test_trial_R10_what_is_missing_is_said_whole_and_with_its_remedy(monkeypatch, tmp_path):
    from mbros.ros.interfaces import definitions
    assert definitions.why_not() == ""
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert definitions.why_not() == "compiler 'no-such-compiler' missing: apt install g++"
    monkeypatch.setattr(definitions, "prefixes", lambda: [tmp_path])
    monkeypatch.setattr(definitions, "RUNTIME", ("rcutils",))
    monkeypatch.setattr(definitions, "DEPENDENCIES", ("std_msgs", "nav_msgs"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setenv("ROS_DISTRO", "kilted")
    assert definitions.why_not() == ("package std_msgs, package nav_msgs, library rcutils, compiler 'no-such-compiler' missing: "
                                     "apt install g++ ros-kilted-nav-msgs ros-kilted-rcutils ros-kilted-std-msgs")
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    assert definitions.why_not().endswith("apt install g++; pip install ros-nav-msgs ros-rcutils ros-std-msgs")


def test_trial_R10_a_failure_is_not_tried_again_at_each_start(monkeypatch, tmp_path):
    import mbros.ros.interfaces as interfaces
    asked, said = [], []

    def fails(package, log=None, check=None):
        asked.append(package)
        if package == "mbros_msgs":
            raise interfaces.InterfaceError("it could not be")

    monkeypatch.setattr(interfaces, "location", lambda package: tmp_path)
    monkeypatch.setattr(interfaces, "find", lambda package: None)
    monkeypatch.setattr(interfaces, "ensure", fails)
    for _ in range(3):
        interfaces.prepare(said.append)
    assert asked.count("mbros_msgs") == 1 and said == ["it could not be"]
    monkeypatch.setattr(interfaces, "why_not", lambda: "something else")
    interfaces.prepare(said.append)
    assert asked.count("mbros_msgs") == 2


def test_trial_Y9_compilers_at_a_time_are_those_of_setup_py(monkeypatch):
    from mbros.ros.interfaces import generate
    monkeypatch.delenv("MBROS_JOBS", raising=False)
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert generate.jobs() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    monkeypatch.setenv("MBROS_JOBS", "3")
    assert generate.jobs() == 3


def test_trial_Y9_how_long_a_package_takes_is_said_by_its_size():
    import mbros.ros.interfaces as interfaces
    said = [interfaces._takes(package) for package in ("tf2_msgs", "mbros_msgs", "simulation_interfaces")]
    assert said == ["a few seconds", "half a minute", "a minute"]


ONCE = """
import sys
from collections import Counter
from pathlib import Path
from rosidl_parser import parser
count, parse = Counter(), parser.parse_idl_string

def counted(text, png_file=None):
    count[text] += 1
    return parse(text, png_file=png_file)

parser.parse_idl_string = counted
from mbros.ros.interfaces import generate
out = generate.generate("tf2_msgs", Path(sys.argv[1]))
units = {path.name for path in generate.units(out) if path.parent == out}
print(sorted(count.values()), sorted(units), file=sys.stderr)
"""


def test_a_definition_is_parsed_once_and_a_generator_is_one_unit(tmp_path):
    done = subprocess.run([sys.executable, "-c", ONCE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600,
                          env=os.environ | {"AMENT_PREFIX_PATH": sys.prefix})
    assert done.stderr.splitlines()[-1] == ("[1] ['GenerateC.c', 'GenerateCTypesupport.cpp', 'GenerateFastRTPSCTypesupport.cpp', "
                                            "'GenerateIntrospectionCTypesupport.c', 'GeneratePython.c']"), done.stderr


KEPT = """
import os, pathlib, sys
import mbros.ros.interfaces as interfaces
interfaces._kept_as = lambda package, target: f"{package}-of-this-test.zip"
first, second = (pathlib.Path(sys.argv[1], name) for name in ("first", "second"))
for folder in (first, second):
    folder.mkdir()
    interfaces._generate("tf2_msgs", folder)
    os.environ["CC"] = os.environ["CXX"] = "no-such-compiler"           # the second is not compiled
    print(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in (".so", ".py")))
    print([path for path in folder.rglob("*") if path.stat().st_mode & 0o022])
"""


def test_a_package_that_was_made_before_is_taken(tmp_path):
    done = subprocess.run([sys.executable, "-c", KEPT, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=600, umask=0,
                          env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    first, none, second, none_either = done.stdout.splitlines()
    assert first == second and first.count(".so") == 3 and none == none_either == "[]"


def test_what_a_package_is_kept_by(monkeypatch, tmp_path):
    """Of wheels alone, below the prefix; another compiler, definition or wheel is another name."""
    import importlib.metadata
    from types import SimpleNamespace

    import mbros.ros.interfaces as interfaces
    site = Path(sys.prefix) / "lib"
    monkeypatch.delenv("MBROS_BUILD_CACHE", raising=False)
    monkeypatch.setattr(interfaces, "prefixes", lambda: [Path(sys.prefix)])
    names = [interfaces._kept_as("tf2_msgs", site), interfaces._kept_as("mbros_msgs", site)]
    monkeypatch.setenv("CXX", sys.executable)
    names.append(interfaces._kept_as("tf2_msgs", site))
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: [SimpleNamespace(name="ros-rclpy", version="1")])
    names.append(interfaces._kept_as("tf2_msgs", site))
    assert len(set(names)) == 4 and all(name.endswith(".zip") for name in names)
    assert interfaces._kept_as("tf2_msgs", tmp_path) == ""
    monkeypatch.setattr(interfaces, "prefixes", lambda: [tmp_path, Path(sys.prefix)])       # a ROS is sourced
    assert interfaces._kept_as("tf2_msgs", site) == ""


def test_a_node_whose_services_nobody_calls_waits_for_no_messages(monkeypatch):
    import mbros.ros.interfaces as interfaces
    asked = []
    monkeypatch.setattr(interfaces, "ensure", lambda package, log=None, check=None: asked.append(package))
    monkeypatch.setattr(interfaces, "find", lambda package: None)
    monkeypatch.setenv("MBROS_GENERATE", "0")
    interfaces.prepare()
    assert asked == ["tf2_msgs"]
