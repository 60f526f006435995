"""Robots and objects that come and go while a node simulates a scene: the standard's services, by a plain client."""

import mbros
import numpy as np
import pytest
from ros_client import own_clock
from standard_client import call, ok, refused

from mbros.ros.standard.table import features

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros
UNSUPPORTED, NOT_FOUND, INCORRECT, FAILED = 0, 2, 3, 4                      # of Result
SPAWNED, BOTH, EVERYTHING = 4, 6, 255                                       # of ResetSimulation

SCENE = """
robots:
  left: {robot: arm7, p: [0, 3, 0], bench: arm7_servo, initial_positions: {joint2: 0.3}}
  right: {robot: arm7, p: [0, -3, 0], initial_positions: {joint2: 0.4}}
objects:
  parcel: {shape: box, size: [0.1, 0.1, 0.1], mass: 0.5, p: [5, 0, 90]}
"""
LINK = """<link name="b"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>"""
BALL = f'<robot name="ball">{LINK}</robot>'
POST = f'<robot name="post"><link name="world"/>{LINK}<joint name="j" type="fixed"><parent link="world"/><child link="b"/></joint></robot>'


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("spawning") / "scene.yaml"
    path.write_text(SCENE)
    (path.parent / "post.urdf").write_text(POST)
    return path


@pytest.fixture(scope="module")
def world(standard, simulate, path):
    sim = simulate(str(path), "/spawning", ready=False, start_paused=True, watchdog_timeout=0.0, joint_states="truth")
    call(sim, "GetEntities")                    # it is up
    return sim


@pytest.fixture(autouse=True)
def as_it_was(world):
    yield
    for name in wholes(world):
        if name not in ("left", "right", "parcel"):
            ok(call(world, "DeleteEntity", entity=name))


def wholes(sim):
    return [name for name in ok(call(sim, "GetEntities")).entities if "/" not in name]


def request(name="", uri="", text="", p=(0.0, 0.0, 0.0), frame="", **more):
    from geometry_msgs.msg import PoseStamped
    from simulation_interfaces.msg import Resource
    at = PoseStamped()
    at.header.frame_id = frame
    at.pose.position.x, at.pose.position.y, at.pose.position.z = p
    return dict(name=name, entity_resource=Resource(uri=uri, resource_string=text), initial_pose=at, **more)


def spawn(sim, *given, **more):
    return call(sim, "SpawnEntity", **request(*given, **more))


def place(sim, name):
    p = ok(call(sim, "GetEntityState", entity=name)).state.pose.position
    return np.array([p.x, p.y, p.z])


def joints(answer):
    assert answer.success, answer.message
    return dict(zip(answer.joint_state.name, answer.joint_state.position))


def published(sim):
    return {name for name, _ in sim.node.get_publisher_names_and_types_by_node("mbros", sim.namespace)}


def test_what_stays_goes_on_to_the_bit_and_what_came_moves(world, path):
    ref = mbros.Simulator(mbros.load(path))
    ref.command(position={"left/joint2": 0.6})
    world.take_steps(20, name=["left/joint2"], position=[0.6])
    before = world.take_steps(1)
    assert "the time is" in ok(spawn(world, "arm3", "arm7", p=(9.0, 0.0, 0.0))).result.error_message
    ok(spawn(world, "ball", text=BALL, p=(-9.0, 0.0, 50.0)))
    after = world.take_steps(30)
    ok(call(world, "DeleteEntity", entity="arm3"))
    end = world.take_steps(50)
    ref.advance_to(1e-3 * end.step)
    assert (before.step, after.step, end.step) == (21, 51, 101)
    for name, x in joints(end).items():
        assert x == ref.state.q[ref.model.joint(name).q_slice.start], name
    assert "arm3/joint2" in joints(after) and "arm3/joint2" not in joints(end)
    fall = 50.0 - place(world, "ball")[2]
    assert fall == pytest.approx(0.5 * 9.81 * 0.08**2, rel=0.05)
    stamps = [a.joint_state.header.stamp.sec * 10**9 + a.joint_state.header.stamp.nanosec for a in (before, after, end)]
    assert np.diff(stamps).tolist() == [30 * 10**6, 50 * 10**6]


