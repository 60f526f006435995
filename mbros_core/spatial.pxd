"""Spatial algebra: the vectors, rotations and inertias of rigid-body dynamics, and what can be done to them.

Monogram notation (docs/notation.md). Inside the engine every vector is expressed in world axes W, and every
spatial quantity of a body B is taken about the body's own origin Bo:

    Motion   (w, v)    angular and linear part of a spatial velocity V_WB or acceleration A_WB
    Force    (t, f)    torque about Bo and force, F_Bo_W
    Inertia  (m, h, I) mass, h = m p_BoBcm, rotational inertia about Bo
    ABInertia          articulated-body inertia [[I, H], [H^T, M]] about Bo: F = P A

Only shifts between origins are needed (no 6x6 rotation anywhere), and no lever arm is longer than a link, so
small links far from the world's origin keep their digits. "Shift" is Drake's word for it (SpatialVelocity::Shift).
Acceleration is the plain time derivative in W of the velocity of Bo, as in Drake, not Featherstone's spatial one.
"""
from mbros_core.scalar.real cimport less, real, select, sqrt
from mbros_core.scalar.vector cimport Vector3, cross, dot

# ---------------------------------------------------------------------------------------------------- structs

ctypedef Vector3[real] Vec3

cdef extern from "scalar/spatial.hpp" namespace "mbros" nogil:
    cdef cppclass Motion:
        Vec3 w
        Vec3 v
        Motion operator+(Motion) noexcept
        Motion operator-(Motion) noexcept
        Motion operator*(real, Motion) noexcept
        Motion operator*(double, Motion) noexcept

    cdef cppclass Force:
        Vec3 t
        Vec3 f
        Force operator+(Force) noexcept
        Force operator-(Force) noexcept
        Force operator*(real, Force) noexcept
        Force operator*(double, Force) noexcept

    Vec3 vec3 "mbros::vector3<mbros::real>"(real, real, real) noexcept
    Motion motion(const Vec3&, const Vec3&) noexcept
    Force force(const Vec3&, const Vec3&) noexcept

cdef struct Mat3:                # row-major: xy is row x, column y
    real xx
    real xy
    real xz
    real yx
    real yy
    real yz
    real zx
    real zy
    real zz

cdef struct Sym3:                # symmetric
    real xx
    real yy
    real zz
    real xy
    real xz
    real yz

cdef struct Pose:                # X_AB: p_AoQ_A = R p_BoQ_B + p
    Mat3 R
    Vec3 p

cdef struct Inertia:
    real m
    Vec3 h
    Sym3 I

cdef struct ABInertia:
    Sym3 I
    Mat3 H
    Sym3 M

# ---------------------------------------------------------------------------------------------------- vectors

cdef inline Vec3 zero3() noexcept nogil:
    return vec3(real(0.0), real(0.0), real(0.0))

# ------------------------------------------------------------------------------------------ rotations and poses

cdef inline Mat3 identity3() noexcept nogil:
    cdef Mat3 R
    R.xx = real(1.0)
    R.xy = real(0.0)
    R.xz = real(0.0)
    R.yx = real(0.0)
    R.yy = real(1.0)
    R.yz = real(0.0)
    R.zx = real(0.0)
    R.zy = real(0.0)
    R.zz = real(1.0)
    return R

cdef inline Vec3 rotate(Mat3 R, Vec3 a) noexcept nogil:
    """a_W = R_WB a_B."""
    return vec3(R.xx * a.x + R.xy * a.y + R.xz * a.z,
                R.yx * a.x + R.yy * a.y + R.yz * a.z,
                R.zx * a.x + R.zy * a.y + R.zz * a.z)

cdef inline Vec3 unrotate(Mat3 R, Vec3 a) noexcept nogil:
    """a_B = R_WB^T a_W."""
    return vec3(R.xx * a.x + R.yx * a.y + R.zx * a.z,
                R.xy * a.x + R.yy * a.y + R.zy * a.z,
                R.xz * a.x + R.yz * a.y + R.zz * a.z)

cdef inline Vec3 column_x(Mat3 R) noexcept nogil:
    return vec3(R.xx, R.yx, R.zx)

cdef inline Vec3 column_y(Mat3 R) noexcept nogil:
    return vec3(R.xy, R.yy, R.zy)

