"""Derivatives of what constraints give: in a step, to the right-hand side of (1) in slopes.pxd, and of accelerations and projections, which
are rigid (hold.pxd).

Of x = argmin 1/2 |x - x*|^2_M under J x = b, with impulses f, along a direction:

    M (dx - dx*) = J^T df + dJ^T f + dM (x* - x),   J dx = db - dJ x                                      (1)

solved with the factor of the last proximal problem, M + J^T W J, by the method of multipliers, as x itself was. J, b and the weights of a
step are differenced centrally, with the bodies, the coordinates and the constraints' own numbers moved by DISPLACEMENT (displaced.pxd).
"""
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from mbros_core.constraints.constraint cimport Held, Relative
from mbros_core.constraints.dispatch cimport evaluate, jacobian
from mbros_core.constraints.displaced cimport move_held
from mbros_core.constraints.hold cimport A_STEP, MOST_PROXIMAL, NEARLY_RIGID, add_held, weight_of
from mbros_core.constraints.newton cimport solve_linear
from mbros_core.constraints.problem cimport ONE_SIDED, Block, Problem, Term, clear
from mbros_core.constraints.rigid_slopes cimport add_springs_change, settle_change
from mbros_core.constraints.robot cimport Robot
from mbros_core.constraints.scene cimport Scene, Slopes, Workspace
from mbros_core.constraints.touch_slopes cimport TIGHTENING, Change, add_rows

cdef extern from *:
    """
    static const double MBROS_NEAR_TAUT = 1e-7, MBROS_SHORT_TIME = 1e-3;
    """
    const double NEAR_TAUT "MBROS_NEAR_TAUT"            # m between slack and taut
    const double SHORT_TIME "MBROS_SHORT_TIME"          # s: accelerations are quadratic in velocities, so differences are exact for any


cdef inline void note_ropes(const Scene* s, Workspace* w, double h) noexcept nogil:
    """Which ropes of a step are about to become taut or slack. A taut one gives way by NEARLY_RIGID of what it would without it."""
    cdef const Problem* p = &w.problem
    cdef double y
    cdef int k
    for k in range(s.nk):
        if w.held[k] >= 0 and p.term[w.slopes.first_term[w.held[k]]].potential == ONE_SIDED:
            y = p.y[p.block[w.held[k]].row]
            if fabs(y if y > 0.0 else y / NEARLY_RIGID) * h < NEAR_TAUT:
                w.slopes.switches[w.held[k]] |= TIGHTENING


cdef inline void add_side(const Scene* s, Workspace* w, const Robot* r, int k, const double* unit, int what, double h, double c,
                          Change* out) noexcept nogil:
    """c times what constraint k gives to the problem where the robot is at r, added: y at the solution, weights, J^T impulse."""
    cdef const Problem* p = &w.problem
    cdef const Block* b = &p.block[w.held[k]]
    cdef Problem* one = &w.slopes.one
    cdef Relative x
    cdef Held held
    cdef int i
    clear(one)
    evaluate(&s.constraint[k], &s.tree, r, &x, &held)
    jacobian(&w.columns, &s.constraint[k], &s.tree, r, &x, &held)
    add_held(one, r.sag, unit, &held, &w.columns, what, h)
    add_rows(p, b, one, c, out)
    for i in range(one.nterms):
        out.weight[i] += c * one.term[i].weight


cdef inline void change_of(const Scene* s, Workspace* w, int k, double motion, int what, double h, Change* out) noexcept nogil:
    """Of constraint k, everything moved."""
    memset(out, 0, sizeof(Change))
    out.push = w.slopes.push
    memset(out.push, 0, w.problem.block[w.held[k]].dofs * sizeof(double))
    if motion > 0.0:
        add_side(s, w, &w.slopes.ahead, k, w.unit, what, h, 0.5 / motion, out)
        add_side(s, w, &w.slopes.behind, k, w.unit, what, h, -0.5 / motion, out)


cdef inline void add_held_change(const Scene* s, Workspace* w, int k, double motion, double numbers, double h) noexcept nogil:
    """What constraint k adds to the right-hand side of a step. motion, numbers: how far its surroundings and M were moved; 0: not at
    all."""
    cdef Slopes* x = &w.slopes
    cdef const Problem* p = &w.problem
    cdef const Block* b = &p.block[w.held[k]]
    cdef const double* J = p.J + b.first_entry
    cdef const Term* t
    cdef Change change
    cdef double f
    cdef int first = x.first_term[w.held[k]]
    cdef int i, j, n
    if p.term[first].potential == ONE_SIDED and not p.y[b.row] < 0.0:
        return
    change_of(s, w, k, motion, A_STEP, h, &change)
    for n in range(first, x.first_term[w.held[k] + 1]):
        t = &p.term[n]
        if numbers > 0.0:
            change.weight[n - first] += weight_change(w, b, t, numbers)
        for i in range(t.row - b.row, t.row - b.row + t.rows):
            f = change.y[i]
            for j in range(b.dofs):
                f += J[i * b.dofs + j] * x.dv[p.dof[b.first_dof + j]]
            f = -t.weight * f - change.weight[n - first] * p.y[b.row + i]
            for j in range(b.dofs):
                change.push[j] += J[i * b.dofs + j] * f
    for j in range(b.dofs):
        x.change[p.dof[b.first_dof + j]] += change.push[j]


