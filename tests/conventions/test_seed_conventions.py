"""Conventions of other libraries: golden numbers, the libraries themselves joint kind by joint kind, and laws that need none."""
import json
from pathlib import Path

import numpy as np
import pytest
from convention_rigs import PAIRS, Rig, library
from tolerance import EPS, assert_close

import mbros
import mbros.conventions.convention
from mbros.conventions.convention import CONVENTIONS, quaternion

seed = pytest.mark.seed
GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "quaternion_floating.json").read_text())["cases"]
KINDS = ("revolute", "continuous", "prismatic", "planar", "floating", "ball", "universal", "screw", "cylindrical", "translation2",
         "translation3", "circular", "ball_rpy", "floating_rpy")
RTOL = 1e-12
STATES = 100


@seed("QF-N1")
@pytest.mark.parametrize("case", GOLDEN)
def test_the_golden_floating_states(case):
    """Seed, modern Drake, Pinocchio and MuJoCo: the same state in each one's numbers, also with quaternions of other lengths."""
    rig = Rig("floating")
    q, v = np.array(case["seed"]["q"]), np.array(case["seed"]["v"])
    assert sum(key in case for key in ("modern", "pinocchio", "mujoco")) == (3 if case["quat_norm"] == 1.0 else 1)
    for name, key in (("drake", "modern"), ("pinocchio", "pinocchio"), ("mujoco", "mujoco")):
        if key in case:
            c, theirs = mbros.convention(name), case[key]
            their_q, their_v = c.to(rig, q, v)
            assert_close(their_q, theirs["q"], RTOL)
            assert_close(their_v, theirs["v"], RTOL)
            back = c.back(rig, np.array(theirs["q"]), np.array(theirs["v"]))
            assert_close(back[0], q, RTOL)
            assert_close(back[1], v, RTOL)


# ------------------------------------------------------------------------------------------------- the libraries live

@seed("QF-N1")
@pytest.mark.parametrize("name, kind", PAIRS)
def test_the_same_physics_there(name, kind, rng):
    """Positions, velocities, accelerations, efforts, Jacobians, twists, both ways, by the library's own dynamics."""
    make, module = library(name, pytest)
    rig, c = Rig(kind), mbros.convention(name)
    peer = make(module, rig)
    for _ in range(STATES):
        q, v, vdot, state = rig.random(rng)
        there = c.to(rig, q, v)
        a = c.to_acceleration(rig, q, v, vdot)
        tau, J, X = rig.engine.inverse_dynamics(state, vdot), rig.engine._frame_jacobian(state, 1), rig.pose(state)
        size = 1 / max(0.05, np.abs(np.cos(q[1])) if kind.endswith("rpy") else 1.0) ** 3
        theirs = peer.efforts(*there, a)
        assert_close(c.to_efforts(rig, q, tau), theirs, RTOL * size, scale=1.0)
        assert_close(c.from_efforts(rig, q, theirs), tau, RTOL * size, scale=1.0)
        assert_close(c.from_acceleration(rig, q, v, a), vdot, RTOL * size, scale=1.0)
        for reference in peer.references if hasattr(peer, "references") else ("local_world_aligned", "local"):
            V = peer.twist(*there, reference)
            assert_close(c.to_twist(J @ v, reference, X), V, RTOL, scale=1.0)
            assert_close(c.from_twist(V, reference, X), J @ v, RTOL, scale=1.0)
            jacobian = peer.jacobian(*there, reference)
            if jacobian is not None:
                assert_close(c.to_jacobian(rig, q, J, reference, X), jacobian, RTOL * size, scale=1.0)
                assert_close(c.from_jacobian(rig, q, jacobian, reference, X), J, RTOL * size, scale=1.0)


