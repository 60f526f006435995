"""Derivatives of inverse dynamics (Carpentier and Mansard 2018; joints of several columns as in Singh, Russell and Wensing 2022).

Everything about one fixed point O in world axes (columns.pxd). Moving the q of column m of joint j by e turns all bodies beyond j by the
twist S_m e: what is fixed to them changes by S_m x, forces by S_m x*, and beside that, V and spatial accelerations A of all of them by

    eta_m  = V_P x S_m + sum_l (D_m S_l - S_m x S_l) v_l                                              (1)
    zeta_m = dA_j - S_m x A_j - eta_m x V_j,  which is A_P x S_m + V_P x eta_m where D_m S_l = S_m x S_l     (2)

D_m S_l: the derivative of column l by q of column m. Where H_FM is constant in M, D_m S_l = S_m x S_l and the sum in (1) is zero; other
joints have turning_columns.pxd. A of all bodies beyond changes with v of column m by

    xi_m = V_P x S_m + V_j x S_m + d(H_dot v)_j / dv_m                                                (3)

With I, F, and 2 B x = [I_dot x_w - L x x_w; -2 l x x_w] (momenta l, L) summed over what is
beyond, and i beyond j or of the same joint:

    U_i = I_i S_i,   P_i = 2 B_i^T S_i                                                                (4)
    f^q_i = 2 B_i eta_i + I_i zeta_i + S_i x* F_i,   f^v_i = 2 B_i S_i + I_i xi_i                     (5)
    M_ij = S_j . U_i,  dtau_i/dq_j = eta_j . P_i + zeta_j . U_i,  dtau_i/dv_j = S_j . P_i + xi_j . U_i        (6)
    dtau_j/dq_i = S_j . f^q_i,  dtau_j/dv_i = S_j . f^v_i                  (i beyond j only)           (7)

Wrenches that are applied in world axes do not turn with the bodies: (5) and (6) are corrected by N of columns.pxd. Rotors add to M,
passive torques take from the diagonals. Cost: O(nv depth), PACK columns at a time.
"""
from libc.string cimport memset

from mbros_core.scalar.pack cimport PACK, pack, packed, spread, unpack
from mbros_core.scalar.pack3 cimport Vec3s, load3, save3, spread3, vec3s
from mbros_core.scalar.real cimport any, copy, nonzero, real
from mbros_core.joints.joint cimport Joint
from mbros_core.spatial cimport (Force, Inertia, Mat3, Motion, Sym3, Vec3, cross, dot, force, inertia_times, motion, rotate_inertia,
                                 shift_force, shift_inertia, vec3, zero3, zero_motion)
from mbros_core.engine.state cimport ModelC, Work
from mbros_core.algorithms.columns cimport (AT_A_P, AT_ETA, AT_FQ, AT_FV, AT_P, AT_REST, AT_S, AT_TURN, AT_U, AT_V, AT_V_P, AT_XI,
                                            AT_ZETA, CARRIED, Carried, Columns, block, column, put_motion)
from mbros_core.algorithms.element_derivatives cimport add_element_slopes
from mbros_core.algorithms.turning_columns cimport about, move_otherwise, turn_forces


cdef inline Sym3 inertia_rate(Inertia I, Motion V) noexcept nogil:
    """d/dt of the rotational inertia about O of a body that moves with V: [w] I - I [w] - [v] [h] - [h] [v]."""
    cdef Vec3 x = cross(V.w, vec3(I.I.xx, I.I.xy, I.I.xz))
    cdef Vec3 y = cross(V.w, vec3(I.I.xy, I.I.yy, I.I.yz))
    cdef Vec3 z = cross(V.w, vec3(I.I.xz, I.I.yz, I.I.zz))
    cdef real d = 2.0 * dot(V.v, I.h)
    cdef Sym3 T
    T.xx = 2.0 * x.x + d - 2.0 * (I.h.x * V.v.x)
    T.yy = 2.0 * y.y + d - 2.0 * (I.h.y * V.v.y)
    T.zz = 2.0 * z.z + d - 2.0 * (I.h.z * V.v.z)
    T.xy = y.x + x.y - (I.h.x * V.v.y + I.h.y * V.v.x)
    T.xz = z.x + x.z - (I.h.x * V.v.z + I.h.z * V.v.x)
    T.yz = z.y + y.z - (I.h.y * V.v.z + I.h.z * V.v.y)
    return T


