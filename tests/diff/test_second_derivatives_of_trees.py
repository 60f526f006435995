"""Second derivatives of inverse dynamics by every way there is, on every tree of the zoo, with force elements and without."""
import numpy as np
import pytest
import robots
import zoo
from second_ways import WITHIN, agree, first, over_duals, with_equations
from test_diff_elements import KINDS, MOVING, anywhere, with_elements

import mbros_core

RPY = {"ball_rpy", "floating_rpy"}
ALL_OTHERS = ("floating", "planar", "universal", "ball", "cylindrical", "circular", "screw", "translation2", "translation3", "prismatic")


@pytest.mark.parametrize("wrenches", [False, True])
@pytest.mark.parametrize("name", zoo.NAMES)
def test_every_tree_of_the_zoo(name, wrenches, rng):
    case = robots.Case(name, rng, wrenches=wrenches)
    agree(case.model, case.state, case.tau)
    assert (with_equations(case.model, case.state, case.tau) is None) == bool(RPY & set(case.spec.joint_kind))


@pytest.mark.parametrize("name", MOVING)
def test_with_force_elements_between_any_bodies(name, rng):
    """Each kind twice, beside the user's wrenches, which are those of no element."""
    spec = zoo.spec(name)
    model, state = with_elements(spec, anywhere(spec, rng, 2 * len(KINDS)), rng)
    state.external_force[:] = rng.normal(size=state.external_force.shape)
    agree(model, state, rng.normal(size=model.nv))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("A, C", [(0, 4), (1, 4), (4, 7), (8, 6)])
def test_each_kind_alone(kind, A, C, rng):
    model, state = with_elements(zoo.spec("branched"), [(A, C)], rng, (kind,))
    agree(model, state, rng.normal(size=model.nv))


@pytest.mark.parametrize("name", ["all_kinds", "mimic", "two_ball_rpy"])
def test_locks_change_nothing(name, rng):
    spec = zoo.spec(name)
    model, state = with_elements(spec, anywhere(spec, rng, 6), rng)
    vdot = rng.normal(size=model.nv)
    free = over_duals(model, state, vdot)
    for number, (_, _, v) in enumerate(zoo.slices(spec)[::2]):
        state.field("lock")[v] = 1 + number % 2
        state.field("a_given")[v] = rng.normal(size=v.stop - v.start) * (number % 2)
    agree(model, state, vdot)
    assert np.array_equal(over_duals(model, state, vdot), free)


@pytest.mark.parametrize("kind, in_child", [("ball", True), ("ball_rpy", False), ("floating", True), ("floating_rpy", False)])
def test_what_columns_that_turn_make_of_the_order(kind, in_child, rng):
    """q_q[:, j, k] - q_q[:, k, j] is dtau/dq along the commutator of both columns: of axes in the child, of those in the parent with the
    other sign; translations of the parent's commute."""
    spec = zoo.build("order", zoo.chain([kind, "revolute"]))
    model, state = with_elements(spec, [(0, 1), (0, 2), (1, 2)], rng, ("bushing_quaternion", "spring_damper", "body_wrench"))
    vdot = rng.normal(size=model.nv)
    q_q, by_q = over_duals(model, state, vdot)[0], first(model, state, vdot)[0]
    crossed = q_q - q_q.transpose(0, 2, 1)
    exact = np.zeros_like(crossed)
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        terms = [(a, b, c)]
        if kind.startswith("floating"):
            terms += [(a, 3 + b, 3 + c), (b, 3 + a, 3 + c)] if in_child else []
        for j, k, of in terms:
            sign = (-1 if (j, k % 3, of % 3) == (a, b, c) else 1) * (1 if in_child else -1)
            exact[:, j, k], exact[:, k, j] = sign * by_q[:, of], -sign * by_q[:, of]
    assert np.abs(crossed - exact).max() <= WITHIN * np.abs(q_q).max()


@pytest.mark.parametrize("kinds", [ALL_OTHERS, ALL_OTHERS[::-1]])
def test_chains_of_all_kinds_but_charts(kinds, rng):
    model = mbros_core.Model(zoo.build("others", zoo.chain(kinds), friction=True))
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(model.spec, rng), rng.normal(size=model.nv)
    state.external_force[:] = rng.normal(size=state.external_force.shape)
    agree(model, state, rng.normal(size=model.nv))


@pytest.mark.parametrize("name", ["mixed", "two_floating_rpy"])
def test_at_rest_and_fast(name, rng):
    case = robots.Case(name, rng)
    for speed in (0.0, 1e-3, 30.0):
        case.state.v[:] = speed * case.v
        agree(case.model, case.state, case.tau)
