"""joint_trajectory in the native data plane: splines as ros2_control's, checked between their points, replaced without a jump."""
import numpy as np
import pytest
from ros_plain import ROBOT, WALL
from ros_trajectories import BOTH, NAMES, TAKES, TRAJECTORIES, new_trajectories, point, trajectory

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytest.importorskip("trajectory_msgs.msg", reason="needs trajectory_msgs: pip install ros-trajectory-msgs")

from mbros.errors import MbrosError  # noqa: E402
from mbros.ros.wire import _dataplane as native  # noqa: E402

DT = 1e-3
SHOULDER, ELBOW = 3, 4


def cdr(message):
    from builtin_interfaces.msg import Duration
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    m = JointTrajectory(joint_names=message.joint_names)
    m.header.stamp.sec, m.header.stamp.nanosec = message.header.stamp.sec, message.header.stamp.nanosec
    for p in message.points:
        t = p.time_from_start
        m.points.append(JointTrajectoryPoint(positions=p.positions, velocities=p.velocities, accelerations=p.accelerations, effort=p.effort,
                                             time_from_start=Duration(sec=t.sec, nanosec=t.nanosec)))
    return serialize_message(m)


class Rig:
    """The input in a loop of its own: time goes on by steps, positions are where they are put."""

    def __init__(self, turns=None):
        self.port, self.board, self.clock = new_trajectories(turns=turns)
        self.ticking = native.Output("tick", None, b"\0" * 8, np.zeros((0, 3)), np.zeros(0), self.clock)
        self.step, self.q = 0, np.zeros(2)
        self.show()

    def show(self, flags=0, time=None):
        x = np.concatenate([self.q, np.zeros(6)])
        for output in (self.ticking, self.board):
            native.drive_output(output.capsule, x, step=self.step, time=self.step * DT if time is None else time,
                                wall_ns=WALL + self.step * 10**6, flags=flags)

    def send(self, message):
        return self.port.decode(cdr(message), WALL + self.step * 10**6)[0]

    def take(self):
        """The command for the next step, which is then over: positions, velocities, modes of shoulder and elbow, or None."""
        command = self.port.follow()
        self.step += 1
        self.show()
        return None if command is None else (command[5 + 3:10], command[10 + 3:15], command[15 + 3:])

    def run(self, n):
        rows = [self.take() for _ in range(n)]
        return np.array([np.full((2, 2), np.nan) if r is None else (r[0], r[1]) for r in rows])


@pytest.mark.parametrize("case", TRAJECTORIES)
def test_trajectories_are_taken_whole_or_dropped_with_the_reason(case):
    message, wanted = TRAJECTORIES[case]
    rig = Rig()
    assert rig.send(message) == (wanted or "accepted")
    assert (rig.port.follow() is None) == (wanted is not None or case == "later")
    assert rig.port.counts()[wanted or "accepted"] == 1


def polynomial(T, a, b, order):
    """Coefficients of the polynomial whose first `order` derivatives (0: the value) at 0 and T are a and b."""
    n = 2 * order
    A = np.zeros((n, n))
    for d in range(order):
        for k in range(d, n):
            factor = np.prod(np.arange(k - d + 1, k + 1))
            A[d, k] = factor * (0.0 if k > d else 1.0)
            A[order + d, k] = factor * T**(k - d)
    return np.polynomial.Polynomial(np.linalg.solve(A, [*a[:order], *b[:order]]))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_spline_is_of_the_degree_that_its_points_carry(order):
    rng = np.random.default_rng(order)
    times, values = [0.1, 0.25, 0.4], rng.uniform(-0.3, 0.3, (3, 3))
    rig = Rig()
    rig.q[:] = 0.05, -0.1
    rig.show()
    rig.show()
    rig.step += 1
    rig.show()
    start = rig.step * DT
    points = [point(t, *[[v[d]] for d in range(order)]) for t, v in zip(times, values)]
    assert rig.send(trajectory(["shoulder"], *points)) == "accepted"
    got = rig.run(450)[:, :, 0]
    ends = [np.array([rig.q[0], 0.0, 0.0]), *values]
    for k in range(399):
        t = (rig.step - 450 + k + 1) * DT - start
        segment = np.searchsorted(times, t, side="right")
        begin = [0.0, *times][segment]
        p = polynomial(times[segment] - begin, ends[segment], ends[segment + 1], order)
        assert got[k, 0] == pytest.approx(p(t - begin), abs=1e-11) and got[k, 1] == pytest.approx(p.deriv()(t - begin), abs=1e-8)
    assert got[400, 0] == values[2][0] or np.isnan(got[401:]).all()
    assert np.isnan(got[402:]).all()                         # held by the servo: nothing is said any more


