"""The native data plane against the plain messages: same commands, same reasons, same numbers."""
import numpy as np
import pytest
import ros_plain as plain
from python_commands import carries_more, command_from_array, command_from_joint_state, follows
from python_plane import Stamps
from ros_plain import ARRAYS, COMMANDS, LIFE, RESET_AT, ROBOT, SIZE, WALL
from ros_trajectories import OF_SLOTS, SERVO_COMMANDS, SERVO_ROBOT

from mbros.ros.wire import commands, messages
from mbros.ros.wire.commands import CommandRules

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytest.importorskip("sensor_msgs.msg")

from mbros.ros.wire import _dataplane as native  # noqa: E402
from mbros.ros.wire.templates import TemplateError, make_template  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def tf2_msgs():
    from mbros.ros.interfaces import ensure
    return ensure("tf2_msgs")


def real(message):
    """The ROS message of a plain one."""
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    if hasattr(message, "data"):
        m = Float64MultiArray(data=message.data)
        m.layout.data_offset = message.layout.data_offset
        return m
    m = JointState(name=message.name, position=message.position, velocity=message.velocity, effort=message.effort)
    m.header.stamp.sec, m.header.stamp.nanosec = message.header.stamp.sec, message.header.stamp.nanosec
    return m


def cdr(message):
    from rclpy.serialization import serialize_message
    return serialize_message(message)


def new_input(kind="joint_state", clock=None, **rules):
    names = list(ROBOT.commandable) if kind == "joint_state" else ROBOT.array_order
    clock = clock or native.StampClock(1e-3)
    clock.refuse_before(RESET_AT)
    return native.CommandInput("commands", kind, None, names, [ROBOT.commandable[n] for n in names], 5, clock, **rules)


def same(a, b):
    return (a is None) == (b is None) and (a is None or np.array_equal(a, b, equal_nan=True))


def told_alike(port, expected) -> bool:
    """Both say the same of a dropped command, and name the joint where it is about one."""
    reason, _, about = expected
    problem = port.last_problem()
    if reason == "accepted":
        return problem is None and about == commands.NOTHING
    assert bool(about[0]) or reason not in ("duplicate_name", "not_commandable", "infinite", "absurd", "no_servo")
    return problem[:2] == (reason, about[0]) and commands.shown(reason, problem[1:]) == commands.shown(reason, about)


def test_the_reasons_are_the_same_list():
    assert native.REASON_NAMES == tuple(commands.REASONS)


@pytest.mark.parametrize("case", COMMANDS)
def test_joint_commands_are_read_as_python_reads_them(case):
    message, wanted = COMMANDS[case]
    port = new_input()
    reason, command = port.decode(cdr(real(message)), WALL)
    oracle = Stamps(1_000_000)
    oracle.refuse_before(RESET_AT)
    expected = command_from_joint_state(ROBOT, real(message), CommandRules(), oracle, WALL)
    assert (reason, wanted or "accepted") == (expected[0], expected[0])
    assert same(command, expected[1]) and told_alike(port, expected)
    assert port.counts()[reason] == 1 and sum(port.counts().values()) == 1


def servo_input(kind="joint_state", what=4):
    names = list(ROBOT.commandable) if kind == "joint_state" else SERVO_ROBOT.order(what)
    clock = native.StampClock(1e-3)
    return native.CommandInput("commands", kind, None, names, [ROBOT.commandable[n] for n in names], 20, clock,
                               board=native.CommandBoard([-1] * 5, 0, bounds=OF_SLOTS), takes=[SERVO_ROBOT.taken(n) for n in names],
                               what=what)


@pytest.mark.parametrize("case", SERVO_COMMANDS)
def test_commands_of_servos_are_read_as_python_reads_them(case):
    message, wanted = SERVO_COMMANDS[case]
    port = servo_input()
    reason, command = port.decode(cdr(real(message)), WALL)
    expected = command_from_joint_state(SERVO_ROBOT, real(message), CommandRules(), Stamps(1_000_000), WALL)
    assert (reason, wanted or "accepted") == (expected[0], expected[0])
    assert same(command, expected[1]) and told_alike(port, expected)
    assert port.beside == (reason == "accepted" and carries_more(SERVO_ROBOT, message))
    assert port.followers == (reason == "accepted" and follows(SERVO_ROBOT, message))


