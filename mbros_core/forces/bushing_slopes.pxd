"""How the wrench of a bushing changes with what C does relative to A, in the terms of bushing.pxd. A turn theta of C in A axes and a step u
of Co change, with N of the angles (or eta - [eps]), R = R_AB, rho = half, y = v - w_AB x p and the stiffness and damping k, d of turning,

    d(N w) = A theta,  d(N^T tau) = B theta (at the same w and tau),    dt = (B - N^T (k N + d A)) theta - N^T d N dw             (1)

and K = R kx R^T, D = R dx R^T of moving,

    omega = 1/2 (theta - rho x theta),   drho = 1/2 (omega + omega x rho + (rho . omega) rho)                                  (2)
    df = omega x f - K (u - omega x p) - D (dy - omega x y),   dy = dv - dw_AB x p - w_AB x u                                  (3)

omega is the turn of B, in both laws. The moment of f is 1/2 (1 + [rho]) (p x f), whose second part Drake's law does not have.
"""
from mbros_core.scalar.pack cimport PACK, pack, spread
from mbros_core.scalar.pack3 cimport Vec3s, alike, load3, save3, times3
from mbros_core.scalar.real cimport atan2, real, sqrt
from mbros_core.forces.bushing cimport BushingLaw, BushingNumbers, DRAKE_LAW, QUATERNION_LAW
from mbros_core.forces.element cimport (ALONG_MOVE, ALONG_TURN, ALONG_V, ALONG_W, BY_Q_F, BY_Q_T, BY_V_F, BY_V_T, ROWS_ALONG, Relative)
from mbros_core.spatial cimport (Mat3, Vec3, add_matrices, column_x, column_y, column_z, compose, cross, dot, from_columns, from_rows,
                                 outer, quaternion_of, rotate, rotation_from_quaternion, transpose, vec3, zero3)


cdef inline Mat3 weighted(Vec3 k, Mat3 A) noexcept nogil:
    """-diag(k) A."""
    cdef Mat3 B
    B.xx, B.xy, B.xz = -(k.x * A.xx), -(k.x * A.xy), -(k.x * A.xz)
    B.yx, B.yy, B.yz = -(k.y * A.yx), -(k.y * A.yy), -(k.y * A.yz)
    B.zx, B.zy, B.zz = -(k.z * A.zx), -(k.z * A.zy), -(k.z * A.zz)
    return B


cdef inline Vec3 efforts(const BushingNumbers* par, Vec3 x, Vec3 rate) noexcept nogil:
    """-(k x + d rate) of three axes."""
    cdef Vec3 k = par.torque_stiffness, d = par.torque_damping
    return vec3(-(k.x * x.x + d.x * rate.x), -(k.y * x.y + d.y * rate.y), -(k.z * x.z + d.z * rate.z))


cdef inline void turn_angles(const BushingNumbers* par, const Relative* r, Mat3* N, Mat3* A, Mat3* B) noexcept nogil:
    """N, A and B of (1) on roll, pitch and yaw. N changes with the last two of them."""
    cdef const Mat3* R = &r.X.R
    cdef real s1 = -R.zx
    cdef real c1 = sqrt(R.xx * R.xx + R.yx * R.yx)
    cdef real per_c1 = 1.0 / c1
    cdef real s2 = R.yx * per_c1
    cdef real c2 = R.xx * per_c1
    cdef real t1 = s1 * per_c1
    cdef Vec3 x = vec3(c2 * per_c1, s2 * per_c1, real(0.0))             # rows of N
    cdef Vec3 y = vec3(-s2, c2, real(0.0))
    cdef Vec3 z = vec3(c2 * t1, s2 * t1, real(1.0))
    cdef Vec3 x_pitch = t1 * x, z_pitch = per_c1 * x                      # and how they change
    cdef Vec3 x_yaw = per_c1 * y, y_yaw = vec3(-c2, -s2, real(0.0)), z_yaw = t1 * y
    cdef Vec3 w = r.V.w, tau
    N[0] = from_rows(x, y, z)
    tau = efforts(par, vec3(atan2(R.zy, R.zz), atan2(s1, c1), atan2(R.yx, R.xx)), rotate(N[0], w))
    A[0] = add_matrices(outer(rotate(from_rows(x_pitch, zero3(), z_pitch), w), y),
                  outer(rotate(from_rows(x_yaw, y_yaw, z_yaw), w), z))
    B[0] = add_matrices(outer(tau.x * x_pitch + tau.z * z_pitch, y),
                  outer(tau.x * x_yaw + (tau.y * y_yaw + tau.z * z_yaw), z))


cdef inline Mat3 turned_by(Vec3 a, Vec3 eps, Mat3 N, real sign) noexcept nogil:
    """Of theta: deta a + sign a x deps, with deta = -1/2 eps . theta and deps = 1/2 N theta."""
    cdef Vec3 b = 0.5 * sign * a
    return add_matrices(outer(-0.5 * a, eps), from_columns(cross(b, column_x(N)), cross(b, column_y(N)), cross(b, column_z(N))))