def test_a_new_one_goes_on_from_the_command_in_force():
    rig = Rig()
    assert rig.send(trajectory(BOTH, point(1.0, [1.0, 0.5], [0.0, 0.0]))) == "accepted"
    first = rig.run(300)
    rig.q[:] = 0.7, -0.7                                      # where the joints are does not matter: they are commanded
    assert rig.send(trajectory(["shoulder"], point(0.0, [0.9]), point(0.5, [-0.2], [0.0]))) == "accepted"
    second = rig.run(600)
    whole = np.concatenate([first, second])[:, 0, 0]
    whole = whole[~np.isnan(whole)]
    assert np.abs(np.diff(whole)).max() < 4e-3 and np.abs(np.diff(whole, 2)).max() < 1e-4 and whole[-1] == -0.2
    assert second[0, :, 1].tolist() == [first[-1, 0, 1], 0.0]  # the elbow stops where it was commanded last; its servo holds it there
    assert np.isnan(second[1:, 0, 1]).all()


def test_another_command_takes_a_joint_over_and_a_reset_all():
    rig = Rig()
    other = native.CommandInput("joint_commands", "joint_state", None, NAMES, [ROBOT.commandable[n] for n in NAMES], 20, rig.clock,
                                board=rig.board, takes=TAKES)
    import ros_plain as plain
    from rclpy.serialization import serialize_message
    from test_ros_dataplane import real
    assert rig.send(trajectory(BOTH, point(1.0, [1.0, 0.5]))) == "accepted"
    rig.run(10)
    reason, command = other.decode(serialize_message(real(plain.joint_state(["shoulder"], [], [0.3]))), WALL)
    assert reason == "accepted" and command[5 + 3] == 0.3 and command[15 + 3] == 1.0
    other.note()
    got = rig.run(10)
    assert np.isnan(got[:, :, 0]).all() and not np.isnan(got[:, :, 1]).any()
    rig.board.release([ELBOW])
    assert rig.port.follow() is None
    assert rig.send(trajectory(BOTH, point(1.0, [1.0, 0.5]))) == "accepted"
    assert rig.port.follow()[5 + 3] == pytest.approx(0.3, abs=1e-3)
    rig.clock.refuse_before(WALL + 10**12)                    # a reset
    assert rig.port.follow() is None


def test_the_devices_memory_has_to_be_where_it_is_said_to_be():
    memory = np.zeros(6)
    for said in (np.zeros((1, 3)), np.full((2, 3), 6), np.full((2, 3), -2)):
        with pytest.raises(MbrosError, match="expected three places in a memory of 6 numbers for each of 2 coordinates"):
            native.CommandBoard([0, 1], 2, memory, said)
    native.CommandBoard([0, 1], 2, memory, np.full((2, 3), 5))


def test_stamps_say_when_it_begins():
    rig = Rig()
    assert rig.send(trajectory(["elbow"], point(0.5, [0.5]), stamp=WALL + 500_000_000)) == "accepted"
    assert rig.run(1000)[-1, 0, 1] == pytest.approx(0.5, abs=1e-9)         # 0.5 s after the stamp
    late = trajectory(["elbow"], point(0.1, [9.0]), point(1.0, [1.0]), stamp=WALL + rig.step * 10**6 - 500_000_000)
    assert rig.send(late) == "accepted"
    got = rig.run(500)[:, 0, 1]
    assert got[0] == pytest.approx(0.501, abs=1e-6) and got[-1] == pytest.approx(1.0, abs=1e-9)


