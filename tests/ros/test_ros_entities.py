"""simulation_interfaces by a plain client: what there is in the scene, where it is, and putting it elsewhere."""
import mbros
import numpy as np
import pytest
from standard_client import call, nanoseconds, ok, refused

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
pytestmark = pytest.mark.ros
UNSUPPORTED, NOT_FOUND, FAILED, INVALID_POSE = 0, 2, 4, 101
BOX, HULL, SPHERE = 1, 2, 3


def numbers(m, names="xyz"):
    return np.array([getattr(m, name) for name in names])


def filters(**fields):
    from simulation_interfaces.msg import EntityFilters
    return {"filters": EntityFilters(**fields)}


def names(sim, **fields):
    return list(ok(call(sim, "GetEntities", **filters(**fields))).entities)


def bounds(kind, *points):
    from geometry_msgs.msg import Vector3
    from simulation_interfaces.msg import Bounds
    return Bounds(type=kind, points=[Vector3(x=float(x), y=float(y), z=float(z)) for x, y, z in points])


def put(sim, entity, position=(0.0, 0.0, 0.0), quat_xyzw=(0.0, 0.0, 0.0, 1.0), linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0), frame="",
        set_pose=True, set_twist=True, **flags):
    from simulation_interfaces.msg import EntityState
    state = EntityState()
    state.header.frame_id = frame
    p, q, v, w = state.pose.position, state.pose.orientation, state.twist.linear, state.twist.angular
    (p.x, p.y, p.z), (q.x, q.y, q.z, q.w) = map(float, position), map(float, quat_xyzw)
    (v.x, v.y, v.z), (w.x, w.y, w.z) = map(float, linear), map(float, angular)
    return call(sim, "SetEntityState", entity=entity, state=state, set_pose=set_pose, set_twist=set_twist, **flags)


@pytest.fixture(scope="module")
def dog(standard, simulate):
    """A quadruped in the air, paused."""
    sim = simulate("quadruped", "/dog", start_paused="true")
    ok(call(sim, "StepSimulation", steps=20))
    return sim


@pytest.fixture(scope="module")
def arm(standard, simulate):
    return simulate("panda", "/panda", start_paused="true")


def state_of(sim, model):
    """The model's state as the node's topics have it."""
    at = sim.take_steps(1)
    state = model.default_state()
    for name, q, v in zip(at.joint_state.name, at.joint_state.position, at.joint_state.velocity):
        joint = model.joint(name)
        if not joint.follows:
            joint.set_position(state, q)
            joint.set_velocity(state, v)
    return state, at


def test_the_robot_and_its_links(dog):
    model = mbros.load("quadruped")
    wanted = ["quadruped", *(f"quadruped/{body.name}" for body in model.bodies if body.name != "world")]
    assert names(dog) == wanted
    assert names(dog, filter="_foot$") == [name for name in wanted if name.endswith("_foot")]
    assert names(dog, filter="^quadruped$") == ["quadruped"]
    assert names(dog, filter="F[[:alpha:]]_hip") == ["quadruped/FL_hip", "quadruped/FR_hip"]
    assert names(dog, filter="nothing") == []
    refused(call(dog, "GetEntities", **filters(filter="(")), FAILED, "filter '(' is not a regular expression")
    refused(call(dog, "GetEntities", **filters(filter="[[:foo:]]")), FAILED, "has the class [:foo:]; expected one of alpha, ")


def test_categories_and_tags(dog):
    from simulation_interfaces.msg import EntityCategory, TagsFilter
    robot, thing, human = EntityCategory(category=1), EntityCategory(category=0), EntityCategory(category=2)
    assert names(dog, categories=[robot]) == ["quadruped"]
    assert names(dog, categories=[human]) == [] and len(names(dog, categories=[robot, thing])) == 18
    assert names(dog, tags=TagsFilter(tags=["robot"])) == ["quadruped"]
    assert len(names(dog, tags=TagsFilter(tags=["robot", "link"]))) == 18
    assert names(dog, tags=TagsFilter(tags=["robot", "link"], filter_mode=TagsFilter.FILTER_MODE_ALL)) == []
    assert names(dog, tags=TagsFilter(tags=["robot", "floating_base"], filter_mode=TagsFilter.FILTER_MODE_ALL)) == ["quadruped"]
    refused(call(dog, "GetEntities", **filters(tags=TagsFilter(tags=["robot"], filter_mode=7))), FAILED, "filter_mode")
    info = ok(call(dog, "GetEntityInfo", entity="quadruped")).info
    assert info.category.category == 1 and list(info.tags) == ["robot", "floating_base"] and "12 joints" not in info.tags
    assert ok(call(dog, "GetEntityInfo", entity="quadruped/trunk")).info.category.category == 0
    refused(call(dog, "GetEntityInfo", entity="quadrupet"), NOT_FOUND, "there is no entity 'quadrupet'; did you mean 'quadruped'")