@seed("QF-N1")
@pytest.mark.parametrize("name, kind", [("mujoco", "floating"), ("mujoco", "ball"), ("mujoco", "planar")])
def test_wrenches_of_mujoco(name, kind, rng):
    """xfrc_applied, [force; torque] at the centre of mass, does the same generalized forces as our wrench there."""
    make, module = library(name, pytest)
    rig, c = Rig(kind), mbros.convention(name)
    peer = make(module, rig)
    for _ in range(STATES):
        q, v, _, state = rig.random(rng)
        F = rng.normal(size=6)
        J = rig.engine._frame_jacobian(state, 1)
        p = rig.pose(state).R @ rig.com
        at_com = np.vstack([J[:3], J[3:] + np.cross(J[:3].T, p).T])
        assert_close(c.to_efforts(rig, q, at_com.T @ F), peer.wrench_efforts(c.to(rig, q, v)[0], c.to_wrench(F)), RTOL, scale=1.0)


BRANCHES = """<robot name="tree"><link name="base"/>{}</robot>"""
BRANCH = """<link name="{0}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
<inertia ixx="1" iyy="1.1" izz="1.2" ixy="0.1" ixz="0" iyz="0"/></inertial></link>
<joint name="j_{0}" type="{2}"><parent link="{1}"/><child link="{0}"/><axis xyz="0.6 0 0.8"/>
<origin xyz="0.1 0.3 -0.2" rpy="1 2 3"/></joint>"""
TREE = BRANCHES.format("".join(BRANCH.format(*row) for row in (
    ("d", "base", "continuous"), ("a", "base", "prismatic"), ("c", "d", "continuous"), ("b", "d", "prismatic"), ("e", "a", "continuous"))))
TREE = TREE.replace('type="prismatic">', 'type="prismatic"><limit lower="-9" upper="9" effort="9" velocity="9"/>')


@seed("QF-N1")
def test_columns_of_a_tree_in_pinocchio(rng):
    """Siblings by name, (cos, sin) for continuous joints: Jacobians and efforts of a branched robot."""
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio (pip install pin)")
    model, c = mbros.load(TREE), mbros.convention("pinocchio")
    peer = pin.buildModelFromXML(TREE)
    peer.gravity = pin.Motion(np.array(model.spec.gravity), np.zeros(3))
    data = peer.createData()
    assert [j.name for j in c.joints(model)] == list(peer.names)[1:] != [j.name for j in model.joints if j.nv]
    for _ in range(STATES):
        state = model.random_state(rng)
        vdot = rng.normal(size=model.nv)
        q, v = c.to(model, state.q, state.v)
        tau = pin.rnea(peer, data, q, v, c.to_acceleration(model, state.q, state.v, vdot))
        assert_close(c.to_efforts(model, state.q, model.inverse_dynamics(state, vdot)), tau, RTOL, scale=1.0)
        for link in "abcde":
            J = pin.computeFrameJacobian(peer, data, q, peer.getFrameId(link), pin.WORLD)
            ours = model.jacobian(state, link)
            assert_close(c.to_jacobian(model, state.q, ours, "world", model.pose(state, link)), J, RTOL, scale=1.0)
            assert_close(c.from_jacobian(model, state.q, J, "world", model.pose(state, link)), ours, RTOL, scale=1.0)


