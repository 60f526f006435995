"""The page in a real browser: what a person sees and does."""
import time

import numpy as np
import pytest
from tabs import new_tab

import mbros
from mbros.simulate.simulator import make_plant
from mbros.view.drive import Drive
from mbros.view.page import Page
from mbros.view.shared import QUIET


# A red bar that turns about y in front of the camera.
BAR = """<robot name="bar"><link name="post"/>
<link name="bar"><inertial><origin xyz="0 0 0.5"/><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial>
<visual><origin xyz="0 0 0.5"/><geometry><box size="0.06 0.06 1"/></geometry>
<material name="red"><color rgba="0.9 0.02 0.02 1"/></material></visual>
</link><joint name="hinge" type="revolute"><parent link="post"/><child link="bar"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="20" velocity="10"/></joint></robot>"""
# Seen along its axis from far away: angles in the picture are angles of the joint.
CAMERA = "?initialCameraPosition=0,-20,0&initialCameraLookAt=0,0,0&initialCameraFov=0.15&initialCameraFar=100"


@pytest.fixture(scope="module")
def opened(chromium, pictures):
    """(page, tab) of the bar."""
    with Page(Drive(make_plant(mbros.load(BAR))), port=0) as page, new_tab(chromium, pictures, "bar") as tab:
        page.server.scene.remove_by_name("/origin")             # its x axis is red too
        tab.open(page.url + CAMERA)
        yield page, tab


@pytest.fixture
def bar(opened):
    """(page, tab), paused at the start, as the page says too. Opening takes longest, so it is done once."""
    page, tab = opened
    page.motion.pause()
    page.motion.reset()
    tab.tab("Inspect")
    tab.until(lambda: float(tab.field("hinge").input_value()) == 0.0, "the start")
    tab.tab("Simulate")
    tab.until(lambda: abs(angle(tab.image())) < 0.02, "the picture of the start")
    return opened


def angle(image) -> float:
    """Of the red bar, from the vertical, clockwise, rad in (-pi, pi): from the hinge in the middle to the middle of the red. NaN where
    there is none: the page has not drawn it yet."""
    red = (image[..., 0] > 90) & (image[..., 1] < 70) & (image[..., 2] < 70)
    if red.sum() <= 100:
        return np.nan
    y, x = np.nonzero(red)
    return float(np.arctan2(x.mean() - image.shape[1] / 2, image.shape[0] / 2 - y.mean()))


def reported(page) -> float:
    return float(page.motion.sample().q[0])


def test_a_slider_turns_the_robot_by_its_angle(bar):
    page, tab = bar
    tab.until(lambda: abs(angle(tab.image())) < 0.02, "the bar upright")
    tab.tab("Inspect")
    for wanted in (0.7, -1.2):
        tab.type_into("hinge", wanted)
        tab.until(lambda: abs(reported(page) - wanted) < 1e-6, "the position")
        tab.until(lambda: abs(angle(tab.image()) - wanted) < 0.02, "the picture")
    tab.image(keep="slider")


def test_a_number_typed_right_after_a_reset_stands(bar):
    """What the page sends about the reset crosses it, and must not win, nor stay on the page."""
    page, tab = bar
    tab.tab("Inspect")
    tab.type_into("hinge", 1.05)
    tab.until(lambda: abs(reported(page) - 1.05) < 1e-6, "the position")
    page.motion.reset()
    tab.field("hinge").fill("0.7")
    tab.until(lambda: abs(reported(page) - 0.7) < 1e-6, "the position")
    time.sleep(QUIET + 0.5)
    assert abs(reported(page) - 0.7) < 1e-6 and tab.field("hinge").input_value() == "0.7"


def test_play_pause_reset(bar):
    page, tab = bar
    tab.tab("Inspect")
    tab.type_into("hinge", 1.05)
    tab.until(lambda: abs(reported(page) - 1.05) < 1e-6, "the position")
    tab.tab("Simulate")
    tab.button("Play")
    tab.until(lambda: page.motion.sample().time > 0.5, "half a second")
    assert abs(reported(page) - 1.05) < 0.01                    # held: it does not fall at first sight
    tab.box("hold against gravity")
    tab.until(lambda: abs(reported(page)) > 1.5, "the fall")
    tab.button("Pause")
    tab.until(lambda: not page.motion.sample().playing, "the pause")
    tab.box("hold against gravity")
    still = page.motion.sample()
    tab.until(lambda: abs(angle(tab.image()) - reported(page)) < 0.03, "the picture of the pause")
    first = tab.image(keep="paused")
    time.sleep(0.5)
    assert page.motion.sample().time == still.time and np.abs(tab.image() - first).max() < 8.0
    tab.button("Step")
    tab.until(lambda: page.motion.sample().time > still.time, "the step")
    assert page.motion.sample().time == pytest.approx(still.time + page.motion.dt, abs=1e-9)
    tab.button("Reset")
    tab.until(lambda: page.motion.sample().time == 0.0, "the reset")
    assert reported(page) == 0.0
    tab.until(lambda: abs(angle(tab.image())) < 0.03, "the picture of the start")


