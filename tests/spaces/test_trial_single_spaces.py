"""One vector goes through compiled functions, a batch of one row through NumPy: equal numbers, equal refusals."""
import numpy as np
import pytest

import mbros
from mbros.errors import MbrosError
from mbros.spaces.base import Space
from mbros.spaces.models import EngineSpace

ROBOTS = ("arm7", "quadruped", "humanoid", "four_bar")
OPERATIONS = {"integrate": "v", "difference": "q", "distance": "q", "is_same": "q", "d_integrate": "v", "d_difference": "q"}


def rows(result):
    return [np.asarray(x)[0] for x in (result if isinstance(result, tuple) else (result,))]


def whole(result):
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("size", [1e-9, 0.3, 3.0])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_trial_L1_a_vector_is_a_batch_of_one_row(robot, size, operation):
    space, rng = mbros.load(robot).space(), np.random.default_rng(5)
    assert type(space) is EngineSpace
    for _ in range(5):
        q, v = space.sample(rng), size * rng.normal(size=space.nv)
        other = v if OPERATIONS[operation] == "v" else space.integrate(q, v)
        one, batch = whole(getattr(space, operation)(q, other)), rows(getattr(space, operation)(q[None], other[None]))
        for a, b in zip(one, batch, strict=True):
            assert a == pytest.approx(b, abs=1e-12 if size < 1.0 else 1e-10)
            assert a.dtype == b.dtype


@pytest.mark.parametrize("robot", ROBOTS)
def test_trial_L1_ways_between_and_lengths_of_quaternions_are_those_of_batches(robot):
    space, rng = mbros.load(robot).space(), np.random.default_rng(8)
    a, b = space.sample(rng), space.sample(rng)
    for u in (0.0, 0.25, 1.0, -2.0):
        assert space.interpolate(a, b, u) == pytest.approx(space.interpolate(a[None], b[None], u)[0], abs=1e-12)
    assert space.normalize(3.0 * a) == pytest.approx(space.normalize(3.0 * a[None])[0], abs=1e-15)
    for u in (np.nan, np.inf):
        with pytest.raises(MbrosError):
            space.interpolate(a, b, u)


@pytest.mark.parametrize("robot", ROBOTS)
def test_trial_L1_a_sample_is_the_first_of_one(robot):
    model = mbros.load(robot)
    space = model.space()
    for seed in range(5):
        one = space.sample(np.random.default_rng(seed))
        assert one == pytest.approx(space.sample(np.random.default_rng(seed), 1)[0], abs=1e-15)
        assert np.array_equal(model.random_configuration(np.random.default_rng(seed)), one)
        assert np.array_equal(space.sample(seed), one)


FORMS = {"list": lambda x: x.tolist(), "float32": lambda x: x.astype(np.float32), "strided": lambda x: np.repeat(x, 2)[::2],
         "subclass": lambda x: x.view(type("Own", (np.ndarray,), {})), "other end": lambda x: x.astype(">f8")}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_trial_L1_vectors_may_come_in_any_form(form, operation):
    space, rng = mbros.load("quadruped").space(), np.random.default_rng(6)
    q, v = space.sample(rng), rng.normal(size=space.nv)
    other = v if OPERATIONS[operation] == "v" else space.integrate(q, v)
    given = [FORMS[form](x) for x in (q, other)]
    plain = [np.array(x, float) for x in given]
    for a, b in zip(whole(getattr(space, operation)(*given)), whole(getattr(space, operation)(*plain)), strict=True):
        assert a == pytest.approx(b, abs=1e-13)
        assert type(a) is np.ndarray


@pytest.mark.parametrize("operation", OPERATIONS)
def test_trial_L1_what_is_wrong_is_refused_in_the_words_of_every_space(operation):
    space, rng = mbros.load("quadruped").space(), np.random.default_rng(7)
    q, v = space.sample(rng), rng.normal(size=space.nv)
    other = v if OPERATIONS[operation] == "v" else space.sample(rng)
    nan, far, zero = other.copy(), other.copy(), q.copy()
    nan[4], far[4], zero[3:7] = np.nan, 1e300, 0.0

    def said(call):
        try:
            call()
        except MbrosError as error:
            return type(error), str(error)
        return "taken"

    for a, b in ((q, nan), (zero, other), (q[:-1], other), (q, "text"), (q, other[:-1]), (q, far), (q, None)):
        assert said(lambda: getattr(space, operation)(a, b)) == said(lambda: getattr(Space, operation)(space, a, b))   # noqa: B023
