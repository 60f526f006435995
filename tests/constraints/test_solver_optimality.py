"""Every solution is the minimum: its gradient is zero, its impulses are those of its velocities. MBROS_CASES=100000 for a long run."""
import os

import numpy as np
import pytest
from constraint_rigs import random_case

CASES = int(os.environ.get("MBROS_CASES", "2000"))
CHUNKS = 8


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_problems(chunk):
    worst, steps = 0.0, []
    for seed in range(chunk, CASES, CHUNKS):
        rng = np.random.default_rng(seed)
        case = random_case(rng)
        guess = case.v_star if rng.random() < 0.5 else rng.normal(size=len(case.M))
        x = case.problem().solve(guess)
        residual = case.residual(x)
        assert x.converged and residual <= 1.01e-8 + case.rounding(x), (seed, x.residual, residual, x.iterations)
        assert case.gap(x, guess) <= 1e-12, (seed, case.gap(x, guess))
        np.testing.assert_allclose(x.impulses, case.impulses(x.y), rtol=1e-12, atol=1e-300, err_msg=str(seed))
        worst = max(worst, residual - case.rounding(x))
        steps.append(x.iterations)
    print(f"worst residual above rounding {worst:.2e}; iterations: mean {np.mean(steps):.2f}, "
          f"99 % {np.percentile(steps, 99):.0f}, most {max(steps)}")
    assert max(steps) > 1


def test_any_other_velocity_costs_more():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        case = random_case(rng)
        x = case.problem().solve()
        least = case.cost(x.v)
        assert abs(x.cost - least) <= 1e-6 * abs(least) + 1e-12, seed
        for size in (1e-3, 1e-1, 1.0):
            other = x.v + size * rng.normal(size=len(x.v)) / np.sqrt(np.diag(case.M))
            assert case.cost(other) > least, (seed, size)


def test_a_second_solution_from_the_first_takes_no_step():
    for seed in range(100):
        problem = random_case(np.random.default_rng(seed)).problem()
        x = problem.solve()
        again = problem.solve(x.v, tolerance=1e-6)
        assert again.converged and again.iterations <= 1, seed


def test_a_bound_on_the_iterations_is_kept_and_told():
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(50):
        problem = random_case(rng).problem()
        if problem.solve().iterations < 3:
            continue
        x = problem.solve(iterations=1)
        assert x.iterations == 1 and not x.converged and x.residual > 1e-8
        seen += 1
    assert seen > 3


def test_solve_linear_is_the_inverse_of_the_hessian():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        case = random_case(rng, blocks=3)
        problem = case.problem()
        x = problem.solve()
        H = case.hessian(x.y)
        rhs = rng.normal(size=len(H))
        unit = 1.0 / np.sqrt(np.diag(H))
        left = H @ problem.solve_linear(rhs) - rhs
        assert np.linalg.norm(left * unit) <= 1e-5 * np.linalg.norm(rhs * unit), seed
