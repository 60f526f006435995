# Numbers of a group of robots, side by side in lanes and one after the other in users' arrays. Included by batch.pxi.

cdef inline bint surely_within(const real* x, int n) noexcept nogil:
    """Whether the squares of the numbers sum to less than the square of the bound, in every lane; then each is within it. Not so with
    NaN."""
    cdef real one = real(0.0), other = real(0.0)        # two, so that no addition waits for the one before
    cdef int i
    for i in range(0, n - 1, 2):
        one = one + x[i] * x[i]
        other = other + x[i + 1] * x[i + 1]
    if n & 1:
        one = one + x[n - 1] * x[n - 1]
    return not any_lane(nonzero(select(less(one + other, real(LARGEST * LARGEST)), real(0.0), real(1.0))))


cdef inline bint lane_within(const double* x, int n, int l) noexcept nogil:
    cdef int i
    for i in range(n):
        if not -LARGEST < x[i * LANES + l] < LARGEST:
            return False
    return True


cdef inline void clamp(real* x, const real* most, int n) noexcept nogil:
    """Numbers beyond a magnitude become it; NaN stays."""
    cdef int i
    for i in range(n):
        x[i] = select(less(most[i], x[i]), most[i], select(less(x[i], -most[i]), -most[i], x[i]))


cdef inline double* data(cnp.ndarray a) noexcept:
    return <double*>cnp.PyArray_DATA(a)


cdef inline bint lane_finite(const real* x, int n, int l) noexcept nogil:
    cdef const double* p = <const double*>x
    cdef double sum = 0.0
    cdef int i
    for i in range(n):
        sum += p[i * LANES + l] - p[i * LANES + l]
    return sum == 0.0


cdef inline void scatter(const real* x, double* to, int n, Py_ssize_t first, Py_ssize_t left, Py_ssize_t* bad) noexcept nogil:
    """The rows of a group that begins with robot `first`, but those that are not finite; `bad` becomes the first of these ever."""
    cdef const double* p = <const double*>x
    cdef int i, l
    if all_finite(x, n):
        from_lanes(x, to, n, n, left)
        return
    for l in range(LANES):
        if l >= left:
            break
        if lane_finite(x, n, l):
            for i in range(n):
                to[l * n + i] = p[i * LANES + l]
        elif bad[0] < 0:
            bad[0] = first + l
