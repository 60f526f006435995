"""Problems of equalities alone: one linear solution is Newton's, and the dense one."""
import numpy as np
import pytest
from constraint_rigs import Case, paths, random_mass, random_tree

from mbros_core.constraints._solver import ConvexProblem
from mbros_core.errors import MbrosError


def random_springs(rng, nv, heaviest):
    """Springs at the ends of one or two paths, as force elements between bodies are: a term and a weight for every row."""
    tree = random_tree(rng, nv)
    M, on = random_mass(rng, tree), paths(tree)
    inverse, blocks = np.linalg.inv(M), []
    for _ in range(rng.integers(1, 7)):
        columns = on[rng.choice(nv, size=min(nv, rng.choice([1, 2])), replace=False)].any(axis=0)
        J = rng.normal(size=(rng.integers(1, 7), nv)) * columns
        weights = 10.0 ** rng.uniform(-3, heaviest, len(J)) / np.diag(J @ inverse @ J.T)
        blocks.append((J, rng.normal(size=len(J)), [("equality", k, 1, w, 0.0) for k, w in enumerate(weights)]))
    return Case(M, rng.normal(size=nv), blocks, tree)


def apart(case, a, b):
    """|a - b| over |b|, both in the metric of M."""
    return np.sqrt((a - b) @ case.M @ (a - b) / (b @ case.M @ b))


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_dense_solution_and_newtons(seed):
    rng = np.random.default_rng(seed)
    case = random_springs(rng, 6 if seed % 2 else rng.integers(1, 25), 3)       # 6: the coordinates of a free body
    weights = np.array([weight for _, _, weight, _ in case.terms])
    H = case.M + case.J.T @ (weights[:, None] * case.J)
    v = np.linalg.solve(H, case.M @ case.v_star + case.J.T @ (weights * case.target))
    problem = case.problem()
    problem.poison()
    x = problem.solve_bilateral()
    assert x.converged and x.iterations == 1
    rounding = 1e-14 * np.linalg.cond(H)
    assert apart(case, x.v, v) < rounding
    assert apart(case, x.v, case.problem().solve(tolerance=1e-14).v) < rounding
    np.testing.assert_allclose(x.impulses, case.impulses(x.y), rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_weights_far_beyond_the_mass_are_met(seed):
    """A bushing of 1e10 N/m: where one step leaves a residual, Newton's method goes on from there."""
    case = random_springs(np.random.default_rng(100 + seed), 12, 9)
    x = case.problem().solve_bilateral()
    assert x.converged and case.residual(x) <= max(1e-8, 100.0 * case.rounding(x))


def test_its_factor_serves_derivatives():
    case = random_springs(np.random.default_rng(7), 9, 3)
    problem, other = case.problem(), case.problem()
    problem.solve_bilateral()
    other.solve(tolerance=1e-14)
    np.testing.assert_allclose(problem.solve_linear(np.ones(9)), other.solve_linear(np.ones(9)), rtol=1e-9)


def test_it_refuses_other_terms():
    problem = ConvexProblem([[1.0]], [1.0], [([[1.0]], [0.0], [("one_sided", 0, 1, 1.0, 0.0)])])
    with pytest.raises(MbrosError, match="term 0 is one-sided or friction; expected equalities alone; use solve"):
        problem.solve_bilateral()
