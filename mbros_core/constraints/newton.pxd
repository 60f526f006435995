"""Newton's method with an exact line search on the convex problem of problem.pxd.

Directions: H d = -g, H = M + J^T G J, g = M (v - v*) - J^T impulse (factor.pxd). Along d the derivative of the cost is increasing and
piecewise smooth; its zero is found by Newton's method kept in a bracket, O(rows) a try. Done when the gradient, in the units of the
square root of an energy, is small beside the momenta: |g| <= tolerance max(|M v*|, |J^T impulse|), |x|^2 = sum x_i^2 / M_ii (Castro,
Permenter and Han 2022, section V). A step has |M (v* - v)| of its start instead of |M v*|, which is the same in any moving frame.

y and M (v - v*) are not taken from v in each iteration but moved along: so an impulse of weight 1e8 times that of a body is known to all
its digits, which the velocity is not.
"""
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

from mbros_core.constraints.factor cimport assemble, back_substitute, factorise
from mbros_core.constraints.potentials cimport add_impulse, add_slope, energy
from mbros_core.constraints.problem cimport Block, Problem
from mbros_core.constraints.products cimport add_pull, by_position, times_jacobian, times_mass

cdef extern from *:
    """
    static const double MBROS_SLOPE_LEFT = 1e-2, MBROS_FINEST = 1e-14, MBROS_SMALLEST_MOMENTUM = 1e-30, MBROS_EPSILON = 2.3e-16 * 16;
    """
    const double STRAIGHT "MBROS_SLOPE_LEFT"                          # the slope left by a line search, over the slope at its start
    const double FINEST "MBROS_FINEST"                              # a residual that is not worth another product with J
    const double EPSILON "MBROS_EPSILON"                            # of a sum's rounding, over the sum of its magnitudes
    const double SMALLEST_MOMENTUM "MBROS_SMALLEST_MOMENTUM"        # in the units of the residual: beside it nothing moves

cdef enum:
    MOST_TRIES = 40           # of a line search
    MOST_REFINEMENTS = 4      # of a linear solution

cdef struct Report:
    int iterations            # Newton steps
    int evaluations           # of the derivative in line searches
    int converged             # whether the residual is within the tolerance, or as small as rounding leaves it
    double residual           # |g| / max(|M v*|, |J^T impulse|)


cdef inline int solve(Problem* p, double tolerance, int most_iterations, Report* r) noexcept nogil:
    """Find v, y and impulse; returns r.converged. Where it is 0 they are those of the best v found."""
    cdef double before
    cdef double alpha
    r.iterations = r.evaluations = r.converged = 0
    r.residual = 0.0
    p.factored = 0
    by_position(p)
    if stay_free(p):
        r.converged = 1
        return 1
    begin(p)
    before = 0.0
    while True:
        find_gradient(p, r)
        if r.residual <= tolerance:
            r.converged = 1
            break
        if r.iterations == most_iterations or (before < 0.0 and r.residual > -0.5 * before):
            break
        assemble(p)
        if not factorise(p):
            break
        alpha = find_step(p, r)
        if not alpha > 0.0:
            break
        before = -r.residual if advance(p, alpha) else r.residual
        r.iterations += 1
    if not r.converged:
        r.converged = r.residual <= rounding(p)
    finish(p)
    return r.converged


cdef inline int solve_bilateral(Problem* p, double tolerance, int most_iterations, Report* r) noexcept nogil:
    """solve() where every term is an EQUALITY: a step of Newton's method, of length 1, ends at the solution. What rounding leaves of weights
    far beyond M, the same factor takes away. The residual is at rounding, or within the tolerance, or solve() goes on."""
    cdef double before = 1.0
    cdef int k
    by_position(p)
    begin(p)
    find_gradient(p, r)
    assemble(p)
    p.factored = factorise(p)
    if p.factored:
        for k in range(MOST_REFINEMENTS):
            find_direction(p)
            advance(p, 1.0)
            find_gradient(p, r)
            if r.residual <= FINEST or r.residual > 0.1 * before:
                break
            before = r.residual
        finish(p)
        r.iterations, r.evaluations, r.converged = 1, 0, 1
        if r.residual <= tolerance:
            return 1
        p.factored = 0
    return solve(p, tolerance, most_iterations, r)


