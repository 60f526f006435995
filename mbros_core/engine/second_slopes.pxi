# Second derivatives of inverse dynamics: its analytic first ones over dual numbers. Only the dual modules include this file.

from mbros_core.algorithms.turned cimport move_along


cdef class SecondSlopes(Duals):
    """d2tau/dq dq, /dq dv, /dv dv and /dq dvdot of inverse dynamics, of every model whose first derivatives are analytic.

    Derivatives by q are along the joints' columns (algorithms/turned.pxd), not by coordinates, as many at a time as there are partials.
    """
    cdef Memory slopes              # (1 + 3 nv, nv) tau and its first derivatives
    cdef Memory along               # (nv) the columns that are being moved along

    def __cinit__(self, model):
        cdef Py_ssize_t n = self.model.c.nv
        if not has_slopes(&self.model.c, False):
            raise MbrosError(f"{self.who}: its force elements or joints have none that are analytic, and no second ones; take differences of "
                             "the first")
        self.slopes = Memory((1 + 3 * n) * n * LANES + 1)
        self.along = Memory((n + 1) * LANES)

    def find(self, inputs, vdot, out):
        """Into out (4 nv^2, nv). inputs: State._inputs of a point. Whether every number is finite."""
        cdef Py_ssize_t size = self.model.fields[NUMBER_OF_INPUTS].at, n = self.model.c.nv, k
        cdef cnp.ndarray point = given_numbers(self.who, "inputs", inputs, (size,))
        cdef cnp.ndarray a = given_numbers(self.who, "vdot", vdot, (n,))
        cdef cnp.ndarray to = given_room(self.who, "out", out, (4 * n * n, n))
        cdef const double* x = <const double*>cnp.PyArray_DATA(point)
        cdef Columns* room = &tangents_of(self.state).c
        cdef bint finite = True
        self.state.hold()
        with nogil:
            for k in range(size):
                (<real*>self.state.memory.p)[k] = real(x[k])
            for k in range(n):
                (<real*>self.inputs.p)[k] = real((<const double*>cnp.PyArray_DATA(a))[k])
            for k in range((n + LANES - 2) // (LANES - 1)):
                finite &= self.by_q(k * (LANES - 1), <double*>cnp.PyArray_DATA(to), room)
            for k in range((n + LANES - 2) // (LANES - 1)):
                finite &= self.by_v(k * (LANES - 1), <double*>cnp.PyArray_DATA(to), room)
        self.state.let_go()
        self.state.stage = STAGE_NONE
        return finite

    cdef bint by_q(self, Py_ssize_t start, double* out, Columns* room) noexcept nogil:
        """Of first derivatives, along columns start, start + 1, ... of q."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef Py_ssize_t n = m.nv
        cdef double* r = self.slopes.p + n * LANES
        cdef real* u = <real*>self.along.p
        cdef int k
        self.aim(u, start, True)
        self.place()
        move_along(m, s, u)
        for k in range(m.nv):
            if m.q_of_v[k] >= 0:
                s.q[m.q_of_v[k]] = s.q[m.q_of_v[k]] + u[k]          # of stops, and of elements on coordinates
        slopes_in_motion(m, s, <real*>self.inputs.p, <real*>self.slopes.p, room)
        put_last(r, out, n, start)
        put_middle(r + n * n * LANES, out + n * n * n, n, start)
        put_middle(r + 2 * n * n * LANES, out + 3 * n * n * n, n, start)
        return all_finite(<real*>self.slopes.p, (1 + 3 * n) * n)

    cdef bint by_v(self, Py_ssize_t start, double* out, Columns* room) noexcept nogil:
        """And by v."""
        cdef ModelC* m = &self.model.c
        cdef Work* s = &self.state.c
        cdef Py_ssize_t n = m.nv
        self.aim(s.v, start, False)
        self.place()
        slopes_in_motion(m, s, <real*>self.inputs.p, <real*>self.slopes.p, room)
        put_last(self.slopes.p + (1 + n) * n * LANES, out + 2 * n * n * n, n, start)
        return all_finite(<real*>self.slopes.p, (1 + 3 * n) * n)

    cdef void place(self) noexcept nogil:
        """Positions without derivatives."""
        cdef Py_ssize_t k
        for k in range(self.model.c.nq):
            self.state.c.q[k] = real(value(self.state.c.q[k]))
        positions(&self.model.c, &self.state.c)

    cdef void aim(self, real* x, Py_ssize_t start, bint at_zero) noexcept nogil:
        """Of numbers start, start + 1, ... of x (nv) one in each lane; the values of all stay, or are zero."""
        cdef Py_ssize_t k
        for k in range(self.model.c.nv):
            x[k] = real(0.0 if at_zero else value(x[k]))
            if start <= k < start + LANES - 1:
                (<double*>(x + k))[1 + k - start] = 1.0


cdef inline void put_last(const double* r, double* out, Py_ssize_t n, Py_ssize_t start) noexcept nogil:
    """out[i, j, start + l] = lane l of r[i, j]."""
    cdef Py_ssize_t width = min(<Py_ssize_t>(LANES - 1), n - start), k, l
    for k in range(n * n):
        for l in range(width):
            out[k * n + start + l] = r[k * LANES + 1 + l]


cdef inline void put_middle(const double* r, double* out, Py_ssize_t n, Py_ssize_t start) noexcept nogil:
    """out[i, start + l, j] = lane l of r[i, j]."""
    cdef Py_ssize_t width = min(<Py_ssize_t>(LANES - 1), n - start), i, j, l
    for i in range(n):
        for l in range(width):
            for j in range(n):
                out[(i * n + start + l) * n + j] = r[(i * n + j) * LANES + 1 + l]
