"""The dynamics of one robot as they are traced (traced.pxi), in the axes of own_axes.pxd.

Newton and Euler with one matrix W of a rotation, for all that is fixed in the body:

    f = m a + W h,   t = h x a + vee(W Sigma),   W = [alpha]x + [w]x [w]x,   vee(X) = (X_zy - X_yz, X_xz - X_zx, X_yx - X_xy)   (1)

Forward dynamics: the torques of vdot = 0 by (1), then M vdot = tau - bias, by the articulated bodies of forward_dynamics.pxd or by
composite bodies and their factor (own_axes_mass_matrix.pxd); what is quicker is compiled. Both eliminate in one order, and have the pivots
of a midpoint step (pivot.pxd). Cost: O(nb), O(nv depth^2). Only traces run this: it may allocate.
"""
from libc.stdlib cimport free, malloc
from mbros_core.scalar.real cimport known, real, through_M, value
from mbros_core.joints.dispatch cimport REVOLUTE, bias
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport (ABInertia, Force, Inertia, Mat3, Motion, Vec3, add_articulated, articulated_times_column, cross, dot,
                                 force, identity3, motion, power, rotate, rotate_sym, shift_articulated, shift_force, subtract_outer,
                                 unrotate, vec3, zero3, zero_force, zero_motion)
from mbros_core.engine.state cimport LOCKED, ModelC, Work
from mbros_core.algorithms.kinematics cimport position_step, velocity_step, world_is_origin
from mbros_core.algorithms.own_axes cimport (Axes, congruent, find_axes, find_inertias, force_to_parent, from_parent, in_axes, inertia_of,
                                             minus, turned_mat, turned_sym)
from mbros_core.algorithms.own_axes_mass_matrix cimport composite_bodies, solve_from_leaves
from mbros_core.algorithms.pivot cimport pivot


cdef inline Mat3 of_rotation(Vec3 alpha, Vec3 w) noexcept nogil:
    """W of (1)."""
    cdef Mat3 W
    cdef real xx = w.x * w.x
    cdef real yy = w.y * w.y
    cdef real zz = w.z * w.z
    cdef real xy = w.x * w.y
    cdef real xz = w.x * w.z
    cdef real yz = w.y * w.z
    W.xx, W.yy, W.zz = -(yy + zz), -(xx + zz), -(xx + yy)
    W.xy, W.yx = xy - alpha.z, xy + alpha.z
    W.zx, W.xz = xz - alpha.y, xz + alpha.y
    W.yz, W.zy = yz - alpha.x, yz + alpha.x
    return W


cdef inline Force rate_of_momentum(Inertia M, Mat3 W, Vec3 a) noexcept nogil:
    """Equation (1)."""
    cdef Vec3 x = vec3(M.I.xx, M.I.xy, M.I.xz)
    cdef Vec3 y = vec3(M.I.xy, M.I.yy, M.I.yz)
    cdef Vec3 z = vec3(M.I.xz, M.I.yz, M.I.zz)
    cdef Vec3 X = vec3(W.xx, W.xy, W.xz)
    cdef Vec3 Y = vec3(W.yx, W.yy, W.yz)
    cdef Vec3 Z = vec3(W.zx, W.zy, W.zz)
    cdef Vec3 vee = vec3(dot(Z, y) - dot(Y, z), dot(X, z) - dot(Z, x), dot(Y, x) - dot(X, y))
    return force(vee + cross(M.h, a), M.m * a + rotate(W, M.h))


cdef inline Force applied_in_axes(const Axes* x, int i, Vec3 p, const Work* s) noexcept nogil:
    """What is applied to body i, about the point from which Mo is at p, in M."""
    cdef Force F = shift_force(force(unrotate(s.X_WB[i].R, s.applied[i].t), unrotate(s.X_WB[i].R, s.applied[i].f)), p)
    return force(in_axes(x, F.t), in_axes(x, F.f))


