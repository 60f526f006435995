# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""What one call of the library computes of one pose, one rotation or one configuration: a few numbers, for which NumPy's own cost is most.

mbros.spatial, mbros.spaces and mbros.conventions have the same equations for any batch, in NumPy; tests compare the two. Functions that
look at what users give return None (or False) for all but plain finite numbers of the right shape: the caller then goes the general way,
which converts it or says in words what is wrong.

Plain numbers: a float64 array of NumPy's own class, with any strides, or a list or tuple of floats and ints.
"""
cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.list cimport PyList_GET_ITEM
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.math cimport atan2, cos, fabs, isfinite, isinf, sin, sqrt, tan
from libc.string cimport memcpy

from math import factorial

from mbros_core.arrays cimport constants_of, doubles_of, ints_of

cnp.import_array()

cdef double ROTATION = 1e-9         # how far from the identity R R^T of a rotation may be, entry by entry
cdef long long EXACT = 2**53        # whole numbers beyond it are left to NumPy


# ------------------------------------------------------------------------------------------------ numbers, in and out

cdef inline bint is_plain(object a, int dimensions) noexcept:
    return (cnp.PyArray_CheckExact(a) and cnp.PyArray_TYPE(<cnp.ndarray>a) == cnp.NPY_DOUBLE and cnp.PyArray_NDIM(<cnp.ndarray>a) == dimensions
            and cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>a))


cdef inline bint is_whole(object a) noexcept:
    """The same of numbers one after another, of any shape."""
    return (cnp.PyArray_CheckExact(a) and cnp.PyArray_TYPE(<cnp.ndarray>a) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>a))


cdef inline bint is_vector(object a, Py_ssize_t n) noexcept:
    return is_whole(a) and cnp.PyArray_NDIM(<cnp.ndarray>a) == 1 and cnp.PyArray_DIM(<cnp.ndarray>a, 0) == n


cdef bint is_number(object given, double* x) noexcept:
    """x = given, where that is a float or an int (and not True)."""
    cdef long long whole
    cdef int beyond
    if PyFloat_Check(given):
        x[0] = PyFloat_AS_DOUBLE(given)
        return True
    if not PyLong_CheckExact(given):
        return False
    whole = PyLong_AsLongLongAndOverflow(given, &beyond)
    x[0] = <double>whole
    return not beyond and -EXACT < whole < EXACT


cdef bint read(object given, double* x, Py_ssize_t n) noexcept:
    """x (n,) = given, finite or not."""
    cdef Py_ssize_t i, stride
    cdef char* data
    if is_plain(given, 1):
        if cnp.PyArray_DIM(<cnp.ndarray>given, 0) != n:
            return False
        data, stride = <char*>cnp.PyArray_DATA(<cnp.ndarray>given), cnp.PyArray_STRIDE(<cnp.ndarray>given, 0)
        for i in range(n):
            memcpy(x + i, data + i * stride, sizeof(double))            # which need not be aligned
        return True
    if type(given) is list:
        if len(<list>given) != n:
            return False
        for i in range(n):
            if not is_number(<object>PyList_GET_ITEM(given, i), x + i):
                return False
        return True
    if type(given) is tuple:
        if len(<tuple>given) != n:
            return False
        for i in range(n):
            if not is_number(<object>PyTuple_GET_ITEM(given, i), x + i):
                return False
        return True
    return False


cdef bint read3x3(object given, double* x) noexcept:
    """x (9,), row by row, = the array, finite or not."""
    cdef Py_ssize_t i, j, s, t
    cdef char* data
    if not is_plain(given, 2) or cnp.PyArray_DIM(<cnp.ndarray>given, 0) != 3 or cnp.PyArray_DIM(<cnp.ndarray>given, 1) != 3:
        return False
    data = <char*>cnp.PyArray_DATA(<cnp.ndarray>given)
    s, t = cnp.PyArray_STRIDE(<cnp.ndarray>given, 0), cnp.PyArray_STRIDE(<cnp.ndarray>given, 1)
    for i in range(3):
        for j in range(3):
            memcpy(x + 3 * i + j, data + i * s + j * t, sizeof(double))
    return True


cdef inline bint all_finite(const double* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double sum = 0.0
    for i in range(n):
        sum += 0.0 * x[i]           # NaN for what is not finite
    return sum == 0.0


cdef inline cnp.ndarray new(int dimensions, Py_ssize_t n, Py_ssize_t m):
    cdef cnp.npy_intp shape[2]
    shape[0], shape[1] = n, m
    return cnp.PyArray_SimpleNew(dimensions, shape, cnp.NPY_DOUBLE)


cdef inline double* data_of(cnp.ndarray a) noexcept:
    return <double*>cnp.PyArray_DATA(a)


cdef cnp.ndarray array3(const double* x):
    cdef cnp.ndarray out = new(1, 3, 0)
    copy(data_of(out), x, 3)
    return out


cdef cnp.ndarray array3x3(const double* x):
    cdef cnp.ndarray out = new(2, 3, 3)
    copy(data_of(out), x, 9)
    return out


cdef inline void copy(double* to, const double* x, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        to[i] = x[i]


def numbers(given, Py_ssize_t n, /):
    """A new array (n,) of n plain finite numbers; None of anything else."""
    cdef cnp.ndarray out = new(1, n, 0)
    return out if read(given, data_of(out), n) and all_finite(data_of(out), n) else None


def is_finite(array, /):
    """Whether it is a C-contiguous float64 array of NumPy's own class with nothing but finite numbers in it."""
    return is_whole(array) and all_finite(data_of(<cnp.ndarray>array), cnp.PyArray_SIZE(<cnp.ndarray>array))


