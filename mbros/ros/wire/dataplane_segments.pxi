# Segments of a trajectory as Bernstein polynomials: they stay within the hull of their coefficients.

cdef enum:                      # what a point has beside positions
    HAS_VELOCITY = 1
    HAS_ACCELERATION = 2


cdef inline int _coefficients(const Track* t, int segment, int joint, double* b) noexcept nogil:
    """Those of the position over a segment; returns the degree."""
    cdef const double* a = t.x + 3 * (segment * t.njoints + joint)
    cdef const double* e = a + 3 * t.njoints
    cdef double T = t.time[segment + 1] - t.time[segment]
    cdef int both = t.has[segment] & t.has[segment + 1]
    b[0] = a[0]
    if both & HAS_ACCELERATION:
        b[1] = a[0] + T * a[1] / 5.0
        b[2] = a[0] + T * (0.4 * a[1] + T * a[2] / 20.0)
        b[3] = e[0] - T * (0.4 * e[1] - T * e[2] / 20.0)
        b[4] = e[0] - T * e[1] / 5.0
        b[5] = e[0]
        return 5
    if both & HAS_VELOCITY:
        b[1], b[2], b[3] = a[0] + T * a[1] / 3.0, e[0] - T * e[1] / 3.0, e[0]
        return 3
    b[1] = e[0]
    return 1


cdef inline void _derive(double* b, int degree, double T) noexcept nogil:
    """Of the velocity, of one degree less."""
    cdef int k
    for k in range(degree):
        b[k] = degree * (b[k + 1] - b[k]) / T


cdef inline double _value(const double* b, int degree, double u) noexcept nogil:
    """At u within 0 .. 1 (de Casteljau)."""
    cdef double[6] c
    cdef int i, k
    memcpy(c, b, (degree + 1) * sizeof(double))
    for k in range(degree):
        for i in range(degree - k):
            c[i] += u * (c[i + 1] - c[i])
    return c[0]


cdef bint _within(const double* b, int degree, double low, double high, int halvings) noexcept nogil:
    """Whether the polynomial stays within low .. high: by its hull, or by those of its halves where that is too wide."""
    cdef double[6] c
    cdef double[6] left
    cdef double[6] right
    cdef int i, k
    cdef bint inside = True
    if b[0] < low or b[0] > high or b[degree] < low or b[degree] > high:
        return False
    for k in range(1, degree):
        if b[k] < low or b[k] > high:
            inside = False
    if inside or halvings == 0:
        return True
    memcpy(c, b, (degree + 1) * sizeof(double))
    for k in range(degree + 1):
        left[k], right[degree - k] = c[0], c[degree - k]
        for i in range(degree - k):
            c[i] = 0.5 * (c[i] + c[i + 1])
    return _within(left, degree, low, high, halvings - 1) and _within(right, degree, low, high, halvings - 1)
