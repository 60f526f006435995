"""A drive behind a spring, a damper and a gap: series elastic actuators, gears with elasticity and backlash.

    effort = k (delta - side gap / 2) + d (w - v),     delta = theta - q,     side: +1 or -1 where the gap is closed, no effort within it
    J dw/dt = drive effort - b w - effort              theta, w: of the drive, counted behind its gear

The drive is any actuator of this folder, on theta instead of q: an effort P - Q dw/dt (actuator.pxd). Taken with theta+ = theta + h (w + w+) / 2
and the mean of the spring's effort over the step, dw/dt can be eliminated, and what remains is affine in the joint's acceleration: stable for
any stiffness. Where a step does not resolve the spring, its effort is taken later, at (1/2 + beta) of the step with beta = x / (2 + 2 x),
x = h^2 k / (J + Q): this is a damper of beta h k beside d, third order in h where the spring is resolved and dead beat where it is not. A step
that closes the gap takes the effort of its end, beta = 1/2, and teeth only push.

Parameters: k, d, gap, J, b, then the drive's. mem: side assumed for the end (0: as at the start, else side + PARTED), nothing,
whether it was on, theta, w; then the drive's.
"""
from mbros_core.plant.actuators.actuator cimport Effect, End, Given

cdef enum:
    ELASTIC_NUMBERS = 5
    ELASTIC_MEMORY = 5
    PARTED = 2
    # parameters
    STIFFNESS = 0, DAMPING, GAP, INERTIA, FRICTION
    # mem
    SIDE = 0, ON = 2, THETA, W
    # signals, before the drive's
    EFFORT = 0, POWER, DEFLECTION, POSITION, SPEED, HEAT, STORED, ELASTIC_SIGNALS

cdef struct Spring:         # over a step: effort = A + B dw/dt - C vdot
    double delta
    double beta
    int side
    bint crosses
    double A
    double B
    double C
    double E                # of the drive's side without the spring: J + Q + h b / 2


cdef inline void drive_given(const double* mem, const Given* g, Given* out) noexcept nogil:
    """What the drive sees."""
    out[0] = g[0]
    if mem[ON] != 0.0:
        out.q, out.v = mem[THETA], mem[W]
    out.ahead, out.reach = 1.5 * g.h, 0.5


cdef inline int side_of(const double* par, double delta) noexcept nogil:
    """Without a gap always 1: it pushes and pulls."""
    return 1 if par[GAP] <= 0.0 or delta > 0.5 * par[GAP] else -1 if delta < -0.5 * par[GAP] else 0


cdef inline double stretched(const double* par, double delta) noexcept nogil:
    """What the spring is stretched by."""
    return delta - 0.5 * par[GAP] * side_of(par, delta) if side_of(par, delta) != 0 else 0.0


cdef inline void spring(const double* par, const double* mem, const Given* g, const Given* drive, double Q, Spring* s) noexcept nogil:
    cdef double h = g.h, later, rate = drive.v - g.v
    cdef double x = h * h * par[STIFFNESS] / (par[INERTIA] + Q)
    cdef int before
    s.delta = drive.q - g.q
    before = side_of(par, s.delta)
    s.side = before if mem[SIDE] == 0.0 else <int>mem[SIDE] - PARTED
    s.crosses = s.side != before
    s.beta = 0.5 if s.crosses else 0.5 * x / (1.0 + x)
    s.E = par[INERTIA] + Q + 0.5 * h * par[FRICTION]
    s.A = s.B = s.C = 0.0
    if s.side != 0:
        later = par[STIFFNESS] * (0.5 + s.beta) * h
        s.A = par[STIFFNESS] * (s.delta - 0.5 * par[GAP] * s.side) + (later + par[DAMPING]) * rate
        s.B = 0.5 * h * (later + par[DAMPING])
        s.C = h * (g.reach * later + 0.5 * par[DAMPING])


cdef inline void elastic_effect(const double* par, const double* mem, const Given* g, const Given* drive, const Effect* by,
                                Effect* out) noexcept nogil:
    """by: of the drive."""
    cdef Spring s
    spring(par, mem, g, drive, by.inertia, &s)
    out.tau = (s.A * s.E + s.B * (by.tau - par[FRICTION] * drive.v)) / (s.E + s.B)
    out.inertia = s.C * s.E / (s.E + s.B)


cdef inline void drive_end(const double* par, const Given* drive, const Effect* by, const Spring* s, const End* e, End* out) noexcept nogil:
    """Where the drive is after the step."""
    cdef double h = drive.h
    out.vdot = (by.tau - par[FRICTION] * drive.v - s.A + s.C * e.vdot) / (s.E + s.B)
    out.v = drive.v + h * out.vdot
    out.q = drive.q + 0.5 * h * (drive.v + out.v)
    out.effective = by.tau - by.inertia * out.vdot
    out.stood = False


cdef inline bint elastic_judge(const double* par, double* mem, const Spring* s, const Given* g, const End* e,
                               const End* drive_e) noexcept nogil:
    """Of the gap: teeth that would pull have parted, for good in this step; those that would be in each other have met."""
    cdef int side
    if par[GAP] <= 0.0 or mem[SIDE] == PARTED:
        return False
    if s.side != 0:
        if s.side * e.effective >= 0.0:
            return False
        mem[SIDE] = PARTED
        return True
    side = side_of(par, drive_e.q - g.q - g.h * (g.v + g.reach * g.h * e.vdot))
    if side == 0:
        return False
    mem[SIDE] = side + PARTED
    return True


cdef inline void elastic_commit(const double* par, double* mem, const Spring* s, const Given* g, const Given* drive, const End* e,
                                const End* drive_e, double* signal) noexcept nogil:
    """What the drive did = POWER + HEAT + STORED, in W over the step. HEAT is of the damper, of friction, and what the spring loses to the
    step; STORED what the drive's inertia and the spring took up."""
    cdef double h = g.h, w = 0.5 * (drive.v + drive_e.v), v = 0.5 * (g.v + e.v), delta = drive_e.q - e.q
    cdef double did = drive_e.effective * w, x, y
    signal[EFFORT], signal[POWER], signal[DEFLECTION] = e.effective, e.effective * v, delta
    signal[POSITION], signal[SPEED] = drive_e.q, drive_e.v
    if s.crosses or side_of(par, delta) != s.side:
        x, y = stretched(par, s.delta), stretched(par, delta)
        signal[STORED] = 0.5 * par[STIFFNESS] * (y - x) * (y + x) / h + par[INERTIA] * drive_e.vdot * w
        signal[HEAT] = did - signal[POWER] - signal[STORED]
    else:
        signal[HEAT] = par[FRICTION] * w * w
        if s.side != 0:
            signal[HEAT] += (par[DAMPING] + s.beta * h * par[STIFFNESS]) * (w - v) * (w - v)
        signal[STORED] = did - signal[POWER] - signal[HEAT]
    mem[ON], mem[THETA], mem[W] = 1.0, drive_e.q, drive_e.v
    mem[ELASTIC_MEMORY] = mem[ELASTIC_MEMORY + 1] = 0.0            # modes of the drive, of the next step
