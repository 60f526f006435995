"""Contact and constraints in one step of one robot: what touches, and what is held, become a convex problem, whose solution is the velocity
at the end of the step.

    v* = v + h a,   v+ of the problem,   a <- (v+ - v) / h

Without a contact that pushes, and without constraints, a keeps every bit.
"""
from libc.math cimport fabs
from libc.string cimport memcpy

from mbros_core.constraints.columns cimport Axes, axes_of, find_path
from mbros_core.constraints.contact cimport STICTION, add_contact_along, invert_diagonal, law_of
from mbros_core.constraints.coulomb cimport hold_fast, solve_with_friction
from mbros_core.constraints.follow cimport contacts_later, follow, jumps
from mbros_core.constraints.problem cimport EQUALITY, MOST_ROWS, ONE_SIDED, Block, Problem, Term, clear
from mbros_core.constraints.dispatch cimport is_rope
from mbros_core.constraints.hold cimport A_STEP, NEARLY_RIGID, add_constraints, set_given_apart, write_constraints
from mbros_core.constraints.newton cimport Report, solve_bilateral
from mbros_core.constraints.rigid cimport SOFT, are_for_rigid, exchange, orthogonalise, pose_apart, settle, take_over, write_forces
from mbros_core.constraints.robot cimport CREEP, Robot
from mbros_core.constraints.scene cimport Rigid, Scene, Workspace
from mbros_core.constraints.sticking cimport holds
from mbros_core.constraints.springs cimport Spring, add_spring, factorise_mass, write_spring
from mbros_core.geometry.shape cimport MOST_CONTACTS, Contact
from mbros_core.geometry.vec cimport Vec, dot, vec
from mbros_core.constraints.touch cimport (BEGINS_TO_STICK, COUNT, DEPTH, FEATURE, FORCE, IMPULSE, ITERATIONS, KNOWN, LAW, LOST, NORMAL, PAIR,
                                           POINT, SLIP, SLIPS, STICKS, STUCK, TORQUE, TOUCH_COLUMNS, UNSOLVED, Touch, feature_number,
                                           record, slacken)

cdef extern from *:
    """
    static const double MBROS_LARGEST_SPEED = 1e10, MBROS_MOST_GAIN = 2.0;
    """
    const double MOST_GAIN "MBROS_MOST_GAIN"                # of kinetic energy
    const double LARGEST_SPEED "MBROS_LARGEST_SPEED"        # the bound of a plant's coordinates (checks.py)


cdef inline void stick(const double* M, const double* sticking, Py_ssize_t n) noexcept nogil:
    """What holds joints joins the diagonal. Weights are of the inertia without it, so that they do not depend on what holds."""
    cdef Py_ssize_t k
    for k in range(n):
        (<double*>M)[k * (n + 1)] += sticking[k]


cdef inline void pose_problem(const Scene* s, Workspace* w, const Robot* r, int lane, double h) noexcept nogil:
    """The convex problem of what was found. A touch without a block leaves the list: there is no coordinate that could move it."""
    cdef Problem* p = &w.problem
    cdef Touch* touch = w.touch + lane * s.most_touches
    cdef Contact later[MOST_CONTACTS]
    cdef int count = 0
    cdef int k
    cdef int a = -1                  # the bodies between which w.columns knows the way
    cdef int b = -1
    cdef int kept = 0
    invert_diagonal(r.M, p.nv, w.unit)
    if w.some_stick:
        stick(r.M, w.sticking, p.nv)
    clear(p)
    for k in range(w.touches[lane]):
        slacken(&touch[k])
        if not s.tree.shared and (s.body[touch[k].a] != a or s.body[touch[k].b] != b):
            a, b = s.body[touch[k].a], s.body[touch[k].b]
            find_path(&w.columns, &s.tree, r, a, b)
        if kept > 0 and touch[k].a == touch[kept - 1].a and touch[k].b == touch[kept - 1].b:
            w.law[kept] = w.law[kept - 1]
        else:
            w.law[kept] = law_of(r, touch[k].a, touch[k].b)
        if k == 0 or touch[k].a != touch[k - 1].a or touch[k].b != touch[k - 1].b:
            count = contacts_later(s, r, &touch[k], h, later)
        follow(&touch[k], later, count)
        if touch[k].followed and jumps(s, r, &touch[k]):
            touch[k].followed = 0
        w.axes[kept] = axes_of(touch[k].c.n)
        if add_contact_along(p, &s.tree, r, s.body[touch[k].a], s.body[touch[k].b], &touch[k], &w.law[kept], &w.axes[kept], h, w.unit,
                             &w.columns):
            if kept != k:
                touch[kept] = touch[k]
            kept += 1
    w.touches[lane] = kept


