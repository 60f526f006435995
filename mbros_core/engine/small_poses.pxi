# Rotations, poses and spatial vectors, one at a time. Included by _small.pyx.

# -------------------------------------------------------------------------------------------------- vectors, rotations

cdef inline void cross(const double* a, const double* b, double* out) noexcept nogil:
    cdef double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0]
    out[0], out[1], out[2] = x, y, z


cdef inline double dot(const double* a, const double* b) noexcept nogil:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline void times(const double* R, const double* x, bint back, double* out) noexcept nogil:
    """R x, or R^T x."""
    cdef int i, s = 1 if back else 3, t = 3 if back else 1
    for i in range(3):
        out[i] = R[s * i] * x[0] + R[s * i + t] * x[1] + R[s * i + 2 * t] * x[2]


cdef inline void product(const double* a, const double* b, double* out) noexcept nogil:
    """The matrix a b."""
    cdef int i, j
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]


cdef bint is_rotation_of(const double* R) noexcept nogil:
    cdef int i, j
    cdef double c[3]
    for i in range(3):
        for j in range(i + 1):
            if not fabs(dot(R + 3 * i, R + 3 * j) - (i == j)) <= ROTATION:
                return False
    cross(R + 3, R + 6, c)
    return dot(R, c) > 0.0


def is_rotation(given, /):
    """Whether it is a plain array (3, 3) of finite numbers that is a rotation."""
    cdef double R[9]
    return read3x3(given, R) and is_rotation_of(R)


def rotation(given, /):
    """A copy of a plain array (3, 3) that is a rotation; None of anything else."""
    cdef double R[9]
    return array3x3(R) if read3x3(given, R) and is_rotation_of(R) else None


cdef void matrix(const double* q, double s, double* R) noexcept nogil:
    """R of a quaternion w x y z, s = 2 / |q|^2."""
    cdef double w = q[0], x = q[1], y = q[2], z = q[3]
    R[0], R[1], R[2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    R[3], R[4], R[5] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    R[6], R[7], R[8] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)


def rotation_of_quaternion(given, bint w_last, /):
    """R (3, 3) of a quaternion of length 1 to 1e-6, plain numbers w x y z, or with w last; None of anything else."""
    cdef double q[4]
    cdef double x[4]
    cdef double R[9]
    cdef double n
    cdef int i
    if not read(given, q, 4):
        return None
    n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if not fabs(n - 1.0) < 1e-6:
        return None
    for i in range(4):
        x[i] = q[(i + 3) % 4 if w_last else i] / n
    matrix(x, 2.0, R)
    return array3x3(R)


def rotation_of_rpy(given, /):
    """R (3, 3) = Rz(yaw) Ry(pitch) Rx(roll) of plain numbers (roll, pitch, yaw), rad; None of anything else."""
    cdef double rpy[3]
    cdef double R[9]
    cdef double cr, sr, cp, sp, cy, sy
    if not read(given, rpy, 3) or not all_finite(rpy, 3):
        return None
    cr, sr, cp, sp, cy, sy = cos(rpy[0]), sin(rpy[0]), cos(rpy[1]), sin(rpy[1]), cos(rpy[2]), sin(rpy[2])
    R[0], R[1], R[2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    R[3], R[4], R[5] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    R[6], R[7], R[8] = -sp, cp * sr, cp * cr
    return array3x3(R)


def quaternion(given, bint w_last, /):
    """The unit quaternion w x y z with w >= 0, or with w last, of a plain array (3, 3) that is a rotation, from its largest component
    (Shepperd 1978); None of what is no such array."""
    cdef double R[9]
    cdef double t[4]
    cdef double q[4]
    cdef double s
    cdef int i, k = 0
    cdef cnp.ndarray out
    if not read3x3(given, R):
        return None
    t[0], t[1], t[2], t[3] = (1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8])
    for i in range(1, 4):
        if t[i] > t[k]:
            k = i
    q[0], q[1], q[2], q[3] = R[7] - R[5], R[2] - R[6], R[3] - R[1], 0.0        # of w
    if k == 0:
        q[1], q[2], q[3] = q[0], q[1], q[2]
    elif k == 1:
        q[2], q[3] = R[1] + R[3], R[2] + R[6]
    elif k == 2:
        q[0], q[1], q[3] = q[1], R[1] + R[3], R[5] + R[7]
    else:
        q[0], q[1], q[2] = q[2], R[2] + R[6], R[5] + R[7]
    q[k] = t[k]
    s = 0.5 / sqrt(t[k])
    if q[0] < 0.0:
        s = -s
    out = new(1, 4, 0)
    for i in range(4):
        data_of(out)[(i + 3) % 4 if w_last else i] = s * q[i]
    return out


# ------------------------------------------------------------------------------------------------------ poses, vectors

cdef object unfit():
    return ValueError("expected float64 arrays: R (3, 3), spatial vectors (6,), vectors (3,)")


def composed(R, p, S, r, /):
    """(R S, R r + p): the pose X_AC of X_AB (R, p) and X_BC (S, r)."""
    cdef double a[9]
    cdef double b[9]
    cdef double c[9]
    cdef double x[3]
    cdef double y[3]
    cdef double z[3]
    cdef int i
    if not (read3x3(R, a) and read3x3(S, b) and read(p, x, 3) and read(r, y, 3)):
        return R @ S, R @ r + p
    product(a, b, c)
    times(a, y, False, z)
    for i in range(3):
        z[i] += x[i]
    return array3x3(c), array3(z)


