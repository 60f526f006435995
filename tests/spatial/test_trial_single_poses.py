"""Poses and spatial vectors by the compiled functions (mbros_core.engine._small) and by NumPy: equal numbers, equal refusals."""
import numpy as np
import pytest
from mbros_core.engine import _small

import mbros
from mbros.errors import MbrosError
from mbros.spatial import lie
from mbros.spatial.given import _placement, placement
from mbros.spatial.placement import rotation_from_quat_wxyz, rotation_from_rpy


class Own(np.ndarray):
    """An array class of a user's."""


def strided(x):
    x = np.asarray(x, float)
    return np.repeat(x, 2, axis=-1)[..., ::2]


def unaligned(x):
    """As a field of a packed record."""
    x = np.asarray(x, float)
    return np.frombuffer(b"-" + x.tobytes(), float, x.size, 1).reshape(x.shape)


FORMS = {"unaligned": unaligned, "list": lambda x: np.asarray(x).tolist(), "tuple": lambda x: tuple(np.asarray(x).tolist()),
         "array": np.array, "strided": strided, "subclass": lambda x: np.array(x).view(Own), "float32": lambda x: np.array(x, np.float32),
         "other end": lambda x: np.array(x, ">f8"),
         "objects": lambda x: np.array(x, object), "numbers": lambda x: [np.float64(a) for a in np.ravel(x)]}
WRONG = {"short": [1.0, 0.0], "nan": [np.nan, 0.0, 0.0, 1.0], "inf": np.array([np.inf, 0.0, 0.0, 0.0]), "text": "abcd",
         "none in it": [None, 0, 0, 1], "true": [True, False, False, False], "rows": np.eye(4),
         "masked": np.ma.masked_array([1.0, 0, 0, 0], [1, 0, 0, 0]), "long": [10**400, 0, 0, 0],
         "length": [2.0, 0.0, 0.0, 0.0], "number": 1.0}


@pytest.mark.parametrize("form", FORMS)
def test_trial_L1_a_pose_is_the_same_however_its_numbers_come(form):
    rng, tol = np.random.default_rng(1), 1e-6 if form == "float32" else 1e-15
    make = FORMS[form]
    for _ in range(5):
        q, p, rpy = lie.unit(rng.normal(size=4)), rng.normal(size=3), rng.normal(size=3)
        X = mbros.Pose.make(make(p), quat_wxyz=make(q / np.linalg.norm(q)))
        assert X.R == pytest.approx(rotation_from_quat_wxyz(q), abs=tol)
        assert X.p == pytest.approx(p, abs=tol)
        assert mbros.Pose.make(quat_xyzw=make(np.roll(q, -1))).R == pytest.approx(X.R, abs=tol)
        assert mbros.Pose.make(make(p), make(rpy)).R == pytest.approx(rotation_from_rpy(rpy), abs=10 * tol)
        assert {type(X.R), type(X.p)} == {np.ndarray}
        assert X.R.dtype == X.p.dtype == np.float64


@pytest.mark.parametrize("word", ["p", "rpy", "quat_wxyz", "quat_xyzw", "R"])
@pytest.mark.parametrize("wrong", WRONG)
def test_trial_L1_a_pose_is_refused_in_the_words_of_the_general_way(word, wrong):
    words = {"p": None, "rpy": None, "R": None, word: WRONG[wrong]}
    quat = {name: words.pop(name) for name in ("quat_wxyz", "quat_xyzw") if name in words}

    def said(call):
        try:
            return call()
        except MbrosError as error:
            return type(error), str(error)

    general = said(lambda: _placement("here", words["p"], words["rpy"], words["R"], None, quat))
    assert said(lambda: placement("here", **words, **quat)) == general
    assert isinstance(general, tuple)


def test_trial_L1_nothing_of_a_pose_is_a_view_of_what_was_given():
    p, q, R = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.eye(3)
    X, Y = mbros.Pose.make(p, quat_wxyz=q), mbros.Pose.make(p, R=R)
    p[:], q[:], R[:] = 7.0, 7.0, 7.0
    assert np.array_equal(np.asarray(X), np.eye(4))
    assert np.array_equal(np.asarray(Y), np.eye(4))


