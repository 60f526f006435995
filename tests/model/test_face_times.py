"""That the public face stays as fast as it was made: `python -m benchmarks.face`, in its quick form, with bounds that a shared machine
keeps."""
import pytest

import mbros
from benchmarks import face

GENEROUS = 3.0              # times the bound of the benchmark, in which a microsecond is so many empty calls of the engine here and now:
EMPTY_CALLS = 30
# these go through Python still, or through code of their own
LEFT_OUT = {"sim.step({one: x})", "sim.step of all joints", "sim.command of one", "sim.command of seven", "sim.signals[name].value",
            "signal.value, held", "sim.reset", "set_parameter(mass)", "rollout of 1 x 1", "X.quat_wxyz", "X @ X.inverse()",
            "Pose.make(quat_wxyz)", "V.moved_to", "joint.transform"}


def beyond(costs):
    return {f"{row.name} ({robot})": round(c.of_bound(EMPTY_CALLS * c.empty), 2) for (robot, row), c in costs.items()
            if row.name not in LEFT_OUT and c.of_bound(EMPTY_CALLS * c.empty) > GENEROUS}


@pytest.mark.parametrize("robot", ["ur5", "quadruped"])
def test_trial_L1_a_call_costs_what_the_engine_takes_and_a_microsecond(robot):
    try:
        slow = beyond(face.measure(robot, 3, 3e-4))
    except mbros.UnknownNameError as error:                 # of a package that is not there
        pytest.skip(str(error))
    for _ in range(3):                                      # somebody else was busy, or it is so
        if slow:
            again = beyond(face.measure(robot, 5, 5e-4, tuple(name.partition(" (")[0] for name in slow)))
            slow = {name: min(times, again[name]) for name, times in slow.items() if name in again}
    assert not slow


def test_every_row_says_what_is_timed():
    assert len({(row.section, row.name) for row in face.ROWS}) == len(face.ROWS)
    assert LEFT_OUT <= {row.name for row in face.ROWS}
