# One state's coordinates as other libraries have them, there and back: mbros/conventions/maps.py for one. Included by _small.pyx.

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
