"""Sources: joints whose motion comes from elsewhere, from samples of hardware for example, while the rest is simulated (docs/sources.md).

Between samples a joint goes on as the last one says, at constant acceleration. Where a sample, or the beginning, finds it elsewhere,
the difference e goes to zero over a time T as the cubic that begins with its value and rate and ends with zeros:

    q(t) = q_k + v_k s + a_k s^2 / 2 + e(t),   s = t - t_k,   e = e_0 (1 - 3 u^2 + 2 u^3) + T e'_0 (u - 2 u^2 + u^3),   u = (t - t_0) / T

Position and velocity are continuous; acceleration jumps by at most 6 |e_0| / T^2 + 4 |e'_0| / T. The motion goes to the engine as the
law of a prescribed joint about the end of the step (integrators/prescribed.pxd). What a source remembers is a piece of the devices' block.

The residual is that of a momentum observer, dr/dt = K (effort that the motion took - effort that was measured - r): what the motion took
is M vdot + bias, whose integral is a momentum less the bias, so that noise of velocities is divided by 1 / K and not by a step.
"""
from libc.math cimport NAN, fabs, fmax, fmin

from mbros_core.plant.device cimport Devices, Source
from mbros_core.plant.inside cimport mbros_inside
from mbros_core.integrators.clock cimport counted_time

cdef enum:
    # of the memory
    MODE = 0
    TIME = 1            # of the newest sample; NaN: none
    Q = 2
    V = 3
    A = 4
    E = 5
    EDOT = 6
    T0 = 7
    SPAN = 8
    TRIPS = 9
    IGNORED = 10
    JUDGED = 11
    MEASURED = 12
    PENDING = 13
    REASON = 14
    JOINED = 15         # the time from which on it is where its source is
    HELD = 16           # 1 or 2: the source locked or prescribed it; 0: it did not
    OFF_Q = 17          # at the newest sample: where the ones before led, less it
    OFF_V = 18
    TRIPPED_AT = 19
    JUDGED_AT = 20      # of the first residual beyond its bound: time, predicted and measured
    JUDGED_EFFORT = 21
    JUDGED_MEASURED = 22
    FED = 23            # samples so far, and the newest of them as it came
    FED_TIME = 24
    FED_Q = 25
    FED_V = 26
    FED_EFFORT = 27
    AHEAD = 28          # samples of the future that were not used, and by how much the newest of them was, s
    AHEAD_BY = 29
    STRETCH_Q = 30      # where a stretch of motion began, and how far its velocities say that it went since
    STRETCH_V = 31
    OPPOSED_Q = 32      # of the last stretch, where they contradict each other: how far it went, and how far they say; else 0
    OPPOSED_V = 33
    JUMPED_BY = 34      # of the last jump: distance, and the largest that is let through
    JUMPED_MOST = 35
    RESIDUAL = 36       # of the momentum observer; NaN: it has not begun; and when it began
    OBSERVED_FROM = 37
    CONTRARY = 38       # stretches in a row in which velocities and positions contradict each other
    SOURCE_MEMORY = 39
    # of MODE
    OTHER = 0
    REAL = 1
    STOPPING = 2
    # why it tripped
    STALE = 1
    JUMPED = 2
    NOT_A_NUMBER = 3
    OPPOSED = 4
    OUTRUN = 5
    VELOCITY_JUMPED = 6
    MOST_CONTRARY = 3   # stretches: a velocity that lags is contrary in one, where the joint turns back
    # asked for
    TO_SIM = 0
    TO_REAL = 1
    TO_PRESCRIBED = 2
    TO_LOCKED = 3
    # safe states
    SAFE_LOCK = 0
    SAFE_SIM = 1
    # numbers, live (docs/sources.md)
    TIMEOUT = 0
    JUMP = 1
    SPEED = 2
    VELOCITY_JUMP = 3
    BLEND = 4
    FILTER = 5
    BOUND = 6
    OBSERVER = 7
    SAFE = 8
    SOURCE_NUMBERS = 9
    # of a coordinate (state.pxd)
    FREE = 0
    STILL = 1
    GIVEN = 2

cdef extern from *:
    """
    static const double mbros_soon = 1e-9;      // s: times nearer than this are the same
    static const double mbros_farthest = 1e10;  // the bound of a plant's coordinates (checks.py)
    static const double mbros_shortest = 1e-3;  // s: stamps are not more exact than this, nor are encoders finer
    static const double mbros_stretch = 1e-2;   // rad or m: from this distance on velocities are compared with it
    """
    const double SHORTEST "mbros_shortest"
    const double STRETCH "mbros_stretch"
    const double SOON "mbros_soon"
    const double FARTHEST "mbros_farthest"


