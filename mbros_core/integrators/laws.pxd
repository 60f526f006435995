"""Laws of motion that are asked for at the times of an error-controlled step: a C function, as mbros_core.engine._callbacks makes it of Python.

A law writes, for each joint whose motion it knows, motion_q and motion of prescribed.pxd, (1), about the time it is asked for.
"""
cdef struct Laws:
    void* self
    void (*at)(void* self, double t, double* motion_q, double* motion) noexcept nogil
