"""Efforts within the limits of the joints: of a plant's own step, under devices, and beside pushes."""
from libc.math cimport copysign, fabs


cdef inline void clamp_efforts(int nv, const double* given, const double* limit, double* effort, double* clamped) noexcept nogil:
    """effort, as given and within -limit and limit, (nv,) each, N m or N; clamped counts those that were beyond."""
    cdef double x
    cdef int i
    for i in range(nv):
        x = given[i]
        if fabs(x) > limit[i]:
            x = copysign(limit[i], x)
            clamped[0] += 1.0
        effort[i] = x
