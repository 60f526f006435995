"""Draws viewer.png of docs/viewer.md: the page of panda in Chromium, pulled at its hand.

    PYTHONPATH=. python docs/pictures/viewer.py
"""
import io
import time
from pathlib import Path

import numpy as np
from PIL import Image

import mbros
from benchmarks._browser import chromium
from mbros.simulate.simulator import make_plant
from mbros.view.drive import Drive
from mbros.view.page import Page


def main():
    model = mbros.load("panda")
    with Page(Drive(make_plant(model), rt="auto"), port=0) as page, chromium() as browser:
        tab = browser.new_page(viewport={"width": 1080, "height": 640})
        tab.set_default_timeout(60_000)
        tab.goto(page.url)
        tab.wait_for_selector("canvas")
        tab.screenshot()                        # waits until everything is drawn
        tab.screenshot()
        for button in tab.query_selector_all(".mantine-Notification-closeButton"):
            button.evaluate("element => element.click()")
        hand = model.body("panda_hand")
        at = model.pose(model.default_state(), hand).p
        page.motion.play()
        page.motion.hands.grip(hand._frame_index, at, at + np.array([0.45, -0.75, 0.25]))
        time.sleep(2.0)
        tab.screenshot()
        picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    picture.save(Path(__file__).with_name("viewer.png"), optimize=True)


if __name__ == "__main__":
    main()