@pytest.mark.parametrize("k", range(4))
def test_trial_L1_quaternions_of_rotations_are_those_of_batches_to_the_bit(k):
    rng = np.random.default_rng(k)
    quat = rng.normal(size=(200, 4))
    quat[:, k] += 4.0 * np.sign(quat[:, k])              # the largest component, each in turn
    R = lie.matrix(quat)
    for each, q in zip(R, lie.from_matrix(R)):
        for form in (each, strided(each), np.asfortranarray(each)):
            X = mbros.Pose.make(R=form)
            assert np.array_equal(X.quat_wxyz, q)
            assert np.array_equal(X.quat_xyzw, np.roll(q, -1))


def test_trial_L1_products_and_inverses_are_those_of_matrices():
    rng = np.random.default_rng(3)
    for _ in range(50):
        X, Y = (mbros.Pose(lie.matrix(rng.normal(size=4)), rng.normal(size=3)) for _ in range(2))
        assert (X @ Y).matrix == pytest.approx(X.matrix @ Y.matrix, abs=1e-14)
        assert (X @ X.inverse()).matrix == pytest.approx(np.eye(4), abs=1e-14)
        x = rng.normal(size=3)
        for form in (x, x.tolist(), strided(x), x.astype(">f8")):
            assert X @ form == pytest.approx((X.matrix @ [*x, 1.0])[:3], abs=1e-14)
        assert X @ np.array([x, x]) == pytest.approx(np.array([X @ x, X @ x]), abs=1e-14)


@pytest.mark.parametrize("size", [2.0, -1.0])
def test_trial_L1_what_is_no_rotation_is_refused(size):
    for R in (np.eye(3) * size, np.diag([1.0, 1.0, -1.0]), np.eye(3) + 1e-8, np.full((3, 3), np.nan), np.eye(4)):
        assert _small.rotation(R) is None
        assert not _small.is_rotation(R)
        with pytest.raises(MbrosError, match="R"):
            mbros.Pose(R, np.zeros(3))
        with pytest.raises(MbrosError, match="R"):
            mbros.Pose.make(R=R)


@pytest.mark.parametrize("axes", ["world", "elbow.M"])
def test_trial_L1_spatial_vectors_move_as_their_formulas_say(axes):
    model = mbros.load("arm7")
    names = model.frames.names
    axes = axes if axes in names else names[5]
    state, rng = model.random_state(4), np.random.default_rng(4)
    for a, b in ((names[-1], names[2]), (names[3], names[-2])):
        x, w = rng.normal(size=6), rng.normal(size=3)
        p = model.pose(state, axes).R.T @ (model.pose(state, b).p - model.pose(state, a).p)
        V = mbros.SpatialVelocity(x, a, axes).moved_to(state, b)
        assert V.values == pytest.approx(np.r_[x[:3], x[3:] + np.cross(x[:3], p)], abs=1e-14)
        A = mbros.SpatialAcceleration(x, a, axes).moved_to(state, b, w)
        assert A.values == pytest.approx(np.r_[x[:3], x[3:] + np.cross(x[:3], p) + np.cross(w, np.cross(w, p))], abs=1e-14)
        F = mbros.SpatialForce(x, a, axes).moved_to(state, b)
        assert F.values == pytest.approx(np.r_[x[:3] - np.cross(p, x[3:]), x[3:]], abs=1e-14)
        assert (type(F), F.frame, F.expressed_in) == (mbros.SpatialForce, b, axes)
        assert mbros.SpatialForce(unaligned(x), a, axes).moved_to(state, b).values == pytest.approx(F.values)
        turned = V.in_axes(state, names[1])
        R = model.pose(state, axes, names[1]).R
        assert turned.values == pytest.approx(np.r_[R @ V.angular, R @ V.linear], abs=1e-14)


# ----------------------------------------------------------------------------------- wrenches, rows, places of numbers

