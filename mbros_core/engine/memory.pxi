# Memory, and the arrays that users give. Included by every module of the engine; its `real` decides what a number is.

cdef class Memory:
    """One aligned, zeroed allocation of doubles; what NumPy views keep alive."""
    cdef double* p
    cdef Py_ssize_t n

    def __cinit__(self, Py_ssize_t n):
        if not 0 <= n < <Py_ssize_t>1 << 58:
            raise NoMemoryError(f"no memory for {n} doubles")
        self.n = n
        self.p = <double*>aligned_alloc(64, (n * sizeof(double) + 63) // 64 * 64)
        if self.p == NULL:
            raise NoMemoryError(f"no memory for {n} doubles")
        memset(self.p, 0, n * sizeof(double))

    def __dealloc__(self):
        free(self.p)

    cdef cnp.ndarray view(self, void* start, Py_ssize_t rows, Py_ssize_t columns):
        """A writable (rows,) or (rows, columns) array on this memory; with lanes, a last axis of LANES more. A new one each time: what
        is done to its shape or type is done to nobody else's."""
        cdef cnp.npy_intp shape[3]
        cdef int n = 1
        shape[0] = rows
        if columns > 1:
            shape[n] = columns
            n += 1
        if LANES > 1:
            shape[n] = LANES
            n += 1
        cdef cnp.ndarray a = cnp.PyArray_SimpleNewFromData(n, shape, cnp.NPY_DOUBLE, start)
        cnp.set_array_base(a, self)
        return a

    @cython.final
    cdef inline bint holds(self, cnp.ndarray a) noexcept:
        """Whether the array begins in this memory."""
        cdef double* at = <double*>cnp.PyArray_DATA(a)
        return self.p <= at and at < self.p + self.n


cdef int fill(real* to, Py_ssize_t n, object values) except -1:
    """to[i] = values[i] for n numbers: in every lane, or with derivatives of zero."""
    cdef cnp.ndarray a = values if is_whole_array(values) else np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    cdef double* p = <double*>cnp.PyArray_DATA(a)
    cdef Py_ssize_t i
    if cnp.PyArray_SIZE(a) != n:
        raise MbrosError(f"expected {n} numbers, got {a.size}")
    for i in range(n):
        to[i] = real(p[i])
    return 0


cdef inline bint is_whole_array(object x) noexcept:
    """Whether x is a plain float64 array of any shape."""
    return (cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>x))


cdef inline bint is_vector(object x, int n) noexcept:
    """Whether x is a plain float64 vector of n numbers."""
    return is_whole_array(x) and cnp.PyArray_NDIM(<cnp.ndarray>x) == 1 and cnp.PyArray_DIM(<cnp.ndarray>x, 0) == n


cdef bint is_plain(object x, tuple shape):
    """Whether x is what given_numbers makes."""
    return is_whole_array(x) and is_of_shape(<cnp.ndarray>x, shape)


cdef bint is_of_shape(cnp.ndarray x, tuple shape):
    """Whether x has that shape, None for any number of rows."""
    cdef int k
    if cnp.PyArray_NDIM(x) != len(shape):
        return False
    for k in range(cnp.PyArray_NDIM(x)):
        if shape[k] is not None and cnp.PyArray_DIM(x, k) != <Py_ssize_t>shape[k]:
            return False
    return True


cdef cnp.ndarray given_numbers(str who, str name, object x, tuple shape):
    """x as an aligned C-contiguous float64 array of that shape, None for any number of rows: itself where it is one, else a copy."""
    if is_plain(x, shape):
        return x
    array = given.reals(who, name, x, counted(shape))
    if array.ndim != len(shape) or any([n is not None and n != m for n, m in zip(shape, array.shape)]):
        raise MbrosError(f"{who}: {name}: expected {counted(shape)}, got shape {array.shape}")
    return cnp.PyArray_FROMANY(array, cnp.NPY_DOUBLE, 0, 0, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_ENSUREARRAY)


