"""Coulomb's bound in the step in which it acts. The convex problem takes friction's bounds as given: those of the last step's normal impulses
(contact.pxd). Where the normal impulses of its solution say otherwise - in a blow, where points come or go - the bounds become those of
the solution, and the problem is solved again from there, at most RENEWALS times. Each problem is convex, and with bounds that are given none
of them lifts what slides.

A bound is stale where friction is beyond what the solution allows by STALE, or slips at a bound that is as much too small. So nothing is
done twice while bodies stand, roll, or slide steadily. The bounds of torsion and rolling stay those of the last step: renewed, they made a coin
that spins down gain more where its points change.
"""
from libc.math cimport fabs, sqrt

from mbros_core.constraints.contact cimport Law
from mbros_core.constraints.newton cimport Report, solve
from mbros_core.constraints.potentials cimport squared
from mbros_core.constraints.problem cimport FRICTION, Problem, Term
from mbros_core.constraints.scene cimport Scene, Workspace
from mbros_core.constraints.touch cimport Touch
from mbros_core.constraints.touch_slopes cimport SLIPPING

cdef extern from *:
    """
    static const double MBROS_STALE = 0.1, MBROS_SLIGHT = 1e-2, MBROS_AT_BOUND = 1 - 1e-6;
    """
    const double STALE "MBROS_STALE"            # over the bound
    const double SLIGHT "MBROS_SLIGHT"          # over the largest normal impulse: what no point is worth solving again for
    const double AT_BOUND "MBROS_AT_BOUND"

cdef enum:
    RENEWALS = 3


cdef inline double bound_of(const Workspace* w, int lane_start, int block) noexcept nogil:
    """By the normal impulse of the solution."""
    cdef const Touch* t = &w.touch[lane_start + block]
    cdef const Law* law = &w.law[block]
    return (law.mu_standing if t.stuck or t.before < 0.0 else law.mu) * w.problem.impulse[w.problem.block[block].row]


cdef inline int next_sliding(const Problem* p, int n, int* block) noexcept nogil:
    """The first term from n on that is friction across a normal, -1 where there is none; block, which comes along, becomes its own."""
    cdef const Term* t
    for n in range(n, p.nterms):
        t = &p.term[n]
        if t.potential != FRICTION:
            continue
        while t.row >= p.block[block[0]].row + p.block[block[0]].rows:
            block[0] += 1
        if t.row == p.block[block[0]].row + 1:
            return n
    return -1


cdef inline bint any_stale(const Workspace* w, int lane, int lane_start) noexcept nogil:
    cdef const Problem* p = &w.problem
    cdef const Term* t
    cdef double bound, f
    cdef double slight = 0.0
    cdef int block = 0
    cdef int n
    for n in range(w.touches[lane]):
        slight = max(slight, SLIGHT * p.impulse[p.block[n].row])
    n = next_sliding(p, 0, &block)
    while n >= 0:
        t = &p.term[n]
        bound = bound_of(w, lane_start, block)
        f = sqrt(squared(p.impulse + t.row, t.rows))
        if f > (1.0 + STALE) * bound + slight or (f >= AT_BOUND * t.bound and t.bound < (1.0 - STALE) * bound - slight):
            return True
        n = next_sliding(p, n + 1, &block)
    return False


cdef inline void renew(Workspace* w, int lane_start) noexcept nogil:
    """All bounds of sliding. Derivatives take them as given: those who ask hear of it where they matter."""
    cdef Problem* p = &w.problem
    cdef Term* t
    cdef double bound
    cdef int block = 0
    cdef int n
    n = next_sliding(p, 0, &block)
    while n >= 0:
        t = &p.term[n]
        bound = bound_of(w, lane_start, block)
        if w.slopes.switches != NULL and fabs(bound - t.bound) > STALE * bound:
            w.slopes.switches[block] |= SLIPPING
        t.bound = bound
        n = next_sliding(p, n + 1, &block)


cdef inline void solve_within_bounds(const Scene* s, Workspace* w, int lane, Report* report) noexcept nogil:
    """The problem, and again where its bounds were stale; all within the bound on iterations."""
    cdef Report again
    cdef int lane_start = lane * s.most_touches
    cdef int k
    solve(&w.problem, s.tolerance, w.most_iterations, report)
    for k in range(RENEWALS):
        if report.iterations >= w.most_iterations or not report.converged or not any_stale(w, lane, lane_start):
            return
        renew(w, lane_start)
        solve(&w.problem, s.tolerance, w.most_iterations - report.iterations, &again)
        report.iterations += again.iterations
        report.converged = again.converged
