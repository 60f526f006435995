"""A real browser for the tests of the viewer: the machine's own Chromium, driven by Playwright. Screenshots are kept, their folder is
printed at the end (MBROS_SCREENSHOTS chooses it)."""
import io
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from optional import installed  # noqa: E402

os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))         # no other robot is ever met
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

if not (installed("viser") and installed("trimesh")):
    collect_ignore_glob = ["test_*.py"]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]
SIZE = {"width": 820, "height": 460}
PATIENCE = 240.0        # s until a page has drawn something: software rendering on a busy machine


@pytest.fixture(scope="session")
def pictures():
    """The folder of the screenshots."""
    folder = Path(os.environ.get("MBROS_SCREENSHOTS") or tempfile.mkdtemp(prefix="mbros-screenshots-"))
    folder.mkdir(parents=True, exist_ok=True)
    yield folder
    sys.__stdout__.write(f"\nscreenshots of the viewer: {folder}\n")


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None or not installed("playwright"):
        pytest.skip("needs a browser: chromium on this machine (apt-get install chromium) and pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """A page in the browser, as a person sees it."""

    def __init__(self, page, pictures, name):
        self.page, self.pictures, self.name, self.number = page, pictures, name, 0
        self.requests, self.errors = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(PATIENCE * 1e3)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, url):
        self.page.goto(url)
        self.page.wait_for_selector("canvas")
        self.until(lambda: self.image().std() > 4.0, "a picture")
        for button in self.page.query_selector_all(".mantine-Notification-closeButton"):
            button.evaluate("element => element.click()")          # not with the mouse: a page that plays is never at rest
        time.sleep(1.0)
        return self

    def image(self, keep=""):
        """Pixels (h, w, 3) of the scene, without the panels; keep: a name under which the whole page is saved."""
        from PIL import Image

        data = self.page.screenshot(timeout=PATIENCE * 1e3)
        if keep:
            self.number += 1
            (self.pictures / f"{self.name}-{self.number}-{keep}.png").write_bytes(data)
        pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(float)
        box = self.page.locator("canvas").first.bounding_box()
        return pixels[:, :round(box["width"])]

    def until(self, true, what):
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, f"{what} did not come"
            time.sleep(0.2)

    def button(self, word):
        self.page.get_by_role("button", name=word, exact=True).click()

    def tab(self, word):
        self.page.get_by_role("tab", name=word).click()

    def type_into(self, label, value):
        """A value into the field with that label; of a slider, into the number beside it."""
        row = self.page.get_by_text(label, exact=True).locator("xpath=ancestor::*[.//input][1]")
        field = row.locator("input:not([type=hidden])").last
        field.fill(str(value))
        field.press("Enter")


@pytest.fixture
def tab(chromium, pictures, request):
    """A fresh tab; no error may have come up in it at the end."""
    context = chromium.new_context(viewport=SIZE)
    tab = Tab(context.new_page(), pictures, request.node.name.removeprefix("test_").replace("[", "-").strip("]"))
    yield tab
    context.close()
    assert not tab.errors
