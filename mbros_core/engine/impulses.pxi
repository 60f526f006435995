# Velocities that are given at once, and what the rest of the robot gets of it. Only the double modules include this file.
#
# With c the change of the velocities of locked and prescribed coordinates, J their rows of the identity, J_c those of constraints,
#
#     M dv = J^T p + J_c^T P,   J dv = c,   J_c (v + dv) = 0                                       (1)
#
# where p and P are impulses: the momentum of a free robot stays. For c = -v of coordinates that stop, v + dv is the velocity nearest to v
# in the metric of M, so that kinetic energy falls. Without constraints dv is found as accelerations are in forward_dynamics.pxd, with c in
# the place of those that are given and without forces; constraints then take it to the nearest that they allow. Cost: O(nb), with shared
# coordinates or constraints that of the mass matrix. What touches answers in the step that follows.

from mbros_core.algorithms.forward_dynamics cimport accelerate_step, articulate_step, zeros
from mbros_core.algorithms.mass_matrix cimport factor, hold_at, solve_factored
from mbros_core.constraints.hold cimport A_VELOCITY
from mbros_core.scalar.real cimport copy
from mbros_core.spatial cimport articulated, inertia_times, rotate_inertia, zero_force, zero_motion


cdef void follow_change(const ModelC* m, Work* s, const real* change, real* dv) noexcept nogil:
    """dv of equation (1) without constraints. Velocity stage and first two rows of stage_v are overwritten."""
    cdef Work w = s[0]
    cdef const real* nothing = zeros(s.stage_v, m.nv)
    cdef int i
    w.lock, w.a_given, w.D0 = s.stage_v + m.nv, <real*>change, s.rotor_inertia
    for i in range(m.nv):
        w.lock[i] = real(PRESCRIBED if value(s.lock[i]) != DYNAMIC else DYNAMIC)
    positions(m, s)
    if m.shared:
        zeros(dv, m.nv)
        mass_matrix(m, s.L, s.rotor_inertia, s)
        for i in range(m.nv):
            if value(w.lock[i]) != DYNAMIC:
                hold_at(s.L, m.nv, i, dv, change[i])
        factor(m, s.L, dv, NULL)
        solve_factored(s.L, m.nv, dv)
        return
    s.A_WB[0] = zero_motion()
    for i in range(1, m.nb):
        s.P[i], s.F[i], s.Ab_WB[i] = articulated(rotate_inertia(s.X_WB[i].R, s.inertia[i])), zero_force(), zero_motion()
    for i in range(m.nb - 1, 0, -1):
        articulate_step(m, i, nothing, &w, False)
    for i in range(1, m.nb):
        accelerate_step(&m.joints[i], i, dv, &w)


cdef void find_impulses(const ModelC* m, Work* s, const real* dv) noexcept nogil:
    """p of equation (1) into s.tau, by the recursive Newton-Euler algorithm; P is in the state's memory."""
    cdef int i
    s.A_WB[0] = zero_motion()
    s.F[0] = zero_force()
    for i in range(m.nv):
        s.tau[i] = s.rotor_inertia[i] * dv[i]
    for i in range(1, m.nb):
        s.Ab_WB[i] = zero_motion()
        acceleration_step(&m.joints[i], i, dv, s)
        s.F[i] = inertia_times(rotate_inertia(s.X_WB[i].R, s.inertia[i]), s.A_WB[i])
    if m.nk:
        take_off_constraints(m, s)
        take_off_couplers(m, s)
    gather_forces(m, s.tau, s)


cdef void change_velocities(const ModelC* m, Work* s, const real* change) noexcept nogil:
    """v becomes v + dv of equation (1), and a_given of locked coordinates what it took, p."""
    cdef real* dv = s.stage_v + 3 * m.nv
    cdef real* before = s.stage_v + 4 * m.nv
    cdef real known
    cdef int i
    copy(before, s.v, m.nv)
    follow_change(m, s, change, dv)
    for i in range(m.nv):
        s.v[i] = real(0.0) if value(s.lock[i]) == LOCKED else before[i] + dv[i]
    if m.nk:
        known = s.contact_memory[KNOWN]
        velocities(m, s)
        with_constraints(m, s, s.v, A_VELOCITY, True)
        s.contact_memory[KNOWN] = known
    for i in range(m.nv):
        dv[i] = s.v[i] - before[i]
    find_impulses(m, s, dv)
    for i in range(m.nv):
        if value(s.lock[i]) == LOCKED:
            s.a_given[i] = s.tau[i]


cdef void come_to_rest(const ModelC* m, Work* s) noexcept nogil:
    """Locked coordinates stop at once: when they are locked, by whomever."""
    cdef real* change = s.stage_v + 2 * m.nv
    cdef bint moving = False
    cdef int i
    for i in range(m.nv):
        change[i] = real(0.0)
        if value(s.lock[i]) == LOCKED:
            change[i] = -s.v[i]
            moving = moving or value(s.v[i]) != 0.0
            s.a_prev[i] = s.a_given[i] = real(0.0)
    if moving:
        change_velocities(m, s, change)