def put(tuple given, tuple places, out, bint nan, /):
    """out[places[name]] = value for the {name: value} of each dict given and the {name: index} that belongs to it, where all of them are
    known names with a finite number, or NaN where `nan` allows it; whether that was so. Where it was not, nothing is written."""
    cdef PyObject *name, *value, *place
    cdef Py_ssize_t at = 0
    cdef double* to = doubles_of(out, 1)
    cdef double x
    cdef int k, writing
    cdef Py_ssize_t n = cnp.PyArray_DIM(<cnp.ndarray>out, 0), i
    for writing in range(2):
        for k in range(len(given)):
            if type(given[k]) is not dict:
                return False
            at = 0
            while PyDict_Next(given[k], &at, &name, &value):
                place = PyDict_GetItem(places[k], <object>name) if type(<object>name) is str else NULL
                if place == NULL or not is_number(<object>value, &x) or not (isfinite(x) or nan and not isinf(x)):
                    return False
                i = <object>place
                if not 0 <= i < n:
                    return False
                if writing:
                    to[i] = x
    return True


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


# ------------------------------------------------------------------------------------- derivatives of exp and log (lie.py)

cdef double SIXTH = 0.16666666666666666
cdef double[9] C4
cdef double[9] C5
cdef double[8] COT
for row in range(9):
    C4[row], C5[row] = (1 - row % 2 * 2) / float(factorial(2 * row + 4)), (1 - row % 2 * 2) / float(factorial(2 * row + 5))
COT[0], COT[1], COT[2], COT[3] = 1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600
COT[4], COT[5], COT[6], COT[7] = 1.0 / 47900160, 691.0 / 1307674368000.0, 1.0 / 74724249600.0, 3617.0 / 10670622842880000.0
del row


cdef double horner(const double* c, int n, double x) noexcept nogil:
    cdef double out = c[n - 1]
    cdef int i
    for i in range(n - 2, -1, -1):
        out = out * x + c[i]
    return out


