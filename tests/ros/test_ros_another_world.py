"""A node that goes on with another world, looked at from inside: what is of the old one neither stays nor comes back."""
import threading
import weakref
from types import SimpleNamespace as Like

import mbros
import numpy as np
import pytest
from ros_client import own_clock

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros
TWO = """
robots:
  left: {robot: pendulum, p: [0, 3, 0]}
  right: {robot: pendulum, p: [0, -3, 0]}
"""
ARM = "robots: {arm: {robot: arm7, bench: arm7_servo}, other: {robot: pendulum, p: [0, 3, 0]}}"
FAULTY = """
actuators:
  "*.servo": {type: position_servo, joint: "joint*", kp: 400, kd: 20}
sensors:
  "*.encoder": {type: encoder, joint: "joint*", counts: 4096}
faults:
  - {name: noisy, kind: noise, signal: "*.encoder.*", at: 0.005, noise: 0.1, walk: 0.2}
  - {name: jam, kind: stuck, joint: joint2}
"""
TABLE = "objects: {table: {shape: box, size: [1, 1, 1], fixed: true}}"


@pytest.fixture
def simulate(executor, standard, tmp_path):
    """simulate(text of a scene, words of a command line, **parameters) -> SimNode, paused, in this process; nobody spins it."""
    from mbros.ros.node import SimNode
    from rclpy.parameter import Parameter

    nodes = []

    def make(text, *words, **parameters):
        path = tmp_path / "scene.yaml"
        path.write_text(text)
        given = {"scene": str(path), "start_paused": True, "priority": 0, "watchdog_timeout": 0.0, **parameters}
        nodes.append(SimNode([Parameter(name, value=value) for name, value in given.items()], cli_args=own_clock(*words)))
        nodes[-1].start()
        return nodes[-1]

    yield make
    for sim in nodes:
        sim.end()
        sim.close()


def scene_with(sim, name="third"):
    scene = mbros.Scene.of(sim.robot.model)
    scene.add_robot("pendulum", name, p=(9.0, 0.0, 0.0), bench=False)
    return scene


def done(coroutine):
    """What a service returns where nobody else is served."""
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


def change(sim, added=(), removed=()):
    from mbros.ros.serve.another_world import go_on_with
    scene = mbros.Scene.of(sim.robot.model)
    for name in added:
        scene = scene_with(sim, name)
    for name in removed:
        scene.remove(name)
    with sim.turn:
        go_on_with(sim, scene.build())


def test_an_answer_of_step_on_its_way_is_of_the_world_before(simulate, executor):
    """The world changes between the steps and the sending of their answer, which is not emptied under way."""
    from mbros_msgs.srv import Step
    from ros_client import Client
    sim = simulate(TWO, "-r", "__ns:=/answer")
    changes = [lambda: change(sim, ["third"])]

    class Turn:
        """Right after the thread that answers has done its steps."""
        inner = sim.turn

        def __enter__(self):
            self.inner.__enter__()

        def __exit__(self, *what):
            self.inner.__exit__(*what)
            if changes and threading.current_thread().name == "mbros-prompt":
                changes.pop()()

    sim.turn = Turn()
    client = Client(executor, "/answer")
    try:
        for names in (["left/hinge", "right/hinge"], ["left/hinge", "right/hinge", "third/hinge"]):
            answer = client.call(Step, "step", Step.Request(steps=5))
            assert (answer.success, answer.step % 5, list(answer.joint_state.name)) == (True, 0, names)
            assert answer.step and "5 steps" in answer.message and not changes
    finally:
        client.close()


def test_a_push_that_is_over_does_not_come_back(simulate):
    from mbros_msgs.srv import ApplyJointEffort
    sim = simulate(TWO)

    def push(joint, effort):
        request = ApplyJointEffort.Request(joint_name=joint, effort=effort)
        request.duration.nanosec = 10_000_000
        sim.services.disturbances.apply_joint_effort(request)

    push("right/hinge", 5.0)
    sim.loop.step_once(20)
    change(sim, removed=["left"])                   # the coordinate that was pushed is another one's now
    change(sim, added=["third"])
    push("third/hinge", 0.25)
    sim.loop.step_once(1)
    with sim.loop.aside():
        table = sim.robot.pushes.table
        assert [row[9] for row in table if row[0]] == [0.25]


