"""Coulomb's law of the same step: friction's bound is mu times the normal impulse that the step itself finds.

    r(v) = M (v - v*) - J^T gamma(y) = 0,                 y = J v - target
    gamma_n = w max(0, -y_n),    gamma_t = -min(w_t, b / |y_t|) y_t,    b = mu gamma_n                       (1)
    dr/dv = H - U V^T,    U = J_t^T (mu w y_t / |y_t|),    V = J_n^T    for each contact that pushes and slips

H is that of the convex problem in which b is given (newton.pxd). b = mu gamma_n(v(b)) has a solution wherever friction is bounded and
continuous (Brouwer); it need not be the only one (Painleve 1895), and the one near the last velocity is taken:

1. From the last velocity, Newton steps of (1), as long as each leaves at most half of the residual. What stands takes one, with H.
   Where that fails, and where something slipped or is new, a few contacts are swept first (sweeps.pxd), and Newton's steps go on from
   there: it would fail nearly always under uneven torques, since contacts begin and cease to slip.
2. Else the bounds are searched for. Each convex problem with given bounds has one solution; each bound then goes towards mu times its
   normal impulse, by a step of its own that doubles while the difference keeps its sign and halves where it changes it. Steps beyond 1
   reach the solutions that repel b <- mu gamma_n(b). From each v, Newton steps of (1) are tried, halved where they do not lessen the
   residual.
3. Where all that ends at the bound on iterations, the last convex solution counts, balanced: momentum is exact, Coulomb's law is not, and
   the step is reported as unsolved.

Bounds of torsion and rolling stay those of the last step's normal impulses: with those of the same step, a coin that settles gains energy.
"""
from libc.math cimport sqrt
from libc.string cimport memcpy

from mbros_core.constraints.contact cimport friction_of
from mbros_core.constraints.coupled_factor cimport factorise_coupled, mirror, substitute_coupled, subtract_outer
from mbros_core.constraints.factor cimport assemble, back_substitute, factorise, factorise_inertia
from mbros_core.constraints.newton cimport Report, advance, begin, find_gradient, finish, rounding, solve, stay_free
from mbros_core.constraints.potentials cimport squared
from mbros_core.constraints.problem cimport Block, Problem, Term
from mbros_core.constraints.products cimport by_position, times_jacobian, times_mass
from mbros_core.constraints.scene cimport Scene, Workspace
from mbros_core.constraints.sticking cimport gives_way, holds, loosen, stiffen
from mbros_core.constraints.sweeps cimport can_sweep, sweep
from mbros_core.constraints.touch cimport Touch

cdef extern from *:
    """
    static const double MBROS_ENOUGH = 0.5, MBROS_LESS = 0.9, MBROS_LONGEST = 64.0, MBROS_ROUGHLY = 1e-3, MBROS_NEARLY = 1e3, MBROS_CLOSE = 1e-5,
                        MBROS_UNBOUNDED = 1e100, MBROS_MOST_MADE = 1.5;
    """
    const double ENOUGH "MBROS_ENOUGH"          # what a Newton step from the last velocity may leave of the residual,
    const double LESS "MBROS_LESS"              # and one from a convex solution
    const double LONGEST "MBROS_LONGEST"        # step of a bound, over the difference
    const double ROUGHLY "MBROS_ROUGHLY"        # tolerance of the first convex problem, whose bounds are a guess
    const double CLOSE "MBROS_CLOSE"            # a residual that needs no new factor
    const double NEARLY "MBROS_NEARLY"          # tolerances that rounding may leave
    const double UNBOUNDED "MBROS_UNBOUNDED"
    const double MOST_MADE "MBROS_MOST_MADE"    # of kinetic energy, by a solution that was cut short

cdef enum:
    MOST_FIRST = 4            # Newton steps from the last velocity,
    MOST_AFTER = 10           # and from each convex solution,
    MOST_HALVINGS = 6         # each of which may be halved
    MOST_SEARCHES = 30        # convex problems
    MOST_AGAIN = 6            # Newton steps for what begins to stick
    MOST_HALVINGS_AGAIN = 2
    LAST_CONVEX = 10          # iterations that are left for the one that counts where all else fails


