"""simulation_interfaces by a plain client: features, state, reset and steps. Entities: test_ros_entities.py."""

import mbros
import numpy as np
import pytest
from standard_client import TOPICS, call, nanoseconds, ok, refused

from mbros.ros.standard.table import ROWS, features

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros
UNSUPPORTED, FAILED = 0, 4                                          # of Result
STOPPED, PLAYING, PAUSED, QUITTING = 0, 1, 2, 3                     # of SimulationState
ALREADY, ERROR, INCORRECT = 101, 102, 103                           # of SetSimulationState


def go(sim, state):
    from simulation_interfaces.msg import SimulationState
    return call(sim, "SetSimulationState", state=SimulationState(state=state))


def state(sim):
    return ok(call(sim, "GetSimulationState")).state.state


@pytest.fixture(scope="module")
def arm(standard, simulate):
    return simulate("arm7", "/standard")


def goal_of(sim, steps, feedback=None):
    """An accepted goal of SimulateSteps, and the client to be destroyed."""
    from rclpy.action import ActionClient
    from simulation_interfaces.action import SimulateSteps
    client = ActionClient(sim.node, SimulateSteps, f"{sim.name}/{TOPICS['SimulateSteps']}")
    sim.until(client.server_is_ready, "for the action")
    sent = client.send_goal_async(SimulateSteps.Goal(steps=steps), None if feedback is None else lambda m: feedback.append(m.feedback))
    sim.until(sent.done, "for the goal to be accepted")
    assert sent.result().accepted
    return sent.result(), client


def simulate_steps(sim, steps, feedback=None):
    """The goal's status and its result."""
    goal, client = goal_of(sim, steps, feedback)
    done = goal.get_result_async()
    sim.until(done.done, "for the result")
    client.destroy()
    return done.result().status, done.result().result


def test_the_features_are_those_of_the_table(arm):
    from simulation_interfaces.msg import SimulatorFeatures
    said = call(arm, "GetSimulatorFeatures").features
    assert list(said.features) == sorted(getattr(SimulatorFeatures, name) for name in features(of_scenes=False))
    assert len(set(said.features)) == len(said.features) and list(said.spawn_formats) == []
    assert SimulatorFeatures.SIMULATION_RESET_TIME not in said.features and SimulatorFeatures.SPAWNING not in said.features
    assert f"mbros {mbros.__version__}" in said.custom_info


def test_every_type_of_the_standard_is_a_row_and_a_service(arm):
    import simulation_interfaces.srv
    kinds = {name for name in dir(simulation_interfaces.srv) if name[0].isupper() and "_" not in name}
    assert kinds <= {row.name for row in ROWS}
    wanted = {f"{arm.name}/{TOPICS[name]}": [f"simulation_interfaces/srv/{name}"] for name in kinds}
    arm.until(lambda: wanted.items() <= dict(arm.node.get_service_names_and_types()).items(), "for the services in the graph")


@pytest.mark.parametrize("row", [row for row in ROWS if not row.served], ids=lambda row: row.name)
def test_what_is_not_supported_says_so(arm, row):
    assert row.doc in refused(call(arm, row.name), UNSUPPORTED, f"{row.name} is not supported")


@pytest.mark.parametrize("row", [row for row in ROWS if row.of_scenes and not row.features], ids=lambda row: row.name)
def test_what_is_of_scenes_says_so_where_there_is_none(arm, row):
    refused(call(arm, row.name), UNSUPPORTED, "start it with a scene file")


def test_playing_paused_stopped_and_back(arm):
    go(arm, PLAYING)
    assert state(arm) == PLAYING
    refused(go(arm, PLAYING), ALREADY, "playing already")
    ok(go(arm, PAUSED))
    assert state(arm) == PAUSED and arm.trigger("reset").success and state(arm) == PAUSED       # a reset does not stop it
    refused(go(arm, PAUSED), ALREADY)
    assert "the time is" in ok(go(arm, STOPPED)).result.error_message
    assert state(arm) == STOPPED
    refused(go(arm, STOPPED), ALREADY)
    ok(go(arm, PAUSED))
    assert state(arm) == PAUSED
    ok(go(arm, STOPPED))
    ok(go(arm, PLAYING))
    assert state(arm) == PLAYING
    ok(go(arm, STOPPED))
    assert arm.pause(False).success and state(arm) == PLAYING       # the node's own services and the standard's see one state
    assert arm.pause(True).success and state(arm) == PAUSED
    for wrong in (4, 5, 6, 255):
        refused(go(arm, wrong), INCORRECT, f"state {wrong} cannot be asked for")


