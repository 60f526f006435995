"""Dormand and Prince's Runge-Kutta pair of order 5(4) with steps by the error (Dormand and Prince 1980; Hairer, Norsett and Wanner 1993,
sections II.4 to II.6), for offline truth: whole steps of the simulation h are made of as many substeps as tolerances ask for.

A substep goes over the joints' charts about where it begins (joints/chart.pxd): x' and v' are vectors, weighed by the tableau; what is
locked keeps every bit, what is prescribed follows its law at the time of every stage. The error is the difference of both orders,

    err^2 = mean (e / (atol + rtol |y|))^2,   |y| the larger of both ends', 1 of angles of rotations                          (1)

over all x and v; err <= 1 is taken, and the next substep is h / f, f = (err^0.17 / err_before^0.04) / 0.9 within [1/10, 5]: a PI controller.
Sums of q and v carry what rounding would lose from one substep of a step to the next (Kahan 1965).

Dense output: the continuous extension of fourth order of all x and v over a substep (Shampine 1986; Hairer's d_i). It finds where a stop
begins or ends to act (pieces.pxd); the substep is then taken again up to there, and Newton's method in its length puts its end on the
event. Constraints hold by the accelerations, and q and v are projected onto them after each substep, as in rk4.

A step depends on q, v, parameters, efforts and h alone: nothing is remembered between steps. Of one robot: only where `real` is a double.
"""
from libc.math cimport fabs as magnitude, fmax as larger, fmin as smaller, isfinite, pow, sqrt as root

from mbros_core.scalar.real cimport NAN, copy, real, value
from mbros_core.algorithms.equation_of_motion cimport vdot_under
from mbros_core.constraints.hold cimport AN_ACCELERATION
from mbros_core.forces.contact cimport stamp_contacts
from mbros_core.forces.stiff cimport note_explicit
from mbros_core.groups.configuration cimport stays
from mbros_core.integrators.pieces cimport Stop, has_stops, piece_after, piece_of, time_to_end
from mbros_core.integrators.prescribed cimport time_after
from mbros_core.integrators.steps cimport close_constraints, hold_locked
from mbros_core.integrators.substep cimport (Adaptive, chart_rates, dense, error_of, follow_laws, place_all, place_between, rates_at,
                                             squared_share, take)
from mbros_core.joints.chart cimport chart_size, first_sum, place_of_sum
from mbros_core.joints.dispatch cimport normalize, written_by_user
from mbros_core.joints.joint cimport Joint
from mbros_core.engine.state cimport ModelC, Work

cdef enum:
    DORMAND_PRINCE = 3          # beside the enum of steps.pxd
    MOST_SUBSTEPS = 1000000     # of one step
    MOST_NEWTON = 8             # substeps taken again for one event
    HALVINGS = 60
    SAMPLES = 4                 # of a substep, where events are looked for

cdef enum Outcome:
    TAKEN = 0
    TOO_SHORT = 1               # no substep is short enough
    TOO_MANY = 2


# --------------------------------------------------------------------------------------------------------- events

cdef inline Stop piece_at(const ModelC* m, const Work* s, const Adaptive* a, int i, double h, double at) noexcept nogil:
    """The piece of coordinate i after `at` of the substep that was taken."""
    cdef int iq = m.q_of_v[i]
    cdef double v0 = value(a.v0[i])
    return piece_after(m, s, a.stop[i], i, dense(value(a.q0[iq]), value(a.x[iq]), a.kx + iq, m.nq, h, at),
                       dense(v0, value(s.v[i]) - v0, a.kv + i, m.nv, h, at))


cdef inline double ends_at(const ModelC* m, const Work* s, const Adaptive* a, int i, double h) noexcept nogil:
    """Where in the substep the piece of coordinate i ends; 2: not in it."""
    cdef double low = 0.0
    cdef double high = 0.0
    cdef double middle
    cdef int k, kind = a.stop[i].piece
    for k in range(1, SAMPLES + 1):
        if piece_at(m, s, a, i, h, k / <double>SAMPLES).piece != kind:
            high = k / <double>SAMPLES
            break
        low = k / <double>SAMPLES
    if high == 0.0:
        return 2.0
    if low == 0.0 and piece_at(m, s, a, i, h, 0.0).piece != kind:
        return 0.0
    for k in range(HALVINGS):
        middle = 0.5 * (low + high)
        if piece_at(m, s, a, i, h, middle).piece != kind:
            high = middle
        else:
            low = middle
    return high


cdef inline int first_to_end(const ModelC* m, const Work* s, const Adaptive* a, double h, double* at) noexcept nogil:
    """The coordinate whose piece ends first in the substep that was taken, and where; -1: none does."""
    cdef int i, first = -1
    cdef double there
    at[0] = 2.0
    for i in range(m.nv):
        if has_stops(m, s, i):
            there = ends_at(m, s, a, i, h)
            if there < at[0]:
                at[0], first = there, i
    return first


