# distutils: language = c++
# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, auto_pickle=False
"""What one call of the library computes of one pose or one rotation: a few numbers, for which NumPy's own cost is most.

mbros.spatial has the same equations for any batch, in NumPy; tests compare the two. Functions that look at what users give return None
(or False) for all but plain finite numbers of the right shape: the caller then goes the general way, which converts it or says in words
what is wrong.

Plain numbers: a float64 array of NumPy's own class, with any strides, or a list or tuple of floats and ints.
"""
cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.list cimport PyList_GET_ITEM
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.math cimport cos, fabs, isfinite, isinf, sin, sqrt
from libc.string cimport memcpy

from mbros_core.engine.arrays cimport constants_of, doubles_of

cnp.import_array()

ROTATION_TOLERANCE = 1e-9           # how far from the identity R R^T of a rotation may be, entry by entry
cdef double ROTATION = ROTATION_TOLERANCE
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
