"""Python started in the source folder finds the sources first: it says what happened and what to do."""
import sys

import pytest
from workshop import copy_tree, must, run

LOAD = "import mbros; mbros.load('pendulum')"
# An editable installation, as of those who work on mbros, would find the modules in its own folder.
ALONE = "import sys; sys.meta_path = [finder for finder in sys.meta_path if 'editable' not in repr(finder)]\n"


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The files of the repository, not built."""
    return copy_tree(tmp_path_factory.mktemp("sources"))


@pytest.mark.parametrize("code", [LOAD, "import mbros_core", "import mbros; mbros.FaultError"])
def test_trial_D3_sources_that_are_not_built_say_so(sources, code):
    done = run(sys.executable, "-c", ALONE + code, cwd=sources)
    assert done.returncode == 1
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith(f"mbros_core.errors.NotBuiltError: mbros_core was found in {sources / 'mbros_core'}, where its compiled "
                           "modules are missing (_double). This is the source folder")
    assert "start Python in another folder" in said and "pip install -e ." in said


def test_trial_D3_it_is_an_import_error_of_the_family(sources):
    code = "try:\n    import mbros_core\nexcept ImportError as error:\n    print(isinstance(error, ValueError), type(error).__name__)"
    assert must(sys.executable, "-c", ALONE + code, cwd=sources) == "True NotBuiltError\n"


def test_trial_D3_builds_for_another_python_are_told(sources, tmp_path):
    other = sources / "mbros_core" / "engine" / "_double.cpython-39-x86_64-linux-gnu.so"
    other.touch()
    try:
        done = run(sys.executable, "-c", ALONE + "import mbros_core", cwd=sources)
    finally:
        other.unlink()
    assert f"they are built there for cpython-39, and this is {sys.implementation.cache_tag}" in done.stderr


def test_the_command_says_it_in_one_sentence(sources):
    done = run(sys.executable, "-c", ALONE + "from mbros.cli import main; sys.exit(main(['run', 'pendulum']))", cwd=sources)
    assert done.returncode == 2 and done.stderr.startswith("mbros: mbros_core was found in") and "Traceback" not in done.stderr