cdef inline Mat3 not_turning(Vec3 t, Vec3 f, Vec3 p) noexcept nogil:
    """N of a wrench about Bo, p from O to Bo."""
    cdef real d = dot(p, f)
    cdef Mat3 N
    N.xx = d - f.x * p.x
    N.xy = t.z - f.x * p.y
    N.xz = -t.y - f.x * p.z
    N.yx = -t.z - f.y * p.x
    N.yy = d - f.y * p.y
    N.yz = t.x - f.y * p.z
    N.zx = t.y - f.z * p.x
    N.zy = -t.x - f.z * p.y
    N.zz = d - f.z * p.z
    return N


cdef inline void carry_outwards(const ModelC* m, Work* s, Columns* c, bint inertias) noexcept nogil:
    """Every body about its O. Positions, velocities and s.A_WB, gravity less, are in place; with inertias, s.M_W, too."""
    cdef const Joint* j
    cdef Carried* b
    cdef Inertia I
    cdef Vec3 w
    cdef Force L
    cdef int i
    c.bodies[0].V = zero_motion()
    c.bodies[0].A = s.A_WB[0]
    for i in range(1, m.nb):
        j = &m.joints[i]
        b = &c.bodies[i]
        b.r = zero3() if j.parent == 0 else c.bodies[j.parent].r + s.p_PB_W[i]
        w = s.V_WB[i].w
        b.V = about(s.V_WB[i], b.r)
        b.A = about(motion(s.A_WB[i].w, s.A_WB[i].v - cross(w, s.V_WB[i].v)), b.r)
        I = shift_inertia(s.M_W[i] if inertias else rotate_inertia(s.X_WB[i].R, s.inertia[i]), b.r)
        L = inertia_times(I, b.V)
        b.rest.I = I
        b.rest.I_dot = inertia_rate(I, b.V)
        b.rest.momentum = L
        b.rest.F = inertia_times(I, b.A) + force(cross(w, L.t) + cross(b.V.v, L.f), cross(w, L.f))
        if c.applied:
            b.rest.F = b.rest.F - shift_force(s.applied[i], b.r)
            b.rest.N = not_turning(s.applied[i].t, s.applied[i].f, b.r)
            b.rest.f = s.applied[i].f


