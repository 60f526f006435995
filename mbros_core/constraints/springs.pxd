"""Stiff force elements between two bodies as blocks of the convex problem (problem.pxd): springs and dampers, a row for each.

The engine (forces/stiff.pxd) says which are stiff and what their rows are: displacement x, stiffness k, damping d, and the rate of x as a
linear function of the relative velocity of both frames, y = J v. The smooth step has the force f0 = -(k x + d y_h) of the middle in it; the
block makes of it what joints' springs and dampers get (algorithms/pivot.pxd), with the mobility w of the row, J M^-1 J^T, in the place of
1 / J:

    spring    -k (x + s h (y + sag h b) + (r/4 + 3/4 s) h (y+ - y))      s = h^2 k w / 4 - 1 within [0, 1]                      (1)
    damper    -d (y_h + r (y - y_h) + r theta (y+ - y))                  theta = 1 - 1 / (2 h d w), at least 1/2

r is the share of the element that is implicit; b = dJ/dt v, sag of hold.pxd. With r = 1 and s = 0 it is the trapezoidal rule, which keeps
the energy of a linear spring; with s = 1 implicit Euler from middle to middle. What (1) has over f0 is -W (y+ - target): a quadratic
potential of weight W >= 0. That J changes within a step, the geometric stiffness, is left to f0: so the problem stays convex.
"""
from libc.string cimport memcpy

from mbros_core.constraints.columns cimport Axes, Columns, new_block, relative_columns, shift_targets
from mbros_core.constraints.problem cimport EQUALITY, MOST_ROWS, Block, Problem, add_term
from mbros_core.constraints.robot cimport Robot, Tree
from mbros_core.constraints.touch cimport EFFORT, TOUCH_COLUMNS, WRENCH, record
from mbros_core.geometry.vec cimport Rotation, Vec, dot, vec

cdef struct Spring:               # a force element in a step, in W axes
    int n                         # rows; 0: the step takes it at the middle
    double share                  # r of (1)
    Rotation A                    # R_WA of its frame A
    Vec at                        # Co
    Vec turn[6]                   # the rate of a row is turn . w + move . v, of C's point Co against A's
    Vec move[6]
    double x[6]
    double k[6]
    double d[6]
    double rate[6]                # y_h
    double bias[6]                # b of (1)

cdef struct Rule:                 # of one row of (1)
    double weight
    double target


cdef inline Rule rule_of(double k, double d, double share, double w, double h, double y, double rate, double sagging) noexcept nogil:
    """sagging: sag h b."""
    cdef Rule out
    cdef double s = min(1.0, max(0.0, 0.25 * h * h * k * w - 1.0))
    cdef double theta = max(0.5, 1.0 - 0.5 / (h * d * w)) if d * w > 0.0 else 0.5
    out.weight = h * h * k * (0.25 * share + 0.75 * s) + h * d * share * theta
    out.target = 0.0
    if out.weight > 0.0:
        out.target = y - (h * h * k * s * (y + sagging) + h * d * share * (y - rate)) / out.weight
    return out


cdef inline void factorise_mass(const double* M, const Tree* m, double* L) noexcept nogil:
    """M = L^T D L below the diagonal of L, D on it: Featherstone 2008, table 6.3."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t i, j, k
    cdef double a
    memcpy(L, M, n * n * sizeof(double))
    for k in range(n - 1, -1, -1):
        i = m.before[k]
        while i >= 0:
            a = L[k * n + i] / L[k * n + k]
            j = i
            while j >= 0:
                L[i * n + j] -= a * L[k * n + j]
                j = m.before[j]
            L[k * n + i] = a
            i = m.before[i]


cdef inline void mobilities(const double* L, const Tree* m, const Columns* columns, double* u, double* w) noexcept nogil:
    """w = J M^-1 J^T of each of MOST_ROWS rows. u (nv, MOST_ROWS): zeros, before and after."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t i, j
    cdef double x[6]
    cdef double* to
    cdef double l
    cdef int k
    for k in range(columns.count):
        memcpy(u + MOST_ROWS * columns.dof[k], columns.x + MOST_ROWS * k, sizeof(x))
    for k in range(MOST_ROWS):
        w[k] = 0.0
    for i in range(columns.dof[0], -1, -1):             # the largest
        memcpy(x, u + MOST_ROWS * i, sizeof(x))
        if x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0 and x[3] == 0.0 and x[4] == 0.0 and x[5] == 0.0:
            continue
        j = m.before[i]
        while j >= 0:
            l, to = L[i * n + j], u + MOST_ROWS * j
            for k in range(MOST_ROWS):
                to[k] -= l * x[k]
            j = m.before[j]
        l = L[i * n + i]
        for k in range(MOST_ROWS):
            w[k] += x[k] * x[k] / l
            u[MOST_ROWS * i + k] = 0.0


