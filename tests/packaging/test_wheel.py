"""The wheel: everything a user needs, nothing else, under 6.25 MB. Made from what `make build` has compiled."""
import re
import sys
import zipfile

import pytest
from optional import needs
from workshop import IN_PLACE_ONLY, MODULES, ROOT, ROS_FILES, must

pytestmark = [pytest.mark.packages, pytest.mark.slow]

LIMIT = 6.25e6  # bytes; 6.16e6 with the readers of MJCF and SDF, 6.04e6 with campaigns and the bench tab, 5.70e6 before


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_size(wheel):
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    assert wheel.stat().st_size < LIMIT


def test_every_module_of_the_table_that_users_import_is_in_it(names):
    compiled = {name.split(".")[0].replace("/", ".") for name in names if name.endswith(".so")}
    assert compiled == set(MODULES) - set(IN_PLACE_ONLY)


def test_what_users_read_or_cimport_is_in_it(names):
    inside = {name for name in names if ".dist-info/" not in name}
    for pattern in ("mbros/build/robots/**/*.urdf", "mbros_core/**/*.pxd", "mbros_core/**/*.hpp", "mbros/**/*.py", "mbros_core/**/*.py"):
        wanted = {str(path.relative_to(ROOT)) for path in ROOT.glob(pattern)} - {f"{name.replace('.', '/')}.pxd" for name in IN_PLACE_ONLY}
        assert wanted and wanted <= inside, sorted(wanted - inside)
    data = {name.partition(".data/data/")[2] for name in names if ".data/data/" in name}
    assert data == set(ROS_FILES)


def test_nothing_else_is_in_it(names):
    assert [name for name in names if name.endswith((".cpp", ".o", ".pyx", ".pxi", ".pyc"))] == []
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"mbros", "mbros_core"}
    assert [name for name in names if name.startswith(tuple(f"{module.replace('.', '/')}." for module in IN_PLACE_ONLY))] == []


@needs("auditwheel", "which Linux a wheel runs on")
def test_it_runs_on_other_linux_machines(wheel):
    """manylinux: nothing of this machine's but what every Linux has. `make wheels` gives the file that name."""
    told = must(sys.executable, "-m", "auditwheel", "show", wheel)
    assert re.search(r'consistent\s+with\s+the\s+following\s+platform\s+tag:\s+"manylinux_2_\d+_', told), told