def test_limits_hold_between_the_points():
    """Refused exactly where a dense look at the polynomial finds it outside, but for a borderline of 1e-4."""
    rng, seen = np.random.default_rng(7), {True: 0, False: 0}
    for k in range(3000):
        order = (2, 3)[k % 2]
        T, values = rng.uniform(0.3, 1.0), rng.normal(0.0, [1.3, 6.0, 30.0], 3)
        p = polynomial(T, np.zeros(3), values, order)
        u = np.linspace(0.0, T, 400)
        most, fastest = np.abs(p(u)).max() / 2.0, np.abs(p.deriv()(u)).max() / 10.0
        if abs(most - 1.0) < 2e-3 or abs(fastest - 1.0) < 2e-3:
            continue
        reason = Rig().send(trajectory(["shoulder"], point(T, *[[v] for v in values[:order]])))
        wanted = most < 1.0 and fastest < 1.0
        assert (reason == "accepted") == wanted, (reason, most, fastest)
        seen[wanted] += 1
    assert min(seen.values()) > 300


def test_every_cut_of_a_trajectory_is_dropped():
    port = new_trajectories()[0]
    whole = cdr(TRAJECTORIES["velocities"][0])
    reasons = [port.decode(whole[:size], WALL)[0] for size in range(len(whole) + 1)]
    end = reasons.index("accepted")                           # behind it ROS's serialiser leaves some bytes unused
    assert end > len(whole) - 20 and set(reasons[:end]) == {"malformed"} and set(reasons[end:]) == {"accepted"}


@pytest.mark.parametrize("start, goal, end", [(3.0, -3.0, 2.0 * np.pi - 3.0), (-3.0, 3.0, 3.0 - 2.0 * np.pi), (0.5, 0.1, 0.1),
                                              (20.0, 0.0, 6.0 * np.pi), (0.0, np.pi, np.pi), (0.0, -np.pi, -np.pi),
                                              (0.0, 100.0, 100.0 - 32.0 * np.pi)])
def test_trial_R6_a_joint_that_turns_on_and_on_begins_by_the_short_way(start, goal, end):
    """As joint_trajectory_controller: the first segment is at most half a turn; what follows keeps its own turns."""
    rig = Rig(turns=[False] * 4 + [True])
    rig.q[:] = 0.0, start
    rig.show()
    assert rig.send(trajectory(["elbow"], point(1.0, [goal]), point(3.0, [goal + 4.0 * np.pi]))) == "accepted"
    got = rig.run(3000)[:, 0, 1]
    assert got[999] == pytest.approx(end, abs=1e-9) and got[-1] == pytest.approx(end + 4.0 * np.pi, abs=1e-9)
    assert abs(got[999] - start) <= np.pi + 1e-9 and np.abs(np.diff(got)).max() < 7e-3


def test_trial_R6_other_joints_go_where_they_are_told():
    rig = Rig()
    rig.q[1] = 3.0
    rig.show()
    assert rig.send(trajectory(["elbow"], point(1.0, [-3.0]))) == "accepted"
    assert rig.run(1000)[-1, 0, 1] == pytest.approx(-3.0, abs=1e-9)


def later(rig, seconds):
    return WALL + rig.step * 10**6 + round(seconds * 1e9)


def test_trial_R7_one_of_the_future_waits_while_the_one_before_it_goes_on():
    rig = Rig()
    assert rig.send(trajectory(["elbow"], point(1.0, [1.0]))) == "accepted"
    before = rig.run(200)[:, 0, 1]
    assert rig.send(trajectory(["elbow"], point(0.5, [0.0], [0.0]), stamp=later(rig, 0.3))) == "accepted"
    after = rig.run(800)[:, 0, 1]
    whole = np.concatenate([before, after])
    k = np.arange(1, 501)
    assert whole[:500] == pytest.approx(k * DT, abs=1e-9)           # to the stamp: the first one
    wanted = polynomial(0.5, [0.5, 1.0], [0.0, 0.0], 2)(k * DT)     # from there: the second, from its place and velocity then
    assert whole[500:1000] == pytest.approx(wanted, abs=1e-9)
    assert rig.port.follow() is None


