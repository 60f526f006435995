"""H = M + J^T G J = L^T D L along the elimination tree (pattern.pxd).

Featherstone 2008, section 6.5, tables 6.3 to 6.5: coordinates are eliminated from the last position to the first; row k of L has the
pattern of row k of H, in runs of positions that follow each other.
"""
from libc.string cimport memset

from mbros_core.constraints.potentials cimport add_curvature
from mbros_core.constraints.problem cimport MOST_ROWS, Block, Problem, Run

cdef extern from "constraints/rows.hpp" namespace "mbros_core" nogil:
    void add_row(double* to, const double* a, double x, int n)
    void add_three(double* to, const double* a, const double* b, const double* c, double x, double y, double z, int n)
    void copy_row(double* to, const double* a, int n)
    void add_six(double* to, Py_ssize_t stride, const double* K, const double* G, int rows)


cdef inline void assemble(Problem* p) noexcept nogil:
    """H = M + J^T G J at p.y, the lower triangle."""
    cdef Py_ssize_t nv = p.nv
    cdef double G[36]
    cdef const Run* run
    cdef const double* row
    cdef double* to
    cdef Py_ssize_t k
    cdef int n
    cdef int t = 0
    cdef int last
    cdef int acts
    for k in range(nv):
        row, to = p.A + k * nv, p.H + k * nv
        if p.coupled:
            for n in range(p.fill_row[k], p.fill_row[k + 1]):
                run = &p.fill_run[n]
                memset(to + run.start, 0, (run.stop - run.start) * sizeof(double))
        for n in range(p.tree_row[k], p.tree_row[k + 1]):
            run = &p.tree_run[n]
            copy_row(to + run.start, row + run.start, run.stop - run.start)
        to[k] = row[k]
    for n in range(p.nblocks):
        for k in range(p.block[n].rows):
            for last in range(k + 1):
                G[k * MOST_ROWS + last] = 0.0
        last = p.block[n].row + p.block[n].rows
        acts = 0
        while t < p.nterms and p.term[t].row < last:
            acts |= add_curvature(&p.term[t], p.y + p.term[t].row, G + (p.term[t].row - p.block[n].row) * (MOST_ROWS + 1))
            t += 1
        if acts and p.block[n].rows == 3:
            add_three_rows(p, n, G)
        elif acts & 2:
            add_rows(p, n, G)
        elif acts:
            add_rows_apart(p, n, G)


cdef inline void add_three_rows(Problem* p, int n, const double* G) noexcept nogil:
    """H += J^T G J of block n, of three rows."""
    cdef const Block* b = &p.block[n]
    cdef const int* at = p.at + b.first_dof
    cdef const double* x = p.K + b.first_entry
    cdef const double* y = x + b.dofs
    cdef const double* z = y + b.dofs
    cdef const Run* run
    cdef double wx
    cdef double wy
    cdef double wz
    cdef int a
    cdef int c
    cdef int r
    cdef int stop
    for a in range(b.dofs):
        wx = G[0] * x[a] + G[6] * y[a] + G[12] * z[a]
        wy = G[6] * x[a] + G[7] * y[a] + G[13] * z[a]
        wz = G[12] * x[a] + G[13] * y[a] + G[14] * z[a]
        for r in range(p.block_row[n], p.block_row[n + 1]):
            run = &p.block_run[r]
            if run.start > a:
                break
            c = run.start
            stop = run.stop if run.stop <= a else a + 1
            add_three(p.H + at[a] * <Py_ssize_t>p.nv + at[c], x + c, y + c, z + c, wx, wy, wz, stop - c)


