"""What begins to stick, held as far as rounding lets it.

Friction that sticks is gamma_t = gamma - w_t v_t about what it carried in the last step (contact.pxd): in steady load v_t is zero, and a new
load leaves STICTION of the velocity that it alone would give, for one step. A point that slid in the last step has carried what says nothing
of what it will carry. So where a point begins to stick, in that step and in the next, a change of friction by more than LATE of the step's
impulses lets the step be solved once more, from its solution on, about the friction that was found and with STIFFER weights
(hold_fast() of coulomb.pxd). Then what sticks does not depend on what it carried when it slid, and products of derivatives along a
run need no memory of it (slopes.pxd). In every step with such a change it would cost one Newton step in five of robots that move.
"""
from mbros_core.constraints.contact cimport STICTION, carried
from mbros_core.constraints.potentials cimport squared
from mbros_core.constraints.problem cimport Problem, Term
from mbros_core.constraints.scene cimport Workspace
from mbros_core.constraints.touch cimport STICKS, Touch, slacken

cdef extern from *:
    """
    static const double MBROS_LATE = 1e-2, MBROS_STIFFER = 1e5;
    """
    const double LATE "MBROS_LATE"
    const double STIFFER "MBROS_STIFFER"


cdef inline bint holds(const Problem* p, const Term* t) noexcept nogil:
    """Whether friction is below its bound."""
    return t.weight * t.weight * squared(p.y + t.row, t.rows) < t.bound * t.bound


cdef inline bint begins(const Workspace* w, const Touch* touch, int k) noexcept nogil:
    """Whether touch k slid in the last step or the one before, and has friction of its own."""
    return w.sliding[k] >= 0 and touch[k].before >= 0.0 and touch[k].stuck != STICKS


cdef inline double reference(const Workspace* w, const Touch* touch, int k, int i, double h) noexcept nogil:
    """The impulse that friction of touch k goes on from, along its axis i across the normal."""
    return h * carried(&touch[k], &w.axes[k], 1 + i) if touch[k].goes_on else 0.0


cdef inline bint gives_way(Workspace* w, const Touch* touch, int n, double h) noexcept nogil:
    """Whether what begins to stick moves by more than it should. In the units of momenta of newton.pxd."""
    cdef const Problem* p = &w.problem
    cdef const Term* t
    cdef double sum_of = 0.0
    cdef double pushed = 0.0
    cdef double slip, x
    cdef int i, k
    for k in range(n):
        if not begins(w, touch, k) or not holds(p, &p.term[w.sliding[k]]):
            continue
        t = &p.term[w.sliding[k]]
        for i in range(2):
            slip = p.y[t.row + i] + reference(w, touch, k, i, h) / t.weight
            sum_of += t.weight * slip * slip / STICTION
    if sum_of == 0.0:
        return False
    for k in range(p.nv):
        x = p.momentum[k] - p.gradient[k]
        pushed += x * x * p.unit[k]
    return sum_of > LATE * LATE * pushed


cdef inline void stiffen(Workspace* w, Touch* touch, int k, double x, double y, double h) noexcept nogil:
    """Friction of touch k goes on from the impulses x and y across the normal, with STIFFER weights."""
    cdef Problem* p = &w.problem
    cdef Term* t = &p.term[w.sliding[k]]
    p.target[t.row] += (x / STIFFER - reference(w, touch, k, 0, h)) / t.weight
    p.target[t.row + 1] += (y / STIFFER - reference(w, touch, k, 1, h)) / t.weight
    t.weight *= STIFFER
    touch[k].last, touch[k].stiffer, touch[k].goes_on = touch[k].force, STIFFER, 1
    touch[k].force = (x / h) * w.axes[k].t + (y / h) * w.axes[k].s


cdef inline void loosen(Workspace* w, Touch* touch, int n, double h) noexcept nogil:
    """As it was before stiffen()."""
    cdef Problem* p = &w.problem
    cdef Term* t
    cdef int i, k
    for k in range(n):
        if touch[k].stiffer == 1.0:
            continue
        t = &p.term[w.sliding[k]]
        for i in range(2):
            p.target[t.row + i] -= reference(w, touch, k, i, h) / t.weight
        t.weight /= STIFFER
        slacken(&touch[k])
        for i in range(2):
            p.target[t.row + i] += reference(w, touch, k, i, h) / t.weight