cdef inline void newton_euler(const ModelC* m, const real* vdot, real* tau, const Axes* axes, Work* s) noexcept nogil:
    """tau = M vdot + C v + g - J^T F_applied, without rotors; vdot NULL: of zeros."""
    cdef int i, k
    cdef const Joint* j
    cdef const Axes* x
    cdef Motion V
    cdef Motion A
    cdef Motion left
    cdef Mat3 R = identity3()
    cdef Mat3 W
    cdef Motion* S
    s.V_WB[0] = zero_motion()
    s.A_WB[0] = motion(zero3(), -s.gravity[0])
    for i in range(1, m.nb):
        j, x, S = &m.joints[i], &axes[i], s.S + m.joints[i].column
        W = of_rotation(s.A_WB[j.parent].w, s.V_WB[j.parent].w)
        V = zero_motion()
        A = zero_motion()
        for k in range(j.nv):
            V = V + s.v[j.iv + k] * S[k]
            if vdot != NULL:
                A = A + vdot[j.iv + k] * S[k]
        left = bias(j, &R, S, s.q, s.v, V)
        s.V_WB[i].w = from_parent(x, s.V_WB[j.parent].w)
        A.w = A.w + left.w + (from_parent(x, s.A_WB[j.parent].w) + cross(s.V_WB[i].w, V.w))
        A.v = A.v + left.v + (from_parent(x, s.A_WB[j.parent].v + rotate(W, x.p)) + 2.0 * cross(s.V_WB[i].w, V.v))
        s.V_WB[i].w = s.V_WB[i].w + V.w
        s.A_WB[i] = A
        # Here, not after all bodies: W has nine numbers and F six, and fewer wait for the way back.
        s.F[i] = rate_of_momentum(s.M_W[i], of_rotation(s.A_WB[i].w, s.V_WB[i].w), s.A_WB[i].v)
        s.F[i] = s.F[i] - applied_in_axes(&axes[i], i, minus(axes[i].slid), s)
    for i in range(m.nv):
        tau[i] = real(0.0)
    for i in range(m.nb - 1, 0, -1):
        j = &m.joints[i]
        for k in range(j.nv):
            tau[j.iv + k] = tau[j.iv + k] + power(s.S[j.column + k], s.F[i])
        if j.parent > 0:
            s.F[j.parent] = s.F[j.parent] + force_to_parent(&axes[i], s.F[i])


# ------------------------------------------------------------------------------------------------ articulated bodies

cdef inline ABInertia as_articulated(Inertia M) noexcept nogil:
    cdef ABInertia P
    cdef real o = real(0.0)
    P.I = inertia_of(M.I)
    P.H.xx = P.H.yy = P.H.zz = o
    P.H.xy, P.H.xz, P.H.yz = -M.h.z, M.h.y, -M.h.x
    P.H.yx, P.H.zx, P.H.zy = M.h.z, -M.h.y, M.h.x
    P.M.xx = P.M.yy = P.M.zz = M.m
    P.M.xy = P.M.xz = P.M.yz = o
    return P


cdef inline ABInertia articulated_to_parent(const Axes* x, ABInertia P) noexcept nogil:
    if not x.shared:
        P.I = rotate_sym(x.E, turned_sym(P.I, x.s_turn, x.c_turn))
        P.H = congruent(x.E, turned_mat(P.H, x.s_turn, x.c_turn))
        P.M = rotate_sym(x.E, turned_sym(P.M, x.s_turn, x.c_turn))
    return shift_articulated(P, x.p)


cdef inline ABInertia without_axis(ABInertia P) noexcept nogil:
    """What a free axis z leaves: exactly nothing about it."""
    P.I.xz = P.I.yz = P.I.zz = P.H.zx = P.H.zy = P.H.zz = real(0.0)
    return P


