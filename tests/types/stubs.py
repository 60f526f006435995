"""The stubs of the compiled modules: which there are, and the docstrings in them, which are the modules' own.

    python tests/types/stubs.py         writes the docstrings of the modules built here into the stubs
"""
import ast
import importlib
import inspect
import os
import re
from pathlib import Path

from mbros_core.support import cpu

ROOT = Path(__file__).parents[2]

# A stub, and the modules that it describes; of modules of one text the one that this CPU runs.
ENGINES = [*(os.path.splitext(load().__name__)[1] for load in (cpu.load_double, cpu.load_lanes, cpu.load_dual)), "._traced"]
STUBS = {"mbros_core/engine/_engine.pyi": [f"mbros_core.engine{name}" for name in ENGINES],
         "mbros_core/engine/_callbacks.pyi": ["mbros_core.engine._callbacks"],
         "mbros_core/engine/_small.pyi": ["mbros_core.engine._small"],
         "mbros_core/geometry/_geometry.pyi": ["mbros_core.geometry._geometry"],
         "mbros_core/constraints/_solver.pyi": ["mbros_core.constraints._solver"],
         "mbros_core/constraints/_scene.pyi": ["mbros_core.constraints._scene"],
         "mbros_core/plant/_devices.pyi": ["mbros_core.plant._devices"],
         "mbros_core/plant/_commanded.pyi": ["mbros_core.plant._commanded"],
         "mbros_core/plant/_pushes.pyi": ["mbros_core.plant._pushes"],
         "mbros_core/realtime/_loop.pyi": ["mbros_core.realtime._loop"],
         "mbros_core/realtime/_jitter.pyi": ["mbros_core.realtime._jitter"],
         "mbros_core/realtime/_shared.pyi": ["mbros_core.realtime._shared"],
         "mbros/ros/wire/_dataplane.pyi": ["mbros.ros.wire._dataplane"],
         "mbros/ros/process/_ending.pyi": ["mbros.ros.process._ending"]}
MODULES = [module for modules in STUBS.values() for module in modules]
ALLOWED = ROOT / "tests" / "types" / "stubtest.txt"


def documented(text: str, modules: list) -> str:
    """A stub with the docstrings of these modules."""
    lines = text.split("\n")
    for path, node in reversed(list(definitions(ast.parse(text)))):
        doc = docstring(path, modules)
        if doc is None or any(ast.unparse(each).endswith(".setter") for each in node.decorator_list):
            continue
        indent = " " * (node.col_offset + 4)
        body = node.body[0]
        own = isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant)      # a docstring, or "..."
        row = min([body.lineno, *(each.lineno for each in getattr(body, "decorator_list", ()))]) - 1
        column = body.col_offset
        head = lines[row][:column].rstrip()
        put = ([head] if head else []) + [indent + line if line else "" for line in f'"""{doc}"""'.split("\n")]
        lines[row:body.end_lineno if own else row] = put
    return "\n".join(lines)


def definitions(tree: ast.AST, path: tuple = ()):
    """(names from the module down, node) of every class and function, in the order in which they stand."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield (*path, node.name), node
            yield from definitions(node, (*path, node.name))


def docstring(path: tuple, modules: list) -> str | None:
    """Of the first module that has the thing: without the signature that Cython puts before it, and what classes inherit."""
    for module in modules:
        thing = module
        for name in path:
            thing = vars(thing).get(name) if hasattr(thing, "__dict__") else None
        if thing is not None and isinstance(getattr(thing, "__doc__", None), str) and not path[-1].startswith("__"):
            return re.sub(rf"^(\w+\.)?{path[-1]}\(.*\)( -> \w+)?\n*|^{path[-1]}: .*\n*", "", inspect.cleandoc(thing.__doc__)) or None
    return None


def all_documented() -> dict[Path, tuple[str, str]]:
    """{stub: (its text, the text that it should have)}"""
    found = {}
    for name, modules in STUBS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        found[ROOT / name] = (text, documented(text, [importlib.import_module(module) for module in modules]))
    return found


if __name__ == "__main__":
    for path, (_, text) in all_documented().items():
        path.write_text(text, encoding="utf-8")
