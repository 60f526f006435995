"""The derivative of the residual where friction's bounds follow normal impulses: H - U V^T, with a column of U and V for each contact that
slips (coulomb.pxd). H is that of factor.pxd; a contact's U and V lie in its block, so the sum has the pattern of H, but no symmetry.

Gauss' elimination along the elimination tree, from the last position to the first, without exchanges. Row k of p.H holds the entries
(k, i), i < k, row k of p.upper the entries (i, k). A pivot may have any sign; one that is nothing beside the inertia is refused, and the
caller takes another way.
"""
from libc.math cimport fabs

from mbros_core.constraints.factor cimport add_row, add_three, copy_row
from mbros_core.constraints.problem cimport Block, Problem, Run

cdef extern from *:
    """
    static const double MBROS_LEAST_PIVOT = 1e-9;
    """
    const double LEAST_PIVOT "MBROS_LEAST_PIVOT"        # over M_ii


cdef inline const int* first_runs(const Problem* p) noexcept nogil:
    return p.fill_row if p.coupled else p.tree_row

cdef inline const Run* runs(const Problem* p) noexcept nogil:
    return p.fill_run if p.coupled else p.tree_run


cdef inline void mirror(Problem* p) noexcept nogil:
    """p.upper from the lower triangle of H, which assemble() made."""
    cdef Py_ssize_t nv = p.nv
    cdef const int* first = first_runs(p)
    cdef const Run* run = runs(p)
    cdef Py_ssize_t k
    cdef int n
    for k in range(nv):
        for n in range(first[k], first[k + 1]):
            copy_row(p.upper + k * nv + run[n].start, p.H + k * nv + run[n].start, run[n].stop - run[n].start)


cdef inline void subtract_outer(Problem* p, int n, const double* u, const double* v) noexcept nogil:
    """H -= u v^T over the columns of block n."""
    cdef const Block* b = &p.block[n]
    cdef const int* at = p.at + b.first_dof
    cdef const Run* run
    cdef Py_ssize_t row
    cdef int a
    cdef int r
    cdef int c
    cdef int stop
    for a in range(b.dofs):
        row = at[a] * <Py_ssize_t>p.nv
        for r in range(p.block_row[n], p.block_row[n + 1]):
            run = &p.block_run[r]
            if run.start > a:
                break
            c = run.start
            stop = run.stop if run.stop <= a else a
            add_row(p.H + row + at[c], v + c, -u[a], stop - c)
            add_row(p.upper + row + at[c], u + c, -v[a], stop - c)
        p.H[row + at[a]] -= u[a] * v[a]


cdef inline bint is_pivot(const Problem* p, Py_ssize_t k, double d) noexcept nogil:
    return LEAST_PIVOT * p.mass[k] < fabs(d) < 1e300


cdef inline int factorise_coupled(Problem* p) noexcept nogil:
    """1 / D in pivot; returns 0 where a pivot is too small."""
    cdef const int* first = first_runs(p)
    cdef const Run* run = runs(p)
    cdef const int* group = p.fill_group if p.coupled else p.tree_group
    cdef int g
    for g in range((p.fill_groups if p.coupled else p.tree_groups) - 1, -1, -1):
        if not (eliminate_one(p, group[g], first, run) if group[g + 1] == group[g] + 1 else eliminate_group(p, group[g], first, run)):
            return 0
    return 1


cdef inline int eliminate_one(Problem* p, Py_ssize_t k, const int* first, const Run* run) noexcept nogil:
    """Row and column k out of those below."""
    cdef Py_ssize_t nv = p.nv
    cdef const double* low = p.H + k * nv
    cdef const double* up = p.upper + k * nv
    cdef double x
    cdef double y
    cdef int n
    cdef int m
    cdef int i
    cdef int j
    if not is_pivot(p, k, low[k]):
        return 0
    p.pivot[k] = 1.0 / low[k]
    for n in range(first[k], first[k + 1]):
        for i in range(run[n].stop - 1, run[n].start - 1, -1):
            x, y = up[i] * p.pivot[k], low[i] * p.pivot[k]
            j = run[n].start
            add_row(p.H + i * nv + j, low + j, -x, i + 1 - j)
            add_row(p.upper + i * nv + j, up + j, -y, i - j)
            for m in range(n + 1, first[k + 1]):
                j = run[m].start
                add_row(p.H + i * nv + j, low + j, -x, run[m].stop - j)
                add_row(p.upper + i * nv + j, up + j, -y, run[m].stop - j)
    return 1