cdef inline Vec torque_of(const double* impulse, const Axes* A, int rows, double per_s) noexcept nogil:
    """On b, of torsion and rolling."""
    cdef Vec x = vec(0.0, 0.0, 0.0)
    if rows > 3:
        x = (per_s * impulse[3]) * A.n
    if rows > 4:
        x = x + (per_s * impulse[4]) * A.t + (per_s * impulse[5]) * A.s
    return x


cdef inline void write_touch(const Scene* s, const Problem* p, const Touch* t, const Axes* A, int block, double k, double weight, double h,
                             double* row, int n) noexcept nogil:
    """One contact of the solution into a row of the state's memory. weight: of its friction across the normal."""
    cdef Vec slip
    cdef const double* impulse = p.impulse + p.block[block].row
    cdef const double* y = p.y + p.block[block].row
    cdef double per_s = 1.0 / h
    row[PAIR * n] = <double>t.a * s.ns + t.b
    row[FEATURE * n] = feature_number(t.c.feature)
    row[IMPULSE * n] = impulse[0]
    record(row, POINT, n, t.c.p)
    record(row, NORMAL, n, t.c.n)
    record(row, FORCE, n, (per_s * impulse[0]) * A.n + (per_s * impulse[1]) * A.t + (per_s * impulse[2]) * A.s)
    slip = y[1] * A.t + y[2] * A.s
    if weight > 0.0:                                # y is of what friction carried, too (contact.pxd)
        slip = slip + h / weight * (dot(A.t, t.force) * A.t + dot(A.s, t.force) * A.s)
    record(row, SLIP, n, slip)
    row[DEPTH * n], row[LAW * n] = t.c.depth, k
    record(row, TORQUE, n, torque_of(impulse, A, p.block[block].rows, per_s))


cdef inline void write_touches(const Scene* s, Workspace* w, const Robot* r, int lane, double h, const Report* report) noexcept nogil:
    """The solution into the state's memory, which the next step reads."""
    cdef const Touch* touch = w.touch + lane * s.most_touches
    cdef double* memory = r.memory
    cdef double* row
    cdef int n = r.stride
    cdef int k
    cdef int unsolved = not report.converged
    if w.before != NULL and not w.again:
        memcpy(w.before + TOUCH_COLUMNS, memory + TOUCH_COLUMNS, w.touches[lane] * TOUCH_COLUMNS * sizeof(double))
        w.overwritten = w.touches[lane]
    memory[COUNT * n], memory[KNOWN * n], memory[ITERATIONS * n] = w.touches[lane], 1.0, report.iterations
    memory[LOST * n] += 0.0 if w.again else <double>w.lost[lane]
    memory[UNSOLVED * n] += <double>(unsolved - (w.counted[lane] if w.again else 0))
    w.counted[lane] = unsolved
    for k in range(w.touches[lane]):
        row = memory + (k + 1) * TOUCH_COLUMNS * n
        write_touch(s, &w.problem, &touch[k], &w.axes[k], k, w.law[k].k,
                    w.problem.term[w.sliding[k]].weight if w.sliding[k] >= 0 else 0.0, h, row, n)
        if w.sliding[k] < 0 or not holds(&w.problem, &w.problem.term[w.sliding[k]]):
            row[STUCK * n] = SLIPS
        else:
            row[STUCK * n] = STICKS if touch[k].stuck != SLIPS else BEGINS_TO_STICK


cdef inline bint leads_somewhere(const Problem* p) noexcept nogil:
    """Whether no velocity is beyond what a plant takes for blown up: else the state keeps the contacts of its last step."""
    cdef int i
    for i in range(p.nv):
        if not fabs(p.v[i]) < LARGEST_SPEED:
            return False
    return True


