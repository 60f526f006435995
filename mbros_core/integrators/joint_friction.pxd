"""Coulomb friction of coordinates in a step, as a law of sets:

    v+ = argmin 1/2 (v - v*)^T M (v - v*) + h sum f_i |v_i|                                             (1)

A coordinate slides against a constant friction f, or it holds: v+ = 0 under any friction up to f. Which one does what is found by an active
set: the first guess is that what moves slides on and what rests holds; what would turn round holds, what would need more than f slides; a
step is solved again until nothing changes. At rest and in steady motion that is one solution, where a joint stops or breaks loose two or
three. What holds is a coordinate with so much more on its diagonal (s.sticking) that all of f would move it at CREEP; afterwards its v is
set to zero, and q keeps every bit. So nothing is kept from step to step: zero is the memory.

All that is wrong changes at once, TOGETHER times; from then on the first coordinate alone, which ends at the solution (Murty's rule: M is
positive definite). A step that is not found within MOST solutions is counted as unsolved where the model has contacts or constraints.
forces/passive.pxd has the smooth law of accelerations, which integrators of higher order follow.
"""
from mbros_core.scalar.real cimport any, copy, fabs, less, nonzero, real, select, value
from mbros_core.algorithms.equation_of_motion cimport implicit_vdot_under, midpoint_vdot_under
from mbros_core.constraints.robot cimport CREEP
from mbros_core.constraints.touch cimport UNSOLVED
from mbros_core.engine.state cimport ModelC, Work

cdef enum:
    TOGETHER = 6
    MOST = 80
    # rows of stage_v, of which the integrators use others
    SIDE = 1                # against which direction friction acts; 0: it holds
    EFFORTS = 4             # commanded ones, less the friction of what slides
    A_PREV = 5              # of the last step


cdef inline bint rubs(const ModelC* m, const Work* s) noexcept nogil:
    """Whether some coordinate that can move has friction."""
    cdef int i
    for i in range(m.nv):
        if any(nonzero(s.friction[i])) and value(s.lock[i]) == 0.0:
            return True
    return False


cdef inline real direction(real v) noexcept nogil:
    cdef real zero = real(0.0)
    return select(less(zero, v), real(1.0), select(less(v, zero), real(-1.0), zero))


cdef inline void act(const ModelC* m, Work* s, const real* tau, real h) noexcept nogil:
    """Friction as `SIDE` says, into the efforts and s.sticking."""
    cdef const real* side = s.stage_v + SIDE * m.nv
    cdef real* efforts = s.stage_v + EFFORTS * m.nv
    cdef real zero = real(0.0)
    cdef int i
    for i in range(m.nv):
        efforts[i] = tau[i] - side[i] * s.friction[i]
        s.sticking[i] = select(nonzero(side[i]), zero, h * s.friction[i] / real(CREEP))
        if value(s.lock[i]) != 0.0:
            s.sticking[i] = zero


cdef inline bint changes(const ModelC* m, Work* s, const real* v_start, const real* a, real h, bint alone) noexcept nogil:
    """Let hold what turned round, and slide what friction cannot hold; whether there was anything. alone: the first one only, in each
    lane."""
    cdef real* side = s.stage_v + SIDE * m.nv
    cdef real zero = real(0.0)
    cdef real more = real(1.0)              # whether another one may change
    cdef bint found = False
    cdef real v, then
    cdef int i
    for i in range(m.nv):
        if not any(nonzero(s.friction[i])) or value(s.lock[i]) != 0.0:
            continue
        v = v_start[i] + h * a[i]
        then = select(nonzero(side[i]), select(less(side[i] * v, zero), zero, side[i]),
                      select(less(real(CREEP), fabs(v)), direction(v), zero))
        then = select(nonzero(s.friction[i]), select(nonzero(more), then, side[i]), side[i])
        if any(nonzero(then - side[i])):
            found = True
            if alone:
                more = select(nonzero(then - side[i]), zero, more)
            side[i] = then
    return found


cdef inline void solve(const ModelC* m, Work* s, const real* efforts, const real* v_start, real* a, real h, bint midpoint,
                       bint touching) noexcept nogil:
    if midpoint:
        midpoint_vdot_under(m, efforts, h, a, s)
    else:
        implicit_vdot_under(m, efforts, h, a, s)
    if touching:
        m.touch(m, s, v_start, a, h, 0.5 * h if midpoint else h, 0.375 if midpoint else 0.5)


cdef inline void accelerate_with_friction(const ModelC* m, Work* s, const real* tau, const real* v_start, real* a, real h, bint midpoint,
                                          bint touching) noexcept nogil:
    """a over a step from v_start by (1), as midpoint_vdot_under or implicit_vdot_under, and then contact, have it without. v_start is not
    s.v in a midpoint step, whose s.v becomes that of the middle; a may be s.a_prev there."""
    cdef real* side = s.stage_v + SIDE * m.nv
    cdef real* last = s.stage_v + A_PREV * m.nv
    cdef bint found = False
    cdef int i, turn
    for i in range(m.nv):
        side[i] = select(nonzero(s.friction[i]), direction(v_start[i]), real(0.0))
    copy(last, s.a_prev, m.nv)
    for turn in range(MOST):
        act(m, s, tau, h)
        if touching:
            s.contacts.again = turn > 0
            s.contacts.some_stick = not m.shared
        solve(m, s, s.stage_v + EFFORTS * m.nv, v_start, a, h, midpoint, touching)
        found = not changes(m, s, v_start, a, h, turn >= TOGETHER)
        if found:
            break
        copy(s.a_prev, last, m.nv)
        if midpoint:
            copy(s.v, v_start, m.nv)
    if touching:
        s.contacts.again = s.contacts.some_stick = False
        if not found and m.nt:
            s.contact_memory[UNSOLVED] = s.contact_memory[UNSOLVED] + real(1.0)
    for i in range(m.nv):
        if any(nonzero(s.sticking[i])):
            a[i] = select(less(real(0.0), s.sticking[i]), -(v_start[i] / h), a[i])


cdef inline void come_to_hold(const ModelC* m, const Work* s, real* v) noexcept nogil:
    """v+ of what holds, which rounding may have left beside zero."""
    cdef int i
    for i in range(m.nv):
        if any(nonzero(s.sticking[i])):
            v[i] = select(less(real(0.0), s.sticking[i]), real(0.0), v[i])
