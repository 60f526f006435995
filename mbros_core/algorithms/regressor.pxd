"""The joint-torque regressor: inverse dynamics as what it is, linear in the inertial parameters of the bodies (Atkeson, An, Hollerbach 1986).

    tau = Y(q, v, vdot) pi + friction and rotors        pi_B = (m, m c, Ixx Iyy Izz Ixy Ixz Iyz) about Bo in axes of B,

B a frame of each body (the link's, where the engine's own has its z along the joint's axis). In these axes, with a less gravity:

    f = a m + (alpha x + w x w x) m c                   t = -a x m c + (I alpha + w x I w), linear in the six of I

The ten columns are turned to world axes and carried inwards, to every joint on the way: tau_j = H_FM^T F. Cost: O(nb depth).
"""
from mbros_core.scalar.real cimport real
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Force, Mat3, Motion, Pose, Vec3, compose, cross, dot, rotate, shift_force, unrotate, vec3, zero3
from mbros_core.engine.state cimport ModelC, Work

cdef enum:
    OF_A_BODY = 10          # inertial parameters


cdef inline Vec3 tensor_column(int k, Vec3 x) noexcept nogil:
    """d(I x) by the k-th of Ixx Iyy Izz Ixy Ixz Iyz."""
    cdef real zero = real(0.0)
    if k == 0:
        return vec3(x.x, zero, zero)
    if k == 1:
        return vec3(zero, x.y, zero)
    if k == 2:
        return vec3(zero, zero, x.z)
    if k == 3:
        return vec3(x.y, x.x, zero)
    if k == 4:
        return vec3(x.z, zero, x.x)
    return vec3(zero, x.z, x.y)


cdef inline Vec3 axis(int k) noexcept nogil:
    return vec3(real(1.0 if k == 0 else 0.0), real(1.0 if k == 1 else 0.0), real(1.0 if k == 2 else 0.0))


cdef inline void body_columns(Pose X_CB, Mat3 R_WC, Motion V, Motion A, Force* F) noexcept nogil:
    """The wrench about Co, in world axes, of each of the ten parameters being one. A: of Co, less gravity."""
    cdef Mat3 R = compose(R_WC, X_CB.R)
    cdef Vec3 p = rotate(R_WC, X_CB.p)
    cdef Vec3 w = unrotate(R, V.w)
    cdef Vec3 alpha = unrotate(R, A.w)
    cdef Vec3 a = unrotate(R, A.v + (cross(A.w, p) + cross(V.w, cross(V.w, p))))
    cdef Vec3 e
    cdef int k
    F[0].t, F[0].f = zero3(), rotate(R, a)
    for k in range(3):
        e = axis(k)
        F[1 + k].f = rotate(R, cross(alpha, e) + cross(w, cross(w, e)))
        F[1 + k].t = rotate(R, cross(e, a))
    for k in range(6):
        F[4 + k].f = zero3()
        F[4 + k].t = rotate(R, tensor_column(k, alpha) + cross(w, tensor_column(k, w)))
    for k in range(OF_A_BODY):
        F[k] = shift_force(F[k], p)


cdef inline void joint_torque_regressor(const ModelC* m, const Pose* X_CB, real* Y, int width, Force* F, Work* s) noexcept nogil:
    """Y (nv, width), whose columns 10 (i - 1) .. are those of body i; zero where nothing is written. Velocities, and s.A_WB, less gravity,
    are in place. F: room for ten."""
    cdef const Joint* j
    cdef Motion S
    cdef real* row
    cdef int i, b, k, c
    for i in range(1, m.nb):
        body_columns(X_CB[i], s.X_WB[i].R, s.V_WB[i], s.A_WB[i], F)
        b = i
        while b > 0:
            j = &m.joints[b]
            for k in range(j.nv):
                S = s.S[j.column + k]
                row = Y + (j.iv + k) * <Py_ssize_t>width + OF_A_BODY * (i - 1)
                for c in range(OF_A_BODY):
                    row[c] = row[c] + (dot(S.w, F[c].t) + dot(S.v, F[c].f))
            if j.parent > 0:
                for c in range(OF_A_BODY):
                    F[c] = shift_force(F[c], s.p_PB_W[b])
            b = j.parent
