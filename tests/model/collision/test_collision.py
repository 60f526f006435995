"""mbros.CollisionPairs against closed forms, and on robots that move."""
import numpy as np
import pytest
from collision_rigs import CUBE, arm, free_pair, put
from optional import needs

import mbros
from mbros import shapes
from mbros.describe.robot import Shape
from mbros.spatial.placement import rotation_from_rpy

pytestmark = [pytest.mark.seed("HJ-46"), needs("coal", "pip install 'mbros[collision]'")]


def measured(pairs, model, p, quat_wxyz=(1, 0, 0, 0)):
    """The record with body a at the origin and b there."""
    state = model.default_state()
    put(model, state, "a")
    put(model, state, "b", p, quat_wxyz)
    (found,) = pairs.distances(state)
    assert (found.body_a, found.body_b) == ("a", "b")
    assert bool(pairs.in_collision(state)) == (found.distance < 0)
    assert np.linalg.norm(found.point_b - found.point_a) == pytest.approx(abs(found.distance), abs=1e-9)
    return found


def random_unit(rng):
    n = rng.normal(size=3)
    return n / np.linalg.norm(n)


def random_quat(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


# ------------------------------------------------------------------------------------------------------ closed forms

def test_sphere_and_sphere(rng):
    model, pairs = free_pair(shapes.sphere(0.3), shapes.sphere(0.2))
    for gap in (1.0, 0.1, 1e-3, -1e-3, -0.1, -0.3):
        n = random_unit(rng)
        found = measured(pairs, model, (0.5 + gap) * n, random_quat(rng))
        assert found.distance == pytest.approx(gap, abs=1e-12)
        np.testing.assert_allclose(found.point_a, 0.3 * n, atol=1e-12)
        np.testing.assert_allclose(found.point_b, (0.3 + gap) * n, atol=1e-12)


@pytest.mark.parametrize("p, distance", [((1.2, 0, 0), 0.5), ((1.5, 1.5, 0), np.sqrt(2) - 0.2), ((1.5, 1.5, 1.5), np.sqrt(3) - 0.2),
                                         ((0.6, 0.1, 0), -0.1), ((0.3, 0, 0.1), -0.4)])
@pytest.mark.parametrize("cube", [shapes.box((1, 1, 1)), shapes.convex(CUBE)], ids=["box", "convex"])
def test_sphere_and_box(cube, p, distance):
    model, pairs = free_pair(cube, shapes.sphere(0.2))
    assert measured(pairs, model, p).distance == pytest.approx(distance, abs=1e-9)


def segment_distance(p, u, q, v):
    """Of the segments p + s u and q + t v, s and t in [-1, 1]: the least of the interior and of the four ends."""
    def to_segment(x, c, w):
        return np.linalg.norm(x - c - np.clip((x - c) @ w / (w @ w), -1, 1) * w)

    s, t = np.linalg.lstsq(np.array([u, -v]).T, q - p, rcond=None)[0]
    inner = [np.linalg.norm(p + s * u - q - t * v)] if abs(s) <= 1 and abs(t) <= 1 else []
    return min([*inner, *(to_segment(p + e * u, q, v) for e in (1, -1)), *(to_segment(q + e * v, p, u) for e in (1, -1))])


def test_capsule_and_capsule(rng):
    model, pairs = free_pair(shapes.capsule(0.2, 1.0), shapes.capsule(0.1, 0.6))
    signs = set()
    for _ in range(60):
        p, quat = random_unit(rng) * rng.uniform(0.1, 1.2), random_quat(rng)
        found = measured(pairs, model, p, quat)
        state = model.default_state()
        put(model, state, "b", p, quat)
        axis = model.pose(state, "b").R[:, 2]
        exact = segment_distance(np.zeros(3), np.array([0, 0, 0.5]), p, 0.3 * axis) - 0.3
        assert found.distance == pytest.approx(exact, abs=1e-9)
        signs.add(found.distance > 0)
    assert signs == {True, False}


@pytest.mark.parametrize("p, distance", [((1.5, 0.2, 0), 0.5), ((2, 2, 0), np.sqrt(2)), ((0.9, 0.1, 0.2), -0.1), ((0.1, -0.3, 0.8), -0.2)])
@pytest.mark.parametrize("cube", [shapes.box((1, 1, 1)), shapes.convex(CUBE)], ids=["box", "convex"])
def test_box_and_box(cube, p, distance):
    model, pairs = free_pair(shapes.box((1, 1, 1)), cube)
    assert measured(pairs, model, p).distance == pytest.approx(distance, abs=1e-9)


def test_box_on_edge_over_a_box():
    """Turned by 45 degrees about y, its lowest edge is sqrt(1/2) below its centre."""
    model, pairs = free_pair(shapes.box((1, 1, 1)), shapes.box((1, 1, 1)))
    quat = (np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0)
    assert measured(pairs, model, (0, 0, 2), quat).distance == pytest.approx(1.5 - np.sqrt(0.5), abs=1e-9)
    assert measured(pairs, model, (0, 0, 1), quat).distance == pytest.approx(0.5 - np.sqrt(0.5), abs=1e-9)


def cylinder_distance(c, radius, length):
    """Signed distance of a point from a cylinder along z."""
    q = np.array([np.hypot(c[0], c[1]) - radius, abs(c[2]) - length / 2])
    return np.linalg.norm(np.maximum(q, 0)) + min(q.max(), 0)


def test_cylinder_and_sphere_wherever_the_centre_is(rng):
    """coal's own answer is wrong for centres inside the cylinder."""
    model, pairs = free_pair(shapes.cylinder(0.4, 1.0), shapes.sphere(0.25))
    centres = [(0, 0, 0), (0, 0, 0.3), (0, 0, -0.45), (0.39, 0, 0), (0.3, 0.1, 0.45)]
    for p in [*centres, *rng.uniform(-1, 1, size=(60, 3))]:
        found = measured(pairs, model, p)
        assert found.distance == pytest.approx(cylinder_distance(p, 0.4, 1.0) - 0.25, abs=1e-12)
        assert cylinder_distance(found.point_a, 0.4, 1.0) == pytest.approx(0, abs=1e-12)
        assert np.linalg.norm(found.point_b - p) == pytest.approx(0.25, abs=1e-12)


def test_sphere_and_cylinder_in_the_other_order():
    model, pairs = free_pair(shapes.sphere(0.25), shapes.cylinder(0.4, 1.0))
    found = measured(pairs, model, (0, 0, 0.2))
    assert found.distance == pytest.approx(-0.3 - 0.25, abs=1e-12) and found.point_a[2] == pytest.approx(0.25)
    assert found.point_b[2] == pytest.approx(-0.3)


VERTICES = np.random.default_rng(3).normal(size=(40, 3)) * 0.3
SUPPORT = {         # kind: shape, h(n) of directions n in its own axes
    "box": (shapes.box((1, 0.6, 0.8)), lambda n: abs(n) @ [0.5, 0.3, 0.4]),
    "sphere": (shapes.sphere(0.4), lambda n: 0.4 * np.linalg.norm(n, axis=-1)),
    "cylinder": (shapes.cylinder(0.3, 0.8), lambda n: 0.3 * np.hypot(n[..., 0], n[..., 1]) + 0.4 * abs(n[..., 2])),
    "capsule": (shapes.capsule(0.2, 0.8), lambda n: 0.2 * np.linalg.norm(n, axis=-1) + 0.4 * abs(n[..., 2])),
    "convex": (shapes.convex(VERTICES), lambda n: (n @ VERTICES.T).max(-1)),
}


@pytest.mark.parametrize("kind_a", SUPPORT)
@pytest.mark.parametrize("kind_b", SUPPORT)
def test_the_distance_is_certified_by_supporting_planes(kind_a, kind_b, rng):
    """The slab between the nearest points is as wide as the distance; no direction parts penetrating shapes sooner."""
    (shape_a, h_a), (shape_b, h_b) = SUPPORT[kind_a], SUPPORT[kind_b]
    model, pairs = free_pair(shape_a, shape_b)
    directions = rng.normal(size=(1000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for _ in range(20):
        state = model.default_state()
        put(model, state, "a", rng.normal(size=3), random_quat(rng))
        X_A = model.pose(state, "a")
        put(model, state, "b", X_A.p + random_unit(rng) * rng.uniform(0.05, 1.5), random_quat(rng))
        X_B = model.pose(state, "b")

        def overlap(n):
            return h_a(n @ X_A.R) + h_b(-n @ X_B.R) - n @ (X_B.p - X_A.p)

        (found,) = pairs.distances(state)
        n = (found.point_b - found.point_a) / found.distance
        assert overlap(n) == pytest.approx(-found.distance, abs=1e-4)
        assert -found.distance <= overlap(directions).min() + 1e-5


# ------------------------------------------------------------------------------------------------------------ robots

@pytest.mark.parametrize("merge_welds", [True, False])
def test_distances_follow_the_configuration(merge_welds, rng):
    model = arm().build(merge_welds=merge_welds)
    pairs = mbros.CollisionPairs(model)
    assert pairs.add_obstacle("post", shapes.sphere(0.2), (0.5, 1.2, 0), bodies=["tool"]) == [("tool", "post")]
    state = model.default_state()
    for _ in range(20):
        q1, q2 = state.q[:] = rng.uniform(-np.pi, np.pi, 2)
        tip = np.array([np.cos(q1) + np.cos(q1 + q2), np.sin(q1) + np.sin(q1 + q2), 0])
        (found,) = pairs.distances(state)
        assert found.distance == pytest.approx(np.linalg.norm(tip - [0.5, 1.2, 0]) - 0.3, abs=1e-12)


def test_adjacent_bodies_are_left_out():
    """link1-link2 by a hinge, link2-tool by a weld, and link1-tool since the tool goes with link2."""
    pairs = mbros.CollisionPairs(arm().build())
    assert pairs.add_all() == []
    assert pairs.add_all(skip_adjacent=False) == [("link1", "link2"), ("link1", "tool"), ("link2", "tool")]
    three = arm()
    wrist = three.add_body("wrist", 0.1, inertia=(0.01, 0.01, 0.01))
    wrist.collisions.append(Shape(shapes.sphere(0.1)))
    three.add_joint(mbros.RevoluteJoint("hinge3", three.body("tool"), wrist, axis=(0, 1, 0)))
    assert mbros.CollisionPairs(three.build()).add_all() == [("link1", "wrist")]


def test_bodies_that_go_where_they_want_are_not_adjacent():
    model, pairs = free_pair(shapes.sphere(0.1), shapes.sphere(0.1))
    pairs.add_shape("world", shapes.box((9, 9, 1)), (0, 0, -1))
    assert pairs.add_all() == [("world", "a"), ("world", "b"), ("a", "b")]
    state = model.default_state()
    put(model, state, "b", (3, 0, -0.45))
    assert pairs.in_collision(state) == [("world", "b")]


def test_obstacles_meet_all_that_moves():
    builder = arm()
    plinth = builder.add_body("plinth", 1.0, inertia=(1, 1, 1))
    plinth.collisions.append(Shape(shapes.box((0.2, 0.2, 0.2))))
    builder.add_joint(mbros.WeldJoint("floor", builder.world, plinth))
    model = builder.build()
    pairs = mbros.CollisionPairs(model)
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = rotation_from_rpy((0, 0, np.pi / 4)), (1.5, 0.8, 0)
    assert set(pairs.add_obstacle("wall", shapes.box((0.2, 0.2, 1)), turned)) == {(b, "wall") for b in ("link1", "link2", "tool")}
    state = model.default_state()
    by_name = {found.body_a: found.distance for found in pairs.distances(state)}
    assert by_name["link2"] == pytest.approx(0.8 - 0.1 * np.sqrt(2) - 0.05, abs=1e-9)
    assert pairs.in_collision(state) == []
    state.q[:] = 0, np.arctan2(0.8, 0.5)
    assert ("link2", "wall") in pairs.in_collision(state) and len(pairs.in_collision(state, first=True)) == 1
    before = len(pairs)
    assert not any("plinth" in pair and "wall" in pair for pair in pairs.add_all())
    pairs.remove_obstacle("wall")
    assert pairs.obstacles == () and len(pairs) < before + 3 and not any("wall" in pair for pair in pairs)


def test_a_body_of_several_shapes_is_as_near_as_the_nearest():
    model, pairs = free_pair(shapes.sphere(0.1), shapes.sphere(0.1))
    state = model.default_state()
    put(model, state, "b", (2, 0, 0))
    pairs.add_shape("a", shapes.sphere(0.2), (1, 0, 0))
    (found,) = pairs.distances(state)
    assert found.distance == pytest.approx(0.7, abs=1e-12)
    np.testing.assert_allclose(found.point_a, (1.2, 0, 0), atol=1e-12)


def test_pairs_have_no_order_and_are_counted_once():
    model = arm().build()
    pairs = mbros.CollisionPairs(model)
    assert pairs.add("tool", "link1") == pairs.add(model.body("link1"), model.joint("flange")) == ("link1", "tool")
    assert pairs.pairs == (("link1", "tool"),)
    pairs.remove("tool", "link1")
    assert list(pairs) == [] and pairs.distances(model.default_state()) == []
    pairs.add_all(skip_adjacent=False)
    pairs.remove("tool")
    assert pairs.pairs == (("link1", "link2"),)


def test_shapes_of_a_urdf():
    link = '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>' \
           '<collision><origin xyz="0 0 {2}"/><geometry>{1}</geometry></collision></link>'
    model = mbros.load("<robot name='slider'>" + link.format("rail", '<box size="1 1 0.2"/>', 0)
                       + link.format("cart", '<cylinder radius="0.1" length="0.4"/>', 0.5)
                       + '<joint name="rise" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="0 0 1"/>'
                         '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>')
    pairs = mbros.CollisionPairs(model)
    pairs.add("rail", "cart")
    state = model.default_state()
    for rise in (0.5, 0.0, -0.3):
        state.q[:] = rise
        assert pairs.distances(state)[0].distance == pytest.approx(0.2 + rise, abs=1e-6)
