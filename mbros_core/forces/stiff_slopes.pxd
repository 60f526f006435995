"""Derivatives of what stiff force elements do in a step, over dual numbers: the part of them that the convex problem's curvature does not
know (constraints/slopes.pxd (1)), the change of J^T gamma of their rows while v follows v*.

Rows, J and M come as dual numbers. The mobility w of a row is the largest value of 2 J x - x^T M x, so that its derivative needs x = M^-1
J^T as it is, and no derivative of it.
"""
from mbros_core.scalar.real cimport fmax, fmin, real, set_lane, value
from mbros_core.constraints.springs cimport apply_inverse
from mbros_core.forces.dispatch cimport may_be_stiff
from mbros_core.forces.element cimport ForceElement, PARAMETERS
from mbros_core.forces.stiff cimport Rows, rows_in_world
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Motion, Vec3, cross, dot
from mbros_core.engine.state cimport ModelC, Work


cdef inline void add_branch(const ModelC* m, const Work* s, int body, double sign, const Rows* x, real* J) noexcept nogil:
    """J (rows, nv) of what the joint that carries a body does to the rows."""
    cdef const Joint* j = &m.joints[body]
    cdef Motion S
    cdef Vec3 v
    cdef int i, k
    for k in range(j.nv):
        if value(s.lock[j.iv + k]) != 0.0:
            continue
        S = s.S[j.column + k]
        v = S.v + cross(S.w, x.at - s.X_WB[body].p)
        for i in range(x.of.n):
            J[i * m.nv + j.iv + k] = J[i * m.nv + j.iv + k] + sign * (dot(x.turn[i], S.w) + dot(x.move[i], v))


cdef inline void dense_rows(const ModelC* m, const Work* s, const ForceElement* e, const Rows* x, real* J) noexcept nogil:
    cdef int a = e.body_a
    cdef int c = e.body_c
    cdef int i
    for i in range(x.of.n * m.nv):
        J[i] = real(0.0)
    while a != c:
        if c > a:
            add_branch(m, s, c, 1.0, x, J)
            c = m.joints[c].parent
        else:
            add_branch(m, s, a, -1.0, x, J)
            a = m.joints[a].parent


cdef inline real mobility_of(const ModelC* m, Work* s, const real* J) noexcept nogil:
    """w of a row, with its derivatives. Uses the workspace's direction."""
    cdef double* x = s.contacts.problem.direction
    cdef real w = real(0.0)
    cdef real Mx
    cdef int i, k
    for i in range(m.nv):
        x[i] = value(J[i])
    apply_inverse(s.contacts.mass, &m.scene.tree, x)
    for i in range(m.nv):
        Mx = real(0.0)
        for k in range(m.nv):
            if x[k] != 0.0:
                Mx = Mx + x[k] * s.L[i * m.nv + k]
        w = w + x[i] * (2.0 * J[i] - Mx)
    return w


cdef inline real along(const real* J, const real* v, int n) noexcept nogil:
    cdef real y = real(0.0)
    cdef int i
    for i in range(n):
        y = y + J[i] * v[i]
    return y


cdef inline real row_impulse(const Rows* x, int i, real share, real w, real h, real y, real y_end, double sag) noexcept nogil:
    """What springs.pxd (1) has over the force of the middle."""
    cdef real k = h * h * x.of.k[i]
    cdef real d = h * x.of.d[i]
    cdef real s = fmin(real(1.0), fmax(real(0.0), 0.25 * k * w - real(1.0)))
    cdef real theta = real(0.5)
    if value(d) * value(w) > 0.0:
        theta = fmax(theta, 1.0 - 0.5 / (d * w))
    return (-(k * (s * (y + sag * h * x.bias[i]) + (0.25 * share + 0.75 * s) * (y_end - y)))
            - d * share * (y - x.rate[i] + theta * (y_end - y)))


cdef inline void add_spring_slopes(const ModelC* m, Work* s, const real* v_start, const real* a, real h, double sag,
                                   real* change) noexcept nogil:
    """change += J^T gamma of all stiff elements at the solution, while v follows v*. a: without contact. Uses s.U and s.u."""
    cdef const ForceElement* e
    cdef Rows x
    cdef real gamma, w
    cdef real* J = <real*>s.U
    cdef real* v = s.u
    cdef int i, l, n
    cdef int k = 0
    for i in range(m.nv):
        v[i] = v_start[i] + h * a[i]
        set_lane(v[i], 0, s.contacts.problem.v[i])
    for n in range(m.ne):
        e = &m.elements[n]
        if not may_be_stiff(e):
            continue
        if s.contacts.spring[k].n:
            rows_in_world(s, e, s.force_parameters + n * PARAMETERS, &x)
            dense_rows(m, s, e, &x, J)
            for l in range(x.of.n):
                if value(x.of.k[l]) > 0.0 or value(x.of.d[l]) > 0.0:
                    w = mobility_of(m, s, J + l * m.nv)
                    gamma = row_impulse(&x, l, (<real*>s.contacts.share)[k], w, h, along(J + l * m.nv, v_start, m.nv),
                                        along(J + l * m.nv, v, m.nv), sag)
                    for i in range(m.nv):
                        change[i] = change[i] + J[l * m.nv + i] * gamma
        k += 1