cdef inline int is_free(const Problem* p) noexcept nogil:
    """Whether no term acts at v*, to the bit."""
    cdef double y[6]
    cdef double f[6]
    cdef const double* row
    cdef const int* at
    cdef int t = 0
    cdef int n
    cdef int i
    cdef int c
    for n in range(p.nblocks):
        row, at = p.K + p.block[n].first_entry, p.at + p.block[n].first_dof
        for i in range(p.block[n].rows):
            y[i] = 0.0
            for c in range(p.block[n].dofs):
                y[i] += row[c] * p.u_star[at[c]]
            y[i] -= p.target[p.block[n].row + i]
            f[i] = 0.0
            row += p.block[n].dofs
        while t < p.nterms and p.term[t].row < p.block[n].row + p.block[n].rows:
            add_impulse(&p.term[t], y + (p.term[t].row - p.block[n].row), f + (p.term[t].row - p.block[n].row))
            t += 1
        for i in range(p.block[n].rows):
            if f[i] != 0.0:
                return 0
    return 1


cdef inline int stay_free(Problem* p) noexcept nogil:
    """v* as the solution, if no term acts there."""
    cdef Py_ssize_t k
    if not is_free(p):
        return 0
    memcpy(p.v, p.v_star, p.nv * sizeof(double))
    memset(p.momentum, 0, p.nv * sizeof(double))
    times_jacobian(p, p.u_star, p.y)
    for k in range(p.nrows):
        p.y[k] -= p.target[k]
        p.impulse[k] = 0.0
    return 1


cdef inline void begin(Problem* p) noexcept nogil:
    """momentum and y of the first guess."""
    cdef Py_ssize_t k
    p.carried = 0.0 if p.change < 0.0 else p.change
    for k in range(p.nv):
        p.direction[k] = p.u[k] - p.u_star[k]
        if p.change < 0.0:
            p.carried += p.mass[k] * p.u_star[k] * p.u_star[k]
    times_mass(p, p.direction, p.momentum)
    times_jacobian(p, p.u, p.y)
    for k in range(p.nrows):
        p.y[k] -= p.target[k]


cdef inline void find_gradient(Problem* p, Report* r) noexcept nogil:
    """impulse, gradient and the residual at p.y, p.momentum."""
    cdef double g = 0.0
    cdef double pushed = 0.0
    cdef double x
    cdef Py_ssize_t k
    cdef int t
    memset(p.impulse, 0, p.nrows * sizeof(double))
    for t in range(p.nterms):
        add_impulse(&p.term[t], p.y + p.term[t].row, p.impulse + p.term[t].row)
    memset(p.gradient, 0, p.nv * sizeof(double))
    add_pull(p, p.impulse, p.gradient)
    for k in range(p.nv):
        x = p.gradient[k]
        pushed += x * x * p.unit[k]
        x = p.momentum[k] - x
        p.gradient[k] = x
        g += x * x * p.unit[k]
    x = pushed if pushed > p.carried else p.carried
    r.residual = sqrt(g) / (sqrt(x) + SMALLEST_MOMENTUM)


cdef inline double rounding(Problem* p) noexcept nogil:
    """The residual that rounding leaves where impulses are large beside their sum, as those of loops that contradict each other."""
    cdef double noise = 0.0
    cdef double pushed = 0.0
    cdef double f
    cdef Py_ssize_t k
    cdef const Block* b
    cdef int n
    cdef int i
    cdef int c
    memset(p.pull, 0, p.nv * sizeof(double))
    memset(p.direction, 0, p.nv * sizeof(double))
    add_pull(p, p.impulse, p.direction)
    for n in range(p.nblocks):
        b = &p.block[n]
        for i in range(b.rows):
            f = fabs(p.impulse[b.row + i])
            for c in range(b.dofs):
                p.pull[p.at[b.first_dof + c]] += fabs(p.K[b.first_entry + i * b.dofs + c]) * f
    for k in range(p.nv):
        noise += p.pull[k] * p.pull[k] * p.unit[k]
        pushed += p.direction[k] * p.direction[k] * p.unit[k]
    return EPSILON * sqrt(noise / ((pushed if pushed > p.carried else p.carried) + SMALLEST_MOMENTUM * SMALLEST_MOMENTUM))


