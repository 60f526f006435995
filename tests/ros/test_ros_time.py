"""Simulated time: paused from the start, stepped, faster than real time; and wall time otherwise."""
import time

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def clocks(sim):
    from rosgraph_msgs.msg import Clock
    return sim.collect(Clock, "clock")


@pytest.fixture(scope="module")
def paused(simulate):
    return simulate("pendulum", "/paused", start_paused="true", joint_states_rate=500.0,
                    diagnostics_rate=20.0)


def test_a_paused_start_waits_at_the_time_of_one_second(paused):
    from rosgraph_msgs.msg import Clock
    ticks, subscription = paused.collect(Clock, "clock")
    paused.until(lambda: len(ticks) >= 3, "for /clock")
    assert {nanoseconds(t.clock) for t in ticks} == {10**9}
    assert 0 <= nanoseconds(paused.fresh().header.stamp) - 10**9 < 10**5         # a nanosecond more each time it is told again
    paused.node.destroy_subscription(subscription)


def test_every_explicit_step_is_on_clock_and_stamps_agree(paused):
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    ticks, a = paused.collect(Clock, "clock")
    states, b = paused.collect(JointState, "joint_states")
    paused.until(lambda: ticks and states)
    start = nanoseconds(ticks[-1].clock)
    for k in range(1, 6):
        assert paused.take_steps().success
        paused.until(lambda k=k: nanoseconds(ticks[-1].clock) == start + k * 1_000_000
                     and start + k * 1_000_000 in {nanoseconds(state.header.stamp) for state in states}, f"for step {k}")
    assert {start + k * 1_000_000 for k in range(6)} <= {nanoseconds(t.clock) for t in ticks}
    for subscription in (a, b):
        paused.node.destroy_subscription(subscription)


def test_commands_are_applied_in_lockstep(paused):
    """What a controller does that wants the same answer every time: command, step, look."""
    def accepted():
        return int(paused.status.get("commands", {}).get("joint_commands accepted", 0))

    def run():
        assert paused.trigger("reset").success
        seen = []
        for k in range(5):
            effort, before = 0.1 * (k + 1), int(paused.fresh_status("commands")["joint_commands accepted"])
            paused.until(lambda n=before: accepted() > n, "for the command to be taken",
                         every=lambda e=effort: paused.send([name], [e]))
            assert paused.take_steps().success
            paused.until(lambda e=effort: paused.state.effort[0] == e, "for the step under it")
            seen.append((paused.state.position[0], paused.state.velocity[0]))
        return seen

    name = paused.fresh().name[0]
    paused.set(watchdog_timeout=0.0)
    first = run()
    assert first == run() and len(set(first)) == 5


def test_a_sticky_clock_goes_on_after_the_pause(paused):
    from rosgraph_msgs.msg import Clock
    ticks, subscription = paused.collect(Clock, "clock")
    paused.until(lambda: ticks)
    start = nanoseconds(ticks[-1].clock)
    assert paused.pause(False).success
    paused.until(lambda: nanoseconds(ticks[-1].clock) > start + 50_000_000, "for time to pass")
    assert nanoseconds(paused.fresh().header.stamp) < 3600 * 10**9           # simulated time, not the wall's
    assert paused.trigger("reset").success
    paused.until(lambda: nanoseconds(ticks[-1].clock) > start + 100_000_000)
    stamps = [nanoseconds(t.clock) for t in ticks]
    assert stamps == sorted(stamps)
    paused.pause(True)
    paused.node.destroy_subscription(subscription)


def test_in_step_with_the_wall_there_is_no_clock_and_a_pause_brings_it(simulate):
    sim = simulate("pendulum", "/wall", joint_states_rate=200.0)
    from rosgraph_msgs.msg import Clock
    ticks, _ = sim.collect(Clock, "clock")
    assert abs(nanoseconds(sim.fresh().header.stamp) - time.time_ns()) < 10 * 10**9      # system time
    sim.spin(0.1)
    assert ticks == [] and sim.node.count_publishers(f"{sim.namespace}/clock") == 0
    sim.pause(True)
    sim.until(lambda: len(ticks) > 3, "for /clock")
    stamps = {nanoseconds(t.clock) for t in ticks}
    assert len(stamps) == 1 and abs(stamps.pop() - time.time_ns()) < 10 * 10**9
    paused = nanoseconds(ticks[-1].clock)
    sim.pause(False)
    assert nanoseconds(sim.fresh().header.stamp) > paused
    sim.until(lambda: nanoseconds(ticks[-1].clock) > paused + 10**8, "for the clock to go on")


def test_ten_times_faster_is_ten_times_faster(simulate):
    sim = simulate("pendulum", "/fast", real_time_factor=10.0, joint_states_rate=20.0)
    from rosgraph_msgs.msg import Clock
    ticks, _ = sim.collect(Clock, "clock")
    sim.until(lambda: ticks)
    first, start = nanoseconds(ticks[-1].clock), time.monotonic()
    marks = []                              # (s of the wall, s simulated) at each look

    def fast():
        """Whether the newest half second, at least, had five times as much; a busy machine has that now and then."""
        marks.append((time.monotonic() - start, (nanoseconds(ticks[-1].clock) - first) * 1e-9))
        since = next((mark for mark in reversed(marks) if mark[0] < marks[-1][0] - 0.5), None)
        return since is not None and marks[-1][1] - since[1] > 5.0 * (marks[-1][0] - since[0])

    sim.until(fast, "for ten times the speed")
    assert marks[-1][1] < 10.0 * marks[-1][0] + 5.0         # what was on its way at the start is half a second of the wall
    assert sim.set(real_time_factor=0.05) != "" and sim.set(real_time_factor=2.0) == ""