@seed("QF-N1")
def test_columns_of_a_tree_in_drake(rng):
    """Depth first in the file's order, whatever the names."""
    pytest.importorskip("pydrake", reason="needs Drake (pip install drake)")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    model, c = mbros.load(TREE), mbros.convention("drake")
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(TREE, "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for _ in range(STATES):
        state = model.random_state(rng)
        q, v = c.to(model, state.q, state.v)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        for link in "abcde":
            V = plant.GetFrameByName(link).CalcSpatialVelocityInWorld(context).get_coeffs()
            assert_close(c.to_twist(np.asarray(model.velocity(state, link))), V, RTOL, scale=1.0)


# ----------------------------------------------------------------------------------------------------------- laws

@seed("QF-N1")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CONVENTIONS)
def test_both_ways_in_batches_with_the_same_power(name, kind, rng):
    rig, c = Rig(kind), mbros.convention(name)
    states = [rig.random(rng) for _ in range(12)]
    q, v, vdot = (np.array([s[k] for s in states]).reshape(3, 4, -1) for k in range(3))
    tau, J = rng.normal(size=v.shape), rng.normal(size=(3, 4, 6, rig.nv))
    there = c.to(rig, q, v)
    assert there[0].shape == (3, 4, c.nq(rig)) and there[1].shape == v.shape
    back_q, back_v = c.back(rig, *there)
    sign = np.where((back_q * q).sum(-1, keepdims=True) < 0, -1, 1) if kind == "ball" else 1        # through roll-pitch-yaw in Drake
    assert_close(sign * back_q, q, RTOL, scale=1.0)
    assert_close(back_v, v, RTOL, scale=1.0)
    assert_close(c.from_efforts(rig, q, c.to_efforts(rig, q, tau)), tau, RTOL, scale=1.0)
    assert_close((c.to_efforts(rig, q, tau) * there[1]).sum(-1), (tau * v).sum(-1), RTOL, scale=1.0)
    assert_close((c.velocity_matrix(rig, q) @ v[..., None])[..., 0], there[1], RTOL, scale=1.0)
    assert_close(c.from_acceleration(rig, q, v, c.to_acceleration(rig, q, v, vdot)), vdot, RTOL, scale=1.0)
    theirs = c.to_jacobian(rig, q, J)
    assert_close(c.from_jacobian(rig, q, theirs), J, RTOL, scale=1.0)
    assert_close((theirs @ there[1][..., None])[..., 0], c_jacobian_rows(c, (J @ v[..., None])[..., 0]), RTOL, scale=1.0)
    for i in np.ndindex(3, 4):
        one = c.to(rig, q[i], v[i])
        assert np.array_equal(there[0][i], one[0]) and np.array_equal(there[1][i], one[1])


def c_jacobian_rows(c, x):
    return x if c.rows.jacobian == "angular" else np.roll(x, 3, -1)


@seed("QF-N1")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CONVENTIONS)
def test_accelerations_are_the_derivatives_of_velocities(name, kind, rng):
    """Along q(t) with velocity v + t vdot, by fourth-order differences."""
    rig, c = Rig(kind), mbros.convention(name)
    for _ in range(5):
        q, v, vdot, _ = rig.random(rng)

        def velocity(t, q=q, v=v, vdot=vdot):
            return c.to(rig, rig.engine.integrate(q, t * v), v + t * vdot)[1]

        h = 1e-3
        slope = (8 * (velocity(h) - velocity(-h)) - (velocity(2 * h) - velocity(-2 * h))) / (12 * h)
        assert_close(c.to_acceleration(rig, q, v, vdot), slope, 1e-7, scale=1 + np.abs(slope).max())


@seed("QF-N1")
@pytest.mark.parametrize("kind", ["floating", "ball", "ball_rpy", "floating_rpy"])
def test_hpp_and_ros_by_the_pose(kind, rng):
    """What a message or HPP says about the body, differentiated in time: HPP's w and v in the parent, ROS' in the child."""
    rig = Rig(kind)
    for _ in range(10):
        q, v, _, state = rig.random(rng)
        X, V = rig.pose(state), rig.engine._frame_velocity(state, 1)
        hpp_q, hpp_v = mbros.convention("hpp").to(rig, q, v)
        ros_q, ros_v = mbros.convention("ros").to(rig, q, v)
        assert_close(hpp_v[-3:], V[:3], RTOL, scale=1.0)
        assert_close(ros_v[-3:], X.R.T @ V[:3], RTOL, scale=1.0)
        for quat in (hpp_q[-4:], np.roll(ros_q[-4:], 1)):
            assert_close(np.abs(quat @ X.quat_wxyz), 1.0, RTOL)
        if "floating" in kind:
            assert_close(hpp_q[:3], X.p, RTOL)
            assert_close(ros_q[:3], X.p, RTOL)
            assert_close(hpp_v[:3], V[3:], RTOL, scale=1.0)
            assert_close(ros_v[:3], X.R.T @ V[3:], RTOL, scale=1.0)


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("reference", ["local_world_aligned", "local", "world"])
def test_twists_and_wrenches_keep_their_power_in_every_frame(name, reference, rng):
    c, rig = mbros.convention(name), Rig("floating")
    V, F = rng.normal(size=(7, 6)), rng.normal(size=(7, 6))
    X = np.array([rig.pose(rig.random(rng)[3]).matrix for _ in range(7)])
    V2, F2 = c.to_twist(V, reference, X), c.to_wrench(F, reference, X)
    aligned = F2 if c.rows.twist == c.rows.wrench else np.roll(F2, 3, -1)
    assert_close((V2 * aligned).sum(-1), (V * F).sum(-1), RTOL, scale=1.0)
    assert_close(c.from_twist(V2, reference, X), V, RTOL)
    assert_close(c.from_wrench(F2, reference, X), F, RTOL)
    assert_close(c.to_twist(V[3], reference, X[3]), V2[3], 4 * EPS, scale=1.0)
    assert_close(c.to_wrench(F, "local_world_aligned")[..., :3], F[..., :3] if c.rows.wrench == "angular" else F[..., 3:], 0.0)


