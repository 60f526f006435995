"""Seed 002, hpp::model::Joint and its family: Device, ChildrenIterator, CenterOfMassComputation."""
import copy
import re
import shutil
import subprocess

import numpy as np
import pytest
import seed_models
from tolerance import EPS, assert_close

import mbros
from mbros.describe.robot import Geometry, Shape

seed = pytest.mark.seed


@pytest.fixture
def tree(rng):
    b = seed_models.every_kind(rng)
    model = b.build()
    state = model.random_state(rng)
    state.set_q(seed_models.pitch_ok(model, state.q))
    return model, state


def below(model, joint):
    """Recursive definition of a subtree's order."""
    return [joint] + [x for child in model.joints if child.parent.name == joint.child.name for x in below(model, child)]


@seed("HJ-09", "HJ-18", "HJ-20", "HJ-22", "HJ-30", "HJ-42", "HJ-49", "HJ-16")
def test_the_tree(tree):
    model, state = tree
    seen = []
    for joint in model.joints:
        assert joint.model is model and joint.child is model.body(joint.child.name) and joint.child is joint.child
        assert list(joint.topology.subtree()) == below(model, joint)
        assert [child.topology.parent for child in joint.topology.children] == [joint] * len(joint.topology.children)
        assert [c.name for c in joint.topology.children] == [c.name for c in model.joints if c.parent.name == joint.child.name]
        if joint.topology.parent is None:
            assert joint.parent.name == "world" and joint in model.tree.roots()
        for i in range(*joint.q_slice.indices(model.nq)):
            assert model.tree.at_q(i) is joint
        for i in range(*joint.v_slice.indices(model.nv)):
            assert model.tree.at_v(i) is joint
            seen.append(i)
    assert seen == list(range(model.nv))
    leaf = model.joints[-1]
    assert list(leaf.topology.subtree()) == [leaf] and leaf.topology.children == []
    for call, n in ((model.tree.at_q, model.nq), (model.tree.at_v, model.nv)):
        for wrong in (n, -1, "x"):
            with pytest.raises(IndexError, match=f"model 'every kind'.*coordinate {wrong!r} does not exist; there are {n}"):
                call(wrong)
    with pytest.raises(ValueError, match="no joint 'flaoting' in model 'every kind'; did you mean 'floating'"):
        model.joint("flaoting")


@seed("HJ-49")
@pytest.mark.parametrize("n", range(1, 25, 4))
def test_subtrees_of_random_trees(n, rng):
    b = mbros.ModelBuilder("random")
    bodies = [b.world]
    for k in range(n):
        body = seed_models.box(b, f"b{k}")
        b.add_joint(mbros.RevoluteJoint(f"j{k}", bodies[rng.integers(len(bodies))], body))
        bodies.append(body)
    model = b.build()
    for joint in model.joints:
        assert list(joint.topology.subtree()) == below(model, joint)


@seed("HJ-25", "HJ-26")
def test_velocity_bounds(tree, rng):
    """The sampled largest |v| / |qdot| and |w| / |qdot| are the bounds, and nothing exceeds them."""
    model, state = tree
    table = {"weld": (0, 0), "revolute": (0, 1), "continuous": (0, 1), "circular": (0, 1), "ball": (0, 1), "ball_rpy": (0, 1),
             "prismatic": (1, 0), "translation2": (1, 0), "translation3": (1, 0), "planar": (1, 1), "universal": (0, 1),
             "cylindrical": (1, 1), "floating": (1, 1), "floating_rpy": (1, 1), "screw": (0.07, 1)}
    for joint in model.joints:
        assert_close([joint.mobilizer.linear_velocity_bound, joint.mobilizer.angular_velocity_bound], table[joint.kind], 4 * EPS)
        largest = np.zeros(2)
        for _ in range(60 if joint.nv else 0):
            q = joint._kinematics.model.normalize(rng.uniform(-1.3, 1.3, joint.nq))
            H = joint._kinematics.subspace(q)
            for direction in (*np.eye(joint.nv), *rng.normal(size=(20, joint.nv))):
                V = H @ (direction / np.linalg.norm(direction))
                largest = np.maximum(largest, [np.linalg.norm(V[3:]), np.linalg.norm(V[:3])])
        assert_close(largest, table[joint.kind], 1e-9)


