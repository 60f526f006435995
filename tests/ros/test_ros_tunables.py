"""What may change while the node runs: every number of the physics as a parameter, locks and states by service."""
import math

import numpy as np
import pytest
from optional import needs
from ros_requests import lock, put

pytestmark = [pytest.mark.ros, pytest.mark.seed("PJ-40", "PJ-29"), needs("rclpy", "source ROS 2, or pip install 'mbros[ros]'")]

BODY = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f"""<robot name="mounted" xmlns:mbros="urn:mbros:urdf">
  <link name="base">{BODY}</link><link name="arm">{BODY}</link><link name="hand">{BODY}</link><link name="finger">{BODY}</link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="50" velocity="10"/><dynamics damping="0.3"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" effort="50" velocity="10"/></joint>
  <joint name="copy" type="prismatic"><parent link="hand"/><child link="finger"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" effort="50" velocity="10"/><mimic joint="slide"/></joint>
  <mbros:bushing name="mount" frame_A="world" frame_C="base" torque_stiffness="10 10 10" torque_damping="1 1 1"
    force_stiffness="1e3 1e3 1e3" force_damping="20 20 20"/>
</robot>"""


@pytest.fixture(scope="module")
def sim(simulate, tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "mounted.urdf"
    file.write_text(URDF)
    return simulate(str(file), "/tunables", base="floating", gravity="[0.0, 0.0, 0.0]", joint_states_rate=200.0,
                    tf_rate=50.0, odom_rate=200.0)


@pytest.fixture(autouse=True)
def as_new(sim):
    assert lock(sim, [], False).success
    assert sim.pause(False).success and sim.trigger("reset").success
    sim.fresh()


def velocity(sim, joint):
    return sim.state.velocity[sim.state.name.index(joint)]


def test_every_number_of_the_model_is_a_parameter(sim):
    import mbros
    from rcl_interfaces.srv import ListParameters

    model = mbros.load(URDF, base="floating")
    names = set(sim.call(ListParameters, "list_parameters", ListParameters.Request()).result.names)
    assert set(model.parameter_names) <= names
    assert {"force.mount.force_stiffness", "mass.arm", "locked.elbow", "rotor_inertia.slide", "stop_stiffness.slide"} <= names
    assert "damping.copy" not in names
    state = model.default_state()
    for name in ("damping.elbow", "mass.base", "force.mount.torque_damping", "locked.slide", "stop_stiffness.elbow"):
        assert np.array_equal(sim.get(name), model.parameter(state, name)), name


def test_a_stiffness_changes_what_is_simulated(sim):
    """At rest under gravity the base hangs by m g / k on its mount, before and after the stiffness is doubled."""
    from nav_msgs.msg import Odometry
    assert lock(sim, [], True).success and lock(sim, ["base"], False).success         # one rigid body on its mount
    seen, subscription = sim.collect(Odometry, "odom")
    assert sim.set(gravity=[0.0, 0.0, -1.0], **{"force__mount__force_damping": [90.0] * 3}) == ""

    def settled_at(z):
        return seen and abs(seen[-1].pose.pose.position.z - z) < 1e-4

    sim.until(lambda: settled_at(-8.0 / 1e3), "for the base to settle")
    assert sim.set(force__mount__force_stiffness=[1e3, 1e3, 2e3]) == ""
    sim.until(lambda: settled_at(-8.0 / 2e3), "for the base to settle on the stiffer mount")
    assert sim.set(mass__base=6.0) == ""                                              # 4 kg more
    sim.until(lambda: settled_at(-12.0 / 2e3), "for the heavier base to settle")
    assert sim.set(gravity=[0.0, 0.0, 0.0], mass__base=2.0, force__mount__force_stiffness=[1e3] * 3,
                   force__mount__force_damping=[20.0] * 3) == ""
    sim.node.destroy_subscription(subscription)


def test_an_inertia_follows_its_mass_and_is_checked(sim):
    """The parameter says what is in force; an inertia that no body has is refused in words."""
    before = list(sim.get("inertia.hand"))
    assert sim.set(mass__hand=4.0) == "" and np.allclose(sim.get("inertia.hand"), 2.0 * np.array(before))
    reason = sim.set(inertia__hand=[1.0, 0.1, 0.1, 0.0, 0.0, 0.0])
    assert "pseudo-inertia has the eigenvalue -0.4" in reason and np.allclose(sim.get("inertia.hand"), 2.0 * np.array(before))
    assert sim.set(com__hand=[0.0, 0.1, 0.0], mass__hand=2.0, inertia__hand=before) == ""
    assert sim.set(com__hand=[0.0, 0.0, 0.0]) == "" and np.allclose(sim.get("inertia.hand"), before)
    assert "expected at most" in sim.set(com__hand=[1e8, 0.0, 0.0]) and np.allclose(sim.get("inertia.hand"), before)
    assert list(sim.get("com.hand")) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name, bad, reason", [
    ("force__mount__force_stiffness", [1.0, -1.0, 1.0], "force.mount.force_stiffness[1] must be 0 or more N/m, got -1"),
    ("force__mount__force_stiffness", [1.0], "force.mount.force_stiffness must have 3 numbers, got 1"),
    ("mass__arm", -1.0, "Parameter mass.arm out of range Min: 0.0, Max: 1000000000.0, value: -1.0"),
    ("locked__elbow", 1.0, "locked.elbow must be true or false, got 1.0"),
    ("rotor_inertia__elbow", math.nan, "Parameter rotor_inertia.elbow out of range Min: 0.0, Max: 1000000000.0, value: nan")])
