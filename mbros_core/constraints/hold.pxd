"""Constraints as blocks of the convex problem (problem.pxd).

In a step h they are nearly rigid (Castro, Permenter and Han 2022, section IV.C): the compliance of a row is NEARLY_RIGID times w, the
inverse of the inertia that it moves, so that what is left of a load f is a speed of NEARLY_RIGID h f w. The target closes the gap: with g
at the configuration where J is, in the middle of a midpoint step or at the start of an Euler step,

    J v+ = -g / h - sag h dJ/dt v                                                                               (1)

moves g to zero at the end of the step, to third order in h. Euler: sag = 1/2, the rest of Taylor's series. Midpoint: ends lie on the chord
of two middles, h^2/8 dJ/dt v below them; sag = 1/2 - 1/8 puts the ends on the constraint and makes v+ tangent to it there, to second order.

Accelerations, and projections of positions and velocities, are the same problem with J x = -dJ/dt v, -g and 0. They are taken to rounding:
the proximal term of each solution is moved by its own impulse, the method of multipliers (Hestenes 1969), which converges for redundant
rows as well, but not where heavy parts hang on light ones: what it leaves says so, and rigid.pxd does it then. So does a step.
"""
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from mbros_core.constraints.columns cimport Columns, new_block, shift_targets
from mbros_core.constraints.constraint cimport Constraint, Held, Relative
from mbros_core.constraints.contact cimport inverse_inertia, invert_diagonal, row_times
from mbros_core.constraints.dispatch cimport component, evaluate, is_rope, jacobian
from mbros_core.constraints.newton cimport Report, solve
from mbros_core.constraints.problem cimport MOST_ROWS, ONE_SIDED, Block, Problem, Term, add_term, clear
from mbros_core.constraints.rigid cimport are_for_rigid, orthogonalise, settle, write_forces
from mbros_core.constraints.robot cimport Robot, Tree
from mbros_core.constraints.scene cimport Rigid, Scene, Workspace
from mbros_core.constraints.touch cimport EFFORT, KNOWN, TOUCH_COLUMNS, UNSOLVED, WRENCH, record
from mbros_core.geometry.vec cimport Vec, vec

cdef extern from *:
    """
    static const double MBROS_NEARLY_RIGID = 1e-4, MBROS_PROXIMAL = 1e-7, MBROS_TAUT = 1e-9, MBROS_MOVES = 1e-9, MBROS_MISSED = 1e-9;
    """
    const double NEARLY_RIGID "MBROS_NEARLY_RIGID"        # beta^2 / (4 pi^2), beta = 0.06
    const double PROXIMAL "MBROS_PROXIMAL"
    const double TAUT "MBROS_TAUT"                        # m: a rope that is no looser than this is taut
    const double MOVES "MBROS_MOVES"                      # m or rad per m or rad: what moves a row by less does not move it
    const double MISSED "MBROS_MISSED"                    # what rows lack, over what is subtracted in it, that is more than rounding

cdef enum What:
    A_STEP = 0                # x: velocities at its end
    AN_ACCELERATION = 1
    A_POSITION = 2            # x: what to add to q
    A_VELOCITY = 3

cdef enum:
    MOST_PROXIMAL = 30
    MOST_NEWTON = 50


cdef inline double target_of(const Held* held, int row, int what, double h, double sag) noexcept nogil:
    """What J x should be."""
    if what == A_STEP:
        return -held.gap[row] / h - sag * h * held.bias[row]
    if what == AN_ACCELERATION:
        return -held.bias[row]
    return -held.gap[row] if what == A_POSITION else 0.0


