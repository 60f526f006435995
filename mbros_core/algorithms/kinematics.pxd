"""Kinematics, from the world outwards: one step per body, shared by every algorithm.

    X_WB = X_WP X_PF X_FM(q)                                                                          (1)
    V_WB = shift(V_WP, p_PB) + H_FM v                                                                 (2)
    A_WB = shift(A_WP, p_PB) + Ab_WB + H_FM vdot                                                      (3)
    Ab_WB = [w_P x w_FM; w_P x (w_P x p_PB) + 2 w_P x v_FM] + Hdot_FM v                               (4)

(Mitiguy, Advanced Dynamics and Motion Simulation; the same recursion as Drake's BodyNode, all in world axes.)
"""
from mbros_core.scalar.real cimport real
from mbros_core.joints.dispatch cimport bias, place
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Motion, Pose, Vec3, compose, cross, identity3, motion, rotate, shift_motion, vec3, zero3, zero_motion
from mbros_core.engine.state cimport ModelC, Work


cdef inline void world_is_origin(Work* s) noexcept nogil:
    s.X_WB[0].R = identity3()
    s.X_WB[0].p = zero3()
    s.p_PB_W[0] = zero3()
    s.V_WB[0] = zero_motion()
    s.Ab_WB[0] = zero_motion()


cdef inline void position_step(const Joint* j, int i, const real* q, Work* s) noexcept nogil:
    """Equation (1), and the arm p_PB from relative quantities only: exact however far the robot is from the origin."""
    cdef const Pose* X_WP = &s.X_WB[j.parent]
    cdef Pose X_PF_W                 # axes of W, origin at Po
    cdef Pose X_WM
    X_PF_W.R = compose(X_WP.R, j.X_PF.R)
    X_PF_W.p = rotate(X_WP.R, j.X_PF.p)
    place(j, X_PF_W, q, &X_WM, s.S + j.column)
    s.p_PB_W[i] = X_WM.p
    s.X_WB[i].R = X_WM.R
    s.X_WB[i].p = X_WP.p + X_WM.p


cdef inline void velocity_step(const Joint* j, int i, const real* v, Work* s) noexcept nogil:
    """Equations (2) and (4)."""
    cdef Motion V_WP = s.V_WB[j.parent]
    cdef Motion V_FM = zero_motion()
    cdef Motion Hdot_v
    cdef Vec3 p = s.p_PB_W[i]
    cdef Vec3 turning = cross(V_WP.w, p)
    cdef int k
    for k in range(j.nv):
        V_FM = V_FM + v[j.iv + k] * s.S[j.column + k]
    Hdot_v = bias(j, &s.X_WB[j.parent].R, s.S + j.column, s.q, v, V_FM)
    s.V_WB[i] = motion(V_WP.w + V_FM.w, V_WP.v + turning + V_FM.v)
    s.Ab_WB[i] = motion(cross(V_WP.w, V_FM.w) + Hdot_v.w,
                        cross(V_WP.w, turning + 2.0 * V_FM.v) + Hdot_v.v)


cdef inline void acceleration_step(const Joint* j, int i, const real* vdot, Work* s) noexcept nogil:
    """Equation (3)."""
    cdef Motion A = shift_motion(s.A_WB[j.parent], s.p_PB_W[i]) + s.Ab_WB[i]
    cdef int k
    for k in range(j.nv):
        A = A + vdot[j.iv + k] * s.S[j.column + k]
    s.A_WB[i] = A


cdef inline void positions(const ModelC* m, Work* s) noexcept nogil:
    cdef int i
    world_is_origin(s)
    for i in range(1, m.nb):
        position_step(&m.joints[i], i, s.q, s)


cdef inline void velocities(const ModelC* m, Work* s) noexcept nogil:
    cdef int i
    for i in range(1, m.nb):
        velocity_step(&m.joints[i], i, s.v, s)


cdef inline void bias_accelerations(const ModelC* m, Work* s) noexcept nogil:
    """A_WB of vdot = 0 in W: how velocities change while those of the coordinates stay."""
    cdef int i
    s.A_WB[0] = zero_motion()
    for i in range(1, m.nb):
        s.A_WB[i] = shift_motion(s.A_WB[m.joints[i].parent], s.p_PB_W[i]) + s.Ab_WB[i]


cdef inline void accelerations(const ModelC* m, const real* vdot, Work* s) noexcept nogil:
    """True accelerations in W (gravity not subtracted)."""
    cdef int i
    s.A_WB[0] = zero_motion()
    for i in range(1, m.nb):
        acceleration_step(&m.joints[i], i, vdot, s)