def test_a_bad_value_is_refused_and_nothing_changes(sim, name, bad, reason):
    before = sim.get(name.replace("__", ".")), sim.get("damping.elbow")
    assert sim.set(damping__elbow=0.9, **{name: bad}) == reason
    assert (sim.get(name.replace("__", ".")), sim.get("damping.elbow")) == before


def test_a_locked_joint_stands_and_its_parameter_says_so(sim):
    sim.until(lambda: velocity(sim, "elbow") > 0.1, "for the elbow to move", every=lambda: sim.send(["elbow"], [5.0]))
    assert lock(sim, ["elbow"], True).message == "locked: elbow"
    assert sim.get("locked.elbow") is True
    angle = sim.fresh().position[0]
    sim.send(["elbow"], [5.0])
    sim.spin(0.1)
    assert sim.fresh().position[0] == angle and velocity(sim, "elbow") == 0.0
    assert sim.set(locked__elbow=False) == ""
    sim.until(lambda: velocity(sim, "elbow") > 0.1, "for the elbow to move again", every=lambda: sim.send(["elbow"], [5.0]))
    everything = lock(sim, [], True)
    assert everything.message == "locked: base, elbow, slide" and sim.get("locked.base") is True


@pytest.mark.parametrize("joint, said", [("elbw", "did you mean 'elbow'"), ("copy", "follows 'slide'")])
def test_what_cannot_be_locked_is_said_and_nothing_is_locked(sim, joint, said):
    answer = lock(sim, ["elbow", joint], True)
    assert not answer.success and said in answer.message
    assert sim.get("locked.elbow") is False


def test_joints_are_put_elsewhere_while_time_goes_on(sim):
    before = sim.fresh().header.stamp
    assert sim.pause(True).success
    time_before = sim.take_steps().message
    answer = put(sim, ["slide", "elbow"], [0.25, math.nan], [math.nan, -0.5])
    assert answer.success and answer.message == "set: slide, elbow"
    state = sim.fresh()
    assert sim.position("slide") == 0.25 and sim.position("copy") == 0.25 and velocity(sim, "elbow") == -0.5
    assert "simulated time" in time_before and sim.take_steps().message > time_before
    assert (state.header.stamp.sec, state.header.stamp.nanosec) >= (before.sec, before.nanosec)


def test_a_recorded_message_is_put_back(sim):
    """Followers, efforts and a joint that leans on its stop included."""
    assert put(sim, ["slide", "elbow"], [0.2, -1.01], [0.0, 0.0]).success
    assert sim.pause(True).success
    recorded = sim.fresh()
    assert sim.trigger("reset").success
    answer = put(sim, recorded.name, recorded.position, recorded.velocity, effort=[1.0] * len(recorded.name))
    assert answer.success, answer.message
    state = sim.fresh()
    assert list(state.position) == list(recorded.position) and list(state.velocity) == list(recorded.velocity)


