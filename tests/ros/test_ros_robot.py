"""What the node makes of a robot, without ROS: the snapshot it publishes says what the model says."""
import numpy as np
import pytest

import mbros
from mbros.build.robots import BUILT_IN
from mbros.build.specialize import compiler
from mbros.ros.parameters import TABLE
from mbros.ros.robot import load_robot

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
MIMIC = f"""<robot name="gripper">
  <link name="world"/><link name="palm">{BODY}</link><link name="left">{BODY}</link><link name="right">{BODY}</link>
  <joint name="mount" type="fixed"><parent link="world"/><child link="palm"/><origin xyz="0 0 0.5"/></joint>
  <joint name="a" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.1" effort="5" velocity="1"/></joint>
  <joint name="b" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 1 0"/>
    <limit lower="-0.2" upper="0.2" effort="5" velocity="1"/><mimic joint="a" multiplier="-2" offset="0.01"/></joint>
</robot>"""

ROTATIONS = f"""<robot name="rotations" xmlns:mbros="urn:mbros:urdf">
  <link name="post">{BODY}</link><link name="bob">{BODY}</link><link name="wheel">{BODY}</link>
  <mbros:joint name="ball" type="ball"><parent link="post"/><child link="bob"/></mbros:joint>
  <mbros:joint name="spin" type="circular"><parent link="post"/><child link="wheel"/><axis xyz="0 0 1"/></mbros:joint>
</robot>"""


def load(robot, **values):
    return load_robot({row.name: row.default for row in TABLE} | {"robot": robot} | values)


def part(robot, x, name):
    start, size = robot.plant.layout[name]
    return x[start:start + size]


def poses(robot, x):
    """child frame -> (parent frame, x y z qx qy qz qw) of everything on /tf and /tf_static."""
    moving = {child: (parent, x[at:at + 7]) for parent, child, at in robot.map.transforms}
    fixed = {child: (parent, np.array(pose)) for parent, child, pose in robot.map.static}
    assert not set(moving) & set(fixed)
    return moving | fixed