cdef inline void add_springs(const Scene* s, Workspace* w, const Robot* r, int lane, double h) noexcept nogil:
    """The blocks of stiff force elements, after those that are there."""
    cdef const Spring* e
    cdef bint factored = False
    cdef int k
    for k in range(s.nsprings):
        e = &w.spring[lane * s.nsprings + k]
        w.spring_block[k] = -1
        if e.n == 0:
            continue
        if not factored:
            factorise_mass(r.M, &s.tree, w.mass)
            factored = True
        w.spring_block[k] = add_spring(&w.problem, &s.tree, r, s.spring_body[2 * k], s.spring_body[2 * k + 1], e, w.mass,
                                       w.mass + <Py_ssize_t>s.tree.nv * s.tree.nv, &w.columns, h)


cdef inline void write_springs(const Scene* s, const Workspace* w, const Robot* r, int lane, double h) noexcept nogil:
    """What they did, into the state's memory, after its constraints."""
    cdef double* row
    cdef int k
    for k in range(s.nsprings):
        if w.spring[lane * s.nsprings + k].n:
            row = r.memory + (1 + s.most_touches + s.nk + k) * TOUCH_COLUMNS * r.stride
            write_spring(&w.problem, &w.spring[lane * s.nsprings + k], w.spring_block[k], h, row, r.stride)


cdef inline double held_back(const Workspace* w, const Block* b, const double* J) noexcept nogil:
    """What all of the friction that holds coordinates of a row would make of it."""
    cdef const Problem* p = &w.problem
    cdef double x = 0.0
    cdef int j, i
    for j in range(b.dofs):
        i = p.dof[b.first_dof + j]
        x += fabs(J[j]) * CREEP * w.sticking[i] * w.unit[i]
    return x


cdef inline bint are_soft(const Scene* s, const Workspace* w, int potential) noexcept nogil:
    """Whether constraints of this potential leave more of what moves them than their compliance should."""
    cdef const Problem* p = &w.problem
    cdef const Term* t
    cdef const Block* b
    cdef const double* J
    cdef double most, size, x
    cdef int n = 0
    cdef int i, j, k
    for k in range(s.nk):
        if w.held[k] < 0:
            continue
        b = &p.block[w.held[k]]
        while n < p.nterms and p.term[n].row < b.row:
            n += 1
        while n < p.nterms and p.term[n].row < b.row + b.rows:
            t = &p.term[n]
            n += 1
            if t.potential != potential or t.weight == 0.0 or (potential == ONE_SIDED and not p.y[t.row] < 0.0):
                continue
            most = size = 0.0
            for i in range(t.row, t.row + t.rows):
                J = p.J + b.first_entry + (i - b.row) * b.dofs
                most = max(most, fabs(p.y[i]))
                x = 0.0
                for j in range(b.dofs):
                    x += fabs(J[j] * (p.v[p.dof[b.first_dof + j]] - w.v_star[p.dof[b.first_dof + j]]))
                if w.some_stick:
                    x += held_back(w, b, J)
                size = max(size, x)
            if most > SOFT * size:
                return True
    return False


cdef inline void pose_and_solve(const Scene* s, Workspace* w, const Robot* r, int lane, double h, Report* report) noexcept nogil:
    """The convex problem, or that of Coulomb's law, from the guess in p.v on."""
    pose_problem(s, w, r, lane, h)
    add_constraints(s, w, r, A_STEP, h)
    if s.nsprings:
        add_springs(s, w, r, lane, h)
    if w.touches[lane] == 0 and s.nk == 0 and w.problem.nterms:         # springs alone
        solve_bilateral(&w.problem, s.tolerance, w.most_iterations, report)
    else:
        solve_with_friction(s, w, lane, h, report)


cdef inline double kinetic_energy(const Scene* s, const double* M, const double* v) noexcept nogil:
    cdef Py_ssize_t n = s.tree.nv
    cdef Py_ssize_t i, j
    cdef double E = 0.0
    for i in range(n):
        E += 0.5 * M[i * (n + 1)] * v[i] * v[i]
        j = s.tree.before[i]
        while j >= 0:
            E += M[i * n + j] * v[i] * v[j]
            j = s.tree.before[j]
    return E