cdef inline int eliminate_group(Problem* p, Py_ssize_t k, const int* first, const Run* run) noexcept nogil:
    """Rows and columns k + 2, k + 1 and k, in this order, out of those below k."""
    cdef Py_ssize_t nv = p.nv
    cdef double* a = p.H + k * nv
    cdef double* b = a + nv
    cdef double* c = b + nv
    cdef double* ua = p.upper + k * nv
    cdef double* ub = ua + nv
    cdef double* uc = ub + nv
    cdef double xa
    cdef double xb
    cdef double xc
    cdef double ya
    cdef double yb
    cdef double yc
    cdef double r
    cdef int n
    cdef int m
    cdef int i
    cdef int j
    if not is_pivot(p, k + 2, c[k + 2]):
        return 0
    r = 1.0 / c[k + 2]
    xb, xa, yb, ya = uc[k + 1] * r, uc[k] * r, c[k + 1] * r, c[k] * r
    b[k + 1] -= xb * c[k + 1]
    b[k] -= xb * c[k]
    ub[k] -= yb * uc[k]
    if not is_pivot(p, k + 1, b[k + 1]):
        return 0
    p.pivot[k + 2], r = r, 1.0 / b[k + 1]
    xc, yc = ub[k] * r, b[k] * r
    a[k] -= xa * c[k] + xc * b[k]
    if not is_pivot(p, k, a[k]):
        return 0
    p.pivot[k + 1], p.pivot[k] = r, 1.0 / a[k]
    for n in range(first[k], first[k + 1]):
        for j in range(run[n].start, run[n].stop):
            b[j] -= xb * c[j]
            ub[j] -= yb * uc[j]
            a[j] -= xa * c[j] + xc * b[j]
            ua[j] -= ya * uc[j] + yc * ub[j]
    for n in range(first[k], first[k + 1]):
        for i in range(run[n].stop - 1, run[n].start - 1, -1):
            xa, xb, xc = ua[i] * p.pivot[k], ub[i] * p.pivot[k + 1], uc[i] * p.pivot[k + 2]
            ya, yb, yc = a[i] * p.pivot[k], b[i] * p.pivot[k + 1], c[i] * p.pivot[k + 2]
            j = run[n].start
            add_three(p.H + i * nv + j, a + j, b + j, c + j, -xa, -xb, -xc, i + 1 - j)
            add_three(p.upper + i * nv + j, ua + j, ub + j, uc + j, -ya, -yb, -yc, i - j)
            for m in range(n + 1, first[k + 1]):
                j = run[m].start
                add_three(p.H + i * nv + j, a + j, b + j, c + j, -xa, -xb, -xc, run[m].stop - j)
                add_three(p.upper + i * nv + j, ua + j, ub + j, uc + j, -ya, -yb, -yc, run[m].stop - j)
    return 1


cdef inline void substitute_coupled(const Problem* p, const double* low, const double* up, double* x) noexcept nogil:
    """x := (H - U V^T)^-1 x by positions, with low = p.H and up = p.upper; with the two exchanged, that of its transpose."""
    cdef const int* first = first_runs(p)
    cdef const Run* run = runs(p)
    cdef Py_ssize_t nv = p.nv
    cdef Py_ssize_t k
    cdef const double* row
    cdef double s
    cdef int n
    cdef int i
    for k in range(nv - 1, -1, -1):
        x[k] *= p.pivot[k]
        row = up + k * nv
        for n in range(first[k], first[k + 1]):
            i = run[n].start
            add_row(x + i, row + i, -x[k], run[n].stop - i)
    for k in range(nv):
        s = 0.0
        row = low + k * nv
        for n in range(first[k], first[k + 1]):
            for i in range(run[n].start, run[n].stop):
                s += row[i] * x[i]
        x[k] -= p.pivot[k] * s