@pytest.mark.parametrize("what, data", [(1, [0.5]), (2, [0.5, -0.5]), (4, [1.0, 2.0]), (1, [np.nan]), (2, [0.5])])
def test_arrays_for_servos_are_read_as_python_reads_them(what, data):
    message = real(plain.array(data))
    port = servo_input("multi_array", what)
    reason, command = port.decode(cdr(message), WALL)
    expected = command_from_array(SERVO_ROBOT, message, CommandRules(), what)
    assert reason == expected[0] and same(command, expected[1]) and told_alike(port, expected)


@pytest.mark.parametrize("case", ARRAYS)
def test_effort_arrays_are_read_as_python_reads_them(case):
    message, wanted = ARRAYS[case]
    port = new_input("multi_array")
    reason, command = port.decode(cdr(real(message)), WALL)
    expected = command_from_array(ROBOT, real(message), CommandRules())
    assert reason == expected[0] == (wanted or "accepted")
    assert same(command, expected[1]) and told_alike(port, expected)


def test_array_layouts_are_skipped():
    from std_msgs.msg import MultiArrayDimension
    message = real(plain.array([1.0, 2.0]))
    message.layout.dim = [MultiArrayDimension(label="joints", size=2, stride=2), MultiArrayDimension(label="")]
    reason, command = new_input("multi_array").decode(cdr(message), WALL)
    assert reason == "accepted" and command[3:].tolist() == [1.0, 2.0]


def test_a_dropped_command_is_remembered_with_its_joint_and_value():
    port = new_input()
    assert port.last_problem() is None
    port.decode(cdr(real(plain.joint_state(["elbow"], [1e9]))), WALL)
    assert port.last_problem() == ("absurd", "elbow", 1e9)
    port.decode(cdr(real(plain.joint_state(["x" * 500], [1.0]))), WALL)
    assert port.last_problem() == ("unknown_name", "x" * 63, pytest.approx(np.nan, nan_ok=True))


def test_nothing_of_a_dropped_command_is_left():
    port = new_input()
    assert port.decode(cdr(real(plain.joint_state(["shoulder", "wrist"], [5.0, 1.0]))), WALL) == ("unknown_name", None)
    reason, command = port.decode(cdr(real(plain.joint_state(["elbow"], [1.0]))), WALL)
    assert reason == "accepted" and np.isnan(command[3])


def test_every_cut_of_a_message_is_malformed():
    port = new_input()
    whole = cdr(real(plain.joint_state(["elbow", "shoulder"], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0])))
    end = whole.index(np.float64(4.0).tobytes()) + 8         # behind it ROS's serialiser leaves some bytes unused
    assert {port.decode(whole[:size], WALL)[0] for size in range(end)} == {"malformed"}
    assert {port.decode(whole[:size], WALL)[0] for size in range(end, len(whole) + 1)} == {"accepted"}
    assert port.decode(b"\0\0" + whole[2:], WALL)[0] == "malformed"          # big endian


@pytest.mark.parametrize("at", ["names", "name", "efforts"])
def test_counts_that_promise_more_than_there_is_are_malformed(at):
    port = new_input()
    whole = bytearray(cdr(real(plain.joint_state(["elbow"], [1.0]))))
    place = {"names": 20, "name": 24, "efforts": 44}[at]
    assert int.from_bytes(whole[place:place + 4], "little") == {"names": 1, "name": 6, "efforts": 1}[at]
    for lie in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x20000001):
        whole[place:place + 4] = lie.to_bytes(4, "little")
        assert port.decode(bytes(whole), WALL)[0] == "malformed"


def test_damaged_bytes_never_do_more_than_rclpy_would_read(rng):
    """Random damage: whatever is accepted, rclpy reads as the same command."""
    from rclpy.serialization import deserialize_message
    from sensor_msgs.msg import JointState
    port, oracle = new_input(), Stamps(1_000_000)
    oracle.refuse_before(RESET_AT)
    whole = cdr(real(plain.joint_state(["elbow", "shoulder", "base.vx"], [1.0, 2.0, 3.0], [], [3.0, 4.0, 5.0])))
    reasons = {}
    for _ in range(20000):
        damaged = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            damaged[rng.integers(4, len(damaged))] = rng.integers(256)
        reason, command = port.decode(bytes(damaged), WALL)
        reasons[reason] = reasons.get(reason, 0) + 1
        if reason == "accepted":
            message = deserialize_message(bytes(damaged), JointState)
            expected = command_from_joint_state(ROBOT, message, CommandRules(), oracle, WALL)
            assert expected[0] == "accepted" and same(command, expected[1])
            assert not np.isinf(command).any() and not (np.abs(command) > 1e6).any()
    assert {"accepted", "malformed", "unknown_name", "absurd"} <= set(reasons)


