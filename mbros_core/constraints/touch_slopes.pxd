"""Derivatives of what one touch gives to the convex problem: J, target, weights and bounds (contact.pxd), and its impulse (slopes.pxd).

Central differences of posing the touch, with the bodies moved, and with the numbers of its shapes, the inertias and v* changed: apart, for
they change over distances that have nothing to do with each other. The law is differentiated on the branch of the solution.
"""
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from mbros_core.constraints.columns cimport Axes
from mbros_core.constraints.contact cimport Law, add_contact, add_terms, carried, closing_speed, friction_of, keep_friction, law_of, rows_of
from mbros_core.constraints.find cimport shape_frame
from mbros_core.constraints.follow cimport contacts_later, find_feature, follow
from mbros_core.constraints.potentials cimport squared
from mbros_core.constraints.problem cimport ONE_SIDED, Block, Problem, Term, add_block, clear
from mbros_core.constraints.robot cimport Robot, body_frame
from mbros_core.constraints.scene cimport Scene, Slopes, Workspace
from mbros_core.constraints.touch cimport Touch
from mbros_core.geometry._geometry cimport contact_points
from mbros_core.geometry.shape cimport Contact
from mbros_core.geometry.vec cimport Frame, Vec, cross, dot, norm, square

cdef enum:                       # what a touch is about to do: bits
    TOUCHING = 1                 # begin or cease to push
    SLIPPING = 2                 # begin or cease to slip
    CHANGING = 4                 # have other features
    TIGHTENING = 8               # become taut or slack

cdef struct Change:              # derivatives of what a touch gives to the problem
    double y[6]
    double weight[4]             # of its terms
    double bound[4]
    double mu                    # of friction across the normal
    double* push                 # (dofs) dJ^T gamma


cdef inline void add_rows(const Problem* p, const Block* b, const Problem* one, double c, Change* out) noexcept nogil:
    """c times what the rows of b are in `one`, a problem of this block alone, added: y of the solution, and J^T gamma."""
    cdef const double* J = one.J
    cdef double y
    cdef int i, j
    for i in range(b.rows):
        y = -one.target[i]
        for j in range(b.dofs):
            y += J[j] * p.v[p.dof[b.first_dof + j]]
            out.push[j] += c * J[j] * p.impulse[b.row + i]
        out.y[i] += c * y
        J += b.dofs


cdef inline Axes axes_near(Vec n, const Axes* A) noexcept nogil:
    """Across n, as near as may be to those of A."""
    cdef Axes B
    B.n = n
    B.t = A.t - dot(A.t, n) * n
    B.t = (1.0 / norm(B.t)) * B.t
    B.s = cross(n, B.t)
    return B


cdef inline int contacts_of_pair(const Scene* s, const Robot* r, const Touch* t, Contact* found) noexcept nogil:
    cdef Frame X_WA = shape_frame(s, body_frame(r, s.body[t.a]), t.a)
    cdef Frame X_WB = shape_frame(s, body_frame(r, s.body[t.b]), t.b)
    return contact_points(&s.shape[t.a], &X_WA, &s.shape[t.b], &X_WB, t.reach, found)


cdef inline void look_both_ways(const Scene* s, Workspace* w, const Touch* t, double h) noexcept nogil:
    """The contact points of the pair of a touch ahead and behind."""
    cdef Slopes* x = &w.slopes
    x.count_ahead = contacts_of_pair(s, &x.ahead, t, x.found_ahead)
    x.count_behind = contacts_of_pair(s, &x.behind, t, x.found_behind)
    x.count_later_ahead = x.count_later_behind = 0
    if t.followed:
        x.count_later_ahead = contacts_later(s, &x.ahead, t, h, x.later_ahead)
        x.count_later_behind = contacts_later(s, &x.behind, t, h, x.later_behind)


cdef inline void rescale(const Workspace* w, Problem* one, const Touch* touch, int k, const Axes* A, double h) noexcept nogil:
    """Weights of friction as constraints that are held without compliance (rigid.pxd) and what sticks (sticking.pxd) leave them, and targets
    with them where touch says what it carried. How that share of a weight changes is left out."""
    cdef const Problem* p = &w.problem
    cdef Term* t
    cdef double scale
    cdef int i, m, n
    for m in range(one.nterms):
        t = &one.term[m]
        for n in range(w.slopes.first_term[k], w.slopes.first_term[k + 1]):
            if p.term[n].row - p.block[k].row != t.row:
                continue
            scale = w.rigid.scale[n] if w.rigid.on and w.rigid.others else w.touch[k].stiffer if n == w.sliding[k] else 1.0
            if scale == 1.0:
                continue
            if touch != NULL and touch.goes_on:
                for i in range(t.row, t.row + t.rows):
                    one.target[i] += h * carried(touch, A, i) * (1.0 / scale - 1.0) / t.weight
            t.weight *= scale


