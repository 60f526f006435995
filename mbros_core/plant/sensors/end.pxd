"""To the end of a step, from means over steps: a mean is what is true where the step took its forces, to second order: in its middle with
`midpoint`, at its start with `semi_implicit_euler`; of motion that is prescribed always in its middle.

    x(end) = x_k + s m(a, b),   s = 1/2, or 1 from the start,   a = x_k - x_k-1,   b = x_k-1 - x_k-2
    m: the smaller one of the two, 0 where they are further apart than half of it

Motion that is smooth changes alike from step to step, and that is true to second order. A blow does not, and is read as its mean over each
step, without overshoot.
"""
from libc.math cimport fabs


cdef inline double change(double x, double last, double before) noexcept nogil:
    """m of a step, of numbers of three steps."""
    cdef double a = x - last, b = last - before
    cdef double m = a if fabs(a) < fabs(b) else b
    return m if fabs(a - b) <= 0.5 * fabs(m) else 0.0
