"""~/contacts, ~/contact_markers and what /diagnostics counts: a robot that falls on a ground, lies there, and is put elsewhere."""
import importlib.util

import numpy as np
import pytest
from optional import needs

pytestmark = [pytest.mark.ros, needs("rclpy", "source ROS 2, or pip install 'mbros[ros]'")]

WEIGHT = 9.81 * 3.0
BALL = """<robot name="ball"><link name="ball"><inertial><mass value="3"/>
  <inertia ixx="0.012" iyy="0.012" izz="0.012" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision name="skin"><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
with_markers = pytest.mark.skipif(importlib.util.find_spec("visualization_msgs") is None, reason="needs visualization_msgs")


@pytest.fixture(scope="module", params=["native", "python"])
def sim(simulate, request, tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "ball.urdf"
    file.write_text(BALL)
    return simulate(str(file), f"/contacts_{request.param}", base="floating", ground="true", plane=request.param, tf_rate=20.0,
                    odom_rate=20.0, joint_states_rate=50.0, contacts_rate=50.0, diagnostics_rate=10.0, max_contact_iterations=30)


@pytest.fixture
def listening(sim):
    """newest(kind, topic): a message of a topic of the node that was sent after the call."""
    taken = []

    def newest(kind, topic, good=lambda message: True):
        messages, subscription = sim.collect(kind, f"{sim.name}/{topic}")
        taken.append(subscription)
        sim.until(lambda: messages and good(messages[-1]), f"for {topic}")
        return messages[-1]

    yield newest
    for subscription in taken:
        sim.node.destroy_subscription(subscription)


def xyz(v):
    return np.array([v.x, v.y, v.z])


def test_a_resting_ball_is_carried_by_the_ground(sim, listening):
    from mbros_msgs.msg import Contacts

    message = listening(Contacts, "contacts", lambda m: m.count == 1 and abs(m.contacts[0].force.z - WEIGHT) < 1e-6 * WEIGHT)
    [contact] = message.contacts
    assert (contact.body_a, contact.body_b, contact.shape_b) == ("world", "ball", "skin")
    assert message.header.frame_id == "odom"
    assert message.header.stamp.sec > 1_000_000_000          # system time, as joint_states have
    assert xyz(contact.normal).tolist() == [0.0, 0.0, 1.0]
    assert 0.0 < contact.depth < 1e-3 and abs(contact.point.z + 0.5 * contact.depth) < 1e-6
    assert np.linalg.norm(xyz(contact.slip_velocity)) < 1e-6 and contact.sticks


@with_markers
def test_rviz_gets_a_point_and_an_arrow_of_the_force(sim, listening):
    from visualization_msgs.msg import Marker, MarkerArray

    message = listening(MarkerArray, "contact_markers", lambda m: len(m.markers) == 2 and m.markers[1].action == Marker.ADD)
    points, arrow = message.markers
    assert (points.ns, points.type, points.action) == ("points", Marker.SPHERE_LIST, Marker.ADD)
    assert (arrow.ns, arrow.type, arrow.header.frame_id) == ("forces", Marker.ARROW, "odom")
    sim.until(lambda: float(sim.fresh_status("robot")["kinetic energy (J)"]) < 1e-9, "for the ball to lie still")
    points, arrow = listening(MarkerArray, "contact_markers").markers
    start, end = (xyz(p) for p in arrow.points)
    assert np.allclose(start, xyz(points.points[0])) and np.allclose(end - start, [0.0, 0.0, 0.5], atol=1e-4)   # its weight: half a metre


def test_markers_go_with_the_contact_and_the_topics_stop_at_rate_zero(sim, listening):
    from mbros_msgs.msg import Contacts
    from ros_requests import put

    assert sim.set(gravity=[0.0, 0.0, 0.0]) == ""
    assert put(sim, poses={"base": ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))}).success
    try:
        message = listening(Contacts, "contacts", lambda m: m.count == 0)
        assert list(message.contacts) == []
        assert sim.set(contacts_rate=0.0) == ""
        messages, subscription = sim.collect(Contacts, f"{sim.name}/contacts")
        sim.spin(0.3)
        messages.clear()
        sim.spin(0.3)
        assert messages == []
        assert sim.set(contacts_rate=50.0) == ""
        sim.until(lambda: messages, "for contacts at a rate again")
        sim.node.destroy_subscription(subscription)
    finally:
        assert sim.set(contacts_rate=50.0, gravity=[0.0, 0.0, -9.81]) == ""
        assert sim.trigger("reset").success


def test_diagnostics_count_contacts_and_say_the_longest_step(sim):
    sim.until(lambda: sim.fresh_status("robot").get("contacts") == "1", "for a contact")
    status = sim.fresh_status("robot")
    assert 0 <= int(status["contact iterations"]) <= 30
    assert status["steps at the bound on iterations"] == "0" and status["contacts without room"] == "0"
    timing = sim.fresh_status("real time")
    assert float(timing["step max (ms)"]) >= float(timing["step p99 (ms)"]) > 0.0


def test_the_bound_on_iterations_is_said_and_cannot_change(sim):
    assert sim.get("max_contact_iterations") == 30
    assert "read-only" in sim.set(max_contact_iterations=10)


def test_the_numbers_of_a_shape_are_live(sim, listening):
    """Half the stiffness, twice the depth: k_a k_b / (k_a + k_b) of the ball with a ground of the same number."""
    from mbros_msgs.msg import Contacts

    def depth_of(stiffness):
        pair = stiffness * ground / (stiffness + ground)
        resting = WEIGHT / pair
        message = listening(Contacts, "contacts", lambda m: m.count == 1 and abs(m.contacts[0].depth - resting) < 1e-3 * resting)
        return message.contacts[0].depth

    k, ground = sim.get("contact.skin.stiffness"), sim.get("contact.floor.stiffness")
    assert depth_of(k) < 1e-3
    assert sim.set(contact__skin__stiffness=0.01 * k) == ""
    assert depth_of(0.01 * k) > 20.0 * WEIGHT / (k * ground / (k + ground))
    assert "contact.skin.stiffness" in sim.set(contact__skin__stiffness=-1.0)
    assert sim.get("contact.skin.stiffness") == 0.01 * k
    assert sim.set(contact__skin__stiffness=k) == ""


def test_a_robot_without_shapes_has_no_such_topics(simulate):
    bare = simulate("arm6", "/no_contacts")
    names = dict(bare.node.get_topic_names_and_types())
    assert f"{bare.name}/contacts" not in names and f"{bare.name}/contact_markers" not in names
    assert "contacts" not in bare.fresh_status("robot")