cdef inline Vec3 column_z(Mat3 R) noexcept nogil:
    return vec3(R.xz, R.yz, R.zz)

cdef inline Mat3 from_columns(Vec3 x, Vec3 y, Vec3 z) noexcept nogil:
    cdef Mat3 R
    R.xx = x.x
    R.xy = y.x
    R.xz = z.x
    R.yx = x.y
    R.yy = y.y
    R.yz = z.y
    R.zx = x.z
    R.zy = y.z
    R.zz = z.z
    return R

cdef inline Mat3 from_rows(Vec3 x, Vec3 y, Vec3 z) noexcept nogil:
    cdef Mat3 A
    A.xx, A.xy, A.xz = x.x, x.y, x.z
    A.yx, A.yy, A.yz = y.x, y.y, y.z
    A.zx, A.zy, A.zz = z.x, z.y, z.z
    return A

cdef inline Mat3 transpose(Mat3 A) noexcept nogil:
    return from_rows(column_x(A), column_y(A), column_z(A))

cdef inline Mat3 add_matrices(Mat3 A, Mat3 B) noexcept nogil:
    return from_rows(vec3(A.xx + B.xx, A.xy + B.xy, A.xz + B.xz), vec3(A.yx + B.yx, A.yy + B.yy, A.yz + B.yz),
                     vec3(A.zx + B.zx, A.zy + B.zy, A.zz + B.zz))

cdef inline Mat3 outer(Vec3 a, Vec3 b) noexcept nogil:
    """a b^T."""
    return from_rows(a.x * b, a.y * b, a.z * b)

cdef inline Mat3 compose(Mat3 A, Mat3 B) noexcept nogil:
    """R_AC = R_AB R_BC."""
    return from_columns(rotate(A, column_x(B)), rotate(A, column_y(B)), rotate(A, column_z(B)))

cdef inline Mat3 rotate_about_z(Mat3 R, real s, real c) noexcept nogil:
    """R Rz(angle), from the sine and cosine of the angle: 12 multiplications."""
    cdef Vec3 x = column_x(R)
    cdef Vec3 y = column_y(R)
    return from_columns(c * x + s * y, c * y - s * x, column_z(R))

cdef inline Mat3 rotation_from_quaternion(real w, real x, real y, real z) noexcept nogil:
    """The rotation of q / |q|; any non-zero quaternion is allowed."""
    cdef real s = 2.0 / (w * w + x * x + y * y + z * z)
    cdef Mat3 R
    R.xx = 1.0 - s * (y * y + z * z)
    R.xy = s * (x * y - w * z)
    R.xz = s * (x * z + w * y)
    R.yx = s * (x * y + w * z)
    R.yy = 1.0 - s * (x * x + z * z)
    R.yz = s * (y * z - w * x)
    R.zx = s * (x * z - w * y)
    R.zy = s * (y * z + w * x)
    R.zz = 1.0 - s * (x * x + y * y)
    return R

cdef inline void quaternion_of(Mat3 R, real* q) noexcept nogil:
    """The unit quaternion w x y z of R with w >= 0.

    The matrix 4 q q^T is linear in R; of its four columns, each a multiple of q, the one with the largest diagonal entry is
    taken (Shepperd 1978), by selection, so that no lane branches.
    """
    cdef real d[4]
    cdef real best
    cdef real c[4]
    cdef real a = R.zy - R.yz
    cdef real b = R.xz - R.zx
    cdef real e = R.yx - R.xy
    cdef real f = R.xy + R.yx
    cdef real g = R.xz + R.zx
    cdef real h = R.yz + R.zy
    d[0] = 1.0 + (R.xx + R.yy + R.zz)
    d[1] = 1.0 + (R.xx - R.yy - R.zz)
    d[2] = 1.0 + (R.yy - R.xx - R.zz)
    d[3] = 1.0 + (R.zz - R.xx - R.yy)
    c[0], c[1], c[2], c[3], best = d[0], a, b, e, d[0]
    c[0] = select(less(best, d[1]), a, c[0])
    c[1] = select(less(best, d[1]), d[1], c[1])
    c[2] = select(less(best, d[1]), f, c[2])
    c[3] = select(less(best, d[1]), g, c[3])
    best = select(less(best, d[1]), d[1], best)
    c[0] = select(less(best, d[2]), b, c[0])
    c[1] = select(less(best, d[2]), f, c[1])
    c[3] = select(less(best, d[2]), h, c[3])
    c[2] = select(less(best, d[2]), d[2], c[2])
    best = select(less(best, d[2]), d[2], best)
    c[0] = select(less(best, d[3]), e, c[0])
    c[1] = select(less(best, d[3]), g, c[1])
    c[2] = select(less(best, d[3]), h, c[2])
    c[3] = select(less(best, d[3]), d[3], c[3])
    best = select(less(best, d[3]), d[3], best)
    cdef real k = 0.5 / sqrt(best)
    k = select(less(c[0], real(0.0)), -k, k)
    q[0] = k * c[0]
    q[1] = k * c[1]
    q[2] = k * c[2]
    q[3] = k * c[3]

