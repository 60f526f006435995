"""Which of many shapes can touch."""
import numpy as np
import pytest
from geometry_rigs import SOLIDS, poses, shape, support

from mbros_core import geometry
from mbros_core.errors import MbrosError
from mbros_core.geometry import broad_phase


def heap(seed, n, spread):
    rng = np.random.default_rng(seed)
    return [shape(SOLIDS[k % 5], rng) for k in range(n)], poses(rng, n, spread)


def all_pairs(shapes, X, margin):
    """By boxes along the axes from the shapes' support functions, each with each."""
    low, high = np.empty((2, len(shapes), 3))
    for k, s in enumerate(shapes):
        for i in range(3):
            d = X[k, i, :3]
            high[k, i], low[k, i] = X[k, i, 3] + support(s, d) + margin, X[k, i, 3] - support(s, -d) - margin
    over = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2)
    return np.argwhere(np.triu(over, 1))


@pytest.mark.parametrize("n, spread", [(0, 1.0), (1, 1.0), (2, 0.1), (40, 1.0), (40, 0.0), (200, 4.0), (200, np.array([9.0, 0.1, 0.1])),
                                       (200, np.array([0.1, 0.1, 9.0]))])
@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_the_pairs_are_those_whose_boxes_overlap(n, spread, margin):
    shapes, X = heap(n, n, spread)
    found = broad_phase(shapes, X, margin)
    assert np.array_equal(found.pairs, all_pairs(shapes, X, margin)) and found.lost == 0


def test_what_touches_is_among_the_pairs():
    shapes, X = heap(1, 60, 1.0)
    pairs = {tuple(pair) for pair in broad_phase(shapes, X, 0.01).pairs.tolist()}
    touching = {(i, k) for k in range(60) for i in range(k) if len(geometry.contacts(shapes[i], X[i], shapes[k], X[k], 0.01).depths)}
    assert touching <= pairs and len(touching) > 20


def test_a_half_space_and_a_height_field_meet_what_is_below_them():
    ball = geometry.sphere(0.1)
    X = np.tile(np.eye(4), (4, 1, 1))
    X[1, 2, 3], X[2, 2, 3] = 0.05, 0.2
    X[3, :3, 3] = 0.5, 0.0, 0.1
    for ground in (geometry.half_space(), geometry.height_field(np.zeros((3, 3)), (1.5, 1.5))):
        assert broad_phase([ground, ball, ball, ball], X, groups=[0, 1, 1, 1]).pairs.tolist() == [[0, 1], [0, 3]]
    tilted = X.copy()
    tilted[0, :3, :3] = [[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]]
    assert broad_phase([geometry.half_space(), ball, ball, ball], tilted, groups=[0, 1, 1, 1]).pairs[:, 0].tolist() == [0, 0, 0]


def test_groups_are_no_pairs_and_lost_pairs_are_counted():
    shapes, X = heap(2, 50, 0.3)
    everything = broad_phase(shapes, X)
    group = np.arange(50) // 5
    kept = [pair for pair in everything.pairs.tolist() if group[pair[0]] != group[pair[1]]]
    assert broad_phase(shapes, X, groups=group).pairs.tolist() == kept
    few = broad_phase(shapes, X, most=7)
    assert len(few.pairs) == 7 and few.lost == len(everything.pairs) - 7
    assert {tuple(pair) for pair in few.pairs.tolist()} <= {tuple(pair) for pair in everything.pairs.tolist()}
    assert broad_phase(shapes, X, most=0).lost == len(everything.pairs)


def test_the_order_of_the_last_call_changes_nothing_but_time():
    shapes, X = heap(3, 120, 2.0)
    rng = np.random.default_rng(0)
    order = rng.permutation(120).astype(np.intc)             # the first sort is from chaos: heapsort
    velocity = rng.normal(size=(120, 3))
    for step in range(30):
        X[:, :3, 3] += 0.02 * velocity
        found = broad_phase(shapes, X, order=order)
        assert np.array_equal(found.pairs, all_pairs(shapes, X, 0.0)), step
    assert sorted(order) == list(range(120))


@pytest.mark.parametrize("change, words", [
    (dict(shapes=["ball"]), r"shapes\[0\]"), (dict(X_WS=np.tile(np.eye(4), (3, 1, 1))), "expected 2 poses"), (dict(margin=-1), "margin"),
    (dict(most=-1), "most"), (dict(most=1.5), "most"), (dict(groups=[1]), "groups"), (dict(groups=[0.5, 1.0]), "groups"),
    (dict(order=np.arange(2)), "order"), (dict(order=np.zeros(2, np.intc)), "permutation"), (dict(order=[0, 1]), "order")])
def test_what_is_no_scene_is_refused(change, words):
    given = dict(shapes=[geometry.sphere(1.0)] * 2, X_WS=np.tile(np.eye(4), (2, 1, 1))) | change
    with pytest.raises(MbrosError, match=words):
        broad_phase(**given)