cdef inline void apply_inverse(const double* L, const Tree* m, double* x) noexcept nogil:
    """x := M^-1 x."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t i, j
    for i in range(n - 1, -1, -1):
        j = m.before[i]
        while j >= 0:
            x[j] -= L[i * n + j] * x[i]
            j = m.before[j]
    for i in range(n):
        x[i] /= L[i * n + i]
        j = m.before[i]
        while j >= 0:
            x[i] -= L[i * n + j] * x[j]
            j = m.before[j]


cdef inline void along_rows(double* x, const Spring* e) noexcept nogil:
    """A relative velocity in W axes, linear and angular, becomes the rates of the rows, in place."""
    cdef Vec v = vec(x[0], x[1], x[2])
    cdef Vec w = vec(x[3], x[4], x[5])
    cdef int i
    for i in range(e.n):
        x[i] = dot(e.turn[i], w) + dot(e.move[i], v)


cdef inline void rows_of_spring(Columns* columns, const Spring* e) noexcept nogil:
    """Columns of the relative velocity, and what prescribed coordinates do to it, become those of the rows."""
    cdef int c
    for c in range(columns.count):
        along_rows(columns.x + MOST_ROWS * c, e)
    if columns.given:
        along_rows(columns.by_given, e)


cdef inline int add_spring(Problem* p, const Tree* m, const Robot* r, int body_a, int body_c, const Spring* e, const double* L, double* u,
                           Columns* columns, double h) noexcept nogil:
    """The block of one element; -1 where nothing could move it. L: the factor of M."""
    cdef Axes W
    cdef Rule rule
    cdef const Block* b
    cdef const double* J
    cdef const int* dof
    cdef double w[6]
    cdef double y
    cdef int i, number
    W.n, W.t, W.s = vec(1.0, 0.0, 0.0), vec(0.0, 1.0, 0.0), vec(0.0, 0.0, 1.0)
    relative_columns(columns, m, r, body_a, body_c, e.at, &W, True)
    rows_of_spring(columns, e)
    number = new_block(p, e.n, columns)
    if number < 0:
        return -1
    b = &p.block[number]
    dof = p.dof + b.first_dof
    mobilities(L, m, columns, u, w)
    for i in range(e.n):
        J = p.J + b.first_entry + i * b.dofs
        y = starting_rate(J, dof, b.dofs, r)
        if columns.given:
            y += columns.by_given[i]
        rule = rule_of(e.k[i], e.d[i], e.share, w[i], h, y, e.rate[i], r.sag * h * e.bias[i])
        p.target[b.row + i] = rule.target
        if rule.weight > 0.0:
            add_term(p, EQUALITY, b.row + i, 1, rule.weight, 0.0)
    if columns.given:
        shift_targets(p, b, columns)
    return number


cdef inline double starting_rate(const double* J, const int* dof, int count, const Robot* r) noexcept nogil:
    """J v of the velocity at the start."""
    cdef double y = 0.0
    cdef int c
    for c in range(count):
        y += J[c] * r.v_start[dof[c] * r.stride]
    return y


cdef inline void write_spring(const Problem* p, const Spring* e, int block, double h, double* row, int n) noexcept nogil:
    """The wrench on C about Co, in A axes, into a row of the state's memory: the mean over the step."""
    cdef Vec t = vec(0.0, 0.0, 0.0)
    cdef Vec f = t
    cdef double tau
    cdef int i
    for i in range(e.n):
        tau = -(e.k[i] * e.x[i] + e.d[i] * e.rate[i])
        if block >= 0:
            tau += p.impulse[p.block[block].row + i] / h
        t = t + tau * e.turn[i]
        f = f + tau * e.move[i]
    record(row, WRENCH, n, vec(dot(e.A.x, t), dot(e.A.y, t), dot(e.A.z, t)))
    record(row, WRENCH + 3, n, vec(dot(e.A.x, f), dot(e.A.y, f), dot(e.A.z, f)))
    row[EFFORT * n] = e.share