def test_stopped_is_the_start(arm):
    ok(go(arm, PLAYING))
    start = mbros.load("arm7").default_state().q
    arm.until(lambda: abs(arm.position("joint2")) > 0.1, "for the arm to move", every=lambda: arm.send(["joint2"], [200.0]))
    ok(go(arm, STOPPED))
    fresh = arm.fresh()
    model = mbros.load("arm7")
    joints = dict(zip(fresh.name, fresh.position))
    assert all(joints[j.name] == start[j.q_slice.start] for j in model.joints if j.nq == 1 and not j.follows)
    assert not np.any(fresh.velocity)


@pytest.mark.parametrize("scope", [0, 2, 255])
def test_a_reset_puts_the_robot_back_and_time_goes_on(arm, scope):
    from rosgraph_msgs.msg import Clock
    from tf2_msgs.msg import TFMessage
    go(arm, PAUSED)
    clock, a = arm.collect(Clock, "clock")
    tf, b = arm.collect(TFMessage, "/tf")
    states, c = arm.collect(type(arm.state), "joint_states")
    ok(call(arm, "StepSimulation", steps=50))
    before = nanoseconds(arm.fresh().header.stamp)
    said = ok(call(arm, "ResetSimulation", scope=scope)).result.error_message
    seconds, _, part = said.rpartition("the time is ")[2].removesuffix(" s").partition(".")
    now = int(seconds) * 10**9 + int(part)
    assert now > before
    ok(call(arm, "StepSimulation", steps=50))
    arm.fresh()
    arm.until(lambda: clock and nanoseconds(clock[-1].clock) >= now + 50 * 10**6, "for the clock to go on")
    for stamps in ([nanoseconds(m.clock) for m in clock], [nanoseconds(m.header.stamp) for m in states],
                   [nanoseconds(m.transforms[0].header.stamp) for m in tf]):
        assert len(stamps) > 10 and stamps == sorted(stamps)
    for subscription in (a, b, c):
        arm.node.destroy_subscription(subscription)


@pytest.mark.parametrize("scope", [1, 4, 3, 6, 128])
def test_other_scopes_are_not_supported_and_change_nothing(arm, scope):
    go(arm, PAUSED)
    ok(call(arm, "StepSimulation", steps=5))
    before = arm.take_steps(1).step
    refused(call(arm, "ResetSimulation", scope=scope), UNSUPPORTED, f"scope {scope} is not supported", "never goes back, it is")
    assert arm.take_steps(1).step == before + 1


def test_steps_are_those_of_the_simulator(arm):
    from simulation_interfaces.srv import StepSimulation
    go(arm, STOPPED)
    refused(call(arm, "StepSimulation", steps=1), FAILED, "stopped", "set it to paused first")
    go(arm, PLAYING)
    refused(call(arm, "StepSimulation", steps=1), FAILED, "playing", "set it to paused first")
    go(arm, STOPPED)
    go(arm, PAUSED)
    assert StepSimulation.Request().steps == 1                       # the standard's default
    twin = mbros.Simulator(mbros.load("arm7"))
    for steps in (1, 7, 0, 100):
        assert (f"{steps} step" if steps else "no step") in ok(call(arm, "StepSimulation", steps=steps)).result.error_message
        twin.plant.steps(np.zeros(7), steps)
    arm.until(lambda: list(arm.state.position) == list(twin.state.q), "for the state after 108 steps")
    refused(call(arm, "StepSimulation", steps=2**64 - 1), FAILED, "expected 100000 or fewer", "simulate_steps")
    assert state(arm) == PAUSED


