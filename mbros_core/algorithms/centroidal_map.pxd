"""The centroidal map and its rate (Orin, Goswami and Lee 2013), in the terms of columns.pxd.

Of a column S of joint j, with I of all that is beyond and its momenta l, L, about one fixed point O in world axes:

    A = I S,   dA/dt = I dS/dt + [I_dot S_w + l x S_v; S_w x l],   dS/dt = V_j x S                                               (1)

where columns turn with their body; others turn as turning_columns.pxd says. Then about the centre of mass, which moves. Cost: O(nv).
"""
from libc.string cimport memset

from mbros_core.scalar.real cimport real
from mbros_core.joints.dispatch cimport OTHERWISE, column_slope, columns_turn
from mbros_core.joints.joint cimport Joint, MAX_NV
from mbros_core.spatial cimport Force, Motion, Vec3, cross, cross_motion, inertia_times, sym_mul, zero3
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport Carried, Columns
from mbros_core.algorithms.inverse_dynamics_derivatives cimport columns_in_motion
from mbros_core.algorithms.momentum cimport center_of_mass, total_mass
from mbros_core.algorithms.turning_columns cimport about


cdef inline void column_rates(const Joint* j, const Work* s, const Motion* S, Motion V_P, Motion V, Motion* S_rate) noexcept nogil:
    """dS/dt of the columns S of a joint, about O."""
    cdef int k, l
    for k in range(j.nv):
        if columns_turn(j.kind) != OTHERWISE:
            S_rate[k] = cross_motion(V, S[k])
            continue
        S_rate[k] = cross_motion(V_P, S[k])
        for l in range(j.nv):
            S_rate[k] = S_rate[k] + s.v[j.iv + l] * column_slope(j, s.S + j.column, S, l, k)


cdef inline void add_column(real* A, int n, int k, Vec3 t, Vec3 f) noexcept nogil:
    A[k] = A[k] + t.x
    A[n + k] = A[n + k] + t.y
    A[2 * n + k] = A[2 * n + k] + t.z
    A[3 * n + k] = A[3 * n + k] + f.x
    A[4 * n + k] = A[4 * n + k] + f.y
    A[5 * n + k] = A[5 * n + k] + f.z


cdef inline void centroidal_map(const ModelC* m, Work* s, Columns* c, real* A) noexcept nogil:
    """A (6, nv), and below it its rate (6, nv). Positions and velocities are in place."""
    cdef const Joint* j
    cdef Carried* b
    cdef Motion S[MAX_NV]
    cdef Motion S_rate[MAX_NV]
    cdef Force F, G
    cdef Vec3 com, d, d_rate, f, t
    cdef int i, k, n = m.nv
    c.applied = False
    columns_in_motion(m, s, s.v, c, False)                          # of no accelerations: what depends on them is not read
    memset(A, 0, 12 * n * sizeof(real))
    com, d_rate = center_of_mass(m, s), zero3()
    for i in range(1, m.nb):
        if m.joints[i].parent == 0:
            d_rate = d_rate + c.bodies[i].rest.momentum.f
    d_rate = (1.0 / total_mass(m, s)) * d_rate
    for i in range(1, m.nb):
        j, b = &m.joints[i], &c.bodies[i]
        for k in range(j.nv):
            S[k] = about(s.S[j.column + k], b.r)
        column_rates(j, s, S, c.bodies[j.parent].V, b.V, S_rate)
        d = com - (s.X_WB[i].p - b.r)                               # from O
        for k in range(j.nv):
            F, G = inertia_times(b.rest.I, S[k]), inertia_times(b.rest.I, S_rate[k])
            f = G.f + cross(S[k].w, b.rest.momentum.f)
            add_column(A, n, j.iv + k, F.t - cross(d, F.f), F.f)
            t = G.t + sym_mul(b.rest.I_dot, S[k].w) + cross(b.rest.momentum.f, S[k].v)
            add_column(A + 6 * n, n, j.iv + k, t - (cross(d_rate, F.f) + cross(d, f)), f)
