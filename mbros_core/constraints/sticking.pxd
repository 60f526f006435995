"""What begins to stick, held as far as rounding lets it.

Friction that sticks is gamma_t = gamma - w_t v_t about what it carried in the last step (contact.pxd): in steady load v_t is zero, and a new
load leaves STICTION of the velocity that it alone would give, for one step. A point that slid in the last step has carried what says nothing
of what it will carry. So where a point begins to stick, in that step and in the next, a change of friction by more than LATE of the step's
impulses lets the step be solved once more, from its solution on, about the friction that was found and with STIFFER weights. Then what
sticks does not depend on what it carried when it slid, and products of derivatives along a run need no memory of it (slopes.pxd). In
every step with such a change it would cost one Newton step in five of robots that move.
"""
from libc.string cimport memcpy

from mbros_core.constraints.contact cimport STICTION, carried
from mbros_core.constraints.coulomb cimport LESS, descend, find_law_direction, look
from mbros_core.constraints.newton cimport Report, advance, begin, find_gradient, finish
from mbros_core.constraints.potentials cimport squared
from mbros_core.constraints.problem cimport Problem, Term
from mbros_core.constraints.scene cimport Scene, Workspace
from mbros_core.constraints.touch cimport STICKS, Touch, slacken

cdef extern from *:
    """
    static const double MBROS_LATE = 1e-2, MBROS_STIFFER = 1e5, MBROS_UNBOUNDED = 1e100;
    """
    const double LATE "MBROS_LATE"
    const double STIFFER "MBROS_STIFFER"
    const double UNBOUNDED "MBROS_UNBOUNDED"

cdef enum:
    MOST_NEWTON = 6
    MOST_HALVINGS = 2


cdef inline bint holds(const Problem* p, const Term* t) noexcept nogil:
    return t.bound > 0.0 and t.weight * t.weight * squared(p.y + t.row, t.rows) < t.bound * t.bound


cdef inline bint gives_way(Workspace* w, const Touch* touch, int n, double h) noexcept nogil:
    """Whether what begins to stick moves by more than it should. In the units of momenta of newton.pxd."""
    cdef const Problem* p = &w.problem
    cdef const Term* t
    cdef double sum_of = 0.0
    cdef double pushed = 0.0
    cdef double slip, x
    cdef int i, k
    for k in range(n):
        if touch[k].before < 0.0 or touch[k].stuck == STICKS or w.sliding[k] < 0 or not holds(p, &p.term[w.sliding[k]]):
            continue
        t = &p.term[w.sliding[k]]
        for i in range(2):
            slip = p.y[t.row + i] + (h * carried(&touch[k], &w.axes[k], 1 + i) / t.weight if touch[k].goes_on else 0.0)
            sum_of += t.weight * slip * slip / STICTION
    if sum_of == 0.0:
        return False
    for k in range(p.nv):
        x = p.momentum[k] - p.gradient[k]
        pushed += x * x * p.unit[k]
    return sum_of > LATE * LATE * pushed


cdef inline void stiffen(Workspace* w, Touch* touch, int n, double h) noexcept nogil:
    """About the friction that was found, with STIFFER weights."""
    cdef Problem* p = &w.problem
    cdef Term* t
    cdef double found[2]
    cdef double slip
    cdef int i, k
    for k in range(n):
        if w.sliding[k] < 0 or not holds(p, &p.term[w.sliding[k]]):
            continue
        t = &p.term[w.sliding[k]]
        for i in range(2):
            found[i] = -t.weight * p.y[t.row + i]
            slip = p.y[t.row + i] + (h * carried(&touch[k], &w.axes[k], 1 + i) / t.weight if touch[k].goes_on else 0.0)
            p.target[t.row + i] += p.y[t.row + i] - (slip - found[i] / (STIFFER * t.weight))
        t.weight *= STIFFER
        t.bound = UNBOUNDED                                 # in the first Newton step; descend() finds it again
        touch[k].last, touch[k].stiffer, touch[k].goes_on = touch[k].force, STIFFER, 1
        touch[k].force = (found[0] / h) * w.axes[k].t + (found[1] / h) * w.axes[k].s


cdef inline void loosen(Workspace* w, Touch* touch, int n, double h) noexcept nogil:
    """As it was before stiffen()."""
    cdef Problem* p = &w.problem
    cdef Term* t
    cdef int i, k
    for k in range(n):
        if w.sliding[k] < 0 or touch[k].stiffer == 1.0:
            continue
        t = &p.term[w.sliding[k]]
        for i in range(2):
            p.target[t.row + i] -= h * carried(&touch[k], &w.axes[k], 1 + i) / t.weight
        t.weight /= STIFFER
        slacken(&touch[k])
        for i in range(2 if touch[k].goes_on else 0):
            p.target[t.row + i] += h * carried(&touch[k], &w.axes[k], 1 + i) / t.weight


cdef inline void hold_fast(const Scene* s, Workspace* w, int lane, double h, Report* r) noexcept nogil:
    """The solution again where what sticks gives way; as it is where that is not found."""
    cdef Problem* p = &w.problem
    cdef Touch* touch = w.touch + lane * s.most_touches
    cdef int n = w.touches[lane]
    cdef Report again = r[0]
    if not gives_way(w, touch, n, h):
        return
    memcpy(w.slower, p.u, p.nv * sizeof(double))
    stiffen(w, touch, n, h)
    p.factored = 0
    begin(p)
    find_gradient(p, &again)
    if find_law_direction(w, n):
        advance(p, 1.0)
        again.iterations += 1
    if descend(w, n, s.tolerance, MOST_NEWTON, MOST_HALVINGS, LESS, &again):
        r[0] = again
    else:
        r.iterations = again.iterations
        loosen(w, touch, n, h)
        memcpy(p.u, w.slower, p.nv * sizeof(double))
        begin(p)
        look(w, n, &again)
    finish(p)
