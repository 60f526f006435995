"""The mass matrix in the axes of own_axes.pxd, and M vdot = tau by its factor M = L^T D L, from the leaves to the root, which keeps the
tree's zeros. Locked coordinates are taken out; pivots may be those of a midpoint step (pivot.pxd). Cost: O(nv depth), O(nv depth^2).
Only traces run this.
"""
from mbros_core.scalar.real cimport real, value
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Force, Inertia, power, rotate_sym
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.own_axes cimport Axes, column_force, force_to_parent, joined, shifted, to_parent, turned_sym
from mbros_core.algorithms.pivot cimport pivot


cdef inline Inertia carried_to_parent(const Axes* x, Inertia M) noexcept nogil:
    """In its axes, about Po."""
    if not x.shared:
        M.h = to_parent(x, M.h)
        M.I = rotate_sym(x.E, turned_sym(M.I, x.s_turn, x.c_turn))
    return shifted(M, x.p)


cdef inline void composite_bodies(const ModelC* m, real* M, const Axes* axes, Work* s) noexcept nogil:
    """M(q) without rotors, (nv, nv), whole; s.M_W becomes the composite bodies."""
    cdef Py_ssize_t n = m.nv
    cdef int i, k, l, b
    cdef const Joint* j
    cdef const Joint* a
    cdef Force F
    cdef real x
    for k in range(n * n):
        M[k] = real(0.0)
    for i in range(m.nb - 1, 0, -1):
        j = &m.joints[i]
        for k in range(j.nv):
            F = column_force(s.M_W[i], s.S[j.column + k])
            for l in range(k + 1):
                x = power(s.S[j.column + l], F)
                M[(j.iv + k) * n + j.iv + l] = M[(j.iv + k) * n + j.iv + l] + x
                if l < k:
                    M[(j.iv + l) * n + j.iv + k] = M[(j.iv + l) * n + j.iv + k] + x
            b = i
            while m.joints[b].parent > 0:
                F = force_to_parent(&axes[b], F)
                b = m.joints[b].parent
                a = &m.joints[b]
                for l in range(a.nv):
                    x = power(s.S[a.column + l], F)
                    M[(j.iv + k) * n + a.iv + l] = M[(j.iv + k) * n + a.iv + l] + x
                    M[(a.iv + l) * n + j.iv + k] = M[(a.iv + l) * n + j.iv + k] + x
        if j.parent > 0:
            s.M_W[j.parent] = joined(s.M_W[j.parent], carried_to_parent(&axes[i], s.M_W[i]))


cdef inline void take_out_locked(const ModelC* m, real* M, const Work* s) noexcept nogil:
    """Their rows and columns."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t i, k
    for k in range(n):
        if value(s.lock[k]) != 0.0:
            for i in range(n):
                M[k * n + i] = M[i * n + k] = real(0.0)


cdef inline void eliminate(Py_ssize_t n, Py_ssize_t k, real D, real* M, real* x) noexcept nogil:
    """Row k of M from those before it, and from x, unless that is NULL; L above the diagonal."""
    cdef Py_ssize_t i, j
    cdef real l
    for i in range(k):
        l = M[k * n + i] * D
        for j in range(i + 1):
            M[i * n + j] = M[i * n + j] - l * M[k * n + j]
        if x != NULL:
            x[i] = x[i] - l * x[k]
        M[i * n + k] = l


cdef inline void from_root(Py_ssize_t n, const real* M, real* x, Py_ssize_t end) noexcept nogil:
    """x <- L^-1 x, its entries before `end`."""
    cdef Py_ssize_t i, k
    for k in range(end):
        for i in range(k):
            x[k] = x[k] - M[i * n + k] * x[i]


cdef inline void solve_from_leaves(const ModelC* m, real* M, real* x, Work* s, bint midpoint) noexcept nogil:
    """x <- (M + D0)^-1 x by M = L^T D L. Locked coordinates have no rows."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t k
    cdef real D
    take_out_locked(m, M, s)
    for k in range(n - 1, -1, -1):
        if value(s.lock[k]) != 0.0:
            x[k] = real(0.0)
            continue
        D = 1.0 / (pivot(m, s, <int>k, M[k * n + k], x + k) if midpoint else M[k * n + k] + s.D0[k])
        eliminate(n, k, D, M, x)
        x[k] = x[k] * D
    from_root(n, M, x, n)


cdef inline void factor_from_leaves(const ModelC* m, real* M, real* D, Work* s) noexcept nogil:
    """M + D0 = L^T D L: L above the diagonal of M, D^-1 in D, which is zero where a coordinate is locked."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t k
    take_out_locked(m, M, s)
    for k in range(n - 1, -1, -1):
        D[k] = real(0.0)
        if value(s.lock[k]) == 0.0:
            D[k] = 1.0 / (M[k * n + k] + s.D0[k])
            eliminate(n, k, D[k], M, NULL)


cdef inline void solve_factored(Py_ssize_t n, const real* M, const real* D, real* x, Py_ssize_t end) noexcept nogil:
    """x <- (M + D0)^-1 x after factor_from_leaves, its entries before `end`."""
    cdef Py_ssize_t i, k
    for k in range(n - 1, -1, -1):
        for i in range(k):
            x[i] = x[i] - M[i * n + k] * x[k]
        x[k] = x[k] * D[k]
    from_root(n, M, x, end)
