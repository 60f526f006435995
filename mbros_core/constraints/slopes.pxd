"""Derivatives of a step through contact: by the implicit function theorem at the solution of its convex problem.

At the solution M (v - v*) = J^T gamma(y), y = J v - target. Along a direction in which everything changes, G the curvature at the solution,

    (M + J^T G J) (dv - dv*) = dJ^T gamma + J^T dgamma + dM (v* - v)                                      (1)

with dgamma of a v that follows v*: dy = dJ v + J dv* - dtarget, and of what the law takes from elsewhere (bounds, weights). The matrix is
that of Newton's last step (newton.pxd), its factor is kept.

M, v* and where the bodies are come with derivatives, from dual numbers. Those of J, target, bounds and weights are central differences of
posing the touch (contact.pxd) with the bodies moved by DISPLACEMENT; the law itself is differentiated on its branch. What a contact did
in the last step (its impulse, which bounds friction, and its point) is a constant here. Where a direction takes the features that made a
point away, or the face that gives its normal, the side that has them counts. Constraints: held_slopes.pxd.
"""
from libc.math cimport fabs, sqrt

from mbros_core.constraints.contact cimport CONTACT_COLUMNS, STIFFNESS, law_of
from mbros_core.constraints.displaced cimport DISPLACEMENT, move_bodies, move_held, size_of_motion, size_of_numbers, step_both_ways
from mbros_core.constraints.follow cimport find_feature
from mbros_core.constraints.held_slopes cimport add_held_change, begin_rigid_change, note_ropes
from mbros_core.constraints.coulomb cimport solve_linear_law
from mbros_core.constraints.potentials cimport squared
from mbros_core.constraints.problem cimport FRICTION, ONE_SIDED, Problem, Term
from mbros_core.constraints.rigid_slopes cimport solve_rigid_law
from mbros_core.constraints.robot cimport Robot
from mbros_core.constraints.scene cimport Scene, Slopes, Workspace
from mbros_core.constraints.touch cimport Touch
from mbros_core.constraints.touch_slopes cimport SLIPPING, TOUCHING, acts, add_touch, look_both_ways

cdef extern from *:
    """
    static const double MBROS_NEAR_TOUCH = 1e-7, MBROS_NEAR_SLIP = 2e-4;
    """
    const double NEAR_TOUCH "MBROS_NEAR_TOUCH"          # m of depth between pushing and not
    const double NEAR_SLIP "MBROS_NEAR_SLIP"            # of the bound on friction


cdef inline void note_switches(const Scene* s, Workspace* w, double h) noexcept nogil:
    """Which touches and ropes of the solution are about to do something else."""
    cdef const Problem* p = &w.problem
    cdef const Term* t
    cdef int k = 0
    cdef int n
    for n in range(w.slopes.first_term[w.touches[0]]):
        t = &p.term[n]
        while t.row >= p.block[k].row + p.block[k].rows:
            k += 1
        if t.potential == ONE_SIDED and (fabs(p.y[t.row]) * (h if w.touch[k].gap else h + w.law[k].tau) < NEAR_TOUCH
                                         or (p.y[t.row] < 0.0 and fabs(w.touch[k].c.depth) < NEAR_TOUCH)):
            w.slopes.switches[k] |= TOUCHING
        if t.potential == FRICTION and fabs(t.weight * sqrt(squared(p.y + t.row, t.rows)) - t.bound) < NEAR_SLIP * t.bound:
            w.slopes.switches[k] |= SLIPPING
    note_ropes(s, w, h)


cdef inline void index_terms(Workspace* w) noexcept nogil:
    """Where the terms of every block start."""
    cdef const Problem* p = &w.problem
    cdef int n = 0
    cdef int k
    for k in range(p.nblocks):
        w.slopes.first_term[k] = n
        while n < p.nterms and p.term[n].row < p.block[k].row + p.block[k].rows:
            n += 1
    w.slopes.first_term[p.nblocks] = n


cdef inline double move_along(const Scene* s, Workspace* w, const Robot* d) noexcept nogil:
    """The bodies ahead and behind; how far."""
    cdef double size = size_of_motion(s, w, d)
    if not size > 0.0:
        return 0.0
    move_bodies(s, &w.slopes, d, DISPLACEMENT / size)
    return DISPLACEMENT / size


