"""While simulated time stands still: what is told, how often, and with which stamp; the same from both data planes."""
import numpy as np
import pytest
from python_plane import Stamps
from ros_plain import PAUSED, RESET, STEPPED, WALL

from mbros.ros.wire.messages import START_NS

PERIOD = 1_000_000
MS = 10**6


def native_clock(always=False):
    pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
    from mbros.ros.wire import _dataplane as native
    return native, native.StampClock(1e-3, always)


def tellings(snapshots, always=False, share=1.0):
    """(stamps of a topic, of /clock) as the native plane publishes them: (step, time, wall, flags, number) each."""
    native, clock = native_clock(always)
    topic = native.Output("topic", None, bytes(24), [[0, 12, 1]], [4], clock, share=share)
    ticks = native.Output("clock", None, bytes(16), [], [4], clock, only_simulated=True)
    told, clocks, oracle = [], [], Stamps(PERIOD, always)
    for step, time, wall, flags, number in snapshots:
        before = topic.message
        for output in (topic, ticks):
            native.drive_output(output.capsule, np.array([float(number)]), step, time, wall, flags)
        stamp = oracle.stamp(step, time, wall, flags, [number])
        assert clock.stamp_ns == stamp
        if topic.message != before:
            told.append((nanoseconds(topic.message), number))
            assert told[-1][0] == stamp and (share < 1.0 or not oracle.still or oracle.changed or oracle.beat)
        clocks.append(nanoseconds(ticks.message))
    return told, clocks


def nanoseconds(message):
    sec, nanosec = np.frombuffer(message, "<u4", 2, 4).tolist()
    return sec * 10**9 + nanosec


def paused(n, start=0, step=2, number=7.0):
    return [(step, 1e-3 * step, WALL + (start + k) * MS, PAUSED, number) for k in range(n)]


def test_trial_C8_a_robot_that_stands_still_is_told_ten_times_a_second_each_time_with_a_stamp_of_its_own():
    told, clocks = tellings([(1, 1e-3, WALL - 2 * MS, 0, 7.0), (2, 2e-3, WALL - MS, 0, 7.0), *paused(1000)])
    stamps = [stamp for stamp, _ in told]
    assert stamps == [WALL - 2 * MS, WALL - MS, *(WALL - MS + k for k in range(1, 11))]
    assert set(clocks[2:]) == {WALL - MS}                       # time itself stands still


def test_trial_C8_a_robot_that_was_put_elsewhere_is_told_at_once():
    told, _ = tellings([*paused(20), *paused(20, 20, number=8.0), *paused(3, 40, number=7.0)])
    assert [number for _, number in told] == [7.0, 8.0, 7.0]
    assert [stamp - told[0][0] for stamp, _ in told] == [0, 1, 2]


def test_trial_C8_an_explicit_step_has_the_stamp_of_its_time():
    steps = [(k, 1e-3 * k, WALL + (500 + k) * MS, PAUSED | STEPPED, 7.0 + k) for k in (3, 4)]
    told, clocks = tellings([*paused(500), *steps, *paused(150, 600, step=4, number=11.0)], always=True)
    assert [stamp - START_NS for stamp, _ in told] == [2 * MS, *(2 * MS + k for k in range(1, 5)), 3 * MS, 4 * MS, 4 * MS + 1, 4 * MS + 2]
    assert clocks[-1] == START_NS + 4 * MS


def test_trial_C8_a_reset_in_the_pause_goes_on_after_the_last_stamp():
    again = [(0, 0.0, WALL + 400 * MS, PAUSED | RESET, 7.0), (0, 0.0, WALL + 401 * MS, PAUSED, 7.0),
             (0, 0.0, WALL + 402 * MS, PAUSED | RESET, 7.0)]
    told, clocks = tellings([*paused(350), *again], always=True)
    assert [stamp - START_NS for stamp, _ in told[-3:]] == [2 * MS + 3, 3 * MS, 3 * MS + 1]
    assert clocks[-1] == START_NS + 3 * MS and sorted(clocks) == clocks


def test_trial_C8_a_slow_topic_stays_slow():
    told, _ = tellings(paused(2000), share=0.002)            # 2 Hz
    assert 4 <= len(told) <= 5


def test_the_nanoseconds_never_reach_the_next_step():
    stamps = Stamps(100, always=True)                           # a period of 100 ns
    seen = [stamps.stamp(1, 1e-7, WALL + k * 200 * MS, PAUSED, [1.0]) for k in range(200)]
    assert seen[-1] == seen[60] == START_NS + 150
    assert stamps.stamp(2, 2e-7, WALL + 10**12, PAUSED | STEPPED, [1.0]) == START_NS + 200


def test_a_system_clock_that_is_set_back_does_not_silence_the_robot():
    told, _ = tellings([*paused(150), *((2, 2e-3, WALL - 3600 * 10**9 + k * MS, PAUSED, 7.0) for k in range(150))])
    assert len(told) == 4


# --- a node


@pytest.fixture(scope="module")
def sim(simulate):
    return simulate("arm7", "/still", start_paused="true", diagnostics_rate=10.0)


@pytest.mark.ros
def test_trial_C8_a_paused_node_is_heard_and_tf2_has_nothing_to_complain_of(sim):
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage
    states, a = sim.collect(JointState, "joint_states")
    transforms, b = sim.collect(TFMessage, "/tf")
    sim.until(lambda: len(states) >= 12 and len(transforms) >= 12, "for a beat")
    for stamps in ([message.header.stamp for message in states], [m.transforms[0].header.stamp for m in transforms]):
        counted = [stamp.sec * 10**9 + stamp.nanosec for stamp in stamps]
        assert counted == sorted(set(counted)), "a stamp came twice"
        assert counted[-1] < START_NS + 10**5                   # simulated time is still 0, but for nanoseconds
    for subscription in (a, b):
        sim.node.destroy_subscription(subscription)


@pytest.mark.ros
def test_trial_C7_a_reset_says_what_is_true_of_time(sim):
    answer = sim.trigger("reset").message
    assert "time 0" not in answer
    assert answer == "at the initial positions, at rest; steps and simulated time count from 0 again, stamps go on"
    before = sim.fresh().header.stamp
    assert sim.take_steps().message == "1 step, simulated time 0.001000 s"
    assert sim.trigger("reset").success
    after = sim.fresh().header.stamp
    assert (after.sec, after.nanosec) > (before.sec, before.nanosec)
