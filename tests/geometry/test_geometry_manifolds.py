"""Which points stand for a face on a face, and how the points move when shapes do."""
from itertools import product

import numpy as np
import pytest
from geometry_rigs import PAIRS, about, deepest, pose, poses, reach, shape
from scipy.spatial import ConvexHull

from mbros_core import geometry
from mbros_core.geometry import contacts, contacts_of_many

GROUND = geometry.half_space()


def corners(size):
    return np.array(list(product(*[(-0.5 * x, 0.5 * x) for x in size])))


def prism(n, radius, height):
    return np.array([(radius * np.cos(t), radius * np.sin(t), z) for t in np.arange(n) * 2 * np.pi / n for z in (-height / 2, height / 2)])


def area(points):
    return ConvexHull(points[:, :2]).volume


def same_points(found, expected, tolerance=1e-12):
    assert len(found) == len(expected)
    assert np.linalg.norm(found[:, None] - np.asarray(expected)[None], axis=2).min(axis=1).max() < tolerance


@pytest.mark.parametrize("ground, top", [(GROUND, 0.0), (geometry.box((2, 2, 1)), 0.5), (geometry.convex(corners((2, 2, 1))), 0.5)],
                         ids=["half_space", "box", "convex"])
@pytest.mark.parametrize("solid", [geometry.box((0.4, 0.3, 0.2)), geometry.convex(corners((0.4, 0.3, 0.2)))], ids=["box", "convex"])
@pytest.mark.parametrize("yaw", [0.0, 0.3])
def test_a_box_on_a_plane_has_its_corners(ground, top, solid, yaw):
    R = about((0, 0, 1), yaw)
    found = contacts(ground, (0, 0, 0), solid, pose(R, (0.1, 0.2, top + 0.099)))
    same_points(found.points, [R @ (x, y, 0) + (0.1, 0.2, top - 0.0005) for x in (-0.2, 0.2) for y in (-0.15, 0.15)])
    assert np.abs(found.depths - 0.001).max() < 1e-14 and np.abs(found.normals - (0, 0, 1)).max() < 1e-14


def test_a_box_over_an_edge_has_the_rectangle_that_is_left():
    for kinds in product((geometry.box, lambda size: geometry.convex(corners(size))), repeat=2):
        found = contacts(kinds[0]((1, 1, 1)), (0, 0, 0), kinds[1]((0.4, 0.4, 0.4)), (0.45, 0.4, 0.699))
        same_points(found.points, [(x, y, 0.4995) for x in (0.25, 0.5) for y in (0.2, 0.5)])


@pytest.mark.parametrize("yaw", np.linspace(0.05, 1.5, 12))
def test_of_an_octagon_four_points_keep_most_of_the_area(yaw):
    """Two squares, one turned: of the polygon that they share at least 0.6 stays, and half of a regular 12-gon's circle."""
    R = about((0, 0, 1), yaw)
    found = contacts(geometry.box((1, 1, 1)), (0, 0, 0), geometry.box((1.05, 1.05, 1)), pose(R, (0.01, 0.02, 0.999)))
    halves = np.array([[*n, 0.5] for n in ((1, 0), (-1, 0), (0, 1), (0, -1))]
                      + [[*(R @ (*n, 0))[:2], 0.525 + (R @ (*n, 0))[:2] @ (0.01, 0.02)] for n in ((1, 0), (-1, 0), (0, 1), (0, -1))])
    shared = [np.linalg.solve(halves[[i, k], :2], halves[[i, k], 2]) for i in range(8) for k in range(i)
              if abs(np.linalg.det(halves[[i, k], :2])) > 1e-9]
    shared = np.array([p for p in shared if (halves[:, :2] @ p <= halves[:, 2] + 1e-12).all()])
    assert len(found.depths) == 4 and area(found.points) > 0.6 * ConvexHull(shared).volume


