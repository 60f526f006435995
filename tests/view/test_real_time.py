"""The real-time loop never waits for its page: no simulated time is lost. (With a browser on it: python -m benchmarks.viewer.)"""
import time

import pytest

import mbros
from mbros.simulate.simulator import make_plant
from mbros.view.drive import Drive
from mbros.view.page import Page


def played(seconds, look):
    """(statistics, simulated time minus the clock's, s) of arm7 at 1 kHz."""
    drive = Drive(make_plant(mbros.load("arm7")), rt="auto")
    page = Page(drive, port=0) if look else None
    drive.play()
    begun, at = time.monotonic(), drive.sample().time
    time.sleep(seconds)
    drift = drive.sample().time - at - (time.monotonic() - begun)
    drive.pause()
    statistics = drive.statistics()
    (page or drive).close()
    return statistics, drift


@pytest.mark.parametrize("look", [False, True], ids=["alone", "with a page"])
def test_no_time_is_lost(look):
    """How late single steps begin depends on the machine; that all are made is the loop's promise. A virtual machine may be stopped for
    a moment."""
    statistics, drift = played(3.0, look)
    assert statistics.lost_time < 0.05 and statistics.slots > 2900
    assert abs(drift) < 0.1, statistics.lateness.text("lateness")