cdef inline void add_side(const Scene* s, Workspace* w, const Robot* r, const Touch* touch, int k, double h, double c,
                          Change* out) noexcept nogil:
    """c times what touch k gives to the problem where the robot is at r, added."""
    cdef const Problem* p = &w.problem
    cdef const Block* b = &p.block[k]
    cdef Problem* one = &w.slopes.one
    cdef Axes A = axes_near(touch.c.n, &w.axes[k])
    clear(one)
    one.v_star = w.v_star
    add_contact(one, &s.tree, r, s.body[touch.a], s.body[touch.b], touch, &w.law[k], &A, h, w.unit, &w.columns)
    rescale(w, one, touch, k, &A, h)
    add_rows(p, b, one, c, out)
    add_law(p, b, one, w.slopes.first_term[k], w.slopes.first_term[k + 1], c, out)


cdef inline void add_numbers_side(Workspace* w, int k, const Law* law, const double* unit, const double* v_star, double h, double c,
                                  Change* out) noexcept nogil:
    """c times what touch k gives to the problem under another law, with other 1 / M_ii and v*, added: the robot is where it is."""
    cdef const Problem* p = &w.problem
    cdef const Block* b = &p.block[k]
    cdef const Touch* touch = &w.touch[k]
    cdef Problem* one = &w.slopes.one
    cdef Block* at
    cdef int n
    clear(one)
    one.v_star = v_star
    at = &one.block[add_block(one, b.rows, b.dofs)]
    memcpy(one.dof, p.dof + b.first_dof, b.dofs * sizeof(int))
    memcpy(one.J, p.J + b.first_entry, b.rows * b.dofs * sizeof(double))
    memcpy(one.target, p.target + b.row, b.rows * sizeof(double))
    one.target[0] += closing_speed(touch, h, law.tau) - closing_speed(touch, h, w.law[k].tau)
    add_terms(one, at, touch, law, h, unit)
    rescale(w, one, NULL, k, &w.axes[k], h)
    if touch.goes_on:           # the target of p has what friction carried by the weights of p
        for n in range(1, b.rows):
            one.target[n] = 0.0
        keep_friction(one, at, 0, touch, &w.axes[k], h)
        for n in range(1, b.rows):
            out.y[n] -= c * one.target[n]
    out.y[0] -= c * one.target[0]
    add_law(p, b, one, w.slopes.first_term[k], w.slopes.first_term[k + 1], c, out)


cdef inline void add_law(const Problem* p, const Block* b, const Problem* one, int first, int last, double c, Change* out) noexcept nogil:
    """c times weights and bounds. A term that is not there when moved stays as it is."""
    cdef const Term* t
    cdef int n, i
    for n in range(first, last):
        t = &p.term[n]
        for i in range(one.nterms):
            if one.term[i].row == t.row - b.row:
                t = &one.term[i]
                break
        out.weight[n - first] += c * t.weight
        out.bound[n - first] += c * t.bound


cdef inline void drop_side(const Touch* still, bint of_ahead, Touch* ahead, Touch* behind, bint* before, bint* after) noexcept nogil:
    """Only the other side counts."""
    if of_ahead:
        before[0], ahead[0] = False, still[0]
    else:
        after[0], behind[0] = False, still[0]


cdef inline bint sides_of(const Slopes* x, const Touch* still, Touch* ahead, Touch* behind, bint* before, bint* after) noexcept nogil:
    """Where a touch is ahead and behind, and which of these two count: those that the same features make, with a normal of the same face,
    now and at the end of the step. Returns whether both do."""
    cdef Contact a, b
    before[0] = find_feature(still.c.feature, x.found_ahead, x.count_ahead, &ahead.c)
    after[0] = find_feature(still.c.feature, x.found_behind, x.count_behind, &behind.c)
    if before[0] and after[0] and ahead.c.reference != behind.c.reference:
        drop_side(still, behind.c.reference == still.c.reference, ahead, behind, before, after)
    if not still.followed:
        return before[0] and after[0]
    if before[0]:
        follow(ahead, x.later_ahead, x.count_later_ahead)
    if after[0]:
        follow(behind, x.later_behind, x.count_later_behind)
    if not (before[0] and after[0]):
        return False
    if ahead.followed != behind.followed:
        drop_side(still, behind.followed, ahead, behind, before, after)
    elif (find_feature(still.c.feature, x.later_ahead, x.count_later_ahead, &a)
          and find_feature(still.c.feature, x.later_behind, x.count_later_behind, &b) and a.reference != b.reference):
        drop_side(still, square(behind.turned - still.turned) < square(ahead.turned - still.turned), ahead, behind, before, after)
    return before[0] and after[0]