def test_states_are_poses_and_twists_in_the_world(arm):
    model = mbros.load("panda")
    ok(call(arm, "StepSimulation", steps=100))
    state, at = state_of(arm, model)
    answer = ok(call(arm, "GetEntitiesStates", **filters(filter="panda/")))
    assert len(answer.entities) == len(answer.states) > 8
    for name, found in zip(answer.entities, answer.states):
        body = name.partition("/")[2]
        X, V = model.pose(state, body), model.velocity(state, body)
        assert np.allclose(numbers(found.pose.position), X.p, rtol=0, atol=1e-12)
        assert np.allclose(numbers(found.pose.orientation, "xyzw"), X.quat_xyzw, rtol=0, atol=1e-12)
        assert np.allclose(numbers(found.twist.linear), V.linear, rtol=0, atol=1e-12)
        assert np.allclose(numbers(found.twist.angular), V.angular, rtol=0, atol=1e-12)
        assert found.header.frame_id == "panda_link0" and nanoseconds(found.header.stamp) == nanoseconds(at.joint_state.header.stamp)
    one = ok(call(arm, "GetEntityState", entity=answer.entities[-1])).state
    assert one == answer.states[-1]
    refused(call(arm, "GetEntityState", entity="panda/none"), NOT_FOUND)


def test_bounds_are_around_the_shapes(dog):
    from simulation_interfaces.msg import Bounds
    found = ok(call(dog, "GetEntityBounds", entity="quadruped/FL_foot")).bounds
    assert found.type == Bounds.TYPE_BOX
    [foot] = [shape for shape in mbros.load("quadruped", ground=True).shapes if shape.body.name == "FL_foot"]
    high, low = map(numbers, found.points)
    assert np.allclose(high, foot.X_BG.p + foot.geometry.sizes[0]) and np.allclose(low, foot.X_BG.p - foot.geometry.sizes[0])
    high, low = map(numbers, ok(call(dog, "GetEntityBounds", entity="quadruped")).bounds.points)
    assert low[2] < -0.2 < high[2] and low[0] < 0.0 < high[0]
    refused(call(dog, "GetEntityBounds", entity="dog"), NOT_FOUND)


def test_what_overlaps_a_region(dog):
    assert put(dog, "quadruped", (5.0, 0.0, 1.0)).result.result == 1
    foot = numbers(ok(call(dog, "GetEntityState", entity="quadruped/FL_foot")).state.pose.position)
    radius = 1e-3
    touched = names(dog, bounds=bounds(SPHERE, foot, (radius, 9.0, 9.0)))
    assert {"quadruped", "quadruped/FL_foot"} <= set(touched) and "quadruped/RR_foot" not in touched
    assert names(dog, bounds=bounds(BOX, foot - 1e-3, foot + 1e-3)) == touched
    assert names(dog, bounds=bounds(SPHERE, (0, 0, 0), (1, 0, 0))) == []
    assert len(names(dog, bounds=bounds(SPHERE, (5, 0, 1), (2, 0, 0)))) == 18
    refused(call(dog, "GetEntities", **filters(bounds=bounds(HULL, (0, 0, 0), (1, 0, 0), (0, 1, 0)))), UNSUPPORTED, "type 2")
    for wrong in (bounds(SPHERE, (0, 0, 0)), bounds(SPHERE, (0, 0, 0), (-1, 0, 0)), bounds(BOX, (0, 0, float("nan")), (1, 1, 1))):
        refused(call(dog, "GetEntities", **filters(bounds=wrong)), FAILED, "expected two points")


def test_a_floating_robot_is_put_anywhere_and_set_in_motion(dog):
    turned = mbros.Pose.make((1.0, -2.0, 3.0), rpy=(0.3, -0.5, 2.0))
    before = nanoseconds(dog.take_steps(1).joint_state.header.stamp)
    legs = dict(zip(dog.state.name, dog.state.position))
    ok(put(dog, "quadruped", turned.p, turned.quat_xyzw, (0.1, 0.2, 0.3), (-0.4, 0.5, 0.6)))
    found = ok(call(dog, "GetEntityState", entity="quadruped")).state
    assert np.allclose(numbers(found.pose.position), turned.p) and np.allclose(
        abs(numbers(found.pose.orientation, "xyzw") @ turned.quat_xyzw), 1.0)
    assert np.allclose(numbers(found.twist.linear), (0.1, 0.2, 0.3)) and np.allclose(numbers(found.twist.angular), (-0.4, 0.5, 0.6))
    assert nanoseconds(found.header.stamp) == before and dict(zip(dog.state.name, dog.state.position)) == legs
    ok(put(dog, "quadruped", linear=(7.0, 0.0, 0.0), set_pose=False))             # the twist alone
    found = ok(call(dog, "GetEntityState", entity="quadruped/trunk")).state       # the root link is where the robot is
    assert np.allclose(numbers(found.pose.position), turned.p) and np.allclose(numbers(found.twist.linear), (7.0, 0.0, 0.0))
    assert np.allclose(numbers(found.twist.angular), 0.0)
    ok(put(dog, "quadruped/trunk", (0.0, 0.0, 9.0), turned.quat_xyzw, set_twist=False, frame="odom"))       # the pose alone
    found = ok(call(dog, "GetEntityState", entity="quadruped")).state
    assert np.allclose(numbers(found.pose.position), (0.0, 0.0, 9.0)) and np.allclose(numbers(found.twist.linear), (7.0, 0.0, 0.0))
    assert "acceleration is ignored" in ok(put(dog, "quadruped", set_acceleration=True)).result.error_message