def test_a_cylinder_on_its_end_and_on_its_side():
    for ground, top in ((GROUND, 0.0), (geometry.box((2, 2, 1)), 0.5), (geometry.convex(corners((2, 2, 1))), 0.5)):
        up = contacts(ground, (0, 0, 0), geometry.cylinder(0.1, 0.4), (0.3, 0.1, top + 0.199))
        same_points(up.points, [(0.3 + 0.1 * x, 0.1 + 0.1 * y, top - 0.0005) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))], 1e-9)
        side = contacts(ground, (0, 0, 0), geometry.cylinder(0.1, 0.4), pose(about((0, 1, 0), np.pi / 2), (0.3, 0.1, top + 0.099)))
        same_points(side.points, [(0.3 + x, 0.1, top - 0.0005) for x in (-0.2, 0.2)], 1e-9)
        assert np.abs(side.depths - 0.001).max() < 1e-9


def test_lines_on_lines_have_two_points_and_crossing_ones_have_one():
    capsule, cylinder = geometry.capsule(0.1, 1.0), geometry.cylinder(0.1, 1.0)
    for a, b in product((capsule, cylinder), repeat=2):
        along = contacts(a, (0, 0, 0), b, (0.19, 0, 0.4))
        assert len(along.depths) == 2 and np.abs(along.depths - 0.01).max() < 1e-8
        assert np.abs(np.sort(along.points[:, 2]) - (-0.1, 0.5)).max() < 1e-7
        across = contacts(a, (0, 0, 0), b, pose(about((1, 0, 0), 1.2), (0.19, 0, 0.1)))
        assert len(across.depths) == 1 and across.depths[0] == pytest.approx(0.01, abs=1e-8)
        assert np.abs(across.points[0] - (0.095, 0, 0.1)).max() < 1e-6


def test_a_capsule_lies_on_a_box_with_two_points():
    for solid in (geometry.box((1, 1, 1)), geometry.convex(corners((1, 1, 1)))):
        flat = contacts(geometry.capsule(0.1, 0.4), pose(about((0, 1, 0), np.pi / 2), (0.45, 0, 0.599)), solid, (0, 0, 0))
        assert len(flat.depths) == 2 and np.abs(flat.depths - 0.001).max() < 1e-14
        assert np.abs(np.sort(flat.points[:, 0]) - (0.25, 0.5)).max() < 1e-12


# ------------------------------------------------------------------------------------------------------- in small steps

BIG, HULL = geometry.box((1, 1, 0.2)), geometry.convex(corners((1, 1, 0.2)))
FIELD = geometry.height_field(np.zeros((4, 4)), (4.0, 4.0))
GROUNDS = {"half_space": (GROUND, 0.0), "box": (BIG, 0.1), "convex": (HULL, 0.1)}
TOPS = {"box": (geometry.box((0.3, 0.2, 0.1)), 0.05, 0), "brick": (geometry.convex(corners((0.3, 0.2, 0.1))), 0.05, 0),
        "cylinder": (geometry.cylinder(0.1, 0.2), 0.1, 0), "rod": (geometry.cylinder(0.05, 0.2), 0.05, 1),
        "capsule": (geometry.capsule(0.05, 0.2), 0.05, 1), "ball": (geometry.sphere(0.1), 0.1, 0),
        "prism": (geometry.convex(prism(4, 0.1, 0.2)), 0.1, 0)}
STEPS = 300


def path(kind, height, lying):
    base, s = about((0, 1, 0), np.pi / 2) if lying else np.eye(3), np.linspace(-1, 1, STEPS)
    X = np.empty((STEPS, 4, 4))
    for k in range(STEPS):
        R, p = about((0, 0, 1), 0.1), np.array([0.013, 0.021, height - 1e-3])
        if kind == "slide":
            p = p + (0.05 * s[k], 0.03 * s[k], 0.0)
        elif kind == "turn":
            R = about((0, 0, 1), 0.2 * s[k])
        elif kind == "rock":
            R = about((1, 0.3, 0), 2e-3 * s[k]) @ R
        elif kind == "tip":
            R = about((1, 0.3, 0), 0.05 * s[k]) @ R
        X[k] = pose(R @ base, p)
    return X