@seed("HJ-24", "HJ-27")
def test_bounds_and_distance_to_the_parent(rng):
    b = mbros.ModelBuilder("rig")
    first = b.add_joint(mbros.RevoluteJoint("first", b.world, seed_models.box(b, "one"), (1, 0, 0), p=(5, 0, 0)))
    slide = b.add_joint(mbros.TranslationJoint("slide", b.body("one"), seed_models.box(b, "two"), 3, p=(0.3, -0.4, 0.5), rpy=(1, 2, 3)))
    turn = b.add_joint(mbros.BallJoint("turn", b.body("two"), seed_models.box(b, "three"), p=(0, 3, 4)))
    screw = b.add_joint(mbros.ScrewJoint("screw", b.body("two"), seed_models.box(b, "four"), (0, 1, 0), pitch_m_per_rad=0.1, p=(1, 0, 0)))
    assert not slide.limits.position.bounded.any()
    assert b.build().joint("slide").topology.max_distance_to_parent == np.inf
    for i, (low, high) in enumerate(((-1, 2), (-0.5, 0.25), (0, 3))):
        assert slide.set_bounds(i, low, high) is slide and slide.limits.position[i] == (low, high)
    screw.set_bounds(0, -10, 5)
    model = b.build()
    built = model.joint("slide")
    assert built.limits.position.bounded.all() and built.limits.position[1] == (-0.5, 0.25)
    R, t = built.placement.R, built.placement.p
    corners = [t + R @ np.array([x, y, z]) for x in (-1, 2) for y in (-0.5, 0.25) for z in (0, 3)]
    assert built.topology.max_distance_to_parent == pytest.approx(max(np.linalg.norm(c) for c in corners), rel=1e-15)
    inside = [np.linalg.norm(t + R @ rng.uniform((-1, -0.5, 0), (2, 0.25, 3))) for _ in range(300)]
    assert max(inside) <= built.topology.max_distance_to_parent
    assert model.joint("turn").topology.max_distance_to_parent == 5.0 == model.joint("first").topology.max_distance_to_parent
    assert model.joint("screw").topology.max_distance_to_parent == pytest.approx(np.hypot(1, 1.0), rel=1e-15)
    assert slide.set_bounds(1).limits.position[1] == (-np.inf, np.inf)
    assert b.build().joint("slide").topology.max_distance_to_parent == np.inf
    for wrong in (3, -1, "y"):
        with pytest.raises(ValueError, match=f"joint 'slide': position component {wrong!r} does not exist"):
            slide.set_bounds(wrong, 0, 1)
    with pytest.raises(ValueError, match="joint 'slide'.*of coordinate 2 is above"):
        slide.set_bounds(2, 1, 0)
    assert first.limits.position[0] == (-np.inf, np.inf) and turn.nq == 4


