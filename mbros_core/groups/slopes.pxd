"""How integrate and difference change with what they are given: the derivatives of Exp and its inverse on SO(3) and SE(3).

    q (+) a (+) dv,  dv + b:  J_q = Ad(Exp(dv))^-1,  J_v = J_r(dv)          J_r(w) = 1 - c2 [w] + c3 [w]^2
    difference(q0, q1) = d:   J_0 = -J_r(-d)^-1,     J_1 = J_r(d)^-1        J_r(w)^-1 = 1 + 1/2 [w] + e [w]^2

and on SE(3) [[J, 0], [Q, J]] with Q of Barfoot 2017, 7.86b. c_k: Stumpff's functions of |w|^2, c_k = 1/k! - |w|^2 c_{k+2}, below 1 from
the series of c4 and c5; e = (1 - a/2 cot a/2) / a^2. The same in NumPy, for batches: mbros/spatial/lie.py. Over doubles alone.
"""
from libc.math cimport sin, sqrt, tan

cdef inline double series(const double* coefficients, int n, double x) noexcept nogil:
    cdef double sum = coefficients[n - 1]
    cdef int k
    for k in range(n - 2, -1, -1):
        sum = sum * x + coefficients[k]
    return sum


cdef inline void stumpff(double a2, double* c) noexcept nogil:
    """c[2] to c[5]."""
    cdef double a
    cdef double* of_4 = [1 / 24.0, -1 / 720.0, 1 / 40320.0, -1 / 3628800.0, 1 / 479001600.0, -1 / 87178291200.0, 1 / 20922789888000.0,
                         -1 / 6402373705728000.0, 1 / 2432902008176640000.0]
    cdef double* of_5 = [1 / 120.0, -1 / 5040.0, 1 / 362880.0, -1 / 39916800.0, 1 / 6227020800.0, -1 / 1307674368000.0,
                         1 / 355687428096000.0, -1 / 121645100408832000.0, 1 / 51090942171709440000.0]
    if a2 < 1.0:
        c[4], c[5] = series(of_4, 9, a2), series(of_5, 9, a2)
        c[2], c[3] = 0.5 - a2 * c[4], 1 / 6.0 - a2 * c[5]
    else:
        a = sqrt(a2)
        c[2], c[3] = 2.0 * sin(0.5 * a) * sin(0.5 * a) / a2, (a - sin(a)) / (a * a2)
        c[4], c[5] = (0.5 - c[2]) / a2, (1 / 6.0 - c[3]) / a2


cdef inline double half_cotangent(double a2) noexcept nogil:
    cdef double* terms = [1 / 12.0, 1 / 720.0, 1 / 30240.0, 1 / 1209600.0, 1 / 47900160.0, 691 / 1307674368000.0, 1 / 74724249600.0,
                          3617 / 10670622842880000.0]
    cdef double half = 0.5 * sqrt(a2)
    return series(terms, 8, a2) if a2 < 0.25 else (1.0 - half / tan(half)) / a2


cdef inline void polynomial(const double* w, double one, double first, double second, double* J, Py_ssize_t stride) noexcept nogil:
    """J (3, 3) = one 1 + first [w] + second [w]^2."""
    cdef double d = one - second * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    cdef int k, l
    for k in range(3):
        for l in range(3):
            J[k * stride + l] = second * w[k] * w[l]
        J[k * (stride + 1)] += d
    J[1] -= first * w[2]
    J[2] += first * w[1]
    J[stride] += first * w[2]
    J[stride + 2] -= first * w[0]
    J[2 * stride] -= first * w[1]
    J[2 * stride + 1] += first * w[0]


cdef inline void times(const double* A, Py_ssize_t a, const double* B, Py_ssize_t b, double* C, Py_ssize_t c) noexcept nogil:
    """C = A B, (3, 3) each; strides."""
    cdef int k, l
    for k in range(3):
        for l in range(3):
            C[k * c + l] = A[k * a] * B[l] + A[k * a + 1] * B[b + l] + A[k * a + 2] * B[2 * b + l]


cdef inline void so3_right(const double* w, double* J, Py_ssize_t stride) noexcept nogil:
    cdef double c[6]
    stumpff(w[0] * w[0] + w[1] * w[1] + w[2] * w[2], c)
    polynomial(w, 1.0, -c[2], c[3], J, stride)