cdef inline void add_motion(const Scene* s, Workspace* w, int k, double e, double h, Change* out) noexcept nogil:
    """Of touch k with the bodies e ahead and e behind."""
    cdef Slopes* x = &w.slopes
    cdef Touch ahead = w.touch[k]
    cdef Touch behind = w.touch[k]
    cdef bint before, after
    cdef double c = 0.5 / e
    if not sides_of(x, &w.touch[k], &ahead, &behind, &before, &after):
        x.switches[k] |= CHANGING
        c = 1.0 / e
    if before or after:
        add_side(s, w, &x.ahead if before else &x.still, &ahead, k, h, c, out)
        add_side(s, w, &x.behind if after else &x.still, &behind, k, h, -c, out)


cdef inline void add_numbers(Workspace* w, int k, double e, double h, Change* out) noexcept nogil:
    """Of touch k with the numbers of shapes, inertias and v* e ahead and e behind. Where there would be other rows, none."""
    cdef Slopes* x = &w.slopes
    cdef const Touch* t = &w.touch[k]
    cdef Robot r = x.still
    cdef Law ahead
    cdef Law behind
    cdef int rows = w.problem.block[k].rows
    r.numbers = x.numbers_ahead
    ahead = law_of(&r, t.a, t.b)
    r.numbers = x.numbers_behind
    behind = law_of(&r, t.a, t.b)
    if rows_of(&ahead) == rows and rows_of(&behind) == rows:
        out.mu += 0.5 / e * (friction_of(t, &ahead) - friction_of(t, &behind))
        add_numbers_side(w, k, &ahead, x.unit_ahead, x.v_star_ahead, h, 0.5 / e, out)
        add_numbers_side(w, k, &behind, x.unit_behind, x.v_star_behind, h, -0.5 / e, out)


cdef inline void add_impulse_change(const Term* t, const double* y, const double* dy, double weight, double bound,
                                    double* out) noexcept nogil:
    """The change of -dl/dy along dy and that of weight and bound, on the branch that y is on."""
    cdef double size, along
    cdef int i
    if t.potential == ONE_SIDED:
        if y[0] < 0.0:
            out[0] -= t.weight * dy[0] + weight * y[0]
        return
    size = sqrt(squared(y, t.rows))
    if t.weight * size <= t.bound:
        for i in range(t.rows):
            out[i] -= t.weight * dy[i] + weight * y[i]
        return
    along = 0.0
    for i in range(t.rows):
        along += y[i] * dy[i] / (size * size)
    for i in range(t.rows):
        out[i] -= t.bound / size * (dy[i] - along * y[i]) + bound / size * y[i]


cdef inline bint acts(const Problem* p, int first, int last) noexcept nogil:
    """Whether the touch of these terms does anything, or would."""
    cdef int n
    for n in range(first, last):
        if p.term[n].potential != ONE_SIDED or p.y[p.term[n].row] < 0.0:
            return True
    return False


cdef inline void add_touch(const Scene* s, Workspace* w, int k, double motion, double numbers, double h) noexcept nogil:
    """What touch k adds to the right-hand side of (1). motion, numbers: how far those were moved; 0: not at all."""
    cdef Slopes* x = &w.slopes
    cdef const Problem* p = &w.problem
    cdef const Block* b = &p.block[k]
    cdef const double* J = p.J + b.first_entry
    cdef Change change
    cdef double f[6]
    cdef int i, j, n
    memset(&change, 0, sizeof(change))
    memset(f, 0, sizeof(f))
    change.push = x.push
    memset(x.push, 0, b.dofs * sizeof(double))
    if motion > 0.0:
        add_motion(s, w, k, motion, h, &change)
    if numbers > 0.0:
        add_numbers(w, k, numbers, h, &change)
    for i in range(b.rows):
        for j in range(b.dofs):
            change.y[i] += J[i * b.dofs + j] * x.dv[p.dof[b.first_dof + j]]
    for n in range(x.first_term[k], x.first_term[k + 1]):
        i = p.term[n].row - b.row
        j = n - x.first_term[k]
        if n == w.sliding[k] and not w.bounds_given:        # f[0] is there: the normal's term comes before
            change.bound[j] = w.mu[k] * f[0] + change.mu * p.impulse[b.row]
        add_impulse_change(&p.term[n], p.y + b.row + i, change.y + i, change.weight[j], change.bound[j], f + i)
    for j in range(b.dofs):
        for i in range(b.rows):
            x.push[j] += J[i * b.dofs + j] * f[i]
        x.change[p.dof[b.first_dof + j]] += x.push[j]
