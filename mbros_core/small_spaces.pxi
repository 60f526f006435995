# Increments, their derivatives and samples of configurations, one at a time: mbros/spatial/lie.py for one. Included by _small.pyx.

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