cdef inline void index_friction(const Scene* s, Workspace* w, int lane) noexcept nogil:
    """Of each touch w.mu, static where it stood still or is new, and w.sliding: the term of its friction across the normal, -1 where it has
    none. The term before that one is the normal's."""
    cdef const Problem* p = &w.problem
    cdef const Touch* touch = w.touch + lane * s.most_touches
    cdef int t = 0
    cdef int k
    for k in range(w.touches[lane]):
        while p.term[t].row < p.block[k].row:
            t += 1
        w.sliding[k] = t + 1 if t + 1 < p.nterms and p.term[t + 1].row == p.block[k].row + 1 else -1
        w.mu[k] = friction_of(&touch[k], &w.law[k])


cdef inline void put_bounds(Workspace* w, int n) noexcept nogil:
    """Those of the search into the problem."""
    cdef int k
    for k in range(n):
        if w.sliding[k] >= 0:
            w.problem.term[w.sliding[k]].bound = w.bound[k]


cdef inline void look(Workspace* w, int n, Report* r) noexcept nogil:
    """Bounds of the normal impulses at p.y, and the residual of (1)."""
    cdef Problem* p = &w.problem
    cdef double y
    cdef int k
    for k in range(n):
        if w.sliding[k] >= 0:
            y = p.y[p.block[k].row]
            p.term[w.sliding[k]].bound = w.mu[k] * p.term[w.sliding[k] - 1].weight * -y if y < 0.0 else 0.0
    find_gradient(p, r)


cdef inline bint slips(const Problem* p, const Term* t) noexcept nogil:
    return t.bound > 0.0 and t.weight * t.weight * squared(p.y + t.row, t.rows) > t.bound * t.bound


cdef inline int factorise_law(Workspace* w, int touches) noexcept nogil:
    """The factor of dr/dv at p.y; 0 where there is none."""
    cdef Problem* p = &w.problem
    cdef const Block* b
    cdef const Term* t
    cdef const double* K
    cdef double* u = w.column
    cdef double x
    cdef double y
    cdef int k
    cdef int c
    assemble(p)
    p.coupled_bounds = 0
    for k in range(touches):
        if w.sliding[k] < 0 or not slips(p, &p.term[w.sliding[k]]):
            continue
        t, b = &p.term[w.sliding[k]], &p.block[k]
        if not p.coupled_bounds:
            mirror(p)
            p.coupled_bounds = 1
        x = w.mu[k] * p.term[w.sliding[k] - 1].weight / sqrt(squared(p.y + t.row, 2))
        x, y = x * p.y[t.row], x * p.y[t.row + 1]
        K = p.K + b.first_entry
        for c in range(b.dofs):
            u[c] = x * K[b.dofs + c] + y * K[2 * b.dofs + c]
        subtract_outer(p, k, u, K)
    return factorise_coupled(p) if p.coupled_bounds else factorise(p)


cdef inline void substitute(const Problem* p, double* x) noexcept nogil:
    """x := (dr/dv)^-1 x by positions."""
    if p.coupled_bounds:
        substitute_coupled(p, p.H, p.upper, x)
    else:
        back_substitute(p, x)


cdef inline int find_law_direction(Workspace* w, int touches) noexcept nogil:
    """Newton's direction of (1), and what follows from it: pull and rate; 0 where there is none."""
    cdef Problem* p = &w.problem
    if not factorise_law(w, touches):
        return 0
    step_by_factor(p)
    return 1


cdef inline void step_by_factor(Problem* p) noexcept nogil:
    """The direction by the factor that is there."""
    cdef Py_ssize_t k
    for k in range(p.nv):
        p.direction[k] = -p.gradient[k]
    substitute(p, p.direction)
    times_mass(p, p.direction, p.pull)
    times_jacobian(p, p.direction, p.rate)


