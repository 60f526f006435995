"""Derivatives of forward dynamics: those of inverse dynamics at the same motion, through the inverse of M.

    M vdot = tau - ...:    dvdot/dx = -M^-1 dtau/dx  (x: q, v),    dvdot/dtau = M^-1                  (1)

M = L^T D L with the pattern of the tree: L[i, j] is not zero only where j is between i and the root (Featherstone 2008, section 6.5), so

    L^T Y = [-dtau/dq, -dtau/dv, 1],   L X = D^-1 Y                                                   (2)

take two sweeps over the tree for all right-hand sides at once, which stand side by side in rows. Where joints share coordinates L is full.
Locked and prescribed coordinates keep their acceleration: their rows and columns of M are taken out, and their rows of X are zero.
Cost: O(nv^2 depth).
"""
from libc.string cimport memset

from mbros_core.scalar.pack cimport PACK, pack, packed, spread, unpack
from mbros_core.scalar.real cimport real, value
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport Columns
from mbros_core.algorithms.element_derivatives cimport add_element_slopes
from mbros_core.algorithms.inverse_dynamics_derivatives cimport pair_derivatives


cdef struct Three:          # of a row of c.R: by q, v and tau
    pack a
    pack b
    pack c


cdef inline Py_ssize_t place(int k) noexcept nogil:
    """Where column k of the first of the three matrices is in a row of c.R; that of the next is PACK on."""
    return k // PACK * (3 * PACK) + k % PACK


