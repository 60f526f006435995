"""Second derivatives of inverse dynamics (Singh, Russell and Wensing 2023), in the terms of inverse_dynamics_derivatives.pxd.

All spatial quantities about one fixed point O in world axes. A change of column a by q, v or vdot turns all bodies beyond with T_a and
changes their V by T x V + e_a and their A by T x A + e_a x V + z_a:

    q: T = S_a, e = eta_a, z = zeta_a         v: T = 0, e = S_a, z = xi_a         vdot: T = 0, e = 0, z = S_a                  (1)

and the force through joint b by f^b = T_b x* F_b + 2 B_b e_b + I_b z_b. Now a second change, of column a of the same joint or of one nearer
to the world. Beside turning with T_a, what (1) says of b changes by

    R e_b = e_a x S_b           (b by q; else 0)
    R z_b = (e_a x V_P + z_a) x S_b + e_a x e_b + V_P x (e_a x S_b)   (by q)         2 e_a x S_b   (by v)         0   (by vdot)      (2)

V_P: of the parent of b. With 2 B(y) x = I (x x y) + x x* I y + y x* I x, and N the second derivative of tau_i by both,

    i of the joint of b, or beyond:   N = R e_b . P_i + R z_b . U_i + S_i . 2 B_i(e_a) e_b                                       (3)
    i nearer to the world than b:     N = S_i . (T_b x* (2 B_b e_a + I_b z_a) + 2 B_b(e_a) e_b + 2 B_b R e_b + I_b R z_b)
                                          - (T_a x S_i) . f^b where i is nearer to the world than a, too                         (4)

Joints whose columns do not turn with their body but one by one (planar, universal) are chains of single columns here: no body between.
Wrenches that are applied keep their axes: tau_i has - sum (w_i . t + f . J_i), J = v + w x p, of which N is that of f . u x (w x J) for the
three columns in their order from the world. Cost: O(nv depth^2), PACK columns at a time.
"""
from libc.string cimport memset

from mbros_core.scalar.pack cimport PACK, pack, packed, spread, unpack
from mbros_core.scalar.pack3 cimport Vec3s, load3, save3, spread3, vec3s
from mbros_core.scalar.real cimport any, nonzero, real, sqrt
from mbros_core.forces.passive cimport FRICTION_SPEED_PER_S
from mbros_core.joints.dispatch cimport OTHERWISE, columns_turn
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport Motion, cross, dot
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport (AT_ETA, AT_FQ, AT_FV, AT_P, AT_REST, AT_S, AT_U, AT_V_P, AT_XI, AT_ZETA, Columns, block, column,
                                            put_motion)
from mbros_core.algorithms.inverse_dynamics_derivatives cimport columns_in_motion, forces_of_columns, symmetric_times, wrenches
from mbros_core.algorithms.turning_columns cimport about

cdef enum Of:               # a pair of columns, rows of b for a given a
    AT_RE_QQ = 0            # (2): R e_b by q and q, of which R z_b by q and v is twice
    AT_RZ_QQ = 6
    AT_RE_VQ = 12           # S_a x S_b; R z_b by v and v is twice that
    AT_RZ_VQ = 18
    AT_QQ = 24              # (4) but its last term: a by q, b by q; a by q, b by v; a by v, b by q; both by v; a by vdot, b by q
    AT_QV = 30
    AT_VQ = 36
    AT_VV = 42
    AT_AQ = 48
    AT_P_Q = 54             # 2 B(e_a)^T S_i, the torque alone: a by q, and by v
    AT_P_V = 57
    ROWS_OF_PAIR = 60

cdef enum:
    LOADS = 15              # numbers of what is applied beyond a joint: sum f p^T (9), sum f, sum t
    KINDS = 6               # of pairs: qq qv vq vv aq qa

cdef struct Six:            # [rotational; translational]
    Vec3s w
    Vec3s v


cdef inline Six six(Vec3s w, Vec3s v) noexcept nogil:
    cdef Six a
    a.w = w
    a.v = v
    return a

