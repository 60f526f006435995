"""SE(3) as q = [p; quaternion w x y z], with increments dv = [w; v] in the moving frame (Pinocchio's local convention,
angular part first):  q (+) dv = X(q) Exp(dv),  Exp(dv) = (exp(w), V(w) v).

    V(w)    = 1 + B [w] + C [w]^2,           B = (1 - cos a) / a^2,   C = (a - sin a) / a^3,   a = |w|
    V(w)^-1 = 1 - 1/2 [w] + E [w]^2,         E = (1 - (a/2) cot(a/2)) / a^2

Below a^2 = 1e-4 the coefficients come from their series, whose first neglected term is under 1e-16.
"""
from mbros_core.scalar.real cimport less, real, select, sincos, sqrt
from mbros_core.groups.so3 cimport quaternion_exp, quaternion_log, quaternion_product, unit_quaternion
from mbros_core.spatial cimport Vec3, cross, rotate, rotation_from_quaternion, unrotate, vec3


cdef inline void se3_integrate(const real* q, const real* dv, real* out) noexcept nogil:
    cdef Vec3 w = vec3(dv[0], dv[1], dv[2])
    cdef Vec3 v = vec3(dv[3], dv[4], dv[5])
    cdef real e[4]
    cdef real r[4]
    cdef real a2
    cdef real s
    cdef real c
    quaternion_exp(w, e, &a2, &s, &c)
    # the translation V(w) v
    cdef real a = sqrt(a2)
    cdef real tiny = real(1e-300)
    cdef real B = select(less(a2, real(1e-4)), real(0.5) - a2 * (1.0 / 24.0 - a2 * real(1.0 / 720.0)),
                         2.0 * s * s / (a2 + tiny))
    cdef real C = select(less(a2, real(1e-4)), real(1.0 / 6.0) - a2 * (1.0 / 120.0 - a2 * real(1.0 / 5040.0)),
                         (a - 2.0 * s * c) / (a2 * a + tiny))
    cdef Vec3 wv = cross(w, v)
    cdef Vec3 u = v + (B * wv + C * cross(w, wv))
    cdef Vec3 p = rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), u)
    quaternion_product(q + 3, e, r)
    unit_quaternion(r)
    out[0] = q[0] + p.x
    out[1] = q[1] + p.y
    out[2] = q[2] + p.z
    out[3] = r[0]
    out[4] = r[1]
    out[5] = r[2]
    out[6] = r[3]

cdef inline void se3_difference(const real* q0, const real* q1, real* dv) noexcept nogil:
    cdef real a
    cdef Vec3 w = quaternion_log(q0 + 3, q1 + 3, &a)
    cdef Vec3 u = unrotate(rotation_from_quaternion(q0[3], q0[4], q0[5], q0[6]),
                           vec3(q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]))
    cdef real a2 = a * a
    cdef real s
    cdef real c
    sincos(0.5 * a, s, c)
    cdef real E = select(less(a2, real(1e-4)), real(1.0 / 12.0) + a2 * (1.0 / 720.0 + a2 * real(1.0 / 30240.0)),
                         (real(1.0) - 0.5 * a * c / (s + real(1e-300))) / (a2 + real(1e-300)))
    cdef Vec3 wu = cross(w, u)
    cdef Vec3 v = u - 0.5 * wu + E * cross(w, wu)
    dv[0] = w.x
    dv[1] = w.y
    dv[2] = w.z
    dv[3] = v.x
    dv[4] = v.y
    dv[5] = v.z