cdef inline Pose compose_poses(Pose X_AB, Pose X_BC) noexcept nogil:
    cdef Pose X
    X.R = compose(X_AB.R, X_BC.R)
    X.p = X_AB.p + rotate(X_AB.R, X_BC.p)
    return X

cdef inline Pose inverse_times(Pose X_WA, Pose X_WB) noexcept nogil:
    """X_AB = X_WA^-1 X_WB."""
    cdef Pose X
    X.R = from_columns(unrotate(X_WA.R, column_x(X_WB.R)), unrotate(X_WA.R, column_y(X_WB.R)),
                       unrotate(X_WA.R, column_z(X_WB.R)))
    X.p = unrotate(X_WA.R, X_WB.p - X_WA.p)
    return X

# -------------------------------------------------------------------------------------- symmetric 3x3 matrices

cdef inline Vec3 sym_mul(Sym3 S, Vec3 a) noexcept nogil:
    return vec3(S.xx * a.x + S.xy * a.y + S.xz * a.z,
                S.xy * a.x + S.yy * a.y + S.yz * a.z,
                S.xz * a.x + S.yz * a.y + S.zz * a.z)

cdef inline Sym3 sym_add(Sym3 A, Sym3 B) noexcept nogil:
    cdef Sym3 S
    S.xx = A.xx + B.xx
    S.yy = A.yy + B.yy
    S.zz = A.zz + B.zz
    S.xy = A.xy + B.xy
    S.xz = A.xz + B.xz
    S.yz = A.yz + B.yz
    return S

cdef inline Sym3 sym_subtract_outer(Sym3 A, Vec3 g, Vec3 u) noexcept nogil:
    """A - g u^T, where the caller knows g u^T to be symmetric (g parallel to u)."""
    cdef Sym3 S
    S.xx = A.xx - g.x * u.x
    S.yy = A.yy - g.y * u.y
    S.zz = A.zz - g.z * u.z
    S.xy = A.xy - g.x * u.y
    S.xz = A.xz - g.x * u.z
    S.yz = A.yz - g.y * u.z
    return S

cdef inline Sym3 rotate_sym(Mat3 R, Sym3 S) noexcept nogil:
    """R S R^T: a rotational inertia re-expressed."""
    cdef Vec3 x = rotate(R, vec3(S.xx, S.xy, S.xz))
    cdef Vec3 y = rotate(R, vec3(S.xy, S.yy, S.yz))
    cdef Vec3 z = rotate(R, vec3(S.xz, S.yz, S.zz))
    cdef Sym3 T
    T.xx = x.x * R.xx + y.x * R.xy + z.x * R.xz
    T.yy = x.y * R.yx + y.y * R.yy + z.y * R.yz
    T.zz = x.z * R.zx + y.z * R.zy + z.z * R.zz
    T.xy = x.x * R.yx + y.x * R.yy + z.x * R.yz
    T.xz = x.x * R.zx + y.x * R.zy + z.x * R.zz
    T.yz = x.y * R.zx + y.y * R.zy + z.y * R.zz
    return T

# -------------------------------------------------------------------------------------------- motion and force

cdef inline Motion zero_motion() noexcept nogil:
    return motion(zero3(), zero3())

cdef inline Force zero_force() noexcept nogil:
    return force(zero3(), zero3())

cdef inline Motion cross_motion(Motion V, Motion A) noexcept nogil:
    """V x A: what A changes by while it moves with V."""
    return motion(cross(V.w, A.w), cross(V.w, A.v) + cross(V.v, A.w))

