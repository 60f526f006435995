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
    """How late single steps begin depends on the machine; that all are made is the loop's promise. A machine may be stopped for a
    moment, or have other work: a loop that waits for its page waits in each of some runs."""
    seen = []
    for _ in range(8):
        statistics, drift = played(1.0, look)
        seen.append((statistics.lost_time, statistics.slots, drift))
        if statistics.lost_time < 0.05 and statistics.slots > 900 and abs(drift) < 0.1:
            return
    pytest.fail(f"(s lost, slots, s of drift) of each second: {seen}")
