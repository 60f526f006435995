"""Configuration spaces against golden numbers, and against their own laws. Against the engine and the
libraries themselves: test_spaces_models.py."""
import json
from pathlib import Path

import numpy as np
import pytest
from tolerance import EPS, assert_close

from mbros.spaces import SE2, SE3, SO2, SO3, Product, Rn, SE3RollPitchYaw, SO3RollPitchYaw

GOLDEN = Path(__file__).parent.parent / "golden"
SPACES = json.loads((GOLDEN / "configuration_space.json").read_text())
HPP_PINOCCHIO = json.loads((GOLDEN / "hpp_pinocchio_liegroup.json").read_text())["cases"]
seed = pytest.mark.seed
RTOL = 1e-12

ALL = {"R3": Rn(3), "SO2": SO2(), "SO3": SO3(), "SE2": SE2(), "SE3": SE3(), "SO3rpy": SO3RollPitchYaw(), "SE3rpy": SE3RollPitchYaw(),
       "R3 parent": Rn(3, -50, 50, increments="parent"), "SO2 parent": SO2("parent"), "SO3 parent": SO3("parent"),
       "product": Rn(2) * SO3() * SO2() * SE3(), "product parent": Rn(2, -50, 50, increments="parent") * SO3("parent") * SO2("parent")}
every_space = pytest.mark.parametrize("space", ALL.values(), ids=ALL.keys())


def away_from_gimbal_lock(space, q):
    """Pitches within 1.2 rad."""
    if "rpy" in space.name:
        q[..., 1] *= 1.2 / (np.pi / 2)
    return q


def some(space, rng, n=40):
    return away_from_gimbal_lock(space, space.sample(rng, n))


# ------------------------------------------------------------------------------------------------------ golden numbers

@seed("HJ-34")
@pytest.mark.parametrize("case", SPACES["so3_hpp_model"])
def test_so3_of_hpp_model(case):
    space, q1, q2 = SO3("parent"), np.array(case["q1"]), np.array(case["q2"])
    assert_close(space.integrate(q1, case["omega"]), case["integrate_q1_omega"], RTOL)
    assert_close(space.difference(q2, q1), case["difference_q1_minus_q2"], RTOL)
    if np.dot(q1, q2) == -1 + EPS / 2:      # q2 = -q1: hpp-model's 2 acos(1 - eps/2) is not the angle, which is 0
        assert case["distance"] == 2 * np.arccos(1 - EPS / 2) and space.distance(q1, q2) == 0.0
    else:
        assert_close(space.distance(q1, q2), case["distance"], RTOL)
    assert_close(space.interpolate(q1, q2, 0.25), case["interpolate_0p25"], RTOL)
    assert_close(SO3("local").difference(q2, q1), case["body_frame_difference_q1_minus_q2"], RTOL)


@seed("HJ-35")
@pytest.mark.parametrize("case", SPACES["so2_hpp_model"])
def test_so2_of_hpp_model(case):
    space = SO2("parent")
    assert_close(space.integrate(case["q1"], [case["omega"]]), case["integrate_q1_omega"], RTOL)
    assert_close(space.difference(case["q2"], case["q1"])[0], case["difference_q1_minus_q2"], RTOL)
    assert_close(space.distance(case["q1"], case["q2"]), case["distance"], RTOL)
    assert_close(space.interpolate(case["q1"], case["q2"], 0.25), case["interpolate_0p25"], RTOL)


@seed("HJ-36", "HJ-37")
@pytest.mark.parametrize("case", SPACES["rn_hpp_model"])
def test_rn_of_hpp_model(case):
    space = Rn(3, case["lower"], case["upper"], increments="parent")
    assert_close(space.integrate(case["q1"], case["v"]), case["integrate_q1_v_saturated"], RTOL)
    assert_close(space.difference(case["q2"], case["q1"]), case["difference_q1_minus_q2"], RTOL)
    assert_close(space.distance(case["q1"], case["q2"]), case["distance"], RTOL)
    assert_close(space.interpolate(case["q1"], case["q2"], 0.25), case["interpolate_0p25"], RTOL)
    one = Rn(1, case["lower"][0], case["upper"][0], increments="parent")       # HPP's bounded rotation
    assert_close(one.integrate(case["q1"][:1], case["v"][:1]), case["integrate_q1_v_saturated"][:1], RTOL)