cdef void stumpff(double x, double* c) noexcept nogil:
    """(c2, c3, c4, c5) of a^2 = x."""
    cdef double a, h
    if x < 1.0:
        c[2], c[3] = horner(C4, 9, x), horner(C5, 9, x)
        c[0], c[1] = 0.5 - x * c[2], SIXTH - x * c[3]
    else:
        a = sqrt(x)
        h = sin(0.5 * a)
        c[0], c[1] = 2.0 * h * h / x, (a - sin(a)) / (a * x)
        c[2], c[3] = (0.5 - c[0]) / x, (SIXTH - c[1]) / x


cdef double half_cotangent(double x) noexcept nogil:
    """(1 - a/2 cot a/2) / a^2 of a^2 = x."""
    cdef double half = 0.5 * sqrt(x)
    return horner(COT, 8, x) if x < 0.25 else (1.0 - half / tan(half)) / x


cdef inline void skew(const double* w, double* W) noexcept nogil:
    W[0], W[1], W[2] = 0.0, -w[2], w[1]
    W[3], W[4], W[5] = w[2], 0.0, -w[0]
    W[6], W[7], W[8] = -w[1], w[0], 0.0


cdef void quadratic(const double* w, double b, double c, double* J) noexcept nogil:
    """1 + b [w] + c [w]^2."""
    cdef double W[9]
    cdef int i
    skew(w, W)
    product(W, W, J)
    for i in range(9):
        J[i] = c * J[i] + b * W[i] + (i % 4 == 0)


cdef void so3_right(const double* w, double* J) noexcept nogil:
    cdef double c[4]
    stumpff(dot(w, w), c)
    quadratic(w, -c[0], c[1], J)


cdef void so3_right_inverse(const double* w, double* J) noexcept nogil:
    quadratic(w, 0.5, half_cotangent(dot(w, w)), J)


cdef void back_rotation(const double* w, double* Rt) noexcept nogil:
    """exp(-w) as a matrix."""
    cdef double q[4]
    cdef double half = 0.5 * sqrt(dot(w, w))
    cdef double s = 0.5 * sin(half) / half if half > 0.0 else 0.5
    cdef int i
    q[0] = cos(half)
    for i in range(3):
        q[i + 1] = -s * w[i]
    matrix(q, 2.0 / (q[0] * q[0] + dot(q + 1, q + 1)), Rt)


cdef void coupling(const double* x, double* B) noexcept nogil:
    """The lower left block of the left Jacobian of SE(3) at -x (Barfoot 2017, 7.86b)."""
    cdef double w[3]
    cdef double v[3]
    cdef double c[4]
    cdef double W[9]
    cdef double V[9]
    cdef double WV[9]
    cdef double VW[9]
    cdef double WW[9]
    cdef double WVW[9]
    cdef double WWV[9]
    cdef double VWW[9]
    cdef double WVWW[9]
    cdef double WWVW[9]
    cdef int i
    for i in range(3):
        w[i], v[i] = -x[i], -x[i + 3]
    stumpff(dot(w, w), c)
    skew(w, W)
    skew(v, V)
    product(W, V, WV)
    product(V, W, VW)
    product(W, W, WW)
    product(WV, W, WVW)
    product(WW, V, WWV)
    product(VW, W, VWW)
    product(WVW, W, WVWW)
    product(W, WVW, WWVW)
    for i in range(9):
        B[i] = (0.5 * V[i] + c[1] * (WV[i] + VW[i] + WVW[i]) + c[2] * (WWV[i] + VWW[i] - 3.0 * WVW[i])
                + 0.5 * (c[2] - 3.0 * c[3]) * (WVWW[i] + WWVW[i]))


cdef void put_block(double* J, int n, int row, int column, const double* block, double sign) noexcept nogil:
    cdef int i, j
    for i in range(3):
        for j in range(3):
            J[n * (row + i) + column + j] = sign * block[3 * i + j]


cdef void put_lower(double* J, int n, int at, const double* a, const double* b, double sign) noexcept nogil:
    """sign [[a, 0], [b, a]] as the block of six rows and columns."""
    put_block(J, n, at, at, a, sign)
    put_block(J, n, at + 3, at + 3, a, sign)
    put_block(J, n, at + 3, at, b, sign)


