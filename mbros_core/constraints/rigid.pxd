"""Constraints held without compliance, for mechanisms in which heavy parts hang on light ones.

There the rows of J, of one constraint or of several, are nearly parallel in the metric of M^-1: each moves the same light part. Weights
(hold.pxd) for the light part are too soft for what hangs on it, others lose the light part to rounding. So rows and targets are made
orthogonal to each other first, by modified Gram-Schmidt of u = D^-1/2 L^-T J^T with M = L^T D L, twice (Bjorck 1994):

    J = (1 + mix) J',   t = (1 + mix) t',   u'_i . u'_k = 0,   left_k = |u'_k|^2

A row that follows from those before it is left out. Then each row is met by its own impulse, (t'_k - J'_k v) / left_k, without regard to
the others; what rounding leaves of orthogonality is taken away by doing so again. Impulses of the rows themselves: f = (1 + mix)^-T f'.

Contacts, ropes and stiff elements beside them see what constraints leave free: their rows, too, lose what lies along the u'. With v* on
the constraints they are then a convex problem of their own, which no solution leaves the constraints by (Workspace.rigid.apart).
"""
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

from mbros_core.constraints.contact cimport carried
from mbros_core.constraints.problem cimport FRICTION, MOST_ROWS, ONE_SIDED, Block, Problem, Term, add_block, add_term, clear
from mbros_core.constraints.robot cimport Tree
from mbros_core.constraints.scene cimport Rigid, Scene, Workspace
from mbros_core.constraints.springs cimport factorise_mass
from mbros_core.constraints.touch cimport Touch

cdef extern from *:
    """
    static const double MBROS_FOLLOWS = 1e-2, MBROS_ROW_MOVES = 1e-9, MBROS_UNRESOLVED = 1e-6, MBROS_SOFT = 5e-2, MBROS_LIGHT = 0.03,
        MBROS_RIGID_EPS = 2.3e-16;
    """
    const double FOLLOWS "MBROS_FOLLOWS"              # the share of a row that is left where it follows from others, or nearly
    const double MOVES "MBROS_ROW_MOVES"              # m or rad per m or rad, as in hold.pxd
    const double UNRESOLVED "MBROS_UNRESOLVED"        # a miss, over what is subtracted in it, that is more than rounding
    const double SOFT "MBROS_SOFT"                    # what a compliant row leaves of what moves it: hundreds of times what it should
    const double LIGHT "MBROS_LIGHT"                  # the weight of a row over that which it should have
    const double EPS "MBROS_RIGID_EPS"

cdef enum:
    MOST_TURNS = 30


cdef inline int to_root(const double* L, const Tree* m, double* x) noexcept nogil:
    """x := D^-1/2 L^-T x; 0 where M is not positive definite."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t i, j
    for i in range(n - 1, -1, -1):
        if x[i] == 0.0:
            continue
        if not L[i * n + i] > 0.0:
            return 0
        j = m.before[i]
        while j >= 0:
            x[j] -= L[i * n + j] * x[i]
            j = m.before[j]
        x[i] /= sqrt(L[i * n + i])
    return 1


cdef inline void from_root(const double* L, const Tree* m, double* x) noexcept nogil:
    """x := L^-1 D^-1/2 x."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t i, j
    for i in range(n):
        if L[i * n + i] > 0.0:
            x[i] /= sqrt(L[i * n + i])
        j = m.before[i]
        while j >= 0:
            x[i] -= L[i * n + j] * x[j]
            j = m.before[j]


