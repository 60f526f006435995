"""The time derivative of a frame's Jacobian (jacobian.pxd).

Of a column S of joint j, about the fixed point O at which the frame's origin Q is now, with u the velocity of Q:

    J = [S_w; S_v + S_w x (Q - O)],   dJ/dt = [dS_w/dt; dS_v/dt + S_w x u],   dS/dt as centroidal_map.pxd has it                (1)

In the frame's own axes, of each three components: R^T (dJ/dt - w x J). Cost: O(depth).
"""
from libc.string cimport memset

from mbros_core.scalar.real cimport real
from mbros_core.joints.joint cimport Joint, MAX_NV
from mbros_core.spatial cimport Mat3, Motion, Vec3, compose, cross, rotate, shift_motion, unrotate
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.centroidal_map cimport add_column, column_rates


cdef inline void moving_columns(const ModelC* m, const Work* s, int i, Vec3* p, Motion* S, Motion* S_rate) noexcept nogil:
    """The columns of body i's joint and dS/dt about the fixed point that is p from its origin now; p becomes that from its parent's."""
    cdef const Joint* j = &m.joints[i]
    cdef Motion V = shift_motion(s.V_WB[i], p[0])
    cdef int k
    for k in range(j.nv):
        S[k] = shift_motion(s.S[j.column + k], p[0])
    p[0] = p[0] + s.p_PB_W[i]
    column_rates(j, s, S, shift_motion(s.V_WB[j.parent], p[0]), V, S_rate)


cdef inline void jacobian_rate(const ModelC* m, const Work* s, int frame, bint local, real* rate) noexcept nogil:
    """dJ/dt (6, nv), rows [angular; linear], in world axes or `local`, overwritten. Positions and velocities are in place."""
    cdef int i = m.frame_body[frame]
    cdef Mat3 R = compose(s.X_WB[i].R, m.X_BF[frame].R)
    cdef Vec3 p = rotate(s.X_WB[i].R, m.X_BF[frame].p)              # from the body's origin to Q
    cdef Motion V_Q = shift_motion(s.V_WB[i], p)
    cdef Motion S[MAX_NV]
    cdef Motion S_rate[MAX_NV]
    cdef Vec3 w, v
    cdef const Joint* j
    cdef int k
    memset(rate, 0, 6 * m.nv * sizeof(real))
    while i > 0:
        j = &m.joints[i]
        moving_columns(m, s, i, &p, S, S_rate)
        for k in range(j.nv):
            w, v = S_rate[k].w, S_rate[k].v + cross(S[k].w, V_Q.v)
            if local:
                w = unrotate(R, w - cross(V_Q.w, S[k].w))
                v = unrotate(R, v - cross(V_Q.w, S[k].v))
            add_column(rate, m.nv, j.iv + k, w, v)
        i = j.parent