@pytest.mark.parametrize("name", BUILT_IN)
def test_tf_holds_every_link_where_the_model_has_it(name, rng):
    robot = load(name, frame_prefix="r/")
    state = robot.model.random_state(rng)
    robot.plant.reset(state.q, state.v)
    told = poses(robot, robot.plant.observe())
    root = robot.model._compiled.bodies[1].name
    links = {"r/" + b.name for b in robot.model._compiled.bodies if b.name != "world"}
    assert links - set(told) == (set() if robot.map.base else {"r/" + root})
    for child, (parent, pose) in told.items():
        parent = "world" if parent == "odom" else parent.removeprefix("r/")
        wanted = robot.model.pose(state, child.removeprefix("r/"), relative_to=parent)
        assert np.allclose(pose[:3], wanted.p, atol=1e-12)
        assert abs(np.dot(np.roll(pose[3:], 1), wanted.quat_wxyz)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", BUILT_IN)
def test_joint_states_and_slots_are_those_of_the_model(name, rng):
    robot, model = load(name), mbros.load(name)
    state = model.random_state(rng)
    robot.plant.reset(state.q, state.v)
    x = robot.plant.observe()
    n = len(robot.map.joints)
    for k, joint in enumerate(robot.map.joints):
        j = model.joint(joint)
        assert x[robot.map.position + k] == pytest.approx(float(state.q[j.q_slice][0]), abs=1e-15)
        assert x[robot.map.velocity + k] == pytest.approx(float(state.v[j.v_slice][0]), abs=1e-15)
        assert robot.map.commandable[joint] == j.v_slice.start
    assert robot.map.velocity == robot.map.position + n and robot.map.array_order == list(robot.map.joints)


def test_a_follower_is_told_but_not_commanded():
    robot = load(MIMIC)
    robot.plant.reset([0.05], [0.2])
    x = robot.plant.observe()
    assert robot.map.joints == ("a", "b")
    assert part(robot, x, "joint_position").tolist() == pytest.approx([0.05, -0.09])
    assert part(robot, x, "joint_velocity").tolist() == pytest.approx([0.2, -0.4])
    assert robot.map.commandable == {"mount": -1, "a": 0, "b": -2} and robot.map.array_order == ["a"]
    assert [j.name for j in robot.own] == ["a"]
    told = poses(robot, x)
    assert told["palm"][0] == "world"                       # here the world is a link of the file, and in its TF tree
    assert told["right"][1][1] == pytest.approx(-0.09)


def test_who_publishes_tf():
    assert load("quadruped", publish_tf=False).map.transforms[0][:2] == ("odom", "trunk")
    nothing = load("quadruped", publish_tf=False, publish_base_tf=False).map
    assert nothing.transforms == () == nothing.static
    assert load("quadruped", publish_base_tf=False, odom_frame="map").map.odom_frame == "map"
    assert load("arm7", base="floating").map.base.kind == "floating"


def test_parameters_reach_the_plant():
    robot = load("mobile_arm")
    rows = {row.name: row.default for row in robot.rows()}
    assert np.array_equal(robot.plant.parameter_block(robot.tuned(rows)), robot.plant.parameter_block())
    rows |= {"gravity": (0.0, 0.0, -1.0), "damping.joint2": 3.0, "friction.base": (1.0, 2.0, 3.0),
             "initial_positions.base": (1.0, 2.0, 3.0), "initial_positions.joint1": 0.25}
    block, where, model = robot.plant.parameter_block(robot.tuned(rows)), robot.plant.parameters, robot.model
    assert block[where["gravity"][0] + 2] == -1.0
    assert block[where["damping"][0] + model.joint("joint2").v_slice.start] == 3.0
    assert block[where["friction"][0]:where["friction"][0] + 3].tolist() == [1.0, 2.0, 3.0]
    assert (block != robot.plant.parameter_block()).sum() == 5
    q, v = robot.initial_state(rows)
    assert q[:4].tolist() == [1.0, 2.0, 3.0, 0.25] and not v.any()
    assert robot.limit_problem("initial_positions.joint1", 0.25) == ""
    assert "outside the limits" in robot.limit_problem("initial_positions.joint1", 99.0)


def test_a_change_of_parameters_costs_what_it_changes(monkeypatch):
    from mbros.model import parameters

    robot = load("humanoid")
    rows = {row.name: row.default for row in robot.rows()}
    tuned, put, set_one, set_body = robot.tuned(rows), [], parameters.put, parameters._put_numbers_of_body
    monkeypatch.setattr(parameters, "put", lambda model, state, name, value: (put.append(name), set_one(model, state, name, value)))
    monkeypatch.setattr(parameters, "_put_numbers_of_body", lambda model, state, body, numbers: (
        put.extend(f"{number}.{body}" for number in numbers), set_body(model, state, body, numbers)))
    rng = np.random.default_rng(5)
    for name in rng.choice([name for name in robot.model.parameter_names if name.startswith(("damping", "mass"))], 40):
        rows[name] = np.asarray(rows[name]) * rng.uniform(0.5, 1.5)
        before, tuned = tuned, robot.tuned({name: rows[name]}, tuned)
        if name.startswith("mass."):                    # the moments follow
            moments = name.replace("mass.", "inertia.", 1)
            rows[moments] = robot.model.parameter(tuned, moments)
        assert put == [name] and before is not tuned
        put.clear()
    want = robot.plant.parameter_block(robot.tuned(rows))
    assert len(put) == len(robot.model.parameter_names)
    np.testing.assert_allclose(robot.plant.parameter_block(tuned), want, rtol=1e-15 * 40)


def test_a_floating_start_needs_a_quaternion():
    robot = load("quadruped")
    good = [0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]
    assert robot.limit_problem("initial_positions.base", good) == ""
    assert "[x, y, z, qw, qx, qy, qz] with a quaternion of length 1" in robot.limit_problem("initial_positions.base", [0.0] * 7)


def test_every_rotation_needs_a_length():
    robot = load(ROTATIONS)
    assert robot.limit_problem("initial_positions.ball", [0.0, 1.0, 0.0, 0.0]) == ""
    assert "[qw, qx, qy, qz] with a quaternion of length 1" in robot.limit_problem("initial_positions.ball", [0.0] * 4)
    assert robot.limit_problem("initial_positions.spin", [0.0, -1.0]) == ""
    assert "with a (cos, sin) of length 1, got [0.0, 0.0]" in robot.limit_problem("initial_positions.spin", [0.0, 0.0])


def test_the_ground_of_the_parameters():
    assert len(load("quadruped").model.shapes) == 0
    robot = load("quadruped", ground=True, ground_height=0.5)
    assert robot.model.shapes["floor"].X_BG.p[2] == 0.5 and len(robot.model.shapes) == 19
    assert load("quadruped", ground=True).model.default_state().q[2] == pytest.approx(0.246147, abs=1e-6)
    assert robot.model.default_state().q[2] == pytest.approx(0.746147, abs=1e-6)


def test_a_robot_is_compiled_to_its_own_code_when_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plain, fast = load("double_pendulum"), load("double_pendulum", specialize=True, integrator="semi_implicit_euler")
    assert fast.warnings == plain.warnings and "semi_implicit_euler" in fast.model._code.functions
    assert list((tmp_path / "mbros" / "robots").glob("double_pendulum-*.so"))
    fast.plant.state.q[:] = 0.3, 0.1
    fast.plant.step([0.1, 0.2])
    assert abs(fast.plant.state.v).max() > 0.0
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    compiler.compiler.cache_clear()
    general = load("double_pendulum", specialize=True)
    compiler.compiler.cache_clear()
    assert "not specialised" in general.warnings[0]
