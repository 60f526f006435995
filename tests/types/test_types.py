"""mbros for mypy and editors: clean itself, and clean as users meet it (examples, listings of README.md)."""
import re

import pytest
from checkers import CONFIG, ROOT, mypy, needs_mypy, user_mypy
from optional import needs

import mbros


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


@needs_mypy
def test_mypy_is_clean(cache):
    code, text = mypy("--config-file", CONFIG, "-p", "mbros", "-p", "mbros_core", cache=cache)
    assert code == 0, text


@needs_mypy
def test_mypy_is_clean_on_what_users_write(user_code, cache):
    good = [path for path in user_code.glob("*.py") if path.name != "mistakes.py"]
    code, text = user_mypy(user_code, *good, cache=cache)
    assert code == 0, text


@needs_mypy
def test_mypy_sees_mistakes(user_code, cache):
    code, text = user_mypy(user_code, user_code / "mistakes.py", cache=cache)
    lines = {int(line) for line in re.findall(r"mistakes.py:(\d+): error", text)}
    assert lines == {6, 7, 8, 9}, text


@needs_mypy
def test_trial_L13_poses_and_limits_have_types(user_code, cache):
    path = user_code / "asked.py"
    path.write_text("import mbros\nm = mbros.load('arm7')\ns = m.default_state()\nX = m.pose(s, 'flange')\nreveal_type(X @ X)\n"
                    "reveal_type(m.joint('joint1').limits.position.lower)\nreveal_type(X @ [1.0, 2.0, 3.0])\n")
    try:
        said = re.findall(r'Revealed type is "([^"]*)"', user_mypy(user_code, path, cache=cache)[1])
    finally:
        path.unlink()
    assert [of.partition("[")[0] for of in said] == ["mbros.spatial.vectors.Pose", "numpy.ndarray", "numpy.ndarray"], said


# -------------------------------------------------------------------------------------------------------- editors

def offered(code):
    """What an editor that asks jedi offers at the end of the code."""
    import jedi

    return {each.name for each in jedi.Script(code, project=jedi.Project(ROOT)).complete()}


@needs("jedi", "pip install jedi")
@pytest.mark.parametrize("code, names", [
    ("import mbros\nmbros.", {"load", "Model", "ModelBuilder", "Simulator", "diff", "spaces"}),
    ('import mbros\nmbros.load("arm7").', {"forward_dynamics", "mass_matrix", "pose", "jacobian", "joint", "bodies", "nq"}),
    ('import mbros\nmbros.load("arm7").default_state().', {"q", "v", "set_q", "copy", "time"}),
    ('import mbros\nmbros.load("arm7").joint("joint1").', {"set_position", "lock", "limits", "name"}),
    ('import mbros\nmbros.Simulator(mbros.load("arm7")).run(1.0).', {"time", "q", "energy", "plot"}),
])
def test_jedi_offers(code, names):
    found = offered(code)
    assert names <= found, sorted(names - found)


@needs("jedi", "pip install jedi")
@pytest.mark.parametrize("group", ["limits", "tree", 'joint("joint1").limits', 'joint("joint1").defaults', 'joint("joint1").names',
                                   'joint("joint1").topology', 'joint("joint1").mobilizer'])
def test_of_a_group_jedi_offers_what_it_has_and_nothing_else(group):
    """And none of the parts that functools.cached_property is made of."""
    found = {name for name in offered(f'import mbros\nmbros.load("arm7").{group}.') if not name.startswith("_")}
    assert found == {name for name in dir(eval(f"model.{group}", {"model": mbros.load("arm7")})) if not name.startswith("_")}
