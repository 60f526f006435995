"""One time on a graph: stamps that never go back, one /clock, and controllers with use_sim_time that live through everything."""
import random
import re
import time

import numpy as np
import pytest
from python_commands import command_from_joint_state
from python_plane import Stamps, in_use
from ros_client import own_clock
from ros_plain import PAUSED, RESET, STEPPED, WALL
from soak.one_time import soak
from test_ros_time import nanoseconds

from mbros.ros.wire.messages import START_NS

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
from mbros.ros.wire import _dataplane as native  # noqa: E402

MS = 10**6


def life(draw, moments):
    """A random history of a node: (act, step, time, wall, flags), act of both clocks before the snapshot, or None."""
    step, wall, paused, act = 0, WALL, False, None
    for _ in range(moments):
        kind = draw.choice(("run", "run", "run", "pause", "step", "reset", "scaled", "restored", "set back", "resume", "lost"))
        flags, act = 0, None
        wall += MS
        if kind in ("pause", "resume"):
            paused = kind == "pause"
        if kind == "step" and paused:
            flags = STEPPED
        if kind == "reset":
            step, flags = 0, RESET
        elif kind == "restored":
            step, act = draw.randrange(10**6), "go_on"
        elif not paused or flags & STEPPED:
            step += 1
        if kind == "scaled":
            act = draw.choice((True, False))
        if kind == "set back":
            wall -= draw.randrange(10**9)
        if kind == "lost":
            wall += draw.randrange(10**9)
        yield act, step, 1e-3 * step, wall, flags | PAUSED * paused


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("always", [False, True])
def test_trial_R3_no_history_of_a_node_sends_stamps_back(seed, always):
    clock, oracle, draw = native.StampClock(1e-3, always), Stamps(MS, always, max_age=5 * 10**8), random.Random(seed)
    output = native.Output("o", None, bytes(16), [], [4], clock)
    newest, ticks = -1, -1
    native.CommandInput("c", "joint_state", None, ["a"], [0], 1, clock)
    for act, step, at, wall, flags in life(draw, 2000):
        for one in (clock, oracle):
            if act == "go_on":
                one.go_on()
            elif act is not None:
                one.set_scaled(act)
        native.drive_output(output.capsule, np.zeros(1), step, at, wall, flags)
        stamp = oracle.stamp(step, at, wall, flags, np.zeros(1))
        assert (clock.stamp_ns, clock.clock_ns, clock.simulated) == (stamp, oracle.clock_ns, oracle.simulated)
        assert stamp >= newest and oracle.clock_ns >= ticks
        newest, ticks = stamp, oracle.clock_ns


def test_trial_R3_a_system_clock_that_is_set_back_is_met_half_way():
    stamps = Stamps(MS)
    seen = [stamps.stamp(k, 1e-3 * k, WALL + k * MS - (10 * MS if k > 5 else 0), 0) for k in range(40)]
    assert all(b > a for a, b in zip(seen, seen[1:]))
    assert seen[6] - seen[5] == MS // 2 and seen[39] == WALL + 29 * MS, "it is caught up with"


def test_trial_R3_the_python_plane_keeps_its_time_in_another_world(executor, tmp_path):
    from test_ros_another_world import TWO, change

    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter
    path = tmp_path / "two.yaml"
    path.write_text(TWO)
    given = {"scene": str(path), "priority": 0, "start_paused": True}
    with in_use("python"):
        sim = SimNode([Parameter(name, value=value) for name, value in given.items()], cli_args=own_clock())
    try:
        sim.start()
        sim.loop.step_once(50)
        assert sim.plane.clock_of(*sim.loop.snapshot()) == START_NS + 50 * MS
        sim.services.reset(None)
        before = sim.plane.clock_of(*sim.loop.snapshot())
        with in_use("python"):
            change(sim, added=["third"])
        assert sim.plane.clock_of(*sim.loop.snapshot()) >= before > START_NS + 50 * MS
    finally:
        sim.end()
        sim.close()


