"""What holds frames on the world: the forces of given contacts, from the factor of M that forward dynamics has left.

    M vdot + b = tau + J^T f,    J vdot + Jdot v + kd J v + kp e = -mu f                                  (1)
    f = -S r,    r = J vdot_free + Jdot v + kd J v + kp e,    S = D^-1,    D = J M^-1 J^T + mu            (2)

D is Delassus' matrix. Where every joint has coordinates of its own, a force F on a body, about its origin, goes inwards to the root through
the columns that articulated bodies have eliminated (forward_dynamics.pxd),

    u_c = S_c . F,   F <- F - U_c u_c / D_c                                                               (3)

and no other column feels it: J M^-1 J^T of two rows is the sum of u_c u'_c / D_c over the columns on both ways (Rodriguez, Jain and
Kreutz-Delgado 1991: M^-1 = (1 - H Psi K)^T D^-1 (1 - H Psi K)). One sweep outwards makes accelerations of all f at once:

    A = shift(A_P, p_PB);  columns in reverse:  a = (u_c - U_c . A) / D_c,  vdot_c += a,  A <- A + S_c a  (4)

Where joints share coordinates the rows of J M^-1 come from the factor in s.L, and with constraints from the M^-1 within them, which is
given. Locked and prescribed joints have no part in M^-1.
Cost: O(n depth) for n rows, O(n^2 depth) for D, O(n^3) for S, O(nb) for (4).
"""
from libc.string cimport memset

from mbros_core.scalar.pack cimport PACK, pack, packed, spread, unpack
from mbros_core.scalar.pack3 cimport Vec3s, alike, load3
from mbros_core.scalar.real cimport copy, real, value
from mbros_core.joints.joint cimport Joint
from mbros_core.groups.so3 cimport quaternion_log
from mbros_core.spatial cimport Motion, Pose, Vec3, compose, cross, dot, power, quaternion_of, rotate, shift_motion, transpose, zero_motion
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.element_derivatives cimport meeting
from mbros_core.algorithms.forward_dynamics cimport locked
from mbros_core.algorithms.jacobian cimport jacobian
from mbros_core.algorithms.mass_matrix cimport solve_factored


cdef struct Contact:
    int frame
    int body
    int at                  # its first row
    int rows                # 3: the frame's origin, 6: all of the frame, [angular; linear]
    int width               # these in whole packs
    Py_ssize_t from_        # where W has them, `width` of each column
    Vec3 p                  # from the body's origin to the frame's, W axes
    real kp                 # what is added of how far it is from X_W,
    real kd                 # and of its velocity
    Pose X_W                # read where kp is not zero

cdef struct Contacts:
    int count
    int n                   # rows of all
    int wide                # these in whole packs
    Contact* contact
    real* J                 # (n, nv)
    bint dense              # joints share coordinates, or M^-1 is given
    const real* M_inverse   # (nv, nv), or NULL
    real* W                 # of each contact (nc, width): u of (3); if dense (n, nv): rows of J M^-1
    real* D                 # (n, wide), and room for a pack
    real* X                 # (n, wide): D, then its inverse
    real* S                 # (n, n)
    real* r                 # (n,): what f takes away
    real* f                 # (n,)


cdef inline void place_contacts(const ModelC* m, const Work* s, const Contacts* c, real* J) noexcept nogil:
    """Where they are, and c.J; J: room for (6, nv)."""
    cdef Contact* one
    cdef real* to
    cdef int k
    for k in range(c.count):
        one = &c.contact[k]
        one.body = m.frame_body[one.frame]
        one.p = rotate(s.X_WB[one.body].R, m.X_BF[one.frame].p)
        to = c.J + one.at * <Py_ssize_t>m.nv
        jacobian(m, one.body, one.p, to if one.rows == 6 else J, s)
        if one.rows == 3:
            copy(to, J + 3 * m.nv, 3 * m.nv)


cdef inline real inner(const real* a, const real* b, Py_ssize_t n) noexcept nogil:
    cdef real x = real(0.0)
    cdef Py_ssize_t k
    for k in range(n):
        x = x + a[k] * b[k]
    return x


cdef inline void put_rows(const Contact* c, Motion A, real scale, real* r) noexcept nogil:
    """r += scale A of the rows that are held."""
    cdef real* to = r + c.at
    if c.rows == 6:
        to[0], to[1], to[2] = to[0] + scale * A.w.x, to[1] + scale * A.w.y, to[2] + scale * A.w.z
        to += 3
    to[0], to[1], to[2] = to[0] + scale * A.v.x, to[1] + scale * A.v.y, to[2] + scale * A.v.z


