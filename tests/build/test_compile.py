"""The compiler: what it gives the engine moves exactly as the description says, and weighs the same."""
import numpy as np
import pytest
from forward_kinematics import (body_poses, frame_poses, homogeneous, joint_coordinates, joint_transform, random_q, spec_poses)

from mbros.build.builder import ContinuousJoint, FloatingJoint, ModelBuilder, PlanarJoint, PrismaticJoint, RevoluteJoint, WeldJoint
from mbros.build.compile.tree import compile_robot, default_position
from mbros.build.load import load_description
from mbros.build.robots import BUILT_IN
from mbros.build.robots.chain import chain_builder
from mbros.spatial.inertia import about_point, compose, rotate, solid_ellipsoid
from mbros.spatial.placement import align_z, rotation_from_quat_wxyz, rotation_from_rpy

KINDS = (RevoluteJoint, ContinuousJoint, PrismaticJoint, PlanarJoint, FloatingJoint, WeldJoint)


def ugly_tree(seed, n=14):
    """Joints of all kinds in a random tree, on frames on both sides, generic numbers everywhere, a mimic chain."""
    rng = np.random.default_rng(seed)
    b = ModelBuilder(f"tree{seed}", gravity=rng.normal(size=3))
    bodies, one_axis = [b.world], []
    for k in range(n):
        mass = rng.uniform(0.3, 3)
        tensor = rotate(solid_ellipsoid(mass, rng.uniform(0.1, 0.4, 3)), rotation_from_rpy(rng.uniform(-3, 3, 3)))
        body = b.add_body(f"b{k}", mass, rng.uniform(-1, 1, 3), tensor)
        parent = bodies[rng.integers(max(0, len(bodies) - 4), len(bodies))]
        F, M = (b.add_frame(f"{side}{k}", on, rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))
                for side, on in (("f", parent), ("m", body)))
        kind = KINDS[(k + seed) % len(KINDS)]
        options = {"axis": rng.normal(size=3), "normalize_axis": True} if kind in KINDS[:3] else {}
        if kind in KINDS[:3]:
            if len(one_axis) in (1, 2):
                options["mimic"] = (one_axis[-1], rng.uniform(-2, 2), rng.uniform(-1, 1))
            one_axis.append(f"j{k}")
            options.update(damping=0.3 + k, friction=0.1 + k, rotor_inertia=0.01 * (k + 1), gear_ratio=-3 - k)
        b.add_joint(kind(f"j{k}", F, M, **options))
        bodies.append(body)
    return b.describe()


def check_kinematics(description, compiled, rng):
    """Poses of all rows of the frame table against the plain oracle, and X_FM between each joint's own two frames."""
    q = random_q(compiled, rng)
    mine = joint_coordinates(compiled, q)
    expected = body_poses(description, mine)
    X = frame_poses(compiled.spec, q)
    size = 1.0 + max(np.abs(pose[:3, 3]).max() for pose in expected.values())
    for body in compiled.bodies:
        assert np.abs(X[body.frame] - expected[body.name]).max() < 1e-14 * size * len(X)
    by_name = {joint.name: joint for joint in description.joints}
    for joint in compiled.joints:
        X_FM = np.linalg.inv(X[joint.frame_F]) @ X[joint.frame_M]
        assert np.abs(X_FM - joint_transform(by_name[joint.name], mine[joint.name])).max() < 1e-13 * size * len(X)
    for frame, row in zip(description.frames, compiled.frames[-len(description.frames) or len(compiled.frames):]):
        X_WF = expected[frame.body.name] @ frame.X_BF.matrix()
        assert row.name == frame.name and np.abs(X[row.index] - X_WF).max() < 1e-14 * size * len(X)


def check_masses(description, compiled, rng):
    """Mass, first and second moments of the whole robot about the world origin, at a random configuration."""
    q = random_q(compiled, rng)
    X_user = body_poses(description, joint_coordinates(compiled, q))
    user = compose((b.mass, X_user[b.name][:3, :3] @ b.com + X_user[b.name][:3, 3], rotate(b.inertia, X_user[b.name][:3, :3]))
                   for b in [*description.bodies, description.world])
    parts = []
    for X, row in zip(spec_poses(compiled.spec, q), compiled.spec.inertia):
        m, h = row[0], row[1:4]
        xx, yy, zz, xy, xz, yz = row[4:]
        com = h / m if m else np.zeros(3)
        central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - about_point(m, com, np.zeros((3, 3)))
        parts.append((m, X[:3, :3] @ com + X[:3, 3], rotate(central, X[:3, :3])))
    engine = compose(parts)
    assert engine[0] == pytest.approx(user[0], rel=1e-14)
    assert np.abs(engine[1] - user[1]).max() < 1e-12 * (1 + np.abs(user[1]).max())
    assert np.abs(engine[2] - user[2]).max() < 1e-11 * np.abs(user[2]).max()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("mimic", [True, False])
