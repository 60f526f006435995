"""docs/forces.md is what the registry says, and its picture what the code gives."""
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from mbros_core.forces.registry import ROWS

import mbros
from docs.generate import forces as documentation
from mbros.describe.forces.groups import groups

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_current():
    assert (DOCS / "forces.md").read_text() == documentation.page(), "run: python -m docs.generate.forces > docs/forces.md"


def test_every_kind_has_a_section_with_every_parameter():
    text = documentation.page()
    for row in ROWS:
        part = text[text.index(f"kind `{row.name}`"):].partition("\n## ")[0]
        for name, group in groups(row.name).items():
            assert documentation.parameter(name, group) in part
            assert group.unit in part and (group.size == 1 or f"`{name}` ({group.size})" in part)
        called = documentation.KINDS[row.name][1].partition("(")[0].removeprefix("mbros.")
        assert hasattr(mbros, called)


def test_a_kind_without_an_equation_is_told(monkeypatch):
    monkeypatch.setattr(documentation, "KINDS", {k: v for k, v in documentation.KINDS.items() if k != "stribeck"})
    with pytest.raises(LookupError, match="no equation for stribeck"):
        documentation.page()


@pytest.mark.seed("BU-40")
def test_the_picture_shows_what_is_simulated():
    """The curves of the script, for ten seconds: one flat to 1e-6, one not to 1e-3; and the picture is there and small."""
    spec = importlib.util.spec_from_file_location("bushing_energy", DOCS / "pictures" / "bushing_energy.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    _, kept = script.energy("energy_consistent", duration=10.0)
    _, seed = script.energy("drake", duration=10.0)
    assert np.abs(kept - 1.0).max() < 1e-6 and np.abs(seed - 1.0).max() > 1e-3
    assert 1000 < (DOCS / "pictures" / "bushing_energy.svg").stat().st_size < 200_000
