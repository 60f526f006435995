"""mbros for pyright, as for mypy in test_types.py: clean itself, and clean as users meet it. In a file of its own: it takes the longest."""
import re

import pytest
from checkers import ROOT, needs_pyright, pyright


@needs_pyright
@pytest.mark.slow
def test_pyright_is_clean_and_sees_mistakes(user_code):
    found = pyright(ROOT / "mbros", ROOT / "mbros_core", user_code)
    mistakes = {int(line) for line in re.findall(r"^mistakes.py:(\d+)", "\n".join(found), re.MULTILINE)}
    others = [line for line in found if not line.startswith("mistakes.py")]
    assert not others and mistakes == {6, 7, 8, 9}, "\n".join(found)
