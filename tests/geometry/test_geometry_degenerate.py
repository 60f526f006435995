"""Poses and shapes without a single answer, or with one that is hard to find: never NaN, always a normal of length 1 and a depth that
parts."""
from itertools import product

import numpy as np
import pytest
from geometry_rigs import PAIRS, SOLIDS, about, deepest, overlap, pose, reach, shape
from hypothesis import given, settings, strategies as st

from mbros_core import geometry
from mbros_core.geometry import contacts, contacts_of_many

CUBE = np.array(list(product((-0.5, 0.5), repeat=3)))
CUBES = {"box": geometry.box((1, 1, 1)), "convex": geometry.convex(CUBE)}
UNIT = {**CUBES, "sphere": geometry.sphere(0.5), "capsule": geometry.capsule(0.5, 1.0), "cylinder": geometry.cylinder(0.5, 1.0)}


def sound(a, A, b, B, found, tolerance=1e-6):
    """Finite; unit normals; moving b along the normal by the depth parts the shapes."""
    assert all(np.isfinite(each).all() for each in found)
    assert np.abs(np.linalg.norm(found.normals, axis=1) - 1).max(initial=0.0) < 1e-12
    for depth, normal in zip(found.depths, found.normals):
        assert depth <= overlap(a, A, b, B, normal) + tolerance * (reach(a) + reach(b))
    if len(found.depths):
        k = found.depths.argmax()
        assert found.depths[k] == pytest.approx(overlap(a, A, b, B, found.normals[k]), abs=tolerance * (reach(a) + reach(b)))


@pytest.mark.parametrize("a, b", PAIRS)
@pytest.mark.parametrize("turn", [np.eye(3), about((0, 0, 1), np.pi / 4), about((1, 0, 0), np.pi / 2), about((1, 1, 1), 2 * np.pi / 3),
                                  about((1, 0, 0), np.pi)],
                         ids=["same", "eighth", "quarter", "permuted", "upside_down"])
def test_one_place(a, b, turn):
    """Concentric: the shortest way out, one of several."""
    sa, sb, X = UNIT[a], UNIT[b], pose(turn)
    found = contacts(sa, np.eye(4), sb, X)
    sound(sa, np.eye(4), sb, X, found)
    directions = np.random.default_rng(0).normal(size=(3000, 3))
    directions = np.concatenate([directions / np.linalg.norm(directions, axis=1)[:, None], np.eye(3), -np.eye(3), turn.T, -turn.T])
    least = overlap(sa, np.eye(4), sb, X, directions).min()
    assert found.depths.max() <= least + 1e-6 and found.depths.max() > 0.9 * least


@pytest.mark.parametrize("a, b", list(product(CUBES, repeat=2)))
@pytest.mark.parametrize("way", [(1, 0, 0), (0, 0, -1), (1, 1, 0), (0, 1, -1), (1, 1, 1), (-1, 1, 1)])
@pytest.mark.parametrize("gap", [0.0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-4, -1e-4])
def test_cubes_face_to_face_edge_to_edge_corner_to_corner(a, b, way, gap):
    X = pose(p=(1 + gap) * np.array(way, float))
    found = contacts(CUBES[a], np.eye(4), CUBES[b], X, margin=1e-3)
    sound(CUBES[a], np.eye(4), CUBES[b], X, found, 1e-9)
    axes = np.abs(way).sum()
    assert 1 <= len(found.depths) <= {1: 4, 2: 4, 3: 4}[axes]
    expected = -gap if gap < 0 or axes == 1 else -gap * np.sqrt(axes)
    assert found.depths.max() == pytest.approx(expected, abs=1e-9)
    if axes == 1:
        assert len(found.depths) == 4 and np.abs(found.normals - way).max() < 1e-9


@pytest.mark.parametrize("a, b", [(a, b) for a, b in PAIRS])
def test_touching_with_depth_zero(a, b):
    """Along the axes, half a unit each: within a margin of nothing but rounding there is a contact, and it has no depth."""
    length = {"capsule": 1.0}.get(a, 0.5) + {"capsule": 1.0}.get(b, 0.5)
    found = contacts(UNIT[a], np.eye(4), UNIT[b], pose(p=(0, 0, length)), margin=1e-12)
    assert len(found.depths) and np.abs(found.depths.max()) < 1e-9
    assert found.normals[0] @ (0, 0, 1) == pytest.approx(1.0, abs=1e-9)


