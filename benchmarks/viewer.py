"""The real-time loop alone, and with a page and a browser looking on: lateness side by side, and the time that was lost.

    python benchmarks/viewer.py [robot] [seconds]

The browser is this machine's Chromium through Playwright; it renders in software, on the same processors as the loop, so this is the
worst case: people look from another machine, or with a graphics card. Without a browser a page with nobody looking is measured.
"""
from __future__ import annotations

import contextlib
import shutil
import sys
import time

import mbros
from mbros.simulate.simulator import make_plant
from mbros.view.drive import Drive
from mbros.view.page import Page

FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-background-networking"]


@contextlib.contextmanager
def browser(url):
    """A browser at the page, or nothing where there is none. Yields what it is."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        yield "a page that nobody looks at"
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        tab = chromium.new_page(viewport={"width": 900, "height": 560})
        tab.goto(url)
        tab.wait_for_selector("canvas")
        time.sleep(5.0)
        yield "a page in Chromium, software rendering on the same processors"
        chromium.close()


def run(robot, seconds, look):
    """(statistics, simulated seconds minus seconds of the clock, what looked on)."""
    drive = Drive(make_plant(mbros.load(robot)), rt="auto")
    with contextlib.ExitStack() as stack:
        stack.callback(drive.close)
        who = "nobody looking"
        if look:
            page = stack.enter_context(Page(drive, port=0))
            who = stack.enter_context(browser(page.url))
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
