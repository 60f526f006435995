"""The real-time loop alone, and with a page and a browser looking on: lateness side by side, and the time that was lost.

    python -m benchmarks.viewer [robot] [seconds]

The browser is this machine's Chromium through Playwright; it renders in software, on the same processors as the loop, so this is the
worst case: users look from another machine, or with a graphics card. Without a browser a page that no browser shows is measured.
"""
from __future__ import annotations

import contextlib
import sys
import time

import mbros
from benchmarks._browser import NoBrowser, chromium
from mbros.simulate.simulator import make_plant
from mbros.view.drive import Drive
from mbros.view.page import Page


@contextlib.contextmanager
def looking(url):
    """A browser at the page, or nothing where there is none. Yields what it is."""
    try:
        with chromium() as browser:
            tab = browser.new_page(viewport={"width": 900, "height": 560})
            tab.set_default_timeout(240_000)
            tab.goto(url)
            tab.wait_for_selector("canvas")
            time.sleep(5.0)
            yield "a page in Chromium, software rendering on the same processors"
    except NoBrowser:
        yield "a page that nobody looks at"


def run(robot, seconds, look):
    """(statistics, simulated seconds minus seconds of the clock, what looked on)."""
    drive = Drive(make_plant(mbros.load(robot)), rt="auto")
    with contextlib.ExitStack() as stack:
        stack.callback(drive.close)
        who = "no browser"
        if look:
            page = stack.enter_context(Page(drive, port=0))
            who = stack.enter_context(looking(page.url))
        drive.play()
        begun, at = time.monotonic(), drive.sample().time
        time.sleep(seconds)
        drift = drive.sample().time - at - (time.monotonic() - begun)
        drive.pause()
        return drive.statistics(), drift, who


def main():
    robot, seconds = (sys.argv[1:] + ["arm7", "10"][len(sys.argv) - 1:])[:2]
    for look in (False, True):
        statistics, drift, who = run(robot, float(seconds), look)
        print(f"{robot}, 1 kHz, {who}: {statistics.slots} slots, {statistics.missed + statistics.overruns} too late and made up, "
              f"lost {statistics.lost_time:.3f} s, simulated time {1e3 * drift:+.1f} ms against the clock")
        print(statistics.lateness.text("lateness"), "\n")


if __name__ == "__main__":
    main()