cdef inline Motion away(const ModelC* m, const Work* s, const Contact* c) noexcept nogil:
    """e, from where the frame is to be to where it is: a rotation vector and a vector, W axes."""
    cdef Motion e = zero_motion()
    cdef real q[4]
    cdef real one[4]
    cdef real angle
    e.v = s.X_WB[c.body].p + c.p - c.X_W.p
    if c.rows == 6:
        one[0], one[1], one[2], one[3] = real(1.0), real(0.0), real(0.0), real(0.0)
        quaternion_of(compose(compose(s.X_WB[c.body].R, m.X_BF[c.frame].R), transpose(c.X_W.R)), q)
        e.w = quaternion_log(one, q, &angle)
    return e


cdef inline void add_accelerations(const ModelC* m, const Work* s, const Contacts* c) noexcept nogil:
    """r of (2), of the accelerations that s.A_WB has, gravity less."""
    cdef const Contact* one
    cdef Motion A
    cdef Vec3 w
    cdef int k
    for k in range(c.count):
        one = &c.contact[k]
        w = s.V_WB[one.body].w
        A = shift_motion(s.A_WB[one.body], one.p)
        A.v = A.v + s.gravity[0] + cross(w, cross(w, one.p))
        put_rows(one, A, real(1.0), c.r)
        put_rows(one, shift_motion(s.V_WB[one.body], one.p), one.kd, c.r)
        if value(one.kp) > 0.0:
            put_rows(one, away(m, s, one), one.kp, c.r)


cdef inline void add_velocities(const Work* s, const Contacts* c, real scale) noexcept nogil:
    """r += scale J v."""
    cdef int k
    for k in range(c.count):
        put_rows(&c.contact[k], shift_motion(s.V_WB[c.contact[k].body], c.contact[k].p), scale, c.r)


cdef inline void unit_forces(const Contact* c, int first, Vec3s* t, Vec3s* f) noexcept nogil:
    """PACK forces about the body's origin along the rows of a contact from `first` on, zero after the last."""
    cdef real x[6 * PACK]
    cdef real* to = x
    cdef int k
    memset(x, 0, sizeof(x))
    for k in range(6 - c.rows + first, min(6, 6 - c.rows + first + PACK)):
        to[k * PACK] = real(1.0)
        to += 1
    t[0], f[0] = load3(x, 0), load3(x, 3)
    t[0] = t[0] + cross(alike(c.p), f[0])


cdef inline void take_inwards(const ModelC* m, const Work* s, const Contact* c, real* W) noexcept nogil:
    """(3) of unit forces along the rows of a contact."""
    cdef Vec3s t, f
    cdef const Joint* j
    cdef pack u
    cdef int first = 0
    cdef int b, k
    while first < c.width:
        unit_forces(c, first, &t, &f)
        b = c.body
        while b > 0:
            j = &m.joints[b]
            for k in range(j.column, j.column + (0 if locked(j, s) else j.nv)):
                u = dot(alike(s.S[k].w), t) + dot(alike(s.S[k].v), f)
                unpack(W + k * c.width + first, u)
                u = spread(s.D_inverse[k]) * u
                t, f = t - u * alike(s.U[k].t), f - u * alike(s.U[k].f)
            t = t + cross(alike(s.p_PB_W[b]), f)
            b = j.parent
        first += PACK


cdef inline void add_products(const ModelC* m, const Work* s, const Contacts* c, const Contact* a, const Contact* b) noexcept nogil:
    """Of D the rows of a and the columns of b. Packs reach into what stands after these, and add zeros there."""
    cdef const real* of_a
    cdef const real* of_b
    cdef real* D
    cdef const Joint* j
    cdef pack u
    cdef Py_ssize_t wide = c.wide
    cdef int i = meeting(m, a.body, b.body), rows = a.rows, packs = b.width // PACK
    cdef int k, x, y
    while i > 0:
        j = &m.joints[i]
        for k in range(j.column, j.column + (0 if locked(j, s) else j.nv)):
            of_a, of_b = c.W + a.from_ + k * a.width, c.W + b.from_ + k * b.width
            D = c.D + a.at * wide + b.at
            for x in range(rows):
                u = spread(of_a[x] * s.D_inverse[k])
                for y in range(packs):
                    unpack(D + y * PACK, packed(D + y * PACK) + u * packed(of_b + y * PACK))
                D += wide
        i = j.parent