@pytest.mark.parametrize("plane", ["native", "python"])
def test_trial_R8_a_command_is_as_old_as_the_wall_clock_says_where_time_is_fast(plane):
    """At 50 times the pace a message that is 0.2 s under way is 10 s old by its stamp."""
    from ros_plain import ROBOT, joint_state
    from test_ros_dataplane import cdr, real

    from mbros.ros.wire import commands
    clock, oracle, rules = native.StampClock(1e-3, True), Stamps(MS, True, max_age=5 * 10**8), commands.CommandRules()
    output = native.Output("o", None, bytes(16), [], [4], clock)
    port = native.CommandInput("c", "joint_state", None, ["elbow"], [0], 1, clock, rules.limit, rules.max_age)
    for k in range(2000):
        native.drive_output(output.capsule, np.zeros(1), 50 * k, 50e-3 * k, WALL + k * MS)
        oracle.stamp(50 * k, 50e-3 * k, WALL + k * MS, 0)

    def answer(age):
        message = joint_state(["elbow"], [1.0], stamp=clock.stamp_ns - round(50 * age * 1e9))
        wall = WALL + 2000 * MS
        if plane == "python":
            return command_from_joint_state(ROBOT, message, rules, oracle, wall)[0]
        return port.decode(cdr(real(message)), wall)[0]

    assert [answer(age) for age in (0.0, 0.2, 0.49, 0.53, 1.5)] == ["accepted"] * 3 + ["stale_stamp"] * 2
    assert answer(-0.02) == "future_stamp", "nobody knows of a state to come"


@pytest.mark.parametrize("plane", ["native", "python"])
def test_trial_R3_a_command_for_before_a_reset_is_stale_by_its_simulated_stamp_too(plane):
    from ros_plain import ROBOT, joint_state
    from test_ros_dataplane import cdr, real

    from mbros.ros.wire import commands
    clock, oracle, rules = native.StampClock(1e-3, True), Stamps(MS, True), commands.CommandRules()
    output = native.Output("o", None, bytes(16), [], [4], clock)
    port = native.CommandInput("c", "joint_state", None, ["elbow"], [0], 1, clock, rules.limit, rules.max_age)
    for step, flags in ((0, 0), (1, 0), (0, RESET), (1, 0)):
        native.drive_output(output.capsule, np.zeros(1), step, 1e-3 * step, WALL + step, flags)
        oracle.stamp(step, 1e-3 * step, WALL + step, flags)

    def answer(stamp):
        message = joint_state(["elbow"], [1.0], stamp=stamp)
        if plane == "python":
            return command_from_joint_state(ROBOT, message, rules, oracle, WALL)[0]
        return port.decode(cdr(real(message)), WALL)[0]

    assert (clock.stamp_ns, answer(START_NS + 1 * MS), answer(START_NS + 2 * MS)) == (START_NS + 3 * MS, "stale_stamp", "accepted")


@pytest.mark.parametrize("wanted", [1, 7, 50, 300, 333, 700, 999, 1000])
def test_trial_R9_a_rate_is_had_on_average_by_the_steps_nearest_to_its_times(wanted):
    clock = native.StampClock(1e-3)
    output = native.Output("o", None, bytes(16), [[0, 4, 1]], [], clock, share=wanted / 1000)

    def shown(step):
        native.drive_output(output.capsule, np.array([float(step)]), step, 1e-3 * step, WALL + step * MS)
        return np.frombuffer(output.message, "<f8", 1, 4)[0] == step

    steps = np.array([step for step in range(1, 20_002) if shown(step)])
    assert abs(len(steps) - 20 * wanted) <= 1
    assert abs(steps - 1 - 1000 / wanted * np.arange(len(steps))).max() <= 0.5 + 1e-6
    assert np.diff(steps).max() - np.diff(steps).min() <= 1


# --- nodes


@pytest.fixture(scope="module")
def wall(simulate):
    return simulate("arm7", "/one_time", diagnostics_rate=20.0)


@pytest.mark.ros
def test_trial_R3_R5_a_graph_in_one_time(executor, tmp_path):
    """The quick form of `python -m tests.soak.one_time --seconds 60`."""
    report = soak(10.0, tmp_path)
    assert report.good and report.commands > 500 and report.accepted > 0.8 * report.commands, f"{report}\n{report.said}"
    assert len(report.topics) == 11 and all(topic.messages > 50 for topic in report.topics.values()), str(report)


