"""Impulses of a few contacts, nearly, by sweeps over one contact after the other (Gauss and Seidel; Jean 1999): which of them push, stick
and slip, before Newton's method of coulomb.pxd finds them to the tolerance.

    y = y* + W gamma,    y* = J v* - target,    W = J M^-1 J^T = Z^T D^-1 Z,    Z = L^-T J^T,    M = L^T D L         (1)

A contact's normal impulse becomes that at which its own law holds while all others stay. Where it slips, its friction goes along in
proportion: without that, sweeps do not end at large mu. Its friction then becomes that of sticking, or, where this is beyond mu times the
normal impulse, goes by a step down y_t and back to that circle. At a solution of coulomb.pxd nothing changes.
"""
from libc.math cimport fabs, sqrt
from libc.string cimport memset

from mbros_core.constraints.factor cimport add_row, add_three, back_substitute, factorise_inertia
from mbros_core.constraints.problem cimport Block, Problem, Run
from mbros_core.constraints.products cimport add_pull, times_jacobian
from mbros_core.constraints.scene cimport Workspace
from mbros_core.constraints.touch cimport Touch
from mbros_core.geometry.vec cimport dot

cdef extern from *:
    """
    static const double MBROS_SETTLED = 1e-3, MBROS_SLOWLY = 0.7, MBROS_STEEP = 0.2;
    """
    const double SETTLED "MBROS_SETTLED"        # a change of impulses that ends the sweeps, over their size
    const double SLOWLY "MBROS_SLOWLY"          # the change of one sweep over that of EVERY before it, with which they lead nowhere
    const double STEEP "MBROS_STEEP"                # what slipping leaves of W_nn, at least, for friction to go along

cdef enum:
    MOST_SWEPT = 12           # contacts
    MOST_SWEPT_ROWS = 36
    MOST_SWEPT_DOFS = 64
    MOST_SWEEPS = 30
    EVERY = 4

cdef struct Own:                 # of one contact, while the others stay
    double mu
    double soft_n                # 1 / weight of its terms
    double soft_t
    double step_n                # 1 / (W_nn + soft_n)
    double a                     # of (W_tt + soft_t)^-1: a, b; b, c
    double b
    double c
    double step_t                # 1 / the largest eigenvalue of W_tt + soft_t


cdef inline bint can_sweep(const Workspace* w, int touches) noexcept nogil:
    """Whether there is nothing but a few contacts with friction, of three rows each."""
    cdef const Problem* p = &w.problem
    cdef int k
    if p.nblocks != touches or touches > MOST_SWEPT or p.nv > MOST_SWEPT_DOFS:
        return False
    for k in range(touches):
        if p.block[k].rows != 3 or w.sliding[k] < 0 or not p.term[w.sliding[k] - 1].weight > 0.0:
            return False
    return True


cdef inline bint couple(Problem* p, double* W) noexcept nogil:
    """W (rows, rows) of (1). The factor of M stays in p.H; False where there is none."""
    cdef double Z[MOST_SWEPT_ROWS * MOST_SWEPT_DOFS]        # (nv, rows), of which these rows are not zero
    cdef int start[MOST_SWEPT_DOFS]
    cdef int stop[MOST_SWEPT_DOFS]
    cdef const int* first = p.fill_row if p.coupled else p.tree_row
    cdef const Run* run = p.fill_run if p.coupled else p.tree_run
    cdef const Block* b
    cdef const double* z
    cdef int rows = p.nrows
    cdef int n, i, j, k, c
    if not factorise_inertia(p):
        return False
    memset(Z, 0, p.nv * rows * sizeof(double))
    for k in range(p.nv):
        start[k], stop[k] = rows, 0
    for n in range(p.nblocks):
        b = &p.block[n]
        for c in range(b.dofs):
            k = p.at[b.first_dof + c]
            start[k], stop[k] = min(start[k], b.row), b.row + 3
            for i in range(3):
                Z[k * rows + b.row + i] = p.K[b.first_entry + i * b.dofs + c]
    memset(W, 0, rows * rows * sizeof(double))
    for k in range(p.nv - 1, -1, -1):
        j = start[k]
        if j >= stop[k]:
            continue
        z = Z + k * rows
        for n in range(first[k], first[k + 1]):
            for i in range(run[n].start, run[n].stop):
                add_row(Z + i * rows + j, z + j, -p.H[k * <Py_ssize_t>p.nv + i], stop[k] - j)
                start[i], stop[i] = min(start[i], j), max(stop[i], stop[k])
        for i in range(j, stop[k]):
            add_row(W + i * rows + j, z + j, z[i] * p.pivot[k], i + 1 - j)
    for i in range(rows):
        for j in range(i):
            W[j * rows + i] = W[i * rows + j]
    return True


