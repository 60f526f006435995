"""Messages without ROS: objects with the attributes of the real ones."""
from types import SimpleNamespace as Object

import numpy as np

from mbros.ros.wire.messages import Base, RobotMap

WALL = 1_700_000_000_000_000_000          # a system time, ns


def joint_state(name=(), effort=(), position=(), velocity=(), stamp=0):
    sec, nanosec = divmod(stamp, 10**9)
    return Object(header=Object(stamp=Object(sec=sec, nanosec=nanosec), frame_id=""), name=list(name),
                  position=list(position), velocity=list(velocity), effort=list(effort))


def array(data, offset=0):
    return Object(layout=Object(dim=[], data_offset=offset), data=list(data))


# a planar base with one coordinate name each, two joints, one follower; 5 velocities
ROBOT = RobotMap(
    joints=("shoulder", "elbow", "finger"), position=0, velocity=3, effort=6, command_size=5,
    commandable={"base": -1, "shoulder": 3, "elbow": 4, "finger": -2, "base.vx": 0, "base.vy": 1, "base.wz": 2},
    transforms=(("odom", "base_link", 9), ("base_link", "arm", 16), ("arm", "hand", 23)),
    static=(("hand", "tool", (0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0)),),
    base=Base("planar", "base_link", pose=9, velocity=30))
SIZE = 36

NAN, INF = float("nan"), float("inf")

# what is sent, why it is dropped; None: accepted
COMMANDS = {
    "one joint": (joint_state(["elbow"], [1.5]), None),
    "all, in another order": (joint_state(["elbow", "base.wz", "shoulder"], [1.0, 2.0, -3.0]), None),
    "NaN is not commanded": (joint_state(["elbow", "shoulder"], [NAN, 2.0]), None),
    "NaN for a follower": (joint_state(["finger", "shoulder"], [NAN, 2.0]), None),
    "positions beside": (joint_state(["elbow"], [1.0], [0.1], [0.2]), None),
    "fresh": (joint_state(["elbow"], [1.0], stamp=WALL - 10**8), None),
    "the limit itself": (joint_state(["elbow"], [-1e6]), None),
    "nobody named": (joint_state([], []), "no_effort"),
    "positions only": (joint_state(["elbow"], [], [0.1]), "no_effort"),
    "unknown": (joint_state(["elbow", "wrist"], [1.0, 1.0]), "unknown_name"),
    "empty name": (joint_state([""], [1.0]), "unknown_name"),
    "a name that begins alike": (joint_state(["elbo"], [1.0]), "unknown_name"),
    "twice": (joint_state(["elbow", "elbow"], [1.0, 1.0]), "duplicate_name"),
    "twice, NaN": (joint_state(["elbow", "elbow"], [NAN, NAN]), "duplicate_name"),
    "a follower": (joint_state(["finger", "elbow"], [1.0, 2.0]), None),
    "a number for each that takes one": (joint_state(["elbow", "finger", "shoulder"], [1.0, 2.0]), None),
    "positions of those, efforts of all": (joint_state(["finger", "shoulder", "elbow"], [NAN, 2.0, 1.0], [0.1, 0.2]), None),
    "three coordinates": (joint_state(["base"], [1.0]), "not_commandable"),
    "too few efforts": (joint_state(["elbow", "shoulder"], [1.0]), "wrong_size"),
    "too many efforts": (joint_state(["elbow"], [1.0, 2.0]), "wrong_size"),
    "too many positions": (joint_state(["elbow"], [1.0], [1.0, 2.0]), "wrong_size"),
    "velocities without names": (joint_state([], [], [], [1.0]), "wrong_size"),
    "infinite": (joint_state(["elbow"], [INF]), "infinite"),
    "minus infinite": (joint_state(["shoulder", "elbow"], [1.0, -INF]), "infinite"),
    "absurd": (joint_state(["elbow"], [1.1e6]), "absurd"),
    "1e308": (joint_state(["elbow"], [1e308]), "absurd"),
    "stale": (joint_state(["elbow"], [1.0], stamp=WALL - 6 * 10**8), "stale_stamp"),
    "long ago": (joint_state(["elbow"], [1.0], stamp=1), "stale_stamp"),
    "future": (joint_state(["elbow"], [1.0], stamp=WALL + 6 * 10**8), "future_stamp"),
    "from before a reset": (joint_state(["elbow"], [1.0], stamp=WALL - 2 * 10**8 - 1), "stale_stamp"),
}
RESET_AT = WALL - 2 * 10**8
ARRAYS = {
    "joint order": (array([1.0, 2.0]), None),
    "NaN": (array([NAN, 2.0]), None),
    "too short": (array([1.0]), "wrong_size"),
    "too long": (array([1.0, 2.0, 3.0]), "wrong_size"),
    "empty": (array([]), "wrong_size"),
    "offset": (array([1.0, 2.0], offset=1), "wrong_size"),
    "infinite": (array([1.0, INF]), "infinite"),
    "absurd": (array([-1e7, 1.0]), "absurd"),
}

# a life of a loop: (step, simulated time, wall clock ns, flags)
PAUSED, STEPPED, RESET = 1, 4, 16
LIFE = [
    (0, 0.0, WALL, 0), (1, 0.001, WALL + 1_000_000, 0), (2, 0.002, WALL + 2_000_000, 0),
    (2, 0.002, WALL + 3_000_000, PAUSED), (2, 0.002, WALL + 9_000_000, PAUSED),
    (3, 0.003, WALL + 10_000_000, PAUSED | STEPPED), (4, 0.004, WALL + 11_000_000, PAUSED | STEPPED),
    (0, 0.0, WALL + 12_000_000, PAUSED | RESET), (0, 0.0, WALL + 13_000_000, PAUSED),
    (1, 0.001, WALL + 14_000_000, PAUSED | STEPPED), (2, 0.002, WALL + 20_000_000, 0), (3, 0.003, WALL + 21_000_000, 0),
    (0, 0.0, WALL + 22_000_000, RESET), (1, 0.001, WALL + 23_000_000, 0),
]


def snapshot(seed):
    """Random numbers with unit quaternions at the transforms and heading-only ones for the base."""
    x = np.random.default_rng(seed).normal(size=SIZE)
    for at in (9, 16, 23):
        x[at + 3:at + 7] /= np.linalg.norm(x[at + 3:at + 7])
    angle = x[12]
    x[12:16] = 0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)
    return x
