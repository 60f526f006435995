"""setup.py as pip and colcon execute it: silent, without NumPy and Cython, and complete."""
import sys
import zipfile

import pytest
from workshop import MODULES, ROOT, copy_tree, run, setup_py

NEITHER = "sys.modules['numpy'] = None; sys.modules['Cython'] = None"


@pytest.mark.parametrize("prelude", ["", NEITHER], ids=["all tools", "no numpy, no Cython"])
def test_prints_nothing_of_its_own(prelude):
    asked = setup_py("--name", prelude=prelude)
    assert (asked.returncode, asked.stdout, asked.stderr) == (0, "mbros\n", "")


def test_egg_info_without_numpy_and_cython(tmp_path):
    done = setup_py("egg_info", "--egg-base", str(tmp_path), prelude=NEITHER)
    assert done.returncode == 0, done.stderr
    requires = (tmp_path / "mbros.egg-info" / "requires.txt").read_text()
    assert requires.partition("\n\n")[0].splitlines() == ["numpy<3,>=1.21"]


@pytest.mark.parametrize("missing", ["Cython", "numpy"])
def test_a_build_without_its_tools_says_which(missing):
    done = setup_py("build_ext", prelude=f"sys.modules['{missing}'] = None")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"building mbros needs {missing}, not found by {sys.executable}")


def test_the_table_is_the_modules_of_the_tree():
    in_tree = {str(path.relative_to(ROOT).with_suffix("")).replace("/", ".") for package in ("mbros", "mbros_core")
               for path in (ROOT / package).rglob("*.pyx")}
    assert set(MODULES) == in_tree


def test_a_wrong_module_name_is_refused():
    done = setup_py("--name", MBROS_ONLY="double,tripple")
    assert done.returncode == 1
    assert done.stderr.startswith("MBROS_ONLY names no module of this machine: tripple. It has: double, ")


@pytest.mark.packages
def test_a_module_that_does_not_compile_fails_the_build_by_name(tmp_path):
    tree = copy_tree(tmp_path)
    for name in ("realtime/_loop", "engine/_double"):
        (tree / "mbros_core" / f"{name}.pyx").write_text("def ok():\n    return 1\n")
    (tree / "mbros_core" / "engine" / "_double.pyx").write_text("cdef int wrong = 'text'\n")
    done = setup_py("build_ext", cwd=tree, MBROS_ONLY="double,loop", MBROS_JOBS=2)
    assert done.returncode == 1
    assert "not built: mbros_core.engine._double;" in done.stderr
    assert "mbros: compiling 2 modules, 2 at a time: about 1 min\n" in done.stderr
    assert list(tree.glob("build/lib*/mbros_core/realtime/_loop*.so"))


@pytest.mark.packages
def test_a_changed_engine_is_built_again(tmp_path):
    tree = copy_tree(tmp_path)
    source, build = tree / "mbros_core" / "engine" / "_double.pyx", ("build_ext", "--build-temp", "temp", "--build-lib", "made")
    for number in (1, 2):
        source.write_text(f"number = {number}\n")
        done = setup_py(*build, cwd=tree, MBROS_ONLY="double", MBROS_JOBS=1)
        assert done.returncode == 0, done.stderr
        translated = (tree / "temp" / "mbros_core" / "engine" / "_double.cpp").read_text()
        assert f"number = {number}" in translated and "#pragma GCC optimize" in translated


def test_trial_D5_the_readme_says_what_pip_install_does_and_how_long():
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Only pip")[2].partition("\n## ")[0]
    for words in ("`pip install .` compiles the engine", "minutes", "`pip install -v .` shows", "`make wheels`", "`MBROS_JOBS=N`"):
        assert words in section


def test_a_wrong_sanitizer_is_refused():
    done = setup_py("--name", MBROS_SANITIZE="adress")
    assert done.returncode == 1 and done.stderr.startswith("MBROS_SANITIZE is 'adress'; expected one of address, thread")


PEEK = """
def peek(int[::1] numbers, int i):
    return numbers[i]
"""


@pytest.mark.packages
def test_a_debug_build_checks_bounds(tmp_path):
    tree = copy_tree(tmp_path)
    (tree / "mbros_core" / "engine" / "_double.pyx").write_text(PEEK)
    built = setup_py("build_ext", cwd=tree, MBROS_ONLY="double", MBROS_DEBUG=1)
    assert built.returncode == 0, built.stderr
    (module,) = tree.glob("build/debug/lib*/mbros_core/engine/_double*.so")
    done = run(sys.executable, "-c", "import array, _double; _double.peek(array.array('i', [1, 2]), 2)", cwd=module.parent)
    assert "IndexError: Out of bounds on buffer access" in done.stderr


def test_trial_L10_an_editable_install_is_a_folder_on_the_path(tmp_path):
    """Editors and type checkers read such a file; a finder, which setuptools makes otherwise, is code that they do not run."""
    copy_tree(tmp_path / "mbros")
    made = run(sys.executable, "-c", "from setuptools.build_meta import build_editable; build_editable('.')", cwd=tmp_path / "mbros",
               MBROS_ONLY="none")
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(next((tmp_path / "mbros").glob("*.whl"))) as wheel:
        (path,) = [name for name in wheel.namelist() if name.endswith(".pth")]
        assert wheel.read(path).decode().strip() == str(tmp_path / "mbros")
        assert not [name for name in wheel.namelist() if name.endswith(".py")]