# How Pinocchio orders (q, v) of a group, as indices into ours.
PINOCCHIO = {"SO2": (SO2(), [0, 1], [0]), "SO3": (SO3(), [1, 2, 3, 0], [0, 1, 2]), "SE2": (SE2(), [0, 1, 2, 3], [0, 1, 2]),
             "SE3": (SE3(), [0, 1, 2, 4, 5, 6, 3], [3, 4, 5, 0, 1, 2])}


@seed("HJ-40")
@pytest.mark.parametrize("case", SPACES["pinocchio"])
def test_groups_of_pinocchio_with_derivatives(case):
    space, iq, iv = PINOCCHIO[case["group"]]
    iq, iv = np.array(iq), np.array(iv)
    qa, qb, v = np.empty(space.nq), np.empty(space.nq), np.empty(space.nv)
    qa[iq], qb[iq], v[iv] = case["qa"], case["qb"], case["v"]

    def same(ours, theirs):
        assert_close(ours, np.asarray(theirs), RTOL)

    same(space.integrate(qa, v)[iq], case["integrate_qa_v"])
    same(space.difference(qa, qb)[iv], case["difference_qa_to_qb"])
    same(space.distance(qa, qb), case["distance"])
    same(space.squared_distance(qa, qb), case["distance"] ** 2)
    same(space.interpolate(qa, qb, 0.25)[iq], case["interpolate_0p25"])
    block = np.ix_(iv, iv)
    for ours, names in ((space.d_integrate(qa, v), ("dIntegrate_dq", "dIntegrate_dv")),
                        (space.d_difference(qa, qb), ("dDifference_ARG0", "dDifference_ARG1"))):
        for J, name in zip(ours, names):
            same(J[block], case[name])


# ... and hpp-pinocchio, which has Pinocchio's order.
HPP = {"R1": (Rn(1), [0], [0]), "R2": (Rn(2), [0, 1], [0, 1]), "R3": (Rn(3), [0, 1, 2], [0, 1, 2]), "SE2": PINOCCHIO["SE2"],
       "SE3": PINOCCHIO["SE3"], "R2xSO2": (Rn(2) * SO2(), [0, 1, 2, 3], [0, 1, 2]),
       "R3xSO3": (Rn(3) * SO3(), [0, 1, 2, 4, 5, 6, 3], [0, 1, 2, 3, 4, 5])}


@seed("HJ-41")
@pytest.mark.parametrize("case", HPP_PINOCCHIO)
def test_sums_and_differences_of_hpp_pinocchio(case):
    space, iq, iv = HPP[case["space"]]
    iq, iv = np.array(iq), np.array(iv)
    assert space.name == case["hpp_name"]
    assert_close(space.neutral[iq], case["neutral"], 0.0)
    v1, v2 = np.empty(space.nv), np.empty(space.nv)
    v1[iv], v2[iv] = case["v1"], case["v2"]
    a = space.element(space.neutral) + v1
    b = a + v2
    assert_close(a.q[iq], case["a_neutral_plus_v1"], RTOL)
    assert_close(b.q[iq], case["b_a_plus_v2"], RTOL)
    assert_close((b - a)[iv], case["b_minus_a"], RTOL)
    assert_close((a - b)[iv], case["a_minus_b"], RTOL)


# ------------------------------------------------------------------------------------------------------------- laws

@seed("HJ-39", "HJ-40")
@every_space
def test_integrating_the_difference_arrives(space, rng):
    q0, q1 = some(space, rng), some(space, rng)
    v = space.difference(q0, q1)
    assert_close(space.difference(space.integrate(q0, v), q1), np.zeros((40, space.nv)), 1e-12, scale=np.pi)
    assert_close(space.interpolate(q0, q1, 0.0), space.normalize(q0), 16 * EPS, scale=1.0)
    assert space.is_same(space.interpolate(q0, q1, 1.0), q1, 1e-12).all()
    assert_close(space.distance(q0, q1) ** 2, space.squared_distance(q0, q1), 8 * EPS)


