"""Prescribed joints: their motion is a law of time, and the rest of the robot is moved by it (hybrid dynamics).

The law of a joint, of its numbers in the state, with T = t - t0:

    q(t) = motion_q (+) x,   x = v T + 1/2 a T^2 + c3 T^3 + c4 T^4,   motion = t0, v, a, c3, c4 of every coordinate                   (1)

Where v is qdot that is a polynomial; on rotations it is one along the joint's increments, exact in q, v and vdot at T = 0. Whoever follows
a function of time therefore puts t0 at the end of the step: there the numbers are what was given, to the bit.

A step takes the joint from where it is to q(t + h), v(t + h). Over it the joint's acceleration is that of its velocity,
(v(t + h) - v) / h, so that the momentum the others get is that of the motion, jumps of its velocity included; forces are taken where the
integrator takes them: at its start, in the middle of the motion, or in the stages of rk4, where acceleration is that of the law.
"""
from mbros_core.scalar.real cimport LANES, OF_DUALS, any, copy, nonzero, real
from mbros_core.algorithms.forward_dynamics cimport prescribed
from mbros_core.integrators.clock cimport counted_time
from mbros_core.joints.dispatch cimport integrate
from mbros_core.joints.joint cimport MAX_NQ, MAX_NV, Joint
from mbros_core.engine.state cimport ModelC, Work

cdef enum:
    MOTION_COLUMNS = 5


cdef inline real time_after(const Work* s, real h) noexcept nogil:
    """The time at the end of a step, as clock.pxd counts it."""
    cdef const double* clock = <const double*>s.clock
    cdef double now
    if LANES > 1:
        return s.time[0] + h if OF_DUALS else s.clock[0] + (s.clock[1] + real(1.0)) * h
    now = (<const double*>s.time)[0]
    if now != counted_time(clock[0], clock[1], (<double*>&h)[0]):
        return real(counted_time(now, 1.0, (<double*>&h)[0]))
    return real(counted_time(clock[0], clock[1] + 1.0, (<double*>&h)[0]))


cdef inline void count_lanes(Work* s) noexcept nogil:
    """Robots side by side count their steps here: nobody else keeps their time."""
    if LANES > 1 and not OF_DUALS:
        s.clock[1] = s.clock[1] + real(1.0)


cdef inline void motion_at(const Joint* j, const Work* s, real t, real* q, real* v, real* a) noexcept nogil:
    """Equation (1) and its derivatives: of one joint, its own coordinates."""
    cdef const real* row
    cdef real x[MAX_NV]
    cdef real T
    cdef bint moved = False
    cdef int k
    for k in range(j.nv):
        row = s.motion + (j.iv + k) * MOTION_COLUMNS
        T = t - row[0]
        x[k] = T * (row[1] + T * (0.5 * row[2] + T * (row[3] + T * row[4])))
        v[k] = row[1] + T * (row[2] + T * (3.0 * row[3] + T * (4.0 * row[4])))
        a[k] = row[2] + T * (6.0 * row[3] + T * (12.0 * row[4]))
        moved = moved or any(nonzero(x[k])) or OF_DUALS
    if moved:
        integrate(j, s.motion_q + j.iq, x, q)
    else:
        copy(q, s.motion_q + j.iq, j.nq)


cdef inline void restart_motion(const Joint* j, Work* s) noexcept nogil:
    """The law of a prescribed joint that was put somewhere goes on from there."""
    cdef real* row
    cdef int k
    copy(s.motion_q + j.iq, s.q + j.iq, j.nq)
    for k in range(j.nv):
        row = s.motion + (j.iv + k) * MOTION_COLUMNS
        row[0], row[1] = s.time[0], s.v[j.iv + k]
        row[3] = row[4] = real(0.0)


cdef inline void follow(const ModelC* m, Work* s, real t) noexcept nogil:
    """q, v and a_given of all prescribed joints are those of their motion."""
    cdef int i
    for i in range(1, m.nb):
        if prescribed(&m.joints[i], s):
            motion_at(&m.joints[i], s, t, s.q + m.joints[i].iq, s.v + m.joints[i].iv, s.a_given + m.joints[i].iv)


cdef inline void begin_step(const ModelC* m, Work* s, real t, real h) noexcept nogil:
    """a_given over a step of semi-implicit Euler that ends at t."""
    cdef const Joint* j
    cdef real q[MAX_NQ]
    cdef real v[MAX_NV]
    cdef real a[MAX_NV]
    cdef int i, k
    for i in range(1, m.nb):
        j = &m.joints[i]
        if prescribed(j, s):
            motion_at(j, s, t, q, v, a)
            for k in range(j.nv):
                s.a_given[j.iv + k] = (v[k] - s.v[j.iv + k]) / h


cdef inline void begin_midpoint(const ModelC* m, Work* s, real t, real h) noexcept nogil:
    """The same for a midpoint step; q is that of its middle, which the integrator leaves alone, and a_prev leads to the velocity there."""
    cdef const Joint* j
    cdef real v[MAX_NV]
    cdef real a[MAX_NV]
    cdef int i, k
    begin_step(m, s, t, h)
    for i in range(1, m.nb):
        j = &m.joints[i]
        if prescribed(j, s):
            motion_at(j, s, t - 0.5 * h, s.q + j.iq, v, a)
            for k in range(j.nv):
                s.a_prev[j.iv + k] = 2.0 * (v[k] - s.v[j.iv + k]) / h


cdef inline void end_step(const ModelC* m, Work* s, real t) noexcept nogil:
    """After it: what the motion says. a_prev is the acceleration over the step, as that of others."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if prescribed(j, s):
            copy(s.a_prev + j.iv, s.a_given + j.iv, j.nv)
    follow(m, s, t)
    count_lanes(s)