def test_topics_and_parameters_come_and_go(world):
    from sensor_msgs.msg import JointState
    told, subscription = world.collect(JointState, f"{world.namespace}/arm3/joint_states")
    ok(spawn(world, "arm3", "arm7", p=(9.0, 0.0, 0.0)))
    world.take_steps(5)
    world.until(lambda: told, "for joint states of what was spawned", every=lambda: world.take_steps(1))
    mine = f"{world.namespace}/arm3/"
    world.until(lambda: {mine + "joint_states", mine + "robot_description"} <= published(world), "for its topics")
    assert "joint2" in told[0].name and world.get("damping.arm3/joint2") is not None
    assert world.set(**{"damping__arm3/joint2": 0.25}) == ""
    ok(call(world, "DeleteEntity", entity="arm3"))
    world.until(lambda: not [name for name in published(world) if name.startswith(mine)], "for its topics to go")
    from rcl_interfaces.srv import ListParameters
    names = world.call(ListParameters, "list_parameters").result.names
    assert "damping.right/joint2" in names and not [name for name in names if "arm3" in name]
    world.node.destroy_subscription(subscription)


def test_an_object_of_one_link(world):
    from simulation_interfaces.msg import EntityCategory
    assert ok(spawn(world, "", text=BALL, p=(0.0, 0.0, 20.0))).entity_name == "ball"
    ok(spawn(world, "post", "post.urdf", p=(0.0, 0.0, 1.0), frame="ball"))
    info = ok(call(world, "GetEntityInfo", entity="ball")).info
    assert info.category.category == getattr(EntityCategory, "CATEGORY_DYNAMIC_OBJECT", EntityCategory.CATEGORY_OBJECT)
    np.testing.assert_allclose(place(world, "post"), [0.0, 0.0, 21.0], atol=1e-12)
    world.take_steps(100)
    np.testing.assert_allclose(place(world, "post"), [0.0, 0.0, 21.0], atol=1e-12)
    assert place(world, "ball")[2] < 20.0
    assert ok(spawn(world, "ball", text=BALL, p=(4.0, 0.0, 9.0), allow_renaming=True)).entity_name == "ball_1"
    assert wholes(world) == ["left", "right", "parcel", "ball", "post", "ball_1"]


@pytest.mark.parametrize("code, given, word", [
    (101, dict(name="left", uri="arm7"), "is taken"), (101, dict(name="mbros", uri="arm7"), "is taken"),
    (101, dict(name="world", uri="arm7"), "is taken"),
    (102, dict(name="a b", uri="arm7"), "letters, digits and _"), (102, dict(text=BALL.replace('name="ball"', 'name=""')), "letters"),
    (103, dict(name="x", uri="/etc/passwd"), "does not end with .urdf"), (103, dict(name="x", text="<sdf/>"), "no URDF"),
    (103, dict(name="x", text=BALL.replace("<robot", '<robot xmlns:xacro="x"')), "without xacro"),
    (103, dict(name="x", text="no xml"), "no URDF"), (103, dict(name="x", uri="arm7", text=BALL), "both given"),
    (104, dict(name="x"), "are empty"), (105, dict(name="x", uri="arm7", entity_namespace="/y"), "under its name"),
    (106, dict(name="x", text="<robot name='x'><link name='a'></robot>"), "not well-formed"),
    (106, dict(name="x", text="<robot name='x'/>"), "no"),
    (107, dict(name="x", text=BALL.replace('<sphere radius="0.1"/>', '<mesh filename="package://nowhere/a.stl"/>')), "nowhere"),
    (107, dict(name="x", uri="/etc/a.urdf"), "scene file's folder"), (107, dict(name="x", uri="missing.urdf"), "scene file's folder"),
    (108, dict(name="x", text=BALL.replace('<sphere radius="0.1"/>', '<mesh filename="a.usd"/>')), "a.usd"),
    (109, dict(name="x", uri="arm7", p=(np.nan, 0.0, 0.0)), "finite"), (109, dict(name="x", uri="arm7", frame="elsewhere"), "no frame")],
    ids=lambda x: None if isinstance(x, dict) else str(x)[:20])
def test_what_cannot_be_spawned_is_refused_with_the_standards_code(world, code, given, word):
    there = wholes(world)
    refused(spawn(world, **given), code, word)
    assert wholes(world) == there


def test_several_or_none(world):
    from simulation_interfaces.msg import SpawnEntity
    good, bad = (SpawnEntity(**request(name, "pendulum", p=(7.0, 0.0, 0.0))) for name in ("one", "left"))
    answer = call(world, "SpawnEntities", spawn_requests=[good, bad])
    refused(answer, 150, "1 of 2")
    assert [result.result.result for result in answer.results] == [FAILED, 101] and "one" not in wholes(world)
    answer = ok(call(world, "SpawnEntities", spawn_requests=[good, SpawnEntity(**request("two", text=BALL, p=(-7.0, 0.0, 9.0)))]))
    assert [result.entity_name for result in answer.results] == ["one", "two"] and wholes(world)[-2:] == ["one", "two"]


