"""True pose and velocity of a frame: position of its origin in the world, orientation as a quaternion x y z w, which does not change its sign
from one sample to the next, and the velocities of origin and frame along the frame's own axes, as nav_msgs/Odometry has them.

mem: draws, the last quaternion.
"""
from libc.math cimport sqrt

from mbros_core.sensors.sensor cimport Truth


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


cdef inline void pose_read(double* mem, const Truth* truth, double* out) noexcept nogil:
    cdef double* x = out + 3
    cdef int i
    quaternion_of(truth.R, x)
    if x[0] * mem[1] + x[1] * mem[2] + x[2] * mem[3] + x[3] * mem[4] < 0.0:
        for i in range(4):
            x[i] = -x[i]
    for i in range(4):
        mem[1 + i] = x[i]
    for i in range(3):
        out[i], out[7 + i], out[10 + i] = truth.p[i], truth.u[i], truth.w[i]