cdef inline double weight_of(const Problem* p, const double* unit, const Block* b, int first, int stop, double compliance) noexcept nogil:
    """Of rows that are alike: of the one that moves most easily. 0 where nothing moves any of them: what redundant rows of a mechanism that
    is turned in space have in place of zeros is rounding, and a gap of rounding is not to be closed by it."""
    cdef double w = 0.0
    cdef double most = 0.0
    cdef int k
    for k in range(first * b.dofs, stop * b.dofs):
        most = max(most, fabs(p.J[b.first_entry + k]))
    if not most > MOVES:
        return 0.0
    for k in range(first, stop):
        w = max(w, inverse_inertia(unit, p.dof + b.first_dof, p.J + b.first_entry + k * b.dofs, b.dofs))
    return 1.0 / (compliance * w) if w > 0.0 else 0.0


cdef inline int add_held(Problem* p, double sag, const double* unit, const Held* held, const Columns* columns, int what,
                         double h) noexcept nogil:
    """The block of one constraint and its terms; -1 where nothing could move it. unit: 1 / M_ii of every coordinate."""
    cdef double compliance = NEARLY_RIGID if what == A_STEP else PROXIMAL
    cdef int number = new_block(p, held.rows, columns)
    cdef const Block* b
    cdef int k
    if number < 0:
        return -1
    b = &p.block[number]
    for k in range(held.rows):
        p.target[b.row + k] = target_of(held, k, what, h, sag)
    if columns.given:
        shift_targets(p, b, columns)
    if held.potential == ONE_SIDED:
        if (what != AN_ACCELERATION and what != A_VELOCITY) or held.gap[0] <= TAUT:
            add_term(p, ONE_SIDED, b.row, 1, weight_of(p, unit, b, 0, 1, compliance), 0.0)
        return number
    if held.lengths:
        add_term(p, held.potential, b.row, held.lengths, weight_of(p, unit, b, 0, held.lengths, compliance), 0.0)
    if held.rows > held.lengths:
        add_term(p, held.potential, b.row + held.lengths, held.rows - held.lengths,
                 weight_of(p, unit, b, held.lengths, held.rows, compliance), 0.0)
    return number


cdef inline void add_constraints(const Scene* s, Workspace* w, const Robot* r, int what, double h) noexcept nogil:
    """The blocks of all constraints, after those that are there."""
    cdef Relative x
    cdef Held held
    cdef int k
    for k in range(s.nk):
        evaluate(&s.constraint[k], &s.tree, r, &x, &held)
        jacobian(&w.columns, &s.constraint[k], &s.tree, r, &x, &held)
        w.held[k] = add_held(&w.problem, r.sag, w.unit, &held, &w.columns, what, h)
        w.held_axes[k], w.held_at[k] = held.axes, x.B.p


cdef inline void write_constraints(const Scene* s, const Workspace* w, const Robot* r, double h) noexcept nogil:
    """Their efforts into the state's memory: of each row, and as a wrench on B about Bo in W."""
    cdef const Problem* p = &w.problem
    cdef const double* impulse
    cdef double* row
    cdef double f[6]
    cdef double along[6]
    cdef int n = r.stride
    cdef int k
    cdef int i
    for k in range(s.nk):
        row = r.memory + (1 + s.most_touches + k) * TOUCH_COLUMNS * n
        memset(f, 0, sizeof(f))
        memset(along, 0, sizeof(along))
        if w.held[k] >= 0:
            impulse = p.impulse + p.block[w.held[k]].row
            for i in range(p.block[w.held[k]].rows):
                f[i] = impulse[i] / h
                along[component(&s.constraint[k], i)] = f[i]
        for i in range(6):
            row[(EFFORT + i) * n] = f[i]
        if s.constraint[k].iv[0] >= 0:                          # no force on a body
            record(row, WRENCH, n, vec(0.0, 0.0, 0.0))
            record(row, WRENCH + 3, n, vec(0.0, 0.0, 0.0))
        else:
            record(row, WRENCH, n, along[3] * w.held_axes[k].n + along[4] * w.held_axes[k].t + along[5] * w.held_axes[k].s)
            record(row, WRENCH + 3, n, along[0] * w.held_axes[k].n + along[1] * w.held_axes[k].t + along[2] * w.held_axes[k].s)


