"""Lockstep with real rclpy controllers in processes of their own: every step waits for its answers, every stamp is exact, two runs are
the same to the bit beside busy processes, and who does not answer is named.

MBROS_LOCKSTEP_STEPS (1000: each ratio once round) is how many steps the two runs take; `make lockstep` takes 20,000.
"""
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import mbros
import numpy as np
import pytest
from patience import PATIENCE

from mbros.ros.wire.messages import START_NS

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
STEPS = int(os.environ.get("MBROS_LOCKSTEP_STEPS", "1000"))
CONTROLLER = Path(__file__).with_name("lockstep_controller.py")


@pytest.fixture
def controllers(nursery, tmp_path):
    """controllers(namespace, states, commands, joint, kp, kd, *options): a process; all are ended after the test."""
    running = []

    def start(*words):
        running.append(nursery.start(tmp_path / f"controller_{len(running)}.txt", [*map(str, words)], CONTROLLER))
        return running[-1]

    yield start
    for process in running:                 # one that is killed leaves locks behind in the middleware's shared memory
        process.send_signal(signal.SIGINT)
    for process in running:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def heard(sim, topic, *joints):
    """Wait until the controllers of these joints hear the states that they answer, and may be heard. Who comes while a step waits is
    served as well: one of the two runs below has that."""
    wanted = {f"controller_{joint}" for joint in joints}
    topic = f"{sim.namespace}/{topic}"
    sim.until(lambda: wanted <= {info.node_name for info in sim.node.get_subscriptions_info_by_topic(f"{topic}/joint_states")}
              and wanted <= {info.node_name for info in sim.node.get_publishers_info_by_topic(topic)}, f"for {wanted}")


def busy():
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


def ended(process):
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0


def rows(path):
    """Stamps (n,), ns, and the bits that were seen with them (n, 2): each once, as a state may be published again for a newcomer."""
    words = np.fromfile(path, np.int64).reshape(-1, 3)
    assert (np.diff(words[:, 0]) >= 0).all()
    once, first = np.unique(words[:, 0], return_index=True)
    assert (words[first][np.searchsorted(once, words[:, 0])] == words).all()
    return once, words[first, 1:]


