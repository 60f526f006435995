"""SO3.exp, SO3.log, SE3.exp, SE3.log against the power series in 60 digits, each other, and Pinocchio."""
from decimal import Decimal, getcontext

import numpy as np
import pytest
from optional import needs

import mbros
from mbros.spaces import SE3, SO3

getcontext().prec = 60
ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.99, 1.0, 1.01, 2.0, 3.0, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9,
          np.pi - 1e-12]
TIGHT = 1e-14


def matrix_of(xi):
    """The twist [w; v] as a 4 x 4 matrix of decimals, every digit of the doubles kept."""
    w, v = ([Decimal(float(x)) for x in part] for part in (xi[:3], xi[3:]))
    zero = Decimal(0)
    return np.array([[zero, -w[2], w[1], v[0]], [w[2], zero, -w[0], v[1]], [-w[1], w[0], zero, v[2]], [zero] * 4])


def series(A):
    """exp(A) = sum A^k / k!, to 50 digits for |A| < 10."""
    total = term = np.array([[Decimal(int(i == k)) for k in range(4)] for i in range(4)])
    for k in range(1, 90):
        term = term @ A / Decimal(k)
        total = total + term
    return total


def twists(angle, rng, n=5):
    axes = rng.normal(size=(n, 3))
    return np.hstack([angle * axes / np.linalg.norm(axes, axis=1, keepdims=True),
                      rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-3, 3, (n, 1))])


@pytest.mark.parametrize("angle", [*ANGLES, np.pi, 4.0, 6.2])
def test_exp_is_the_power_series(angle, rng):
    for xi in twists(angle, rng):
        X = series(matrix_of(xi)).astype(float)
        found = SE3.exp(xi)
        assert np.abs(found.R - X[:3, :3]).max() < TIGHT
        assert np.abs(found.p - X[:3, 3]).max() < TIGHT * (1 + np.abs(xi[3:]).max())
        assert np.array_equal(found.R, SO3.exp(xi[:3]))


@pytest.mark.parametrize("angle", ANGLES)
def test_log_of_the_power_series_is_the_twist(angle, rng):
    """From the exact exponential rounded to doubles: what log loses itself is a few eps, near 0 relative to the angle."""
    for xi in twists(angle, rng):
        X = series(matrix_of(xi)).astype(float)
        found = SE3.log(X)
        assert np.abs(found[:3] - xi[:3]).max() < 1e-12 * min(1.0, angle) + 1e-300
        assert np.abs(found[3:] - xi[3:]).max() < 1e-12 * (1 + np.abs(xi[3:]).max())
        assert np.abs(SO3.log(X[:3, :3]) - found[:3]).max() == 0.0


def test_a_half_turn_has_two_logarithms_and_gives_one(rng):
    for axis in (*np.eye(3), *twists(1.0, rng)[:, :3]):
        R = 2.0 * np.outer(axis, axis) - np.eye(3)
        w = SO3.log(R)
        assert abs(np.linalg.norm(w) - np.pi) < 1e-14 and np.abs(SO3.exp(w) - R).max() < 1e-14


def test_batches_are_their_rows(rng):
    xi = twists(1.3, rng, 12).reshape(3, 4, 6)
    X = SE3.exp(xi)
    assert X.shape == (3, 4, 4, 4) and SO3.exp(xi[..., :3]).shape == (3, 4, 3, 3)
    for at in np.ndindex(3, 4):
        assert np.abs(X[at] - SE3.exp(xi[at]).matrix).max() < 1e-15
        assert np.abs(SE3.log(X)[at] - SE3.log(X[at])).max() < 1e-15


def test_exp_moves_a_frame_as_its_space_does(rng):
    """The same increment in the moving frame as SE3().integrate and a floating joint's: X @ exp(xi)."""
    model = mbros.load("quadruped")
    state = model.random_state(rng)
    X, xi = model.pose(state, model.joint("base")), twists(0.7, rng, 1)[0]
    v = np.zeros(model.nv)
    v[model.joint("base").v_slice] = xi
    state.q[:] = model.integrate(state.q, v)
    moved = model.pose(state, model.joint("base"))
    assert np.abs((X @ SE3.exp(xi)).matrix - moved.matrix).max() < 1e-13 * (1 + np.abs(moved.p).max())
    assert np.abs(SE3.log(X.inverse() @ mbros.Pose(moved.R, moved.p, X.frame, X.relative_to)) - xi).max() < 1e-12 * (1 + np.abs(xi).max())