def test_ugly_trees(seed, merge, mimic):
    description = ugly_tree(seed)
    compiled = compile_robot(description, mimic=mimic, merge_welds=merge)
    rng = np.random.default_rng(seed)
    check_kinematics(description, compiled, rng)
    check_masses(description, compiled, rng)
    welds = sum(joint.kind == "weld" for joint in description.joints)
    assert len(compiled.spec.parent) == 1 + len(description.joints) - (welds if merge else 0)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("base", ["fixed", "floating", "planar"])
def test_own_robots(name, base):
    description = load_description(name, base)
    compiled = compile_robot(description)
    rng = np.random.default_rng(3)
    check_kinematics(description, compiled, rng)
    check_masses(description, compiled, rng)
    assert compiled.joints[0].name == "base" and compiled.joints[0].kind == {"fixed": "weld"}.get(base, base)


def test_tables_follow_the_contract():
    """Order of joints, rows of the frame table, slices, parents before children."""
    description = ugly_tree(2)
    compiled = compile_robot(description)
    spec = compiled.spec
    n = len(compiled.bodies)
    assert [b.name for b in compiled.bodies] == ["world"] + [j.child_body for j in compiled.joints]
    assert [f.name for f in compiled.frames[:n]] == [b.name for b in compiled.bodies]
    for k, joint in enumerate(compiled.joints):
        assert (joint.frame_F, joint.frame_M) == (n + 2 * k, n + 2 * k + 1)
        assert [compiled.frames[i].name for i in (joint.frame_F, joint.frame_M)] == [joint.name + ".F", joint.name + ".M"]
        assert [compiled.frames[i].body for i in (joint.frame_F, joint.frame_M)] == [joint.parent_body, joint.child_body]
    assert [f.index for f in compiled.frames] == list(range(len(spec.frame_body)))
    assert spec.frame_names == [f.name for f in compiled.frames]
    assert (spec.parent[1:] < np.arange(1, len(spec.parent))).all() and spec.parent[0] == -1
    at_q = at_v = 0
    for joint in compiled.joints:
        if joint.mimic is None:
            assert (joint.q_start, joint.v_start) == (at_q, at_v)
            at_q, at_v = at_q + joint.nq, at_v + joint.nv
    assert (at_q, at_v) == (len(spec.q_default), len(spec.damping))
    for body, row in zip(compiled.bodies, spec.frame_body):
        assert body.compiled_index == row


def test_depth_first_in_the_author_s_order():
    b = ModelBuilder("order")
    bodies = {name: b.add_body(name, 1.0, inertia=(1, 1, 1)) for name in "abcde"}
    for parent, child in (("a", "d"), ("world", "a"), ("d", "e"), ("a", "b"), ("world", "c")):
        b.add_joint(RevoluteJoint(f"{parent}-{child}", bodies.get(parent, b.world), bodies[child]))
    compiled = compile_robot(b.describe())
    assert [j.name for j in compiled.joints] == ["world-a", "a-d", "d-e", "a-b", "world-c"]


def test_alignment_is_exact_along_coordinate_axes_and_a_rotation_everywhere():
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        R = align_z(axis)
        assert set(np.abs(R).ravel()) == {0.0, 1.0} and not np.signbit(R[R == 0]).any()
        assert (R[:, 2] == axis).all() and np.linalg.det(R) == 1.0
    assert (align_z((0, 0, 1)) == np.eye(3)).all()
    for axis in [*np.random.default_rng(0).normal(size=(200, 3)), (1e-9, 0, 1), (1, 1e-17, 0), (1e-300, 1, 1)]:
        axis = np.asarray(axis) / np.linalg.norm(axis)
        R = align_z(axis)
        assert (R[:, 2] == axis).all()
        assert np.abs(R.T @ R - np.eye(3)).max() < 4 * np.finfo(float).eps and np.linalg.det(R) > 0


def test_numbers_of_an_unrotated_chain_are_untouched():
    """No rounding where nothing is rotated: the engine sees the very numbers that were given."""
    spec = compile_robot(chain_builder(5).describe()).spec
    for row in spec.X_PF[2:]:
        assert sorted(np.abs(row).tolist()) == [0.0] * 8 + [0.1] + [1.0] * 3


