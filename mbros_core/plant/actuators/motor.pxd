"""DC motor, or a brushless one by its equivalent numbers: winding, gear, rotor, heat.

    L di/dt = U - R i - k n v                                R = R_25 (1 + alpha (T_w - 25 degC)), k: N m/A and V s/rad
    effort  = e n (k i - J n vdot)                           e: eta while the gear drives the joint, 1 / eta while it is driven
    C_w dT_w/dt = R i^2 - (T_w - T_c) / R_wc,    C_c dT_c/dt = (T_w - T_c) / R_wc - (T_c - T_a) / R_ca

The drive makes the current of the commanded effort, command / (n k), within the current limit, which falls to nothing between the
temperatures derate_from and cut_off of the winding. Where that takes more than the voltage limit, the voltage is at its limit and the
current what comes of it: of the equation above exactly, for the mean velocity v + h/2 vdot of the step, so that it is affine in vdot
(actuator.pxd) and as stable for L/R far below the step as above. Both temperatures are taken implicitly.

A commanded voltage comes before an effort, within the voltage limit: the same equation with this U. Where its current would be beyond the
current limit, the drive chops: the current is at the limit, and the voltage what that takes. A limit is left where, as other joints move
otherwise, what is commanded keeps within it.

A brushless motor under sinusoidal currents is this one by its numbers between two terminals (mbros.BrushlessMotor). With pole pairs p, the
drive has to overcome p n v L i as well, a quarter of a turn ahead of the rest: what is left is sqrt(U_most^2 - (p n v L i)^2), of the i before
the step. No power goes there.

mem: modes, of the drive (0: as commanded, 1 and -1: the voltage at its limit, 2 and -2: the current) and of the gear (1 driving, -1 driven, 0: as the start of the step
says), i, T_w, T_c, last command.
"""
from libc.math cimport exp, expm1, fabs, isnan, sqrt

from mbros_core.plant.actuators.actuator cimport ROUNDED, Effect, End, Given, or_else, within

cdef enum:                  # parameters
    R25, L, K, N, ETA, J, U_MOST, I_MOST, ALPHA, C_W, R_WC, C_C, R_CA, T_A, DERATE_FROM, CUT_OFF, POLE_PAIRS
    # signals
    EFFORT = 0, CURRENT, VOLTAGE, WINDING, CASE, ELECTRICAL, MECHANICAL, HEAT, STORED

cdef struct Winding:        # over a step: the mean current is mean - slope vdot
    double R
    double mean
    double slope
    double decay            # exp(-h R / L)
    double phi              # mean of exp(-t R / L) over the step
    double phi2             # mean of its square


cdef inline double most_current(const double* par, const double* mem) noexcept nogil:
    return par[I_MOST] * within((par[CUT_OFF] - mem[3]) / (par[CUT_OFF] - par[DERATE_FROM]), 0.0, 1.0)


cdef inline double wanted_current(const double* par, const double* mem, const Given* g) noexcept nogil:
    cdef double most = most_current(par, mem)
    if mem[0] == 2.0 or mem[0] == -2.0:
        return 0.5 * mem[0] * most
    return within(or_else(g.effort, mem[5]) / (par[N] * par[K]), -most, most)


cdef inline double voltage(const double* par, const double* mem, const Given* g) noexcept nogil:
    """That the drive can give along the current."""
    cdef double across = par[POLE_PAIRS] * par[N] * g.v * par[L] * mem[2]
    return par[U_MOST] if across == 0.0 else sqrt(max(par[U_MOST] * par[U_MOST] - across * across, 0.0))


cdef inline bint by_voltage(const double* mem, const Given* g) noexcept nogil:
    """The voltage is known, and the current comes of it."""
    return mem[0] == 1.0 or mem[0] == -1.0 or (mem[0] == 0.0 and not isnan(g.voltage))


cdef inline double given_voltage(const double* par, const double* mem, const Given* g) noexcept nogil:
    """Where it is known."""
    cdef double most = voltage(par, mem, g)
    return mem[0] * most if mem[0] != 0.0 else within(g.voltage, -most, most)


cdef inline Winding winding(const double* par, const double* mem, const Given* g) noexcept nogil:
    cdef Winding w
    cdef double x
    w.R = par[R25] * (1.0 + par[ALPHA] * (mem[3] - 25.0))
    if not by_voltage(mem, g):
        w.mean, w.slope, w.decay, w.phi, w.phi2 = wanted_current(par, mem, g), 0.0, 0.0, 0.0, 0.0
        return w
    w.decay = w.phi = w.phi2 = 0.0
    if par[L] > 0.0:
        x = g.h * w.R / par[L]
        w.decay, w.phi, w.phi2 = exp(-x), -expm1(-x) / x, -expm1(-2.0 * x) / (2.0 * x)
    w.mean = (1.0 - w.phi) * (given_voltage(par, mem, g) - par[K] * par[N] * g.v) / w.R + w.phi * mem[2]
    w.slope = (1.0 - w.phi) * par[K] * par[N] * 0.5 * g.h / w.R
    return w


cdef inline double gear(const double* par, const double* mem, const Given* g, double current) noexcept nogil:
    cdef bint driving = current * g.v >= 0.0 if mem[1] == 0.0 else mem[1] > 0.0
    return par[ETA] if driving else 1.0 / par[ETA]