def test_noise_is_never_a_command(rng):
    for kind in ("joint_state", "multi_array"):
        port = new_input(kind)
        for _ in range(5000):
            noise = b"\0\1\0\0" + rng.integers(0, 256, rng.integers(0, 200), dtype=np.uint8).tobytes()
            assert port.decode(noise, WALL)[0] != "accepted"


def test_a_thousand_joints_are_found_by_name(rng):
    names = [f"joint_{k}" for k in range(1000)]
    port = native.CommandInput("c", "joint_state", None, names, list(range(1000)), 1000, native.StampClock(1e-3))
    order = rng.permutation(1000)
    reason, command = port.decode(cdr(real(plain.joint_state([names[k] for k in order], order.astype(float)))), WALL)
    assert reason == "accepted" and np.array_equal(command, np.arange(1000.0))


def test_ports_refuse_what_cannot_work():
    clock = native.StampClock(1e-3)
    with pytest.raises(ValueError, match="different names"):
        native.CommandInput("c", "joint_state", None, ["a", "a"], [0, 1], 2, clock)
    with pytest.raises(ValueError, match="outside a command of 2"):
        native.CommandInput("c", "joint_state", None, ["a", "b"], [0, 2], 2, clock)
    with pytest.raises(ValueError, match="kind must be"):
        native.CommandInput("c", "wrench", None, [], [], 2, clock)
    for rows, stamps in (([[0, 90, 2]], []), ([], [97]), ([[0, -8, 1]], [])):
        with pytest.raises(ValueError, match="outside its message of 100 bytes"):
            native.Output("o", None, bytes(100), rows, stamps, clock)
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="share must be 0 ... 1"):
            native.Output("o", None, bytes(100), [], [], clock).share = share


def fillers():
    from geometry_msgs.msg import TransformStamped
    from nav_msgs.msg import Odometry
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage
    floating = messages.RobotMap((), 0, 0, 0, 6, {}, base=messages.Base("floating", "trunk", 9, 20))
    return {
        "joint_states": (lambda x, t: messages.fill_joint_state(JointState(), ROBOT, x, t), None),
        "tf": (lambda x, t: messages.fill_transforms(TFMessage(), ROBOT, x, t, TransformStamped), None),
        "clock": (lambda x, t: messages.fill_clock(Clock(), t), None),
        "planar odometry": (lambda x, t: messages.fill_odometry(Odometry(), ROBOT, x, t), (9, 30)),
        "floating odometry": (lambda x, t: messages.fill_odometry(Odometry(), floating, x, t), None),
    }


@pytest.mark.parametrize("topic", ["joint_states", "tf", "clock", "planar odometry", "floating odometry"])
def test_patched_messages_equal_those_made_by_hand(topic):
    from rclpy.serialization import deserialize_message
    fill, planar = fillers()[topic]
    template = make_template(fill, SIZE, planar)
    clock, oracle = native.StampClock(1e-3), Stamps(1_000_000)
    output = native.Output(topic, None, template.message, template.blocks, template.stamps, clock, turn=template.turn)
    for seed, moment in enumerate(LIFE):
        x = plain.snapshot(seed)
        step, time, wall, flags = moment
        native.drive_output(output.capsule, x, step, time, wall, flags)
        stamp = oracle.stamp(*moment, x)
        if not oracle.still or oracle.changed or oracle.beat:       # else there is nothing to tell
            wanted = fill(x, stamp)
        assert deserialize_message(output.message, type(wanted)) == wanted
        assert len(output.message) == len(cdr(wanted))


@pytest.mark.parametrize("always", [False, True])
def test_the_stamps_of_both_planes_are_the_same(always):
    clock, oracle = native.StampClock(1e-3, always), Stamps(1_000_000, always)
    output = native.Output("o", None, bytes(16), [], [4], clock)
    for scaled in (False, True):
        clock.set_scaled(scaled)
        oracle.set_scaled(scaled)
        for step, time, wall, flags in LIFE:
            wall += 10**12 * scaled
            native.drive_output(output.capsule, np.zeros(1), step, time, wall, flags)
            assert clock.stamp_ns == oracle.stamp(step, time, wall, flags, np.zeros(1))
            assert clock.simulated == oracle.simulated


