"""Forward dynamics: the articulated-body algorithm (Featherstone 1983; 2008, table 7.1), in world axes about body origins.

Outwards:  kinematics;  P_B = M_B,  Z_B = gyroscopic(M_B, w) - F_ext                                  (1)
Inwards:   Z <- Z + P Ab,  then the joint's columns one after the other, as if each were a joint of its own with a
           massless body between:
               U = P S,  1/D = 1 / (S . U + D0),  u = tau - S . Z                                     (2)
               P <- P - U U^T / D,  Z <- Z + U u / D                                                  (3)
           P_P += shift(P, p_PB),  Z_P += shift(Z, p_PB)                                              (4)
Outwards:  A = shift(A_P, p_PB);  columns in reverse:  vdot = (u - U . A) / D,  A <- A + S vdot       (5)
           A_WB = A + Ab

Eliminating column after column is exact (it is the L D L^T factorisation of the joint's S^T P S) and makes one path for
any number of degrees of freedom. Cost: O(nb). Where joints share coordinates, M vdot = tau - bias is solved instead.
Locked joints are welds: their columns are not eliminated and their vdot is zero. Prescribed joints are the same with S a beside Ab, a their
given acceleration: hybrid dynamics (Featherstone 2008, section 9.2) in the one sweep. A midpoint step takes 1/D of pivot.pxd, in both ways.
"""
from mbros_core.scalar.real cimport OF_NODES, real, value
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport (ABInertia, Force, Inertia, Motion, add_articulated, articulated, articulated_times,
                                 articulated_times_column, gyroscopic, motion, power, rotate_inertia, shift_articulated, shift_force,
                                 shift_motion, subtract_outer, zero3)
from mbros_core.engine.state cimport LOCKED, ModelC, Work
from mbros_core.algorithms.kinematics cimport position_step, velocity_step, world_is_origin
from mbros_core.algorithms.inverse_dynamics cimport inverse_dynamics
from mbros_core.algorithms.mass_matrix cimport composite_rigid_bodies, factor, hold_at, solve_factored
from mbros_core.algorithms.own_axes_dynamics cimport forward_in_own_axes, has_own_axes
from mbros_core.algorithms.pivot cimport pivot