@pytest.mark.parametrize("form", FORMS)
def test_trial_S_a_wrench_is_added_about_its_bodys_origin(form):
    rng, tol = np.random.default_rng(3), 1e-6 if form == "float32" else 1e-12
    model = mbros.load("quadruped", base="floating")
    state, wanted = model.random_state(rng), np.zeros((len(model.spec.parent), 6))
    for frame in [frame.name for frame in model.frames][::5]:
        k, F = model.frame(frame).index, rng.normal(size=6)
        axes = model.frames.names[7] if frame[0] < "n" else "world"
        model.apply_wrench(state, frame, torque=FORMS[form](F[:3]), force=FORMS[form](F[3:]), expressed_in=axes)
        R, X_BF, R_WF = model.pose(state, axes).R, np.array(model.spec.X_BF[k]), model.pose(state, frame).R
        t, f = R @ F[:3], R @ F[3:]
        p = R_WF @ X_BF[:9].reshape(3, 3).T @ X_BF[9:]
        wanted[model.spec.frame_body[k]] += np.concatenate([t + np.cross(p, f), f])
    assert state.external_force == pytest.approx(wanted, abs=tol)
    before = state.external_force.copy()
    for wrong in ({"torque": [1.0, np.nan, 0.0]}, {"force": (1e11, 0, 0)}, {"force": [1, 2]}, {"torque": "abc"},
                  {"force": [1.0, 0.0, 0.0], "expressed_in": "nobody"}):
        with pytest.raises(MbrosError):
            model.apply_wrench(state, model.frames.names[4], **wrong)
    assert np.array_equal(state.external_force, before)


def test_trial_S_wrenches_that_fit_no_table_are_refused():
    forces, bodies, X_BF, X, F = np.zeros((2, 6)), np.array([0, 1, 2], np.int32), np.zeros((3, 12)), np.zeros(12), np.zeros(6)
    _small.push(forces, bodies, X_BF, 1, X, F)
    for wrong in ((forces, bodies, X_BF, 2, X, F), (forces, bodies, X_BF, 3, X, F), (forces, bodies, X_BF, -1, X, F),
                  (forces[:, :5].copy(), bodies, X_BF, 1, X, F), (forces, bodies, X_BF[:, 1:].copy(), 1, X, F),
                  (forces, bodies, X_BF, 1, X[1:].copy(), F), (forces, bodies, X_BF, 1, X, F[1:].copy())):
        with pytest.raises(ValueError, match="expected"):
            _small.push(*wrong)


def test_trial_S_rows_are_those_of_the_general_way():
    x, table = np.arange(3.0), np.arange(6.0).reshape(2, 3)
    assert np.array_equal(_small.rows(x, 3, 9.0, 2, False), [x, x])
    assert _small.rows(table, 3, 9.0, None, False) is table
    copied = _small.rows(table, 3, 9.0, 2, True)
    assert np.array_equal(copied, table)
    assert not np.shares_memory(copied, table)
    for given, columns, most, n in ((x, 3, 9.0, None), (x, 2, 9.0, 2), (table, 3, 4.9, 2), (table, 3, 9.0, 3), (table[:, ::-1], 3, 9.0, 2),
                                    (table.tolist(), 3, 9.0, 2), (table.astype(int), 3, 9.0, 2), (np.full((2, 3), np.nan), 3, np.inf, 2),
                                    (np.full(3, np.nan), 3, np.inf, 2), (x, 3, 9.0, 10**9), (table.view(Own), 3, 9.0, 2)):
        assert _small.rows(given, columns, most, n, True) is None


def test_trial_S_within_bounds_and_the_first_place():
    low, high = np.array([-1.0, 0.0]), np.array([1.0, np.inf])
    assert _small.between(np.array([[0.0, 0.0], [1.0, 1e300]]), low, high)
    assert _small.between(np.zeros((0, 2)), low, high)
    for beyond in ([[0.0, 0.0], [1.0, -1e-300]], [[np.nan, 0.0]], [[-1.5, 0.0]]):
        assert not _small.between(np.array(beyond), low, high)
    assert not _small.between(np.zeros((1, 3)), low, high)
    assert not _small.between(np.zeros(2), low, high)
    assert [_small.first_counted(np.array(x, np.int64)) for x in ([], [-1, -1], [-1, 0, 4])] == [-1, -1, 1]


def test_trial_S_a_pose_with_both_its_frames_turned():
    rng = np.random.default_rng(5)
    A, R, p = (rotation_from_rpy(rng.normal(size=3)) for _ in range(2)), None, rng.normal(size=3)
    A, R = A
    S, r = _small.conjugated(A, np.concatenate([R.ravel(), p]))
    assert pytest.approx(A @ R @ A.T, abs=1e-15) == S
    assert pytest.approx(A @ p, abs=1e-15) == r
    with pytest.raises(ValueError, match="expected"):
        _small.conjugated(A, p)