@seed("QF-N1")
@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_state_from_another_library_is_checked_and_normalised_once(name, rng):
    """Lengths of theirs are brought to one; zeros, NaN and batches are refused with the joint or the sizes named."""
    b = mbros.ModelBuilder("rig")
    for kind in (mbros.FloatingJoint, mbros.BallJoint, mbros.FloatingRpyJoint, mbros.ContinuousJoint):
        b.add_joint(kind(kind.__name__, b.world, b.add_body(kind.__name__ + "_body", 1.0, (0, 0, 0.1), (1, 1, 1))))
    model, c = b.build(), mbros.convention(name)
    q, v = c.to(model, model.random_configuration(rng), rng.normal(size=model.nv))
    state, at, checked = model.from_convention(name, q, v), 0, 0
    for joint in c.joints(model):
        size = c._size(joint)
        for part in c._unit_parts(joint):
            run = slice(at + part.start, at + part.stop)
            longer, zeros = q.copy(), q.copy()
            longer[run] *= 2.0
            zeros[run] = 0.0
            assert model.space().is_same(model.from_convention(name, longer, v).q, state.q, 1e-14)
            assert_close(model.from_convention(name, longer, v).v, state.v, 32 * EPS, scale=1.0)
            assert_close(model.normalize(model.from_convention(name, longer, v).q), state.q, 4 * EPS)
            for call in (lambda z: model.from_convention(name, z, v), lambda z: c.back(model, np.array([q, z]), v)):
                with pytest.raises(mbros.MbrosError, match=rf"joint '{joint.name}'.*its .* q\[{part.start}:{part.stop}\] is all zeros"):
                    call(zeros)
            checked += 1
        at += size
    assert checked == {"drake": 1, "drake_2018": 2, "mujoco": 2, "pinocchio": 3, "hpp": 4, "ros": 3}[name]
    own = model.neutral_configuration()
    own[3:7] = 0.0
    with pytest.raises(mbros.MbrosError, match="joint 'FloatingJoint'.*all zeros"):
        c.to(model, own, v)
    for k, what in ((0, "q"), (1, "v")):
        bad = [q.copy(), v.copy()]
        bad[k][2] = np.nan
        for call in (lambda x: model.from_convention(name, *x), lambda x: c.back(model, *x)):
            with pytest.raises(mbros.NonFiniteError, match=rf"model 'rig'.*{what}\[2\] is nan"):
                call(bad)
    with pytest.raises(mbros.MbrosError, match=rf"one State .*back takes batches.*q: expected {c.nq(model)} numbers, got shape \(2, "):
        model.from_convention(name, np.array([q, q]), v)


