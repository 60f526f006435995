"""The documentation as a site: everything public is in it, docstrings keep their meaning, the first page moves, and it builds."""
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import mbros
from mbros.build.robots import BUILT_IN

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path[:0] = [str(DOCS), str(DOCS / "pictures")]
import docstrings                                                                                                # noqa: E402
import gallery                                                                                                   # noqa: E402
import moving                                                                                                    # noqa: E402

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
PACKAGES = ("sphinx", "myst_parser", "furo", "matplotlib", "viser", "trimesh")


def test_everything_public_is_on_an_api_page():
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "api").glob("*.md")))
    named = set(re.findall(r":: mbros\.(\w+)$", text, re.MULTILINE))
    by_module = {"bushing_design": "mbros.describe.forces.design", "shapes": "mbros.describe.shapes"}
    missing = {name for name in mbros.__all__ if name not in named and f"automodule:: {by_module.get(name, '?')}\n" not in text}
    assert missing == {"__version__"}
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    assert {page.stem for page in (DOCS / "api").glob("*.md")} - {"index"} == set(re.findall(r"^(\w+)$", index, re.MULTILINE))


def test_every_page_is_within_reach_of_the_first():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert page.stem in ("index", "seeds") or re.search(rf"^{page.stem}$", text, re.MULTILINE), page.name


def converted(docstring):
    import inspect

    return "\n".join(docstrings.rst(inspect.cleandoc(docstring).splitlines())).strip()


def test_arguments_become_a_list_and_stars_stay_stars():
    found = converted("""The position: |v|, q* and `code`, of model_1.

    state: where to start, and
        which joints are locked.
    tau (nv,): efforts. weights, limits: two names.
    Raises MbrosError.
    """)
    assert found.splitlines() == ["The position: \\|v\\|, q\\* and ``code``\\ , of model\\_1.", "",
                                  "* **state**: where to start, and which joints are locked.",
                                  "* **tau (nv,)**: efforts. weights, limits: two names.", "", "Raises MbrosError."]


def test_listings_stay_as_they_are():
    found = converted("""Words.

        a = b * c
        d = |e|

    More words:
        f_g
    and an end.
    """)
    assert found == "Words.\n\n::\n\n    a = b * c\n    d = |e|\n\nMore words:\n\n::\n\n    f_g\n\nand an end."


def test_the_moving_picture_is_current_small_and_moves():
    stored, drawn = (DOCS / "pictures" / "moving.svg").read_text(encoding="utf-8"), moving.picture()
    remedy = "run: PYTHONPATH=. python docs/pictures/moving.py"
    assert NUMBER.sub("#", stored) == NUMBER.sub("#", drawn), remedy
    apart = np.subtract(*(np.array(NUMBER.findall(text), float) for text in (stored, drawn)))
    assert np.abs(apart).max() < 0.21, remedy
    assert len(stored) < 40_000
    animate = next(tag for tag in ElementTree.fromstring(stored).iter() if tag.tag.endswith("animate"))
    frames = np.array([[point.split(",") for point in frame.split()] for frame in animate.get("values").split(";")], float)
    assert len(frames) == moving.FRAMES + 1 and np.array_equal(frames[0], frames[-1]) and animate.get("repeatCount") == "indefinite"
    hand = frames[:, -1]
    assert np.ptp(hand, axis=0).min() > 50.0 and np.abs(np.diff(hand, axis=0)).max() < 20.0      # it goes far, and never jumps
    assert (frames >= 0).all() and (frames <= (moving.WIDTH, moving.HEIGHT)).all()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not all(importlib.util.find_spec(name) for name in PACKAGES), reason="needs " + ", ".join(PACKAGES))
def test_the_site_builds_without_a_warning(tmp_path):
    """As `make docs` builds it, into a folder of its own."""
    done = subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-d", str(tmp_path / "trees"), "docs",
                           str(tmp_path / "site")], cwd=ROOT, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr
    first = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "moving.svg" in first and "inverse_kinematics.html" in first and (tmp_path / "site" / "searchindex.js").exists()
    model = (tmp_path / "site" / "api" / "model.html").read_text(encoding="utf-8")
    assert 'id="mbros.Model.forward_dynamics"' in model and 'id="mbros.Model.inverse_kinematics"' in model and 'id="mbros.State.q"' in model
    page = (tmp_path / "site" / "generated" / "gallery.html").read_text(encoding="utf-8")
    for name in BUILT_IN:
        assert f"tree_{name}.svg" in page and f'src="../views/{name}.html"' in page
        view = (tmp_path / "site" / "views" / f"{name}.html").read_text(encoding="utf-8")
        assert f"<title>{name}</title>" in view and "Content-Security-Policy" in view


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_view_of_the_gallery_swings_every_joint_and_comes_back(name):
    model = mbros.load(name, base="fixed") if BUILT_IN[name].base == "floating" else mbros.load(name)
    log, swing = gallery.moved(model), gallery.swings(model, model.default_state().q)
    away = np.array([model.difference(log.q[0], q) for q in log.q])
    driven = swing != 0.0
    assert driven.all() or (len(model.constraints) and driven.sum() == 1)
    reached = np.where(swing > 0, away.max(axis=0), away.min(axis=0))
    assert np.abs(swing[driven]).min() > 0.1 and np.abs(reached - swing)[driven].max() < 0.02
    assert np.abs(away[-1]).max() < 0.02
