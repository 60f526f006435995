"""A saved log in a browser without any network: it plays."""
import re
import time

import pytest
from tabs import new_tab
from test_browser import BAR, CAMERA, angle

import mbros



@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bar, turning at 0.5 rad/s for four seconds; and the file of it."""
    model = mbros.load(BAR, gravity=(0, 0, 0))
    sim = mbros.Simulator(model)
    sim.state.v[:] = 0.5
    log = sim.run(4.0, every=20)
    return log, log.save_html(tmp_path_factory.mktemp("saved") / "run.html")


@pytest.mark.slow
def test_a_saved_log_plays_without_a_server_and_without_a_network(saved, chromium, pictures):
    """It plays by itself; paused, its picture is that of the time it shows; it can be sought, and plays on."""
    log, path = saved
    with new_tab(chromium, pictures, "offline", offline=True, viewport={"width": 400, "height": 300}) as tab:
        tab.open(path.as_uri() + CAMERA)
        clock, button = tab.page.locator("input").first, tab.page.locator("button.mantine-ActionIcon-root").first

        def shown():
            return float(clock.input_value())

        first = shown()
        tab.until(lambda: shown() != first, "time going on")
        for _ in range(6):
            button.click(force=True)
            tab.until(lambda: stands_still(shown), "the pause")
            if tab.comes(lambda: abs(angle(tab.image()) - 0.5 * shown()) < 0.06, 15.0):        # its clock shows tenths
                break
            button.click(force=True)            # viser's player moves its clock before it draws: a pause between the two shows it
            before = shown()
            tab.until(lambda before=before: shown() != before, "time going on after the pause")
        else:
            raise AssertionError("the picture of the pause did not come")
        for wanted in (3.0, 1.0):
            clock.fill(str(wanted))
            tab.until(lambda: shown() == wanted, "the time")
            tab.until(lambda: abs(angle(tab.image()) - 0.5 * wanted) < 0.03, "the picture of that time")
        tab.image(keep="sought")
        button.click(force=True)
        tab.until(lambda: abs(angle(tab.image()) - 0.5) > 0.1, "motion in the picture")
        assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []
        assert tab.page.title() == "bar"


def stands_still(shown):
    """Whether the clock shows the same for a while."""
    before = shown()
    time.sleep(0.3)
    return shown() == before


def test_the_file_names_no_address_that_could_be_fetched(saved):
    text = saved[1].read_text()
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)\s*=\s*[\"']?(https?:)?//", text)