def test_a_centre_inside_a_box_leaves_through_the_nearest_face():
    for kind in CUBES:
        for p, n, depth in (((0.1, 0.0, 0.3), (0, 0, 1), 0.2), ((-0.4, 0.2, 0.1), (-1, 0, 0), 0.1), ((0.0, 0.5, 0.0), (0, 1, 0), 0.0)):
            found = contacts(CUBES[kind], np.eye(4), geometry.sphere(0.05), p)
            assert found.depths[0] == pytest.approx(depth + 0.05, abs=1e-9) and np.abs(found.normals[0] - n).max() < 1e-9
            assert np.abs(found.points[0] - (p + (0.5 * (depth - 0.05)) * np.array(n))).max() < 1e-9


@pytest.mark.parametrize("a, b", PAIRS)
def test_needles_plates_and_far_away(a, b):
    """Ratios of 1 to 1e4, in 200 random poses each way; and nothing 1e6 sizes away."""
    rng = np.random.default_rng(11)
    thin = {"sphere": geometry.sphere(1.0), "capsule": geometry.capsule(1e-4, 1.0), "box": geometry.box((1.0, 1e-4, 1.0)),
            "cylinder": geometry.cylinder(1.0, 1e-4), "convex": geometry.convex(CUBE * (1e-4, 1.0, 1e-4))}
    n = 200
    from geometry_rigs import poses

    for sa, sb in ((thin[a], thin[b]), (thin[a], shape(b, rng)), (shape(a, rng), thin[b])):
        A, B = poses(rng, n, 0.1), poses(rng, n, 0.1)
        found = contacts_of_many(sa, A, sb, B, 0.01)
        assert all(np.isfinite(each).all() for each in found) and (found.counts > 0).sum() > 5
        depth, normal, _ = deepest(found)
        hit = found.counts > 0
        size = reach(sa) + reach(sb)
        assert np.abs(overlap(sa, A, sb, B, normal) - depth)[hit].max() < (1e-6 if "cylinder" in (a, b) else 1e-9) * size
        others = normal[:, None] + rng.choice([3.0, 1e-1, 1e-3], (n, 300, 1)) * rng.normal(size=(n, 300, 3))
        others /= np.linalg.norm(others, axis=2)[..., None]
        tolerance = (1e-6 if "cylinder" in (a, b) else 1e-9) * size
        assert (overlap(sa, A[:, None], sb, B[:, None], others).min(axis=1) - depth)[hit].min() > -tolerance
        B[:, 0, 3] += 1e6
        assert not contacts_of_many(sa, A, sb, B, 0.01).counts.any()


def sizes():
    return st.floats(-3, 3).map(lambda x: 10.0**x)


@st.composite
def some_shape(draw):
    kind = draw(st.sampled_from(SOLIDS + ("height_field", "half_space")))
    if kind == "half_space":
        return geometry.half_space()
    if kind == "box":
        return geometry.box([draw(sizes()) for _ in range(3)])
    if kind == "sphere":
        return geometry.sphere(draw(sizes()))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if kind == "convex":
        points = np.round(rng.uniform(-1, 1, (draw(st.integers(6, 40)), 3)) * draw(st.sampled_from([3, 30, 1e6]))) * draw(sizes())
        return geometry.convex(np.concatenate([points, CUBE * np.ptp(points) * 1e-3]))
    if kind == "height_field":
        return geometry.height_field(rng.normal(size=(draw(st.integers(2, 9)), draw(st.integers(2, 9)))) * draw(sizes()),
                                     (draw(sizes()), draw(sizes())))
    return getattr(geometry, kind)(draw(sizes()), draw(sizes()))


@st.composite
def some_pose(draw):
    """Random, or along axes, where faces lie on faces."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        R = np.eye(3)[rng.permutation(3)]
        R *= np.linalg.det(R)
    else:
        R = about(rng.normal(size=3), rng.uniform(0, 3))
    p = [draw(st.sampled_from([0.0, 0.5, 1.0, -1.0])) for _ in range(3)] if draw(st.booleans()) else rng.normal(size=3) * draw(sizes())
    return pose(R, p)


@given(some_shape(), some_pose(), some_shape(), some_pose(), st.sampled_from([0.0, 1e-3, 1.0]))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_random_scenes_are_finite(a, A, b, B, margin):
    if not {a.kind, b.kind} & set(SOLIDS):
        return
    found = contacts(a, A, b, B, margin)
    assert all(np.isfinite(each).all() for each in found) and len(found.depths) <= 4 and (found.depths >= -margin).all()
    assert np.abs(np.linalg.norm(found.normals, axis=1) - 1).max(initial=0.0) < 1e-9
    assert (np.diff(found.features) >= 0).all()
    again, other = contacts(a, A, b, B, margin), contacts(b, B, a, A, margin)
    assert all(np.array_equal(x, y) for x, y in zip(found, again))
    if a.kind != b.kind:
        assert np.array_equal(other.normals, -found.normals) and np.array_equal(other.depths, found.depths)
    if {a.kind, b.kind} <= set(SOLIDS):
        sound(a, A, b, B, found)
