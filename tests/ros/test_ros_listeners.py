"""A topic that nobody has subscribed to costs nothing, and whoever comes late gets the next message."""
import numpy as np
import pytest
from ros_client import Client
from standard_client import nanoseconds

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros


def wait(executor, true):
    for _ in range(6000):
        if true():
            return
        executor.spin_once(timeout_sec=0.01)
    pytest.fail("waited in vain")


def test_the_native_plane_makes_no_message_that_nobody_takes(executor):
    import rclpy
    from rosgraph_msgs.msg import Clock

    from mbros.ros.wire import _dataplane as native
    from mbros.ros.wire.messages import fill_clock
    from mbros.ros.wire.templates import make_template
    node = rclpy.create_node("listeners")
    executor.add_node(node)
    publisher = node.create_publisher(Clock, "/nobody", 10)
    template = make_template(lambda x, t: fill_clock(Clock(), t), 1)
    output = native.Output("clock", publisher, template.message, template.blocks, template.stamps, native.StampClock(1e-3))
    blank, heard = output.message, []

    def drive(step):
        native.drive_output(output.capsule, np.zeros(1), step, 1e-3 * step, step * 10**6)

    for step in range(1, 6):
        drive(step)
    assert output.published == 0 and output.message == blank
    subscription = node.create_subscription(Clock, "/nobody", heard.append, 10)
    wait(executor, lambda: publisher.get_subscription_count() == 1)
    drive(6)                                            # the very next one
    wait(executor, lambda: heard)
    assert output.published == 1 and [nanoseconds(m.clock) for m in heard] == [6 * 10**6]
    node.destroy_subscription(subscription)
    wait(executor, lambda: publisher.get_subscription_count() == 0)
    drive(7)
    assert output.published == 1
    output.close()
    executor.remove_node(node)
    node.destroy_node()


@pytest.mark.parametrize("plane", ["native", "python"])
def test_who_comes_late_gets_the_next_state(simulate, executor, plane):
    """And from then on what others get, which on a busy machine is not every state."""
    from sensor_msgs.msg import JointState
    sim = simulate("arm7", f"/late_{plane}", plane=plane, rate=100.0)
    early, late = (Client(executor, f"/late_{plane}") for _ in range(2))
    before, first = early.collect(JointState, "joint_states")
    sim.until(lambda: len(before) >= 20, "for the first states")
    states, second = late.collect(JointState, "joint_states")
    sim.until(lambda: len(states) >= 30, "for states")
    newest = nanoseconds(states[-1].header.stamp)
    sim.until(lambda: nanoseconds(before[-1].header.stamp) >= newest, "for the same of the early one")
    stamps, others = ([nanoseconds(m.header.stamp) for m in of] for of in (states, before))
    assert np.diff(stamps).min() > 0
    shared = [stamp for stamp in others if stamps[0] <= stamp <= stamps[-1]]
    assert len(set(stamps) & set(shared)) >= 0.8 * max(len(stamps), len(shared))
    early.close()
    late.close()


def test_who_comes_late_in_a_pause_is_served_too(simulate, executor):
    from sensor_msgs.msg import JointState
    sim = simulate("arm7", "/late_paused", start_paused="true")
    before = sim.fresh()
    late = Client(executor, "/late_paused")
    states, subscription = late.collect(JointState, "joint_states")
    sim.until(lambda: states, "for a state of the pause")
    assert list(states[0].position) == list(before.position) and nanoseconds(states[0].header.stamp) > nanoseconds(before.header.stamp)
    late.close()


def test_contacts_are_made_for_who_listens(simulate):
    from mbros_msgs.msg import Contacts
    sim = simulate("quadruped", "/looked_at", ground="true")
    sim.spin(0.5)
    for _ in range(2):
        contacts, subscription = sim.collect(Contacts, f"{sim.name}/contacts")
        sim.until(lambda: len(contacts) > 2, "for contacts")
        sim.node.destroy_subscription(subscription)
        sim.spin(0.2)