cdef inline void so3_right_inverse(const double* w, double side, double* J, Py_ssize_t stride) noexcept nogil:
    """Of side w."""
    polynomial(w, 1.0, 0.5 * side, half_cotangent(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), J, stride)


cdef inline void coupling(const double* dv, double side, double* Q) noexcept nogil:
    """Q (3, 3) of the twist side [w; v]."""
    cdef double c[6]
    cdef double W[9]
    cdef double V[9]
    cdef double WV[9]
    cdef double VW[9]
    cdef double WVW[9]
    cdef double WWV[9]
    cdef double VWW[9]
    cdef double far[9]
    cdef double near[9]
    cdef int k
    stumpff(dv[0] * dv[0] + dv[1] * dv[1] + dv[2] * dv[2], c)
    polynomial(dv, 0.0, side, 0.0, W, 3)
    polynomial(dv + 3, 0.0, side, 0.0, V, 3)
    times(W, 3, V, 3, WV, 3)
    times(V, 3, W, 3, VW, 3)
    times(WV, 3, W, 3, WVW, 3)
    times(W, 3, WV, 3, WWV, 3)
    times(VW, 3, W, 3, VWW, 3)
    times(WVW, 3, W, 3, far, 3)
    times(W, 3, WVW, 3, near, 3)
    for k in range(9):
        Q[k] = (0.5 * V[k] + c[3] * (WV[k] + VW[k] + WVW[k]) + c[4] * (WWV[k] + VWW[k] - 3.0 * WVW[k])
                + 0.5 * (c[4] - 3.0 * c[5]) * (far[k] + near[k]))


cdef inline void repeat_block(double* J, Py_ssize_t stride) noexcept nogil:
    """The rotation's block (3, 3) of (6, 6) also stands for the translation."""
    cdef int k, l
    for k in range(3):
        for l in range(3):
            J[(k + 3) * stride + l + 3] = J[k * stride + l]


cdef inline void se3_right(const double* dv, double* J, Py_ssize_t stride) noexcept nogil:
    cdef double Q[9]
    cdef int k, l
    so3_right(dv, J, stride)
    repeat_block(J, stride)
    coupling(dv, -1.0, Q)
    for k in range(3):
        for l in range(3):
            J[(k + 3) * stride + l] = Q[3 * k + l]


cdef inline void se3_right_inverse(const double* dv, double side, double* J, Py_ssize_t stride) noexcept nogil:
    """Of side dv."""
    cdef double Q[9]
    cdef double half[9]
    cdef int k, l
    so3_right_inverse(dv, side, J, stride)
    repeat_block(J, stride)
    coupling(dv, -side, Q)
    times(J, stride, Q, 3, half, 3)
    times(half, 3, J, stride, J + 3 * stride, stride)
    for k in range(3):
        for l in range(3):
            J[(k + 3) * stride + l] = -J[(k + 3) * stride + l]


cdef inline void turned_back(const double* w, double* J, Py_ssize_t stride) noexcept nogil:
    """exp(w)^T: 1 - c1 [w] + c2 [w]^2, c1 = sin a / a = 1 - a^2 c3."""
    cdef double c[6]
    cdef double a2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    stumpff(a2, c)
    polynomial(w, 1.0, -(1.0 - a2 * c[3]), c[2], J, stride)


cdef inline void se3_adjoint_inverse(const double* dv, double* J, Py_ssize_t stride) noexcept nogil:
    """[[R^T, 0], [-R^T [p], R^T]] of R, p = Exp(dv)."""
    cdef double c[6]
    cdef double V[9]
    cdef double P[9]
    cdef double p[3]
    cdef int k
    stumpff(dv[0] * dv[0] + dv[1] * dv[1] + dv[2] * dv[2], c)
    polynomial(dv, 1.0, c[2], c[3], V, 3)                            # p = V(w) v
    for k in range(3):
        p[k] = V[3 * k] * dv[3] + V[3 * k + 1] * dv[4] + V[3 * k + 2] * dv[5]
    turned_back(dv, J, stride)
    repeat_block(J, stride)
    polynomial(p, 0.0, -1.0, 0.0, P, 3)
    times(J, stride, P, 3, J + 3 * stride, stride)
