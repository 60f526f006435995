"""The rooms of mbros/ (docs/decisions/020-rooms.md): imports run downwards only, and nowhere in a circle, also not inside functions."""
import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]

# From the lowest floor to the highest. Rooms of one floor do not know each other.
FLOORS = [["names"], ["errors"], ["arguments"], ["spatial"], ["spaces"], ["describe"], ["conventions", "diff"], ["model"], ["build"],
          ["bench"], ["record"], ["simulate"], ["study"],
          ["ros"], ["view"], ["cli"], ["__main__"]]
# Folders of tests/ beside those named after a room: parts of the engine, what all rooms share, and what the tests themselves use.
SHARED = {"constraints", "engine", "forces", "geometry", "realtime", "refusals", "identities", "physics", "peers", "properties",
          "packaging", "docs", "types", "examples", "fuzz", "sanitize", "soak", "seeds", "capabilities", "reference", "golden"}


def modules(package: Path, name: str) -> dict[str, Path]:
    """{dotted name: file} of a package."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = [name, *file.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(name: str, file: Path, known, run_only=False) -> list[tuple[str, int, bool]]:
    """(module, line, inside a function) of every import of a module of the same package; of those only that are run, and not for type
    checkers alone. `import mbros` and names that mbros/__init__.py fetches when they are used are not imports of a room: annotations
    name what users name (from mbros import Model, under TYPE_CHECKING), and what runs uses neither."""
    found = []

    def resolve(node):
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        base = node.module or ""
        if node.level:
            package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
            base = ".".join([*package[:len(package) - node.level + 1], *([base] if base else [])])
        return [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]

    def visit(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):         # holds no statement
                continue
            if run_only and isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                found.extend((target, child.lineno, inside) for target in resolve(child) if target in known)
            visit(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    visit(ast.parse(file.read_text(encoding="utf-8")), False)
    return found


def floor_of(name: str) -> int:
    room = name.split(".")[1]
    return next(k for k, rooms in enumerate(FLOORS) if room in rooms)


def upward(graph) -> list[str]:
    """Imports of a higher floor, or of another room of the same one."""
    return [f"{name}:{line} imports {target}" for name, arrows in graph.items() for target, line, _ in arrows
            if name != "mbros" and target != "mbros" and name.split(".")[1] != target.split(".")[1]
            and floor_of(target) >= floor_of(name)]


def circles(graph) -> list[list[str]]:
    """Modules that import each other around (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in {target for target, _, _ in graph[node]} - {node}:
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def read(run_only=False):
    known = modules(ROOT / "mbros", "mbros")
    return {name: imports(name, file, known, run_only) for name, file in known.items()}


def test_imports_run_downwards():
    found = upward(read())
    assert not found, "\n".join(found)


def test_there_is_no_circle():
    found = circles(read(run_only=True))
    assert not found, found


def test_few_rooms():
    names = {path.relative_to(ROOT / "mbros").parts[0] for path in (ROOT / "mbros").rglob("*.py")} - {"__init__.py", "__main__.py"}
    assert len(names) <= 17, sorted(names)


def test_tests_stand_in_the_room_they_test():
    files = [path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("*.py")]
    assert {path.parts[0] for path in files if len(path.parts) > 1} <= {room for rooms in FLOORS for room in rooms} | SHARED
    names = [path.name for path in files if path.name.startswith("test_")]
    assert [name for name in names if names.count(name) > 1] == [], "pytest imports test modules by their file's name"


def test_a_module_is_imported_from_once():
    found = []
    for file in (path for folder in ("mbros", "mbros_core") for path in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        blocks = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")]
        for block in blocks:
            modules = [(node.level, node.module) for node in block if isinstance(node, ast.ImportFrom)]
            found += [f"{file.relative_to(ROOT)}: {module}" for module in set(modules) if modules.count(module) > 1]
    assert not found, found


def test_the_wire_has_no_formulas():
    """Least squares, poses and rotations belong to the model and the shelves below it."""
    linear = {"linalg", "cross", "trace", "dot", "einsum", "matmul", "eye", "outer", "sin", "cos", "acos", "arccos", "atan2", "arctan2"}
    files = [file for folder in (".", "wire", "serve", "process") for file in (ROOT / "mbros" / "ros" / folder).glob("*.py")]
    found = [f"{file.name}:{node.lineno}" for file in files
             for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
             if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) or isinstance(node, ast.Attribute) and node.attr in linear]
    assert not found, found


def test_an_upward_import_and_a_circle_are_found():
    graph = {"mbros.spatial.a": [("mbros.model.b", 1, True)], "mbros.model.b": [("mbros.model.c", 1, False)],
             "mbros.model.c": [("mbros.model.b", 1, True)]}
    assert upward(graph) == ["mbros.spatial.a:1 imports mbros.model.b"] and circles(graph) == [["mbros.model.b", "mbros.model.c"]]