def wrench(found):
    """Of a linear penalty law of stiffness 1: force, and torque about the origin over 0.1 m."""
    f = np.einsum("nk,nki->ni", found.depths, found.normals)
    return np.hstack([f, np.einsum("nk,nki->ni", found.depths, np.cross(found.points, found.normals)) / 0.1])


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("kind", ["slide", "turn", "rock", "tip"])
def test_small_steps_change_the_forces_little(ground, top, kind):
    """Points that come or go do so with no depth: the wrench follows the motion, whose steps are 2 / STEPS of the path. On the path a point
    moves at most 0.12 m, or 0.05 rad * 0.25 m in height: four of them change the wrench by no more than that, over the steps, doubled."""
    s, height, lying = TOPS[top]
    g, z = GROUNDS[ground]
    found = contacts_of_many(g, np.eye(4), s, path(kind, z + height, lying))
    moved = {"slide": 0.12 / 0.1 * 4e-3, "turn": 0.4 * 0.25 / 0.1 * 4e-3, "rock": 4e-3 * 0.25 * 4 * 3, "tip": 0.1 * 0.25 * 4 * 3}[kind]
    assert (found.counts > 0).all()
    assert np.abs(np.diff(wrench(found), axis=0)).max() < 2 * moved / STEPS
    if kind in ("slide", "turn"):                           # the same points in the same order
        assert (np.diff(found.counts) == 0).all() and (np.diff(found.features, axis=0) == 0).all()
        assert np.linalg.norm(np.diff(found.points, axis=0), axis=2).max() < 2 * 0.12 / STEPS


@pytest.mark.parametrize("ground", [*GROUNDS, "height_field"])
@pytest.mark.parametrize("top", TOPS)
def test_noise_does_not_choose(ground, top):
    """Poses that differ by 1e-10 have the same points in the same order, to ten times that and what a root loses."""
    s, height, lying = TOPS[top]
    g, z = GROUNDS.get(ground, (FIELD, 0.0))
    rng = np.random.default_rng(1)
    X = np.array([pose(about(rng.normal(size=3), 1e-10) @ about((0, 0, 1), 0.1) @ (about((0, 1, 0), np.pi / 2) if lying else np.eye(3)),
                       np.array([0.013, 0.021, z + height - 1e-3]) + 1e-10 * rng.normal(size=3)) for _ in range(200)])
    found = contacts_of_many(g, np.eye(4), s, X)
    assert (found.counts == found.counts[0]).all() and (found.features == found.features[0]).all()
    assert np.ptp(found.points, axis=0).max() < 1e-8 and np.ptp(found.depths, axis=0).max() < 1e-8
    assert np.ptp(wrench(found), axis=0).max() < 1e-8


@pytest.mark.parametrize("a, b", PAIRS)
def test_a_creeping_shape_keeps_its_points(a, b):
    """Random contacts, 0.5 % of the size deep, over steps of 1e-6 of the size: the wrench of a step is that of the last to 1e-3 of it (a
    step
    is 2e-4 of the depth), but where a corner happens to pass an edge, which happens once and does not come back."""
    rng, n, steps = np.random.default_rng(5), 120, 10
    sa, sb = shape(a, rng), shape(b, rng)
    size = reach(sa) + reach(sb)
    A, B = poses(rng, n, 0.3), poses(rng, n, 0.3)
    depth, normal, _ = deepest(contacts_of_many(sa, A, sb, B, 10 * size))
    B[:, :3, 3] += (depth - 0.005 * size)[:, None] * normal
    moved = np.repeat(B[:, None], steps, axis=1)
    turn, way = (v / np.linalg.norm(v, axis=1)[:, None] for v in rng.normal(size=(2, n, 3)))
    for i, k in product(range(n), range(steps)):
        moved[i, k, :3, :3] = about(turn[i], 1e-6 * k) @ B[i, :3, :3]
        moved[i, k, :3, 3] += 1e-6 * size * k * way[i]
    found = contacts_of_many(sa, np.repeat(A, steps, axis=0), sb, moved.reshape(-1, 4, 4))
    assert (found.counts > 0).all()
    w = wrench(found).reshape(n, steps, 6)
    jumps = np.abs(np.diff(w, axis=1)).max(axis=2) > 1e-3 * np.abs(w[:, 1:]).max(axis=2)
    assert jumps.sum(axis=1).max() <= 1 and jumps.any(axis=1).sum() <= 3
