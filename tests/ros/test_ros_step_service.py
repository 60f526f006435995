"""~/step without messages of Python: what is read from rcl's structs, and what is written there, beside what messages of Python say."""
import math
import time

import numpy as np
import pytest
from python_plane import read_request

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

BENCH = """
actuators:
  "joint[12]": {type: position_servo, kp: 4000, kd: 200}
  joint3: {type: velocity_servo, kd: 200}
sensors:
  joint1: {type: encoder, counts: 256, latency: 0.003}
  joint2: {type: torque, scale: 2.0}
"""
SCENE = """
robots:
  left: {robot: arm7, p: [0, 0.5, 0], bench: arm7_servo}
  right: {robot: arm7, p: [0, -0.5, 0]}
"""
WORLDS = {"arm": {"robot": "arm7"}, "floating": {"robot": "quadruped"}, "planar": {"robot": "panda", "base": "planar"},
          "bench": {"robot": "arm7", "bench": BENCH}, "scene": {"scene": SCENE}}


@pytest.fixture(params=WORLDS)
def steps(request, executor, tmp_path):
    """(the Steps of a node of that world, a StepService that reads and writes for it)."""
    from mbros.ros.wire._dataplane import StepService
    from mbros.ros.node import SimNode
    from mbros_msgs.srv import Step
    from rclpy.parameter import Parameter

    given = dict(WORLDS[request.param])
    for name in {"bench", "scene"} & set(given):
        path = tmp_path / f"{name}.yaml"
        path.write_text(given[name])
        given[name] = str(path)
    sim = SimNode([Parameter(name, value=value) for name, value in {**given, "start_paused": True, "priority": 0}.items()],
                  namespace=f"/step_service_{request.param}")
    service = StepService(sim.node.create_service(Step, "other", lambda request, response: response))
    service.follow(*sim.plane.of_steps())
    try:
        sim.loop.start()
        yield sim.services.steps, service
    finally:
        service.close()
        sim.end()
        sim.close()


def random_command(rng, names):
    """Mostly right, often with a mistake."""
    from sensor_msgs.msg import JointState

    some = [str(name) for name in rng.permutation(names)[:rng.integers(0, len(names) + 1)]]
    if rng.random() < 0.1:
        some += [str(rng.choice(["elbow", *some[:1], ""]))]

    def column():
        size = len(some) + int(rng.random() < 0.05)
        x = rng.choice([0.0, 1.5, -2.0, math.nan, math.inf, 1e7], size, p=[0.3, 0.35, 0.25, 0.07, 0.015, 0.015])
        return [] if rng.random() < 0.3 else [float(y) for y in x]

    message = JointState(name=some, position=column(), velocity=column(), effort=column())
    message.header.frame_id = "x" * int(rng.integers(0, 9))
    message.header.stamp.sec = int(rng.choice([0, 0, 0, 17, int(time.time()) - 100]))     # not stamped, ahead in simulated time, old
    return message


def test_commands_are_read_as_messages_are(steps):
    from mbros.ros.wire.commands import shown
    from mbros_msgs.srv import Step

    plain, service = steps
    names, rng, seen = list(plain.sim.robot.map.commandable), np.random.default_rng(5), set()
    for k in range(2000):
        message = random_command(rng, names)
        service.put(Step.Request(steps=k, command=message))
        wanted, got, again = read_request(plain, message), service.command(), plain._read(message)
        assert service.steps == k and (wanted is None) == (got is None), message
        if wanted is not None:
            seen.add(wanted[0])
            assert again[0] == got[0] == wanted[0] and again[2][0] == got[2][0] == wanted[2][0], message
            if got[0] in ("stale_stamp", "future_stamp"):   # its age at two moments
                assert abs(got[2][1] - wanted[2][1]) < 60.0
            else:
                assert shown(got[0], got[2]) == shown(wanted[0], wanted[2]), message
            assert again[1] is got[1] is wanted[1] is None or np.array_equal(got[1], wanted[1], equal_nan=True)
            assert again[1] is None or np.array_equal(again[1], wanted[1], equal_nan=True)
    assert {"accepted", "unknown_name", "infinite", "absurd", "stale_stamp", "future_stamp", "wrong_size"} <= seen


def test_commands_are_read_where_requests_come_through_python(steps):
    """As where rcl lays messages out otherwise than _dataplane knows: from bytes, by the plane whose stamps they carry."""
    from sensor_msgs.msg import JointState

    plain, service = steps
    sim = plain.sim
    name = next(name for name, slot in sim.robot.map.commandable.items() if slot >= 0)
    plain.take_steps(1)
    header, x = sim.loop.snapshot()
    stamp = sim.plane.clock_of(header, x)
    message = JointState(name=[name], effort=[1.0])
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    reason, command, _ = plain._read(message)               # in answer to the newest state
    assert reason == "accepted" and command[sim.robot.map.commandable[name]] == 1.0
    message.header.stamp.sec += 100
    assert plain._read(message)[:2] == ("future_stamp", None)
    message = JointState(name=["elbow"], effort=[1.0])
    assert plain._read(message)[0] == "unknown_name" and plain._read(message)[2][0] == "elbow"
    assert plain._read(JointState()) is None


def test_states_are_written_as_messages_are(steps):
    from mbros_msgs.srv import Step

    plain, service = steps
    sim, rng = plain.sim, np.random.default_rng(6)
    plain.step(Step.Request(steps=1))               # until here the loop may be on its way into the pause
    for k in range(20):
        if k:
            done = plain.step(Step.Request(steps=int(rng.integers(1, 30))))
        else:
            done = "nothing yet, é"
        header, x = sim.loop.snapshot()
        wanted = Step.Response(success=True, message=done)
        plain.fill_state(wanted)
        service.write(done, header.step, x, sim.plane.clock_of(header, x))
        assert service.written() == wanted


def test_requests_of_any_size_are_read_as_messages_are(steps):
    from mbros.ros.wire.commands import shown
    from mbros_msgs.srv import Step
    from sensor_msgs.msg import JointState

    plain, service = steps
    name = next(name for name, slot in plain.sim.robot.map.commandable.items() if slot >= 0)
    for command in (JointState(name=[name], effort=[1.0] * 100_000), JointState(name=["x" * 200_000], effort=[2.0]),
                    JointState(name=[name] * 50_000, effort=[3.0] * 50_000), JointState(name=[name] * 9, velocity=[1.0] * 90_000)):
        service.put(Step.Request(command=command))
        wanted, got = read_request(plain, command), service.command()
        assert got[:2] == wanted[:2] and wanted[1] is None and shown(got[0], got[2]) == shown(wanted[0], wanted[2]) != ""
    command = JointState(name=[name], effort=[1.0])
    command.header.frame_id = "x" * 300_000
    service.put(Step.Request(command=command))
    assert service.command()[0] == "accepted"
    service.put(Step.Request(command=JointState(name=[name], effort=[1.0])))
    assert service.command()[0] == "accepted"
    service.put(Step.Request(steps=3))
    assert (service.command(), service.steps) == (None, 3)
