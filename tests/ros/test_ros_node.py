"""The node as its users meet it: a process of its own, topics, services and parameters."""
import itertools
import math
import time
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros

NAMES = [f"joint{k}" for k in range(1, 8)]


@pytest.fixture(scope="module", params=["native", "python"])
def sim(simulate, request):
    """The 7-axis arm without gravity; both data planes have to behave the same."""
    return simulate("arm7", f"/node_{request.param}", plane=request.param, gravity="[0.0, 0.0, 0.0]",
                    joint_states_rate=200.0, tf_rate=50.0, diagnostics_rate=10.0)


@pytest.fixture(autouse=True)
def as_new(sim):
    """Every test starts with the arm at rest and no command in force."""
    assert sim.set(watchdog_timeout=0.1, watchdog_action="zero", gravity=[0.0, 0.0, 0.0], joint_states_rate=200.0) == ""
    assert sim.pause(False).success and sim.trigger("reset").success
    sim.fresh()


def test_it_says_what_it_simulates(sim):
    assert "simulating 'arm7' (7 joints) at 1000 Hz" in sim.process.text
    assert ("python_plane.py" in sim.process.text) == (sim.namespace == "/node_python")


def test_a_commanded_torque_moves_the_joint(sim):
    assert sim.fresh().name == NAMES
    sim.until(lambda: sim.effort("joint4") == 2.0 and sim.position("joint4") > 0.05, "for joint4 to move",
              every=lambda: sim.send(["joint4"], [2.0]))
    assert abs(sim.position("joint1")) < 1e-9                # the axes of the stretched arm are square to each other


def test_partial_commands_add_up_and_nan_is_not_commanded(sim):
    sim.set(watchdog_timeout=0.0)
    sim.until(lambda: sim.effort("joint1") == 1.0, every=lambda: sim.send(["joint1"], [1.0]))
    sim.until(lambda: sim.effort("joint2") == 0.5, every=lambda: sim.send(["joint2", "joint1"], [0.5, math.nan]))
    assert sim.effort("joint1") == 1.0


def test_effort_arrays_are_taken_in_joint_order(sim):
    efforts = [0.1 * k for k in range(1, 8)]
    sim.until(lambda: list(sim.state.effort) == efforts, every=lambda: sim.send_array(efforts))


def test_efforts_are_clamped_to_the_limit_and_counted(sim):
    sim.until(lambda: sim.effort("joint7") > 0, every=lambda: sim.send(["joint7"], [5e5]))
    limit = sim.effort("joint7")
    assert 0 < limit < 1000
    assert float(sim.fresh_status("commands")["clamped efforts"]) > 0


def test_silence_brings_the_watchdog(sim):
    sim.until(lambda: sim.effort("joint7") == 0.1, every=lambda: sim.send(["joint7"], [0.1]))
    trips = int(sim.fresh_status("commands")["watchdog trips"])
    sim.until(lambda: sim.effort("joint7") == 0.0, "for the watchdog")
    sim.until(lambda: sim.fresh_status("commands")["watchdog"] == "active")         # a command may still have been on its way
    assert int(sim.status["commands"]["watchdog trips"]) >= max(trips, 1)
    assert sim.levels["commands"] == 1


def test_the_watchdog_holds_when_told_to(sim):
    assert sim.set(watchdog_action="hold", watchdog_timeout=0.05) == ""
    sim.until(lambda: sim.effort("joint7") == 0.1, every=lambda: sim.send(["joint7"], [0.1]))
    sim.until(lambda: sim.fresh_status("commands")["watchdog"] == "active")
    assert sim.effort("joint7") == 0.1


BAD = {
    "unknown_name": lambda s: s.send(["joint1", "elbow"], [9.0, 9.0]),
    "duplicate_name": lambda s: s.send(["joint1", "joint1"], [9.0, 9.0]),
    "not_commandable": lambda s: s.send(["flange_joint"], [9.0]),
    "wrong_size": lambda s: s.send(["joint1"], [9.0, 9.0]),
    "no_effort": lambda s: s.send(["joint1"], [], position=[9.0]),
    "infinite": lambda s: s.send(["joint1"], [math.inf]),
    "absurd": lambda s: s.send(["joint1"], [1e300]),
    "stale_stamp": lambda s: s.send(["joint1"], [9.0], stamp_ns=time.time_ns() - 10**10),
    "future_stamp": lambda s: s.send(["joint1"], [9.0], stamp_ns=time.time_ns() + 10**10),
}


