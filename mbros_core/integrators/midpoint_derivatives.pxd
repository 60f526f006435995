"""Derivatives of a midpoint step without contact (steps.pxd), where its damping, friction and springs are soft (algorithms/pivot.pxd,
forces/stiff.pxd).

    q_h = q (+) h/2 v,  a = vdot(q_h, v + h/2 a_prev),  v+ = v + h a,  q+ = q_h (+) h/2 v+           (1)
    da = vdot_q (Q_q dq + Q_v dv) + vdot_v dv + vdot_tau dtau,   dq_h = Q_q dq + Q_v dv               (2)

vdot_q, vdot_v, vdot_tau are the derivatives of forward dynamics at the middle, with the diagonal of the step; what friction holds does not
move, whatever changes. What a joint makes of a itself, (dq+, dv+) of (dq, dv, da), is its own affair: 1, h
and h^2/2 for most, dual numbers of that joint alone for bodies that can turn (Halving). Cost: O(nv^2 depth).
"""
from mbros_core.scalar.pack cimport PACK, pack, packed, spread, unpack
from mbros_core.scalar.real cimport any, less, nonzero, real, value
from mbros_core.forces.dispatch cimport coordinate_slopes, has_constant_slopes
from mbros_core.forces.element cimport ForceElement, PARAMETERS
from mbros_core.forces.passive cimport stops
from mbros_core.forces.stiff cimport all_soft as springs_soft
from mbros_core.groups.configuration cimport stays, to_the_middle
from mbros_core.integrators.joint_friction cimport accelerate_with_friction, rubs
from mbros_core.joints.joint cimport Joint, MAX_NQ, MAX_NV
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport Columns
from mbros_core.algorithms.equation_of_motion cimport midpoint_vdot_under
from mbros_core.algorithms.forward_dynamics_derivatives cimport forward_dynamics_derivatives

# Of one joint: (kind, nq, nv), [q (7), v (6), v + h/2 a_prev (6), a (6), inertia of its body (10)], h, J (3 nv, 3 nv): rows q_h, q+, v+
# along the joint's velocities, columns q, v, a.
ctypedef void (*Halving)(const int*, const double*, double, double*) noexcept nogil

cdef enum:
    HALVED = 3 * MAX_NV


cdef inline void slopes_over(const ModelC* m, const Work* s, const real* v, real h, real* by_q, real* by_v) noexcept nogil:
    """What forces.passive.passive_torques_over at (q_h, v) gives, less D0 a, differentiated by q_h and v."""
    cdef const ForceElement* e
    cdef real tau, C, K
    cdef int i, k, iq
    for i in range(m.nv):
        by_q[i] = real(0.0)
        by_v[i] = -s.damping[i]
        if any(nonzero(s.friction[i])):
            by_v[i] = by_v[i] - s.sticking[i] / h
        iq = m.q_of_v[i]
        if iq >= 0:
            tau = C = K = real(0.0)
            stops(m, s, i, iq, s.q[iq] + h * v[i], h, &tau, &C, &K)
            by_q[i] = by_q[i] - K
            by_v[i] = by_v[i] - (C + h * K)
    for k in range(m.ne):
        e = &m.elements[k]
        if e.iv >= 0:
            coordinate_slopes(e.kind, s.force_parameters + k * PARAMETERS, s.q[e.iq], v[e.iv], &K, &C)
            by_q[e.iv] = by_q[e.iv] + K
            by_v[e.iv] = by_v[e.iv] + C


cdef inline bint all_soft(const ModelC* m, const Work* s) noexcept nogil:
    """Whether the last midpoint_vdot_under took the soft pivots throughout."""
    cdef const Joint* j
    cdef real D, J
    cdef int i, k, b
    for b in range(1, m.nb):
        j = &m.joints[b]
        if j.follows:
            continue
        for k in range(j.nv):
            i = j.iv + k
            if value(s.lock[i]) != 0.0:
                continue
            D = 1.0 / (s.L[i * (<Py_ssize_t>m.nv + 1)] if m.shared else s.D_inverse[j.column + k])
            J = D - s.D0[i]
            if any(less(0.5 * (D + s.D0[i]), s.stiff[i].C)):
                return False
            if m.ncoordinate and any(less(4.0 * (J + s.rotor_inertia[i]), s.stiff[i].K)):
                return False
    return True


cdef inline bint has_step_slopes(const ModelC* m) noexcept nogil:
    """Whether the model's midpoint steps have derivatives here, where they are soft."""
    cdef int k
    if m.ns or m.nk:
        return False
    for k in range(m.ne):
        if m.elements[k].iv >= 0 and not has_constant_slopes(m.elements[k].kind):
            return False
    return True


cdef inline bint middle_slopes(const ModelC* m, Work* s, const real* tau, real h, Columns* c) noexcept nogil:
    """a into s.vdot, its derivatives by q_h, v and tau into c.R. s: the start, which is left at the middle; s.stage_q and s.stage_v are the
    start then. False where the step is not soft."""
    cdef int i
    if m.nsprings and not springs_soft(m, s, h):
        return False
    for i in range(m.nq):
        s.stage_q[i] = s.q[i]
    for i in range(m.nv):
        s.stage_v[i] = s.v[i]
    to_the_middle(m, s.q, s.v, s.inertia, s.lock, h)
    if rubs(m, s):
        accelerate_with_friction(m, s, tau, s.stage_v, s.vdot, h, True, False)
    else:
        midpoint_vdot_under(m, tau, h, s.vdot, s)
    if not all_soft(m, s):
        return False
    slopes_over(m, s, s.stage_v, h, c.passive_q, c.passive_v)
    return True