cdef inline double number(const Devices* d, const Source* s, int k) noexcept nogil:
    return d.block[s.par + k]


cdef inline double end_of_step(const mbros_inside* p, double dt) noexcept nogil:
    """As the engine counts it."""
    if p.time[0] != counted_time(p.clock[0], p.clock[1], dt):
        return counted_time(p.time[0], 1.0, dt)
    return counted_time(p.clock[0], p.clock[1] + 1.0, dt)


cdef inline void source_motion(const double* m, double t, double* out) noexcept nogil:
    """q, v and a at t."""
    cdef double T = m[SPAN], s, e, d
    cdef double u = fmin(fmax((t - m[T0]) / T, 0.0), 1.0) if T > 0.0 else 1.0
    if m[MODE] == STOPPING:                     # v = v_0 (1 - 3 u^2 + 2 u^3); E and EDOT are q_0 and v_0
        out[0] = m[E] + m[EDOT] * T * (u - u * u * u + 0.5 * u * u * u * u)
        out[1] = m[EDOT] * (1.0 - 3.0 * u * u + 2.0 * u * u * u)
        out[2] = m[EDOT] * 6.0 * u * (u - 1.0) / T
        return
    s, e, d = t - m[TIME], m[E], m[EDOT]
    out[0], out[1], out[2] = m[Q] + m[V] * s + 0.5 * m[A] * s * s, m[V] + m[A] * s, m[A]
    if u < 1.0:
        out[0] += e * (1.0 - 3.0 * u * u + 2.0 * u * u * u) + T * d * (u - 2.0 * u * u + u * u * u)
        out[1] += e * 6.0 * u * (u - 1.0) / T + d * (1.0 - 4.0 * u + 3.0 * u * u)
        out[2] += e * (12.0 * u - 6.0) / (T * T) + d * (6.0 * u - 4.0) / T


cdef inline void give_law(Devices* d, const Source* s, double t0, const double* x, double c3, double c4) noexcept nogil:
    """The joint is prescribed: at t0 it has q, v and a of x."""
    cdef mbros_inside* p = d.plant
    cdef double* row = d.motion + 5 * s.iv
    d.motion_q[s.iq] = x[0]
    row[0], row[1], row[2], row[3], row[4] = t0, x[1], x[2], c3, c4
    if p.lock[s.iv] != GIVEN:
        p.lock[s.iv], p.a_prev[s.iv] = GIVEN, 0.0
    if t0 <= p.time[0]:
        d.a_given[s.iv] = x[2]


cdef inline void stand_still(Devices* d, const Source* s) noexcept nogil:
    d.plant.lock[s.iv] = STILL
    d.plant.stop(d.plant.self)


cdef inline void join(double* m, double t, double q, double v, double span) noexcept nogil:
    """From q and v at t into the motion of the samples, over `span`, and no sooner than a blend that is under way."""
    cdef double s = t - m[TIME], left = m[T0] + m[SPAN] - t
    m[E], m[EDOT] = q - (m[Q] + m[V] * s + 0.5 * m[A] * s * s), v - (m[V] + m[A] * s)
    m[T0], m[SPAN] = t, fmax(span, left) if left > 0.0 else span


cdef inline bint may_be_real(const Devices* d, const Source* s) noexcept nogil:
    return d.plant.time[0] - d.block[s.mem + TIME] <= number(d, s, TIMEOUT)


cdef inline bint become(Devices* d, const Source* s, int mode) noexcept nogil:
    """Another mode from the present step on. False, and nothing happens: without a sample that is new enough there is nothing to follow."""
    cdef mbros_inside* p = d.plant
    cdef double* m = d.block + s.mem
    cdef double x[3]
    cdef double now = p.time[0]
    if mode == TO_REAL:
        if not may_be_real(d, s):
            return False
        if m[MODE] == REAL and p.lock[s.iv] == GIVEN:
            return True
        x[0], x[1] = p.q[s.iq], p.v[s.iv]
        m[MODE], m[HELD], m[PENDING], m[JOINED] = REAL, GIVEN, 0.0, now + number(d, s, BLEND)
        join(m, now, x[0], x[1], number(d, s, BLEND))
        source_motion(m, now, x)
        x[0], x[1] = p.q[s.iq], p.v[s.iv]
        give_law(d, s, now, x, 0.0, 0.0)
        return True
    m[MODE], m[HELD] = OTHER, FREE
    if mode == TO_SIM:
        p.lock[s.iv] = FREE
    elif mode == TO_LOCKED:
        m[HELD] = STILL
        stand_still(d, s)
    else:
        x[0], x[1], x[2] = p.q[s.iq], p.v[s.iv], 0.0
        m[HELD], m[E], m[EDOT], m[T0] = GIVEN, x[0], x[1], now
        give_law(d, s, now, x, 0.0, 0.0)
    return True