cdef inline Six load6(const real* at, int row) noexcept nogil:
    return six(load3(at, row), load3(at, row + 3))

cdef inline Six spread6(const real* at, int row) noexcept nogil:
    return six(spread3(at, row), spread3(at, row + 3))

cdef inline void save6(real* at, int row, Six a) noexcept nogil:
    save3(at, row, a.w)
    save3(at, row + 3, a.v)

cdef inline Six add6(Six a, Six b) noexcept nogil:
    return six(a.w + b.w, a.v + b.v)

cdef inline Six twice6(Six a) noexcept nogil:
    return add6(a, a)

cdef inline pack dot6(Six a, Six b) noexcept nogil:
    return dot(a.w, b.w) + dot(a.v, b.v)

cdef inline Six cross6(Six a, Six b) noexcept nogil:
    """a x b of twists."""
    return six(cross(a.w, b.w), cross(a.w, b.v) + cross(a.v, b.w))

cdef inline Six cross_force6(Six a, Six f) noexcept nogil:
    """a x* f; of a force, w is its torque and v its force."""
    return six(cross(a.w, f.w) + cross(a.v, f.v), cross(a.w, f.v))

cdef inline Six inertia6(const real* at, Six x) noexcept nogil:
    """I x of what is beyond the columns of a block."""
    cdef Vec3s h = load3(at, AT_REST + 1)
    return six(symmetric_times(at, AT_REST + 4, x.w) + cross(h, x.v), packed(at + AT_REST * PACK) * x.v + cross(x.w, h))

cdef inline Six carried6(const real* at, Vec3s x) noexcept nogil:
    """2 B x, at the velocities of what is beyond."""
    cdef Vec3s f = cross(x, load3(at, AT_REST + 19))
    return six(symmetric_times(at, AT_REST + 10, x) + cross(x, load3(at, AT_REST + 16)), f + f)

cdef inline Vec3s rate_times(const real* at, Six y, Vec3s x) noexcept nogil:
    """Rate of the rotational inertia of what moves with y, times x: y_w x I x - I (y_w x x) - y_v x (h x x) - h x (y_v x x)."""
    cdef Vec3s h = load3(at, AT_REST + 1)
    return (cross(y.w, symmetric_times(at, AT_REST + 4, x)) - symmetric_times(at, AT_REST + 4, cross(y.w, x))
            - (cross(y.v, cross(h, x)) + cross(h, cross(y.v, x))))

cdef inline Six moving6(const real* at, Six y, Six L, Vec3s x) noexcept nogil:
    """2 B(y) x, L = I y."""
    cdef Vec3s f = cross(x, L.v)
    return six(rate_times(at, y, x) + cross(x, L.w), f + f)

cdef inline Vec3s moved3(const real* at, Six y, Six L, Six S) noexcept nogil:
    """2 B(y)^T S."""
    cdef Vec3s t = cross(L.v, S.v)
    return rate_times(at, y, S.w) + cross(L.w, S.w) + (t + t)


cdef inline int group_first(const ModelC* m, const Columns* c, int k) noexcept nogil:
    """Of the columns that turn with the body of column k, the first."""
    return k if columns_turn(m.joints[c.body[k]].kind) == OTHERWISE else c.first[c.body[k]]

cdef inline int group_end(const ModelC* m, const Columns* c, int k) noexcept nogil:
    return k + 1 if columns_turn(m.joints[c.body[k]].kind) == OTHERWISE else c.own_end[c.body[k]]


cdef inline void chain_columns(const ModelC* m, Work* s, Columns* c) noexcept nogil:
    """V_P of each column of the joints that are chains: with the speeds of those before."""
    cdef const Joint* j
    cdef Motion V
    cdef int i, k
    for i in range(1, m.nb):
        j = &m.joints[i]
        if columns_turn(j.kind) == OTHERWISE:
            V = c.bodies[j.parent].V
            for k in range(j.nv):
                put_motion(column(c, c.first[i] + k), AT_V_P, V)
                V = V + s.v[j.iv + k] * about(s.S[j.column + k], c.bodies[i].r)


