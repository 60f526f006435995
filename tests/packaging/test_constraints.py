"""Which versions of other packages: what was tested is written down for all of them, and what is installed keeps to it."""
import configparser
import importlib.metadata
import re

import pytest
from workshop import ROOT, must

NAME = re.compile(r"^[A-Za-z0-9_.-]+")


def plain(name):
    """As PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def required():
    """(where, requirement) of everything that mbros builds with, needs, offers and is tested with."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    for requirement in lines(config["options"]["install_requires"]):
        yield "install_requires", requirement
    for extra, text in config["options.extras_require"].items():
        for requirement in lines(text):
            yield extra, requirement
    build = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    for requirement in re.findall(r'"([^"]+)"', build):
        yield "build", requirement


CONSTRAINTS = {plain(NAME.match(line).group()): line for line in lines((ROOT / "constraints.txt").read_text(encoding="utf-8"))}


@pytest.mark.parametrize("where, requirement", list(required()))
def test_trial_D12_every_requirement_has_a_tested_bound(where, requirement):
    name = plain(NAME.match(requirement).group())
    assert re.fullmatch(rf"{NAME.match(CONSTRAINTS[name]).group()}<=?[\d.]+", CONSTRAINTS[name]), CONSTRAINTS[name]


def test_trial_D12_there_are_no_bounds_without_a_requirement():
    assert set(CONSTRAINTS) == {plain(NAME.match(requirement).group()) for _, requirement in required()}


def test_trial_D12_compiled_against_is_capped_and_the_rest_of_the_metadata_is_not():
    capped = {(where, plain(NAME.match(requirement).group())) for where, requirement in required() if "<" in requirement.partition(";")[0]}
    assert capped == {("install_requires", "numpy"), ("build", "numpy"), ("build", "cython")}


def test_trial_D12_make_installs_within_the_bounds(tmp_path):
    shown = 'include Makefile\nshow-constraint: ; @echo "$$PIP_CONSTRAINT"\n'
    makefile = tmp_path / "show.mk"
    makefile.write_text(shown)
    assert must("make", "-f", makefile, "show-constraint", PIP_CONSTRAINT=None).strip() == str(ROOT / "constraints.txt")
    assert must("make", "-f", makefile, "show-constraint", "PIP_CONSTRAINT=").strip() == ""


@pytest.mark.parametrize("name", sorted(CONSTRAINTS))
def test_what_is_installed_here_is_not_newer(name):
    """Newer and all tests pass? Then constraints.txt can say so."""
    version = pytest.importorskip("packaging.version").Version
    try:
        installed = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not installed")
    bound = re.search(r"(<=?)(.*)", CONSTRAINTS[name])
    assert version(installed) < version(bound.group(2)) or bound.group(1) == "<=" and version(installed) == version(bound.group(2))


def test_trial_D12_security_is_written_down_and_goes_along():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert all(f"## {part}" in text for part in ("Reporting", "What is trusted, and what is not", "What counts"))
    assert all(word in text for word in ("URDF", "xacro", "pickle", "ROS topics", "SROS 2"))
    assert "SECURITY.md" in (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / target).is_file()
