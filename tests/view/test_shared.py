"""A control that a person and the program both turn: what the person gave stands, and is shown."""
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import mbros
from mbros.errors import MbrosError
from mbros.simulate.simulator import make_plant
from mbros.view import shared
from mbros.view.drive import Drive
from mbros.view.page import Page
from mbros.view.shared import Shared


class Slider:
    """Keeps what is sent to browsers; like viser's, changes only."""

    min, max, step = -1.0, 1.0, 0.001

    def __init__(self):
        self._impl, self.sent = SimpleNamespace(value=0.0), []

    @property
    def value(self):
        return self._impl.value

    @value.setter
    def value(self, value):
        if value != self._impl.value:
            self.sent.append(value)
        self._impl.value = value

    def typed(self, value):
        """By a person: the server hears it, nothing is sent."""
        self._impl.value = value


@pytest.fixture
def slider():
    return Slider()


def test_it_follows_what_moves_and_is_silent_about_what_stands(slider):
    control = Shared(slider, 0.0)
    for value in (0.0, 0.5, 0.5, 0.5002, 7.0):
        control.follow(value)
    assert slider.sent == [0.5, 1.0]


def test_an_old_value_does_not_overwrite_a_new_number(slider):
    """Between the number that came from a browser and the motion that follows from it, the robot still is where it was."""
    control = Shared(slider, 0.0)
    slider.typed(0.7)
    for value in (0.0, 0.3):                # it moves, and nobody has said yet that it was touched
        control.follow(value)
    control.touched(0.7)
    control.follow(0.0)
    control.follow(0.3)                     # on its way there
    assert slider.sent == [] and slider.value == 0.7


def test_what_may_have_overwritten_it_is_followed_by_what_holds(slider, monkeypatch):
    control = Shared(slider, 0.0)
    control.follow(0.1)                     # on its way while somebody types
    slider.typed(0.7)
    control.touched(0.7)
    monkeypatch.setattr(shared, "QUIET", 0.0)
    control.follow(0.7)
    control.follow(0.7)
    assert slider.sent == [0.1, 0.7] and slider.value == 0.7


def test_what_nothing_can_have_overwritten_is_not_sent_again(slider, monkeypatch):
    """It would overwrite what is typed next."""
    control = Shared(slider, 0.0)
    slider.typed(0.7)
    control.touched(0.7)
    monkeypatch.setattr(shared, "QUIET", 0.0)
    control.follow(0.7)
    assert slider.sent == []
    control.follow(0.6)
    assert slider.sent == [0.6]


def test_what_is_refused_is_taken_back_at_once(slider):
    control = Shared(slider, 0.2)
    slider.typed(0.7)
    control.touched(0.7)
    control.refused()
    control.follow(0.2)
    assert slider.value == 0.2 and slider.sent[-1] == 0.2


def turn(page, k, value):
    """As a browser does it: viser has the value, then the callbacks are called."""
    handle = page.inspect._sliders[k][1].slider
    handle._impl.value = value
    for react in handle._impl.update_cb:
        react(SimpleNamespace(client_id=0, target=handle))


def test_two_sliders_turned_at_once_both_count():
    """A place is taken from where the one before has put the robot, however long that takes."""
    class Slow(Drive):
        def place(self, q):
            time.sleep(0.02)
            super().place(q)

    with Page(Slow(make_plant(mbros.load("arm7"))), port=0) as page:
        threads = [threading.Thread(target=turn, args=(page, k, 0.1 * (k + 1))) for k in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert np.allclose(page.motion.sample().q, 0.1 * np.arange(1, 8), atol=2e-3)


def test_a_refused_place_is_said_and_the_slider_goes_back():
    class Stubborn(Drive):
        def place(self, q):
            raise MbrosError("not now")

    with Page(Stubborn(make_plant(mbros.load("pendulum"))), port=0) as page:
        said = []
        page.say = said.append
        turn(page, 0, 0.5)
        end = time.monotonic() + 240.0
        while page.inspect._sliders[0][1].slider.value != 0.0:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert said == ["not now"]


def test_what_people_do_is_done_one_after_the_other():
    """A box that is ticked and cleared at once: the second half of ticking must not come after clearing."""
    with Page(Drive(make_plant(mbros.load("pendulum"))), port=0) as page:
        inside, most, reactions = [], [], []

        def act(event):
            inside.append(event)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

        page.when(reactions.append, act)
        threads = [threading.Thread(target=reactions[0], args=(SimpleNamespace(client_id=1),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == [1, 1, 1, 1]
