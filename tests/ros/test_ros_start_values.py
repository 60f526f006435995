"""Parameters of the physics from a file at the start: nested, with names as robots have them, and what becomes of them."""
import math

import numpy as np
import pytest
from optional import needs
from ros_requests import lock, put

pytestmark = [pytest.mark.ros, pytest.mark.seed("PJ-40"), needs("rclpy", "source ROS 2, or pip install 'mbros[ros]'")]

BODY = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
LIMIT = '<limit lower="-1" upper="2" effort="50" velocity="10"/>'
URDF = f"""<robot name="odd" xmlns:mbros="urn:mbros:urdf">
  <link name="base">{BODY}</link><link name="l.1">{BODY}</link><link name="l 2">{BODY}</link><link name="l/3">{BODY}</link>
  <link name="wheel">{BODY}</link><link name="bob">{BODY}</link>
  <joint name="arm" type="revolute"><parent link="base"/><child link="l.1"/><axis xyz="0 1 0"/>{LIMIT}</joint>
  <joint name="arm.left" type="revolute"><parent link="l.1"/><child link="l 2"/><axis xyz="0 1 0"/>{LIMIT}</joint>
  <joint name="Gelenk \u00e4/3" type="revolute"><parent link="l 2"/><child link="l/3"/><axis xyz="0 1 0"/>{LIMIT}</joint>
  <mbros:joint name="spin" type="circular"><parent link="base"/><child link="wheel"/><origin xyz="0 1 0"/><axis xyz="0 0 1"/></mbros:joint>
  <mbros:joint name="ball" type="ball"><parent link="base"/><child link="bob"/><origin xyz="0 -1 0"/></mbros:joint>
  <mbros:bushing name="mo.unt" frame_A="world" frame_C="base" torque_stiffness="10 10 10" torque_damping="1 1 1"
    force_stiffness="1e3 1e3 1e3" force_damping="20 20 20"/>
</robot>"""
FILE = """/**:
  ros__parameters:
    gravity: [0.0, 0.0, 0.0]
    damping: {arm: 0.5, arm.left: 0.25, "Gelenk \u00e4/3": 2, ball: [1, 2, 3]}
    friction.arm.left: 0.125
    force: {mo.unt: {force_stiffness: [2000.0, 2000.0, 3000.0]}}
    mass: {l.1: 3}
    locked: {arm: true}
    initial_positions: {arm: 0.3, spin: [0.0, 1.0], ball: [0.6, 0.8, 0.0, 0.0]}
    damping.arm.lefd: 3.0
    quux: 4
"""
GIVEN = {"damping.arm": 0.5, "damping.arm.left": 0.25, "damping.Gelenk \u00e4/3": 2, "damping.ball": [1, 2, 3],
         "friction.arm.left": 0.125, "force.mo.unt.force_stiffness": [2e3, 2e3, 3e3], "mass.l.1": 3, "locked.arm": True}


@pytest.fixture(scope="module", params=["native", "python"])
def sim(request, simulate, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd.urdf").write_text(URDF, encoding="utf-8")
    (folder / "odd.yaml").write_text(FILE, encoding="utf-8")
    return simulate(str(folder / "odd.urdf"), f"/odd_{request.param}", "--params-file", str(folder / "odd.yaml"), base="floating",
                    frame_prefix=request.param + "/", plane=request.param, joint_states_rate=200.0, tf_rate=50.0,
                    odom_rate=200.0)


@pytest.fixture(autouse=True)
def as_new(sim):
    assert lock(sim, [], False).success and lock(sim, ["arm"], True).success
    assert sim.pause(False).success and sim.trigger("reset").success
    sim.fresh()


@pytest.mark.parametrize("name", GIVEN)
def test_a_value_of_the_file_is_in_force(sim, name):
    assert np.array_equal(sim.get(name), GIVEN[name])


def test_an_inertia_follows_a_mass_of_the_file(sim):
    """As it does when the mass is set while the node runs."""
    np.testing.assert_allclose(sim.get("inertia.l.1"), [0.15, 0.15, 0.15, 0.0, 0.0, 0.0], rtol=1e-12, atol=1e-15)


def test_what_the_node_does_not_have_is_said(sim):
    assert "parameter 'damping.arm.lefd' is given and not used; did you mean 'damping.arm.left'?" in sim.process.text
    assert "parameter 'quux' is given and not used\n" in sim.process.text
    assert sim.process.text.count("given and not used") == 2


def test_a_joint_locked_at_the_start_stands_there(sim):
    assert sim.position("arm") == 0.3 and sim.position("spin") == pytest.approx(math.pi / 2, abs=1e-15)
    sim.until(lambda: abs(sim.position("arm.left")) > 0.01, "for the next joint to move",
              every=lambda: sim.send(["arm", "arm.left"], [5.0, 5.0]))
    assert sim.fresh().position[sim.state.name.index("arm")] == 0.3


def test_a_reset_leaves_locks_and_parameters_and_says_so(sim):
    assert lock(sim, ["spin"], True).message == "locked: spin" and sim.set(damping__arm=0.75) == ""
    assert put(sim, ["spin"], [3.0]).success
    assert sim.trigger("reset").message == ("at the initial positions, at rest; steps and simulated time count from 0 "
                                              "again, stamps go on; still locked: arm, spin")
    assert sim.get("locked.spin") is True and sim.get("damping.arm") == 0.75 and sim.set(damping__arm=0.5) == ""
    sim.fresh()
    assert sim.position("spin") == pytest.approx(math.pi / 2, abs=1e-15)


@pytest.mark.parametrize("joint, bad, said", [("ball", [0.0] * 4, "[qw, qx, qy, qz] with a quaternion of length 1"),
                                              ("spin", [0.0, 0.0], "with a (cos, sin) of length 1")])
def test_no_start_without_a_direction(sim, joint, bad, said):
    """A reset would have ended in a fault."""
    assert said in sim.set(**{f"initial_positions__{joint}": bad})
    assert sim.trigger("reset").success and sim.fresh_status("real time")["state"] == "running"


def test_time_does_not_go_back_when_joints_are_put_elsewhere(sim):
    from tf2_msgs.msg import TFMessage
    seen, subscription = sim.collect(TFMessage, "/tf")
    turn = (math.cos(0.01), 0.0, 0.0, math.sin(0.01))           # so little that it may swing as long as a busy machine likes
    for paused in (False, True, False):
        assert sim.pause(paused).success and put(sim, ["spin"], [0.5], poses={"base": ((0.01, 0.02, 0.03), turn)}).success
        sim.until(lambda n=len(seen): len(seen) > n + 20, "for transforms")
    prefix = sim.get("frame_prefix")            # /tf is everyone's
    stamps = [(t.header.stamp.sec, t.header.stamp.nanosec) for m in seen for t in m.transforms
              if t.child_frame_id == prefix + "base"]
    assert len(stamps) > 15 and stamps == sorted(stamps)
    sim.node.destroy_subscription(subscription)
