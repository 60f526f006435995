"""Random convex problems, and what is asked of every solution."""
import numpy as np
from tolerance import EPS

from mbros_core.constraints._solver import ConvexProblem


class Case:
    """The numbers of one problem: M, v_star, blocks, tree, and J, target, weights of all its rows together."""

    def __init__(self, M, v_star, blocks, tree=None):
        self.M, self.v_star, self.blocks, self.tree = M, v_star, blocks, tree
        self.J = np.concatenate([J for J, _, _ in blocks]) if blocks else np.zeros((0, len(M)))
        self.target = np.concatenate([target for _, target, _ in blocks]) if blocks else np.zeros(0)
        starts = np.cumsum([0, *(len(J) for J, _, _ in blocks)])
        self.terms = [(kind, slice(s + row, s + row + rows), weight, bound)
                      for s, (_, _, terms) in zip(starts, blocks) for kind, row, rows, weight, bound in terms]

    def problem(self):
        return ConvexProblem(self.M, self.v_star, self.blocks, self.tree)

    def impulses(self, y):
        """-dl/dy, from the definition."""
        f = np.zeros(len(y))
        for kind, rows, weight, bound in self.terms:
            x = y[rows]
            size = np.linalg.norm(x)
            if kind == "equality":
                f[rows] -= weight * x
            elif kind == "one_sided":
                f[rows] -= weight * np.minimum(x, 0.0)
            elif size > 0.0:
                f[rows] -= min(weight, bound / size) * x
        return f

    def hessian(self, y):
        """M + J^T d2l/dy2 J."""
        G = np.zeros((len(y), len(y)))
        for kind, rows, weight, bound in self.terms:
            x, eye = y[rows], np.eye(rows.stop - rows.start)
            size = np.linalg.norm(x)
            if kind == "equality" or kind == "one_sided" and x[0] < 0.0 or kind == "friction" and bound > 0.0 and weight * size <= bound:
                G[rows, rows] += weight * eye
            elif kind == "friction" and size > 0.0:
                G[rows, rows] += bound / size * (eye - np.outer(x, x) / size**2)
        return self.M + self.J.T @ G @ self.J

    def cost(self, v):
        e = v - self.v_star
        y = self.J @ v - self.target
        total = 0.5 * e @ self.M @ e
        for kind, rows, weight, bound in self.terms:
            size = np.linalg.norm(y[rows])
            if kind == "equality":
                total += 0.5 * weight * size**2
            elif kind == "one_sided":
                total += 0.5 * weight * min(y[rows][0], 0.0) ** 2
            else:
                total += 0.5 * weight * size**2 if weight * size <= bound else bound * (size - 0.5 * bound / weight)
        return total

    def residual(self, solution):
        """|M (v - v*) - J^T impulses| over the momenta, in the units of the root of an energy, from the solution's own v and impulses."""
        unit = 1.0 / np.sqrt(np.diag(self.M))
        pull = self.J.T @ solution.impulses
        scale = max(np.linalg.norm(self.v_star / unit), np.linalg.norm(pull * unit))
        return np.linalg.norm((self.M @ (solution.v - self.v_star) - pull) * unit) / scale if scale > 0.0 else 0.0

    def rounding(self, solution):
        """What rounding may leave of it, where large impulses cancel."""
        unit = 1.0 / np.sqrt(np.diag(self.M))
        pull = np.abs(self.J.T) @ np.abs(solution.impulses) + np.abs(self.M) @ (np.abs(solution.v) + np.abs(self.v_star))
        scale = max(np.linalg.norm(self.v_star / unit), np.linalg.norm((self.J.T @ solution.impulses) * unit))
        return 64 * EPS * np.linalg.norm(pull * unit) / scale if scale > 0.0 else 0.0

    def gap(self, solution, guess):
        """How far y is from J v - target, over the size of what is subtracted from each other, and of the first guess's."""
        y = self.J @ solution.v - self.target
        size = np.abs(self.J) @ (np.abs(solution.v) + np.abs(guess) + np.abs(self.v_star)) + np.abs(self.target) + 1e-300
        return (np.abs(y - solution.y) / size).max(initial=0.0)


def paths(tree):
    """(nv, nv) bool: whether j is i or an ancestor of i."""
    on = np.eye(len(tree), dtype=bool)
    for i, parent in enumerate(tree):
        if parent >= 0:
            on[i] |= on[parent]
    return on


def random_tree(rng, nv):
    """Chains, bushes and forests."""
    lag = rng.choice([1, 2, 4, 100])
    tree = np.array([max(-1, i - 1 - rng.integers(lag)) for i in range(nv)])
    tree[rng.random(nv) < rng.choice([0.0, 0.1, 0.4])] = -1
    return tree


def random_mass(rng, tree):
    """A mass matrix with the sparsity of the tree: each coordinate moves all behind it; masses from 1 to 1000."""
    on = paths(tree)
    M = np.zeros(on.shape)
    for i in range(len(tree)):
        a = np.where(on[i], rng.normal(size=len(tree)), 0.0)
        a[i] = 1.0 + abs(a[i])
        M += 10.0 ** rng.uniform(0, 3) * np.outer(a, a)
    return M


def random_block(rng, on, scale):
    """Rows on one path, or on several: a contact, a loop, a rope, a servo. Weights over the effective mass from 1e-3 to 1e8."""
    nv = len(on)
    ends = rng.choice(nv, size=min(nv, rng.choice([1, 1, 2, 3])), replace=False)
    columns = on[ends].any(axis=0)
    kind = rng.choice(["contact", "loop", "rope", "slide", "redundant", "servo"])
    rows = {"contact": 3, "loop": rng.integers(1, 7), "rope": 1, "slide": rng.integers(1, 4), "redundant": rng.integers(2, 7),
            "servo": 2}[kind]
    J = rng.normal(size=(rows, nv)) * columns
    if kind == "redundant":
        J[1:] = rng.normal(size=(rows - 1, 1)) * J[0]
    if kind == "servo":
        J[:] = 0.0
        J[:, ends[0]] = 1.0
    target = rng.normal(size=rows) * rng.choice([0.0, 0.1, 1.0])
    weight = scale(J) * 10.0 ** rng.uniform(-3, 8)
    bound = rng.choice([0.0, 1.0, 1e12]) * 10.0 ** rng.uniform(-2, 3)
    if kind == "contact":
        terms = [("one_sided", 0, 1, weight, 0.0), ("friction", 1, 2, weight * 10.0 ** rng.uniform(-2, 2), bound)]
    elif kind == "rope":
        terms = [("one_sided", 0, 1, weight, 0.0)]
    elif kind == "slide":
        terms = [("friction", 0, rows, weight, bound)]
    elif kind == "servo":
        terms = [("equality", 0, 1, weight, 0.0), ("friction", 1, 1, scale(J), bound)]
    else:
        terms = [("equality", 0, rows, weight, 0.0)]
    return J, target, terms


def random_case(rng, nv=None, blocks=None):
    nv = rng.integers(1, 41) if nv is None else nv
    tree = random_tree(rng, nv)
    M, on = random_mass(rng, tree), paths(tree)
    inverse = np.linalg.inv(M)

    def effective_mass(J):
        return len(J) / max(1e-12, np.trace(J @ inverse @ J.T))

    count = rng.integers(0, 9) if blocks is None else blocks
    return Case(M, rng.normal(size=nv), [random_block(rng, on, effective_mass) for _ in range(count)], tree)
