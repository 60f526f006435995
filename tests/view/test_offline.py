"""A saved log in a browser without any network: it plays."""
import os
import time

import numpy as np
import pytest
from test_browser import BAR

import mbros


pytestmark = pytest.mark.timeout(900)         # a browser that renders in software, on a machine that others use


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bar, turning at 0.5 rad/s for four seconds; and the file of it."""
    model = mbros.load(BAR, gravity=(0, 0, 0))
    sim = mbros.Simulator(model)
    sim.state.v[:] = 0.5
    log = sim.run(4.0, every=20)
    return log, log.save_html(tmp_path_factory.mktemp("saved") / "run.html")


@pytest.mark.skipif(os.environ.get("MBROS_BROWSER") != "all", reason="minutes of WebGL in software: MBROS_BROWSER=all runs it")
def test_a_saved_log_plays_without_a_server_and_without_a_network(saved, chromium, tab):
    log, path = saved
    tab.page.context.set_offline(True)
    tab.page.set_viewport_size({"width": 400, "height": 260})          # it plays from the beginning: every picture is drawn in software
    tab.open(path.as_uri())
    seen = set()

    def moves():
        image = tab.image()
        red = (image[..., 0] > 90) & (image[..., 1] < 90) & (image[..., 2] < 90)
        seen.add(tuple(np.round(np.argwhere(red).mean(axis=0))) if red.sum() > 50 else None)
        time.sleep(0.3)
        return len(seen) >= 4

    tab.until(moves, "motion")
    tab.image(keep="offline")
    asked = [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))]
    assert asked == [] and tab.page.title() == "bar"


def test_the_file_names_no_address_that_could_be_fetched(saved):
    import re

    text = saved[1].read_text()
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)\s*=\s*[\"']?(https?:)?//", text)
