"""Floating: q = [p_FoMo_F; quaternion w x y z], v = [w_FM_M; v_FM_M], both expressed in the child frame M.

X_FM = (R(quat), p),  H_FM = diag(R, R) in F axes. As seen from F, H changes with w: Hdot v = [w x w; w x v] = [0; w x v].
N (as Drake's QuaternionFloatingJoint): pdot = R v, quatdot = 1/2 quat * (0, w).
Any non-zero quaternion stands for the rotation of quat / |quat|; integration returns unit quaternions.
"""
from mbros_core.real cimport real
from mbros_core.spatial cimport (Mat3, Motion, Pose, add, column_x, column_y, column_z, compose, cross, motion, rotate,
                                 rotation_from_quaternion, scale, unrotate, vec3, zero3, Vec3)
from mbros_core.groups.se3 cimport se3_difference, se3_integrate
from mbros_core.groups.so3 cimport angular_velocity, quaternion_rate, turn_quaternion, unit_quaternion


cdef inline void floating_place(Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    X_WM.R = compose(X_WF.R, rotation_from_quaternion(q[3], q[4], q[5], q[6]))
    X_WM.p = add(X_WF.p, rotate(X_WF.R, vec3(q[0], q[1], q[2])))
    S[0] = motion(column_x(X_WM.R), zero3())
    S[1] = motion(column_y(X_WM.R), zero3())
    S[2] = motion(column_z(X_WM.R), zero3())
    S[3] = motion(zero3(), column_x(X_WM.R))
    S[4] = motion(zero3(), column_y(X_WM.R))
    S[5] = motion(zero3(), column_z(X_WM.R))

cdef inline Motion floating_bias(Motion V_FM) noexcept nogil:
    return motion(zero3(), cross(V_FM.w, V_FM.v))

cdef inline void floating_qdot(const real* q, const real* v, real* qdot) noexcept nogil:
    cdef Vec3 pdot = rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), vec3(v[3], v[4], v[5]))
    qdot[0] = pdot.x
    qdot[1] = pdot.y
    qdot[2] = pdot.z
    quaternion_rate(q + 3, v, qdot + 3)

cdef inline void floating_velocity(const real* q, const real* qdot, real* v) noexcept nogil:
    cdef Vec3 u = unrotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), vec3(qdot[0], qdot[1], qdot[2]))
    angular_velocity(q + 3, qdot + 3, v)
    v[3] = u.x
    v[4] = u.y
    v[5] = u.z

cdef inline void floating_advance(real* q, real* v, const real* vdot, real h) noexcept nogil:
    """Semi-implicit Euler in the space where it belongs: the velocity of Mo is advanced in F, the spin in M.

    In child-frame components vdot holds the turning of the frame, -w x v, which an explicit step would turn into energy.
    """
    cdef Vec3 w = vec3(v[0], v[1], v[2])
    cdef Vec3 a = add(vec3(vdot[3], vdot[4], vdot[5]), cross(w, vec3(v[3], v[4], v[5])))
    cdef Vec3 u = rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), add(vec3(v[3], v[4], v[5]), scale(h, a)))
    w = add(w, scale(h, vec3(vdot[0], vdot[1], vdot[2])))
    turn_quaternion(q + 3, scale(h, w))
    q[0] = q[0] + h * u.x
    q[1] = q[1] + h * u.y
    q[2] = q[2] + h * u.z
    u = unrotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), u)
    v[0] = w.x
    v[1] = w.y
    v[2] = w.z
    v[3] = u.x
    v[4] = u.y
    v[5] = u.z

cdef inline void floating_integrate(const real* q, const real* dv, real* out) noexcept nogil:
    se3_integrate(q, dv, out)

cdef inline void floating_difference(const real* q0, const real* q1, real* dv) noexcept nogil:
    se3_difference(q0, q1, dv)

cdef inline void floating_normalize(real* q) noexcept nogil:
    unit_quaternion(q + 3)