def test_what_cannot_be_deleted(world):
    refused(call(world, "DeleteEntity", entity="nobody"), NOT_FOUND, "no entity 'nobody'")
    refused(call(world, "DeleteEntity", entity="left/link1"), FAILED, "delete that as a whole")


def test_a_reset_takes_what_was_spawned_and_the_time_goes_on(world):
    from simulation_interfaces.msg import SimulatorFeatures
    said = call(world, "GetSimulatorFeatures").features
    assert list(said.features) == sorted(getattr(SimulatorFeatures, name) for name in features())
    assert list(said.spawn_formats) == ["urdf"] and len(ok(call(world, "GetSpawnables")).spawnables) > 10
    for scope in (SPAWNED, BOTH, EVERYTHING):
        ok(spawn(world, "arm3", "arm7", p=(9.0, 0.0, 0.0)))
        before = world.take_steps(3)
        assert "gone: arm3" in ok(call(world, "ResetSimulation", scope=scope)).result.error_message
        after = world.take_steps(1)
        assert wholes(world) == ["left", "right", "parcel"] and after.step == (before.step + 1 if scope == SPAWNED else 1)
        assert (after.joint_state.header.stamp.sec, after.joint_state.header.stamp.nanosec) > (
            before.joint_state.header.stamp.sec, before.joint_state.header.stamp.nanosec)


def test_a_reset_that_cannot_take_out_what_was_spawned_says_what_it_did(world):
    from mbros_msgs.srv import AttachPayload, DropPayload
    ok(spawn(world, "arm3", "arm7", p=(9.0, 0.0, 0.0)))
    world.take_steps(3)
    payload = AttachPayload.Request(link_name="right/link7")
    payload.inertia.m = 0.1
    assert world.call(AttachPayload, "attach_payload", payload).success
    refused(call(world, "ResetSimulation", scope=EVERYTHING), INCORRECT, "the state was reset; what was spawned is still there", "payload")
    assert world.take_steps(1).step == 1 and "arm3" in wholes(world)
    assert world.call(DropPayload, "drop_payload").success


def test_what_is_in_the_way_is_said(world):
    from mbros_msgs.srv import ApplyWrench, ClearDisturbances, SaveState, RestoreState
    push = ApplyWrench.Request(link_name="right/link7")
    push.wrench.force.z, push.duration.sec = 1.0, 5
    saved = world.call(SaveState, "save_state")
    assert world.call(ApplyWrench, "apply_wrench", push).success
    refused(spawn(world, "x", "arm7"), INCORRECT, "clear_disturbances")
    assert world.call(ClearDisturbances, "clear_disturbances").success
    ok(spawn(world, "x", "arm7", p=(9.0, 0.0, 0.0)))
    answer = world.call(RestoreState, "restore_state", RestoreState.Request(data=saved.data))
    assert not answer.success and "is of another model" in answer.message
    ok(call(world, "DeleteEntity", entity="x"))
    assert world.call(RestoreState, "restore_state", RestoreState.Request(data=saved.data)).success


def test_what_fails_half_way_leaves_the_world_as_it_was(executor, path, monkeypatch):
    from rclpy.parameter import Parameter

    import mbros.ros.serve.another_world as other
    from mbros.ros.node import SimNode
    given = {"scene": str(path), "start_paused": True, "priority": 0}
    sim = SimNode([Parameter(name, value=value) for name, value in given.items()], cli_args=own_clock())
    try:
        sim.start()
        sim.loop.step_once(10)
        loop, names = sim.loop, set(sim.node.list_parameters([], 0).names)
        scene = mbros.Scene.of(sim.robot.model)
        scene.add_robot("arm7", "extra", p=(9.0, 0.0, 0.0), bench=False)
        with monkeypatch.context() as patch:
            patch.setattr(other, "carry_plant", lambda *_: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                other.go_on_with(sim, scene.build())
        assert sim.loop is loop and loop.state == "paused" and set(sim.node.list_parameters([], 0).names) == names
        sim.loop.step_once(5)
        assert loop.snapshot()[0].step == 15
        other.go_on_with(sim, scene.build())
        sim.loop.step_once(5)
        assert sim.loop.snapshot()[0].step == 20 and sim.live.values["damping.extra/joint2"] >= 0.0
    finally:
        sim.end()
        sim.close()
