"""Depth, normal and points of every pair of solids: by certificates, by polyhedra's own facets, beside coal.

The overlap h(n) of two convex shapes along a unit vector n is how far one must move along n to leave the other. The depth is the smallest
h, and the
distance is minus it: so a depth that equals h at its normal, and that no other normal beats, is right. Nothing of the engine is used for h.
"""
from itertools import product

import numpy as np
import pytest
from geometry_rigs import PAIRS, coal_distance, coal_shape, deepest, into, outside, overlap, poses, reach, shape
from optional import needs
from scipy.spatial import ConvexHull

from mbros_core import geometry
from mbros_core.geometry import contacts, contacts_of_many

# Of the sum of sizes. Closed forms and polyhedra: rounding, through a triangle of the Minkowski difference that may be small. With a
# cylinder: docs/geometry.md.
FLAT, ROUND = 1e-11, 1e-6


def close_enough(a, b):
    return ROUND if "cylinder" in (a, b) and "sphere" not in (a, b) else FLAT


def scene(a, b, seed, n, spread=0.3):
    rng = np.random.default_rng(seed)
    return rng, shape(a, rng), poses(rng, n, spread), shape(b, rng), poses(rng, n, spread)


@pytest.mark.parametrize("a, b", PAIRS)
def test_depth_is_the_smallest_overlap_of_all_normals(a, b):
    n, tolerance = 250, close_enough(a, b)
    for seed in range(2):
        rng, sa, A, sb, B = scene(a, b, seed, n, 0.55)
        size = reach(sa) + reach(sb)
        found = contacts_of_many(sa, A, sb, B, margin=10 * size)
        depth, normal, point = deepest(found)
        assert (found.counts > 0).all() and (depth > 0).mean() > 0.08 and (depth < 0).any()
        assert np.abs(np.linalg.norm(normal, axis=1) - 1).max() < 1e-14
        assert np.abs(overlap(sa, A, sb, B, normal) - depth).max() < tolerance * size
        for spread in (10.0, 0.3, 1e-2, 1e-4):
            others = normal[:, None] + spread * rng.normal(size=(n, 120, 3))
            others /= np.linalg.norm(others, axis=2)[..., None]
            assert (overlap(sa, A[:, None], sb, B[:, None], others).min(axis=1) - depth).min() > -tolerance * size


@pytest.mark.parametrize("a, b", PAIRS)
def test_points_are_midway_between_surfaces(a, b):
    """Half the depth to either side of the deepest point are points of the two surfaces: for shapes apart, an upper bound of the
    distance."""
    _, sa, A, sb, B = scene(a, b, 7, 600)
    size = reach(sa) + reach(sb)
    depth, normal, point = deepest(contacts_of_many(sa, A, sb, B, margin=10 * size))
    # along a round edge the place is found to the root of what the depth is found to, at worst
    tolerance = np.where(depth < 0, 1, 1e2) * size * close_enough(a, b)
    on_a = outside(sa, into(A, point + 0.5 * depth[:, None] * normal))
    on_b = outside(sb, into(B, point - 0.5 * depth[:, None] * normal))
    assert (np.abs(on_a) < tolerance).all() and (np.abs(on_b) < tolerance).all()


@pytest.mark.parametrize("a, b", PAIRS)
def test_all_points_of_a_shallow_contact_are_in_both_shapes(a, b):
    """Parted along the normal but for a hundredth of their size. A corner of a face may be outside by half the depth, where the sides
    slope in."""
    _, sa, A, sb, B = scene(a, b, 8, 600, 0.4)
    size = reach(sa) + reach(sb)
    depth, normal, _ = deepest(contacts_of_many(sa, A, sb, B, margin=10 * size))
    B[:, :3, 3] += (depth - 0.01 * size)[:, None] * normal
    found = contacts_of_many(sa, A, sb, B)
    rows, k = np.nonzero(np.arange(4) < found.counts[:, None])
    assert (found.counts > 0).all() and (found.depths[rows, k] >= 0).all()
    for s, X in ((sa, A), (sb, B)):
        assert outside(s, into(X[rows], found.points[rows, k])).max() < 0.005 * size
    assert (np.abs(found.normals[rows, k] - found.normals[rows, 0]) < 1e-15).all()                  # one normal