cdef inline double cut(const ModelC* m, Work* s, const real* tau, Adaptive* a, int i, double h, double most, double at, real t,
                       bint given) noexcept nogil:
    """The substep that was taken, taken again so that it ends where the piece of coordinate i does, `at` of it by the dense output; the
    length of that, up to `most`. Beyond its end a piece's law goes on, so a little too far does not matter."""
    cdef Stop now = a.stop[i]
    cdef Stop then = piece_at(m, s, a, i, h, at)
    cdef double change = at * h - h
    cdef double before = 1e300
    cdef int k, iq = m.q_of_v[i]
    for k in range(MOST_NEWTON):
        h = smaller(h + change, most)
        take(m, s, tau, a, real(h), t, given)
        change = time_to_end(m, s, now, then, i, value(a.q0[iq]) + value(a.x[iq]), value(s.v[i]), value(a.kv[6 * m.nv + i]))
        if not magnitude(change) < 0.5 * before or magnitude(change) > 0.5 * h or magnitude(change) <= 1e-17:
            break
        before = magnitude(change)
    a.stop[i] = then
    return h


# ----------------------------------------------------------------------------------------------------- whole steps

cdef inline void begin(const ModelC* m, Work* s, const real* tau, Adaptive* a, real t, bint given) noexcept nogil:
    """A substep begins here."""
    cdef int i
    copy(a.q0, s.q, m.nq)
    copy(a.v0, s.v, m.nv)
    for i in range(m.nq):
        a.x[i] = real(0.0)
    rates_at(m, s, tau, a, 0, t, given)


cdef inline void begin_after_end(const ModelC* m, Work* s, Adaptive* a) noexcept nogil:
    """The same where the last stage of the substep before was taken here."""
    cdef int i
    copy(a.q0, s.q, m.nq)
    copy(a.v0, s.v, m.nv)
    for i in range(m.nq):
        a.x[i] = real(0.0)
    copy(a.kv, a.kv + 6 * m.nv, m.nv)
    chart_rates(m, s, a, a.kx)


cdef inline real with_carried(real start, real step, real* carried) noexcept nogil:
    """start + step, and what of it is lost there."""
    cdef real less_lost = step - carried[0]
    cdef real end = start + less_lost
    carried[0] = (end - start) - less_lost
    return end


cdef inline void settle(const ModelC* m, Work* s, Adaptive* a) noexcept nogil:
    """The end of a substep that counts."""
    cdef const Joint* j
    cdef int i, k, at
    for i in range(1, m.nb):
        j = &m.joints[i]
        if stays(j, s.lock):
            continue
        for k in range(first_sum(j), chart_size(j)):
            at = j.iq + place_of_sum(j, k)
            s.q[at] = with_carried(a.q0[at], a.x[j.iq + k], a.carried_q + at)
        for k in range(j.iv, j.iv + j.nv):
            s.v[k] = with_carried(a.v0[k], s.v[k] - a.v0[k], a.carried_v + k)
        if written_by_user(j):
            normalize(j, s.q + j.iq)
    a.taken += 1.0


cdef inline double first_guess(const ModelC* m, Work* s, const real* tau, Adaptive* a, double h, real t, bint given) noexcept nogil:
    """A length to begin with, h at most (Hairer, Norsett and Wanner, II.4): from the sizes of y, y' and y'' by (1)."""
    cdef double d0 = 1e-30
    cdef double d1 = 1e-30
    cdef double d2 = 0.0
    cdef double short_one
    cdef int i
    if m.nv == 0:
        return h
    for i in range(m.nv):
        if value(s.lock[i]) == 0.0:
            d0 += squared_share(a, value(s.v[i]), magnitude(value(s.v[i]))) + squared_share(a, 1.0, 1.0)
            d1 += squared_share(a, value(a.kv[i]), magnitude(value(s.v[i]))) + squared_share(a, value(s.v[i]), 1.0)
    short_one = smaller(0.01 * root(d0 / d1), h)
    if not short_one > 0.0:
        return h
    for i in range(m.nq):
        a.x[i] = real(short_one) * a.kx[i]
    for i in range(m.nv):
        s.v[i] = a.v0[i] + real(short_one) * a.kv[i]
    place_all(m, s, a)
    rates_at(m, s, tau, a, 1, t + real(short_one), given)
    for i in range(m.nv):
        if value(s.lock[i]) == 0.0:
            d2 += squared_share(a, (value(a.kv[m.nv + i]) - value(a.kv[i])) / short_one, magnitude(value(a.v0[i])))
    copy(s.q, a.q0, m.nq)
    copy(s.v, a.v0, m.nv)
    return smaller(h, smaller(100.0 * short_one, pow(0.01 / larger(larger(root(d1 / (2 * m.nv)), root(d2 / (2 * m.nv))), 1e-300), 0.2)))