def test_an_effort_moves_it_and_zero_ends_it(bar):
    page, tab = bar
    tab.button("Play")
    tab.type_into("hinge", 2.0)
    tab.until(lambda: reported(page) > 0.2, "the motion")
    assert page.motion.hands.efforts[0] == pytest.approx(2.0)
    tab.button("Zero")
    tab.until(lambda: page.motion.hands.efforts[0] == 0.0, "zero")


def test_the_mouse_pulls_a_body(bar):
    page, tab = bar
    tab.until(lambda: abs(angle(tab.image())) < 0.02, "the bar upright")
    tab.button("Play")
    tab.until(lambda: page.motion.playing, "playing")
    height, width = tab.image().shape[:2]
    mouse, x, y = tab.page.mouse, width / 2, height / 2 - 60
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 30, y, steps=4)
    mouse.move(x + 80, y, steps=8)
    tab.until(lambda: page.motion.hands.spring(page.motion.sample()) is not None, "the spring")
    tab.until(lambda: reported(page) > 0.3, "the bar following the mouse")
    tab.image(keep="pulled")
    mouse.up()
    tab.until(lambda: page.motion.hands.spring(page.motion.sample()) is None, "letting go")
    page.motion.pause()
    assert not page.motion.plant.state.external_force.any()


def test_a_click_on_a_body_says_what_it_is(bar):
    page, tab = bar
    tab.until(lambda: abs(angle(tab.image())) < 0.02, "the bar upright")
    tab.tab("Inspect")
    height, width = tab.image().shape[:2]
    tab.page.mouse.click(width / 2, height / 2 - 60)
    tab.page.get_by_text("carried by joint", exact=False).wait_for()
    assert page.overlays._pointed.text == "bar"
    tab.image(keep="clicked")
    tab.page.mouse.click(width / 2, height / 2 - 60)
    tab.page.get_by_text("Click a body", exact=False).wait_for()
    assert page.overlays._pointed is None


def test_panda_with_its_meshes(tab):
    pytest.importorskip("collada")
    from mbros.describe.urdf.packages import example_robot_data

    if not example_robot_data():
        pytest.skip("panda comes with example-robot-data (pip install example-robot-data)")
    with Page(Drive(make_plant(mbros.load("panda"))), port=0) as page:
        assert not page.scene.problems
        assert sum(len(handle.faces) for pieces in page.scene.pieces for handle in pieces) > 100_000
        page.scene.shadows(False)           # they take most of the time here
        tab.open(page.url)
        before = tab.image(keep="opened")
        q = np.array(page.motion.sample().q)
        q[0] += 0.5
        page.motion.place(q)
        tab.until(lambda: np.abs(tab.image() - before).max() > 60.0, "the picture of the other position")
        tab.image(keep="moved")


def test_layers(bar):
    """Joint axes and centres of mass, which are drawn when somebody asks, and go again."""
    _, tab = bar
    tab.tab("Inspect")
    without = tab.image()
    for layer in ("joint axes", "centre of mass"):
        tab.box(layer)
        tab.until(lambda: np.abs(tab.image() - without).max() > 60.0, layer)
        tab.image(keep=layer.replace(" ", "-"))
        tab.box(layer)
        tab.until(lambda: np.abs(tab.image() - without).max() < 20.0, f"no {layer}")


def test_plots(bar):
    page, tab = bar
    page.motion.play()
    tab.until(lambda: page.motion.sample().time > 0.3, "motion")
    page.motion.pause()
    tab.tab("Plots")
    tab.page.locator(".uplot canvas").first.wait_for()
    drawn = "() => { const c = document.querySelector('.uplot canvas'); " \
        "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(x => x); }"
    tab.page.wait_for_function(drawn)
    tab.image(keep="plots")


def test_a_refusal_is_a_note_on_the_page(bar):
    _, tab = bar
    tab.page.get_by_text("Gravity and parameters").click(force=True)
    tab.type_into("value", "heavy")
    tab.button("Set")
    tab.page.get_by_text("expected a number", exact=False).wait_for()


def test_two_browsers_see_the_same_and_one_may_go(bar, chromium, pictures):
    page, tab = bar
    with new_tab(chromium, pictures, "second") as other:
        other.open(page.url + CAMERA)
        other.tab("Inspect")
        other.type_into("hinge", 0.8)
        tab.until(lambda: abs(angle(tab.image()) - 0.8) < 0.02, "the picture in the other browser")
        other.page.get_by_role("tab", name="Simulate").click(force=True)
        other.button("Play")
        tab.until(lambda: page.motion.playing, "playing")
    before = page.motion.sample().time
    tab.until(lambda: page.motion.sample().time > before + 0.2, "time going on")
    tab.button("Pause")
    tab.until(lambda: not page.motion.playing, "the pause")