cdef int check_all_finite(str who, str name, cnp.ndarray a) except -1:
    """Whether all numbers of what given_numbers made are finite."""
    cdef const double* x = <const double*>cnp.PyArray_DATA(a)
    cdef double sum = 0.0
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(a)):
        sum += 0.0 * x[i]                       # NaN for what is not finite
    if sum != 0.0:
        given.finite(who, name, a)              # says which is not
    return 0


cdef cnp.ndarray given_room(str who, str name, object x, tuple shape, str kind="float64"):
    """x, where results of that shape and kind can be written."""
    if cnp.PyArray_CheckExact(x) and cnp.PyArray_ISCARRAY(x) and is_of_shape(x, shape) and (
            cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE if kind == "float64" else x.dtype == kind):
        return x                                # the same in less time
    return given.room(who, name, x, shape, kind)


cdef bint overlap(cnp.ndarray a, cnp.ndarray b):
    """Whether two C-contiguous arrays have a byte in common."""
    cdef char* start_a = <char*>cnp.PyArray_DATA(a)
    cdef char* start_b = <char*>cnp.PyArray_DATA(b)
    return start_a < start_b + cnp.PyArray_NBYTES(b) and start_b < start_a + cnp.PyArray_NBYTES(a)


cdef Py_ssize_t whole(object k) except? -2:
    """k, where it is a whole number that can count; else -1."""
    if type(k) is int or is_whole(k):
        try:
            return k
        except OverflowError:
            pass
    return -1


cdef inline bint is_minus_one(object k):
    return (type(k) is int or is_whole(k)) and k == -1


cdef inline bint truth(str what, object x) except -1:
    """x, when it is True or False."""
    if x is True or x is False:
        return x is True
    if isinstance(x, np.bool_):
        return bool(x)
    raise WrongTypeError(f"{what}: expected True or False, got {short(x)}")


cdef cnp.ndarray new_array(int n, cnp.npy_intp* shape):
    cdef PyObject* made = empty_array(n, shape, cnp.NPY_DOUBLE, 0)
    if made == NULL:
        refuse_array(n, shape)
    array = <cnp.ndarray>made
    Py_DECREF(array)                            # which has a reference of its own
    return array


cdef int refuse_array(int n, cnp.npy_intp* shape) except -1:
    """Raise for the array that NumPy could not make. Apart: `try` costs a call of the engine more than all its checks."""
    if PyErr_ExceptionMatches(MemoryError):
        PyErr_Clear()
        raise NoMemoryError(f"no memory for {' x '.join([str(shape[k]) for k in range(n)])} numbers")
    return -1


cdef double step_length(str who, object dt) except -1:
    """dt, s, when it can be a step."""
    return dt if type(dt) is float and 0.0 < dt <= LONGEST_STEP else given.step_length(who, dt)


cdef int check_contact(const ModelC* m, str who, int integrator) except -1:
    """Whether steps of this integrator know of contact and ropes, where the model has such."""
    cdef int k
    cdef str name = "rk4" if integrator == RK4 else integrators.BY_ERROR
    if integrator != RK4 and integrator != DORMAND_PRINCE:
        return 0
    if m.ns:
        raise MbrosError(f"{who}: the integrator {name} has no contact, and the model has {m.ns} collision shapes; use 'midpoint' or "
                         "'semi_implicit_euler', or load the robot with collisions=False")
    if m.scene != NULL:
        for k in range(m.nk):
            if m.scene.constraint[k].kind == DISTANCE and m.scene.constraint[k].flag:
                raise MbrosError(f"{who}: the integrator {name} has no ropes, which pull from one moment to the next; use 'midpoint' or "
                                 "'semi_implicit_euler'")
    return 0


cdef int integrator_number(str who, object number) except -1:
    """A number of INTEGRATORS."""
    if type(number) is int and 0 <= number < len(INTEGRATORS):
        return number                           # the same in less time
    if not is_whole(number) or number not in INTEGRATORS.values():
        raise MbrosError(f"{who}: integrator: expected one of {INTEGRATORS}, got {short(number)}")
    return number