cdef inline void motor_effect(const double* par, const double* mem, const Given* g, Effect* out) noexcept nogil:
    cdef Winding w = winding(par, mem, g)
    cdef double e = gear(par, mem, g, w.mean)
    out.tau = e * par[N] * par[K] * w.mean
    out.inertia = e * par[N] * (par[K] * w.slope + par[J] * par[N])


cdef inline double applied_voltage(const double* par, const double* mem, const Given* g, const End* e, const Winding* w,
                                   double current) noexcept nogil:
    """Mean over the step."""
    if by_voltage(mem, g):
        return given_voltage(par, mem, g)
    return w.R * current + par[K] * par[N] * 0.5 * (g.v + e.v) + par[L] * (current - mem[2]) / g.h


cdef inline bint drive_leaves(const double* par, double* mem, const Given* g, const End* e, double current, double most) noexcept nogil:
    """Whether the drive, as commanded, is within the limit at which it is, as the joint moves now. A voltage limit is left only by a current
    beyond the commanded one: a step takes the inductance otherwise at this limit than within it, and would come to it and leave it by turns."""
    cdef double mode = mem[0], side = 1.0 if mode > 0.0 else -1.0, free
    cdef bint leaves
    cdef Winding w
    mem[0] = 0.0
    w = winding(par, mem, g)
    free = w.mean - w.slope * e.vdot
    if fabs(mode) == 2.0:
        leaves = side * free < most * (1.0 - ROUNDED)
    else:
        leaves = (side * (current - free) > ROUNDED * par[I_MOST]
                  and side * applied_voltage(par, mem, g, e, &w, free) < voltage(par, mem, g))
    mem[0] = 0.0 if leaves else mode
    return leaves


cdef inline bint motor_judge(const double* par, double* mem, const Given* g, const End* e) noexcept nogil:
    cdef Winding w = winding(par, mem, g)
    cdef double current = w.mean - w.slope * e.vdot, most = most_current(par, mem)
    cdef double U = applied_voltage(par, mem, g, e, &w, current)
    cdef bint assumed = gear(par, mem, g, w.mean) <= 1.0
    cdef bint driving = e.effective * (g.v + e.v) >= 0.0
    if mem[0] == 0.0 and by_voltage(mem, g) and fabs(current) > most:
        mem[0] = 2.0 if current > 0.0 else -2.0
        return True
    if mem[0] == 0.0 and fabs(U) > voltage(par, mem, g):
        mem[0] = 1.0 if U > 0.0 else -1.0
        return True
    if mem[0] != 0.0 and g.releases and drive_leaves(par, mem, g, e, current, most):
        return True
    if mem[1] == 0.0 and par[ETA] < 1.0 and driving != assumed:
        mem[1] = 1.0 if driving else -1.0
        return True
    return False


cdef inline void warm(const double* par, double* mem, double heat, double h) noexcept nogil:
    """Both temperatures, implicitly."""
    cdef double a = h / (par[C_W] * par[R_WC]), b = h / (par[C_C] * par[R_WC]), c = h / (par[C_C] * par[R_CA])
    cdef double p = mem[3] + h * heat / par[C_W], r = mem[4] + c * par[T_A]
    cdef double D = (1.0 + a) * (1.0 + b + c) - a * b
    mem[3] = (p * (1.0 + b + c) + a * r) / D
    mem[4] = ((1.0 + a) * r + b * p) / D


cdef inline void motor_commit(const double* par, double* mem, const Given* g, const End* e, double* signal) noexcept nogil:
    """ELECTRICAL = MECHANICAL + HEAT + STORED, each in W over the step; HEAT is that of winding and gear, STORED of rotor and inductance.
    The winding alone warms itself and the case: a gear's heat is on the other side of the flange."""
    cdef Winding w = winding(par, mem, g)
    cdef double current = w.mean - w.slope * e.vdot
    cdef double U = applied_voltage(par, mem, g, e, &w, current)
    cdef double v = 0.5 * (g.v + e.v), n = par[N]
    cdef double final, final_current, squares
    if not by_voltage(mem, g):
        final_current, squares = current, current * current
    else:
        final = (U - par[K] * n * v) / w.R
        final_current = final + (mem[2] - final) * w.decay
        squares = final * final + (mem[2] - final) * (2.0 * final * w.phi + (mem[2] - final) * w.phi2)
    signal[EFFORT], signal[CURRENT], signal[VOLTAGE] = e.effective, final_current, U
    signal[MECHANICAL] = e.effective * v
    signal[STORED] = 0.5 * par[L] * (final_current * final_current - mem[2] * mem[2]) / g.h + par[J] * n * n * e.vdot * v
    signal[ELECTRICAL] = w.R * squares + par[K] * n * v * current + 0.5 * par[L] * (final_current * final_current - mem[2] * mem[2]) / g.h
    signal[HEAT] = w.R * squares + n * (par[K] * current - par[J] * n * e.vdot) * v - e.effective * v
    mem[2] = final_current
    mem[5] = or_else(g.effort, mem[5])
    warm(par, mem, w.R * squares, g.h)
    signal[WINDING], signal[CASE] = mem[3], mem[4]