cdef inline void add_rows(real* y, real a, const real* x, int n) noexcept nogil:
    """y += a x."""
    cdef pack p = spread(a)
    cdef int k
    for k in range(n // PACK):
        unpack(y + k * PACK, packed(y + k * PACK) + p * packed(x + k * PACK))
    for k in range(n // PACK * PACK, n):
        y[k] = y[k] + a * x[k]


cdef inline void set_rows(real* y, real a, const real* x, int n) noexcept nogil:
    """y = a x."""
    cdef pack p = spread(a)
    cdef int k
    for k in range(n // PACK):
        unpack(y + k * PACK, p * packed(x + k * PACK))
    for k in range(n // PACK * PACK, n):
        y[k] = a * x[k]


cdef inline void through_the_middle(int iv, int n, const real* J, real* by_q, real* by_v, int nv) noexcept nogil:
    """(2) for one joint of n coordinates from iv on: columns of da by q_h become those by q and v. J: as of Halving."""
    cdef real x[MAX_NV]
    cdef real y
    cdef int i, k, l
    for i in range(nv):
        for k in range(n):
            x[k] = by_q[i * nv + iv + k]
        for k in range(n):
            y = real(0.0)
            for l in range(n):
                y = y + x[l] * J[l * 3 * n + k]
            by_q[i * nv + iv + k] = y
            y = by_v[i * nv + iv + k]
            for l in range(n):
                y = y + x[l] * J[l * 3 * n + n + k]
            by_v[i * nv + iv + k] = y


cdef inline void ends_of_coordinate(int i, real h, const real* by_q, const real* by_v, const real* by_tau, real* A, real* B,
                                    int n) noexcept nogil:
    """Rows q+ and v+ of a coordinate with q+ = q_h + h/2 v+, v+ = v + h a."""
    cdef Py_ssize_t at = i * <Py_ssize_t>n
    cdef real* q_row = A + 2 * at
    cdef real* v_row = A + 2 * (at + <Py_ssize_t>n * n)
    cdef real half = 0.5 * h * h
    set_rows(q_row, half, by_q + at, n)
    set_rows(q_row + n, half, by_v + at, n)
    set_rows(B + at, half, by_tau + at, n)
    set_rows(v_row, h, by_q + at, n)
    set_rows(v_row + n, h, by_v + at, n)
    set_rows(B + at + <Py_ssize_t>n * n, h, by_tau + at, n)
    q_row[i] = q_row[i] + real(1.0)
    q_row[n + i] = q_row[n + i] + h
    v_row[n + i] = v_row[n + i] + real(1.0)


cdef inline void ends_held(int i, real h, real* A, real* B, int n) noexcept nogil:
    """The same of a coordinate that friction holds: v+ = 0, q+ = q + h/2 v."""
    cdef real* q_row = A + 2 * i * <Py_ssize_t>n
    cdef real* v_row = A + 2 * (i * <Py_ssize_t>n + <Py_ssize_t>n * n)
    cdef int k
    for k in range(2 * n):
        q_row[k] = v_row[k] = real(0.0)
    for k in range(n):
        B[i * <Py_ssize_t>n + k] = B[(i + n) * <Py_ssize_t>n + k] = real(0.0)
    q_row[i], q_row[n + i] = real(1.0), 0.5 * h


cdef inline void ends_of_joint(int iv, int n, const real* J, const real* by_q, const real* by_v, const real* by_tau, real* A, real* B,
                               int nv) noexcept nogil:
    """Rows q+ and v+ of a joint by its J."""
    cdef real* row
    cdef real* row_B
    cdef const real* slope
    cdef Py_ssize_t at
    cdef int part, i, k
    for part in range(2):
        for i in range(n):
            at = part * nv + iv + i
            row, row_B, slope = A + at * 2 * nv, B + at * nv, J + ((1 + part) * n + i) * 3 * n
            set_rows(row, slope[2 * n], by_q + iv * <Py_ssize_t>nv, nv)
            set_rows(row + nv, slope[2 * n], by_v + iv * <Py_ssize_t>nv, nv)
            set_rows(row_B, slope[2 * n], by_tau + iv * <Py_ssize_t>nv, nv)
            for k in range(1, n):
                add_rows(row, slope[2 * n + k], by_q + (iv + k) * <Py_ssize_t>nv, nv)
                add_rows(row + nv, slope[2 * n + k], by_v + (iv + k) * <Py_ssize_t>nv, nv)
                add_rows(row_B, slope[2 * n + k], by_tau + (iv + k) * <Py_ssize_t>nv, nv)
            for k in range(n):
                row[iv + k] = row[iv + k] + slope[k]
                row[nv + iv + k] = row[nv + iv + k] + slope[n + k]
