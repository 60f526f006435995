"""The same answer in another frame, in the other order, at another scale."""
import numpy as np
import pytest
from geometry_rigs import PAIRS, deepest, poses, reach, shape

from mbros_core import geometry
from mbros_core.geometry import contacts_of_many

FIELD = geometry.height_field(np.random.default_rng(0).normal(size=(9, 11)) * 0.05, (3.0, 4.0))
GROUNDS = {"half_space": geometry.half_space(), "height_field": FIELD}
SOME = ("sphere", "capsule", "box", "cylinder", "convex")


def scene(a, b, seed=0, n=300):
    rng = np.random.default_rng(seed)
    sb = shape(b, rng)
    if a in GROUNDS:
        B = poses(rng, n, 0.15)
        B[:, 2, 3] += 0.4
        return GROUNDS[a], np.tile(np.eye(4), (n, 1, 1)), sb, B
    return shape(a, rng), poses(rng, n, 0.3), sb, poses(rng, n, 0.3)


ALL = [*PAIRS, *[(ground, each) for ground in GROUNDS for each in SOME]]


@pytest.mark.parametrize("a, b", ALL)
def test_moving_both_moves_the_answer(a, b):
    sa, A, sb, B = scene(a, b)
    X = poses(np.random.default_rng(1), 1, 3.0)[0]
    here = contacts_of_many(sa, A, sb, B, 0.02)
    there = contacts_of_many(sa, X @ A, sb, X @ B, 0.02)
    d, n, p = deepest(here)
    D, N, P = deepest(there)
    hit = here.counts > 0
    tolerance = 1e-6 if "cylinder" in (a, b) else 1e-11
    assert hit.sum() > 50 and (hit == (there.counts > 0)).mean() > 0.99
    same = hit & (here.counts == there.counts) & (np.einsum("ni,ni->n", n @ X[:3, :3].T, N) > 0.999)
    assert same.sum() > 0.97 * hit.sum()                                  # but where two answers are as good to the last digits
    assert np.abs(d[same] - D[same]).max() < tolerance
    assert np.abs((n @ X[:3, :3].T)[same] - N[same]).max() < 1e-3 * (1 if "cylinder" in (a, b) else 1e-6)
    sums = [np.einsum("nk,nki->ni", found.depths, found.points) for found in (here, there)]
    moved = sums[0] @ X[:3, :3].T + here.depths.sum(axis=1)[:, None] * X[:3, 3]
    assert np.median(np.abs(moved - sums[1])[same]) < tolerance


@pytest.mark.parametrize("a, b", ALL)
def test_the_other_order_turns_the_normals(a, b):
    sa, A, sb, B = scene(a, b)
    one = contacts_of_many(sa, A, sb, B, 0.02)
    other = contacts_of_many(sb, B, sa, A, 0.02)
    if a != b:                  # computed as the same pair: bit for bit
        assert np.array_equal(one.counts, other.counts)
        assert np.array_equal(one.depths, other.depths) and np.array_equal(one.points, other.points)
        assert np.array_equal(one.normals, -other.normals)
        return
    d, n, p = deepest(one)
    D, N, P = deepest(other)
    hit = one.counts > 0
    tolerance = 1e-6 if a == "cylinder" else 1e-11
    assert hit.sum() > 50 and np.abs(d[hit] - D[hit]).max() < tolerance
    assert (np.einsum("ni,ni->n", n, N)[hit] < -1 + 1e-6).mean() > 0.97


@pytest.mark.parametrize("a, b", PAIRS)
@pytest.mark.parametrize("scale", [1e-6, 1e5])
def test_tiny_and_huge_shapes_are_the_same_shapes(a, b, scale):
    sa, A, sb, B = scene(a, b)

    def scaled(s):
        if s.kind == "convex":
            return geometry.convex(np.array(s.points) * scale)
        return geometry.Shape(s.kind, np.array(s.sizes) * scale)

    def moved(X):
        X = X.copy()
        X[:, :3, 3] *= scale
        return X

    d = deepest(contacts_of_many(sa, A, sb, B, 0.02))[0]
    D = deepest(contacts_of_many(scaled(sa), moved(A), scaled(sb), moved(B), 0.02 * scale))[0]
    both = np.isfinite(d) & np.isfinite(D)
    assert (np.isfinite(d) == np.isfinite(D)).mean() > 0.99 and both.sum() > 50
    assert np.abs(d[both] - D[both] / scale).max() < (1e-6 if "cylinder" in (a, b) else 1e-11) * (reach(sa) + reach(sb))


@pytest.mark.parametrize("a, b", PAIRS)
def test_far_from_the_origin_only_the_digits_of_positions_are_lost(a, b):
    sa, A, sb, B = scene(a, b)
    far = np.array([1e6, -2e6, 3e5])
    A2, B2 = A.copy(), B.copy()
    A2[:, :3, 3] += far
    B2[:, :3, 3] += far
    d, D = (deepest(contacts_of_many(sa, X, sb, Y, 0.02))[0] for X, Y in ((A, B), (A2, B2)))
    both = np.isfinite(d) & np.isfinite(D)
    assert both.sum() > 50 and np.abs(d[both] - D[both]).max() < 4e-9 + (1e-6 if "cylinder" in (a, b) else 0)