def test_whole_turns_are_lost_where_the_other_library_has_no_place_for_them():
    """What the module's docstring says."""
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.ContinuousJoint("turn", b.world, b.add_body("A", 1.0, (0, 0, 0.1), (1, 1, 1))))
    b.add_joint(mbros.BallRpyJoint("rpy", b.world, b.add_body("B", 1.0, (0, 0, 0.1), (1, 1, 1))))
    model = b.build()
    state = model.default_state().set_q((7.0, 4.0, 0.3, -5.0))
    for name in CONVENTIONS:
        q = model.from_convention(name, *model.to_convention(state, name)).q
        wrapped = 7.0 - 2 * np.pi if name in ("pinocchio", "hpp") else 7.0
        rpy = (4.0 - 2 * np.pi, 0.3, 2 * np.pi - 5.0) if name in ("hpp", "ros") else (4.0, 0.3, -5.0)
        assert_close(q, [wrapped, *rpy], 8 * EPS)
        there = model.default_state().set_q(q)
        for body in "AB":
            assert_close(model.pose(there, body).R, model.pose(state, body).R, 16 * EPS)
    assert "7 rad" in mbros.conventions.convention.__doc__ and "0.717 rad" in mbros.conventions.convention.__doc__


# ------------------------------------------------------------------------------------------------------------- words

@pytest.mark.parametrize("name, words", [
    ("drake", ["[w x y z; p]", "w in the parent frame", "jacobian rows: [angular; linear]", "file's order"]),
    ("pinocchio", ["[p; x y z w]", "(x, y, cos, sin)", "siblings by name", "[linear; angular]", "wrench: [force; torque]"]),
    ("mujoco", ["[v in the parent frame; w in the child frame]", "xfrc_applied", "twist: [angular; linear]"]),
    ("hpp", ["(cos, sin)", "[v; w] in the parent frame"]), ("ros", ["nav_msgs/Odometry", "x y z w"]),
    ("drake_2018", ["QuaternionFloatingJoint", "all other kinds: as mbros"])])
def test_a_convention_describes_itself(name, words):
    text = mbros.convention(name).describe()
    for word in words:
        assert word in text, text
    assert repr(mbros.convention(name)) == f"<Convention {name!r}>"


def test_quaternions_say_their_order():
    assert_close(quaternion(quat_wxyz=(1, 2, 3, 4)), [1, 2, 3, 4], 0.0)
    assert_close(quaternion(quat_xyzw=np.array([[1, 2, 3, 4], [5, 6, 7, 8]])), [[4, 1, 2, 3], [8, 5, 6, 7]], 0.0)
    for arguments, named in (((), {"quat": (1, 0, 0, 0)}), (((1, 0, 0, 0),), {})):
        with pytest.raises(ValueError, match=r"a quaternion must say its order: .* write quat_wxyz=\(w, x, y, z\).* or quat_xyzw="):
            quaternion(*arguments, **named)
    for bad in ({}, {"quat_wxyz": (1, 0, 0, 0), "quat_xyzw": (0, 0, 0, 1)}):
        with pytest.raises(ValueError, match="expected one of quat_wxyz= and quat_xyzw="):
            quaternion(**bad)
    for bad in ((0, 0, 0, 0), (1, 0, 0), (1, 0, 0, np.nan)):
        with pytest.raises(ValueError, match="quat_xyzw: expected 4 finite numbers that are not all zero"):
            quaternion(quat_xyzw=bad)


@pytest.mark.parametrize("call, text", [
    (lambda c, m: mbros.convention("darke"), "no convention 'darke'; did you mean 'drake'"),
    (lambda c, m: c.to_twist(np.zeros(5)), r"twist: expected 6 numbers in the last axis, got shape \(5,\)"),
    (lambda c, m: c.to_wrench(np.zeros(6), "local"), "reference 'local' needs X_WF"),
    (lambda c, m: c.to_wrench(np.zeros(6), "lokal", np.eye(4)), "reference: no 'lokal'; did you mean 'local'"),
    (lambda c, m: c.to_twist(np.zeros(6), "world", np.eye(3)), r"X_WF: expected a Pose or homogeneous matrices"),
    (lambda c, m: c.to_jacobian(m, np.zeros(7), np.zeros((3, 6))), "J: expected 6 rows and 6 columns, got shape"),
    (lambda c, m: c.to(m, np.zeros((2, 7)), np.zeros((3, 6))), r"the batches do not fit together: q \(2, 7\) and v \(3, 6\)"),
    (lambda c, m: c.back(m, np.zeros(6), np.zeros(6)), "q: expected 7 numbers in the last axis")])
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call(mbros.convention("drake"), Rig("floating"))