cdef inline void find_own(const Workspace* w, const double* W, int touches, Own* own) noexcept nogil:
    """What each contact's law and its block of W say."""
    cdef const Problem* p = &w.problem
    cdef const double* A
    cdef double a, b, c, d
    cdef int k
    for k in range(touches):
        A = W + p.block[k].row * (p.nrows + 1)
        own[k].mu = w.mu[k]
        own[k].soft_n, own[k].soft_t = 1.0 / p.term[w.sliding[k] - 1].weight, 1.0 / p.term[w.sliding[k]].weight
        own[k].step_n = 1.0 / (A[0] + own[k].soft_n)
        a, b, c = A[p.nrows + 1] + own[k].soft_t, A[p.nrows + 2], A[2 * p.nrows + 2] + own[k].soft_t
        d = 1.0 / (a * c - b * b)
        own[k].a, own[k].b, own[k].c = d * c, -d * b, d * a
        own[k].step_t = 1.0 / (0.5 * (a + c) + sqrt(0.25 * (a - c) * (a - c) + b * b))


cdef inline double settle(const Own* o, const double* W, int rows, int n, double* y, double* gamma) noexcept nogil:
    """The impulses of the contact of rows n, n + 1, n + 2, and what they do to y; returns by how much they change."""
    cdef const double* A = W + n * (rows + 1)
    cdef double before = gamma[n]
    cdef double s = gamma[n + 1]
    cdef double t = gamma[n + 2]
    cdef double bound = o.mu * before
    cdef double step = o.step_n
    cdef double slope, size, x, z, dn, ds, dt
    x = z = 0.0
    if before > 0.0 and s * s + t * t >= 0.999 * bound * bound:         # it slips, and friction goes with the normal impulse
        x, z = s / before, t / before
        slope = A[0] + o.soft_n + x * A[1] + z * A[2]
        if slope * step > STEEP:
            step = 1.0 / slope
        else:
            x = z = 0.0
    dn = before - (y[n] + before * o.soft_n) * step
    gamma[n] = dn if dn > 0.0 else 0.0
    dn = gamma[n] - before
    ds, dt = x * dn, z * dn
    bound = o.mu * gamma[n]
    x = y[n + 1] + A[rows] * dn + A[rows + 1] * ds + A[rows + 2] * dt + (s + ds) * o.soft_t
    z = y[n + 2] + A[2 * rows] * dn + A[2 * rows + 1] * ds + A[2 * rows + 2] * dt + (t + dt) * o.soft_t
    gamma[n + 1], gamma[n + 2] = s + ds - (o.a * x + o.b * z), t + dt - (o.b * x + o.c * z)
    if gamma[n + 1] * gamma[n + 1] + gamma[n + 2] * gamma[n + 2] > bound * bound:
        x, z = s + ds - x * o.step_t, t + dt - z * o.step_t
        size = x * x + z * z
        size = bound / sqrt(size) if size > bound * bound else 1.0
        gamma[n + 1], gamma[n + 2] = x * size, z * size
    ds, dt = gamma[n + 1] - s, gamma[n + 2] - t
    add_three(y, W + n * rows, W + (n + 1) * rows, W + (n + 2) * rows, dn, ds, dt, rows)
    return fabs(dn) + fabs(ds) + fabs(dt)


cdef inline bint sweep(Workspace* w, const Touch* touch, double h, int touches) noexcept nogil:
    """p.u of the impulses where the sweeps end, which start from those of the last step. False, and u as it was, where they lead
    nowhere."""
    cdef Problem* p = &w.problem
    cdef double W[MOST_SWEPT_ROWS * MOST_SWEPT_ROWS]
    cdef Own own[MOST_SWEPT]
    cdef double change = 0.0
    cdef double earlier = 1e300
    cdef double size
    cdef const double* row
    cdef int n, k
    if not couple(p, W):
        return False
    find_own(w, W, touches, own)
    times_jacobian(p, p.u_star, p.y)
    for k in range(p.nrows):
        p.y[k] -= p.target[k]
    for k in range(touches):
        n = p.block[k].row
        p.impulse[n] = max(0.0, touch[k].before)
        p.impulse[n + 1], p.impulse[n + 2] = h * dot(w.axes[k].t, touch[k].force), h * dot(w.axes[k].s, touch[k].force)
        row = W + n * p.nrows
        add_three(p.y, row, row + p.nrows, row + 2 * p.nrows, p.impulse[n], p.impulse[n + 1], p.impulse[n + 2], p.nrows)
    for n in range(MOST_SWEEPS):
        change = size = 0.0
        for k in range(touches):
            change += settle(&own[k], W, p.nrows, p.block[k].row, p.y, p.impulse)
            size += p.impulse[p.block[k].row]
        if change <= SETTLED * size:
            break
        if n % EVERY == EVERY - 1:
            if not change <= SLOWLY * earlier:
                return False
            earlier = change
    memset(p.direction, 0, p.nv * sizeof(double))
    add_pull(p, p.impulse, p.direction)
    back_substitute(p, p.direction)
    for k in range(p.nv):
        p.u[k] = p.u_star[k] + p.direction[k]
    return True
