"""The law of one contact point, as terms of the convex problem (problem.pxd).

phi: depth in the middle of the step, > 0 in penetration; v_n, v_t: velocity of b's point against a's along the normal n (from a to b) and
across it, at the end of the step; h: the step.

    normal       gamma_n = h k max(0, phi - (h + tau) v_n)           the force k (phi + tau dphi/dt) of the middle to come, never pulling;
                                                                     of a gap (h + tau) (phi / h - v_n): nothing pushes what stays apart
    friction     |gamma_t| <= mu gamma_n                             Coulomb's law: against v_t where it slips
    torsion      |gamma_w| <= mu r_t gamma_n                         about the normal, where asked
    rolling      |gamma_r| <= r_r gamma_n                            across it, where asked

The bounds take gamma_n of the same point in the last step, so that each is convex, sliding lifts nothing and no energy comes of it
(docs/decisions/031-contact.md); of a new point, gamma_n as it would be if the point were alone.
Source of the scheme: Castro, Permenter and Han, An Unconstrained Convex Formulation of Compliant Contact (2022).
"""
from mbros_core.constraints.columns cimport Axes, Columns, block_along, find_path, new_block, relative_columns, shift_targets
from mbros_core.constraints.problem cimport FRICTION, ONE_SIDED, Block, Problem, Term, add_term
from mbros_core.constraints.robot cimport Robot, Tree, angular_velocity, bias_angular, bias_linear, origin, point_velocity, vector_at
from mbros_core.constraints.touch cimport Touch
from mbros_core.geometry.vec cimport Vec, cross, dot, vec

cdef enum:                       # the order of registry.CONTACT_NUMBERS
    STIFFNESS = 0
    RELAXATION_TIME = 1
    SLIDING = 2
    STANDING = 3
    TORSIONAL_RADIUS = 4
    ROLLING_RADIUS = 5
    CONTACT_COLUMNS = 6

cdef extern from *:
    """
    static const double MBROS_STICTION = 1e-3;
    """
    const double STICTION "MBROS_STICTION"

cdef struct Law:                 # of a pair of shapes
    double k
    double tau
    double mu
    double mu_standing
    double torsional_radius
    double rolling_radius


cdef inline double harmonic(double a, double b) noexcept nogil:
    """Twice two springs in a row; zero where one is."""
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0

cdef inline Law law_of(const Robot* r, int a, int b) noexcept nogil:
    """The numbers of a pair from those of its shapes (registry.py says how)."""
    cdef Law law
    cdef int n = r.stride
    cdef const double* x = r.numbers + CONTACT_COLUMNS * a * n
    cdef const double* y = r.numbers + CONTACT_COLUMNS * b * n
    law.k = 0.5 * harmonic(x[STIFFNESS * n], y[STIFFNESS * n])
    law.tau = x[RELAXATION_TIME * n] + y[RELAXATION_TIME * n]
    law.mu = harmonic(x[SLIDING * n], y[SLIDING * n])
    law.mu_standing = max(law.mu, harmonic(max(x[SLIDING * n], x[STANDING * n]), max(y[SLIDING * n], y[STANDING * n])))
    law.torsional_radius = max(x[TORSIONAL_RADIUS * n], y[TORSIONAL_RADIUS * n])
    law.rolling_radius = max(x[ROLLING_RADIUS * n], y[ROLLING_RADIUS * n])
    return law


cdef inline double friction_of(const Touch* t, const Law* law) noexcept nogil:
    """mu of a touch in this step: static friction where it stood still or is new."""
    return law.mu_standing if t.stuck or t.before < 0.0 else law.mu


cdef inline void invert_diagonal(const double* M, Py_ssize_t n, double* unit) noexcept nogil:
    """unit = 1 / M_ii."""
    cdef Py_ssize_t k
    for k in range(n):
        unit[k] = 1.0 / M[k * (n + 1)]

cdef inline double inverse_inertia(const double* unit, const int* dof, const double* J, int count) noexcept nogil:
    """An estimate of J M^-1 J^T of one row; unit: 1 / M_ii."""
    cdef double w = 0.0
    cdef int k
    for k in range(count):
        w += J[k] * J[k] * unit[dof[k]]
    return w

cdef inline double row_times(const double* J, const int* dof, int count, const double* v) noexcept nogil:
    cdef double y = 0.0
    cdef int k
    for k in range(count):
        y += J[k] * v[dof[k]]
    return y


cdef inline void add_friction(Problem* p, const double* unit, const Block* b, int row, int rows, double mu, double bound) noexcept nogil:
    """Friction over one or two rows of a block, from row `row` of it on, where there is any: its normal impulse may be one to come."""
    cdef const int* dof = p.dof + b.first_dof
    cdef const double* J = p.J + b.first_entry + row * b.dofs
    cdef double w = inverse_inertia(unit, dof, J, b.dofs)
    if rows == 2:
        w = 0.5 * (w + inverse_inertia(unit, dof, J + b.dofs, b.dofs))
    if w > 0.0 and mu > 0.0:
        add_term(p, FRICTION, b.row + row, rows, 1.0 / (STICTION * w), max(0.0, bound))


cdef inline Vec arm_change(const Robot* r, int body, const Touch* c) noexcept nogil:
    """How much farther from the body's origin the point lies at the end of the step."""
    return c.moved - r.later * vector_at(r.V_WB + (6 * body + 3) * r.stride, r.stride)

