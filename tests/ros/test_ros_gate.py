"""Whom the gate of lockstep asks again: real topics, without a loop. Of who counts, a second answer would be that to the next state."""

import numpy as np
import pytest
from patience import until
from ros_plain import ROBOT, SIZE

rclpy = pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

from rclpy.node import Node  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from mbros.ros.wire import _dataplane as native  # noqa: E402
from mbros.ros.wire import messages  # noqa: E402
from mbros.ros.wire.templates import make_template  # noqa: E402
from mbros.ros.wire.topics import reliable_subscription, unserved_group  # noqa: E402

REPEATED = 32           # MBROS_REPEATED of ports.hpp
X = np.linspace(0.1, 1.0, SIZE)
SECOND = 10**9


class Asked:
    """A gate with one consumer, who has heard the state after no step as those have who had subscribed before."""

    def __init__(self, node: Node, by_stamp: bool):
        self.node, self.place = node, f"gate_{id(self)}"
        clock = native.StampClock(1e-3)
        template = make_template(lambda x, stamp: messages.fill_joint_state(JointState(), ROBOT, x, stamp), SIZE)
        self.publisher = node.create_publisher(JointState, f"{self.place}/states", 10)
        self.question = native.Output("states", self.publisher, template.message, template.blocks, template.stamps, clock, due=(1, 1))
        commands = reliable_subscription(node, JointState, f"{self.place}/commands", lambda _: None, unserved_group(), depth=10)
        names = list(ROBOT.commandable)
        answer = native.CommandInput("commands", "joint_state", commands, names, [ROBOT.commandable[n] for n in names], 5, clock)
        self.gate = native.Gate([(answer, 1, 1, by_stamp, self.question)], clock, timeout=0.0)
        self.controllers = []

    def controller(self):
        """One more who subscribes, and is heard."""
        self.controllers.append(self.node.create_subscription(JointState, f"{self.place}/states", lambda _: None, 10))
        self.answers = self.node.create_publisher(JointState, f"{self.place}/commands", 10)
        until(lambda: self.publisher.get_subscription_count() == len(self.controllers) and self.answers.get_subscription_count() == 1)

    def show(self, flags=0):
        """What the loop does with its outputs: how many messages come of it."""
        before = self.question.published
        native.drive_output(self.question.capsule, X, step=0, flags=flags)
        return self.question.published - before

    def open(self, seconds=0.0):
        return native.drive_gate(self.gate.capsule, X, step=0, now_ns=round(seconds * SECOND))

    def again(self, seconds=0.0):
        """Whether the state is published once more, as the loop does when the gate says so."""
        return self.open(seconds)[0] == "again" and self.show(REPEATED) == 1


@pytest.fixture
def asked(executor, request):
    node = rclpy.create_node("gate_" + request.node.name.replace("[", "_").rstrip("]"))
    yield lambda by_stamp: Asked(node, by_stamp)
    node.destroy_node()


def test_who_counts_and_heard_the_state_does_not_hear_it_again(asked):
    """It was there before, and the graph says so late: its first answer takes its time."""
    one = asked(False)
    one.controller()
    assert one.show() == 1
    one.gate.welcome()
    assert not one.again() and not one.again(1.0)


def test_who_counts_and_came_after_the_state_hears_it_once(asked):
    one = asked(False)
    assert one.show() == 0
    one.gate.welcome()
    assert not one.again(), "the graph knew of it before messages reached it"
    one.controller()
    assert one.again(0.1) and not one.again(0.2)


def test_who_counts_and_never_answered_hears_it_again_after_five_seconds(asked):
    """Its first answer may have been lost."""
    one = asked(False)
    one.controller()
    assert one.show() == 1 and one.open()[0] == "wait" and not one.again(4.99) and one.again(5.01)


def test_who_answers_by_stamp_may_hear_it_twice(asked):
    one = asked(True)
    one.controller()
    assert one.show() == 1
    one.gate.welcome()
    assert one.again() and not one.again(1.0)


def test_steps_that_are_asked_for_anew_ask_who_never_answered(asked):
    one = asked(False)
    one.controller()
    assert one.show() == 1
    one.gate.welcome(anew=True)
    assert one.again()


def test_who_counts_and_is_late_is_waited_for_asleep(asked):
    """The loop sleeps until the gate says: never until a moment that is past."""
    one = asked(False)
    one.controller()
    assert one.show() == 1 and one.open()[0] == "wait"
    one.answers.publish(JointState(name=[next(name for name, slot in ROBOT.commandable.items() if slot >= 0)], effort=[1.0]))
    until(lambda: one.open(0.1)[0] == "go")
    for seconds in (1.0, 5.99, 6.01, 6.02):
        answer, wake = native.drive_gate(one.gate.capsule, X, step=1, now_ns=round(seconds * SECOND))
        assert answer == "wait" and wake > seconds * SECOND, seconds