cdef inline real power(Motion V, Force F) noexcept nogil:
    """V . F, both about the same point."""
    return dot(V.w, F.t) + dot(V.v, F.f)

cdef inline real column_power(Motion S, Force F, int pure) noexcept nogil:
    """S . F, with half the work where the column is a pure rotation (pure = 1) or a pure translation (2)."""
    if pure == 1:
        return dot(S.w, F.t)
    if pure == 2:
        return dot(S.v, F.f)
    return power(S, F)

cdef inline Motion shift_motion(Motion V, Vec3 p) noexcept nogil:
    """The velocity (or the motion-subspace column) of the point at p from where V is taken, same body."""
    return motion(V.w, V.v + cross(V.w, p))

cdef inline Force shift_force(Force F, Vec3 p_PB) noexcept nogil:
    """The force about Bo, taken about Po instead; p_PB is from Po to Bo."""
    return force(F.t + cross(p_PB, F.f), F.f)

# ------------------------------------------------------------------------------------------------------ inertia

cdef inline Inertia rotate_inertia(Mat3 R, Inertia M) noexcept nogil:
    """M_BBo_W from M_BBo_B."""
    cdef Inertia r
    r.m = M.m
    r.h = rotate(R, M.h)
    r.I = rotate_sym(R, M.I)
    return r

cdef inline Inertia add_inertia(Inertia A, Inertia B) noexcept nogil:
    cdef Inertia r
    r.m = A.m + B.m
    r.h = A.h + B.h
    r.I = sym_add(A.I, B.I)
    return r

cdef inline Inertia shift_inertia(Inertia M, Vec3 p) noexcept nogil:
    """The inertia about Bo, taken about Po instead; p is from Po to Bo.

    I_P = I_B + (2 p.h + m p.p) 1 - (p h^T + h p^T) - m p p^T, the parallel-axis theorem with h = m c.
    """
    cdef Inertia r
    cdef Vec3 a = M.h + M.m * p             # h about Po
    cdef real d = dot(p, a) + dot(p, M.h)
    r.m = M.m
    r.h = a
    r.I.xx = M.I.xx + d - (p.x * a.x + M.h.x * p.x)
    r.I.yy = M.I.yy + d - (p.y * a.y + M.h.y * p.y)
    r.I.zz = M.I.zz + d - (p.z * a.z + M.h.z * p.z)
    r.I.xy = M.I.xy - (p.x * a.y + M.h.x * p.y)
    r.I.xz = M.I.xz - (p.x * a.z + M.h.x * p.z)
    r.I.yz = M.I.yz - (p.y * a.z + M.h.y * p.z)
    return r

cdef inline Force inertia_times(Inertia M, Motion A) noexcept nogil:
    """M A = [I w + h x v; m v + w x h]."""
    return force(sym_mul(M.I, A.w) + cross(M.h, A.v), M.m * A.v + cross(A.w, M.h))

cdef inline Force gyroscopic(Inertia M, Vec3 w) noexcept nogil:
    """What the rotation alone asks of the force on B: [w x I w; w x (w x h)] about Bo."""
    return force(cross(w, sym_mul(M.I, w)), cross(w, cross(w, M.h)))

# -------------------------------------------------------------------------------------- articulated-body inertia

cdef inline ABInertia articulated(Inertia M) noexcept nogil:
    """A rigid body as an articulated body: H = [h]x, M = m 1."""
    cdef ABInertia P
    P.I = M.I
    P.H.xx = real(0.0)
    P.H.xy = -M.h.z
    P.H.xz = M.h.y
    P.H.yx = M.h.z
    P.H.yy = real(0.0)
    P.H.yz = -M.h.x
    P.H.zx = -M.h.y
    P.H.zy = M.h.x
    P.H.zz = real(0.0)
    P.M.xx = M.m
    P.M.yy = M.m
    P.M.zz = M.m
    P.M.xy = real(0.0)
    P.M.xz = real(0.0)
    P.M.yz = real(0.0)
    return P