cdef inline double change_numbers(const Scene* s, Workspace* w, const Robot* d) noexcept nogil:
    """Numbers of shapes, 1 / M_ii and v* ahead and behind; how far."""
    cdef Slopes* x = &w.slopes
    cdef double size = size_of_numbers(s, w, d)
    cdef double e, m
    cdef int n = s.tree.nv
    cdef int k
    if not size > 0.0:
        return 0.0
    e = DISPLACEMENT / size
    step_both_ways(x.numbers_ahead, x.numbers_behind, x.still.numbers, d.numbers, d.stride, e, CONTACT_COLUMNS * s.ns)
    step_both_ways(x.v_star_ahead, x.v_star_behind, w.v_star, x.dv, 1, e, n)
    for k in range(n):
        m = e * d.M[k * (n + 1) * d.stride]
        x.unit_ahead[k] = 1.0 / (1.0 / w.unit[k] + m)
        x.unit_behind[k] = 1.0 / (1.0 / w.unit[k] - m)
    return e


cdef inline void differentiate_touches(const Scene* s, Workspace* w, const Robot* d, const double* mass_change, double h) noexcept nogil:
    """d.a, in: the derivative of the acceleration without contact, out: of that with it. mass_change: dM (v* - v). The robot in
    w.slopes.still was solved."""
    cdef Slopes* x = &w.slopes
    cdef Problem* p = &w.problem
    cdef double motion, numbers
    cdef int n = s.tree.nv
    cdef int i, k
    cdef int last = -1
    cdef bint moves
    index_terms(w)
    note_switches(s, w, h)
    for i in range(n):
        x.change[i] = mass_change[i * d.stride]
        x.dv[i] = d.v_start[i * d.stride] + h * d.a[i * d.stride]
    if w.rigid.on:
        begin_rigid_change(s, w, move_held(s, w, d, h), h)
    motion, numbers = move_along(s, w, d), change_numbers(s, w, d)
    for k in range(w.touches[0]):
        if not acts(p, x.first_term[k], x.first_term[k + 1]):
            continue
        moves = x.moved[s.body[w.touch[k].a]] or x.moved[s.body[w.touch[k].b]]
        if moves and (last < 0 or w.touch[k].a != w.touch[last].a or w.touch[k].b != w.touch[last].b):
            look_both_ways(s, w, &w.touch[k], h)
            last = k
        add_touch(s, w, k, motion if moves else 0.0, numbers, h)
    motion = move_held(s, w, d, h) if s.nk else 0.0
    for k in range(s.nk):
        if w.held[k] >= 0 and not (w.rigid.on and w.rigid.acts[k]):
            add_held_change(s, w, k, motion, numbers, h)
    if w.rigid.on:
        if not solve_rigid_law(s, w, x.change):
            return
    elif not solve_linear_law(w, x.change):
        return
    for i in range(n):
        d.a[i * d.stride] += x.change[i] / h


cdef inline double differentiate_energy(const Scene* s, Workspace* w, const Robot* d) noexcept nogil:
    """Of the energy stored in what touches: k depth ddepth + 1/2 dk depth^2 of every point. w.slopes.still was looked at."""
    cdef Slopes* x = &w.slopes
    cdef double motion = move_along(s, w, d)
    cdef double E = 0.0
    cdef double k
    cdef Touch* t
    cdef Touch ahead
    cdef Touch behind
    cdef int n
    cdef bint before, after
    for n in range(w.touches[0]):
        t = &w.touch[n]
        if not t.c.depth > 0.0:
            continue
        k = law_of(&x.still, t.a, t.b).k
        if motion > 0.0:
            ahead, behind = t[0], t[0]
            look_both_ways(s, w, t, 0.0)
            before = find_feature(t.c.feature, x.found_ahead, x.count_ahead, &ahead.c)
            after = find_feature(t.c.feature, x.found_behind, x.count_behind, &behind.c)
            E += k * t.c.depth * (ahead.c.depth - behind.c.depth) * (0.5 if before and after else 1.0) / motion
        E += 0.5 * stiffness_change(s, w, d, t) * t.c.depth * t.c.depth
    return E


cdef inline double stiffness_change(const Scene* s, Workspace* w, const Robot* d, const Touch* t) noexcept nogil:
    """dk of a pair."""
    cdef Slopes* x = &w.slopes
    cdef Robot r = x.still
    cdef double size = 0.0
    cdef double ahead
    cdef int n
    cdef int i
    for n in range(2):
        i = CONTACT_COLUMNS * (t.a if n == 0 else t.b) + STIFFNESS
        if d.numbers[i * d.stride] != 0.0:
            size = max(size, fabs(d.numbers[i * d.stride]) / max(fabs(r.numbers[i]), 1e-300))
    if not size > 0.0:
        return 0.0
    step_both_ways(x.numbers_ahead, x.numbers_behind, r.numbers, d.numbers, d.stride, DISPLACEMENT / size, CONTACT_COLUMNS * s.ns)
    r.numbers = x.numbers_ahead
    ahead = law_of(&r, t.a, t.b).k
    r.numbers = x.numbers_behind
    return (ahead - law_of(&r, t.a, t.b).k) * 0.5 * size / DISPLACEMENT
