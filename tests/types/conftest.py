"""`user_code`: what users write, and what they write wrongly, for mypy and for pyright."""
import re

import pytest
from checkers import ROOT

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if not path.name.endswith(".launch.py"))
MISTAKES = """
import mbros

model = mbros.load("arm7")
state = model.default_state()
model.forward_dynamic(state, [0.0] * 7)
model.forward_dynamics(state)
model.pose(state, 1.5)
state.time = "now"
"""


@pytest.fixture(scope="module")
def user_code(tmp_path_factory):
    """A folder with the examples, the Python listings of README.md as one program, and a program with mistakes."""
    folder = tmp_path_factory.mktemp("user")
    for path in EXAMPLES:
        (folder / f"example_{path.name}").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    listings = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(listings) > 3 and len(EXAMPLES) > 8
    (folder / "readme.py").write_text("\n".join(listings), encoding="utf-8")
    (folder / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    return folder
