"""A joint near a configuration q0, in coordinates x of a vector space: q = q0 (+) x, x = 0 at q0. What Runge-Kutta methods of any order
add and weigh (Munthe-Kaas 1999): their order is kept on the manifold, and every q is valid to rounding.

    rotations        q = q0 exp(x),   x' = w + 1/2 x x w + E x x (x x w),   E = (1 - (a/2) cot(a/2)) / a^2,   a = |x|               (1)
    floating         the same beside p = p0 + x, x' = R(q) v
    circular         q = q0 turned by x,   x' = v
    roll, pitch, yaw, and a user's own maps: q = q0 + x,   x' = N(q) v
    others           q = q0 + x,   x' = v

(1) is the right-trivialised inverse of the exponential's derivative, whole; below a^2 = 1e-4 E comes from its series, whose first neglected
term is under 1e-16. It holds for less than a turn.
"""
from mbros_core.scalar.real cimport copy, less, real, select, sincos, sqrt
from mbros_core.groups.so3 cimport turn_quaternion
from mbros_core.joints.dispatch cimport IN_RATES, OF_POSES, OF_ROTATIONS, ON_CIRCLES, chart_of, integrate, qdot_from_velocity
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Vec3, cross, rotate, rotation_from_quaternion, vec3


cdef inline void rotation_rate(const real* x, const real* w, real* rate) noexcept nogil:
    """(1)"""
    cdef Vec3 at = vec3(x[0], x[1], x[2])
    cdef Vec3 turned = cross(at, vec3(w[0], w[1], w[2]))
    cdef real a2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    cdef real a = sqrt(a2)
    cdef real s
    cdef real c
    sincos(0.5 * a, s, c)
    cdef real E = select(less(a2, real(1e-4)), real(1.0 / 12.0) + a2 * (1.0 / 720.0 + a2 * real(1.0 / 30240.0)),
                         (real(1.0) - 0.5 * a * c / (s + real(1e-300))) / (a2 + real(1e-300)))
    cdef Vec3 more = 0.5 * turned + E * cross(at, turned)
    rate[0], rate[1], rate[2] = w[0] + more.x, w[1] + more.y, w[2] + more.z


cdef inline int chart_size(const Joint* j) noexcept nogil:
    """How many x there are: never more than nq."""
    return j.nq if chart_of(j) == IN_RATES else j.nv


cdef inline int first_sum(const Joint* j) noexcept nogil:
    """From which x on q is a sum q0 + x: where a small x loses digits that can be kept apart. Sums stand at its place in q, too, but for
    those of a floating joint, whose p is in front."""
    cdef int chart = chart_of(j)
    if chart == OF_POSES:
        return 3
    return chart_size(j) if chart == OF_ROTATIONS or chart == ON_CIRCLES else 0


cdef inline int place_of_sum(const Joint* j, int k) noexcept nogil:
    """Where in the joint's q the sum of x[k] stands; -1: in no single place."""
    if k < first_sum(j):
        return -1
    return k - 3 if chart_of(j) == OF_POSES else k


cdef inline void chart_rate(const Joint* j, const real* x, const real* q, const real* v, real* rate) noexcept nogil:
    """x', at q = q0 (+) x."""
    cdef Vec3 p
    cdef int chart = chart_of(j)
    if chart == IN_RATES:
        qdot_from_velocity(j, q, v, rate)
    elif chart == OF_ROTATIONS:
        rotation_rate(x, v, rate)
    elif chart == OF_POSES:
        rotation_rate(x, v, rate)
        p = rotate(rotation_from_quaternion(q[3], q[4], q[5], q[6]), vec3(v[3], v[4], v[5]))
        rate[3], rate[4], rate[5] = p.x, p.y, p.z
    else:
        copy(rate, v, j.nv)


cdef inline void chart_place(const Joint* j, const real* q0, const real* x, real* q) noexcept nogil:
    """q = q0 (+) x; not q0 itself."""
    cdef int k
    cdef int chart = chart_of(j)
    if chart == ON_CIRCLES:
        integrate(j, q0, x, q)
    elif chart == OF_ROTATIONS:
        copy(q, q0, 4)
        turn_quaternion(q, vec3(x[0], x[1], x[2]))
    elif chart == OF_POSES:
        copy(q, q0, 7)
        turn_quaternion(q + 3, vec3(x[0], x[1], x[2]))
        for k in range(3):
            q[k] = q0[k] + x[3 + k]
    else:
        for k in range(j.nq):
            q[k] = q0[k] + x[k]