cdef inline void gather_loads(const ModelC* m, const Work* s, const Columns* c, real* loads, real* sums) noexcept nogil:
    """What is applied beyond each joint, into blocks of LOADS rows; sums: (nb, LOADS)."""
    cdef const Joint* j
    cdef const real* F
    cdef const real* p
    cdef real* x
    cdef int i, k, l, at
    memset(sums, 0, m.nb * LOADS * sizeof(real))
    for i in range(m.nb - 1, 0, -1):
        j = &m.joints[i]
        x = sums + i * LOADS
        F, p = <const real*>&s.applied[i].f, <const real*>&c.bodies[i].r
        for k in range(3):
            for l in range(3):
                x[3 * k + l] = x[3 * k + l] + F[k] * p[l]
            x[9 + k] = x[9 + k] + F[k]
            x[12 + k] = x[12 + k] + (<const real*>&s.applied[i].t)[k]
        for k in range(c.first[i], c.own_end[i]):
            at = k // PACK * LOADS * PACK + k % PACK
            for l in range(LOADS):
                loads[at + l * PACK] = x[l]
        if j.parent > 0:
            for l in range(LOADS):
                sums[j.parent * LOADS + l] = sums[j.parent * LOADS + l] + x[l]


cdef inline pack bent(const real* load, Vec3s u, Vec3s v, Six S, bint turning) noexcept nogil:
    """Sum of f . u x (v x J) over the wrenches beyond S; with turning, t . u x (v x S_w) as well."""
    cdef Vec3s x, y, z, f, t, c, d
    cdef pack along = dot(u, v)
    x, y, z, f = load3(load, 0), load3(load, 3), load3(load, 6), load3(load, 9)
    d = cross(v.x * x + v.y * y + v.z * z, u)
    c = vec3s(z.y - y.z, x.z - z.x, y.x - x.y)                        # sum p x f
    if turning:
        t = load3(load, 12)
        c = c + t
        d = d + dot(t, v) * u
    return dot(S.w, d - along * c) + dot(S.v, dot(f, v) * u - along * f)