@pytest.mark.ros
def test_trial_R16_who_waits_for_a_clock_that_nobody_publishes_is_named(wall):
    import rclpy
    from rclpy.parameter import Parameter
    from rosgraph_msgs.msg import Clock
    node = rclpy.create_node("waits_in_vain", namespace="/one_time", parameter_overrides=[Parameter("use_sim_time", value=True)],
                             cli_args=["--ros-args", "-r", "/clock:=clock"])
    reader = rclpy.create_node("reads_it", namespace="/one_time", cli_args=["--ros-args", "-r", "/clock:=clock"])
    reader.create_subscription(Clock, "/clock", lambda message: None, 10)               # as `ros2 topic echo` and recorders do
    try:
        wall.until(lambda: node.count_subscribers("/one_time/clock") == 2, "for both to be on the graph")
        wall.until(lambda: "wait" in wall.status.get("time", {}).get("message", ""), "for the warning")
        assert wall.levels["time"] == 1
        said = re.findall(r"/one_time/waits_in_vain waits for /clock \(use_sim_time\), and nobody publishes it: .*simulated_time:=true",
                          wall.process.text)
        assert len(said) == 1 and "reads_it" not in wall.process.text
        assert wall.status["time"]["nodes that follow /clock"] == "1"
    finally:
        node.destroy_node()
        reader.destroy_node()


@pytest.mark.ros
def test_trial_R9_a_rate_beyond_that_of_the_steps_is_refused(wall):
    assert wall.set(joint_states_rate=3000.0) == ("joint_states_rate must be at most rate, 1000 Hz, got 3000: what is published is "
                                                  "published after a step")
    assert wall.set(clock_rate=1001.0).startswith("clock_rate must be at most rate, 1000 Hz")
    assert wall.get("joint_states_rate") == wall.get("clock_rate") == 1000.0


@pytest.mark.ros
def test_trial_R9_300_of_1000_are_300(wall):
    from sensor_msgs.msg import JointState
    assert wall.set(joint_states_rate=300.0) == ""
    states, subscription = wall.collect(JointState, "joint_states")
    wall.spin(0.2)
    states.clear()
    wall.until(lambda: len(states) >= 301, "for states")
    stamps = np.array([nanoseconds(state.header.stamp) for state in states])
    gaps = np.round(np.diff(stamps) / MS).astype(int)
    usual = gaps[gaps <= 4]                                     # a busy machine has gaps of its own
    assert set(usual.tolist()) == {3, 4} and abs((usual == 4).mean() - 1 / 3) < 0.05
    wall.node.destroy_subscription(subscription)
    wall.set(joint_states_rate=1000.0)


@pytest.mark.ros
def test_trial_R19_a_controller_slower_than_the_watchdog_is_in_the_log(wall):
    name, sent, at = wall.fresh().name[0], [0], [0.0]

    def command():
        if time.monotonic() >= at[0]:
            at[0] = time.monotonic() + 0.125
            wall.send([name], [0.0])
            sent[0] += 1

    pattern = (r"no valid command for watchdog_timeout, 0.1 s, \d+ times? \((they came at \S+ Hz|none came since)\): commands were "
               r"withdrawn \(efforts end, position servos hold\) until the next. Command faster than 10 Hz, or set watchdog_timeout longer")
    wall.until(lambda: re.search(pattern, wall.process.text), "for the word of the watchdog", every=command)
    wall.until(lambda: int(wall.status["commands"]["watchdog trips"]) > 8, "for more trips", every=command)
    assert len(re.findall(pattern, wall.process.text)) == 1, "said as seldom as each ten seconds"


@pytest.mark.ros
def test_trial_R4_who_would_publish_a_second_clock_is_refused(simulate):
    first = simulate("pendulum", "/first", "-r", "/clock:=/shared_clock", start_paused="true")
    second = simulate("pendulum", "/second", "-r", "/clock:=/shared_clock")
    second.until(lambda: second.status.get("time", {}).get("others that publish /clock") == "/first/mbros", "for the graph to be known")
    answer = second.pause(True)
    assert not answer.success and answer.message.startswith("/first/mbros publishes /clock already, and this would be a second one; robots")
    assert "/first/mbros publishes /clock already" in second.set(real_time_factor=2.0) and second.get("real_time_factor") == 1.0
    assert first.pause(False).success and second.fresh()


@pytest.mark.ros
def test_trial_R4_the_clock_of_a_node_that_has_ended_is_gone(executor):
    """In one process, and at once: the next one begins, and one beside it is refused, by name."""
    import rclpy
    from mbros.ros.errors import ParameterError
    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter

    def new(name):
        given = {"robot": "pendulum", "start_paused": True, "priority": 0}
        return SimNode([Parameter(key, value=value) for key, value in given.items()], namespace=name,
                       cli_args=["--ros-args", "-r", "/clock:=/clock_of_many"])

    watch = rclpy.create_node("watches_clocks")
    try:
        for name in ("/many_a", "/many_b", "/many_a"):
            sim, beside = new(name), None
            try:
                sim.start()
                assert [one.node_namespace for one in watch.get_publishers_info_by_topic("/clock_of_many")] == [name]
                beside = new("/many_c")
                with pytest.raises(ParameterError, match=f"{name}/mbros publishes /clock already"):
                    beside.start()
            finally:
                for one in (beside, sim):
                    if one is not None:
                        one.end()
                        one.close()
            assert watch.count_publishers("/clock_of_many") == 0
    finally:
        watch.destroy_node()


