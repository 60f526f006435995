"""Messages and arrays, without ROS."""
import math

import numpy as np
import pytest
from python_commands import command_from_array, command_from_joint_state
from python_plane import Stamps
import ros_plain as plain
from ros_plain import ARRAYS, COMMANDS, LIFE, NAN, RESET_AT, ROBOT, WALL, Object
from ros_trajectories import SERVO_COMMANDS, TRAJECTORIES

from mbros.ros.wire import commands, messages
from mbros.ros.wire.commands import CommandRules
from mbros.ros.wire.messages import START_NS

RULES = CommandRules()


def stamps(**options):
    s = Stamps(1_000_000, **options)
    s.refuse_before(RESET_AT)
    return s


@pytest.mark.parametrize("case", COMMANDS)
def test_joint_commands_are_taken_whole_or_dropped_with_the_reason(case):
    message, wanted = COMMANDS[case]
    reason, command, _ = command_from_joint_state(ROBOT, message, RULES, stamps(), WALL)
    assert reason == (wanted or "accepted")
    if wanted:
        assert command is None
    else:
        expected = np.full(5, np.nan)
        own = [name for name in message.name if ROBOT.commandable[name] >= 0]
        for name, effort in zip(own if len(message.effort) == len(own) else message.name, message.effort):
            if ROBOT.commandable[name] >= 0:
                expected[ROBOT.commandable[name]] = effort
        assert np.array_equal(command, expected, equal_nan=True)


@pytest.mark.parametrize("case", ARRAYS)
def test_effort_arrays_are_in_joint_order_and_leave_out_followers(case):
    message, wanted = ARRAYS[case]
    reason, command, _ = command_from_array(ROBOT, message, RULES)
    assert reason == (wanted or "accepted")
    if not wanted:
        assert np.array_equal(command, [NAN, NAN, NAN, *message.data], equal_nan=True)


def test_every_reason_has_a_sentence():
    reasons = {wanted or "accepted" for _, wanted in (*COMMANDS.values(), *ARRAYS.values())}
    reasons |= {wanted or "accepted" for _, wanted in (*TRAJECTORIES.values(), *SERVO_COMMANDS.values())}
    assert reasons | {"malformed", "too_large", "read_error"} == set(commands.REASONS)
    assert all(commands.REASONS.values())


def test_a_stamp_of_simulated_time_is_fresh_while_time_is_simulated():
    s = stamps(always=True)
    s.stamp(5000, 5.0, WALL, 0)
    command = plain.joint_state(["elbow"], [1.0], stamp=5_900_000_000)
    assert command_from_joint_state(ROBOT, command, RULES, s, WALL)[0] == "accepted"
    late = plain.joint_state(["elbow"], [1.0], stamp=5_400_000_000)
    assert command_from_joint_state(ROBOT, late, RULES, s, WALL)[0] == "stale_stamp"


def test_max_age_zero_believes_every_stamp():
    old = plain.joint_state(["elbow"], [1.0], stamp=1)
    assert command_from_joint_state(ROBOT, old, CommandRules(max_age=0.0), stamps(), WALL)[0] == "accepted"


def test_stamps_are_system_time_and_go_on_from_there_once_time_is_simulated():
    s = Stamps(1_000_000)
    seen = [(s.stamp(*moment), s.simulated) for moment in LIFE]
    wall = [moment[2] for moment in LIFE]
    assert [t for t, _ in seen[:3]] == wall[:3]                                     # in step with the wall clock
    paused = wall[2]
    assert [t - paused for t, _ in seen[3:]] == [k * 10**6 for k in (0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 8)]
    assert [simulated for _, simulated in seen] == [False] * 3 + [True] * 11, "once taken, simulated time stays"
    assert all(b >= a for (a, _), (b, _) in zip(seen, seen[1:]))


def test_simulated_stamps_count_from_one_second_and_never_go_back():
    s = Stamps(1_000_000, always=True)
    seen = [s.stamp(*moment) for moment in LIFE]
    assert seen[:3] == [START_NS, START_NS + 10**6, START_NS + 2 * 10**6]
    assert seen[7] == seen[6] + 10**6                   # a reset goes on one period after the last stamp
    assert all(b >= a for a, b in zip(seen, seen[1:]))


def test_a_scaled_clock_is_simulated():
    s = Stamps(1_000_000)
    s.set_scaled(True)
    assert s.stamp(0, 0.0, WALL, 0) == WALL and s.simulated
    assert s.stamp(10, 0.01, WALL + 1_000_000, 0) == WALL + 10_000_000


def new_transform():
    return Object(header=Object(stamp=Object(), frame_id=""), child_frame_id="",
                  transform=Object(translation=Object(), rotation=Object()))


def test_joint_states_and_transforms_carry_the_snapshot():
    x = plain.snapshot(1)
    m = messages.fill_joint_state(plain.joint_state(), ROBOT, x, 3_000_000_007)
    assert (m.header.stamp.sec, m.header.stamp.nanosec) == (3, 7)
    assert m.name == ["shoulder", "elbow", "finger"]
    assert [list(part) for part in (m.position, m.velocity, m.effort)] == [x[0:3].tolist(), x[3:6].tolist(), x[6:9].tolist()]
    t = messages.fill_transforms(Object(), ROBOT, x, 3_000_000_007, new_transform).transforms
    assert [(k.header.frame_id, k.child_frame_id) for k in t] == [row[:2] for row in ROBOT.transforms]
    q, p = t[2].transform.rotation, t[2].transform.translation
    assert [p.x, p.y, p.z, q.x, q.y, q.z, q.w] == x[23:30].tolist()
    s = messages.fill_static_transforms(Object(), ROBOT, 0, new_transform).transforms
    assert [(k.header.frame_id, k.child_frame_id, k.transform.translation.z) for k in s] == [("hand", "tool", 0.1)]


def odometry():
    return Object(header=Object(stamp=Object(), frame_id=""), child_frame_id="",
                  pose=Object(pose=Object(position=Object(), orientation=Object())),
                  twist=Object(twist=Object(linear=Object(), angular=Object())))


def test_planar_odometry_tells_the_velocity_in_the_axes_of_the_base():
    x = plain.snapshot(2)
    heading = 2 * math.atan2(x[14], x[15])
    m = messages.fill_odometry(odometry(), ROBOT, x, 0)
    assert (m.header.frame_id, m.child_frame_id) == ("odom", "base_link")
    world = complex(x[30], x[31])
    base = world * complex(math.cos(heading), -math.sin(heading))
    assert m.twist.twist.linear.x == pytest.approx(base.real, rel=1e-14)
    assert m.twist.twist.linear.y == pytest.approx(base.imag, rel=1e-14)
    assert m.twist.twist.angular.z == x[32] and m.twist.twist.linear.z == m.twist.twist.angular.x == 0.0


def test_floating_odometry_takes_angular_and_linear_velocity_apart():
    robot = messages.RobotMap((), 0, 0, 0, 6, {}, base=messages.Base("floating", "trunk", 0, 7))
    m = messages.fill_odometry(odometry(), robot, np.arange(13.0), 0)
    twist = m.twist.twist
    assert [twist.angular.x, twist.angular.y, twist.angular.z] == [7, 8, 9]
    assert [twist.linear.x, twist.linear.y, twist.linear.z] == [10, 11, 12]
    assert m.pose.pose.orientation.w == 6
