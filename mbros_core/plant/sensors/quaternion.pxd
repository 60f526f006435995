"""Orientations as readings: quaternions x y z w."""
from libc.math cimport cos, sin, sqrt


cdef inline void quaternion_of(const double* R, double* x) noexcept nogil:
    """x y z w from the largest of the four (Shepperd 1978)."""
    cdef double t[4]
    cdef double a, b
    cdef int i, k = 3
    t[3] = 1.0 + R[0] + R[4] + R[8]
    t[0] = 1.0 + R[0] - R[4] - R[8]
    t[1] = 1.0 - R[0] + R[4] - R[8]
    t[2] = 1.0 - R[0] - R[4] + R[8]
    for i in range(3):
        if t[i] > t[k]:
            k = i
    a = 0.5 * sqrt(t[k])
    b = 0.25 / a
    if k == 3:
        x[0], x[1], x[2], x[3] = b * (R[7] - R[5]), b * (R[2] - R[6]), b * (R[3] - R[1]), a
    elif k == 0:
        x[0], x[1], x[2], x[3] = a, b * (R[1] + R[3]), b * (R[2] + R[6]), b * (R[7] - R[5])
    elif k == 1:
        x[0], x[1], x[2], x[3] = b * (R[1] + R[3]), a, b * (R[5] + R[7]), b * (R[2] - R[6])
    else:
        x[0], x[1], x[2], x[3] = b * (R[2] + R[6]), b * (R[5] + R[7]), a, b * (R[3] - R[1])


cdef inline void quaternion_on(const double* R, double* last, double* x) noexcept nogil:
    """That of R, of the sign that goes on from the last one, which it becomes. In the beginning that is 0."""
    cdef int i
    quaternion_of(R, x)
    if x[0] * last[0] + x[1] * last[1] + x[2] * last[2] + x[3] * last[3] < 0.0:
        for i in range(4):
            x[i] = -x[i]
    for i in range(4):
        last[i] = x[i]


cdef inline void turned_in_world(const double* e, double* x) noexcept nogil:
    """x becomes exp(e) x, e about the axes of the world."""
    cdef double angle = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    cdef double k = sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    cdef double c = cos(0.5 * angle), a = k * e[0], b = k * e[1], d = k * e[2]
    cdef double y[4]
    y[0] = c * x[0] + x[3] * a + b * x[2] - d * x[1]
    y[1] = c * x[1] + x[3] * b + d * x[0] - a * x[2]
    y[2] = c * x[2] + x[3] * d + a * x[1] - b * x[0]
    y[3] = c * x[3] - a * x[0] - b * x[1] - d * x[2]
    x[0], x[1], x[2], x[3] = y[0], y[1], y[2], y[3]