def test_trial_R4_a_clock_whose_node_is_not_known_yet_is_waited_for():
    """The graph tells of a publisher, and only then of its node."""
    from types import SimpleNamespace as Like

    from mbros.ros.errors import RequestError
    from mbros.ros.wire.one_clock import OneClock

    def clock(*looks):
        looks = list(looks)
        return OneClock(Like(node=Like(get_fully_qualified_name=lambda: "/own"), log=Like(info=lambda text: None),
                             plane=Like(serve_clock=lambda publisher: None),
                             _publishers=lambda topic: looks.pop(0) if len(looks) > 1 else list(looks[0])))

    with pytest.raises(RequestError, match="^/left/mbros publishes /clock already"):
        clock([""], [""], ["/left/mbros"]).take()
    assert clock([""], []).named_others() == []                 # one that was about to end
    with pytest.raises(RequestError, match="^a node unknown so far publishes /clock already"):
        clock([""]).take()


@pytest.mark.ros
def test_trial_R4_of_two_that_began_at_once_one_goes_on(simulate):
    from rosgraph_msgs.msg import Clock
    nodes = [simulate("pendulum", f"/twin_{k}", "-r", "/clock:=/twin_clock", ready=False, start_paused="true") for k in "ab"]
    a, b = nodes
    end = time.monotonic() + 20.0
    def gone():
        return next((one for one in nodes if one.process.process.poll() is not None), None)

    while gone() is None and "that of this node is withheld" not in b.process.text and time.monotonic() < end:
        a.spin(0.05)
    if (late := gone()) is not None:                            # it saw the other one in time
        assert late.process.wait() == 1 and f"/twin_{'a' if late is b else 'b'}/mbros publishes /clock already" in late.process.text
        late.process.process.returncode = 0
        return
    assert "two times on one graph: /twin_a/mbros publishes /clock already; that of this node is withheld" in b.process.text
    ticks, _ = a.collect(Clock, "/twin_clock")
    a.ready()
    b.ready()
    a.pause(False)
    a.until(lambda: len(ticks) > 20, "for the clock")
    stamps = [nanoseconds(tick.clock) for tick in ticks]
    assert stamps == sorted(stamps)


@pytest.mark.ros
def test_trial_R4_a_clock_of_another_that_comes_later_is_yielded_to_and_named(simulate):
    import rclpy
    from rosgraph_msgs.msg import Clock
    sim = simulate("pendulum", "/yields", simulated_time="true", diagnostics_rate=20.0)
    ticks, _ = sim.collect(Clock, "clock")
    sim.until(lambda: ticks, "for the clock")
    node = rclpy.create_node("gz_bridge", namespace="/yields")
    node.create_publisher(Clock, "clock", 10)
    said = "two times on one graph: /yields/gz_bridge publishes /clock already; that of this node is withheld"
    sim.until(lambda: said in sim.process.text, "for the word of two")
    assert sim.fresh_status("time")["message"].startswith("two times on one graph") and sim.levels["time"] == 2
    ticks.clear()
    sim.fresh()
    sim.spin(0.1)
    assert not ticks
    node.destroy_node()
    sim.until(lambda: ticks, "for the clock to go on")


@pytest.mark.ros
def test_trial_R8_no_command_is_lost_however_fast_time_is(simulate):
    """A controller that answers each state that reaches it with the stamp of the state."""
    from rosgraph_msgs.msg import Clock
    sim = simulate("pendulum", "/fast_commands", real_time_factor=50.0, tf_rate=10.0, joint_states_rate=20.0, clock_rate=100.0)
    name = sim.fresh().name[0]
    sim.fresh_status("commands")

    def answer():
        if sim.state is not None:
            sim.send([name], [0.0], stamp_ns=nanoseconds(sim.state.header.stamp))

    for factor in (50.0, 100.0):
        assert sim.set(real_time_factor=factor) == ""
        start = int(sim.status["commands"]["joint_commands accepted"])
        sim.until(lambda n=start: int(sim.status["commands"]["joint_commands accepted"]) > n + 100, "for commands", every=answer)
    assert sim.fresh_status("commands")["joint_commands dropped"] == "0"
    assert sim.set(clock_rate=1000.0, real_time_factor=0.5) == ""
    ticks, _ = sim.collect(Clock, "clock")
    sim.spin(0.2)
    ticks.clear()
    sim.until(lambda: len(ticks) > 100, "for ticks")
    gaps = np.diff([nanoseconds(tick.clock) for tick in ticks])
    assert (gaps == MS).mean() > 0.8, "one for each step"       # a busy machine makes steps up


