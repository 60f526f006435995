"""What acts in the joints themselves: viscous damping, Coulomb friction, stops at the position limits.

    damping    tau = -d v
    friction   tau = -f v / sqrt(v^2 + v_s^2)      Coulomb's law with a smooth passage through zero, v_s = 1 mm/s or 1 mrad/s;
                                                   of a step, without it (integrators/joint_friction.pxd)
    stop       tau = -max(0, k x + c v)            x > 0: how far beyond the limit; it pushes, it never pulls

Beside the torque, each gives its slopes C = -d tau / d v and K = -d tau / d q (never negative), from which an implicit
step makes its diagonal; an explicit one ignores them. No branch on values except to skip what is zero in every lane.
"""
from mbros_core.scalar.real cimport OF_NODES, any, fmax, less, nonzero, real, select, sqrt
from mbros_core.forces.dispatch cimport coordinate_slopes, evaluate_coordinate
from mbros_core.forces.element cimport ForceElement, ForceOut, PARAMETERS
from mbros_core.engine.state cimport ModelC, Work

cdef enum:
    FRICTION_SPEED_PER_S = 1000          # 1 / v_s


cdef inline void damping_and_friction(const Work* s, int i, real v, real* tau, real* C) noexcept nogil:
    cdef real f = s.friction[i]
    cdef real v_s
    cdef real r
    tau[0] = -(s.damping[i] * v)
    C[0] = s.damping[i]
    if any(nonzero(f)):
        v_s = real(1.0 / FRICTION_SPEED_PER_S)
        r = 1.0 / sqrt(v * v + v_s * v_s)
        tau[0] = tau[0] - f * v * r
        C[0] = C[0] + f * r * (v_s * v_s * r * r)


cdef inline void stick(Work* s, int i, real h) noexcept nogil:
    """What holds coordinate i over a step h, implicitly: the impulse sticking (-v+). What slides is among the efforts."""
    if not OF_NODES and any(nonzero(s.friction[i])):
        s.passive[i] = s.passive[i] - s.sticking[i] * s.v[i] / h
        s.D0[i] = s.D0[i] + s.sticking[i]


cdef inline void stop(const Work* s, int i, real beyond, real side, real h, real* tau, real* C, real* K) noexcept nogil:
    """One stop; `side` is +1 for the upper and -1 for the lower limit, beyond > 0 is outside. Its damping is that of a relaxation time of
    h at least; h = 0 takes it as it is."""
    cdef real zero = real(0.0)
    cdef real c = fmax(s.stop_damping[i], h * s.stop_stiffness[i])
    cdef real push = s.stop_stiffness[i] * beyond + side * c * s.v[i]
    cdef real touching = select(less(zero, beyond), select(less(zero, push), real(1.0), zero), zero)
    tau[0] = tau[0] - side * touching * push
    C[0] = C[0] + touching * c
    K[0] = K[0] + touching * s.stop_stiffness[i]


cdef inline void stops(const ModelC* m, const Work* s, int i, int iq, real q, real h, real* tau, real* C, real* K) noexcept nogil:
    """Both stops of velocity coordinate i, whose position coordinate iq is at q."""
    if any(less(m.q_upper[iq], q)):
        stop(s, i, q - m.q_upper[iq], real(1.0), h, tau, C, K)
    if any(less(q, m.q_lower[iq])):
        stop(s, i, m.q_lower[iq] - q, real(-1.0), h, tau, C, K)


cdef inline void passive_torque(const ModelC* m, const Work* s, int i, real* tau, real* C, real* K) noexcept nogil:
    """All three, for velocity coordinate i."""
    cdef int iq = m.q_of_v[i]
    damping_and_friction(s, i, s.v[i], tau, C)
    K[0] = real(0.0)
    if iq >= 0:
        stops(m, s, i, iq, s.q[iq], real(0.0), tau, C, K)


cdef inline void coordinate_elements(const ModelC* m, Work* s, real h) noexcept nogil:
    """The force elements that act on a coordinate, implicit over a step h as above; h = 0: as they are now."""
    cdef const ForceElement* e
    cdef ForceOut out
    cdef int k
    for k in range(m.ne):
        e = &m.elements[k]
        if e.iv >= 0:
            evaluate_coordinate(e.kind, s.force_parameters + k * PARAMETERS, s.q[e.iq], s.v[e.iv], &out)
            s.passive[e.iv] = s.passive[e.iv] + (out.tau - h * out.K * s.v[e.iv])
            s.D0[e.iv] = s.D0[e.iv] + h * (out.C + h * out.K)


cdef inline void passive_torques(const ModelC* m, Work* s) noexcept nogil:
    """s.passive, with the rotors alone on the diagonal: the true instantaneous dynamics."""
    cdef real C
    cdef real K
    cdef int i
    for i in range(m.nv):
        passive_torque(m, s, i, &s.passive[i], &C, &K)
        s.D0[i] = s.rotor_inertia[i]
    if m.ncoordinate:
        coordinate_elements(m, s, real(0.0))


