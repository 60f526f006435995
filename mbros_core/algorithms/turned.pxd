"""Poses and columns as they move along the columns themselves: for derivatives by q over dual numbers that go through no coordinates.

Along velocities u a body turns with w and moves with v of H u, and so do its axes. Its columns, about its origin, which moves, turn with it
where H_FM is constant in M, else with the parent and as column_slope says:

    dR = [w] R,   dp = v,   dS_l = w x S_l,   or  w_P x S_l + sum_m u_m (D_m S_l + [0; S_lw x S_mv])

so that roll, pitch and yaw have the derivatives of a rotation, at gimbal lock as elsewhere. Cost: O(nb).
"""
from mbros_core.scalar.real cimport real
from mbros_core.joints.dispatch cimport OTHERWISE, column_slope, columns_turn
from mbros_core.joints.joint cimport Joint, MAX_NV
from mbros_core.spatial cimport Mat3, Motion, Vec3, column_x, column_y, column_z, cross, from_columns, motion, shift_motion, zero_motion
from mbros_core.engine.state cimport ModelC, Work


cdef inline Mat3 turned(Vec3 w, Mat3 R) noexcept nogil:
    """R + [w] R."""
    cdef Vec3 x = column_x(R), y = column_y(R), z = column_z(R)
    return from_columns(x + cross(w, x), y + cross(w, y), z + cross(w, z))


cdef inline void turn_columns_of(const Joint* j, Motion* S, const real* u, Vec3 w_P, Vec3 w) noexcept nogil:
    """S: those of joint j about Mo; u: its own velocities."""
    cdef bint otherwise = columns_turn(j.kind) == OTHERWISE
    cdef Motion before[MAX_NV]
    cdef Motion D
    cdef Vec3 turn = w_P if otherwise else w
    cdef int k, l
    for l in range(j.nv):
        before[l] = S[l]
    for l in range(j.nv):
        S[l] = S[l] + motion(cross(turn, before[l].w), cross(turn, before[l].v))
        if otherwise:
            for k in range(j.nv):
                D = column_slope(j, before, before, k, l)
                D.v = D.v + cross(before[l].w, before[k].v)
                S[l] = S[l] + u[k] * D


cdef inline void move_along(const ModelC* m, Work* s, const real* u) noexcept nogil:
    """s.X_WB, s.p_PB_W and s.S, in place and without derivatives, have those along u (nv), whose values are zero. s.V_WB is room."""
    cdef const Joint* j
    cdef Motion V_P, V
    cdef int i, k
    s.V_WB[0] = zero_motion()
    for i in range(1, m.nb):
        j = &m.joints[i]
        V_P = s.V_WB[j.parent]
        V = shift_motion(V_P, s.p_PB_W[i])
        for k in range(j.nv):
            V = V + u[j.iv + k] * s.S[j.column + k]
        s.V_WB[i] = V
        turn_columns_of(j, s.S + j.column, u + j.iv, V_P.w, V.w)
        s.X_WB[i].R = turned(V.w, s.X_WB[i].R)
        s.X_WB[i].p = s.X_WB[i].p + V.v
        s.p_PB_W[i] = s.p_PB_W[i] + (V.v - V_P.v)