cdef inline double product(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    cdef double s = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        s += a[i] * b[i]
    return s


cdef inline void spread_row(const Problem* p, const Block* b, int i, double* to) noexcept nogil:
    """Row i of a block over all coordinates."""
    cdef int k
    memset(to, 0, p.nv * sizeof(double))
    for k in range(b.dofs):
        to[p.dof[b.first_dof + k]] = p.J[b.first_entry + i * b.dofs + k]


cdef inline double part_with(const Rigid* r, const Tree* m, double* J, double* u, double* mix) noexcept nogil:
    """Take from a row what lies along the first r.rows rows; mix: how much of each. |u|^2 of what is left, -1 where M is no inertia."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t i
    cdef double x
    cdef int k, turn
    memset(mix, 0, r.rows * sizeof(double))
    memcpy(u, J, n * sizeof(double))
    if not to_root(r.factor, m, u):
        return -1.0
    for turn in range(2):
        for k in range(r.rows):
            if r.left[k] == 0.0:
                continue
            x = product(u, r.u + k * n, n) / r.left[k]
            if x == 0.0:
                continue
            mix[k] += x
            for i in range(n):
                J[i] -= x * r.J[k * n + i]
                u[i] -= x * r.u[k * n + i]
    memcpy(u, J, n * sizeof(double))
    to_root(r.factor, m, u)
    return product(u, u, n)


cdef inline int kind_of(const Problem* p, const Block* b, int row) noexcept nogil:
    """0: the row of a block is a length; 1: an angle, which the second term of a block has."""
    cdef int n
    for n in range(p.nterms):
        if p.term[n].row == b.row:
            return row >= b.row + p.term[n].rows
    return 0


cdef inline void find_most(const Scene* s, Workspace* w) noexcept nogil:
    """w.rigid.most and w.rigid.per_length."""
    cdef Rigid* r = &w.rigid
    cdef Py_ssize_t n = s.tree.nv
    cdef const Problem* p = &w.problem
    cdef const Block* b
    cdef double* most
    cdef int i, j, k
    memset(r.most, 0, 2 * s.tree.nv * sizeof(double))
    for k in range(s.nk):
        if w.held[k] < 0 or not r.acts[k]:
            continue
        b = &p.block[w.held[k]]
        for i in range(b.rows):
            most = r.most + kind_of(p, b, b.row + i) * s.tree.nv
            for j in range(b.dofs):
                most[p.dof[b.first_dof + j]] = max(most[p.dof[b.first_dof + j]], fabs(p.J[b.first_entry + i * b.dofs + j]))
    r.per_length = 0.0
    for j in range(n):
        if r.most[j] > MOVES and r.most[n + j] > MOVES:
            r.per_length = max(r.per_length, r.most[n + j] / r.most[j])
    if r.per_length == 0.0:
        r.per_length = 1.0


cdef inline double share_of(const Rigid* r, const double* J, int kind, Py_ssize_t n) noexcept nogil:
    """The largest number of a row over the largest of that coordinate in rows of its kind, or, where these have none, of the other kind,
    as coordinates that are in both compare."""
    cdef double share = 0.0
    cdef double most
    cdef Py_ssize_t i
    for i in range(n):
        most = r.most[kind * n + i]
        if not most > MOVES:
            most = r.most[(1 - kind) * n + i] * (r.per_length if kind == 1 else 1.0 / r.per_length)
        if most > MOVES:
            share = max(share, fabs(J[i]) / most)
    return share


cdef inline bint orthogonalise(const Scene* s, Workspace* w, const double* M, const double* wanted) noexcept nogil:
    """The rows of the constraints that act, with these targets, as w.rigid holds them; False where M is no inertia."""
    cdef Rigid* r = &w.rigid
    cdef const Problem* p = &w.problem
    cdef const Block* b
    cdef double* J
    cdef double* mix
    cdef Py_ssize_t n = s.tree.nv
    cdef Py_ssize_t most = MOST_ROWS * s.nk
    cdef int i, j, k
    factorise_mass(M, &s.tree, r.factor)
    find_most(s, w)
    r.rows = 0
    for k in range(s.nk):
        if w.held[k] < 0 or not r.acts[k]:
            continue
        b = &p.block[w.held[k]]
        for i in range(b.rows):
            J, mix = r.J + r.rows * n, r.mix + r.rows * most
            spread_row(p, b, i, J)
            r.left[r.rows] = part_with(r, &s.tree, J, r.u + r.rows * n, mix)
            if r.left[r.rows] < 0.0:
                return False
            r.row[r.rows], r.constraint[r.rows], r.force[r.rows] = b.row + i, k, 0.0
            r.target[r.rows] = wanted[b.row + i]
            r.size[r.rows] = fabs(wanted[b.row + i])
            for j in range(r.rows):
                r.target[r.rows] -= mix[j] * r.target[j]
                r.size[r.rows] += fabs(mix[j]) * r.size[j]
            r.share[r.rows] = share_of(r, J, kind_of(p, b, b.row + i), n)
            if not r.share[r.rows] > FOLLOWS:
                memset(J, 0, n * sizeof(double))
                memset(r.u + r.rows * n, 0, n * sizeof(double))
                r.left[r.rows] = 0.0
            r.rows += 1
    return True


cdef inline bint are_light(const Workspace* w, double compliance) noexcept nogil:
    """Whether the weight of some row in the problem is far below what it should be. A row that nearly follows from others in every metric,
    as in a singular pose, is not meant."""
    cdef const Rigid* r = &w.rigid
    cdef const Problem* p = &w.problem
    cdef int t = 0
    cdef int k
    for k in range(r.rows):
        while t < p.nterms and p.term[t].row + p.term[t].rows <= r.row[k]:
            t += 1
        if t == p.nterms or r.left[k] == 0.0 or p.term[t].weight == 0.0 or p.term[t].row > r.row[k]:
            continue
        if p.term[t].weight * compliance * r.left[k] < LIGHT * r.share[k] * r.share[k]:
            return True
    return False


cdef inline bint are_for_rigid(const Workspace* w, double compliance) noexcept nogil:
    """Whether the rows are to be held without compliance: all are independent, or light parts are among them."""
    cdef const Rigid* r = &w.rigid
    cdef int k
    for k in range(r.rows):
        if r.left[k] == 0.0 and r.share[k] > 0.0:
            return are_light(w, compliance)
    return True


cdef inline double miss_of(Rigid* r, int k, const double* v, Py_ssize_t n, double* size) noexcept nogil:
    """What row k lacks; size: of what is subtracted in it."""
    cdef const double* J = r.J + k * n
    cdef double y = r.target[k]
    cdef Py_ssize_t i
    size[0] = 0.0
    for i in range(n):
        y -= J[i] * v[i]
        size[0] += fabs(J[i] * v[i])
    return y


cdef inline void settle(const Scene* s, Workspace* w, double* v) noexcept nogil:
    """v becomes the nearest to it, in the metric of M, that keeps the rows; what that takes is added to their forces. w.rigid.unresolved
    says which constraint is not kept then, if any."""
    cdef Rigid* r = &w.rigid
    cdef Py_ssize_t n = s.tree.nv
    cdef Py_ssize_t i
    cdef double before = -1.0
    cdef double worst, y, size, f
    cdef int k, turn
    for turn in range(MOST_TURNS):
        worst = 0.0
        memset(r.push, 0, n * sizeof(double))
        for k in range(r.rows):
            if r.left[k] == 0.0:
                continue
            y = miss_of(r, k, v, n, &size)
            r.size[k] = max(r.size[k], size)
            if fabs(y) > worst * r.size[k]:
                worst = fabs(y) / r.size[k]
            f = y / r.left[k]
            r.force[k] += f
            for i in range(n):
                r.push[i] += f * r.u[k * n + i]
        from_root(r.factor, &s.tree, r.push)
        for i in range(n):
            v[i] += r.push[i]
        if worst == 0.0 or (before >= 0.0 and not worst < 0.5 * before):
            break
        before = worst
    r.unresolved = 0
    for k in range(r.rows):
        if r.left[k] > 0.0 and fabs(miss_of(r, k, v, n, &size)) > UNRESOLVED * size + 1e3 * EPS * r.size[k]:
            r.unresolved = r.constraint[k] + 1


cdef inline void write_forces(Workspace* w, Py_ssize_t most) noexcept nogil:
    """Impulses of the constraints' own rows into the problem, (1 + mix)^-T of those that w.rigid has."""
    cdef Rigid* r = &w.rigid
    cdef double f
    cdef int i, k
    for k in range(r.rows - 1, -1, -1):
        f = r.force[k]
        for i in range(k + 1, r.rows):
            f -= r.mix[i * most + k] * w.problem.impulse[r.row[i]]
        w.problem.impulse[r.row[k]] = f if r.left[k] > 0.0 else 0.0
        w.problem.y[r.row[k]] = 0.0


cdef inline bint free_row(const Scene* s, Workspace* w, const Block* b, int i) noexcept nogil:
    """Row i of another block over all coordinates into w.rigid.one, without what lies along the constraints; whether any did."""
    cdef Rigid* r = &w.rigid
    cdef double* mix = r.mixes + (b.row + i) * <Py_ssize_t>(MOST_ROWS * s.nk)
    cdef int k
    spread_row(&w.problem, b, i, r.one)
    part_with(r, &s.tree, r.one, r.one + s.tree.nv, mix)
    for k in range(r.rows):
        if mix[k] != 0.0:
            return True
    return False


cdef inline int count_columns(const Scene* s, Workspace* w, const Block* b) noexcept nogil:
    """Of a block whose rows are free of the constraints: marked in w.rigid.push. 0 where its own are all."""
    cdef Rigid* r = &w.rigid
    cdef Py_ssize_t n = s.tree.nv
    cdef Py_ssize_t i
    cdef int row
    cdef int count = 0
    cdef bint mixed = False
    memset(r.push, 0, n * sizeof(double))
    for row in range(b.rows):
        mixed |= free_row(s, w, b, row)
        for i in range(n):
            if r.one[i] != 0.0:
                r.push[i] = 1.0
    for i in range(n):
        count += r.push[i] != 0.0
    return count if mixed else 0


cdef inline int add_free_block(const Scene* s, Workspace* w, int number, double* mobility) noexcept nogil:
    """A block of the problem into the one apart; -1 where there is no room. mobility: J M^-1 J^T of its rows, -1 where nothing changed."""
    cdef Rigid* r = &w.rigid
    cdef Problem* q = &r.apart
    cdef const Problem* p = &w.problem
    cdef const Block* b = &p.block[number]
    cdef const Block* to
    cdef double* J
    cdef Py_ssize_t n = s.tree.nv
    cdef Py_ssize_t i
    cdef int dofs = count_columns(s, w, b)
    cdef int found, k, row, at
    mobility[0] = -1.0
    found = add_block(q, b.rows, dofs if dofs else b.dofs)
    if found < 0:
        return -1
    to = &q.block[found]
    memcpy(q.target + to.row, p.target + b.row, b.rows * sizeof(double))
    if not dofs:
        memcpy(q.dof + to.first_dof, p.dof + b.first_dof, b.dofs * sizeof(int))
        memcpy(q.J + to.first_entry, p.J + b.first_entry, b.rows * b.dofs * sizeof(double))
        return found
    at = 0
    for i in range(n - 1, -1, -1):
        if r.push[i] != 0.0:
            q.dof[to.first_dof + at] = i
            at += 1
    for row in range(b.rows):
        free_row(s, w, b, row)
        J = q.J + to.first_entry + row * dofs
        for at in range(dofs):
            J[at] = r.one[q.dof[to.first_dof + at]]
        mobility[row] = product(r.one + n, r.one + n, n)
        for k in range(r.rows):
            q.target[to.row + row] -= r.mixes[(b.row + row) * <Py_ssize_t>(MOST_ROWS * s.nk) + k] * r.target[k]
    return found


cdef inline int add_nothing(Problem* q, const Block* b) noexcept nogil:
    """A block that does nothing in the place of one of the constraints."""
    cdef int number = add_block(q, b.rows, 1)
    cdef int i
    if number >= 0:
        q.dof[q.block[number].first_dof] = 0
        for i in range(b.rows):
            q.J[q.block[number].first_entry + i] = q.target[b.row + i] = 0.0
    return number


cdef inline void weigh(Problem* p, Term* t, const Block* b, const Touch* touch, const double* mobility, double compliance,
                       const Workspace* w, int block, double h) noexcept nogil:
    """The weight of a rope or of friction by the mobility that constraints leave it; targets of friction follow (contact.pxd)."""
    cdef double m = mobility[t.row - b.row]
    cdef double before = t.weight
    cdef double change
    cdef int i
    if t.rows == 2:
        m = 0.5 * (m + mobility[t.row - b.row + 1])
    t.weight = 1.0 / (compliance * m) if m > 0.0 else 0.0
    if touch == NULL or touch.before < 0.0 or not (t.weight > 0.0 and before > 0.0):
        return
    for i in range(t.row, t.row + t.rows):
        change = h * carried(touch, &w.axes[block], i - b.row) * (1.0 / t.weight - 1.0 / before)
        p.target[i] += change
        w.rigid.apart.target[i] += change


cdef inline bint pose_apart(const Scene* s, Workspace* w, int lane, double h, double stiction, double compliance) noexcept nogil:
    """What there is beside the constraints that act, as they leave it; False where there is no room."""
    cdef Problem* p = &w.problem
    cdef Problem* q = &w.rigid.apart
    cdef Term t
    cdef double mobility[6]
    cdef int k = 0
    cdef int n = 0
    cdef int b
    cdef bint held
    clear(q)
    for b in range(p.nterms):
        w.rigid.scale[b] = 1.0
    for b in range(p.nblocks):
        while k < s.nk and w.held[k] < b:
            k += 1
        held = k < s.nk and w.held[k] == b and w.rigid.acts[k]
        if (add_nothing(q, &p.block[b]) if held else add_free_block(s, w, b, mobility)) < 0:
            return False
        while n < p.nterms and p.term[n].row < p.block[b].row + p.block[b].rows:
            t = p.term[n]
            if held:
                t.weight = 0.0
            elif mobility[0] >= 0.0 and t.potential == FRICTION:
                weigh(p, &t, &p.block[b], w.touch + lane * s.most_touches + b, mobility, stiction, w, b, h)
            elif mobility[0] >= 0.0 and t.potential == ONE_SIDED and k < s.nk and w.held[k] == b:
                weigh(p, &t, &p.block[b], NULL, mobility, compliance, w, b, h)
            if t.weight > 0.0 and p.term[n].weight > 0.0:
                w.rigid.scale[n] = t.weight / p.term[n].weight
            add_term(q, t.potential, t.row, t.rows, t.weight, t.bound)
            if not held:
                p.term[n] = t
            n += 1
    q.M, q.tree, q.inverse, q.v_star, q.change = p.M, p.tree, p.inverse, w.rigid.v, p.change
    memcpy(q.v, w.rigid.v, p.nv * sizeof(double))
    return True


cdef inline void exchange(Workspace* w) noexcept nogil:
    """The problem and the one apart."""
    cdef Problem p = w.problem
    w.problem = w.rigid.apart
    w.rigid.apart = p


cdef inline void take_over(const Scene* s, Workspace* w) noexcept nogil:
    """The solution of the problem apart into the problem."""
    cdef Problem* p = &w.problem
    cdef const Problem* q = &w.rigid.apart
    cdef const Block* b
    cdef int i, k, n
    cdef int next_ = 0
    for n in range(p.nterms):
        p.term[n].bound = q.term[n].bound
    for n in range(p.nblocks):
        while next_ < s.nk and w.held[next_] < n:
            next_ += 1
        if next_ < s.nk and w.held[next_] == n and w.rigid.acts[next_]:
            continue
        b = &p.block[n]
        for i in range(b.row, b.row + b.rows):
            p.y[i], p.impulse[i] = q.y[i], q.impulse[i]
            for k in range(w.rigid.rows):
                w.rigid.force[k] -= w.rigid.mixes[i * <Py_ssize_t>(MOST_ROWS * s.nk) + k] * q.impulse[i]
    memcpy(p.v, q.v, p.nv * sizeof(double))