cdef void integrate_block(const double* x, int kind, int at, int n, double* A, double* B) noexcept nogil:
    """d_integrate of SO(3) (kind 3) or SE(3) (6) at the increment x."""
    cdef double R[9]
    cdef double J[9]
    cdef double S[9]
    cdef double C[9]
    cdef double p[3]
    cdef double u[3]
    cdef double c[4]
    cdef int i
    back_rotation(x, R)
    so3_right(x, J)
    if kind == 3:
        put_block(A, n, at, at, R, 1.0)
        put_block(B, n, at, at, J, 1.0)
        return
    stumpff(dot(x, x), c)                       # the translation of Exp(x): v + c2 w x v + c3 w x (w x v)
    cross(x, x + 3, p)
    cross(x, p, u)
    for i in range(3):
        p[i] = x[3 + i] + c[0] * p[i] + c[1] * u[i]
    skew(p, S)
    product(R, S, C)
    for i in range(9):
        C[i] = -C[i]
    put_lower(A, n, at, R, C, 1.0)
    coupling(x, C)
    put_lower(B, n, at, J, C, 1.0)


cdef void difference_block(const double* d, int kind, int at, int n, double* A, double sign) noexcept nogil:
    """sign J_r^-1(d) of SO(3) (kind 3) or SE(3) (6)."""
    cdef double J[9]
    cdef double C[9]
    cdef double D[9]
    cdef int i
    so3_right_inverse(d, J)
    if kind == 3:
        put_block(A, n, at, at, J, sign)
        return
    coupling(d, C)
    product(J, C, D)
    product(D, J, C)
    for i in range(9):
        C[i] = -C[i]
    put_lower(A, n, at, J, C, sign)


cdef cnp.ndarray diagonal(int n, double x):
    cdef cnp.ndarray out = new(2, n, n)
    cdef int i
    for i in range(n * n):
        data_of(out)[i] = 0.0
    for i in range(n):
        data_of(out)[(n + 1) * i] = x
    return out


cdef inline bint bearable(const double* x, int kind) noexcept nogil:
    """Whether no power of these numbers that is taken is beyond the largest double."""
    cdef int i
    for i in range(kind):
        if not fabs(x[i]) < 1e30:
            return False
    return True


def d_integrate(rotating, v, /):
    """(J_q, J_v), each (nv, nv), of a product of R^n and of the groups in `rotating`, rows (dimension 3: SO(3), 6: SE(3); where its
    increment begins in v); v: a plain array. None where a number is beyond 1e30."""
    cdef int k, n = cnp.PyArray_DIM(<cnp.ndarray>v, 0)
    cdef const int* rows = ints_of(rotating, 2)
    cdef const double* x = constants_of(v, 1)
    cdef cnp.ndarray A = diagonal(n, 1.0), B = diagonal(n, 1.0)
    if not all_finite(x, n):
        return None
    for k in range(cnp.PyArray_DIM(<cnp.ndarray>rotating, 0)):
        if not bearable(x + rows[2 * k + 1], rows[2 * k]):
            return None
        integrate_block(x + rows[2 * k + 1], rows[2 * k], rows[2 * k + 1], n, data_of(A), data_of(B))
    return A, B


def d_difference(rotating, d, /):
    """(J_0, J_1), each (nv, nv), of the same; d: the difference."""
    cdef int i, k, n = cnp.PyArray_DIM(<cnp.ndarray>d, 0)
    cdef const int* rows = ints_of(rotating, 2)
    cdef const double* x = constants_of(d, 1)
    cdef double back[6]
    cdef cnp.ndarray A = diagonal(n, -1.0), B = diagonal(n, 1.0)
    for k in range(cnp.PyArray_DIM(<cnp.ndarray>rotating, 0)):
        if not bearable(x + rows[2 * k + 1], rows[2 * k]):
            return None
        for i in range(rows[2 * k]):
            back[i] = -x[rows[2 * k + 1] + i]
        difference_block(back, rows[2 * k], rows[2 * k + 1], n, data_of(A), -1.0)
        difference_block(x + rows[2 * k + 1], rows[2 * k], rows[2 * k + 1], n, data_of(B), 1.0)
    return (A, B) if all_finite(data_of(A), n * n) and all_finite(data_of(B), n * n) else None