cdef inline void passive_slopes(const ModelC* m, const Work* s, real* by_q, real* by_v) noexcept nogil:
    """d passive_i / d q_i and d passive_i / d v_i (nv,): each depends on its own coordinate alone."""
    cdef const ForceElement* e
    cdef real tau, C, K
    cdef int i, k
    for i in range(m.nv):
        passive_torque(m, s, i, &tau, &C, &K)
        by_q[i] = -K
        by_v[i] = -C
    for k in range(m.ne):
        e = &m.elements[k]
        if e.iv >= 0:
            coordinate_slopes(e.kind, s.force_parameters + k * PARAMETERS, s.q[e.iq], s.v[e.iv], &K, &C)
            by_q[e.iv] = by_q[e.iv] + K
            by_v[e.iv] = by_v[e.iv] + C


cdef inline void implicit_passive_torques(const ModelC* m, Work* s, real h) noexcept nogil:
    """Passive torques as they will be at the end of a step h, to first order:

    tau(q + h v+, v+) = tau - h K v - (h C + h^2 K) vdot,  so h C + h^2 K joins the diagonal of M.
    """
    cdef real C
    cdef real K
    cdef int i, iq
    for i in range(m.nv):
        s.passive[i] = -(s.damping[i] * s.v[i])
        C, K = s.damping[i], real(0.0)
        iq = m.q_of_v[i]
        if iq >= 0:
            stops(m, s, i, iq, s.q[iq], real(0.0), &s.passive[i], &C, &K)
        s.passive[i] = s.passive[i] - h * K * s.v[i]
        s.D0[i] = s.rotor_inertia[i] + h * (C + h * K)
        stick(s, i, h)
    if m.ncoordinate:
        coordinate_elements(m, s, h)


cdef inline void predicted_stops(const ModelC* m, Work* s, int i, real h) noexcept nogil:
    """Stops of coordinate i as they will be at the next middle, q + h v+: there before the step ends in them, and never pulling. With the
    diagonal it is implicit Euler from middle to middle, which no stop can give energy. Their relaxation time is h at least: stiffer
    stops would throw a body back at a speed that depends on where in the step it came, and it would never lie still."""
    cdef int iq = m.q_of_v[i]
    cdef real tau, C, K
    if iq < 0:
        return
    tau = C = K = real(0.0)
    stops(m, s, i, iq, s.q[iq] + h * s.v[i], h, &tau, &C, &K)
    s.passive[i] = s.passive[i] + tau
    s.D0[i] = s.D0[i] + h * (C + h * K)
    s.stiff[i].C = s.stiff[i].C + h * (C + h * K)


cdef inline void coordinate_elements_over(const ModelC* m, Work* s, real h) noexcept nogil:
    """The force elements that act on a coordinate, for a midpoint step; C_sec from the power that they dissipate."""
    cdef const ForceElement* e
    cdef ForceOut out
    cdef real v, C_sec, K
    cdef int i, k
    for i in range(m.nv):
        s.stiff[i].K = s.stiff[i].Kv = real(0.0)
    for k in range(m.ne):
        e = &m.elements[k]
        i = e.iv
        if i >= 0:
            v = s.v[i]
            evaluate_coordinate(e.kind, s.force_parameters + k * PARAMETERS, s.q[e.iq], v, &out)
            C_sec = fmax(out.C, -out.nonconservative / (v * v + real(1e-300)))
            K = h * h * out.K
            s.passive[i] = s.passive[i] + out.tau
            s.D0[i] = s.D0[i] + (0.5 * h * out.C + 0.25 * K)
            s.stiff[i].C = s.stiff[i].C + (h * C_sec + 0.25 * K)
            s.stiff[i].K = s.stiff[i].K + K
            s.stiff[i].Kv = s.stiff[i].Kv + h * out.K * v


cdef inline void passive_torques_over(const ModelC* m, Work* s, real h) noexcept nogil:
    """Passive torques for a midpoint step h, from the positions of the middle and the velocities of the start, and what they add to the
    diagonal: s.D0 where they are soft,

        tau(q + h^2/4 vdot, v + h/2 vdot) = tau - (h/2 C + h^2/4 K) vdot

    the mean over the step, of second order, and s.stiff where they are stiff. Which it is, the inertia decides (algorithms/pivot.pxd).
    """
    cdef int i
    for i in range(m.nv):
        s.passive[i] = -(s.damping[i] * s.v[i])
        s.D0[i] = s.rotor_inertia[i] + 0.5 * h * s.damping[i]
        s.stiff[i].C = 0.5 * s.rotor_inertia[i] + h * s.damping[i]
        predicted_stops(m, s, i, h)
        stick(s, i, h)
    if m.ncoordinate:
        coordinate_elements_over(m, s, h)


cdef inline real stop_energy(const ModelC* m, const Work* s) noexcept nogil:
    """Energy stored in the stops, J."""
    cdef real E = real(0.0)
    cdef real x
    cdef int i, iq
    for i in range(m.nv):
        iq = m.q_of_v[i]
        if iq >= 0:
            x = fmax(real(0.0), fmax(s.q[iq] - m.q_upper[iq], m.q_lower[iq] - s.q[iq]))
            E = E + 0.5 * s.stop_stiffness[i] * x * x
    return E
