"""A trajectory begins where the joints are commanded to be, by whichever way: topics, ~/step, shared memory, the watchdog, or the
trajectory before it. What it does not name stops."""
import os
import time

import mbros
import pytest
from patience import until
from ros_client import own_clock
from test_ros_bench import trajectory

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytest.importorskip("trajectory_msgs.msg", reason="needs trajectory_msgs: pip install ros-trajectory-msgs")
pytestmark = pytest.mark.ros
NAME = f"mbros_trajectory_{os.getpid()}"


class Arm:
    """A paused arm7 with servos: what is sent is there before the steps that are asked for."""

    def __init__(self, client, door=None):
        from trajectory_msgs.msg import JointTrajectory
        self.client, self.door = client, door
        self.publisher = client.node.create_publisher(JointTrajectory, "joint_trajectory", 10)
        client.until(self.publisher.get_subscription_count, "for the subscription")

    def steps(self, n, joint="joint1", **command):
        """(position, velocity, effort) after so many steps."""
        answer = self.client.take_steps(n, **command)
        assert answer.success, answer.message
        k = answer.joint_state.name.index(joint)
        return answer.joint_state.position[k], answer.joint_state.velocity[k], answer.joint_state.effort[k]

    def follow(self, *points, joint="joint1"):
        """points: (time, positions, velocities). It is in force then, for a step or two: nobody else knows when a message has come."""
        accepted = self.accepted()
        self.publisher.publish(trajectory([joint], list(points)))
        self.client.until(lambda: self.steps(1) and self.accepted() > accepted, "for the trajectory to be accepted")

    def accepted(self):
        return int(self.client.fresh_status("commands")["joint_trajectory accepted"])

    def command(self, how, n, position):
        """joint1 to a position by ~/step or through shared memory, and so many steps."""
        if how == "step":
            return self.steps(n, name=["joint1"], position=[position])
        self.door.command(position={"joint1": position})
        return self.steps(n)


@pytest.fixture(scope="module")
def arm(simulate):
    client = simulate("arm7", "/trajectory_start", bench="servo", start_paused=True, shared_memory=NAME)
    return Arm(client, mbros.connect(NAME))


@pytest.fixture(autouse=True)
def _from_rest(request):
    if "arm" in request.fixturenames:
        assert request.getfixturevalue("arm").client.trigger("reset").success


@pytest.mark.parametrize("how", ["step", "shared memory"])
def test_after_a_position_from_elsewhere(arm, how):
    arm.follow((1.0, [0.6]))
    assert arm.steps(1100)[0] == pytest.approx(0.6, abs=2e-3)
    assert arm.command(how, 1500, 0.0)[0] == pytest.approx(0.0, abs=1e-4)
    arm.follow((1.0, [0.1]))
    q, v, effort = arm.steps(10)
    assert abs(q) < 2e-3 and abs(v) < 0.2 and abs(effort) < 50.0            # it was 5.6 rad/s and 300 N m, with a jump
    assert arm.steps(490)[0] == pytest.approx(0.05, abs=5e-3)
    assert arm.steps(1000)[0] == pytest.approx(0.1, abs=1e-4)


@pytest.mark.parametrize("how", ["step", "shared memory"])
def test_another_command_takes_over_under_way(arm, how):
    arm.follow((1.0, [0.6]))
    assert arm.steps(500)[0] == pytest.approx(0.3, abs=0.02)
    assert arm.command(how, 1500, 0.0)[0] == pytest.approx(0.0, abs=1e-4)


def test_a_command_of_step_is_in_its_step_however_long_it_takes_to_be_given(executor, monkeypatch):
    """The loop looks for commands a thousand times a second, in a pause too: between the two halves of giving one as well."""
    import rclpy
    from mbros.ros.node import SimNode
    from mbros_msgs.srv import Step
    from rclpy.parameter import Parameter
    given = {"robot": "arm7", "bench": "servo", "start_paused": True, "priority": 0}
    sim = SimNode([Parameter(name, value=value) for name, value in given.items()], namespace="/trajectory_slow", cli_args=own_clock())
    client = rclpy.create_node("trajectory_slow")
    executor.add_node(client)
    try:
        sim.start()
        publisher = client.create_publisher(type(trajectory(["joint1"], [])), "/trajectory_slow/joint_trajectory", 10)
        until(publisher.get_subscription_count)
        publisher.publish(trajectory(["joint1"], [(1.0, [0.6])]))
        until(lambda: sim.plane.counts()["joint_trajectory"]["accepted"] and sim.services.steps.take_steps(1))
        release = sim.plane.release
        monkeypatch.setattr(sim.plane, "release", lambda coordinates: (time.sleep(0.05), release(coordinates), time.sleep(0.05)))
        request = Step.Request(steps=1000)
        request.command.name, request.command.position = ["joint1"], [-0.2]
        sim.services.steps.step(request)
        sim.services.steps.fill_state(answer := Step.Response())
        assert answer.joint_state.position[answer.joint_state.name.index("joint1")] == pytest.approx(-0.2, abs=1e-3)
    finally:
        executor.remove_node(client)
        client.destroy_node()
        sim.end()
        sim.close()