def reweighed(table, Py_ssize_t b, given, /):
    """Row b of a table of (mass, moments, inertia), (n, 10), in proportion to a new mass; whether it was a plain one. Masses of 1e-50 kg on
    and numbers up to 1e50, of which none is not finite about whatever point."""
    cdef double* row = doubles_of(table, 2) + 10 * b
    cdef double m, old = row[0]
    cdef double x[10]
    cdef int i
    if not is_number(given, &m) or not (1e-50 < m and m < 1e50 and 1e-50 < old):
        return False
    for i in range(10):
        x[i] = m * (row[i] / old)
        if not (fabs(x[i]) < 1e50 and fabs(row[i]) < 1e50):
            return False
    if m != old:
        copy(row, x, 10)
    return True


def length(v, /):
    """|v| of a plain vector, whose square is a double; infinite, where it is not."""
    cdef double sum = 0.0
    cdef const double* x = constants_of(v, 1)
    cdef int i
    for i in range(cnp.PyArray_DIM(<cnp.ndarray>v, 0)):
        sum += x[i] * x[i]
    return sqrt(sum)


def within(array, double tol, /):
    """Whether it is a C-contiguous float64 array of NumPy's own class with no number in it that is larger than tol."""
    cdef const double* x
    cdef Py_ssize_t i
    if not is_whole(array):
        return False
    x = data_of(<cnp.ndarray>array)
    for i in range(cnp.PyArray_SIZE(<cnp.ndarray>array)):
        if not fabs(x[i]) <= tol:
            return False
    return True


def sampled(u, low, span, quaternions, /):
    """A configuration (nq,) of numbers u, each uniform in [0, 1), in the order of q: low + u span, and of three each a rotation, as a
    quaternion at the places `quaternions`, in ascending order (Shoemake 1992)."""
    cdef int n = cnp.PyArray_DIM(<cnp.ndarray>low, 0), m = cnp.PyArray_DIM(<cnp.ndarray>quaternions, 0)
    cdef int i = 0, k = 0
    cdef const double* x = constants_of(u, 1)
    cdef const double* a = constants_of(low, 1)
    cdef const double* b = constants_of(span, 1)
    cdef const int* places = ints_of(quaternions, 1)
    cdef cnp.ndarray out = new(1, n, 0)
    cdef double* q = data_of(out)
    cdef double tau = 6.283185307179586476925286766559
    while i < n:
        if k < m and i == places[k]:
            q[i], q[i + 1] = sqrt(1.0 - x[0]) * sin(tau * x[1]), sqrt(1.0 - x[0]) * cos(tau * x[1])
            q[i + 2], q[i + 3] = sqrt(x[0]) * sin(tau * x[2]), sqrt(x[0]) * cos(tau * x[2])
            i, k, x = i + 4, k + 1, x + 3
        else:
            q[i] = a[i] + b[i] * x[0]
            i, x = i + 1, x + 1
    return out


# --------------------------------------------------------------------------------- other libraries' coordinates (maps.py)

cdef enum:
    COLUMNS = 16        # of a row of mbros.conventions.maps.table
    PLAIN = 0
    TO_PAIR = 1
    TO_ANGLE = 2
    ROTATING = 3


