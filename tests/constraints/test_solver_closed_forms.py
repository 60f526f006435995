"""One particle on a plane, a rope, a servo: what comes out on paper."""
import numpy as np
import pytest

from mbros_core.constraints._solver import ConvexProblem

MASS, STIFF, STICTION, BOUND = 2.0, 1e4, 1e5, 0.5


def on_plane(v_star, bound=BOUND):
    """A particle whose contact has the normal z; rows: normal, two tangents."""
    J = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], float)
    terms = [("one_sided", 0, 1, STIFF, 0.0), ("friction", 1, 2, STICTION, bound)]
    return ConvexProblem(MASS * np.eye(3), v_star, [(J, np.zeros(3), terms)]).solve(tolerance=1e-14)


def test_it_separates():
    x = on_plane((0.0, 0.0, 0.1), bound=0.0)
    assert x.iterations == 0 and x.converged and (x.v == (0.0, 0.0, 0.1)).all() and not x.impulses.any()


def test_it_sticks():
    """Tangentially m v = m v* - weight v."""
    x = on_plane((0.1, -0.2, -1.0))
    np.testing.assert_allclose(x.v, [0.1 * MASS / (MASS + STICTION), -0.2 * MASS / (MASS + STICTION), -MASS / (MASS + STIFF)], rtol=1e-12)
    np.testing.assert_allclose(x.impulses, -np.array([STIFF, STICTION, STICTION]) * x.v[[2, 0, 1]], rtol=1e-12)


def test_it_slides():
    """The whole bound against the velocity, which keeps its direction."""
    x = on_plane((3.0, -4.0, -1.0))
    np.testing.assert_allclose(x.v[:2], np.array([3.0, -4.0]) * (1.0 - BOUND / MASS / 5.0), rtol=1e-12)
    np.testing.assert_allclose(x.impulses[1:], [-0.6 * BOUND, 0.8 * BOUND], rtol=1e-12)


@pytest.mark.parametrize("speed, holds", [(0.2, True), (0.3, False)])
def test_friction_holds_up_to_its_bound(speed, holds):
    x = on_plane((speed, 0.0, -1.0))
    assert (abs(x.v[0]) < 1e-4) == holds
    assert np.linalg.norm(x.impulses[1:]) <= BOUND * (1.0 + 1e-12)


def test_two_masses_on_a_rope_share_their_momentum():
    """Stiff against both: they go on with the velocity of their centre of mass."""
    M, J = np.diag([1.0, 3.0]), np.array([[1.0, -1.0]])
    x = ConvexProblem(M, (0.0, 2.0), [(J, [0.0], [("one_sided", 0, 1, 1e12, 0.0)])]).solve(tolerance=1e-14)
    np.testing.assert_allclose(x.v, [1.5, 1.5], rtol=1e-11)
    np.testing.assert_allclose(x.impulses, [1.5], rtol=1e-11)
    slack = ConvexProblem(M, (2.0, 0.0), [(J, [0.0], [("one_sided", 0, 1, 1e12, 0.0)])]).solve()
    assert (slack.v == (2.0, 0.0)).all()


def test_two_terms_of_one_row():
    """A servo with friction: m (v - v*) = -w v - bound."""
    J, terms = np.array([[1.0]]), [("equality", 0, 1, 3.0, 0.0), ("friction", 0, 1, 1e6, 0.5)]
    x = ConvexProblem([[1.0]], [2.0], [(J, [0.0], terms)]).solve(tolerance=1e-14)
    np.testing.assert_allclose(x.v, [1.5 / 4.0], rtol=1e-12)
    np.testing.assert_allclose(x.impulses, [-3.0 * 1.5 / 4.0 - 0.5], rtol=1e-12)


def test_rows_said_twice_share_the_load():
    J = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    x = ConvexProblem(np.eye(2), (1.0, 1.0), [(J, np.zeros(3), [("equality", 0, 3, 1e9, 0.0)])]).solve()
    np.testing.assert_allclose(x.impulses, [-1.0 / 3.0] * 3, rtol=1e-8)
    assert x.v[1] == 1.0 and abs(x.v[0]) < 1e-9
