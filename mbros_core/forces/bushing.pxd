"""Linear bushing on roll, pitch, yaw (Drake's LinearBushingRollPitchYaw), its energy-consistent law, and one on the
quaternion.

Between A and C, with q = (roll, pitch, yaw) of R_AC, qdot = N w_AC, frame B half-way (its rotation R_AB the axis of R_AC
and half its angle, its origin midway), and [x y z] = p_AoCo in B:

    tau_i = -(k_i q_i + d_i qdot_i),  t = N^T tau        torque on C, in A
    f_j   = -(kx_j x_j + dx_j xdot_j)                    force on C, in B

Drake's law             xdot = R_AB^T (v - w_AC/2 x p); moment on C about Co: t - p/2 x f  (f acts at the midpoint)
energy-consistent law   xdot = R_AB^T (v - w_AB x p),  w_AB = (1 + R_AB)^-1 w_AC exactly; moment: t - (1 + R_AB)^-T (p x f)

In the second the spring's power is the derivative of 1/2 sum k q^2 + 1/2 sum kx x^2; in the first only for equal kx or a
fixed axis. With t = tan(half of B's angle) n, the vector part of B's quaternion over its scalar part,
(1 + R_AB)^-1 = 1/2 (1 - [t]) (Cayley).

quaternion law          q = 2 eps of R_AC's unit quaternion (eta, eps): the same small angles, qdot = (eta - [eps]) w_AC, and the
                        energy-consistent displacement. No singularity: the torque of an axis grows with sin(angle)

Within 0.008 of cos(pitch) = 0 (gimbal lock) the
wrench of the first two is NaN, which the callers turn into an error that names the element.
"""
from mbros_core.scalar.real cimport NAN, atan2, fabs, less, real, select, sqrt
from mbros_core.forces.element cimport ForceOut, Relative, Springs
from mbros_core.spatial cimport (Mat3, Vec3, column_x, column_y, column_z, cross, dot, force, motion, quaternion_of, rotate,
                                 rotation_from_quaternion, unrotate, vec3, zero3)

cdef enum BushingLaw:
    DRAKE_LAW
    ENERGY_CONSISTENT_LAW
    QUATERNION_LAW

cdef enum:
    GIMBAL_PER_MILLE = 8         # Drake's tolerance on |cos(pitch)|, 0.4584 degrees from lock


cdef struct BushingNumbers:
    Vec3 torque_stiffness        # k, N m/rad
    Vec3 torque_damping          # d, N m s/rad
    Vec3 force_stiffness         # kx, N/m
    Vec3 force_damping           # dx, N s/m


cdef inline void bushing_pair(const BushingNumbers* par, const Relative* r, BushingLaw law, ForceOut* out) noexcept nogil:
    cdef real e[4]
    cdef Vec3 t
    quaternion_of(r.X.R, e)
    if law == QUATERNION_LAW:
        t = torque_of_quaternion(par, e, r.V.w, out)
    else:
        t = torque_of_angles(par, &r.X.R, r.V.w, out)
    add_displacement(par, r, e, law != DRAKE_LAW, t, out)


cdef inline Vec3 torque_of_angles(const BushingNumbers* par, const Mat3* R, Vec3 w, ForceOut* out) noexcept nogil:
    """t on C in A from roll, pitch, yaw; energy and powers into `out`."""
    # angles, and sines and cosines straight from the matrix
    cdef real s1 = -R.zx
    cdef real c1 = sqrt(R.xx * R.xx + R.yx * R.yx)
    cdef real locked = select(less(c1, real(GIMBAL_PER_MILLE / 1000.0)), real(NAN), real(0.0))
    cdef real per_c1 = 1.0 / c1
    cdef real s2 = R.yx * per_c1
    cdef real c2 = R.xx * per_c1
    cdef real t1 = s1 * per_c1
    cdef Vec3 q = vec3(atan2(R.zy, R.zz), atan2(s1, c1), atan2(R.yx, R.xx))
    # rates qdot = N w and torque t = N^T tau
    cdef real a = c2 * w.x + s2 * w.y
    cdef Vec3 qdot = vec3(a * per_c1, c2 * w.y - s2 * w.x, w.z + t1 * a)
    cdef Vec3 tau = springs(par, q, qdot, out)
    cdef real b = tau.x * per_c1 + t1 * tau.z
    out.energy = out.energy + locked
    out.conservative = out.conservative + locked
    out.nonconservative = out.nonconservative + locked
    return vec3(c2 * b - s2 * tau.y, s2 * b + c2 * tau.y, tau.z + locked)


cdef inline Vec3 torque_of_quaternion(const BushingNumbers* par, const real* e, Vec3 w, ForceOut* out) noexcept nogil:
    """t on C in A from q = 2 eps, which both signs of the quaternion agree on; energy and powers into `out`."""
    cdef Vec3 eps = vec3(e[1], e[2], e[3])
    cdef Vec3 qdot = e[0] * w + cross(w, eps)
    cdef Vec3 tau = springs(par, 2.0 * eps, qdot, out)
    return e[0] * tau + cross(eps, tau)


