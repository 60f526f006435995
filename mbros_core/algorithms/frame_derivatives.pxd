"""A frame's velocity and acceleration, and their derivatives: what contacts that are given are made of.

In the terms of inverse_dynamics_derivatives.pxd, with eta, zeta and xi of the columns between the world and the frame's body, p from O
to the frame's origin, J = S_v + S_w x p and u = V_v + V_w x p its velocity:

    by q:  dV = S x V + eta,  dA = S x A + eta x V + zeta,  dp = J;      by v:  dV = S,  dA = xi + S x V,  dp = 0
    a = A_v + A_w x p + V_w x u                                                                                                  (1)

A wrench (t, f) that keeps its axes, at the frame's origin, has the efforts g_i = S_iw . t + J_i . f, of which with D = dS_i/dq_a

    dg_i/dq_a = D_w . t + (D_v + D_w x p + S_iw x J_a) . f                                                                       (2)

D is S_a x S_i where i is of a's joint or beyond it, zero where it is not; turning_columns.pxd says which joints have others of their own.
Cost: O(depth), of (2) O(depth^2).
"""
from libc.string cimport memset

from mbros_core.scalar.real cimport real
from mbros_core.joints.dispatch cimport OTHERWISE, column_slope, columns_turn
from mbros_core.joints.joint cimport MAX_NV
from mbros_core.spatial cimport Motion, Vec3, cross, cross_motion, dot, rotate, vec3, zero_motion
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport AT_ETA, AT_S, AT_XI, AT_ZETA, Columns, column, take_motion
from mbros_core.algorithms.centroidal_map cimport add_column


cdef inline void frame_derivatives(const ModelC* m, const Work* s, const Columns* c, int frame, real* a, real* out) noexcept nogil:
    """a (6,), and out (4, 6, nv): J, d(J v)/dq, da/dq, da/dv, rows [angular; linear] in world axes about the frame's origin. Columns have
    moved."""
    cdef int b = m.frame_body[frame]
    cdef Motion V = c.bodies[b].V
    cdef Motion A = c.bodies[b].A
    cdef Motion S, eta, dV, dA
    cdef Vec3 p = c.bodies[b].r + rotate(s.X_WB[b].R, m.X_BF[frame].p)
    cdef Vec3 u = V.v + cross(V.w, p)
    cdef Vec3 J, du, x = A.v + s.gravity[0] + cross(A.w, p) + cross(V.w, u)
    cdef Py_ssize_t size = 6 * <Py_ssize_t>m.nv
    cdef const real* at
    cdef int k, to
    a[0], a[1], a[2], a[3], a[4], a[5] = A.w.x, A.w.y, A.w.z, x.x, x.y, x.z
    memset(out, 0, 4 * size * sizeof(real))
    while b > 0:
        for k in range(c.first[b], c.own_end[b]):
            at, to = column(c, k), c.at[k]
            S, eta = take_motion(at, AT_S), take_motion(at, AT_ETA)
            J = S.v + cross(S.w, p)
            add_column(out, m.nv, to, S.w, J)
            dV = cross_motion(S, V) + eta
            dA = cross_motion(S, A) + cross_motion(eta, V) + take_motion(at, AT_ZETA)
            du = dV.v + cross(dV.w, p) + cross(V.w, J)
            add_column(out + size, m.nv, to, dV.w, du)
            x = dA.v + cross(dA.w, p) + cross(A.w, J) + (cross(dV.w, u) + cross(V.w, du))
            add_column(out + 2 * size, m.nv, to, dA.w, x)
            dA = take_motion(at, AT_XI) + cross_motion(S, V)
            x = dA.v + cross(dA.w, p) + (cross(S.w, u) + cross(V.w, J))
            add_column(out + 3 * size, m.nv, to, dA.w, x)
        b = m.joints[b].parent


cdef inline void turn_wrench(const ModelC* m, const Work* s, const Columns* c, int frame, const real* wrench, real* R) noexcept nogil:
    """R (nv, nv) -= (2), of the wrench [t; f] (6,)."""
    cdef int end = m.frame_body[frame]
    cdef int b = end, e, k, l, i
    cdef Vec3 t = vec3(wrench[0], wrench[1], wrench[2])
    cdef Vec3 f = vec3(wrench[3], wrench[4], wrench[5])
    cdef Vec3 p = c.bodies[b].r + rotate(s.X_WB[b].R, m.X_BF[frame].p)
    cdef Motion S[MAX_NV]
    cdef Motion D, S_i
    cdef Vec3 J
    while b > 0:
        for l in range(m.joints[b].nv):
            S[l] = take_motion(column(c, c.first[b] + l), AT_S)
        for k in range(m.joints[b].nv):
            J = S[k].v + cross(S[k].w, p)
            e = end
            while e > 0:
                for l in range(m.joints[e].nv):
                    S_i = take_motion(column(c, c.first[e] + l), AT_S)
                    D = zero_motion()
                    if e == b and columns_turn(m.joints[b].kind) == OTHERWISE:
                        D = column_slope(&m.joints[b], s.S + m.joints[b].column, S, k, l)
                    elif e >= b:
                        D = cross_motion(S[k], S_i)
                    i = c.at[c.first[e] + l] * m.nv + c.at[c.first[b] + k]
                    R[i] = R[i] - (dot(D.w, t) + dot(D.v + cross(D.w, p) + cross(S_i.w, J), f))
                e = m.joints[e].parent
        b = m.joints[b].parent
