"""Trajectories for the tests of the data plane: a robot whose shoulder and elbow take positions, messages, and why they are dropped."""
from dataclasses import replace
from types import SimpleNamespace as Object

from ros_plain import ROBOT, WALL, joint_state

NAN, INF = float("nan"), float("inf")
NAMES = list(ROBOT.commandable)
TAKES = [7 if name in ("shoulder", "elbow") else 4 for name in NAMES]
BOUNDS = {"shoulder": (-2.0, 2.0, -10.0, 10.0)}
OF_SLOTS = [(-INF, INF, -INF, INF)] * 3 + [BOUNDS["shoulder"], (-INF, INF, -INF, INF)]
BOTH = ["shoulder", "elbow"]


def point(at, positions=(), velocities=(), accelerations=(), effort=()):
    sec, nanosec = divmod(round(at * 1e9), 10**9)
    return Object(positions=list(positions), velocities=list(velocities), accelerations=list(accelerations), effort=list(effort),
                  time_from_start=Object(sec=sec, nanosec=nanosec))


def trajectory(names, *points, stamp=0):
    sec, nanosec = divmod(stamp, 10**9)
    return Object(header=Object(stamp=Object(sec=sec, nanosec=nanosec), frame_id=""), joint_names=list(names), points=list(points))


def new_trajectories(clock=None, turns=None):
    """(input, board, clock) of that robot."""
    from mbros.ros.wire import _dataplane as native

    clock = clock or native.StampClock(1e-3)
    board = native.CommandBoard([-1, -1, -1, 0, 1], 3, bounds=OF_SLOTS, turns=turns)
    port = native.CommandInput("joint_trajectory", "trajectory", None, NAMES, [ROBOT.commandable[n] for n in NAMES], 20, clock, board=board,
                               takes=TAKES)
    return port, board, clock


# what is sent, why it is dropped; None: accepted
TRAJECTORIES = {
    "one point": (trajectory(BOTH, point(1.0, [0.1, 0.2])), None),
    "velocities": (trajectory(BOTH, point(0.5, [0.1, 0.2], [0.1, 0.1]), point(1.0, [0.2, 0.2], [0.0, 0.0])), None),
    "accelerations": (trajectory(["elbow"], point(0.5, [0.1], [0.1], [0.0]), point(1.0, [0.2], [0.0], [0.0])), None),
    "efforts beside": (trajectory(["elbow"], point(0.5, [0.1], effort=[1.0])), None),
    "a first point now": (trajectory(["elbow"], point(0.0, [0.0]), point(1.0, [0.3])), None),
    "points in the past": (trajectory(["elbow"], point(0.1, [9.0]), point(1.0, [0.3]), stamp=WALL - 5 * 10**8), None),
    "later": (trajectory(["elbow"], point(1.0, [0.3]), stamp=WALL + 5 * 10**9), None),
    "much later": (trajectory(["elbow"], point(1.0, [0.3]), stamp=WALL + 4000 * 10**9), "future_stamp"),
    "all in the past": (trajectory(["elbow"], point(0.1, [9.0]), stamp=WALL - 10**9), "in_the_past"),
    "only now": (trajectory(["elbow"], point(0.0, [9.0])), "in_the_past"),
    "no points": (trajectory(["elbow"]), "no_positions"),
    "no joints": (trajectory([], point(1.0)), "no_positions"),
    "no positions": (trajectory(["elbow"], point(1.0, [], [1.0])), "no_positions"),
    "backwards": (trajectory(["elbow"], point(1.0, [0.1]), point(0.5, [0.2])), "bad_times"),
    "twice at once": (trajectory(["elbow"], point(1.0, [0.1]), point(1.0, [0.2])), "bad_times"),
    "before the start": (trajectory(["elbow"], point(-1.0, [0.1])), "bad_times"),
    "too few": (trajectory(BOTH, point(1.0, [0.1])), "wrong_size"),
    "too many velocities": (trajectory(["elbow"], point(1.0, [0.1], [0.1, 0.2])), "wrong_size"),
    "too many points": (trajectory(["elbow"], *[point(1.0 + k, [0.1]) for k in range(4096)]), "too_large"),
    "unknown": (trajectory(["wrist"], point(1.0, [0.1])), "unknown_name"),
    "a joint twice": (trajectory(["elbow", "elbow"], point(1.0, [0.1, 0.1])), "duplicate_name"),
    "of a follower": (trajectory(["finger"], point(1.0, [0.1])), "not_commandable"),
    "no servo": (trajectory(["base.vx"], point(1.0, [0.1])), "no_servo"),
    "not a number": (trajectory(["elbow"], point(1.0, [NAN])), "not_a_number"),
    "infinite": (trajectory(["elbow"], point(1.0, [0.1], [INF])), "infinite"),
    "absurd": (trajectory(["elbow"], point(1.0, [1e9])), "absurd"),
    "beyond a limit": (trajectory(["shoulder"], point(1.0, [2.1])), "beyond_limits"),
    "beyond a limit between points": (trajectory(["shoulder"], point(1.0, [1.9], [5.0]), point(2.0, [1.9], [-5.0])), "beyond_limits"),
    "too fast": (trajectory(["shoulder"], point(0.1, [1.5])), "too_fast"),
    "too fast between points": (trajectory(["shoulder"], point(0.19, [1.9], [0.0])), "too_fast"),
}

# with servos: what a JointState commands; (shoulder, elbow): (position, velocity, effort, what) each, None: dropped for the reason
SERVO_ROBOT = replace(ROBOT, command_size=20, takes={"shoulder": 7, "elbow": 6}, bounds=BOUNDS)
SERVO_COMMANDS = {
    "a position": (joint_state(["shoulder"], [], [0.5]), None),
    "a velocity": (joint_state(["elbow"], [], [], [0.5]), None),
    "all three": (joint_state(["shoulder"], [1.0], [0.5], [0.2]), None),
    "each its own": (joint_state(["shoulder", "elbow"], [NAN, 2.0], [0.5, NAN], [NAN, NAN]), None),
    "nothing of one": (joint_state(["shoulder", "elbow"], [NAN, 2.0]), None),
    "a follower beside": (joint_state(["shoulder", "finger"], [], [0.5, 0.5]), None),
    "an effort and what is not taken": (joint_state(["elbow"], [1.0], [0.5]), None),
    "no actuator, an effort": (joint_state(["base.vx"], [1.0]), None),
    "nothing": (joint_state(["shoulder"]), "no_effort"),
    "not taken": (joint_state(["elbow"], [], [0.5]), "no_servo"),
    "no actuator": (joint_state(["base.vx"], [], [], [0.5]), "no_servo"),
    "infinite velocity": (joint_state(["elbow"], [], [], [INF]), "infinite"),
    "absurd position": (joint_state(["shoulder"], [], [1e9]), "absurd"),
    "effort of a follower": (joint_state(["finger", "shoulder"], [1.0, 0.0], [0.5, 0.5]), None),
    "each its own, without the others": (joint_state(["finger", "shoulder", "base.vx", "elbow"], [1.0, 2.0, 3.0], [0.5], [0.1, 0.2]), None),
    "beyond a limit": (joint_state(["elbow", "shoulder"], [0.5, NAN], [NAN, 2.1]), "beyond_limits"),
    "far beyond it": (joint_state(["shoulder"], [], [100.0]), "beyond_limits"),
    "at a limit": (joint_state(["shoulder"], [], [-2.0], [-10.0]), None),
    "too fast": (joint_state(["shoulder"], [], [], [-10.1]), "too_fast"),
    "too many positions": (joint_state(["shoulder"], [], [0.5, 0.5]), "wrong_size"),
}