def test_what_the_next_one_does_not_name_stops_where_it_is_commanded_to_be(arm):
    arm.follow((1.0, [0.8]))
    assert arm.steps(500)[0] == pytest.approx(0.4, abs=0.02)
    arm.follow((0.2, [0.1]), joint="joint7")
    q, v, _ = arm.steps(2000)
    assert 0.38 < q < 0.43 and abs(v) < 1e-6                                # a velocity left in force held it 0.04 rad away
    arm.follow((1.0, [q], [0.0]))
    assert max(abs(arm.steps(100)[0] - q) for _ in range(10)) < 1e-4        # it swung 0.12 rad


def test_after_a_velocity_that_the_watchdog_ended(arm):
    assert arm.steps(1, name=["joint1"], velocity=[1.5])[1] > 0.0
    q, v, _ = arm.steps(2000)
    assert abs(v) < 1e-6
    arm.follow((1.0, [q], [0.0]))
    assert max(abs(arm.steps(100)[0] - q) for _ in range(10)) < 1e-4


@pytest.mark.parametrize("door", ["joint_commands", "position_commands", "step", "shared memory", "joint_trajectory"])
def test_trial_R20_no_door_lets_a_position_beyond_the_limits_in(arm, door):
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    q = arm.steps(1)[0]
    if door == "step":
        answer = arm.client.take_steps(1, name=["joint1"], position=[100.0])
        assert not answer.success and "joint 'joint1', value 100; expected -2.9 to 2.9" in answer.message
    elif door == "shared memory":
        arm.door.command(position={"joint1": 100.0})
        arm.steps(2)
        status = arm.client.until(lambda: (s := arm.client.fresh_status("shared memory"))["beyond limits"] != "0" and s, "for the count")
        assert status["beyond limits"] == "1"
        arm.client.until(lambda: "joint 'joint1', value 100, is beyond its limits" in arm.client.process.text, "for the sentence")
    else:
        kind = {"joint_commands": JointState, "position_commands": Float64MultiArray}.get(door)
        message = {"joint_commands": lambda: JointState(name=["joint1"], position=[100.0]),
                   "position_commands": lambda: Float64MultiArray(data=[100.0] + [0.0] * 6),
                   "joint_trajectory": lambda: trajectory(["joint1"], [(10.0, [100.0])])}[door]()
        publisher = arm.publisher if kind is None else arm.client.node.create_publisher(kind, door, 1)
        arm.client.until(publisher.get_subscription_count, "for the subscription")
        refused = f"{door} dropped: beyond_limits"
        before = arm.client.fresh_status("commands").get(refused, "0")

        def dropped():
            publisher.publish(message)
            arm.steps(1)
            return arm.client.fresh_status("commands").get(refused, "0") != before

        arm.client.until(dropped, "for it to be dropped")
    assert arm.steps(100)[0] == pytest.approx(q, abs=1e-3)


def test_after_the_watchdog_has_damped(simulate):
    """The position commanded last is withdrawn: the next trajectory begins where the joint has sunk to."""
    arm = Arm(simulate("arm7", "/trajectory_damped", bench="servo", start_paused=True, watchdog_action="damp", watchdog_damping=20.0))
    arm.follow((1.0, [0.3]), joint="joint2")
    assert arm.steps(1050, "joint2")[0] == pytest.approx(0.3, abs=2e-3)
    q = arm.steps(3000, "joint2")[0]
    assert q > 1.0                                                          # sunk
    arm.follow((1.0, [1.9]), joint="joint2")
    at, v, effort = arm.steps(50, "joint2")
    assert abs(at - q) < 0.02 and abs(v) < 0.3 and abs(effort) < 100.0      # it was 300 N m and 8 rad/s
    assert arm.steps(950, "joint2")[0] == pytest.approx(1.9, abs=2e-3)


def test_one_that_is_refused_takes_no_other_along(arm):
    """Both wait for the same step: the queue holds more than the newest."""
    accepted = arm.accepted()
    arm.publisher.publish(trajectory(["joint1"], [(0.3, [0.3])]))
    arm.publisher.publish(trajectory(["elbow"], [(0.3, [0.3])]))
    arm.client.spin(0.3)
    arm.client.until(lambda: arm.steps(1) and "dropped on joint_trajectory" in arm.client.process.text, "for the refusal")
    assert arm.accepted() == accepted + 1
    assert arm.steps(1000)[0] == pytest.approx(0.3, abs=1e-3)