@pytest.mark.ros
@pytest.mark.timeout(max(900, STEPS // 200))
def test_two_runs_are_the_same_to_the_bit_and_every_stamp_is_exact(simulate, controllers, tmp_path):
    ratios = {"a": (333, 1000), "b": (1, 4)}
    seen, rate = [], []
    beside = [busy(), busy()]
    try:
        for run in range(2):
            name = f"/lockstep_{run}"
            sim = simulate("arm7", name, start_paused="true", real_time_factor="0.0", watchdog_timeout="0.0", joint_states_rate="0.0",
                           tf_rate="0.0", lockstep=", ".join(f"{k}/joint_commands {n}/{m}" for k, (n, m) in ratios.items()),
                           lockstep_timeout="30.0", ready=False, initial_positions__joint2="0.5", initial_positions__joint4="-0.7")
            started = [controllers(name, f"{k}/joint_commands/joint_states", f"{k}/joint_commands", joint, 20.0, 2.0,
                                   f"log={tmp_path / f'{k}{run}'}") for k, joint in zip(ratios, ("joint2", "joint4"), strict=True)]
            if run:
                for k, joint in zip(ratios, ("joint2", "joint4"), strict=True):
                    heard(sim, f"{k}/joint_commands", joint)
            taken, begun = 0, 0.0
            while taken < STEPS:
                answer = sim.take_steps(min(STEPS - taken, 100 if taken == 0 else 1000))
                assert answer.success, answer.message
                taken, begun = answer.step, begun or time.monotonic()
            rate.append((STEPS - 100) / (time.monotonic() - begun))
            for process in started:
                ended(process)
            assert answer.joint_state.header.stamp.sec * 10**9 + answer.joint_state.header.stamp.nanosec == START_NS + STEPS * 10**6
            seen.append((list(answer.joint_state.position), list(answer.joint_state.velocity)))
    finally:
        for process in beside:
            process.kill()
            process.wait()
    print(f"lockstep: {rate[0]:.0f} and {rate[1]:.0f} steps/s beside two busy processes; 1e6 steps take {1e6 / rate[0]:.0f} s")
    for k, (n, m) in ratios.items():
        (stamps, bits), (stamps_again, bits_again) = rows(tmp_path / f"{k}0"), rows(tmp_path / f"{k}1")
        due = [step for step in range(STEPS + 1) if step * n % m < n]
        n_seen = min(stamps.size, stamps_again.size)            # the last one may be on its way when they end
        expected = START_NS + np.array(due) * 10**6
        assert n_seen >= len(due) - 1 and (stamps == expected[:stamps.size]).all() and (stamps_again == expected[:stamps_again.size]).all()
        assert (bits[:n_seen] == bits_again[:n_seen]).all() and len(np.unique(bits)) > min(STEPS, 10000) * n // m / 2     # later it rests
    assert seen[0] == seen[1]


@pytest.mark.ros
@pytest.mark.parametrize("options", [(), ("count",), ("count", "array")])
def test_each_answer_acts_in_the_step_it_answers(simulate, controllers, options):
    name = "/lockstep_acts_" + "_".join(options)
    topic = "effort_commands" if "array" in options else "joint_commands"
    sim = simulate("arm7", name, start_paused="true", real_time_factor="0.0", watchdog_timeout="0.0",
                   lockstep=f"{topic} 1/3 {' '.join(options)}", ready=False, initial_positions__joint2="0.5")
    controllers(name, f"{topic}/joint_states", topic, "joint2", 30.0, 3.0, *options)
    heard(sim, topic, "joint2")
    answer = sim.take_steps(500)
    assert answer.success, answer.message
    twin = mbros.Simulator(mbros.load("arm7"))
    twin.state.q[1] = 0.5

    def law(state):
        effort = -30.0 * state.q[1] - 3.0 * state.v[1]
        return np.full(7, effort) if "array" in options else {"joint2": effort}

    mbros.Lockstep(twin, {law: (1, 3)}).run(0.5)
    assert list(answer.joint_state.position) == list(twin.state.q) and list(answer.joint_state.velocity) == list(twin.state.v)


@pytest.mark.ros
def test_who_does_not_answer_is_named_and_the_policy_followed(simulate, controllers):
    """The controller never answers the state of step 76, however often it is asked."""
    name = "/lockstep_late"
    sim = simulate("arm7", name, start_paused="true", real_time_factor="0.0", lockstep="arm/joint_commands 1/4", lockstep_timeout="0.4",
                   ready=False)
    controllers(name, "arm/joint_commands/joint_states", "arm/joint_commands", "joint2", 30.0, 3.0, f"silent={START_NS + 76 * 10**6}")
    heard(sim, "arm/joint_commands", "joint2")
    assert sim.pause(False).success
    late = re.compile(r"no answer to step 76 within \S+ s from (.*)")
    sim.until(lambda: late.search(sim.process.text), "for the name of who is late")
    assert late.search(sim.process.text)[1] == f"arm/joint_commands ({name}/controller_joint2); the simulation waits on"
    sim.until(lambda: sim.levels.get("lockstep") == 2 and int(sim.status["lockstep"]["arm/joint_commands time-outs"]) > 2, "for the error")
    assert len(late.findall(sim.process.text)) == 1, "said once"
    assert sim.pause(True).success
    assert sim.set(lockstep_policy="hold") == ""
    answer = sim.take_steps(40)                                 # it is given up, and waited for again when it is heard
    assert answer.success and answer.step == 116, answer.message


@pytest.mark.ros
def test_who_is_late_twice_between_two_looks_is_named_for_both():
    """What a Watch says of a gate that it sees only now and then."""
    from types import SimpleNamespace

    from mbros.ros.wire.lockstep import Consumer, Watch

    said, now = [], SimpleNamespace(step=0, events=0, policy="wait", rows=[])
    gate = SimpleNamespace(welcome=lambda: None, report=lambda: (now.step, 0.4, now.rows))
    sim = SimpleNamespace(
        plane=SimpleNamespace(gate=gate, tell_clock=lambda: None), loop=SimpleNamespace(aside=nullcontext), ending=False,
        _publishers=lambda name: ["/law"], live=SimpleNamespace(values={}),
        log=SimpleNamespace(error=said.append, info=said.append),
        node=SimpleNamespace(count_subscribers=lambda name: 1, count_publishers=lambda name: 1, resolve_topic_name=str))
    watch = Watch(sim, [Consumer("a"), Consumer("b")])

    def look(step, late, answers, missing=True, policy="wait", after=0.0):
        """What is said of a with so many time-outs, the newest in this step, and so many answers; b is never late."""
        gate.events, now.step = late, step
        now.rows = [{"late": late, "answers": answers, "missing": missing}, {"late": 0, "answers": answers, "missing": True}]
        sim.live.values["lockstep_policy"], watch.named_at = policy, watch.named_at - after
        said.clear()
        watch.look()
        return [line.removeprefix("lockstep: ").partition(" within")[0] for line in said]

    assert look(0, 0, 0) == []
    assert look(0, 1, 0) == ["no answer to step 0"] and "from a (/law); the simulation waits on" in said[0], "b has not been late"
    assert look(0, 2, 0, after=9.0) == [] == look(0, 2, 0), "once for each question"
    assert look(0, 2, 1) == [], "an answer that was late"
    assert look(0, 2, 2) == ["a answers again"] and look(0, 2, 9) == []
    assert look(76, 3, 19) == ["no answer to step 76"]
    assert look(80, 4, 20) == [] and look(80, 5, 20, after=9.0) == ["no answer to step 80"], "who is always late: now and then"
    assert look(200, 6, 40, missing=False, after=9.0) == ["no answer to step 200"], "also where it has answered meanwhile"
    assert look(200, 6, 40, missing=False) == ["a answers again"]
    assert look(300, 7, 50, policy="stop") == ["no answer to step 300"] == look(300, 8, 50, policy="stop"), "every pause has its reason"
    assert watch.late == {"a": 300}


@pytest.mark.ros
def test_a_dead_controller_stops_the_simulation_where_it_is_to(simulate, controllers):
    name = "/lockstep_dead"
    sim = simulate("arm7", name, start_paused="true", real_time_factor="0.0", lockstep="arm/joint_commands 1/2", lockstep_timeout="0.3",
                   ready=False)
    process = controllers(name, "arm/joint_commands/joint_states", "arm/joint_commands", "joint2", 30.0, 3.0)
    heard(sim, "arm/joint_commands", "joint2")
    assert sim.take_steps(100).success
    assert sim.set(lockstep_policy="stop") == "" and sim.pause(False).success
    process.kill()
    sim.until(lambda: "is paused; ~/pause (data: false) goes on" in sim.process.text, "for the pause")
    sim.until(lambda: sim.fresh_status("real time")["state"] == "paused", "for the pause")
    refused = sim.take_steps(10)
    assert not refused.success and "did not answer" in refused.message, refused.message
    assert sim.trigger("reset").success                         # requests are served while nobody answers
    controllers(name, "arm/joint_commands/joint_states", "arm/joint_commands", "joint3", 30.0, 3.0)     # the dead one is known for a while
    heard(sim, "arm/joint_commands", "joint3")
    assert sim.set(lockstep_policy="wait") == ""
    answer = sim.take_steps(50)
    assert answer.success and answer.step == 50, answer.message


@pytest.mark.ros
@pytest.mark.slow
def test_what_ends_the_pause_of_a_stop_asks_again(simulate):
    """An answer was lost: a resume, or steps, long after the time-out, wait for it anew, and it is asked for again."""
    from sensor_msgs.msg import JointState

    sim = simulate("arm7", "/lockstep_lost", start_paused="true", real_time_factor="0.0", lockstep="arm/joint_commands 1/2",
                   lockstep_timeout="1.0", ready=False)
    out, answers, lost = sim.node.create_publisher(JointState, "arm/joint_commands", 10), [], []

    def answer(state):
        (lost if lost else answers).append(state.header.stamp)
        if not lost:
            out.publish(JointState(header=state.header, name=["joint2"], effort=[1.0]))

    sim.node.create_subscription(JointState, "arm/joint_commands/joint_states", answer, 10)
    sim.until(lambda: sim.node.count_subscribers(f"{sim.namespace}/arm/joint_commands") and out.get_subscription_count(), "for the node")
    assert sim.take_steps(10).success and sim.set(lockstep_policy="stop") == ""
    for go_on in (lambda: sim.pause(False), lambda: sim.take_steps(4)):
        lost.append("the next answers")
        assert sim.pause(False).success
        sim.until(lambda: sim.fresh_status("real time")["state"] == "paused", "for the pause")
        sim.spin(1.5)          # longer than the time-out
        refused = sim.take_steps(4)
        assert not refused.success and "it waits for arm/joint_commands (/lockstep_lost/client_" in refused.message, refused.message
        sim.spin(1.5)          # longer than the time-out
        lost.clear()
        heard_before = len(answers)
        done = go_on()
        assert done.success, done.message
        sim.until(lambda: len(answers) > heard_before, "for the question")
        sim.pause(True)


@pytest.mark.ros
def test_nobody_is_late_in_a_pause(simulate):
    """Longer than the time-out, after a part of it has gone: after the pause there is what was left of it. A node of each policy beside
    the other."""
    from sensor_msgs.msg import JointState

    def late():
        return int(sim.fresh_status("lockstep")[f"{topic} time-outs"])

    topic = "arm/joint_commands"
    sims = [simulate("arm7", f"/lockstep_paused_{policy}", start_paused="true", real_time_factor="0.0", lockstep=f"{topic} 1/1",
                     lockstep_timeout="4.0", lockstep_policy=policy, ready=False) for policy in ("wait", "hold")]
    for sim in sims:
        out, (asked, _) = sim.node.create_publisher(JointState, topic, 10), sim.collect(JointState, f"{topic}/joint_states")
        sim.until(lambda: sim.node.count_subscribers(f"{sim.namespace}/{topic}") and out.get_subscription_count(), "for the node")
        assert sim.pause(False).success
        sim.until(lambda: asked, "for the question")
        assert sim.pause(True).success and late() == 0
    sims[0].spin(5.0)
    for sim in sims:
        assert sim.pause(False).success and late() == 0
    for sim in sims:
        sim.until(lambda: late() == 1, "for the time-out")


@pytest.mark.ros
@pytest.mark.parametrize("lockstep, words", [
    ("joint_commands", "is no consumer; expected topic n/m"), ("joint_commands 3", "is no consumer"), ("a 1/2 stamp count", "no consumer"),
    ("a 0/2", "answers in 0 of 2"), ("a 3/2", "answers in 3 of 2"), ("a 1/2, a 1/3", "named twice"), ("a 1/2 array", "has no stamp"),
    ("a 1/2 fast", "is no consumer"), ("a 1/99999999999", "is no consumer")])
def test_a_declaration_that_cannot_be_is_refused(lockstep, words):
    from mbros.ros.errors import ParameterError
    from mbros.ros.wire.lockstep import consumers
    with pytest.raises(ParameterError) as refused:
        consumers(lockstep)
    assert words in str(refused.value)


@pytest.mark.ros
def test_declarations():
    from mbros.ros.wire.lockstep import Consumer, consumers
    assert consumers("") == consumers("  ") == []
    assert consumers("a 1/3,b/c 333/1000 array count") == [Consumer("a", 1, 3), Consumer("b/c", 333, 1000, False, True)]
