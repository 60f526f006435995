"""The Coriolis matrix C(q, v): C v is what coriolis_torques gives, and dM/dt - 2 C is skew-symmetric.

Of a body, about its origin Bo in world axes, with J the Jacobian of its velocity, dJ/dt its rate (jacobian_rate.pxd), I its inertia, Q the
moments of that, h = m p_BoBcm, and w its angular velocity:

    C = sum over bodies of J^T (I dJ/dt + B J),   B [a; b] = [(w x Q a - Q (w x a) - (Q w) x a) / 2; a x (w x h)]                (1)

B [w; u] = [w x Q w; w x (w x h)] is the gyroscopic wrench, and B + B^T = dI/dt, from which both follow. Where columns turn with their
bodies these are the Christoffel symbols of M (Echeandia and Wensing 2021). Rotors on coordinates do not turn in it. Cost: O(nb depth^2).
"""
from libc.string cimport memset

from mbros_core.scalar.real cimport real
from mbros_core.joints.joint cimport Joint, MAX_NV
from mbros_core.spatial cimport (Force, Inertia, Motion, Vec3, column_power, cross, inertia_times, rotate_inertia, shift_force, sym_mul,
                                 zero3)
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.jacobian_rate cimport moving_columns


cdef inline Force bent_by(Inertia I, Vec3 w, Motion S, Motion rate) noexcept nogil:
    """I dS/dt + B S of (1)."""
    cdef Force F = inertia_times(I, rate)
    F.t = F.t + 0.5 * (cross(w, sym_mul(I.I, S.w)) - sym_mul(I.I, cross(w, S.w)) - cross(sym_mul(I.I, w), S.w))
    F.f = F.f + cross(S.w, cross(w, I.h))
    return F


cdef inline void add_body(const ModelC* m, int i, real* C, const Work* s) noexcept nogil:
    cdef Inertia I = rotate_inertia(s.X_WB[i].R, s.inertia[i])
    cdef Motion S[MAX_NV]
    cdef Motion S_rate[MAX_NV]
    cdef Vec3 p = zero3()                                   # from the body on the way to Bo
    cdef Force F
    cdef const Joint* j
    cdef const Joint* a
    cdef Py_ssize_t n = m.nv
    cdef int at = i
    cdef int b, k, l
    while at > 0:
        j = &m.joints[at]
        moving_columns(m, s, at, &p, S, S_rate)
        for k in range(j.nv):
            S_rate[k].v = S_rate[k].v + cross(S[k].w, s.V_WB[i].v)
            F = bent_by(I, s.V_WB[i].w, S[k], S_rate[k])
            b = i
            while b > 0:
                a = &m.joints[b]
                for l in range(a.nv):
                    C[(a.iv + l) * n + j.iv + k] = C[(a.iv + l) * n + j.iv + k] + column_power(s.S[a.column + l], F, a.pure[l])
                F = shift_force(F, s.p_PB_W[b])
                b = a.parent
        at = j.parent


cdef inline void coriolis_matrix(const ModelC* m, real* C, const Work* s) noexcept nogil:
    """C (nv, nv) row-major, overwritten. Positions and velocities are in place."""
    cdef int i
    memset(C, 0, <Py_ssize_t>m.nv * m.nv * sizeof(real))
    for i in range(1, m.nb):
        add_body(m, i, C, s)
