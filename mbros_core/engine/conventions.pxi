# q and what goes with v as other libraries have them, of single vectors: mbros.conventions.plans says what becomes what. Only the double
# modules include this file.

from libc.math cimport atan2

cdef enum Move:             # of a plan, as mbros.conventions.plans numbers them
    MOVE_COPY = 0           # of one number
    MOVE_PAIR = 1           # an angle here, (cos, sin) there
    MOVE_ANGLE = 2          # (cos, sin) here, an angle there
    MOVE_TURN = 3           # of three: R x there, of the quaternion at `at`

cdef struct Row:            # of a plan, in the order of their numbers
    long long move
    long long own           # place among ours
    long long at            # of the quaternion in q


cdef bint has_directions(const ModelC* m, const double* q) noexcept:
    """Whether no quaternion and no (cos, sin) of q is all zeros; False where a joint is of a kind that users write."""
    cdef const Joint* j
    cdef const double* x
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if j.follows:
            continue
        x = q + j.iq + max(quaternion_at(j.kind), 0)
        if (written_by_user(j) or quaternion_at(j.kind) >= 0 and x[0] == x[1] == x[2] == x[3] == 0.0
                or j.nq == 2 and j.nv == 1 and x[0] == x[1] == 0.0):
            return False
    return True


cdef void convert_positions(const Row* row, Py_ssize_t n, const double* q, double* there) noexcept:
    cdef Py_ssize_t k, own
    for k in range(n):
        own = row[k].own
        if row[k].move == MOVE_COPY:
            there[0] = q[own]
        elif row[k].move == MOVE_PAIR:
            there[0], there[1] = cos(q[own]), sin(q[own])
            there += 1
        else:
            there[0] = atan2(q[own + 1], q[own])
        there += 1


cdef bint convert_positions_back(const Row* row, Py_ssize_t n, const double* there, double* q) noexcept:
    """False where a (cos, sin) of theirs is all zeros."""
    cdef Py_ssize_t k, own
    for k in range(n):
        own = row[k].own
        if row[k].move == MOVE_COPY:
            q[own] = there[0]
        elif row[k].move == MOVE_PAIR:
            if there[0] == there[1] == 0.0:
                return False
            q[own] = atan2(there[1], there[0])
            there += 1
        else:
            q[own], q[own + 1] = cos(there[0]), sin(there[0])
        there += 1
    return True


cdef void convert_velocities(const Row* row, Py_ssize_t n, const double* q, const double* x, double* there, bint back) noexcept:
    """there = T x, or with back `there` = T^-1 x: T is orthogonal, so this is also what becomes of efforts and of rows of a Jacobian."""
    cdef Py_ssize_t k, own, at = 0
    cdef Mat3 R
    cdef Vec3 y
    cdef double s
    cdef const double* e
    for k in range(n):
        own = row[k].own
        if row[k].move == MOVE_COPY:
            there[own if back else at] = x[at if back else own]
            at += 1
            continue
        e = q + row[k].at
        s = 1.0 / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
        R = rotation_from_quaternion(real(s * e[0]), real(s * e[1]), real(s * e[2]), real(s * e[3]))
        if back:
            y = unrotate(R, vec3(real(x[at]), real(x[at + 1]), real(x[at + 2])))
            there[own], there[own + 1], there[own + 2] = value(y.x), value(y.y), value(y.z)
        else:
            y = rotate(R, vec3(real(x[own]), real(x[own + 1]), real(x[own + 2])))
            there[at], there[at + 1], there[at + 2] = value(y.x), value(y.y), value(y.z)
        at += 3


cdef class Conventions(Kinematics):
    """Single vectors in the coordinates of other libraries; None for whatever needs another look."""

    def _positions_there(self, q, rows, size):
        """Their q (size,) of ours."""
        cdef cnp.ndarray x
        if not self.is_sound(q):
            return None
        x = self.result(None, size, -1)
        convert_positions(<const Row*>long_longs_of(rows, 2), cnp.PyArray_DIM(rows, 0), <const double*>cnp.PyArray_DATA(<cnp.ndarray>q),
                          <double*>cnp.PyArray_DATA(x))
        return x

    def _positions_back(self, x, rows, size):
        """Our q of theirs (size,)."""
        cdef cnp.ndarray q
        if not (is_vector(x, size) and all_finite(<const real*>cnp.PyArray_DATA(<cnp.ndarray>x), size)):
            return None
        q = self.result(None, self.c.nq, -1)
        if not convert_positions_back(<const Row*>long_longs_of(rows, 2), cnp.PyArray_DIM(rows, 0),
                                      <const double*>cnp.PyArray_DATA(<cnp.ndarray>x), <double*>cnp.PyArray_DATA(q)):
            return None
        return q if has_directions(&self.c, <const double*>cnp.PyArray_DATA(q)) else None

    def _velocities_there(self, q, x, rows, back=False, halves=False):
        """What becomes of x (nv,), velocities or efforts, or of each row of x (m, nv), a Jacobian; back: from theirs. halves: the last
        three rows of six come first."""
        cdef cnp.ndarray y
        cdef const double* numbers
        cdef double* there
        cdef Py_ssize_t k, m = 1, n = self.c.nv
        cdef bint backwards = truth("back", back), swapped = truth("halves", halves)
        if cnp.PyArray_Check(x) and cnp.PyArray_NDIM(<cnp.ndarray>x) == 2:
            m = cnp.PyArray_DIM(<cnp.ndarray>x, 0)
            if not is_plain(x, (6, n)):
                return None
        elif not is_vector(x, <int>n):
            return None
        if not (self.is_sound(q) and all_finite(<const real*>cnp.PyArray_DATA(<cnp.ndarray>x), m * n)):
            return None
        y = new_array(cnp.PyArray_NDIM(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>x))
        numbers, there = <const double*>cnp.PyArray_DATA(<cnp.ndarray>x), <double*>cnp.PyArray_DATA(y)
        for k in range(m):
            convert_velocities(<const Row*>long_longs_of(rows, 2), cnp.PyArray_DIM(rows, 0), <const double*>cnp.PyArray_DATA(<cnp.ndarray>q),
                               numbers + k * n, there + ((k + 3) % 6 if swapped else k) * n, backwards)
        return y if all_finite(<const real*>there, m * n) else None

    @cython.final
    cdef bint is_sound(self, object q) noexcept:
        """Whether q is a plain vector of finite numbers, and every rotation in it one."""
        return (is_vector(q, self.c.nq) and all_finite(<const real*>cnp.PyArray_DATA(<cnp.ndarray>q), self.c.nq)
                and has_directions(&self.c, <const double*>cnp.PyArray_DATA(<cnp.ndarray>q)))