cdef inline void pair_with(const Columns* c, int a, int first, int end, real* pairs) noexcept nogil:
    """(2), and (4) but its last term, for a and all b from first to end."""
    cdef const real* own = column(c, a)
    cdef const real* at
    cdef real* to
    cdef Six S_a, e_a, z_a, x_a, S, e, V, re, rz, y, L, K, Iy
    cdef int k
    S_a, e_a, z_a, x_a = spread6(own, AT_S), spread6(own, AT_ETA), spread6(own, AT_ZETA), spread6(own, AT_XI)
    for k in range(first // PACK, (end + PACK - 1) // PACK):
        at = block(c, k)
        to = pairs + k * (ROWS_OF_PAIR * PACK)
        S, e, V = load6(at, AT_S), load6(at, AT_ETA), load6(at, AT_V_P)
        L, K = inertia6(at, e_a), inertia6(at, S_a)
        save3(to, AT_P_Q, moved3(at, e_a, L, S))
        save3(to, AT_P_V, moved3(at, S_a, K, S))
        re = cross6(e_a, S)
        rz = add6(cross6(add6(cross6(e_a, V), z_a), S), add6(cross6(e_a, e), cross6(V, re)))
        save6(to, AT_RE_QQ, re)
        save6(to, AT_RZ_QQ, rz)
        save6(to, AT_QQ, add6(add6(cross_force6(S, add6(carried6(at, e_a.w), inertia6(at, z_a))), moving6(at, e_a, L, e.w)),
                              add6(carried6(at, re.w), inertia6(at, rz))))
        save6(to, AT_QV, add6(moving6(at, e_a, L, S.w), twice6(inertia6(at, re))))
        y = cross6(S_a, S)
        rz = add6(cross6(add6(cross6(S_a, V), x_a), S), add6(cross6(S_a, e), cross6(V, y)))
        save6(to, AT_RE_VQ, y)
        save6(to, AT_RZ_VQ, rz)
        save6(to, AT_VQ, add6(add6(cross_force6(S, add6(carried6(at, S_a.w), inertia6(at, x_a))), moving6(at, S_a, K, e.w)),
                              add6(carried6(at, y.w), inertia6(at, rz))))
        Iy = inertia6(at, y)
        save6(to, AT_VV, add6(moving6(at, S_a, K, S.w), twice6(Iy)))
        save6(to, AT_AQ, add6(cross_force6(S, K), Iy))


cdef inline void put_entries(real* out, Py_ssize_t n, int i, int a, int b, const real* x, bint same) noexcept nogil:
    """One triple of coordinates into the four tensors (4, n, n, n); x: KINDS numbers, PACK apart. By Schwarz both ways but in one joint,
    where the change of column b comes first."""
    cdef Py_ssize_t cube = n * n * n
    cdef real* ab = out + (i * n + a) * n + b
    cdef real* ba = out + (i * n + b) * n + a
    cdef real vv = 0.5 * x[3 * PACK] if same else x[3 * PACK]
    ba[0] = ba[0] + x[0]
    ab[cube] = ab[cube] + x[PACK]
    ab[2 * cube] = ab[2 * cube] + vv
    ba[2 * cube] = ba[2 * cube] + vv
    ab[3 * cube] = ab[3 * cube] + x[5 * PACK]
    if not same:
        ab[0] = ab[0] + x[0]
        ba[cube] = ba[cube] + x[2 * PACK]
        ba[3 * cube] = ba[3 * cube] + x[4 * PACK]


cdef inline void beyond_both(const ModelC* m, const Columns* c, int a, int first, const real* pairs, const real* loads, real* x,
                             real* out) noexcept nogil:
    """(3): all i beyond b or of its joint."""
    cdef const real* at
    cdef const real* pair
    cdef Six re, rz, y, ry, U
    cdef Vec3s e_w, S_w, P, Q, W, T
    cdef pack qq, yU
    cdef int b, k, l, start
    T = spread3(column(c, a), AT_S)
    for b in range(first, c.end[c.body[a]]):
        pair = pairs + (b // PACK) * (ROWS_OF_PAIR * PACK) + b % PACK
        re, rz, y, ry = spread6(pair, AT_RE_QQ), spread6(pair, AT_RZ_QQ), spread6(pair, AT_RE_VQ), spread6(pair, AT_RZ_VQ)
        e_w, S_w = spread3(column(c, b), AT_ETA), spread3(column(c, b), AT_S)
        start = group_first(m, c, b)
        for k in range(start // PACK, (c.end[c.body[b]] + PACK - 1) // PACK):
            at, pair = block(c, k), pairs + k * (ROWS_OF_PAIR * PACK)
            U, P, Q, W = load6(at, AT_U), load3(at, AT_P), load3(pair, AT_P_Q), load3(pair, AT_P_V)
            qq = dot(re.w, P) + dot6(rz, U) + dot(e_w, Q)
            if c.applied:
                qq = qq - bent(loads + k * (LOADS * PACK), T, S_w, load6(at, AT_S), True)
            yU = dot6(y, U)
            unpack(x, qq)
            unpack(x + PACK, dot6(twice6(re), U) + dot(S_w, Q))
            unpack(x + 2 * PACK, dot(y.w, P) + dot6(ry, U) + dot(e_w, W))
            unpack(x + 3 * PACK, yU + yU + dot(S_w, W))
            unpack(x + 4 * PACK, yU)
            unpack(x + 5 * PACK, spread(real(0.0)))
            for l in range(max(start, k * PACK), min(c.end[c.body[b]], (k + 1) * PACK)):
                put_entries(out, m.nv, c.at[l], c.at[a], c.at[b], x + l % PACK, start <= a)


cdef inline void nearer(const ModelC* m, const Columns* c, int i, int a, int first, int end, bint nearest, const real* pairs,
                        const real* loads, real* x, real* out) noexcept nogil:
    """(4): one i, and all b from first to end; nearest: i is nearer to the world than a."""
    cdef const real* at
    cdef const real* pair
    cdef Six S = spread6(column(c, i), AT_S)
    cdef Six T = spread6(column(c, a), AT_S)
    cdef Six w = cross6(T, S)
    cdef pack qq, qv, qa
    cdef int k, l
    for k in range(first // PACK, (end + PACK - 1) // PACK):
        at, pair = block(c, k), pairs + k * (ROWS_OF_PAIR * PACK)
        qq, qv, qa = dot6(S, load6(pair, AT_QQ)), dot6(S, load6(pair, AT_QV)), spread(real(0.0))
        if nearest:
            qq = qq - dot6(w, load6(at, AT_FQ))
            qv = qv - dot6(w, load6(at, AT_FV))
            qa = -dot6(w, load6(at, AT_U))
        if c.applied:
            qq = qq - bent(loads + k * (LOADS * PACK), S.w if nearest else T.w, T.w if nearest else S.w, load6(at, AT_S), False)
        unpack(x, qq)
        unpack(x + PACK, qv)
        unpack(x + 2 * PACK, dot6(S, load6(pair, AT_VQ)))
        unpack(x + 3 * PACK, dot6(S, load6(pair, AT_VV)))
        unpack(x + 4 * PACK, dot6(S, load6(pair, AT_AQ)))
        unpack(x + 5 * PACK, qa)
        for l in range(max(first, k * PACK), min(end, (k + 1) * PACK)):
            put_entries(out, m.nv, c.at[i], c.at[a], c.at[l], x + l % PACK, group_first(m, c, l) <= a)


cdef inline void second_derivatives(const ModelC* m, Work* s, const real* vdot, Columns* c, real* room, real* out) noexcept nogil:
    """d2tau/dq dq, /dq dv, /dv dv and /dq dvdot (4, nv, nv, nv). Positions, velocities, s.applied, and s.A_WB of vdot less gravity are in
    place. room: KINDS PACK + (ROWS_OF_PAIR + LOADS) padded + LOADS nb numbers."""
    cdef bint applied = wrenches(m, s)
    cdef real* x = room
    cdef real* pairs = room + KINDS * PACK
    cdef real* loads = pairs + ROWS_OF_PAIR * c.padded
    cdef Py_ssize_t n = m.nv
    cdef real v_s = real(1.0 / FRICTION_SPEED_PER_S)
    cdef real r
    cdef real* at
    cdef int a, i, k, first, end
    c.applied = False                   # in F; they have terms of their own
    columns_in_motion(m, s, vdot, c, False)
    if c.irregular:
        chain_columns(m, s, c)
    forces_of_columns(c)
    c.applied = applied
    if applied:
        gather_loads(m, s, c, loads, loads + LOADS * c.padded)
    memset(out, 0, 4 * n * n * n * sizeof(real))
    for a in range(c.n):
        first, end = group_first(m, c, a), c.end[c.body[a]]
        pair_with(c, a, first, end, pairs)
        beyond_both(m, c, a, first, pairs, loads, x, out)
        for i in range(first, end):
            nearer(m, c, i, a, group_end(m, c, i), c.end[c.body[i]], False, pairs, loads, x, out)
        i = c.body[a]
        while i > 0:
            for k in range(c.first[i], min(first, c.own_end[i])):
                nearer(m, c, k, a, first, end, True, pairs, loads, x, out)
            i = m.joints[i].parent
    for i in range(m.nv):
        if any(nonzero(s.friction[i])):                             # d/dv of v_s^2 f / (v^2 + v_s^2)^(3/2)
            r = 1.0 / sqrt(s.v[i] * s.v[i] + v_s * v_s)
            at = out + 2 * n * n * n + i * (n * n + n + 1)
            at[0] = at[0] - 3.0 * s.friction[i] * s.v[i] * (v_s * v_s * r * r) * (r * r * r)