def test_trial_R7_it_waits_where_nothing_is_under_way_and_starts_to_the_step():
    rig = Rig()
    assert rig.send(trajectory(["elbow"], point(0.1, [0.2]), stamp=later(rig, 0.05))) == "accepted"
    got = rig.run(160)[:, 0, 1]
    assert np.isnan(got[:50]).all() and got[50:150] == pytest.approx(0.002 * np.arange(1, 101), abs=1e-12)


@pytest.mark.parametrize("what", ["another of the future", "one for now", "a command", "released", "a reset", "time goes back"])
def test_trial_R7_the_newest_word_counts_for_one_that_waits(what):
    rig = Rig()
    assert rig.send(trajectory(BOTH, point(0.1, [0.2, 0.2]), stamp=later(rig, 0.1))) == "accepted"
    rig.run(10)
    if what == "another of the future":
        assert rig.send(trajectory(BOTH, point(0.1, [-0.2, -0.2]), stamp=later(rig, 0.2))) == "accepted"
        got = rig.run(400)[:, 0, 1]
        assert np.isnan(got[:200]).all() and np.nanmin(got) == -0.2 and np.nanmax(got) < 0.0
        return
    if what == "one for now":
        assert rig.send(trajectory(["elbow"], point(0.05, [-0.2]))) == "accepted"
        got = rig.run(300)[:, 0]
        assert np.isnan(got[:, 0]).all() and got[49, 1] == -0.2 and np.isnan(got[51:, 1]).all()
        return
    if what == "a command":
        import ros_plain as plain
        from rclpy.serialization import serialize_message
        from test_ros_dataplane import real
        other = native.CommandInput("joint_commands", "joint_state", None, NAMES, [ROBOT.commandable[n] for n in NAMES], 20, rig.clock,
                                    board=rig.board, takes=TAKES)
        assert other.decode(serialize_message(real(plain.joint_state(["shoulder"], [], [0.3]))), WALL)[0] == "accepted"
        other.note()
    elif what == "released":
        rig.board.release([SHOULDER])
    elif what == "a reset":
        rig.clock.refuse_before(WALL + 10**12)
    else:
        rig.step = 0
        rig.show()
    assert np.isnan(rig.run(400)[:, 0]).all()


def test_trial_R7_it_is_looked_at_again_when_it_begins():
    """Its way from where the joint is by then may be too fast: it is dropped then, and counted."""
    rig = Rig()
    assert rig.send(trajectory(["shoulder"], point(0.1, [0.5]), stamp=later(rig, 0.1))) == "accepted"
    rig.q[0] = -1.5                                         # moved by something that is no command
    rig.show()
    assert np.isnan(rig.run(300)[:, 0]).all()
    assert rig.port.counts()["too_fast"] == 1 and rig.port.last_problem()[:2] == ("too_fast", "shoulder")


def test_trial_R7_many_in_turn_are_all_followed():
    """A receding horizon: each comes before the one ahead of it has ended (ros2_controllers 2607)."""
    rig = Rig()
    assert rig.send(trajectory(["elbow"], point(0.5, [0.5]))) == "accepted"
    got = [rig.run(100)[:, 0, 1]]
    for k in range(1, 8):
        assert rig.send(trajectory(["elbow"], point(0.5, [0.6 + 0.1 * k]), stamp=later(rig, 0.05))) == "accepted"
        got.append(rig.run(100)[:, 0, 1])
    whole = np.concatenate(got)
    assert not np.isnan(whole).any() and (np.diff(whole) > 0.0).all() and np.abs(np.diff(whole)).max() < 2.5e-3
