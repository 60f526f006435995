"""Draws viewer.png of docs/viewer.md: the page of panda in Chromium, pulled at its hand.  python docs/pictures/viewer.py"""
import io
import shutil
import time
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import mbros
from mbros.simulate.simulator import make_plant
from mbros.view.drive import Drive
from mbros.view.page import Page

FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-background-networking"]


def main():
    model = mbros.load("panda")
    with Page(Drive(make_plant(model)), port=0) as page, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        tab = browser.new_page(viewport={"width": 1080, "height": 640})
        tab.set_default_timeout(240_000)
        tab.goto(page.url)
        tab.wait_for_selector("canvas")
        time.sleep(15.0)
        for button in tab.query_selector_all(".mantine-Notification-closeButton"):
            button.evaluate("element => element.click()")
        hand = model.body("panda_hand")
        at = model.pose(model.default_state(), hand).p
        page.motion.play()
        page.motion.hands.grip(hand.frame_index, at, at + np.array([0.15, -0.25, 0.1]))
        time.sleep(6.0)
        picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        browser.close()
    picture.quantize(128, dither=Image.Dither.NONE).save(Path(__file__).with_name("viewer.png"), optimize=True)


if __name__ == "__main__":
    main()
