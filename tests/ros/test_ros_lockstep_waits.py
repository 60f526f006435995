"""Steps in lockstep that wait for a controller that is dead: others are served meanwhile, and each request is told what came of it."""
import time

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")


@pytest.mark.ros
def test_others_are_served_while_steps_wait_for_a_dead_controller(simulate, standard):
    """Under the policy `wait`: services and parameters are answered, other steps are refused or have their turn, a reset ends it."""
    from mbros_msgs.srv import SetJointLock, Step
    from simulation_interfaces.srv import StepSimulation

    sim = simulate("arm7", "/lockstep_held", start_paused="true", real_time_factor="0.0", lockstep="arm/joint_commands 1/2",
                   lockstep_timeout="0.2", ready=False)
    step, standard_step = (sim.node.create_client(kind, f"{sim.name}/{name}") for kind, name in
                           ((Step, "step"), (StepSimulation, "step_simulation")))
    sim.until(lambda: step.service_is_ready() and standard_step.service_is_ready(), "for both services")
    begun = time.monotonic()
    waits = step.call_async(Step.Request(steps=5))
    sim.until(lambda: "no answer to step 0" in sim.process.text, "for the name of who is late")
    queued = step.call_async(Step.Request(steps=1))
    assert sim.call(SetJointLock, "set_joint_lock", SetJointLock.Request(joints=["joint4"], lock=True)).success
    assert sim.set(mass__link7=2.5) == "" and sim.pause(True).success
    other = sim.call(StepSimulation, "step_simulation", StepSimulation.Request(steps=1)).result
    assert other.result != 1 and "steps of another request are being taken" in other.error_message
    assert "it waits for arm/joint_commands (nobody publishes there)" in other.error_message
    assert not waits.done() and not queued.done()
    assert sim.trigger("reset").success
    sim.until(waits.done, "for the answer")
    assert not waits.result().success and waits.result().message == "the steps were given up: the robot was reset meanwhile"
    while not queued.done():                            # its turn comes a moment later
        assert sim.trigger("reset").success
    assert not queued.result().success and "reset meanwhile" in queued.result().message
    late = standard_step.call_async(StepSimulation.Request(steps=3))
    assert sim.set(mass__link7=2.0) == "" and sim.pause(True).success and not late.done()
    while not late.done():
        assert sim.trigger("reset").success
    assert "reset meanwhile" in late.result().result.error_message and time.monotonic() - begun < 25.0


@pytest.mark.ros
def test_a_goal_of_the_standard_waits_without_others_and_is_cancelled(simulate, standard):
    from rclpy.action import ActionClient
    from sensor_msgs.msg import JointState
    from simulation_interfaces.action import SimulateSteps

    sim = simulate("arm7", "/lockstep_goal", start_paused="true", real_time_factor="0.0", lockstep="arm/joint_commands 1/2",
                   lockstep_timeout="0.2", ready=False)
    out, answers, silent = sim.node.create_publisher(JointState, "arm/joint_commands", 10), [], []

    def answer(state):
        answers.append(state)
        if not silent:
            out.publish(JointState(header=state.header, name=["joint2"], effort=[1.0]))

    sim.node.create_subscription(JointState, "arm/joint_commands/joint_states", answer, 10)
    client = ActionClient(sim.node, SimulateSteps, f"{sim.name}/simulate_steps")
    sim.until(client.server_is_ready, "for the action")
    sim.until(out.get_subscription_count, "for the node")
    done = []

    def ask(steps):
        asked = client.send_goal_async(SimulateSteps.Goal(steps=steps),
                                       feedback_callback=lambda said: done.append(said.feedback.completed_steps))
        sim.until(asked.done, "for the goal")
        return asked.result()

    goal = ask(20)
    result = goal.get_result_async()
    sim.until(result.done, "for the steps")
    assert result.result().result.result.error_message.startswith("20 of 20 steps")
    sim.until(lambda: done and done == sorted(done) and answers, "for what is said of each step")
    silent.append(True)
    goal = ask(1000)
    result = goal.get_result_async()
    sim.until(lambda: "no answer to step" in sim.process.text, "for the name of who is late")
    assert sim.set(mass__link7=2.5) == "" and sim.pause(True).success and not result.done()
    refused = sim.take_steps(1)
    assert not refused.success and "steps of another request are being taken" in refused.message
    cancelled = goal.cancel_goal_async()
    sim.until(lambda: cancelled.done() and result.done(), "for the end of the goal")
    assert "cancelled after" in result.result().result.result.error_message
    assert sim.trigger("reset").success
    client.destroy()


@pytest.mark.ros
def test_steps_that_a_reset_gave_up_are_not_asked_for_again(simulate):
    """Under the policy `stop`, where steps that the gate gives up at once are: it had not heard of who is late before the pause."""
    from mbros_msgs.srv import Step

    sim = simulate("arm7", "/lockstep_stops", start_paused="true", real_time_factor="0.0", lockstep="arm/joint_commands 1/2",
                   lockstep_timeout="30.0", lockstep_policy="stop", ready=False)
    step = sim.node.create_client(Step, f"{sim.name}/step")
    sim.until(step.service_is_ready, "for the service")
    waits = step.call_async(Step.Request(steps=5))
    time.sleep(1.0)                                     # it waits, and nobody says so yet
    begun = time.monotonic()
    assert sim.trigger("reset").success
    sim.until(waits.done, "for the answer")
    assert time.monotonic() - begun < 12.0, "it was asked for again"
    assert not waits.result().success and waits.result().message == "the steps were given up: the robot was reset meanwhile"