def test_a_message_that_does_more_than_carry_numbers_is_no_template():
    from std_msgs.msg import Float64MultiArray
    with pytest.raises(TemplateError, match="does not read back"):
        make_template(lambda x, t: Float64MultiArray(data=[x[0] + x[1], x[2]]), 3)


def test_outputs_are_decimated_but_show_every_explicit_step():
    clock = native.StampClock(1e-3)
    output = native.Output("o", None, bytes(16), [[0, 4, 1]], [], clock, share=0.2)

    def shown(step, flags=0):
        native.drive_output(output.capsule, np.array([float(step)]), step, 1e-3 * step, WALL + step, flags)
        return np.frombuffer(output.message, "<f8", 1, 4)[0] == step

    assert [step for step in range(1, 17) if shown(step)] == [1, 6, 11, 16]
    assert shown(17, plain.PAUSED | plain.STEPPED) and shown(18, plain.PAUSED | plain.STEPPED)
    assert not any(shown(step) for step in range(19, 23)) and shown(23)
    output.share = 0
    assert not any(shown(step) for step in range(24, 60))
    output.share = 0.5
    assert [shown(step) for step in range(60, 64)].count(True) == 2


def test_clock_is_published_only_while_time_is_simulated():
    clock = native.StampClock(1e-3)
    output = native.Output("clock", None, bytes(16), [], [4], clock, only_simulated=True)
    native.drive_output(output.capsule, np.zeros(1), 1, 0.001, WALL, 0)
    assert output.message == bytes(16)
    native.drive_output(output.capsule, np.zeros(1), 1, 0.001, WALL + 10**6, plain.PAUSED)
    assert np.frombuffer(output.message, "<u4", 2, 4).tolist() == list(divmod(WALL, 10**9))


@pytest.mark.parametrize("servo", [False, True])
def test_trial_R14_what_topic_hardware_sends_of_followers(servo):
    """joint_state_topic_hardware_interface names every joint of its XML and sends a number for each command interface: 9 names with 8
    efforts on panda. With a mimic parameter it sends numbers for followers too."""
    robot, port = (SERVO_ROBOT, servo_input()) if servo else (ROBOT, new_input())
    at = slice(3, 5)
    for message in (plain.joint_state(["shoulder", "finger", "elbow"], [1.0, 2.0]),
                    plain.joint_state(["shoulder", "finger", "elbow"], [1.0, 7.0, 2.0])):
        reason, command = port.decode(cdr(real(message)), WALL)
        assert reason == "accepted" and command[at].tolist() == [1.0, 2.0]
        assert same(command, command_from_joint_state(robot, real(message), CommandRules(), Stamps(1_000_000), WALL)[1])
    assert port.followers == 1 and port.beside == 0           # of the second message, and said
    assert port.decode(cdr(real(plain.joint_state(["shoulder", "finger", "elbow"], [1.0]))), WALL)[0] == "wrong_size"


def test_trial_R20_a_joint_that_stands_beyond_a_limit_may_be_held_there_and_come_back():
    """As a trajectory may: on its stop a joint is a little beyond."""
    clock = native.StampClock(1e-3)
    board = native.CommandBoard([-1, -1, -1, 0, 1], 3, bounds=OF_SLOTS)
    names = list(ROBOT.commandable)
    port = native.CommandInput("commands", "joint_state", None, names, [ROBOT.commandable[n] for n in names], 20, clock, board=board,
                               takes=[SERVO_ROBOT.taken(n) for n in names])
    x = np.zeros(plain.SIZE)
    x[0] = 2.3
    native.drive_output(board.capsule, x)
    for position, wanted in ((2.3, "accepted"), (2.1, "accepted"), (2.31, "beyond_limits"), (-2.1, "beyond_limits"), (0.0, "accepted")):
        message = real(plain.joint_state(["shoulder"], [], [position]))
        assert port.decode(cdr(message), WALL)[0] == wanted
        assert command_from_joint_state(SERVO_ROBOT, message, CommandRules(), Stamps(1_000_000), WALL, x)[0] == wanted


def test_trial_R20_the_sentence_says_what_was_expected():
    from mbros.ros.wire.diagnostics import complaint
    port = servo_input()
    before = port.counts()
    port.decode(cdr(real(plain.joint_state(["shoulder"], [], [100.0]))), WALL)
    said = complaint("joint_commands", port.counts(), before, port.last_problem(), bounds=SERVO_ROBOT.bounds)
    assert "is beyond the limits of its joint" in said and "joint 'shoulder', value 100; expected -2 to 2" in said
