"""Sources in the node's loop: samples of hardware through the native plane, ~/set_source, hand-over, safe states, a model in the shadow."""
import math
import os
import re
import time

import numpy as np
import pytest

CASES = int(os.environ.get("MBROS_CASES", "3000"))         # messages of the decoder's test
pytestmark = pytest.mark.usefixtures("plugin_nodes_ended")
BENCH = """
sources:
  joint[1-3]: {timeout: 0.02, safe: hold, blend: 0.05, jump: 0.5, bound: 5.0}
"""


@pytest.fixture
def robot(executor, mbros_node, tmp_path_factory):
    file = tmp_path_factory.getbasetemp() / "sources.yaml"
    file.write_text(BENCH)
    return mbros_node("arm7", bench=str(file), initial_positions={"joint2": 0.3})


def hardware(robot):
    return next(plug for plug in robot.sim.plane.inputs if plug.name == "hardware_states")


def joints(**rows):
    from sensor_msgs.msg import JointState

    message = JointState(name=list(rows))
    columns = [list(column) for column in zip(*rows.values(), strict=True)]
    message.position = columns[0]
    message.velocity = columns[1] if len(columns) > 1 else []
    message.effort = columns[2] if len(columns) > 2 else []
    return message


def feed(robot, **rows):
    """A message as the loop takes it, between two steps. Why it was dropped, or "accepted"."""
    from rclpy.serialization import serialize_message

    plug = hardware(robot)
    with robot.sim.loop.aside():
        reason, _ = plug.decode(serialize_message(joints(**rows)))
        if reason == "accepted":
            plug.note()
    return reason


def ask(robot, mode="", *names):
    from mbros_msgs.srv import SetSource

    sources = robot.sim.services.sources
    said = sources.set_source(SetSource.Request(joints=list(names), mode=mode))
    answer = SetSource.Response()
    sources.fill(answer)
    return said, answer


def swing(t):
    return 0.3 + 0.1 * math.sin(5 * t), 0.5 * math.cos(5 * t)


def follow(robot, steps):
    """Steps with a sample of joint2 before each; (steps, 2) position and velocity after them."""
    rows = []
    for _ in range(steps):
        assert feed(robot, joint2=swing(robot.sim.loop.snapshot()[0].time)) == "accepted"
        states = robot.step()
        rows.append((states.position["joint2"], states.velocity["joint2"]))
    return np.array(rows)


def test_a_joint_becomes_real_without_a_bump_and_back(robot):
    before = follow(robot, 50)
    said, answer = ask(robot, "real", "joint2")
    assert said == "real: joint2" and answer.modes == ["sim", "real", "sim"] and answer.names == ["joint1", "joint2", "joint3"]
    after = follow(robot, 200)
    rows = np.vstack([before[-1:], after])
    e, d = swing(0.05)[0] - before[-1, 0], swing(0.05)[1] - before[-1, 1]
    bound = 6.0 * abs(e) / 0.05**2 + 4.0 * abs(d) / 0.05 + 2.5 + 1.0
    assert np.abs(np.diff(rows[:, 1])).max() < bound * 1e-3
    assert np.abs(np.diff(rows[:, 0]) - 0.5e-3 * (rows[1:, 1] + rows[:-1, 1])).max() < 0.25 * bound * 1e-6
    assert abs(after[-1, 0] - swing(0.25)[0]) < 1e-4
    assert abs(answer.efforts[1]) != 0.0 and abs(ask(robot)[1].efforts[1]) > 1.0
    q, v = after[-1]
    ask(robot, "sim", "joint2")
    states = robot.step()
    assert abs(states.position["joint2"] - q - 1e-3 * v) < 1e-3 and abs(states.velocity["joint2"] - v) < 0.2
    assert math.isnan(ask(robot)[1].efforts[1])


def test_the_position_is_continuous_in_the_hand_over_itself(robot):
    follow(robot, 20)
    x = robot.sim.loop.snapshot()[1]
    for mode in ("real", "prescribed", "sim", "locked"):
        ask(robot, mode, "joint2")
        now = robot.sim.loop.snapshot()[1]
        at = robot.sim.robot.plant.layout["q"][0]
        assert abs(now[at + 1] - x[at + 1]) < 1e-12
        states, x = robot.step(), robot.sim.loop.snapshot()[1]
    assert states.velocity["joint2"] == 0.0 and ask(robot)[1].modes[1] == "locked"


