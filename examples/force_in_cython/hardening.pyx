# cython: language_level=3, cdivision=True
"""The hardening spring of examples/force_in_python.py in Cython: no interpreter, so the real-time loop runs it too."""
from cpython.pycapsule cimport PyCapsule_New
from libc.string cimport memset

cdef extern from "mbros_core/user.hpp":
    ctypedef struct mbros_user_force:
        void* self
        int needs_gil
        void (*evaluate)(void*, const double*, const double*, double*, double*) noexcept nogil

cdef struct Numbers:
    double k
    double k3
    double c


cdef void evaluate(void* self, const double* X_AC, const double* V_AC, double* wrench, double* numbers) noexcept nogil:
    """f = -(k + k3 |p|^2) p - c pdot on C; see mbros_core/user.hpp for what stands where."""
    cdef const Numbers* n = <const Numbers*>self
    cdef const double* p = X_AC + 9
    cdef const double* v = V_AC + 3
    cdef double r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
    cdef double stiffness = n.k + n.k3 * r2
    cdef int i
    memset(wrench, 0, 6 * sizeof(double))
    numbers[0] = 0.5 * n.k * r2 + 0.25 * n.k3 * r2 * r2
    numbers[1] = numbers[2] = 0.0
    for i in range(3):
        wrench[3 + i] = -stiffness * p[i] - n.c * v[i]
        numbers[1] -= stiffness * p[i] * v[i]
        numbers[2] -= n.c * v[i] * v[i]


cdef class HardeningSpring:
    """mbros.CompiledForceElement(frame_A, frame_C, HardeningSpring(k, k3, c)): k N/m, k3 N/m^3, c N s/m."""
    cdef Numbers numbers
    cdef mbros_user_force force
    cdef readonly object capsule

    def __init__(self, double k, double k3, double c=0.0):
        self.numbers = Numbers(k, k3, c)
        self.force.self = &self.numbers
        self.force.needs_gil = 0
        self.force.evaluate = evaluate
        self.capsule = PyCapsule_New(&self.force, "mbros_core.user_force", NULL)

    def __reduce__(self):
        return HardeningSpring, (self.numbers.k, self.numbers.k3, self.numbers.c)