cdef inline void step_rigidly(const Scene* s, Workspace* w, const Robot* r, int lane, double h, Report* report) noexcept nogil:
    """The step again by rigid.pxd, where light parts are why constraints give way. Where that takes more energy than there was, they gave way
    to something else, such as shapes deep in each other, and the step stays as it was."""
    cdef Problem* p = &w.problem
    cdef double most = MOST_GAIN * max(kinetic_energy(s, r.M, w.v_star), kinetic_energy(s, r.M, p.v))
    cdef Rigid* x = &w.rigid
    cdef bint one_sided = w.touches[lane] > 0
    cdef int k
    cdef int acting = 0
    for k in range(s.nk):
        x.acts[k] = w.held[k] >= 0 and not is_rope(&s.constraint[k])
        acting += x.acts[k]
        one_sided |= w.held[k] >= 0 and not x.acts[k]
    if not orthogonalise(s, w, r.M, p.target) or not are_for_rigid(w, NEARLY_RIGID):
        return
    memcpy(x.v, w.v_star, p.nv * sizeof(double))
    settle(s, w, x.v)
    x.others = p.nblocks > acting
    if x.others:
        if not pose_apart(s, w, lane, h, STICTION, NEARLY_RIGID):
            report.converged = 0
            return
        exchange(w)
        if one_sided:
            solve_with_friction(s, w, lane, h, report)
        else:
            solve_bilateral(&w.problem, s.tolerance, w.most_iterations, report)
        exchange(w)
        take_over(s, w)
        settle(s, w, p.v)
    else:
        memcpy(p.v, x.v, p.nv * sizeof(double))
    if not kinetic_energy(s, r.M, p.v) <= most:
        pose_and_solve(s, w, r, lane, h, report)
        return
    write_forces(w, MOST_ROWS * s.nk)
    x.on = 1
    if x.unresolved:
        report.converged = 0


cdef inline double change_of_momentum(const Scene* s, const Workspace* w, const Robot* r) noexcept nogil:
    """|M (v* - v)|^2 in the units of newton.pxd, over all that is not given."""
    cdef Py_ssize_t n = s.tree.nv
    cdef Py_ssize_t k
    cdef double sum_of = 0.0
    cdef double x
    for k in range(n):
        if r.lock[k * r.stride] == 0.0:
            x = w.v_star[k] - r.v_start[k * r.stride]
            sum_of += r.M[k * (n + 1)] * x * x
            if w.some_stick:                                    # what friction holds does not change, and could by this
                x = CREEP * w.sticking[k]
                sum_of += x * x / r.M[k * (n + 1)]
    return sum_of


cdef inline void solve_touches(const Scene* s, Workspace* w, const Robot* r, int lane, double h) noexcept nogil:
    """From the acceleration without contact to that with it."""
    cdef Problem* p = &w.problem
    cdef Report report
    cdef int n = r.stride
    cdef int i
    cdef bint first = r.memory[KNOWN * n] == 0.0
    w.rigid.on = w.rigid.unresolved = 0
    for i in range(s.tree.nv):
        w.v_star[i] = r.v_start[i * n] + h * r.a[i * n]
        p.v[i] = w.v_star[i] if first else r.v_start[i * n]
    if w.some_given:
        set_given_apart(w, r, s.tree.nv)
    p.M, p.tree, p.v_star, p.inverse = r.M, s.tree.before, w.v_star, w.unit
    p.change = change_of_momentum(s, w, r)
    pose_and_solve(s, w, r, lane, h, &report)
    if s.nk and are_soft(s, w, EQUALITY):
        step_rigidly(s, w, r, lane, h, &report)
    if w.touches[lane] and report.converged and not w.rigid.on:
        hold_fast(s, w, lane, h, &report)
    if s.nk and are_soft(s, w, ONE_SIDED):
        report.converged = 0
    for i in range(s.tree.nv):
        if p.v[i] != w.v_star[i]:
            r.a[i * n] = (p.v[i] - r.v_start[i * n]) / h
    if leads_somewhere(p):
        write_touches(s, w, r, lane, h, &report)
        write_constraints(s, w, r, h)
        if s.nsprings:
            write_springs(s, w, r, lane, h)
