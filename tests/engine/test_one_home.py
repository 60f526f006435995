"""Adding a joint kind or a force element touches its own file, the dispatch and the registry of the engine, and nothing else."""
import re
from pathlib import Path

import mbros_core
import pytest
from mbros_core.forces.registry import ROWS as FORCES
from mbros_core.joints.registry import ROWS as JOINTS

CORE = Path(mbros_core.__file__).parent
SOURCES = [path for suffix in ("*.pxd", "*.pxi", "*.pyx", "*.hpp", "*.py") for path in CORE.rglob(suffix)]


def code(path):
    """The file without comments and docstrings: prose may name any kind it likes."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'"""(?:.|\n)*?"""', "", text)
    return "\n".join(line.split("#")[0] for line in text.splitlines())


def files_that_name(word):
    pattern = re.compile(rf"\b{word}(_(place|bias|qdot|velocity|integrate|difference|normalize|advance|first_half|second_half|slope|turning"
                         rf"|coordinate|pair|slopes|springs))?\b"
                         rf"|\b{word.upper()}\b")
    return {path.relative_to(CORE).as_posix() for path in SOURCES if pattern.search(code(path))}


@pytest.mark.seed("PJ-37")
@pytest.mark.parametrize("row", JOINTS[-9:], ids=lambda row: row.name)
def test_a_joint_kind_lives_in_three_places(row):
    own = {f"joints/{row.name.rstrip('0123456789')}.pxd"}
    places = {place for place in files_that_name(row.name) if not place.startswith("constraints/")}      # which has a ball and a weld, too
    assert {"joints/dispatch.pxd", "joints/registry.py"} <= places
    # one kind may be built from another's file: floating_rpy places its rotation as ball_rpy does
    others = {f"joints/{kind.name}.pxd" for kind in JOINTS if kind.name.startswith("floating")} - own
    assert places - own - others == {"joints/dispatch.pxd", "joints/registry.py"}


@pytest.mark.parametrize("row", [row for row in FORCES if row.name in ("spring_damper", "joint_spring", "door_hinge", "stribeck")],
                         ids=lambda row: row.name)
def test_a_force_element_lives_in_three_places(row):
    assert files_that_name(row.name) == {f"forces/{row.name}.pxd", "forces/dispatch.pxd", "forces/registry.py"}


def test_the_newest_joint_kind_is_three_files():
    newest = JOINTS[-1].name
    assert files_that_name(newest) == {f"joints/{newest}.pxd", "joints/dispatch.pxd", "joints/registry.py"}