@seed("HJ-34", "HJ-35", "HJ-40")
@every_space
def test_derivatives_by_extrapolated_differences(space, rng):
    q0 = space.interpolate(space.neutral, some(space, rng), 0.5)        # away from bounds
    q1 = space.integrate(q0, rng.uniform(-1.4, 1.4, (40, space.nv)) * rng.choice([1e-8, 1e-2, 1], size=(40, 1)))    # short of a half turn
    v = rng.normal(size=(40, space.nv)) * rng.choice([1e-8, 1e-2, 0.9], size=(40, 1))
    if "rpy" in space.name:
        q1, v = some(space, rng), 0.2 * v

    def slope(f):
        """df(d)/dd at d = 0, fourth order."""
        J = np.empty((40, space.nv, space.nv))
        for k in range(space.nv):
            d = np.zeros(space.nv)
            d[k] = 1e-3
            J[..., k] = (8 * (f(d) - f(-d)) - (f(2 * d) - f(-2 * d))) / 12e-3
        return J

    def moved(q, d):
        return space.integrate(q, d)

    end = space.integrate(q0, v)
    expected = [slope(lambda d: space.difference(end, space.integrate(moved(q0, d), v))),
                slope(lambda d: space.difference(end, space.integrate(q0, v + d))),
                slope(lambda d: space.difference(moved(q0, d), q1)), slope(lambda d: space.difference(q0, moved(q1, d)))]
    for J, fd in zip((*space.d_integrate(q0, v), *space.d_difference(q0, q1)), expected):
        assert_close(J, fd, 1e-8, scale=1.0)


def adjoint_series(x):
    """The right Jacobian of SE(3) as sum_k (-ad x)^k / (k + 1)!, for twists [w; v] shorter than 2."""
    def skew(a):
        return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    ad = np.block([[skew(x[:3]), np.zeros((3, 3))], [skew(x[3:]), skew(x[:3])]])
    term = total = np.eye(6)
    for k in range(1, 40):
        term = -term @ ad / (k + 1)
        total = total + term
    return total


@seed("HJ-34", "HJ-40")
def test_derivatives_are_exact_at_every_angle(rng):
    """From 1e-9 rad to 1 rad, where closed forms in sines and cosines alone lose half their digits."""
    space = SE3()
    for size in 10.0 ** np.arange(-9, 1):
        x = rng.uniform(-1, 1, 6) * size
        q0 = space.sample(rng)
        q1 = space.integrate(q0, x)
        J = adjoint_series(x)
        assert_close(space.d_integrate(q0, x)[1], J, 16 * EPS)
        assert_close(SO3().d_integrate(q0[3:], x[:3])[1], J[:3, :3], 16 * EPS)
        # q1 is known to an eps of its own size, so x is
        assert_close(space.d_difference(q0, q1)[1] @ J, np.eye(6), 64 * EPS)
        assert_close(space.d_difference(q0, q1)[0] @ adjoint_series(-x), -np.eye(6), 64 * EPS)


@seed("HJ-34", "HJ-37")
@every_space
def test_batches_are_the_rows(space, rng):
    q0, q1 = some(space, rng, 6).reshape(2, 3, -1), some(space, rng, 6).reshape(2, 3, -1)
    v, u = rng.normal(size=(2, 3, space.nv)), rng.random((2, 3))
    many = [space.integrate(q0, v), space.difference(q0, q1), space.interpolate(q0, q1, u), space.distance(q0, q1), space.normalize(2 * q0),
            space.is_same(q0, q1), *space.d_integrate(q0, v), *space.d_difference(q0, q1)]
    for i in np.ndindex(2, 3):
        a, b, w = q0[i], q1[i], v[i]
        one = [space.integrate(a, w), space.difference(a, b), space.interpolate(a, b, u[i]), space.distance(a, b), space.normalize(2 * a),
               space.is_same(a, b), *space.d_integrate(a, w), *space.d_difference(a, b)]
        for x, y in zip(many, one):
            assert_close(np.asarray(x[i], float), np.asarray(y, float), 8 * EPS, scale=1.0)
    assert_close(space.integrate(q0[0, 0], v), space.integrate(np.broadcast_to(q0[0, 0], q0.shape), v), 0.0)
    path = space.interpolate(q0[0, 0], q1[0, 0], np.linspace(0, 1, 5))
    assert path.shape == (5, space.nq)