@pytest.mark.parametrize("wrong, code, words", [
    (dict(quat_xyzw=(0.0, 0.0, 0.0, 0.0)), INVALID_POSE, "unit quaternion"),
    (dict(position=(float("nan"), 0.0, 0.0)), INVALID_POSE, "finite numbers"),
    (dict(position=(0.0, float("inf"), 0.0)), INVALID_POSE, "finite numbers"),
    (dict(linear=(0.0, float("nan"), 0.0)), FAILED, "finite numbers"),
    (dict(frame="map"), FAILED, "frame_id is 'map'; expected one of '', 'world', 'odom'"),
    (dict(set_pose=False, set_twist=False), FAILED, "nothing is asked for"),
    (dict(entity="quadruped/FL_foot"), FAILED, "is where the joints of 'quadruped' have it"),
    (dict(entity="nothing"), NOT_FOUND, "there is no entity 'nothing'")])
def test_what_cannot_be_is_refused_and_changes_nothing(dog, wrong, code, words):
    before = ok(call(dog, "GetEntityState", entity="quadruped")).state
    refused(put(dog, **{"entity": "quadruped", "position": (1.0, 1.0, 1.0), **wrong}), code, words)
    assert ok(call(dog, "GetEntityState", entity="quadruped")).state == before


def test_a_fixed_robot_is_not_moved(arm):
    refused(put(arm, "panda", (1.0, 0.0, 0.0)), FAILED, "'panda' stands on a fixed base", "base:=floating", "~/set_state")
    refused(put(arm, "panda/panda_link7", linear=(1.0, 0.0, 0.0)), FAILED, "fixed base")


def test_a_planar_robot_takes_what_it_can(standard, simulate):
    sim = simulate("arm7", "/cart", base="planar", start_paused="true")
    ok(put(sim, "arm7", (1.0, 2.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.3, 0.4, 0.0), (0.0, 0.0, 0.5)))
    found = ok(call(sim, "GetEntityState", entity="arm7")).state
    assert np.allclose(numbers(found.pose.position), (1.0, 2.0, 0.0)) and np.allclose(numbers(found.twist.linear), (0.3, 0.4, 0.0))
    refused(put(sim, "arm7", (1.0, 2.0, 0.5)), INVALID_POSE, "planar base")
    refused(put(sim, "arm7", linear=(0.0, 0.0, 1.0)), FAILED, "planar base")


def test_while_it_plays(standard, simulate):
    sim = simulate("quadruped", "/flying", gravity="[0.0, 0.0, 0.0]")
    ok(put(sim, "quadruped", (0.0, 0.0, 100.0), linear=(0.0, 0.0, 10.0)))

    def seen():
        """(s of its stamp, its height) now."""
        found = ok(call(sim, "GetEntityState", entity="quadruped")).state
        return nanoseconds(found.header.stamp) * 1e-9, found.pose.position.z

    states = [seen()]
    assert states[0][1] >= 100.0

    def rises():
        """At 10 m/s over the newest tenth of a second; a busy machine loses steps at times."""
        states.append(seen())
        since = next((state for state in reversed(states) if state[0] < states[-1][0] - 0.1), None)
        return since and abs((states[-1][1] - since[1]) / (states[-1][0] - since[0]) - 10.0) < 2.0

    sim.until(rises, "for it to rise")


def test_named_frames_are_named_poses(standard, simulate):
    sim = simulate("four_bar", "/frames", start_paused="true")
    model = mbros.load("four_bar")
    found = {pose.name: pose for pose in ok(call(sim, "GetNamedPoses")).poses}
    assert set(found) == {"start", *(frame.name for frame in model.description.frames)} and len(found) > 1
    for frame in model.description.frames:
        X, pose = model.pose(model.default_state(), frame.name), found[frame.name].pose
        assert np.allclose(numbers(pose.position), X.p, rtol=0, atol=1e-9)
        assert np.allclose(numbers(pose.orientation, "xyzw"), X.quat_xyzw, rtol=0, atol=1e-9)
        assert list(found[frame.name].tags) == ["frame", frame.body.name]


def test_the_start_is_where_the_parameters_have_it(standard, simulate):
    from simulation_interfaces.msg import TagsFilter
    sim = simulate("arm7", "/named", base="floating", start_paused="true", initial_positions__base="[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]")
    [start] = ok(call(sim, "GetNamedPoses")).poses
    assert start.name == "start" and list(start.tags) == ["spawn"]
    assert np.allclose(numbers(start.pose.position), (1.0, 2.0, 3.0)) and start.pose.orientation.w == 1.0
    assert list(ok(call(sim, "GetNamedPoses", tags=TagsFilter(tags=["parking"]))).poses) == []
