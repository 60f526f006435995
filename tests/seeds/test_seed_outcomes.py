"""The run's last check and the table of seeds: what passed counts, and what is installed does not change what is collected."""
import os
import subprocess
import sys

import pytest
from seed_outcomes import PROGRAM
from seed_table import ROOT, shown_by

OTHERS = ("coal", "pydrake", "pinocchio", "mujoco", "pyhpp", "rclpy", "example_robot_data", "xacro")
CONFTEST = """
from seed_outcomes import SeedOutcomes
def pytest_configure(config):
    config.addinivalue_line("markers", "seed(*ids): x")
    config.pluginmanager.register(SeedOutcomes(lambda: ["A-1", "A-2", "A-3"]))
"""
TESTS = """
import pytest
@pytest.mark.seed("A-1", "A-2")
def test_one():
    pass
@pytest.mark.seed("A-2", "A-3")
@pytest.mark.{}
def test_two():
    assert {}
"""


def run(folder, mark, truth, *arguments):
    """(exit status, output) of pytest on two tests that show three ids."""
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "tests" / "test_two.py").write_text(TESTS.format(mark, truth))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout


@pytest.mark.parametrize("mark, truth, status, said", [
    ("filterwarnings", "True", 0, None),
    ("skip", "True", 0, "only skipped tests show A-3"),
    ("xfail", "False", 1, "ERROR: no passing test shows A-3"),
    ("usefixtures", "False", 1, None)])
def test_an_id_without_a_passing_test_fails_a_whole_run(tmp_path, mark, truth, status, said):
    found, out = run(tmp_path, mark, truth)
    assert found == status, out
    assert ("seed ids" in out) == (said is not None) and (said is None or said in out)


def test_a_part_of_the_tests_is_not_asked(tmp_path):
    for arguments in (["-k", "two"], ["-m", "not slow"], ["tests/test_two.py"], ["--collect-only"]):
        found, out = run(tmp_path, "xfail", "False", *arguments)
        assert found == 0 and "seed ids" not in out, out
    assert run(tmp_path, "xfail", "False", "tests")[0] == 1


def test_what_make_test_runs_is_asked_in_any_case(tmp_path):
    """It deselects by marks. The same holds of `shown`: a test so marked that carries an id would be missing in docs/seeds.md."""
    found, out = run(tmp_path, "xfail", "False", "-m", PROGRAM)
    assert found == 1 and "ERROR: no passing test shows A-3" in out, out
    assert f"\ntest: MARKS := {PROGRAM}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_table_does_not_depend_on_what_is_installed(tmp_path, shown):
    """Every library of others is hidden: the same tests carry the same ids."""
    (tmp_path / "sitecustomize.py").write_text(f"""
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OTHERS}:
            raise ImportError("No module named " + name, name=name)
sys.meta_path.insert(0, Hide())
""")
    assert shown_by(str(tmp_path)) == shown