def test_a_base_is_put_by_pose_and_twist(sim):
    from nav_msgs.msg import Odometry
    assert sim.pause(True).success
    half = math.sqrt(0.5)
    assert put(sim, poses={"base": ((0.1, 0.2, 0.3), (half, 0.0, 0.0, half))}, twists={"base": ((0, 0, 1.0), (0.5, 0, 0))}).success
    seen, subscription = sim.collect(Odometry, "odom")
    sim.until(lambda: len(seen) > 2, "for odometry")
    pose, twist = seen[-1].pose.pose, seen[-1].twist.twist
    assert np.allclose([pose.position.x, pose.position.y, pose.position.z], [0.1, 0.2, 0.3], atol=1e-12)
    assert np.allclose([pose.orientation.w, pose.orientation.z], [half, half], atol=1e-12)
    assert np.allclose([twist.angular.z, twist.linear.x, twist.linear.y], [1.0, 0.5, 0.0], atol=1e-12)   # in the base's own axes
    sim.node.destroy_subscription(subscription)


def test_the_nearest_pose_is_taken_and_said(sim):
    assert sim.pause(True).success
    answer = put(sim, poses={"elbow": ((0.0, 0.0, 0.1), (math.cos(0.2), 0.0, math.sin(0.2), 0.0))})
    assert answer.success and "nearest pose a revolute joint has, 0.1 m and 0 rad" in answer.message
    sim.fresh()
    assert sim.position("elbow") == pytest.approx(0.4, abs=1e-7)


@pytest.mark.parametrize("request_, said", [
    ({}, "no joint is named"),
    ({"names": ["elbow", "slide"]}, "no position, velocity, transform or twist is given for elbow, slide"),
    ({"names": ["elbow"], "position": [math.nan]}, "no position, velocity, transform or twist is given for elbow"),
    ({"names": ["slide"], "velocity": [1e300]}, "v[7] ('slide') is 1e+300; expected less than 1e+10"),
    ({"poses": {"base": ((1e300, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))}}, "q[0] ('base.x') is 1e+300"),
    ({"names": ["elbow"], "position": [5.0]}, "position of elbow = 5 is outside the limits -1 ... 2"),
    ({"names": ["slide", "elbw"], "position": [0.1, 0.1]}, "did you mean 'elbow'"),
    ({"names": ["slide", "slide"], "position": [0.1, 0.1]}, "named twice"),
    ({"names": ["slide", "elbow"], "position": [0.1]}, "joint_state.position has 1 entries for 2 names"),
    ({"names": ["slide"], "velocity": [math.inf]}, "joint_state.velocity of joint 'slide' is inf"),
    ({"names": ["slide", "copy"], "position": [0.1, 0.2]}, "follows 'slide', which puts its position at 0.1, not at 0.2"),
    ({"names": ["base"], "position": [0.1]}, "give its pose in multi_dof_joint_state"),
    ({"names": ["copy"], "position": [0.1]}, "follows 'slide'"),
    ({"poses": {"base": ((0, 0, 0), (0.0, 0.0, 0.0, 0.0))}}, "unit quaternion"),
    ({"poses": {"base": ((0, 0, math.nan), (1.0, 0.0, 0.0, 0.0))}}, "expected finite numbers"),
    ({"twists": {"base": ((0, 0, 1.0), (0.5, 0, 0))}}, "give its transform too")])
def test_a_request_that_cannot_be_changes_nothing(sim, request_, said):
    assert sim.pause(True).success
    before = sim.fresh()
    answer = put(sim, **request_)
    assert not answer.success and said in answer.message
    after = sim.fresh()
    assert (after.position, after.velocity) == (before.position, before.velocity)


def test_in_fault_the_way_out_is_said(sim):
    assert sim.set(stop_stiffness__elbow=1e9, damping__elbow=0.0) == ""
    put(sim, ["elbow"], [0.0], [9e9])                         # whose answer may come after the fault
    sim.until(lambda: sim.fresh_status("real time")["state"] == "fault", "for the fault")
    answer = put(sim, ["elbow"], [0.0])
    assert not answer.success and answer.message.endswith("call ~/reset first")
    assert sim.set(stop_stiffness__elbow=0.0, damping__elbow=0.3) == ""
    assert sim.trigger("reset").success and put(sim, ["elbow"], [0.1]).success


def test_a_locked_joint_takes_no_velocity(sim):
    assert lock(sim, ["elbow"], True).success
    answer = put(sim, ["elbow"], [0.3], [1.0])
    assert not answer.success and "unlock it first" in answer.message
    assert put(sim, ["elbow"], [0.3]).success
    sim.fresh()
    assert sim.position("elbow") == 0.3 and velocity(sim, "elbow") == 0.0
