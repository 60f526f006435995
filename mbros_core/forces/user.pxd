"""User: a force element between two frames written outside mbros, through the function pointer of user.hpp."""
from libc.math cimport NAN

from mbros_core.support.held cimport Question, answered, asked
from mbros_core.scalar.real cimport LANES, lane, real, set_lane
from mbros_core.forces.element cimport ForceOut, Relative

cdef extern from "user.hpp" nogil:
    ctypedef struct mbros_user_force:
        void* self
        int needs_gil
        void (*evaluate)(void*, const double*, const double*, double*, double*) noexcept nogil


cdef inline void user_pair(const mbros_user_force* u, const Relative* r, ForceOut* out) noexcept nogil:
    cdef const real* X = <const real*>&r.X
    cdef const real* V = <const real*>&r.V
    cdef real* F = <real*>&out.F
    cdef double x[12]
    cdef double v[6]
    cdef double wrench[6]
    cdef double numbers[3]
    cdef Question question
    cdef int i, l
    for i in range(6):          # what it leaves unwritten is not a number, and noticed
        wrench[i] = NAN
    numbers[0] = numbers[1] = numbers[2] = NAN
    for l in range(LANES):
        for i in range(12):
            x[i] = lane(X[i], l)
        for i in range(6):
            v[i] = lane(V[i], l)
        asked(&question)
        u.evaluate(u.self, x, v, wrench, numbers)
        answered(&question)
        for i in range(6):
            set_lane(F[i], l, wrench[i])
        set_lane(out.energy, l, numbers[0])
        set_lane(out.conservative, l, numbers[1])
        set_lane(out.nonconservative, l, numbers[2])
