"""What the node keeps in memory, and what keeps its ports."""
import gc
import re
import time
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

MB = 1_000_000
PAGE = Path(__file__).resolve().parents[2] / "docs" / "realtime.md"


@pytest.fixture(scope="module")
def nursery():
    """These nodes start from nothing: their memory is their own."""


def status(process, key):
    """A size from /proc/<pid>/status, in bytes."""
    with open(f"/proc/{process.process.pid}/status", encoding="ascii") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def test_trial_C11_the_node_locks_what_its_loop_touches(simulate):
    """With real-time rights arm7 stays below 130 MB, a subscriber included, and its loop meets no new page. The kernel itself may move
    some: the best of three nodes counts, as what is left to be touched is so in each."""
    faults = []
    while min(faults, default=9) > 5 and len(faults) < 3:
        sim = simulate("arm7", f"/memory_{len(faults)}")
        sim.until(lambda s=sim: s.states > 100)
        sim.until(lambda s=sim: "page faults" in s.status.get("real time", {}))
        if "Memory was not locked" in sim.status["real time"]["privileges"]:
            pytest.skip(sim.status["real time"]["privileges"])
        assert status(sim.process, "VmRSS") < 130 * MB
        assert 20 * MB < status(sim.process, "VmLck") < 100 * MB
        faults.append(int(sim.status["real time"]["page faults"]))
    assert min(faults) <= 5, faults


def test_trial_C10_the_page_says_what_the_node_counts(simulate):
    """The loop allocates nothing; the node's loop calls the middleware, which does, about as often as docs/realtime.md says."""
    sim = simulate("arm7", "/counts", count_allocations=True)
    first = sim.fresh_status("real time")
    sim.until(lambda: int(sim.status.get("real time", first)["steps"]) > int(first["steps"]) + 1000)     # looked at every 64th slot
    second = sim.fresh_status("real time")
    if second["allocations"] == "not counted":
        pytest.skip("allocations cannot be counted here")
    each = (int(second["allocations"]) - int(first["allocations"])) / (int(second["steps"]) - int(first["steps"]))
    said = re.search(r"With Fast DDS `/diagnostics` shows about (\w+) allocations a step, (\w+) with a subscriber",
                     " ".join(PAGE.read_text().split()))
    least, most = (["no", "one", "two", "three", "four", "five", "six", "seven", "eight"].index(word) for word in said.groups())
    if rclpy.get_rmw_implementation_identifier().startswith("rmw_fastrtps"):
        assert least - 1 < each < most + 1


def test_trial_A5_the_capsules_of_the_data_plane_keep_their_ports():
    from mbros.ros.wire import _dataplane as native

    def output():
        return native.Output("numbers", None, bytes(64), [[0, 8, 4]], [0], native.StampClock(1e-3)).capsule

    def command():
        return native.CommandInput("commands", "joint_state", None, ["a", "b"], [0, 1], 2, native.StampClock(1e-3)).capsule

    outputs, inputs = [output() for _ in range(20)], [command() for _ in range(20)]
    gc.collect()
    junk = [bytes(64) for _ in range(1000)]
    for out, into in zip(outputs, inputs):
        native.drive_output(out, np.arange(4.0), step=1, wall_ns=time.time_ns())
        assert native.drive_input(into, 2) is None
    assert len(junk) == 1000
    port = native.Output("numbers", None, bytes(64), [[0, 8, 4]], [0], native.StampClock(1e-3))
    native.drive_output(port.capsule, np.arange(4.0), step=1)
    assert np.array_equal(np.frombuffer(port.message[8:40]), np.arange(4.0))