cdef inline void begin_rigid_change(const Scene* s, Workspace* w, double motion, double h) noexcept nogil:
    """Of a step whose constraints were held without compliance: what they add to its right-hand side, and by how much v moves more than v*
    to keep them, x.shift, into x.dv."""
    cdef Slopes* x = &w.slopes
    cdef const Problem* p = &w.problem
    cdef const Block* b
    cdef const double* J
    cdef Change change
    cdef int row = 0
    cdef int i, j, k
    for k in range(s.nk):
        if not w.rigid.acts[k]:
            continue
        b = &p.block[w.held[k]]
        J = p.J + b.first_entry
        change_of(s, w, k, motion, A_STEP, h, &change)
        for i in range(b.rows):
            w.rigid.target[row] = -change.y[i]
            for j in range(b.dofs):
                w.rigid.target[row] -= J[j] * x.dv[p.dof[b.first_dof + j]]
            J += b.dofs
            row += 1
        for j in range(b.dofs):
            x.change[p.dof[b.first_dof + j]] += change.push[j]
    settle_change(s, w, NULL, x.shift)
    for i in range(p.nv):
        x.dv[i] += x.shift[i]
    add_springs_change(s, w)


cdef inline double weight_change(const Workspace* w, const Block* b, const Term* t, double e) noexcept nogil:
    """Of a term, with inertias e ahead and e behind."""
    cdef int first = t.row - b.row
    return (weight_of(&w.problem, w.slopes.unit_ahead, b, first, first + t.rows, NEARLY_RIGID)
            - weight_of(&w.problem, w.slopes.unit_behind, b, first, first + t.rows, NEARLY_RIGID)) * 0.5 / e


cdef inline void differentiate_held(const Scene* s, Workspace* w, const Robot* d, const double* mass_change, int what) noexcept nogil:
    """d.a, in: the derivative of what was to be held, out: of what constraints made of it. mass_change: dM (x* - x). The robot in
    w.slopes.still was held."""
    cdef Slopes* x = &w.slopes
    cdef Problem* p = &w.problem
    cdef Change change
    cdef const Block* b
    cdef const double* J
    cdef double motion = move_held(s, w, d, SHORT_TIME)
    cdef double y
    cdef int n = s.tree.nv
    cdef int i, j, k
    for i in range(n):
        x.change[i] = mass_change[i * d.stride]
        x.dv[i] = d.a[i * d.stride]
    memset(x.ask, 0, p.nrows * sizeof(double))
    for k in range(s.nk):
        if w.held[k] < 0:
            continue
        b = &p.block[w.held[k]]
        J = p.J + b.first_entry
        note_rope(s, w, k, what)
        change_of(s, w, k, motion, what, 1.0, &change)
        for i in range(b.rows):
            y = change.y[i]
            for j in range(b.dofs):
                y += J[j] * x.dv[p.dof[b.first_dof + j]]
            x.ask[b.row + i] = -y
            J += b.dofs
        for j in range(b.dofs):
            x.change[p.dof[b.first_dof + j]] += change.push[j]
    if w.rigid.on:
        for k in range(w.rigid.rows):
            w.rigid.target[k] = x.ask[w.rigid.row[k]]
        settle_change(s, w, x.change, x.shift)
    if w.rigid.on or solve_rigid(w):
        for i in range(n):
            d.a[i * d.stride] += x.shift[i]


cdef inline void note_rope(const Scene* s, Workspace* w, int k, int what) noexcept nogil:
    """A rope whose gap is on either side of taut."""
    cdef Relative x
    cdef Held held
    evaluate(&s.constraint[k], &s.tree, &w.slopes.still, &x, &held)
    if held.potential == ONE_SIDED and fabs(held.gap[0]) < NEAR_TAUT:
        w.slopes.switches[w.held[k]] |= TIGHTENING


cdef inline bint solve_rigid(Workspace* w) noexcept nogil:
    """x.shift = dx - dx* of (1), x.change its right-hand side but for J^T df, J (dx - dx*) = x.ask for what carries something."""
    cdef Slopes* x = &w.slopes
    cdef Problem* p = &w.problem
    cdef double before = -1.0
    cdef double now
    cdef int tried
    memset(x.force, 0, p.nrows * sizeof(double))
    for tried in range(MOST_PROXIMAL):
        memcpy(x.shift, x.change, p.nv * sizeof(double))
        now = pull_and_solve(w)
        if now < 0.0:
            return False
        if now == 0.0 or (before >= 0.0 and now >= 0.5 * before):
            break
        before = now
    return True


cdef inline double pull_and_solve(Workspace* w) noexcept nogil:
    """One of its steps; the largest |ask - J shift|, which then goes into the impulses. -1 where there is no factor."""
    cdef Slopes* x = &w.slopes
    cdef Problem* p = &w.problem
    cdef const Term* t
    cdef const Block* b
    cdef const double* J
    cdef double most = 0.0
    cdef double f
    cdef int i, j, k, n, turn
    for turn in range(2):
        k = 0
        for n in range(p.nterms):
            t = &p.term[n]
            while t.row >= p.block[k].row + p.block[k].rows:
                k += 1
            b = &p.block[k]
            if t.weight == 0.0 or (t.potential == ONE_SIDED and not p.y[t.row] < 0.0):
                continue
            for i in range(t.row, t.row + t.rows):
                J = p.J + b.first_entry + (i - b.row) * b.dofs
                f = x.ask[i]
                if turn == 0:
                    f = x.force[i] + t.weight * f
                    for j in range(b.dofs):
                        x.shift[p.dof[b.first_dof + j]] += J[j] * f
                    continue
                for j in range(b.dofs):
                    f -= J[j] * x.shift[p.dof[b.first_dof + j]]
                most = max(most, fabs(f))
                x.force[i] += t.weight * f
        if turn == 0 and not solve_linear(p, x.shift):
            return -1.0
    return most
