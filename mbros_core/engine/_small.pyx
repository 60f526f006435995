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

from mbros_core.engine.arrays cimport constants_of, doubles_of, memory_of

cnp.import_array()

ROTATION_TOLERANCE = 1e-9           # how far from the identity R R^T of a rotation may be, entry by entry
cdef double ROTATION = ROTATION_TOLERANCE
cdef long long EXACT = 2**53        # whole numbers beyond it are left to NumPy
cdef Py_ssize_t MANY = 1 << 20      # numbers, that are asked for without looking at how much memory there is


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


cdef inline bint are_within(const double* x, Py_ssize_t n, double most) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not fabs(x[i]) <= most:
            return False
    return True


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
    return is_whole(array) and are_within(data_of(<cnp.ndarray>array), cnp.PyArray_SIZE(<cnp.ndarray>array), tol)


def put(tuple given, tuple places, out, bint nan, /):
    """out[places[name]] = value for the {name: value} of each dict given (None: none) and the {name: index} that belongs to it, where all
    of them are known names with a finite number, or NaN where `nan` allows it; whether that was so. Where not, nothing is written."""
    cdef PyObject *name, *value, *place
    cdef Py_ssize_t at = 0
    cdef double* to = doubles_of(out, 1)
    cdef double x
    cdef int k, writing
    cdef Py_ssize_t n = cnp.PyArray_DIM(<cnp.ndarray>out, 0), i
    for writing in range(2):
        for k in range(len(given)):
            if given[k] is None:
                continue
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

def rows(given, Py_ssize_t columns, double most, n, bint copied, /):
    """A plain array as rows (n, columns), n None: as many as there are: a row for all, or rows as they are; copied: of their own. None of
    anything else, of a number that is larger than `most` (or is none), and of more than a million numbers."""
    cdef cnp.ndarray out
    cdef const double* x
    cdef Py_ssize_t count, i
    if not is_whole(given):
        return None
    x = data_of(<cnp.ndarray>given)
    if cnp.PyArray_NDIM(<cnp.ndarray>given) == 2 and cnp.PyArray_DIM(<cnp.ndarray>given, 1) == columns:
        count = cnp.PyArray_DIM(<cnp.ndarray>given, 0)
        if n is not None and count != n or count > MANY // (columns + 1) or not are_within(x, count * columns, most):
            return None
        if not copied:
            return given
        out = new(2, count, columns)
        memcpy(data_of(out), x, count * columns * sizeof(double))
        return out
    if n is None or not (cnp.PyArray_NDIM(<cnp.ndarray>given) == 1 and cnp.PyArray_DIM(<cnp.ndarray>given, 0) == columns):
        return None
    count = n
    if count > MANY // (columns + 1) or not are_within(x, columns, most):
        return None
    out = new(2, count, columns)
    for i in range(count):
        memcpy(data_of(out) + i * columns, x, columns * sizeof(double))
    return out


def between(array, low, high, /):
    """Whether every row of a C-contiguous float64 array (n, k) of NumPy's own class is within low (k,) and high (k,)."""
    cdef const double* a = constants_of(low, 1)
    cdef const double* b = constants_of(high, 1)
    cdef const double* x
    cdef Py_ssize_t i, j, k = cnp.PyArray_DIM(<cnp.ndarray>low, 0)
    if not (is_whole(array) and cnp.PyArray_NDIM(<cnp.ndarray>array) == 2 and cnp.PyArray_DIM(<cnp.ndarray>array, 1) == k
            and cnp.PyArray_DIM(<cnp.ndarray>high, 0) == k):
        return False
    x = data_of(<cnp.ndarray>array)
    for i in range(cnp.PyArray_DIM(<cnp.ndarray>array, 0)):
        for j in range(k):
            if not (a[j] <= x[j] and x[j] <= b[j]):
                return False
        x += k
    return True


def first_counted(counts, /):
    """The first place of an int64 array (n,) with a number that is not negative; -1: none has."""
    cdef const long long* x = <const long long*>memory_of(counts, cnp.NPY_INT64, 1, False)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_DIM(<cnp.ndarray>counts, 0)):
        if x[i] >= 0:
            return i
    return -1


include "small_poses.pxi"
