# distutils: language = c++
"""The joint of ../joint_in_python.py in Cython: at full speed, and in the real-time loop."""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport asin, sqrt

cdef extern from "mbros_core/user.hpp":
    ctypedef struct mbros_user_joint:
        void* self
        int needs_gil, nq, nv
        void (*evaluate)(void*, const double*, const double*, double*, double*, double*) noexcept nogil


cdef void evaluate(void* self, const double* q, const double* v, double* X_FM, double* H, double* Hdot_v) noexcept nogil:
    cdef double a = (<double*>self)[0]
    cdef double s = q[0] / (4 * a)
    cdef double c = sqrt(1 - s * s)
    cdef double turning = v[0] / (4 * a * c)
    cdef int i
    for i in range(12):
        X_FM[i] = 1.0 if i == 0 or i == 4 or i == 8 else 0.0
    for i in range(6):
        H[i] = Hdot_v[i] = 0.0
    X_FM[9] = a * (2 * asin(s) + 2 * s * c)
    X_FM[11] = a * 2 * s * s
    H[3], H[5] = c, s
    Hdot_v[3] = -s * v[0] * turning
    Hdot_v[5] = c * v[0] * turning


cdef class Cycloid:
    """What mbros.CustomJoint takes: the capsule, sizes and names. The object must live as long as the model: mbros keeps it."""
    cdef mbros_user_joint plug
    cdef double a
    cdef readonly object capsule
    nq = nv = 1
    position_names, velocity_names = ("s",), ("sdot",)

    def __init__(self, double a):
        self.a = a
        self.plug.self = &self.a
        self.plug.needs_gil = 0
        self.plug.nq = self.plug.nv = 1
        self.plug.evaluate = evaluate
        self.capsule = PyCapsule_New(&self.plug, "mbros_core.user_joint", NULL)

    def __reduce__(self):
        return Cycloid, (self.a,)