def test_a_trajectory_under_way_ends_at_rest(simulate):
    """Its position is held, and not its velocity, which a servo would lean on for good."""
    from mbros.ros.serve import another_world
    sim = simulate(ARM)
    nv, joint = sim.robot.map.nv, sim.robot.map.commandable["arm/joint2"]
    held = [0.0] * (4 * nv)
    held[nv + joint], held[2 * nv + joint], held[3 * nv + joint] = 0.6, 0.5, 3.0
    with sim.loop.aside():
        sim.loop.recall(**{**sim.loop.commands_in_force(), "held": held, "commanded": True})
    following = [float("nan")] * (4 * nv)
    following[joint] = 0.0

    class Plane:
        inputs = [Like(follow=lambda: None), Like(follow=lambda: another_world.np.array(following))]

    rest = another_world._held(Like(robot=sim.robot, plane=Plane), held, sim.robot, [0.0] * (4 * nv), ([joint], [joint]))
    assert (rest[nv + joint], rest[2 * nv + joint], rest[3 * nv + joint]) == (0.6, 0.0, 3.0)
    change(sim, removed=["other"])
    with sim.loop.aside():
        new, joint = sim.loop.commands_in_force()["held"], sim.robot.map.commandable["arm/joint2"]
    nv = sim.robot.map.nv
    assert (new[nv + joint], new[2 * nv + joint]) == (0.6, 0.5)         # no trajectory: as it was commanded


def test_faults_of_what_stays_go_on_and_those_of_what_goes_go(simulate, tmp_path):
    """To the bit, those of a bench's patterns and one that was started by hand; the services are of the world that there is."""
    from mbros_msgs.srv import ListFaults, SetFault
    (tmp_path / "faulty.yaml").write_text(FAULTY)
    text = "robots: {a: {robot: arm7, bench: faulty.yaml}, b: {robot: arm7, p: [0, 3, 0], bench: faulty.yaml}}"
    sim = simulate(text)
    ref = mbros.Simulator(mbros.load(tmp_path / "scene.yaml"))
    sim.services.faults.set_fault(SetFault.Request(names=["b/jam"], start=True))
    ref.faults["b/jam"].start()
    sim.loop.step_once(20)
    change(sim, added=["third"], removed=["a"])
    sim.loop.step_once(20)
    change(sim, removed=["third"])
    sim.loop.step_once(20)
    ref.advance_to(0.06)
    listed = ListFaults.Response()
    sim.services.faults.fill(listed)
    assert listed.names == ["b/noisy", "b/jam"] and list(listed.active) == [True, True] and list(listed.counts) == [1, 1]
    assert list(listed.began) == [ref.faults[name].began for name in listed.names]
    layout, memory = sim.robot.bench.layout, sim.robot.bench.memory
    for k, row in enumerate(layout.rows):
        value = memory[sim.robot.bench.value_at(k):][:row.size]
        assert np.array_equal(value, np.atleast_1d(ref.signals[row.name].value), equal_nan=True), row.name
    assert {row.name.partition("/")[0] for row in layout.rows} == {"b"}
    topics = {entity.topic_name for entity in sim.node.publishers}
    assert "/b/joint2/servo" in topics and "/a/joint2/servo" not in topics


