"""Derivatives of a batch are those of single calls, robot by robot: of every robot shipped, in lanes or by dual numbers, on any number of
threads; `out=` is written whole or not at all."""
import re

import numpy as np
import pytest
import robots
import seed_models
import zoo
from custom_laws import Slide
from tolerance import EPS, condition

import mbros
import mbros_core
from mbros import diff

NUMBER = 21                                # never a whole number of vectors
GIVEN = {"forward_dynamics": "tau", "inverse_dynamics": "vdot"}
WHATS = tuple(GIVEN)


def of_batch(batch, what, x, out=None):
    return getattr(batch, f"{what}_derivatives")(x, out)


def made(model, n, rng, **more):
    q = np.array([model.normalize(model.random_configuration(rng)) for _ in range(n)]).reshape(n, model.nq)
    return model.batch(q, rng.normal(size=(n, model.nv)), **more)


def block_of(d):
    return np.concatenate([d.value[..., None, :], *d.values()], axis=-2)


def assert_single_calls(batch, what, x, d):
    """To 1e-13 of the largest number of each part; forward dynamics to what solving with M loses."""
    assert list(d) == ["q", "v", GIVEN[what]]
    for b in range(batch.n):
        state = batch.state(b)
        one = getattr(diff, what)(batch.model, state, x[b])
        within = max(1e-13, EPS * condition(batch.model.mass_matrix(state)) if what == "forward_dynamics" else 0.0)
        for ours, exact in zip((d.value[b], *(J[b] for J in d.values())), (one.value, *one.values()), strict=True):
            assert np.abs(ours - exact).max(initial=0.0) <= within * np.abs(exact).max(initial=0.0) + 1e-300, (what, b)


@pytest.mark.parametrize("name, base", robots.FROM_FILES)
def test_every_robot(name, base, rng):
    """With joints that follow others, and floating bases; nothing is read before it is written."""
    model = robots.loaded(name, base).model
    batch, x = made(model, NUMBER, rng, threads=2), rng.normal(size=(NUMBER, model.nv))
    for what in WHATS:
        for engine in batch._ready():
            engine.state._poison()
        assert_single_calls(batch, what, x, of_batch(batch, what, x))


@pytest.mark.parametrize("name", zoo.NAMES)
def test_every_kind_of_joint(name, rng):
    """mbros_core.Batch on the zoo, with wrenches, and joints that are locked or prescribed."""
    case, module, n = robots.Case(name, rng, wrenches=True), mbros_core.lanes(), 5
    engine, nv = module.Batch(module.Model(case.spec)), case.nv
    for number, v in enumerate([v for _, _, v in zoo.slices(case.spec)][::3]):
        case.state.field("lock")[v] = 1 + number % 2
    engine.state._inputs[:] = case.state._inputs[:, None]
    q, v, x = np.array([zoo.random_q(case.spec, rng) for _ in range(n)]), rng.normal(size=(n, nv)), rng.normal(size=(n, nv))
    for what in WHATS:
        out = np.full((n, (1 + 3 * nv) * nv), np.nan)
        assert engine.compute(f"{what}_derivatives", q, v, x, out) == -1
        for b in range(n):
            case.state.q[:], case.state.v[:] = q[b], v[b]
            exact = getattr(case.model, f"_{what}_slopes")(case.state, x[b])
            loss = EPS * condition(case.model.mass_matrix(case.state))
            for ours, part in zip(*(np.split(block, [1, 1 + nv, 1 + 2 * nv]) for block in (out[b].reshape(-1, nv), exact)), strict=True):
                assert np.abs(ours - part).max(initial=0.0) <= max(1e-13, loss) * np.abs(part).max(initial=0.0) + 1e-300


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 40])
def test_any_number_of_robots_on_any_number_of_threads(n, what, rng):
    model = mbros.load("arm7")
    batch, x = made(model, n, rng), rng.normal(size=(n, 7))
    d = of_batch(batch, what, x)
    assert d.value.shape == (n, 7) and all(J.shape == (n, 7, 7) for J in d.values())
    assert np.array_equal(d.value, batch.forward_dynamics(x) if what == "forward_dynamics" else batch.inverse_dynamics(x))
    for threads in (1, 2, 3):
        split = model.batch(batch.q, batch.v, threads=threads)
        assert np.array_equal(block_of(of_batch(split, what, x)), block_of(d))
    assert_single_calls(batch, what, x, d)


def test_parameters_of_their_own_and_locks(rng):
    model = mbros.load("arm7")
    state = model.random_state(rng)
    model.joint("joint3").lock(state)
    model.apply_wrench(state, "link7", force=(0, 5, 0))
    own = {name: rng.uniform(1, 2, NUMBER) for name in ("mass.link7", "damping.joint1", "friction.joint2")}
    batch, x = made(model, NUMBER, rng, state=state, parameters=own), rng.normal(size=(NUMBER, 7))
    for what in WHATS:
        assert_single_calls(batch, what, x, of_batch(batch, what, x))
    assert not of_batch(batch, "forward_dynamics", x)["tau"][:, 2].any(), "joint3 is locked"


def test_arguments_in_any_layout_and_one_row_for_all(rng):
    model = mbros.load("arm6")
    batch = made(model, NUMBER, rng)
    x = rng.normal(size=(6, 2 * NUMBER))[:, ::2].T
    for what in WHATS:
        assert np.array_equal(block_of(of_batch(batch, what, x)), block_of(of_batch(batch, what, np.ascontiguousarray(x))))
        assert np.array_equal(block_of(of_batch(batch, what, x[0])), block_of(of_batch(batch, what, np.tile(x[0], (NUMBER, 1)))))


