"""Derivatives of inverse dynamics at the joints whose columns turn otherwise than with their bodies: H_FM is not constant in M.

How they turn, D_m S_l, and what their H_dot v changes by with q is what joints.dispatch says of their kinds. From it eta, zeta and xi by
equations (1) to (3) of inverse_dynamics_derivatives.pxd in full, and within such a joint

    dtau_l/dq_m += (D_m S_l - S_m x S_l) . F
"""
from mbros_core.scalar.real cimport real
from mbros_core.joints.dispatch cimport OTHERWISE, bias_slope, column_slope, columns_turn
from mbros_core.joints.joint cimport Joint, MAX_NV
from mbros_core.spatial cimport Motion, Vec3, cross, cross_motion, motion, power, zero_motion
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport AT_ETA, AT_XI, AT_ZETA, Carried, Columns, column, put_motion


cdef inline Motion about(Motion S, Vec3 r) noexcept nogil:
    """A twist about a body's origin, about O; r from O to there."""
    return motion(S.w, S.v + cross(r, S.w))


cdef inline void turn_column(const Joint* j, const Motion* S_Mo, const Motion* S, const real* v, const real* vdot, Motion V_P, Motion V,
                             Motion A, int k, Motion* eta, Motion* zeta, Motion* xi) noexcept nogil:
    """Equations (1) to (3) in full for column k of joint j, whose own v and vdot are given. Columns about Mo, and all else about O."""
    cdef Motion u, D, D_v, D_vdot, h_v
    cdef int l
    u = D_v = D_vdot = h_v = zero_motion()
    for l in range(j.nv):
        u = u + v[l] * S[l]
        D = column_slope(j, S_Mo, S, k, l)
        D_v = D_v + v[l] * D
        D_vdot = D_vdot + vdot[l] * D
        h_v = h_v + v[l] * (D + column_slope(j, S_Mo, S, l, k))
    eta[0] = cross_motion(V_P, S[k]) + (D_v - cross_motion(S[k], u))
    zeta[0] = D_vdot + bias_slope(j, S, v, k) + cross_motion(V_P, D_v)
    zeta[0] = zeta[0] - (cross_motion(S[k], A) + cross_motion(eta[0], V))
    xi[0] = cross_motion(V_P, S[k]) + cross_motion(V, S[k]) + h_v


cdef inline void move_otherwise(const ModelC* m, const Work* s, const real* vdot, Columns* c) noexcept nogil:
    """The joints that turn otherwise."""
    cdef const Joint* j
    cdef const Carried* b
    cdef Motion S[MAX_NV]
    cdef Motion eta, zeta, xi
    cdef int i, k
    for i in range(1, m.nb):
        j = &m.joints[i]
        if columns_turn(j.kind) != OTHERWISE:
            continue
        b = &c.bodies[i]
        for k in range(j.nv):
            S[k] = about(s.S[j.column + k], b.r)
        for k in range(j.nv):
            turn_column(j, s.S + j.column, S, s.v + j.iv, vdot + j.iv, c.bodies[j.parent].V, b.V, b.A, k, &eta, &zeta, &xi)
            put_motion(column(c, c.first[i] + k), AT_ETA, eta)
            put_motion(column(c, c.first[i] + k), AT_ZETA, zeta)
            put_motion(column(c, c.first[i] + k), AT_XI, xi)


cdef inline void turn_forces(const ModelC* m, const Work* s, Columns* c) noexcept nogil:
    """(D_m S_l - S_m x S_l) . F in the joints that turn otherwise."""
    cdef const Joint* j
    cdef Motion S[MAX_NV]
    cdef Motion D
    cdef int i, k, l
    for i in range(1, m.nb):
        j = &m.joints[i]
        if columns_turn(j.kind) != OTHERWISE:
            continue
        for k in range(j.nv):
            S[k] = about(s.S[j.column + k], c.bodies[i].r)
        for k in range(j.nv):
            for l in range(j.nv):
                D = column_slope(j, s.S + j.column, S, k, l) - cross_motion(S[k], S[l])
                c.below_q[(c.first[i] + k) * <Py_ssize_t>c.padded + c.first[i] + l] = power(D, c.bodies[i].rest.F) + c.below_q[
                    (c.first[i] + k) * <Py_ssize_t>c.padded + c.first[i] + l]
