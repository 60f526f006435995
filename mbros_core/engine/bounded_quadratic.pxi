# The minimum of a convex quadratic within bounds, g.d + d.H d / 2 with least <= d <= most: an active set that only grows.
# Included before inverse_kinematics.pxi.

from libc.math cimport fabs as abs_real, fmax as larger, sqrt as root


cdef struct Quadratic:
    int n
    double* H                   # (n, n) symmetric, positive definite
    double* g                   # (n)
    double* least               # (n) not above zero; -inf: no bound
    double* most                # (n) not below zero
    double* d                   # (n) the result
    double* L                   # (n, n) scratch, and
    double* b                   # (n)
    int* fixed                  # (n) 1 where a bound holds d


cdef void normal_equations(Quadratic* p, const double* A, const double* e, int rows, double damping) noexcept nogil:
    """The quadratic of least squares: H = A^T A + damping 1, g = A^T e, for `rows` rows."""
    cdef int i, k, r, n = p.n
    cdef double a
    cdef const double* row
    memset(p.H, 0, n * n * sizeof(double))
    memset(p.g, 0, n * sizeof(double))
    for r in range(rows):
        row = A + r * n
        for i in range(n):
            a = row[i]
            if a != 0.0:
                p.g[i] += a * e[r]
                for k in range(i + 1):
                    p.H[i * n + k] += a * row[k]
    for i in range(n):
        p.H[i * n + i] += damping
        for k in range(i):
            p.H[k * n + i] = p.H[i * n + k]


cdef void bounded_minimum(Quadratic* p) noexcept nogil:
    """d: every coordinate that would pass a bound is held there and the others are solved again."""
    cdef int i
    cdef double bound
    cdef bint again = True
    for i in range(p.n):            # at a bound and pushed against it
        p.fixed[i] = (p.least[i] >= 0.0 and p.g[i] > 0.0) or (p.most[i] <= 0.0 and p.g[i] < 0.0)
        p.d[i] = 0.0
    while again:
        again = False
        solve_free(p)
        for i in range(p.n):
            if not p.fixed[i]:
                bound = p.most[i] if p.d[i] > 0.0 else p.least[i]
                if abs_real(p.d[i]) > abs_real(bound):
                    p.d[i] = bound
                    p.fixed[i] = 1
                    again = True


cdef void solve_free(Quadratic* p) noexcept nogil:
    """H_ff d_f = -(g_f + H_fc d_c) by Cholesky's factors, c: the coordinates held at their d."""
    cdef int i, j, k, n = p.n
    cdef double x
    cdef double* L = p.L
    cdef double* H = p.H
    for i in range(n):
        if p.fixed[i]:
            continue
        x = -p.g[i]
        for k in range(n):
            if p.fixed[k]:
                x -= H[i * n + k] * p.d[k]
        for j in range(i + 1):
            if p.fixed[j]:
                continue
            L[i * n + j] = H[i * n + j]
            for k in range(j):
                if not p.fixed[k]:
                    L[i * n + j] -= L[i * n + k] * L[j * n + k]
            if j < i:
                L[i * n + j] /= L[j * n + j]
                x -= L[i * n + j] * p.b[j]
        L[i * n + i] = root(larger(L[i * n + i], 1e-16 * H[i * n + i]))
        p.b[i] = x / L[i * n + i]
    for i in range(n - 1, -1, -1):
        if p.fixed[i]:
            continue
        x = p.b[i]
        for k in range(i + 1, n):
            if not p.fixed[k]:
                x -= L[k * n + i] * p.d[k]
        p.d[i] = x / L[i * n + i]