def sprung():
    """Two bodies and a spring between one and the world: no analytic derivatives."""
    b = mbros.ModelBuilder("sprung")
    one, two = seed_models.box(b, "one"), seed_models.box(b, "two")
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, one, (0, 1, 0)))
    b.add_joint(mbros.RevoluteJoint("wrist", one, two, (1, 0, 0)))
    above = b.add_frame("above", b.world, p=(0.3, 0.2, 1.0))
    b.add_force_element(mbros.LinearSpringDamper(above, two.frame, 0.5, 50.0, 1.0, name="spring"))
    return b.build()


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("name", ["arm7", "sprung"])
def test_results_are_written_over(name, what, rng):
    model = sprung() if name == "sprung" else mbros.load(name)
    batch, x = made(model, NUMBER, rng, threads=2), rng.normal(size=(NUMBER, model.nv))
    d = of_batch(batch, what, x)
    J, first = d["q"], block_of(d)
    batch.q[:] += 0.1
    assert of_batch(batch, what, x, d) is d and J is d["q"]
    again = of_batch(batch, what, x)
    assert np.array_equal(block_of(d), block_of(again)) and not np.array_equal(block_of(d), first)
    assert_single_calls(batch, what, x, d)
    by_hand = diff.Derivatives(np.zeros_like(d.value), {name: np.zeros_like(J) for name, J in d.items()})
    assert of_batch(batch, what, x, by_hand) is by_hand and np.array_equal(block_of(by_hand), block_of(d))
    expected = block_of(of_batch(batch, what, d.value.copy()))
    assert np.array_equal(block_of(of_batch(batch, what, d.value, d)), expected), "what is given may lie in it"


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("name", ["arm7", "sprung"])
def test_what_is_not_finite_is_a_robots_and_changes_nothing(name, what, rng):
    model = sprung() if name == "sprung" else mbros.load(name)
    batch, x = made(model, NUMBER, rng, threads=2), rng.normal(size=(NUMBER, model.nv))
    d = of_batch(batch, what, x)
    before = block_of(d)
    batch.v[17, 1] = np.nan
    batch.q += 0.1
    with pytest.raises(mbros.NonFiniteError, match=r"^robot 17 of 21: derivatives of .*v\[1\] .* is nan"):
        of_batch(batch, what, x, d)
    assert np.array_equal(block_of(d), before)


def test_a_result_that_is_not_finite_leaves_the_others(rng):
    model = mbros.load("arm7")
    batch, tau = made(model, NUMBER, rng, threads=2), rng.normal(size=(NUMBER, 7))
    d, good = of_batch(batch, "forward_dynamics", tau), of_batch(batch, "forward_dynamics", tau)
    batch.v[13] = 1e200
    for J in (d.value, *d.values()):
        J[...] = 7.0
    with pytest.raises(mbros.NonFiniteError, match="^robot 13 of 21: derivatives of forward_dynamics"):
        of_batch(batch, "forward_dynamics", tau, d)
    others = [b for b in range(NUMBER) if b != 13]
    assert np.array_equal(block_of(d)[others], block_of(good)[others]) and (block_of(d)[13] == 7.0).all()


@pytest.mark.parametrize("name", ["arm7", "sprung"])
def test_other_rooms_are_refused_and_left_alone(name, rng):
    model = sprung() if name == "sprung" else mbros.load(name)
    batch, x = made(model, 5, rng), rng.normal(size=model.nv)
    other = made(model, 4, rng)
    for out in (3, of_batch(other, "forward_dynamics", x), of_batch(batch, "inverse_dynamics", x),
                diff.forward_dynamics(model, batch.state(0), x)):
        before = block_of(out).copy() if out != 3 else 3
        with pytest.raises(mbros.MbrosError, match="out: expected what an earlier call"):
            batch.forward_dynamics_derivatives(x, out=out)
        assert out == 3 or np.array_equal(block_of(out), before)
    with pytest.raises(mbros.MbrosError, match=re.escape("tau: expected shape (5, ")):
        batch.forward_dynamics_derivatives(rng.normal(size=(4, model.nv)))


def test_models_without_derivatives_are_refused_by_name(rng):
    b = mbros.ModelBuilder("rig")
    b.add_joint(mbros.CustomJoint("mine", b.world, seed_models.box(b, "B"), Slide()))
    with pytest.raises(mbros.MbrosError, match="^model 'rig': joint 'mine': .*no derivative is known"):
        made(b.build(), 3, rng).inverse_dynamics_derivatives([0.0])
    module = mbros_core.lanes()
    looped = mbros.load("four_bar")
    n, engine = looped.nv, module.Batch(module.Model(looped.spec))
    with pytest.raises(mbros.MbrosError, match="none that are analytic"):
        engine.compute("forward_dynamics_derivatives", *np.zeros((3, 1, n)), np.zeros((1, (1 + 3 * n) * n)))


@pytest.mark.parametrize("what", ["forward_dynamics", "inverse_dynamics"])
def test_what_has_no_derivative_is_said_as_of_one_robot(what):
    """The ends of a spring touch in one robot: its force there is a number, and has no slope."""
    b = mbros.ModelBuilder("touching")
    body = b.add_body("ball", 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(mbros.TranslationJoint("move", b.world, body))
    b.add_force_element(mbros.LinearSpringDamper(b.world, body, free_length=0.1, stiffness=1.0))
    model = b.build()
    q = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    with pytest.raises(mbros.NonFiniteError) as one:
        getattr(mbros.diff, what)(model, model.batch(q).state(1), np.zeros(3))
    with pytest.raises(mbros.NonFiniteError) as many:
        getattr(model.batch(q), f"{what}_derivatives")(np.zeros(3))
    assert str(many.value) == f"robot 1 of 2: {one.value}" and "as for the length of a spring whose ends touch" in str(one.value)
