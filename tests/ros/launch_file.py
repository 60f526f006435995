"""The launch file without launch, which PyPI does not have: its source, and its own functions, run as they stand."""
import ast
from pathlib import Path

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
FILE = LAUNCH / "sim.launch.py"
TREE = ast.parse(FILE.read_text())


def functions():
    """The names of the file, with everything that needs launch left out: what checks the arguments needs none."""
    kept = [node for node in TREE.body if not (isinstance(node, ast.ImportFrom) and node.module.startswith("launch"))]
    names = {"__file__": str(FILE)}
    exec(compile(ast.Module(kept, []), str(FILE), "exec"), names)
    return names


def table(name):
    """A constant of the file, None for what is computed in it."""
    [value] = [node.value for node in TREE.body if isinstance(node, ast.Assign) and node.targets[0].id == name]
    return [tuple(field.value if isinstance(field, ast.Constant) else None for field in row.elts)
            if isinstance(row, ast.Tuple) else row.value for row in value.elts]


def subscripts_of(name):
    """Constant keys that are looked up in the dictionary `name`."""
    return {node.slice.value for node in ast.walk(TREE) if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name) and node.value.id == name and isinstance(node.slice, ast.Constant)}