cdef inline bint fail(const ModelC* m, Work* s, Adaptive* a, int outcome) noexcept nogil:
    """The step could not be taken; the coordinate with the largest acceleration says so. outcome: TAKEN where numbers are not finite, whose
    cause others find."""
    cdef int i, worst = 0
    for i in range(m.nv):
        if not magnitude(value(a.kv[i])) <= magnitude(value(a.kv[worst])):
            worst = i
    a.outcome = outcome
    if m.nv:
        s.v[worst] = real(NAN)
    return False


cdef inline bint arrive(const ModelC* m, Work* s, const real* tau, const Adaptive* a, real end, bint given) noexcept nogil:
    """The end of a step: constraints closed, a_prev the accelerations there, from which what joints carry is found."""
    if given:
        follow_laws(m, s, a, end)
    if m.scene != NULL and m.nk:
        close_constraints(m, s)
    vdot_under(m, tau, s.a_prev, s)
    if m.scene != NULL and m.nk:
        m.hold(m, s, s.a_prev, AN_ACCELERATION, True)
    if m.scene != NULL:
        stamp_contacts(m, s)
    return True


cdef inline bint dormand_prince(const ModelC* m, Work* s, const real* tau, Adaptive* a, double h, double until) noexcept nogil:
    """q and v a step h later, under constant tau; or, for until >= 0, until that long after the beginning, by the dense output of the
    substep in which it is. The state's time is that of the beginning. False where tolerances could not be kept: a.outcome says why."""
    cdef bint given = hold_locked(m, s)
    cdef real end = time_after(s, real(h))
    cdef double done = 0.0
    cdef double before = 1e-4
    cdef double ahead, err, factor, at, wanted, to_come
    cdef bint last, refused = False
    cdef int i, k, still = 0
    a.outcome = TAKEN
    if m.nsprings:
        note_explicit(m, s)
    for i in range(m.nv):
        a.carried_v[i] = real(0.0)
        a.stop[i] = piece_of(m, s, i)
    for i in range(m.nq):
        a.carried_q[i] = real(0.0)
    begin(m, s, tau, a, end - real(h), given)
    wanted = first_guess(m, s, tau, a, h, end - real(h), given)
    for k in range(MOST_SUBSTEPS):
        ahead = h - done
        last = wanted >= 0.99 * ahead
        if last:
            wanted = ahead
        elif wanted > 0.5 * ahead:
            wanted = 0.5 * ahead
        take(m, s, tau, a, real(wanted), end - real(ahead), given)
        err = error_of(m, s, a, wanted)
        if not err <= 1.0:
            a.refused += 1.0
            refused = True
            wanted = wanted / smaller(10.0, larger(1.1, pow(err, 0.17) / 0.9)) if isfinite(err) else 0.1 * wanted
            if wanted < 1e-14 * h:
                return fail(m, s, a, TOO_SHORT if isfinite(err) else TAKEN)
            continue
        factor = larger(0.1, smaller(5.0, pow(larger(err, 1e-10), 0.17) / pow(before, 0.04) / 0.9))
        if refused:
            factor = larger(factor, 1.0)
        i = first_to_end(m, s, a, wanted, &at) if still <= 2 * m.nv + 2 else -1
        if i >= 0 and at * wanted <= 1e-16 * h:
            a.stop[i] = piece_at(m, s, a, i, wanted, 1.0 / SAMPLES)         # it ends here: on by the law of the next
            still += 1
            copy(s.q, a.q0, m.nq)
            copy(s.v, a.v0, m.nv)
            begin(m, s, tau, a, end - real(ahead), given)
            continue
        before, refused, still = larger(err, 1e-4), False, 0
        to_come = wanted / factor
        if i >= 0:
            wanted = cut(m, s, tau, a, i, wanted, ahead, at, end - real(ahead), given)
            last = wanted >= ahead
        if 0.0 <= until <= done + wanted:
            place_between(m, s, a, wanted, (until - done) / wanted)
            if given:
                follow_laws(m, s, a, end - real(h - until))
            return True
        settle(m, s, a)
        done += wanted
        wanted = to_come
        if last:
            return arrive(m, s, tau, a, end, given)
        if m.scene != NULL and m.nk:
            close_constraints(m, s)
        if i >= 0 or given or (m.scene != NULL and m.nk):
            begin(m, s, tau, a, end - real(h - done), given)
        else:
            begin_after_end(m, s, a)
    return fail(m, s, a, TOO_MANY)
