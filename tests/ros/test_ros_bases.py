"""Floating and planar bases, faults, and two robots side by side."""
import math

import numpy as np
import pytest
from ros_requests import put

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros


def test_a_floating_base_falls_and_is_told_on_odom_and_tf(simulate):
    from nav_msgs.msg import Odometry
    from tf2_msgs.msg import TFMessage
    sim = simulate("quadruped", "/floating", "-r", "/tf:=tf", odom_rate=100.0, tf_rate=100.0, joint_states_rate=100.0,
                   start_paused="true", step_count=100)
    odometry, _ = sim.collect(Odometry, "odom")
    moving, _ = sim.collect(TFMessage, "tf")
    sim.until(lambda: odometry and moving)
    start = odometry[-1].pose.pose.position.z
    assert sim.take_steps().success
    sim.until(lambda: odometry[-1].header.stamp.nanosec == 100_000_000 == moving[-1].transforms[0].header.stamp.nanosec)
    o, t = odometry[-1], moving[-1].transforms[0]
    assert (o.header.frame_id, o.child_frame_id) == ("odom", "trunk") == (t.header.frame_id, t.child_frame_id)
    assert o.pose.pose.position.z == pytest.approx(start - 0.5 * 9.81 * 0.1**2, rel=0.02)
    assert o.twist.twist.linear.z == pytest.approx(-0.981, rel=1e-6)
    p, q, a = t.transform.translation, t.transform.rotation, o.pose.pose
    assert (p.x, p.y, p.z, q.w) == (a.position.x, a.position.y, a.position.z, a.orientation.w)


def test_a_planar_base_is_driven_by_its_coordinates(simulate):
    from nav_msgs.msg import Odometry
    sim = simulate("mobile_arm", "/planar", "-r", "/tf:=tf", joint_states_rate=100.0, odom_rate=100.0, watchdog_timeout=0.0,
                   initial_positions__base=f"[1.0, 2.0, {math.pi / 2}]", gravity="[0.0, 0.0, 0.0]")
    odometry, _ = sim.collect(Odometry, "odom")
    sim.until(lambda: odometry)
    assert odometry[0].pose.pose.position.x == pytest.approx(1.0) and odometry[0].pose.pose.position.y == pytest.approx(2.0)
    sim.until(lambda: odometry[-1].pose.pose.position.y > 2.05, "for the base to move", every=lambda: sim.send(["base.vy"], [20.0]))
    o = odometry[-1]
    assert o.twist.twist.linear.x > 0.0                      # forward for the base, which looks along y
    assert abs(o.twist.twist.linear.y) < 0.2 * o.twist.twist.linear.x


def test_two_robots_side_by_side_do_not_meet(simulate):
    from tf2_msgs.msg import TFMessage
    pair = {side: simulate("scara", f"/{side}", frame_prefix=f"{side}/", joint_states_rate=100.0, tf_rate=20.0, gravity="[0.0, 0.0, 0.0]",
                           watchdog_timeout=0.0) for side in ("left", "right")}
    moving, _ = pair["left"].collect(TFMessage, "/tf")
    pair["left"].until(lambda: abs(pair["left"].position("joint1")) > 0.01,
                       every=lambda: pair["left"].send(["joint1"], [0.5]))
    assert pair["right"].fresh() and pair["right"].position("joint1") == 0.0 and pair["right"].effort("joint1") == 0.0
    frames = set()
    pair["left"].until(lambda: frames.update(t.child_frame_id for m in moving for t in m.transforms)
                       or {f.split("/")[0] for f in frames} == {"left", "right"}, "for both in one TF tree")
    assert all(f.startswith(("left/", "right/")) for f in frames)


def test_a_fault_is_told_and_a_reset_ends_it(simulate):
    sim = simulate("double_pendulum", "/fault", joint_states_rate=100.0, watchdog_timeout=0.0, diagnostics_rate=10.0)
    name = sim.fresh().name[0]
    sim.until(lambda: sim.levels.get("robot") == 2, "for the fault", every=lambda: sim.send([name], [9e5]))
    status = sim.fresh_status("robot")
    assert any(f"joint '{joint}'" in status["fault"] for joint in sim.state.name) and "step" in status["fault"]
    assert np.isfinite(sim.fresh().position).all() and np.isfinite(sim.state.velocity).all()
    refused = sim.trigger("reset")
    assert refused.success
    sim.until(lambda: sim.fresh_status("robot")["fault"] == "none")
    assert sim.levels["robot"] == 0 and "call ~/reset" in sim.process.text


def test_the_policy_stop_stops_and_a_reset_starts_again(simulate):
    """Steps far too short for this machine: the loop ends, says why, and runs again after a reset."""
    sim = simulate("humanoid", "/stop", joint_states_rate=100.0, diagnostics_rate=10.0, overrun_policy="stop", rate=20000.0)
    sim.until(lambda: sim.levels.get("real time") == 2, "for the loop to end")
    assert "real time was lost in slot" in sim.fresh_status("robot")["fault"] and sim.status["real time"]["state"] == "stopped"
    steps = int(sim.fresh_status("real time")["steps"])
    answer = put(sim, ["waist_yaw_joint"], [0.01])
    assert not answer.success and "real time was lost" in answer.message and answer.message.endswith("call ~/reset first")
    for _ in range(100):                                 # it may end again before its first step
        assert sim.trigger("reset").success
        if int(sim.fresh_status("real time")["steps"]) > steps:
            return
    pytest.fail("no step was taken after a hundred resets")
