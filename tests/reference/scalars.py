"""What the reference asks of a number: sine, cosine, square root and what force elements need, of whatever it is given; a solver."""
import cmath
import math

import numpy as np


def _function(name):
    """The function `name` for floats, complex numbers, objects with a method of that name, and SymPy expressions."""
    real, complex_ = getattr(math, name), getattr(cmath, name)

    def apply(x):
        if isinstance(x, (complex, np.complexfloating)):
            return complex_(x)
        if hasattr(x, name):
            return getattr(x, name)()
        if type(x).__module__.startswith("sympy"):
            import sympy
            return getattr(sympy, name)(x)
        return real(x)

    apply.__name__ = name
    return apply


sin = _function("sin")
cos = _function("cos")
sqrt = _function("sqrt")
exp = _function("exp")
tanh = _function("tanh")


def atan2(y, x):
    """The angle of (x, y); analytic for complex steps: the real angle, and the arc tangent of what is left beside it."""
    if not any(isinstance(a, (complex, np.complexfloating)) for a in (x, y)):
        return y.atan2(x) if hasattr(y, "atan2") else math.atan2(y, x)
    x, y = complex(x), complex(y)
    angle = math.atan2(y.real, x.real)
    s, c = math.sin(angle), math.cos(angle)
    return angle + cmath.atan((y * c - x * s) / (x * c + y * s))


def vector(values):
    """A 1-D array that keeps the kind of scalar it is given (float, complex, or object for everything else)."""
    a = np.asarray(values)
    return a.astype(float) if a.dtype.kind in "iub" else a


def zeros(*shape):
    """Exact zeros that take on the kind of whatever is added to them."""
    return np.zeros(shape, dtype=int)


def solve(A, B):
    """X with A X = B for a symmetric, positive definite A, by A = L D L^T without pivoting.

    Only + - * / on the elements, so that it works for any scalar and is analytic for complex steps.
    A (n, n); B (n,) or (n, m); n may be 0.
    """
    n = len(A)
    L = [[A[i, j] for j in range(n)] for i in range(n)]
    D = [None] * n
    # A_ij = sum_k L_ik D_k L_jk
    for j in range(n):
        D[j] = L[j][j] - sum((L[j][k] * L[j][k] * D[k] for k in range(j)), 0)
        for i in range(j + 1, n):
            L[i][j] = (L[i][j] - sum((L[i][k] * L[j][k] * D[k] for k in range(j)), 0)) / D[j]
    X = [B[i] for i in range(n)]
    # L y = b, then D z = y, then L^T x = z
    for i in range(n):
        for k in range(i):
            X[i] = X[i] - X[k] * L[i][k]
    X = [X[i] / D[i] for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            X[i] = X[i] - X[k] * L[k][i]
    return np.array(X) if n else zeros(*np.shape(B))