cdef inline int descend(Workspace* w, int touches, double tolerance, int most, int halvings, double enough, Report* r) noexcept nogil:
    """Newton steps of (1) from p.u, p.y and p.momentum on, each of which leaves at most `enough` of the residual, after so many halvings at
    most. Returns whether they end at a solution; else they end where the residual was least."""
    cdef Problem* p = &w.problem
    cdef double before
    cdef double a
    cdef int k
    cdef int i
    look(w, touches, r)
    for k in range(most):
        if r.residual <= tolerance:
            break
        before = r.residual
        if r.iterations >= w.most_iterations or not find_law_direction(w, touches):
            return 0
        r.iterations += 1
        a = 1.0
        advance(p, 1.0)
        look(w, touches, r)
        for i in range(halvings):
            if r.residual <= enough * before or r.residual <= tolerance:
                break
            a *= 0.5
            advance(p, -a)
            look(w, touches, r)
        if not (r.residual <= enough * before or r.residual <= tolerance):
            advance(p, -a)
            look(w, touches, r)
            r.converged = r.residual <= NEARLY * tolerance and r.residual <= rounding(p)
            return r.converged
        if tolerance < r.residual < CLOSE:              # the last factor serves once more
            before = r.residual
            step_by_factor(p)
            advance(p, 1.0)
            look(w, touches, r)
            if r.residual > before:
                advance(p, -1.0)
                look(w, touches, r)
    r.converged = r.residual <= tolerance
    return r.converged


cdef inline void move_bounds(Workspace* w, int n) noexcept nogil:
    """Each bound of the search towards mu times the normal impulse of the convex solution."""
    cdef const Problem* p = &w.problem
    cdef double difference
    cdef int k
    for k in range(n):
        if w.sliding[k] >= 0:
            difference = w.mu[k] * p.impulse[p.block[k].row] - w.bound[k]
            w.pace[k] = 0.5 * w.pace[k] if difference * w.difference[k] < 0.0 else min(LONGEST, 2.0 * w.pace[k])
            w.difference[k] = difference
            w.bound[k] = max(0.0, w.bound[k] + w.pace[k] * difference)


