"""R^n: the configuration space of one-axis joints and of the planar joint (whose velocities are the rates of q)."""
from mbros_core.scalar.real cimport real


cdef inline void rn_integrate(const real* q, const real* dv, int n, real* out) noexcept nogil:
    cdef int i
    for i in range(n):
        out[i] = q[i] + dv[i]

cdef inline void rn_difference(const real* q0, const real* q1, int n, real* dv) noexcept nogil:
    cdef int i
    for i in range(n):
        dv[i] = q1[i] - q0[i]
