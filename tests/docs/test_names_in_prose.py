"""Names in comments, docstrings and pages lead somewhere: modules, attributes, files, functions of the engine's contracts."""
import ast
import importlib
import inspect
import io
import re
import tokenize
from functools import cache

import pytest
from tables import ROOT, pages

import mbros
import mbros_core

SOURCES = sorted(path for folder in ("mbros", "mbros_core", "examples", "benchmarks", "launch") for path in (ROOT / folder).rglob("*")
                 if path.suffix in (".py", ".pyx", ".pxi", ".pxd", ".hpp"))
DOTTED = re.compile(r"(?<![\w./~@-])(mbros(?:_core)?(?:\.[A-Za-z_]\w*)+)(?![\w/])")
METHOD = re.compile(r"(?<![\w.])([A-Z][A-Za-z]+)\.([a-z_]\w*)(?![\w/.])")
FILE = re.compile(r"(?<![\w./-])((?:mbros|mbros_core|tests|docs|launch|examples|benchmarks|scripts)(?:/[\w.-]+)+)")
# names of PyCapsules, which mbros_core/user.hpp and realtime/ports.hpp say, and the package on other sites
CAPSULES = {f"mbros_core.{name}" for name in ("user_joint", "user_force", "plant", "input", "output", "gate", "feed")}


def prose(path):
    """Comments and docstrings of a source file, everything of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        strings = [ast.get_docstring(node, clean=False) or "" for node in ast.walk(ast.parse(text))
                   if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))]
        return "\n".join(strings + [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT])
    if path.suffix == ".hpp":
        return "\n".join(re.findall(r"//.*|/\*(?:.|\n)*?\*/", text))
    if path.suffix == ".md":
        return text
    return "\n".join(re.findall(r'"""(?:.|\n)*?"""', text) + re.findall(r"#.*", re.sub(r'"""(?:.|\n)*?"""', "", text)))


@cache
def leads_somewhere(name: str) -> bool:
    """Whether a dotted name is a module, an attribute, a file of the engine (.pxd) or a capsule."""
    parts = name.split(".")
    if name in CAPSULES or (ROOT / "/".join(parts)).with_suffix(".pxd").is_file() or (ROOT / "/".join(parts)).is_dir():
        return True
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for part in parts[n:]:
            if not hasattr(found, part):
                return part in getattr(found, "__slots__", ()) or part in getattr(found, "__annotations__", {})
            found = getattr(found, part)
        return True
    return False


@cache
def classes() -> dict:
    """Every class of mbros and mbros_core by name, those that are public first."""
    found = {}
    for path in SOURCES:
        if path.suffix == ".py" and path.parts[len(ROOT.parts)] in ("mbros", "mbros_core"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            if module.startswith("mbros.ros") or module.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(module)).items():
                if inspect.isclass(value) and value.__module__.startswith(("mbros", "mbros_core")):
                    found.setdefault(name, []).append(value)
    for name in mbros.__all__:
        if inspect.isclass(getattr(mbros, name)):
            found.setdefault(name, []).append(getattr(mbros, name))
    for name in ("Plant", "Batch", "Model", "State"):
        found.setdefault(name, []).append(getattr(mbros_core, name))
    return found


def has(cls, name) -> bool:
    """An attribute of the class, or one that its instances are given."""
    if hasattr(cls, name):
        return True
    try:
        return re.search(rf"\b(?:self\.)?{name}\b\s*[=,:]", inspect.getsource(cls)) is not None
    except (OSError, TypeError):
        return False


def wrong_names(text):
    for name in set(DOTTED.findall(text)):
        if not leads_somewhere(name):
            yield name
    for cls, name in set(METHOD.findall(text)):
        if cls in classes() and not any(has(one, name) for one in classes()[cls]):
            yield f"{cls}.{name}"
    for name in set(FILE.findall(text)):
        if not list(ROOT.glob(name.rstrip(".") + "*")):
            yield name


@pytest.mark.parametrize("path", [*SOURCES, *pages()], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_trial_D10_names_in_prose_lead_somewhere(path):
    assert sorted(wrong_names(prose(path))) == []


def test_what_is_stale_would_be_found():
    text = "see mbros.batch and Model.forward_dynmics in mbros_core/joint.py, not mbros.rollout, Model.pose, mbros_core.forces.element"
    assert sorted(wrong_names(text)) == ["Model.forward_dynmics", "mbros.batch", "mbros_core/joint.py"]


WORDS = {"model": ("Model",), "state": ("State",), "sim": ("Simulator",),
         "joint": ("Joint", "JointDescription", "BuiltPlanarJoint", "BuiltFloatingJoint", "BuiltCircularJoint", "BuiltSlidingJoint",
                   "BuiltUniversalJoint", "BuiltBallJoint"), "loop": ("Loop",), "pose": ("Pose",), "log": ("Log",)}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_trial_D10_attributes_in_pages_exist(page):
    """`model.x`, `state.x`, `joint.x` in the text of a page."""
    text = re.sub(r"^```(?:.|\n)*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    known = classes()
    known.setdefault("Loop", []).append(importlib.import_module("mbros_core.realtime").Loop)
    wrong = [f"{word}.{name}" for word, name in set(re.findall(r"`(model|state|sim|joint|loop|pose|log)\.([a-z_]\w*)\b(?!\()", text))
             | set(re.findall(r"`(model|state|sim|joint|loop|pose|log)\.([a-z_]\w*)\(", text))
             if not any(has(one, name) for cls in WORDS[word] for one in known[cls])]
    assert sorted(wrong) == []


CONTRACTS = {"joints/joint.pxd": "joints", "forces/element.pxd": "forces"}


@pytest.mark.parametrize("header", CONTRACTS)
def test_trial_D10_what_a_kind_must_do_is_what_kinds_do(header):
    """KIND_place(X_WF, q, X_WM, S): every name of it is a parameter of some kind's function, in that order."""
    core = ROOT / "mbros_core"
    documented = re.findall(r"^ +KIND_(\w+)\(([^)]*)\)", (core / header).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(documented) >= 3
    sources = "".join(path.read_text(encoding="utf-8")
                      for path in (core / CONTRACTS[header]).glob("*.pxd") if path.stem not in ("dispatch", "user"))
    for what, names in documented:
        if names == "...":
            continue
        names = names.split(", ")
        taken = [[word.split()[-1].lstrip("*") for word in given.split(",")]
                 for given in re.findall(rf"^cdef inline \w+ \w+_{what}\(([^)]*)\)", sources, re.MULTILINE)]
        assert taken, what
        assert set(names) <= {name for one in taken for name in one}, (what, names)
        for one in taken:
            assert [name for name in one if name in names] == [name for name in names if name in one], (what, one)


def test_trial_D10_the_numbers_that_have_names_are_those_of_the_table():
    from mbros.model.parameters import KINDS

    text = " ".join((ROOT / "docs" / "concepts.md").read_text(encoding="utf-8").split())
    said = re.search(r"These numbers have names: (.*?)\.(?!md)", text).group(1)
    assert all(kind.name.replace("_", " ") in said or kind.name in ("locked", "force") for kind in KINDS)
