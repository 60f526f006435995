"""A robot with closed loops: its markers, numbers of constraints that are live, and states that are closed before they are taken."""
import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
from optional import needs

pytestmark = [pytest.mark.ros, needs("rclpy", "source ROS 2, or pip install 'mbros[ros]'")]
with_markers = pytest.mark.skipif(importlib.util.find_spec("visualization_msgs") is None, reason="needs visualization_msgs")
COUPLED = """<robot name="pair" xmlns:mbros="https://mbros.dev">
  <link name="base"/>
  {links}
  <mbros:constraint name="gear" type="coupler" joint_A="a" joint_B="b" ratio="2"/>
</robot>"""
LINK = """<link name="{0}_link"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{0}" type="continuous"><parent link="base"/><child link="{0}_link"/><axis xyz="0 0 1"/></joint>"""


@pytest.fixture(scope="module")
def bar(simulate):
    return simulate("four_bar", "/four_bar", contacts_rate=50.0)


def positions(sim):
    from sensor_msgs.msg import JointState

    messages, subscription = sim.collect(JointState, "joint_states")
    sim.until(lambda: messages, "for joint states")
    sim.node.destroy_subscription(subscription)
    return dict(zip(messages[-1].name, messages[-1].position))


def test_a_marker_has_a_line_and_a_ball_of_the_gap_s_colour():
    """Without ROS: what is filled in."""
    from mbros.model.constraints.ends import Ends
    from mbros.ros.wire.constraint_markers import fill_constraint_markers

    def empty():
        xyz = SimpleNamespace
        return SimpleNamespace(header=SimpleNamespace(stamp=SimpleNamespace()), pose=SimpleNamespace(orientation=xyz()), color=xyz(),
                               scale=xyz())

    ends = [Ends("a", np.zeros(3), np.ones(3), 0.0), Ends("b", np.ones(3), np.zeros(3), 1.0)]
    message = fill_constraint_markers(SimpleNamespace(), ends, "odom", 5, empty, SimpleNamespace, SimpleNamespace)
    lines, balls = message.markers
    assert (lines.ns, lines.type, balls.type, lines.header.frame_id) == ("constraints", 5, 7, "odom")
    assert [(p.x, p.y, p.z) for p in lines.points] == [(0, 0, 0), (1, 1, 1), (1, 1, 1), (0, 0, 0)]
    assert [c.g > c.r for c in lines.colors] == [True, True, False, False] and [c.g > c.r for c in balls.colors] == [True, False]


@with_markers
def test_markers_show_where_loops_close(bar):
    from visualization_msgs.msg import Marker, MarkerArray

    messages, subscription = bar.collect(MarkerArray, f"{bar.name}/constraint_markers")
    bar.until(lambda: messages, "for markers")
    lines, balls = messages[-1].markers
    assert (lines.ns, lines.type, balls.type) == ("constraints", Marker.LINE_LIST, Marker.SPHERE_LIST)
    assert len(lines.points) == 2 and len(balls.points) == 1
    ends = np.array([(p.x, p.y, p.z) for p in lines.points])
    assert np.abs(ends[0] - ends[1]).max() < 1e-5 and lines.colors[0].g > lines.colors[0].r      # closed: green
    bar.node.destroy_subscription(subscription)
    assert f"{bar.name}/contacts" not in dict(bar.node.get_topic_names_and_types())


def test_a_state_given_in_part_is_closed(bar):
    """The crank goes where it is told, the others where the loop is closed; what cannot be closed is refused with its gap."""
    import mbros
    from ros_requests import put

    model = mbros.load("four_bar")
    [name, *others] = [joint.name for joint in model.joints if joint.nv]
    start = positions(bar)[name]
    answer = put(bar, [name], [start + 0.3])
    assert answer.success and "to close the loops, moved" in answer.message, answer.message
    refused = put(bar, [name, *others], [start] + [1.0] * len(others))
    assert not refused.success and "was found that closes constraint" in refused.message and " m" in refused.message
    assert bar.trigger("reset").success


def test_the_ratio_of_a_gear_is_live(simulate, tmp_path):
    file = tmp_path / "pair.urdf"
    file.write_text(COUPLED.format(links="\n  ".join(LINK.format(name) for name in "ab")))
    sim = simulate(str(file), "/gears")
    assert sim.get("constraint.gear.ratio") == 2.0 and sim.get("constraint.gear.offset") == 0.0
    assert sim.set(constraint__gear__offset=0.5) == ""
    sim.until(lambda: abs((lambda q: q["a"] - 2.0 * q["b"])(positions(sim)) - 0.5) < 1e-4, "for the gear to move")
    assert "constraint.gear.ratio" in sim.set(constraint__gear__ratio=float("nan"))