cdef inline void trip(Devices* d, const Source* s, double reason) noexcept nogil:
    """Into its safe state."""
    cdef mbros_inside* p = d.plant
    cdef double* m = d.block + s.mem
    m[TRIPS] += 1.0
    m[REASON], m[PENDING], m[TRIPPED_AT] = reason, 0.0, p.time[0]
    if number(d, s, SAFE) == SAFE_LOCK:
        become(d, s, TO_LOCKED)
    elif number(d, s, SAFE) == SAFE_SIM:
        become(d, s, TO_SIM)
    else:
        m[MODE], m[E], m[EDOT], m[T0], m[SPAN] = STOPPING, p.q[s.iq], p.v[s.iv], p.time[0], number(d, s, BLEND)


cdef inline bint jumped(double* m, double reason, double distance, double most) noexcept nogil:
    if not distance > most:
        return False
    m[PENDING], m[JUMPED_BY], m[JUMPED_MOST] = reason, distance, most
    return True


cdef inline void compare_signs(double* m, double q, double v, double since) noexcept nogil:
    """Velocities with positions, over a stretch of motion that is long beside the steps of an encoder. v: of the sample, from m[V]."""
    cdef double moved
    m[STRETCH_V] += 0.5 * (m[V] + v) * since
    moved = q - m[STRETCH_Q]
    if fabs(moved) < STRETCH:
        return
    m[CONTRARY] = m[CONTRARY] + 1.0 if m[STRETCH_V] * moved < -0.5 * moved * moved else 0.0
    m[OPPOSED_Q] = m[OPPOSED_V] = 0.0
    if m[CONTRARY] >= MOST_CONTRARY:
        m[OPPOSED_Q], m[OPPOSED_V], m[PENDING] = moved, m[STRETCH_V], OPPOSED
    m[STRETCH_Q], m[STRETCH_V] = q, 0.0


cdef inline void take_sample(Devices* d, const Source* s, double dt, double t, double q, double v, double effort) noexcept nogil:
    """What hardware measured at t; v NaN: by difference; effort NaN: not measured."""
    cdef double* m = d.block + s.mem
    cdef double now = d.plant.time[0], since = t - m[TIME], led
    cdef double x[3]
    cdef bint measured = v == v
    cdef bint first = not (now - m[TIME] <= number(d, s, TIMEOUT))
    m[FED] += 1.0
    m[FED_TIME], m[FED_Q], m[FED_V], m[FED_EFFORT] = t, q, v, effort
    if t > now + number(d, s, TIMEOUT):
        m[AHEAD] += 1.0
        m[AHEAD_BY] = t - now
    if since <= 0.0 or t > now + number(d, s, TIMEOUT):
        m[IGNORED] += 1.0
        return
    if v != v and not first:                    # two stamps within a step are seldom as exact as to be divided by
        v = (q - m[Q]) / since if since >= dt else m[V] + (q - m[Q] - m[V] * since) / dt
    elif v != v:
        v = 0.0
    if not (fabs(q) < FARTHEST and fabs(v) < FARTHEST):
        m[PENDING] = NOT_A_NUMBER
        return
    led = m[Q] + m[V] * since + 0.5 * m[A] * since * since
    m[OFF_Q] = NAN if first else led - q
    m[OFF_V] = NAN if first else m[V] + m[A] * since - v
    if first or not measured:
        m[STRETCH_Q], m[STRETCH_V], m[OPPOSED_Q], m[OPPOSED_V], m[CONTRARY] = q, 0.0, 0.0, 0.0, 0.0
    else:
        compare_signs(m, q, v, since)
    if not first and not jumped(m, JUMPED, fabs(q - led), number(d, s, JUMP)):
        if not jumped(m, OUTRUN, fabs(q - m[Q]), 2.0 * number(d, s, SPEED) * fmax(since, fmax(dt, SHORTEST))):
            jumped(m, VELOCITY_JUMPED, fabs(v - m[V]), number(d, s, VELOCITY_JUMP))
    if m[MODE] == REAL:
        source_motion(m, now, x)
    m[A] = 0.0 if first else m[A] + (v - m[V] - m[A] * since) / fmax(since + number(d, s, FILTER), dt)
    m[TIME], m[Q], m[V], m[MEASURED] = t, q, v, effort
    if m[MODE] == REAL:
        join(m, now, x[0], x[1], fmin(fmax(since, 2.0 * dt), number(d, s, BLEND)))