cdef inline void search_bounds(Workspace* w, int n, double tolerance, Report* r) noexcept nogil:
    """2. and 3. above, from p.v on; w.bound: where the bounds start."""
    cdef Problem* p = &w.problem
    cdef Report convex
    cdef int last = min(LAST_CONVEX, w.most_iterations // 2)
    cdef int found
    cdef int k
    for k in range(n):
        w.pace[k], w.difference[k] = 0.5, 0.0
    for k in range(MOST_SEARCHES):
        put_bounds(w, n)
        solve(p, ROUGHLY if k == 0 else tolerance, max(w.most_iterations - last - r.iterations, 1), &convex)
        r.iterations += convex.iterations
        move_bounds(w, n)
        if r.iterations >= w.most_iterations - last:
            break
        begin(p)
        found = descend(w, n, tolerance, MOST_AFTER, MOST_HALVINGS, LESS, r)
        finish(p)
        if found:
            return
    put_bounds(w, n)
    solve(p, tolerance, max(w.most_iterations - r.iterations, 1), &convex)
    r.iterations += convex.iterations
    r.residual, r.converged, w.bounds_given = convex.residual, 0, 1
    memcpy(w.slower, p.u, p.nv * sizeof(double))
    balance(p)
    if not convex.converged and energy_at(p, p.u) > MOST_MADE * max(energy_at(p, p.u_star), energy_at(p, w.slower)):
        memcpy(p.u, w.slower, p.nv * sizeof(double))         # impulses of a search that was cut short: v counts, and momentum is not exact
        finish(p)


cdef inline double energy_at(Problem* p, const double* u) noexcept nogil:
    """u^T M u."""
    cdef double E = 0.0
    cdef Py_ssize_t k
    times_mass(p, u, p.pull)
    for k in range(p.nv):
        E += u[k] * p.pull[k]
    return E


cdef inline void balance(Problem* p) noexcept nogil:
    """v+ of the impulses that were found, v* + M^-1 J^T gamma: so action is reaction to rounding, where the problem was not solved, too. v
    moves by no more, in energy, than the residual."""
    cdef Py_ssize_t k
    if not factorise_inertia(p):
        return
    for k in range(p.nv):
        p.direction[k] = -p.gradient[k]
    back_substitute(p, p.direction)
    for k in range(p.nv):
        p.u[k] += p.direction[k]
    p.factored = 0
    finish(p)


cdef inline bint all_stuck(const Touch* touch, int n) noexcept nogil:
    """Whether nothing slipped in the last step, and nothing is new."""
    cdef int k
    for k in range(n):
        if not touch[k].stuck:
            return False
    return True


cdef inline void solve_with_friction(const Scene* s, Workspace* w, int lane, double h, Report* r) noexcept nogil:
    """v, y and impulses of (1), from the guess in p.v on."""
    cdef Problem* p = &w.problem
    cdef const Touch* touch = w.touch + lane * s.most_touches
    cdef int n = w.touches[lane]
    cdef bint few
    cdef int found
    cdef int k
    w.bounds_given = 0
    if n == 0:
        if not solve(p, s.tolerance, w.most_iterations, r):
            balance(p)
        return
    index_friction(s, w, lane)
    for k in range(n):
        if w.sliding[k] >= 0:
            w.bound[k] = p.term[w.sliding[k]].bound
            p.term[w.sliding[k]].bound = 0.0            # where nothing pushes at v* nothing slips
    r.iterations = r.evaluations = r.converged = 0
    r.residual = 0.0
    by_position(p)
    if stay_free(p):
        r.converged = 1
        return
    few = can_sweep(w, n)
    found = 0
    if not few or all_stuck(touch, n):
        begin(p)
        found = descend(w, n, s.tolerance, MOST_FIRST, 0, ENOUGH, r)
        finish(p)
    if not found and few and sweep(w, touch, h, n):
        begin(p)
        found = descend(w, n, s.tolerance, MOST_AFTER, MOST_HALVINGS, LESS, r)
        finish(p)
    if not found:
        search_bounds(w, n, s.tolerance, r)


cdef inline void hold_fast(const Scene* s, Workspace* w, int lane, double h, Report* r) noexcept nogil:
    """The solution again where what begins to stick gives way (sticking.pxd); as it is where that is not found."""
    cdef Problem* p = &w.problem
    cdef Touch* touch = w.touch + lane * s.most_touches
    cdef Term* t
    cdef Report again = r[0]
    cdef int n = w.touches[lane]
    cdef int k
    if not gives_way(w, touch, n, h):
        return
    memcpy(w.slower, p.u, p.nv * sizeof(double))
    for k in range(n):
        if w.sliding[k] >= 0 and holds(p, &p.term[w.sliding[k]]):
            t = &p.term[w.sliding[k]]
            stiffen(w, touch, k, p.impulse[t.row], p.impulse[t.row + 1], h)
            t.bound = UNBOUNDED                             # in the first Newton step; descend() finds it again
    p.factored = 0
    begin(p)
    find_gradient(p, &again)
    if find_law_direction(w, n):
        advance(p, 1.0)
        again.iterations += 1
    if descend(w, n, s.tolerance, MOST_AGAIN, MOST_HALVINGS_AGAIN, LESS, &again):
        r[0] = again
    else:
        r.iterations = again.iterations
        loosen(w, touch, n, h)
        memcpy(p.u, w.slower, p.nv * sizeof(double))
        begin(p)
        look(w, n, &again)
    finish(p)


cdef inline int solve_linear_law(Workspace* w, double* rhs) noexcept nogil:
    """rhs := (dr/dv)^-1 rhs at the solution, of lane 0, for derivatives: with bounds that follow normal impulses, or as they were given
    where the step was not solved."""
    cdef Problem* p = &w.problem
    cdef int k
    if not p.known:
        return 0
    if not p.factored:
        p.coupled_bounds = 0
        if w.bounds_given:
            assemble(p)
            p.factored = factorise(p)
        else:
            p.factored = factorise_law(w, w.touches[0])
        if not p.factored:
            return 0
    for k in range(p.nv):
        p.direction[p.place[k]] = rhs[k]
    substitute(p, p.direction)
    for k in range(p.nv):
        rhs[k] = p.direction[p.place[k]]
    return 1
