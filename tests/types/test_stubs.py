"""What type checkers and editors are told is what there is: of the compiled modules, docstring for docstring, and of mbros/__init__.py."""
import ast
import importlib

import pytest
from checkers import ROOT, needs_mypy, stubtest
from stubs import MODULES, STUBS, all_documented

import mbros


@needs_mypy
def test_the_stubs_are_the_modules_and_another_that_is_not_is_found(tmp_path):
    (tmp_path / "canary.py").write_text("def f(a, b=1): ...\ndef g(): ...\n", encoding="utf-8")
    (tmp_path / "canary.pyi").write_text("def f(a: int, c: int = 1) -> None: ...\ndef h() -> None: ...\n", encoding="utf-8")
    code, text = stubtest(*MODULES, "canary", path=tmp_path)
    found = {line.split(" ")[0] for line in text.splitlines()}
    assert code != 0 and found == {"canary.f", "canary.g", "canary.h"}, text


def test_every_compiled_module_has_a_stub():
    packages = ("mbros", "mbros_core")
    sources = {path.relative_to(ROOT).with_suffix(".pyi") for package in packages for path in (ROOT / package).rglob("*.pyx")}
    assert sources and not [path for path in sources if not (ROOT / path).is_file()]
    assert all((ROOT / package / "py.typed").is_file() for package in packages)


def test_docstrings_of_the_stubs_are_the_modules():
    for path, (text, documented) in all_documented().items():
        assert text == documented, f"{path.name}: run python tests/types/stubs.py"


@pytest.mark.parametrize("name", STUBS)
def test_stubs_have_docstrings(name):
    assert (ROOT / name).read_text(encoding="utf-8").count('"""') >= 2


# ------------------------------------------------------------------------------------------------ mbros/__init__.pyi

def told():
    """{name: (module, name there)} of mbros/__init__.pyi, and its __all__."""
    tree = ast.parse((ROOT / "mbros" / "__init__.pyi").read_text(encoding="utf-8"))
    names = {each.asname or each.name: (node.module, each.name) for node in tree.body if isinstance(node, ast.ImportFrom)
             for each in node.names}
    return names, next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))


def test_what_mbros_has_is_what_its_stub_says():
    names, listed = told()
    assert listed == mbros.__all__ and set(listed) == {*names, "__version__"}
    for name, (module, there) in names.items():
        place = importlib.import_module(module)
        found = getattr(place, there, None) or importlib.import_module(f"{module}.{there}")
        assert getattr(mbros, name) is found, name
