"""~/step: these commands, so many steps, the state after them, and nothing between."""
import os

import mbros
import numpy as np
import pytest
from ros_client import own_clock

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
CALLS = int(os.environ.get("MBROS_STEPS", "300"))


def nanoseconds(stamp) -> int:
    return stamp.sec * 10**9 + stamp.nanosec


@pytest.mark.ros
@pytest.mark.parametrize("plane", ["native", "python"])
def test_every_command_is_in_its_step_and_the_answer_is_of_the_last(simulate, plane):
    from mbros_msgs.srv import Step
    from sensor_msgs.msg import JointState
    sim = simulate("arm7", f"/exact_{plane}", start_paused="true", plane=plane)
    model = mbros.load("arm7")
    twin = mbros.Simulator(model)
    client = sim.node.create_client(Step, f"{sim.name}/step")
    sim.until(client.service_is_ready, "for the service")
    step, rng = 0, np.random.default_rng(3)
    for k in range(CALLS):
        n, effort = int(rng.integers(1, 4)), float(k % 5) - 2.0
        future = client.call_async(Step.Request(steps=n, command=JointState(name=["joint2"], effort=[effort])))
        sim.until(future.done, "for an answer")
        answer = future.result()
        assert answer.success, answer.message
        step += n
        twin.plant.steps(model.effort_vector({"joint2": effort}), n)
        state = answer.joint_state
        assert answer.step == step and nanoseconds(state.header.stamp) == 10**9 + step * 10**6
        assert dict(zip(state.name, state.effort))["joint2"] == effort
        assert list(state.position) == list(twin.state.q) and list(state.velocity) == list(twin.state.v)


@pytest.mark.ros
@pytest.mark.parametrize("plane", ["native", "python"])
def test_what_is_not_named_stays_in_force_and_what_would_be_dropped_is_refused(simulate, plane):
    sim = simulate("arm7", f"/refuse_{plane}", start_paused="true", step_count=3, plane=plane)
    assert sim.take_steps(1, name=["joint2"], effort=[1.5]).success
    answer = sim.take_steps()
    assert (answer.message, answer.step, answer.odometry) == ("3 steps, simulated time 0.004000 s", 4, [])
    assert dict(zip(answer.joint_state.name, answer.joint_state.effort))["joint2"] == 1.5
    for command, words in ((dict(name=["jiont2"], effort=[1.0]), "a joint name is not in the model (joint 'jiont2'); did you mean '"),
                           (dict(name=[""], effort=[1.0]), "a joint name is not in the model (joint ''); there are 'joint1', "),
                           (dict(name=["joint1", "joint2"], effort=[1.0, float("inf")]), "a command is infinite (joint 'joint2', value"),
                           (dict(name=["joint3"], effort=[-1e9]), "a command is larger than parameter max_command (joint 'joint3', value "
                                                                  "-1e+09)"),
                           (dict(name=["joint2"], position=[0.1]), "the message has no efforts"),
                           (dict(name=["joint2"], effort=[0.1] * 50_000), "an array is neither empty nor as long as the list of names, "
                                                                          "nor has it one number for each of the named joints that take it "
                                                                          "(arrays of commands: one for each joint) (of 50000 numbers)"),
                           (dict(name=["joint2", "joint2"], effort=[1.0, 2.0]), "a joint is named twice (joint 'joint2')")):
        refused = sim.take_steps(1, **command)
        assert not refused.success and refused.message.startswith(f"command: {words}") and not refused.joint_state.name, refused.message
    refused = sim.take_steps(2_000_000)
    assert not refused.success and "expected 100000 or fewer" in refused.message
    assert sim.take_steps(1).step == 5
    assert sim.pause(False).success
    refused = sim.take_steps(1)
    assert not refused.success and "pause it first" in refused.message


@pytest.mark.ros
def test_a_moving_base_is_in_the_answer(simulate):
    sim = simulate("quadruped", "/base", start_paused="true")
    answer = sim.take_steps(100)
    twin = mbros.Simulator(mbros.load("quadruped"))
    twin.plant.steps(None if twin.model.nv == 0 else np.zeros(twin.model.nv), 100)
    (odometry,) = answer.odometry
    at = odometry.pose.pose.position
    base = twin.model.joints[0]
    assert np.allclose((at.x, at.y, at.z), twin.model.pose(twin.state, base.child).p, atol=1e-12, rtol=0)
    assert nanoseconds(odometry.header.stamp) == nanoseconds(answer.joint_state.header.stamp) == 10**9 + 10**8


@pytest.mark.ros
def test_a_step_is_answered_by_a_thread_of_its_own(executor):
    """No executor serves the node here; its name is the node's, and what else acts on the loop has its turn first."""
    import threading
    import time

    import rclpy
    from mbros_msgs.srv import Step
    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter
    before = set(threading.enumerate())         # other nodes of this process, too
    sim = SimNode([Parameter("robot", value="pendulum"), Parameter("start_paused", value=True), Parameter("priority", value=0)],
                  namespace="/steps_alone", cli_args=own_clock())
    client = rclpy.create_node("steps_alone")
    executor.add_node(client)
    try:
        sim.start()
        service = client.create_client(Step, "/steps_alone/mbros/step")
        deadline = time.monotonic() + 60.0

        def until(true):
            while not true():
                assert time.monotonic() < deadline
                executor.spin_once(timeout_sec=0.02)

        until(service.service_is_ready)
        with sim.turn:
            asked = service.call_async(Step.Request(steps=3))
            executor.spin_once(timeout_sec=0.2)
            assert sim.loop.snapshot()[0].step == 0 and not asked.done()
        until(asked.done)
        assert asked.result().success and asked.result().step == 3
        assert "/steps_alone/mbros/step" in dict(sim.node.get_service_names_and_types_by_node("mbros", "/steps_alone"))
    finally:
        executor.remove_node(client)
        client.destroy_node()
        sim.end()
        sim.close()
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "mbros-prompt"]


@pytest.mark.ros
def test_an_answer_that_nobody_hears_is_said_and_counted(executor, monkeypatch):
    """The middleware does not find the client, as of one that was killed while its step was taken."""
    from types import SimpleNamespace

    from mbros.ros.serve import steps
    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter
    monkeypatch.setattr(steps, "TRIES", 3)
    sim = SimNode([Parameter("robot", value="pendulum"), Parameter("start_paused", value=True), Parameter("priority", value=0)],
                  namespace="/steps_unheard", cli_args=own_clock())
    said, tried = [], []
    sim.log = SimpleNamespace(warning=said.append, info=said.append)
    try:
        sim.loop.start()
        taker = sim.services.steps
        taker._direct = SimpleNamespace(take=lambda: True, steps=2, command=lambda: None, write=lambda *_: None, asker=b"\x01\x10" * 8,
                                        answer=lambda: tried.append(1), follow=lambda *_: None)
        assert taker._answer()
        taker._direct.asker = b"\x02\x10" * 8         # who has been given up is waited for no more
        assert taker._answer()
        assert len(said) == 2 and len(tried) == 2 * (steps.TRIES + 1) and sim.loop.snapshot()[0].step == 4
        assert said[0].startswith("an answer of ~/step was given up") and "(client 0110" in said[0] and "no node that is known" in said[0]
        (commands,) = [one for one in steps_reports(sim) if one.name == "commands"]
        assert commands.values["answers of ~/step given up"] == "2"
    finally:
        taker._direct = None
        sim.end()
        sim.close()


def steps_reports(sim):
    from mbros.ros.wire import diagnostics

    seen = sim._look()
    return diagnostics.reports(seen, seen, 1000.0, [])
