"""examples/notebook.ipynb runs from top to bottom and prints what it shows: in a Jupyter kernel where there is one, else cell by cell."""
import contextlib
import importlib.util
import io
import json

import runs
from optional import needs

pytestmark = needs("matplotlib", "the notebook has pictures")
PATH = runs.EXAMPLES / "notebook.ipynb"


def code_cells():
    notebook = json.loads(PATH.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def printed(cell):
    return "".join("".join(out["text"]) for out in cell["outputs"] if out["output_type"] == "stream")


def pictures(cell):
    return sum("image/png" in out.get("data", {}) for out in cell["outputs"])


def executed_in_a_kernel():
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(PATH, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed_cell_by_cell():
    """As a kernel does it: one namespace, and what a cell's last line is worth is shown."""
    import ast

    space, cells = {"__name__": "__main__"}, []
    for cell in code_cells():
        tree, out = ast.parse("".join(cell["source"])), io.StringIO()
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(out):
            exec(compile(tree, PATH.name, "exec"), space)
            shown = eval(compile(ast.Expression(last.value), PATH.name, "eval"), space) if last else None
        outputs = [{"output_type": "stream", "text": out.getvalue()}] if out.getvalue() else []
        outputs += [{"output_type": "execute_result", "data": {"image/png": shown._repr_png_()}}] if hasattr(shown, "_repr_png_") else []
        cells.append({"outputs": outputs})
    return cells


def compare(cells):
    kept = code_cells()
    assert len(cells) == len(kept) and sum(map(pictures, kept)) == 5
    for old, new in zip(kept, cells):
        assert not runs.differences(printed(old), printed(new))
        assert pictures(old) == pictures(new)


def test_the_notebook_runs_and_prints_what_it_shows(monkeypatch):
    if not (importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel")):
        return compare(executed_cell_by_cell())
    monkeypatch.setenv("PYTHONPATH", runs.environment()["PYTHONPATH"])
    compare(executed_in_a_kernel())