cdef inline void dense_products(const ModelC* m, const Work* s, const Contacts* c) noexcept nogil:
    """W and the lower half of D where M^-1 is no tree's."""
    cdef Py_ssize_t nv = m.nv, i, k, l
    cdef real* W
    for k in range(c.n):
        W = c.W + k * nv
        for i in range(nv):
            W[i] = inner(c.M_inverse + i * nv, c.J + k * nv, nv) if c.M_inverse != NULL \
                else c.J[k * nv + i] if value(s.lock[i]) == 0.0 else real(0.0)
        if c.M_inverse == NULL:
            solve_factored(s.L, nv, W)
        for l in range(k + 1):
            c.D[k * <Py_ssize_t>c.wide + l] = inner(W, c.J + l * nv, nv)


cdef inline void delassus(const ModelC* m, const Work* s, const Contacts* c, real mu) noexcept nogil:
    """W and D. Forward dynamics has left its factor."""
    cdef Py_ssize_t n = c.n, wide = c.wide, k, l
    memset(c.D, 0, (n * wide + PACK) * sizeof(real))
    if c.dense:
        dense_products(m, s, c)
    else:
        for k in range(c.count):
            take_inwards(m, s, &c.contact[k], c.W + c.contact[k].from_)
            for l in range(k + 1):
                add_products(m, s, c, &c.contact[k], &c.contact[l])
    for k in range(n):
        c.D[k * wide + k] = c.D[k * wide + k] + mu
        for l in range(k):
            c.D[l * wide + k] = c.D[k * wide + l]
        for l in range(n, wide):
            c.D[k * wide + l] = real(0.0)


cdef inline void hand_over(const Contacts* c, const real* X) noexcept nogil:
    """The symmetric matrix of which X has the lower half, as S."""
    cdef Py_ssize_t k, l, n = c.n
    for k in range(n):
        for l in range(k + 1):
            c.S[k * n + l] = c.S[l * n + k] = X[k * c.wide + l]


cdef inline bint invert(const Contacts* c, double well_posed) noexcept nogil:
    """S = D^-1, by Gauss and Jordan's elimination in place, whose pivots are those of Cholesky's. False, with D in the place of S, where D
    is not positive definite, or the largest number of D times the largest of S not below `well_posed`; both stand on the diagonals."""
    cdef Py_ssize_t n = c.n, wide = c.wide, i, k, l
    cdef real* own
    cdef real* row
    cdef pack p
    cdef double most = 0.0, largest = 0.0
    copy(c.X, c.D, n * wide)
    for k in range(n):
        own = c.X + k * wide
        if not value(own[k]) > 0.0:
            hand_over(c, c.D)
            return False
        p, own[k] = spread(1.0 / own[k]), real(1.0)
        for l in range(wide // PACK):
            unpack(own + l * PACK, p * packed(own + l * PACK))
        for i in range(n):
            if i != k:
                row = c.X + i * wide
                p, row[k] = spread(row[k]), real(0.0)
                for l in range(wide // PACK):
                    unpack(row + l * PACK, packed(row + l * PACK) - p * packed(own + l * PACK))
    for k in range(n):
        most, largest = max(most, value(c.D[k * (wide + 1)])), max(largest, value(c.X[k * (wide + 1)]))
    if not (n == 0 or most * largest < well_posed):
        hand_over(c, c.D)
        return False
    hand_over(c, c.X)
    return True


cdef inline void spread_forces(const ModelC* m, Work* s, const Contacts* c, real* x) noexcept nogil:
    """f = -S r, and x += M^-1 J^T f: (4)."""
    cdef const Joint* j
    cdef const Contact* one
    cdef const real* W
    cdef Motion A
    cdef real a
    cdef Py_ssize_t n = c.n, nv = m.nv
    cdef int b, i, k, r
    for i in range(n):
        c.f[i] = -inner(c.S + i * n, c.r, n)
    if c.dense:
        for k in range(n):
            for i in range(nv):
                x[i] = x[i] + c.f[k] * c.W[k * nv + i]
        return
    memset(s.u, 0, m.nc * sizeof(real))
    for i in range(c.count):
        one, b = &c.contact[i], c.contact[i].body
        W = c.W + one.from_
        while b > 0:
            j = &m.joints[b]
            for k in range(j.column, j.column + (0 if locked(j, s) else j.nv)):
                for r in range(one.rows):
                    s.u[k] = s.u[k] + W[k * one.width + r] * c.f[one.at + r]
            b = j.parent
    s.A_WB[0] = zero_motion()
    for b in range(1, m.nb):
        j = &m.joints[b]
        A = shift_motion(s.A_WB[j.parent], s.p_PB_W[b])
        for k in range((0 if locked(j, s) else j.nv) - 1, -1, -1):
            a = (s.u[j.column + k] - power(A, s.U[j.column + k])) * s.D_inverse[j.column + k]
            x[j.iv + k] = x[j.iv + k] + a
            A = A + a * s.S[j.column + k]
        s.A_WB[b] = A
