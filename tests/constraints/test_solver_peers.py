"""The same minimum by other ways: SciPy's trust region on the primal, projected gradients on the dual."""
import numpy as np
import pytest
from constraint_rigs import Case, paths, random_mass, random_tree


def mild_case(rng):
    """Weights within 1e4 of each other, for methods that are no match for more."""
    tree = random_tree(rng, int(rng.integers(2, 13)))
    M, on = random_mass(rng, tree), paths(tree)
    M /= np.sqrt(np.outer(np.diag(M), np.diag(M)))
    blocks = []
    for _ in range(rng.integers(1, 5)):
        J = rng.normal(size=(3, len(tree))) * on[rng.choice(len(tree), size=min(2, len(tree)), replace=False)].any(axis=0)
        weight = 10.0 ** rng.uniform(-1, 2)
        contact = [("one_sided", 0, 1, weight, 0.0), ("friction", 1, 2, 10.0 ** rng.uniform(-1, 2), rng.uniform(0, 2))]
        blocks.append((J, 0.3 * rng.normal(size=3), contact if rng.random() < 0.7 else [("equality", 0, 3, weight, 0.0)]))
    return Case(M, rng.normal(size=len(tree)), blocks, tree)


def test_scipy_finds_the_same():
    optimize = pytest.importorskip("scipy.optimize")
    for seed in range(200):
        case = mild_case(np.random.default_rng(seed))
        x = case.problem().solve(tolerance=1e-12)

        def slope(v, case=case):
            return case.M @ (v - case.v_star) - case.J.T @ case.impulses(case.J @ v - case.target)

        other = optimize.minimize(case.cost, case.v_star, jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
        assert np.abs(other.x - x.v).max() <= 1e-5, (seed, np.abs(other.x - x.v).max())
        assert case.cost(x.v) <= other.fun + 1e-12 * (1.0 + abs(other.fun)), seed


def test_projected_gradients_on_the_dual_find_the_same():
    """Impulses f minimise 1/2 f^T W f - b^T f + |f|^2 / (2 weight) with f >= 0 or |f| <= bound: accelerated projected gradients
    (Nesterov 1983), with restarts."""
    for seed in range(100):
        case = mild_case(np.random.default_rng(seed))
        x = case.problem().solve(tolerance=1e-12)
        soft = np.zeros(len(case.target))
        for _, rows, weight, _ in case.terms:
            soft[rows] = 1.0 / weight
        W = case.J @ np.linalg.solve(case.M, case.J.T) + np.diag(soft)
        b = case.target - case.J @ case.v_star
        f = before = np.zeros(len(b))
        size, momentum = 1.0 / np.linalg.eigvalsh(W)[-1], 1.0
        for _ in range(20000):
            ahead = f + (momentum - 1.0) / (momentum + 2.0) * (f - before)
            momentum += 1.0
            after = ahead - size * (W @ ahead - b)
            for kind, rows, _, bound in case.terms:
                if kind == "one_sided":
                    after[rows] = np.maximum(after[rows], 0.0)
                elif kind == "friction":
                    after[rows] *= min(1.0, bound / max(np.linalg.norm(after[rows]), 1e-300))
            if (ahead - after) @ (after - f) > 0.0:
                momentum = 1.0
            before, f = f, after
            if np.abs(f - before).max() < 1e-15:
                break
        assert np.abs(f - x.impulses).max() <= 1e-6 * (1.0 + np.abs(f).max()), (seed, np.abs(f - x.impulses).max())