@seed("HJ-34", "HJ-35")
def test_families_differ_by_the_frame_of_the_increment(rng):
    """exp(v) q = q exp(R^T v), and the parent family lets the norm drift only at second order."""
    local, parent = SO3("local"), SO3("parent")
    q, v = local.sample(rng, 50), rng.normal(size=(50, 3))
    from mbros.spatial.lie import rotate
    assert_close(parent.integrate(q, v), local.integrate(q, rotate(q, v, back=True)), 8 * EPS, scale=1.0)
    for space in (parent, SO2("parent")):
        q = space.sample(rng, 50) * (1 + 1e-5)
        norms = np.linalg.norm(space.integrate(q, rng.normal(size=(50, space.nv))), axis=-1)
        assert np.abs(norms - 1).max() < 1.6e-10 and np.abs(norms - 1).min() > 1e-10        # 3/2 (1e-5)^2
    with pytest.raises(ValueError, match="one family of increments"):
        Product(local, parent)
    with pytest.raises(ValueError, match="one family of increments"):
        local.element(q[0, [0, 1, 0, 1]]) - parent.element([1, 0, 0, 0])
    with pytest.raises(ValueError, match="no family 'left'"):
        SO3("left")
    for refused in (SE2, SE3, SO3RollPitchYaw, SE3RollPitchYaw):
        with pytest.raises(ValueError, match="increments='parent'"):
            refused("parent")


@seed("HJ-36", "HJ-37")
def test_saturation_only_where_there_are_bounds(rng):
    space = Rn(3, [-1, -np.inf, -np.inf], [1, np.inf, 2], increments="parent")
    q, v = np.array([0.5, 0.5, 0.5]), np.array([5.0, 5.0, -5.0])
    assert_close(space.integrate(q, v), [1.0, 5.5, -4.5], 0.0)
    assert_close(space.d_integrate(q, v)[0], np.diag([0.0, 1.0, 1.0]), 0.0)
    assert_close(space.d_integrate(q, -v)[1], np.diag([0.0, 1.0, 0.0]), 0.0)
    assert_close(Rn(3, -1, 1).integrate(q, v), q + v, 0.0)
    with pytest.raises(ValueError, match=r"R\^3: component 1 has the bounds \[-inf, inf\] and cannot be sampled uniformly"):
        space.sample(rng)
    samples = Rn(2, [-1, 2], [1, 5], increments="parent").sample(rng, 100_000)
    assert (samples >= [-1, 2]).all() and (samples < [1, 5]).all()
    assert_close(samples.mean(0), [0.0, 3.5], 4 * 3 / np.sqrt(12 * 1e5), scale=1.0)


def test_samples_fill_their_bounds(rng):
    """Limits where there are any, else (-pi, pi) for angles and (-1, 1) m for lengths; poses by the bounds of their position."""
    def extent(space):
        q = space.sample(rng, 20_000)
        return q.min(0), q.max(0)

    for space, low, high in ((Rn(3, [-2, -np.inf, -np.inf], [5, np.inf, 0.5]), [-2, -1, -1], [5, 1, 0.5]),
                             (Rn(2, angles=[True, False]), [-np.pi, -1], [np.pi, 1]),
                             (SE3(lower=[2, -3, 0], upper=[3, 4, 0.1]), [2, -3, 0, -1, -1, -1, -1], [3, 4, 0.1, 1, 1, 1, 1]),
                             (SE2(lower=-7, upper=7), [-7, -7, -1, -1], [7, 7, 1, 1]),
                             (SO3RollPitchYaw(lower=[-1, -0.5, 2], upper=[1, 0.25, 3]), [-1, -0.5, 2], [1, 0.25, 3]),
                             (SE3RollPitchYaw(), [-np.pi, -np.pi / 2, -np.pi, -1, -1, -1], [np.pi, np.pi / 2, np.pi, 1, 1, 1])):
        least, most = extent(space)
        assert (least >= low).all() and (most <= high).all()
        assert_close(least, low, 0.03)
        assert_close(most, high, 0.03)