cdef bint to_velocity(const int* r, const double* q, const double* v, double* out, bint back) noexcept nogil:
    """Velocity of a rotating joint, three or six numbers, there or `back`; whether its quaternion is one."""
    cdef double R[9]
    cdef double n2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    cdef int part, ours, theirs
    if not (0.0 < n2 and n2 < 1e300):
        return False
    matrix(q, 2.0 / n2, R)
    for part in range(2 if r[5] == 7 else 1):
        ours, theirs = 3 * part, 3 * (1 - part if r[6] else part)
        if back:
            ours, theirs = theirs, ours
        if r[7 + part]:
            times(R, v + ours, back, out + theirs)
        else:
            copy(out + theirs, v + ours, 3)
    return True


def to_theirs(table, int theirs, q, v, /):
    """(q, v) of another library, from a state's; table: mbros.conventions.maps.table. None where a number is not finite, and where a
    quaternion is no rotation."""
    cdef const int* r = ints_of(table, 2)
    cdef const double* x = constants_of(q, 1)
    cdef const double* y = constants_of(v, 1)
    cdef int i, k, nq = cnp.PyArray_DIM(<cnp.ndarray>q, 0), nv = cnp.PyArray_DIM(<cnp.ndarray>v, 0)
    cdef cnp.ndarray out_q = new(1, theirs, 0), out_v = new(1, nv, 0)
    cdef double* to = data_of(out_q)
    if not (all_finite(x, nq) and all_finite(y, nv)):
        return None
    for k in range(cnp.PyArray_DIM(<cnp.ndarray>table, 0)):
        if r[0] == ROTATING:
            for i in range(r[5]):
                to[r[3] + i] = x[r[1] + r[9 + i]]
            if not to_velocity(r, x + r[1] + r[5] - 4, y + r[2], data_of(out_v) + r[4], False):
                return None
        elif r[0] == PLAIN:
            copy(to + r[3], x + r[1], r[5])
            copy(data_of(out_v) + r[4], y + r[2], r[6])
        else:
            if r[0] == TO_PAIR:
                to[r[3]], to[r[3] + 1] = cos(x[r[1]]), sin(x[r[1]])
            elif x[r[1]] == 0.0 and x[r[1] + 1] == 0.0:
                return None
            else:
                to[r[3]] = atan2(x[r[1] + 1], x[r[1]])
            data_of(out_v)[r[4]] = y[r[2]]
        r += COLUMNS
    return (out_q, out_v) if all_finite(data_of(out_v), nv) else None


def from_theirs(table, int nq, int theirs, int nv, q, v, /):
    """A state's (q, v) from another library's, plain arrays of `theirs` and nv numbers; None of anything else."""
    cdef const int* r = ints_of(table, 2)
    cdef int i, k
    cdef const double* x
    cdef const double* y
    cdef cnp.ndarray out_q = new(1, nq, 0), out_v = new(1, nv, 0)
    cdef double* to = data_of(out_q)
    if not (is_vector(q, theirs) and is_vector(v, nv)):
        return None
    x, y = data_of(<cnp.ndarray>q), data_of(<cnp.ndarray>v)
    if not (all_finite(x, theirs) and all_finite(y, nv)):
        return None
    for k in range(cnp.PyArray_DIM(<cnp.ndarray>table, 0)):
        if r[0] == ROTATING:
            for i in range(r[5]):
                to[r[1] + r[9 + i]] = x[r[3] + i]
            if not to_velocity(r, to + r[1] + r[5] - 4, y + r[4], data_of(out_v) + r[2], True):
                return None
        elif r[0] == PLAIN:
            copy(to + r[1], x + r[3], r[5])
            copy(data_of(out_v) + r[2], y + r[4], r[6])
        else:
            if r[0] == TO_ANGLE:
                to[r[1]], to[r[1] + 1] = cos(x[r[3]]), sin(x[r[3]])
            elif x[r[3]] == 0.0 and x[r[3] + 1] == 0.0:
                return None
            else:
                to[r[1]] = atan2(x[r[3] + 1], x[r[3]])
            data_of(out_v)[r[2]] = y[r[4]]
        r += COLUMNS
    return (out_q, out_v) if all_finite(data_of(out_v), nv) else None
