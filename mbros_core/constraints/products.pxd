"""The problem's numbers in the order of elimination, and products with M, J and J^T along their patterns."""
from mbros_core.constraints.pattern cimport is_known, make_pattern
from mbros_core.constraints.problem cimport Block, Problem

cdef extern from "constraints/rows.hpp" namespace "mbros_core" nogil:
    void add_three(double* to, const double* a, const double* b, const double* c, double x, double y, double z, int n)


cdef inline void by_position(Problem* p) noexcept nogil:
    """The problem's numbers in the order of elimination: A, u, u_star, K, mass, unit. Copies only where something moves."""
    cdef Py_ssize_t nv = p.nv
    cdef const double* row
    cdef double* to
    cdef const Block* b
    cdef const int* column
    cdef const int* place = p.place
    cdef Py_ssize_t k
    cdef Py_ssize_t i
    cdef Py_ssize_t j
    cdef int n
    if not is_known(p):
        make_pattern(p)
    p.A, p.u, p.u_star = p.M, p.v, p.v_star
    if not p.natural:
        for k in range(nv):
            i = p.coordinate[k]
            row, to = p.M + i * nv, p.room_A + k * nv
            j = i
            while j >= 0:
                to[place[j]] = row[j]
                j = p.tree[j]
            p.room_u[k], p.room_u[nv + k] = p.v[i], p.v_star[i]
        p.A, p.u, p.u_star = p.room_A, p.room_u, p.room_u + nv
    for n in range(p.nblocks):
        b = &p.block[n]
        row, to, column = p.J + b.first_entry, p.K + b.first_entry, p.column + b.first_dof
        for i in range(b.rows):
            for j in range(b.dofs):
                to[j] = row[column[j]]
            row += b.dofs
            to += b.dofs
    for k in range(nv):
        p.mass[k] = p.A[k * (nv + 1)]
    p.unit = p.inverse
    if p.inverse == NULL or not p.natural:
        for k in range(nv):
            p.room_unit[k] = 1.0 / p.mass[k]
        p.unit = p.room_unit


cdef inline void times_mass(const Problem* p, const double* x, double* out) noexcept nogil:
    """M x."""
    cdef Py_ssize_t nv = p.nv
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
    for g in range(p.tree_groups):
        k = p.tree_group[g]
        a = p.A + k * nv
        s = a[k] * x[k]
        if p.tree_group[g + 1] == k + 1:
            for n in range(p.tree_row[k], p.tree_row[k + 1]):
                for i in range(p.tree_run[n].start, p.tree_run[n].stop):
                    s += a[i] * x[i]
                    out[i] += a[i] * x[k]
            out[k] = s
            continue
        b, c = a + nv, a + 2 * nv
        s += b[k] * x[k + 1] + c[k] * x[k + 2]
        t = b[k] * x[k] + b[k + 1] * x[k + 1] + c[k + 1] * x[k + 2]
        u = c[k] * x[k] + c[k + 1] * x[k + 1] + c[k + 2] * x[k + 2]
        for n in range(p.tree_row[k], p.tree_row[k + 1]):
            for i in range(p.tree_run[n].start, p.tree_run[n].stop):
                s += a[i] * x[i]
                t += b[i] * x[i]
                u += c[i] * x[i]
                out[i] += a[i] * x[k] + b[i] * x[k + 1] + c[i] * x[k + 2]
        out[k], out[k + 1], out[k + 2] = s, t, u


cdef inline void times_jacobian(const Problem* p, const double* x, double* out) noexcept nogil:
    """J x, all rows."""
    cdef const Block* b
    cdef const double* row
    cdef const int* at
    cdef double s
    cdef double t
    cdef double u
    cdef int n
    cdef int r
    cdef int c
    for n in range(p.nblocks):
        b = &p.block[n]
        row, at = p.K + b.first_entry, p.at + b.first_dof
        if b.rows == 3:
            s = t = u = 0.0
            for c in range(b.dofs):
                s += row[c] * x[at[c]]
                t += row[b.dofs + c] * x[at[c]]
                u += row[2 * b.dofs + c] * x[at[c]]
            out[b.row], out[b.row + 1], out[b.row + 2] = s, t, u
            continue
        for r in range(b.rows):
            s = 0.0
            for c in range(b.dofs):
                s += row[c] * x[at[c]]
            out[b.row + r] = s
            row += b.dofs


cdef inline void add_pull(const Problem* p, const double* impulse, double* out) noexcept nogil:
    """out += J^T impulse."""
    cdef const Block* b
    cdef const double* row
    cdef const int* at
    cdef const double* f3
    cdef double f
    cdef int n
    cdef int r
    cdef int c
    for n in range(p.nblocks):
        b = &p.block[n]
        row, at = p.K + b.first_entry, p.at + b.first_dof
        if b.rows == 3:
            f3 = impulse + b.row
            if f3[0] == 0.0 and f3[1] == 0.0 and f3[2] == 0.0:
                continue
            for r in range(p.block_row[n], p.block_row[n + 1]):
                c = p.block_run[r].start
                add_three(out + at[c], row + c, row + b.dofs + c, row + 2 * b.dofs + c, f3[0], f3[1], f3[2], p.block_run[r].stop - c)
            continue
        for r in range(b.rows):
            f = impulse[b.row + r]
            if f != 0.0:
                for c in range(b.dofs):
                    out[at[c]] += row[c] * f
            row += b.dofs