@pytest.mark.parametrize("a, b", PAIRS)
def test_no_point_beyond_the_margin_and_none_missed(a, b):
    _, sa, A, sb, B = scene(a, b, 9, 1500, 0.5)
    size = reach(sa) + reach(sb)
    distance = -deepest(contacts_of_many(sa, A, sb, B, margin=10 * size))[0]
    for margin in (0.0, 0.05):
        found = contacts_of_many(sa, A, sb, B, margin)
        clear = np.abs(distance - margin) > 10 * close_enough(a, b) * size
        assert ((found.counts > 0) == (distance <= margin))[clear].all() and 0.1 < (found.counts > 0).mean() < 0.95
        assert (np.where(np.arange(4) < found.counts[:, None], found.depths, 0.0) >= -margin).all()


@pytest.mark.parametrize("a, b", [("box", "box"), ("box", "convex"), ("convex", "convex")])
def test_polyhedra_by_the_facets_of_their_difference(a, b):
    _, sa, A, sb, B = scene(a, b, 10, 60, 0.2)

    def corners(s):
        return s.points if s.kind == "convex" else np.array(list(product(*[(-0.5 * x, 0.5 * x) for x in s.sizes])))

    depth, normal, _ = deepest(contacts_of_many(sa, A, sb, B))
    seen = 0
    for k in np.flatnonzero(depth > 0):
        pa, pb = (corners(s) @ X[k, :3, :3].T + X[k, :3, 3] for s, X in ((sa, A), (sb, B)))
        planes = ConvexHull((pa[:, None] - pb[None]).reshape(-1, 3)).equations
        assert depth[k] == pytest.approx((-planes[:, 3]).min(), abs=1e-12 * (reach(sa) + reach(sb)))
        seen += 1
    assert seen > 20


@needs("coal", 'pip install "mbros[collision]"')
@pytest.mark.parametrize("a, b", PAIRS)
def test_coal_says_the_same(a, b):
    """coal 3.0.3 is good to 1e-6 of the sizes with cylinders, and overstates the depth of a sphere inside one."""
    n = 150
    for seed in (21, 22):
        _, sa, A, sb, B = scene(a, b, seed, n, 0.35)
        size = reach(sa) + reach(sb)
        ca, cb = coal_shape(sa), coal_shape(sb)
        theirs = [coal_distance(ca, A[k], cb, B[k]) for k in range(n)]
        distance, direction = np.array([d for d, _ in theirs]), np.array([d for _, d in theirs])
        depth, normal, _ = deepest(contacts_of_many(sa, A, sb, B, margin=10 * size))
        good = np.ones(n, bool)
        if (a, b) == ("sphere", "cylinder"):
            good = depth < sa.sizes[0]
            assert (-distance - depth).min() > -1e-12 * size
        tolerance = 5e-6 if close_enough(a, b) == ROUND else 1e-10
        assert np.abs(distance + depth)[good].max() < tolerance * size
        along = np.einsum("ni,ni->n", normal, direction)
        assert (along[good] > 1 - 2e-5).mean() > 0.99                # but where two ways out are as short


@pytest.mark.parametrize("kind_a", ["box", "cylinder", "capsule"])
@pytest.mark.parametrize("kind_b", ["box", "cylinder", "capsule"])
def test_axes_that_part_two_shapes_say_no_more_than_their_distance(kind_a, kind_b):
    """Within a margin there are points just where the distance, asked with a margin that nothing exceeds, says so."""
    make = {"box": geometry.box((0.3, 0.5, 0.9)), "cylinder": geometry.cylinder(0.2, 1.1), "capsule": geometry.capsule(0.15, 0.8)}
    rng = np.random.default_rng(11)
    for _ in range(150):
        X = np.eye(4)
        q, r = np.linalg.qr(rng.normal(size=(3, 3)))
        X[:3, :3], X[:3, 3] = q * np.sign(np.linalg.det(q)), rng.uniform(-1, 1, 3)
        depth = contacts(make[kind_a], np.eye(4), make[kind_b], X, 10.0).depths.max()
        for margin in (0.0, 0.05, 0.4):
            assert (len(contacts(make[kind_a], np.eye(4), make[kind_b], X, margin).depths) > 0) == (depth >= -margin)