cdef inline void find_direction(Problem* p) noexcept nogil:
    """direction, and what follows from it: pull and rate."""
    cdef Py_ssize_t k
    for k in range(p.nv):
        p.direction[k] = -p.gradient[k]
    back_substitute(p, p.direction)
    times_mass(p, p.direction, p.pull)
    times_jacobian(p, p.direction, p.rate)


cdef inline double find_step(Problem* p, Report* r) noexcept nogil:
    """The direction; returns how far to go, 0 where nothing is won."""
    cdef double start = 0.0
    cdef double bend = 0.0
    cdef double low = 0.0
    cdef double high = -1.0               # not known
    cdef double alpha = 1.0
    cdef double slope
    cdef double curvature
    cdef double next_
    cdef double width = 0.0
    cdef Py_ssize_t k
    cdef int t
    find_direction(p)
    for k in range(p.nv):
        start += p.direction[k] * p.gradient[k]
        bend += p.direction[k] * p.pull[k]
    if not start < 0.0:
        return 0.0
    for t in range(MOST_TRIES):
        r.evaluations += 1
        slope, curvature = start + alpha * bend, bend
        for k in range(p.nterms):
            add_slope(&p.term[k], p.y + p.term[k].row, p.rate + p.term[k].row, alpha, &slope, &curvature)
        if fabs(slope) <= -STRAIGHT * start:
            break
        if slope < 0.0:
            low = alpha
        else:
            high = alpha
        next_ = alpha - slope / curvature
        if high < 0.0:
            alpha = next_ if next_ > low else 2.0 * low
        elif not low < next_ < high or (t > 2 and high - low > 0.5 * width):
            next_ = 0.5 * (low + high)
            if not low < next_ < high:
                break
            alpha = next_
        else:
            alpha = next_
        width = high - low
    return alpha


cdef inline int advance(Problem* p, double alpha) noexcept nogil:
    """v, momentum and y one step on; returns whether v hardly moved."""
    cdef double moved = 0.0
    cdef double size = 0.0
    cdef double x
    cdef Py_ssize_t k
    for k in range(p.nv):
        x = alpha * p.direction[k]
        p.u[k] += x
        p.momentum[k] += alpha * p.pull[k]
        moved += p.mass[k] * x * x
        size += p.mass[k] * p.u[k] * p.u[k]
    for k in range(p.nrows):
        p.y[k] += alpha * p.rate[k]
    return moved <= 1e-20 * size


cdef inline void finish(Problem* p) noexcept nogil:
    """v in its own order."""
    cdef Py_ssize_t k
    if not p.natural:
        for k in range(p.nv):
            p.v[p.coordinate[k]] = p.u[k]


cdef inline double cost_of(const Problem* p) noexcept nogil:
    """1/2 |v - v*|^2_M + sum of l at the solution, J."""
    cdef double cost = 0.0
    cdef Py_ssize_t k
    cdef int t
    for k in range(p.nv):
        cost += 0.5 * (p.u[k] - p.u_star[k]) * p.momentum[k]
    for t in range(p.nterms):
        cost += energy(&p.term[t], p.y + p.term[t].row)
    return cost


cdef inline int solve_linear(Problem* p, double* rhs) noexcept nogil:
    """rhs := H^-1 rhs with H at the solution, for derivatives and effective masses; returns 0 where H is not positive definite."""
    cdef Py_ssize_t k
    if not p.known:
        return 0
    if not p.factored:
        assemble(p)
        p.factored = factorise(p)
        if not p.factored:
            return 0
    if p.natural:
        back_substitute(p, rhs)
        return 1
    for k in range(p.nv):
        p.direction[p.place[k]] = rhs[k]
    back_substitute(p, p.direction)
    for k in range(p.nv):
        rhs[k] = p.direction[p.place[k]]
    return 1