def test_the_action_tells_of_every_step(arm):
    go(arm, PAUSED)
    before = arm.take_steps(1).step
    feedback = []
    status, result = simulate_steps(arm, 40, feedback)
    from action_msgs.msg import GoalStatus
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result.result.result == 1 and "40 of 40 steps; the time is" in result.result.error_message
    assert arm.take_steps(1).step == before + 41
    seen = [(f.completed_steps, f.remaining_steps) for f in feedback]
    assert seen and seen == sorted(seen) and all(done + left == 40 for done, left in seen)
    status, result = simulate_steps(arm, 0)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.result.result == 1


def test_the_action_is_cancelled_and_serves_others_meanwhile(arm):
    from action_msgs.msg import GoalStatus
    go(arm, PAUSED)
    goal, client = goal_of(arm, 2**63)
    assert state(arm) == PAUSED                                     # answered between two steps
    refused(call(arm, "StepSimulation", steps=1), FAILED, "simulate_steps is taking steps")
    status, result = simulate_steps(arm, 1)
    assert status == GoalStatus.STATUS_ABORTED and "simulate_steps is taking steps" in result.result.error_message
    cancelled = goal.cancel_goal_async()
    arm.until(cancelled.done, "for the cancellation")
    done = goal.get_result_async()
    arm.until(done.done, "for the result")
    assert done.result().status == GoalStatus.STATUS_CANCELED
    assert done.result().result.result.result == FAILED and "cancelled after" in done.result().result.result.error_message
    client.destroy()
    ok(call(arm, "StepSimulation", steps=1))


def test_the_action_ends_where_the_simulation_is_resumed_or_plays(arm):
    from action_msgs.msg import GoalStatus
    go(arm, PAUSED)
    goal, client = goal_of(arm, 2**63)
    assert arm.pause(False).success
    done = goal.get_result_async()
    arm.until(done.done, "for the result")
    assert done.result().status == GoalStatus.STATUS_ABORTED and "was resumed" in done.result().result.result.error_message
    client.destroy()
    assert state(arm) == PLAYING
    status, result = simulate_steps(arm, 3)
    assert status == GoalStatus.STATUS_ABORTED and result.result.result == FAILED and "playing" in result.result.error_message


def test_a_fault_is_said_and_a_reset_ends_it(standard, simulate):
    sim = simulate("double_pendulum", "/broken", watchdog_timeout=0.0, diagnostics_rate=10.0)
    assert state(sim) == PLAYING
    name = sim.state.name[-1]
    sim.until(lambda: sim.levels.get("robot") == 2, "for the fault", every=lambda: sim.send([name], [9e5]))
    answer = call(sim, "GetSimulationState")
    assert answer.state.state == PAUSED and "reset_simulation" in refused(answer, FAILED)
    refused(go(sim, PLAYING), ERROR)
    refused(go(sim, PAUSED), ERROR)
    refused(call(sim, "StepSimulation", steps=1), FAILED)
    ok(call(sim, "ResetSimulation"))
    assert state(sim) == PLAYING
    sim.until(lambda: call(sim, "GetSimulationState").result.result == FAILED, "for the next", every=lambda: sim.send([name], [9e5]))
    ok(go(sim, STOPPED))
    assert state(sim) == STOPPED and not np.any(sim.fresh().velocity)


def test_quitting_ends_the_node_with_0(standard, simulate):
    sim = simulate("arm7", "/quitter")
    ok(go(sim, QUITTING))
    assert sim.process.wait() == 0


def test_it_can_be_switched_off(standard, simulate):
    sim = simulate("arm7", "/without", simulation_interfaces="false")

    def kinds():
        return [kind for _, several in sim.node.get_service_names_and_types_by_node("mbros", "/without") for kind in several]

    sim.until(lambda: ("mbros", "/without") in sim.node.get_node_names_and_namespaces(), "for its name")
    sim.until(lambda: "rcl_interfaces/srv/SetParametersAtomically" in kinds() and "std_srvs/srv/SetBool" in kinds(), "for services")
    assert sim.trigger("reset").success
    assert not [kind for kind in kinds() if "simulation_interfaces" in kind]
