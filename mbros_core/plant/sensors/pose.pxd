"""True pose and velocity of a frame: position of its origin in the world, orientation as a quaternion x y z w, which does not change its sign
from one sample to the next, and the velocities of origin and frame along the frame's own axes, as nav_msgs/Odometry has them.
"""
from mbros_core.plant.sensors.quaternion cimport quaternion_on
from mbros_core.plant.sensors.sensor cimport Truth


cdef struct PoseNumbers:                     # of the message, which nothing here needs
    double pose_covariance_diagonal[6]
    double twist_covariance_diagonal[6]

cdef struct PoseMemory:
    double draws
    double quaternion[4]                     # of the last sample


cdef inline void pose_read(PoseMemory* mem, const Truth* truth, double* out) noexcept nogil:
    cdef int i
    quaternion_on(truth.R, mem.quaternion, out + 3)
    for i in range(3):
        out[i], out[7 + i], out[10 + i] = truth.p[i], truth.u[i], truth.w[i]