@needs("pinocchio", "its exp6 and log6, with the linear part first")
def test_pinocchio_has_the_same_with_the_linear_part_first(rng):
    import pinocchio as pin

    for angle in (1e-9, 1e-4, 0.3, 2.0, 3.1):
        for xi in twists(angle, rng):
            theirs = pin.exp6(np.concatenate([xi[3:], xi[:3]]))
            found = SE3.exp(xi)
            assert np.abs(found.matrix - theirs.homogeneous).max() < 1e-12 * (1 + np.abs(xi).max())
            back = pin.log6(theirs).vector
            assert np.abs(SE3.log(found) - np.concatenate([back[3:], back[:3]])).max() < 1e-7 * (1 + np.abs(xi).max())


HUGE = [1e150, 1e155, 1e200, 1e308, 1.7e308]


@pytest.mark.parametrize("size", HUGE)
@pytest.mark.filterwarnings("error")
def test_huge_vectors_are_turns_and_screws_as_any_other(size):
    """The angle is what doubles make of the vector's length, so the axis, the rotation and what is along the axis are known."""
    w, axis = np.full(3, size), np.full(3, 1 / np.sqrt(3))
    R = SO3.exp(w)
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14 and np.abs(R @ axis - axis).max() < 1e-14
    assert np.array_equal(SO3.exp(np.stack([w, [0.1, 0.2, 0.3]]))[1], SO3.exp([0.1, 0.2, 0.3]))
    X = SE3.exp(np.concatenate([w, w]))
    assert np.array_equal(X.R, R) and np.abs(X.p / size - 1.0).max() < 1e-14
    assert np.abs(SE3.exp([size, 0.0, 0.0, 2.0, 3.0, 4.0]).p - [2.0, 0.0, 0.0]).max() < 1e-14
    assert np.abs(SE3.exp(np.stack([np.concatenate([w, w]), np.ones(6)]))[1] - SE3.exp(np.ones(6)).matrix).max() < 1e-15


@pytest.mark.filterwarnings("error")
def test_huge_translations_are_small_ones_times_a_number():
    w, v = np.array([0.4, -0.7, 0.2]), np.array([1.0, 0.5, -0.8])
    X = SE3.exp(np.concatenate([w, v]))
    far = SE3.exp(np.concatenate([w, 1.6e308 * v]))
    assert np.abs(far.p / 1.6e308 - X.p).max() < 1e-14
    assert np.abs(SE3.log(far)[3:] / 1.6e308 - v).max() < 1e-14
    with pytest.raises(mbros.NonFiniteError, match=r"SE3.log: linear part of log\(X\)\[\d\] is -?inf"):
        SE3.log(mbros.Pose(SO3.exp([1.0, 0.2, 0.3]), np.full(3, 1.79e308)))


@pytest.mark.parametrize("size", [1e200, 1e300])
def test_a_huge_quaternion_stands_for_the_rotation_of_its_direction(size, rng):
    """It came out as no rotation at all: a difference of zero, a vector that was not turned."""
    p, a, b = np.zeros(3), rng.normal(size=4), rng.normal(size=4)
    for space, q0, q1, far in ((SO3(), a, b, size * b), (SE3(), np.concatenate([p, a]), np.concatenate([p + 1, b]),
                                                        np.concatenate([p + 1, size * b]))):
        assert np.abs(space.difference(q0, far) - space.difference(q0, q1)).max() < 1e-14
        assert np.abs(space.difference(far, q0) - space.difference(q1, q0)).max() < 1e-14
    turned = np.array([0.0, 0.0, size * 0.6, size * 0.8])
    assert np.allclose(mbros.spaces.SE2().difference(turned, [1.0, 2.0, 1.0, 0.0]),
                       mbros.spaces.SE2().difference([0.0, 0.0, 0.6, 0.8], [1.0, 2.0, 1.0, 0.0]))


@pytest.mark.parametrize("call, part", [
    (lambda: SE3.exp([1.0, 2.0]), "xi: expected 6 numbers in the last axis, got shape (2,)"),
    (lambda: SE3.exp([np.nan] * 6), "xi[0] is nan; expected a finite number"),
    (lambda: SO3.exp("abc"), "w: expected 3 numbers in the last axis, got 'abc'"),
    (lambda: SO3.log(np.eye(4)), "expected rotation matrices (..., 3, 3), got shape (4, 4)"),
    (lambda: SO3.log(np.stack([np.eye(3), 2 * np.eye(3)])), "R[1] is no rotation matrix: R R^T is 3 away"),
    (lambda: SO3.log(1e200 * np.eye(3)), "R is no rotation matrix: it has the number 1e+200"),
    (lambda: SO3.log(-np.eye(3)), "its determinant is -1"),
    (lambda: SE3.log(np.ones((4, 4))), "last row 0 0 0 1"),
    (lambda: SE3.log(np.diag([1.0, 1.0, np.inf, 1.0])), "is inf; expected a finite number"),
])
@pytest.mark.filterwarnings("error")
def test_what_is_refused(call, part):
    with pytest.raises(mbros.MbrosError) as caught:
        call()
    assert part in str(caught.value)