cdef inline void hold_on(Devices* d, const Source* s) noexcept nogil:
    """Of a loop, whose blocks of parameters say of every joint whether it is locked: the source says it again."""
    cdef double* m = d.block + s.mem
    cdef double x[3]
    if m[HELD] == STILL and d.plant.lock[s.iv] != STILL:
        stand_still(d, s)
    elif m[HELD] == GIVEN and d.plant.lock[s.iv] != GIVEN:
        d.plant.lock[s.iv] = GIVEN
        if m[MODE] == OTHER:
            x[0], x[1], x[2] = m[E], m[EDOT], 0.0
            give_law(d, s, m[T0], x, 0.0, 0.0)


cdef inline void lead(Devices* d, const Source* s, double end, double dt) noexcept nogil:
    """The law of the step to come: that of prescribed.pxd whose velocity and acceleration are right at both of its ends."""
    cdef double last[3]
    cdef double x[3]
    cdef double b, c, c4
    source_motion(d.block + s.mem, d.plant.time[0], last)
    source_motion(d.block + s.mem, end, x)
    b, c = last[1] - x[1] + dt * x[2], last[2] - x[2]
    c4 = (2.0 * b / dt + c) / (4.0 * dt * dt)
    give_law(d, s, end, x, (b + 4.0 * c4 * dt * dt * dt) / (3.0 * dt * dt), c4)


cdef inline void lead_all(Devices* d, double dt) noexcept nogil:
    """Before a step: safe states, and the laws of the step."""
    cdef double now = d.plant.time[0], end = end_of_step(d.plant, dt), reason
    cdef Source* s
    cdef double* m
    cdef int k
    for k in range(d.nsources):
        s = &d.sources[k]
        m = d.block + s.mem
        if d.driven:
            hold_on(d, s)
        if m[MODE] == OTHER:
            continue
        if d.plant.lock[s.iv] != GIVEN:             # another one has taken it
            m[MODE], m[HELD] = OTHER, FREE
            continue
        if m[MODE] == REAL:
            reason = m[PENDING] if m[PENDING] != 0.0 else 0.0 if end - m[TIME] <= number(d, s, TIMEOUT) + SOON else STALE
            if reason != 0.0:
                trip(d, s, reason)
        if m[MODE] == STOPPING and now >= m[T0] + m[SPAN] - SOON:
            become(d, s, TO_LOCKED)
        if m[MODE] != OTHER:
            lead(d, s, end, dt)


cdef inline void say_efforts(Devices* d) noexcept nogil:
    """After a step: what the joints' motions took, and how far that is from what was measured."""
    cdef mbros_inside* p = d.plant
    cdef const Source* s
    cdef double* m
    cdef double effort, residual
    cdef bint known = False
    cdef int k
    for k in range(d.nsources):
        known = known or p.lock[d.sources[k].iv] != FREE
    if known:
        known = p.carried(p.self)
    for k in range(d.nsources):
        s = &d.sources[k]
        m = d.block + s.mem
        effort = p.carried_effort[s.iv] if known and p.lock[s.iv] != FREE else NAN
        residual = effort - m[MEASURED] if m[MODE] == REAL and p.time[0] > m[JOINED] else NAN
        if m[RESIDUAL] != m[RESIDUAL]:
            m[OBSERVED_FROM] = p.time[0]
        elif residual == residual:              # at first the mean since it began
            residual = m[RESIDUAL] + d.period / (fmin(number(d, s, OBSERVER), p.time[0] - m[OBSERVED_FROM]) + d.period) * (
                residual - m[RESIDUAL])
        m[RESIDUAL] = residual
        d.block[s.effort], d.block[s.residual] = effort, residual
        if fabs(residual) > number(d, s, BOUND):
            m[JUDGED] += 1.0
            if m[JUDGED] == 1.0:
                m[JUDGED_AT], m[JUDGED_EFFORT], m[JUDGED_MEASURED] = p.time[0], effort, m[MEASURED]


cdef inline void let_go_of_all(Devices* d) noexcept nogil:
    """At a reset: joints that a source held are free."""
    cdef int k
    for k in range(d.nsources):
        if d.block[d.sources[k].mem + HELD] != FREE:
            d.plant.lock[d.sources[k].iv] = FREE
