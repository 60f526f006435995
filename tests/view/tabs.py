"""A page in a real browser, for the tests of the viewer."""
import contextlib
import io
import time

import numpy as np
from patience import PATIENCE

SIZE = {"width": 780, "height": 460}       # narrower, and the panels would stand below the picture

# A page draws at every frame of the screen as long as it is open. Where the processor draws, a few frames a second are enough to look at,
# with edges that are not smooth.
FEW_FRAMES = """{
    const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) { return get.call(this, kind, {...options, antialias: false}); };
    const ask = requestAnimationFrame, cancel = cancelAnimationFrame, waiting = new Map();
    window.requestAnimationFrame = draw => {
        const number = ask(() => waiting.set(number, setTimeout(() => { waiting.delete(number); draw(performance.now()); }, 80)));
        return number;
    };
    window.cancelAnimationFrame = number => { cancel(number); clearTimeout(waiting.get(number)); waiting.delete(number); };
}"""


class Tab:
    """A page in the browser, as a person sees it."""

    def __init__(self, page, pictures, name):
        self.page, self.pictures, self.name, self.number = page, pictures, name, 0
        self.requests, self.errors = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(PATIENCE * 1e3)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, url):
        """fixedDpr: viser else draws fewer pixels where the machine is busy, and the edges of the same picture move."""
        self.page.goto(f"{url}{'&' if '?' in url else '?'}fixedDpr=1", wait_until="commit")
        self.page.wait_for_selector("canvas")
        self.image()
        for button in self.page.query_selector_all(".mantine-Notification-closeButton"):
            button.evaluate("element => element.click()")
        return self

    def image(self, keep=""):
        """Pixels (h, w, 3) of the scene, without the panels, once drawn: a canvas is blank from a change of its size until then.
        keep: a name under which the whole page is saved."""
        pixels, data = self._look()

        def drawn():
            nonlocal pixels, data
            if pixels.std() <= 4.0:
                pixels, data = self._look()
            return pixels.std() > 4.0

        self.until(drawn, "a picture")
        if keep:
            self.number += 1
            (self.pictures / f"{self.name}-{self.number}-{keep}.png").write_bytes(data)
        return pixels

    def _look(self):
        """The scene's pixels as they are, and the whole page as PNG."""
        from PIL import Image

        data = self.page.screenshot(timeout=PATIENCE * 1e3)
        pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(float)
        box = self.page.locator("canvas").first.bounding_box()
        return pixels[:round(box["height"]), :round(box["width"])], data

    def until(self, true, what):
        assert self.comes(true), f"{what} did not come"

    def comes(self, true, seconds=PATIENCE):
        """Whether it comes true within so long."""
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    # force: Playwright would wait until a page is at rest, and one that plays never is.

    def button(self, word):
        self.page.get_by_role("button", name=word, exact=True).click(force=True)

    def tab(self, word):
        self.page.get_by_role("tab", name=word).click(force=True)
        self.page.get_by_role("tab", name=word, selected=True).wait_for()

    def box(self, label):
        self.page.get_by_label(label).filter(visible=True).click(force=True)

    def field(self, label):
        """The field with that label, in the tab that is open; of a slider, the number beside it."""
        row = self.page.get_by_text(label, exact=True).filter(visible=True).locator("xpath=ancestor::*[.//input][1]")
        return row.locator("input:not([type=hidden])").last

    def type_into(self, label, value):
        """Key by key, as people type; and once more, where the page has put its own number there meanwhile."""
        field, end = self.field(label), time.monotonic() + PATIENCE
        while True:
            field.focus()           # not a click: folders that open are still moving
            field.press("Control+A")
            field.press_sequentially(str(value), delay=30)
            if field.input_value() == str(value):
                break
            assert time.monotonic() < end, f"{label} shows {field.input_value()}, not {value}"
        field.press("Enter")


@contextlib.contextmanager
def new_tab(chromium, pictures, name, viewport=SIZE, offline=False):
    """A fresh Tab; no error may have come up in it at the end. offline: its network is off."""
    context = chromium.new_context(viewport=viewport, offline=offline)
    context.add_init_script(FEW_FRAMES)
    tab = Tab(context.new_page(), pictures, name)
    yield tab
    context.close()
    assert not tab.errors
