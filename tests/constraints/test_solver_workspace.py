"""What a solution may not depend on, and what is refused."""
import numpy as np
import pytest
from constraint_rigs import Case, paths, random_case, random_mass, random_tree

from mbros_core.constraints._solver import ConvexProblem
from mbros_core.errors import MbrosError


def test_where_nothing_acts_v_star_comes_back_to_the_bit():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, 12)
        M, v_star, J = random_mass(rng, tree), rng.normal(size=12), rng.normal(size=(3, 12)) * paths(tree)[11]
        apart = J[:1] @ v_star - rng.random()
        blocks = [(J[:1], apart, [("one_sided", 0, 1, 1e6, 0.0)]), (J, np.zeros(3), [("friction", 0, 3, 1e6, 0.0)]),
                  (J, np.zeros(3), [("equality", 0, 3, 0.0, 0.0)]), (J, np.zeros(3), [])]
        x = Case(M, v_star, blocks, tree).problem().solve(rng.normal(size=12))
        assert x.converged and x.iterations == 0 and (x.v == v_star).all() and not x.impulses.any() and x.cost == 0.0


def test_a_poisoned_workspace_gives_the_same_bits():
    for seed in range(200):
        case = random_case(np.random.default_rng(seed))
        problem = case.problem()
        first = problem.solve()
        problem.poison()
        again, other = problem.solve(), case.problem()
        other.poison(1e300)
        other = other.solve()
        for a, b, c in zip(first, again, other):
            assert np.array_equal(a, b) and np.array_equal(a, c), seed


def test_the_order_of_elimination_changes_no_more_than_rounding():
    """A forest whose trees are coupled, and the same as one tree with every pair of coordinates on its path."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = 5
        tree = np.array([-1 if i % 3 == 0 else i - 1 for i in range(3 * n)])
        M, blocks = random_mass(rng, tree), []
        for _ in range(6):
            J = np.zeros((3, 3 * n))
            for body in rng.choice(n, size=2, replace=False):
                J[:, 3 * body:3 * body + 3] = rng.normal(size=(3, 3))
            blocks.append((J, 0.1 * rng.normal(size=3), [("one_sided", 0, 1, 1e3, 0.0), ("friction", 1, 2, 1e3, 1.0)]))
        v_star = rng.normal(size=3 * n)
        one = ConvexProblem(M, v_star, blocks, tree).solve(tolerance=1e-12)
        chain = ConvexProblem(M, v_star, blocks, np.arange(3 * n) - 1).solve(tolerance=1e-12)
        assert one.converged and chain.converged
        assert np.abs(one.v - chain.v).max() <= 1e-8 * np.abs(one.v).max(), seed


def test_room_that_is_used_up_refuses_quietly():
    problem = random_case(np.random.default_rng(5), nv=12, blocks=5).problem()
    before = problem.solve()
    assert problem.refuses_more() == (-1, -1)
    after = problem.solve()
    assert all(np.array_equal(a, b) for a, b in zip(before, after))


GOOD = (np.array([[1.0, 0.0], [0.0, 1.0]]), [0.0, 0.0], [("equality", 0, 2, 1.0, 0.0)])


@pytest.mark.parametrize("given, words", [
    ({"M": [[1.0, 0.5], [0.4, 1.0]]}, "M: expected a symmetric matrix"),
    ({"M": [[1.0, 2.0], [2.0, 1.0]]}, "M is not positive definite"),
    ({"M": "heavy"}, "M: expected numbers"),
    ({"v_star": [1.0]}, "v_star: expected 2 numbers"),
    ({"v_star": [1.0, float("nan")]}, "v_star[1] is nan; expected a finite number"),
    ({"tree": [0, -1]}, "tree: expected 2 numbers, each a smaller coordinate or -1"),
    ({"M": [[2.0, 1.0], [1.0, 2.0]], "tree": [-1, -1]}, "M[1, 0] is not zero"),
    ({"blocks": [(np.ones((7, 2)), np.zeros(7), [])]}, "blocks[0] J: expected 1 to 6 rows, got 7"),
    ({"blocks": [(*GOOD[:2], [("sticky", 0, 1, 1.0, 0.0)])]}, "expected (one of equality, one_sided, friction;"),
    ({"blocks": [(*GOOD[:2], [("one_sided", 0, 2, 1.0, 0.0)])]}, "at most 1 for one_sided"),
    ({"blocks": [(*GOOD[:2], [("equality", 1, 2, 1.0, 0.0)])]}, "rows 1 to 2 of a block of 2"),
    ({"blocks": [(*GOOD[:2], [("friction", 0, 2, -1.0, 0.0)])]}, "weight -1 and bound 0; expected zero or more"),
    ({"blocks": [GOOD[:2]]}, "blocks[0]: expected (J, target, terms)"),
])
def test_what_makes_no_problem_is_refused(given, words):
    numbers = {"M": np.eye(2), "v_star": [0.0, 0.0], "blocks": [GOOD], "tree": None, **given}
    with pytest.raises(MbrosError) as refused:
        ConvexProblem(numbers["M"], numbers["v_star"], numbers["blocks"], numbers["tree"])
    assert words in str(refused.value)


def test_solve_linear_before_solve_is_refused():
    with pytest.raises(MbrosError, match="solve first"):
        ConvexProblem(np.eye(2), [0.0, 0.0], [GOOD]).solve_linear([1.0, 0.0])