cdef inline Vec3 springs(const BushingNumbers* par, Vec3 q, Vec3 qdot, ForceOut* out) noexcept nogil:
    """tau_i = -(k_i q_i + d_i qdot_i); energy and powers are written to `out`."""
    cdef Vec3 spring = vec3(par.torque_stiffness.x * q.x, par.torque_stiffness.y * q.y, par.torque_stiffness.z * q.z)
    cdef Vec3 damper = vec3(par.torque_damping.x * qdot.x, par.torque_damping.y * qdot.y, par.torque_damping.z * qdot.z)
    out.energy = 0.5 * dot(spring, q)
    out.conservative = -dot(spring, qdot)
    out.nonconservative = -dot(damper, qdot)
    return -(spring + damper)


cdef inline void add_displacement(const BushingNumbers* par, const Relative* r, real* e, bint exact, Vec3 t, ForceOut* out) noexcept nogil:
    """The wrench of t and of the springs along the half-way frame's axes. e: quaternion of R_AC, overwritten; exact: w_AB."""
    cdef Vec3 p = r.X.p
    cdef Vec3 w = r.V.w
    e[0] = 1.0 + e[0]
    cdef Mat3 R_AB = rotation_from_quaternion(e[0], e[1], e[2], e[3])
    cdef Vec3 half = (1.0 / e[0]) * vec3(e[1], e[2], e[3])
    cdef Vec3 w_AB = 0.5 * w
    if exact:
        w_AB = w_AB - 0.5 * cross(half, w)
    cdef Vec3 x = unrotate(R_AB, p)
    cdef Vec3 xdot = unrotate(R_AB, r.V.v - cross(w_AB, p))
    cdef Vec3 pull = vec3(par.force_stiffness.x * x.x, par.force_stiffness.y * x.y, par.force_stiffness.z * x.z)
    cdef Vec3 drag = vec3(par.force_damping.x * xdot.x, par.force_damping.y * xdot.y, par.force_damping.z * xdot.z)
    cdef Vec3 f = rotate(R_AB, -(pull + drag))
    cdef Vec3 moment = 0.5 * cross(p, f)
    if exact:
        moment = moment + cross(half, moment)
    out.F = force(t - moment, f)
    out.energy = out.energy + 0.5 * dot(pull, x)
    out.conservative = out.conservative - dot(pull, xdot)
    out.nonconservative = out.nonconservative - dot(drag, xdot)


cdef inline void bushing_springs(const BushingNumbers* par, const Relative* r, BushingLaw law, Springs* out) noexcept nogil:
    """Three springs on the angles and three along the half-way frame's axes."""
    cdef real e[4]
    cdef Mat3 R_AB
    cdef Vec3 half
    quaternion_of(r.X.R, e)
    if law == QUATERNION_LAW:
        springs_on_quaternion(e, out)
    else:
        springs_on_angles(&r.X.R, out)
    e[0] = 1.0 + e[0]
    R_AB = rotation_from_quaternion(e[0], e[1], e[2], e[3])
    half = (1.0 / e[0]) * vec3(e[1], e[2], e[3]) if law != DRAKE_LAW else zero3()
    spring_along(column_x(R_AB), r.X.p, half, out, 3)
    spring_along(column_y(R_AB), r.X.p, half, out, 4)
    spring_along(column_z(R_AB), r.X.p, half, out, 5)
    out.n = 6
    out.k[0], out.k[1], out.k[2] = par.torque_stiffness.x, par.torque_stiffness.y, par.torque_stiffness.z
    out.d[0], out.d[1], out.d[2] = par.torque_damping.x, par.torque_damping.y, par.torque_damping.z
    out.k[3], out.k[4], out.k[5] = par.force_stiffness.x, par.force_stiffness.y, par.force_stiffness.z
    out.d[3], out.d[4], out.d[5] = par.force_damping.x, par.force_damping.y, par.force_damping.z


cdef inline void springs_on_angles(const Mat3* R, Springs* out) noexcept nogil:
    """Roll, pitch and yaw, and the rows of N."""
    cdef real s1 = -R.zx
    cdef real c1 = sqrt(R.xx * R.xx + R.yx * R.yx)
    cdef real c2 = R.xx / c1
    cdef real s2 = R.yx / c1
    out.x[0], out.x[1], out.x[2] = atan2(R.zy, R.zz), atan2(s1, c1), atan2(R.yx, R.xx)
    out.axis[0] = motion(vec3(c2 / c1, s2 / c1, real(0.0)), zero3())
    out.axis[1] = motion(vec3(-s2, c2, real(0.0)), zero3())
    out.axis[2] = motion(vec3(c2 * s1 / c1, s2 * s1 / c1, real(1.0)), zero3())


cdef inline void springs_on_quaternion(const real* e, Springs* out) noexcept nogil:
    """2 eps, and the rows of eta - [eps]."""
    out.x[0], out.x[1], out.x[2] = 2.0 * e[1], 2.0 * e[2], 2.0 * e[3]
    out.axis[0] = motion(vec3(e[0], e[3], -e[2]), zero3())
    out.axis[1] = motion(vec3(-e[3], e[0], e[1]), zero3())
    out.axis[2] = motion(vec3(e[2], -e[1], e[0]), zero3())


cdef inline void spring_along(Vec3 b, Vec3 p, Vec3 half, Springs* out, int i) noexcept nogil:
    """x = b . p, whose rate is b . (v - w_AB x p), w_AB = 1/2 (w - half x w)."""
    cdef Vec3 arm = cross(p, b)
    out.x[i] = dot(b, p)
    out.axis[i] = motion(-0.5 * (arm + cross(half, arm)), b)
