"""python -m benchmarks.constraints: the convex problem of contact, in a loop without the interpreter; beside it a Newton
step with dense matrices, as NumPy's LAPACK solves them.

Every robot stands on its contacts, pushed by its weight in one step of 1 ms and by a small blow; the first guess is rest, or the solution
itself. Times are the best of many batches, of this thread's CPU.
"""
import argparse
import time

import numpy as np

from benchmarks._timing import quiet, table
from mbros_core.constraints._solver import ConvexProblem

STIFF, STEP = 1e6, 1e-3


def on_path(tree, i):
    """Coordinates from the root to i."""
    found = []
    while i >= 0:
        found.append(i)
        i = int(tree[i])
    return found


def mass(rng, tree, first, last):
    """A matrix with the tree's sparsity: each coordinate carries what comes after it; `first` kg at the root, `last` at the ends."""
    M = np.zeros((len(tree), len(tree)))
    for i in range(len(tree)):
        a, path = np.zeros(len(tree)), on_path(tree, i)
        a[path] = rng.uniform(-1.0, 1.0, len(path))
        a[i] = 1.0
        M += (first if i < 6 else last) * np.outer(a, a)
    return M


def contact(J, push):
    """Normal, and friction of 0.8 times a normal impulse of `push`, N s."""
    return J, np.zeros(3), [("one_sided", 0, 1, STIFF * STEP * 6e-3, 0.0), ("friction", 1, 2, 1e4, 0.8 * push)]


def robot(rng, legs, joints):
    """A floating base with legs of so many joints, on its feet."""
    tree = [-1, 0, 1, 2, 3, 4] + [5 if k == 0 else 5 + leg * joints + k for leg in range(legs) for k in range(joints)]
    M, blocks = mass(rng, tree, 10.0, 0.5), []
    for leg in range(legs):
        J, path = np.zeros((3, len(tree))), on_path(tree, 5 + (leg + 1) * joints)
        J[:, path] = rng.uniform(-0.5, 0.5, (3, len(path)))
        J[0, 2] = J[1, 0] = J[2, 1] = 1.0
        blocks.append(contact(J, 0.1))
    v_star = 1e-2 * rng.normal(size=len(tree))
    v_star[2] -= 9.81 * STEP
    return M, v_star, blocks, tree


def boxes(rng, count):
    """Boxes of 1 to 10 kg piled up, four contacts each with one below it or the ground."""
    n = 6 * count
    M, blocks = np.diag(np.repeat(rng.uniform(1.0, 10.0, count), 6) * np.tile([0.01, 0.01, 0.01, 1.0, 1.0, 1.0], count)), []
    turn = np.array([[0, 0, 0, 0, 0, 1.0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]])
    for k in range(count):
        below = k - rng.integers(1, 4)
        for corner in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            J = np.zeros((3, n))
            for body, sign in ((k, 1.0), (below, -1.0)):
                if body >= 0:
                    x, y = 0.1 * np.array(corner) + 0.02 * rng.normal(size=2)
                    arm = np.array([[y, -x, 0, 0, 0, 0], [0, 0.1, -y, 0, 0, 0], [-0.1, 0, x, 0, 0, 0]])
                    J[:, 6 * body:6 * body + 6] = sign * (turn + arm)
            blocks.append(contact(J, 0.05))
    v_star = 1e-3 * rng.normal(size=n)
    v_star[5::6] -= 9.81 * STEP
    return M, v_star, blocks, [-1 if i % 6 == 0 else i - 1 for i in range(n)]


def dense_step(M, blocks):
    """us of one Newton step with full matrices: J^T G J, Cholesky, two solutions."""
    J, best = np.concatenate([J for J, _, _ in blocks]), np.inf
    G, g = np.full((len(J), 1), 100.0), np.ones(len(M))
    for _ in range(20):
        start = time.perf_counter_ns()
        np.linalg.solve(np.linalg.cholesky(M + J.T @ (G * J)), g)
        best = min(best, time.perf_counter_ns() - start)
    return best / 1e3


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constraints", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer batches")
    batches = 3 if parser.parse_args().quick else 15
    rng = np.random.default_rng(0)
    cases = {"box on four corners": boxes(rng, 1), "quadruped, 4 feet": robot(rng, 4, 3), "humanoid, 4 limbs of 7": robot(rng, 4, 7),
             "10 boxes in a pile": boxes(rng, 10), "30 boxes in a pile": boxes(rng, 30)}
    rows = []
    with quiet():
        for name, (M, v_star, blocks, tree) in cases.items():
            problem, rest = ConvexProblem(M, v_star, blocks, tree), np.zeros(len(M))
            x = problem.solve(rest)
            rounds = max(2, 20000 // len(M) ** 2)

            def best(guess, iterations=50, forget=False, problem=problem, rounds=rounds):
                return min(problem.nanoseconds(guess, 1e-8, iterations, rounds, forget) for _ in range(batches)) / 1e3

            cold, warm = best(rest), best(x.v)
            per_step = (cold - best(rest, 0)) / max(1, x.iterations)
            rows.append((name, len(M), len(blocks), x.iterations, x.evaluations, f"{cold:.2f}", f"{warm:.2f}", f"{per_step:.2f}",
                         f"{best(x.v, forget=True) - warm:.2f}", f"{dense_step(M, blocks):.1f}", "yes" if x.converged else "no"))
    table("one problem, us", ("scene", "nv", "contacts", "Newton steps", "tries", "from rest", "from the solution", "a step",
                                "a new pattern", "a dense step", "converged"), rows)


if __name__ == "__main__":
    main()