@seed("HJ-21", "HJ-23", "HJ-07")
def test_children_are_hung_at_their_pose_in_the_world(rng):
    b = mbros.ModelBuilder("chain")
    root = b.add_joint(mbros.RevoluteJoint("root", b.world, seed_models.box(b, "one"), (1, 0, 0), p=(1, 2, 3), rpy=(0.3, 0.2, 0.1)))
    child = mbros.RevoluteJoint("child", None, seed_models.box(b, "two"), (1, 0, 0), p=(4, 5, 6), rpy=(-1, 0.5, 2))
    X_W = child.X_PF
    assert root.add_child(child) is child
    assert_close(child.placement.matrix(), root.X_PF.inverse().matrix() @ X_W.matrix(), 1e-15)
    kept = mbros.RevoluteJoint("kept", None, seed_models.box(b, "three"), (1, 0, 0), p=(7, 8, 9))
    child.add_child(kept, keep_placement=True)
    assert kept.placement.p.tolist() == [7, 8, 9]
    model = b.build()
    assert_close(model.joint("child").topology.neutral_pose.matrix, X_W.matrix(), 8 * EPS)
    assert [j.topology.parent and j.topology.parent.name for j in model.joints] == [None, "root", "child"]
    state = model.default_state()
    before = model.pose(state, "three").p
    kept.placement = np.eye(4)
    after = b.build()
    assert np.linalg.norm(after.pose(after.default_state(), "three").p - before) > 5
    orphan = mbros.RevoluteJoint("orphan", b.world, seed_models.box(b, "four"))
    with pytest.raises(ValueError, match="joint 'orphan': it belongs to no model, so joint 'x' cannot be added"):
        orphan.add_child(mbros.RevoluteJoint("x", None, b.body("four")))
    with pytest.raises(ValueError, match="joint 'y': it has no parent"):
        b.add_joint(mbros.RevoluteJoint("y", None, b.body("four")))
    other = mbros.ModelBuilder("other")
    with pytest.raises(ValueError, match="joint 'root': it belongs to another model"):
        other.add_child(root, mbros.RevoluteJoint("z", None, other.add_body("b")))
    assert len(b.description.joints) == 3


@seed("HJ-31")
def test_the_link_in_the_joints_frame():
    """HPP turns joints about x: with M turned so, the link's pose is still that of the URDF."""
    text = ('<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
            '</link><joint name="j" type="continuous"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><parent link="a"/><child link="b"/>'
            '<axis xyz="0 1 0"/></joint></robot>')
    urdf = mbros.load(text)
    b = mbros.ModelBuilder("hpp")
    body = b.add_body("b", 1.0, inertia=(1, 1, 1))
    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])         # x of M along y of the link
    M = b.add_frame("turned", body, R=quarter)
    joint = mbros.ContinuousJoint("j", b.world, M, (1, 0, 0), p=(1, 2, 3), rpy=(0.1, 0.2, 0.3))
    joint.X_PF = joint.X_PF @ M.X_BF
    b.add_joint(joint)
    model = b.build()
    for angle in (0.0, 0.7, -2.5):
        state, other = model.default_state(), urdf.default_state()
        state.set_q([angle]), other.set_q([angle])
        mine = model.joint("j")
        assert mine.child.name == "b"
        assert_close((model.pose(state, mine) @ mine.link_frame).matrix, urdf.pose(other, "b").matrix, 4 * EPS)
        assert_close((model.pose(state, mine) @ mine.link_frame).matrix, model.pose(state, "b").matrix, 4 * EPS)
    assert_close(model.joint("j").link_frame.R, quarter.T, EPS)


@seed("HJ-32", "HJ-45", "HJ-50", "HJ-33")
def test_mass_centre_of_subtrees(tree, rng):
    model, state = tree
    whole = model.com_of(state, model.tree.roots())
    assert_close(whole.mass, model.total_mass(state), 1e-13)
    assert_close(whole.com, model.center_of_mass(state), 1e-12)
    assert_close(whole.jacobian, model.com_jacobian(state), 1e-12)
    assert_close(whole.jacobian @ state.v, model.com_jacobian(state) @ state.v, 1e-11)
    for joint in model.joints:
        bodies = [x.child for x in joint.topology.subtree()]
        mass = sum(body.mass for body in bodies)
        moment = sum(body.mass * (model.pose(state, body) @ body.com) for body in bodies)
        assert model.tree.subtree_mass(state, joint) == pytest.approx(mass, rel=1e-14)
        assert_close(model.com_of(state, [joint]).com, moment / mass, 1e-13)


