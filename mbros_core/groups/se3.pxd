"""SE(3) as q = [p; quaternion w x y z], with increments dv = [w; v] in the moving frame (Pinocchio's local convention,
angular part first):  q (+) dv = X(q) Exp(dv),  Exp(dv) = (exp(w), V(w) v).

    exp(w)  = [cos(|w|/2); sin(|w|/2) w / |w|]
    V(w)    = 1 + B [w] + C [w]^2,           B = (1 - cos a) / a^2,   C = (a - sin a) / a^3,   a = |w|
    V(w)^-1 = 1 - 1/2 [w] + E [w]^2,         E = (1 - (a/2) cot(a/2)) / a^2

Below a^2 = 1e-4 the coefficients come from their series, whose first neglected term is under 1e-16.
"""
from mbros_core.real cimport atan2, copy, less, real, select, sincos, sqrt
from mbros_core.spatial cimport (Vec3, add, cross, rotate, rotation_from_quaternion, scale, sub, unrotate, vec3)


cdef inline void unit_quaternion(real* q) noexcept nogil:
    """Twice, because one division leaves the norm a few units in the last place away from 1."""
    cdef real s
    cdef int k
    for k in range(2):
        s = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        q[0] = q[0] * s
        q[1] = q[1] * s
        q[2] = q[2] * s
        q[3] = q[3] * s

cdef inline void quaternion_exp(Vec3 w, real* r, real* a2, real* sin_half, real* cos_half) noexcept nogil:
    """r = exp(w) as a quaternion; |w|^2 and the half-angle's sine and cosine on the way."""
    cdef real s
    cdef real c
    a2[0] = w.x * w.x + w.y * w.y + w.z * w.z
    cdef real a = sqrt(a2[0])
    sincos(0.5 * a, s, c)
    cdef real series = real(0.5) - a2[0] * (1.0 / 48.0 - a2[0] * real(1.0 / 3840.0))
    cdef real k = select(less(a2[0], real(1e-4)), series, s / (a + real(1e-300)))
    r[0] = c
    r[1] = k * w.x
    r[2] = k * w.y
    r[3] = k * w.z
    sin_half[0] = s
    cos_half[0] = c

cdef inline void quaternion_product(const real* a, const real* b, real* r) noexcept nogil:
    r[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    r[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    r[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3]
    r[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1]

cdef inline void turn_quaternion(real* q, Vec3 w) noexcept nogil:
    """q <- q exp(w), of unit length."""
    cdef real e[4]
    cdef real r[4]
    cdef real a2
    cdef real s
    cdef real c
    quaternion_exp(w, e, &a2, &s, &c)
    quaternion_product(q, e, r)
    unit_quaternion(r)
    copy(q, r, 4)

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
    cdef Vec3 u = add(v, add(scale(B, wv), scale(C, cross(w, wv))))
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
    cdef real inverse[4]
    cdef real r[4]
    inverse[0] = q0[3]
    inverse[1] = -q0[4]
    inverse[2] = -q0[5]
    inverse[3] = -q0[6]
    quaternion_product(inverse, q1 + 3, r)
    # the shorter way round: quat and -quat are one rotation
    cdef real sign = select(less(r[0], real(0.0)), real(-1.0), real(1.0))
    cdef real n = sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3])
    cdef real a = 2.0 * atan2(n, sign * r[0])
    # a / n, with its limit 2 / r0 where n is too small to divide by
    cdef real k = sign * select(less(n, real(1e-8)), 2.0 / (sign * r[0]), a / (n + real(1e-300)))
    cdef Vec3 w = vec3(k * r[1], k * r[2], k * r[3])
    cdef Vec3 u = unrotate(rotation_from_quaternion(q0[3], q0[4], q0[5], q0[6]),
                           vec3(q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]))
    cdef real a2 = a * a
    cdef real s
    cdef real c
    sincos(0.5 * a, s, c)
    cdef real E = select(less(a2, real(1e-4)), real(1.0 / 12.0) + a2 * (1.0 / 720.0 + a2 * real(1.0 / 30240.0)),
                         (real(1.0) - 0.5 * a * c / (s + real(1e-300))) / (a2 + real(1e-300)))
    cdef Vec3 wu = cross(w, u)
    cdef Vec3 v = add(sub(u, scale(real(0.5), wu)), scale(E, cross(w, wu)))
    dv[0] = w.x
    dv[1] = w.y
    dv[2] = w.z
    dv[3] = v.x
    dv[4] = v.y
    dv[5] = v.z