def conjugated(A, X, /):
    """(A R A^T, A p): a pose as a row X (12,), R and p, with both its frames turned by A."""
    cdef double a[9]
    cdef double b[9]
    cdef double x[12]
    cdef double y[3]
    cdef int i, j
    if not (read3x3(A, a) and read(X, x, 12)):
        raise unfit()
    product(a, x, b)
    times(a, x + 9, False, y)
    for i in range(3):
        for j in range(3):
            x[3 * i + j] = a[3 * j + i]
    product(b, x, a)
    return array3x3(a), array3(y)


def inverted(R, p, /):
    """(R^T, -R^T p): the pose X_BA of X_AB (R, p)."""
    cdef double a[9]
    cdef double x[3]
    cdef double y[3]
    cdef int i
    cdef cnp.ndarray out
    if not (read3x3(R, a) and read(p, x, 3)):
        return R.T, -R.T @ p
    times(a, x, True, y)
    for i in range(3):
        y[i] = -y[i]
    out = new(2, 3, 3)
    for i in range(9):
        data_of(out)[i] = a[3 * (i % 3) + i // 3]
    return out, array3(y)


def point_in(R, p, given, /):
    """R x + p of one point, three plain numbers; None of anything else."""
    cdef double a[9]
    cdef double x[3]
    cdef double y[3]
    cdef double z[3]
    cdef int i
    if not (read(given, x, 3) and read3x3(R, a) and read(p, y, 3)):
        return None
    times(a, x, False, z)
    for i in range(3):
        z[i] += y[i]
    return array3(z)


def turned(R, V, /):
    """[R w; R v] of six numbers [w; v]."""
    cdef double a[9]
    cdef double x[6]
    cdef cnp.ndarray out = new(1, 6, 0)
    if not (read3x3(R, a) and read(V, x, 6)):
        raise unfit()
    times(a, x, False, data_of(out))
    times(a, x + 3, False, data_of(out) + 3)
    return out


def arm(X_WA, X_WB, R, /):
    """R^T (Bo - Ao) (3,) of two poses as rows of 12 numbers and R (3, 3); R None: of world axes."""
    cdef double p[3]
    cdef double a[9]
    cdef const double* x = constants_of(X_WA, 1)
    cdef const double* y = constants_of(X_WB, 1)
    cdef int i
    cdef cnp.ndarray out = new(1, 3, 0)
    for i in range(3):
        p[i] = y[9 + i] - x[9 + i]
    if R is None:
        copy(data_of(out), p, 3)
    elif read3x3(R, a):
        times(a, p, True, data_of(out))
    else:
        raise unfit()
    return out


def shifted(V, p, bint force, w, /):
    """Six numbers about a point that is p away: [w; v + w x p] of a motion, [t - p x f; f] of a force; with an angular velocity w of an
    acceleration, [a; b + a x p + w x (w x p)]."""
    cdef double x[6]
    cdef double r[3]
    cdef double u[3]
    cdef double y[3]
    cdef int i
    cdef cnp.ndarray out = new(1, 6, 0)
    if not (read(V, x, 6) and read(p, r, 3) and (w is None or read(w, u, 3))):
        raise unfit()
    cross(x + (3 if force else 0), r, y)        # f x p = -p x f
    if w is not None:
        cross(u, r, r)
        cross(u, r, r)
        for i in range(3):
            y[i] += r[i]
    copy(data_of(out), x, 6)
    for i in range(3):
        data_of(out)[i + (0 if force else 3)] += y[i]
    return out


# ------------------------------------------------------------------------------------------------------------- wrenches

def wrench(torque, force, double most, /):
    """[torque; force] (6,) of three plain numbers each, none larger than `most`; None of anything else."""
    cdef double F[6]
    cdef int i
    cdef cnp.ndarray out
    if not (read(torque, F, 3) and read(force, F + 3, 3)):
        return None
    for i in range(6):
        if not fabs(F[i]) <= most:
            return None
    out = new(1, 6, 0)
    copy(data_of(out), F, 6)
    return out


def push(forces, bodies, X_BF, Py_ssize_t k, X_WF, F, /):
    """Adds a wrench F (6,) about frame k's origin, in W axes, to the row of its body in `forces` (nb, 6), which are about their bodies'
    origins. Frames: bodies (nf,) that they are on and where, X_BF (nf, 12); X_WF (12,): where this one is."""
    cdef double* rows = doubles_of(forces, 2)
    cdef const int* body = <const int*>memory_of(bodies, cnp.NPY_INT, 1, False)
    cdef const double* own = constants_of(X_BF, 2)
    cdef const double* x = constants_of(X_WF, 1)
    cdef const double* f = constants_of(F, 1)
    cdef double R_FB[9]
    cdef double R_WB[9]
    cdef double p[3]
    cdef double t[3]
    cdef int i, j
    if not (0 <= k < cnp.PyArray_DIM(bodies, 0) and k < cnp.PyArray_DIM(X_BF, 0) and 0 <= body[k] < cnp.PyArray_DIM(forces, 0)
            and cnp.PyArray_DIM(forces, 1) == 6 and cnp.PyArray_DIM(X_BF, 1) == 12 and cnp.PyArray_DIM(X_WF, 0) == 12
            and cnp.PyArray_DIM(F, 0) == 6):
        raise unfit()
    own += 12 * k
    for i in range(3):
        for j in range(3):
            R_FB[3 * i + j] = own[3 * j + i]
    product(x, R_FB, R_WB)
    times(R_WB, own + 9, False, p)                  # p_BF_W
    cross(p, f + 3, t)
    for i in range(3):
        rows[6 * body[k] + i] += f[i] + t[i]
        rows[6 * body[k] + 3 + i] += f[3 + i]