def test_a_lost_source_is_safe_within_one_step_and_says_so(robot):
    logged = []
    robot.sim.log.error, kept = logged.append, robot.sim.log.error
    try:
        follow(robot, 10)
        ask(robot, "real", "joint2")
        follow(robot, 30)
        robot.step(19)
        assert ask(robot)[1].modes[1] == "real"
        robot.step(2)
        answer = ask(robot)[1]
        assert answer.modes[1] == "prescribed" and answer.trips[1] == 1 and "no sample" in answer.reasons[1]
        robot.step(60)
        assert ask(robot)[1].modes[1] == "locked" and robot.step().velocity["joint2"] == 0.0
        robot.sim.services.sources.look()
        assert any("joint2" in line and "safe state, 'hold'" in line for line in logged)
    finally:
        robot.sim.log.error = kept
    report = robot.sim.services.sources.report()
    assert report.level == 2 and "joint2" in report.message and report.values["joint2 trips"] == "1"


@pytest.mark.parametrize("bad, text", [(1.5, "jumped"), (float("nan"), "not a number"), (float("inf"), "not a number")])
def test_a_sample_that_cannot_be_is_safe_in_the_next_step(robot, bad, text):
    follow(robot, 10)
    ask(robot, "real", "joint2")
    follow(robot, 20)
    assert feed(robot, joint2=(bad, 0.0)) == "accepted"
    robot.step()
    answer = ask(robot)[1]
    assert answer.modes[1] == "prescribed" and text in answer.reasons[1]


def test_parameters_that_change_do_not_loosen_a_joint_that_a_source_holds(robot):
    from rclpy.parameter import Parameter

    follow(robot, 10)
    for mode in ("real", "prescribed", "locked"):
        ask(robot, mode, "joint2")
        before = follow(robot, 5)[-1]
        assert robot.sim.node.set_parameters([Parameter("damping.joint4", value=0.3)])[0].successful
        after = follow(robot, 5)
        assert ask(robot)[1].modes[1] == mode and np.abs(after[0, 0] - before[0]) < 1e-3
        assert robot.sim.node.set_parameters([Parameter("damping.joint4", value=0.0)])[0].successful
    robot.sim.services.reset(None)
    assert ask(robot)[1].modes == ["sim"] * 3
    states = robot.step(50)
    assert states.velocity["joint2"] != 0.0


def test_a_save_brings_back_what_is_real(robot):
    follow(robot, 10)
    ask(robot, "real", "joint2")
    follow(robot, 20)
    with robot.sim.loop.aside():
        blob = robot.sim.saves.blob()
    first = follow(robot, 20)
    robot.sim.saves.put_back(blob)
    assert ask(robot)[1].modes[1] == "real" and robot.sim.live.values["locked.joint2"] is False
    assert np.array_equal(follow(robot, 20), first)


def test_what_cannot_be_is_refused(robot):
    from mbros.errors import MbrosError

    for names, mode, text in ((["joint9"], "sim", "did you mean 'joint"), (["joint2"], "rael", "expected 'sim', 'real'"),
                              (["joint2"], "real", "it has had no sample")):
        with pytest.raises((MbrosError, KeyError)) as caught:
            ask(robot, mode, *names)
        assert text in str(caught.value)
    assert feed(robot, joint7=(1.0, 0.0)) == "accepted" and math.isnan(ask(robot)[1].ages[0])       # no source: not looked at
    follow(robot, 3)
    robot.step(30)
    with pytest.raises(MbrosError, match="its newest sample is .* s old"):
        ask(robot, "real", "joint2")
    feed(robot, joint2=(57.3, 0.0))
    with pytest.raises(MbrosError, match="its newest sample is at 57.3, and the joint's limits are"):
        ask(robot, "real", "joint2")