cdef inline void articulated_bodies(const ModelC* m, real* x, const Axes* axes, Work* s, bint midpoint) noexcept nogil:
    """x <- (M + D0)^-1 x; the inertias are in s.M_W. Equations (2) to (5) of forward_dynamics.pxd without biases."""
    cdef int i, k, c
    cdef const Joint* j
    cdef ABInertia P
    cdef Force Z
    cdef Force U
    cdef Motion A
    cdef Motion S
    cdef real D
    for i in range(1, m.nb):
        s.P[i] = as_articulated(s.M_W[i])
        s.F[i] = zero_force()
    for i in range(m.nb - 1, 0, -1):
        j, P, Z = &m.joints[i], s.P[i], s.F[i]
        for k in range(0 if j.nv and value(s.lock[j.iv]) != 0.0 else j.nv):
            c = j.column + k
            S = s.S[c]
            U = articulated_times_column(P, S, j.pure[k])
            s.u[c] = x[j.iv + k] - power(S, Z)
            D = power(S, U)
            D = 1.0 / (pivot(m, s, j.iv + k, D, s.u + c) if midpoint else D + s.D0[j.iv + k])
            s.U[c] = U
            s.D_inverse[c] = D
            P = subtract_outer(P, D * U, U)
            if j.kind == REVOLUTE and not midpoint and known(s.D0[j.iv + k]) and value(s.D0[j.iv + k]) == 0.0:
                P = without_axis(P)
            Z = Z + D * s.u[c] * U
        if j.parent > 0:
            s.P[j.parent] = add_articulated(s.P[j.parent], articulated_to_parent(&axes[i], P))
            s.F[j.parent] = s.F[j.parent] + force_to_parent(&axes[i], Z)
    s.A_WB[0] = zero_motion()
    for i in range(1, m.nb):
        j = &m.joints[i]
        A = s.A_WB[j.parent]
        A = motion(from_parent(&axes[i], A.w), from_parent(&axes[i], A.v + cross(A.w, axes[i].p)))
        for k in range(j.nv - 1, -1, -1):
            c = j.column + k
            if value(s.lock[j.iv]) != 0.0:
                x[j.iv + k] = real(0.0)
                continue
            x[j.iv + k] = (s.u[c] - power(A, s.U[c])) * s.D_inverse[c]
            A = A + x[j.iv + k] * s.S[c]
        s.A_WB[i] = A


# ------------------------------------------------------------------------------------------------ the algorithms

cdef inline bint has_own_axes(const ModelC* m, const Work* s) noexcept nogil:
    """Whether forward dynamics can be taken in these axes: coordinates are not shared, and none is prescribed."""
    cdef int i
    for i in range(m.nv):
        if value(s.lock[i]) > LOCKED:
            return False
    return not m.shared


cdef inline void forces_in_world(const ModelC* m, Work* s) noexcept nogil:
    """Those of force elements and of the user, in s.applied, and the bodies' poses they need."""
    cdef int i
    world_is_origin(s)
    for i in range(1, m.nb):
        position_step(&m.joints[i], i, s.q, s)
        velocity_step(&m.joints[i], i, s.v, s)
    if m.ne:
        m.apply(m, s)


cdef inline void forward_in_own_axes(const ModelC* m, const real* tau, real* vdot, Work* s, bint midpoint) noexcept nogil:
    """vdot of forward_dynamics.pxd."""
    cdef int i
    cdef Axes* axes = <Axes*>malloc(m.nb * sizeof(Axes))
    forces_in_world(m, s)
    find_axes(m, s.q, s, axes)
    find_inertias(m, axes, s)
    newton_euler(m, NULL, vdot, axes, s)
    for i in range(m.nv):
        vdot[i] = tau[i] - vdot[i]
    if through_M():
        composite_bodies(m, s.L, axes, s)
        solve_from_leaves(m, s.L, vdot, s, midpoint)
    else:
        articulated_bodies(m, vdot, axes, s, midpoint)
    free(axes)


cdef inline void inverse_in_own_axes(const ModelC* m, const real* vdot, real* tau, Work* s) noexcept nogil:
    """tau of inverse_dynamics.pxd."""
    cdef int i
    cdef Axes* axes = <Axes*>malloc(m.nb * sizeof(Axes))
    forces_in_world(m, s)
    find_axes(m, s.q, s, axes)
    find_inertias(m, axes, s)
    newton_euler(m, vdot, tau, axes, s)
    for i in range(m.nv):
        tau[i] = tau[i] + s.rotor_inertia[i] * vdot[i]
    free(axes)


cdef inline void mass_matrix_in_own_axes(const ModelC* m, real* M, Work* s) noexcept nogil:
    """M(q), rotors included."""
    cdef int i
    cdef Axes* axes = <Axes*>malloc(m.nb * sizeof(Axes))
    find_axes(m, s.q, s, axes)
    find_inertias(m, axes, s)
    composite_bodies(m, M, axes, s)
    for i in range(m.nv):
        M[i * (<Py_ssize_t>m.nv + 1)] = M[i * (<Py_ssize_t>m.nv + 1)] + s.rotor_inertia[i]
    free(axes)