cdef inline double miss(const Problem* p, const double* wanted) noexcept nogil:
    """The largest |J x - wanted| of rows that carry something or are equalities."""
    cdef double most = 0.0
    cdef int k
    cdef int i
    for k in range(p.nterms):
        for i in range(p.term[k].row, p.term[k].row + p.term[k].rows):
            if p.term[k].potential != ONE_SIDED or p.impulse[i] != 0.0:
                most = max(most, fabs(p.y[i] + p.target[i] - wanted[i]))
    return most


cdef inline void move_targets(Problem* p, const double* wanted) noexcept nogil:
    cdef int k
    cdef int i
    for k in range(p.nterms):
        for i in range(p.term[k].row, p.term[k].row + p.term[k].rows):
            if p.term[k].weight > 0.0:
                p.target[i] = wanted[i] + p.impulse[i] / p.term[k].weight


cdef inline void set_given_apart(Workspace* w, const Robot* r, int nv) noexcept nogil:
    """What prescribed coordinates get leaves v* and the first guess, where it would only make residuals look small."""
    cdef int k
    for k in range(nv):
        if r.lock[k * r.stride] > 1.0:
            w.given[k] = w.v_star[k]
            w.v_star[k] = w.problem.v[k] = 0.0


cdef inline bint misses(const Problem* p, const double* wanted) noexcept nogil:
    """Whether rows that should be kept to rounding are not."""
    cdef const Term* t
    cdef const Block* b
    cdef const double* J
    cdef double most, size
    cdef int k = 0
    cdef int i, j, n
    for n in range(p.nterms):
        t = &p.term[n]
        while t.row >= p.block[k].row + p.block[k].rows:
            k += 1
        b = &p.block[k]
        if t.weight == 0.0 or (t.potential == ONE_SIDED and p.impulse[t.row] == 0.0):
            continue
        most = size = 0.0
        for i in range(t.row, t.row + t.rows):
            J = p.J + b.first_entry + (i - b.row) * b.dofs
            most = max(most, fabs(p.y[i] + p.target[i] - wanted[i]))
            size += MISSED * fabs(wanted[i])
            for j in range(b.dofs):
                size += fabs(J[j]) * (MISSED * fabs(p.v[p.dof[b.first_dof + j]]) + 1e-15 * fabs(p.v_star[p.dof[b.first_dof + j]]))
        if not most <= size:
            return True
    return False


cdef inline int rope_row(const Scene* s, const Workspace* w, int k) noexcept nogil:
    """The row of constraint k in the problem where it is a rope that is taut, else -1."""
    cdef int row, n
    if w.held[k] < 0 or not is_rope(&s.constraint[k]):
        return -1
    row = w.problem.block[w.held[k]].row
    for n in range(w.problem.nterms):
        if w.problem.term[n].row == row:
            return row
    return -1


cdef inline bint exchange_ropes(const Scene* s, Workspace* w) noexcept nogil:
    """Let ropes go that would push, and take those that would be too long; whether there were any."""
    cdef const Problem* p = &w.problem
    cdef const Block* b
    cdef double y, size, x
    cdef bint changed = False
    cdef int i, k, row
    for k in range(s.nk):
        row = rope_row(s, w, k)
        if row < 0:
            continue
        b = &p.block[w.held[k]]
        y, size = -w.wanted[row], fabs(w.wanted[row])
        for i in range(b.dofs):
            x = p.J[b.first_entry + i] * w.rigid.v[p.dof[b.first_dof + i]]
            y, size = y + x, size + fabs(x)
        if p.impulse[row] < 0.0 if w.rigid.acts[k] else y < -1e-12 * size:
            w.rigid.acts[k] = not w.rigid.acts[k]
            p.impulse[row] = 0.0
            changed = True
            w.rigid.unresolved = k + 1
    return changed