cdef inline void gather_inwards(const ModelC* m, Work* s, Columns* c) noexcept nogil:
    """Sums over what is beyond each joint, and its columns."""
    cdef const Joint* j
    cdef const Carried* b
    cdef const Carried* p
    cdef const real* x
    cdef real* to
    cdef int i, k, l
    cdef int numbers = CARRIED if c.applied else CARRIED - 12
    for i in range(m.nb - 1, 0, -1):
        j = &m.joints[i]
        b = &c.bodies[i]
        p = &c.bodies[j.parent]
        x = <const real*>&b.rest
        for k in range(j.nv):
            to = column(c, c.first[i] + k)
            put_motion(to, AT_S, about(s.S[j.column + k], b.r))
            put_motion(to, AT_V_P, p.V)
            put_motion(to, AT_A_P, p.A)
            put_motion(to, AT_V, b.V)
            for l in range(numbers):
                to[(AT_REST + l) * PACK] = x[l]
        if j.parent > 0:
            to = <real*>&c.bodies[j.parent].rest
            for l in range(numbers // PACK):
                unpack(to + l * PACK, packed(to + l * PACK) + packed(x + l * PACK))
            for l in range(numbers // PACK * PACK, numbers):
                to[l] = to[l] + x[l]


cdef inline void move_columns(Columns* c) noexcept nogil:
    """Equations (1) to (3) where columns turn with their bodies."""
    cdef Vec3s Sw, Sv, Vw, Vv, Ew, Ev
    cdef real* at
    cdef int k
    for k in range(c.padded // PACK):
        at = block(c, k)
        Sw, Sv = load3(at, AT_S), load3(at, AT_S + 3)
        Vw, Vv = load3(at, AT_V_P), load3(at, AT_V_P + 3)
        Ew, Ev = cross(Vw, Sw), cross(Vw, Sv) + cross(Vv, Sw)
        save3(at, AT_ETA, Ew)
        save3(at, AT_ETA + 3, Ev)
        Vv = cross(Vw, Ev) + cross(Vv, Ew)
        Vw = cross(Vw, Ew)
        save3(at, AT_ZETA, cross(load3(at, AT_A_P), Sw) + Vw)
        save3(at, AT_ZETA + 3, cross(load3(at, AT_A_P), Sv) + cross(load3(at, AT_A_P + 3), Sw) + Vv)
        Vw, Vv = load3(at, AT_V), load3(at, AT_V + 3)
        save3(at, AT_XI, Ew + cross(Vw, Sw))
        save3(at, AT_XI + 3, Ev + (cross(Vw, Sv) + cross(Vv, Sw)))


cdef inline Vec3s symmetric_times(const real* at, int row, Vec3s a) noexcept nogil:
    """A Sym3 in six rows: xx yy zz xy xz yz."""
    cdef pack xy, xz, yz
    at = at + row * PACK
    xy, xz, yz = packed(at + 3 * PACK), packed(at + 4 * PACK), packed(at + 5 * PACK)
    return vec3s(packed(at) * a.x + xy * a.y + xz * a.z, xy * a.x + packed(at + PACK) * a.y + yz * a.z,
                 xz * a.x + yz * a.y + packed(at + 2 * PACK) * a.z)


cdef inline void forces_of_columns(Columns* c) noexcept nogil:
    """Equations (4) and (5)."""
    cdef Vec3s Sw, Sv, h, L, l, x, y, t, f
    cdef pack mass
    cdef pack two = spread(real(2.0))
    cdef pack minus_two = spread(real(-2.0))
    cdef real* at
    cdef int k
    for k in range(c.padded // PACK):
        at = block(c, k)
        Sw, Sv = load3(at, AT_S), load3(at, AT_S + 3)
        mass, h = packed(at + AT_REST * PACK), load3(at, AT_REST + 1)
        L, l = load3(at, AT_REST + 16), load3(at, AT_REST + 19)
        save3(at, AT_U, symmetric_times(at, AT_REST + 4, Sw) + cross(h, Sv))
        save3(at, AT_U + 3, mass * Sv + cross(Sw, h))
        t = symmetric_times(at, AT_REST + 10, Sw)
        save3(at, AT_P, t + cross(L, Sw) + two * cross(l, Sv))
        # by v
        x, y = load3(at, AT_XI), load3(at, AT_XI + 3)
        t = t + cross(Sw, L) + (symmetric_times(at, AT_REST + 4, x) + cross(h, y))
        f = two * cross(Sw, l) + (mass * y + cross(x, h))
        save3(at, AT_FV, t)
        save3(at, AT_FV + 3, f)
        # by q
        x, y = load3(at, AT_ZETA), load3(at, AT_ZETA + 3)
        t = symmetric_times(at, AT_REST + 4, x) + cross(h, y)
        f = mass * y + cross(x, h)
        x = load3(at, AT_ETA)
        t = t + (symmetric_times(at, AT_REST + 10, x) + cross(x, L))
        f = f + minus_two * cross(l, x)
        x, y = load3(at, AT_REST + 22), load3(at, AT_REST + 25)
        save3(at, AT_FQ, t + (cross(Sw, x) + cross(Sv, y)))
        save3(at, AT_FQ + 3, f + cross(Sw, y))


cdef inline void wrenches_stay(Columns* c) noexcept nogil:
    """What applied wrenches correct: f^q += [N w; w x f], and N^T S_w + f x S_v, of which S_j . is that of (6)."""
    cdef Vec3s Sw, Sv, x, y, z, f
    cdef real* at
    cdef int k
    for k in range(c.padded // PACK):
        at = block(c, k)
        Sw, Sv = load3(at, AT_S), load3(at, AT_S + 3)
        x, y, z = load3(at, AT_REST + 28), load3(at, AT_REST + 31), load3(at, AT_REST + 34)
        f = load3(at, AT_REST + 37)
        save3(at, AT_FQ, load3(at, AT_FQ) + vec3s(dot(x, Sw), dot(y, Sw), dot(z, Sw)))
        save3(at, AT_FQ + 3, load3(at, AT_FQ + 3) + cross(Sw, f))
        save3(at, AT_TURN, Sw.x * x + Sw.y * y + Sw.z * z + cross(f, Sv))


cdef inline void pair_columns(const ModelC* m, Columns* c) noexcept nogil:
    """Equations (6) and (7): each column with those of its joint and beyond, PACK at a time."""
    cdef Vec3s Sw, Sv, Ew, Zw, Zv, Xw, Xv, a, b
    cdef const real* own
    cdef const real* at
    cdef pack x
    cdef int i, j, k, first, end
    cdef Py_ssize_t to
    for j in range(c.n):
        i = c.body[j]
        own = column(c, j)
        Sw, Sv = spread3(own, AT_S), spread3(own, AT_S + 3)
        Ew = spread3(own, AT_ETA)
        Zw, Zv = spread3(own, AT_ZETA), spread3(own, AT_ZETA + 3)
        Xw, Xv = spread3(own, AT_XI), spread3(own, AT_XI + 3)
        first, end = c.first[i] // PACK, (c.end[i] + PACK - 1) // PACK
        for k in range(first, end):
            at = block(c, k)
            to = j * <Py_ssize_t>c.padded + k * PACK
            a, b = load3(at, AT_U), load3(at, AT_U + 3)
            unpack(c.M + to, dot(Sw, a) + dot(Sv, b))
            x = dot(Zw, a) + dot(Zv, b)
            if c.applied:
                x = x + dot(Sw, load3(at, AT_TURN))
            unpack(c.below_q + to, x + dot(Ew, load3(at, AT_P)))
            unpack(c.below_v + to, dot(Xw, a) + dot(Xv, b) + dot(Sw, load3(at, AT_P)))
            unpack(c.above_q + to, dot(Sw, load3(at, AT_FQ)) + dot(Sv, load3(at, AT_FQ + 3)))
            unpack(c.above_v + to, dot(Sw, load3(at, AT_FV)) + dot(Sv, load3(at, AT_FV + 3)))


cdef inline bint wrenches(const ModelC* m, const Work* s) noexcept nogil:
    """Whether any is applied."""
    cdef const real* x = <const real*>s.applied
    cdef int k
    for k in range(6, 6 * m.nb):
        if any(nonzero(x[k])):
            return True
    return False


cdef inline void columns_in_motion(const ModelC* m, Work* s, const real* vdot, Columns* c, bint inertias) noexcept nogil:
    """(1) to (3), and the sums over what is beyond. What is in place: as of pair_derivatives; c.applied says whether s.applied counts."""
    carry_outwards(m, s, c, inertias)
    gather_inwards(m, s, c)
    move_columns(c)
    if c.irregular:
        move_otherwise(m, s, vdot, c)


cdef inline void pair_derivatives(const ModelC* m, Work* s, const real* vdot, Columns* c, bint inertias) noexcept nogil:
    """(1) to (7) into below_q, below_v, M, above_q, above_v, of the user's wrenches alone, which s.applied is then: force elements on bodies
    have element_derivatives.pxd. Positions, velocities, and s.A_WB of vdot less gravity are in place; with inertias, the bodies' own
    s.M_W, too."""
    if m.ne:
        copy(<real*>s.applied, <const real*>s.external_force, 6 * m.nb)
    c.applied = wrenches(m, s)
    columns_in_motion(m, s, vdot, c, inertias)
    forces_of_columns(c)
    if c.applied:
        wrenches_stay(c)
    pair_columns(m, c)
    if c.irregular:
        turn_forces(m, s, c)


cdef inline void inverse_dynamics_derivatives(const ModelC* m, Work* s, const real* vdot, real* by_q, real* by_v, real* M,
                                              Columns* c) noexcept nogil:
    """dtau/dq, dtau/dv and dtau/dvdot (nv, nv), rows tau; after inverse_dynamics(), with passive slopes in c."""
    cdef Py_ssize_t n = m.nv
    cdef Py_ssize_t a, b, from_, k
    cdef const int* at = c.at
    cdef int i, j, l
    pair_derivatives(m, s, vdot, c, True)
    memset(by_q, 0, n * n * sizeof(real))
    memset(by_v, 0, n * n * sizeof(real))
    memset(M, 0, n * n * sizeof(real))
    for j in range(c.n):
        i = c.body[j]
        from_ = j * <Py_ssize_t>c.padded
        a = at[j]
        for l in range(c.first[i], c.own_end[i]):
            k = at[l] * n + a
            by_q[k] = by_q[k] + c.below_q[from_ + l]
            by_v[k] = by_v[k] + c.below_v[from_ + l]
            M[k] = M[k] + c.M[from_ + l]
        for l in range(c.own_end[i], c.end[i]):
            b = at[l]
            k = b * n + a
            by_q[k] = by_q[k] + c.below_q[from_ + l]
            by_v[k] = by_v[k] + c.below_v[from_ + l]
            M[k] = M[k] + c.M[from_ + l]
            k = a * n + b
            by_q[k] = by_q[k] + c.above_q[from_ + l]
            by_v[k] = by_v[k] + c.above_v[from_ + l]
            M[k] = M[k] + c.M[from_ + l]
    for i in range(m.nv):
        k = i * (n + 1)
        by_q[k] = by_q[k] - c.passive_q[i]
        by_v[k] = by_v[k] - c.passive_v[i]
        M[k] = M[k] + s.rotor_inertia[i]
    if c.along != NULL:
        add_element_slopes(m, s, c, by_q, by_v, n, False)