cdef inline void turn_quaternion(const BushingNumbers* par, const real* e, Vec3 w, Mat3* N, Mat3* A, Mat3* B) noexcept nogil:
    """N, A and B of (1) on the quaternion: N = eta - [eps]."""
    cdef Vec3 eps = vec3(e[1], e[2], e[3])
    cdef Vec3 tau
    N[0] = from_columns(vec3(e[0], -e[3], e[2]), vec3(e[3], e[0], -e[1]), vec3(-e[2], e[1], e[0]))
    tau = efforts(par, 2.0 * eps, rotate(N[0], w))
    A[0] = turned_by(w, eps, N[0], real(1.0))
    B[0] = turned_by(tau, eps, N[0], real(-1.0))


cdef inline void turning_slopes(const BushingNumbers* par, Mat3 N, Mat3 A, Mat3 B, real* along, int blocks) noexcept nogil:
    """(1)."""
    cdef Mat3 T = transpose(N)
    cdef Mat3 damping = compose(T, weighted(par.torque_damping, N))
    cdef Mat3 stiffness = add_matrices(B, compose(T, add_matrices(weighted(par.torque_stiffness, N), weighted(par.torque_damping, A))))
    cdef Vec3s turn
    cdef real* at
    cdef int k
    for k in range(blocks):
        at = along + k * (ROWS_ALONG * PACK)
        turn = load3(at, ALONG_TURN)
        save3(at, BY_Q_T, times3(stiffness, turn) + times3(damping, load3(at, ALONG_W)))
        save3(at, BY_V_T, times3(damping, turn))


cdef inline Vec3s halved(Vec3s a, Vec3s rho, bint exact) noexcept nogil:
    """1/2 a, less 1/2 rho x a: what of a turn or rate of C is B's."""
    return spread(real(0.5)) * (a - cross(rho, a) if exact else a)


cdef inline Vec3s moment(Vec3s p_x_f, Vec3s rho, bint exact) noexcept nogil:
    """1/2 (1 + [rho]) (p x f)."""
    return spread(real(0.5)) * (p_x_f + cross(rho, p_x_f) if exact else p_x_f)


cdef inline void moving_slopes(const BushingNumbers* par, const Relative* r, real* e, bint exact, real* along, int blocks) noexcept nogil:
    """(2) and (3), and the moment of f. e: quaternion of R_AC, overwritten."""
    cdef real one_more = 1.0 + e[0]
    cdef Mat3 R = rotation_from_quaternion(one_more, e[1], e[2], e[3])
    cdef Mat3 K = compose(R, weighted(par.force_stiffness, transpose(R)))           # of (3), negative
    cdef Mat3 D = compose(R, weighted(par.force_damping, transpose(R)))
    cdef Vec3 half = (1.0 / one_more) * vec3(e[1], e[2], e[3])
    cdef Vec3 w_AB = 0.5 * (r.V.w - cross(half, r.V.w) if exact else r.V.w)
    cdef Vec3 away = r.V.v - cross(w_AB, r.X.p)
    cdef Vec3 pull = rotate(K, r.X.p) + rotate(D, away)
    cdef Vec3s p = alike(r.X.p), w = alike(r.V.w), w_B = alike(w_AB), y = alike(away), f = alike(pull), rho = alike(half)
    cdef Vec3s p_x_f = alike(cross(r.X.p, pull)), turn, move, omega, drho, dw, dy, df, t
    cdef pack minus_half = spread(real(-0.5))
    cdef real* at
    cdef int k
    for k in range(blocks):
        at = along + k * (ROWS_ALONG * PACK)
        turn, move = load3(at, ALONG_TURN), load3(at, ALONG_MOVE)
        omega = halved(turn, rho, True)
        drho = spread(real(0.5)) * (omega + (cross(omega, rho) + dot(rho, omega) * rho))
        dw = halved(load3(at, ALONG_W), rho, exact)
        if exact:
            dw = dw + minus_half * cross(drho, w)
        dy = load3(at, ALONG_V) - (cross(dw, p) + cross(w_B, move))
        df = cross(omega, f) + (times3(K, move - cross(omega, p)) + times3(D, dy - cross(omega, y)))
        t = moment(cross(move, f) + cross(p, df), rho, exact)
        if exact:
            t = t - minus_half * cross(drho, p_x_f)
        save3(at, BY_Q_T, load3(at, BY_Q_T) - t)
        save3(at, BY_Q_F, df)
        df = times3(D, move - cross(halved(turn, rho, exact), p))
        save3(at, BY_V_T, load3(at, BY_V_T) - moment(cross(p, df), rho, exact))
        save3(at, BY_V_F, df)


cdef inline void bushing_slopes(const BushingNumbers* par, const Relative* r, BushingLaw law, real* along, int blocks) noexcept nogil:
    cdef real e[4]
    cdef Mat3 N, A, B
    quaternion_of(r.X.R, e)
    if law == QUATERNION_LAW:
        turn_quaternion(par, e, r.V.w, &N, &A, &B)
    else:
        turn_angles(par, r, &N, &A, &B)
    turning_slopes(par, N, A, B, along, blocks)
    moving_slopes(par, r, e, law != DRAKE_LAW, along, blocks)
