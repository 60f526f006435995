"""User: a joint kind written outside mbros, through the function pointers of user.hpp.

Its functions speak doubles and the axes of F; here they are called lane by lane and turned into the world's axes.
"""
from libc.math cimport NAN

from mbros_core.support.held cimport Question, answered, asked
from mbros_core.scalar.real cimport LANES, lane, real, set_lane
from mbros_core.joints.joint cimport MAX_NQ, MAX_NV
from mbros_core.spatial cimport Mat3, Motion, Pose, Vec3, compose, motion, rotate, vec3

cdef extern from "user.hpp" nogil:
    ctypedef struct mbros_user_joint:
        void* self
        int needs_gil
        int nq
        int nv
        void (*evaluate)(void*, const double*, const double*, double*, double*, double*) noexcept nogil
        void (*qdot)(void*, const double*, const double*, double*) noexcept nogil
        void (*velocity)(void*, const double*, const double*, double*) noexcept nogil
        void (*integrate)(void*, const double*, const double*, double*) noexcept nogil
        void (*difference)(void*, const double*, const double*, double*) noexcept nogil
        void (*normalize)(void*, double*) noexcept nogil


cdef inline void take(const real* x, int n, int l, double* out) noexcept nogil:
    cdef int i
    for i in range(n):
        out[i] = lane(x[i], l)

cdef inline void give(const double* x, int n, int l, real* out) noexcept nogil:
    cdef int i
    for i in range(n):
        set_lane(out[i], l, x[i])

cdef inline void unknown(double* x, int n) noexcept nogil:
    """What a function leaves unwritten is not a number, and noticed."""
    cdef int i
    for i in range(n):
        x[i] = NAN

cdef inline void user_evaluate(const mbros_user_joint* u, const real* q, const real* v, Pose* X_FM, Motion* H,
                               Motion* Hdot_v) noexcept nogil:
    """X_FM, the columns of H and Hdot v, all in F axes."""
    cdef double x[MAX_NQ]
    cdef double w[MAX_NV]
    cdef double X[12]
    cdef double columns[6 * MAX_NV]
    cdef double bias[6]
    cdef Question question
    cdef int l
    for l in range(LANES):
        take(q, u.nq, l, x)
        take(v, u.nv, l, w)
        unknown(X, 12)
        unknown(columns, 6 * u.nv)
        unknown(bias, 6)
        asked(&question)
        u.evaluate(u.self, x, w, X, columns, bias)
        answered(&question)
        give(X, 12, l, <real*>X_FM)
        give(columns, 6 * u.nv, l, <real*>H)
        give(bias, 6, l, <real*>Hdot_v)

cdef inline void user_place(const mbros_user_joint* u, Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    cdef real still[MAX_NV]
    cdef Pose X_FM
    cdef Motion bias
    cdef int k
    for k in range(u.nv):
        still[k] = real(0.0)
    user_evaluate(u, q, still, &X_FM, S, &bias)
    X_WM.R = compose(X_WF.R, X_FM.R)
    X_WM.p = X_WF.p + rotate(X_WF.R, X_FM.p)
    for k in range(u.nv):
        S[k] = motion(rotate(X_WF.R, S[k].w), rotate(X_WF.R, S[k].v))

cdef inline Motion user_bias(const mbros_user_joint* u, Mat3 R_WF, const real* q, const real* v) noexcept nogil:
    cdef Pose X_FM
    cdef Motion H[MAX_NV]
    cdef Motion bias
    user_evaluate(u, q, v, &X_FM, H, &bias)
    return motion(rotate(R_WF, bias.w), rotate(R_WF, bias.v))

cdef inline void user_map(void* self, void (*f)(void*, const double*, const double*, double*) noexcept nogil, const real* a, int na,
                          const real* b, int nb, real* out, int n) noexcept nogil:
    """One of the four maps (a, b) -> out, lane by lane; out may be a or b."""
    cdef double x[MAX_NQ]
    cdef double y[MAX_NQ]
    cdef double z[MAX_NQ]
    cdef int l
    for l in range(LANES):
        take(a, na, l, x)
        take(b, nb, l, y)
        unknown(z, n)
        f(self, x, y, z)
        give(z, n, l, out)

cdef inline void user_normalize(const mbros_user_joint* u, real* q) noexcept nogil:
    cdef double x[MAX_NQ]
    cdef int l
    if u.normalize == NULL:
        return
    for l in range(LANES):
        take(q, u.nq, l, x)
        u.normalize(u.self, x)
        give(x, u.nq, l, q)