cdef inline ABInertia add_articulated(ABInertia A, ABInertia B) noexcept nogil:
    cdef ABInertia P
    P.I = sym_add(A.I, B.I)
    P.H.xx = A.H.xx + B.H.xx
    P.H.xy = A.H.xy + B.H.xy
    P.H.xz = A.H.xz + B.H.xz
    P.H.yx = A.H.yx + B.H.yx
    P.H.yy = A.H.yy + B.H.yy
    P.H.yz = A.H.yz + B.H.yz
    P.H.zx = A.H.zx + B.H.zx
    P.H.zy = A.H.zy + B.H.zy
    P.H.zz = A.H.zz + B.H.zz
    P.M = sym_add(A.M, B.M)
    return P

cdef inline Force articulated_times(ABInertia P, Motion A) noexcept nogil:
    """F = P A = [I w + H v; H^T w + M v]."""
    return force(sym_mul(P.I, A.w) + rotate(P.H, A.v), unrotate(P.H, A.w) + sym_mul(P.M, A.v))

cdef inline Force articulated_times_column(ABInertia P, Motion S, int pure) noexcept nogil:
    """U = P S, with half the work where the column is a pure rotation (pure = 1) or a pure translation (2)."""
    if pure == 1:
        return force(sym_mul(P.I, S.w), unrotate(P.H, S.w))
    if pure == 2:
        return force(rotate(P.H, S.v), sym_mul(P.M, S.v))
    return articulated_times(P, S)

cdef inline ABInertia subtract_outer(ABInertia P, Force g, Force U) noexcept nogil:
    """P - g U^T, where g U^T is symmetric: what a free joint takes away from the inertia felt through it."""
    cdef ABInertia r
    r.I = sym_subtract_outer(P.I, g.t, U.t)
    r.H.xx = P.H.xx - g.t.x * U.f.x
    r.H.xy = P.H.xy - g.t.x * U.f.y
    r.H.xz = P.H.xz - g.t.x * U.f.z
    r.H.yx = P.H.yx - g.t.y * U.f.x
    r.H.yy = P.H.yy - g.t.y * U.f.y
    r.H.yz = P.H.yz - g.t.y * U.f.z
    r.H.zx = P.H.zx - g.t.z * U.f.x
    r.H.zy = P.H.zy - g.t.z * U.f.y
    r.H.zz = P.H.zz - g.t.z * U.f.z
    r.M = sym_subtract_outer(P.M, g.f, U.f)
    return r

cdef inline ABInertia shift_articulated(ABInertia P, Vec3 p) noexcept nogil:
    """P about Bo taken about Po instead; p from Po to Bo.

    H' = H + [p] M,  I' = I - H [p] + [p] H'^T  (the congruence with the shift, block by block).
    """
    cdef ABInertia r
    cdef Vec3 x = cross(p, vec3(P.M.xx, P.M.xy, P.M.xz))      # columns of [p] M
    cdef Vec3 y = cross(p, vec3(P.M.xy, P.M.yy, P.M.yz))
    cdef Vec3 z = cross(p, vec3(P.M.xz, P.M.yz, P.M.zz))
    r.M = P.M
    r.H.xx = P.H.xx + x.x
    r.H.xy = P.H.xy + y.x
    r.H.xz = P.H.xz + z.x
    r.H.yx = P.H.yx + x.y
    r.H.yy = P.H.yy + y.y
    r.H.yz = P.H.yz + z.y
    r.H.zx = P.H.zx + x.z
    r.H.zy = P.H.zy + y.z
    r.H.zz = P.H.zz + z.z
    # ([p] H'^T)_ij = (p x row_j of H')_i and (H [p])_ij = (row_i of H x p)_j
    r.I.xx = P.I.xx + (p.y * r.H.xz - p.z * r.H.xy) - (P.H.xy * p.z - P.H.xz * p.y)
    r.I.yy = P.I.yy + (p.z * r.H.yx - p.x * r.H.yz) - (P.H.yz * p.x - P.H.yx * p.z)
    r.I.zz = P.I.zz + (p.x * r.H.zy - p.y * r.H.zx) - (P.H.zx * p.y - P.H.zy * p.x)
    r.I.xy = P.I.xy + (p.y * r.H.yz - p.z * r.H.yy) - (P.H.xz * p.x - P.H.xx * p.z)
    r.I.xz = P.I.xz + (p.y * r.H.zz - p.z * r.H.zy) - (P.H.xx * p.y - P.H.xy * p.x)
    r.I.yz = P.I.yz + (p.z * r.H.zx - p.x * r.H.zz) - (P.H.yx * p.y - P.H.yy * p.x)
    return r