def test_mimic_chain_is_multiplied_out_and_its_resistance_reflected():
    b = ModelBuilder("fingers")
    for k, mimic in enumerate((None, ("j0", -2.0, 0.5), ("j1", 3.0, -1.0))):
        link = b.add_body(f"l{k}", 1.0, inertia=(1, 1, 1))
        b.add_joint(RevoluteJoint(f"j{k}", b.world, link, (0, 1, 0), damping=1 + k, friction=10 + k, rotor_inertia=0.5,
                                  gear_ratio=2.0 + k, mimic=mimic))
    compiled = compile_robot(b.describe())
    spec = compiled.spec
    assert [j.mimic for j in compiled.joints] == [None, ("j0", -2.0, 0.5), ("j0", -6.0, 0.5)]
    assert spec.leader.tolist() == [-1, -1, 1, 1] and spec.ratio.tolist() == [1, 1, -2, -6] and spec.offset.tolist() == [0, 0, 0.5, 0.5]
    assert [(j.q_start, j.v_start, j.nq, j.nv) for j in compiled.joints] == [(0, 0, 1, 1)] * 3
    # power at q' = 1: sum d_i ratio_i^2, |ratio| f, ratio^2 g^2 J
    assert spec.damping.tolist() == [1 + 4 * 2 + 36 * 3]
    assert spec.friction.tolist() == [10 + 2 * 11 + 6 * 12]
    assert spec.rotor_inertia.tolist() == [0.5 * (4 + 4 * 9 + 36 * 16)]
    free = compile_robot(b.describe(), mimic=False)
    assert free.spec.leader.tolist() == [-1] * 4 and free.spec.damping.tolist() == [1, 2, 3]
    assert all(j.mimic is None for j in free.joints)


def test_a_leader_may_come_after_its_follower():
    b = ModelBuilder("late")
    for name, mimic in (("first", "second"), ("second", None)):
        b.add_joint(RevoluteJoint(name, b.world, b.add_body("l" + name, 1.0, inertia=(1, 1, 1)), mimic=mimic))
    compiled = compile_robot(b.describe())
    assert compiled.spec.leader.tolist() == [-1, 2, -1]
    assert [j.q_start for j in compiled.joints] == [0, 0]


def test_default_positions():
    def default(**options):
        b = ModelBuilder("m")
        return default_position(RevoluteJoint("j", b.world, b.add_body("x", 1.0, inertia=(1, 1, 1)), **options))[0]

    assert default(lower=-1, upper=1) == 0
    assert default(lower=1, upper=2) == 1.5
    assert default(lower=-3, upper=-2) == -2.5
    assert default(lower=1) == 1
    assert default(upper=-2) == -2
    assert default(lower=1, upper=2, default=7) == 7


def test_stops_hold_the_effort_and_stay_stable():
    """One joint of inertia I, so that the whole of a stop can be written down."""
    def stop(effort=None, inertia=0.02, **options):
        b = ModelBuilder("m")
        b.add_joint(RevoluteJoint("j", b.world, b.add_body("x", 1.0, inertia=(inertia,) * 3), lower=-1, upper=1, effort=effort,
                                  **options))
        spec = compile_robot(b.describe()).spec
        return spec.stop_stiffness[0], spec.stop_damping[0]

    I = 0.02
    assert stop() == pytest.approx((100**2 * I, 100 * I))                  # nothing to hold: the softest; c = sqrt(k I)
    assert stop(effort=10) == pytest.approx((1000.0, (1000.0 * I)**0.5))   # 10 N m within 0.01 rad
    assert stop(effort=1e6) == pytest.approx((1000**2 * I, 1000 * I))      # the stiffest
    assert stop(effort=10, stop_stiffness=5) == pytest.approx((5.0, (5.0 * I)**0.5))
    assert stop(stop_stiffness=0) == (0.0, 0.0)
    assert stop(stop_damping=3)[1] == 3
    # the stiffest is inside the stability region of RK4 at 1 ms: |R(z)| < 1 for R(z) = sum z^k / k!, z = dt eigenvalue
    k, c = stop(effort=1e6)
    z = 1e-3 * np.linalg.eigvals([[0, 1], [-k / I, -c / I]])
    assert max(abs(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24)) < 1


def test_effective_inertia_is_what_a_force_feels():
    """Two sliders in line: pushing the outer one moves only m2 (relative to the inner), the inner feels m1 alone."""
    from mbros.build.compile.tree import _Tree
    from mbros.build.compile.regularity import effective_inertia

    b = ModelBuilder("sliders")
    cart = b.add_body("cart", 3.0, inertia=(1, 1, 1))
    load = b.add_body("load", 1.0, inertia=(1, 1, 1))
    b.add_joint(PrismaticJoint("x", b.world, cart, (1, 0, 0)))
    b.add_joint(PrismaticJoint("y", cart, load, (1, 0, 0)))
    tree = _Tree(b.describe(), True, True)
    # M = [[m1 + m2, m2], [m2, m2]], so M^-1 = [[1/m1, -1/m1], [-1/m1, 1/m1 + 1/m2]]
    assert effective_inertia(tree, tree.spec()) == pytest.approx([3.0, 3.0 / 4.0], rel=1e-14)