def fed(sim, robot, **rows):
    """A message of a robot's hardware, {joint: (position, velocity)}, as the loop takes it between two steps."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState
    plug = next(plug for plug in sim.plane.inputs if plug.name == f"{robot}/hardware_states")
    message = JointState(name=list(rows), position=[q for q, _ in rows.values()], velocity=[v for _, v in rows.values()])
    with sim.loop.aside():
        reason, _ = plug.decode(serialize_message(message))
        assert reason == "accepted"
        plug.note()


def test_sources_of_what_stays_go_on_and_those_of_what_goes_go(simulate, tmp_path):
    """To the bit, in the middle of a blend, beside a simulator whose world stays; the services are of the world that there is."""
    from mbros_msgs.srv import SetSource
    (tmp_path / "half.yaml").write_text(FAULTY + "sources:\n  joint[1-3]: {timeout: 0.02, safe: hold, blend: 0.05, jump: 1.0}\n")
    sim = simulate("robots: {a: {robot: arm7, bench: half.yaml}, b: {robot: arm7, p: [0, 3, 0], bench: half.yaml}}")
    ref = mbros.Simulator(mbros.load(tmp_path / "scene.yaml"))

    def go_on(steps):
        for _ in range(steps):
            q = 0.1 * np.sin(5.0 * ref.time)
            for robot in "ab":
                if f"{robot}/joint1" in sim.robot.map.commandable:
                    fed(sim, robot, joint1=(q, 0.5), joint2=(0.2, 0.0))
                ref.feed(position={f"{robot}/joint1": q, f"{robot}/joint2": 0.2}, velocity={f"{robot}/joint1": 0.5, f"{robot}/joint2": 0.0})
            sim.loop.step_once(1)
            ref.step()

    go_on(5)
    sources = sim.services.sources
    for joint, mode in (("b/joint1", "real"), ("b/joint2", "real"), ("b/joint3", "locked")):
        sources.set_source(SetSource.Request(joints=[joint], mode=mode))
        ref.sources[joint] = mode
    go_on(15)
    change(sim, added=["third"], removed=["a"])
    go_on(15)
    change(sim, removed=["third"])
    go_on(40)
    answer = SetSource.Response()
    sources.fill(answer)
    assert answer.names == ["b/joint1", "b/joint2", "b/joint3"] and answer.modes == ["real", "real", "locked"]
    layout, memory = sim.robot.bench.layout, sim.robot.bench.memory
    for k, row in enumerate(layout.rows):
        value = memory[sim.robot.bench.value_at(k):][:row.size]
        assert np.array_equal(value, np.atleast_1d(ref.signals[row.name].value), equal_nan=True), row.name
    for row in layout.sources:
        assert {name: sources.memory[row.joint][name] for name in ("E", "EDOT", "T0", "FED", "TRIPS")} == {
            name: ref.sources[row.joint]._memory[name] for name in ("E", "EDOT", "T0", "FED", "TRIPS")}
    sim.loop.step_once(30)                          # nothing comes any more
    with pytest.warns(mbros.SourceWarning, match="no sample for longer than its timeout"):
        ref.advance_to(ref.time + 0.03)
    sources.look()
    sources.fill(answer)
    assert list(answer.trips) == [1, 1, 0] and "source" in sources.report().message
    assert {entity.topic_name for entity in sim.node.subscriptions} >= {"/b/hardware_states"}
    change(sim, added=["third"], removed=["b"])
    sources.fill(answer)
    assert answer.names == [] and sources.report().message == ""
    sim.loop.step_once(1)


def test_a_recording_is_ended_first(simulate, tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    from simulation_interfaces.msg import Result

    from mbros.ros.standard.entities import Entities
    from mbros.ros.standard.spawning import Refusal, Spawning
    sim = simulate(ARM)
    spawning = Spawning(sim, Entities(sim.robot, sim))
    sim.recording.start(tmp_path / "run.mcap")
    for action in (lambda: spawning.spawn(None, None), lambda: spawning.delete(Like(entity="other"), None)):
        with pytest.raises(Refusal, match="end it first .~/record with record: false") as refused:
            done(action())
        assert refused.value.code == Result.RESULT_INCORRECT_STATE
    sim.recording.stop()
    assert "from step 0 on" in done(spawning.delete(Like(entity="other"), None))


def test_a_world_in_which_nothing_moves(simulate):
    sim = simulate(TABLE)
    sim.loop.step_once(2)
    change(sim, added=["third"])
    sim.loop.step_once(2)
    change(sim, removed=["third"])
    sim.loop.step_once(2)
    assert sim.loop.snapshot()[0].step == 6 and sim.robot.map.nv == 0


def test_topics_that_are_remapped_to_one_stay_several(simulate):
    words = [word for name in ("left", "right") for topic in ("joint_states", "joint_commands")
             for word in ("-r", f"{name}/{topic}:=/one/{topic}")]
    sim = simulate(TWO, *words)

    def there():
        return [[entity.topic_name for entity in entities].count(topic) for entities, topic in (
            (sim.node.publishers, "/one/joint_states"), (sim.node.subscriptions, "/one/joint_commands"))]

    def overridden():
        return {name.split(".")[1] for name in sim.node.list_parameters(["qos_overrides"], 0).names if "/one/" in name}

    assert there() == [2, 2] and overridden() == {"/one/joint_states", "/one/joint_commands"}
    change(sim, added=["third"])
    assert there() == [2, 2]
    change(sim, removed=["left"])
    assert there() == [1, 1] and overridden() == {"/one/joint_states", "/one/joint_commands"}
    change(sim, removed=["right"])
    assert there() == [0, 0] and not overridden()


def test_what_is_never_published_is_not_published_at_the_change_either(simulate, monkeypatch):
    sim, made, seen = simulate(TWO, joint_states_rate=0.0, tf_rate=0.0), [], []
    make = sim._make_loop

    def noticed(robot, plane, *more):
        loop = make(robot, plane, *more)
        start = loop.start
        loop.start = lambda: (seen.extend((output.name, output.share) for output in plane.outputs if hasattr(output, "share")),
                              start())
        made.append(loop)
        return loop

    monkeypatch.setattr(sim, "_make_loop", noticed)
    change(sim, added=["third"])
    del made[0].start
    assert {steps for name, steps in seen if name.endswith("joint_states") or name == "tf"} == {0} and len(seen) > 4


def test_nothing_is_started_by_a_node_that_ends(simulate):
    sim = simulate(TWO)
    names = set(sim.node.list_parameters([], 0).names)
    sim.end()
    with pytest.raises(mbros.MbrosError, match="the node is ending"):
        change(sim, added=["third"])
    sim.loop.wait(10.0)
    assert sim.loop.state == "stopped" and set(sim.node.list_parameters([], 0).names) == names


def test_a_node_that_ends_does_not_wait_for_a_large_robot(executor):
    from mbros.ros.serve.another_world import Changes
    sim, compiled = Like(ending=False, node=Like(executor=executor)), threading.Event()
    changes, tasks = Changes(sim), []

    def found(work):
        tasks.append(executor.create_task(changes.beside, work))
        executor.spin_until_future_complete(tasks[-1], 30.0)
        return tasks[-1].result()

    assert found(lambda: "a model") == "a model"
    with pytest.raises(ZeroDivisionError):
        found(lambda: 1 // 0)
    threading.Timer(0.05, lambda: (setattr(sim, "ending", True), executor.wake())).start()
    try:
        with pytest.raises(mbros.MbrosError, match="the node is ending"):
            found(compiled.wait)
    finally:
        compiled.set()


def test_the_old_world_goes_and_what_was_said_of_it_stays_said(simulate):
    sim = simulate(ARM)
    old, once = weakref.ref(sim.robot), sim._once
    sim.live.contacts.arrows = 3                    # they stand in somebody's RViz
    change(sim, added=["third"])
    assert old() is None and sim._once is once and sim.live.contacts.arrows == 3
    change(sim, removed=["arm"])
    assert sim.robot.map.joints == ("other/hinge", "third/hinge")


def test_several_of_which_the_world_cannot_be_made_are_all_said_to_be_none(simulate, monkeypatch):
    from mbros.ros.standard import spawning
    from mbros.ros.standard.entities import Entities
    srv = pytest.importorskip("simulation_interfaces.srv")
    if not hasattr(srv, "SpawnEntities"):
        pytest.skip("simulation_interfaces before 2.1 has no SpawnEntities")
    sim = simulate(TWO)
    from simulation_interfaces.msg import Resource, SpawnEntity
    one = SpawnEntity(name="one", entity_resource=Resource(uri="pendulum"))
    request, response = srv.SpawnEntities.Request(spawn_requests=[one]), srv.SpawnEntities.Response()
    monkeypatch.setattr(sim.changes, "go_on_with", lambda *_: 1 // 0)
    with pytest.raises(spawning.Refusal, match="none was spawned"):
        done(spawning.Spawning(sim, Entities(sim.robot, sim)).spawn_several(request, response))
    assert [(result.entity_name, result.result.result == 1) for result in response.results] == [("", False)]


def test_a_goal_of_steps_has_its_turn_however_long_it_waits_for_it():
    from time import sleep

    from mbros.ros.standard.stepping import TURN, Stepping

    class Late:
        def __enter__(self):
            sleep(2.0 * TURN)                       # ~/step had the loop

        def __exit__(self, *_):
            pass

    sim = Like(loop=Like(paused=True, step_once=lambda: None), turn=Late(), node=Like(executor=Like(wake=lambda: None)),
               services=Like(steps=Like(taking=False)))
    goal = Like(request=Like(steps=3), is_cancel_requested=False, publish_feedback=lambda feedback: None)
    taking = Stepping._take(Like(sim=sim), goal)
    with pytest.raises(StopIteration) as end:
        for _ in range(10):                         # rounds of the executor
            taking.send(None)
    assert end.value.value == 3