cdef inline real* zeros(real* x, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        x[i] = real(0.0)
    return x


cdef inline void rigid_step(int i, Work* s, bint kept) noexcept nogil:
    """Equation (1). kept: M_B stays in s.M_W, for the mass matrix that a step with contact needs."""
    cdef Inertia M = rotate_inertia(s.X_WB[i].R, s.inertia[i])
    if kept:
        s.M_W[i] = M
    s.P[i] = articulated(M)
    s.F[i] = gyroscopic(M, s.V_WB[i].w) - s.applied[i]


cdef inline bint locked(const Joint* j, const Work* s) noexcept nogil:
    """A locked or prescribed joint; the lock of its first coordinate, in the first lane, is the joint's."""
    return j.nv > 0 and value(s.lock[j.iv]) != 0.0


cdef inline bint prescribed(const Joint* j, const Work* s) noexcept nogil:
    """A joint of coordinates of its own whose motion is given."""
    return j.nv > 0 and not j.follows and value(s.lock[j.iv]) > LOCKED


cdef inline Motion given_acceleration(const Joint* j, const Work* s) noexcept nogil:
    """S a of a prescribed joint."""
    cdef Motion A = motion(zero3(), zero3())
    cdef int k
    for k in range(j.nv):
        A = A + s.a_given[j.iv + k] * s.S[j.column + k]
    return A


cdef inline void articulate_step(const ModelC* m, int i, const real* tau, Work* s, bint midpoint) noexcept nogil:
    """Equations (2) to (4)."""
    cdef const Joint* j = &m.joints[i]
    cdef ABInertia P = s.P[i]
    cdef Force Z = s.F[i] + articulated_times(P, s.Ab_WB[i])
    cdef Force U
    cdef Motion S
    cdef real D_inverse
    cdef real u
    cdef int k
    cdef int n = j.nv
    if locked(j, s):
        n = 0
        if prescribed(j, s):
            Z = Z + articulated_times(P, given_acceleration(j, s))
    for k in range(n):
        S = s.S[j.column + k]
        U = articulated_times_column(P, S, j.pure[k])
        u = tau[j.iv + k] - power(S, Z)
        D_inverse = 1.0 / (pivot(m, s, j.iv + k, power(S, U), &u) if midpoint else power(S, U) + s.D0[j.iv + k])
        s.U[j.column + k] = U
        s.D_inverse[j.column + k] = D_inverse
        s.u[j.column + k] = u
        P = subtract_outer(P, D_inverse * U, U)
        Z = Z + D_inverse * u * U
    if j.parent > 0:
        s.P[j.parent] = add_articulated(s.P[j.parent], shift_articulated(P, s.p_PB_W[i]))
        s.F[j.parent] = s.F[j.parent] + shift_force(Z, s.p_PB_W[i])


cdef inline void accelerate_step(const Joint* j, int i, real* vdot, Work* s) noexcept nogil:
    """Equation (5)."""
    cdef Motion A = shift_motion(s.A_WB[j.parent], s.p_PB_W[i])
    cdef real a
    cdef int k, c
    if locked(j, s):
        if prescribed(j, s):
            A = A + given_acceleration(j, s)
        for k in range(j.nv):
            vdot[j.iv + k] = s.a_given[j.iv + k] if prescribed(j, s) else real(0.0)
        s.A_WB[i] = A + s.Ab_WB[i]
        return
    for k in range(j.nv - 1, -1, -1):
        c = j.column + k
        a = (s.u[c] - power(A, s.U[c])) * s.D_inverse[c]
        vdot[j.iv + k] = a
        A = A + a * s.S[c]
    s.A_WB[i] = A + s.Ab_WB[i]


cdef inline void articulated_body(const ModelC* m, const real* tau, real* vdot, Work* s, bint midpoint) noexcept nogil:
    """vdot for a tree in which every joint has coordinates of its own; also does the kinematics."""
    cdef bint kept = m.scene != NULL and (midpoint or m.ns or m.nk)
    cdef int i
    world_is_origin(s)
    s.A_WB[0] = motion(zero3(), -s.gravity[0])
    for i in range(1, m.nb):
        position_step(&m.joints[i], i, s.q, s)
        velocity_step(&m.joints[i], i, s.v, s)
    if m.ne:
        m.apply(m, s)
    for i in range(1, m.nb):
        rigid_step(i, s, kept)
    for i in range(m.nb - 1, 0, -1):
        articulate_step(m, i, tau, s, midpoint)
    for i in range(1, m.nb):
        accelerate_step(&m.joints[i], i, vdot, s)


cdef inline void through_mass_matrix(const ModelC* m, const real* tau, real* vdot, Work* s, bint midpoint) noexcept nogil:
    """vdot = (M + D0 - rotors)^-1 (tau - bias), for models in which joints share coordinates."""
    cdef int i
    cdef const real* diagonal = s.D0
    world_is_origin(s)
    for i in range(1, m.nb):
        position_step(&m.joints[i], i, s.q, s)
        velocity_step(&m.joints[i], i, s.v, s)
    for i in range(m.nv):
        vdot[i] = real(0.0)
    inverse_dynamics(m, vdot, s.u, s)
    for i in range(m.nv):
        vdot[i] = tau[i] - s.u[i]
    if midpoint:
        diagonal = zeros(s.stage_v + 2 * m.nv, m.nv)
    composite_rigid_bodies(m, s.L, diagonal, s)
    for i in range(m.nv):
        if value(s.lock[i]) != 0.0:
            hold_at(s.L, m.nv, i, vdot, s.a_given[i] if value(s.lock[i]) > LOCKED else real(0.0))
    factor(m, s.L, vdot, s if midpoint else NULL)
    solve_factored(s.L, m.nv, vdot)
    for i in range(m.nv):
        if value(s.lock[i]) > LOCKED:
            vdot[i] = s.a_given[i]                       # the pivot of a midpoint step has divided it


cdef inline void forward_dynamics(const ModelC* m, const real* tau, real* vdot, Work* s) noexcept nogil:
    """vdot under the whole generalized force tau, with s.D0 on the diagonal of M. Neither friction nor stops: see forces."""
    if OF_NODES and has_own_axes(m, s):
        forward_in_own_axes(m, tau, vdot, s, False)
    elif m.shared:
        through_mass_matrix(m, tau, vdot, s, False)
    else:
        articulated_body(m, tau, vdot, s, False)


cdef inline void midpoint_forward_dynamics(const ModelC* m, const real* tau, real* vdot, Work* s) noexcept nogil:
    """The same with the diagonal of a midpoint step, which s.D0 and s.stiff are of. A function of its own: with both diagonals in one loop
    the registers do not suffice, 2 % of the time of a call."""
    if OF_NODES and has_own_axes(m, s):
        forward_in_own_axes(m, tau, vdot, s, True)
    elif m.shared:
        through_mass_matrix(m, tau, vdot, s, True)
    else:
        articulated_body(m, tau, vdot, s, True)
