"""Mass matrix: the composite-rigid-body algorithm (Walker, Orin 1982; Featherstone 2008, table 6.2).

Inwards:  Mc_P += shift(Mc_B, p_PB)                                                                   (1)
          F = Mc_B S_i;   M[i, j] = S_j . shift(F, arm to j) for every joint j from B to the root      (2)
Coordinates that several joints share (followers) receive the sum of their parts, on both sides of the diagonal.
Cost: O(nv * depth). Also the dense solution M x = b by L D L^T.
"""
from mbros_core.scalar.real cimport real
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport (Force, add_inertia, column_power, inertia_times, rotate_inertia, shift_force, shift_inertia)
from mbros_core.algorithms.pivot cimport pivot
from mbros_core.engine.state cimport ModelC, Work


cdef inline void put(const ModelC* m, real* M, int a, int b, real x) noexcept nogil:
    """x on both sides of the diagonal; onto what is there only where coordinates are shared."""
    cdef Py_ssize_t n = m.nv
    if m.shared:
        M[a * n + b] = M[a * n + b] + x
        M[b * n + a] = M[b * n + a] + x
    else:
        M[a * n + b] = x
        M[b * n + a] = x


cdef inline void mass_matrix_rows(const ModelC* m, int i, real* M, Work* s) noexcept nogil:
    """Equation (2) for one body, all of whose composite inertia has arrived."""
    cdef const Joint* j = &m.joints[i]
    cdef const Joint* a
    cdef Force F
    cdef Py_ssize_t diagonal
    cdef int k, l, b
    for k in range(j.nv):
        F = inertia_times(s.M_W[i], s.S[j.column + k])
        diagonal = (j.iv + k) * (<Py_ssize_t>m.nv + 1)
        M[diagonal] = M[diagonal] + column_power(s.S[j.column + k], F, j.pure[k])
        for l in range(k):
            put(m, M, j.iv + k, j.iv + l, column_power(s.S[j.column + l], F, j.pure[l]))
        b = i
        while m.joints[b].parent > 0:
            F = shift_force(F, s.p_PB_W[b])
            b = m.joints[b].parent
            a = &m.joints[b]
            for l in range(a.nv):
                put(m, M, j.iv + k, a.iv + l, column_power(s.S[a.column + l], F, a.pure[l]))


cdef inline void lower_rows(const ModelC* m, int i, real* M, Work* s) noexcept nogil:
    """The same where no coordinates are shared, to the bit, below the diagonal only."""
    cdef const Joint* j = &m.joints[i]
    cdef const Joint* a
    cdef Force F
    cdef real* row
    cdef int k, l, b, parent
    for k in range(j.nv):
        F = inertia_times(s.M_W[i], s.S[j.column + k])
        row = M + (j.iv + k) * <Py_ssize_t>m.nv
        row[j.iv + k] = row[j.iv + k] + column_power(s.S[j.column + k], F, j.pure[k])
        for l in range(k):
            row[j.iv + l] = column_power(s.S[j.column + l], F, j.pure[l])
        b, parent = i, j.parent
        while parent > 0:
            F = shift_force(F, s.p_PB_W[b])
            b = parent
            a = &m.joints[b]
            parent = a.parent
            for l in range(a.nv):
                row[a.iv + l] = column_power(s.S[a.column + l], F, a.pure[l])


cdef inline void world_inertias(const ModelC* m, Work* s) noexcept nogil:
    cdef int i
    for i in range(1, m.nb):
        s.M_W[i] = rotate_inertia(s.X_WB[i].R, s.inertia[i])


cdef inline void mass_matrix(const ModelC* m, real* M, const real* diagonal, Work* s) noexcept nogil:
    """M(q) + diag(diagonal), (nv, nv) row-major. Positions are in place."""
    world_inertias(m, s)
    composite_rigid_bodies(m, M, diagonal, s)


cdef inline void lower_mass_matrix(const ModelC* m, real* M, const real* diagonal, Work* s) noexcept nogil:
    """The same where no coordinates are shared, of one below the diagonal and of two coordinates of which one moves the other's body;
    elsewhere M keeps what it had. The bodies' inertias in W are in s.M_W, of the forward dynamics."""
    cdef int i
    for i in range(m.nv):
        M[i * (<Py_ssize_t>m.nv + 1)] = diagonal[i]
    for i in range(m.nb - 1, 0, -1):
        lower_rows(m, i, M, s)
        if m.joints[i].parent > 0:
            s.M_W[m.joints[i].parent] = add_inertia(s.M_W[m.joints[i].parent],
                                                    shift_inertia(s.M_W[i], s.p_PB_W[i]))


cdef inline void composite_rigid_bodies(const ModelC* m, real* M, const real* diagonal, Work* s) noexcept nogil:
    """M(q) + diag(diagonal) when the bodies' inertias in W are already in s.M_W; they become the composite ones."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t k
    cdef int i
    for k in range(n * n):
        M[k] = real(0.0)
    for k in range(n):
        M[k * n + k] = diagonal[k]
    for i in range(m.nb - 1, 0, -1):
        mass_matrix_rows(m, i, M, s)
        if m.joints[i].parent > 0:
            s.M_W[m.joints[i].parent] = add_inertia(s.M_W[m.joints[i].parent],
                                                    shift_inertia(s.M_W[i], s.p_PB_W[i]))


cdef inline void hold(real* M, Py_ssize_t n, Py_ssize_t i, real* b) noexcept nogil:
    """Take coordinate i out of M x = b: x[i] = 0."""
    cdef Py_ssize_t k
    for k in range(n):
        M[i * n + k] = real(0.0)
        M[k * n + i] = real(0.0)
    M[i * n + i] = real(1.0)
    b[i] = real(0.0)


cdef inline void hold_at(real* M, Py_ssize_t n, Py_ssize_t i, real* b, real x) noexcept nogil:
    """The same with x[i] = x."""
    cdef Py_ssize_t k
    for k in range(n):
        b[k] = b[k] - M[k * n + i] * x
    hold(M, n, i, b)
    b[i] = x


cdef inline void factor(const ModelC* m, real* M, real* b, Work* s) noexcept nogil:
    """A symmetric positive definite M becomes its factor L D L^T (unit L below the diagonal, 1/D on it). With s, of a midpoint step, D is
    what pivot.pxd makes of it, and so is b."""
    cdef Py_ssize_t i, j, k, n = m.nv
    cdef real x
    for j in range(n):
        for k in range(j):
            x = M[j * n + k]
            M[j * n + k] = x * M[k * n + k]              # L[j,k]: M[k,k] holds 1/D[k]
            M[j * n + j] = M[j * n + j] - x * M[j * n + k]
            for i in range(j + 1, n):
                M[i * n + j] = M[i * n + j] - M[i * n + k] * M[j * n + k]
        M[j * n + j] = 1.0 / (pivot(m, s, <int>j, M[j * n + j], b + j) if s != NULL else M[j * n + j])


cdef inline void solve_factored(const real* M, Py_ssize_t n, real* b) noexcept nogil:
    """b <- M^-1 b for a factor M."""
    cdef Py_ssize_t i, k
    for i in range(n):
        for k in range(i):
            b[i] = b[i] - M[i * n + k] * b[k]
    for i in range(n):
        b[i] = b[i] * M[i * n + i]
    for i in range(n - 1, -1, -1):
        for k in range(i):
            b[k] = b[k] - M[i * n + k] * b[i]