@seed("HJ-34")
@pytest.mark.parametrize("space", [SO3(), SO3("parent"), SE3(), SO3RollPitchYaw()], ids=["local", "parent", "SE3", "rpy"])
def test_samples_of_rotations_are_uniform(space, rng):
    """The mean of R is zero within 4 sigma over 1e5 samples (every entry has variance 1/3), and so are the third moments of it."""
    from mbros.spatial.lie import matrix
    from mbros.spaces.rpy import quaternion_from_rpy
    q = space.sample(rng, 100_000)
    R = matrix(quaternion_from_rpy(q) if space.nq == 3 else q[:, -4:])
    assert np.abs(R.mean(0)).max() < 4 * np.sqrt(1 / 3 / 1e5)
    assert np.abs((R**2).mean(0) - 1 / 3).max() < 4 * np.sqrt((1 / 5 - 1 / 9) / 1e5)


@seed("HJ-34", "HJ-35")
def test_quaternions_and_their_negatives_are_the_same_rotation(rng):
    space = SO3()
    q = space.sample(rng, 20)
    assert space.is_same(q, -q, 1e-15).all() and (space.distance(q, -q) == 0).all()
    a_bit = space.integrate(q, [1e-6, 0, 0])
    assert not space.is_same(q, a_bit, 0.9e-6).any() and space.is_same(q, -a_bit, 1.1e-6).all()
    half = space.integrate(q, [np.pi * (1 - 1e-15), 0, 0])
    assert_close(space.distance(q, half), np.full(20, np.pi), 16 * EPS)
    assert SO2().distance([1, 0], [-1, 0]) == np.pi


@seed("HJ-38")
def test_the_anchor_has_no_coordinates(rng):
    space = Rn(0)
    empty = np.zeros(0)
    assert space.integrate(empty, empty).shape == space.difference(empty, empty).shape == space.sample(rng).shape == (0,)
    assert space.distance(empty, empty) == 0.0 and space.is_same(empty, empty)
    assert (Rn(0) * SO2()).nq == 2


@seed("HJ-44")
@pytest.mark.parametrize("increments", ["local", "parent"])
def test_extra_variables_stand_at_the_tail(increments, rng):
    space = SO3(increments).add_extra_variables(2, [-1, -2], [1, 2])
    assert (space.nq, space.nv) == (6, 5) and space.increments == increments
    q0, q1 = space.sample(rng), space.sample(rng)
    d = space.difference(q0, q1)
    assert_close(d[3:], q1[4:] - q0[4:], 0.0)
    assert_close(space.distance(q0, q1), np.hypot(SO3(increments).distance(q0[:4], q1[:4]), np.linalg.norm(d[3:])), 4 * EPS)
    assert_close(space.interpolate(q0, q1, 0.5)[4:], (q0[4:] + q1[4:]) / 2, 4 * EPS, scale=1.0)
    pushed = space.integrate(q0, [0, 0, 0, 10, -10])[4:]
    assert_close(pushed, [1, -2] if increments == "parent" else q0[4:] + [10, -10], 0.0)
    assert_close(SO3().add_extra_variables(1).neutral, [1, 0, 0, 0, 0], 0.0)


@pytest.mark.parametrize("call, text", [
    (lambda s: s.integrate(np.zeros(3), np.zeros(3)), r"SO\(3\): q: expected 4 numbers in the last axis, got shape \(3,\)"),
    (lambda s: s.difference(np.ones((2, 4)), np.ones((3, 4))), r"the batches do not fit together: q0 \(2, 4\) and q1 \(3, 4\)"),
    (lambda s: s.integrate([1, 0, 0, 0], [0, np.nan, 0]), r"integrate in SO\(3\): v\[1\] is nan"),
    (lambda s: s.normalize(np.eye(4)[:, [0, 1, 2, 3]] * [[1], [1], [np.inf], [1]]), r"normalize in SO\(3\): q\[2, "),
    (lambda s: s.normalize(np.zeros(4)), r"a quaternion or a \(cos, sin\) pair of zeros"),
    (lambda s: Rn(2, [0, 1], [1, 0]), r"R\^2: bounds of component 1: lower 1.0 is above upper 0.0"),
    (lambda s: Rn(2, [0, 1, 2]), r"R\^2: lower: expected a number or 2 of them"),
    (lambda s: Rn(-1), "n: expected a whole number"), (lambda s: Rn(1, np.nan), r"lower\[0\] is nan"),
    (lambda s: Product(s, 3), "expected spaces, got 3")])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call(SO3())