cdef inline void add_rows(Problem* p, int n, const double* G) noexcept nogil:
    """H += J^T G J of block n, row by row."""
    cdef const Block* b = &p.block[n]
    cdef const int* at = p.at + b.first_dof
    cdef const double* K = p.K + b.first_entry
    cdef const double* x
    cdef const Run* run
    cdef double w
    cdef int a
    cdef int c
    cdef int i
    cdef int j
    cdef int r
    cdef int stop
    for i in range(b.rows):
        x = K + i * b.dofs
        for a in range(b.dofs):
            w = 0.0
            for j in range(b.rows):
                w += (G[i * MOST_ROWS + j] if j < i else G[j * MOST_ROWS + i]) * K[j * b.dofs + a]
            if w == 0.0:
                continue
            for r in range(p.block_row[n], p.block_row[n + 1]):
                run = &p.block_run[r]
                if run.start > a:
                    break
                c = run.start
                stop = run.stop if run.stop <= a else a + 1
                add_row(p.H + at[a] * <Py_ssize_t>p.nv + at[c], x + c, w, stop - c)


cdef inline void add_rows_apart(Problem* p, int n, const double* G) noexcept nogil:
    """add_rows where G is diagonal."""
    cdef const Block* b = &p.block[n]
    cdef const int* at = p.at + b.first_dof
    cdef const double* x = p.K + b.first_entry
    cdef const Run* run
    cdef double w
    cdef int a
    cdef int i
    cdef int r
    cdef int stop
    if b.dofs == 6 and p.block_row[n + 1] == p.block_row[n] + 1:
        add_six(p.H + at[0] * <Py_ssize_t>(p.nv + 1), p.nv, x, G, b.rows)
        return
    for i in range(b.rows):
        for a in range(b.dofs):
            w = G[i * (MOST_ROWS + 1)] * x[a]
            if w == 0.0:
                continue
            for r in range(p.block_row[n], p.block_row[n + 1]):
                run = &p.block_run[r]
                if run.start > a:
                    break
                stop = run.stop if run.stop <= a else a + 1
                add_row(p.H + at[a] * <Py_ssize_t>p.nv + at[run.start], x + run.start, w, stop - run.start)
        x += b.dofs


cdef inline int factorise(Problem* p) noexcept nogil:
    """L over H, 1 / D in pivot; returns 0 where H is not positive definite."""
    cdef const int* first = p.fill_row if p.coupled else p.tree_row
    cdef const int* group = p.fill_group if p.coupled else p.tree_group
    cdef const Run* run = p.fill_run if p.coupled else p.tree_run
    cdef int g
    for g in range((p.fill_groups if p.coupled else p.tree_groups) - 1, -1, -1):
        if not (eliminate(p, group[g], first, run) if group[g + 1] == group[g] + 1 else eliminate_three(p, group[g], first, run)):
            return 0
    return 1


cdef inline int factorise_inertia(Problem* p) noexcept nogil:
    """The same of M alone."""
    cdef int nterms = p.nterms
    p.nterms = 0
    assemble(p)
    p.nterms = nterms
    return factorise(p)


cdef inline int eliminate(Problem* p, Py_ssize_t k, const int* first, const Run* run) noexcept nogil:
    """Row k out of the rows below it."""
    cdef double* a = p.H + k * p.nv
    cdef double* to
    cdef double x
    cdef int i
    cdef int j
    cdef int n
    cdef int m
    if not 0.0 < a[k] < 1e300:
        return 0
    p.pivot[k] = 1.0 / a[k]
    for n in range(first[k], first[k + 1]):
        for i in range(run[n].stop - 1, run[n].start - 1, -1):
            x = a[i] * p.pivot[k]
            to = p.H + i * <Py_ssize_t>p.nv
            j = run[n].start
            add_row(to + j, a + j, -x, i + 1 - j)
            for m in range(n + 1, first[k + 1]):
                j = run[m].start
                add_row(to + j, a + j, -x, run[m].stop - j)
            a[i] = x
    return 1