def test_malformed_commands_are_dropped_whole_counted_and_logged_and_the_last_good_one_stays(sim):
    sim.set(watchdog_timeout=0.0)
    sim.until(lambda: sim.effort("joint1") == 1.0, every=lambda: sim.send(["joint1"], [1.0]))
    before, begun = sim.fresh_status("commands"), time.monotonic()
    sent, turns, efforts = Counter(), itertools.cycle(BAD), set()

    def spoil():                                             # depth 1: what comes at the same time replaces it
        reason = next(turns)
        BAD[reason](sim)
        sim.send_array([1.0])
        sent[reason] += 1

    def new(reason):
        key = f"joint_commands dropped: {reason}"
        return int(sim.status.get("commands", {}).get(key, 0)) - int(before.get(key, 0))

    def counted():
        efforts.add(sim.effort("joint1"))
        return all(new(reason) > 0 for reason in BAD)

    sim.until(counted, "for each to be counted", every=spoil)
    after = sim.fresh_status("commands")
    assert efforts == {1.0} and all(new(reason) <= sent[reason] for reason in BAD), (efforts, sent, after)
    assert int(after["effort_commands dropped: wrong_size"]) >= 1
    assert int(after["joint_commands accepted"]) >= 1
    sim.until(lambda: "dropped on joint_commands" in sim.process.text, "for the log",
              every=lambda: sim.send(["joint1", "elbow"], [9.0, 9.0]))
    lines = [line for line in sim.process.text.splitlines() if "dropped on joint_commands" in line]
    assert len(lines) <= 2 + time.monotonic() - begun        # far fewer than were dropped: one line a second
    sim.until(lambda: sim.effort("joint1") == 2.0, every=lambda: sim.send(["joint1"], [2.0]))


def test_a_huge_message_is_dropped_and_the_next_command_taken(sim):
    sim.set(watchdog_timeout=0.0)
    sim.until(lambda: sim.effort("joint1") == 1.0, every=lambda: sim.send(["joint1"], [1.0]))
    before = sim.fresh_status("commands")["joint_commands dropped"]
    names = [f"nobody_{k}" for k in range(20000)]
    sim.until(lambda: sim.status.get("commands", {}).get("joint_commands dropped", before) != before,
              every=lambda: sim.send(names, [1.0] * len(names)))
    assert sim.effort("joint1") == 1.0
    sim.until(lambda: sim.effort("joint1") == 2.0, every=lambda: sim.send(["joint1"], [2.0]))


def test_pause_step_and_reset(sim):
    sim.until(lambda: abs(sim.position("joint7")) > 0.01, every=lambda: sim.send(["joint7"], [0.2]))
    refused = sim.take_steps()
    assert not refused.success and "pause" in refused.message
    assert sim.pause(True).message == "paused"
    first = sim.fresh()
    second = sim.fresh()                                     # states go on while time stands still
    assert first.position == second.position and 0 < nanoseconds(second.header.stamp) - nanoseconds(first.header.stamp) < 10
    assert sim.set(step_count=25) == ""
    before = nanoseconds(sim.fresh().header.stamp)          # give or take the nanoseconds of the pause
    assert "25 steps" in sim.take_steps().message
    sim.until(lambda: abs(nanoseconds(sim.state.header.stamp) - before - 25_000_000) < 1000, "for 25 steps")
    assert sim.state.position != first.position
    assert sim.trigger("reset").success
    assert np.allclose(sim.fresh().position, 0.0, atol=1e-12)
    assert nanoseconds(sim.state.header.stamp) > before + 25_000_000         # time does not go back
    assert sim.set(step_count=1) == ""
    assert sim.take_steps().message == "1 step, simulated time 0.001000 s"
    assert sim.pause(False).message == "running"


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def test_initial_positions_are_where_a_reset_goes(sim):
    assert sim.set(initial_positions__joint2=0.5) == ""
    assert sim.trigger("reset").success
    assert sim.fresh() and sim.position("joint2") == pytest.approx(0.5, abs=1e-9)
    assert "outside the limits" in sim.set(initial_positions__joint2=50.0)
    assert sim.set(initial_positions__joint2=0.0) == ""


def test_gravity_acts_at_once(sim):
    sim.pause(True)
    assert sim.set(initial_positions__joint2=0.5) == "" and sim.trigger("reset").success
    assert sim.set(gravity=[0, 0, -2]) == ""                 # whole numbers will do
    sim.take_steps()
    v = sim.fresh().velocity[1]
    assert v != 0.0
    assert sim.set(gravity=[0.0, 0.0, 2.0]) == ""
    sim.take_steps()
    assert abs(sim.fresh().velocity[1]) < 1e-3 * abs(v)      # the second step undid the first
    assert sim.set(initial_positions__joint2=0.0) == ""


def test_damping_and_friction_are_live(sim):
    assert sim.set(damping__joint7=50.0) == ""
    sim.until(lambda: sim.effort("joint7") == 0.5, every=lambda: sim.send(["joint7"], [0.5]))
    sim.until(lambda: abs(sim.fresh().velocity[6] - 0.01) < 1e-4, "for v = effort / damping",
              every=lambda: sim.send(["joint7"], [0.5]))
    assert sim.set(friction__joint7=0.0, damping__joint7=0.3) == ""