@seed("HJ-50")
def test_a_choice_of_subtrees_is_counted_once(tree, rng):
    model, state = tree
    upper, lower = model.joint("screw"), model.joint("floating")
    assert lower in list(upper.topology.subtree())
    want = model.com_of(state, [upper])
    for choice in ([upper, lower], [lower, upper], ["floating", "screw", "screw"]):
        got = model.com_of(state, choice)
        assert got.mass == want.mass and np.array_equal(got.com, want.com) and np.array_equal(got.jacobian, want.jacobian)
    a, b = model.joint("prismatic"), model.joint("planar")
    assert not set(a.topology.subtree()) & set(b.topology.subtree())
    A, B, AB = (model.com_of(state, choice) for choice in (["prismatic"], ["planar"], ["prismatic", "planar"]))
    assert AB.mass == pytest.approx(A.mass + B.mass, rel=1e-14)
    assert_close(AB.com, (A.mass * A.com + B.mass * B.com) / AB.mass, 1e-13)
    # the Jacobian against differences along a motion of every joint: columns of ancestors outside the choice are there
    v, h = rng.normal(size=model.nv), 1e-6
    sides = []
    for sign in (1, -1):
        other = state.copy()
        other.q[:] = model.integrate(state.q, sign * h * v)
        sides.append(model.com_of(other, [lower]).com)
    low = model.com_of(state, [lower])
    assert_close(low.jacobian @ v, (sides[0] - sides[1]) / (2 * h), 1e-6, np.abs(v).max())
    ancestors = [joint for joint in model.joints if lower in list(joint.topology.subtree()) and joint is not lower and joint.nv]
    assert ancestors and all(np.abs(low.jacobian[:, joint.v_slice]).max() > 1e-3 for joint in ancestors)
    others = [joint for joint in model.joints if joint not in ancestors and joint not in list(lower.topology.subtree())]
    assert all(not low.jacobian[:, joint.v_slice].any() for joint in others)
    with pytest.raises(ValueError, match="no centre of mass"):
        model.com_of(state, [])
    for wrong in (None, 99, -1, True, mbros.load("arm7").joint(0)):
        with pytest.raises(mbros.MbrosError, match="expected the name of a joint, its index 0 .. 16, or a Joint of this model"):
            model.com_of(state, [wrong])


@seed("HJ-32", "PJ-40")
def test_masses_follow_the_state(tree):
    model, state = tree
    before = model.tree.subtree_mass(state, "planar")
    model.set_parameter(state, "mass.planar_body", 2 * model.body("planar_body").mass)
    assert model.tree.subtree_mass(state, "planar") == pytest.approx(before + model.body("planar_body").mass, rel=1e-14)
    assert_close(model.com_of(state, model.tree.roots()).com, model.center_of_mass(state), 1e-12)


@seed("HJ-08")
def test_subtrees_are_copied_deeply(tree):
    model, state = tree
    joint = model.joint("screw")
    builder = mbros.ModelBuilder.subtree(joint)
    part = builder.build()
    assert [j.name for j in part.joints] == [j.name for j in joint.topology.subtree()]
    assert part.joint("screw").topology.parent is None and part.joint("screw")._row.parameters == joint._row.parameters
    other = part.default_state()
    for j in part.joints:
        j.of(other.q)[:] = model.joint(j.name).of(state.q) if j.nq else 0.0
    X = model.pose(state, "floating_body", joint.parent_frame)
    assert_close(part.pose(other, "floating_body").matrix, X.matrix, 1e-12)
    builder.body("screw_body").mass = 77.0
    assert model.body("screw_body").mass != 77.0 != part.body("screw_body").mass
    twin = copy.deepcopy(model)
    assert not np.shares_memory(twin.body("screw_body").inertia, model.body("screw_body").inertia)
    with pytest.raises(ValueError, match="read-only"):
        twin.body("screw_body").inertia[:] = 5.0