cdef inline int eliminate_three(Problem* p, Py_ssize_t k, const int* first, const Run* run) noexcept nogil:
    """Rows k + 2, k + 1 and k, in this order, out of the rows below k."""
    cdef double* a = p.H + k * p.nv
    cdef double* b = a + p.nv
    cdef double* c = b + p.nv
    cdef double* to
    cdef double cb = c[k + 1] / c[k + 2]
    cdef double ca = c[k] / c[k + 2]
    cdef double ba
    cdef double x
    cdef double y
    cdef double z
    cdef int i
    cdef int j
    cdef int n
    cdef int m
    if not 0.0 < c[k + 2] < 1e300:
        return 0
    b[k + 1] -= cb * c[k + 1]
    b[k] -= cb * c[k]
    if not 0.0 < b[k + 1] < 1e300:
        return 0
    ba = b[k] / b[k + 1]
    a[k] -= ca * c[k] + ba * b[k]
    if not 0.0 < a[k] < 1e300:
        return 0
    c[k + 1], c[k], b[k] = cb, ca, ba
    p.pivot[k], p.pivot[k + 1], p.pivot[k + 2] = 1.0 / a[k], 1.0 / b[k + 1], 1.0 / c[k + 2]
    for n in range(first[k], first[k + 1]):
        for j in range(run[n].start, run[n].stop):
            b[j] -= cb * c[j]
            a[j] -= ca * c[j] + ba * b[j]
    for n in range(first[k], first[k + 1]):
        for i in range(run[n].stop - 1, run[n].start - 1, -1):
            x, y, z = a[i] * p.pivot[k], b[i] * p.pivot[k + 1], c[i] * p.pivot[k + 2]
            to = p.H + i * <Py_ssize_t>p.nv
            j = run[n].start
            add_three(to + j, a + j, b + j, c + j, -x, -y, -z, i + 1 - j)
            for m in range(n + 1, first[k + 1]):
                j = run[m].start
                add_three(to + j, a + j, b + j, c + j, -x, -y, -z, run[m].stop - j)
            a[i], b[i], c[i] = x, y, z
    return 1


cdef inline void back_substitute(const Problem* p, double* x) noexcept nogil:
    """x := H^-1 x, by positions."""
    cdef Py_ssize_t nv = p.nv
    cdef const int* first = p.fill_row if p.coupled else p.tree_row
    cdef const int* group = p.fill_group if p.coupled else p.tree_group
    cdef const Run* run = p.fill_run if p.coupled else p.tree_run
    cdef int groups = p.fill_groups if p.coupled else p.tree_groups
    cdef const double* a
    cdef const double* b
    cdef const double* c
    cdef double s
    cdef double t
    cdef double u
    cdef int g
    cdef int i
    cdef int k
    cdef int n
    for g in range(groups - 1, -1, -1):
        k = group[g]
        a = p.H + k * nv
        if group[g + 1] == k + 1:
            s = x[k]
            for n in range(first[k], first[k + 1]):
                i = run[n].start
                add_row(x + i, a + i, -s, run[n].stop - i)
            x[k] = s * p.pivot[k]
            continue
        b, c = a + nv, a + 2 * nv
        u = x[k + 2]
        t = x[k + 1] - c[k + 1] * u
        s = x[k] - (c[k] * u + b[k] * t)
        for n in range(first[k], first[k + 1]):
            i = run[n].start
            add_three(x + i, a + i, b + i, c + i, -s, -t, -u, run[n].stop - i)
        x[k], x[k + 1], x[k + 2] = s * p.pivot[k], t * p.pivot[k + 1], u * p.pivot[k + 2]
    for g in range(groups):
        k = group[g]
        a = p.H + k * nv
        s = x[k]
        if group[g + 1] == k + 1:
            for n in range(first[k], first[k + 1]):
                for i in range(run[n].start, run[n].stop):
                    s -= a[i] * x[i]
            x[k] = s
            continue
        b, c = a + nv, a + 2 * nv
        t = x[k + 1]
        u = x[k + 2]
        for n in range(first[k], first[k + 1]):
            for i in range(run[n].start, run[n].stop):
                s -= a[i] * x[i]
                t -= b[i] * x[i]
                u -= c[i] * x[i]
        t -= b[k] * s
        x[k], x[k + 1], x[k + 2] = s, t, u - (c[k] * s + c[k + 1] * t)