@pytest.mark.parametrize("values, reason", [
    ({"damping__joint1": -1.0}, "damping.joint1"),
    ({"gravity": [0.0, 0.0]}, "gravity must have 3 numbers, got 2"),
    ({"gravity": [0.0, math.nan, 0.0]}, "gravity[1] must be -1000 ... 1000 m/s^2, got nan"),
    ({"gravity": "down"}, "gravity must be an array of numbers"),
    ({"watchdog_timeout": 1e-6}, "watchdog_timeout must be 0 or 0.002 ... 3600 s, got 1e-06"),
    ({"watchdog_action": "panic"}, "watchdog_action must be one of zero, hold, damp, got 'panic'"),
    ({"real_time_factor": -1.0}, "real_time_factor"),
    ({"rate": 500.0}, "read-only"),
    ({"friction__joint1": 5.0, "friction__joint2": -5.0}, "friction.joint2"),
])
def test_a_bad_value_is_refused_with_its_reason_and_nothing_changes(sim, values, reason):
    before = {name: sim.get(name.replace("__", ".")) for name in values}
    assert reason in sim.set(**values)
    assert {name: sim.get(name.replace("__", ".")) for name in values} == before


def test_parameters_describe_themselves(sim):
    from rcl_interfaces.srv import DescribeParameters, ListParameters

    from mbros.ros.parameters import TABLE, describe
    known = sim.call(ListParameters, "list_parameters").result.names
    rows = {name: row for row in TABLE for name in ([row.name.replace("<joint>", j) for j in NAMES] if "<joint>" in row.name
                                                    else [] if "<" in row.name else [row.name])}
    assert set(rows) <= set(known)
    assert {f"qos_overrides.{sim.namespace}/joint_commands.subscription.reliability",
            f"qos_overrides.{sim.namespace}/joint_states.publisher.depth"} <= set(known)
    request = DescribeParameters.Request(names=list(rows))
    for d in sim.call(DescribeParameters, "describe_parameters", request).descriptors:
        assert d.description == describe(rows[d.name]) and d.read_only == (not rows[d.name].live)


def test_rates_are_live(sim):
    assert sim.set(joint_states_rate=0.0) == ""
    sim.spin(0.1)
    seen = sim.states
    sim.spin(0.1)
    assert sim.states == seen
    assert sim.set(joint_states_rate=100) == ""
    sim.fresh()


def test_transforms_are_those_of_the_model(sim):
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage

    import mbros
    sim.pause(True)
    sim.set(initial_positions__joint1=0.3, initial_positions__joint2=-0.7, initial_positions__joint4=-1.1,
            initial_positions__joint6=0.9)
    sim.trigger("reset")
    moving, a = sim.collect(TFMessage, "/tf")
    fixed, b = sim.collect(TFMessage, "/tf_static", latched=True)
    states, c = sim.collect(JointState, "joint_states")
    mine = {f"link{k}" for k in range(1, 8)}
    sim.until(lambda: any({t.child_frame_id for t in m.transforms} == mine and at_rest(m, states) for m in moving)
              and fixed, "for TF")
    poses = {t.child_frame_id: t for m in (*fixed, *[m for m in moving if at_rest(m, states)][-1:]) for t in m.transforms}
    model = mbros.load("arm7")
    state = model.default_state()
    state.set_q(list(sim.fresh().position))
    assert {body.name for body in model.bodies} - set(poses) == {"world", "base_link"}
    for name, t in poses.items():
        pose = model.pose(state, name, relative_to=t.header.frame_id)
        p, q = t.transform.translation, t.transform.rotation
        assert np.allclose([p.x, p.y, p.z], pose.p, atol=1e-12)
        assert abs(np.dot([q.w, q.x, q.y, q.z], pose.quat_wxyz)) == pytest.approx(1.0, abs=1e-12)
    sim.set(**{f"initial_positions__{name}": 0.0 for name in NAMES})
    for subscription in (a, b, c):
        sim.node.destroy_subscription(subscription)


def at_rest(tf, states):
    """This message tells the state that the paused robot is in now."""
    return bool(states) and tf.transforms[0].header.stamp == states[-1].header.stamp


def test_the_description_waits_for_latecomers(sim):
    from std_msgs.msg import String

    from mbros.build.robots import path
    texts, subscription = sim.collect(String, "robot_description", latched=True)
    sim.until(lambda: texts, "for robot_description")
    assert texts[0].data == path("arm7").read_text()
    sim.node.destroy_subscription(subscription)


def test_diagnostics_tell_the_rate_and_the_energy(sim):
    status = sim.fresh_status("real time")
    assert float(status["wanted rate (Hz)"]) == 1000.0 and int(status["steps"]) > 0
    assert {"lateness p50 (ms)", "lateness p99 (ms)", "overruns", "missed", "allocations"} <= set(status)
    robot = sim.fresh_status("robot")
    assert float(robot["kinetic energy (J)"]) == pytest.approx(0.0, abs=1e-9) and robot["fault"] == "none"