def test_trial_H6_stamps_of_the_future_are_said_where_a_joint_cannot_become_real(robot):
    """By which they are off: in the loop (less than command_max_age), and before it."""
    from mbros.errors import MbrosError
    from rclpy.serialization import serialize_message

    plug, text = hardware(robot), {}
    for ahead in (0.2, 3.0):
        message = joints(joint2=(0.3, 0.0))
        stamp = time.time_ns() + round(ahead * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = stamp // 10**9, stamp % 10**9
        with robot.sim.loop.aside():
            if plug.decode(serialize_message(message))[0] == "accepted":
                plug.note()
        with pytest.raises(MbrosError) as caught:
            ask(robot, "real", "joint2")
        text[ahead] = str(caught.value)
    ahead = r"1 samples were not used: their stamps are ahead of the simulation's time, the newest by 0\.(2|19\d*) s"
    assert re.search(ahead, text[0.2]), text
    assert re.search("1 messages on it were dropped, the newest because the stamp lies in the future .*s ahead", text[3.0]), text


def test_messages_through_the_topic(robot):
    """Samples of a publisher, taken by the loop; efforts and residuals are published."""
    import rclpy
    from sensor_msgs.msg import JointState

    other = rclpy.create_node("hardware_of_a_robot")
    out = other.create_publisher(JointState, "hardware_states", 10)
    got = {}
    kept = [other.create_subscription(JointState, topic, lambda m, topic=topic: got.update({topic: m}), 10)
            for topic in ("interface_efforts", "interface_residuals")]

    def publish(until, text):
        end = time.monotonic() + 240.0
        while not until():
            assert time.monotonic() < end, text
            out.publish(joints(joint1=(0.0, 0.0, 1.0), joint2=(0.3, 0.0, 2.0), joint3=(0.0, 0.0, 3.0), gripper=(0.0, 0.0, 0.0)))
            time.sleep(0.005)
            robot.step(1)

    with robot.running(other):
        publish(lambda: not math.isnan(ask(robot)[1].ages[1]), "no sample came")
        publish(lambda: ask(robot)[1].ages[1] <= 0.02, "no new one")
        ask(robot, "real")
        publish(lambda: ask(robot)[1].modes == ["real"] * 3 and len(got) == 2
                and not math.isnan(got["interface_efforts"].effort[1]), "no efforts")
        assert len(kept) == 2 and got["interface_efforts"].name == ["joint1", "joint2", "joint3"]
        assert abs(got["interface_efforts"].effort[1]) > 1.0
    assert robot.sim.plane.counts()["hardware_states"]["accepted"] > 0


def test_bytes_that_are_no_message_are_refused(robot):
    from rclpy.serialization import serialize_message

    rng, plug = np.random.default_rng(3), hardware(robot)
    good = serialize_message(joints(joint1=(0.1, 0.0, 1.0), joint2=(0.2, 0.0, 1.0)))
    before = sum(plug.counts().values())
    with robot.sim.loop.aside():
        for _ in range(CASES):
            data = bytearray(good)
            for _ in range(rng.integers(1, 6)):
                data[rng.integers(0, len(data))] = rng.integers(0, 256)
            plug.decode(bytes(data[:rng.integers(0, len(data) + 1)]))
    assert sum(plug.counts().values()) == before + CASES
    assert feed(robot, joint1=(0.1, 0.0), joint2=(0.2, 0.0)) == "accepted"


# ------------------------------------------------------------------------------------------------ other devices on a node of this kind

def test_a_contact_switch_is_a_topic(mbros_node, executor, tmp_path_factory):
    """Open in the air, closed where the robot stands."""
    import rclpy
    from std_msgs.msg import Bool

    file = tmp_path_factory.getbasetemp() / "switch.yaml"
    file.write_text("sensors:\n  feet.front: {type: contact_switch, body: FL_calf, threshold: 1.0}\n")
    robot = mbros_node("quadruped", bench=str(file), ground=True)
    other, got = rclpy.create_node("watches_a_foot"), []
    kept = other.create_subscription(Bool, "feet/front", lambda message: got.append(message.data), 10)
    with robot.running(other):
        for wanted in (False, True):
            end = time.monotonic() + 240.0
            while not got or got[-1] is not wanted:
                assert time.monotonic() < end, f"{kept.topic_name} never said {wanted}: {got[-1:]}"
                robot.step(1 if not wanted else 20)
                time.sleep(0.002)