cdef inline void lay_out(const ModelC* m, const Work* s, Columns* c) noexcept nogil:
    """M into c.L below the diagonal, the right-hand sides of (2), but for their sign, into c.R up to what is beyond each row."""
    cdef const int* row = c.row
    cdef Py_ssize_t at, from_, wide = 3 * c.padded
    cdef int i, j, l
    if c.crossed:
        memset(c.R, 0, c.rows * wide * sizeof(real))
    for j in range(c.rows):
        memset(c.R + j * wide, 0, ((c.stop[j] - 1) // PACK + 1) * 3 * PACK * sizeof(real))
        c.L[j * <Py_ssize_t>c.padded + j] = s.D0[c.out[j]]
    if m.shared:
        memset(c.L, 0, c.rows * <Py_ssize_t>c.padded * sizeof(real))
        for j in range(c.rows):
            c.L[j * <Py_ssize_t>c.padded + j] = s.D0[j]
    for j in range(c.n):
        i = c.body[j]
        from_ = j * <Py_ssize_t>c.padded
        at = place(row[j])
        for l in range(c.first[i], c.end[i]):
            add_pair(c.R + row[l] * wide + at, c.below_q[from_ + l], c.below_v[from_ + l])
        for l in range(c.own_end[i], c.end[i]):
            add_pair(c.R + row[j] * wide + place(row[l]), c.above_q[from_ + l], c.above_v[from_ + l])
        put_masses(m, c, j)
    for j in range(c.rows):
        at = j * wide + place(j)
        add_pair(c.R + at, -c.passive_q[c.out[j]], -c.passive_v[c.out[j]])
        c.R[at + 2 * PACK] = real(-1.0)


cdef inline void add_pair(real* to, real by_q, real by_v) noexcept nogil:
    to[0] = to[0] + by_q
    to[PACK] = to[PACK] + by_v


cdef inline void put_masses(const ModelC* m, Columns* c, int j) noexcept nogil:
    """Column j of M."""
    cdef Py_ssize_t from_ = j * <Py_ssize_t>c.padded
    cdef Py_ssize_t a = c.row[j], b
    cdef int l
    c.L[a * (<Py_ssize_t>c.padded + 1)] = c.L[a * (<Py_ssize_t>c.padded + 1)] + c.M[from_ + j]
    for l in range(j + 1, c.end[c.body[j]]):
        if not m.shared:
            c.L[l * <Py_ssize_t>c.padded + j] = c.M[from_ + l]
            continue
        b = c.row[l] * <Py_ssize_t>c.padded + a if c.row[l] >= a else a * c.padded + c.row[l]
        c.L[b] = c.L[b] + (2.0 * c.M[from_ + l] if c.row[l] == a else c.M[from_ + l])


cdef inline bint kept(const Work* s, const Columns* c, int r) noexcept nogil:
    return value(s.lock[c.out[r]]) != 0.0


cdef inline void take_out(const Work* s, Columns* c) noexcept nogil:
    """Rows and columns of locked and prescribed coordinates from M."""
    cdef int r, k
    for r in range(c.rows):
        if kept(s, c, r):
            for k in range(r):
                c.L[r * <Py_ssize_t>c.padded + k] = real(0.0)
            c.L[r * (<Py_ssize_t>c.padded + 1)] = real(1.0)
            for k in range(r + 1, c.stop[r]):
                c.L[k * <Py_ssize_t>c.padded + r] = real(0.0)


cdef inline void factor_tree(const Work* s, Columns* c) noexcept nogil:
    """M = L^T D L in place; D^-1 of what is kept is zero."""
    cdef Py_ssize_t wide = c.padded
    cdef real* own
    cdef real* row
    cdef pack l
    cdef int k, i, b
    for k in range(c.rows - 1, -1, -1):
        own = c.L + k * wide
        c.D_inverse[k] = 1.0 / own[k]
        i = c.up[k]
        while i >= 0:
            row = c.L + i * wide
            l = spread(own[i] * c.D_inverse[k])
            for b in range(i // PACK + 1):
                unpack(row + b * PACK, packed(row + b * PACK) - l * packed(own + b * PACK))
            i = c.up[i]
        i = c.up[k]
        while i >= 0:
            own[i] = own[i] * c.D_inverse[k]
            i = c.up[i]
        if kept(s, c, k):
            c.D_inverse[k] = real(0.0)


cdef inline void take(Three* y, real l, const real* x) noexcept nogil:
    """y -= l x."""
    cdef pack p = spread(l)
    y.a = y.a - p * packed(x)
    y.b = y.b - p * packed(x + PACK)
    y.c = y.c - p * packed(x + 2 * PACK)


cdef inline void save(real* x, const Three* y, const Three* z) noexcept nogil:
    unpack(x, y.a + z.a)
    unpack(x + PACK, y.b + z.b)
    unpack(x + 2 * PACK, y.c + z.c)


cdef inline Three nothing() noexcept nogil:
    cdef Three y
    y.a = y.b = y.c = spread(real(0.0))
    return y


cdef inline void solve_tree(Columns* c) noexcept nogil:
    """(2), PACK columns of all three matrices at a time, in two sums, so that no product waits for the one before.

    Row r of Y is zero in the columns after those beyond r, and stays so in the first sweep; but for columns that a force element between
    two branches has filled.
    """
    cdef Py_ssize_t wide = 3 * c.padded, tall = c.padded
    cdef const real* L = c.L
    cdef real* R
    cdef Three y, z
    cdef int k, r, i, first
    for k in range((c.rows + PACK - 1) // PACK):
        first = 0 if c.filled[k] else k * PACK
        R = c.R + k * (3 * PACK)
        for r in range(c.rows - 1, -1, -1):
            if c.stop[r] <= first:
                continue
            y, z = nothing(), nothing()
            i = r + 1
            if i < first:
                i = c.up[first]                 # of the rows between r and the first of these columns only those on the way to it
                while i > r:
                    take(&y, L[i * tall + r], R + i * wide)
                    i = c.up[i]
                i = first
            while i + 1 < c.stop[r]:
                take(&y, L[i * tall + r], R + i * wide)
                take(&z, L[(i + 1) * tall + r], R + (i + 1) * wide)
                i += 2
            if i < c.stop[r]:
                take(&y, L[i * tall + r], R + i * wide)
            take(&z, real(-1.0), R + r * wide)
            save(R + r * wide, &y, &z)
        for r in range(c.rows):
            y, z = nothing(), nothing()
            if c.stop[r] > first:
                take(&z, c.D_inverse[r], R + r * wide)
            i = c.up[r]
            while i >= 0:
                take(&y, L[r * tall + i], R + i * wide)
                i = c.up[i]
                if i >= 0:
                    take(&z, L[r * tall + i], R + i * wide)
                    i = c.up[i]
            save(R + r * wide, &y, &z)


cdef inline void hand_out(const Columns* c, real* by_q, real* by_v, Py_ssize_t stride, real* by_tau, Py_ssize_t stride_tau) noexcept nogil:
    """The three matrices of X, (rows, rows) with their strides from row to row. A pack may reach into what is written after it: rows in
    order, by_v where it stands beside by_q, or after it, in a matrix."""
    cdef const real* x
    cdef Py_ssize_t at, at_tau, to
    cdef int r, k, packs
    for r in range(c.rows):
        x = c.R + r * 3 * <Py_ssize_t>c.padded
        at, at_tau = c.out[r] * stride, c.out[r] * stride_tau
        packs = 0
        if c.same:
            packs = (c.rows + PACK - 1) // PACK if (c.rows - 1 - r) * stride_tau >= PACK else c.rows // PACK
            for k in range(packs):
                unpack(by_q + at + k * PACK, packed(x + k * 3 * PACK))
            for k in range(packs):
                unpack(by_v + at + k * PACK, packed(x + (k * 3 + 1) * PACK))
                unpack(by_tau + at_tau + k * PACK, packed(x + (k * 3 + 2) * PACK))
        for k in range(packs * PACK, c.rows):
            to = c.out[k]
            by_q[at + to] = x[place(k)]
        for k in range(packs * PACK, c.rows):
            to = c.out[k]
            by_v[at + to], by_tau[at_tau + to] = x[place(k) + PACK], x[place(k) + 2 * PACK]


cdef inline void forward_dynamics_derivatives(const ModelC* m, Work* s, const real* vdot, Columns* c) noexcept nogil:
    """(1) into c.R, in every row PACK columns by q, by v and by tau, then the next ones. As pair_derivatives, with passive slopes in c and
    what joins the diagonal of M in s.D0."""
    pair_derivatives(m, s, vdot, c, False)
    lay_out(m, s, c)
    if c.along != NULL:
        add_element_slopes(m, s, c, c.R, c.R + PACK, 3 * <Py_ssize_t>c.padded, True)
    take_out(s, c)
    factor_tree(s, c)
    solve_tree(c)