@pytest.mark.ros
def test_trial_R16_R17_R23_a_simulator_with_use_sim_time_makes_the_time_and_begins_above_zero(simulate):
    from rosgraph_msgs.msg import Clock
    from tf2_msgs.msg import TFMessage
    sim = simulate("arm7", "/makes_time", use_sim_time="true", start_paused="true", diagnostics_rate=20.0)
    assert sim.get("simulated_time") is True and "use_sim_time: this node makes the time that others follow" in sim.process.text
    assert sim.fresh_status("time")["stamps"] == "simulated time"
    ticks, _ = sim.collect(Clock, "clock")
    static, _ = sim.collect(TFMessage, "/tf_static", latched=True)
    sim.until(lambda: len(ticks) > 2 and any(t.header.stamp.sec == 1 for m in static for t in m.transforms), "for the time")
    assert {nanoseconds(tick.clock) for tick in ticks} == {START_NS}


@pytest.mark.ros
def test_trial_R17_a_controller_that_waits_for_its_clock_begins_in_lockstep(simulate, executor):
    """As a controller manager does: it waits for a clock above 0 before it subscribes to anything, then wakes by its clock."""
    import rclpy
    from rclpy.parameter import Parameter
    from sensor_msgs.msg import JointState
    sim = simulate("arm7", "/waits_for_time", lockstep="arm/joint_commands 1/1", real_time_factor=0.0, ready=False, tf_rate=0.0,
                   joint_states_rate=0.0, watchdog_timeout=0.0)
    node = rclpy.create_node("manager", namespace="/waits_for_time", parameter_overrides=[Parameter("use_sim_time", value=True)],
                             cli_args=["--ros-args", "-r", "/clock:=clock"])
    executor.add_node(node)
    try:
        sim.until(lambda: node.get_clock().now().nanoseconds > 0, "for the clock of a step that waits for its answer")
        assert node.get_clock().now().nanoseconds == START_NS
        out, seen = node.create_publisher(JointState, "arm/joint_commands", 10), []

        def wake():
            message = JointState(name=["joint2"], effort=[0.1])
            message.header.stamp = node.get_clock().now().to_msg()
            seen.append(nanoseconds(message.header.stamp))
            out.publish(message)

        node.create_subscription(JointState, "arm/joint_commands/joint_states", lambda state: None, 10)
        node.create_timer(1e-3, wake)
        wake()
        sim.until(lambda: len(seen) > 100, "for steps")
        sim.pause(True)
        assert sim.trigger("reset").success
        sim.pause(False)
        before = len(seen)
        sim.until(lambda: len(seen) > before + 100, "for steps after a pause and a reset")
        assert seen == sorted(seen)
    finally:
        executor.remove_node(node)
        node.destroy_node()


@pytest.mark.ros
def test_trial_R19_a_trajectory_that_has_ended_is_nobodys_failure(simulate):
    """The watchdog acts after it, and the log has no word of commands that came too seldom; after a controller that is too slow it has."""
    from test_ros_bench import trajectory
    from trajectory_msgs.msg import JointTrajectory
    arm = simulate("arm7", "/ended", bench="servo", diagnostics_rate=20.0)
    publisher = arm.node.create_publisher(JointTrajectory, "joint_trajectory", 10)
    arm.until(publisher.get_subscription_count, "for the subscription")
    for k in range(2):
        publisher.publish(trajectory(["joint1"], [(0.1, [0.1 * (k + 1)])]))
        arm.until(lambda: int(arm.fresh_status("commands")["joint_trajectory accepted"]) == k + 1, "for the trajectory")
        arm.until(lambda: int(arm.fresh_status("commands")["watchdog trips"]) == k + 1, "for the watchdog")
    arm.fresh_status("commands")
    assert "no valid command" not in arm.process.text
    arm.send(["joint2"], [0.0])
    arm.until(lambda: "no valid command for watchdog_timeout" in arm.process.text, "for the word of the watchdog")