cdef inline bint hold_at_once(const Scene* s, Workspace* w, const Robot* r) noexcept nogil:
    """The same where all rows are independent and none is a rope's, or light parts are among them; False where nothing was done."""
    cdef Rigid* x = &w.rigid
    cdef int k
    for k in range(s.nk):
        if rope_row(s, w, k) >= 0:
            return False
        x.acts[k] = w.held[k] >= 0
    if not orthogonalise(s, w, r.M, w.wanted) or not are_for_rigid(w, PROXIMAL):
        return False
    memcpy(x.v, w.v_star, w.problem.nv * sizeof(double))
    settle(s, w, x.v)
    write_forces(w, MOST_ROWS * s.nk)
    memcpy(w.problem.v, x.v, w.problem.nv * sizeof(double))
    x.on, x.others = 1, 0
    return True


cdef inline void hold_rigidly(const Scene* s, Workspace* w, const Robot* r) noexcept nogil:
    """Where light parts are why constraints are not kept: the nearest that keeps them, by rigid.pxd. Ropes act as they did in the problem,
    or change until none pushes and none is too long."""
    cdef Problem* p = &w.problem
    cdef Rigid* x = &w.rigid
    cdef int k, turn
    for k in range(s.nk):
        x.acts[k] = w.held[k] >= 0 and (not is_rope(&s.constraint[k]) or p.impulse[p.block[w.held[k]].row] > 0.0)
    for turn in range(2 * s.nk + 2):
        if not orthogonalise(s, w, r.M, w.wanted) or (turn == 0 and not are_for_rigid(w, PROXIMAL)):
            return
        memcpy(x.v, w.v_star, p.nv * sizeof(double))
        settle(s, w, x.v)
        write_forces(w, MOST_ROWS * s.nk)
        if not exchange_ropes(s, w):
            break
    memcpy(p.v, x.v, p.nv * sizeof(double))
    x.on, x.others = 1, 0


cdef inline void hold_by_multipliers(const Scene* s, Workspace* w, const Robot* r) noexcept nogil:
    """The method of multipliers, on the problem that is posed."""
    cdef Problem* p = &w.problem
    cdef Report report
    cdef double now
    cdef double before = -1.0
    cdef int k
    for k in range(MOST_PROXIMAL):
        solve(p, 1e-12, MOST_NEWTON, &report)
        now = miss(p, w.wanted)
        if now == 0.0 or (before >= 0.0 and now >= 0.5 * before):
            break
        before = now
        move_targets(p, w.wanted)
    if misses(p, w.wanted):
        hold_rigidly(s, w, r)


cdef inline void hold_constraints(const Scene* s, Workspace* w, const Robot* r, int what) noexcept nogil:
    """r.a, of accelerations, positions or velocities, becomes the nearest one that keeps the constraints, nearest in the metric of r.M."""
    cdef Problem* p = &w.problem
    cdef int n = r.stride
    cdef int k
    w.rigid.on = w.rigid.unresolved = 0
    for k in range(s.tree.nv):
        w.v_star[k] = p.v[k] = r.a[k * n]
    set_given_apart(w, r, s.tree.nv)
    invert_diagonal(r.M, s.tree.nv, w.unit)
    p.M, p.tree, p.v_star, p.change = r.M, s.tree.before, w.v_star, -1.0
    clear(p)
    add_constraints(s, w, r, what, 1.0)
    for k in range(p.nrows):
        w.wanted[k] = p.target[k]
    if not hold_at_once(s, w, r):
        hold_by_multipliers(s, w, r)
    for k in range(s.tree.nv):
        if p.v[k] != w.v_star[k]:
            r.a[k * n] = p.v[k]
    if r.memory != NULL:
        r.memory[KNOWN * n] = 1.0
        if w.rigid.unresolved:
            r.memory[UNSOLVED * n] += 1.0
        write_constraints(s, w, r, 1.0)