cdef inline void add_bias(const Problem* p, const Block* b, const Robot* r, int body, double sign, const Touch* c,
                          const Axes* A) noexcept nogil:
    """Targets less what a body's velocity gains while the coordinates' stay: y is of the end of the step, J of where the columns were
    taken. Without it, a ball whose velocity is given in its own axes would sink in while it rolls, and a coin whose lowest point runs
    around its rim would gain energy."""
    cdef Vec v = sign * bias_linear(r, body, c.c.p)
    cdef Vec w = sign * bias_angular(r, body)
    if c.followed:
        v = v + sign * cross(angular_velocity(r, body), arm_change(r, body, c))
        p.target[b.row] -= sign * dot(c.turned, point_velocity(r, body, c.c.p))
    p.target[b.row] -= dot(A.n, v)
    p.target[b.row + 1] -= dot(A.t, v)
    p.target[b.row + 2] -= dot(A.s, v)
    if b.rows > 3:
        p.target[b.row + 3] -= dot(A.n, w)
    if b.rows > 4:
        p.target[b.row + 4] -= dot(A.t, w)
        p.target[b.row + 5] -= dot(A.s, w)


cdef inline double closing_speed(const Touch* c, double h, double tau) noexcept nogil:
    """The normal velocity at which the force begins: a gap pushes where it would close within the step, whatever tau is."""
    return c.c.depth / h if c.gap else c.c.depth / (h + tau)


cdef inline int rows_of(const Law* law) noexcept nogil:
    """Of a contact's block."""
    return 6 if law.rolling_radius > 0.0 else 4 if law.torsional_radius > 0.0 else 3


cdef inline void add_terms(Problem* p, const Block* b, const Touch* c, const Law* law, double h, const double* unit) noexcept nogil:
    """The terms of a contact point over its block, whose J and targets are in place."""
    cdef double weight = h * law.k * (h + law.tau)
    cdef double before = c.before
    cdef double mu = friction_of(c, law)
    cdef double w
    add_term(p, ONE_SIDED, b.row, 1, weight, 0.0)
    if before < 0.0:
        w = inverse_inertia(unit, p.dof + b.first_dof, p.J + b.first_entry, b.dofs)
        before = weight * (p.target[b.row] - row_times(p.J + b.first_entry, p.dof + b.first_dof, b.dofs, p.v_star)) / (1.0 + w * weight)
    add_friction(p, unit, b, 1, 2, mu, mu * before)
    if b.rows > 3:
        add_friction(p, unit, b, 3, 1, mu * law.torsional_radius, mu * law.torsional_radius * before)
    if b.rows > 4:
        add_friction(p, unit, b, 4, 2, law.rolling_radius, law.rolling_radius * before)


cdef inline double carried(const Touch* c, const Axes* A, int row) noexcept nogil:
    """What friction of a row carried in the last step, N or N m."""
    return (dot(A.t, c.force) if row == 1 else dot(A.s, c.force) if row == 2 else dot(A.n, c.torque) if row == 3
            else dot(A.t, c.torque) if row == 4 else dot(A.s, c.torque))


cdef inline void keep_friction(Problem* p, const Block* b, int first, const Touch* c, const Axes* A, double h) noexcept nogil:
    """Targets of friction, of terms from number `first` on, so that gamma_t = gamma - w_t v_t, with what it carried: what sticks has no
    need to creep."""
    cdef const Term* t
    cdef int n
    cdef int i
    for n in range(first, p.nterms):
        t = &p.term[n]
        for i in range(t.rows if t.potential == FRICTION else 0):
            p.target[t.row + i] += h * carried(c, A, t.row + i - b.row) / t.weight


cdef inline bint add_contact(Problem* p, const Tree* m, const Robot* r, int body_a, int body_b, const Touch* c, const Law* law,
                             const Axes* A,
                             double h, const double* unit, Columns* columns) noexcept nogil:
    """The block and the terms of a contact point; False where it has none. unit: 1 / M_ii of every coordinate."""
    if not m.shared:
        find_path(columns, m, r, body_a, body_b)
    return add_contact_along(p, m, r, body_a, body_b, c, law, A, h, unit, columns)


cdef inline bint add_contact_along(Problem* p, const Tree* m, const Robot* r, int body_a, int body_b, const Touch* c, const Law* law,
                                   const Axes* A, double h, const double* unit, Columns* columns) noexcept nogil:
    """The same where find_path knows the way between these bodies already, or joints share coordinates."""
    cdef int rows = rows_of(law)
    cdef const Block* b
    cdef int number
    if m.shared or columns.given:
        relative_columns(columns, m, r, body_a, body_b, c.c.p, A, rows > 3)
        number = new_block(p, rows, columns)
    else:
        number = block_along(p, columns, r, rows, c.c.p, A)
    if number < 0:
        return False
    b = &p.block[number]
    p.target[b.row] = closing_speed(c, h, law.tau)
    add_bias(p, b, r, body_a, -1.0, c, A)
    add_bias(p, b, r, body_b, 1.0, c, A)
    if columns.given:
        shift_targets(p, b, columns)
    number = p.nterms
    add_terms(p, b, c, law, h, unit)
    if c.goes_on:
        keep_friction(p, b, number, c, A, h)
    return True