def test_mass_matrix_is_that_of_kinetic_energy():
    """v' M v / 2 equals the kinetic energy of all bodies, their velocities taken by differences of the plain oracle."""
    from mbros.build.compile.tree import _Tree
    from mbros.build.compile.regularity import mass_matrix

    b = chain_builder(6, ugly=True)
    description = b.describe()
    compiled = compile_robot(description)
    tree = _Tree(description, True, True)
    rng = np.random.default_rng(5)
    q, v, h = rng.uniform(-1, 1, 6), rng.uniform(-1, 1, 6), 1e-5
    energy = 0.0
    before, after = (body_poses(description, joint_coordinates(compiled, q + s * h * v)) for s in (-1, 1))
    now = body_poses(description, joint_coordinates(compiled, q))
    for body in description.bodies:
        com = np.append(body.com, 1)
        velocity = ((after[body.name] - before[body.name]) @ com)[:3] / (2 * h)
        W = (after[body.name] - before[body.name])[:3, :3] @ now[body.name][:3, :3].T / (2 * h)
        w = np.array([W[2, 1], W[0, 2], W[1, 0]])
        energy += 0.5 * body.mass * velocity @ velocity + 0.5 * w @ rotate(body.inertia, now[body.name][:3, :3]) @ w
    assert 0.5 * v @ mass_matrix(tree, tree.spec(), q) @ v == pytest.approx(energy, rel=1e-8)


def test_a_robot_far_from_the_origin_weighs_the_same():
    """The check for singular robots and the default stops do not lose digits with the distance from the world's origin."""
    def stops(far):
        b = ModelBuilder("far")
        last = b.world
        for k in range(4):
            link = b.add_body(f"l{k}", 1.0, (0, 0, 0.05), (1e-3, 1e-3, 0))      # a rod: singular by itself
            b.add_joint(RevoluteJoint(f"j{k}", last, link, (0, 1, 0), lower=-1, upper=1, effort=5, p=(0, 0, 0.1 if k else far)))
            last = link
        return compile_robot(b.describe()).spec.stop_stiffness

    assert stops(1e7) == pytest.approx(stops(0.0), rel=1e-5)


def test_ten_thousand_links_without_recursion():
    compiled = compile_robot(chain_builder(10_000).describe())
    assert len(compiled.spec.parent) == 10_001 and compiled.joints[-1].q_start == 9_999


def test_star_and_deep_weld_chain():
    b = ModelBuilder("star")
    for k in range(1000):
        b.add_joint(RevoluteJoint(f"j{k}", b.world, b.add_body(f"b{k}", 1.0, inertia=(1, 1, 1))))
    assert len(compile_robot(b.describe()).spec.q_default) == 1000
    b = ModelBuilder("welds")
    last = b.world
    for k in range(5000):
        body = b.add_body(f"b{k}", 0.001, inertia=(1e-6, 1e-6, 1e-6))
        b.add_joint(WeldJoint(f"w{k}", last, body, p=(0.001, 0, 0)) if k else RevoluteJoint("hinge", last, body))
        last = body
    compiled = compile_robot(b.describe())
    assert len(compiled.spec.parent) == 2 and compiled.spec.inertia[1, 0] == pytest.approx(5.0, rel=1e-12)
    assert compiled.spec.X_BF[5000, 9] == pytest.approx(4.999, rel=1e-12)


def test_the_engine_takes_every_spec():
    from mbros_core.engine.checks import check_spec

    for seed in range(6):
        for mimic in (True, False):
            check_spec(compile_robot(ugly_tree(seed), mimic=mimic).spec)


def test_quaternion_and_rpy_agree():
    """Rz(yaw) Ry(pitch) Rx(roll), written a second way."""
    for roll, pitch, yaw in np.random.default_rng(8).uniform(-4, 4, (50, 3)):
        halves = [np.array([np.cos(a / 2), *(np.sin(a / 2) * np.eye(3)[k])]) for a, k in ((yaw, 2), (pitch, 1), (roll, 0))]

        def multiply(a, c):
            return np.array([a[0] * c[0] - a[1:] @ c[1:], *(a[0] * c[1:] + c[0] * a[1:] + np.cross(a[1:], c[1:]))])

        quat = multiply(multiply(halves[0], halves[1]), halves[2])
        assert np.allclose(rotation_from_quat_wxyz(quat), rotation_from_rpy((roll, pitch, yaw)), atol=1e-15)
    assert (homogeneous() == np.eye(4)).all()
