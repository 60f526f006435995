"""Derivatives where constraints were held without compliance (rigid.pxd): with M (dx - dx*) = J^T df + change and J (dx - dx*) as asked.

In a step with contacts, ropes or stiff elements beside them, dx - dx* = e + z: e is the least that keeps the constraints, z what the others
do within them. Their right-hand sides see dv* + e; z is that of the problem apart, from the forces that constraints leave.
"""
from libc.string cimport memcpy, memset

from mbros_core.constraints.coulomb cimport solve_linear_law
from mbros_core.constraints.problem cimport MOST_ROWS, Block, Problem, Term
from mbros_core.constraints.rigid cimport exchange, settle
from mbros_core.constraints.scene cimport Rigid, Scene, Slopes, Workspace
from mbros_core.constraints.springs cimport apply_inverse


cdef inline void settle_change(const Scene* s, Workspace* w, const double* change, double* dx) noexcept nogil:
    """dx of a right-hand side without constraints (NULL: none) and what each of their rows asks, in w.rigid.target."""
    cdef Rigid* r = &w.rigid
    cdef int unresolved = r.unresolved
    cdef int j, k
    for k in range(r.rows):
        r.size[k] = r.force[k] = 0.0
        for j in range(k):
            r.target[k] -= r.mix[k * MOST_ROWS * s.nk + j] * r.target[j]
    if change == NULL:
        memset(dx, 0, s.tree.nv * sizeof(double))
    else:
        memcpy(dx, change, s.tree.nv * sizeof(double))
        apply_inverse(r.factor, &s.tree, dx)
    settle(s, w, dx)
    r.unresolved = unresolved


cdef inline void add_springs_change(const Scene* s, Workspace* w) noexcept nogil:
    """What stiff elements add because constraints move v by x.shift more than v*."""
    cdef const Problem* p = &w.problem
    cdef const Block* b
    cdef const double* J
    cdef const Term* t
    cdef double f
    cdef int j, k, n
    for k in range(s.nsprings):
        if w.spring_block[k] < 0:
            continue
        b = &p.block[w.spring_block[k]]
        for n in range(p.nterms):
            t = &p.term[n]
            if not b.row <= t.row < b.row + b.rows:
                continue
            J = p.J + b.first_entry + (t.row - b.row) * b.dofs
            f = 0.0
            for j in range(b.dofs):
                f -= t.weight * J[j] * w.slopes.shift[p.dof[b.first_dof + j]]
            for j in range(b.dofs):
                w.slopes.change[p.dof[b.first_dof + j]] += f * J[j]


cdef inline bint solve_rigid_law(const Scene* s, Workspace* w, double* rhs) noexcept nogil:
    """rhs := dv - dv* of a step, with x.shift as it is: e."""
    cdef Rigid* r = &w.rigid
    cdef Py_ssize_t n = s.tree.nv
    cdef Py_ssize_t i
    cdef int unresolved = r.unresolved
    cdef int k
    memset(r.target, 0, r.rows * sizeof(double))
    settle_change(s, w, rhs, r.v)
    if r.others:
        for k in range(r.rows):
            for i in range(n):
                rhs[i] += r.J[k * n + i] * r.force[k]
        exchange(w)
        k = solve_linear_law(w, rhs)
        exchange(w)
        if not k:
            return False
        memcpy(r.v, rhs, n * sizeof(double))
        settle(s, w, r.v)                           # targets are zeros still: what rounding left
    r.unresolved = unresolved
    for i in range(n):
        rhs[i] = r.v[i] + w.slopes.shift[i]
    return True
