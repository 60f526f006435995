"""What a task with rows J is (Khatib 1987): of M^-1, over doubles alone.

    D = J M^-1 J^T,   Lambda = (D + d^2 1)^-1,   Jbar = M^-1 J^T Lambda,   N = 1 - Jbar J

Cost: O(n nv (n + nv)) for n rows.
"""
from libc.string cimport memcpy, memset


cdef inline bint inverted(double* A, double* S, Py_ssize_t n, double well_posed) noexcept nogil:
    """S = A^-1 by Gauss and Jordan's elimination, whose pivots are those of Cholesky's; False where A is not positive definite, or the bound
    n sum A_kk S_kk on its condition number, rows scaled to one, not below `well_posed`."""
    cdef Py_ssize_t i, k, l
    cdef double p, bound = 0.0
    memcpy(S, A, n * n * sizeof(double))
    for k in range(n):
        if not S[k * (n + 1)] > 0.0:
            return False
        p, S[k * (n + 1)] = 1.0 / S[k * (n + 1)], 1.0
        for l in range(n):
            S[k * n + l] *= p
        for i in range(n):
            if i != k:
                p, S[i * n + k] = S[i * n + k], 0.0
                for l in range(n):
                    S[i * n + l] -= p * S[k * n + l]
    for k in range(n):
        bound += A[k * (n + 1)] * S[k * (n + 1)]
        for l in range(k):
            S[k * n + l] = S[l * n + k] = 0.5 * (S[k * n + l] + S[l * n + k])
    return n * bound < well_posed


cdef inline void rows_times(const double* A, const double* B, double* C, Py_ssize_t n, Py_ssize_t m, Py_ssize_t width) noexcept nogil:
    """C (n, width) = A (n, m) B (m, width)."""
    cdef Py_ssize_t i, k, l
    cdef double a
    memset(C, 0, n * width * sizeof(double))
    for i in range(n):
        for k in range(m):
            a = A[i * m + k]
            for l in range(width):
                C[i * width + l] += a * B[k * width + l]


cdef inline bint task_space(const double* J, const double* M_inverse, Py_ssize_t n, Py_ssize_t nv, double damping, double well_posed,
                            double* room, double* D, double* inertia, double* Jbar, double* N) noexcept nogil:
    """False where Lambda is not well posed. room: n nv + n n numbers."""
    cdef double* JM = room
    cdef double* A = room + n * nv
    cdef Py_ssize_t i, k, l
    cdef double sum
    rows_times(J, M_inverse, JM, n, nv, nv)
    for i in range(n):
        for k in range(i + 1):
            sum = 0.0
            for l in range(nv):
                sum += JM[i * nv + l] * J[k * nv + l]
            D[i * n + k] = D[k * n + i] = sum
    memcpy(A, D, n * n * sizeof(double))
    for k in range(n):
        A[k * (n + 1)] += damping * damping
    if not inverted(A, inertia, n, well_posed):
        return False
    for l in range(nv):
        for i in range(n):
            sum = 0.0
            for k in range(n):
                sum += JM[k * nv + l] * inertia[k * n + i]
            Jbar[l * n + i] = sum
    rows_times(Jbar, J, N, nv, n, nv)
    for k in range(nv * nv):
        N[k] = -N[k]
    for k in range(nv):
        N[k * (nv + 1)] += 1.0
    return True
