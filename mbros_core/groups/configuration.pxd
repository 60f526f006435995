"""Configurations of the whole model: the joints' groups side by side. Joints that follow another have none of their own."""
from mbros_core.scalar.real cimport real, value
from mbros_core.joints.dispatch cimport (advance, difference, first_half, integrate, normalize, qdot_from_velocity, second_half,
                                         velocity_from_qdot)
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Inertia
from mbros_core.engine.state cimport ModelC


cdef inline void move(const ModelC* m, const real* q, const real* dv, real* out) noexcept nogil:
    """out = q (+) dv for the whole model."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not j.follows:
            integrate(j, q + j.iq, dv + j.iv, out + j.iq)


cdef inline bint stays(const Joint* j, const real* lock) noexcept nogil:
    """A joint whose coordinates are another's, or that is locked, does not move of its own."""
    return j.follows or j.nv == 0 or (lock != NULL and value(lock[j.iv]) != 0.0)


cdef inline void euler(const ModelC* m, real* q, real* v, const real* vdot, const real* lock, real h) noexcept nogil:
    """Semi-implicit Euler for the whole model, in place: v+ = v + h vdot, then q+ = q (+) h v+. Locked joints keep every bit."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not stays(j, lock):
            advance(j, q + j.iq, v + j.iv, vdot + j.iv, h)


cdef inline void to_the_middle(const ModelC* m, real* q, const real* v, const Inertia* M, const real* lock, real h) noexcept nogil:
    """The first half of a midpoint step for the whole model: q = q (+) h/2 v; bodies go about their centres of mass."""
    cdef const Joint* j
    cdef real half = 0.5 * h
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not stays(j, lock):
            first_half(j, q + j.iq, v + j.iv, &M[i], half)


cdef inline void to_the_end(const ModelC* m, const real* q_start, real* q, const real* v_start, real* v, real* a, const Inertia* M,
                            const real* lock, real h) noexcept nogil:
    """The other half: v+ = v_start + h a, with the momenta of free bodies, q = q (+) h/2 v+, a = (v+ - v_start) / h. Of locked joints q
    keeps every bit, and v, which is zero."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not stays(j, lock):
            second_half(j, q_start + j.iq, q + j.iq, v_start + j.iv, v + j.iv, a + j.iv, &M[i], h)


cdef inline void rates(const ModelC* m, const real* q, const real* v, real* qdot) noexcept nogil:
    """qdot = N(q) v for the whole model."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not j.follows:
            qdot_from_velocity(j, q + j.iq, v + j.iv, qdot + j.iq)


cdef inline void bring_back(const ModelC* m, real* q, const real* lock) noexcept nogil:
    """The nearest valid configuration; locked joints (lock may be NULL: none) are left alone."""
    cdef int i
    for i in range(1, m.nb):
        if not stays(&m.joints[i], lock):
            normalize(&m.joints[i], q + m.joints[i].iq)


cdef inline void apart(const ModelC* m, const real* q0, const real* q1, real* dv) noexcept nogil:
    """dv with q0 (+) dv = q1."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not j.follows:
            difference(j, q0 + j.iq, q1 + j.iq, dv + j.iv)


cdef inline void unrates(const ModelC* m, const real* q, const real* qdot, real* v) noexcept nogil:
    """v = N+(q) qdot."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not j.follows:
            velocity_from_qdot(j, q + j.iq, qdot + j.iq, v + j.iv)
