"""The one switch over joint kinds. Everything else in the engine is written for any kind and any number of columns."""
from mbros_core.real cimport copy, real
from mbros_core.spatial cimport Motion, Pose, scale_motion, zero_motion
from mbros_core.groups.rn cimport rn_difference, rn_integrate
from mbros_core.joints.joint cimport Joint
from mbros_core.joints.floating cimport (floating_advance, floating_bias, floating_difference, floating_integrate, floating_normalize,
                                         floating_place, floating_qdot, floating_velocity)
from mbros_core.joints.planar cimport planar_place
from mbros_core.joints.prismatic cimport prismatic_place
from mbros_core.joints.revolute cimport revolute_place
from mbros_core.joints.weld cimport weld_place

# The numbers of mbros_core.joints.registry, checked against it when the module is imported.
cdef enum Kind:
    WELD = 0
    REVOLUTE = 1
    PRISMATIC = 2
    PLANAR = 3
    FLOATING = 4
    NUMBER_OF_KINDS = 5


cdef inline void place(const Joint* j, Pose X_WF, const real* q, Pose* X_WM, Motion* S) noexcept nogil:
    """Pose of M in W and the columns of H_FM in W axes about Mo, from the whole configuration q."""
    cdef real own = j.ratio * q[j.iq] + j.offset if j.follows else q[j.iq]
    if j.kind == REVOLUTE:
        revolute_place(X_WF, own, X_WM, S)
    elif j.kind == PRISMATIC:
        prismatic_place(X_WF, own, X_WM, S)
    elif j.kind == PLANAR:
        planar_place(X_WF, q + j.iq, X_WM, S)
    elif j.kind == FLOATING:
        floating_place(X_WF, q + j.iq, X_WM, S)
    else:
        weld_place(X_WF, X_WM)
    if j.follows:
        S[0] = scale_motion(j.ratio, S[0])


cdef inline Motion bias(const Joint* j, Motion V_FM) noexcept nogil:
    """Hdot_FM v: the acceleration of M in F that is left when vdot = 0."""
    if j.kind == FLOATING:
        return floating_bias(V_FM)
    return zero_motion()


cdef inline void qdot_from_velocity(const Joint* j, const real* q, const real* v, real* qdot) noexcept nogil:
    if j.kind == FLOATING:
        floating_qdot(q, v, qdot)
    else:
        copy(qdot, v, j.nq)


cdef inline void velocity_from_qdot(const Joint* j, const real* q, const real* qdot, real* v) noexcept nogil:
    if j.kind == FLOATING:
        floating_velocity(q, qdot, v)
    else:
        copy(v, qdot, j.nv)


cdef inline void integrate(const Joint* j, const real* q, const real* dv, real* out) noexcept nogil:
    if j.kind == FLOATING:
        floating_integrate(q, dv, out)
    else:
        rn_integrate(q, dv, j.nq, out)


cdef inline void advance(const Joint* j, real* q, real* v, const real* vdot, real h) noexcept nogil:
    cdef int i
    if j.kind == FLOATING:
        floating_advance(q, v, vdot, h)
    else:
        for i in range(j.nv):
            v[i] = v[i] + h * vdot[i]
            q[i] = q[i] + h * v[i]


cdef inline void difference(const Joint* j, const real* q0, const real* q1, real* dv) noexcept nogil:
    if j.kind == FLOATING:
        floating_difference(q0, q1, dv)
    else:
        rn_difference(q0, q1, j.nq, dv)


cdef inline void normalize(const Joint* j, real* q) noexcept nogil:
    if j.kind == FLOATING:
        floating_normalize(q)
