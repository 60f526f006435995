"""All force elements of a model: what they do to the bodies and coordinates, and the energy in them."""
from mbros_core.scalar.real cimport copy, real
from mbros_core.forces.dispatch cimport evaluate_body, evaluate_coordinate, evaluate_pair
from mbros_core.forces.element cimport ForceElement, ForceOut, PARAMETERS, Relative
from mbros_core.spatial cimport (Force, Motion, Pose, Vec3, compose, cross, force, inverse_times, motion, rotate, shift_force, unrotate,
                                 zero_motion)
from mbros_core.engine.state cimport ModelC, Work


cdef inline void frame_on_body(const Work* s, int body, const Pose* X_BF, Pose* X, Motion* V) noexcept nogil:
    """Pose in W of a frame on a body, with its origin taken from the body's origin, and the velocity of that origin."""
    if body == 0:
        X[0] = X_BF[0]                          # of the world: nothing turns it, and it stands still
        V[0] = zero_motion()
        return
    X.R = compose(s.X_WB[body].R, X_BF.R)
    X.p = rotate(s.X_WB[body].R, X_BF.p)
    V[0] = motion(s.V_WB[body].w, s.V_WB[body].v + cross(s.V_WB[body].w, X.p))


cdef inline void relative_motion(const Work* s, const ForceElement* e, Pose* X_A, Pose* X_C, Relative* r) noexcept nogil:
    """X_AC and V_AC in A axes. X_A and X_C: the frames in W axes, origins from their bodies' origins."""
    cdef Motion V_A
    cdef Motion V_C
    cdef Vec3 p
    cdef Vec3 w
    frame_on_body(s, e.body_a, &e.X_A, X_A, &V_A)
    frame_on_body(s, e.body_c, &e.X_C, X_C, &V_C)
    p = s.X_WB[e.body_c].p - s.X_WB[e.body_a].p + (X_C.p - X_A.p)
    r.X = inverse_times(X_A[0], X_C[0])
    r.X.p = unrotate(X_A.R, p)
    r.V.w = unrotate(X_A.R, V_C.w - V_A.w)
    r.V.v = unrotate(X_A.R, V_C.v - V_A.v - cross(V_A.w, p))


cdef inline void evaluate(const ModelC* m, const Work* s, int k, Force* F_A, Force* F_C, ForceOut* out) noexcept nogil:
    """Element k: its wrenches on the bodies of A and C about their origins in W axes, and out (F in its own axes)."""
    cdef const ForceElement* e = &m.elements[k]
    cdef const real* par = s.force_parameters + k * PARAMETERS
    cdef Pose X_A
    cdef Pose X_C
    cdef Relative r
    cdef Force F
    cdef Vec3 p
    if e.iv >= 0:
        evaluate_coordinate(e.kind, par, s.q[e.iq], s.v[e.iv], out)
        return
    if e.body_a < 0:
        frame_on_body(s, e.body_c, &e.X_C, &X_C, &r.V)
        r.X = X_C
        r.X.p = s.X_WB[e.body_c].p + X_C.p
        evaluate_body(e.kind, par, &r, out)
        F_C[0] = shift_force(out.F, X_C.p)
        return
    relative_motion(s, e, &X_A, &X_C, &r)
    evaluate_pair(e, par, &r, out)
    F = force(rotate(X_A.R, out.F.t), rotate(X_A.R, out.F.f))
    F_C[0] = shift_force(F, X_C.p)
    # the same wrench about the origin of A's body: from Co to Ao, then to Bo
    p = X_A.p + rotate(X_A.R, r.X.p)
    F_A[0] = shift_force(F, p)


cdef inline void on_both_bodies(const Work* s, const ForceElement* e, Force F, Force* F_A, Force* F_C) noexcept nogil:
    """A wrench on C about Co in A axes, as evaluate() has it."""
    cdef Pose X_A
    cdef Pose X_C
    cdef Relative r
    relative_motion(s, e, &X_A, &X_C, &r)
    F = force(rotate(X_A.R, F.t), rotate(X_A.R, F.f))
    F_C[0] = shift_force(F, X_C.p)
    F_A[0] = shift_force(F, X_A.p + rotate(X_A.R, r.X.p))


cdef inline void apply_elements(const ModelC* m, Work* s) noexcept nogil:
    """s.applied = external wrenches and those of all pair and body elements. Positions and velocities are in place."""
    cdef const ForceElement* e
    cdef ForceOut out
    cdef Force F_A
    cdef Force F_C
    cdef int k
    copy(<real*>s.applied, <real*>s.external_force, 6 * m.nb)
    for k in range(m.ne):
        e = &m.elements[k]
        if e.iv >= 0:
            continue
        evaluate(m, s, k, &F_A, &F_C, &out)
        s.applied[e.body_c] = s.applied[e.body_c] + F_C
        if e.body_a >= 0:
            s.applied[e.body_a] = s.applied[e.body_a] - F_A


cdef inline real elements_energy(const ModelC* m, const Work* s) noexcept nogil:
    """Energy stored in all elements, J."""
    cdef ForceOut out
    cdef Force F_A
    cdef Force F_C
    cdef real E = real(0.0)
    cdef int k
    for k in range(m.ne):
        evaluate(m, s, k, &F_A, &F_C, &out)
        E = E + out.energy
    return E