@seed("HJ-19", "HJ-48")
def test_graphviz(tree):
    model, state = tree
    for text in (model.tree.dot(), model.tree.dot(state)):
        assert text.startswith('digraph "every kind" {') and text.endswith("}\n")
        assert text.count(" -> ") == len(model.joints)
        for joint in model.joints:
            assert f'"{joint.parent.name}" -> "{joint.child.name}" [label="{joint.name}\\n{joint.kind}' in text
        if shutil.which("dot"):
            assert b"<svg" in subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True).stdout
    assert "kg at" in model.tree.dot() and "] m" not in model.tree.dot() and "p (" in model.tree.dot(state)
    _, node = model.tree.dot(state).split('\n  "planar_body" [label="')
    body, X = model.body("planar_body"), model.pose(state, "planar_body")
    lines = node.split('"];')[0].split("\\n")
    numbers = [float(word) for word in re.findall(r"-?\d[\d.e+-]*", " ".join(lines[1:]).replace("m^2", ""))]
    assert_close(numbers, [body.mass, *body.com, *np.diag(body.inertia), *body.inertia[[0, 0, 1], [1, 2, 2]], *X.p, *X.quat_wxyz], 1e-3)
    assert repr(model.joint("planar")) == "<Joint 'planar': planar, 'world' to 'planar_body'>"
    odd = mbros.ModelBuilder('say "hi"\\')
    odd.add_joint(mbros.RevoluteJoint('a"b', odd.world, seed_models.box(odd, "x\\y")))
    assert '"say \\"hi\\"\\\\"' in odd.build().tree.dot() and '"x\\\\y"' in odd.build().tree.dot()


@seed("HJ-19")
def test_graphviz_shows_shapes():
    b = mbros.ModelBuilder("shapes")
    body = b.add_body("body", 1.0, inertia=(1, 1, 1))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    for shape in (Geometry("box", (0.1, 0.2, 0.3)), Geometry("cylinder", radius=0.5, length=2.0), Geometry("mesh", filename='a"b.stl')):
        body.collisions.append(Shape(shape))
    body.visuals.append(Shape(Geometry("sphere", radius=0.25)))
    text = b.build().tree.dot()
    assert ('\\nvisual sphere radius 0.25\\ncollision box (0.1 0.2 0.3)\\ncollision cylinder radius 0.5 length 2'
            '\\ncollision mesh a\\"b.stl"];') in text
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)


@seed("HJ-43")
def test_only_what_is_asked_for_is_computed(tree):
    """A pose fills the position stage and leaves velocities and dynamics alone; asking again computes nothing."""
    model, state = tree
    state._poison()
    model.pose(state, model.bodies[-1])
    assert np.isfinite(state.field("X_WB")).all()
    for name in ("V_WB", "Ab_WB", "vdot", "M_W", "A_WB"):
        rows = state.field(name)
        assert np.isnan(rows[1:] if len(rows) == len(state.field("X_WB")) else rows).all(), name      # row 0: the world, at rest
    state.field("X_WB")[-1, 9] = 12345.0                            # would be overwritten by computing again
    model.pose(state, model.bodies[-1])
    assert state.field("X_WB")[-1, 9] == 12345.0
    state.q[0] += 0.1
    model.pose(state, model.bodies[-1])
    assert state.field("X_WB")[-1, 9] != 12345.0
    model.velocity(state, model.bodies[-1])
    assert np.isfinite(state.field("V_WB")).all() and np.isnan(state.field("M_W")).all()


@seed("HJ-47")
def test_grippers_are_tagged_frames():
    b = mbros.ModelBuilder("rig")
    hand = seed_models.box(b, "hand")
    b.add_joint(mbros.RevoluteJoint("wrist", b.world, hand))
    b.add_frame("grip", hand, p=(0, 0, 0.1), tags={"gripper": True, "approach": (0, 0, 1)})
    b.add_frame("plain", hand)
    model = b.build()
    assert [frame.name for frame in model.frames if frame.tags.get("gripper")] == ["grip"]
    assert model.frame("grip").tags["approach"] == (0, 0, 1) and model.frame("plain").tags == {}
